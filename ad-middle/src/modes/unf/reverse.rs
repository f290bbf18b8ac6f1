//! Reverse mode over a composition (UNF Fig. 8): the transposed Jacobians of the primitives,
//! composed from the last step to the first. The continuation of the paper takes the cotangents of
//! the whole environment and returns those of the variables. Each transposed Jacobian changes few
//! of them (UNF section 2.4, Insight 2), so the environment is one table that each step updates:
//! the partial evaluation of UNF section 5.1, after which no continuation is left.
//!
//! One function here is one rule of UNF Figs. 10 and 16. This module must never simplify.

use ad_ir::analysis::guards::Guard;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Term, axis};
use ad_ir::sorted::SortedMap;

use super::source::{Composition, Map, Primitive, Variable};
use crate::modes::condition::{mask, wrap, zero_arm};
use crate::modes::cotangent::{Cotangent, add, commute};
use crate::modes::fold::{self, Accumulated};
use crate::modes::forms;
use crate::modes::linear::row;

/// The cotangent of one value.
#[derive(Clone, Debug)]
pub(super) enum Ct {
    /// The cotangent of an array or a number.
    Array(Cotangent),
    /// The cotangent of a tuple: the cotangents of those components that have one.
    Tuple(SortedMap<usize, Ct>),
}

impl Ct {
    /// The sum of two cotangents of one value.
    fn plus(self, g: &mut Graph, other: Ct) -> Ct {
        match (self, other) {
            (Ct::Array(a), Ct::Array(b)) => Ct::Array(add(g, Some(a), b)),
            (Ct::Tuple(mut parts), Ct::Tuple(more)) => {
                for (k, ct) in more {
                    let sum = match parts.remove(&k) {
                        Some(before) => before.plus(g, ct),
                        None => ct,
                    };
                    parts.insert(k, sum);
                }
                Ct::Tuple(parts)
            }
            (this, _) => this,
        }
    }

    /// The same linear map of each array.
    fn mapped(self, g: &mut Graph, map: &dyn Fn(&mut Graph, Cotangent) -> Cotangent) -> Ct {
        match self {
            Ct::Array(ct) => Ct::Array(map(g, ct)),
            Ct::Tuple(parts) => Ct::Tuple(parts.into_iter().map(|(k, ct)| (k, ct.mapped(g, map))).collect()),
        }
    }
}

/// The cotangents of the environment: one for each position that has one.
struct Environment<'c> {
    composition: &'c Composition,
    cotangents: Vec<Option<Ct>>,
    /// Sums that an enclosing loop carries for its variables, and that no inner loop has added to.
    sums: SortedMap<Variable, Term>,
}

impl Environment<'_> {
    /// `x + [i] z`: adds to the cotangent at a position.
    fn give(&mut self, g: &mut Graph, position: usize, ct: Ct) {
        if position >= self.cotangents.len() || !self.composition.active(position) {
            return;
        }
        if let Ct::Array(ct) = &ct
            && is_zero(g, ct.term)
        {
            return;
        }
        let sum = match self.cotangents[position].take() {
            Some(before) => before.plus(g, ct),
            None => ct,
        };
        self.cotangents[position] = Some(sum);
    }
}

impl Accumulated for Environment<'_> {
    /// It contains the sum that was given for the variable.
    fn running(&mut self, g: &mut Graph, position: usize) -> Option<Cotangent> {
        let before = match self.cotangents[position] {
            Some(Ct::Array(ct)) if zero_arm(g, ct.term).is_none() => Some(ct),
            Some(_) => return None,
            None => None,
        };
        let sum = match self.composition.steps[position].primitive {
            Primitive::Variable(variable) => self.sums.remove(&variable),
            _ => None,
        };
        self.cotangents[position] = None;
        fold::begin(g, before, sum)
    }

    fn give(&mut self, g: &mut Graph, position: usize, ct: Cotangent) {
        Environment::give(self, g, position, Ct::Array(ct));
    }
}

/// The cotangents of the variables, given those of values by position. `sums` are carried by an
/// enclosing loop: the cotangent of a variable contains its sum, unless the sum is returned too.
pub(super) fn sweep(
    g: &mut Graph,
    c: &Composition,
    seeds: Vec<(usize, Ct)>,
    sums: SortedMap<Variable, Term>,
) -> (SortedMap<Variable, Ct>, SortedMap<Variable, Term>) {
    let mut e = Environment { composition: c, cotangents: c.steps.iter().map(|_| None).collect(), sums };
    for (position, ct) in seeds {
        e.give(g, position, ct);
    }
    let mut found = SortedMap::new();
    for position in (0..c.steps.len()).rev() {
        let Some(ct) = e.cotangents[position].take() else { continue };
        let before = g.at(g.loc(c.steps[position].term).of_derivative());
        match (&c.steps[position].primitive, ct) {
            (Primitive::Constant, _) => {}
            (Primitive::Variable(variable), ct) => {
                let sum = match found.remove(variable) {
                    Some(before) => Ct::plus(before, g, ct),
                    None => ct,
                };
                found.insert(*variable, sum);
            }
            (Primitive::Same(of), ct) => e.give(g, *of, ct),
            // J^T op: x_k + J_k^T z.
            (Primitive::Operation(operation), Ct::Array(ct)) => {
                for (at, ct) in operation.transposed(g, ct) {
                    e.give(g, at, Ct::Array(ct));
                }
            }
            // J^T pair: the components of z.
            (Primitive::Pair(parts), Ct::Tuple(cts)) => {
                for (k, ct) in cts {
                    e.give(g, parts[k], ct);
                }
            }
            (Primitive::Component(of, k), ct) => e.give(g, *of, Ct::Tuple(SortedMap::from([(*k, ct)]))),
            (Primitive::Conditional { condition, then, other }, ct) => {
                for (arm, value) in [(then, true), (other, false)] {
                    let guard: Guard = (*condition, value);
                    let ct = ct.clone().mapped(g, &|g, ct| Cotangent { term: mask(g, ct.term, guard), ..ct });
                    e.give(g, *arm, ct);
                }
            }
            (Primitive::Choice { mask, then, other }, Ct::Array(ct)) => {
                for (arm, ct) in [then, other].into_iter().zip(forms::choice_transposed(g, *mask, ct)) {
                    e.give(g, *arm, Ct::Array(ct));
                }
            }
            (Primitive::Stack(parts), Ct::Array(ct)) => {
                for (k, &part) in parts.iter().enumerate() {
                    let ct = forms::stack_transposed(g, k, ct);
                    e.give(g, part, Ct::Array(ct));
                }
            }
            (Primitive::Update { onto, put, written, vars, index }, Ct::Array(ct)) => {
                let [of_onto, of_put] = forms::update_transposed(g, (vars, index), *written, ct);
                e.give(g, *put, Ct::Array(of_put));
                e.give(g, *onto, Ct::Array(of_onto));
            }
            (Primitive::Map(map), Ct::Array(ct)) => {
                for (at, ct) in transposed_map(g, map, ct) {
                    e.give(g, at, Ct::Array(ct));
                }
            }
            (Primitive::Fold(fold), Ct::Tuple(parts)) => {
                let array = |(k, ct)| match ct {
                    Ct::Array(ct) if fold.is_active(k) => Some((k, ct)),
                    _ => None,
                };
                let cts = parts.into_iter().filter_map(array).collect();
                fold::transposed(g, fold, cts, &mut e);
            }
            (primitive, _) => panic!("a cotangent that does not fit to {primitive:?}"),
        }
        g.at(before);
    }
    (found, e.sums)
}

/// `J^T map2` (UNF Figs. 10 and 17): the rows of the arguments get the cotangents of one element
/// each, and what all elements read gets the sum, `reduce + 0 G`.
fn transposed_map(g: &mut Graph, map: &Map, ct: Cotangent) -> Vec<(usize, Cotangent)> {
    if let Some((guard, inner)) = zero_arm(g, ct.term) {
        let found = transposed_map(g, map, Cotangent { term: inner, masked: ct.masked });
        let under = |(at, ct): (usize, Cotangent)| (at, Cotangent { term: mask(g, ct.term, guard), ..ct });
        return found.into_iter().map(under).collect();
    }
    let element = Cotangent { term: row(g, ct.term, map.var), masked: ct.hidden(g) };
    let (found, _) = sweep(g, &map.body, vec![(map.body.results[0], Ct::Array(element))], SortedMap::new());
    let mut all = Vec::new();
    for (variable, ct) in found {
        let Ct::Array(ct) = ct else { continue };
        let spread = spread(g, map, ct);
        match variable {
            Variable::Row(at) => all.push((at, spread)),
            Variable::Outer(at) => {
                let term = commute(g, spread.term, &|g, ct| g.sum_axes(ct, &[axis(0)]));
                all.push((at, Cotangent { term, ..spread }));
            }
            Variable::Input(_) | Variable::Param(_) => {}
        }
    }
    all
}

/// The cotangents of all elements of a map, given that of the element at its index.
fn spread(g: &mut Graph, map: &Map, ct: Cotangent) -> Cotangent {
    match zero_arm(g, ct.term) {
        Some((guard, inner)) if !g.mentions(guard.0, map.var) => {
            let inner = g.build(map.size, map.var, inner);
            Cotangent { term: wrap(g, inner, guard), masked: ct.masked }
        }
        _ => {
            let masked = ct.hidden(g);
            Cotangent { term: g.build(map.size, map.var, ct.term), masked }
        }
    }
}

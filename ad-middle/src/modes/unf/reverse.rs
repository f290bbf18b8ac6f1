//! Reverse mode over a composition (UNF Fig. 8): the transposed Jacobians of the primitives,
//! composed from the last step to the first. The continuation of the paper takes the cotangents of
//! the whole environment and returns those of the variables. Each transposed Jacobian changes few
//! of them (UNF section 2.4, Insight 2), so the environment is one table that each step updates:
//! the partial evaluation of UNF section 5.1, after which no continuation is left.
//!
//! One function here is one rule of UNF Figs. 10 and 16. This module must never simplify.

use ad_ir::analysis::guards::Guard;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::Prim;
use ad_ir::sorted::SortedMap;

use super::fold;
use super::source::{Composition, Map, Primitive, Variable};
use crate::modes::condition::{mask, wrap, zero_arm};
use crate::modes::cotangent::{Cotangent, add, commute};
use crate::modes::linear::{self, KnownZeros, where_only};

/// The cotangent of one value.
#[derive(Clone, Debug)]
pub(super) enum Ct {
    /// Of an array or a number.
    Array(Cotangent),
    /// Of a tuple: of those components that have one.
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
    fn each(self, g: &mut Graph, map: &dyn Fn(&mut Graph, Cotangent) -> Cotangent) -> Ct {
        match self {
            Ct::Array(ct) => Ct::Array(map(g, ct)),
            Ct::Tuple(parts) => Ct::Tuple(parts.into_iter().map(|(k, ct)| (k, ct.each(g, map))).collect()),
        }
    }
}

/// The cotangents of the environment: one for each position that has one.
pub(super) struct Environment<'c> {
    composition: &'c Composition,
    cotangents: Vec<Option<Ct>>,
    /// Sums that an enclosing loop carries for its variables, and that no inner loop has added to.
    sums: SortedMap<Variable, Term>,
}

impl Environment<'_> {
    /// `x + [i] z`: adds to the cotangent at a position.
    pub(super) fn give(&mut self, g: &mut Graph, position: usize, ct: Ct) {
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

    /// Takes the cotangent so far of an array, so that a loop adds to it instead of beginning with
    /// zeros. It contains the sum that was given for the variable.
    pub(super) fn running(&mut self, g: &mut Graph, position: usize) -> Option<Cotangent> {
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
        let before = g.at(g.loc(c.steps[position].term));
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
            (Primitive::Operation(jacobian), Ct::Array(ct)) => {
                for (at, ct) in jacobian.transposed(g, ct) {
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
                    let ct = ct.clone().each(g, &|g, ct| Cotangent { term: mask(g, ct.term, guard), ..ct });
                    e.give(g, *arm, ct);
                }
            }
            (Primitive::Choice { mask, then, other }, Ct::Array(ct)) => {
                for (arm, side) in [(then, true), (other, false)] {
                    let term = commute(g, ct.term, &|g, ct| {
                        let zero = g.zeros_like(ct);
                        where_only(g, *mask, side, ct, zero)
                    });
                    e.give(g, *arm, Ct::Array(Cotangent { term, ..ct }));
                }
            }
            (Primitive::Stack(parts), Ct::Array(ct)) => {
                for (k, &part) in parts.iter().enumerate() {
                    let k = g.lit_usize(k);
                    let term = commute(g, ct.term, &|g, ct| linear::element(g, ct, &[], &[], &[k]));
                    e.give(g, part, Ct::Array(Cotangent { term, ..ct }));
                }
            }
            (Primitive::Update { onto, put, written, vars, index }, Ct::Array(ct)) => {
                let place = (&**vars, &**index);
                let (of_onto, of_put) = update(g, *written, place, ct);
                e.give(g, *put, Ct::Array(of_put));
                e.give(g, *onto, Ct::Array(of_onto));
            }
            (Primitive::Map(map), Ct::Array(ct)) => {
                for (at, ct) in transposed_map(g, map, ct) {
                    e.give(g, at, Ct::Array(ct));
                }
            }
            (Primitive::Fold(fold), Ct::Tuple(parts)) => fold::transposed(g, fold, &parts, &mut e),
            (primitive, _) => panic!("a cotangent that does not fit to {primitive:?}"),
        }
        g.at(before);
    }
    (found, e.sums)
}

/// An update overwrites elements: the new ones get the cotangents at their indices, and the old
/// ones zeros.
fn update(g: &mut Graph, written: Term, (vars, index): (&[Var], &[Term]), ct: Cotangent) -> (Cotangent, Cotangent) {
    let sizes: Box<[Term]> = g.shape(written)[..vars.len()].into();
    let read = commute(g, ct.term, &|g, ct| {
        g.mk(Node::Gather { src: ct, sizes: sizes.clone(), vars: vars.into(), index: index.into() })
    });
    let zeros = g.zeros_like(written);
    let rest = commute(g, ct.term, &|g, ct| {
        g.mk(Node::Scatter { put: Put::Set, dst: ct, src: zeros, vars: vars.into(), index: index.into() })
    });
    let hidden = ct.hidden(g);
    let onto = Cotangent { term: rest, masked: hidden.max(KnownZeros::Unread) };
    (onto, Cotangent { term: read, masked: hidden })
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

/// The row of an array at an index in range. The row of a build is its body, and that of equal rows
/// is one of them (UNF section 5.1).
pub(super) fn row(g: &mut Graph, array: Term, var: Var) -> Term {
    let at = g.mk(Node::Var(var));
    match g.node(array).clone() {
        Node::Build { var: own, body, .. } => g.subst_vars(body, &[(own, at)]),
        Node::Prim(Prim::Replicate(axes), args) if axes.first() == Some(&0) => {
            let rest: Vec<u8> = axes[1..].iter().map(|a| a - 1).collect();
            g.replicate_axes(args[0], &rest, &args[2..])
        }
        _ => g.index(array, &[at]),
    }
}

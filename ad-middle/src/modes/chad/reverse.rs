//! Reverse mode (CHAD sections 2.3 and 7.5): the transposes of the linear functions, applied to the
//! cotangents of the results. The paper's `coproj_i(v)` is a tuple of zeros but for one component,
//! and `+` adds tuples, so a variable would cost the size of its context. Here the cotangents of
//! the context are accumulated: there is one table, and `x' v` adds to few of its entries. So
//! `let <x, x'> = D(t) in s` applies the function of `s`, takes the entry of `x` out of the table,
//! and applies `x'` to it.
//!
//! One arm of [`Context::transposed`] is one rule. This module must never simplify.

use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Term};
use ad_ir::sorted::SortedMap;

use super::cotangent::{Array, Ct, for_all, sum_of_all};
use super::lfun::{Elements, LFun, Lets, Variable};
use crate::modes::condition::zero_arm;
use crate::modes::cotangent::Cotangent;
use crate::modes::fold::{self, Accumulated};
use crate::modes::forms;
use crate::modes::linear::row;

/// The cotangents of the variables of a context.
pub(super) type Found = SortedMap<Variable, Ct>;

/// The accumulated cotangents.
struct Context<'l> {
    lets: &'l Lets,
    bound: Vec<Option<Ct>>,
    found: Found,
    /// Sums that an enclosing loop carries for its variables, and that no inner loop has added to.
    sums: SortedMap<Variable, Term>,
}

/// The cotangents of the variables, given those of terms by number. `sums` are carried by an
/// enclosing loop: the cotangent of a variable contains its sum, unless the sum is returned too.
pub(super) fn applied(
    g: &mut Graph,
    lets: &Lets,
    given: Vec<(usize, Ct)>,
    sums: SortedMap<Variable, Term>,
) -> (Found, SortedMap<Variable, Term>) {
    let bound = lets.bound.iter().map(|_| None).collect();
    let mut context = Context { lets, bound, found: Found::new(), sums };
    for (number, ct) in given {
        context.give(g, number, ct);
    }
    for number in (0..lets.bound.len()).rev() {
        let Some(ct) = context.bound[number].take() else { continue };
        let before = g.at(g.loc(lets.bound[number].term).of_derivative());
        context.transposed(g, number, ct);
        g.at(before);
    }
    (context.found, context.sums)
}

impl Context<'_> {
    /// Adds to the cotangent of a term.
    fn give(&mut self, g: &mut Graph, number: usize, ct: Ct) {
        if number >= self.bound.len() || !self.lets.is_active(number) || ct.is_zero(g) {
            return;
        }
        let sum = match self.bound[number].take() {
            Some(before) => before.plus(g, ct),
            None => ct,
        };
        self.bound[number] = Some(sum);
    }

    fn give_array(&mut self, g: &mut Graph, number: usize, ct: Cotangent) {
        if !is_zero(g, ct.term) {
            self.give(g, number, ct.into());
        }
    }

    /// Applies the transpose of a linear function: `x' ct` is added to the context.
    fn transposed(&mut self, g: &mut Graph, number: usize, ct: Ct) {
        let lets = self.lets;
        match (&lets.bound[number].dual, ct) {
            // \v. 0
            (LFun::Zero, _) => {}
            // \v. coproj_i v
            (LFun::Variable(variable), ct) => {
                let sum = match self.found.remove(variable) {
                    Some(before) => before.plus(g, ct),
                    None => ct,
                };
                self.found.insert(*variable, sum);
            }
            // \v. x' v
            (LFun::Same(of), ct) => self.give(g, *of, ct),
            // \v. x' (fst v) + y' (snd v)
            (LFun::Pair(parts), Ct::Tuple(cts)) => {
                for (k, ct) in cts {
                    self.give(g, parts[k], ct);
                }
            }
            // \v. x' <v, 0>, and \v. x' <0, v>
            (LFun::Component(of, k), ct) => self.give(g, *of, Ct::Tuple(SortedMap::from([(*k, ct)]))),
            // \v. case c of true -> x' v | false -> y' v
            (LFun::Case { condition, then, other }, ct) => {
                for (arm, value) in [(then, true), (other, false)] {
                    let ct = ct.under(g, (*condition, value));
                    self.give(g, *arm, ct);
                }
            }
            // \v. Dfold^t (\c k r. snd D(e), v)
            (LFun::Fold(fold), Ct::Tuple(parts)) => {
                let mut cts = SortedMap::new();
                for (k, ct) in parts.into_iter().filter(|(k, _)| fold.is_active(*k)) {
                    let like = fold.like(g, k);
                    cts.extend(ct.folded(g, like).map(|ct| (k, ct)));
                }
                fold::transposed(g, fold, cts, self);
            }
            // \v. Dbuild^t (\i. snd D(e), v)
            (LFun::Build(elements), ct) => {
                for (number, ct) in build(g, elements, ct) {
                    self.give(g, number, ct);
                }
            }
            (_, ct) => {
                let Some(ct) = ct.folded(g, lets.primal(number)) else { return };
                self.of_array(g, number, ct);
            }
        }
    }

    /// The rules that need the cotangent of an array as one array.
    fn of_array(&mut self, g: &mut Graph, number: usize, ct: Cotangent) {
        let lets = self.lets;
        match &lets.bound[number].dual {
            // \v. let v = Dop^t(x1, .., xk; v) in x1' (proj_1 v) + .. + xk' (proj_k v)
            LFun::Dop(operation) => {
                for (at, ct) in operation.transposed(g, ct) {
                    self.give_array(g, at, ct);
                }
            }
            // \v. x' {(i, v)}
            LFun::Evaluation { of, read } => {
                if !is_zero(g, ct.term) {
                    let pairs = Ct::singleton(g, *read, ct);
                    self.give(g, *of, pairs);
                }
            }
            LFun::Choice { mask, then, other } => {
                for (arm, ct) in [then, other].into_iter().zip(forms::choice_transposed(g, *mask, ct)) {
                    self.give_array(g, *arm, ct);
                }
            }
            LFun::Stack(parts) => {
                for (k, &part) in parts.iter().enumerate() {
                    let ct = forms::stack_transposed(g, k, ct);
                    self.give_array(g, part, ct);
                }
            }
            LFun::Update { onto, put, written, vars, index } => {
                let [of_onto, of_put] = forms::update_transposed(g, (vars, index), *written, ct);
                self.give_array(g, *put, of_put);
                self.give_array(g, *onto, of_onto);
            }
            dual => panic!("a cotangent that does not fit to {dual:?}"),
        }
    }
}

impl Accumulated for Context<'_> {
    /// It contains the sum that was given for the variable.
    fn running(&mut self, g: &mut Graph, number: usize) -> Option<Cotangent> {
        let before = match self.bound[number].take() {
            None => None,
            Some(Ct::Array(array)) => {
                let ct = array.folded(g, self.lets.primal(number))?;
                if zero_arm(g, ct.term).is_some() {
                    self.bound[number] = Some(ct.into());
                    return None;
                }
                Some(ct)
            }
            tuple => {
                self.bound[number] = tuple;
                return None;
            }
        };
        let sum = match self.lets.bound[number].dual {
            LFun::Variable(variable) => self.sums.remove(&variable),
            _ => None,
        };
        fold::begin(g, before, sum)
    }

    fn give(&mut self, g: &mut Graph, number: usize, ct: Cotangent) {
        Context::give(self, g, number, ct.into());
    }
}

/// `Dbuild^t` (CHAD section 10): the cotangents of the context that each element sends are added
/// up. An array gets the sum of what the elements send to it as a whole, and the pairs of all
/// elements.
fn build(g: &mut Graph, elements: &Elements, ct: Ct) -> Vec<(usize, Ct)> {
    let element = elements.body.primal(elements.body.results[0]);
    let like = g.build(elements.size, elements.var, element);
    let ct = ct.without_copowers(g, like);
    if let Ct::Array(Array { whole: Some(whole), .. }) = &ct
        && let Some((guard, inner)) = zero_arm(g, whole.term)
    {
        let found = build(g, elements, Cotangent { term: inner, masked: whole.masked }.into());
        return found.into_iter().map(|(number, ct)| (number, ct.under(g, guard))).collect();
    }
    let element = row_of(g, elements, &ct);
    let (found, _) = applied(g, &elements.body, vec![(elements.body.results[0], element)], SortedMap::new());
    let mut all = Vec::new();
    for (variable, ct) in found {
        if let Variable::Outer(number) = variable {
            all.push((number, sum(g, elements, ct)));
        }
    }
    all
}

/// The cotangent of the element at the index.
fn row_of(g: &mut Graph, elements: &Elements, ct: &Ct) -> Ct {
    match ct {
        Ct::Array(array) => match array.whole {
            Some(ct) => Cotangent { term: row(g, ct.term, elements.var), masked: ct.hidden(g) }.into(),
            None => Ct::Array(Array::default()),
        },
        Ct::Tuple(parts) => Ct::Tuple(parts.iter().map(|(&k, ct)| (k, row_of(g, elements, ct))).collect()),
    }
}

/// The sum of what all elements send to one term of the context.
fn sum(g: &mut Graph, elements: &Elements, ct: Ct) -> Ct {
    match ct {
        Ct::Array(Array { whole, copower }) => {
            let whole = whole.map(|ct| {
                let all = for_all(g, elements.size, elements.var, ct);
                sum_of_all(g, all)
            });
            let copower = copower.into_iter().map(|p| p.for_all(g, elements.size, elements.var)).collect();
            Ct::Array(Array { whole, copower })
        }
        Ct::Tuple(parts) => Ct::Tuple(parts.into_iter().map(|(k, ct)| (k, sum(g, elements, ct))).collect()),
    }
}

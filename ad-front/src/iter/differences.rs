//! Closed bounds of differences such as `(i + 3).min(n) - i.saturating_sub(2)`, the length of a
//! window whose ends are clamped. The index of the loop cancels if the minimum and the saturating
//! difference are replaced by one of their operands.
//!
//! This module must never return a bound that a step exceeds.

use super::super::lower::Lower;
use ad_ir::analysis::range::{Linear, to_term};
use ad_ir::ir::{Elem, Node, Term, Type};
use ad_ir::prim::{IntOp, Prim};

/// The greatest number of forms that a search for a bound looks at.
const FORMS: usize = 64;
/// The greatest literal that is a bound by itself: a smaller axis costs little more than it needs.
const SMALL: i128 = 64;

/// What may replace a number in a bound of a sum.
enum Replacement {
    /// This form gives a bound.
    One(Linear),
    /// Each of these forms gives a bound.
    Any([Linear; 2]),
    /// The greater one of the bounds that they give is a bound.
    All([Linear; 2]),
    /// The second number where the condition holds, else the third one.
    Either([Term; 3]),
}

/// A search for a bound.
struct Search {
    /// The number of forms that it may still look at.
    left: usize,
    /// Whether the facts about the loops may bound what does not cancel.
    with_facts: bool,
}

impl Lower<'_> {
    /// A closed upper bound of a number of items: a small literal, or what remains if the indices
    /// of the loops cancel.
    pub(super) fn most_of_difference(&mut self, len: Term) -> Option<Term> {
        let node = self.g.node(len).clone();
        let mut linear = |t: Term| self.state.facts.linear(&self.g, t);
        let form = match node {
            Node::Prim(Prim::Int(IntOp::Sub), args) => linear(args[0]).combine(1, &linear(args[1]), -1)?,
            _ => linear(len),
        };
        let literal = self.bound_of_form(&form, &mut Search { left: FORMS, with_facts: true });
        literal.filter(|t| self.is_small(*t)).or_else(|| {
            let mut search = Search { left: FORMS, with_facts: false };
            self.bound_of_form(&form, &mut search)
        })
    }

    fn is_small(&self, t: Term) -> bool {
        self.g.int_value(t).is_some_and(|n| n <= SMALL)
    }

    /// The closed capacity of a part that has this many elements of an array with `all`.
    pub(in super::super) fn capacity_of_part(&mut self, len: Term, all: Term) -> Term {
        let longest = self.most_of_lookups(len).or_else(|| self.most_of_difference(len));
        longest.map_or(all, |longest| self.g.int(IntOp::Min, all, longest))
    }

    /// The lesser of two bounds, or the one that is a small literal.
    pub(super) fn least(&mut self, a: Term, b: Term) -> Term {
        match [a, b].into_iter().filter(|t| self.is_small(*t)).min_by_key(|&t| self.g.int_value(t)) {
            Some(literal) => literal,
            None => self.g.int(IntOp::Min, a, b),
        }
    }

    fn bound_of_form(&mut self, form: &Linear, search: &mut Search) -> Option<Term> {
        let open: Vec<(Term, i128)> =
            form.atoms.iter().map(|(&t, &times)| (t, times)).filter(|&(t, _)| !self.g.is_closed(t)).collect();
        if open.is_empty() {
            return Some(to_term(&mut self.g, form));
        }
        search.left = search.left.checked_sub(1)?;
        for &(atom, times) in &open {
            let rest = form.combine(1, &Linear::atom(atom), -times)?;
            let found = match self.replacement(atom, times > 0) {
                None => continue,
                Some(Replacement::One(form)) => {
                    let whole = rest.combine(1, &form, times)?;
                    self.bound_of_form(&whole, search)
                }
                Some(Replacement::Any(forms)) => match self.bounds_of(&rest, (&forms, times), search) {
                    [Some(a), Some(b)] => Some(self.least(a, b)),
                    [a, b] => a.or(b),
                },
                Some(Replacement::All(forms)) => match self.bounds_of(&rest, (&forms, times), search) {
                    [Some(a), Some(b)] => Some(self.g.int(IntOp::Max, a, b)),
                    _ => None,
                },
                Some(Replacement::Either([cond, then, other])) => {
                    let then = self.bound_under((cond, true), &rest, (then, times), search);
                    let other = self.bound_under((cond, false), &rest, (other, times), search);
                    then.zip(other).map(|(a, b)| self.g.int(IntOp::Max, a, b))
                }
            };
            if found.is_some() {
                return found;
            }
        }
        if !search.with_facts {
            return None;
        }
        let negative = Linear::constant(0).combine(1, form, -1)?;
        let mut at_least = |closed: &dyn Fn(Term) -> bool| self.state.facts.at_least(&self.g, &negative, closed);
        // A literal, if there is one.
        let least = match at_least(&|_| false) {
            Some(literal) => literal,
            None => at_least(&|t| self.g.is_closed(t))?,
        };
        Some(to_term(&mut self.g, &Linear::constant(0).combine(1, &least, -1)?))
    }

    fn bounds_of(&mut self, rest: &Linear, forms: (&[Linear; 2], i128), search: &mut Search) -> [Option<Term>; 2] {
        let (forms, times) = forms;
        forms.each_ref().map(|form| {
            let whole = rest.combine(1, form, times)?;
            self.bound_of_form(&whole, search)
        })
    }

    /// The bound where a condition holds, or where it does not.
    fn bound_under(
        &mut self,
        (cond, holds): (Term, bool),
        rest: &Linear,
        (arm, times): (Term, i128),
        search: &mut Search,
    ) -> Option<Term> {
        let mark = self.state.facts.mark();
        self.state.facts.assume(&self.g, cond, holds);
        let arm = self.state.facts.linear(&self.g, arm);
        let found = rest.combine(1, &arm, times).and_then(|whole| self.bound_of_form(&whole, search));
        self.state.facts.forget(mark);
        found
    }

    /// What replaces a number in an upper bound (`up`) or in a lower one.
    fn replacement(&mut self, t: Term, up: bool) -> Option<Replacement> {
        if *self.g.ty(t) != Type::scalar(Elem::USIZE) {
            return None;
        }
        let node = self.g.node(t).clone();
        let mut both = |a: Term, b: Term| [a, b].map(|t| self.state.facts.linear(&self.g, t));
        Some(match node {
            Node::Prim(Prim::Int(IntOp::Min), args) if up => Replacement::Any(both(args[0], args[1])),
            Node::Prim(Prim::Int(IntOp::Max), args) if !up => Replacement::Any(both(args[0], args[1])),
            Node::Prim(Prim::Int(IntOp::Min | IntOp::Max), args) => Replacement::All(both(args[0], args[1])),
            // A saturating difference is the greater one of the difference and 0.
            Node::Prim(Prim::Int(IntOp::Sub), args) => {
                let [a, b] = both(args[0], args[1]);
                let forms = [a.combine(1, &b, -1)?, Linear::constant(0)];
                if up { Replacement::All(forms) } else { Replacement::Any(forms) }
            }
            // A saturating sum is at most the sum.
            Node::Prim(Prim::Int(IntOp::Add), args) if up => {
                let [a, b] = both(args[0], args[1]);
                Replacement::One(a.combine(1, &b, 1)?)
            }
            Node::Prim(Prim::Select, args) => Replacement::Either([args[0], args[1], args[2]]),
            Node::Cond { cond, then, other } => Replacement::Either([cond, then, other]),
            _ => return None,
        })
    }
}

//! The facts about sizes that hold at a statement: the checks that have been made and the guard of
//! the statement. They decide which reads need no test. A check that comes later in the routine is
//! not used.

use std::cell::RefCell;
use std::collections::HashMap;

use super::plan::Guard;
use ad_ir::analysis::range::{Facts, Linear};
use ad_ir::ir::{Graph, Term};

/// The prover with the facts established so far.
pub(super) struct InRange<'a> {
    g: &'a Graph,
    facts: RefCell<Facts>,
    asked: RefCell<HashMap<Question, bool>>,
}

/// A query: the number of facts, start, length and size.
type Question = (usize, Option<Term>, Option<Term>, Term);

impl<'a> InRange<'a> {
    pub(super) fn new(g: &'a Graph) -> Self {
        InRange { g, facts: RefCell::default(), asked: RefCell::default() }
    }

    /// Assumes the condition from now on.
    pub(super) fn checked(&self, ok: Term) {
        self.facts.borrow_mut().assume_for_good(self.g, ok);
    }

    /// Assumes a guard. [`InRange::leave`] with the number that is returned undoes that.
    pub(super) fn enter(&self, guard: &[Guard]) -> usize {
        let mut facts = self.facts.borrow_mut();
        let mark = facts.mark();
        for &(cond, holds) in guard {
            facts.assume(self.g, cond, holds);
        }
        if facts.mark() > mark {
            facts.settle(self.g);
        }
        mark
    }

    /// Assumes that none of these sizes is 0, as [`InRange::enter`] does. `None` if no fact follows
    /// from that.
    pub(super) fn enter_nonempty(&self, sizes: &[Term]) -> Option<usize> {
        let mut facts = self.facts.borrow_mut();
        let mark = facts.mark();
        for &n in sizes {
            let some = facts.linear(self.g, n).combine(1, &Linear::constant(-1), 1);
            some.into_iter().for_each(|fact| facts.learn(fact));
        }
        let own = facts.mark();
        if own > mark {
            facts.settle(self.g);
        }
        if facts.mark() > own {
            return Some(mark);
        }
        if own > mark {
            self.asked.borrow_mut().clear();
        }
        facts.forget(mark);
        None
    }

    pub(super) fn leave(&self, mark: usize) {
        let mut facts = self.facts.borrow_mut();
        if facts.mark() > mark {
            // Another guard may add the same number of facts, but different ones.
            self.asked.borrow_mut().clear();
        }
        facts.forget(mark);
    }

    /// Whether `start + len <= size`, the size of an axis; a missing operand counts as 0.
    pub(super) fn fits(&self, start: Option<Term>, len: Option<Term>, size: Term) -> bool {
        if start.is_none() && len == Some(size) {
            return true;
        }
        self.facts.borrow_mut().is_axis(self.g, size);
        self.ends_by(start, len, size)
    }

    /// Whether `start + len <= end`, for any number `end`.
    pub(super) fn ends_by(&self, start: Option<Term>, len: Option<Term>, end: Term) -> bool {
        let mut facts = self.facts.borrow_mut();
        let key = (facts.mark(), start, len, end);
        if let Some(&answer) = self.asked.borrow().get(&key) {
            return answer;
        }
        let mut sum = Some(Linear::constant(0));
        for t in [start, len].into_iter().flatten() {
            let term = facts.linear(self.g, t);
            sum = sum.and_then(|s| s.combine(1, &term, 1));
        }
        let end = facts.linear(self.g, end);
        let goal = sum.and_then(|s| end.combine(1, &s, -1));
        let answer = goal.is_some_and(|goal| facts.prove(self.g, &goal));
        self.asked.borrow_mut().insert(key, answer);
        answer
    }

    /// Whether `size <= len + slack`.
    pub(super) fn near(&self, len: Term, size: Term, slack: i128) -> bool {
        if len == size {
            return true;
        }
        let mut facts = self.facts.borrow_mut();
        let (len, size) = (facts.linear(self.g, len), facts.linear(self.g, size));
        let goal = len.combine(1, &size, -1).and_then(|l| l.combine(1, &Linear::constant(slack), 1));
        goal.is_some_and(|goal| facts.prove(self.g, &goal))
    }

    /// Whether `t < size`, the size of an axis.
    pub(super) fn below(&self, t: Term, size: Term) -> bool {
        let mut facts = self.facts.borrow_mut();
        facts.is_axis(self.g, size);
        let (t, size) = (facts.linear(self.g, t), facts.linear(self.g, size));
        let goal = size.combine(1, &t, -1).and_then(|l| l.combine(1, &Linear::constant(-1), 1));
        goal.is_some_and(|goal| facts.prove(self.g, &goal))
    }

    /// The answer of `ask` where none of these sizes is 0. It must ask [`InRange::holds`] only,
    /// whose answers are not kept.
    pub(super) fn where_nonempty(&self, sizes: &[Term], ask: impl FnOnce() -> bool) -> bool {
        let mark = self.facts.borrow().mark();
        for &n in sizes {
            let mut facts = self.facts.borrow_mut();
            let some = facts.linear(self.g, n).combine(1, &Linear::constant(-1), 1);
            some.into_iter().for_each(|fact| facts.learn(fact));
        }
        let answer = ask();
        self.facts.borrow_mut().forget(mark);
        answer
    }

    /// The linear form of a term under the facts.
    pub(super) fn linear(&self, t: Term) -> Linear {
        self.facts.borrow_mut().linear(self.g, t)
    }

    /// The linear form of the size of an axis.
    pub(super) fn size(&self, size: Term) -> Linear {
        let mut facts = self.facts.borrow_mut();
        facts.is_axis(self.g, size);
        facts.linear(self.g, size)
    }

    /// Whether `goal >= 0` follows from the facts.
    pub(super) fn holds(&self, goal: &Linear) -> bool {
        self.facts.borrow_mut().prove(self.g, goal)
    }
}

//! A small prover of integer inequalities, so that `x[i]` under `build1(x.len(), |i| ..)` needs no
//! check at run time. Terms are normalised to linear combinations of *atoms* (sizes, variables,
//! elements of integer arrays, terms that are not linear). A goal `linear >= 0` is proved by
//! combining it with facts of the same form until the ranges of the remaining atoms suffice (a
//! light form of Fourier-Motzkin elimination), and by cases. Terms saturate at the ends of their
//! type ([`crate::prim::IntOp`]), so `a + b` is linear only if it is proved not to saturate.
//!
//! The prover must never accept a false goal. It need not be complete, and it must stop: every
//! search has a budget.

mod atoms;
mod linear;
mod polynomial;

use std::collections::{HashMap, HashSet};

pub use self::linear::{Linear, sides, to_term};
pub use self::polynomial::{difference, positions_differ};
use super::{Analyses, Analysis};
use crate::ir::{Elem, Graph, IntTy, Node, Term};
use crate::prim::{Cmp, IntOp, Prim};

/// The facts at a point of the program: inequalities `fact >= 0`.
#[derive(Clone, Default, Debug)]
pub struct Facts {
    known: Vec<Linear>,
    /// The positions in `known` of the facts that mention an atom.
    about: HashMap<Term, Vec<usize>>,
    /// The index of the state of `known` after each fact. A result that was found in a state holds
    /// whenever that state is restored.
    states: Vec<u64>,
    last_state: u64,
    /// The linear forms of terms that are not atoms. They stay exact when facts are added. `found`
    /// has the number of facts at which each was found.
    forms: HashMap<Term, Linear>,
    found: Vec<(usize, Term)>,
    /// Terms that were atoms, each with the state in which it was an atom.
    stuck: HashMap<Term, u64>,
    /// The remaining budget. Proving one goal may lead to further goals (such as whether a sum is
    /// linear), and they share it.
    budget: u32,
    depth: u32,
    /// Disjunctions that hold permanently. If all parts but one are refuted, that one is a fact
    /// (see [`Facts::settle`]).
    either: Vec<Vec<(Term, bool)>>,
    /// The number of terms that a linear form may still examine, and the depth of its calls. Terms
    /// share their parts, so a walk without a limit is exponential.
    looks: u32,
    inside: u32,
    /// Sums and products that are sizes of axes, so they are not saturated.
    axes: Vec<Term>,
}

/// The facts that hold if all roots hold. The roots are conditions that are checked.
#[derive(Debug)]
pub struct Checked;

impl Analysis for Checked {
    type Result = Facts;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Facts {
        let mut facts = Facts::new();
        roots.iter().for_each(|&ok| facts.assume_for_good(g, ok));
        facts
    }
}

/// The maximum number of disjunctions. If there are more, none is examined.
const MOST_EITHER: usize = 20;
/// The budget for examining all disjunctions at one point.
const SETTLING: u32 = 1000;
/// The maximum number of parts of a disjunction. A disjunction with more parts is ignored.
const MOST_PARTS: usize = 8;
/// The maximum number of rewrites of a goal before the prover gives up.
const BUDGET: u32 = 4000;
const DEPTH: u32 = 8;
/// The maximum number of facts that are tried for a bound.
const BOUNDS: u32 = 64;
/// The maximum number of terms that a linear form examines. Any further term is an atom.
const LOOKS: u32 = 2000;

impl Facts {
    /// No facts, other than the ranges of types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of facts, for [`Facts::forget`].
    #[must_use]
    pub fn mark(&self) -> usize {
        self.known.len()
    }

    /// Removes the facts that were learnt since `mark`.
    pub fn forget(&mut self, mark: usize) {
        while self.known.len() > mark {
            for t in self.known.pop().into_iter().flat_map(|fact| fact.atoms.into_keys()) {
                self.about.get_mut(&t).map(Vec::pop);
            }
            self.states.pop();
        }
        while let Some((_, t)) = self.found.pop_if(|(at, _)| *at > mark) {
            self.forms.remove(&t);
        }
    }

    /// Learns that `fact >= 0`.
    pub fn learn(&mut self, fact: Linear) {
        let Some(t) = fact.atoms.keys().next() else { return };
        if self.about.get(t).is_some_and(|about| about.iter().any(|&k| self.known[k] == fact)) {
            return;
        }
        for &t in fact.atoms.keys() {
            self.about.entry(t).or_default().push(self.known.len());
        }
        self.last_state += 1;
        self.states.push(self.last_state);
        self.known.push(fact);
    }

    /// Learns permanently that a boolean scalar holds, also if it is a disjunction.
    pub fn assume_for_good(&mut self, g: &Graph, cond: Term) {
        self.assume(g, cond, true);
        let (mut parts, mut stack) = (Vec::new(), vec![(cond, true)]);
        while let Some((t, holds)) = stack.pop() {
            match (g.node(t), holds) {
                (Node::Prim(Prim::Not, args), _) => stack.push((args[0], !holds)),
                (Node::Prim(Prim::Or, args), true) | (Node::Prim(Prim::And, args), false) => {
                    stack.extend([(args[1], holds), (args[0], holds)]);
                }
                _ => parts.push((t, holds)),
            }
            if parts.len() + stack.len() > MOST_PARTS {
                return;
            }
        }
        if parts.len() > 1 {
            self.either.push(parts);
            self.settle(g);
        }
    }

    /// Learns the last part of a disjunction, if the facts refute all other parts. Of two parts
    /// that are left, one that implies the other is dropped: `n == 0` implies `n * c <= size`.
    pub fn settle(&mut self, g: &Graph) {
        if self.either.len() > MOST_EITHER {
            return;
        }
        // One budget for all of them, since this runs at each loop and nest.
        (self.budget, self.depth) = (SETTLING, self.depth + 1);
        for k in 0..self.either.len() {
            let mut left: Vec<(Term, bool)> = Vec::new();
            for &part in &self.either[k].clone() {
                if !self.refuted(g, part) {
                    left.push(part);
                }
            }
            if left.len() == 2 {
                let [a, b] = [left[0], left[1]];
                if self.implies(g, a, b) {
                    left.remove(0);
                } else if self.implies(g, b, a) {
                    left.remove(1);
                }
            }
            if let [(t, holds)] = left[..] {
                self.assume(g, t, holds);
            }
        }
        self.depth -= 1;
    }

    /// A comparison of integers as `difference op 0`.
    fn comparison(&mut self, g: &Graph, (t, holds): (Term, bool)) -> Option<(Linear, Cmp)> {
        let Node::Prim(Prim::Compare(op), args) = g.node(t) else { return None };
        if !matches!(g.elem(args[0]), Elem::Int(_)) || g.rank(args[0]) > 0 {
            return None;
        }
        let (a, b) = (self.linear(g, args[0]), self.linear(g, args[1]));
        Some((a.minus(&b)?, if holds { *op } else { op.negated() }))
    }

    fn refuted(&mut self, g: &Graph, part: (Term, bool)) -> bool {
        let Some((l, op)) = self.comparison(g, part) else { return false };
        let below = Linear::default().minus(&l);
        let mut positive =
            |l: Option<Linear>, n: i128| l.and_then(|l| l.plus(-n)).is_some_and(|goal| self.prove(g, &goal));
        match op {
            Cmp::Eq => positive(Some(l), 1) || positive(below, 1),
            Cmp::Le => positive(Some(l), 1),
            Cmp::Lt => positive(Some(l), 0),
            Cmp::Ge => positive(below, 1),
            Cmp::Gt => positive(below, 0),
            Cmp::Ne => false,
        }
    }

    /// Whether `n == 0` implies an inequality, since that holds at 0 whatever the other values are.
    fn implies(&mut self, g: &Graph, zero: (Term, bool), other: (Term, bool)) -> bool {
        let (Some((n, Cmp::Eq)), Some((l, op))) = (self.comparison(g, zero), self.comparison(g, other)) else {
            return false;
        };
        let Some((&atom, 1)) = n.atoms.first_key_value().map(|(t, c)| (t, *c)) else { return false };
        if n.atoms.len() > 1 || n.constant != 0 {
            return false;
        }
        let mut rest = l;
        rest.atoms.remove(&atom);
        // A product with this factor is 0 as well.
        rest.atoms.retain(|&t, _| {
            !matches!(g.node(t), Node::Prim(Prim::Int(IntOp::Mul), args)
            if args.iter().any(|&a| self.linear(g, a) == Linear::atom(atom)))
        });
        let rest = if matches!(op, Cmp::Le | Cmp::Lt) { Linear::default().minus(&rest) } else { Some(rest) };
        let strict = i128::from(matches!(op, Cmp::Lt | Cmp::Gt));
        matches!(op, Cmp::Le | Cmp::Lt | Cmp::Ge | Cmp::Gt)
            && rest.and_then(|l| l.plus(-strict)).and_then(|l| self.lower_bound(g, &l)).is_some_and(|low| low >= 0)
    }

    /// Learns that a saturating sum or product is exact, if it is at most `most` and `most` is
    /// below the maximum of the type. Then the sums and products in its operands are exact, too.
    fn not_saturated(&mut self, g: &Graph, t: Term, most: &Linear, deep: u32) {
        let Some(ty) = int_ty(g, t).filter(|ty| ty.range().0 == 0) else { return };
        let Node::Prim(Prim::Int(op @ (IntOp::Add | IntOp::Mul)), args) = g.node(t) else { return };
        let room = Linear::constant(ty.range().1 - 1).minus(most).and_then(|l| self.lower_bound(g, &l));
        if room.is_none_or(|low| low < 0) {
            return;
        }
        let other = |k: usize| *op == IntOp::Add || g.int_value(args[1 - k]).is_some_and(|n| n > 0);
        for k in (0..2).filter(|&k| deep > 0 && other(k)) {
            self.not_saturated(g, args[k], most, deep - 1);
        }
        if self.linear(g, t) != Linear::atom(t) {
            return;
        }
        let Some(exact) = self.exact(g, *op, args[0], args[1]) else { return };
        let own = Linear::atom(t);
        [own.minus(&exact), exact.minus(&own)].into_iter().flatten().for_each(|fact| self.learn(fact));
    }

    /// Learns that a boolean scalar is `holds`. Parts of a conjunction may share parts, so each one
    /// is looked at once.
    pub fn assume(&mut self, g: &Graph, cond: Term, holds: bool) {
        let (mut seen, mut stack) = (HashSet::new(), vec![(cond, holds)]);
        while let Some((t, holds)) = stack.pop() {
            let Node::Prim(prim, args) = g.node(t) else { continue };
            match (prim, holds) {
                (Prim::Not, _) => stack.push((args[0], !holds)),
                (Prim::And, true) | (Prim::Or, false) if seen.insert((t, holds)) => {
                    stack.extend([(args[1], holds), (args[0], holds)]);
                }
                (Prim::Compare(op), _) if matches!(g.elem(args[0]), Elem::Int(_)) && g.rank(args[0]) == 0 => {
                    self.assume_comparison(g, if holds { *op } else { op.negated() }, [args[0], args[1]]);
                }
                _ => {}
            }
        }
    }

    fn assume_comparison(&mut self, g: &Graph, op: Cmp, args: [Term; 2]) {
        let (a, b) = (self.linear(g, args[0]), self.linear(g, args[1]));
        let (Some(up), Some(down)) = (a.minus(&b), b.minus(&a)) else { return };
        let strict = |l: &Linear| l.plus(-1);
        let facts = match op {
            Cmp::Ge => vec![Some(up)],
            Cmp::Gt => vec![strict(&up)],
            Cmp::Le => vec![Some(down)],
            Cmp::Lt => vec![strict(&down)],
            Cmp::Eq => vec![Some(up), Some(down)],
            // A number that is not equal and not less is greater.
            Cmp::Ne if self.prove(g, &up) => vec![strict(&up)],
            Cmp::Ne if self.prove(g, &down) => vec![strict(&down)],
            Cmp::Ne => vec![],
        };
        facts.into_iter().flatten().for_each(|f| self.learn(f));
        match op {
            Cmp::Le | Cmp::Lt | Cmp::Eq => self.not_saturated(g, args[0], &b, DEPTH),
            _ => {}
        }
        match op {
            Cmp::Ge | Cmp::Gt | Cmp::Eq => self.not_saturated(g, args[1], &a, DEPTH),
            _ => {}
        }
    }

    /// Whether `goal >= 0` follows.
    pub fn prove(&mut self, g: &Graph, goal: &Linear) -> bool {
        if self.depth == 0 && self.inside == 0 {
            self.budget = BUDGET;
        }
        if self.depth >= DEPTH {
            return false;
        }
        self.depth += 1;
        let proved = self.search(g, goal, DEPTH);
        self.depth -= 1;
        proved
    }

    /// Whether `a <= b` follows.
    pub fn prove_le(&mut self, g: &Graph, a: Term, b: Term) -> bool {
        let (a, b) = (self.linear(g, a), self.linear(g, b));
        b.minus(&a).is_some_and(|goal| self.prove(g, &goal))
    }

    /// The greatest lower bound of `l` that is found, over `closed` terms only.
    pub fn at_least(&mut self, g: &Graph, l: &Linear, closed: &dyn Fn(Term) -> bool) -> Option<Linear> {
        let (mut found, mut budget) = (Vec::new(), BOUNDS);
        self.eliminate(g, l, closed, DEPTH, &mut budget, &mut found);
        found.into_iter().fold(None, |best: Option<Linear>, one| match best {
            Some(best) if !one.minus(&best).is_some_and(|more| self.prove(g, &more)) => Some(best),
            _ => Some(one),
        })
    }

    /// Replaces each atom that is not closed with a lower bound from the facts, or with an upper
    /// bound if it is subtracted.
    fn eliminate(
        &self,
        g: &Graph,
        l: &Linear,
        closed: &dyn Fn(Term) -> bool,
        depth: u32,
        budget: &mut u32,
        found: &mut Vec<Linear>,
    ) {
        // The innermost atom comes first. It is the newest term.
        let Some((&t, &c)) = l.atoms.iter().rev().find(|a| !closed(*a.0)) else {
            if !found.contains(l) {
                found.push(l.clone());
            }
            return;
        };
        if depth == 0 {
            return;
        }
        let facts = self.about.get(&t).map_or(&[][..], |about| about).iter().map(|&k| &self.known[k]);
        let unsigned = int_ty(g, t).is_some_and(|ty| ty.range().0 == 0).then(|| Linear::atom(t));
        for fact in facts.chain(&unsigned) {
            let Some(&f) = fact.atoms.get(&t) else { continue };
            if (c < 0) != (f < 0) || c % f != 0 || *budget == 0 {
                continue;
            }
            *budget -= 1;
            if let Some(rest) = l.combine(1, fact, -(c / f))
                && rest.atoms.len() <= l.atoms.len() + 2
            {
                self.eliminate(g, &rest, closed, depth - 1, budget, found);
            }
        }
    }

    /// Whether `low <= l <= high` follows.
    pub fn within(&mut self, g: &Graph, l: &Linear, (low, high): (i128, i128)) -> bool {
        let above = l.plus(-low).is_some_and(|goal| self.prove(g, &goal));
        above && Linear::constant(high).minus(l).is_some_and(|goal| self.prove(g, &goal))
    }

    /// The linear form of an integer scalar: exact under the facts.
    pub fn linear(&mut self, g: &Graph, t: Term) -> Linear {
        if let Some(n) = g.int_value(t) {
            return Linear::constant(n);
        }
        let state = self.states.last().copied().unwrap_or(0);
        if let Some(form) = self.forms.get(&t) {
            return form.clone();
        }
        if self.stuck.get(&t) == Some(&state) {
            return Linear::atom(t);
        }
        if self.inside == 0 {
            self.looks = LOOKS;
            if self.depth == 0 {
                self.budget = BUDGET;
            }
        }
        if self.looks == 0 {
            return Linear::atom(t);
        }
        self.looks -= 1;
        self.inside += 1;
        let form = self.form(g, t);
        self.inside -= 1;
        if form != Linear::atom(t) {
            self.found.push((self.known.len(), t));
            self.forms.insert(t, form.clone());
        } else if self.depth == 0 {
            self.stuck.insert(t, state);
        }
        form
    }

    fn form(&mut self, g: &Graph, t: Term) -> Linear {
        let exact = match g.node(t) {
            Node::Prim(Prim::Int(op), args) if args.len() == 2 => self.exact(g, *op, args[0], args[1]),
            Node::Prim(Prim::Checkpoint, args) => Some(self.linear(g, args[0])),
            Node::Prim(Prim::IntNeg, args) => Linear::default().minus(&self.linear(g, args[0])),
            Node::Prim(Prim::Cast(_), args) if matches!(g.elem(args[0]), Elem::Int(_)) => Some(self.linear(g, args[0])),
            _ => None,
        };
        match (exact, int_ty(g, t)) {
            // An exact value in the type's range is the term's value: nothing saturates and no cast
            // wraps. The size of an axis has not saturated.
            (Some(l), Some(ty)) if self.axes.contains(&t) || self.within(g, &l, ty.range()) => l,
            _ => Linear::atom(t),
        }
    }

    /// The mathematical value of an operation, if it is linear.
    fn exact(&mut self, g: &Graph, op: IntOp, a: Term, b: Term) -> Option<Linear> {
        let (a, b) = (self.linear(g, a), self.linear(g, b));
        match op {
            IntOp::Add => a.combine(1, &b, 1),
            IntOp::Sub => a.minus(&b),
            IntOp::Mul if b.atoms.is_empty() => a.combine(b.constant, &Linear::default(), 0),
            IntOp::Mul if a.atoms.is_empty() => b.combine(a.constant, &Linear::default(), 0),
            IntOp::Shl if b.atoms.is_empty() && (0..63).contains(&b.constant) => {
                a.combine(1 << b.constant, &Linear::default(), 0)
            }
            _ => None,
        }
    }

    fn search(&mut self, g: &Graph, goal: &Linear, depth: u32) -> bool {
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        if self.lower_bound(g, goal).is_some_and(|low| low >= 0) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        // An atom has to be eliminated if it is subtracted, or if its type does not bound it
        // enough.
        let atoms: Vec<(Term, i128)> = goal.atoms.iter().map(|(&t, &c)| (t, c)).collect();
        // A bound of a product is tried first: it leads to a goal without products.
        if atoms.iter().any(|&atom| self.by_product(g, goal, atom, depth)) {
            return true;
        }
        for &(t, c) in &atoms {
            for at in 0..self.about.get(&t).map_or(0, Vec::len) {
                let k = self.about[&t][at];
                let Some(&f) = self.known[k].atoms.get(&t) else { continue };
                // `goal * |f| - fact * |c|` does not contain `t`, if both have the same sign at
                // `t`.
                if (c < 0) != (f < 0) {
                    continue;
                }
                let divisor = gcd(c.unsigned_abs(), f.unsigned_abs());
                let (scale, times) = (f.abs() / divisor, c.abs() / divisor);
                if let Some(rest) = goal.combine(scale, &self.known[k], -times)
                    && rest.atoms.len() <= goal.atoms.len() + 2
                    && self.search(g, &rest, depth - 1)
                {
                    return true;
                }
            }
            if self.by_cases(g, goal, t, c, depth) {
                return true;
            }
        }
        false
    }

    /// Proves the goal for each value that an atom may have, under the facts of that case.
    fn by_cases(&mut self, g: &Graph, goal: &Linear, t: Term, c: i128, depth: u32) -> bool {
        let without = |l: Linear| -> Option<Linear> {
            let rest = goal.combine(1, &Linear::atom(t), -c)?;
            rest.combine(1, &l, c)
        };
        let mark = self.mark();
        let case = |me: &mut Self, value: Option<Linear>, given: Option<Linear>| {
            let Some(next) = value.and_then(without) else { return false };
            if let Some(given) = given {
                me.learn(given);
            }
            let proved = me.search(g, &next, depth - 1);
            me.forget(mark);
            proved
        };
        match g.node(t) {
            Node::Prim(Prim::Int(IntOp::Min), args) => {
                let (a, b) = (self.linear(g, args[0]), self.linear(g, args[1]));
                case(self, Some(a.clone()), b.minus(&a)) && case(self, Some(b.clone()), a.minus(&b))
            }
            Node::Prim(Prim::Int(IntOp::Max), args) => {
                let (a, b) = (self.linear(g, args[0]), self.linear(g, args[1]));
                case(self, Some(a.clone()), a.minus(&b)) && case(self, Some(b.clone()), b.minus(&a))
            }
            // An unsigned difference is exact if it is not negative, and 0 otherwise.
            Node::Prim(Prim::Int(IntOp::Sub), args) if int_ty(g, t).is_some_and(|ty| ty.range().0 == 0) => {
                let (a, b) = (self.linear(g, args[0]), self.linear(g, args[1]));
                let (up, down) = (a.minus(&b), b.minus(&a));
                case(self, up.clone(), up) && case(self, Some(Linear::default()), down)
            }
            // A bitwise and of non-negative numbers is at most each of them.
            Node::Prim(Prim::Int(IntOp::BitAnd), args) if int_ty(g, t).is_some_and(|ty| ty.range().0 == 0) && c < 0 => {
                [args[0], args[1]].into_iter().any(|most| {
                    let most = self.linear(g, most);
                    without(most).is_some_and(|rest| self.search(g, &rest, depth - 1))
                })
            }
            Node::Prim(Prim::Int(IntOp::Shr), args) if int_ty(g, t).is_some_and(|ty| ty.range().0 == 0) && c < 0 => {
                let most = self.linear(g, args[0]);
                without(most).is_some_and(|rest| self.search(g, &rest, depth - 1))
            }
            // This is a quotient or remainder of a non-negative number by a positive one. For `q =
            // a / b` it is known that `b q <= a <= b q + b - 1`.
            Node::Prim(Prim::Int(op @ (IntOp::Div | IntOp::Rem)), args) => {
                let (a, by) = (self.linear(g, args[0]), self.linear(g, args[1]));
                let Some(positive) = by.plus(-1) else { return false };
                if !self.search(g, &a, depth - 1) || !self.search(g, &positive, depth - 1) {
                    return false;
                }
                let me = Linear::atom(t);
                let facts = match op {
                    IntOp::Rem => [positive.minus(&me), a.minus(&me)],
                    _ if !by.atoms.is_empty() => [a.minus(&me), None],
                    _ => {
                        let by = by.constant;
                        [a.combine(1, &me, -by), me.combine(by, &a, -1).and_then(|l| l.plus(by - 1))]
                    }
                };
                facts.into_iter().flatten().any(|fact| {
                    let Some(&f) = fact.atoms.get(&t) else { return false };
                    (c < 0) == (f < 0)
                        && goal.combine(f.abs(), &fact, -c.abs()).is_some_and(|rest| self.search(g, &rest, depth - 1))
                })
            }
            Node::Cond { cond, then, other } => {
                let (cond, then, other) = (*cond, *then, *other);
                [(then, true), (other, false)].into_iter().all(|(arm, holds)| {
                    self.assume(g, cond, holds);
                    let value = self.linear(g, arm);
                    let proved = without(value).is_some_and(|next| self.search(g, &next, depth - 1));
                    self.forget(mark);
                    proved
                })
            }
            _ => false,
        }
    }
}

fn int_ty(g: &Graph, t: Term) -> Option<IntTy> {
    match g.ty(t).as_array() {
        Some((Elem::Int(ty), [])) => Some(ty),
        _ => None,
    }
}

fn gcd(a: u128, b: u128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a.max(1)).unwrap_or(1)
}

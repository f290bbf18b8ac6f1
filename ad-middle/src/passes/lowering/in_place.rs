//! In-place updates of carried arrays: the array plus a sparse array becomes scatter-adds into it.
//! So the cotangent of an array that a loop reads element by element is updated in place, at a cost
//! that does not depend on the size of the array. This pass never reassociates a sum of dense
//! arrays.

use std::collections::{HashMap, HashSet};

use super::exclusive::split_by_arm;
use super::extents::{chosen, limited};
use super::opened::{Loops, chain_of_updates};
use super::{LoweredGraph, Lowering};
use crate::passes::rewrite::Rewriter;
use crate::passes::simplify::part::differs_by_small_constant;
use ad_ir::analysis::guards::{Guard, decided, parts};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::{Binary, IntOp, Prim};

/// The maximum number of summands of one sum that are examined.
const MAX_SUMMANDS: usize = 64;
/// The maximum depth of nested conditions that are examined.
const MAX_DEPTH: usize = 8;
/// The maximum number of conditions by which a sum is split: enough for the exclusive branches of
/// an iteration, and fewer than all combinations of independent conditions.
const MAX_SPLITS: usize = 64;

/// `next` as a chain of writes to elements of `now` and additions to them. `None` if it is not such
/// a chain, or already has this form. The result of an inner loop that continues such a chain is
/// part of it.
///
/// `others` are other results of the same body. If an arm writes a new array over the carried one,
/// they have to read the states of the chain instead of states outside of it: these states are
/// returned, by the terms that they replace.
pub(crate) fn update(
    g: &mut Graph,
    loops: &Loops,
    (now, next): (Term, Term),
    others: &[Term],
) -> Option<(Term, HashMap<Term, Term>)> {
    if g.rank(now) == 0 || next == now {
        return None;
    }
    let mut chain = Chain::new(g, loops, now, others);
    let made = chain.chained(next, MAX_DEPTH)?;
    let states = if chain.replaced { chain.states } else { HashMap::new() };
    Some((made, states))
}

impl Lowering<'_> {
    /// The initial value of a loop, as in-place updates of an array that an enclosing loop carries,
    /// if it has this form.
    pub(super) fn changed(&mut self, init: Term) -> Term {
        let like = |g: &Graph, t: Term| t != init && g.ty(t) == g.ty(init);
        let around: Vec<Term> = self.carried.iter().rev().copied().filter(|&t| like(self.g, t)).collect();
        around.into_iter().find_map(|now| self.in_place((now, init), &[])).map_or(init, |chain| chain.0)
    }

    /// The next value of a carried array, as in-place updates of `now`, if it has this form, and
    /// the states that `others` have to read: see [`update`].
    fn in_place(&mut self, (now, next): (Term, Term), others: &[Term]) -> Option<(Term, HashMap<Term, Term>)> {
        let (chain, states) = update(self.g, &self.loops, (now, next), others)?;
        if chain != next {
            self.fired("lowering.in_place", next, &[chain]);
        }
        let made = split_by_arm(self.g, now, chain);
        if made != chain {
            self.fired("lowering.exclusive", chain, &[made]);
            return Some((made, HashMap::new()));
        }
        Some((made, states))
    }

    /// Brings the next values of carried arrays into the form of updates. If arms replace such an
    /// array, the other terms of the body read the states of its chain.
    pub(super) fn updates(&mut self, now: &[Term], results: &mut [Term], body: &mut HashMap<Term, Term>) {
        let (mut states, mut chains, mut replaced) = (HashMap::new(), Vec::new(), HashSet::new());
        for (k, &now) in now.iter().enumerate() {
            let others: Vec<Term> = (0..results.len()).filter(|&j| j != k).map(|j| results[j]).collect();
            let Some((chain, of)) = self.in_place((now, results[k]), &others) else { continue };
            chains.push((k, chain));
            if !of.is_empty() {
                replaced.insert(k);
                states.extend(of);
            }
        }
        for (k, chain) in chains {
            results[k] = chain;
        }
        if states.is_empty() {
            return;
        }
        let g = &mut *self.g;
        let mut rewriter = Rewriter::default();
        for (_, t) in results.iter_mut().enumerate().filter(|r| !replaced.contains(&r.0)) {
            *t = rewriter.run(g, &[*t], |_, t, _| states.get(&t).copied())[0];
        }
        let mut terms: Vec<Term> = body.keys().copied().collect();
        terms.sort_unstable();
        for t in terms {
            let made = rewriter.run(g, &[body[&t]], |_, t, _| states.get(&t).copied())[0];
            body.insert(t, made);
        }
    }
}

impl LoweredGraph {
    /// Brings results that are added to arrays of the caller into the form of updates of these.
    /// Each pair is an array and the result, before lowering.
    pub(crate) fn update_caller(&mut self, g: &mut Graph, onto: &[(Term, Term)]) {
        for &(array, result) in onto {
            let of = |t: Term| self.new.get(&t).copied().unwrap_or(t);
            let (now, next, before) = (of(array), of(result), g.len());
            let Some(chain) = update_of_caller(g, &self.loops, now, next) else { continue };
            let made = split_by_arm(g, now, chain);
            let created = g.reachable(&[made]).into_iter().filter(|t| t.index() >= before);
            self.outer.extend(created.collect::<Vec<_>>());
            self.new.insert(result, made);
        }
    }
}

/// The same for an array of the caller. Whole arrays are added to it in place, too, and no update
/// reads it.
fn update_of_caller(g: &mut Graph, loops: &Loops, now: Term, next: Term) -> Option<Term> {
    if g.rank(now) == 0 || next == now {
        return None;
    }
    let made = Chain { dense: true, ..Chain::new(g, loops, now, &[]) }.chained(next, MAX_DEPTH)?;
    let (mut stack, mut seen) = (vec![made], HashSet::new());
    while let Some(t) = stack.pop().filter(|&t| t != now) {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Cond { then, other, .. } => stack.extend([*then, *other]),
            Node::Scatter { src, .. } if g.reachable(&[*src]).contains(&now) => return None,
            _ => stack.extend(g.destination(t)),
        }
    }
    Some(made)
}

/// The state while the chain of one carried array is built.
struct Chain<'a> {
    g: &'a mut Graph,
    loops: &'a Loops,
    now: Term,
    /// The conditions that hold at the current position in the chain.
    facts: Vec<Guard>,
    /// The number of conditions by which a sum may still be split.
    splits: usize,
    /// Whether whole arrays are added in place.
    dense: bool,
    /// Other results of the body, and all that they read once it is known.
    others: &'a [Term],
    read: Option<HashSet<Term>>,
    /// The states of the chain, by the terms that they replace.
    states: HashMap<Term, Term>,
    /// Whether an arm writes a new array over the carried one.
    replaced: bool,
}

impl<'a> Chain<'a> {
    fn new(g: &'a mut Graph, loops: &'a Loops, now: Term, others: &'a [Term]) -> Self {
        let (facts, states) = (Vec::new(), HashMap::new());
        Chain { g, loops, now, facts, splits: MAX_SPLITS, dense: false, others, read: None, states, replaced: false }
    }
}

impl Chain<'_> {
    /// A term as a chain of updates. It may be a scatter into a chain, a conditional between
    /// chains (one of which may be a new array), a choice that keeps all but the first elements of
    /// a chain, or a sum of one chain and sparse summands ([`is_sparse`]), which become additions
    /// in the chain.
    fn chained(&mut self, next: Term, deep: usize) -> Option<Term> {
        let (mut t, mut outer) = (next, Vec::new());
        while let (true, Some(dst)) = (t != self.now, self.g.destination(t)) {
            outer.push(t);
            t = dst;
        }
        let onto = match *self.g.node(t) {
            _ if t == self.now || continued_by_inner_loop(self.g, self.loops, self.now, t) => t,
            _ if deep == 0 => return None,
            Node::Cond { cond, then, other } => match decided(self.g, cond, &self.facts, MAX_DEPTH) {
                Some(true) => self.chained(then, deep)?,
                Some(false) => self.chained(other, deep)?,
                None => {
                    let (then, other) = match (self.chained(then, deep - 1), self.chained(other, deep - 1)) {
                        (None, None) => return None,
                        (Some(a), Some(b)) => (a, b),
                        (Some(a), None) => (a, self.whole(other, a)),
                        (None, Some(b)) => (self.whole(then, b), b),
                    };
                    self.g.cond(cond, then, other)
                }
            },
            Node::Prim(Prim::Binary(Binary::Add), _) => self.sum_as_chain(&[t])?,
            Node::Prim(Prim::Select, ref args) => {
                let [condition, new, kept] = [args[0], args[1], args[2]];
                let onto = self.chained(kept, deep - 1)?;
                chosen(self.g, condition, new, onto)?
            }
            _ => return None,
        };
        Some(self.updated(t, onto, outer))
    }

    /// These updates of `t`, the newest first, as updates of `onto`, which has the same value. They
    /// also read `onto`: otherwise `t` would be made next to it, in a copy.
    fn updated(&mut self, t: Term, mut onto: Term, updates: Vec<Term>) -> Term {
        let mut states = HashMap::new();
        // An array that does not depend on the carried one may be read for other reasons.
        if t != onto && self.g.reachable(&[t]).contains(&self.now) {
            states.insert(t, onto);
        }
        for update in updates.into_iter().rev() {
            let reads = Rewriter::default().run(self.g, &[update], |_, t, _| states.get(&t).copied())[0];
            onto = self.g.onto(reads, onto);
            if update != onto {
                states.insert(update, onto);
            }
        }
        // Under facts, the two are equal only where these hold.
        if self.facts.is_empty() {
            self.states.extend(states);
        }
        onto
    }

    /// A new array, written over the whole carried one. The update costs as much as making the
    /// whole array, and the other arms of a condition stay updates. If the new array is computed
    /// from a later state of the carried one, it is written over that state. The same holds for a
    /// state of `beside`, the chain of the other arm, that other results of the body read: then
    /// that state is made in both arms.
    fn whole(&mut self, t: Term, beside: Term) -> Term {
        let (mut new, mut outer) = (t, Vec::new());
        while let Some(dst) = self.g.destination(new) {
            outer.push(new);
            new = dst;
        }
        let others = self.others;
        let read = match self.read.take() {
            Some(read) => read,
            None => self.g.reachable(others).into_iter().collect(),
        };
        let mut states = self.g.reachable(&[new]);
        let mut state = beside;
        while let (true, Some(dst)) = (state != self.now, self.g.destination(state)) {
            states.extend(read.contains(&state).then_some(state));
            state = dst;
        }
        let is_state = |x: &Term| {
            self.g.destination(*x).is_some()
                && self.g.ty(*x) == self.g.ty(self.now)
                && chain_of_updates(self.g, self.loops, self.now, *x).is_some()
        };
        let dst = states.into_iter().filter(is_state).max().unwrap_or(self.now);
        self.read = Some(read);
        self.replaced = true;
        let vars: Box<[Var]> = self.g.shape(t).to_vec().iter().map(|_| self.g.fresh()).collect();
        let index = vars.iter().map(|&var| self.g.mk(Node::Var(var))).collect();
        let all = self.g.mk(Node::Scatter { put: Put::Set, dst, src: new, vars, index });
        self.updated(new, all, outer)
    }

    /// The destination of an update that adds.
    fn added(&self, t: Term) -> Option<Term> {
        let sets = matches!(self.g.node(t), Node::Scatter { put: Put::Set, .. });
        self.g.destination(t).filter(|_| !sets)
    }

    /// The sum as one chain, split by the conditions that decide which summand contains the array.
    /// The cotangents of an array from the branches of an iteration come as a sum of conditionals:
    /// only where these conditions are known does one summand contain the array.
    fn sum_as_chain(&mut self, sum: &[Term]) -> Option<Term> {
        self.sparse_sum(sum).or_else(|| self.dense_sum(sum))
    }

    /// The sum of one chain and whole arrays, which are added to each element.
    fn dense_sum(&mut self, sum: &[Term]) -> Option<Term> {
        let mut flat = self.flat(sum).filter(|_| self.dense)?;
        let own = |g: &Graph, t: Term| g.reachable(&[t]).contains(&self.now);
        let at = flat.iter().position(|&t| own(self.g, t))?;
        let chain = flat.remove(at);
        if flat.iter().any(|&t| own(self.g, t)) {
            return None;
        }
        let added = flat.into_iter().reduce(|a, b| self.g.add(a, b))?;
        let dst = self.chained(chain, MAX_DEPTH)?;
        let vars: Vec<Var> = self.g.shape(added).to_vec().iter().map(|_| self.g.fresh()).collect();
        let index: Vec<Term> = vars.iter().map(|&var| self.g.mk(Node::Var(var))).collect();
        Some(self.g.scatter(dst, added, &vars, &index))
    }

    fn sparse_sum(&mut self, sum: &[Term]) -> Option<Term> {
        let mut flat = self.flat(sum)?;
        let containing: Vec<usize> = (0..flat.len()).filter(|&k| !is_sparse(self.g, flat[k], MAX_DEPTH)).collect();
        if let [at] = *containing {
            let chain = flat.remove(at);
            let chain = self.chained(chain, MAX_DEPTH)?;
            return Some(flat.into_iter().fold(chain, |acc, t| add(self.g, acc, t)));
        }
        if !containing.is_empty() && containing.len() < flat.len() {
            // Sparse summands are added once, after the conditional that selects the summand with
            // the array.
            let (with, without): (Vec<usize>, Vec<usize>) = (0..flat.len()).partition(|k| containing.contains(k));
            let with: Vec<Term> = with.into_iter().map(|k| flat[k]).collect();
            let chain = self.sum_as_chain(&with)?;
            return Some(without.into_iter().fold(chain, |acc, k| add(self.g, acc, flat[k])));
        }
        // An addition to an element of a summand is an addition to that element of the sum.
        let mut added = Vec::new();
        for t in &mut flat {
            while let Some(dst) = self.added(*t) {
                added.push(*t);
                *t = dst;
            }
        }
        if !added.is_empty() {
            let mut chain = self.sum_as_chain(&flat)?;
            for update in added.into_iter().rev() {
                chain = self.g.onto(update, chain);
            }
            return Some(chain);
        }
        let decides = self.decides(&flat)?;
        if self.facts.iter().any(|f| f.0 == decides) || self.splits == 0 {
            return None;
        }
        self.splits -= 1;
        let (then, whole) = self.under((decides, true), &flat);
        let (other, rest) = self.under((decides, false), &flat);
        if then.is_none() && other.is_none() {
            return None;
        }
        let then = then.or_else(|| Some(self.whole(whole?, other?)))?;
        let other = other.or_else(|| Some(self.whole(rest?, then)))?;
        Some(self.g.cond(decides, then, other))
    }

    /// The sum where a condition is known, as a chain and as a new array.
    fn under(&mut self, fact: Guard, sum: &[Term]) -> (Option<Term>, Option<Term>) {
        self.facts.push(fact);
        let chain = self.sum_as_chain(sum);
        let all = self.flat(sum).and_then(|all| all.into_iter().reduce(|a, b| self.g.add(a, b)));
        self.facts.pop();
        (chain, all)
    }

    /// The summands, where the facts decide which they are.
    fn flat(&self, sum: &[Term]) -> Option<Vec<Term>> {
        let (mut flat, mut stack) = (Vec::new(), sum.iter().rev().copied().collect::<Vec<_>>());
        while let Some(t) = stack.pop() {
            if flat.len() + stack.len() > MAX_SUMMANDS {
                return None;
            }
            match *self.g.node(t) {
                Node::Prim(Prim::Binary(Binary::Add), ref args) => stack.extend([args[1], args[0]]),
                Node::Cond { cond, then, other } => match decided(self.g, cond, &self.facts, MAX_DEPTH) {
                    Some(true) => stack.push(then),
                    Some(false) => stack.push(other),
                    None => flat.push(t),
                },
                _ if is_zero(self.g, t) => {}
                _ => flat.push(t),
            }
        }
        Some(flat)
    }

    /// A condition that selects a summand, or the destination of one.
    fn decides(&self, all: &[Term]) -> Option<Term> {
        let mut decides = all.iter().find_map(|&t| {
            let mut t = t;
            loop {
                match *self.g.node(t) {
                    Node::Scatter { .. } | Node::Prim(Prim::Onto(..), _) => t = self.g.destination(t)?,
                    Node::Cond { cond, then, other } => match decided(self.g, cond, &self.facts, MAX_DEPTH) {
                        Some(value) => t = if value { then } else { other },
                        None => return Some(cond),
                    },
                    _ => return None,
                }
            }
        })?;
        // The outermost unknown condition comes first: the inner ones may be evaluated only under
        // it.
        loop {
            let known = |l: &Guard| decided(self.g, l.0, &self.facts, MAX_DEPTH).is_some();
            let inside = [true, false].into_iter().flat_map(|value| parts(self.g, (decides, value)));
            match inside.into_iter().find(|l| !known(l)) {
                Some(outer) if outer.0 != decides => decides = outer.0,
                _ => return Some(decides),
            }
        }
    }
}

/// Whether a term is the result of an inner loop that continues such a chain.
fn continued_by_inner_loop(g: &Graph, loops: &Loops, now: Term, t: Term) -> bool {
    loops.begun(t).is_some_and(|(_, c)| c.init == now || chain_of_updates(g, loops, now, c.init).is_some())
}

fn summands(g: &Graph, t: Term, sum: &mut Vec<Term>) -> Option<()> {
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        if sum.len() + stack.len() > MAX_SUMMANDS {
            return None;
        }
        match g.node(t) {
            Node::Prim(Prim::Binary(Binary::Add), args) => stack.extend([args[1], args[0]]),
            _ => sum.push(t),
        }
    }
    Some(())
}

/// Whether a term is zero, zeros into which elements or small blocks are scattered, or zero after
/// the first elements.
fn is_sparse(g: &Graph, t: Term, deep: usize) -> bool {
    if is_zero(g, t) {
        return true;
    }
    match g.node(t) {
        _ if deep == 0 => false,
        Node::Scatter { put: Put::Add, .. } | Node::Prim(Prim::Onto(..), _) => {
            let mut sum = Vec::new();
            let dst = g.destination(t).unwrap_or(t);
            summands(g, dst, &mut sum).is_some() && sum.iter().all(|&t| is_sparse(g, t, deep - 1))
        }
        Node::Cond { then, other, .. } => is_sparse(g, *then, deep - 1) && is_sparse(g, *other, deep - 1),
        // A block of nearly whole rows is better added elementwise, fused with other summands: see
        // `split`. If the block ends early, the loop that adds it ends there.
        Node::Prim(Prim::Pad(steps), args) => {
            let sizes: Vec<(Term, Term)> =
                std::iter::zip(g.shape(args[0]), g.shape(t)).map(|(&a, &b)| (a, b)).collect();
            let nearly_whole = sizes.split_last().is_some_and(|(&(len, size), outer)| {
                outer.iter().all(|(len, size)| len == size) && (len == size || differs_by_small_constant(g, len, size))
            });
            steps.iter().all(|&s| s > 0) && (!nearly_whole || ends_early(g, args[0]))
        }
        _ => ends_early(g, t),
    }
}

/// Whether an array is zero from a limit on.
fn ends_early(g: &Graph, t: Term) -> bool {
    limited(g, t).is_some_and(|(ends, _)| ends.iter().any(Option::is_some))
}

/// `acc + t` for a sparse `t`: see [`is_sparse`].
fn add(g: &mut Graph, acc: Term, t: Term) -> Term {
    if is_zero(g, t) {
        return acc;
    }
    match g.node(t).clone() {
        Node::Scatter { put: Put::Add, .. } | Node::Prim(Prim::Onto(..), _) => {
            let mut sum = Vec::new();
            let dst = g.destination(t).unwrap_or(t);
            let dst = match summands(g, dst, &mut sum) {
                Some(()) => sum.into_iter().fold(acc, |acc, t| add(g, acc, t)),
                None => g.add(acc, dst),
            };
            g.onto(t, dst)
        }
        Node::Cond { cond, then, other } => {
            let (then, other) = (add(g, acc, then), add(g, acc, other));
            g.cond(cond, then, other)
        }
        Node::Prim(Prim::Pad(steps), args) => {
            let vars: Vec<_> = steps.iter().map(|_| g.fresh()).collect();
            let mut index = Vec::new();
            for (k, &step) in steps.iter().enumerate() {
                let var = g.mk(Node::Var(vars[k]));
                let step = g.lit_usize(usize::try_from(step).unwrap_or(1));
                let offset = g.int(IntOp::Mul, var, step);
                index.push(g.int(IntOp::Add, args[1 + k], offset));
            }
            g.scatter(acc, args[0], &vars, &index)
        }
        _ if ends_early(g, t) => {
            let vars: Vec<Var> = (0..g.rank(t)).map(|_| g.fresh()).collect();
            let index: Vec<Term> = vars.iter().map(|&var| g.mk(Node::Var(var))).collect();
            g.scatter(acc, t, &vars, &index)
        }
        _ => g.add(acc, t),
    }
}

/// `scatter x (cond c v 0) (\[] -> [cond c i _])` as `cond c (scatter x v (\[] -> [i])) x`: a step
/// that does not take the arm adds nothing, so it does not read the array either.
pub(super) fn added_in_arm(g: &mut Graph, node: &Node) -> Option<Term> {
    let Node::Scatter { put: Put::Add, dst, src, vars, index } = node else { return None };
    let (cond, arm, holds) = zero_otherwise(g, *src)?;
    if !vars.is_empty() || index.is_empty() {
        return None;
    }
    let in_arm = |&ix: &Term| match *g.node(ix) {
        Node::Cond { cond: c, then, other } if c == cond => [other, then][usize::from(holds)],
        _ => ix,
    };
    let index: Vec<Term> = index.iter().map(in_arm).collect();
    let added = g.scatter(*dst, arm, &[], &index);
    Some(in_the_arm(g, (cond, holds), added, *dst))
}

/// Likewise for a carried number: `now + cond c v 0` as `cond c (now + v) now`.
pub(super) fn added_to_number(g: &mut Graph, now: Term, next: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(next).clone() else { return None };
    let added = if args[0] == now { args[1] } else { args[0] };
    let (cond, arm, holds) = zero_otherwise(g, added)?;
    if g.rank(next) > 0 || !args.contains(&now) {
        return None;
    }
    let sum = g.add(now, arm);
    Some(in_the_arm(g, (cond, holds), sum, now))
}

/// The nonzero arm of a conditional whose other arm is zero, and the value of its condition.
fn zero_otherwise(g: &Graph, t: Term) -> Option<(Term, Term, bool)> {
    let Node::Cond { cond, then, other } = *g.node(t) else { return None };
    match (is_zero(g, then), is_zero(g, other)) {
        (false, true) => Some((cond, then, true)),
        (true, false) => Some((cond, other, false)),
        _ => None,
    }
}

fn in_the_arm(g: &mut Graph, (cond, holds): (Term, bool), arm: Term, otherwise: Term) -> Term {
    let (then, other) = if holds { (arm, otherwise) } else { (otherwise, arm) };
    g.cond(cond, then, other)
}

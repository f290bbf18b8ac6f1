//! Guards for loops without steps. Later stages compute loop-invariant terms once, before the loop.
//! If the loop has no steps, the function does not compute them, so their derivative must not
//! count: a factor may be infinite there. So an invariant term that was created inside of the loop
//! is put under the condition that the loop has a step.
//!
//! Invariant: a term that the function computes in any case gets no condition.

use std::collections::{HashMap, HashSet};

use super::lower::Lower;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Term, Var};
use ad_ir::prim::{Binary, Cmp, Prim, Unary};

/// The maximum number of terms that `scales_derivative` visits. For a larger term it returns true.
const MAX_VISITED: usize = 64;

/// Terms that were created at points which may not be reached at run time: in loops, in branches,
/// and in trial lowerings.
#[derive(Clone, Debug, Default)]
pub(super) struct MaybeUnreached {
    /// Half-open ranges of term indices, ascending and without overlap.
    ranges: Vec<(usize, usize)>,
}

impl MaybeUnreached {
    fn add(&mut self, start: usize, end: usize) {
        if start < end {
            self.ranges.retain(|r| r.0 < start);
            self.ranges.push((start, end));
        }
    }

    fn contains(&self, t: Term) -> bool {
        let k = self.ranges.partition_point(|r| r.0 <= t.index());
        k > 0 && t.index() < self.ranges[k - 1].1
    }
}

impl Lower<'_> {
    /// Runs `f` at a point that may not be reached.
    pub(super) fn maybe_unreached<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let start = self.g.len();
        let result = f(self);
        self.maybe_unreached_since(start);
        result
    }

    /// Marks all terms since `start` as created at a point that may not be reached.
    pub(super) fn maybe_unreached_since(&mut self, start: usize) {
        let end = self.g.len();
        self.maybe_unreached.add(start, end);
    }

    /// Guards the element of a build, given its variable and size.
    pub(super) fn guard_element(&mut self, size: Term, var: Var, value: Term) -> Term {
        let leaf = self.g.mk(Node::Var(var));
        let mut values = [value];
        self.guard_invariants(size, None, &[leaf], &mut values);
        values[0]
    }

    /// Guards the invariant parts of `roots`, the terms of a loop of `size` steps. The condition is
    /// that the size is not 0 and that the loop does not start as stopped. The leaves are the terms
    /// that vary from step to step, the oldest first.
    pub(super) fn guard_invariants(&mut self, size: Term, left: Option<Term>, leaves: &[Term], roots: &mut [Term]) {
        let zero = self.g.lit_usize(0);
        let steps = self.g.compare(Cmp::Lt, zero, size);
        let runs = match left {
            Some(left) => {
                let not = self.g.not(left);
                self.g.and(steps, not)
            }
            None => steps,
        };
        if self.g.bool_value(runs).is_some() {
            return;
        }
        let Some(&oldest) = leaves.iter().min() else { return };
        let varies: HashSet<Term> = self.varying(leaves, oldest, roots);
        let mut guarded = Guarded { lower: self, runs, oldest, varies, new: HashMap::new() };
        on_demand(&mut guarded, roots.iter().copied());
        for root in roots {
            *root = guarded.new[root];
        }
    }

    /// The terms that depend on the leaves.
    fn varying(&self, leaves: &[Term], oldest: Term, roots: &[Term]) -> HashSet<Term> {
        let mut varies: HashSet<Term> = leaves.iter().copied().collect();
        let mut seen: HashSet<Term> = HashSet::new();
        let mut stack: Vec<(Term, bool)> = roots.iter().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if children_done {
                let mut any = false;
                self.g.node(t).for_each_child(|c| any |= varies.contains(&c));
                if any {
                    varies.insert(t);
                }
            } else if t > oldest && seen.insert(t) {
                // Operands are older than the terms that use them.
                stack.push((t, true));
                self.g.node(t).for_each_child(|c| stack.push((c, false)));
            }
        }
        varies
    }

    /// Whether the derivative of a term has a factor that is not a literal. Only the part of the
    /// term that was created inside of the loop counts.
    fn scales_derivative(&self, t: Term, oldest: Term) -> bool {
        if !self.g.ty(t).as_array().is_some_and(|(elem, _)| elem.is_real()) {
            return false;
        }
        let mut stack = vec![t];
        let mut seen: HashSet<Term> = HashSet::new();
        while let Some(t) = stack.pop() {
            if t < oldest && !self.maybe_unreached.contains(t) || !seen.insert(t) {
                continue;
            }
            if seen.len() > MAX_VISITED {
                return true;
            }
            // Integers and booleans have no derivative.
            if self.g.ty(t).as_array().is_some_and(|(elem, _)| !elem.is_real()) {
                continue;
            }
            let constant = |t: Term| self.g.real_value(t).is_some_and(f64::is_finite);
            match self.g.node(t) {
                Node::Input(_) | Node::Param(..) | Node::Lit(_) | Node::Var(_) | Node::Size(..) => {}
                Node::Tuple(parts) => stack.extend(parts.iter().copied()),
                Node::Proj(tuple, _) => stack.push(*tuple),
                Node::Gather { src, .. } => stack.push(*src),
                Node::Cond { then, other, .. } => stack.extend([*then, *other]),
                Node::Build { body, .. } => stack.push(*body),
                Node::Scan(_) | Node::Scatter { .. } => return true,
                Node::Prim(prim, args) => match prim {
                    Prim::Binary(Binary::Add | Binary::Sub)
                    | Prim::Unary(Unary::Neg)
                    | Prim::Stack
                    | Prim::RelaxedExact => stack.extend(args.iter().copied()),
                    Prim::Binary(Binary::Mul) if constant(args[0]) => stack.push(args[1]),
                    Prim::Binary(Binary::Mul | Binary::Div) if constant(args[1]) => stack.push(args[0]),
                    Prim::Select => stack.extend([args[1], args[2]]),
                    Prim::StopGradient | Prim::Iota => {}
                    Prim::Cast(_) => stack.push(args[0]),
                    prim if prim.moves_elements() => stack.push(args[0]),
                    _ => return true,
                },
            }
        }
        false
    }
}

/// The invariant parts of the terms of a loop, under the condition that the loop `runs`.
struct Guarded<'l, 'a> {
    lower: &'l mut Lower<'a>,
    runs: Term,
    /// The oldest term that varies from step to step.
    oldest: Term,
    varies: HashSet<Term>,
    new: HashMap<Term, Term>,
}

impl Memoised for Guarded<'_, '_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (&mut self.lower.g, &mut self.new)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        // A guard belongs to the loop.
        self.varies.contains(t).then_some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.lower.g.node_rc(t);
        self.lower.g.mk(node.map_children(|c| self.new[&c]))
    }
}

impl OnDemand for Guarded<'_, '_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        let lower = &mut *self.lower;
        if self.varies.contains(&t) {
            lower.g.node(t).for_each_child(|c| needs.push(c));
            return None;
        }
        Some(if lower.scales_derivative(t, self.oldest) {
            let zeros = lower.g.zeros_like(t);
            lower.g.cond(self.runs, t, zeros)
        } else {
            t
        })
    }
}

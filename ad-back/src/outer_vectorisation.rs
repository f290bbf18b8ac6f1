//! Outer-loop vectorisation of loops that carry rows whose elements are independent (for example a
//! recurrence for each of many items). The elements are processed in chunks: all iterations are
//! done for one chunk, whose values stay in registers, then for the next chunk. So the loop over
//! iterations is the inner one, and no carried value goes through memory between iterations. A sum
//! over the elements is updated once for each chunk.
//!
//! This module finds these loops. A loop is excluded if an iteration reads another element of a
//! carried row, or a sum over its elements.

use std::collections::{HashMap, HashSet};

use super::items::{Fold, Item, SINGLE_PRECISION, items, members};
use super::kernel::{Id, Kernel, Op, operands};
use super::plan::{LANES, Plan, Work};
use super::store::Class;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Term};
use ad_middle::passes::lowering::opened::{Loop, RowGrowth};

/// A loop that may be vectorised in this way, and facts about it.
struct Candidate<'a> {
    g: &'a Graph,
    plan: &'a Plan,
    l: &'a Loop,
    /// The size of the rows.
    axis: Term,
    /// The rows that the nests of an iteration compute.
    rows: HashSet<Term>,
    /// The sums over the elements of such a row that they compute.
    sums: HashSet<Term>,
}

/// The size of the rows that the loop carries, if all its iterations can be done for one chunk of
/// elements before the next chunk.
pub(super) fn axis_of(g: &Graph, plan: &Plan, hints: &HashMap<Term, String>, n: usize) -> Option<Term> {
    let l = &plan.loops.all[n];
    let &[axis] = g.shape(l.carries.first()?.now) else { return None };
    if l.stop.is_some_and(|t| g.bool_value(t) != Some(false)) || g.int_value(axis).is_some() {
        return None;
    }
    let mut c = Candidate { g, plan, l, axis, rows: HashSet::new(), sums: HashSet::new() };
    for &k in &plan.bodies[n] {
        if let Work::Nest { items, .. } = &plan.steps[k].work {
            for &t in items {
                if g.rank(t) == 0 {
                    c.sums.insert(t)
                } else {
                    c.rows.insert(t)
                };
            }
        }
    }
    if !(c.carries_rows_only() && c.saves_rows_only() && plan.bodies[n].iter().all(|&k| c.is_elementwise(hints, k))) {
        return None;
    }
    let why = || format!("({LANES} elements)");
    choose(Kind::OuterVectorisation, (l.carries[0].last.index(), 0), true, why).then_some(axis)
}

impl Candidate<'_> {
    fn is_row(&self, t: Term) -> bool {
        self.g.shape(t) == [self.axis]
    }

    fn is_of_iteration(&self, t: Term) -> bool {
        self.rows.contains(&t) || self.l.carries.iter().any(|c| c.now == t)
    }

    /// Whether a term differs between elements, or depends on all of them.
    fn varies(&self, t: Term) -> bool {
        self.g.reachable(&[t]).into_iter().any(|u| self.is_of_iteration(u) || self.sums.contains(&u))
    }

    /// Whether all carried values are separate rows that each iteration replaces.
    fn carries_rows_only(&self) -> bool {
        let Candidate { plan, l, .. } = self;
        l.carries.iter().all(|c| {
            let in_place = [c.now, c.next, c.last].iter().any(|t| plan.in_place.contains_key(t));
            let outside = || {
                let inside = plan.scopes.contains(plan.scopes.of(c.now), plan.scopes.of(c.next));
                plan.class(c.next) == Class::Buffer && !inside
            };
            self.is_row(c.now) && self.is_row(c.next) && !in_place && (self.is_of_iteration(c.next) || outside())
        })
    }

    /// Whether every value that an iteration saves is a row of the loop's axis, or the sum of one.
    fn saves_rows_only(&self) -> bool {
        let sums = self.sums.iter().all(|t| {
            let saved = self.l.rows.iter().filter(|r| r.row == *t).count();
            saved == 1 && self.plan.uses.get(t) == Some(&1)
        });
        sums && self.l.rows.iter().all(|r| {
            r.how == RowGrowth::None
                && if self.g.rank(r.row) == 0 { self.sums.contains(&r.row) } else { self.is_of_iteration(r.row) }
        })
    }

    /// Whether a statement of the body processes each element independently.
    fn is_elementwise(&self, hints: &HashMap<Term, String>, k: usize) -> bool {
        let step = &self.plan.steps[k];
        match &step.work {
            Work::Scalar(t) => !self.varies(*t),
            Work::Nest { domain, items } => {
                step.guard.is_empty() && **domain == [self.axis] && self.nest(hints, items, k).is_some()
            }
            _ => false,
        }
    }

    fn nest(&self, hints: &HashMap<Term, String>, terms: &[Term], k: usize) -> Option<()> {
        let Candidate { g, plan, axis, .. } = *self;
        let mut kernel = Kernel::new(g, plan, hints, vec![axis], members(g, terms));
        let identity = kernel.identity().to_vec();
        let (items, _) = items(g, plan, &mut kernel, (&[axis], &identity), terms, k).ok()?;
        let mut stack: Vec<Id> = Vec::new();
        for item in &items {
            match item {
                Item::Store { value, out, .. } if out.is_none_or(|t| self.is_row(t)) => stack.push(*value),
                Item::Fold { out, fold: Fold::Sum, value, .. } => {
                    // A single accumulator of type `f32` would lose digits.
                    let real = g.elem(*out).is_real() && g.elem(*out) != SINGLE_PRECISION;
                    if g.rank(*out) > 0 || !real || plan.exact.contains(out) {
                        return None;
                    }
                    stack.push(*value);
                }
                _ => return None,
            }
        }
        let mut seen: HashSet<Id> = HashSet::new();
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &kernel.node(id).op {
                Op::Load { buf, ix, .. } if **ix == *identity => {
                    if !self.is_row(*buf) {
                        return None;
                    }
                }
                Op::Load { buf, sizes, ix } => {
                    let same_for_all = ix.iter().all(|&i| kernel.node(i).level == 0);
                    if !same_for_all || self.is_of_iteration(*buf) || sizes.contains(&axis) {
                        return None;
                    }
                    stack.extend(ix);
                }
                // Within a chunk, the index of an element and the number of elements would be those
                // of the chunk.
                Op::Var(_) => return None,
                Op::Scalar(t) if *t == axis || self.varies(*t) => return None,
                op => stack.extend(operands(op)),
            }
        }
        Some(())
    }
}

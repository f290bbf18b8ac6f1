//! Index-set splitting: an arm of a conditional that makes arrays or runs loops is lifted only over
//! the indices that take it, and its rows are scattered into zeros. If the condition is a range (`i
//! < n`, `i >= k`, both), the rows of the arm are padded. For any other condition the indices at
//! which it holds are listed first; that costs a pass over the indices and copies of rows, so it is
//! done only for an arm that may cost more (docs/internals/src/bulk-operations.md).
//!
//! The number of indices becomes a size, so the terms that it is computed from must be closed. This
//! module must never split an arm that only computes scalars (its elementwise choice vectorises),
//! nor one whose terms the program computes for all indices anyway.

use std::collections::{HashMap, HashSet};

use super::Lift;
use crate::passes::trace;
use ad_ir::analysis::guards::{Guard, Guards};
use ad_ir::analysis::once;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::rewrite::on_demand;
use ad_ir::ir::{Elem, IntTy, Lit, Node, OpenLoop, Term, Type, Var};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// An array with a literal size of at most this is not worth a list of indices, since its elements
/// become scalars.
const MAX_SMALL_SIZE: i128 = 16;

/// A condition on a variable: it is at least `low` and below `high`, and `rest` holds.
#[derive(Clone, Default)]
struct IndexRange {
    low: Option<Term>,
    high: Option<Term>,
    rest: Option<Term>,
}

/// Indices of a lift.
#[derive(Clone)]
enum Indices {
    Range(IndexRange),
    /// The indices at which a condition has this value.
    Where(Term, bool),
}

/// How a conditional is lifted.
#[derive(Clone)]
pub(super) struct ArmSplit {
    cond: Term,
    /// Whether the condition holds for the indices of the first arm.
    holds: bool,
    /// The arm that is lifted over some indices only.
    inside: (Term, Indices),
    /// The other arm.
    outside: OtherArm,
}

#[derive(Clone)]
enum OtherArm {
    /// It is zero.
    Zero,
    /// It is lifted over all indices.
    Whole(Term),
    /// It is lifted over the indices that are left.
    Part(Term, Indices),
}

impl ArmSplit {
    /// The terms that are lifted over all indices.
    pub(super) fn over_all(&self) -> Vec<Term> {
        let listed = matches!(self.inside.1, Indices::Where(..));
        match self.outside {
            OtherArm::Zero if !listed => Vec::new(),
            OtherArm::Whole(other) => vec![self.cond, other],
            OtherArm::Zero | OtherArm::Part(..) => vec![self.cond],
        }
    }
}

/// The work of a term for one index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    Scalars,
    /// It reads parts of arrays.
    Parts,
    /// It computes arrays with a constant number of operations for each element of the index's row.
    Rows,
    /// It computes arrays, or runs loops.
    Arrays,
}

impl Lift<'_> {
    /// How a conditional is split, if its condition varies and splitting is worth it.
    pub(super) fn split(&mut self, t: Term) -> Option<ArmSplit> {
        let Node::Cond { cond, then, other } = *self.g.node(t) else { return None };
        let real = matches!(self.g.ty(t), Type::Array(Elem::Real(_), _));
        if self.items_last || self.ends || !real || !self.varies(cond) {
            return None;
        }
        let closed = !self.g.is_open(cond) && self.g.free(cond).len() == 1;
        let arms = [(then, other, true), (other, then, false)];
        arms.into_iter().find_map(|(arm, left, holds)| {
            let (work, zero) = (self.work(arm, &self.shared), is_zero(self.g, left));
            if work < if zero { Work::Parts } else { Work::Rows } {
                return None;
            }
            let range = self.range(cond, holds);
            let whole = range.as_ref().is_some_and(|range| range.rest.is_none());
            let listed = |holds| closed.then_some(Indices::Where(cond, holds));
            let indices = range.map(Indices::Range).or_else(|| listed(holds).filter(|_| work == Work::Arrays));
            let (indices, outside) = match self.work(left, &self.shared) {
                _ if zero => (indices?, OtherArm::Zero),
                Work::Scalars | Work::Parts => (indices?, OtherArm::Whole(left)),
                other => match self.range(cond, !holds).filter(|range| whole && range.rest.is_none()) {
                    Some(range) => (indices?, OtherArm::Part(left, Indices::Range(range))),
                    None if other == Work::Rows => (indices?, OtherArm::Whole(left)),
                    None => (listed(holds)?, OtherArm::Part(left, listed(!holds)?)),
                },
            };
            Some(ArmSplit { cond, holds, inside: (arm, indices), outside })
        })
    }

    /// The terms among these that are computed for all indices: those under no condition that
    /// varies.
    pub(in crate::passes) fn unconditional(&self, roots: &[Term]) -> HashSet<Term> {
        let varies = |guards: &[Guard]| guards.iter().any(|guard| self.varies(guard.0));
        let all = once::<Guards>(self.g, roots).into_iter();
        all.filter(|(t, guards)| self.varies(*t) && !varies(guards)).map(|(t, _)| t).collect()
    }

    /// The work of an arm for one index, without that of the terms in `but`.
    fn work(&self, arm: Term, but: &HashSet<Term>) -> Work {
        let (mut seen, mut stack, mut all) = (HashSet::new(), vec![arm], Vec::new());
        while let Some(t) = stack.pop() {
            if !self.varies(t) || but.contains(&t) || !seen.insert(t) {
                continue;
            }
            all.push(t);
            self.g.node(t).for_each_scoped_child(|c, inside| {
                if !inside {
                    stack.push(c);
                }
            });
        }
        let rows: Vec<&[Term]> = all.iter().filter_map(|&t| self.own_row(t)).collect();
        all.iter().map(|&t| self.work_of(t, &rows)).max().unwrap_or(Work::Scalars)
    }

    /// The work of one operation for one index. `rows` are the shapes of the index's own rows.
    fn work_of(&self, t: Term, rows: &[&[Term]]) -> Work {
        let g = &*self.g;
        let Some((_, shape)) = g.ty(t).as_array() else { return Work::Arrays };
        let ranges: Vec<Term> = match g.node(t) {
            Node::Prim(Prim::Sum(_), args) => g.shape(args[0]).to_vec(),
            Node::Prim(Prim::Contract(c), args) => {
                let of_b = c.b.iter().zip(g.shape(args[1])).filter(|(label, _)| !c.a.contains(label));
                g.shape(args[0]).iter().chain(of_b.map(|(_, size)| size)).copied().collect()
            }
            _ if shape.is_empty() => return Work::Scalars,
            Node::Gather { .. } | Node::Cond { .. } => return Work::Parts,
            // Elements that are written in place.
            Node::Scatter { src, .. } => g.shape(*src).to_vec(),
            Node::Prim(prim, args) => match prim {
                Prim::Slice(_) | Prim::Transpose(_) | Prim::Recast | Prim::Reshape => return Work::Parts,
                Prim::Call(_) | Prim::Onto(..) | Prim::Returned(..) | Prim::Derived(_) => return Work::Arrays,
                _ => {
                    let of_args = args[..prim.data_args(args.len())].iter().map(|&x| g.shape(x));
                    of_args.chain([shape]).max_by_key(|shape| shape.len()).unwrap_or_default().to_vec()
                }
            },
            _ => return Work::Arrays,
        };
        let inside = |row: &&[Term]| {
            let mut left = row.to_vec();
            ranges.iter().all(|n| left.iter().position(|m| m == n).map(|k| left.swap_remove(k)).is_some())
        };
        let literals: Option<Vec<i128>> = ranges.iter().map(|&n| g.int_value(n)).collect();
        let few = literals.is_some_and(|all| all.iter().product::<i128>() <= MAX_SMALL_SIZE);
        if few || rows.iter().any(inside) { Work::Rows } else { Work::Arrays }
    }

    /// The shape of a row that no other index reads.
    fn own_row(&self, t: Term) -> Option<&[Term]> {
        let Node::Gather { src, index, .. } = self.g.node(t) else { return None };
        let own = !self.varies(*src) && index.iter().any(|&ix| self.is_own(ix));
        own.then(|| self.g.shape(t))
    }

    /// Whether an index is the variable plus a term without it.
    fn is_own(&self, ix: Term) -> bool {
        match self.g.node(ix) {
            Node::Prim(Prim::Int(IntOp::Add), args) => {
                let [a, b] = [args[0], args[1]];
                (self.is_own(a) && !self.varies(b)) || (self.is_own(b) && !self.varies(a))
            }
            Node::Prim(Prim::Int(IntOp::Sub), args) => self.is_own(args[0]) && !self.varies(args[1]),
            _ => self.beyond(ix).is_some(),
        }
    }

    /// The range of the indices at which the condition can have the value `holds`, and the
    /// remaining condition. `None` if the condition does not compare the index with the end of a
    /// range.
    fn range(&mut self, cond: Term, holds: bool) -> Option<IndexRange> {
        let mut found = IndexRange::default();
        let mut stack = vec![(cond, holds)];
        while let Some((c, holds)) = stack.pop() {
            match self.g.node(c).clone() {
                Node::Prim(Prim::Not, args) => stack.push((args[0], !holds)),
                Node::Prim(Prim::And, args) if holds => stack.extend([(args[1], true), (args[0], true)]),
                Node::Prim(Prim::Or, args) if !holds => stack.extend([(args[1], false), (args[0], false)]),
                Node::Cond { cond, then, other } if holds && self.g.bool_value(other) == Some(false) => {
                    stack.extend([(then, true), (cond, true)]);
                }
                Node::Cond { cond, then, other } if !holds && self.g.bool_value(then) == Some(true) => {
                    stack.extend([(other, false), (cond, false)]);
                }
                node => {
                    if !self.end(&node, holds, &mut found) {
                        let c = if holds { c } else { self.g.not(c) };
                        found.rest = Some(match found.rest {
                            Some(rest) => self.g.and(rest, c),
                            None => c,
                        });
                    }
                }
            }
        }
        (found.low.is_some() || found.high.is_some()).then_some(found)
    }

    /// Adds a comparison of the index to a range. Returns whether the node is such a comparison.
    fn end(&mut self, node: &Node, holds: bool, range: &mut IndexRange) -> bool {
        let Node::Prim(Prim::Compare(op), args) = node else { return false };
        let (of_first, of_second) = (self.beyond(args[0]), self.beyond(args[1]));
        let (op, more, end) = match (of_first, of_second) {
            (Some(more), None) => (*op, more, args[1]),
            (None, Some(more)) => (op.swapped(), more, args[0]),
            _ => return false,
        };
        if !self.is_size(end) {
            return false;
        }
        let zero = self.g.int_value(end) == Some(0) && more == 0;
        let op = match if holds { op } else { op.negated() } {
            // There is nothing below 0.
            Cmp::Eq if zero => Cmp::Le,
            Cmp::Ne if zero => Cmp::Gt,
            op => op,
        };
        // An end `e` of the range for `index + more` is `e - more` for the index. The difference of
        // sizes saturates at 0.
        let (one, more) = (self.g.lit_usize(1), self.g.lit_usize(more));
        let next = self.g.int(IntOp::Add, end, one);
        let (end, next) = (self.g.int(IntOp::Sub, end, more), self.g.int(IntOp::Sub, next, more));
        let (low, high) = match op {
            Cmp::Lt => (None, Some(end)),
            Cmp::Le => (None, Some(next)),
            Cmp::Gt => (Some(next), None),
            Cmp::Ge => (Some(end), None),
            Cmp::Eq if self.g.int_value(more) == Some(0) => (Some(end), Some(next)),
            Cmp::Eq | Cmp::Ne => return false,
        };
        range.low = self.nearer(IntOp::Max, range.low, low);
        range.high = self.nearer(IntOp::Min, range.high, high);
        true
    }

    fn nearer(&mut self, op: IntOp, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(self.g.int(op, a, b)),
            _ => a.or(b),
        }
    }

    /// The literal that is added to the variable in an index.
    fn beyond(&self, t: Term) -> Option<usize> {
        match self.g.node(t) {
            Node::Var(v) if *v == self.var => Some(0),
            Node::Gather { src, index, vars, .. } if vars.is_empty() && index.len() == 1 => {
                let counts = matches!(self.g.node(*src), Node::Prim(Prim::Iota, _));
                counts.then(|| self.beyond(index[0])).flatten()
            }
            Node::Prim(Prim::Int(IntOp::Add), args) => {
                let more = usize::try_from(self.g.int_value(args[1])?).ok()?;
                self.beyond(args[0])?.checked_add(more)
            }
            _ => None,
        }
    }

    /// Whether a term can be a size: a closed `usize` that is computed from sizes and integers.
    fn is_size(&self, t: Term) -> bool {
        let usize = Type::scalar(Elem::USIZE);
        *self.g.ty(t) == usize
            && self.g.free(t).is_empty()
            && !self.g.is_open(t)
            && self.g.reachable(&[t]).iter().all(|&t| match self.g.node(t) {
                Node::Size(..) | Node::Lit(Lit::Int(IntTy::Usize, _)) => true,
                Node::Input(_) => *self.g.ty(t) == usize || self.g.rank(t) > 0,
                Node::Prim(Prim::Int(IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Min | IntOp::Max), _) => true,
                _ => false,
            })
    }

    /// The array of a conditional that is split.
    pub(super) fn in_parts(&mut self, t: Term) -> Term {
        let Some(split) = self.splits.get(&t).cloned() else { return t };
        let made = self.arms(split);
        trace::fired("bulk.index_set", t, &[made]);
        made
    }

    /// The arms of a conditional, each over its own indices.
    fn arms(&mut self, ArmSplit { cond, holds, inside: (arm, indices), outside }: ArmSplit) -> Term {
        let inside = self.over(&indices, arm);
        let outside = match outside {
            OtherArm::Zero => return inside,
            OtherArm::Whole(other) => self.done[&other],
            OtherArm::Part(other, indices) => self.over(&indices, other),
        };
        let mask = self.done[&cond];
        let (then, other) = if holds { (inside, outside) } else { (outside, inside) };
        self.select(mask, then, other)
    }

    /// The array of a term for some indices, and zeros for all others.
    fn over(&mut self, indices: &Indices, t: Term) -> Term {
        let (zero, size) = (self.g.lit_usize(0), self.size);
        let part = self.part(indices, t);
        let rows = Lift::new(self.g, part.var, part.len).lift(part.t);
        let mut shape = self.g.shape(rows).to_vec();
        shape[0] = size;
        if let Some(low) = part.low {
            let mut starts = vec![zero; shape.len()];
            starts[0] = low;
            return self.g.pad(rows, &starts, &vec![1; shape.len()], &shape);
        }
        let none = self.g.zero(self.g.elem(rows));
        let none = self.g.broadcast(none, &shape);
        self.g.update(none, rows, &[part.var], &[part.at])
    }

    /// The sum of a term over all indices.
    pub(in crate::passes) fn sum(&mut self, t: Term) -> Term {
        if let Some((indices, arm)) = self.zero_elsewhere(t) {
            let part = self.part(&indices, arm);
            return Lift::new(self.g, part.var, part.len).sum(part.t);
        }
        let all = self.lift(t);
        self.g.sum_axes(all, &[0])
    }

    /// An array to which a term is added for all indices, each at its place.
    pub(in crate::passes) fn scatter(&mut self, dst: Term, t: Term, (vars, index): (&[Var], &[Term])) -> Term {
        if let Some((indices, arm)) = self.zero_elsewhere(t) {
            let part = self.part(&indices, arm);
            let index = self.g.subst_vars_all(index, &[(self.var, part.at)]);
            return Lift::new(self.g, part.var, part.len).scatter(dst, part.t, (vars, &index));
        }
        let src = self.lift(t);
        let fresh = self.g.fresh();
        let index: Vec<Term> = index.iter().map(|&ix| self.lift_index(ix, fresh)).collect();
        let vars: Vec<Var> = std::iter::once(fresh).chain(vars.iter().copied()).collect();
        self.g.scatter(dst, src, &vars, &index)
    }

    /// If a root is zero except at some indices: these indices, and the arm that they take.
    fn zero_elsewhere(&mut self, t: Term) -> Option<(Indices, Term)> {
        if !self.varies(t) {
            return None;
        }
        let split = self.split(t).filter(|split| matches!(split.outside, OtherArm::Zero))?;
        if let Indices::Where(cond, _) = split.inside.1 {
            on_demand(self, [cond]);
        }
        Some((split.inside.1, split.inside.0))
    }

    /// A term at some of the indices, which are counted from 0 here.
    fn part(&mut self, indices: &Indices, t: Term) -> LiftedPart {
        let t = self.with_rows(t);
        let (zero, size) = (self.g.lit_usize(0), self.size);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let (t, len, low, at) = match indices {
            Indices::Range(range) => {
                let t = range.rest.map_or(t, |rest| {
                    let zeros = self.g.zeros_like(t);
                    self.g.cond(rest, t, zeros)
                });
                let end = self.nearer(IntOp::Min, range.high, Some(size)).unwrap_or(size);
                let low = if range.low.is_some() { self.nearer(IntOp::Min, range.low, Some(size)) } else { None };
                let low = low.unwrap_or(zero);
                (t, self.g.int(IntOp::Sub, end, low), Some(low), self.g.int(IntOp::Add, i, low))
            }
            Indices::Where(cond, holds) => {
                let (len, listed) = self.listed(*cond, *holds);
                (t, len, None, self.g.index(listed, &[i]))
            }
        };
        let t = self.g.subst_vars(t, &[(self.var, at)]);
        LiftedPart { var, len, low, at, t }
    }

    /// The term, in which each subterm that is computed for all indices anyway is replaced by a
    /// read of its row.
    fn with_rows(&mut self, t: Term) -> Term {
        let (mut seen, mut stack, mut found) = (HashSet::new(), vec![t], Vec::new());
        while let Some(t) = stack.pop() {
            if !self.varies(t) || !seen.insert(t) {
                continue;
            }
            if self.shared.contains(&t) && self.g.ty(t).as_array().is_some() {
                if self.work(t, &HashSet::new()) >= Work::Rows {
                    found.push(t);
                }
                continue;
            }
            self.g.node(t).for_each_scoped_child(|c, inside| {
                if !inside {
                    stack.push(c);
                }
            });
        }
        if found.is_empty() {
            return t;
        }
        on_demand(self, found.iter().copied());
        let i = self.g.mk(Node::Var(self.var));
        let rows = found.iter().map(|&t| (t, self.g.index(self.done[&t], &[i])));
        let rows: HashMap<Term, Term> = rows.collect();
        self.g.replaced(&[t], rows)[0]
    }

    /// The number of indices at which the condition has the value `holds`, and a list that begins
    /// with these indices in ascending order.
    fn listed(&mut self, cond: Term, holds: bool) -> (Term, Term) {
        let mask = self.done[&cond];
        let mask = if holds { mask } else { self.g.not(mask) };
        let (none, one, size) = (self.g.lit_usize(0), self.g.lit_usize(1), self.size);
        let step = self.g.fresh();
        let i = self.g.mk(Node::Var(step));
        let init = vec![none, self.g.broadcast(none, &[size])];
        let carried: Vec<Term> = init.iter().map(|&t| self.g.placeholder(self.g.ty(t).clone())).collect();
        let here = self.g.index(mask, &[i]);
        let next = self.g.int(IntOp::Add, carried[0], one);
        let put = self.g.update(carried[1], i, &[], &[carried[0]]);
        let results = vec![self.g.cond(here, next, carried[0]), self.g.cond(here, put, carried[1])];
        let (reverse, stop) = (false, None);
        let rows = self.g.close_loop(&OpenLoop { count: size, reverse, stop, step, init, carried, results });
        (self.g.proj(rows, 0), self.g.proj(rows, 1))
    }
}

/// A term at some of the indices of a lift.
struct LiftedPart {
    /// The position of an index among them.
    var: Var,
    /// The number of indices.
    len: Term,
    /// The first index, if they follow each other.
    low: Option<Term>,
    /// The index at this position.
    at: Term,
    t: Term,
}

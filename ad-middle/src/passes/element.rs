//! Reads some elements of a term without computing the others: an index is pushed from the root
//! towards the leaves (BOT Fig. 10), through elementwise operations, sums, contractions and changes
//! of layout. It is used for a term with free variables, if one element is needed for each value of
//! the variables. A subterm without these variables is computed as a whole and then read. An
//! operation with several operands duplicates the index, so the number of reads is limited
//! ([`MAX_READS`]).
//!
//! This module must never be applied to a term that a decision depends on: it may change the order
//! of a sum.

use std::collections::HashMap;

use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Contraction, Graph, Node, Put, Term, axis};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The index along each axis, or `None` if the whole axis is read.
type Index = Vec<Option<Term>>;

/// A term, and an index of all of its axes or of its first axes.
pub(crate) type ElementAt = (Term, Vec<Term>);

/// A term to read, and the index to read it at.
type PartAt = (Term, Index);

/// The maximum number of terms into which an index is pushed.
const MAX_READS: usize = 4096;

/// The element of `t` at an index of all its axes.
pub(crate) fn element(g: &mut Graph, t: Term, index: &[Term]) -> Term {
    read(g, (t, index.iter().map(|&at| Some(at)).collect()), false)
}

/// The part of `t` at an index of some axes. The index is pushed into terms without free variables
/// too.
pub(crate) fn part(g: &mut Graph, t: Term, index: Vec<Option<Term>>) -> Term {
    read(g, (t, index), true)
}

fn read(g: &mut Graph, root: PartAt, closed: bool) -> Term {
    let mut reads = ElementReads { g, closed, done: HashMap::new(), steps: HashMap::new() };
    on_demand(&mut reads, [root.clone()]);
    reads.done[&root]
}

struct ElementReads<'g> {
    g: &'g mut Graph,
    /// Whether the index is pushed into terms without free variables.
    closed: bool,
    done: HashMap<PartAt, Term>,
    /// The steps of reads that wait for their operands.
    steps: HashMap<PartAt, Step>,
}

impl Memoised for ElementReads<'_> {
    type Key = PartAt;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<PartAt, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, (t, _): &PartAt) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, read: &PartAt) -> Term {
        let step = self.steps.remove(read).unwrap_or(Step::Whole);
        let operands = step.operands(self.g, read);
        let operands: Vec<Term> = operands.iter().map(|operand| self.done[operand]).collect();
        step.finish(self.g, read, &operands)
    }
}

impl OnDemand for ElementReads<'_> {
    fn enter(&mut self, read: &PartAt, needs: &mut Needs<'_, PartAt>) -> Option<Term> {
        let met = self.done.len() + self.steps.len();
        let step = if met < MAX_READS { Step::of(self.g, read, self.closed) } else { Step::Whole };
        let operands = step.operands(self.g, read);
        if operands.is_empty() {
            return Some(step.finish(self.g, read, &[]));
        }
        needs.extend(operands);
        self.steps.insert(read.clone(), step);
        None
    }
}

/// The elements of a term into which the index is not pushed. The indexed axes are moved to the
/// front and then indexed.
fn whole(g: &mut Graph, (t, index): &PartAt) -> Term {
    let fixed = (0..index.len()).filter(|&k| index[k].is_some());
    let perm: Vec<u8> = fixed.chain((0..index.len()).filter(|&k| index[k].is_none())).map(axis).collect();
    let turned = g.transpose(*t, &perm);
    let at: Vec<Term> = index.iter().copied().flatten().collect();
    if at.is_empty() { turned } else { g.index(turned, &at) }
}

/// How a read of a term continues in the operands of the term.
enum Step {
    /// The index is not pushed any further.
    Whole,
    /// The element is this term.
    Known(Term),
    /// The index is pushed into all operands of an elementwise operation.
    Elementwise(Prim, Vec<Term>),
    /// The index is pushed into the operand of a replication along these axes.
    Replicate(Term, Vec<u8>),
    /// One operand is read at this index. Then the remaining axes are transposed into this order;
    /// if it is empty, they stay.
    One(Term, Index, Vec<u8>),
    /// The summed array is read at this index, and the result is summed over the summed axes that
    /// remain.
    Sum(Term, Index),
    /// The index is pushed into both operands of a contraction.
    Contract(Contraction, [Term; 2]),
    /// The operand of a pad, or the source of a scatter into zeros, is read at this index if the
    /// condition holds. Otherwise the element is zero.
    Where(Term, Term, Index),
}

impl Step {
    fn of(g: &mut Graph, (t, index): &PartAt, closed: bool) -> Step {
        let node = g.node_rc(*t);
        if let (Node::Prim(Prim::Iota, _), &[Some(at)]) = (&*node, &index[..]) {
            return Step::Known(at);
        }
        if index.iter().all(Option::is_none) || (!closed && g.free(*t).is_empty()) {
            return Step::Whole;
        }
        match &*node {
            Node::Prim(prim, args) => Step::of_prim(g, prim, args, index),
            // An index of an index is one longer index.
            Node::Gather { src, vars, index: at, .. } if vars.is_empty() => {
                let all: Index = at.iter().map(|&at| Some(at)).chain(index.iter().copied()).collect();
                let left = (0..index.iter().filter(|at| at.is_none()).count()).map(axis).collect();
                Step::One(*src, all, left)
            }
            // A term that is zero except at one index of its first axes.
            Node::Scatter { put: Put::Add, dst, src, vars, index: at }
                if vars.is_empty() && is_zero_of_either_sign(g, *dst) =>
            {
                let (first, rest) = index.split_at(at.len());
                let Some(first) = first.iter().copied().collect::<Option<Vec<Term>>>() else { return Step::Whole };
                let mut here = g.lit_bool(true);
                for (&wanted, &at) in first.iter().zip(at) {
                    let same = g.compare(Cmp::Eq, wanted, at);
                    here = g.and(here, same);
                }
                Step::Where(here, *src, rest.to_vec())
            }
            _ => Step::Whole,
        }
    }

    fn of_prim(g: &mut Graph, prim: &Prim, args: &[Term], index: &Index) -> Step {
        let all: Option<Vec<Term>> = index.iter().copied().collect();
        match (prim, all) {
            (prim, _) if prim.is_elementwise() => Step::Elementwise(prim.clone(), args.to_vec()),
            (Prim::Replicate(axes), _) => Step::Replicate(args[0], axes.to_vec()),
            (Prim::Recast, Some(all)) => Step::One(args[0], all.into_iter().map(Some).collect(), Vec::new()),
            (Prim::Transpose(perm), _) => {
                let mut inner = vec![None; index.len()];
                for (k, &p) in perm.iter().enumerate() {
                    inner[usize::from(p)] = index[k];
                }
                // The remaining axes in the operand's order, and the position of each remaining
                // axis of the result among them.
                let left: Vec<usize> = (0..inner.len()).filter(|&k| inner[k].is_none()).collect();
                let wanted = perm.iter().zip(index).filter(|(_, at)| at.is_none());
                let order = wanted.filter_map(|(&p, _)| left.iter().position(|&l| l == usize::from(p)).map(axis));
                let order = order.collect();
                Step::One(args[0], inner, order)
            }
            (Prim::Sum(axes), _) => {
                let mut rest = index.iter().copied();
                let rank = index.len() + axes.len();
                let inner = (0..rank).map(|k| if axes.contains(&axis(k)) { None } else { rest.next().flatten() });
                let inner = inner.collect();
                Step::Sum(args[0], inner)
            }
            (Prim::Contract(spec), _) => Step::Contract(spec.clone(), [args[0], args[1]]),
            (Prim::Slice(steps), Some(all)) if steps.iter().all(|&s| s == 1) => {
                let at = all.iter().zip(&args[1..]).map(|(&at, &start)| Some(g.int(IntOp::Add, start, at)));
                let at = at.collect();
                Step::One(args[0], at, Vec::new())
            }
            (Prim::Pad(steps), Some(all)) if steps.iter().all(|&s| s == 1) => {
                let sizes = g.shape(args[0]).to_vec();
                let (mut there, mut inner) = (g.lit_bool(true), Vec::new());
                for ((&at, &start), &size) in all.iter().zip(&args[1..]).zip(&sizes) {
                    let own = g.int(IntOp::Sub, at, start);
                    let (behind, before) = (g.compare(Cmp::Le, start, at), g.compare(Cmp::Lt, own, size));
                    there = g.and(there, behind);
                    there = g.and(there, before);
                    inner.push(Some(own));
                }
                Step::Where(there, args[0], inner)
            }
            _ => Step::Whole,
        }
    }

    /// The reads of operands that this read needs.
    fn operands(&self, g: &Graph, (t, index): &PartAt) -> Vec<PartAt> {
        match self {
            Step::Whole | Step::Known(_) => Vec::new(),
            Step::Elementwise(_, args) => args.iter().map(|&arg| (arg, index.clone())).collect(),
            Step::Replicate(arg, new) => {
                let old = index.iter().enumerate().filter(|(k, _)| !new.contains(&axis(*k)));
                vec![(*arg, old.map(|(_, &at)| at).collect())]
            }
            Step::One(arg, inner, _) | Step::Sum(arg, inner) | Step::Where(_, arg, inner) => {
                vec![(*arg, inner.clone())]
            }
            Step::Contract(spec, args) => {
                debug_assert_eq!(g.rank(*t), index.len());
                let at = |label: &u8| spec.out.iter().position(|l| l == label).and_then(|k| index[k]);
                let of = |labels: &[u8]| labels.iter().map(at).collect();
                vec![(args[0], of(&spec.a)), (args[1], of(&spec.b))]
            }
        }
    }

    /// The elements, given the elements of the operands.
    fn finish(self, g: &mut Graph, read: &PartAt, operands: &[Term]) -> Term {
        let index = &read.1;
        match self {
            Step::Whole => whole(g, read),
            Step::Known(at) => at,
            // This is the element of a unit vector at its own index, so the comparison holds.
            Step::Elementwise(Prim::Compare(Cmp::Eq), _)
                if operands[0] == operands[1] && !g.elem(operands[0]).is_real() && g.rank(operands[0]) == 0 =>
            {
                g.lit_bool(true)
            }
            Step::Elementwise(prim, _) => g.prim(prim, operands),
            Step::Replicate(_, new) => {
                let sizes: Vec<Term> = g.shape(read.0).to_vec();
                let left: Vec<usize> = (0..index.len()).filter(|&k| index[k].is_none()).collect();
                let kept = left.iter().enumerate().filter(|(_, k)| new.contains(&axis(**k)));
                let (axes, sizes): (Vec<u8>, Vec<Term>) = kept.map(|(at, &k)| (axis(at), sizes[k])).unzip();
                g.replicate_axes(operands[0], &axes, &sizes)
            }
            Step::One(_, _, order) => {
                if order.is_empty() {
                    operands[0]
                } else {
                    g.transpose(operands[0], &order)
                }
            }
            Step::Sum(_, inner) => {
                let Node::Prim(Prim::Sum(axes), _) = g.node(read.0).clone() else { return whole(g, read) };
                let before = |a: u8| inner[..usize::from(a)].iter().filter(|at| at.is_none()).count();
                let axes: Vec<u8> = axes.iter().map(|&a| axis(before(a))).collect();
                g.sum_axes(operands[0], &axes)
            }
            Step::Contract(spec, _) => {
                let fixed = |label: &u8| spec.out.iter().position(|l| l == label).is_some_and(|k| index[k].is_some());
                let left = |labels: &[u8]| labels.iter().copied().filter(|l| !fixed(l)).collect::<Box<[u8]>>();
                let inner = spec.with(left(&spec.a), left(&spec.b), left(&spec.out));
                // Nothing is summed, and both operands are scalars.
                if inner.a.is_empty() && inner.b.is_empty() {
                    return g.product(operands[0], operands[1], spec.absorbs);
                }
                g.contract(operands[0], operands[1], inner)
            }
            Step::Where(there, ..) => {
                let zero = g.zeros_like(operands[0]);
                let mask = {
                    let shape = g.shape(operands[0]).to_vec();
                    g.broadcast(there, &shape)
                };
                g.select(mask, operands[0], zero)
            }
        }
    }
}

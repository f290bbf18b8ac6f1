//! Reads some elements of a term without computing the others: an index is pushed from the root
//! towards the leaves (BOT Fig. 10), through elementwise operations, sums, contractions and changes
//! of layout.
//!
//! This is for a term with free variables of which one element is wanted for each value of the
//! variables: what does not mention them is the same for all values, and is read and not taken
//! apart. An index is duplicated where it enters several operands, so the number of reads is
//! limited ([`READS`]); what is left is read as a whole.
//!
//! Must never be applied to what a decision depends on: sums are over the same elements, in another
//! order.

use std::collections::HashMap;

use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::rewrite::{Needs, OnDemand, Rewrite, on_demand};
use ad_ir::ir::{Contraction, Graph, Node, Put, Term, axis};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The index along each axis, or none where the whole axis is wanted.
type Index = Vec<Option<Term>>;

/// A term to read, and where.
type Read = (Term, Index);

/// Terms that are read on the way, at most.
const READS: usize = 4096;

/// The element of `t` at an index of all its axes.
pub(crate) fn element(g: &mut Graph, t: Term, index: &[Term]) -> Term {
    let root = (t, index.iter().map(|&at| Some(at)).collect());
    let mut reads = Reads { g, done: HashMap::new(), steps: HashMap::new() };
    on_demand(&mut reads, [root.clone()]);
    reads.done[&root]
}

struct Reads<'g> {
    g: &'g mut Graph,
    done: HashMap<Read, Term>,
    /// How the reads go on that wait for their operands.
    steps: HashMap<Read, Step>,
}

impl Rewrite for Reads<'_> {
    type Key = Read;
    type New = Term;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn origin(&self, _: &Read) -> Option<Term> {
        None
    }

    fn is_done(&self, read: &Read) -> bool {
        self.done.contains_key(read)
    }

    fn keep(&mut self, read: Read, new: Term) {
        self.done.insert(read, new);
    }

    fn made(&mut self, read: &Read) -> Term {
        let step = self.steps.remove(read).unwrap_or(Step::Whole);
        let operands = step.operands(self.g, read);
        let operands: Vec<Term> = operands.iter().map(|operand| self.done[operand]).collect();
        step.finish(self.g, read, &operands)
    }
}

impl OnDemand for Reads<'_> {
    fn enter(&mut self, read: &Read, needs: &mut Needs<'_, Read>) -> Option<Term> {
        let met = self.done.len() + self.steps.len();
        let step = if met < READS { Step::of(self.g, read) } else { Step::Whole };
        let operands = step.operands(self.g, read);
        if operands.is_empty() {
            return Some(step.finish(self.g, read, &[]));
        }
        needs.extend(operands);
        self.steps.insert(read.clone(), step);
        None
    }
}

/// The elements of a term that is not taken apart: its indexed axes in front, then an index of
/// these.
fn whole(g: &mut Graph, (t, index): &Read) -> Term {
    let fixed = (0..index.len()).filter(|&k| index[k].is_some());
    let perm: Vec<u8> = fixed.chain((0..index.len()).filter(|&k| index[k].is_none())).map(axis).collect();
    let turned = g.transpose(*t, &perm);
    let at: Vec<Term> = index.iter().copied().flatten().collect();
    if at.is_empty() { turned } else { g.index(turned, &at) }
}

/// How a read goes on.
enum Step {
    /// It does not.
    Whole,
    /// The element is this.
    Known(Term),
    /// Into all operands of an elementwise operation.
    Elementwise(Prim, Vec<Term>),
    /// Into the operand of new axes: these.
    Replicate(Term, Vec<u8>),
    /// Into one operand, at this index; the axes that are left come out in this order.
    One(Term, Index, Vec<u8>),
    /// Into the summed array; the axes to sum of what comes out.
    Sum(Term, Index),
    /// Into both operands.
    Contract(Contraction, [Term; 2]),
    /// Into what is padded or put into zeros, if the condition holds.
    Where(Term, Term, Index),
}

impl Step {
    fn of(g: &mut Graph, (t, index): &Read) -> Step {
        let node = g.node_rc(*t);
        if let (Node::Prim(Prim::Iota, _), &[Some(at)]) = (&*node, &index[..]) {
            return Step::Known(at);
        }
        if index.iter().all(Option::is_none) || g.free(*t).is_empty() {
            return Step::Whole;
        }
        match &*node {
            Node::Prim(prim, args) => Step::of_prim(g, prim, args, index),
            // An index: both together are one.
            Node::Gather { src, vars, index: at, .. } if vars.is_empty() => {
                let all: Index = at.iter().map(|&at| Some(at)).chain(index.iter().copied()).collect();
                let left = (0..index.iter().filter(|at| at.is_none()).count()).map(axis).collect();
                Step::One(*src, all, left)
            }
            // What is zero but at one place of its first axes.
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
                // Axes that are left: in the operand's order, and where each of the result's is
                // among them.
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

    /// What has to be read first.
    fn operands(&self, g: &Graph, (t, index): &Read) -> Vec<Read> {
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

    /// The elements, given those of the operands.
    fn finish(self, g: &mut Graph, read: &Read, operands: &[Term]) -> Term {
        let index = &read.1;
        match self {
            Step::Whole => whole(g, read),
            Step::Known(at) => at,
            // The unit vector at a variable, read there.
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
                // Nothing is summed, and both are one number.
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

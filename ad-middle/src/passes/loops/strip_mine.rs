//! Strip-mines sums over iterations whose body has inner loops over scalars (a running product, a
//! recurrence for each item). The loop becomes a loop over blocks of iterations. In a block, the
//! scalars of the inner loops become arrays over the iterations of the block, which fill the SIMD
//! lanes, and only one block's values are saved for the derivative. The remaining iterations are a
//! smaller block.
//!
//! The pass must never rewrite a loop whose order of iterations matters: it rewrites only sums, and
//! only where inner loops carry scalars (loops that carry arrays fill the lanes by themselves).

use super::strided_reads::replaced_by_rows;
use super::{Distribution, Update};
use crate::passes::lift::Lift;
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::transposed::transposed;
use crate::passes::{Context, Pass};
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{IntOp, Prim};

/// The maximum number of iterations of a block. The overhead of a block is then small, and all its
/// rows together take a few kilobytes.
const MAX_STEPS: usize = 128;
/// The number of iterations of a block in tests.
const TEST_MAX_STEPS: usize = 2;
/// SIMD lanes: the number of iterations of a block is a multiple of it.
const LANES: usize = 16;
/// The number of scalars that a block may save: half a megabyte.
const MAX_SAVED: usize = 1 << 16;

/// The pass.
///
/// ```text
/// for i in 0..n { s += e(i) }
///     becomes
/// for b in 0..n / size { s += sum_l e(b * size + l) }
/// s += sum_{l < n % size} e(n / size * size + l)
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "strip_mine",
    rules: || vec!["strip_mine"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// The roots with strip-mined loops. The pass runs after differentiation: before it, a block would
/// be saved, or run twice.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
        let (exact, wanted) = (super::exact_parts(g, &exact, t), super::wanted(g, roots, t));
        let flat = !g.has_checkpoints(&scan) && !scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
        let parts = (flat && !exact.is_empty()).then(|| Distribution::new(g, *scan, (exact, wanted), &[]));
        parts.and_then(|parts| parts.strip_mined(cx.analyses()))
    })
}

/// The body of a loop over blocks.
struct BlockBody {
    /// Its parameters: the carried values, the captures, the arrays whose rows iterations consume,
    /// and the number of the block.
    params: Vec<Type>,
    /// The summands of each carried value, as terms of the original body.
    added: Vec<Vec<Term>>,
}

/// Whether consumed rows are the numbers of the iterations.
fn is_counted(g: &Graph, x: Term) -> bool {
    matches!(g.node(x), Node::Prim(Prim::Iota, _))
}

impl Distribution<'_> {
    /// The loop over blocks, then a block of the remaining iterations, if there are any; as a tuple
    /// of their results.
    fn strip_mined(mut self, analyses: &mut Analyses) -> Option<Term> {
        let added = self.added()?;
        let all: Vec<Term> = added.concat();
        let (saved, loops) = self.saved_numbers(&all)?;
        let most = if self.ends_differ(&all, analyses) { LANES } else { MAX_STEPS };
        let (about, count) = (self.scan.body.results.first()?.index(), self.scan.count.index());
        let why = || match loops {
            true => format!("({} rows of scalars are saved in each iteration)", saved.len()),
            false => String::new(),
        };
        if !choose(Kind::StripMining, (about, count), loops, why) {
            return None;
        }
        // In randomised tests blocks are so small that there are several.
        let large = choose(Kind::StripMining, (about, count + (1 << 32)), true, String::new);

        let (size, blocks) = self.size(&saved, if large { most } else { TEST_MAX_STEPS });
        let count = self.scan.count;
        let done = self.g.int(IntOp::Mul, blocks, size);
        let rest = self.g.int(IntOp::Sub, count, done);
        let read: Vec<Term> = self.scan.xs.iter().copied().filter(|&x| !is_counted(self.g, x)).collect();
        let outer: Vec<Term> = self.scan.captures.iter().chain(&read).copied().collect();
        let mut params: Vec<Type> = self.scan.body.params[..self.carries()].to_vec();
        params.extend(outer.iter().map(|&t| self.g.ty(t).clone()));
        let index = Type::scalar(Elem::USIZE);
        params.push(index.clone());
        let step = self.g.param(params.len() - 1, index);
        let body = BlockBody { params, added };
        let first = self.g.int(IntOp::Mul, step, size);
        let full = self.block(&body, first, size);
        let left = self.block(&body, done, rest);
        let steps = self.g.iota(blocks);
        let params: Box<[Type]> = body.params.into();
        let scan = self.g.scan(Scan {
            count: blocks,
            reverse: false,
            stop: None,
            init: self.scan.init.clone(),
            captures: outer.clone().into(),
            xs: [steps].into(),
            body: Body { params: params.clone(), results: full },
        });
        let mut args: Vec<Term> = (0..self.carries()).map(|k| self.g.proj(scan, k)).collect();
        args.extend(outer);
        args.push(first);
        let parts = self.g.instantiate(&Body { params, results: left }, &args);
        Some(self.g.tuple(&parts))
    }

    /// The carried values after a block with this first iteration and this number of iterations.
    fn block(&mut self, body: &BlockBody, first: Term, size: Term) -> Box<[Term]> {
        let lane = self.g.fresh();
        let lane_term = self.g.mk(Node::Var(lane));
        let at = self.g.int(IntOp::Add, first, lane_term);
        let args = self.arguments_at(body, at);
        let summands = Body { params: self.scan.body.params.clone(), results: body.added.concat().into() };
        let terms = self.g.instantiate(&summands, &args);
        let mut lift = Lift::of_block(self.g, lane, size);
        let all_lanes: Vec<Term> = terms.into_iter().map(|e| lift.lift(e)).collect();
        let all_lanes = replaced_by_rows(self.g, &all_lanes);
        let sums: Vec<Term> = all_lanes.into_iter().map(|e| self.sum_of_lanes(e)).collect();
        let mut sums = sums.into_iter();
        (0..self.carries())
            .map(|k| {
                let own = self.g.param(k, body.params[k].clone());
                let mine: Vec<Term> = (&mut sums).take(body.added[k].len()).collect();
                mine.into_iter().rev().fold(own, |sum, e| self.g.add(sum, e))
            })
            .collect()
    }

    /// The arguments of the original body in the iteration `at`. Consumed rows are read by its
    /// number.
    fn arguments_at(&mut self, body: &BlockBody, at: Term) -> Vec<Term> {
        let mut next = self.carries() + self.scan.captures.len();
        let mut args: Vec<Term> = (0..next).map(|k| self.g.param(k, body.params[k].clone())).collect();
        for x in self.scan.xs.clone() {
            if is_counted(self.g, x) {
                args.push(at);
                continue;
            }
            let all = self.g.param(next, body.params[next].clone());
            args.push(self.g.index(all, &[at]));
            next += 1;
        }
        args
    }

    /// The summands that each iteration adds to each carried value, if it does nothing else.
    pub(super) fn added(&mut self) -> Option<Vec<Vec<Term>>> {
        let results = self.scan.body.results.clone();
        if self.scan.stop.is_some() || results.len() != self.carries() || self.g.int_value(self.scan.count).is_some() {
            return None;
        }
        let mut added: Vec<Vec<Term>> = Vec::new();
        for (k, &r) in results.iter().enumerate() {
            let updates = self.updates(k, r)?;
            let terms = updates.iter().map(|p| if let Update::Add(e) = p { Some(*e) } else { None });
            added.push(terms.collect::<Option<Vec<Term>>>()?);
        }
        self.reads(&added.concat()).is_empty().then_some(added)
    }

    /// The sum over the first axis. It is taken with that axis innermost, as in the rows that inner
    /// loops save.
    fn sum_of_lanes(&mut self, t: Term) -> Term {
        let rank = self.g.rank(t);
        let last: Vec<u8> = (1..rank).chain([0]).map(ad_ir::ir::axis).collect();
        let turned = transposed(self.g, t, &last);
        self.g.sum_axes(turned, &[ad_ir::ir::axis(rank - 1)])
    }

    /// The number of scalars that inner loops save in an iteration, as sizes, and whether there are
    /// inner loops. `None` if an inner loop has results that are not scalars, may stop early,
    /// contains a loop, or has a number of steps that depends on the iteration.
    fn saved_numbers(&self, added: &[Term]) -> Option<(Vec<Term>, bool)> {
        let mut saved = Vec::new();
        let mut any = false;
        let carries = self.carries();
        let first_row = carries + self.scan.captures.len();
        for t in self.g.reachable(added) {
            match self.g.node(t) {
                Node::Scan(inner) => {
                    any = true;
                    let number = |t: &Term| self.g.ty(*t).as_array().is_some_and(|(_, shape)| shape.is_empty());
                    let closed = !self.g.reachable(&[inner.count]).iter().any(|u| {
                        matches!(self.g.node(*u), Node::Param(k, _) if !(carries..first_row).contains(&(*k as usize)))
                    });
                    let nested = self.g.reachable(&inner.body.results);
                    if inner.stop.is_some()
                        || !closed
                        || !inner.body.results.iter().all(number)
                        || nested.iter().any(|u| matches!(self.g.node(*u), Node::Scan(_)))
                    {
                        return None;
                    }
                    saved.extend((inner.init.len()..inner.body.results.len()).map(|_| inner.count));
                }
                // The lanes of a block read captures where they are.
                Node::Param(k, _) if (carries..first_row).contains(&(*k as usize)) => {}
                _ if self.g.ty(t).as_array().is_some_and(|(_, shape)| shape.len() > 1) => return None,
                _ => {}
            }
        }
        Some((saved, any))
    }

    /// Whether an inner loop ends earlier in some iterations than in others (`for j in 0..i`). In a
    /// block it then ends with its longest iteration, and the other iterations compute unused
    /// steps. So these blocks are small.
    fn ends_differ(&mut self, added: &[Term], analyses: &mut Analyses) -> bool {
        let first_row = self.carries() + self.scan.captures.len();
        let params = |g: &Graph, t: Term| -> Vec<usize> {
            let of = |t: Term| if let Node::Param(k, _) = *g.node(t) { Some(k as usize) } else { None };
            g.reachable(&[t]).into_iter().filter_map(of).collect()
        };
        self.g.reachable(added).into_iter().any(|t| {
            let Node::Scan(inner) = &*self.g.node_rc(t) else { return false };
            let Some(bound) = bound(self.g, inner, analyses) else { return false };
            let limit = bound.limit(self.g);
            let captured = |k: usize| inner.captures.get(k.checked_sub(inner.init.len())?);
            let captured: Vec<Term> = params(self.g, limit).into_iter().filter_map(captured).copied().collect();
            captured.into_iter().any(|c| params(self.g, c).into_iter().any(|k| k >= first_row))
        })
    }

    /// The number of iterations in a block, and the number of blocks. A block has one iteration if
    /// there is no capacity for the rows of more.
    fn size(&mut self, saved: &[Term], steps: usize) -> (Term, Term) {
        let [steps, lanes, capacity, one] = [steps, LANES, MAX_SAVED, 1].map(|n| self.g.lit_usize(n));
        let mut size = steps;
        if !saved.is_empty() {
            let mut width = saved[0];
            for &n in &saved[1..] {
                width = self.g.int(IntOp::Add, width, n);
            }
            let width = self.g.int(IntOp::Max, width, one);
            let wide = self.g.int(IntOp::Mul, width, lanes);
            let fit = self.g.int(IntOp::Div, capacity, wide);
            let fit = self.g.int(IntOp::Mul, fit, lanes);
            let fit = self.g.int(IntOp::Max, fit, one);
            size = self.g.int(IntOp::Min, steps, fit);
        }
        let count = self.scan.count;
        (size, self.g.int(IntOp::Div, count, size))
    }
}

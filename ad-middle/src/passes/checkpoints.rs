//! The option `checkpoint = "sqrt"`: a loop of n steps becomes a loop over blocks of about the
//! square root of n steps, and each block is a checkpoint. The derivative saves the carried values
//! before each block. It then runs one block again, saves its residuals, and goes back through it.
//! So the memory is that of about `2 sqrt(n)` steps and not of n, and each step runs once more
//! (Griewank 1992, with two levels).
//!
//! The pass rewrites outermost loops whose number of steps is known at entry. It must never change
//! an operation of a step, nor the order of the steps.

use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Elem, Graph, Node, OpenLoop, RealTy, Scan, Term, Type};
use ad_ir::prim::{IntOp, Prim, Unary};

/// A loop of fewer steps, if their number is a literal, saves all of them.
const MIN_STEPS: i128 = 16;

/// The pass. With k = sqrt(n):
///
/// ```text
/// for i in 0..n { state = step(state, i) }
///     becomes, with k = sqrt(n)
/// for b in 0..n / k { for j in 0..k { state = step(state, b * k + j) } }
/// for j in 0..n % k { state = step(state, n / k * k + j) }
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "checkpoints",
    rules: || vec!["checkpoints"],
    run: |g, roots, cx| if cx.square_root { roots.map(|all| pass(g, all, cx)) } else { roots.clone() },
    simplified: true,
};

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let Node::Scan(scan) = with_rewritten_children(g, t, done) else { return None };
        let few = g.int_value(scan.count).is_some_and(|n| n < MIN_STEPS);
        let reals = scan.init.iter().any(|&t| g.ty(t).has_real());
        let flat = !scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
        let plain = scan.stop.is_none() && !g.has_checkpoints(&scan) && !g.is_one_call(&scan);
        (plain && reals && flat && !few).then(|| in_blocks(g, t, &scan))
    })
}

/// The steps of a loop over a range of them.
struct Steps<'s> {
    scan: &'s Scan,
    carries: usize,
}

/// The results of the loop `t`, as a tuple.
fn in_blocks(g: &mut Graph, t: Term, scan: &Scan) -> Term {
    let steps = Steps { scan, carries: scan.init.len() };
    let size = square_root(g, scan.count);
    let blocks = g.int(IntOp::Div, scan.count, size);
    let done = g.int(IntOp::Mul, blocks, size);
    let rest = g.int(IntOp::Sub, scan.count, done);
    let mut init = scan.init.to_vec();
    for k in steps.carries..scan.body.results.len() {
        let rows = g.proj(t, k);
        init.push(g.zeros_of_any(rows));
    }
    let block = g.fresh();
    let count = g.prim(Prim::Checkpoint, &[blocks]);
    let carried = placeholders(g, &init);
    let number = g.mk(Node::Var(block));
    let first = g.int(IntOp::Mul, number, size);
    let results = steps.run(g, carried.clone(), first, size);
    let all = g.close_loop(&OpenLoop { count, reverse: false, stop: None, step: block, init, carried, results });
    let last = (0..scan.body.results.len()).map(|k| g.proj(all, k)).collect();
    let results = steps.run(g, last, done, rest);
    g.tuple(&results)
}

fn placeholders(g: &mut Graph, like: &[Term]) -> Vec<Term> {
    let types: Vec<Type> = like.iter().map(|&t| g.ty(t).clone()).collect();
    types.into_iter().map(|ty| g.placeholder(ty)).collect()
}

impl Steps<'_> {
    /// The carried values and the rows after `count` steps, the first of which is `first`.
    fn run(&self, g: &mut Graph, init: Vec<Term>, first: Term, count: Term) -> Vec<Term> {
        let step = g.fresh();
        let carried = placeholders(g, &init);
        let number = g.mk(Node::Var(step));
        let mut at = g.int(IntOp::Add, first, number);
        if self.scan.reverse {
            let one = g.lit_usize(1);
            let last = g.int(IntOp::Sub, self.scan.count, one);
            at = g.int(IntOp::Sub, last, at);
        }
        let mut args: Vec<Term> = carried[..self.carries].to_vec();
        args.extend(&self.scan.captures);
        for &x in &self.scan.xs {
            let counted = matches!(g.node(x), Node::Prim(Prim::Iota, _));
            args.push(if counted { at } else { g.index(x, &[at]) });
        }
        let mut results = g.instantiate(&self.scan.body, &args);
        for (result, &rows) in results.iter_mut().zip(&carried).skip(self.carries) {
            *result = g.update(rows, *result, &[], &[at]);
        }
        let all = g.close_loop(&OpenLoop { count, reverse: false, stop: None, step, init, carried, results });
        (0..self.scan.body.results.len()).map(|k| g.proj(all, k)).collect()
    }
}

/// About the square root of a size, and at least 1.
fn square_root(g: &mut Graph, n: Term) -> Term {
    let real = Elem::Real(RealTy::F64);
    if let Some(n) = g.int_value(n).and_then(|n| usize::try_from(n).ok()) {
        return g.lit_usize(n.isqrt().max(1));
    }
    let n = g.cast(real, n);
    let root = g.unary(Unary::Sqrt, n);
    let (root, one) = (g.cast(Elem::USIZE, root), g.lit_usize(1));
    g.int(IntOp::Max, root, one)
}

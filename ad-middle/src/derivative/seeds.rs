//! The images of all unit vectors under a linear map: the columns or the rows of a matrix, in
//! blocks of seeds.
//!
//! All seeds taken at once share one forward sweep, and their products are products of matrices.
//! But then intermediate arrays have an axis for the seeds. If these arrays would not fit into the
//! cache, the seeds are taken in blocks, as many at a time as fit. A loop over the blocks writes
//! the rows (or columns) of each block into the result. A block that would extend beyond the last
//! seed begins earlier and writes some rows twice.
//!
//! This module must never decide in which direction a matrix is computed: `jacobian` does that.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use crate::modes::unit_vectors::batched;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Elem, Graph, Node, OpenLoop, Term, Type, Var, axis};
use ad_ir::prim::{IntOp, Prim};

/// The maximum number of elements of the widest array of a block with more than one seed: 64
/// kilobytes.
const MAX_ELEMENTS: usize = 1 << 13;

/// This number in randomised tests.
const TEST_MAX_ELEMENTS: usize = 2;

/// Seeds are taken in blocks if an intermediate array for one seed has more than this many times
/// the elements of the seed and of its row, since it then has one more axis. Otherwise the arrays
/// of all seeds together have about the size of the result.
const MIN_GROWTH: f64 = 16.0;

/// The assumed value of a size that the macro does not know, for estimates of work.
const ASSUMED_SIZE: f64 = 64.0;

/// The position of the seeds' axes in the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Axes {
    /// Before all other axes: each seed gives a row.
    First,
    /// After all other axes: each seed gives a column.
    Last,
}

/// The terms for all values of the variables, which index an array of the shape of `like`.
pub(super) fn for_all(g: &mut Graph, vars: &[Var], like: Term, terms: &[Term], axes: Axes) -> Vec<Term> {
    let shapes = shapes(g, vars, terms);
    let Some((&first, seeds)) = vars.first().zip(g.shape(like).first().copied()) else { return terms.to_vec() };
    let numbers = |shape: &[Term]| shape.iter().map(|&n| estimate(g, n)).product::<f64>();
    let stored = terms.iter().chain([&like]).map(|&t| elements(g, t)).fold(0.0, f64::max);
    if shapes.iter().all(|shape| numbers(shape) <= MIN_GROWTH * stored) {
        let all = batched(g, vars, like, terms);
        return all.into_iter().map(|t| placed(g, t, vars.len(), axes)).collect();
    }
    let (size, count) = blocks(g, vars, like, &shapes);
    let step = g.fresh();
    let step_term = g.mk(Node::Var(step));
    let begin = g.int(IntOp::Mul, step_term, size);
    let last = g.int(IntOp::Sub, seeds, size);
    let begin = g.int(IntOp::Min, begin, last);
    // The seeds of a block: a range of indices of the first axis, and all indices of the other
    // axes.
    let lane = g.fresh();
    let lane_term = g.mk(Node::Var(lane));
    let seed = g.int(IntOp::Add, begin, lane_term);
    let under = g.subst_vars_all(terms, &[(first, seed)]);
    let mut sizes = g.shape(like).to_vec();
    sizes[0] = size;
    // Only its shape is read. Examples are batched like the array of their numbers.
    let part = g.lit_shaped(Elem::F64, &sizes, 0.0);
    let inner: Vec<Var> = std::iter::once(lane).chain(vars[1..].iter().copied()).collect();
    let under = batched(g, &inner, part, &under);
    let (mut init, mut carried, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for (&t, rows) in terms.iter().zip(under) {
        let elem = g.elem(t);
        let rest = g.shape(t).to_vec();
        let all: Vec<Term> = match axes {
            Axes::First => g.shape(like).iter().chain(&rest).copied().collect(),
            Axes::Last => rest.iter().chain(g.shape(like)).copied().collect(),
        };
        init.push(g.lit_shaped(elem, &all, 0.0));
        let whole = g.placeholder(Type::Array(elem, all.into()));
        let rows = placed(g, rows, vars.len(), axes);
        let places: Vec<Var> = (0..g.rank(rows)).map(|_| g.fresh()).collect();
        let mut index: Vec<Term> = places.iter().map(|&v| g.mk(Node::Var(v))).collect();
        let of_seed = if axes == Axes::First { 0 } else { rest.len() };
        index[of_seed] = g.int(IntOp::Add, begin, index[of_seed]);
        results.push(g.update(whole, rows, &places, &index));
        carried.push(whole);
    }
    let parts = results.len();
    let blocks = g.close_loop(&OpenLoop { count, reverse: false, stop: None, step, init, carried, results });
    (0..parts).map(|k| g.proj(blocks, k)).collect()
}

/// Moves the axes of the seeds, which come first, to their position.
fn placed(g: &mut Graph, t: Term, seeds: usize, axes: Axes) -> Term {
    match axes {
        Axes::First => t,
        Axes::Last => {
            let rank = g.rank(t);
            let perm: Vec<u8> = (seeds..rank).chain(0..seeds).map(axis).collect();
            g.transpose(t, &perm)
        }
    }
}

/// The terms that depend on these variables, in any order.
fn dependents(g: &Graph, vars: &[Var], terms: &[Term]) -> Vec<Term> {
    let mut depends: HashMap<Term, bool> = HashMap::new();
    // Children are older than parents.
    let mut all = g.reachable(terms);
    all.sort_unstable();
    for &t in &all {
        let mut any = matches!(g.node(t), Node::Var(v) if vars.contains(v));
        g.node(t).for_each_child(|c| any |= depends.get(&c).copied().unwrap_or(false));
        depends.insert(t, any);
    }
    all.retain(|t| depends[t]);
    all
}

/// The shapes of the arrays that depend on the seed.
fn shapes(g: &Graph, vars: &[Var], terms: &[Term]) -> SortedSet<Vec<Term>> {
    let arrays = dependents(g, vars, terms).into_iter().filter(|&t| g.ty(t).as_array().is_some() && g.rank(t) > 0);
    arrays.map(|t| g.shape(t).to_vec()).collect()
}

/// The number of seeds along the first axis in a block, and the number of blocks. All blocks have
/// about the same size.
fn blocks(g: &mut Graph, vars: &[Var], like: Term, shapes: &SortedSet<Vec<Term>>) -> (Term, Term) {
    let one = g.lit_usize(1);
    let mut widest = one;
    for shape in shapes {
        let numbers = shape.iter().fold(one, |n, &size| g.int(IntOp::Mul, n, size));
        widest = g.int(IntOp::Max, widest, numbers);
    }
    let others: Vec<Term> = g.shape(like)[1..vars.len()].to_vec();
    let width = others.iter().fold(widest, |n, &size| g.int(IntOp::Mul, n, size));
    let width = g.int(IntOp::Max, width, one);
    // In randomised tests blocks are so small that there are several.
    let large = choose(Kind::StripMining, (like.index(), 1 << 33), true, String::new);
    let numbers = g.lit_usize(if large { MAX_ELEMENTS } else { TEST_MAX_ELEMENTS });
    let fit = g.int(IntOp::Div, numbers, width);
    let fit = g.int(IntOp::Max, fit, one);
    let seeds = g.shape(like)[0];
    let count = rounded_up(g, seeds, fit);
    let divisor = g.int(IntOp::Max, count, one);
    (rounded_up(g, seeds, divisor), count)
}

/// The quotient of sizes, rounded up.
fn rounded_up(g: &mut Graph, a: Term, b: Term) -> Term {
    let one = g.lit_usize(1);
    let before = g.int(IntOp::Sub, b, one);
    let whole = g.int(IntOp::Add, a, before);
    g.int(IntOp::Div, whole, b)
}

/// The work of these terms for one value of the variables, in operations on numbers. All sizes that
/// the macro does not know count as the same number. Terms that do not depend on the variables are
/// computed once for all values, and do not count.
pub(super) fn work(g: &Graph, vars: &[Var], terms: &[Term]) -> f64 {
    dependents(g, vars, terms).into_iter().map(|t| own_work(g, t)).sum()
}

/// The work of a term without that of its arguments.
fn own_work(g: &Graph, t: Term) -> f64 {
    match g.node(t) {
        Node::Prim(Prim::Contract(spec), args) => {
            let mut sizes: HashMap<u8, Term> = HashMap::new();
            for (labels, &arg) in [&spec.a, &spec.b].into_iter().zip(args) {
                sizes.extend(labels.iter().copied().zip(g.shape(arg).iter().copied()));
            }
            sizes.values().map(|&n| estimate(g, n)).product()
        }
        Node::Prim(Prim::Sum(_) | Prim::Reduce(..), args) => elements(g, args[0]),
        Node::Scan(scan) => {
            let body: f64 = g.reachable(&scan.body.results).into_iter().map(|t| own_work(g, t)).sum();
            estimate(g, scan.count) * body
        }
        Node::Scatter { src, .. } => elements(g, *src),
        Node::Tuple(_) | Node::Proj(..) => 0.0,
        _ => elements(g, t),
    }
}

/// The number of elements of an array, by the same estimate.
pub(super) fn elements(g: &Graph, t: Term) -> f64 {
    if g.ty(t).as_array().is_none() {
        return 0.0;
    }
    g.shape(t).iter().map(|&n| estimate(g, n)).product()
}

/// The value of a size, or [`ASSUMED_SIZE`].
fn estimate(g: &Graph, n: Term) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    g.int_value(n).map_or(ASSUMED_SIZE, |n| n as f64)
}

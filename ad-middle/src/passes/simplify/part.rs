//! Rules for writes to parts of arrays. Elements that are added at a shifted index become a block;
//! a block that is added to a row is added to a part of that row; and a write to one row does not
//! affect reads of another. So an adjoint touches only the elements that the function has read.

use super::index::offset;
use super::layout::is_inside;
use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::{Binary, IntOp, Prim, Unary};

pub(super) const RULES: &[Rule] = &[
    rule!(
        "scatter.back",
        "scatter x y (\\i -> i - c) = x + pad (slice y), where the first c elements of y are zeros",
        Loose,
        scatter_back
    ),
    rule!(
        "scatter.pad",
        "scatter x (pad y) f = scatter x y (\\j -> f ++ [start + j]); of a sum of pads one after the other",
        Loose,
        scatter_pad
    ),
    rule!(
        "scatter.padded",
        "scatter x (pad y) f = scatter x y (\\i -> f (start + i)), where y is inside",
        Exact,
        scatter_padded
    ),
    rule!(
        "scatter.row",
        "scatter x y (\\j i -> f j ++ [i]) = scatter x y f, where i is the whole axis",
        Exact,
        scatter_row
    ),
    rule!(
        "transpose.scatter",
        "tr p (scatter 0 y f) = scatter 0 y (p f), also of several onto each other",
        Exact,
        transpose_scatter
    ),
    rule!(
        "pad.scatter",
        "pad (scatter 0 y f) = scatter 0 y (start + step * f), where f is in range along all padded axes",
        Exact,
        pad_scatter
    ),
    rule!(
        "pad.pads",
        "pad (pad x + pad y) = pad x + pad y at later starts, where both blocks are inside; also of one block",
        Exact,
        pad_pads
    ),
    rule!("index.apart", "index (scatter x y f) ix = index x ix, where f is never ix", Exact, index_apart),
    rule!(
        "scatter.past",
        "scatter (update (update x _ f) y g) z f = update (scatter (update x _ f) z f) y g, where f is never g",
        Exact,
        scatter_past
    ),
];

/// The maximum shift of an index.
const MAX_SHIFT: i128 = 16;
/// The maximum depth of the operations that are examined.
const MAX_DEPTH: usize = 8;
/// The maximum number of blocks in one sum.
const MAX_BLOCKS: usize = 16;

fn scatter_back(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    let (vars, index) = g.open_binder(&node);
    let (to, from) = (g.shape(dst).to_vec(), g.shape(src).to_vec());
    if vars.len() != index.len() || from.len() != to.len() || vars.len() != to.len() {
        return None;
    }
    let mut back = None;
    for (k, (&ix, v)) in index.iter().zip(&vars).enumerate() {
        let is_var = |t: Term| matches!(g.node(t), Node::Var(w) if w == v);
        match g.node(ix) {
            _ if is_var(ix) && from[k] == to[k] => {}
            Node::Prim(Prim::Int(IntOp::Sub), args) if is_var(args[0]) && back.is_none() => {
                back = Some((k, g.int_value(args[1]).filter(|c| (1..=MAX_SHIFT).contains(c))?));
            }
            _ => return None,
        }
    }
    let (axis, c) = back?;
    if !zero_before(g, src, axis, c, MAX_DEPTH) {
        return None;
    }
    let (none, first) = (g.lit_usize(0), g.lit_usize(usize::try_from(c).ok()?));
    let (mut starts, mut lens) = (vec![none; to.len()], from.clone());
    starts[axis] = first;
    lens[axis] = g.int(IntOp::Sub, from[axis], first);
    let ones = vec![1; to.len()];
    let rest = g.slice(src, &starts, &ones, &lens);
    let block = g.pad(rest, &vec![none; to.len()], &ones, &to);
    Some(if is_zero(g, dst) { block } else { g.add(dst, block) })
}

/// Whether the first `c` elements along an axis are known to be zeros.
fn zero_before(g: &Graph, t: Term, axis: usize, c: i128, deep: usize) -> bool {
    if is_zero(g, t) {
        return true;
    }
    let Some(deep) = deep.checked_sub(1) else { return false };
    match g.node(t) {
        Node::Prim(Prim::Select, args) => match mask_before(g, args[0], axis, c) {
            Some(true) => zero_before(g, args[1], axis, c, deep),
            Some(false) => zero_before(g, args[2], axis, c, deep),
            None => false,
        },
        Node::Prim(Prim::Binary(Binary::Add), args) => args.iter().all(|&x| zero_before(g, x, axis, c, deep)),
        Node::Prim(Prim::Unary(Unary::Neg) | Prim::Binary(Binary::MulZero), args) => {
            zero_before(g, args[0], axis, c, deep)
        }
        _ => false,
    }
}

/// The value of a test of the index along an axis for the first `c` indices, if it is known and the
/// same for all.
fn mask_before(g: &Graph, t: Term, axis: usize, c: i128) -> Option<bool> {
    let (mut t, mut axis) = (t, axis);
    while let Node::Prim(Prim::Replicate(axes), args) = g.node(t) {
        if axes.iter().any(|&a| usize::from(a) == axis) {
            return None;
        }
        axis -= axes.iter().filter(|&&a| usize::from(a) < axis).count();
        t = args[0];
    }
    let Node::Prim(Prim::Compare(op), args) = g.node(t) else { return None };
    let counts = matches!(g.node(args[0]), Node::Prim(Prim::Iota, _)) && axis == 0;
    let bound = g.int_value(g.splat(args[1])).filter(|_| counts)?;
    let holds = |i: i128| op.holds(i, bound);
    (1..c).all(|i| holds(i) == holds(0)).then(|| holds(0))
}

fn scatter_pad(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    let (vars, index) = g.open_binder(&node);
    if g.rank(src) <= vars.len() {
        return None;
    }
    if let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(src) {
        let args = args.clone();
        if !only_blocks(g, src) {
            return None;
        }
        return Some(args.iter().fold(dst, |onto, &part| g.scatter(onto, part, &vars, &index)));
    }
    let Node::Prim(Prim::Pad(steps), args) = g.node(src).clone() else { return None };
    let (block, starts) = (args[0], &args[1..=steps.len()]);
    let whole = |k: usize| g.int_value(starts[k]) == Some(0) && steps[k] == 1 && g.shape(block)[k] == g.shape(src)[k];
    if steps.iter().any(|&s| s < 1) || !(0..vars.len()).all(whole) {
        return None;
    }
    let (mut vars, mut index) = (vars, index);
    for k in vars.len()..steps.len() {
        let var = g.fresh();
        let (i, step) = (g.mk(Node::Var(var)), g.lit_usize(usize::try_from(steps[k]).ok()?));
        let offset = g.int(IntOp::Mul, i, step);
        vars.push(var);
        index.push(g.int(IntOp::Add, offset, starts[k]));
    }
    Some(g.scatter(dst, block, &vars, &index))
}

fn scatter_row(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put, dst, src, .. } = *node else { return None };
    let (mut vars, mut index) = g.open_binder(&node);
    let (v, ix) = (vars.pop()?, index.pop()?);
    let whole = matches!(g.node(ix), Node::Var(w) if *w == v) && g.shape(dst)[index.len()] == g.shape(src)[vars.len()];
    // A scatter without an index is a sum.
    if !whole || index.is_empty() || index.iter().any(|&i| g.mentions(i, v)) {
        return None;
    }
    Some(match put {
        Put::Add => g.scatter(dst, src, &vars, &index),
        Put::Set => g.update(dst, src, &vars, &index),
    })
}

/// Elements, their variables with those of whole trailing axes, and an index for each axis.
type Placed = (Term, Vec<Var>, Vec<Term>);

/// Elements that are added to zeros.
fn placed(g: &mut Graph, t: Term) -> Option<Placed> {
    let (dst, placed) = added(g, t)?;
    is_zero(g, dst).then_some(placed)
}

/// Elements that are added to an array, and the array.
fn added(g: &mut Graph, t: Term) -> Option<(Term, Placed)> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    let (mut vars, mut index) = g.open_binder(&node);
    while index.len() < g.rank(t) {
        let var = g.fresh();
        index.push(g.mk(Node::Var(var)));
        vars.push(var);
    }
    Some((dst, (src, vars, index)))
}

fn transpose_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Transpose(perm), args) = g.node(t).clone() else { return None };
    let (mut all, mut onto) = (Vec::new(), args[0]);
    while let Some((dst, placed)) = added(g, onto) {
        all.push(placed);
        onto = dst;
    }
    if all.is_empty() || !is_zero(g, onto) {
        return None;
    }
    let zeros = g.zeros_like(t);
    Some(all.into_iter().rev().fold(zeros, |onto, (src, vars, index)| {
        let index: Vec<Term> = perm.iter().map(|&a| index[usize::from(a)]).collect();
        g.scatter(onto, src, &vars, &index)
    }))
}

fn pad_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Pad(steps), args) = g.node(t).clone() else { return None };
    let (block, starts) = (args[0], &args[1..=steps.len()]);
    let (src, vars, mut index) = placed(g, block)?;
    for (k, ix) in index.iter_mut().enumerate() {
        let size = g.shape(block)[k];
        if g.int_value(starts[k]) == Some(0) && steps[k] == 1 && size == g.shape(t)[k] {
            continue;
        }
        // The index has to be a variable below the block's size. Then no element is dropped, before
        // or after the change.
        let of = |v: &Var| matches!(g.node(*ix), Node::Var(w) if w == v);
        let inside = vars.iter().position(of).is_some_and(|at| g.shape(src)[at] == size);
        let step = usize::try_from(steps[k]).ok().filter(|&s| inside && s > 0)?;
        let step = g.lit_usize(step);
        let offset = g.int(IntOp::Mul, *ix, step);
        *ix = g.int(IntOp::Add, offset, starts[k]);
    }
    let zeros = g.zeros_like(t);
    Some(g.scatter(zeros, src, &vars, &index))
}

/// Arrays that are joined are sums of blocks. If they are joined several times, each element is
/// still copied once.
fn pad_pads(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Pad(steps), args) = g.node(t).clone() else { return None };
    let (sum, starts) = (args[0], &args[1..=steps.len()]);
    if steps.iter().any(|&s| s != 1) || !only_blocks(g, sum) {
        return None;
    }
    let sizes = g.shape(t).to_vec();
    let (mut made, mut stack) = (None, vec![sum]);
    while let Some(part) = stack.pop() {
        let (steps, args) = match g.node(part).clone() {
            Node::Prim(Prim::Binary(Binary::Add), args) => {
                stack.extend(args.iter().rev());
                continue;
            }
            Node::Prim(Prim::Pad(steps), args) => (steps, args),
            _ => return None,
        };
        let lens = g.shape(args[0]).to_vec();
        let inside = |k: usize| steps[k] == 1 && is_joined(g, args[1 + k], lens[k], g.shape(part)[k]);
        if !(0..steps.len()).all(inside) {
            return None;
        }
        let later: Vec<Term> = starts.iter().zip(&args[1..]).map(|(&a, &b)| g.int(IntOp::Add, a, b)).collect();
        let block = g.pad(args[0], &later, &steps, &sizes);
        made = Some(made.map_or(block, |sum| g.add(sum, block)));
    }
    made
}

/// Whether the form of a size shows that a block of `len` elements that begins at `start` is inside
/// of it, as [`is_inside`] says, or as the sum of the sizes of joined arrays does.
fn is_joined(g: &Graph, start: Term, len: Term, size: Term) -> bool {
    let Node::Prim(Prim::Int(IntOp::Add), args) = g.node(size) else { return is_inside(g, start, len, size) };
    let first = g.int_value(start) == Some(0);
    let pair = [args[0], args[1]];
    pair == [start, len]
        || pair == [len, start]
        || (first && (pair.contains(&len) || is_joined(g, start, len, args[0])))
}

/// Whether it is a sum of blocks, each of which leaves out more than [`MAX_SHIFT`] elements (a sum
/// of other blocks is one pass over shifted rows).
fn only_blocks(g: &Graph, t: Term) -> bool {
    let (mut stack, mut met) = (vec![t], 0);
    while let Some(t) = stack.pop() {
        met += 1;
        match g.node(t) {
            _ if met > 2 * MAX_BLOCKS => return false,
            Node::Prim(Prim::Binary(Binary::Add), args) => stack.extend(args.iter().copied()),
            Node::Prim(Prim::Pad(_), args) => {
                let nearly = |(&len, &size): (&Term, &Term)| len == size || differs_by_small_constant(g, len, size);
                if g.shape(args[0]).iter().zip(g.shape(t)).all(nearly) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

/// Whether `len` is `size` minus a small constant.
pub(crate) fn differs_by_small_constant(g: &Graph, len: Term, size: Term) -> bool {
    match g.node(len) {
        Node::Prim(Prim::Int(IntOp::Sub), args) => {
            args[0] == size && g.int_value(args[1]).is_some_and(|c| (0..=MAX_SHIFT).contains(&c))
        }
        _ => false,
    }
}

/// The elements around a block are zeros, and are not added.
fn scatter_padded(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, .. } = *node else { return None };
    let (vars, index) = g.open_binder(&node);
    let Node::Prim(Prim::Pad(steps), args) = g.node(src).clone() else { return None };
    let (block, starts) = (args[0], &args[1..=steps.len()]);
    let (from, to) = (g.shape(block).to_vec(), g.shape(src).to_vec());
    let whole = |k: usize| g.int_value(starts[k]) == Some(0) && steps[k] == 1 && from[k] == to[k];
    let inside = |k: usize| steps[k] == 1 && is_inside(g, starts[k], from[k], to[k]);
    if (0..vars.len()).all(whole) || !(0..vars.len()).all(inside) || !(vars.len()..steps.len()).all(whole) {
        return None;
    }
    let moved = vars.iter().zip(starts).map(|(&v, &start)| {
        let i = g.mk(Node::Var(v));
        (v, g.int(IntOp::Add, i, start))
    });
    let moved: Vec<(Var, Term)> = moved.collect();
    let index = g.subst_vars_all(&index, &moved);
    Some(g.scatter(dst, block, &vars, &index))
}

/// Whether two indices differ for all values of the variables. They do if a component that depends
/// on no variable differs by a constant.
fn indices_differ(g: &Graph, (index, vars): (&[Term], &[Var]), (other, others): (&[Term], &[Var])) -> bool {
    let closed = |t: Term, vars: &[Var]| g.free(t).iter().all(|v| !vars.contains(v));
    index.iter().zip(other).any(|(&i, &j)| {
        let ((a, c), (b, d)) = (offset(g, i), offset(g, j));
        closed(i, vars) && closed(j, others) && a == b && c != d
    })
}

fn index_apart(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Scatter { dst, vars: v, index: at, .. } = g.node(src).clone() else { return None };
    (vars.is_empty() && indices_differ(g, (&index, &[]), (&at, &v))).then(|| g.index(dst, &index))
}

fn scatter_past(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put, dst, src, vars, index } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst: inner, src: y, vars: v, index: at } = g.node(dst).clone() else {
        return None;
    };
    // An earlier write to the same index; the two are merged.
    let Node::Scatter { put: Put::Set, src: before, vars: w, index: f, .. } = g.node(inner) else { return None };
    let same = *w == vars && *f == index && g.shape(*before) == g.shape(src);
    if !same || !indices_differ(g, (&index, &vars), (&at, &v)) {
        return None;
    }
    let onto = g.mk(Node::Scatter { put, dst: inner, src, vars, index });
    Some(g.mk(Node::Scatter { put: Put::Set, dst: onto, src: y, vars: v, index: at }))
}

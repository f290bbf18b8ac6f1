//! Rules for layout operations: replicate, sum, transpose, reshape, slice and pad among each other,
//! and replicate through elementwise operations.

use super::arith::negated;
use super::{Rule, rule};
use ad_ir::analysis::range::Facts;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Elem, Graph, Node, Term, axis, other_axes};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Reduce};

pub(super) const RULES: &[Rule] = &[
    rule!(
        "replicate.replicate",
        "replicate (replicate x) = replicate x over both sets of axes",
        Exact,
        replicate_replicate
    ),
    rule!("transpose.transpose", "tr p (tr q x) = tr (q . p) x", Exact, transpose_transpose),
    rule!("transpose.replicate", "tr p (replicate x) = replicate (tr q x)", Exact, transpose_replicate),
    rule!(
        "transpose.elementwise",
        "tr p (op (tr q x) (replicate s)) = op (tr (q . p) x) (replicate s)",
        Exact,
        transpose_splats
    ),
    rule!("transpose.part", "tr p (recast x) = recast (tr p x), tr p (pad x) = pad (tr p x)", Exact, transpose_part),
    rule!("sum.transpose", "sum (tr p x) = tr q (sum x)", Loose, sum_transpose),
    rule!("sum.sum", "sum (sum x) = sum x over both sets of axes", Loose, sum_sum),
    rule!("sum.replicate", "sum (replicate x) = replicate (sum x), for different axes", Loose, sum_replicate),
    rule!("sum.pad", "sum (pad x) = pad (sum x), where x is inside along the summed axes", Loose, sum_pad),
    rule!("sum.recast", "sum (recast x) = recast (sum x), where the summed axes keep their sizes", Loose, sum_recast),
    rule!("sum.literal", "sum (replicate c) = c n, for a finite literal c", Loose, sum_literal),
    rule!(
        "reduce.literal",
        "max (replicate c) = if no size is 0 { c } else { -inf } for a finite literal c; so min, all and any",
        Exact,
        reduce_literal
    ),
    rule!("sum.neg", "sum (-x) = -(sum x), but for the sign of zero, also where x is masked", Loose, sum_neg),
    rule!("sum.single", "sum of an axis of size 1 drops it (but for the sign of zero)", Loose, sum_single),
    rule!("elementwise.replicate", "op (replicate x) (replicate y) = replicate (op x y)", Exact, elementwise_replicate),
    rule!("reshape.reshape", "reshape (reshape x) = reshape x", Exact, reshape_reshape),
    rule!("reshape.splat", "reshape (replicate s) = replicate s, for a scalar s", Exact, reshape_splat),
    rule!(
        "recast.recast",
        "recast (recast x) = recast x; recast (replicate x) = replicate (recast x)",
        Exact,
        recast_recast
    ),
    rule!("slice.splat", "slice (replicate s) = replicate s, for a scalar s", Exact, slice_splat),
    rule!("slice.slice", "slice (slice x) = slice x, for unit steps", Exact, slice_slice),
    rule!(
        "slice.pads",
        "slice (pad x + pad y) = slice x + slice y, where the slice is inside of both blocks; also of one block",
        Exact,
        slice_pads
    ),
];

fn args_of(g: &Graph, t: Term) -> Option<(Prim, Box<[Term]>)> {
    match g.node(t) {
        Node::Prim(prim, args) => Some((prim.clone(), args.clone())),
        _ => None,
    }
}

/// The argument, the new axes and their sizes of a replicate.
pub(crate) fn replicated(g: &Graph, t: Term) -> Option<(Term, Vec<u8>, Vec<Term>)> {
    match g.node(t) {
        Node::Prim(Prim::Replicate(axes), args) => Some((args[0], axes.to_vec(), args[1..].to_vec())),
        _ => None,
    }
}

/// Whether the form of an axis' size shows that a block of `len` elements that begins at `start` is
/// inside of the axis: no element of it is dropped.
pub(super) fn is_inside(g: &Graph, start: Term, len: Term, size: Term) -> bool {
    let at_most = |t: Term| match g.node(t) {
        Node::Prim(Prim::Int(IntOp::Min), args) => args.contains(&size),
        _ => t == size,
    };
    match g.node(len) {
        Node::Prim(Prim::Int(IntOp::Sub), args) if args[1] == start => at_most(args[0]),
        _ => g.int_value(start) == Some(0) && at_most(len),
    }
}

fn transposed(g: &Graph, t: Term) -> Option<(Term, Vec<u8>)> {
    match g.node(t) {
        Node::Prim(Prim::Transpose(perm), args) => Some((args[0], perm.to_vec())),
        _ => None,
    }
}

fn replicate_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, outer_axes, outer_sizes) = replicated(g, t)?;
    let (x, inner_axes, inner_sizes) = replicated(g, inner)?;
    let kept = other_axes(g.rank(t), &outer_axes);
    let mut all: Vec<(u8, Term)> = outer_axes.into_iter().zip(outer_sizes).collect();
    all.extend(inner_axes.iter().map(|&a| kept[usize::from(a)]).zip(inner_sizes));
    all.sort_unstable_by_key(|p| p.0);
    let (axes, sizes): (Vec<u8>, Vec<Term>) = all.into_iter().unzip();
    Some(g.replicate_axes(x, &axes, &sizes))
}

fn transpose_transpose(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, p) = transposed(g, t)?;
    let (x, q) = transposed(g, inner)?;
    let perm: Vec<u8> = p.iter().map(|&a| q[usize::from(a)]).collect();
    Some(g.transpose(x, &perm))
}

fn transpose_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, perm) = transposed(g, t)?;
    let (x, axes, sizes) = replicated(g, inner)?;
    let kept = other_axes(perm.len(), &axes);
    let mut new = Vec::new();
    let mut inner_perm = Vec::new();
    for (k, &old) in perm.iter().enumerate() {
        match axes.iter().position(|&a| a == old) {
            Some(j) => new.push((axis(k), sizes[j])),
            None => inner_perm.push(axis(kept.iter().position(|&a| a == old)?)),
        }
    }
    let x = g.transpose(x, &inner_perm);
    let (axes, sizes): (Vec<u8>, Vec<Term>) = new.into_iter().unzip();
    Some(g.replicate_axes(x, &axes, &sizes))
}

/// Cancels transposes: a transpose of an elementwise operation on transposed arrays and replicated
/// scalars is moved to the operands.
fn transpose_splats(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, perm) = transposed(g, t)?;
    let (prim, args) = args_of(g, inner).filter(|(prim, _)| prim.is_elementwise())?;
    let scalar = |g: &Graph, a: Term| g.rank(g.splat(a)) == 0;
    if !args.iter().all(|&a| scalar(g, a) || transposed(g, a).is_some()) {
        return None;
    }
    let args: Vec<Term> = args
        .iter()
        .map(|&a| {
            if scalar(g, a) {
                let shape: Vec<Term> = perm.iter().map(|&k| g.shape(a)[usize::from(k)]).collect();
                let s = g.splat(a);
                g.broadcast(s, &shape)
            } else {
                g.transpose(a, &perm)
            }
        })
        .collect();
    Some(g.prim(prim, &args))
}

/// Moves a transposition towards the operands: a contraction below can make its result in any order
/// of axes.
fn transpose_part(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, perm) = transposed(g, t)?;
    let (prim, args) = args_of(g, inner)?;
    let sizes = g.shape(t).to_vec();
    Some(match prim {
        Prim::Recast => {
            let x = g.transpose(args[0], &perm);
            g.recast(x, &sizes)
        }
        Prim::Pad(steps) => {
            let x = g.transpose(args[0], &perm);
            let starts: Vec<Term> = perm.iter().map(|&a| args[1 + usize::from(a)]).collect();
            let steps: Vec<i64> = perm.iter().map(|&a| steps[usize::from(a)]).collect();
            g.pad(x, &starts, &steps, &sizes)
        }
        _ => return None,
    })
}

fn summed(g: &Graph, t: Term) -> Option<(Term, Vec<u8>)> {
    match g.node(t) {
        Node::Prim(Prim::Sum(axes), args) => Some((args[0], axes.to_vec())),
        _ => None,
    }
}

fn sum_transpose(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, axes) = summed(g, t)?;
    let (x, perm) = transposed(g, inner)?;
    let mut inner_axes: Vec<u8> = axes.iter().map(|&a| perm[usize::from(a)]).collect();
    inner_axes.sort_unstable();
    let rest = other_axes(perm.len(), &inner_axes);
    let kept = other_axes(perm.len(), &axes);
    let outer: Option<Vec<u8>> =
        kept.iter().map(|&a| rest.iter().position(|&r| r == perm[usize::from(a)]).map(axis)).collect();
    let s = g.sum_axes(x, &inner_axes);
    Some(g.transpose(s, &outer?))
}

fn sum_sum(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, outer_axes) = summed(g, t)?;
    let (x, inner_axes) = summed(g, inner)?;
    let kept = other_axes(g.rank(x), &inner_axes);
    let mut axes = inner_axes;
    axes.extend(outer_axes.iter().map(|&a| kept[usize::from(a)]));
    axes.sort_unstable();
    Some(g.sum_axes(x, &axes))
}

fn sum_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, axes) = summed(g, t)?;
    let (x, new, sizes) = replicated(g, inner)?;
    let old = other_axes(g.rank(inner), &new);
    // The summed axes of x itself, by its own numbers; and the remaining replicated axes, numbered
    // in the result.
    let own: Vec<u8> = (0..old.len()).map(axis).filter(|&k| axes.contains(&old[usize::from(k)])).collect();
    if own.is_empty() {
        return None;
    }
    let stays: Vec<u8> =
        other_axes(g.rank(inner), &old.iter().copied().filter(|a| axes.contains(a)).collect::<Vec<_>>());
    let s = g.sum_axes(x, &own);
    let positions: Option<Vec<u8>> = new.iter().map(|a| stays.iter().position(|s| s == a).map(axis)).collect();
    let r = g.replicate_axes(s, &positions?, &sizes);
    let left: Vec<u8> =
        axes.iter().filter(|a| new.contains(a)).filter_map(|a| stays.iter().position(|s| s == a)).map(axis).collect();
    Some(g.sum_axes(r, &left))
}

/// The zeros around a block are not summed.
fn sum_pad(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, axes) = summed(g, t)?;
    let Node::Prim(Prim::Pad(steps), args) = g.node(inner).clone() else { return None };
    let (block, starts) = (args[0], &args[1..=steps.len()]);
    let inside = |&a: &u8| {
        let k = usize::from(a);
        steps[k] == 1 && is_inside(g, starts[k], g.shape(block)[k], g.shape(inner)[k])
    };
    if !axes.iter().all(inside) {
        return None;
    }
    let kept = other_axes(steps.len(), &axes);
    let of = |all: &[Term]| kept.iter().map(|&a| all[usize::from(a)]).collect::<Vec<_>>();
    let (starts, sizes) = (of(starts), of(g.shape(inner)));
    let steps: Vec<i64> = kept.iter().map(|&a| steps[usize::from(a)]).collect();
    let sum = g.sum_axes(block, &axes);
    Some(g.pad(sum, &starts, &steps, &sizes))
}

fn sum_recast(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Sum(axes), args) = args_of(g, t)? else { return None };
    let (Prim::Recast, inner) = args_of(g, args[0])? else { return None };
    let keeps = |a: &u8| g.shape(args[0])[usize::from(*a)] == g.shape(inner[0])[usize::from(*a)];
    if !axes.iter().all(keeps) {
        return None;
    }
    let sizes = g.shape(t).to_vec();
    let sum = g.sum_axes(inner[0], &axes);
    Some(g.recast(sum, &sizes))
}

fn sum_literal(g: &mut Graph, t: Term) -> Option<Term> {
    let (x, axes) = summed(g, t)?;
    let c = g.real_value(x).filter(|c| c.is_finite())?;
    let elem = g.elem(x);
    let Elem::Real(ty) = elem else { return None };
    let sizes: Vec<Term> = axes.iter().map(|&a| g.shape(x)[usize::from(a)]).collect();
    // Multiply the sizes first: a partial product with the literal may be infinite, and a size may
    // be 0.
    let (mut count, c) = (None, g.lit_real(ty, c));
    for n in sizes {
        let n = g.cast(elem, n);
        count = Some(count.map_or(n, |count| g.mul(count, n)));
    }
    let sum = g.mul(count?, c);
    let shape = g.shape(t).to_vec();
    Some(g.broadcast(sum, &shape))
}

/// The extremum of equal elements is that element, if there is one.
fn reduce_literal(g: &mut Graph, t: Term) -> Option<Term> {
    let (prim, args) = args_of(g, t)?;
    let Prim::Reduce(op, rank) = prim else { return None };
    let x = args[0];
    let (value, of_none) = match (op, g.elem(x)) {
        (Reduce::Max | Reduce::Min, Elem::Real(ty)) => {
            let c = g.real_value(x).filter(|c| c.is_finite())?;
            let infinity = if op == Reduce::Max { f64::NEG_INFINITY } else { f64::INFINITY };
            (g.lit_real(ty, c), g.lit_real(ty, infinity))
        }
        (Reduce::All | Reduce::Any, _) => {
            let value = g.bool_value(x)?;
            (g.lit_bool(value), g.lit_bool(op == Reduce::All))
        }
        _ => return None,
    };
    let shape = g.shape(x).to_vec();
    let (kept, reduced) = shape.split_at(shape.len() - usize::from(rank));
    let (zero, mut any) = (g.lit_usize(0), g.lit_bool(true));
    for &n in reduced {
        let not_empty = g.compare(Cmp::Lt, zero, n);
        any = g.and(any, not_empty);
    }
    let value = g.cond(any, value, of_none);
    Some(g.broadcast(value, kept))
}

/// One negation instead of one for each element, and a product below it can be fused with the
/// addition.
fn sum_neg(g: &mut Graph, t: Term) -> Option<Term> {
    let (inner, axes) = summed(g, t)?;
    let x = negated(g, inner).or_else(|| {
        let Node::Prim(Prim::Select, args) = g.node(inner) else { return None };
        let (mask, chosen, zeros) = (args[0], args[1], args[2]);
        let x = negated(g, chosen).filter(|_| is_zero(g, zeros))?;
        Some(g.select(mask, x, zeros))
    })?;
    let s = g.sum_axes(x, &axes);
    Some(g.neg(s))
}

fn is_one(g: &Graph, n: Term) -> bool {
    g.int_value(n) == Some(1)
}

fn sum_single(g: &mut Graph, t: Term) -> Option<Term> {
    let (x, axes) = summed(g, t)?;
    let shape = g.shape(x).to_vec();
    let (single, left): (Vec<u8>, Vec<u8>) = axes.iter().partition(|&&a| is_one(g, shape[usize::from(a)]));
    if single.is_empty() {
        return None;
    }
    let kept = other_axes(shape.len(), &single);
    let inner: Vec<Term> = kept.iter().map(|&a| shape[usize::from(a)]).collect();
    let r = g.reshape(x, &inner);
    let left: Option<Vec<u8>> = left.iter().map(|a| kept.iter().position(|k| k == a).map(axis)).collect();
    Some(g.sum_axes(r, &left?))
}

/// Axes along which all arguments are replicated are added after the operation instead.
fn elementwise_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (prim, args) = args_of(g, t).filter(|(prim, _)| prim.is_elementwise())?;
    let parts: Option<Vec<_>> = args.iter().map(|&a| replicated(g, a)).collect();
    let parts = parts?;
    let rank = g.rank(t);
    let common: Vec<u8> = (0..rank).map(axis).filter(|a| parts.iter().all(|p| p.1.contains(a))).collect();
    if common.is_empty() {
        return None;
    }
    let sizes: Vec<Term> = common.iter().map(|&a| g.shape(t)[usize::from(a)]).collect();
    let kept = other_axes(rank, &common);
    let args: Option<Vec<Term>> = parts
        .into_iter()
        .map(|(x, axes, sizes)| {
            let left = axes.iter().zip(&sizes).filter(|(a, _)| !common.contains(a));
            let left: Option<Vec<(u8, Term)>> =
                left.map(|(a, &n)| kept.iter().position(|k| k == a).map(|k| (axis(k), n))).collect();
            let (axes, sizes): (Vec<u8>, Vec<Term>) = left?.into_iter().unzip();
            Some(g.replicate_axes(x, &axes, &sizes))
        })
        .collect();
    let inner = g.prim(prim, &args?);
    Some(g.replicate_axes(inner, &common, &sizes))
}

fn reshape_reshape(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Reshape, args) = args_of(g, t)? else { return None };
    let (Prim::Reshape, inner) = args_of(g, args[0])? else { return None };
    Some(g.reshape(inner[0], &args[1..]))
}

fn reshape_splat(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Reshape, args) = args_of(g, t)? else { return None };
    let s = g.splat(args[0]);
    (g.rank(s) == 0 && s != args[0]).then(|| g.broadcast(s, &args[1..]))
}

fn recast_recast(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Recast, args) = args_of(g, t)? else { return None };
    if let Some((Prim::Recast, inner)) = args_of(g, args[0]) {
        return Some(g.recast(inner[0], &args[1..]));
    }
    let (x, axes, _) = replicated(g, args[0])?;
    let size = |a: &u8| args[1 + usize::from(*a)];
    let (sizes, rest): (Vec<Term>, Vec<Term>) =
        (axes.iter().map(size).collect(), other_axes(args.len() - 1, &axes).iter().map(size).collect());
    let x = g.recast(x, &rest);
    Some(g.replicate_axes(x, &axes, &sizes))
}

fn slice_splat(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Slice(steps), args) = args_of(g, t)? else { return None };
    let s = g.splat(args[0]);
    // If a slice leaves its array, its elements are unspecified anyway.
    (g.rank(s) == 0 && s != args[0]).then(|| g.broadcast(s, &args[1 + steps.len()..]))
}

fn slice_slice(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Slice(outer), a) = args_of(g, t)? else { return None };
    let (Prim::Slice(inner), b) = args_of(g, a[0])? else { return None };
    if outer.iter().chain(&*inner).any(|&s| s != 1) {
        return None;
    }
    let rank = outer.len();
    let starts: Vec<Term> = (1..=rank).map(|k| g.int(IntOp::Add, b[k], a[k])).collect();
    Some(g.slice(b[0], &starts, &outer, &a[1 + rank..]))
}

/// The maximum number of blocks in a sum of which a slice is taken.
const MAX_BLOCKS: usize = 8;

fn slice_pads(g: &mut Graph, t: Term) -> Option<Term> {
    let (Prim::Slice(steps), args) = args_of(g, t)? else { return None };
    let part = (&args[1..=steps.len()], &args[steps.len() + 1..]);
    if steps.iter().any(|&s| s != 1) {
        return None;
    }
    let mut left = MAX_BLOCKS;
    slice_of_blocks(g, args[0], part, &mut left)
}

/// The part of a sum of blocks, of which at most so many are `left` to look at.
fn slice_of_blocks(g: &mut Graph, t: Term, part: (&[Term], &[Term]), left: &mut usize) -> Option<Term> {
    *left = left.checked_sub(1)?;
    let (prim, args) = args_of(g, t)?;
    match prim {
        Prim::Binary(Binary::Add) => {
            let [a, b] = [args[0], args[1]].map(|arg| slice_of_blocks(g, arg, part, left));
            Some(g.add(a?, b?))
        }
        Prim::Pad(steps) if steps.iter().all(|&s| s == 1) => {
            let (block, sizes, mut starts) = (args[0], g.shape(args[0]).to_vec(), Vec::new());
            for (k, (&start, &len)) in part.0.iter().zip(part.1).enumerate() {
                let (first, mut facts) = (args[1 + k], Facts::new());
                // It does not matter what an empty slice is a part of.
                let (more, less) = match g.node(len) {
                    Node::Prim(Prim::Int(IntOp::Sub), sides) => (sides[0], sides[1]),
                    _ => (len, g.lit_usize(0)),
                };
                let some = g.compare(Cmp::Gt, more, less);
                facts.assume(g, some, true);
                let [end, last] = [(start, len), (first, sizes[k])].map(|(a, b)| g.int(IntOp::Add, a, b));
                if !facts.prove_le(g, first, start) || !facts.prove_le(g, end, last) {
                    return None;
                }
                starts.push(g.int(IntOp::Sub, start, first));
            }
            Some(g.slice(block, &starts, &steps, part.1))
        }
        _ => None,
    }
}

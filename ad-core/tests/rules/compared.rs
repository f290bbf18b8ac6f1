//! Examples of the rules for integers that are compared with literals, and for extrema of literals.

use super::*;

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        // With each limit, on each side, of numbers and of arrays.
        "compare.limit" => vec![
            |f| compared(f, Cmp::Le, usize::MAX, false),
            |f| compared(f, Cmp::Gt, usize::MAX, false),
            |f| compared(f, Cmp::Ge, usize::MAX, false),
            |f| compared(f, Cmp::Lt, usize::MAX, true),
            |f| compared(f, Cmp::Ge, 0, false),
            |f| compared(f, Cmp::Lt, 0, false),
            |f| compared(f, Cmp::Gt, 0, true),
            |f| {
                let none = f.g.lit_usize(0);
                let none = f.g.replicate(f.n, none);
                f.g.compare(Cmp::Le, f.ids, none)
            },
        ],
        "compare.iota" => vec![
            |f| {
                let (indices, sizes) = (f.g.iota(f.n), f.g.replicate(f.n, f.n));
                f.g.compare(Cmp::Lt, indices, sizes)
            },
            |f| {
                // The axis is shorter by one.
                let one = f.g.lit_usize(1);
                let fewer = f.g.int(IntOp::Sub, f.n, one);
                let (indices, sizes) = (f.g.iota(fewer), f.g.replicate(fewer, f.n));
                f.g.compare(Cmp::Lt, indices, sizes)
            },
            |f| {
                let least = f.g.int(IntOp::Min, f.k, f.n);
                let (indices, limits) = (f.g.iota(f.n), f.g.replicate(f.n, least));
                f.g.compare(Cmp::Lt, indices, limits)
            },
            |f| {
                // A limit for each row.
                let sizes = f.g.replicate(f.n, f.n);
                let least = f.g.prim(Prim::Int(IntOp::Min), &[sizes, f.ids]);
                let indices = f.g.iota(f.n);
                let (indices, limits) = (f.g.replicate(f.n, indices), f.g.replicate_axes(least, &[1], &[f.n]));
                f.g.compare(Cmp::Lt, indices, limits)
            },
        ],
        "reduce.literal" => vec![
            |f| {
                let c = f.g.lit_shaped(Elem::F64, &[f.n, f.k], 1.5);
                f.g.prim(Prim::Reduce(Reduce::Max, 2), &[c])
            },
            |f| {
                let zero = f.g.lit_usize(0);
                let c = f.g.lit_shaped(Elem::F64, &[f.n, zero], -2.0);
                f.g.prim(Prim::Reduce(Reduce::Min, 1), &[c])
            },
            |f| {
                let (yes, zero) = (f.g.lit_bool(true), f.g.lit_usize(0));
                let c = f.g.broadcast(yes, &[f.n, zero]);
                f.g.prim(Prim::Reduce(Reduce::Any, 1), &[c])
            },
        ],
        _ => Vec::new(),
    }
}

/// `k op limit`, or `limit op k`.
fn compared(f: &mut Fixture, op: Cmp, limit: usize, first: bool) -> Term {
    let limit = f.g.lit_usize(limit);
    if first { f.g.compare(op, limit, f.k) } else { f.g.compare(op, f.k, limit) }
}

//! Examples of the rules for conditionals and elementwise selections.

use super::*;

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        "cond.known" => vec![
            |f| {
                let c = f.g.lit_bool(true);
                f.g.cond(c, f.x, f.y)
            },
            |f| {
                let c = f.g.lit_bool(false);
                f.g.cond(c, f.x, f.y)
            },
        ],
        "cond.not" => vec![|f| {
            let c = f.g.not(f.c);
            f.g.cond(c, f.x, f.y)
        }],
        "cond.nested" => vec![|f| {
            let z = f.g.mul(f.x, f.y);
            let inner = f.g.cond(f.c, f.x, z);
            f.g.cond(f.c, inner, f.y)
        }],
        "cond.decided" => vec![|f| {
            let none = f.g.lit_usize(0);
            let (empty, filled) = (f.g.compare(Cmp::Eq, f.k, none), f.g.compare(Cmp::Lt, none, f.k));
            f.g.cond(empty, f.c, filled)
        }],
        "cond.same" => vec![
            |f| {
                let both = both(f);
                let yes = f.g.lit_bool(true);
                f.g.cond(both, yes, f.c)
            },
            |f| {
                let both = both(f);
                let inner = f.g.cond(f.c, f.x, f.y);
                f.g.cond(both, f.x, inner)
            },
        ],
        "cond.exclusive" => vec![|f| {
            let is = [1, 2].map(|k| {
                let k = f.g.lit_usize(k);
                f.g.compare(Cmp::Eq, f.k, k)
            });
            let inner = f.g.cond(is[1], f.y, f.x);
            f.g.cond(is[0], f.x, inner)
        }],
        "cond.elements" => vec![|f| {
            let zeros = f.g.lit_like(f.x, 0.0);
            let places = [f.g.lit_usize(1), f.g.lit_usize(2)];
            let one = f.g.scatter(zeros, f.s, &[], &places[..1]);
            let two = f.g.scatter(one, f.s, &[], &places[1..]);
            let none = f.g.lit_usize(0);
            let filled = f.g.compare(Cmp::Lt, none, f.k);
            f.g.cond(filled, two, zeros)
        }],
        "cond.empty" => vec![
            |f| {
                let none = f.g.lit_usize(0);
                let filled = f.g.compare(Cmp::Lt, none, f.n);
                f.g.cond(filled, f.x, f.y)
            },
            |f| {
                let (none, size) = (f.g.lit_usize(0), f.g.int(IntOp::Mul, f.n, f.k));
                let filled = f.g.compare(Cmp::Lt, none, f.k);
                let [a, b] = [f.a, f.b].map(|m| f.g.reshape(m, &[size]));
                f.g.cond(filled, a, b)
            },
        ],
        "select.known" => vec![|f| {
            let c = f.g.lit_bool(false);
            let m = f.g.replicate(f.n, c);
            f.g.select(m, f.x, f.y)
        }],
        "select.one" => vec![|f| {
            let (two, i) = (f.g.lit_usize(2), f.g.iota(f.n));
            let at = f.g.index(f.ids, &[two]);
            let at = f.g.broadcast(at, &[f.n]);
            let here = f.g.compare(Cmp::Eq, i, at);
            let (sine, zeros) = (f.g.unary(Unary::Sin, f.x), f.g.zeros_like(f.x));
            f.g.select(here, sine, zeros)
        }],
        "select.not" => vec![
            |f| {
                let m = f.g.prim(Prim::Not, &[f.m]);
                f.g.select(m, f.x, f.y)
            },
            |f| {
                let m = f.g.prim(Prim::Not, &[f.m]);
                let m = f.g.replicate_axes(m, &[1], &[f.k]);
                f.g.select(m, f.a, f.b)
            },
        ],
        "select.nested" => vec![|f| {
            let z = f.g.mul(f.x, f.y);
            let inner = f.g.select(f.m, z, f.y);
            f.g.select(f.m, f.x, inner)
        }],
        "select.exclusive" => vec![|f| {
            let is = [2, 0, 1].map(|k| {
                let k = f.g.lit_usize(k);
                let k = f.g.replicate(f.n, k);
                f.g.compare(Cmp::Eq, f.ids, k)
            });
            let last = f.g.select(is[2], f.y, f.x);
            let inner = f.g.select(is[1], f.x, last);
            f.g.select(is[0], f.x, inner)
        }],
        "select.lazy" => vec![|f| {
            let m = f.g.replicate(f.n, f.c);
            f.g.select(m, f.x, f.y)
        }],
        _ => Vec::new(),
    }
}

/// A condition that holds only where another one does.
fn both(f: &mut Fixture) -> Term {
    let (no, none) = (f.g.lit_bool(false), f.g.lit_usize(0));
    let filled = f.g.compare(Cmp::Lt, none, f.k);
    f.g.cond(f.c, filled, no)
}

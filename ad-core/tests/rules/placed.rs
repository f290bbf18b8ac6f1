//! Examples of the rules for scatters into zeros, which are transposed and padded by a change of
//! their indices.

use super::*;
use ad_core::ir::Var;

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        "transpose.scatter" => vec![
            |f| {
                let (one, zeros) = (f.g.lit_usize(1), f.g.zeros_like(f.a));
                let row = f.g.index(f.b, &[one]);
                let put = f.g.scatter(zeros, row, &[], &[one]);
                f.g.transpose(put, &[1, 0])
            },
            |f| {
                let zeros = f.g.zeros_like(f.a);
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                let at = f.g.index(f.ids, &[i]);
                let put = f.g.scatter(zeros, f.b, &[v], &[at]);
                f.g.transpose(put, &[1, 0])
            },
            |f| {
                // Two rows.
                let (zero, one, zeros) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.zeros_like(f.a));
                let (first, second) = (f.g.index(f.b, &[zero]), f.g.index(f.b, &[one]));
                let put = f.g.scatter(zeros, first, &[], &[one]);
                let put = f.g.scatter(put, second, &[], &[zero]);
                f.g.transpose(put, &[1, 0])
            },
        ],
        "pad.scatter" => vec![
            |f| {
                // A column, of which all rows move down.
                let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
                let (zeros, u) = (f.g.zeros_like(f.a), f.g.fresh());
                let i = f.g.mk(Node::Var(u));
                let column = f.g.gather(f.b, [f.n].into(), &[u], &[i, zero]);
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                let put = f.g.scatter(zeros, column, &[v], &[i, one]);
                let more = f.g.int(IntOp::Add, f.n, two);
                f.g.pad(put, &[one, zero], &[1, 1], &[more, f.k])
            },
            |f| {
                // Every second element of a row; there are no elements after its end.
                let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
                let block = f.g.slice(f.b, &[zero, zero], &[1, 1], &[f.n, two]);
                let (zeros, row) = (f.g.zeros_like(block), f.g.index(block, &[two]));
                let put = f.g.scatter(zeros, row, &[], &[one]);
                f.g.pad(put, &[zero, one], &[1, 2], &[f.n, f.k])
            },
        ],
        "pad.pads" => vec![
            |f| {
                // Two vectors are joined, and then a third one.
                let zero = f.g.lit_usize(0);
                let (two, three) = (f.g.int(IntOp::Add, f.n, f.n), f.g.int(IntOp::Add, f.n, f.k));
                let (x, y) = (f.g.pad(f.x, &[zero], &[1], &[two]), f.g.pad(f.x, &[f.n], &[1], &[two]));
                let both = f.g.add(x, y);
                let all = f.g.int(IntOp::Add, two, three);
                f.g.pad(both, &[three], &[1], &[all])
            },
            |f| {
                // One block.
                let (zero, two) = (f.g.lit_usize(0), f.g.int(IntOp::Add, f.n, f.k));
                let x = f.g.pad(f.x, &[zero], &[1], &[two]);
                let all = f.g.int(IntOp::Add, f.k, two);
                f.g.pad(x, &[f.k], &[1], &[all])
            },
        ],
        "index.cleared" => vec![|f| {
            let (zero, one) = (f.g.lit_like(f.s, 0.0), f.g.lit_usize(1));
            let at = f.g.index(f.ids, &[one]);
            let new = f.g.update(f.x, zero, &[], &[at]);
            f.g.index(new, &[f.k])
        }],
        "index.added" => vec![
            |f| {
                let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
                let (at, added) = (f.g.index(f.ids, &[one]), f.g.index(f.y, &[two]));
                let new = f.g.scatter(f.x, added, &[], &[at]);
                f.g.index(new, &[at])
            },
            |f| {
                // An element of a row that is added.
                let (zero, one) = (f.g.lit_usize(0), f.g.lit_usize(1));
                let row = f.g.index(f.b, &[one]);
                let new = f.g.scatter(f.a, row, &[], &[zero]);
                f.g.index(new, &[zero, one])
            },
        ],
        "index.scatter" => vec![
            |f| {
                let (two, hot) = (f.g.lit_usize(2), f.one_hot());
                let at = f.g.index(f.ids, &[two]);
                f.g.index(hot, &[at])
            },
            |f| {
                let (one, hot) = (f.g.lit_usize(1), f.one_hot());
                let at = f.g.index(f.ids, &[one]);
                f.g.index(hot, &[at])
            },
        ],
        "update.scatter" => vec![
            |f| {
                let (two, hot) = (f.g.lit_usize(2), f.one_hot());
                let (at, zero) = (f.g.index(f.ids, &[two]), f.g.lit_like(f.s, 0.0));
                f.g.update(hot, zero, &[], &[at])
            },
            |f| {
                let (one, hot) = (f.g.lit_usize(1), f.one_hot());
                let (at, zero) = (f.g.index(f.ids, &[one]), f.g.lit_like(f.s, 0.0));
                f.g.update(hot, zero, &[], &[at])
            },
        ],
        "add.selects" => vec![
            |f| {
                let zeros = f.g.zeros_like(f.x);
                let mask = f.g.compare(Cmp::Gt, f.x, f.y);
                let (x, y) = (f.g.select(mask, f.x, zeros), f.g.select(mask, zeros, f.y));
                f.g.add(x, y)
            },
            |f| {
                let zeros = f.g.zeros_like(f.x);
                let mask = f.g.compare(Cmp::Gt, f.x, f.y);
                let (x, y) = (f.g.select(mask, zeros, f.x), f.g.select(mask, f.x, zeros));
                f.g.add(x, y)
            },
            |f| {
                // Both are zero where the condition is false.
                let zeros = f.g.zeros_like(f.x);
                let mask = f.g.compare(Cmp::Gt, f.x, f.y);
                let (x, y) = (f.g.select(mask, f.x, zeros), f.g.select(mask, f.y, zeros));
                f.g.add(x, y)
            },
            |f| {
                // A condition and its negation, under another condition.
                let zeros = f.g.zeros_like(f.x);
                let [m, n] = [(f.x, f.y), (f.x, zeros)].map(|(a, b)| f.g.compare(Cmp::Gt, a, b));
                let other = f.g.not(n);
                let [both, only] = [n, other].map(|n| f.g.and(m, n));
                let (x, y) = (f.g.select(both, f.y, zeros), f.g.select(only, f.y, zeros));
                f.g.add(x, y)
            },
            |f| {
                // One condition implies the other one.
                let zeros = f.g.zeros_like(f.x);
                let [m, n] = [(f.x, f.y), (f.x, zeros)].map(|(a, b)| f.g.compare(Cmp::Gt, a, b));
                let both = f.g.and(m, n);
                let (x, y) = (f.g.select(m, zeros, f.y), f.g.select(both, f.x, zeros));
                f.g.add(x, y)
            },
        ],
        "scatter.update.between" => vec![|f| {
            let (zero, two) = (f.g.lit_usize(0), f.g.lit_usize(2));
            let new = f.g.update(f.x, f.s, &[], &[zero]);
            let more = f.g.scatter(new, f.s, &[], &[two]);
            f.g.scatter(more, f.s, &[], &[zero])
        }],
        "update.add.masked" => vec![
            |f| {
                let (v, part) = part_of_x(f);
                let (one, i) = (f.g.lit_usize(1), f.g.mk(Node::Var(v)));
                let next = f.g.int(IntOp::Add, i, one);
                let (sum, zeros) = (f.g.add(part, part), f.g.zeros_like(part));
                let mask = f.g.compare(Cmp::Gt, part, zeros);
                let new = f.g.select(mask, sum, part);
                f.g.update(f.x, new, &[v], &[next])
            },
            |f| {
                // Under two conditions.
                let (v, part) = part_of_x(f);
                let (one, i) = (f.g.lit_usize(1), f.g.mk(Node::Var(v)));
                let next = f.g.int(IntOp::Add, i, one);
                let (sum, zeros, ones) = (f.g.add(part, part), f.g.zeros_like(part), f.g.lit_like(part, 1.0));
                let [m, n] = [(part, zeros), (ones, part)].map(|(a, b)| f.g.compare(Cmp::Gt, a, b));
                let inner = f.g.select(n, part, sum);
                let new = f.g.select(m, inner, part);
                f.g.update(f.x, new, &[v], &[next])
            },
        ],
        "update.pad" => vec![|f| {
            let (v, part) = part_of_x(f);
            let (one, i) = (f.g.lit_usize(1), f.g.mk(Node::Var(v)));
            let next = f.g.int(IntOp::Add, i, one);
            let size = f.g.shape(f.x)[0];
            let (before, pad) = (f.g.update(f.x, part, &[v], &[next]), f.g.pad(part, &[one], &[1], &[size]));
            let sum = f.g.add(before, f.y);
            f.g.add(sum, pad)
        }],
        "add.exclusive" => vec![
            |f| {
                let zeros = f.g.zeros_like(f.x);
                let (x, y) = (f.g.cond(f.c, f.x, zeros), f.g.cond(f.c, zeros, f.y));
                f.g.add(x, y)
            },
            |f| {
                // The condition of one arm is a conjunction.
                let (zeros, zero, never) = (f.g.zeros_like(f.x), f.g.lit_like(f.s, 0.0), f.g.lit_bool(false));
                let positive = f.g.compare(Cmp::Gt, f.s, zero);
                let other = f.g.cond(f.c, never, positive);
                let (x, y) = (f.g.cond(other, f.x, zeros), f.g.cond(f.c, f.y, zeros));
                f.g.add(x, y)
            },
        ],
        _ => vec![],
    }
}

/// The last two of the three elements of `x`, as a slice, and a variable for their index.
fn part_of_x(f: &mut Fixture) -> (Var, Term) {
    let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
    (f.g.fresh(), f.g.slice(f.x, &[one], &[1], &[two]))
}

//! Examples of the rules for matrices that are written as vectors, and for arrays whose sizes get
//! other names.

use super::*;
use ad_core::ir::Var;

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        "recast.recast" => vec![
            |f| {
                let three = f.g.lit_usize(3);
                let r = f.g.recast(f.x, &[three]);
                f.g.recast(r, &[f.n])
            },
            |f| {
                let (three, repeated) = (f.g.lit_usize(3), f.g.replicate(f.k, f.x));
                f.g.recast(repeated, &[f.k, three])
            },
        ],
        "sum.recast" => vec![|f| {
            let three = f.g.lit_usize(3);
            let r = f.g.recast(f.a, &[three, f.k]);
            f.g.sum_axes(r, &[1])
        }],
        "gather.flat" => vec![
            |f| {
                let v = flat(f, f.a);
                let k = f.k;
                f.gather(v, &[f.n, f.k], |g, v| vec![place(g, k, v[0], v[1])])
            },
            |f| {
                let v = flat(f, f.a);
                let k = f.k;
                f.gather(v, &[f.k, f.n], |g, v| vec![place(g, k, v[1], v[0])])
            },
            // Rows of two elements, of three axes in another order.
            |f| {
                let (two, v) = (f.g.lit_usize(2), flat(f, f.b));
                let v = f.g.replicate_axes(v, &[1, 2], &[two, two]);
                let of = f.g.int(IntOp::Mul, f.n, f.k);
                let size = f.g.int(IntOp::Mul, of, two);
                let v = f.g.reshape(v, &[size, two]);
                let k = f.k;
                f.gather(v, &[two, f.n, f.k], |g, v| {
                    let inner = place(g, k, v[1], v[2]);
                    vec![place(g, two, inner, v[0])]
                })
            },
        ],
        "scatter.flat" => vec![
            |f| {
                let (v, vars, at) = placed(f, false);
                f.g.scatter(v, f.b, &vars, &[at])
            },
            |f| {
                let (v, vars, at) = placed(f, true);
                let b = f.g.transpose(f.b, &[1, 0]);
                f.g.update(v, b, &vars, &[at])
            },
        ],
        _ => Vec::new(),
    }
}

/// `i * n + j`.
fn place(g: &mut Graph, n: Term, i: Term, j: Term) -> Term {
    let start = g.int(IntOp::Mul, i, n);
    g.int(IntOp::Add, start, j)
}

fn flat(f: &mut Fixture, m: Term) -> Term {
    let size = f.g.int(IntOp::Mul, f.n, f.k);
    f.g.reshape(m, &[size])
}

/// A vector, two variables, and the place of the element that they name, in either order.
fn placed(f: &mut Fixture, turned: bool) -> (Term, [Var; 2], Term) {
    let v = flat(f, f.a);
    let vars = [f.g.fresh(), f.g.fresh()];
    let [i, j] = vars.map(|v| f.g.mk(Node::Var(v)));
    let at = if turned { place(&mut f.g, f.k, j, i) } else { place(&mut f.g, f.k, i, j) };
    (v, vars, at)
}

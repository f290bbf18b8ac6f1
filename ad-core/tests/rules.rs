//! The simplifier's tables: each rule has an example on which it fires, and preserves the type, the
//! value and the tangent by the interpreter. A rule without an example fails.

#[path = "rules/compared.rs"]
mod compared;
#[path = "rules/conditions.rs"]
mod conditions;
#[path = "rules/flat.rs"]
mod flat;
#[path = "rules/masked.rs"]
mod masked;
#[path = "rules/passes.rs"]
mod passes;
#[path = "rules/placed.rs"]
mod placed;
#[path = "rules/scattered.rs"]
mod scattered;

use ad_core::ir::{Contraction, Elem, Graph, IntTy, Lit, Node, RealTy, Term, valid};
use ad_core::passes::simplify::{Exactness, Rule, simplify, tables};
use ad_core::passes::{CheckRoots, Context, Roots, associate, hoist, pairs, push, share};
use ad_core::prim::structural::Triangle;
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary};
use ad_oracle::interp::{Interp, Value};
use ad_oracle::with_exact;

/// A graph with some inputs: scalars, vectors of 3, matrices of 3 x 4.
struct Fixture {
    g: Graph,
    s: Term,
    x: Term,
    y: Term,
    a: Term,
    b: Term,
    c: Term,
    m: Term,
    ids: Term,
    n: Term,
    k: Term,
}

impl Fixture {
    fn new() -> Self {
        let mut g = Graph::new();
        let s = g.add_input(Elem::F64, 0);
        let x = g.add_input(Elem::F64, 1);
        let n = g.shape(x)[0];
        let y = g.add_input_shaped(Elem::F64, vec![n]);
        let columns = g.add_input(Elem::F64, 1);
        let k = g.shape(columns)[0];
        let a = g.add_input_shaped(Elem::F64, vec![n, k]);
        let b = g.add_input_shaped(Elem::F64, vec![n, k]);
        let c = g.add_input(Elem::Bool, 0);
        let m = g.add_input_shaped(Elem::Bool, vec![n]);
        let ids = g.add_input_shaped(Elem::USIZE, vec![n]);
        Fixture { g, s, x, y, a, b, c, m, ids, n, k }
    }

    fn inputs() -> Vec<Value> {
        let reals = |shape: &[usize], seed: f64| {
            let len: usize = shape.iter().product();
            let at = |k: usize, phase: f64| ((k as f64 + 1.0) * 0.7 + seed + phase).sin() * 2.0;
            let xs: Vec<f64> = (0..len).map(|k| at(k, 0.0)).collect();
            let ds: Vec<f64> = (0..len).map(|k| at(k, 0.3)).collect();
            Value::reals(shape, &xs).with_tangent(&ds)
        };
        vec![
            reals(&[], 0.1),
            reals(&[3], 0.2),
            reals(&[3], 0.5),
            reals(&[4], 0.9),
            reals(&[3, 4], 1.3),
            reals(&[3, 4], 1.7),
            Value::bools(&[], &[true]),
            Value::bools(&[3], &[true, false, true]),
            Value::ints(IntTy::Usize, &[3], &[2, 0, 2]),
        ]
    }

    fn lit(&mut self, t: Term, v: f64) -> Term {
        self.g.lit_like(t, v)
    }

    fn one_hot(&mut self) -> Term {
        let zero = self.lit(self.x, 0.0);
        let two = self.g.lit_usize(2);
        self.g.scatter(zero, self.s, &[], &[two])
    }

    /// `gather sizes src (\vars. index)`.
    fn gather(&mut self, src: Term, sizes: &[Term], index: impl Fn(&mut Graph, &[Term]) -> Vec<Term>) -> Term {
        let vars: Vec<_> = sizes.iter().map(|_| self.g.fresh()).collect();
        let terms: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        let index = index(&mut self.g, &terms);
        self.g.gather(src, sizes.into(), &vars, &index)
    }

    fn replicate_rows(&mut self) -> Term {
        self.g.replicate_axes(self.x, &[1], &[self.k])
    }
}

type Example = fn(&mut Fixture) -> Term;

fn contraction(a: &[u8], b: &[u8], out: &[u8]) -> Contraction {
    Contraction::new(a, b, out)
}

/// For each rule, terms on which it fires, created without builders that would fold them first.
#[allow(clippy::too_many_lines, reason = "a table")]
fn examples(rule: &str) -> Vec<Example> {
    match rule {
        rule if rule.starts_with("cond.") || rule.starts_with("select.") => conditions::examples(rule),
        "fold" => vec![|f| {
            let (a, b) = (f.lit(f.x, 1.5), f.lit(f.x, -2.0));
            f.g.mul(a, b)
        }],
        "neg.neg" => vec![|f| {
            let n = f.g.neg(f.x);
            f.g.neg(n)
        }],
        "mul.one" => vec![
            |f| {
                let one = f.lit(f.x, 1.0);
                f.g.mul(f.x, one)
            },
            |f| {
                let one = f.lit(f.x, -1.0);
                f.g.div(f.x, one)
            },
        ],
        "sub.zero" => vec![|f| {
            let zero = f.lit(f.x, 0.0);
            f.g.sub(f.x, zero)
        }],
        "add.neg" => vec![
            |f| {
                let n = f.g.neg(f.y);
                f.g.add(f.x, n)
            },
            |f| {
                let n = f.g.neg(f.y);
                f.g.sub(f.x, n)
            },
            |f| {
                let n = f.g.neg(f.x);
                f.g.add(n, f.y)
            },
        ],
        "mul.neg" => vec![
            |f| {
                let (p, q) = (f.g.neg(f.x), f.g.neg(f.y));
                f.g.mul(p, q)
            },
            |f| {
                let q = f.g.neg(f.y);
                f.g.div(f.x, q)
            },
        ],
        "solve.neg" => vec![|f| {
            let (minus, t) = (f.g.neg(f.a), f.g.replicate_axes(f.s, &[0, 1], &[f.n, f.n]));
            f.g.prim(Prim::TriangularSolve(Triangle::LOWER), &[minus, t])
        }],
        "add.same" => vec![
            |f| f.g.add(f.x, f.x),
            |f| {
                let minus = f.g.neg(f.x);
                f.g.sub(minus, f.x)
            },
            |f| {
                let (p, q) = (f.g.mul(f.x, f.y), f.g.mul(f.y, f.x));
                f.g.add(p, q)
            },
        ],
        "mul.constants" => vec![
            |f| {
                let (c, d) = (f.lit(f.x, 2.0), f.lit(f.x, 100.0));
                let inner = f.g.mul(f.x, d);
                f.g.mul(c, inner)
            },
            |f| {
                let (c, d) = (f.lit(f.x, -0.5), f.lit(f.x, 0.1));
                let inner = f.g.mul(d, f.x);
                f.g.mul(inner, c)
            },
        ],
        "mul.constants.inside" => vec![
            |f| {
                let (c, d) = (f.lit(f.x, -2.0), f.lit(f.x, 200.0));
                let inner = f.g.mul(d, f.x);
                let product = f.g.mul(inner, f.y);
                f.g.mul(c, product)
            },
            |f| {
                let (c, d) = (f.lit(f.x, 2.0), f.lit(f.x, -1.5));
                let inner = f.g.mul(f.x, d);
                let product = f.g.mul(f.y, inner);
                f.g.mul(product, c)
            },
        ],
        "powi.small" => vec![
            |f| {
                let two = f.g.lit(Lit::Int(IntTy::I32, 2));
                let two = f.g.replicate(f.n, two);
                f.g.prim(Prim::PowI, &[f.x, two])
            },
            |f| {
                let seven = f.g.lit(Lit::Int(IntTy::I32, 7));
                let seven = f.g.replicate(f.n, seven);
                f.g.prim(Prim::PowI, &[f.x, seven])
            },
        ],
        "relaxed_exact.relaxed" => vec![|f| {
            let (free, own) = (f.g.sum_axes(f.x, &[0]), f.g.reduce(Reduce::InOrder, 1, f.x));
            f.g.relaxed_exact(free, own)
        }],
        "stop.known" => vec![|f| f.g.prim(Prim::StopGradient, &[f.ids])],
        "replicate.replicate" => vec![|f| {
            let r = f.replicate_rows();
            f.g.replicate_axes(r, &[1], &[f.n])
        }],
        "transpose.transpose" => vec![|f| {
            let t = f.g.prim(Prim::Transpose([1, 0].into()), &[f.a]);
            f.g.prim(Prim::Transpose([1, 0].into()), &[t])
        }],
        "transpose.replicate" => vec![|f| {
            let r = f.g.replicate(f.n, f.a);
            f.g.transpose(r, &[2, 0, 1])
        }],
        "transpose.elementwise" => vec![|f| {
            let t = f.g.transpose(f.a, &[1, 0]);
            let two = f.lit(t, 2.0);
            let p = f.g.mul(t, two);
            f.g.transpose(p, &[1, 0])
        }],
        "transpose.part" => vec![
            |f| {
                let (k, n) = (f.g.lit_usize(4), f.g.lit_usize(3));
                let r = f.g.recast(f.a, &[n, k]);
                f.g.transpose(r, &[1, 0])
            },
            |f| {
                let (zero, one, six) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(6));
                let p = f.g.pad(f.a, &[one, zero], &[1, 1], &[six, f.k]);
                f.g.transpose(p, &[1, 0])
            },
        ],
        "sum.transpose" => vec![|f| {
            let r = f.g.replicate_axes(f.a, &[1], &[f.n]);
            let t = f.g.transpose(r, &[2, 0, 1]);
            f.g.sum_axes(t, &[0])
        }],
        "sum.sum" => vec![|f| {
            let r = f.g.replicate_axes(f.a, &[1], &[f.n]);
            let s = f.g.sum_axes(r, &[1]);
            f.g.sum_axes(s, &[0])
        }],
        "sum.replicate" => vec![
            |f| {
                let r = f.g.replicate_axes(f.a, &[1], &[f.n]);
                f.g.sum_axes(r, &[0])
            },
            |f| {
                let r = f.g.replicate_axes(f.a, &[1, 3], &[f.n, f.k]);
                f.g.sum_axes(r, &[1, 2])
            },
        ],
        "sum.literal" => vec![
            |f| {
                let c = f.g.lit_shaped(Elem::F64, &[f.n, f.k], 1.5);
                f.g.sum_axes(c, &[0, 1])
            },
            |f| {
                let c = f.g.lit_shaped(Elem::F64, &[f.n, f.k], -2.0);
                f.g.sum_axes(c, &[1])
            },
        ],
        "sum.pad" => vec![
            |f| {
                // All elements are in range.
                let (zero, two) = (f.g.lit_usize(0), f.g.lit_usize(2));
                let len = f.g.int(IntOp::Min, two, f.k);
                let padded = f.g.slice(f.a, &[zero, zero], &[1, 1], &[f.n, len]);
                let padded = f.g.pad(padded, &[zero, zero], &[1, 1], &[f.n, f.k]);
                f.g.sum_axes(padded, &[1])
            },
            |f| {
                // The part from an index on; the other axis stays padded.
                let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
                let low = f.g.int(IntOp::Min, two, f.k);
                let len = f.g.int(IntOp::Sub, f.k, low);
                let more = f.g.int(IntOp::Add, f.n, two);
                let part = f.g.slice(f.a, &[zero, zero], &[1, 1], &[f.n, len]);
                let padded = f.g.pad(part, &[one, low], &[1, 1], &[more, f.k]);
                f.g.sum_axes(padded, &[1])
            },
        ],
        "sum.neg" => vec![
            |f| {
                let minus = f.g.neg(f.a);
                f.g.sum_axes(minus, &[1])
            },
            |f| {
                let (minus, zero) = (f.g.neg(f.x), f.lit(f.x, 0.0));
                let masked = f.g.select(f.m, minus, zero);
                f.g.sum_axes(masked, &[0])
            },
        ],
        "sum.single" => vec![|f| {
            let one = f.g.lit_usize(1);
            let r = f.g.reshape(f.a, &[one, f.n, f.k]);
            f.g.sum_axes(r, &[0, 2])
        }],
        "elementwise.replicate" => vec![|f| {
            let (r, q) = (f.replicate_rows(), f.g.replicate_axes(f.s, &[0, 1], &[f.n, f.k]));
            f.g.mul(r, q)
        }],
        "reshape.reshape" => vec![|f| {
            let size = f.g.int(IntOp::Mul, f.n, f.k);
            let r = f.g.reshape(f.a, &[size]);
            f.g.reshape(r, &[f.k, f.n])
        }],
        "reshape.splat" => vec![|f| {
            let r = f.g.broadcast(f.s, &[f.n, f.k]);
            f.g.reshape(r, &[f.k, f.n])
        }],
        "recast.recast" | "sum.recast" => flat::examples(rule),
        "slice.splat" => vec![|f| {
            let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
            let r = f.g.replicate(f.n, f.s);
            f.g.slice(r, &[one], &[1], &[two])
        }],
        "slice.slice" => vec![|f| {
            let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
            let r = f.g.slice(f.x, &[one], &[1], &[two]);
            f.g.slice(r, &[one], &[1], &[one])
        }],
        "slice.pads" => vec![|f| {
            let [zero, one, two] = [0, 1, 2].map(|k| f.g.lit_usize(k));
            let size = f.g.int(IntOp::Add, f.n, two);
            let (x, y) = (f.g.pad(f.x, &[one], &[1], &[size]), f.g.pad(f.y, &[zero], &[1], &[size]));
            let both = f.g.add(x, y);
            let len = f.g.int(IntOp::Sub, f.n, one);
            f.g.slice(both, &[one], &[1], &[len])
        }],
        "index.index" => vec![|f| {
            let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
            let r = f.g.index(f.a, &[two]);
            f.g.index(r, &[one])
        }],
        "gather.view" => vec![
            |f| f.gather(f.x, &[f.n], |_, v| vec![v[0]]),
            |f| f.gather(f.a, &[f.k, f.n], |_, v| vec![v[1], v[0]]),
            |f| {
                let two = f.g.lit_usize(2);
                f.gather(f.a, &[two, f.n], |g, v| {
                    let one = g.lit_usize(1);
                    vec![one, g.int(IntOp::Add, v[0], one)]
                })
            },
            |f| {
                let r = f.g.replicate_axes(f.a, &[1], &[f.n]);
                f.gather(r, &[f.n], |g, v| {
                    let one = g.lit_usize(1);
                    vec![v[0], one]
                })
            },
        ],
        "gather.gather" => vec![|f| {
            let ids = f.ids;
            let inner = f.gather(f.a, &[f.n], |g, v| vec![g.index(ids, &[v[0]])]);
            f.gather(inner, &[f.k, f.n], |g, v| {
                let i = g.index(ids, &[v[1]]);
                vec![i, v[0]]
            })
        }],
        "gather.replicate" => vec![
            |f| {
                let ids = f.ids;
                let r = f.g.replicate_axes(f.a, &[0, 3], &[f.n, f.k]);
                f.gather(r, &[f.n], |g, v| vec![v[0], g.index(ids, &[v[0]])])
            },
            |f| {
                let r = f.g.replicate(f.n, f.s);
                let one = f.g.lit_usize(1);
                f.g.index(r, &[one])
            },
        ],
        "gather.transpose" => vec![|f| {
            let ids = f.ids;
            let t = f.g.transpose(f.a, &[1, 0]);
            f.gather(t, &[f.n], |g, v| vec![g.index(ids, &[v[0]]), v[0]])
        }],
        "gather.slice" => vec![|f| {
            let (one, two) = (f.g.lit_usize(1), f.g.lit_usize(2));
            let s = f.g.slice(f.x, &[one], &[1], &[two]);
            f.g.index(s, &[one])
        }],
        "gather.recast" => vec![|f| {
            let (one, three) = (f.g.lit_usize(1), f.g.lit_usize(3));
            let r = f.g.recast(f.x, &[three]);
            f.g.index(r, &[one])
        }],
        "index.iota" => vec![|f| {
            let r = f.g.iota(f.n);
            let one = f.g.lit_usize(1);
            f.g.index(r, &[one])
        }],
        "index.stack" => vec![|f| {
            let r = f.g.stack(&[f.x, f.y]);
            let one = f.g.lit_usize(1);
            let two = f.g.lit_usize(2);
            f.g.index(r, &[one, two])
        }],
        "scatter.identity" => vec![|f| {
            let v = f.g.fresh();
            let i = f.g.mk(Node::Var(v));
            f.g.scatter(f.x, f.y, &[v], &[i])
        }],
        "update.whole" => vec![
            |f| {
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                f.g.update(f.x, f.y, &[v], &[i])
            },
            |f| {
                let (u, v) = (f.g.fresh(), f.g.fresh());
                let (i, j, one) = (f.g.mk(Node::Var(u)), f.g.mk(Node::Var(v)), f.g.lit_usize(1));
                let last = f.g.int(IntOp::Sub, f.n, one);
                let up = f.g.int(IntOp::Sub, last, j);
                let t = f.g.transpose(f.b, &[1, 0]);
                f.g.update(f.a, t, &[u, v], &[up, i])
            },
        ],
        "update.own" => vec![|f| {
            let one = f.g.lit_usize(1);
            let own = f.g.index(f.x, &[one]);
            f.g.update(f.x, own, &[], &[one])
        }],
        "update.add" => vec![
            |f| {
                let one = f.g.lit_usize(1);
                let own = f.g.index(f.x, &[one]);
                let sum = f.g.add(own, f.s);
                f.g.update(f.x, sum, &[], &[one])
            },
            |f| {
                let one = f.g.lit_usize(1);
                let own = f.g.index(f.x, &[one]);
                let sum = f.g.add(f.s, own);
                f.g.update(f.x, sum, &[], &[one])
            },
        ],
        "scatter.sum" => vec![|f| {
            let (u, v) = (f.g.fresh(), f.g.fresh());
            let j = f.g.mk(Node::Var(v));
            f.g.scatter(f.y, f.a, &[u, v], &[j])
        }],
        "update.update" => vec![|f| {
            let one = f.g.lit_usize(1);
            let (row, last) = (f.g.index(f.a, &[one]), f.g.lit_usize(2));
            let other = f.g.index(f.b, &[last]);
            let before = f.g.update(f.a, row, &[], &[last]);
            f.g.update(before, other, &[], &[last])
        }],
        "scatter.update" => vec![
            |f| {
                let (one, zero) = (f.g.lit_usize(1), f.lit(f.s, 0.0));
                let before = f.g.update(f.x, zero, &[], &[one]);
                f.g.scatter(before, f.s, &[], &[one])
            },
            |f| {
                let one = f.g.lit_usize(1);
                let old = f.g.index(f.y, &[one]);
                let before = f.g.update(f.x, old, &[], &[one]);
                f.g.scatter(before, f.s, &[], &[one])
            },
        ],
        "index.update" => vec![
            |f| {
                let one = f.g.lit_usize(1);
                let row = f.g.index(f.b, &[one]);
                let new = f.g.update(f.a, row, &[], &[one]);
                f.g.index(new, &[one, one])
            },
            |f| {
                let (zero, one) = (f.g.lit_usize(0), f.g.lit_usize(1));
                let at = f.g.index(f.ids, &[one]);
                let next = f.g.int(IntOp::Add, at, one);
                let new = f.g.update(f.x, f.s, &[], &[next]);
                let here = f.g.index(new, &[at]);
                let again = f.g.update(f.x, here, &[], &[zero]);
                f.g.index(again, &[one])
            },
        ],
        "scatter.back" => vec![
            |f| {
                let (zero, one, two) = (f.lit(f.x, 0.0), f.g.lit_usize(1), f.g.lit_usize(2));
                let (iota, none, few) = (f.g.iota(f.n), f.g.lit_usize(0), f.g.lit_usize(2));
                let (none, few) = (f.g.broadcast(none, &[f.n]), f.g.broadcast(few, &[f.n]));
                let (first, from) = (f.g.compare(Cmp::Eq, iota, none), f.g.compare(Cmp::Ge, iota, few));
                let (x, y) = (f.g.select(first, zero, f.x), f.g.select(from, f.y, zero));
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                let (back, further) = (f.g.int(IntOp::Sub, i, one), f.g.int(IntOp::Sub, i, two));
                let once = f.g.scatter(f.y, x, &[v], &[back]);
                f.g.scatter(once, y, &[v], &[further])
            },
            |f| {
                let (zero, one) = (f.lit(f.a, 0.0), f.g.lit_usize(1));
                let (iota, none) = (f.g.iota(f.k), f.g.lit_usize(0));
                let none = f.g.broadcast(none, &[f.k]);
                let first = f.g.compare(Cmp::Ne, iota, none);
                let rows = f.g.replicate_axes(first, &[0], &[f.n]);
                let x = f.g.select(rows, f.a, zero);
                let (u, v) = (f.g.fresh(), f.g.fresh());
                let (i, j) = (f.g.mk(Node::Var(u)), f.g.mk(Node::Var(v)));
                let back = f.g.int(IntOp::Sub, j, one);
                f.g.scatter(f.b, x, &[u, v], &[i, back])
            },
        ],
        "scatter.padded" => vec![|f| {
            let (zero, one) = (f.g.lit_usize(0), f.g.lit_usize(1));
            let low = f.g.int(IntOp::Min, one, f.n);
            let len = f.g.int(IntOp::Sub, f.n, low);
            let part = f.g.slice(f.b, &[zero, zero], &[1, 1], &[len, f.k]);
            let padded = f.g.pad(part, &[low, zero], &[1, 1], &[f.n, f.k]);
            let v = f.g.fresh();
            let i = f.g.mk(Node::Var(v));
            let at = f.g.index(f.ids, &[i]);
            f.g.scatter(f.a, padded, &[v], &[at])
        }],
        "scatter.pad" => vec![
            |f| {
                let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
                let blocks = [(f.x, one), (f.y, zero)].map(|(x, start)| {
                    let part = f.g.slice(x, &[zero], &[1], &[two]);
                    f.g.pad(part, &[start], &[1], &[f.k])
                });
                let sum = f.g.add(blocks[0], blocks[1]);
                f.g.scatter(f.a, sum, &[], &[two])
            },
            |f| {
                // There is no part outside of the row.
                let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
                let block = f.g.slice(f.b, &[zero, zero], &[1, 1], &[f.n, two]);
                let block = f.g.pad(block, &[zero, one], &[1, 2], &[f.n, f.k]);
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                let at = f.g.index(f.ids, &[i]);
                f.g.scatter(f.a, block, &[v], &[at])
            },
        ],
        "scatter.row" => vec![
            |f| {
                let one = f.g.lit_usize(1);
                let v = f.g.fresh();
                let j = f.g.mk(Node::Var(v));
                let row = f.g.index(f.b, &[one]);
                f.g.scatter(f.a, row, &[v], &[one, j])
            },
            |f| {
                let (u, v) = (f.g.fresh(), f.g.fresh());
                let (i, j) = (f.g.mk(Node::Var(u)), f.g.mk(Node::Var(v)));
                let at = f.g.int(IntOp::Div, i, f.n);
                let next = f.g.int(IntOp::Add, at, i);
                f.g.update(f.a, f.b, &[u, v], &[next, j])
            },
        ],
        "transpose.scatter"
        | "pad.scatter"
        | "index.added"
        | "index.cleared"
        | "index.scatter"
        | "update.scatter"
        | "pad.pads"
        | "add.exclusive"
        | "add.selects"
        | "scatter.update.between"
        | "update.add.masked"
        | "update.pad" => placed::examples(rule),
        "compare.limit" | "compare.iota" | "reduce.literal" => compared::examples(rule),
        "gather.flat" | "scatter.flat" => flat::examples(rule),
        "mul_zero.constant" | "mul_zero.indicator" | "mul_zero.powers" | "mul_zero.chain" | "mul_zero.same" => {
            masked::examples(rule)
        }
        "mul_zero.scatter" | "scale.scatter" | "sum.scatter" | "scatter.scatter" | "scatter.parts" => {
            scattered::examples(rule)
        }
        "index.apart" => vec![|f| {
            let (zero, one) = (f.g.lit_usize(0), f.g.lit_usize(1));
            let at = f.g.index(f.ids, &[zero]);
            let next = f.g.int(IntOp::Add, at, one);
            let v = f.g.fresh();
            let j = f.g.mk(Node::Var(v));
            let row = f.g.index(f.b, &[one]);
            let new = f.g.update(f.a, row, &[v], &[next, j]);
            f.g.index(new, &[at])
        }],
        "scatter.past" => vec![|f| {
            let (zero, one, two) = (f.g.lit_usize(0), f.g.lit_usize(1), f.g.lit_usize(2));
            let rows = [zero, one, two].map(|k| f.g.index(f.b, &[k]));
            let v = f.g.fresh();
            let j = f.g.mk(Node::Var(v));
            let first = f.g.update(f.a, rows[0], &[v], &[one, j]);
            let other = f.g.update(first, rows[1], &[v], &[two, j]);
            f.g.scatter(other, rows[2], &[v], &[one, j])
        }],
        "add.scatter" => vec![
            |f| {
                let hot = f.one_hot();
                f.g.add(hot, f.x)
            },
            |f| {
                let hot = f.one_hot();
                let one = f.g.lit_usize(1);
                let twice = f.g.scatter(hot, f.s, &[], &[one]);
                f.g.add(f.x, twice)
            },
            |f| {
                let (hot, zeros) = (f.one_hot(), f.g.zeros_like(f.x));
                let one = f.g.lit_usize(1);
                let positive = f.g.lit_like(f.s, 0.0);
                let positive = f.g.compare(ad_core::prim::Cmp::Gt, f.s, positive);
                let element = f.g.scatter(zeros, f.s, &[], &[one]);
                let masked = f.g.cond(positive, element, zeros);
                let _ = hot;
                f.g.add(f.x, masked)
            },
        ],
        "contract.operand.transpose" => vec![|f| {
            let t = f.g.transpose(f.a, &[1, 0]);
            f.g.contract(t, f.b, contraction(&[0, 1], &[1, 2], &[0, 2]))
        }],
        "contract.operand.replicate" => vec![
            |f| {
                let r = f.replicate_rows();
                f.g.contract(r, f.a, contraction(&[0, 1], &[0, 1], &[0]))
            },
            |f| {
                let r = f.g.replicate_axes(f.x, &[0], &[f.k]);
                f.g.contract(f.a, r, contraction(&[0, 1], &[2, 0], &[2, 1]))
            },
        ],
        "contract.result.transpose" => vec![|f| {
            let r = f.g.contract(f.a, f.b, contraction(&[0, 1], &[2, 1], &[0, 2]));
            f.g.transpose(r, &[1, 0])
        }],
        "contract.outer" => vec![|f| f.g.contract(f.x, f.a, contraction(&[0], &[1, 2], &[1, 0, 2]))],
        "sum.contract" => vec![
            |f| {
                let r = f.g.contract(f.a, f.b, contraction(&[0, 1], &[0, 1], &[0]));
                f.g.sum_axes(r, &[0])
            },
            |f| {
                let (a, b) = (f.g.replicate(f.k, f.a), f.b);
                let r = f.g.contract(a, b, contraction(&[2, 0, 1], &[0, 1], &[2, 0]));
                f.g.sum_axes(r, &[0, 1])
            },
        ],
        "sum.product" => vec![
            |f| {
                let (p, q) = (f.g.replicate(f.n, f.a), f.g.replicate_axes(f.b, &[1], &[f.n]));
                let r = f.g.mul(p, q);
                f.g.sum_axes(r, &[2])
            },
            |f| {
                let (p, q) = (f.g.replicate(f.n, f.a), f.g.replicate_axes(f.x, &[1, 2], &[f.n, f.k]));
                let r = f.g.mul(p, q);
                f.g.sum_axes(r, &[0, 2])
            },
        ],
        _ => vec![],
    }
}

fn check(f: &Fixture, rule: &Rule, before: Term, after: Term) {
    let name = rule.name;
    assert_eq!(f.g.ty(before), f.g.ty(after), "{name} changes the type");
    valid::validate(&f.g, &[after]).unwrap_or_else(|e| panic!("{name} makes an invalid term: {e:?}"));
    let inputs = Fixture::inputs();
    let mut interp = Interp::new(&f.g, &inputs);
    let values = interp.eval_all(&[before, after]).unwrap_or_else(|e| panic!("{name}: {e}"));
    for (p, q) in values[0].duals().iter().zip(values[1].duals()) {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        match rule.exactness {
            Exactness::Exact => assert_eq!(p.v.to_bits(), q.v.to_bits(), "{name}: {} became {}", p.v, q.v),
            Exactness::Loose => assert!(close(p.v, q.v), "{name}: {} became {}", p.v, q.v),
        }
        assert!(close(p.d, q.d), "{name}: tangent {} became {}", p.d, q.d);
    }
}

#[test]
fn every_rule_fires_and_keeps_type_value_and_tangent() {
    for rule in tables().into_iter().flatten() {
        let examples = examples(rule.name);
        assert!(!examples.is_empty(), "the rule {} has no example", rule.name);
        for (k, example) in examples.into_iter().enumerate() {
            let mut f = Fixture::new();
            let before = example(&mut f);
            let after = (rule.apply)(&mut f.g, before);
            let after = after.unwrap_or_else(|| panic!("{} does not fire on its example {k}", rule.name));
            assert_ne!(before, after, "{} does nothing on its example {k}", rule.name);
            check(&f, rule, before, after);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = tables().into_iter().flatten().map(|r| r.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn no_rule_makes_a_number_of_a_nan_or_an_infinity() {
    let mut f = Fixture::new();
    let zero = f.lit(f.x, 0.0);
    let nan = f.lit(f.x, f64::NAN);
    let product = f.g.mul(f.x, zero);
    let difference = f.g.sub(f.x, f.x);
    let quotient = f.g.div(f.x, f.x);
    for t in [product, difference, quotient] {
        assert_eq!(simplify(&mut f.g, &[t]), vec![t], "0 * x, x - x and x / x stay");
    }
    let folded = f.g.mul(nan, zero);
    let folded = simplify(&mut f.g, &[folded])[0];
    let inputs = Fixture::inputs();
    let value = Interp::new(&f.g, &inputs).eval(folded).unwrap();
    assert!(value.values().iter().all(|x| x.is_nan()));
}

#[test]
fn loose_rules_leave_decisions_alone() {
    let mut f = Fixture::new();
    let (p, q) = (f.g.replicate(f.n, f.a), f.g.replicate_axes(f.b, &[1], &[f.n]));
    let r = f.g.mul(p, q);
    let s = f.g.sum_axes(r, &[2]);
    let free = simplify(&mut f.g, &[s])[0];
    assert!(matches!(f.g.node(free), Node::Prim(Prim::Contract(_), _)));
    let place = f.g.reduce(Reduce::ArgMax, 2, s);
    assert_eq!(simplify(&mut f.g, &[place]), vec![place]);
}

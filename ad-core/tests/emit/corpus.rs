//! The programs. Each tests the feature in its name.

use ad_core::ir::{Contraction, Elem, IntTy, Node, RealTy, Term};
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary};
use ad_oracle::interp::Data;

use super::support::{Case, F64, USIZE, array_of, ints, reals, scalar};

fn spec(a: &[u8], b: &[u8], out: &[u8]) -> Contraction {
    Contraction::new(a, b, out)
}

/// All programs.
pub(crate) fn all() -> Vec<Case> {
    vec![
        scalars(),
        dot(),
        elementwise(),
        waves(),
        logistic(),
        rosenbrock(),
        rosenbrock_gathers(),
        logsumexp(),
        softmax_cross_entropy(),
        gathered(),
        scattered(),
        scattered_by_rows(),
        updated(),
        lazy_scalar(),
        lazy_arrays(),
        nested_conditions(),
        axis_sums(),
        layouts(),
        matrix_products(),
        batched(),
        reductions(),
        masks(),
        stacks(),
        shifted_chain(),
        integer_arithmetic(),
        slices_of_parameters(),
        broadcast_reuse(),
        triangular(),
        rank_three(),
        real_types("single", RealTy::F32),
        real_types("generic", RealTy::Param),
        exact_decisions(),
        awkward_names(),
    ]
}

/// `steps` statements on scalars, as in long straight-line functions.
pub(crate) fn straight_line(steps: usize) -> Case {
    let mut c = Case::new("straight_line");
    let x = c.input("x", F64, 0);
    let y = c.input("y", F64, 0);
    let (mut a, mut b) = (x, y);
    for k in 0..steps {
        let s = c.g.lit_like(x, 1.0 + k as f64);
        let t = c.g.mul(a, b);
        let t = c.g.add(t, s);
        let t = if k % 7 == 0 { c.g.unary(Unary::Sin, t) } else { c.g.sub(t, a) };
        if k % 50 == 0 {
            let positive = c.g.compare(Cmp::Gt, t, s);
            let e = c.g.unary(Unary::Exp, b);
            let t = c.g.cond(positive, e, t);
            (a, b) = (b, t);
            continue;
        }
        (a, b) = (b, t);
    }
    c.result(b);
    c.with_gradients(&[0, 1]);
    c
}

fn scalars() -> Case {
    let mut c = Case::new("scalars");
    let x = c.input("x", F64, 0);
    let y = c.input("y", F64, 0);
    let s = c.g.unary(Unary::Sin, x);
    let p = c.g.mul(s, y);
    let two = c.g.lit_like(x, 2.0);
    let q = c.g.binary(Binary::Pow, y, two);
    let h = c.g.lit_like(x, -0.5);
    let e = c.g.unary(Unary::Exp, h);
    let q = c.g.mul(q, e);
    let r = c.g.sub(p, q);
    let r = c.g.neg(r);
    c.hint(p, "product");
    c.result(r);
    c.with_gradients(&[0, 1]);
    c.simplified();
    c.run(vec![scalar(0.3), scalar(1.7)]);
    c
}

pub(crate) fn dot() -> Case {
    let mut c = Case::new("dot");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let y = c.input_like("y", F64, &[n]);
    let p = c.g.mul(x, y);
    let s = c.g.sum_all(p);
    c.hint(s, "total");
    c.result(s);
    c.with_gradients(&[0, 1]);
    c.simplified();
    for n in [0, 1, 5, 16, 37] {
        c.run(vec![reals(&[n], 1), reals(&[n], 2)]);
    }
    c
}

fn elementwise() -> Case {
    let mut c = Case::new("elementwise");
    let x = c.input("x", F64, 2);
    let shape = c.g.shape(x).to_vec();
    let b = c.input("b", F64, 0);
    let e = c.g.unary(Unary::Tanh, x);
    let bb = c.g.broadcast(b, &shape);
    let r = c.g.mul(e, bb);
    let r = c.g.add(r, x);
    c.result(r);
    let s = c.g.sum_all(r);
    c.result(s);
    for (n, m) in [(0, 3), (3, 0), (2, 3), (5, 7)] {
        c.run(vec![reals(&[n, m], 1), scalar(0.7)]);
    }
    c
}

/// Functions that are computed for a block at once: functions of each other, several functions in
/// one loop, in a branch, of the index, and of arguments outside of the fast range.
fn waves() -> Case {
    let mut c = Case::new("waves");
    let x = c.input("x", F64, 1);
    let b = c.input("b", F64, 0);
    let shape = c.g.shape(x).to_vec();
    let bb = c.g.broadcast(b, &shape);
    let a = c.g.mul(x, bb);
    let (sin, cos) = (c.g.unary(Unary::Sin, a), c.g.unary(Unary::Cos, a));
    let inner = c.g.add(sin, x);
    let nested = c.g.unary(Unary::Cos, inner);
    let e = c.g.unary(Unary::Exp, sin);
    let of_function = c.g.unary(Unary::Sin, e);
    let count = c.g.iota(shape[0]);
    let index = c.g.cast(F64, count);
    let of_index = c.g.unary(Unary::Sin, index);
    let zero = c.g.lit_like(x, 0.0);
    let positive = c.g.compare(Cmp::Gt, x, zero);
    let above = c.g.unary(Unary::Sin, x);
    let armed = c.g.select(positive, above, x);
    let mut r = c.g.mul(cos, nested);
    for t in [of_function, of_index, armed] {
        r = c.g.add(r, t);
    }
    c.result(r);
    let s = c.g.sum_all(r);
    c.result(s);
    // A single sum, in lanes.
    let p = c.g.mul(of_index, sin);
    let s = c.g.sum_all(p);
    c.result(s);
    for (n, b) in [(0, 0.7), (3, 0.7), (8, 0.7), (37, 0.7), (64, 1e3), (40, 1e18)] {
        c.run(vec![reals(&[n], 1), scalar(b)]);
    }
    c
}

pub(crate) fn logistic() -> Case {
    let mut c = Case::new("logistic");
    let w = c.input("w", F64, 1);
    let d = c.g.shape(w)[0];
    let x = c.input("x", F64, 2);
    // The number of columns of x equals the number of elements of w. Typing unites the two sizes.
    let n = c.g.shape(x)[0];
    let x = c.g.recast(x, &[n, d]);
    let y = c.input_like("y", F64, &[n]);
    let z = c.g.contract(x, w, spec(&[0, 1], &[1], &[0]));
    c.hint(z, "z");
    let p = c.g.unary(Unary::Softplus, z);
    let yz = c.g.mul(y, z);
    let l = c.g.sub(p, yz);
    let s = c.g.sum_all(l);
    let nf = c.g.cast(F64, n);
    let mean = c.g.div(s, nf);
    c.hint(mean, "loss");
    c.result(mean);
    c.with_gradients(&[0]);
    c.simplified();
    for (n, d) in [(1, 1), (5, 3), (40, 20)] {
        c.run(vec![reals(&[d], 1), reals(&[n, d], 2), reals(&[n], 3)]);
    }
    c
}

pub(crate) fn rosenbrock() -> Case {
    let mut c = Case::new("rosenbrock");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let (zero, one) = (c.g.lit_usize(0), c.g.lit_usize(1));
    let m = c.g.int(IntOp::Sub, n, one);
    let a = c.g.slice(x, &[zero], &[1], &[m]);
    let b = c.g.slice(x, &[one], &[1], &[m]);
    rosenbrock_of(&mut c, a, b);
    c
}

pub(crate) fn rosenbrock_gathers() -> Case {
    let mut c = Case::new("rosenbrock_gathers");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let one = c.g.lit_usize(1);
    let m = c.g.int(IntOp::Sub, n, one);
    let i = c.g.fresh();
    let v = c.g.mk(Node::Var(i));
    let a = c.g.gather(x, [m].into(), &[i], &[v]);
    let next = c.g.int(IntOp::Add, v, one);
    let b = c.g.gather(x, [m].into(), &[i], &[next]);
    rosenbrock_of(&mut c, a, b);
    c
}

fn rosenbrock_of(c: &mut Case, a: Term, b: Term) {
    let aa = c.g.mul(a, a);
    let d = c.g.sub(b, aa);
    let d2 = c.g.mul(d, d);
    let hundred = c.g.lit_like(a, 100.0);
    let t = c.g.mul(hundred, d2);
    let one = c.g.lit_like(a, 1.0);
    let e = c.g.sub(one, a);
    let e2 = c.g.mul(e, e);
    let l = c.g.add(t, e2);
    let s = c.g.sum_all(l);
    c.hint(s, "loss");
    c.result(s);
    c.with_gradients(&[0]);
    c.simplified();
    for n in [0, 1, 2, 3, 18, 50] {
        c.run(vec![reals(&[n], 1)]);
    }
}

pub(crate) fn logsumexp() -> Case {
    let mut c = Case::new("logsumexp");
    let x = c.input("x", F64, 1);
    let shape = c.g.shape(x).to_vec();
    let m = c.g.reduce(Reduce::Max, 1, x);
    c.hint(m, "max");
    let m = c.g.prim(Prim::StopGradient, &[m]);
    let mb = c.g.broadcast(m, &shape);
    let d = c.g.sub(x, mb);
    let e = c.g.unary(Unary::Exp, d);
    let s = c.g.sum_all(e);
    let l = c.g.unary(Unary::Ln, s);
    let r = c.g.add(m, l);
    c.result(r);
    c.with_gradients(&[0]);
    c.simplified();
    for n in [1, 2, 17, 40] {
        c.run(vec![reals(&[n], 1)]);
    }
    c
}

fn softmax_cross_entropy() -> Case {
    let mut c = Case::new("softmax_cross_entropy");
    let w = c.input("w", F64, 2);
    let (d, k) = (c.g.shape(w)[0], c.g.shape(w)[1]);
    let b = c.input_like("b", F64, &[k]);
    let x = c.input("x", F64, 2);
    let n = c.g.shape(x)[0];
    let x = c.g.recast(x, &[n, d]);
    let labels = c.input_like("labels", USIZE, &[n]);
    let z = c.g.contract(x, w, spec(&[0, 1], &[1, 2], &[0, 2]));
    let bb = c.g.broadcast(b, &[n, k]);
    let z = c.g.add(z, bb);
    let h = c.g.unary(Unary::Tanh, z);
    c.hint(h, "h");
    let m = c.g.reduce(Reduce::Max, 1, h);
    let m = c.g.prim(Prim::StopGradient, &[m]);
    let mb = c.g.replicate_axes(m, &[1], &[k]);
    let s = c.g.sub(h, mb);
    let e = c.g.unary(Unary::Exp, s);
    let t = c.g.sum_axes(e, &[1]);
    let l = c.g.unary(Unary::Ln, t);
    let i = c.g.fresh();
    let vi = c.g.mk(Node::Var(i));
    let label = c.g.index(labels, &[vi]);
    let picked = c.g.gather(s, [n].into(), &[i], &[vi, label]);
    let l = c.g.sub(l, picked);
    let r = c.g.sum_all(l);
    c.result(r);
    c.with_gradients(&[0, 1]);
    c.simplified();
    c.run(vec![reals(&[4, 3], 1), reals(&[3], 2), reals(&[5, 4], 3), ints(&[0, 2, 1, 1, 0])]);
    c.run(vec![reals(&[1, 1], 1), reals(&[1], 2), reals(&[1, 1], 3), ints(&[0])]);
    c
}

fn gathered() -> Case {
    let mut c = Case::new("gathered");
    let x = c.input("x", F64, 2);
    let m = c.g.shape(x)[1];
    let idx = c.input("idx", USIZE, 1);
    let n = c.g.shape(idx)[0];
    let i = c.g.fresh();
    let vi = c.g.mk(Node::Var(i));
    let at = c.g.index(idx, &[vi]);
    let rows = c.g.gather(x, [n].into(), &[i], &[at]);
    let e = c.g.unary(Unary::Sin, rows);
    let q = c.g.mul(e, rows);
    let s = c.g.sum_all(q);
    let rows_max = c.g.shape(x)[0];
    let nb = c.g.broadcast(rows_max, &[n]);
    let ok = c.g.compare(Cmp::Lt, idx, nb);
    let ok = c.g.reduce(Reduce::All, 1, ok);
    c.check(ok, "index out of range", &[("rows", rows_max), ("columns", m)]);
    c.result(s);
    c.with_gradients(&[0]);
    c.simplified();
    c.run(vec![reals(&[4, 3], 1), ints(&[3, 0, 0, 2, 3])]);
    c.run(vec![reals(&[4, 3], 1), ints(&[])]);
    c
}

fn scattered() -> Case {
    let mut c = Case::new("scattered");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let idx = c.input_like("idx", USIZE, &[n]);
    let acc = c.input("acc", F64, 1);
    let i = c.g.fresh();
    let vi = c.g.mk(Node::Var(i));
    let at = c.g.index(idx, &[vi]);
    // An index may be out of range. The value is dropped then.
    let s = c.g.scatter(acc, x, &[i], &[at]);
    let j = c.g.fresh();
    let vj = c.g.mk(Node::Var(j));
    let three = c.g.lit_usize(3);
    let r = c.g.int(IntOp::Rem, vj, three);
    let s2 = c.g.scatter(s, x, &[j], &[r]);
    c.result(s2);
    let one = c.g.lit_usize(1);
    let v = c.g.index(x, &[one]);
    let hot = c.g.scatter(s2, v, &[], &[three]);
    c.result(hot);
    c.run(vec![reals(&[5], 1), ints(&[3, 0, 9, 3, 1]), reals(&[4], 2)]);
    c.run(vec![reals(&[5], 1), ints(&[3, 0, 9, 3, 1]), reals(&[0], 2)]);
    c
}

/// Rows at indices from an array. Each index is tested once, and the row may be longer or shorter
/// than the added value.
fn scattered_by_rows() -> Case {
    let mut c = Case::new("scattered_by_rows");
    let x = c.input("x", F64, 2);
    let n = c.g.shape(x)[0];
    let idx = c.input_like("idx", USIZE, &[n]);
    let acc = c.input("acc", F64, 2);
    let like = c.input("like", F64, 2);
    let rows = c.g.shape(x).to_vec();
    let [i, j] = [c.g.fresh(), c.g.fresh()];
    let (vi, vj) = (c.g.mk(Node::Var(i)), c.g.mk(Node::Var(j)));
    let at = c.g.index(idx, &[vi]);
    let from = c.g.gather(like, rows.into(), &[i, j], &[at, vj]);
    let values = c.g.mul(x, from);
    let [i, j] = [c.g.fresh(), c.g.fresh()];
    let (vi, vj) = (c.g.mk(Node::Var(i)), c.g.mk(Node::Var(j)));
    let at = c.g.index(idx, &[vi]);
    let sum = c.g.scatter(acc, values, &[i, j], &[at, vj]);
    c.result(sum);
    c.run(vec![reals(&[5, 3], 1), ints(&[3, 0, 9, 3, 1]), reals(&[4, 3], 2), reals(&[4, 3], 3)]);
    c.run(vec![reals(&[5, 3], 1), ints(&[3, 0, 9, 3, 1]), reals(&[4, 2], 2), reals(&[9, 5], 3)]);
    c.run(vec![reals(&[5, 2], 1), ints(&[3, 0, 9, 3, 1]), reals(&[4, 7], 2), reals(&[4, 2], 3)]);
    c.run(vec![reals(&[5, 0], 1), ints(&[3, 0, 9, 3, 1]), reals(&[4, 0], 2), reals(&[4, 0], 3)]);
    c.run(vec![reals(&[0, 3], 1), ints(&[]), reals(&[2, 1], 2), reals(&[2, 3], 3)]);
    c
}

fn updated() -> Case {
    let mut c = Case::new("updated");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let m = c.input("m", F64, 2);
    let columns = c.g.shape(m)[1];
    let row = c.input_like("row", F64, &[columns]);
    let flags = c.input_like("flags", USIZE, &[n]);
    let (one, two) = (c.g.lit_usize(1), c.g.lit_usize(2));
    // The sum starts at the last element.
    let i = c.g.fresh();
    let vi = c.g.mk(Node::Var(i));
    let last = c.g.int(IntOp::Sub, n, one);
    let at = c.g.int(IntOp::Sub, last, vi);
    let e = c.g.unary(Unary::Exp, x);
    let y = c.g.update(x, e, &[i], &[at]);
    c.result(y);
    let y = c.g.update(m, row, &[], &[one]);
    let first = c.g.index(row, &[one]);
    let y = c.g.update(y, first, &[], &[two, one]);
    c.result(y);
    let k = c.g.index(flags, &[one]);
    let y = c.g.update(flags, k, &[], &[two]);
    c.result(y);
    c.with_gradients(&[0, 1, 2]);
    c.run(vec![reals(&[5], 1), reals(&[3, 4], 2), reals(&[4], 3), ints(&[3, 0, 9, 3, 1])]);
    c
}

fn lazy_scalar() -> Case {
    let mut c = Case::new("lazy_scalar");
    let x = c.input("x", F64, 0);
    let y = c.input("y", F64, 1);
    let zero = c.g.lit_like(x, 0.0);
    let positive = c.g.compare(Cmp::Gt, x, zero);
    c.hint(positive, "positive");
    let l = c.g.unary(Unary::Ln, x);
    let s = c.g.sum_all(y);
    let a = c.g.mul(l, s);
    let e = c.g.unary(Unary::Exp, x);
    let r = c.g.cond(positive, a, e);
    c.result(r);
    c.with_gradients(&[0, 1]);
    c.simplified();
    for x in [2.0, 0.0, -1.5] {
        c.run(vec![scalar(x), reals(&[5], 1)]);
    }
    c
}

fn lazy_arrays() -> Case {
    let mut c = Case::new("lazy_arrays");
    let s = c.input("s", F64, 0);
    let x = c.input("x", F64, 2);
    let w = c.input("w", F64, 2);
    let (n, k) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let w = c.g.recast(w, &[k, k]);
    let zero = c.g.lit_like(s, 0.0);
    let up = c.g.compare(Cmp::Gt, s, zero);
    let p = c.g.contract(x, w, spec(&[0, 1], &[1, 2], &[0, 2]));
    let e = c.g.unary(Unary::Exp, x);
    let y = c.g.cond(up, p, e);
    let z = c.g.cond(up, x, y);
    let q = c.g.mul(y, z);
    let r = c.g.sum_all(q);
    c.result(r);
    c.result(y);
    c.with_gradients(&[1, 2]);
    c.simplified();
    let _ = n;
    for s in [1.0, -1.0] {
        c.run(vec![scalar(s), reals(&[3, 4], 1), reals(&[4, 4], 2)]);
    }
    c
}

fn nested_conditions() -> Case {
    let mut c = Case::new("nested_conditions");
    let x = c.input("x", F64, 0);
    let y = c.input("y", F64, 0);
    let (zero, one) = (c.g.lit_like(x, 0.0), c.g.lit_like(x, 1.0));
    let a = c.g.compare(Cmp::Gt, x, zero);
    let root = c.g.unary(Unary::Sqrt, x);
    let b = c.g.compare(Cmp::Lt, root, one);
    let inner = c.g.mul(root, y);
    let inner = c.g.unary(Unary::Sin, inner);
    let deep = c.g.cond(b, inner, root);
    let r = c.g.cond(a, deep, y);
    c.result(r);
    c.with_gradients(&[0, 1]);
    c.simplified();
    for (x, y) in [(0.5, 0.3), (4.0, 0.3), (-1.0, 2.0)] {
        c.run(vec![scalar(x), scalar(y)]);
    }
    c
}

fn axis_sums() -> Case {
    let mut c = Case::new("axis_sums");
    let x = c.input("x", F64, 3);
    let e = c.g.unary(Unary::Exp, x);
    for axes in [&[0_u8][..], &[1], &[2], &[0, 2], &[0, 1], &[1, 2], &[0, 1, 2]] {
        let s = c.g.sum_axes(e, axes);
        c.result(s);
    }
    for shape in [[2, 3, 4], [3, 1, 20], [2, 0, 3], [0, 2, 2]] {
        c.run(vec![reals(&shape, 1)]);
    }
    c
}

fn layouts() -> Case {
    let mut c = Case::new("layouts");
    let x = c.input("x", F64, 2);
    let (n, m) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let t = c.g.transpose(x, &[1, 0]);
    let two = c.g.lit_like(t, 2.0);
    let t2 = c.g.mul(t, two);
    c.result(t2);
    let nm = c.g.int(IntOp::Mul, n, m);
    let flat = c.g.reshape(x, &[nm]);
    let e = c.g.unary(Unary::Abs, flat);
    c.result(e);
    let tflat = c.g.reshape(t, &[nm]);
    let d = c.g.sub(tflat, flat);
    c.result(d);
    let (zero, one, three) = (c.g.lit_usize(0), c.g.lit_usize(1), c.g.lit_usize(3));
    let last = c.g.int(IntOp::Sub, n, one);
    let reversed = c.g.slice(x, &[last, zero], &[-1, 1], &[n, m]);
    c.result(reversed);
    let seven = c.g.lit_usize(7);
    let nine = c.g.lit_usize(9);
    let line = c.g.slice(flat, &[one], &[2], &[three]);
    let padded = c.g.pad(line, &[one], &[3], &[nine]);
    c.result(padded);
    let back = c.g.pad(line, &[seven], &[-2], &[nine]);
    c.result(back);
    let iota = c.g.iota(nine);
    let real = c.g.cast(F64, iota);
    let r = c.g.add(real, padded);
    c.result(r);
    c.run(vec![reals(&[3, 4], 1)]);
    c
}

fn matrix_products() -> Case {
    let mut c = Case::new("matrix_products");
    let a = c.input("a", F64, 2);
    let (m, k) = (c.g.shape(a)[0], c.g.shape(a)[1]);
    let b = c.input("b", F64, 2);
    let n = c.g.shape(b)[1];
    let b = c.g.recast(b, &[k, n]);
    let v = c.input_like("v", F64, &[k]);
    let u = c.input_like("u", F64, &[m]);
    for (x, y, s) in [
        (a, b, spec(&[0, 1], &[1, 2], &[0, 2])),
        (a, b, spec(&[0, 1], &[1, 2], &[2, 0])),
        (a, v, spec(&[0, 1], &[1], &[0])),
        (u, a, spec(&[0], &[0, 1], &[1])),
        (v, b, spec(&[1], &[1, 2], &[2])),
        (v, v, spec(&[1], &[1], &[])),
        (u, v, spec(&[0], &[1], &[0, 1])),
        (a, u, spec(&[0, 1], &[0], &[0, 1])),
        (a, a, spec(&[0, 1], &[0, 1], &[])),
        (a, a, spec(&[0, 1], &[0, 1], &[0])),
    ] {
        let p = c.g.contract(x, y, s);
        c.result(p);
    }
    let at = c.g.transpose(a, &[1, 0]);
    let gram = c.g.contract(at, a, spec(&[1, 0], &[0, 2], &[1, 2]));
    c.result(gram);
    let e = c.g.unary(Unary::Exp, at);
    let p = c.g.contract(e, b, spec(&[1, 0], &[1, 2], &[0, 2]));
    c.result(p);
    for (m, k, n) in [(3, 4, 2), (1, 1, 1), (0, 2, 3), (9, 20, 17)] {
        c.run(vec![reals(&[m, k], 1), reals(&[k, n], 2), reals(&[k], 3), reals(&[m], 4)]);
    }
    c
}

fn batched() -> Case {
    let mut c = Case::new("batched");
    let a = c.input("a", F64, 3);
    let (p, m, k) = (c.g.shape(a)[0], c.g.shape(a)[1], c.g.shape(a)[2]);
    let b = c.input("b", F64, 3);
    let n = c.g.shape(b)[2];
    let b = c.g.recast(b, &[p, k, n]);
    let x = c.g.contract(a, b, spec(&[0, 1, 2], &[0, 2, 3], &[0, 1, 3]));
    c.result(x);
    let y = c.g.contract(a, b, spec(&[0, 1, 2], &[0, 2, 3], &[1, 3]));
    c.result(y);
    let z = c.g.contract(a, b, spec(&[0, 1, 2], &[0, 2, 3], &[1, 0, 3]));
    c.result(z);
    let w = c.g.contract(a, a, spec(&[0, 1, 2], &[0, 1, 2], &[0, 1]));
    c.result(w);
    let _ = m;
    c.run(vec![reals(&[2, 3, 4], 1), reals(&[2, 4, 5], 2)]);
    c.run(vec![reals(&[2, 0, 4], 1), reals(&[2, 4, 1], 2)]);
    c
}

fn reductions() -> Case {
    let mut c = Case::new("reductions");
    let x = c.input("x", F64, 2);
    let k = c.input("k", Elem::Int(IntTy::I32), 1);
    for op in [Reduce::Max, Reduce::Min, Reduce::ArgMax, Reduce::ArgMin] {
        for rank in [1, 2] {
            let r = c.g.reduce(op, rank, x);
            c.result(r);
        }
        let r = c.g.reduce(op, 1, k);
        c.result(r);
    }
    for descending in [false, true] {
        let (one, two) = (c.g.lit_usize(1), c.g.lit_usize(2));
        let lens = c.g.replicate(one, two);
        let r = c.g.prim(Prim::Argsort(descending), &[lens, k]);
        c.result(r);
    }
    let s = c.g.sum_all(k);
    c.result(s);
    let zero = c.g.lit_like(x, 0.5);
    let big = c.g.compare(Cmp::Gt, x, zero);
    let all = c.g.reduce(Reduce::All, 2, big);
    c.result(all);
    let any = c.g.reduce(Reduce::Any, 2, big);
    c.result(any);
    let data = Data::Int(vec![3, -7, 3]);
    let int = array_of(Elem::Int(IntTy::I32), &[3], data);
    c.run(vec![reals(&[3, 4], 1), int.clone()]);
    c.run(vec![reals(&[2, 19], 1), int]);
    c
}

fn masks() -> Case {
    let mut c = Case::new("masks");
    let x = c.input("x", F64, 1);
    let zero = c.g.lit_like(x, 0.0);
    let positive = c.g.compare(Cmp::Gt, x, zero);
    let l = c.g.unary(Unary::Ln, x);
    let q = c.g.mul(l, x);
    let e = c.g.unary(Unary::Exp, x);
    let s = c.g.select(positive, q, e);
    let r = c.g.sum_all(s);
    c.result(r);
    c.with_gradients(&[0]);
    c.simplified();
    c.run(vec![reals(&[21], 1)]);
    c
}

fn stacks() -> Case {
    let mut c = Case::new("stacks");
    let x = c.input("x", F64, 1);
    let a = c.input("a", F64, 0);
    let e = c.g.unary(Unary::Exp, x);
    let s = c.g.stack(&[x, e, x]);
    c.result(s);
    let b = c.g.mul(a, a);
    let v = c.g.stack(&[a, b, a]);
    c.result(v);
    let q = c.g.unary(Unary::Sin, v);
    let t = c.g.sum_all(q);
    c.result(t);
    c.run(vec![reals(&[4], 1), scalar(0.6)]);
    c
}

/// Each step reads the previous one at two indices. Without sharing, an element would take 2^14
/// operations.
fn shifted_chain() -> Case {
    let mut c = Case::new("shifted_chain");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let one = c.g.lit_usize(1);
    let mut y = x;
    for _ in 0..14 {
        let i = c.g.fresh();
        let v = c.g.mk(Node::Var(i));
        let next = c.g.int(IntOp::Add, v, one);
        let next = c.g.int(IntOp::Rem, next, n);
        let z = c.g.gather(y, [n].into(), &[i], &[next]);
        let p = c.g.mul(y, z);
        y = c.g.unary(Unary::Sin, p);
    }
    c.result(y);
    c.run(vec![reals(&[5], 1)]);
    c
}

fn integer_arithmetic() -> Case {
    let mut c = Case::new("integer_arithmetic");
    let a = c.input("a", Elem::Int(IntTy::I32), 0);
    let b = c.input("b", Elem::Int(IntTy::I32), 0);
    for op in [IntOp::Add, IntOp::Sub, IntOp::Mul, IntOp::Div, IntOp::Rem, IntOp::Min, IntOp::Max] {
        let r = c.g.int(op, a, b);
        c.result(r);
    }
    let n = c.g.prim(Prim::IntNeg, &[a]);
    c.result(n);
    let three = c.g.lit(ad_core::ir::Lit::Int(IntTy::I32, 3));
    let r = c.g.int(IntOp::Rem, a, three);
    let f = c.g.cast(F64, r);
    let big = c.g.compare(Cmp::Lt, a, b);
    let not = c.g.not(big);
    let small = c.g.compare(Cmp::Ne, a, three);
    let both = c.g.and(not, small);
    c.result(both);
    c.result(f);
    let p = c.g.prim(Prim::PowI, &[f, three]);
    c.result(p);
    let int = |x: i128| array_of(Elem::Int(IntTy::I32), &[], Data::Int(vec![x]));
    for (x, y) in [(7, 3), (-7, 3), (2_147_483_647, 5), (4, 0), (-2_147_483_648, -1)] {
        c.run(vec![int(x), int(y)]);
    }
    c
}

fn slices_of_parameters() -> Case {
    use ad_core::program::Container;
    let mut c = Case::new("slices_of_parameters");
    let x = c.input_as("x", F64, 1, Container::Slice);
    let s = c.input_as("s", F64, 0, Container::ScalarRef);
    let unused = c.input("unused", F64, 2);
    let _ = unused;
    let shape = c.g.shape(x).to_vec();
    let sb = c.g.broadcast(s, &shape);
    let p = c.g.mul(x, sb);
    let e = c.g.unary(Unary::Cos, p);
    let r = c.g.sum_all(e);
    c.result(r);
    c.with_gradients(&[0, 1]);
    c.simplified();
    c.run(vec![reals(&[5], 1), scalar(0.4), reals(&[1, 1], 1)]);
    c
}

/// exp(b_j) is read for each i. It is stored, since it would be computed n times otherwise.
fn broadcast_reuse() -> Case {
    let mut c = Case::new("broadcast_reuse");
    let x = c.input("x", F64, 2);
    let (n, m) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let b = c.input_like("b", F64, &[m]);
    let a = c.input_like("a", F64, &[n]);
    let e = c.g.unary(Unary::Exp, b);
    let eb = c.g.broadcast(e, &[n, m]);
    let f = c.g.unary(Unary::Sin, a);
    let fb = c.g.replicate_axes(f, &[1], &[m]);
    let p = c.g.mul(x, eb);
    let p = c.g.mul(p, fb);
    let s = c.g.sum_all(p);
    c.result(s);
    c.with_gradients(&[0, 1, 2]);
    c.simplified();
    c.run(vec![reals(&[3, 18], 1), reals(&[18], 2), reals(&[3], 3)]);
    c
}

/// A guarded index: element (i, j) reads x[i - j] where j <= i.
fn triangular() -> Case {
    let mut c = Case::new("triangular");
    let x = c.input("x", F64, 1);
    let n = c.g.shape(x)[0];
    let (i, j) = (c.g.fresh(), c.g.fresh());
    let (vi, vj) = (c.g.mk(Node::Var(i)), c.g.mk(Node::Var(j)));
    let d = c.g.int(IntOp::Sub, vi, vj);
    let t = c.g.gather(x, [n, n].into(), &[i, j], &[d]);
    let iota = c.g.iota(n);
    let rows = c.g.replicate_axes(iota, &[1], &[n]);
    let columns = c.g.replicate_axes(iota, &[0], &[n]);
    let lower = c.g.compare(Cmp::Le, columns, rows);
    let zero = c.g.lit_like(t, 0.0);
    let e = c.g.unary(Unary::Exp, t);
    let m = c.g.select(lower, e, zero);
    c.result(m);
    let s = c.g.sum_axes(m, &[0]);
    c.result(s);
    c.run(vec![reals(&[6], 1)]);
    c
}

fn rank_three() -> Case {
    let mut c = Case::new("rank_three");
    let x = c.input("x", F64, 3);
    let t = c.g.transpose(x, &[2, 0, 1]);
    let e = c.g.unary(Unary::Tanh, t);
    let s = c.g.sum_axes(e, &[1]);
    let q = c.g.mul(s, s);
    let r = c.g.sum_all(q);
    c.result(r);
    c.with_gradients(&[0]);
    c.simplified();
    c.run(vec![reals(&[2, 3, 4], 1)]);
    c
}

/// Every operation in a real type other than `f64`.
fn real_types(name: &'static str, ty: RealTy) -> Case {
    let elem = Elem::Real(ty);
    let mut c = Case::new(name);
    if ty == RealTy::Param {
        c.generics = quote::quote!(<T: crate::ad::runtime::Real>);
    }
    let x = c.input("x", elem, 2);
    let (n, m) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let b = c.input("b", elem, 0);
    let idx = c.input_like("idx", USIZE, &[n]);
    let bb = c.g.broadcast(b, &[n, m]);
    let h = c.g.lit_like(x, 0.1);
    let z = c.g.mul(x, bb);
    let z = c.g.add(z, h);
    let e = c.g.unary(Unary::Exp, z);
    let sin = c.g.unary(Unary::Sin, z);
    let e = c.g.add(e, sin);
    let q = c.g.binary(Binary::Max, e, x);
    let i = c.g.fresh();
    let vi = c.g.mk(Node::Var(i));
    let at = c.g.index(idx, &[vi]);
    let picked = c.g.gather(q, [n].into(), &[i], &[vi, at]);
    let s = c.g.sum_all(picked);
    let rows = c.g.sum_axes(q, &[1]);
    let gram = c.g.contract(q, rows, spec(&[0, 1], &[0], &[1]));
    let t = c.g.sum_all(gram);
    let nf = c.g.cast(elem, n);
    let r = c.g.div(t, nf);
    let r = c.g.add(r, s);
    let zero = c.g.lit_like(b, 0.0);
    let positive = c.g.compare(Cmp::Gt, b, zero);
    let neg = c.g.neg(r);
    let r = c.g.cond(positive, r, neg);
    c.result(r);
    let biggest = c.g.reduce(Reduce::Max, 1, x);
    c.result(biggest);
    c.with_gradients(&[0, 1]);
    c.simplified();
    c.run(vec![reals(&[4, 3], 1), scalar(0.4), ints(&[0, 2, 1, 1])]);
    c
}

/// Sums on which a comparison and an index depend.
fn exact_decisions() -> Case {
    let mut c = Case::new("exact_decisions");
    let x = c.input("x", F64, 2);
    let n = c.g.shape(x)[0];
    let rows = c.g.sum_axes(x, &[1]);
    let columns = c.g.sum_axes(x, &[0]);
    let total = c.g.sum_all(columns);
    let two = c.g.lit_like(x, 2.0);
    let twice = c.g.mul(x, two);
    let all = c.g.sum_all(twice);
    let less = c.g.compare(Cmp::Lt, total, all);
    let a = c.g.unary(Unary::Exp, total);
    let r = c.g.cond(less, a, total);
    c.result(r);
    let at = c.g.reduce(Reduce::ArgMax, 1, rows);
    c.result(at);
    let _ = n;
    c.run(vec![reals(&[5, 21], 1)]);
    c
}

/// Names that are keywords, upper case, equal except for case, or similar to the emitter's own
/// names.
fn awkward_names() -> Case {
    let mut c = Case::new("awkward_names");
    let a = c.input("A", F64, 1);
    let n = c.g.shape(a)[0];
    let b = c.input_like("a", F64, &[n]);
    let t = c.input("t1", F64, 0);
    let k = c.input("r#type", F64, 0);
    let p = c.g.mul(a, b);
    let tb = c.g.broadcast(t, &[n]);
    let kb = c.g.broadcast(k, &[n]);
    let p = c.g.add(p, tb);
    let p = c.g.mul(p, kb);
    let e = c.g.unary(Unary::Exp, p);
    c.hint(e, "match");
    let s = c.g.sum_all(e);
    c.hint(s, "A");
    c.result(s);
    c.result(e);
    let truth = c.g.lit_bool(true);
    let r = c.g.cond(truth, s, t);
    c.result(r);
    c.run(vec![reals(&[3], 1), reals(&[3], 2), scalar(0.3), scalar(0.9)]);
    c
}

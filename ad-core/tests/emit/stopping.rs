//! Loops that stop early, sizes that loops compute, and their gradients, compared with closed forms
//! and the interpreter.

use ad_core::ir::{Elem, OpenLoop, Term, Type};
use ad_core::prim::{Binary, Cmp, IntOp, Unary};
use ad_oracle::interp::{Interp, Value};

use super::support::{Case, F64, USIZE, reals, scalar};

/// `while (x * x - a).abs() > 1e-13 { x = (x + a / x) / 2 }` from x = `start`: the square root of
/// `a`.
fn root(c: &mut Case, a: Term, start: Term) -> Term {
    let g = &mut c.g;
    let differs = |g: &mut ad_core::ir::Graph, x: Term| {
        let square = g.mul(x, x);
        let minus = g.unary(Unary::Neg, a);
        let error = g.add(square, minus);
        let error = g.unary(Unary::Abs, error);
        let small = g.lit_like(error, 1e-13);
        g.compare(Cmp::Le, error, small)
    };
    let done = differs(g, start);
    let (x, flag) = (g.placeholder(Type::scalar(Elem::F64)), g.placeholder(Type::scalar(Elem::Bool)));
    let quotient = g.prim(ad_core::prim::Prim::Binary(Binary::Div), &[a, x]);
    let sum = g.add(x, quotient);
    let half = g.lit_like(sum, 0.5);
    let next = g.mul(half, sum);
    let next_done = differs(g, next);
    let step = g.fresh();
    let count = g.lit_usize(usize::MAX);
    let l = OpenLoop {
        count,
        reverse: false,
        stop: Some(1),
        step,
        init: vec![start, done],
        carried: vec![x, flag],
        results: vec![next, next_done],
    };
    let t = g.close_loop(&l);
    g.proj(t, 0)
}

/// The root of a scalar.
fn plain() -> Case {
    let mut c = Case::new("newton");
    let a = c.input("a", F64, 0);
    let start = c.g.lit_like(a, 1.0);
    let x = root(&mut c, a, start);
    c.result(x);
    c.with_gradients(&[0]);
    c.run(vec![scalar(2.0)]);
    // There is no step, so the gradient is that of the constant.
    c.run(vec![scalar(1.0)]);
    c
}

/// The sum of the roots of all elements, computed by one loop.
fn batched() -> Case {
    let mut c = Case::new("newton_in_build");
    let a = c.input("a", F64, 1);
    let n = c.g.shape(a)[0];
    let (i, square) = {
        let i = c.g.fresh();
        let at = c.g.mk(ad_core::ir::Node::Var(i));
        let e = c.g.index(a, &[at]);
        let e = c.g.mul(e, e);
        let one = c.g.lit_like(e, 1.0);
        (i, c.g.add(e, one))
    };
    let start = c.g.lit_like(square, 1.0);
    let x = root(&mut c, square, start);
    let all = c.g.build(n, i, x);
    let all = ad_core::passes::bulk::transform(&mut c.g, &[all], &mut Default::default())[0];
    let s = c.g.sum_all(all);
    c.result(s);
    c.with_gradients(&[0]);
    c.run(vec![reals(&[5], 1)]);
    c.run(vec![reals(&[0], 1)]);
    c
}

/// `for e in a { y = sqrt(y + e * e + 1) }`: the number of inner steps depends on a value that the
/// outer loop carries.
fn nested() -> Case {
    let mut c = Case::new("newton_in_loop");
    let a = c.input("a", F64, 1);
    let n = c.g.shape(a)[0];
    let y = c.g.placeholder(Type::scalar(Elem::F64));
    let step = c.g.fresh();
    let at = c.g.mk(ad_core::ir::Node::Var(step));
    let e = c.g.index(a, &[at]);
    let e = c.g.mul(e, e);
    let one = c.g.lit_like(e, 1.0);
    let e = c.g.add(e, one);
    let radicand = c.g.add(y, e);
    let x = root(&mut c, radicand, one);
    // The loop is in one branch only: the other branch does not reach it.
    let two = c.g.lit_like(y, 1.75);
    let small = c.g.compare(Cmp::Lt, y, two);
    let other = c.g.unary(Unary::Sin, y);
    let next = c.g.cond(small, x, other);
    let init = c.g.lit_like(one, 0.5);
    let l = OpenLoop {
        count: n,
        reverse: false,
        stop: None,
        step,
        init: vec![init],
        carried: vec![y],
        results: vec![next],
    };
    let t = c.g.close_loop(&l);
    let last = c.g.proj(t, 0);
    c.result(last);
    c.results = ad_core::passes::bulk::transform(&mut c.g, &c.results.clone(), &mut Default::default());
    c.with_gradients(&[0]);
    c.run(vec![reals(&[6], 2)]);
    c.run(vec![reals(&[0], 2)]);
    c
}

/// As many steps as there are positive elements: a loop that also carries reals computes a size.
fn size() -> Case {
    let mut c = Case::new("size_from_a_loop");
    let a = c.input("a", F64, 1);
    let n = c.g.shape(a)[0];
    let (k, s) = (c.g.placeholder(Type::scalar(USIZE)), c.g.placeholder(Type::scalar(Elem::F64)));
    let step = c.g.fresh();
    let at = c.g.mk(ad_core::ir::Node::Var(step));
    let e = c.g.index(a, &[at]);
    let sin = c.g.unary(Unary::Sin, s);
    let sum = c.g.add(sin, e);
    let zero = c.g.lit_like(e, 0.0);
    let positive = c.g.compare(Cmp::Lt, zero, e);
    let one = c.g.lit_usize(1);
    let more = c.g.int(IntOp::Add, k, one);
    let more = c.g.cond(positive, more, k);
    let (none, start) = (c.g.lit_usize(0), zero);
    let l = OpenLoop {
        count: n,
        reverse: false,
        stop: None,
        step,
        init: vec![none, start],
        carried: vec![k, s],
        results: vec![more, sum],
    };
    let t = c.g.close_loop(&l);
    let (size, x) = (c.g.proj(t, 0), c.g.proj(t, 1));
    let v = c.g.replicate(size, x);
    let squares = c.g.mul(v, v);
    let sum = c.g.sum_all(squares);
    let acc = c.g.placeholder(Type::scalar(Elem::F64));
    let step = c.g.fresh();
    let next = c.g.unary(Unary::Cos, acc);
    let next = c.g.mul(next, x);
    let l = OpenLoop {
        count: size,
        reverse: false,
        stop: None,
        step,
        init: vec![sum],
        carried: vec![acc],
        results: vec![next],
    };
    let t = c.g.close_loop(&l);
    let last = c.g.proj(t, 0);
    c.result(last);
    c.results = ad_core::passes::bulk::transform(&mut c.g, &c.results.clone(), &mut Default::default());
    c.simplified();
    c.with_gradients(&[0]);
    c.run(vec![reals(&[7], 3)]);
    c.run(vec![reals(&[0], 3)]);
    c
}

/// All cases, with gradients.
pub(crate) fn all() -> Vec<Case> {
    let mut all = vec![plain(), batched(), nested(), size()];
    all.iter_mut().for_each(Case::simplified);
    all
}

fn numbers(c: &Case, inputs: &[Value], t: Term) -> Vec<f64> {
    match Interp::new(&c.g, inputs).eval(t) {
        Ok(Value::Array(a)) => match a.data {
            ad_oracle::interp::Data::Real(xs) => xs.iter().map(|x| x.v).collect(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn gradients_of_loops_that_stop_are_right() {
    for c in all() {
        for inputs in &c.runs {
            let gradient = numbers(&c, inputs, c.results[1]);
            let Value::Array(a) = &inputs[0] else { panic!("an array") };
            let ad_oracle::interp::Data::Real(xs) = &a.data else { panic!("reals") };
            for k in 0..xs.len() {
                let at = |h: f64| {
                    let mut a = a.clone();
                    if let ad_oracle::interp::Data::Real(xs) = &mut a.data {
                        xs[k].v += h;
                    }
                    numbers(&c, &[Value::Array(a)], c.results[0])[0]
                };
                if c.name == "newton" && xs[k].v == 1.0 {
                    // Without a step the result is constant.
                    assert_eq!(gradient, [0.0]);
                    continue;
                }
                let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((gradient[k] - expected).abs() < 1e-6, "{}: {} instead of {expected}", c.name, gradient[k]);
            }
        }
    }
}

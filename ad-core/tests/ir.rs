//! The core language itself: laws of interning, substitution, depth, and the behaviour of the
//! interpreter and the printer on small programs. These tests use no stage of the compiler.

use std::collections::HashMap;

use ad_core::sorted::SortedMap;

use ad_core::ir::print::print;
use ad_core::ir::valid::{Lowered, normal_form, validate, validate_loop};
use ad_core::ir::{Body, Elem, Graph, IntTy, LEAF, Node, RealTy, Scan, Term, Type};
use ad_core::prim::{Cmp, IntOp, Unary};
use ad_oracle::interp::{Interp, Value};
use expect_test::{Expect, expect};

fn names() -> SortedMap<Term, String> {
    SortedMap::new()
}

fn check_print(g: &Graph, roots: &[Term], expected: &Expect) {
    validate(g, roots).unwrap();
    expected.assert_eq(&print(g, roots, &names()));
}

/// `build1 n (\i -> x[i] * f(x[i]))`, with `noise` other terms created before.
fn stencil(g: &mut Graph, x: Term, noise: usize) -> Term {
    for _ in 0..noise {
        let i = g.fresh();
        let var = g.mk(Node::Var(i));
        g.int(IntOp::Mul, var, var);
    }
    let n = g.shape(x)[0];
    let i = g.fresh();
    let var = g.mk(Node::Var(i));
    let e = g.index(x, &[var]);
    let s = g.unary(Unary::Sin, e);
    let body = g.mul(e, s);
    g.build(n, i, body)
}

#[test]
fn alpha_equal_terms_are_one() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let a = stencil(&mut g, x, 0);
    let b = stencil(&mut g, x, 7);
    assert_eq!(a, b);
}

#[test]
fn substitution_does_not_capture() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 2);
    let (n, m) = (g.shape(x)[0], g.shape(x)[1]);
    let (i, j, k) = (g.fresh(), g.fresh(), g.fresh());
    let [vi, vj, vk] = [i, j, k].map(|v| g.mk(Node::Var(v)));
    // \i \j -> x[i, j], with i := a sum of the row that a separate build computes: binders under
    // binders.
    let e = g.index(x, &[vi, vj]);
    let rows = g.build(m, j, e);
    let all = g.build(n, i, rows);
    let moved = g.subst_vars(rows, &[(i, vk)]);
    let again = g.build(n, k, moved);
    assert_eq!(all, again);
    validate(&g, &[all]).unwrap();
    let input = Value::reals(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    assert_eq!(Interp::new(&g, std::slice::from_ref(&input)).eval(all), Ok(input));
}

/// `replaced` leaves the binders around a term closed. With a binder in the new term, those around
/// it get higher numbers, the inner ones first.
#[test]
fn a_term_with_binders_in_place_of_one_without_captures_nothing() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let n = g.shape(x)[0];
    let make = |g: &mut Graph, at: Term| {
        let (i, j) = (g.fresh(), g.fresh());
        let [vi, vj] = [i, j].map(|v| g.mk(Node::Var(v)));
        let (a, b, c) = (g.index(x, &[vi]), g.index(x, &[vj]), g.index(at, &[vj]));
        let product = g.mul(a, b);
        let e = g.add(product, c);
        let row = g.build(n, j, e);
        g.build(n, i, row)
    };
    let hole = g.placeholder(g.ty(x).clone());
    let with_hole = make(&mut g, hole);
    let mut deep = x;
    for _ in 0..3 {
        let k = g.fresh();
        let vk = g.mk(Node::Var(k));
        let e = g.index(deep, &[vk]);
        let e = g.unary(Unary::Sin, e);
        deep = g.build(n, k, e);
        let filled = g.replaced(&[with_hole], HashMap::from([(hole, deep)]))[0];
        assert_eq!(filled, make(&mut g, deep));
        // The replacement is undone.
        assert_eq!(g.replaced(&[filled], HashMap::from([(deep, hole)]))[0], with_hole);
    }
}

/// A chain of n operations. Each uses the previous one twice.
fn chain(n: usize) -> (Graph, Term) {
    let mut g = Graph::new();
    let mut t = g.add_input(Elem::F64, 0);
    for _ in 0..n {
        let s = g.unary(Unary::Sin, t);
        t = g.add(s, t);
    }
    (g, t)
}

#[test]
fn deep_terms_need_no_stack() {
    let run = || {
        let (mut g, t) = chain(4000);
        let value = Interp::new(&g, &[Value::scalar(0.3).with_tangent(&[1.0])]).eval(t).unwrap();
        assert!(value.values()[0].is_finite() && value.tangents()[0].is_finite());
        validate(&g, &[t]).unwrap();
        assert!(print(&g, &[t], &names()).len() < 4000 * 40);
        // The same chain as a closed body, applied to the input.
        let scalar = Type::scalar(Elem::F64);
        let p = g.param(0, scalar.clone());
        let mut inside = p;
        for _ in 0..4000 {
            inside = g.unary(Unary::Sin, inside);
        }
        let x = g.mk(Node::Input(0));
        let body = Body { params: [scalar].into(), results: [inside].into() };
        let applied = g.instantiate(&body, &[x])[0];
        assert!(!g.is_open(applied));
        assert_eq!(Interp::new(&g, &[Value::scalar(0.0)]).eval(applied), Ok(Value::scalar(0.0)));
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

/// Terms older than the replaced term are not rebuilt, and each younger term is rebuilt once.
#[test]
fn replacement_makes_each_younger_term_once() {
    let mut g = Graph::new();
    let (x, y) = (g.add_input(Elem::Real(RealTy::F64), 0), g.add_input(Elem::Real(RealTy::F64), 0));
    let old = g.unary(Unary::Sin, y);
    let (mut t, mut expected) = (g.mul(x, old), g.mul(y, old));
    // Each term is read twice: without a memo table there would be 2^100 visits.
    for _ in 0..100 {
        (t, expected) = (g.mul(t, t), g.mul(expected, expected));
    }
    let before = g.len();
    assert_eq!(g.replaced(&[t, old], [(x, y)].into()), [expected, old]);
    assert_eq!(g.len(), before, "no term but the replaced ones is made");
}

#[test]
fn deep_chains_of_builds_need_no_stack() {
    let run = || {
        let mut g = Graph::new();
        let mut t = g.add_input(Elem::F64, 1);
        for _ in 0..1000 {
            t = stencil(&mut g, t, 0);
        }
        let value = Interp::new(&g, &[Value::reals(&[2], &[0.5, 1.5])]).eval(t).unwrap();
        assert!(value.values().iter().all(|v| v.is_finite()));
        validate(&g, &[t]).unwrap();
        assert!(print(&g, &[t], &names()).lines().count() < 4000);
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn only_the_taken_arm_runs() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 0);
    let zero = g.lit_real(RealTy::F64, 0.0);
    let c = g.compare(Cmp::Gt, x, zero);
    let l = g.unary(Unary::Ln, x);
    let e = g.unary(Unary::Exp, x);
    let t = g.cond(c, l, e);
    let mut run = Interp::new(&g, &[Value::scalar(-1.0)]);
    assert_eq!(run.eval(t).unwrap().values(), [(-1.0_f64).exp()]);
    assert_eq!(run.work().expensive, 1);
}

#[test]
fn shared_closed_terms_run_once() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let y = g.unary(Unary::Exp, x);
    let t = stencil(&mut g, y, 0);
    let mut run = Interp::new(&g, &[Value::reals(&[3], &[0.1, 0.2, 0.3])]);
    run.eval(t).unwrap();
    assert_eq!(run.work().expensive, 6);
}

#[test]
fn single_precision_is_rounded_after_each_operation() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::Real(RealTy::F32), 0);
    let s = g.add(x, x);
    let t = g.add(s, x);
    let value = Interp::new(&g, &[Value::scalar(0.1)]).eval(t).unwrap().values()[0];
    assert_eq!(value, f64::from(0.1_f32 + 0.1_f32 + 0.1_f32));
    assert_ne!(value, f64::from(0.1_f32) * 3.0);
}

#[test]
fn printing_a_build() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let t = stencil(&mut g, x, 0);
    let s = g.sum_all(t);
    let r = g.mul(s, s);
    check_print(
        &g,
        &[r],
        &expect![[r#"
        x1 = sumOuter (build1 n0_0 (\i ->
          x2 = in0[i]
          x2 * sin x2))
        x1 * x1
    "#]],
    );
}

#[test]
fn printing_other_terms() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 2);
    let k = g.add_input(Elem::Int(IntTy::Usize), 1);
    let (n, m) = (g.shape(x)[0], g.shape(x)[1]);
    let q = g.shape(k)[0];
    let [i, j] = [g.fresh(), g.fresh()];
    let [vi, vj] = [i, j].map(|v| g.mk(Node::Var(v)));
    let one = g.lit_usize(1);
    let at = g.index(k, &[vi]);
    let next = g.int(IntOp::Add, at, one);
    let gathered = g.gather(x, [q, m].into(), &[i, j], &[next, vj]);
    let zeros = g.lit_shaped(Elem::F64, &[n, m], 0.0);
    let t = g.scatter(zeros, gathered, &[i], &[at]);
    // A loop that sums the rows and keeps the partial sums.
    let row_ty = Type::Array(Elem::F64, [m].into());
    let (c, r) = (g.param(0, row_ty.clone()), g.param(1, row_ty.clone()));
    let sum = g.add(c, r);
    let init = g.lit_shaped(Elem::F64, &[m], 0.0);
    let body = Body { params: [row_ty.clone(), row_ty].into(), results: [sum, sum].into() };
    let scan = g.scan(Scan {
        count: n,
        reverse: true,
        stop: None,
        init: [init].into(),
        captures: [].into(),
        xs: [t].into(),
        body,
    });
    let (last, all) = (g.proj(scan, 0), g.proj(scan, 1));
    check_print(
        &g,
        &[last, all],
        &expect![[r#"
        m1 = scatter (replicate[0,1] [n0_0, n0_1] 0.0) (gather [n1_0, n0_1] in0 (\[i, j] -> [in1[i] + 1, j])) (\[i] -> [in1[i]])
        p2 = scanr n0_0 (replicate n0_1 0.0) () (m1) (\c0 r0 ->
          v3 = c0 + r0
          v3
          v3)
        p2.0
        p2.1
    "#]],
    );
    assert!(normal_form(&g, &[last, all]).is_ok());
}

#[test]
fn the_validator_sees_open_terms_and_builds() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let i = g.fresh();
    let var = g.mk(Node::Var(i));
    let e = g.index(x, &[var]);
    assert!(validate(&g, &[e]).is_err());
    let p = g.param(0, Type::scalar(Elem::F64));
    assert!(validate(&g, &[p]).is_err());
    let t = stencil(&mut g, x, 0);
    assert!(validate(&g, &[t]).is_ok());
    assert!(normal_form(&g, &[t]).is_err());
    // An array computed inside an index function.
    let k = g.iota(x_size(&g, x));
    let n = g.replicate(x_size(&g, x), var);
    let sum = g.int(IntOp::Add, k, n);
    let at = g.sum_all(sum);
    let bad = g.gather(x, [x_size(&g, x)].into(), &[i], &[at]);
    assert!(validate(&g, &[bad]).is_ok());
    assert!(normal_form(&g, &[bad]).is_err());
}

/// A lowered term may read leaves of opened loops, and no parameter of a closed body. It has no
/// loop. Each error is reported once.
#[test]
fn the_validator_sees_terms_that_are_not_lowered() {
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 1);
    let leaf = g.param(LEAF as usize + 7, Type::scalar(Elem::F64));
    let closed = g.param(0, Type::scalar(Elem::F64));
    let [fine, open] = [leaf, closed].map(|t| g.unary(Unary::Exp, t));
    let scan = Scan {
        count: x_size(&g, x),
        reverse: false,
        stop: None,
        init: [g.lit_real(RealTy::F64, 0.0)].into(),
        captures: [].into(),
        xs: [x].into(),
        body: Body { params: [Type::scalar(Elem::F64), Type::scalar(Elem::F64)].into(), results: [open].into() },
    };
    assert_eq!(validate_loop(&g, &scan), Ok(()));
    let count = scan.count;
    let body = Body { results: [count].into(), ..scan.body.clone() };
    assert!(validate_loop(&g, &Scan { body, ..scan.clone() }).is_err(), "a carried value of another type");
    assert!(validate_loop(&g, &Scan { xs: [].into(), ..scan.clone() }).is_err(), "an argument is missing");
    let whole = g.scan(scan);
    let read = g.proj(whole, 0);
    let mut lowered = Lowered::default();
    assert_eq!(lowered.check(&g, &[fine]), Ok(()));
    assert!(validate(&g, &[fine]).is_err(), "outside of the lowering there are no leaves");
    for bad in [open, read] {
        assert!(lowered.check(&g, &[bad]).is_err());
        assert_eq!(lowered.check(&g, &[bad]), Ok(()), "each term is checked once");
    }
}

fn x_size(g: &Graph, x: Term) -> Term {
    g.shape(x)[0]
}

//! For each form in which people write loops: the bulk operations that it becomes, or that it
//! remains a loop. Values and gradients are compared with the source term and with differences.

use std::collections::BTreeSet;

use ad_core::descriptor::GRAD;
use ad_core::ir::{Graph, Node, Put, Term};
use ad_core::pipeline;
use ad_core::prim::{Prim, Reduce};
use ad_oracle::plan::{PlanSummary, plan_of};

use super::*;
use crate::recur::{differences, near, value_and_grad};
use quote::quote;

/// The forms of loops that remain, in the terms and inside of steps.
fn forms(g: &Graph, roots: &[Term], out: &mut BTreeSet<&'static str>) {
    for t in g.reachable(roots) {
        let form = match g.node(t) {
            Node::Scan(scan) => {
                forms(g, &scan.body.results, out);
                "scan"
            }
            Node::Scatter { put: Put::Add, .. } => "scatter",
            Node::Scatter { put: Put::Set, .. } => "update",
            Node::Prim(Prim::Sum(_), _) => "sum",
            Node::Prim(Prim::Contract(_), _) => "contraction",
            Node::Prim(Prim::Reduce(Reduce::Max, _), _) => "maximum",
            Node::Prim(Prim::Reduce(Reduce::Min, _), _) => "minimum",
            Node::Prim(Prim::Reduce(Reduce::ArgMax | Reduce::ArgMin, _), _) => "place",
            _ => continue,
        };
        out.insert(form);
    }
}

fn kind(item: TokenStream) -> String {
    let prepared = pipeline::prepare(program(quote!(grad), item), None);
    let mut found = BTreeSet::new();
    forms(&prepared.program.graph, &prepared.program.result.terms(), &mut found);
    if found.is_empty() { "build".into() } else { found.into_iter().collect::<Vec<_>>().join(", ") }
}

#[test]
fn loops_become_bulk_operations() {
    let x = || vector(&[0.5, -1.5, 2.0, 0.75, 1.25]);
    let m = || array(&[3, 3], &[0.5, -1.0, 2.0, 1.5, 0.25, -0.75, 0.3, 0.9, -0.4]);
    let ids = || sizes(&[4], &[0, 2, 1, 2]);
    let mut wrong = String::new();
    let mut check = |expected: &str, item: TokenStream, inputs: &[Value]| {
        let text = item.to_string();
        let found = kind(item.clone());
        if found != expected {
            wrong.push_str(&format!("{found}, not {expected}: {text}\n"));
        }
        let (value, gradient) = value_and_grad(item.clone(), inputs);
        near(&text, &value, &run(&program(quote!(grad), item.clone()), inputs), 1e-12);
        near(&text, &gradient, &differences(item, inputs), 1e-6);
    };
    macro_rules! table {
        ($($kind:literal: fn $name:ident($($args:tt)*) -> f64 $body:block ($($input:expr),*))*) => {
            $(check($kind, quote! { fn $name($($args)*) -> f64 $body }, &[$($input),*]);)*
        };
    }
    table! {
        // These loops are written in full.
        "build": fn f(x: &Array1<f64>) -> f64 { let mut y = Array1::zeros(x.len()); for i in 0..x.len() { y[i] = x[i].sin(); } y[0] * y[1] } (x())
        "build": fn f(x: &Array1<f64>) -> f64 { let n = x.len(); let mut y = Array1::zeros(n); for i in 0..n { y[n - 1 - i] = x[i] * x[i]; } y[0] * y[1] } (x())
        "update": fn f(x: &Array1<f64>) -> f64 { let n = x.len(); let mut y = Array1::zeros(2 * n); for i in 0..n { y[2 * i] = x[i] * x[i]; } y[0] * y[1] + y[2] } (x())
        "build": fn f(x: &Array2<f64>) -> f64 { let mut y = Array2::zeros((x.nrows(), x.ncols())); for i in 0..x.nrows() { for j in 0..x.ncols() { y[[i, j]] = x[[i, j]].exp(); } } y[[0, 1]] * y[[1, 0]] } (m())
        "build": fn f(x: &Array2<f64>) -> f64 { let mut y = Array2::zeros((x.ncols(), x.nrows())); for i in 0..x.nrows() { for j in 0..x.ncols() { y[[j, i]] = x[[i, j]].exp(); } } y[[0, 1]] * y[[1, 0]] } (m())
        "build": fn f(x: &Array2<f64>) -> f64 { let mut y = Array2::zeros((x.nrows(), x.ncols())); for i in 0..x.nrows() { y.row_mut(i).assign(&(&x.row(i) * 2.0)); } y[[0, 1]] * y[[1, 0]] } (m())
        "build": fn f(x: &Array1<f64>) -> f64 { let mut y = x.clone(); for i in 0..x.len() { if x[i] > 0.0 { y[i] = x[i] * x[i]; } } y[0] * y[1] } (x())
        // Sums.
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for i in 0..x.len() { s += x[i] * x[i]; } s } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { s -= v.sin(); } s } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let (mut s, mut t) = (0.0, 1.0); for v in x { s += v; t += v * v; } s * t } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { if *v > 0.0 { s += v * v; } } s } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { if *v > 0.0 { s += v * v; } else { s -= v; } } s } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { if *v < 0.0 { continue; } s += v * v; } s } (x())
        "sum": fn f(x: &Array2<f64>) -> f64 { let mut s = 0.0; for i in 0..x.nrows() { for j in 0..x.ncols() { s += x[[i, j]] * x[[i, j]]; } } s } (m())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for i in 0..x.len() { for j in 0..i { s += (x[i] - x[j]).sin(); } } s } (x())
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for i in 0..x.len() - 1 { let d = x[i + 1] - x[i]; s += d * d; } s } (x())
        "sum": fn f(x: &Array2<f64>) -> f64 { let mut s = Array1::zeros(x.ncols()); for row in x.outer_iter() { s += &row; } s[0] * s[1] } (m())
        // Loops that assign elements.
        "scatter": fn f(x: &Array1<f64>, ids: &Array1<usize>) -> f64 { let mut h = Array1::zeros(3); for k in 0..ids.len() { h[ids[k]] += x[k] * x[k]; } h[0] * h[2] } (x(), ids())
        "sum": fn f(x: &Array2<f64>) -> f64 { let mut r = Array1::zeros(x.nrows()); for i in 0..x.nrows() { for j in 0..x.ncols() { r[i] += x[[i, j]] * x[[i, j]]; } } r[0] * r[1] } (m())
        "contraction, sum": fn f(x: &Array2<f64>, v: &Array1<f64>) -> f64 { let mut r = Array1::zeros(x.nrows()); for i in 0..x.nrows() { for j in 0..x.ncols() { r[i] += x[[i, j]] * v[j]; } } r.dot(&r) } (m(), vector(&[0.5, 2.0, -1.0]))
        "contraction": fn f(a: &Array2<f64>, b: &Array2<f64>) -> f64 { let mut c = Array2::zeros((a.nrows(), b.ncols())); for i in 0..a.nrows() { for j in 0..b.ncols() { for k in 0..a.ncols() { c[[i, j]] += a[[i, k]] * b[[k, j]]; } } } c[[0, 1]] * c[[1, 0]] } (m(), m())
        "contraction": fn f(a: &Array2<f64>, b: &Array2<f64>) -> f64 { let mut c = Array2::zeros((a.nrows(), b.ncols())); for i in 0..a.nrows() { for j in 0..b.ncols() { let mut s = 0.0; for k in 0..a.ncols() { s += a[[i, k]] * b[[k, j]]; } c[[i, j]] = s; } } c[[0, 1]] * c[[1, 0]] } (m(), m())
        "sum": fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 { let n = x.len() - w.len() + 1; let mut y = Array1::zeros(n); for i in 0..n { for j in 0..w.len() { y[i] += x[i + j] * w[j]; } } y[0] * y[1] } (x(), vector(&[0.5, 2.0]))
        "sum": fn f(x: &Array2<f64>) -> f64 { let mut beta = Array1::ones(x.ncols()); for i in 0..x.nrows() { for c in 0..x.ncols() { beta[c] -= x[[i, c]] * x[[i, c]]; } } beta[0] * beta[1] } (m())
        // Several results of different kinds at once.
        "maximum, sum": fn f(x: &Array1<f64>) -> f64 { let (mut s, mut q, mut m) = (0.0, 1.0, 0.0_f64); for v in x { s += v; q -= v * v; m = m.max(*v); } s * q * m } (x())
        // Extrema.
        "maximum": fn f(x: &Array1<f64>) -> f64 { let mut m = f64::NEG_INFINITY; for i in 0..x.len() { m = m.max(x[i] * x[i]); } m } (x())
        "minimum": fn f(x: &Array1<f64>) -> f64 { let mut m = x[0]; for i in 1..x.len() { m = m.min(x[i]); } m * m } (x())
        "maximum": fn f(x: &Array1<f64>) -> f64 { let mut m = 0.0; for v in x { if *v > m { m = *v; } } m * m } (x())
        // The first item remains if it is NaN. This is not a maximum, but the position is that of
        // an extremum.
        "place": fn f(x: &Array1<f64>) -> f64 { let mut m = x[0]; for i in 1..x.len() { if x[i] > m { m = x[i]; } } m * m } (x())
        "place": fn f(x: &Array1<f64>) -> f64 { let mut m = 0.0; let mut at = 0; for i in 0..x.len() { if x[i] > m { m = x[i]; at = i; } } x[at] * x[at] } (x())
        "maximum, place": fn f(x: &Array1<f64>) -> f64 { let (mut m, mut at) = (f64::NEG_INFINITY, 0); for (i, v) in x.iter().enumerate() { if *v > m { m = *v; at = i; } } m * x[at] * (at as f64 + 1.0) } (x())
        "minimum, place, sum": fn f(x: &Array2<f64>) -> f64 { let (mut m, mut at) = (f64::INFINITY, 0); for i in 0..x.nrows() { let mut d = 0.0; for j in 0..x.ncols() { d += x[[i, j]] * x[[i, j]]; } if d < m { m = d; at = i; } } m * x[[at, 0]] } (m())
        "place": fn f(x: &Array1<f64>) -> f64 { let (mut m, mut other, mut n) = (f64::INFINITY, 0.0, 2); for i in 1..x.len() { if x[i] < m { m = x[i]; other = x[i - 1] * x[i]; n = 3 * i; } } other * n as f64 } (x())
        // The position is used again in the loop, so it remains a loop.
        "scan": fn f(x: &Array1<f64>) -> f64 { let (mut m, mut at, mut s) = (0.0, 0, 0.0); for i in 0..x.len() { if x[i] > m { m = x[i]; at = i; } s += x[at]; } s } (x())
        // The selections of the loop are computed once more, at the winner only. The bits are those
        // of the minimum.
        "minimum, place, sum": fn f(x: &Array2<f64>) -> f64 { let mut m = f64::INFINITY; for i in 0..x.nrows() { let mut d = 0.0; for j in 0..x.ncols() { d += (x[[i, j]] - 0.3).abs(); } if d < m { m = d; } } m * m } (m())
        // These remain loops. A product is a product from the left whose partial products are kept,
        // and its derivative is one from the right. `product` has the same cost.
        "scan": fn f(x: &Array1<f64>) -> f64 { x.product() } (x())
        "scan": fn f(x: &Array1<f64>) -> f64 { x.iter().product() } (x())
        // A count may overflow in any step, which each step checks. It has no derivative.
        "scan": fn f(x: &Array1<f64>) -> f64 { let mut n = 0; for v in x { if *v > 0.6 { n += 1; } } x[n] * x[n] } (x())
        "scan": fn f(x: &Array1<f64>) -> f64 { let mut p = 1.0; for v in x { p *= v; } p } (x())
        "scan, scatter": fn f(x: &Array1<f64>) -> f64 { let mut y = x.clone(); for i in 1..x.len() { y[i] += y[i - 1]; } y[1] * y[4] } (x())
        "scan, update": fn f(b: &Array1<f64>) -> f64 { let mut x = b.clone(); for _ in 0..3 { for i in 1..b.len() - 1 { x[i] = (b[i] - x[i - 1] - x[i + 1]) / 4.0; } } x[1] * x[2] } (x())
        "scan": fn f(x: &Array1<f64>) -> f64 { let (mut a, mut b) = (0.5, 1.0); for v in x { a = a * v + 1.0; b = (b + v).sin(); } a * b } (x())
        "scan": fn f(x: &Array1<f64>) -> f64 { let (mut h, mut loss) = (0.5, 0.0); for v in x { h = (h + v).tanh(); loss += (h - 0.3) * (h - 0.3); } loss } (x())
        // A decision depends on the order, and the sum preserves it.
        "sum": fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { s += v; } if s > 1.0 { s } else { x[0] } } (x())
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The weight gradient of a recurrent network is one contraction of saved rows after the loop. No
/// outer product remains in a step. The product with the inputs is one product before the loop, and
/// the gradient of the inputs is one after it.
#[test]
fn weights_of_a_recurrent_net() {
    let item = quote! { fn net(w: &Array2<f64>, u: &Array2<f64>, x: &Array2<f64>) -> f64 {
        let mut h = Array1::zeros(w.nrows());
        let mut loss = 0.0;
        for t in 0..x.nrows() {
            h = (w.dot(&h) + u.dot(&x.row(t))).mapv(f64::tanh);
            loss += (&h * &h).sum();
        }
        loss
    } };
    let w = array(&[2, 2], &[0.3, -0.5, 0.7, 0.2]);
    let u = array(&[2, 3], &[0.5, -1.0, 0.2, 1.5, 0.25, -0.75]);
    let x = array(&[4, 3], &[0.5, -1.0, 0.2, 1.5, 0.25, -0.75, 0.3, 0.9, -0.4, 0.1, 0.2, 0.6]);
    let inputs = [w, u, x];
    let mut prepared = pipeline::prepare(program(quote!(grad), item.clone()), None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let g = &prepared.program.graph;
    let mut steps = 0;
    let products = |roots: &[Term]| {
        let shape = |&t: &Term| matches!(g.node(t), Node::Prim(Prim::Contract(_), _)).then(|| g.rank(t));
        let mut all: Vec<usize> = g.reachable(roots).iter().filter_map(shape).collect();
        all.sort_unstable();
        all
    };
    // Batched over all steps: `u x`, and the gradients of `w`, `u` and `x`.
    assert_eq!(products(&routine.result.terms()), [2; 4]);
    for t in g.reachable(&routine.result.terms()) {
        let Node::Scan(scan) = g.node(t) else { continue };
        steps += 1;
        assert_eq!(products(&scan.body.results), [1], "of a step: `w h`, or its transpose");
        for u in g.reachable(&scan.body.results) {
            let dyadic = g.ty(u).as_array().is_some_and(|(_, shape)| shape.len() == 2);
            assert!(!dyadic || matches!(g.node(u), Node::Param(..)), "a matrix is computed in a step: {:?}", g.node(u));
        }
        assert!(scan.init.iter().all(|&t| g.rank(t) < 2), "a matrix is carried");
    }
    assert_eq!(steps, 2, "forwards and back");
    let (value, gradient) = value_and_grad(item.clone(), &inputs);
    near("net", &value, &run(&program(quote!(grad), item.clone()), &inputs), 1e-12);
    near("net", &gradient, &differences(item, &inputs), 1e-6);
}

/// Sums over items whose temporaries have rows are computed in blocks of items, without an array
/// over all items. Products of matrices are not split.
#[test]
fn sums_over_items_are_done_in_blocks() {
    let planned = |options: TokenStream, item: TokenStream| {
        let mut prepared = pipeline::prepare(program(options, item), None);
        let routine = pipeline::derive(&mut prepared, &GRAD, None);
        let mut g = std::mem::take(&mut prepared.program.graph);
        plan_of(&mut g, &prepared.program, &routine).expect("it can be planned")
    };
    let plan = planned(
        quote!(wrt(m)),
        quote! { fn mixture(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
            let ((n, d), k) = (x.dim(), m.nrows());
            let mut total = 0.0;
            for i in 0..n {
                let mut beta = Array1::<f64>::zeros(k);
                for c in 0..k {
                    let mut squares = 0.0;
                    for j in 0..d { squares += (x[[i, j]] - m[[c, j]]) * (x[[i, j]] - m[[c, j]]); }
                    beta[c] = -squares;
                }
                total += logsumexp(&beta);
            }
            total
        } },
    );
    let calls = |plan: &PlanSummary, kernel: &str| plan.kernels.get(kernel).copied().unwrap_or_default();
    let expected = [("block", 1), ("largest_columns", 1), ("packed", 1)];
    assert!(expected.iter().all(|&(kernel, n)| calls(&plan, kernel) == n), "{plan:#?}");
    // Two arrays of the gradient's size, and none over items and components.
    assert_eq!((plan.nests.iter().filter(|nest| nest.tiled).count(), plan.made), (6, 2), "{plan:#?}");
    let plan = planned(
        quote!(),
        quote! { fn logistic(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
            x.dot(w).mapv(|s| s.exp().ln_1p()).sum()
        } },
    );
    // The matrix is read once, in place. Its gradient is not one of the arrays of a block.
    let expected = [("block_of_rows", 1), ("gemv", 1), ("gemv_t", 1)];
    assert!(expected.iter().all(|&(kernel, n)| calls(&plan, kernel) == n), "{plan:#?}");
    assert_eq!(plan.nests.iter().filter(|nest| nest.tiled).count(), 1, "{plan:#?}");
    let whole = [
        // One product with the matrix.
        quote! { fn one(w: &Array1<f64>, x: &Array2<f64>) -> f64 { x.dot(w).mapv(|s| s.exp().ln_1p()).sum() } },
        // All scores are needed before a row can be weighted.
        quote! { fn all(w: &Array1<f64>, x: &Array2<f64>) -> f64 { logsumexp(&x.dot(w)) } },
        // The bits of a product on which a decision depends are the function's.
        quote! { fn decided(w: &Array1<f64>, x: &Array2<f64>) -> f64 { let s = x.dot(w); if s.sum() > 0.0 { s.dot(&s) } else { 0.0 } } },
        // The kernels of products of matrices read the matrices once.
        quote! { fn matrices(w: &Array2<f64>, x: &Array2<f64>) -> f64 { x.dot(w).mapv(|s| s.exp().ln_1p()).sum() } },
    ];
    for (k, item) in whole.into_iter().enumerate() {
        let plan = planned(if k == 0 { quote!(wrt(x)) } else { quote!(wrt(w)) }, item);
        assert!(!plan.nests.iter().any(|nest| nest.tiled), "{plan:#?}");
    }
}

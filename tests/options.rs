//! `Option`s as parameters, in fields, in lists and in results: a value that is `Some` has a
//! gradient, and the gradient of a `None` is `None`.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    clippy::option_option,
    clippy::ref_option,
    reason = "the types of parameters are what is tested"
)]

use ad::prelude::*;

/// A layer.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Layer {
    w: Array2<f64>,
    b: Array1<f64>,
}

/// Fields of every kind that may be absent.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model {
    rows: Vec<Vec<f64>>,
    pair: Option<[f64; 2]>,
    layer: Option<Layer>,
    slope: Option<f64>,
    list: Vec<Option<f64>>,
    vector: Option<Vec<f64>>,
    nested: Option<Option<f64>>,
    count: Option<usize>,
}

fn full() -> Model {
    Model {
        rows: vec![vec![0.3, 0.2], vec![0.1, 0.4]],
        pair: Some([0.3, 0.7]),
        layer: Some(Layer { w: array![[1.0, 0.2], [0.3, 0.4]], b: array![0.4, 0.5] }),
        slope: Some(0.3),
        list: vec![None, Some(0.4)],
        vector: Some(vec![0.3]),
        nested: Some(None),
        count: Some(3),
    }
}

fn bare() -> Model {
    Model {
        rows: vec![],
        pair: None,
        layer: None,
        slope: None,
        list: vec![],
        vector: None,
        nested: Some(Some(0.3)),
        count: None,
    }
}

#[differentiate(grad, jvp, hvp, pullback, into)]
fn score(m: &Model) -> f64 {
    let mut s: f64 = m.rows.iter().flatten().map(|v| v.sin()).sum();
    if let Some([a, b]) = m.pair {
        s += a * b;
    }
    if let Some(l) = &m.layer {
        s += l.w.dot(&l.b).mapv(|v| v * v).sum();
    }
    s *= m.slope.unwrap_or(2.0);
    for x in m.list.iter().flatten() {
        s += x * x * x;
    }
    if let Some(v) = &m.vector {
        for x in v {
            s += x.cos() * m.count.map_or(1.0, |n| n as f64);
        }
    }
    if let Some(Some(x)) = m.nested {
        s += x.exp();
    }
    s
}

#[test]
fn fields_may_be_none() {
    ad::check_grad!(score(&full()));
    ad::check_grad!(score(&bare()));
    let gradient = score_grad(&full());
    assert_eq!(gradient.list, [None, Some(3.0 * 0.4 * 0.4)]);
    assert_eq!((gradient.nested, gradient.count), (Some(None), Some(3)));
    assert_eq!(score_grad(&bare()).nested, Some(Some(0.3_f64.exp())));
    assert_eq!(score_grad(&bare()).layer, None);
}

#[differentiate(grad, jvp, hvp, pullback, into)]
fn weighted(x: f64, y: Option<f64>) -> f64 {
    x * y.unwrap_or(2.0) + y.map_or(0.0, f64::sin)
}

#[differentiate]
fn total(x: &Option<Array1<f64>>, y: f64) -> f64 {
    match x {
        Some(a) => a.sum() * y * a.len() as f64,
        None => y,
    }
}

#[differentiate]
fn dense(layer: Option<Layer>, x: &Array1<f64>) -> f64 {
    layer.as_ref().map_or(x.sum(), |l| (l.w.dot(x) + &l.b).mapv(f64::tanh).sum())
}

#[differentiate]
fn scaled<T: Real>(by: Option<T>, x: T) -> T {
    by.unwrap_or(T::lit(0.5)) * x
}

#[test]
fn parameters_may_be_none() {
    for y in [Some(0.3), None] {
        ad::check_grad!(weighted(0.4, y));
        ad::check_grad!(scaled(y, 0.3));
    }
    assert_eq!(weighted_grad(0.4, None), (2.0, None));
    assert_eq!(weighted_grad(0.4, Some(0.0)), (0.0, Some(1.4)));
    let (mut dx, mut dy) = (0.0, Some(7.0));
    weighted_value_and_grad_into(0.4, None, &mut dx, &mut dy);
    assert_eq!((dx, dy), (2.0, None));
    for x in [Some(array![0.3, 0.4]), None] {
        ad::check_grad!(total(&x, 0.4));
    }
    ad::check_grad!(dense(full().layer, &array![0.3, 0.4]));
    ad::check_grad!(dense(None, &array![0.3, 0.4]));
}

#[differentiate(grad, into)]
fn present(list: &[Option<f64>], x: f64) -> f64 {
    list.iter().flatten().map(|v| v * x).sum()
}

#[differentiate]
fn filled(list: &[Option<f64>], x: f64) -> f64 {
    list.iter().map(|v| v.map_or(x, |v| v * v)).sum()
}

/// An item, of which an array may be absent.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Item {
    offsets: Option<Array1<f64>>,
    weight: f64,
}

#[differentiate(grad, into, jvp)]
fn costs(items: &[Item]) -> f64 {
    let mut s = 0.0;
    for item in items {
        s += match &item.offsets {
            Some(a) => item.weight * a.mapv(|v| v * v).sum(),
            None => item.weight.sin(),
        };
    }
    s
}

#[test]
fn elements_of_lists_may_be_none() {
    ad::check_grad!(present(&[Some(0.3), None], 0.4));
    ad::check_grad!(filled(&[Some(0.3), None], 0.4));
    let item = |a: Option<[f64; 2]>, weight| Item { offsets: a.map(Array1::from_iter), weight };
    let items =
        [item(None, 0.3), item(None, 0.4), item(Some([0.3, 0.4]), 0.7), item(None, 0.2), item(Some([0.1, -0.4]), 0.7)];
    ad::check_grad!(costs(&items));
    ad::check_grad!(costs(&items[..2]));
    ad::check_grad!(costs(&[]));
    let gradient = costs_grad(&items);
    assert_eq!(gradient[2].offsets, Some(array![0.7 * 2.0 * 0.3, 0.7 * 2.0 * 0.4]));
    assert_eq!(gradient[3].offsets, None);
}

#[differentiate(vjp, jvp)]
fn root(x: f64) -> (f64, Option<f64>) {
    (x * x, if x > 0.0 { Some(x.sqrt()) } else { None })
}

#[differentiate(vjp, jvp)]
fn changed(x: f64, m: Model) -> Model {
    Model { slope: m.slope.map(|s| s * x), pair: None, nested: Some(Some(x)), ..m }
}

#[test]
fn parts_of_results_may_be_none() {
    ad::check_grad!(root(0.4));
    ad::check_grad!(root(-0.4));
    assert_eq!(root_vjp(-0.4, (1.0, &None)), ((0.4 * 0.4, None), -0.8));
    for m in [full(), bare()] {
        ad::check_grad!(changed(0.4, m.clone()));
    }
}

/// The panic message of a call.
fn message<R>(call: impl FnOnce() -> R) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("no panic");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

#[test]
fn a_cotangent_is_some_where_the_result_is() {
    let said = message(|| root_vjp(-0.4, (1.0, &Some(1.0))));
    assert!(said.contains("cotangent"), "{said}");
}

//! Fields that are not made of numbers: those with `#[constant]` of any type that is `Clone`, and
//! `PhantomData`. They are copied from the argument to its gradient.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "known numbers, and parameters by value")]

use std::collections::BTreeMap;
use std::marker::PhantomData;

use ad::prelude::*;

/// A type without numbers.
#[derive(Clone, Debug, PartialEq)]
enum Solver {
    Direct,
    Iterative { most: usize },
}

/// A part of a model.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Part {
    #[constant]
    label: &'static str,
    weight: f64,
    #[constant]
    width: f64,
}

/// A model with fields of all kinds that are not numbers.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model {
    w: Array1<f64>,
    #[constant]
    name: String,
    bias: Option<f64>,
    #[constant]
    solver: Solver,
    part: Part,
    #[constant]
    notes: BTreeMap<String, Vec<u8>>,
    #[constant]
    scale: f64,
}

fn model() -> Model {
    Model {
        w: array![0.3, 0.4],
        name: "model".into(),
        bias: Some(0.2),
        solver: Solver::Iterative { most: 3 },
        part: Part { label: "part", weight: 0.7, width: 2.0 },
        notes: BTreeMap::from([("a".into(), vec![1])]),
        scale: 1.5,
    }
}

#[differentiate(grad, jvp, hvp, into)]
fn score(m: &Model, x: &Array1<f64>) -> f64 {
    let z = m.w.dot(x) * m.scale + m.part.weight * m.part.width;
    match m.bias {
        Some(b) => (z + b).tanh(),
        None => z.tanh(),
    }
}

#[differentiate(vjp)]
fn outputs(m: Model, k: f64) -> Array1<f64> {
    &m.w * (k * m.part.weight)
}

#[test]
fn constant_fields_of_any_type_are_copied() {
    let (m, x) = (model(), array![0.5, -0.4]);
    let (gradient, _) = score_grad(&m, &x);
    assert_eq!((&gradient.name, &gradient.solver, &gradient.notes), (&m.name, &m.solver, &m.notes));
    assert_eq!((gradient.part.label, gradient.part.width, gradient.scale), ("part", 2.0, 1.5));
    ad::check_grad!(score(&m, &x));
    ad::check_grad!(outputs(m.clone(), 0.3));
    let (mut place, mut dx) = (Model { solver: Solver::Direct, ..model() }, array![0.0, 0.0]);
    score_value_and_grad_into(&m, &x, &mut place, &mut dx);
    assert_eq!(place, gradient);
}

/// A quantity with a unit.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Quantity<T: Real, const N: usize> {
    values: [T; N],
    unit: PhantomData<T>,
}

#[differentiate]
fn squares<T: Real, const N: usize>(q: &Quantity<T, N>) -> T {
    q.values.iter().fold(T::lit(0.0), |s, &v| s + v * v)
}

#[test]
fn phantom_data_is_no_number() {
    let q = Quantity { values: [0.3, 0.4, 0.5], unit: PhantomData };
    assert_eq!(squares_grad(&q), Quantity { values: [0.6, 0.8, 1.0], unit: PhantomData });
    ad::check_grad!(squares(&q));
}

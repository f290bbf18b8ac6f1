//! Derivatives of functions that call derivatives.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn sine(x: f64) -> f64 {
    x.sin()
}

#[differentiate]
fn slope_of_sine(x: f64) -> f64 {
    sine_grad(x)
}

#[differentiate]
fn curvature_of_sine(x: f64) -> f64 {
    slope_of_sine_grad(x)
}

/// The value of a case of higher order is that of the function itself.
#[test]
fn second_and_third_derivative() {
    Case::in_every_layout("horde-sin-second", |case| {
        case.check(&sine(case.input("x")), &[("x", &slope_of_sine_grad(case.input("x")))]);
    });
    Case::in_every_layout("horde-sin-third", |case| {
        case.check(&sine(case.input("x")), &[("x", &curvature_of_sine_grad(case.input("x")))]);
    });
}

#[differentiate]
fn slope_of_slope(x: f64) -> f64 {
    sine_grad(sine_grad(x))
}

#[test]
fn derivatives_composed() {
    Case::in_every_layout("horde-grad-composed", |case| {
        let (value, x) = slope_of_slope_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn folded(a: f64) -> Array2<f64> {
    fold(Array2::from_elem((2, 5), 2.0 * a), &array![a, a, a], |acc: Array2<f64>, e: f64| {
        let sums = acc.mapv(f64::sin).sum_axis(Axis(1));
        build([2, 5], |[i, _]| sums[i].atan2((7.0 * e).sin()))
    })
}

#[differentiate]
fn slope_of_fold(a: f64) -> f64 {
    folded_vjp(a, &Array2::<f64>::ones((2, 5))).1
}

#[test]
fn second_derivative_of_a_fold() {
    Case::in_every_layout("horde-fold8-second", |case| {
        case.check(&folded(case.input("a")), &[("a", &slope_of_fold_grad(case.input("a")))]);
    });
}

#[differentiate]
fn both(x: f64, y: f64) -> f64 {
    let z = x * y;
    z * x + z * y
}

#[differentiate]
fn first_component(x: f64, y: f64) -> f64 {
    both_grad(x, y).0
}

#[test]
fn one_component_of_a_gradient() {
    Case::in_every_layout("ksc-derivative-selection", |case| {
        let (value, (x, y)) = first_component_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

//! Tuples have parts, and are parts of tuples, slices and `Vec`s.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, _p: ()) -> f64 {
    x
}

#[differentiate]
fn g(x: f64) -> [(f64, [(f64, f64); 1]); 1] {
    [(x, [(x, x)])]
}

#[differentiate(grad, per_example(p))]
fn h(x: f64, p: (f64, f64)) -> f64 {
    x * p.0 * p.1
}

#[differentiate(hessian, hvp)]
fn k(p: (f64, f64)) -> (f64, f64) {
    p
}

#[differentiate(hessian)]
fn l(p: (f64, f64), q: f64) -> f64 {
    p.0 * p.1 * q
}

#[differentiate(jacobian)]
fn m(p: (f64, Array4<f64>)) -> (f64, Array3<f64>) {
    (p.0, p.1.sum_axis(Axis(0)))
}

fn main() {}

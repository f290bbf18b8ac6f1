//! `check_grad!` passes for what is right, and says what is wrong where a derivative is not that of the function.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Functions of every kind of parameter, by value and by reference, with the names that formulas give them.
#![allow(clippy::many_single_char_names, clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref)]

use ad::prelude::*;

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, wrt(w))]
fn loss(w: &Array1<f64>, x: &Array2<f64>, labels: &[usize], n: usize, rate: f64) -> f64 {
    let z = x.dot(w);
    let all = build1(n, |i| softplus(-z[labels[i]]) * rate);
    all.sum() + w.dot(w) * z[0]
}

#[differentiate(vjp, jvp, jacobian)]
fn mixed(a: f64, b: &f64, x: &[f64], y: Vec<f64>, p: [f64; 2], q: &[[f64; 2]; 2], v: ArrayView1<'_, f64>) -> Vec<f64> {
    let s = a * b + p[0] * q[1][0] - p[1] * q[0][1];
    x.iter().zip(&y).map(|(x, y)| (x * y + s).sin() * v[0]).collect()
}

#[differentiate(grad, jvp, hvp)]
fn single(x: &Array1<f32>, t: f32) -> f32 {
    x.mapv(f32::tanh).sum() * t
}

#[test]
fn right_derivatives_pass() {
    let (w, x) = (array![0.3, -0.2], array![[0.5, 1.0], [-1.0, 0.25], [2.0, 0.0]]);
    ad::check_grad!(loss(&w, &x, &[2, 0, 1], 3, 0.5), wrt(0));
    ad::check_grad!(loss(&w, &x, &[2, 0, 1], 3, 0.5), grad, vjp, jvp, jacobian, hvp, hessian, wrt(0), tolerance = 1e-8);
    let (p, q) = ([0.3, 0.4], [[0.5, 0.6], [0.7, 0.8]]);
    let y = vec![1.0, 2.0];
    ad::check_grad!(mixed(0.1, &0.2, &[0.3, 0.4][..], y.clone(), p, &q, w.view()), vjp, jvp, jacobian);
    ad::check_grad!(single(&array![0.5_f32, 0.25], 2.0), grad, jvp, hvp);
}

/// Somebody else's derivatives of somebody else's functions, under the names that are looked for.
mod wrong {
    use ad::prelude::*;

    pub fn f(x: &Array1<f64>, s: f64) -> f64 {
        x.dot(x) * s
    }

    pub fn f_value_and_grad(x: &Array1<f64>, s: f64) -> (f64, (Array1<f64>, f64)) {
        let mut gradient = x * (2.0 * s);
        gradient[1] += 0.25;
        (f(x, s), (gradient, x.dot(x)))
    }

    pub fn f_jvp(x: &Array1<f64>, s: f64, dx: &ArrayRef1<f64>, _: f64) -> (f64, f64) {
        (f(x, s), 2.0 * s * x.dot(dx))
    }
}

#[test]
#[should_panic(expected = "worst: argument 1 (`&array![1.0, 2.0]`), entry [1]")]
fn the_worst_entry_is_named() {
    ad::check_grad!(wrong::f(&array![1.0, 2.0], 3.0));
}

#[test]
#[should_panic(expected = "`jvp` is wrong")]
fn a_forgotten_tangent_is_found() {
    ad::check_grad!(wrong::f(&array![1.0, 2.0], 3.0), jvp);
}

#[test]
#[should_panic(expected = "`grad` has 1 parts, and 3 arguments are of real type: say which they belong to")]
fn active_arguments_have_to_be_told() {
    let (w, x) = (array![0.3, -0.2], array![[0.5, 1.0], [-1.0, 0.25], [2.0, 0.0]]);
    ad::check_grad!(loss(&w, &x, &[2, 0, 1], 3, 0.5));
}

//! `check_grad!` passes for correct derivatives, and reports a derivative that is not that of the
//! function.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Functions of every kind of parameter, by value and by reference, with the names that formulas
// give them.
#![allow(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    clippy::ptr_arg,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref
)]

use ad::prelude::*;

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into, wrt(w))]
fn loss(w: &Array1<f64>, x: &Array2<f64>, labels: &[usize], n: usize, rate: f64) -> f64 {
    let z = x.dot(w);
    let all = build1(n, |i| softplus(-z[labels[i]]) * rate);
    all.sum() + w.dot(w) * z[0]
}

#[differentiate(vjp, jvp, jacobian, pullback)]
fn mixed(a: f64, b: &f64, x: &[f64], y: Vec<f64>, p: [f64; 2], q: &[[f64; 2]; 2], v: ArrayView1<'_, f64>) -> Vec<f64> {
    let s = a * b + p[0] * q[1][0] - p[1] * q[0][1];
    x.iter().zip(&y).map(|(x, y)| (x * y + s).sin() * v[0]).collect()
}

/// Every way to write a type.
#[differentiate(grad, jvp, hvp, into, vjp, pullback)]
fn referred<'a>(
    a: &&f64,
    x: &&[f64],
    y: &'a Vec<f64>,
    v: &'a ArrayView2<'a, f64>,
    w: ArrayView1<f64>,
    u: &ArrayRef1<f64>,
    p: &&[f64; 2],
    mask: Vec<bool>,
    order: Array1<usize>,
) -> f64 {
    let chosen = if mask[0] { x[order[0]] } else { y[order[1]] };
    chosen * v[[0, 1]] * **a + w.dot(u) * p[1] * v[[1, 0]] + (x[0] * y[1]).sin()
}

/// References that are never returned.
#[differentiate(grad, jvp, hvp)]
fn kept(x: &'static [f64], v: ArrayView1<'static, f64>, order: &'static [usize]) -> f64 {
    x[order[0]] * v[order[1]] * x[order[1]]
}

#[differentiate(grad, jvp, hvp)]
fn single(x: &Array1<f32>, t: f32) -> f32 {
    x.mapv(f32::tanh).sum() * t
}

#[differentiate(grad, jvp, hvp, hessian, wrt(x))]
fn generic<T: Real, const N: usize>(x: &[T; N], scale: T) -> T {
    x.iter().map(|x| x.sin()).sum::<T>() * scale + x[0] * x[N - 1] * x[0]
}

/// Second derivatives only: they come from the function alone.
#[differentiate(hvp, hessian, wrt(generic))]
fn curved(generic: &Array1<f64>, curved: f64) -> f64 {
    generic.mapv(f64::exp).sum() * curved + generic[0] * generic[1] * generic[1]
}

#[differentiate(jacobian, jvp)]
fn of_nothing(x: &Array1<f64>, p: [f64; 0]) -> Array1<f64> {
    x.mapv(f64::sin) + p.len() as f64
}

#[test]
fn right_derivatives_pass() {
    let (w, x) = (array![0.3, -0.2], array![[0.5, 1.0], [-1.0, 0.25], [2.0, 0.0]]);
    ad::check_grad!(loss(&w, &x, &[2, 0, 1], 3, 0.5));
    ad::check_grad!(loss(&w, &x, &[2, 0, 1], 3, 0.5), grad, into, hvp, tolerance = 1e-8);
    let (p, q) = ([0.3, 0.4], [[0.5, 0.6], [0.7, 0.8]]);
    let y = vec![1.0, 2.0];
    ad::check_grad!(mixed(0.1, &0.2, &[0.3, 0.4], y.clone(), p, &q, w.view()));
    let v = array![[0.1, 0.7], [-0.3, 0.4]];
    ad::check_grad!(referred(&&0.7, &&[0.2, 0.3][..], &y, &v.view(), x.row(0), &w, &&p, vec![true], array![1, 0]));
    ad::check_grad!(kept(&[0.3, 0.4], ArrayView1::from(&[0.2, 0.7]), &[1, 0]));
    ad::check_grad!(single(&array![0.5_f32, 0.25], 2.0));
    ad::check_grad!(generic(&[0.2_f64, 0.4, 0.5], 1.5));
    ad::check_grad!(generic::<f32, 2>(&[0.2, 0.4], 1.5));
    ad::check_grad!(curved(&array![0.2, 0.4], 1.5));
    ad::check_grad!(of_nothing(&array![0.2, 0.4], []));
    ad::check_grad!(of_nothing(&array![], []));
}

/// A sum over more entries than are compared.
#[differentiate(grad, jvp, into)]
fn long(x: &Array2<f64>) -> f64 {
    x.mapv(|x| x * x).sum() / x.len() as f64
}

#[test]
fn many_entries() {
    ad::check_grad!(long(&Array2::from_shape_fn((30, 40), |(i, j)| (i * j) as f64 / 100.0)));
}

/// The function is not continuous at whole numbers, so differences do not approximate the
/// derivative.
#[differentiate(grad, vjp, jvp, jacobian, hvp, into, pullback)]
fn steps(height: f64, x: &Array2<f64>) -> f64 {
    height * x.mapv(f64::floor).sum() + x.sum()
}

#[differentiate(jacobian, jvp, vjp)]
fn far_steps(x: &Array1<f64>) -> Array1<f64> {
    build1(3, |i| x[i] + (x[1] * i as f64).floor())
}

macro_rules! wrong {
    ($($name:ident: $($option:ident)? $(, $expected:expr)*;)*) => {$(
        #[test]
        fn $name() {
            let found = std::panic::catch_unwind(|| {
                ad::check_grad!(steps(2.0, &array![[0.5, 0.25, 1.5], [0.1, 0.2, 3.0]]) $(, $option)?);
            });
            let message = *found.expect_err("a wrong derivative").downcast::<String>().expect("a message");
            $(assert!(message.contains($expected), "{message}");)*
        }
    )*};
}

wrong! {
    the_worst_entry_is_named: , "`grad` is wrong", "worst:        parameter `x`, entry [1, 2]\n", "derivative:   1e0";
    by_into: into, "`into` is wrong", "parameter `x`, entry [1, 2]\n";
    by_vjp: vjp, "`vjp` is wrong", "parameter `x`, entry [1, 2]\n";
    by_jvp: jvp, "`jvp` is wrong", "parameter `x`, entry [1, 2]\n";
    by_jacobian: jacobian, "`jacobian` is wrong", "parameter `x`, entry [1, 2]\n";
    by_pullback: pullback, "`pullback` is wrong", "parameter `x`, entry [1, 2]\n";
    by_hvp: hvp, "`hvp` is wrong", "parameter `x`, entry [1, 2], and parameter `height`\n";
    what_was_not_written: hessian, "there is no `hessian`, the function's attribute writes `grad`, `vjp`, `jvp`, `jacobian`, `hvp`, `pullback`, `into`";
}

#[test]
#[should_panic(expected = "parameter `x`, entry [1], component [2] of the result")]
fn the_component_is_named() {
    ad::check_grad!(far_steps(&array![0.2, 1.0, 0.4]), jacobian);
}

/// Its slope jumps at zero.
#[differentiate(laplacian)]
fn bent(x: &Array1<f64>) -> f64 {
    x.iter().map(|x| x * x + x.abs()).sum()
}

#[test]
#[should_panic(expected = "worst:        the sum over all entries")]
fn laplacians_are_compared() {
    ad::check_grad!(bent(&array![0.5, 0.25]));
    ad::check_grad!(bent(&array![0.5, 0.0]));
}

/// The branch of one of the terms changes within the step of the first differences.
#[differentiate(grad, jvp, hvp)]
fn near_decisions(x: f64, y: f64, limit: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..20 {
        let t = x * f64::from(k);
        sum += if t > limit { t * y } else { t * t * x };
    }
    sum
}

#[test]
fn decisions_next_to_the_point_are_none_of_the_derivatives() {
    for limit in [7.0005, 6.9995, 7.000_05] {
        ad::check_grad!(near_decisions(1.0, 2.0, limit));
    }
}

#[test]
#[should_panic(expected = "then check at another point")]
fn decisions_at_the_point_are_said_to_be_possible() {
    ad::check_grad!(steps(2.0, &array![[3.0]]), grad);
}

//! Solutions of equations: the values are the function's own, and the derivatives are those of
//! central differences and of the solution where it is known, forwards as in reverse, and once
//! more.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

#[path = "allocator/mod.rs"]
mod allocator;

use ad::linalg::solve;
use ad::prelude::*;

/// The square root by Heron's iteration.
#[differentiate(grad, jvp, hvp, hessian)]
fn heron(a: f64) -> f64 {
    fixed_point(|x| 0.5 * (x + a / x), 1.0, 1e-13, 50)
}

#[differentiate(grad, jvp, hvp, hessian)]
fn cube_root(a: f64) -> f64 {
    root(|x| x * x * x - a, 1.0, 1e-12, 50)
}

#[test]
fn the_derivatives_of_roots() {
    for a in [0.5, 2.0, 7.0_f64] {
        let (value, gradient) = heron_value_and_grad(a);
        assert_eq!(value, heron(a));
        assert!((value - a.sqrt()).abs() < 1e-13 && (gradient - 0.5 / a.sqrt()).abs() < 1e-12);
        assert!((heron_jvp(a, 2.0).1 - 1.0 / a.sqrt()).abs() < 1e-12);
        assert!((heron_hessian(a) + 0.25 * a.powf(-1.5)).abs() < 1e-11, "{}", heron_hessian(a));
        let (value, gradient) = cube_root_value_and_grad(a);
        assert_eq!(value, cube_root(a));
        assert!((gradient - a.powf(-2.0 / 3.0) / 3.0).abs() < 1e-11);
        assert!((cube_root_hessian(a) + a.powf(-5.0 / 3.0) * 2.0 / 9.0).abs() < 1e-10);
        assert!((cube_root_hvp(a, 3.0) / 3.0 - cube_root_hessian(a)).abs() < 1e-12);
    }
    ad::check_grad!(heron(3.0));
    ad::check_grad!(cube_root(3.0));
}

/// A layer whose output is its own input.
#[differentiate(vjp, jvp, jacobian)]
fn equilibrium(w: &Array2<f64>, b: &Array1<f64>) -> Array1<f64> {
    fixed_point(|x| (w.dot(&x) + b).mapv(f64::tanh), Array1::zeros(b.len()), 1e-12, 200)
}

#[differentiate(grad, hvp)]
fn of_equilibrium(w: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = fixed_point(|x: Array1<f64>| (w.dot(&x) + b).mapv(f64::tanh), Array1::zeros(b.len()), 1e-13, 200);
    x.dot(&x) * b[0] + x[1]
}

#[differentiate(grad, hvp)]
fn of_root(w: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = ad::root(|x: Array1<f64>| w.dot(&x) + x.mapv(|x| x * x * x) - b, b.clone(), 1e-12, 50);
    x.dot(&x) * b[0] + x[1]
}

fn weights() -> (Array2<f64>, Array1<f64>) {
    (array![[0.3, -0.2, 0.1], [0.2, 0.4, -0.1], [-0.3, 0.1, 0.2]], array![0.5, -0.4, 0.9])
}

#[test]
fn the_derivatives_of_arrays() {
    let (w, b) = weights();
    let (value, _) = equilibrium_vjp(&w, &b, &array![1.0, 2.0, 3.0]);
    assert_eq!(value, equilibrium(&w, &b));
    ad::check_grad!(equilibrium(&w, &b));
    ad::check_grad!(of_equilibrium(&w, &b));
    let w = w + Array2::<f64>::eye(3);
    assert_eq!(of_root_value_and_grad(&w, &b).0, of_root(&w, &b));
    ad::check_grad!(of_root(&w, &b));
}

/// A linear equation has the derivatives of its solution by a factorisation.
#[differentiate(grad, hvp)]
fn linear(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = root(|x: Array1<f64>| a.dot(&x) - b, Array1::zeros(b.len()), 1e-12, 10);
    x.dot(&x) + x[0]
}

#[differentiate(grad, hvp)]
fn factored(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = solve(a, b);
    x.dot(&x) + x[0]
}

#[test]
fn a_linear_equation() {
    let (w, b) = weights();
    let a = w + Array2::<f64>::eye(3);
    let (by_root, by_factors) = (linear_grad(&a, &b), factored_grad(&a, &b));
    assert!(by_root.0.abs_diff_eq(&by_factors.0, 1e-10) && by_root.1.abs_diff_eq(&by_factors.1, 1e-10));
    let (da, db) = (a.mapv(f64::sin), b.mapv(f64::cos));
    let (by_root, by_factors) = (linear_hvp(&a, &b, &da, &db), factored_hvp(&a, &b, &da, &db));
    assert!(by_root.0.abs_diff_eq(&by_factors.0, 1e-9) && by_root.1.abs_diff_eq(&by_factors.1, 1e-9));
}

trait Near {
    fn abs_diff_eq(&self, other: &Self, tolerance: f64) -> bool;
}

impl<D: ad::ndarray::Dimension> Near for ad::ndarray::Array<f64, D> {
    fn abs_diff_eq(&self, other: &Self, tolerance: f64) -> bool {
        self.iter().zip(other).all(|(a, b)| (a - b).abs() <= tolerance * b.abs().max(1.0))
    }
}

#[differentiate(grad)]
fn generic<T: Real>(a: T) -> T {
    fixed_point(|x| T::lit(0.5) * (x + a / x), T::lit(1.0), T::lit(1e-6), 50) + root(|x| x * x - a, a, T::lit(1e-5), 50)
}

#[test]
fn single_precision() {
    assert!((generic_grad(4.0_f32) - 0.5).abs() < 1e-5);
    assert!((generic_grad(4.0_f64) - 0.5).abs() < 1e-5);
    assert_eq!(generic_value_and_grad(3.0_f32).0, generic(3.0_f32));
}

/// Solutions in a build, in a loop, and of arrays of static size.
#[differentiate(grad, hvp)]
fn everywhere(a: &Array1<f64>, p: [f64; 2]) -> f64 {
    let each = build1(a.len(), |i| root(|x| x + (p[0] * x).sin() - a[i], a[i], 1e-12, 30));
    let mut s = 0.0;
    for i in 0..a.len() {
        s += fixed_point(|x| (x + a[i] * s).cos() * p[1], 0.5, 1e-13, 200);
    }
    let pair = fixed_point(|[x, y]: [f64; 2]| [0.3 * (y + p[0]).sin(), 0.4 * (x * p[1]).cos()], [0.0, 0.0], 1e-13, 100);
    (&each * &each).sum() + s * s + pair[0] * pair[1]
}

#[test]
fn in_builds_and_loops() {
    let (a, p) = (array![0.4, 0.9, -0.7], [0.6, 0.3]);
    assert_eq!(everywhere_value_and_grad(&a, p).0, everywhere(&a, p));
    ad::check_grad!(everywhere(&a, p));
}

/// A solution in the equation of another one.
#[differentiate(grad, hessian)]
fn nested(a: f64) -> f64 {
    root(
        |x| {
            let y = fixed_point(|y: f64| 0.5 * (x * y).cos() + 0.1 * a, 0.0, 1e-14, 200);
            x + y * a - 1.0
        },
        0.5,
        1e-13,
        50,
    )
}

#[test]
fn one_in_another() {
    let a = 0.8;
    let h = 1e-5;
    let second = (nested_grad(a + h) - nested_grad(a - h)) / (2.0 * h);
    let first = (nested(a + h) - nested(a - h)) / (2.0 * h);
    assert!((nested_grad(a) - first).abs() < 1e-8, "{} {first}", nested_grad(a));
    assert!((nested_hessian(a) - second).abs() < 1e-8, "{} {second}", nested_hessian(a));
}

/// The derivative of a derivative that is called in a function.
#[differentiate(grad, hessian)]
fn over_hessian(a: f64) -> f64 {
    cube_root_hessian(a) * a
}

#[test]
fn derivatives_of_the_fourth_order() {
    // -2/9 a^(-5/3) a = -2/9 a^(-2/3)
    let a = 1.7_f64;
    assert!((over_hessian_grad(a) - 4.0 / 27.0 * a.powf(-5.0 / 3.0)).abs() < 1e-8);
    assert!((over_hessian_hessian(a) + 20.0 / 81.0 * a.powf(-8.0 / 3.0)).abs() < 1e-7);
}

#[differentiate]
fn optional(a: f64) -> f64 {
    match try_root(|x| x * x + a, 1.0, 1e-10, 30) {
        Some(x) => x,
        None => 10.0 * a,
    }
}

#[differentiate]
fn optional_fixed_point(a: f64) -> f64 {
    try_fixed_point(|x| a * x + 1.0, 0.0, 1e-13, 500).map_or(a, |x| x * x)
}

#[test]
fn an_equation_without_a_solution() {
    assert_eq!(optional_value_and_grad(3.0), (30.0, 10.0));
    let (value, gradient) = optional_value_and_grad(-4.0);
    assert!((value - 2.0).abs() < 1e-10 && (gradient + 0.25).abs() < 1e-9);
    assert_eq!(optional_fixed_point_value_and_grad(2.0), (2.0, 1.0));
    assert!((optional_fixed_point_grad(0.5) - 16.0).abs() < 1e-9);
}

#[test]
#[should_panic(expected = "fixed_point: no convergence within the given number of steps")]
fn the_function_panics_without_convergence() {
    let _ = slow(0.99);
}

#[differentiate]
fn slow(a: f64) -> f64 {
    fixed_point(|x| a * x + 1.0, 0.0, 1e-13, 10)
}

#[test]
#[should_panic(expected = "fixed_point: no convergence within the given number of steps")]
fn the_gradient_panics_without_convergence() {
    let _ = slow_grad(0.99);
}

/// At a fold of the solution the value is there, and the derivative is infinite.
#[differentiate]
fn fold_of(a: f64) -> f64 {
    fixed_point(|x| x - (x * x - a) * x, 0.0, 1e-13, 10) + a
}

#[test]
fn a_singular_system() {
    let (value, gradient) = fold_of_value_and_grad(0.0);
    assert_eq!(value, 0.0);
    assert!(!gradient.is_finite(), "{gradient}");
}

/// No step of the iteration is kept for the derivative.
#[test]
fn the_memory_of_a_gradient_does_not_depend_on_the_number_of_steps() {
    let b = Array1::from_elem(100, 0.3);
    let used = |a: f64| allocator::counted(|| scaled_grad(a, &b)).1;
    let (few, many) = (used(0.1), used(0.999));
    assert_eq!(few, many);
}

#[differentiate(grad, wrt(a))]
fn scaled(a: f64, b: &Array1<f64>) -> f64 {
    fixed_point(|x: Array1<f64>| b + a * x, Array1::zeros(b.len()), 1e-12, 100_000).sum()
}

/// A decision on a solution is the function's own.
#[differentiate]
fn decided(a: f64) -> f64 {
    let x = root(|x| x * x - a, a, 1e-12, 50);
    if x > 1.5 { x * a } else { -x }
}

#[test]
fn a_decision_on_a_solution() {
    ad::check_grad!(decided(4.0));
    ad::check_grad!(decided(1.0));
}

/// The user's own functions of these names.
mod own {
    use ad::prelude::{differentiable, differentiate};

    #[differentiable]
    fn root(x: f64) -> f64 {
        x.sqrt()
    }

    #[differentiate]
    pub fn of_own(x: f64) -> f64 {
        root(x)
    }
}

#[test]
fn a_function_of_the_same_name() {
    assert_eq!(own::of_own_grad(4.0), 0.25);
}

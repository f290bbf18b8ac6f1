//! `cumsum`: values are the function's own, derivatives of every kind those of central differences
//! and of closed forms.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use ad::ndarray::{Array3, s};
use ad::prelude::*;

#[differentiate(grad, jvp, hvp, hessian, into, pullback)]
fn weighted(x: &Array1<f64>) -> f64 {
    cumsum(x).iter().enumerate().map(|(i, c)| (i + 1) as f64 * c * c * c).sum::<f64>()
}

#[differentiate(vjp, jvp, jacobian)]
fn lines(x: &Array2<f64>) -> Array2<f64> {
    cumsum(&x.mapv(f64::sin))
}

#[differentiate]
fn along_other_axes(x: &Array3<f64>) -> f64 {
    let a = cumsum(&x.view().permuted_axes([2, 0, 1]));
    let b = cumsum(&x.slice(s![.., ..;-1, ..]));
    (&a * &a).sum() + (&b * &b * &b).sum()
}

#[differentiate]
fn in_a_build(x: &Array2<f64>) -> f64 {
    let rows = build1(x.nrows(), |i| cumsum(&x.row(i).mapv(|v| v * (i + 1) as f64)));
    rows.mapv(f64::sin).sum()
}

#[differentiate]
fn in_a_loop(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    for k in 0..3 {
        y = cumsum(&y.mapv(f64::tanh)) * (0.5 + k as f64 * 0.1);
    }
    y.sum()
}

#[differentiate]
fn of_parts(x: &Array1<f64>) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let c = cumsum(&x.slice(s![..i + 1]));
        s += c[i] * c[0] + (&c * &c).sum();
    }
    s
}

#[differentiate(grad, hessian)]
fn on_the_stack(x: [f64; 5]) -> f64 {
    let c = cumsum(&x);
    c[0] * c[1] * c[2] + c[3] * c[4]
}

#[differentiate(vjp)]
fn of_vectors(x: &[f64]) -> Vec<f64> {
    cumsum(x)
}

#[differentiate]
fn single(x: &Array1<f32>) -> f32 {
    cumsum(x).mapv(|v| v * v).sum()
}

#[differentiate]
fn of_any_real<T: Real>(x: &Array1<T>) -> T {
    cumsum(x).mapv(|v| v * v).sum()
}

/// Which branch is taken depends on the last bit of a sum.
#[differentiate]
fn decides(x: &Array1<f64>) -> f64 {
    let c = cumsum(x);
    if c[c.len() - 1] == 0.1 + 0.2 + 0.3 { x.sum() } else { 0.0 }
}

fn ramp(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 0.3 - 0.17 * i as f64 + 0.05 * (i * i) as f64)
}

#[test]
fn gradients_are_those_of_differences() {
    for n in [1, 2, 5, 33] {
        let x = ramp(n) * 0.2;
        ad::check_grad!(weighted(&x));
        ad::check_grad!(in_a_loop(&x));
        ad::check_grad!(of_parts(&x));
    }
    let m = Array2::from_shape_fn((3, 4), |(i, j)| ((i * 4 + j) as f64 * 0.7).sin());
    ad::check_grad!(lines(&m));
    ad::check_grad!(in_a_build(&m));
    let t = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| ((i * 12 + j * 4 + k) as f64 * 0.4).cos());
    ad::check_grad!(along_other_axes(&t));
    ad::check_grad!(on_the_stack([0.4, -0.3, 0.9, 0.2, 1.1]));
}

#[test]
fn second_derivatives_have_their_closed_form() {
    // The Hessian of sum_i (i + 1) c_i^3 at (j, k) is the sum of 6 (i + 1) c_i over i >= max(j, k).
    let x = ramp(6);
    let c = cumsum(&x);
    let expected = |j: usize, k: usize| (j.max(k)..6).map(|i| 6.0 * (i + 1) as f64 * c[i]).sum::<f64>();
    let h = weighted_hessian(&x);
    let v = Array1::from_shape_fn(6, |i| 1.0 - 0.3 * i as f64);
    let hv = weighted_hvp(&x, &v);
    for j in 0..6 {
        for k in 0..6 {
            assert!((h[[j, k]] - expected(j, k)).abs() < 1e-12, "({j}, {k})");
        }
        let along: f64 = (0..6).map(|k| expected(j, k) * v[k]).sum();
        assert!((hv[j] - along).abs() < 1e-12);
    }
    let (value, tangent) = weighted_jvp(&x, &v);
    assert!((value - weighted(&x)).abs() < 1e-13);
    assert!((tangent - weighted_grad(&x).dot(&v)).abs() < 1e-12);
    let jacobian = lines_jacobian(&x.to_shape((2, 3)).unwrap().to_owned());
    assert!((jacobian[[1, 2, 1, 0]] - x[3].cos()).abs() < 1e-15);
    assert_eq!(jacobian[[1, 0, 1, 2]], 0.0);
}

#[test]
fn empty_arrays_views_and_other_types() {
    for shape in [(0, 3), (3, 0), (0, 0)] {
        let (value, pulled) = (lines(&Array2::zeros(shape)), lines_vjp(&Array2::zeros(shape), &Array2::zeros(shape)));
        assert_eq!((value.dim(), pulled.0.dim(), pulled.1.dim()), (shape, shape, shape));
    }
    assert_eq!(weighted_grad(&Array1::zeros(0)).len(), 0);
    assert_eq!(of_vectors_vjp(&[1.0, 2.0, 3.0], &[1.0, 10.0, 100.0]), (vec![1.0, 3.0, 6.0], vec![111.0, 110.0, 100.0]));
    let x = ramp(9);
    let twice = x.mapv(|v| v as f32);
    let (a, b, c) = (single_grad(&twice), of_any_real_grad(&twice), of_any_real_grad(&x));
    assert_eq!(a, b);
    assert!(a.iter().zip(&c).all(|(a, c)| (f64::from(*a) - c).abs() < 1e-4));
    assert_eq!(decides_grad(&array![0.1, 0.2, 0.3]), array![1.0, 1.0, 1.0]);
    assert_eq!(decides_grad(&array![0.3, 0.2, 0.1]), array![0.0, 0.0, 0.0]);
}

#[test]
fn the_sign_of_a_zero_is_kept() {
    assert!(cumsum(&[-0.0_f64])[0].is_sign_negative());
    assert!(of_vectors_vjp(&[-0.0], &[1.0]).0[0].is_sign_negative());
}

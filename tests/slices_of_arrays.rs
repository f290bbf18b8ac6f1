//! Slices and vectors of arrays of static size, `&[[f64; 2]]`: points, edges, matrices. Gradients,
//! directions and results have the same elements.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
#![deny(clippy::all)]
#![allow(clippy::ptr_arg, reason = "types are spelt out")]

use ad::check_grad;
use ad::prelude::*;

/// Points, and edges between them.
#[differentiate(wrt(x), grad, into, hvp, pullback, jacobian, vjp, jvp, hessian)]
fn energy(x: &[[f64; 2]], e: &[[usize; 2]]) -> f64 {
    let mut s = 0.0;
    for &[i, j] in e {
        let (a, b) = (x[i], x[j]);
        s += (a[0] - b[0]) * (a[1] - b[1]).sin();
    }
    for p in x {
        s += p[0] * p[1];
    }
    for [a, b] in x {
        s += a * b * b;
    }
    s + x.iter().map(|p| p[0] * p[0]).sum::<f64>() + x[0][1] * x[x.len() - 1][0]
}

/// A product of matrices.
#[differentiate(wrt(m), grad, into, hvp)]
fn chain(m: &[[[f64; 3]; 3]], v: [f64; 3]) -> f64 {
    let mut p = v;
    for t in m {
        let mut q = [0.0; 3];
        for i in 0..3 {
            for j in 0..3 {
                q[i] += t[i][j] * p[j];
            }
        }
        p = q;
    }
    p[0] * p[1] + p[2].sin()
}

/// A vector of points to another one.
#[differentiate(wrt(x), vjp, jvp, jacobian, pullback)]
fn moved(x: &Vec<[f64; 3]>, t: f64) -> Vec<[f64; 2]> {
    x.iter().map(|p| [p[0] * t + p[2], (p[1] * p[2]).tanh()]).collect()
}

/// A vector by value, whose copy is changed.
#[differentiate(wrt(x, w))]
fn owned(x: Vec<[f64; 3]>, w: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    for (p, &k) in y.iter_mut().zip(w) {
        p[0] *= k;
        for c in p.iter_mut() {
            *c = c.sin() * k;
        }
    }
    let [a, b, c] = y[1];
    a * b * c + y.iter().flatten().sum::<f64>()
}

/// Generic in the size of the elements.
#[differentiate(wrt(x))]
fn sized<const N: usize>(x: &[[f64; N]]) -> f64 {
    let mut best = 0.0;
    for r in x {
        let n: f64 = r.iter().map(|v| v * v).sum();
        best += n.sqrt();
    }
    best
}

/// Windows of points.
#[differentiate(wrt(x))]
fn length(x: &[[f64; 2]]) -> f64 {
    x.windows(2).map(|w| ((w[1][0] - w[0][0]).powi(2) + (w[1][1] - w[0][1]).powi(2)).sqrt()).sum()
}

const X: [[f64; 2]; 3] = [[0.3, 1.2], [0.7, -0.4], [1.5, 0.9]];
const P: [[f64; 3]; 3] = [[0.3, 1.2, 0.5], [0.7, -0.4, 0.2], [1.5, 0.9, 0.1]];

#[test]
fn points_and_edges() {
    let e = [[0, 1], [2, 0]];
    check_grad!(energy(&X, &e));
    let (value, gradient): (f64, Vec<[f64; 2]>) = energy_value_and_grad(&X, &e);
    assert!((value - energy(&X, &e)).abs() < 1e-13);
    let mut place = vec![[f64::NAN; 2]; 3];
    let direction: Vec<[f64; 2]> = vec![[1.0, 0.0]; 3];
    assert_eq!(energy_value_and_grad_into(&X, &e, &mut place), value);
    assert_eq!(place, gradient);
    let product: Vec<[f64; 2]> = energy_hvp(&X, &e, &direction);
    let hessian: Array4<f64> = energy_hessian(&X, &e);
    assert_eq!(hessian.shape(), [3, 2, 3, 2]);
    for (i, row) in product.iter().enumerate() {
        for (k, entry) in row.iter().enumerate() {
            let expected: f64 = (0..3).map(|j| hessian[[i, k, j, 0]]).sum();
            assert!((entry - expected).abs() < 1e-13, "{i} {k}: {entry} {expected}");
        }
    }
}

#[test]
fn matrices() {
    let m =
        [[[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.95]], [[1.0, -0.2, 0.3], [0.4, 1.5, -0.6], [0.7, 0.8, 1.95]]];
    check_grad!(chain(&m, [1.0, 2.0, -1.0]));
    let gradient: Vec<[[f64; 3]; 3]> = chain_grad(&m, [1.0, 2.0, -1.0]);
    let mut place = vec![[[f64::NAN; 3]; 3]; 2];
    chain_value_and_grad_into(&m, [1.0, 2.0, -1.0], &mut place);
    assert_eq!(place, gradient);
    let none: Vec<[[f64; 3]; 3]> = chain_grad(&[], [1.0, 2.0, -1.0]);
    assert!(none.is_empty());
}

#[test]
fn results() {
    let p = P.to_vec();
    check_grad!(moved(&p, 0.7));
    let (value, jacobian): (Vec<[f64; 2]>, Array4<f64>) = moved_value_and_jacobian(&p, 0.7);
    assert_eq!(value, moved(&p, 0.7));
    let (_, pullback) = moved_pullback(&p, 0.7);
    let cotangents: Vec<[f64; 3]> = pullback(&[[1.0, 0.0]; 3]);
    assert_eq!(cotangents[1], [0.7, 0.0, 1.0]);
    assert_eq!((jacobian.shape(), jacobian[[1, 0, 1, 0]]), (&[3, 2, 3, 3][..], 0.7));
    let fewer = std::panic::catch_unwind(|| pullback(&[[1.0, 0.0]; 2]).len());
    assert!(fewer.is_err(), "a cotangent of another length");
}

#[test]
fn values_and_sizes() {
    let w = Array1::from(vec![0.2, 0.5, 1.3]);
    check_grad!(owned(P.to_vec(), &w));
    check_grad!(sized(&P));
    check_grad!(sized(&X));
    check_grad!(length(&X));
    let (gradient, _): (Vec<[f64; 3]>, Array1<f64>) = owned_grad(P.to_vec(), &w);
    assert_eq!(gradient.len(), 3);
}

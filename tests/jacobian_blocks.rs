//! Jacobians and Hessians whose intermediate arrays for all seeds together do not fit in a cache.
//! They are computed in blocks of seeds. The tests also cover the choice of the direction with less
//! work, if the macro knows no size.

#![deny(warnings, clippy::all)]
#![allow(clippy::assign_op_pattern, reason = "a sum that is bound anew is one of the forms")]

use ad::ndarray::{Axis, Dimension, Slice};
use ad::prelude::*;

fn wave(n: usize, frequency: f64) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| (i as f64 * frequency + 0.3).sin())
}

fn waves(rows: usize, columns: usize, frequency: f64) -> Array2<f64> {
    wave(rows * columns, frequency).into_shape_with_order((rows, columns)).unwrap()
}

#[track_caller]
fn same<D: Dimension>(found: &ad::ndarray::Array<f64, D>, expected: &ad::ndarray::Array<f64, D>) {
    assert_eq!(found.shape(), expected.shape());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-11 * b.abs().max(1.0), "{a} instead of {b}");
    }
}

/// A chain of joints that moves points. The intermediate arrays hold all points at all joints.
#[differentiate(jacobian, jvp, wrt(angles))]
fn skinned(angles: &Array1<f64>, points: &Array2<f64>, weights: &Array2<f64>) -> Array2<f64> {
    let joints = weights.ncols();
    let mut turned = Array3::<f64>::zeros((joints, 2, 2));
    let mut last = Array2::<f64>::eye(2);
    for j in 0..joints {
        let (s, c) = (angles[j].sin(), angles[j + 1].cos());
        last = last.dot(&array![[c, -s], [s, c]]);
        turned.index_axis_mut(Axis(0), j).assign(&last);
    }
    let mut out = Array2::<f64>::zeros((points.nrows(), 2));
    for j in 0..joints {
        let moved = points.dot(&turned.index_axis(Axis(0), j).t());
        out = out + &(&moved * &weights.column(j).insert_axis(Axis(1)));
    }
    out
}

#[test]
fn columns_in_blocks_are_tangents() {
    for (points, joints) in [(0, 3), (1, 1), (7, 3), (250, 5), (400, 11), (900, 25)] {
        let (p, w) = (waves(points, 2, 0.7), waves(points, joints, 0.31));
        let angles = wave(joints + 1, 1.1);
        let (value, found) = skinned_value_and_jacobian(&angles, &p, &w);
        same(&value, &skinned(&angles, &p, &w));
        for k in 0..angles.len() {
            let mut direction = Array1::zeros(angles.len());
            direction[k] = 1.0;
            let expected = skinned_jvp(&angles, &p, &w, &direction);
            same(&found.index_axis(Axis(2), k).to_owned(), &expected.1);
        }
    }
}

/// The loss of each example of a small net.
#[differentiate(jacobian, wrt(w))]
fn losses(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> Array1<f64> {
    let d = x.ncols();
    let h = w.len() / (d + 1);
    let inner = w.slice(s![..h * d]).into_shape_with_order((h, d)).unwrap();
    let outer = w.slice(s![h * d..h * d + h]);
    let p = x.dot(&inner.t()).mapv(f64::tanh).dot(&outer);
    (&p - y).mapv(|e| e * e)
}

#[differentiate(grad, wrt(w))]
fn loss(w: &Array1<f64>, x: &Array2<f64>, y: f64) -> f64 {
    let d = x.ncols();
    let h = w.len() / (d + 1);
    let inner = w.slice(s![..h * d]).into_shape_with_order((h, d)).unwrap();
    let outer = w.slice(s![h * d..h * d + h]);
    let e = x.dot(&inner.t()).mapv(f64::tanh).dot(&outer)[0] - y;
    e * e
}

#[test]
fn rows_of_examples_are_their_gradients() {
    for (examples, d, h) in [(0, 2, 2), (1, 1, 1), (5, 3, 4), (70, 9, 11), (130, 20, 30)] {
        let (w, x, y) = (wave(h * d + h, 0.9), waves(examples, d, 0.37), wave(examples, 1.3));
        let found = losses_jacobian(&w, &x, &y);
        assert_eq!(found.dim(), (examples, h * d + h));
        for i in 0..examples {
            let one = x.slice_axis(Axis(0), Slice::from(i..i + 1)).to_owned();
            same(&found.row(i).to_owned(), &loss_grad(&w, &one, y[i]));
        }
    }
}

/// The parameter is a matrix. The intermediate arrays hold all pairs of rows.
#[differentiate(jacobian, jvp, wrt(c))]
fn distances(c: &Array2<f64>, x: &Array2<f64>) -> Array1<f64> {
    build1(x.nrows(), |i| {
        build1(c.nrows(), |k| {
            let apart = &x.row(i) - &c.row(k);
            (-apart.dot(&apart)).exp()
        })
        .sum()
        .ln()
    })
}

#[test]
fn of_a_matrix() {
    for (n, k, d) in [(1, 1, 1), (4, 3, 2), (60, 12, 5)] {
        let (c, x) = (waves(k, d, 0.77), waves(n, d, 0.29));
        let found = distances_jacobian(&c, &x);
        assert_eq!(found.dim(), (n, k, d));
        for at in 0..k * d {
            let mut direction = Array2::zeros((k, d));
            direction[[at / d, at % d]] = 1.0;
            let column = found.index_axis(Axis(1), at / d).index_axis_move(Axis(1), at % d).to_owned();
            same(&column, &distances_jvp(&c, &x, &direction).1);
        }
    }
}

/// The Hessian of a sum over examples.
#[differentiate(grad, hessian, hvp, wrt(w))]
fn fit(w: &Array1<f64>, x: &Array2<f64>) -> f64 {
    let h = w.len() / x.ncols();
    let inner = w.slice(s![..h * x.ncols()]).into_shape_with_order((h, x.ncols())).unwrap();
    x.dot(&inner.t()).mapv(|z| (1.0 + z * z).ln()).sum()
}

#[test]
fn hessians_in_blocks_are_products_with_unit_vectors() {
    for (n, d, h) in [(0, 2, 2), (3, 2, 2), (200, 4, 10), (300, 6, 12)] {
        let (w, x) = (wave(d * h, 0.9), waves(n, d, 0.37));
        let found = fit_hessian(&w, &x);
        for k in 0..w.len() {
            let mut direction = Array1::zeros(w.len());
            direction[k] = 1.0;
            same(&found.column(k).to_owned(), &fit_hvp(&w, &x, &direction));
        }
        same(&found, &found.t().to_owned());
    }
}

/// As many results as the macro knows, of as many parameters as it does not: the sizes of a call
/// decide the direction.
#[differentiate(jacobian, jvp)]
fn sampled(x: &Array1<f64>, scale: f64) -> Array1<f64> {
    let mut y: Array1<f64> = Array1::zeros(20);
    for i in 0..20 {
        y[i] = (x[i % x.len()] * scale).sin() + 0.1 * x.dot(x);
    }
    for i in 1..20 {
        y[i] = y[i] * y[i - 1];
    }
    y
}

#[test]
fn the_sizes_of_a_call_decide_the_direction() {
    for n in [1, 3, 19, 21, 60, 300] {
        let x = wave(n, 0.7) * 0.3;
        let (value, (by_x, by_scale)) = sampled_value_and_jacobian(&x, 0.9);
        same(&value, &sampled(&x, 0.9));
        for k in 0..n {
            let mut direction = Array1::zeros(n);
            direction[k] = 1.0;
            same(&by_x.column(k).to_owned(), &sampled_jvp(&x, 0.9, &direction, 0.0).1);
        }
        same(&by_scale, &sampled_jvp(&x, 0.9, &Array1::zeros(n), 1.0).1);
    }
}

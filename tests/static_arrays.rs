//! Arrays of static size, through the macro: gradients, cotangents and tangents have the types that
//! the guide gives, and the right values.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::many_single_char_names,
    clippy::float_cmp,
    clippy::trivially_copy_pass_by_ref,
    reason = "the functions are as a user may write them"
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::type_complexity,
    clippy::needless_pass_by_value,
    reason = "types are spelt out"
)]

use ad::prelude::*;

const K: usize = 4;
const RATE: f64 = 0.75;
const SHIFT: f32 = 0.25;

/// Central differences of `f` along every coordinate.
fn differences<const N: usize>(x: [f64; N], f: impl Fn([f64; N]) -> f64) -> [f64; N] {
    std::array::from_fn(|i| {
        let at = |h: f64| {
            let mut y = x;
            y[i] += h;
            f(y)
        };
        (at(1e-6) - at(-1e-6)) / 2e-6
    })
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= 1e-7 * (1.0 + y.abs()), "{a:?} is not {b:?}");
    }
}

#[differentiate(vjp, jvp)]
fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
    [
        v[0] + w * t[0] + (y * t[2] - z * t[1]),
        v[1] + w * t[1] + (z * t[0] - x * t[2]),
        v[2] + w * t[2] + (x * t[1] - y * t[0]),
    ]
}

#[test]
fn a_rotation() {
    let (q, v, u) = ([0.5, -0.5, 0.1, 0.7], [1.0, 2.0, -3.0], [0.3, -1.0, 2.0]);
    let dot = |a: [f64; 3]| a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
    let (value, (dq, dv)): ([f64; 3], ([f64; 4], [f64; 3])) = rotate_vjp(q, v, u);
    close(&value, &rotate(q, v));
    close(&dq, &differences(q, |q| dot(rotate(q, v))));
    close(&dv, &differences(v, |v| dot(rotate(q, v))));
    let (tq, tv) = ([1.0, 0.5, -2.0, 0.1], [0.2, 0.3, -0.4]);
    let (_, tangent): ([f64; 3], [f64; 3]) = rotate_jvp(q, v, tq, tv);
    let along: f64 =
        dq.iter().zip(tq).map(|(a, b)| a * b).sum::<f64>() + dv.iter().zip(tv).map(|(a, b)| a * b).sum::<f64>();
    close(&[dot(tangent)], &[along]);
}

#[differentiate(grad, vjp, jvp)]
fn quadratic<T: Real, const N: usize, const M: usize>(a: [[T; N]; M], x: &[T; N]) -> T {
    let rows = (0..M).map(|i| {
        let row = (0..N).map(|j| a[i][j] * x[j]).sum::<T>();
        row * row
    });
    rows.sum::<T>() * T::lit(0.5)
}

#[test]
fn const_parameters() {
    let (a, x) = ([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]], [0.7, -0.2]);
    let (value, (da, dx)): (f64, ([[f64; 2]; 3], [f64; 2])) = quadratic_value_and_grad(a, &x);
    let rows: [f64; 3] = a.map(|r| r[0] * x[0] + r[1] * x[1]);
    close(&[value], &[rows.iter().map(|r| 0.5 * r * r).sum()]);
    close(da.as_flattened(), rows.map(|r| [r * x[0], r * x[1]]).as_flattened());
    close(&dx, &differences(x, |x| quadratic(a, &x)));
    assert_eq!(quadratic_grad(a, &x), (da, dx));
    assert_eq!(quadratic_vjp(a, &x, 1.0), (value, (da, dx)));
    let single: (f32, ([[f32; 1]; 1], [f32; 1])) = quadratic_value_and_grad([[3.0_f32]], &[2.0]);
    assert_eq!(single, (18.0, ([[12.0]], [18.0])));
    let none: (f64, ([[f64; 2]; 0], [f64; 2])) = quadratic_value_and_grad([], &[1.0, 2.0]);
    assert_eq!(none, (0.0, ([], [0.0, 0.0])));
    let empty: (f64, ([[f64; 0]; 2], [f64; 0])) = quadratic_value_and_grad([[], []], &[]);
    assert_eq!(empty, (0.0, ([[], []], [])));
    let large = quadratic_grad([[1.0; 40]; 3], &[0.5; 40]);
    assert_eq!(large, ([[10.0; 40]; 3], [60.0; 40]));
    assert_eq!(quadratic_jvp(a, &x, [[0.0; 2]; 3], [1.0, 0.0]).1, dx[0]);
}

#[differentiate(vjp, jvp)]
fn scaled<const N: usize>(x: &[[f64; 3]; N], s: &f64) -> [[f64; 3]; N] {
    x.map(|row| row.map(|v| v * s * RATE))
}

#[differentiate]
fn weighted(x: [f32; K], w: [f32; 4], on: [bool; K]) -> f32 {
    let [a, b, c, d] = x;
    if on[2] { (a * w[0] + b * w[1] + c * w[2]) * d } else { a - w[3] * SHIFT + K as f32 }
}

#[test]
fn constants() {
    let (value, (dx, ds)): ([[f64; 3]; 2], ([[f64; 3]; 2], f64)) =
        scaled_vjp(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &2.0, [[1.0; 3]; 2]);
    assert_eq!(value, [[1.5, 3.0, 4.5], [6.0, 7.5, 9.0]]);
    assert_eq!((dx, ds), ([[1.5; 3]; 2], 15.75));
    assert_eq!(scaled_vjp(&[], &2.0, []), ([], ([], 0.0)));
    assert_eq!(scaled_jvp(&[[1.0; 3]], &2.0, [[1.0, 0.0, 0.0]], 1.0).1, [[2.25, 0.75, 0.75]]);
    let (x, w) = ([1.0, 2.0, 3.0, 4.0], [0.5; 4]);
    assert_eq!(weighted_value_and_grad(x, w, [true; 4]).1, ([2.0, 2.0, 2.0, 3.0], [4.0, 8.0, 12.0, 0.0]));
    assert_eq!(weighted_value_and_grad(x, w, [false; 4]), (4.875, ([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -0.25])));
}

const WEIGHTS: [f64; 3] = [2.0, 3.0, 5.0];
static OFFSETS: &[f64] = &[0.5, 0.25];
const ORDER: &[usize; 3] = &[2, 0, 1];
const TURN: [[f64; 2]; 2] = [[0.0, -1.0], [1.0, 0.0]];

mod tables {
    pub const HALVES: [f32; 2] = [0.5, 1.5];
}

#[differentiate(grad, jvp, hvp, pullback)]
fn of_tables(x: &[f64], y: f64) -> f64 {
    let w: [f64; 3] = WEIGHTS;
    let picked: f64 = ORDER.iter().zip(&WEIGHTS).map(|(&i, v)| x[i] * v).sum();
    let mut s = w[1] * y;
    for (k, v) in OFFSETS.iter().enumerate() {
        s += y * v * OFFSETS[OFFSETS.len() - 1 - k] * x[ORDER[k]];
    }
    picked * x[0] + s * WEIGHTS[2]
}

#[differentiate(vjp)]
fn turned(p: [f64; 2]) -> [f64; 2] {
    let m: [[f64; 2]; 2] = TURN;
    [m[0][0] * p[0] + TURN[0][1] * p[1], m[1][0] * p[0] + TURN[1][1] * p[1]]
}

#[differentiate]
fn halved(x: [f32; 2]) -> f32 {
    let h: &[f32] = &tables::HALVES;
    x[0] * h[0] + x[1] * tables::HALVES[1]
}

#[test]
fn constant_arrays() {
    let (x, y): (&[f64], f64) = (&[1.0, 2.0, 3.0], 7.0);
    ad::check_grad!(of_tables(x, y), grad, jvp, hvp);
    let (value, back) = of_tables_pullback(x, y);
    assert_eq!(value, of_tables(x, y));
    assert_eq!(back(1.0), of_tables_grad(x, y));
    assert_eq!(turned_vjp([2.0, 3.0], [1.0, 10.0]), ([-3.0, 2.0], [10.0, -1.0]));
    assert_eq!(halved_grad([1.0, 1.0]), [0.5, 1.5]);
}

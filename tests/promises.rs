//! What the contract says a call promises, through the macro.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::prelude::*;

thread_local! {
    static LINE: Cell<u32> = const { Cell::new(0) };
}

/// The line at which this panics.
fn line_of<T>(f: impl FnOnce() -> T) -> u32 {
    std::panic::set_hook(Box::new(|info| LINE.with(|line| line.set(info.location().map_or(0, |l| l.line())))));
    let result = catch_unwind(AssertUnwindSafe(f));
    assert!(result.is_err(), "there is no panic");
    LINE.with(Cell::get)
}

#[differentiate(grad, vjp, jvp)]
fn energy(x: &ArrayRef2<f64>, w: &ArrayRef1<f64>) -> f64 {
    let y = x.dot(w);
    let rows = build1(x.nrows(), |i| logsumexp(&x.row(i)) + (x.row(i).mapv(f64::sin) * w).sum());
    (&y * &rows).sum() + x.sum_axis(Axis(0)).dot(w) + maximum(x)
}

type Bits = (u64, Vec<u64>, Vec<u64>);

fn bits(x: &ArrayRef2<f64>, w: &ArrayRef1<f64>) -> Bits {
    let (value, (dx, dw)) = energy_value_and_grad(x, w);
    assert!(dx.is_standard_layout() && dw.is_standard_layout());
    assert_eq!(dx.dim(), x.dim());
    let all = |a: Vec<f64>| a.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let (dx, dw) = (all(dx.into_raw_vec_and_offset().0), all(dw.into_raw_vec_and_offset().0));
    let (gx, gw) = energy_grad(x, w);
    assert_eq!((all(gx.into_raw_vec_and_offset().0), all(gw.into_raw_vec_and_offset().0)), (dx.clone(), dw.clone()));
    let (v, (cx, cw)) = energy_vjp(x, w, 1.0);
    assert!((v - value).abs() <= 1e-12 * value.abs());
    for (a, b) in cx.iter().zip(&dx).chain(cw.iter().zip(&dw)) {
        assert!((a - f64::from_bits(*b)).abs() <= 1e-12 * (1.0 + a.abs()), "vjp and grad");
    }
    assert!((energy(x, w) - value).abs() <= 1e-12 * value.abs());
    (value.to_bits(), dx, dw)
}

#[test]
fn the_same_bits_whatever_the_layout() {
    for (n, m) in [(1, 1), (3, 5), (5, 3), (17, 9), (33, 40)] {
        let x = Array2::from_shape_fn((n, m), |(i, j)| ((i * 7 + j * 3) as f64 * 0.37).sin());
        let w = Array1::from_shape_fn(m, |j| (j as f64 * 1.3).cos());
        let expected = bits(&x, &w);
        let transposed = x.t().as_standard_layout().into_owned();
        assert_eq!(bits(&transposed.t(), &w), expected, "transposed {n} {m}");
        let mut reversed = x.clone();
        reversed.invert_axis(Axis(0));
        reversed.invert_axis(Axis(1));
        let reversed = reversed.as_standard_layout().into_owned();
        assert_eq!(bits(&reversed.slice(s![..;-1, ..;-1]), &w), expected, "reversed {n} {m}");
        let strided = Array2::from_shape_fn((2 * n, 3 * m), |(i, j)| x[[i / 2, j / 3]]);
        let wide = Array1::from_shape_fn(2 * m, |j| w[j / 2]);
        assert_eq!(bits(&strided.slice(s![..;2, ..;3]), &wide.slice(s![..;2])), expected, "strided {n} {m}");
        let row = Array1::from_shape_fn(m, |j| (j as f64).sin());
        let repeated = row.broadcast((n, m)).unwrap();
        assert_eq!(bits(&repeated, &w), bits(&repeated.to_owned(), &w), "broadcast {n} {m}");
    }
}

#[differentiate]
fn taken(x: &Array1<f64>, ids: &[usize]) -> f64 {
    let scale = x.sum();
    let y = build1(ids.len(), |k| x[ids[k]] * scale);
    y.sum()
}
const TAKEN: u32 = line!() - 3;

#[differentiate]
fn guarded(x: &Array1<f64>, k: usize) -> f64 {
    if k < x.len() { x[k] * 2.0 } else { x.sum() }
}

#[differentiate]
fn divided(x: f64, a: usize, b: usize) -> f64 {
    let q = a / b;
    x * q as f64
}
const DIVIDED: u32 = line!() - 3;

#[differentiate]
fn less(x: f64, a: usize, b: usize) -> f64 {
    x * (a - b) as f64
}
const LESS: u32 = line!() - 2;

#[differentiate]
fn divided_each(x: &Array1<f64>, a: &[usize]) -> f64 {
    build1(x.len(), |i| x[i] * (6 / a[0]) as f64).sum()
}

#[differentiate]
fn mismatch(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    (x * y).sum()
}
const MISMATCH: u32 = line!() - 2;

#[differentiate]
fn unused_read(x: &Array1<f64>, k: usize) -> f64 {
    let _y = x[k];
    x.sum()
}

#[test]
fn panics_where_the_function_does_and_only_there() {
    let x = array![1.0, 2.0, 3.0];
    assert_eq!(line_of(|| taken(&x, &[0, 3])), TAKEN);
    assert_eq!(line_of(|| taken_grad(&x, &[0, 3])), TAKEN);
    assert_eq!(taken_grad(&x, &[]), array![0.0, 0.0, 0.0]);
    assert_eq!(taken_grad(&Array1::zeros(0), &[]), Array1::<f64>::zeros(0));
    assert_eq!(guarded_grad(&x, 7), array![1.0, 1.0, 1.0]);
    assert_eq!(guarded_grad(&x, 1), array![0.0, 2.0, 0.0]);
    assert_eq!(line_of(|| divided(1.0, 1, 0)), DIVIDED);
    assert_eq!(line_of(|| divided_grad(1.0, 1, 0)), DIVIDED);
    assert_eq!(line_of(|| less(1.0, 1, 2)), LESS);
    assert_eq!(line_of(|| less_grad(1.0, 1, 2)), LESS);
    assert_eq!(divided_each_grad(&Array1::zeros(0), &[0]), Array1::<f64>::zeros(0));
    assert_eq!(divided_each_grad(&Array1::zeros(0), &[]), Array1::<f64>::zeros(0));
    line_of(|| divided_each_grad(&x, &[0]));
    line_of(|| unused_read(&x, 3));
    line_of(|| unused_read_grad(&x, 3));
    assert_eq!(line_of(|| mismatch_grad(&x, &array![1.0, 2.0])), MISMATCH);
}

mod elsewhere {
    pub mod again {
        pub use ad::*;
    }
}

#[differentiate(crate = "elsewhere::again")]
fn by_path(x: &Array1<f64>) -> f64 {
    (x * x).sum()
}

#[test]
fn the_crate_can_be_reached_by_another_path() {
    assert_eq!(by_path_grad(&array![1.0, 2.0]), array![2.0, 4.0]);
}

#[differentiate(grad, vjp, jvp)]
fn empty(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let y = x.dot(w).mapv(f64::exp);
    y.sum() + x.sum_axis(Axis(1)).sum() + w.len() as f64
}

#[test]
fn sizes_of_zero() {
    for (n, m) in [(0, 0), (0, 3), (3, 0)] {
        let (x, w) = (Array2::<f64>::zeros((n, m)), Array1::<f64>::ones(m));
        let (value, (dx, dw)) = empty_value_and_grad(&x, &w);
        assert_eq!(value, empty(&x, &w), "{n} {m}");
        assert_eq!((dx.dim(), dw.dim()), ((n, m), m));
        assert_eq!(dw, Array1::<f64>::zeros(m));
        assert_eq!(empty_jvp(&x, &w, &x, &w), (value, 0.0));
        assert_eq!(empty_vjp(&x, &w, 1.0).1.1, dw);
    }
}

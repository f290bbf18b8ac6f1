//! `workspace`: the second call allocates nothing, and the results are those without one.

#![deny(warnings, clippy::all)]

mod allocator;

use ad::Workspace;
use ad::prelude::*;
use allocator::counted;

fn matrix(n: usize, m: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| ((i * m + j) as f64 * 0.7).sin() * 0.5)
}

fn vector(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| (i as f64 * 0.3).cos() * 0.5)
}

/// Calls twice with one workspace: the same numbers as `f_value_and_grad`, and in the second call
/// no allocation but those of products of two matrices, which pack their operands.
macro_rules! without_allocation {
    ($into:ident, $plain:ident, ($($arg:expr),*), $gradient:expr, products = $products:literal) => {{
        let (value, expected) = $plain($($arg),*);
        let (mut gradient, mut workspace) = ($gradient, Workspace::new());
        let (first, before) = counted(|| $into($($arg,)* &mut gradient, &mut workspace));
        assert_eq!((first, &gradient), (value, &expected));
        gradient.fill(f64::NAN);
        let (second, after) = counted(|| $into($($arg,)* &mut gradient, &mut workspace));
        assert_eq!((second, &gradient), (value, &expected));
        assert!(before.times > $products, "there is nothing to keep");
        assert!(after.times <= $products, "the second call allocates {after:?}, the first {before:?}");
        workspace
    }};
}

/// Products of matrices and vectors, and elementwise functions.
#[differentiate(grad, into, workspace, wrt(a))]
fn perceptron(a: &Array2<f64>, b: &Array1<f64>, c: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let hidden = (a.dot(x) + b).mapv(f64::tanh);
    logsumexp(&c.dot(&hidden))
}

#[test]
fn a_perceptron() {
    let (a, b, c, x) = (matrix(100, 120), vector(100), matrix(90, 100), vector(120));
    without_allocation!(
        perceptron_value_and_grad_into,
        perceptron_value_and_grad,
        (&a, &b, &c, &x),
        Array2::zeros((100, 120)),
        products = 0
    );
}

/// A loop that saves its states.
#[differentiate(grad, into, workspace, wrt(w))]
fn recurrent(w: &Array2<f64>, x: &Array2<f64>) -> f64 {
    let mut state = Array1::<f64>::zeros(w.nrows());
    for t in 0..x.nrows() {
        state = (w.dot(&state) + x.row(t)).mapv(f64::tanh);
    }
    state.dot(&state)
}

#[test]
fn a_recurrent_net() {
    // The gradient of the matrix is one product over all steps.
    for steps in [0, 1, 200] {
        let (w, x) = (matrix(30, 30), matrix(steps, 30));
        without_allocation!(
            recurrent_value_and_grad_into,
            recurrent_value_and_grad,
            (&w, &x),
            Array2::zeros((30, 30)),
            products = 1
        );
    }
}

/// A loop whose number of steps depends on values, and whose steps write elements.
#[differentiate(grad, into, workspace, wrt(x))]
fn until(x: &[f64], limit: f64) -> f64 {
    let mut y = x.to_vec();
    let (mut k, mut sum) = (0, 0.0);
    while sum < limit {
        let n = y.len();
        y[k % n] = (y[k % n] + 1.0).sin() + 1.5;
        sum += y[k % n] * x[k % n].abs();
        k += 1;
    }
    sum * y[0]
}

#[test]
fn a_loop_whose_number_of_steps_is_not_known() {
    let x = vector(50).to_vec();
    let mut workspace =
        without_allocation!(until_value_and_grad_into, until_value_and_grad, (&x, 100.0), vec![0.0; 50], products = 0);
    // A larger call allocates the missing memory.
    let (mut gradient, expected) = (vec![0.0; 50], until_value_and_grad(&x, 500.0));
    assert_eq!(until_value_and_grad_into(&x, 500.0, &mut gradient, &mut workspace), expected.0);
    assert_eq!(gradient, expected.1);
}

/// Branches that own arrays, copies, rows that are put together.
#[differentiate(grad, into, workspace, wrt(x))]
fn pieces(x: &Array1<f64>, turn: bool, n: usize) -> f64 {
    let half = if turn { x.mapv(f64::sin) } else { x.to_owned() };
    let mut all = half.clone();
    for k in 0..n {
        let before = all.clone();
        for i in 1..x.len() {
            all[i] = before[i] * half[i - 1] + (k as f64) * before[i - 1];
        }
    }
    let whole = ad::ndarray::concatenate![Axis(0), all, half, array![x[0], x[1], 2.0 * x[2]]];
    sum(&cumsum(&whole.mapv(|v| v * v)))
}

#[test]
fn parts_of_arrays() {
    let x = vector(40);
    for (turn, n) in [(true, 3), (false, 0), (false, 7)] {
        let (value, expected) = pieces_value_and_grad(&x, turn, n);
        let (mut gradient, mut workspace) = (Array1::zeros(40), Workspace::new());
        for _ in 0..2 {
            assert_eq!(pieces_value_and_grad_into(&x, turn, n, &mut gradient, &mut workspace), value);
            assert_eq!(gradient, expected);
        }
    }
    ad::check_grad!(pieces(&x, true, 2));
}

/// Generic numbers, arrays of static size, and no array at all.
#[differentiate(grad, into, workspace, wrt(x))]
fn generic<T: Real, const N: usize>(x: &[T; N], y: &[T]) -> T {
    let z: Vec<T> = y.iter().map(|v| v.sin() * x[0]).collect();
    z.iter().zip(y).map(|(a, b)| *a * *b).sum::<T>() + x[N - 1]
}

#[differentiate(grad, into, workspace)]
fn number(x: f64) -> f64 {
    x.sin()
}

#[test]
fn generic_numbers_and_no_arrays() {
    let (mut workspace, mut d) = (Workspace::new(), 0.0);
    assert_eq!(number_value_and_grad_into(0.5, &mut d, &mut workspace), 0.5_f64.sin());
    assert_eq!(d, number_grad(0.5));
    let y: Vec<f64> = vector(20).to_vec();
    let mut gradient = [0.0; 2];
    let (value, expected) = generic_value_and_grad(&[0.3, 0.4], &y);
    assert_eq!(generic_value_and_grad_into(&[0.3, 0.4], &y, &mut gradient, &mut workspace), value);
    assert_eq!(gradient, expected);
    let single: Vec<f32> = y.iter().map(|v| *v as f32).collect();
    let mut gradient = [0.0_f32; 2];
    generic_value_and_grad_into(&[0.3_f32, 0.4], &single, &mut gradient, &mut workspace);
    assert_eq!(gradient, generic_grad(&[0.3_f32, 0.4], &single));
    ad::check_grad!(number(0.5));
}

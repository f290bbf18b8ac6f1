//! Integers that grow by the same amount in each step of a loop: places in a vector of parameters,
//! and lengths of a `Vec` that a ragged loop pushes to. Every derivative against finite
//! differences.

#![deny(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_precision_loss,
    clippy::explicit_counter_loop,
    clippy::many_single_char_names,
    clippy::needless_range_loop,
    reason = "counters are the subject, and formulas are written with indices"
)]

use ad::prelude::*;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * k + 3) as f64 * 0.37).sin()).collect()
}

/// A place goes on from row to row.
#[differentiate(grad, jvp, hvp)]
fn packed(p: &[f64], rows: usize, columns: usize) -> f64 {
    let mut w = Array2::<f64>::zeros((rows, columns));
    let mut at = 1;
    for i in 0..rows {
        for j in 0..columns {
            w[[i, j]] = p[at].sin() * (i + 2 * j) as f64;
            at += 1;
        }
        at += 2;
    }
    w.iter().map(|v| v * v).sum::<f64>() * at as f64
}

/// The rows of a triangle, one after the other.
#[differentiate(grad, jvp, hvp)]
fn triangle(p: &[f64], x: &[f64]) -> f64 {
    let mut at = 0;
    let mut s = 0.0;
    for i in 0..x.len() {
        let mut y = x[i];
        for j in 0..i {
            y += p[at] * x[j] * x[j];
            at += 1;
        }
        s += y.sin() * y;
    }
    s
}

#[test]
fn places_of_parameters() {
    for (rows, columns) in [(0, 3), (3, 0), (1, 1), (3, 4), (5, 2)] {
        ad::check_grad!(packed(&numbers(rows * (columns + 2) + 1), rows, columns));
    }
    for n in 0..6 {
        ad::check_grad!(triangle(&numbers(n * (n + 1) / 2), &numbers(n)));
    }
}

#[test]
#[should_panic(expected = "index out of range")]
fn a_place_past_the_end() {
    let _ = packed_grad(&numbers(16), 3, 4);
}

#[differentiable]
fn log_sum_exp(v: &[f64]) -> f64 {
    let m = v.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    m + v.iter().map(|x| (x - m).exp()).sum::<f64>().ln()
}

/// Segments of at most so many steps: the lists of a forward pass are shorter at its beginning.
#[differentiate(grad, jvp, hvp)]
fn segments(x: &[f64], w: &[f64]) -> f64 {
    let longest = w.len();
    let mut alpha = Array1::<f64>::zeros(x.len() + 1);
    for t in 1..=x.len() {
        let mut terms = Vec::with_capacity(longest);
        for d in 1..=longest.min(t) {
            terms.push(alpha[t - d] + w[d - 1] * x[t - 1]);
        }
        alpha[t] = log_sum_exp(&terms);
    }
    alpha[x.len()]
}

/// Elements are pushed after others, and the last length is read.
#[differentiate(grad, jvp, hvp)]
fn pushed_after(x: &[f64], m: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let mut v = vec![x[i] * x[i], 1.0];
        for j in 0..m.min(i) {
            v.push(x[i] * x[j]);
        }
        let n = v.len() as f64;
        s += v.iter().map(|a| a.exp() * n).sum::<f64>() + v[v.len() - 1];
    }
    s
}

#[test]
fn ragged_lists_that_grow() {
    for n in 1..7 {
        for longest in 1..5 {
            ad::check_grad!(segments(&numbers(n), &numbers(longest)));
        }
    }
    for n in 0..6 {
        for m in 0..4 {
            ad::check_grad!(pushed_after(&numbers(n), m));
        }
    }
}

/// The greatest element before a limit that differs from row to row.
#[differentiate(grad)]
fn greatest(x: &Array2<f64>, least: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.nrows() {
        let mut m = -1.0_f64;
        let mut low = 1.0_f64;
        for j in 0..x.ncols().min(i) {
            m = m.max(x[[i, j]] * least);
            low = low.min(x[[i, j]]);
        }
        s += m + 10.0 * low;
    }
    s
}

#[test]
fn extrema_before_a_limit() {
    let x = Array2::from_shape_vec((5, 3), numbers(15)).unwrap();
    ad::check_grad!(greatest(&x, 0.7));
    // Equal elements: the first one wins, and the initial value before all. What is not a number
    // never wins.
    let nan = f64::NAN;
    let x = ndarray::array![[9.0, 9.0], [-1.0, 9.0], [2.0, 2.0], [nan, 0.5], [nan, nan]];
    let (g, _) = greatest_grad(&x, 1.0);
    let expected = ndarray::array![[0.0, 0.0], [10.0, 0.0], [1.0, 0.0], [0.0, 11.0], [0.0, 0.0]];
    assert_eq!(g, expected);
    assert_eq!(greatest(&x, 1.0).to_bits(), greatest_value_and_grad(&x, 1.0).0.to_bits());
}

/// A step may add any number, also none.
#[differentiate(grad, jvp)]
fn strides(x: &[f64], steps: &[usize], by: usize) -> f64 {
    let mut s = 0.0;
    for &n in steps {
        let mut at = by;
        for k in 0..n.min(x.len()) {
            s += x[at % x.len()] * x[k];
            at += by;
        }
        s += at as f64;
    }
    s
}

#[test]
fn several_elements_in_a_step() {
    for by in 0..4 {
        ad::check_grad!(strides(&numbers(9), &[0, 2, 20, 9], by));
    }
}

/// The same elements by a remainder: an index that wraps around once, often or never.
#[differentiate(grad, jvp)]
fn wrapped(x: &[f64], n: usize, more: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[(2 * i + more) % n] * x[i] + x[(i * i * more) % n].sin();
    }
    s
}

#[test]
fn remainders() {
    for n in 1..8 {
        for more in [0, 1, 5, 100] {
            ad::check_grad!(wrapped(&numbers(7), n, more));
        }
    }
}

/// How many sums of weights exceed a limit. The counting loop has loops that end early inside, and
/// reads reals.
#[differentiate(grad, jvp)]
fn sums_past_a_limit(x: &[f64], w: &[f64]) -> f64 {
    let mut c = 0;
    for &v in x {
        let mut s = v;
        for &u in w {
            s += u * s;
            if s > 3.0 {
                c += 1;
                break;
            }
        }
    }
    x.iter().map(|v| v * v).sum::<f64>() * f64::from(c)
}

#[test]
fn loops_that_only_count_end_early() {
    ad::check_grad!(sums_past_a_limit(&[0.5, 2.0, 1.5], &[0.2, 0.9, 0.4]));
}

/// The counter and a sum of an inner loop in a loop that goes on with both.
#[differentiate(grad, jvp)]
fn counted_and_added(x: &[f64], most: f64) -> f64 {
    let (mut s, mut k) = (0.0, 0);
    while k < x.len() {
        let mut part = 0.0;
        let mut steps = 0;
        while k + steps < x.len() && part < most {
            part += x[k + steps];
            steps += 1;
        }
        s += part * part * steps as f64;
        k += steps.max(1);
    }
    s
}

#[test]
fn steps_of_an_inner_loop_move_the_outer_one() {
    ad::check_grad!(counted_and_added(&[0.5, 0.6, 0.2, 0.1, 0.9, 0.3], 1.0));
}

/// The sine is the same in each step: the loop reads it, and so does the derivative.
#[differentiate(grad, jvp)]
fn returns_after_some_steps(x: &[f64], a: f64, most: usize) -> f64 {
    let (mut at, mut z) = (0, 0.0);
    for _ in 0..x.len() {
        z += 0.3_f64.sin();
        at += 1;
        if at > most {
            return a * a;
        }
    }
    a * z
}

#[test]
fn a_loop_that_returns() {
    for most in 0..4 {
        ad::check_grad!(returns_after_some_steps(&[0.1, 0.2], 0.3, most));
    }
}

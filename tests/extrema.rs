//! Extrema that a loop or a `fold` finds: of rows and windows, also of no elements, where the
//! initial value remains, and next to NaN, which never replaces a number.

use ad::check_grad;
use ad::prelude::*;

/// The gaps between the largest element and the mean of windows.
#[differentiate(wrt(x))]
fn gaps(x: &[f64], k: usize) -> f64 {
    x.windows(k)
        .map(|w| {
            let most = w.iter().copied().fold(f64::MIN, f64::max);
            let mean = w.iter().sum::<f64>() / k as f64;
            (most - mean) * w[0]
        })
        .sum()
}

/// The largest and the smallest element of each row, from given initial values.
#[differentiate(wrt(x, start))]
fn spans(x: &Array2<f64>, start: f64) -> f64 {
    let mut s = 0.0;
    for row in x.rows() {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = row.iter().copied().fold(0.25, f64::min);
        let given = row.iter().copied().fold(start, f64::max);
        s += (-most.abs()).exp() + least * least + given.sin();
    }
    s
}

#[test]
fn gaps_of_windows() {
    let x = [0.3, -0.7, 1.9, 0.4, 1.1, -0.2, 0.8];
    for k in 1..8 {
        check_grad!(gaps(&x, k));
    }
}

#[test]
fn spans_of_rows() {
    for columns in 1..5 {
        let x = Array2::from_shape_fn((3, columns), |(i, j)| ((7 * i + 3 * j) as f64).sin());
        check_grad!(spans(&x, 0.4));
    }
}

#[test]
fn rows_of_no_elements_keep_the_initial_values() {
    let x = Array2::zeros((3, 0));
    let (value, (by_x, by_start)) = spans_value_and_grad(&x, 0.4);
    assert_eq!(value.to_bits(), spans(&x, 0.4).to_bits());
    assert_eq!(by_x.dim(), (3, 0));
    assert!((by_start - 3.0 * 0.4_f64.cos()).abs() < 1e-14);
    assert!(spans_value_and_grad(&x, f64::NAN).0.is_nan());
}

#[test]
fn a_nan_is_no_extremum() {
    let x = array![[f64::NAN, 0.5], [0.1, f64::NAN], [f64::NAN, f64::NAN]];
    let (value, (by_x, _)) = spans_value_and_grad(&x, 0.4);
    assert_eq!(value.to_bits(), spans(&x, 0.4).to_bits());
    assert_eq!((by_x[[0, 0]], by_x[[1, 1]], by_x[[2, 0]]), (0.0, 0.0, 0.0));
    assert!((by_x[[0, 1]] - (0.4_f64.max(0.5).cos() - (-0.5_f64).exp())).abs() < 1e-14);
}

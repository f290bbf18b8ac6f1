//! Convolutions and similar functions, as people write them: windows are read in place, and their
//! gradients.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    clippy::needless_range_loop
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::prelude::*;

/// Outputs x inputs x rows x columns over channels x height x width.
#[differentiate(grad, jvp, hvp, into, pullback)]
fn image(x: &Array3<f64>, w: &Array4<f64>) -> f64 {
    let (inputs, height, width) = x.dim();
    let (outputs, _, rows, columns) = w.dim();
    let mut total = 0.0;
    for o in 0..outputs {
        for i in 0..height + 1 - rows {
            for j in 0..width + 1 - columns {
                let mut s = 0.0;
                for c in 0..inputs {
                    for p in 0..rows {
                        for q in 0..columns {
                            s += w[[o, c, p, q]] * x[[c, i + p, j + q]];
                        }
                    }
                }
                total += s.tanh();
            }
        }
    }
    total
}

/// The feature map itself.
#[differentiate(vjp, jvp)]
fn map(x: &Array3<f64>, w: &Array3<f64>) -> Array3<f64> {
    let (c, h, k) = (x.dim().0, x.dim().1 - 2, x.dim().2 - 1);
    // Each channel has its own window.
    build([c, h, k], |[c, i, j]| {
        let mut s = 0.0;
        for p in 0..3 {
            for q in 0..2 {
                s += w[[c, p, q]] * x[[c, i + p, j + q]];
            }
        }
        s
    })
}

#[differentiate(grad, jvp, hvp)]
fn line(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
    let y = build1(x.len() + 1 - w.len(), |i| sum(&build1(w.len(), |p| w[p] * x[i + p])));
    y.dot(&y)
}

/// A convolution as books define it: the window is reversed.
#[differentiate]
fn flipped(x: &[f64], w: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() + 1 - w.len() {
        let mut s = 0.0;
        for p in 0..w.len() {
            s += w[p] * x[i + w.len() - 1 - p];
        }
        total += s.sin();
    }
    total
}

#[differentiate]
fn strided(x: &Array2<f64>, w: &Array3<f64>) -> f64 {
    let (filters, rows, columns) = w.dim();
    let (h, k) = ((x.nrows() - rows) / 2 + 1, (x.ncols() - columns) / 3 + 1);
    let mut total = 0.0;
    for f in 0..filters {
        for i in 0..h {
            for j in 0..k {
                let mut s = 0.0;
                for p in 0..rows {
                    for q in 0..columns {
                        s += w[[f, p, q]] * x[[2 * i + p, 3 * j + q]];
                    }
                }
                total += s * s;
            }
        }
    }
    total
}

#[differentiate]
fn dilated(x: &Array1<f64>, w: &Array2<f64>) -> f64 {
    let (filters, taps) = w.dim();
    let mut total = 0.0;
    for f in 0..filters {
        for i in 1..x.len() - 3 * taps {
            let mut s = 0.0;
            for p in 0..taps {
                s += w[[f, p]] * x[i + 3 * p - 1];
            }
            total += s.exp();
        }
    }
    total
}

/// Zeros around the image, by a condition.
#[differentiate]
fn same(x: &Array2<f64>, w: &Array2<f64>) -> f64 {
    let (h, k) = x.dim();
    let mut total = 0.0;
    for i in 0..h {
        for j in 0..k {
            let mut s = 0.0;
            for p in 0..3 {
                for q in 0..3 {
                    if i + p >= 1 && i + p <= h && j + q >= 1 && j + q <= k {
                        s += w[[p, q]] * x[[i + p - 1, j + q - 1]];
                    }
                }
            }
            total += s * s * s;
        }
    }
    total
}

/// The channels are the last axis, so the lanes are outputs.
#[differentiate]
fn channels_last(x: &Array3<f64>, w: &Array4<f64>) -> f64 {
    let (h, k, inputs) = x.dim();
    let (rows, columns, _, outputs) = w.dim();
    let y = build([h + 1 - rows, k + 1 - columns, outputs], |[i, j, o]| {
        let mut s = 0.0;
        for p in 0..rows {
            for q in 0..columns {
                for c in 0..inputs {
                    s += x[[i + p, j + q, c]] * w[[p, q, c, o]];
                }
            }
        }
        s
    });
    y.mapv(f64::sin).sum()
}

/// Both operands are one array.
#[differentiate]
fn autocorrelation(x: &Array1<f64>, lags: usize) -> f64 {
    let n = x.len() + 1 - lags;
    let r = build1(lags, |k| sum(&build1(n, |i| x[i] * x[i + k])));
    r.dot(&r)
}

/// One image after another, each with the weights that the previous one left.
#[differentiate]
fn in_a_loop(images: &Array3<f64>, w: &Array3<f64>, rate: f64) -> f64 {
    let (n, h, k) = images.dim();
    let (filters, rows, columns) = w.dim();
    let (mut scale, mut total) = (1.0, 0.0);
    for m in 0..n {
        let y = build([filters, h + 1 - rows, k + 1 - columns], |[f, i, j]| {
            let mut s = 0.0;
            for p in 0..rows {
                for q in 0..columns {
                    s += w[[f, p, q]] * images[[m, i + p, j + q]];
                }
            }
            (s * scale).tanh()
        });
        scale -= rate * y.sum();
        total += scale * scale;
    }
    total
}

#[differentiate]
fn blurred<T: Real>(x: &Array2<T>) -> T {
    let (h, k) = x.dim();
    let y = build([h - 2, k - 2], |[i, j]| {
        (x[[i, j + 1]] + x[[i + 1, j]] + x[[i + 1, j + 2]] + x[[i + 2, j + 1]]) * T::lit(0.25) - x[[i + 1, j + 1]]
    });
    (&y * &y).sum()
}

/// A decision that depends on the sums keeps the function's bits.
#[differentiate]
fn decided(x: &Array2<f64>, w: &Array2<f64>, most: f64) -> f64 {
    let (h, k) = x.dim();
    let mut total = 0.0;
    for i in 0..h - 1 {
        for j in 0..k - 2 {
            let mut s = 0.0;
            for p in 0..2 {
                for q in 0..3 {
                    s += w[[p, q]] * x[[i + p, j + q]];
                }
            }
            if s < most {
                total += s * s;
            }
        }
    }
    total
}

#[differentiate]
fn single(x: &Array2<f32>, w: &Array3<f32>) -> f32 {
    let (filters, rows, columns) = w.dim();
    let (h, k) = (x.nrows() + 1 - rows, x.ncols() + 1 - columns);
    let mut total = 0.0;
    for f in 0..filters {
        for i in 0..h {
            for j in 0..k {
                let mut s = 0.0;
                for p in 0..rows {
                    for q in 0..columns {
                        s += w[[f, p, q]] * x[[i + p, j + q]];
                    }
                }
                total += s * s;
            }
        }
    }
    total / (filters * h * k) as f32
}

/// Numbers between -1 and 1, the same in each run.
fn number(k: usize) -> f64 {
    ((k * 37 + k * k * 11 + 5) % 101) as f64 / 50.5 - 1.0
}

fn vector(n: usize) -> Array1<f64> {
    (0..n).map(number).collect()
}

fn matrix(a: usize, b: usize) -> Array2<f64> {
    vector(a * b).into_shape_with_order((a, b)).unwrap()
}

fn cube(a: usize, b: usize, c: usize) -> Array3<f64> {
    vector(a * b * c).into_shape_with_order((a, b, c)).unwrap()
}

fn tesseract(a: usize, b: usize, c: usize, d: usize) -> Array4<f64> {
    vector(a * b * c * d).into_shape_with_order((a, b, c, d)).unwrap()
}

#[test]
fn images() {
    for [h, k, c, o, p, q] in [
        [4, 5, 2, 3, 3, 3],
        [9, 21, 1, 5, 2, 3],
        [3, 3, 2, 4, 3, 3],
        [2, 40, 3, 1, 1, 5],
        [5, 1, 2, 2, 2, 1],
        [1, 1, 1, 1, 1, 1],
        // Sums without terms, and empty windows.
        [4, 4, 0, 2, 3, 3],
        [4, 4, 2, 0, 3, 3],
        [4, 4, 1, 2, 0, 2],
        [2, 2, 1, 1, 3, 3],
        [0, 4, 1, 1, 1, 2],
    ] {
        let (x, w) = (cube(c, h, k), tesseract(o, c, p, q) * 0.5);
        ad::check_grad!(image(&x, &w), tolerance = 1e-6);
        let by_columns = x.t().as_standard_layout().into_owned().reversed_axes();
        assert_eq!(image_value_and_grad(&x, &w), image_value_and_grad(&by_columns, &w));
    }
}

#[test]
fn windows_larger_than_the_image_panic_as_the_function_does() {
    for ([h, k], [p, q]) in [([2, 9], [4, 3]), ([9, 2], [3, 4]), ([0, 0], [2, 2])] {
        let (x, w) = (cube(2, h, k), tesseract(1, 2, p, q));
        let f = catch_unwind(AssertUnwindSafe(|| image(&x, &w)));
        let g = catch_unwind(AssertUnwindSafe(|| image_value_and_grad(&x, &w)));
        assert!(f.is_err() && g.is_err());
    }
    // More channels than the weights have.
    let (x, w) = (cube(3, 4, 4), tesseract(1, 2, 2, 2));
    assert!(catch_unwind(AssertUnwindSafe(|| image(&x, &w))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| image_value_and_grad(&x, &w))).is_err());
    // Fewer channels are permitted.
    let (x, w) = (cube(2, 4, 4), tesseract(1, 3, 2, 2));
    ad::check_grad!(image(&x, &w), tolerance = 1e-6);
    for (n, k) in [(2, 4), (0, 2), (5, 0)] {
        let (x, w) = (vector(n), vector(k));
        assert_eq!(
            catch_unwind(AssertUnwindSafe(|| line(&x, &w))).is_err(),
            catch_unwind(AssertUnwindSafe(|| line_value_and_grad(&x, &w))).is_err()
        );
        assert_eq!(
            catch_unwind(AssertUnwindSafe(|| flipped(x.as_slice().unwrap(), w.as_slice().unwrap()))).is_err(),
            catch_unwind(AssertUnwindSafe(|| flipped_grad(x.as_slice().unwrap(), w.as_slice().unwrap()))).is_err()
        );
    }
}

#[test]
fn channels() {
    for [c, h, k] in [[3, 4, 5], [1, 3, 2], [2, 3, 40], [0, 3, 3], [2, 2, 4]] {
        ad::check_grad!(map(&cube(c, h, k), &cube(c, 3, 2)), tolerance = 1e-6);
    }
    for [h, k, c, o] in [[3, 4, 2, 3], [4, 6, 3, 11], [2, 2, 1, 1], [3, 3, 0, 2]] {
        ad::check_grad!(channels_last(&cube(h, k, c), &(tesseract(2, 2, c, o) * 0.5)), tolerance = 1e-6);
    }
}

#[test]
fn lines() {
    for (n, k) in [(5, 2), (40, 3), (3, 3), (9, 1), (17, 16), (2, 0)] {
        let (x, w) = (vector(n), vector(k) * 0.5);
        ad::check_grad!(line(&x, &w), tolerance = 1e-6);
        ad::check_grad!(flipped(&x.to_vec(), &w.to_vec()), tolerance = 1e-6);
    }
    for (n, filters, taps) in [(20, 2, 3), (8, 1, 2), (30, 5, 1), (6, 2, 2)] {
        ad::check_grad!(dilated(&vector(n), &(matrix(filters, taps) * 0.5)), tolerance = 1e-6);
    }
    for (n, lags) in [(6, 3), (30, 4), (3, 3), (4, 1), (3, 0)] {
        ad::check_grad!(autocorrelation(&vector(n), lags), tolerance = 1e-6);
    }
}

#[test]
fn steps_and_margins() {
    for [h, k, f, p, q] in [[5, 7, 2, 3, 3], [4, 30, 1, 2, 4], [3, 3, 3, 3, 3], [8, 8, 2, 1, 1]] {
        ad::check_grad!(strided(&matrix(h, k), &cube(f, p, q)), tolerance = 1e-6);
    }
    for (h, k) in [(1, 1), (2, 5), (4, 4), (3, 30), (0, 3)] {
        ad::check_grad!(same(&matrix(h, k), &matrix(3, 3)), tolerance = 1e-6);
    }
}

#[test]
fn around_windows() {
    for [n, h, k] in [[3, 4, 5], [1, 3, 20], [2, 2, 2], [0, 3, 3]] {
        ad::check_grad!(in_a_loop(&cube(n, h, k), &cube(2, 2, 2), 0.05), tolerance = 1e-6);
    }
    for (h, k) in [(3, 3), (5, 20), (2, 4)] {
        ad::check_grad!(blurred::<f64>(&matrix(h, k)), tolerance = 1e-6);
        ad::check_grad!(decided(&matrix(h, k), &matrix(2, 3), 0.123), tolerance = 1e-6);
    }
    let (x, w) = (matrix(7, 20).mapv(|v| v as f32), cube(3, 2, 3).mapv(|v| v as f32));
    ad::check_grad!(single(&x, &w));
}

/// A decision on a sum.
#[differentiate]
fn counted(x: &Array3<f64>, w: &Array4<f64>) -> f64 {
    let (inputs, height, width) = x.dim();
    let (outputs, _, rows, columns) = w.dim();
    let mut total = 0.0;
    for o in 0..outputs {
        for i in 0..height + 1 - rows {
            for j in 0..width + 1 - columns {
                let mut s = 0.0;
                for c in 0..inputs {
                    for p in 0..rows {
                        for q in 0..columns {
                            s += w[[o, c, p, q]] * x[[c, i + p, j + q]];
                        }
                    }
                }
                if s > 0.25 {
                    total += s;
                }
            }
        }
    }
    total
}

/// The sum at a pixel is not less than itself, however many pixels are computed at once.
#[test]
fn decisions_have_the_bits_of_the_function() {
    let (x, w) = (matrix(6, 23), matrix(2, 3) * 0.37);
    for (i, j) in (0..5).flat_map(|i| (0..21).map(move |j| (i, j))) {
        let mut s = 0.0;
        for p in 0..2 {
            for q in 0..3 {
                s += w[[p, q]] * x[[i + p, j + q]];
            }
        }
        let (value, expected) = (decided_value_and_grad(&x, &w, s).0, decided(&x, &w, s));
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }
}

#[test]
fn decisions_by_sums_of_windows() {
    for [h, k, c, o, p, q] in
        [[9, 21, 3, 5, 2, 3], [6, 7, 2, 1, 3, 3], [3, 3, 2, 4, 3, 3], [4, 4, 0, 2, 3, 3], [4, 4, 1, 2, 0, 2]]
    {
        let (x, w) = (cube(c, h, k), tesseract(o, c, p, q) * 0.37);
        let (value, (dx, dw)) = counted_value_and_grad(&x, &w);
        let expected = counted(&x, &w);
        assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{value} is not {expected}");
        // If a pixel counts, the gradient is that of a sum. The others contribute nothing.
        let (mut gx, mut gw) = (Array3::<f64>::zeros(x.raw_dim()), Array4::<f64>::zeros(w.raw_dim()));
        for (o, i, j) in (0..o).flat_map(|o| (0..=h - p).flat_map(move |i| (0..=k - q).map(move |j| (o, i, j)))) {
            let all = || (0..c).flat_map(|c| (0..p).flat_map(move |p| (0..q).map(move |q| (c, p, q))));
            let s = all().fold(0.0, |s, (c, p, q)| s + w[[o, c, p, q]] * x[[c, i + p, j + q]]);
            if s > 0.25 {
                for (c, p, q) in all() {
                    gx[[c, i + p, j + q]] += w[[o, c, p, q]];
                    gw[[o, c, p, q]] += x[[c, i + p, j + q]];
                }
            }
        }
        assert!(dx.iter().zip(&gx).chain(dw.iter().zip(&gw)).all(|(a, b): (&f64, &f64)| (a - b).abs() < 1e-9));
    }
}

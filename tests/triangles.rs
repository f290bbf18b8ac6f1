//! Loops over triangles that change an array in place: eliminations, schemes over a shrinking row,
//! trees of values. Their steps are bulk operations where no step reads what another one has
//! written, and loops where one does. The gradients are checked for no elements on, and around the
//! number of lanes.

#![allow(clippy::needless_range_loop, reason = "loops over indices are what people write")]

mod allocator;

use ad::check_grad;
use ad::prelude::*;
use allocator::counted;

/// The logarithm of the determinant by elimination in place.
#[differentiate]
fn log_det(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut m = a.clone();
    for k in 0..n {
        for i in k + 1..n {
            m[[i, k]] /= m[[k, k]];
            for j in k + 1..n {
                m[[i, j]] -= m[[i, k]] * m[[k, j]];
            }
        }
    }
    (0..n).map(|i| m[[i, i]].ln()).sum()
}

/// The same on rows of their own.
#[differentiate]
fn log_det_of_rows(a: &[Vec<f64>]) -> f64 {
    let n = a.len();
    let mut m = a.to_vec();
    for k in 0..n {
        for i in k + 1..n {
            m[i][k] /= m[k][k];
            for j in k + 1..n {
                m[i][j] -= m[i][k] * m[k][j];
            }
        }
    }
    (0..n).map(|i| m[i][i].ln()).sum()
}

/// De Casteljau's and Neville's schemes: each row is one element shorter than the one before.
#[differentiate(wrt(p, t))]
fn bezier(p: &[f64], t: f64) -> f64 {
    let n = p.len();
    let mut p = p.to_vec();
    for k in 1..n {
        for i in 0..n - k {
            p[i] = (1.0 - t) * p[i] + t * p[i + 1];
        }
    }
    p[0]
}

#[differentiate(wrt(xs, ys, x))]
fn neville(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let n = xs.len();
    let mut p = ys.to_vec();
    for k in 1..n {
        for i in 0..n - k {
            p[i] = ((x - xs[i + k]) * p[i] + (xs[i] - x) * p[i + 1]) / (xs[i] - xs[i + k]);
        }
    }
    p[0]
}

/// Divided differences, from the last element on.
#[differentiate]
fn differences(xs: &[f64], ys: &[f64]) -> f64 {
    let n = xs.len();
    let mut c = ys.to_vec();
    for k in 1..n {
        for i in (k..n).rev() {
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - k]);
        }
    }
    c.iter().map(|c| c * c).sum()
}

/// An American option in a tree whose depth is a number.
#[differentiate(wrt(spot, vol))]
fn american(spot: f64, vol: f64, n: usize) -> f64 {
    let up = (vol * (1.0 / n as f64).sqrt()).exp();
    let p = (1.0 - 1.0 / up) / (up - 1.0 / up);
    let price = |i: usize, j: usize| spot * up.powi(2 * j as i32 - i as i32);
    let mut v: Vec<f64> = (0..=n).map(|j| (1.1 - price(n, j)).max(0.0)).collect();
    for i in (0..n).rev() {
        for j in 0..=i {
            v[j] = (0.999 * (p * v[j + 1] + (1.0 - p) * v[j])).max(1.1 - price(i, j));
        }
    }
    v[0]
}

/// Steps that read an element that no step writes: behind the last one, and before the first one.
#[differentiate]
fn fixed_elements(x: &[f64]) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    for i in 0..n {
        for j in 0..i {
            a[j] += 0.1 * (a[i] * a[j]).sin();
        }
        for j in i + 1..n {
            a[j] = a[j] * (1.0 + 0.01 * a[i]) + 0.1 * a[i].cos();
        }
    }
    a.iter().map(|a| a * a).sum()
}

/// Steps of which each one reads what the one before has written.
#[differentiate]
fn passed_on(x: &[f64]) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    for i in 0..n {
        for j in i + 1..n {
            a[j] = 0.9 * a[j] + 0.1 * (a[j - 1] * a[j]).sin();
        }
        for j in 1..n - i {
            a[j - 1] += 0.1 * a[j] * a[j - 1];
            a[j] *= 0.99;
        }
    }
    a.iter().sum()
}

/// Writes under a further condition, and of two arrays from each other.
#[differentiate]
fn conditions(x: &[f64]) -> f64 {
    let n = x.len();
    let (mut a, mut b) = (x.to_vec(), x.to_vec());
    for i in 0..n {
        for j in 0..n - i {
            if x[j] > 0.0 {
                a[j] = 0.9 * a[j] + b[j].sin();
            } else {
                b[j] = 0.5 * b[j] + 0.3 * a[j].cos();
            }
        }
        for j in i..n {
            if (i + j) % 3 == 0 {
                a[j] += 0.1 * b[n - 1 - j];
            }
        }
    }
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

/// A loop that has no steps at the end of the loop around it, and one whose limit is carried.
#[differentiate]
fn short_loops(x: &[f64]) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    for i in 0..n + 5 {
        for j in 0..n.saturating_sub(i) {
            a[j] *= 1.0 + 0.01 * a[j];
        }
    }
    let mut lo = 0;
    while lo < n {
        for j in lo..(lo + 2).min(n) {
            a[j] = a[j].sin();
        }
        lo += 2;
    }
    a.iter().sum()
}

/// An array that one limit fills and another one reads.
#[differentiate]
fn two_limits(x: &[f64]) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    for i in 0..n {
        let mut b = vec![0.0; n];
        for j in 0..n - i {
            b[j] = (a[j] * a[j] + 1.0).sqrt().ln();
        }
        for j in 0..i {
            a[j] += 0.1 * b[j] + (0.3 * b[j]).sin() * (0.2 * b[j]).cos();
        }
        for j in 0..i + 1 {
            a[j] *= 1.0 + 0.01 * (b[j] * b[j]).exp();
        }
    }
    a.iter().map(|a| a * a).sum()
}

/// Elements behind the greatest limit are not read, whatever they are.
#[differentiate]
fn beginning(x: &[f64]) -> f64 {
    let n = x.len() - 2;
    let mut a = x.to_vec();
    for i in 0..n {
        for j in 0..n - i {
            a[j] = (a[j] * 0.5 + 0.1 * x[j]).ln_1p();
        }
    }
    a[..n].iter().sum()
}

/// Parts of rows, as ndarray writes them.
#[differentiate]
fn parts_of_rows(x: &Array2<f64>) -> f64 {
    let n = x.nrows();
    let mut l = x.to_owned();
    for i in 0..n {
        for v in l.slice_mut(s![i, ..i]).iter_mut() {
            *v *= *v;
        }
        l.row_mut(i).slice_mut(s![i + 1..]).mapv_inplace(f64::sin);
        let mut corner = l.slice_mut(s![..i, ..i;2]);
        corner *= 0.5;
    }
    l.dot(x).sum()
}

/// Single precision, and a second derivative.
#[differentiate(grad, hvp)]
fn narrowed(p: &[f32], t: f32) -> f32 {
    let n = p.len();
    let mut p = p.to_vec();
    for k in 1..n {
        for i in 0..n - k {
            p[i] = (1.0 - t) * p[i] + t * (p[i + 1] * p[i]).sin();
        }
    }
    p[0]
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 1.7 + 0.3).sin()).collect()
}

/// A matrix with large elements on the diagonal.
fn matrix(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| ((i * 7 + j * 3) as f64).sin() * 0.3 + if i == j { n as f64 } else { 0.0 })
}

const SIZES: [usize; 7] = [0, 1, 2, 3, 7, 17, 18];

#[test]
fn eliminations() {
    for n in SIZES {
        let a = matrix(n);
        let rows: Vec<Vec<f64>> = a.rows().into_iter().map(|r| r.to_vec()).collect();
        check_grad!(log_det(&a));
        check_grad!(log_det_of_rows(&rows));
        // The gradient of the logarithm of the determinant is the transposed inverse.
        let (gradient, of_rows) = (log_det_grad(&a), log_det_of_rows_grad(&rows));
        let product = gradient.t().dot(&a) - Array2::<f64>::eye(n);
        assert!(product.iter().all(|x| x.abs() < 1e-12), "{n}: {product}");
        assert_eq!(gradient.iter().collect::<Vec<_>>(), of_rows.iter().flatten().collect::<Vec<_>>());
    }
}

#[test]
fn schemes_over_a_shrinking_row() {
    for n in SIZES {
        let xs: Vec<f64> = (0..n).map(|i| i as f64 * 0.3).collect();
        check_grad!(differences(&xs, &numbers(n)));
        if n > 0 {
            check_grad!(bezier(&numbers(n), 0.3));
            check_grad!(neville(&xs, &numbers(n), 0.7));
            check_grad!(american(1.05, 0.2, n));
        }
    }
}

#[test]
fn steps_that_depend_on_each_other_or_not() {
    for n in SIZES {
        check_grad!(fixed_elements(&numbers(n)));
        check_grad!(passed_on(&numbers(n)));
        check_grad!(conditions(&numbers(n)));
        check_grad!(short_loops(&numbers(n)));
        check_grad!(two_limits(&numbers(n)));
        check_grad!(parts_of_rows(&matrix(n)));
    }
}

#[test]
fn values_that_are_not_read_do_not_matter() {
    for n in [3, 18, 40] {
        let mut x: Vec<f64> = numbers(n).iter().map(|x| x.abs()).collect();
        let (value, gradient) = beginning_value_and_grad(&x);
        x[n - 2..].fill(f64::NAN);
        let (other, with_nan) = beginning_value_and_grad(&x);
        assert_eq!((value.to_bits(), &gradient), (other.to_bits(), &with_nan), "{n}");
        assert!(gradient[n - 2..].iter().all(|&g| g == 0.0), "{gradient:?}");
    }
}

#[test]
fn other_types_and_derivatives() {
    let p: Vec<f32> = numbers(19).iter().map(|&x| x as f32).collect();
    let (gradient, of_t) = narrowed_grad(&p, 0.3);
    let direction: Vec<f32> = p.iter().map(|x| x.cos()).collect();
    let (second, _) = narrowed_hvp(&p, 0.3, &direction, 0.5);
    // The product of the Hessian and a direction is the change of the gradient in that direction.
    let step = 1e-2;
    let moved = |s: f32| {
        let p: Vec<f32> = p.iter().zip(&direction).map(|(p, d)| p + s * step * d).collect();
        narrowed_grad(&p, 0.3 + s * step * 0.5).0
    };
    for ((plus, minus), second) in moved(1.0).iter().zip(moved(-1.0)).zip(&second) {
        let difference = (plus - minus) / (2.0 * step);
        assert!((difference - second).abs() < 2e-2 * (1.0 + second.abs()), "{difference} {second}");
    }
    assert!(gradient.len() == 19 && of_t.is_finite());
}

/// An elimination saves a row and a column for each step, and not a matrix.
#[test]
fn an_elimination_saves_as_much_as_a_matrix() {
    let bytes = |n: usize| counted(|| log_det_value_and_grad(&matrix(n))).1.bytes;
    assert!(bytes(128) < 9 * 8 * 128 * 128, "{}", bytes(128));
    assert!(bytes(256) < 5 * bytes(128));
}

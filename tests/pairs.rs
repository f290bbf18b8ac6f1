//! Functions of all pairs of items, in tiles of items: the items' axis and the other axis have one
//! size. The gradients are checked for numbers of items around the size of a block, and no array of
//! all pairs is stored.

mod allocator;
#[path = "programs/pairs.rs"]
mod pairs;

use ad::check_grad;
use ad::ndarray::Array2;
use ad::prelude::*;
use allocator::counted;

use pairs::{contrast_value_and_grad, decayed_value_and_grad, density_value_and_grad, mean_shift_value_and_grad};

/// Logits of each item and class, a softmax of each row, and a label for each item.
#[differentiate(wrt(a, b))]
fn classes(a: &Array2<f64>, b: &Array2<f64>, label: &[usize]) -> f64 {
    let (n, m) = (a.nrows(), b.nrows());
    let mut total = 0.0;
    for i in 0..n {
        let mut logits = Array1::<f64>::zeros(m);
        for j in 0..m {
            for k in 0..a.ncols() {
                logits[j] += (a[[i, k]] * b[[j, k]]).tanh();
            }
        }
        total += logsumexp(&logits) - logits[label[i]] - 0.1 * logits[(label[i] + 1) % m];
    }
    total
}

/// An array of pairs is read with its axes exchanged, so it is stored.
#[differentiate(wrt(x))]
fn exchanged(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            a[[i, j]] = (x[i] * 2.0 - x[j]).sin();
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 2.5 * n as f64;
        for j in 0..n {
            sum += a[[i, j]] * a[[j, i]];
        }
        total += sum.ln() * x[i];
    }
    total
}

/// Items read their own rows of a matrix, and its columns, which are elements of all rows.
#[differentiate]
fn differences(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 0.0;
        for j in 0..n {
            sum += ((a[[i, j]] - a[[j, i]]) * x[j]).exp();
        }
        total += sum.ln() * x[i];
    }
    total
}

/// A matrix of all pairs from outside, and its diagonal. `T` is `f32` too.
#[differentiate(wrt(w, x))]
fn weighted<T: Real>(w: &Array2<T>, x: &Array1<T>) -> T {
    let n = x.len();
    let mut total = T::zero();
    for i in 0..n {
        let mut sum = T::lit(1.0);
        for j in 0..n {
            sum += w[[i, j]] * (x[i] - x[j]).exp();
        }
        total += (sum * sum + w[[i, i]].exp()).sqrt();
    }
    total
}

fn numbers(n: usize) -> Array1<f64> {
    (0..n).map(|k| (k as f64 * 0.7 + 0.1).sin()).collect()
}

fn matrix(n: usize, m: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| ((i * 3 + j * 5) as f64 * 0.3).cos())
}

/// Sizes on both sides of a block and of the lanes.
const SIZES: [usize; 8] = [0, 1, 2, 15, 16, 17, 33, 70];

#[test]
fn gradients() {
    for n in SIZES {
        let points: Vec<[f64; 2]> = (0..n).map(|k| [(k as f64).sin(), (k as f64 * 1.3).cos()]).collect();
        let x = numbers(n);
        check_grad!(pairs::density([-0.5, 0.3], &points));
        check_grad!(pairs::mean_shift(&x, 0.8));
        check_grad!(pairs::decayed(&x, 0.4));
        check_grad!(pairs::contrast(&matrix(n, 3), &(matrix(n, 3) + 0.2)));
        let label: Vec<usize> = (0..n).map(|k| k * 7 % 5).collect();
        check_grad!(classes(&matrix(n, 3), &(matrix(5, 3) + 0.2), &label));
        check_grad!(exchanged(&x));
        check_grad!(differences(&matrix(n, n), &x));
        check_grad!(weighted(&(matrix(n, n) * 0.4), &x));
    }
}

#[test]
fn single_precision() {
    let (w, x) = (matrix(40, 40) * 0.4, numbers(40));
    let (_, (dw, dx)) = weighted_value_and_grad(&w, &x);
    let (_, (dw32, dx32)) = weighted_value_and_grad(&w.mapv(|v| v as f32), &x.mapv(|v| v as f32));
    assert!(dw.iter().zip(&dw32).chain(dx.iter().zip(&dx32)).all(|(a, &b)| (a - f64::from(b)).abs() < 1e-4));
}

/// The gradient allocates less than one array of all pairs.
#[test]
fn arrays_of_all_pairs_are_not_stored() {
    let n = 1000;
    let (points, x) = (vec![[0.5, 0.2]; n], numbers(n));
    let pairs = n * n * 8;
    let bytes = [
        ("density", counted(|| density_value_and_grad([-0.5, 0.3], &points)).1.bytes),
        ("mean_shift", counted(|| mean_shift_value_and_grad(&x, 0.8)).1.bytes),
        ("decayed", counted(|| decayed_value_and_grad(&x, 0.4)).1.bytes),
        ("contrast", counted(|| contrast_value_and_grad(&matrix(n, 3), &matrix(n, 3))).1.bytes),
    ];
    assert!(bytes.iter().all(|b| b.1 < pairs / 2), "{bytes:?}, an array of all pairs has {pairs}");
}

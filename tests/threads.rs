//! Derivatives on several threads (feature `rayon`): each program runs in pools of 1, 2, 3 and 7
//! threads, and has to give the same bits in all of them. The gradients are those of difference
//! quotients.

#[path = "programs/jobs.rs"]
mod jobs;
#[path = "programs/pairs.rs"]
#[allow(dead_code, reason = "tests/pairs.rs has all of them")]
mod pairs;

use ad::ndarray::{Array, Dimension};
use ad::prelude::*;
use pairs::{contrast, contrast_grad, mean_shift, mean_shift_grad};
use rayon::ThreadPoolBuilder;

fn numbers(n: usize, seed: u64) -> Array1<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    Array1::from_shape_simple_fn(n, || rng.f64() - 0.5)
}

fn matrix(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let numbers = numbers(rows * columns, seed);
    Array2::from_shape_fn((rows, columns), |(i, j)| numbers[i * columns + j])
}

/// The result of `f`, which has to be the same with every number of threads.
fn on_threads<R: Differentiable<f64> + Send>(f: impl Fn() -> R + Sync) -> R {
    let mut first: Option<Vec<u64>> = None;
    for threads in [1, 2, 3, 7] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let bits: Vec<u64> = pool.install(|| f().to_flat().iter().map(|x| x.to_bits()).collect());
        assert!(*first.get_or_insert_with(|| bits.clone()) == bits, "{threads} threads");
    }
    f()
}

/// Asserts that the derivative in the direction of the gradient is the square of its norm.
fn slopes<D: Dimension>(gradient: &Array<f64, D>, f: impl Fn(f64, &Array<f64, D>) -> f64) {
    let squares = gradient.iter().map(|d| d * d).sum::<f64>();
    let h = 1e-6 / squares.sqrt();
    let slope = (f(h, gradient) - f(-h, gradient)) / (2.0 * h);
    assert!((slope - squares).abs() <= 1e-4 * squares, "{slope} and not {squares}");
}

/// A tile whose items fill the lanes: sums of two axes, of one, and a number.
#[differentiate]
fn mixture(weights: &Array1<f64>, means: &Array2<f64>, x: ArrayView2<'_, f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let scores = build1(weights.len(), |k| {
            let d = &x.row(i) - &means.row(k);
            weights[k] - 0.5 * d.dot(&d)
        });
        total += logsumexp(&scores);
    }
    total
}

#[test]
fn sums_over_items() {
    let (weights, means, x) = (numbers(20, 1), matrix(20, 16, 2), matrix(1500, 16, 3));
    let (dw, dm, dx) = on_threads(|| mixture_grad(&weights, &means, x.view()));
    slopes(&dw, |h, d| mixture(&(&weights + &(d * h)), &means, x.view()));
    slopes(&dm, |h, d| mixture(&weights, &(&means + &(d * h)), x.view()));
    slopes(&dx, |h, d| mixture(&weights, &means, (&x + &(d * h)).view()));
}

/// A matrix that is read forward and backward, in blocks of its rows.
#[differentiate(wrt(w))]
fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let margins = x.dot(w) * y;
    margins.mapv(|m| (-m).exp().ln_1p()).sum()
}

#[test]
fn rows_that_are_read_twice() {
    let (w, x, y) = (numbers(100, 4), matrix(20_000, 100, 5), numbers(20_000, 6));
    let (dw,) = on_threads(|| (logistic_grad(&w, &x, &y),));
    slopes(&dw, |h, d| logistic(&(&w + &(d * h)), &x, &y));
    // The caller's arrays are written in place.
    let (value, written) = on_threads(|| {
        let mut dw = Array1::zeros(100);
        let value = logistic_written_value_and_grad_into(&w, &x, &y, &mut dw);
        (value, dw)
    });
    assert!((value - logistic(&w, &x, &y)).abs() < 1e-9 * value.abs());
    assert!((&written - &dw).iter().all(|e| e.abs() < 1e-9));
}

/// Each item reads its own row and all others, and rows of results are unpacked from blocks.
#[test]
fn pairs_of_items() {
    let x = numbers(1200, 20);
    let (dx,) = on_threads(|| (mean_shift_grad(&x, 0.3),));
    slopes(&dx, |h, d| mean_shift(&(&x + &(d * h)), 0.3));
    let (a, b) = (matrix(400, 6, 21), matrix(400, 6, 22));
    let (da, db) = on_threads(|| contrast_grad(&a, &b));
    slopes(&da, |h, d| contrast(&(&a + &(d * h)), &b));
    slopes(&db, |h, d| contrast(&a, &(&b + &(d * h))));
}

#[differentiate(into, wrt(w))]
fn logistic_written(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let margins = x.dot(w) * y;
    margins.mapv(|m| (-m).exp().ln_1p()).sum()
}

/// Items that add to rows of a table.
#[differentiate(wrt(table, bias))]
fn ratings(table: &Array2<f64>, bias: &Array1<f64>, users: &[usize], items: &[usize], y: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        let (u, v) = (table.row(users[i]), table.row(items[i]));
        let e = u.dot(&v) + bias[users[i]] - y[i];
        total += (e * e + 1.0).ln();
    }
    total
}

#[test]
fn scatters() {
    let (table, bias, y) = (matrix(50, 8, 7), numbers(50, 8), numbers(40_000, 9));
    let mut rng = fastrand::Rng::with_seed(10);
    let [users, items] = [(); 2].map(|()| (0..y.len()).map(|_| rng.usize(0..50)).collect::<Vec<_>>());
    let (dt, db) = on_threads(|| ratings_grad(&table, &bias, &users, &items, &y));
    slopes(&dt, |h, d| ratings(&(&table + &(d * h)), &bias, &users, &items, &y));
    slopes(&db, |h, d| ratings(&table, &(&bias + &(d * h)), &users, &items, &y));
}

/// Generic over the real type, with the nearest of some centres: places and extrema of items.
#[differentiate(wrt(centres))]
fn k_means<T: Real>(points: &Array2<T>, centres: &Array2<T>) -> T {
    let mut total = T::lit(0.0);
    for i in 0..points.nrows() {
        let distances = build1(centres.nrows(), |k| {
            let d = &points.row(i) - &centres.row(k);
            d.dot(&d)
        });
        total += minimum(&distances);
    }
    total
}

#[test]
fn extrema() {
    let (points, centres) = (matrix(4000, 8, 11), matrix(30, 8, 12));
    let (d,) = on_threads(|| (k_means_grad(&points, &centres),));
    slopes(&d, |h, d| k_means(&points, &(&centres + &(d * h))));
    let single = k_means_grad(&points.mapv(|v| v as f32), &centres.mapv(|v| v as f32));
    assert!(single.iter().zip(&d).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-2));
}

/// Products, nests and sums of a whole batch.
#[differentiate]
fn perceptron(w: &Array2<f64>, b: &Array1<f64>, v: &Array2<f64>, x: ArrayView2<'_, f64>) -> f64 {
    let h = (x.dot(w) + b).mapv(f64::tanh);
    let y = h.dot(v);
    y.mapv(|y| y * y).sum()
}

#[test]
fn batches() {
    let (w, b, v, x) = (matrix(200, 100, 13), numbers(100, 14), matrix(100, 10, 15), matrix(300, 200, 16));
    let (dw, db, dv, dx) = on_threads(|| perceptron_grad(&w, &b, &v, x.view()));
    slopes(&dw, |h, d| perceptron(&(&w + &(d * h)), &b, &v, x.view()));
    slopes(&db, |h, d| perceptron(&w, &(&b + &(d * h)), &v, x.view()));
    slopes(&dv, |h, d| perceptron(&w, &b, &(&v + &(d * h)), x.view()));
    slopes(&dx, |h, d| perceptron(&w, &b, &v, (&x + &(d * h)).view()));
}

//! Problems of the GradBench suite, written as a user writes them, against its reference results: to 1e-12 of the largest entry,
//! and the same bits on every memory layout of the inputs.

mod layouts;

use ad::ndarray::{Array, Dimension};
use ad::prelude::*;
use layouts::{Bits, on_every_layout, stored};
use serde_json::Value;

fn read(file: &str) -> Value {
    let path = format!("{}/tests/data/gradbench/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file")).expect("JSON")
}

/// The numbers of nested lists, in order.
fn numbers(json: &Value) -> Vec<f64> {
    match json {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

fn vector(json: &Value) -> Array1<f64> {
    Array1::from(numbers(json))
}

fn matrix(json: &Value) -> Array2<f64> {
    let rows = json.as_array().expect("rows");
    let numbers = numbers(json);
    Array2::from_shape_vec((rows.len(), numbers.len() / rows.len()), numbers).expect("rows of one length")
}

/// To 1e-12 of the largest entry.
#[track_caller]
fn agree<D: Dimension>(found: &Array<f64, D>, expected: &Array<f64, D>) {
    assert_eq!(found.shape(), expected.shape());
    let largest = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        let error = (a - b).abs();
        assert!(error <= 1e-12 * largest, "{a} instead of {b}");
    }
}

#[track_caller]
fn agree_scalar(found: f64, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} instead of {expected}");
}

#[differentiate]
fn lse(x: &Array1<f64>) -> f64 {
    let a = maximum(x);
    a + (x - a).exp().sum().ln()
}

#[differentiate]
fn lse_of_slice(x: &[f64]) -> f64 {
    logsumexp(x)
}

#[test]
fn log_sum_exp() {
    for file in ["lse_n10", "lse_n50_wide"] {
        let case = read(file);
        let x = vector(&case["input"]["x"]);
        let (value, gradient) = on_every_layout(|layout| lse_value_and_grad(&stored(&x, layout)));
        agree_scalar(value, &case["objective"]);
        agree(&gradient, &vector(&case["gradient"]));
        let (value, gradient) = lse_of_slice_value_and_grad(&x.to_vec());
        agree_scalar(value, &case["objective"]);
        agree(&gradient.into(), &vector(&case["gradient"]));
    }
}

/// `l`: what is strictly below the diagonal of each component's matrix, column by column.
#[differentiate(wrt(alpha, mu, q, l))]
fn gmm(
    x: &Array2<f64>,
    alpha: &Array1<f64>,
    mu: &Array2<f64>,
    q: &Array2<f64>,
    l: &Array2<f64>,
    m: usize,
    gamma: f64,
) -> f64 {
    let (n, d) = x.dim();
    let k = alpha.len();
    let lower = |c: usize, i: usize, j: usize| {
        if i == j {
            q[[c, i]].exp()
        } else if i > j {
            l[[c, j * (2 * d - j - 1) / 2 + i - j - 1]]
        } else {
            0.0
        }
    };
    let matrices = build([k, d, d], |[c, i, j]| lower(c, i, j));
    let sums = q.sum_axis(Axis(1));
    let beta = build([n, k], |[i, c]| {
        let z = matrices.index_axis(Axis(0), c).dot(&(&x.row(i) - &mu.row(c)));
        alpha[c] + sums[c] - 0.5 * z.dot(&z)
    });
    let fit = build1(n, |i| logsumexp(&beta.row(i))).sum() - n as f64 * logsumexp(alpha);

    let degrees = (d + m + 1) as f64;
    let gammas = build1(d, |j| ln_gamma(0.5 * degrees - 0.5 * j as f64)).sum();
    let ln_gamma_d = 0.25 * (d * (d - 1)) as f64 * std::f64::consts::PI.ln() + gammas;
    let constant = degrees * d as f64 * (gamma.ln() - 0.5 * std::f64::consts::LN_2) - ln_gamma_d;
    let squares = q.mapv(|v| (2.0 * v).exp()).sum() + l.mapv(|v| v * v).sum();
    let prior = k as f64 * constant - 0.5 * gamma * gamma * squares + m as f64 * sums.sum();
    fit + prior - 0.5 * (n * d) as f64 * std::f64::consts::TAU.ln()
}

#[test]
fn gaussian_mixture() {
    for file in ["gmm_n20_d3_k4_m2", "gmm_n100_d2_k5_m0"] {
        let case = read(file);
        let input = &case["input"];
        let x = matrix(&input["x"]);
        let (alpha, mu, q, l) =
            (vector(&input["alpha"]), matrix(&input["mu"]), matrix(&input["q"]), matrix(&input["l"]));
        let m = usize::try_from(input["m"].as_u64().expect("a number")).expect("a size");
        let gamma = input["gamma"].as_f64().expect("a number");
        let (value, gradients) = on_every_layout(|layout| {
            let (x, mu, q, l) = (stored(&x, layout), stored(&mu, layout), stored(&q, layout), stored(&l, layout));
            let (value, gradients) = gmm_value_and_grad(&x, &stored(&alpha, layout), &mu, &q, &l, m, gamma);
            assert_eq!(gmm_grad(&x, &alpha, &mu, &q, &l, m, gamma).bits(), gradients.bits());
            (value, gradients)
        });
        let expected = &case["gradient"];
        agree_scalar(value, &case["objective"]);
        agree(&gradients.0, &vector(&expected["alpha"]));
        agree(&gradients.1, &matrix(&expected["mu"]));
        agree(&gradients.2, &matrix(&expected["q"]));
        agree(&gradients.3, &matrix(&expected["l"]));
    }
}

#[differentiate(wrt(centroids))]
fn kmeans(points: &Array2<f64>, centroids: &Array2<f64>) -> f64 {
    let nearest = build1(points.nrows(), |i| {
        minimum(&build1(centroids.nrows(), |j| {
            let d = &points.row(i) - &centroids.row(j);
            d.dot(&d)
        }))
    });
    nearest.sum()
}

#[test]
fn k_means() {
    for file in ["kmeans_n20_d2_k3", "kmeans_n200_d5_k10"] {
        let case = read(file);
        let (points, centroids) = (matrix(&case["input"]["points"]), matrix(&case["input"]["centroids"]));
        let (value, gradient) =
            on_every_layout(|layout| kmeans_value_and_grad(&stored(&points, layout), &stored(&centroids, layout)));
        agree_scalar(value, &case["cost"]);
        agree(&gradient, &matrix(&case["gradient"]));
        // The Hessian's diagonal is twice the number of points of a centroid.
        agree(&(gradient / matrix(&case["hessian_diagonal"])), &matrix(&case["dir"]));
    }
}

/// The powers do not depend on x, so that they may be computed as one likes.
#[differentiate]
fn llsq(x: &Array1<f64>, n: usize) -> f64 {
    let residuals = build1(n, |i| {
        let t = -1.0 + 2.0 * i as f64 / (n - 1) as f64;
        let sign = if t > 0.0 {
            1.0
        } else if t < 0.0 {
            -1.0
        } else {
            0.0
        };
        sign - build1(x.len(), |j| x[j] * t.powi(j as i32)).sum()
    });
    0.5 * residuals.dot(&residuals)
}

#[test]
fn least_squares() {
    for file in ["llsq_n10_m4", "llsq_n11_m6"] {
        let case = read(file);
        let x = vector(&case["input"]["x"]);
        let n = usize::try_from(case["input"]["n"].as_u64().expect("a number")).expect("a size");
        let (value, gradient) = on_every_layout(|layout| llsq_value_and_grad(&stored(&x, layout), n));
        agree_scalar(value, &case["objective"]);
        agree(&gradient, &vector(&case["gradient"]));
    }
}

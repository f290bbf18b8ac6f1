//! Problems of the GradBench suite, written as a user writes them, compared with its reference
//! results: to 1e-12 of the largest entry, and with the same bits on every memory layout of the
//! inputs.

#[path = "../gradbench/src/programs/gmm.rs"]
mod gmm;
#[path = "../gradbench/src/programs/kmeans.rs"]
mod kmeans;
mod layouts;
#[path = "../gradbench/src/programs/lse.rs"]
mod lse;
mod reference;

use ad::prelude::*;
use gmm::{gmm_grad, gmm_value_and_grad};
use kmeans::kmeans_value_and_grad;
use layouts::{Bits, on_every_layout, stored};
use lse::lse_value_and_grad;
use reference::{agree, agree_scalar, matrix, read, size, vector};

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

#[test]
fn gaussian_mixture() {
    for file in ["gmm_n20_d3_k4_m2", "gmm_n100_d2_k5_m0"] {
        let case = read(file);
        let input = &case["input"];
        let x = matrix(&input["x"]);
        let (alpha, mu, q, l) =
            (vector(&input["alpha"]), matrix(&input["mu"]), matrix(&input["q"]), matrix(&input["l"]));
        let m = size(&input["m"]);
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

/// The powers do not depend on x, so they may be computed in any way.
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
        let n = size(&case["input"]["n"]);
        let (value, gradient) = on_every_layout(|layout| llsq_value_and_grad(&stored(&x, layout), n));
        agree_scalar(value, &case["objective"]);
        agree(&gradient, &vector(&case["gradient"]));
    }
}

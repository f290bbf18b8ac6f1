//! Problems of the GradBench suite in plain loops, as in a C program. `gradbench_loops.rs` compares
//! them with the suite's results, and `benches/workloads.rs` measures their times.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops over indices are what is meant")]

#[path = "../../gradbench/src/programs/llsq.rs"]
mod llsq;
#[path = "../../gradbench/src/programs/lstm.rs"]
mod lstm;
#[path = "../../gradbench/src/programs/ode.rs"]
mod ode;

use ad::prelude::*;
pub use llsq::*;
pub use lstm::*;
pub use ode::*;

#[differentiate]
pub fn lse(x: &Array1<f64>) -> f64 {
    let mut largest = x[0];
    for i in 1..x.len() {
        if x[i] > largest {
            largest = x[i];
        }
    }
    let mut sum = 0.0;
    for &e in x {
        sum += (e - largest).exp();
    }
    largest + sum.ln()
}

#[differentiate(wrt(centroids))]
pub fn kmeans(points: &Array2<f64>, centroids: &Array2<f64>) -> f64 {
    let mut cost = 0.0;
    for i in 0..points.nrows() {
        let mut nearest = f64::INFINITY;
        for j in 0..centroids.nrows() {
            let mut distance = 0.0;
            for k in 0..points.ncols() {
                let d = points[[i, k]] - centroids[[j, k]];
                distance += d * d;
            }
            if distance < nearest {
                nearest = distance;
            }
        }
        cost += nearest;
    }
    cost
}

/// `l`: the elements strictly below the diagonal of each component's matrix, column by column.
#[differentiate(wrt(alpha, mu, q, l))]
pub fn gmm(
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
    let mut sums = Array1::<f64>::zeros(k);
    for c in 0..k {
        for j in 0..d {
            sums[c] += q[[c, j]];
        }
    }
    let mut fit = 0.0;
    for i in 0..n {
        let mut beta = Array1::<f64>::zeros(k);
        for c in 0..k {
            let mut squares = 0.0;
            for r in 0..d {
                let mut z = q[[c, r]].exp() * (x[[i, r]] - mu[[c, r]]);
                for j in 0..r {
                    z += l[[c, j * (2 * d - j - 1) / 2 + r - j - 1]] * (x[[i, j]] - mu[[c, j]]);
                }
                squares += z * z;
            }
            beta[c] = alpha[c] + sums[c] - 0.5 * squares;
        }
        fit += logsumexp(&beta);
    }
    let degrees = (d + m + 1) as f64;
    let mut ln_gamma_d = 0.25 * (d * (d - 1)) as f64 * std::f64::consts::PI.ln();
    for j in 0..d {
        ln_gamma_d += ln_gamma(0.5 * degrees - 0.5 * j as f64);
    }
    let constant = degrees * d as f64 * (gamma.ln() - 0.5 * std::f64::consts::LN_2) - ln_gamma_d;
    let mut prior = k as f64 * constant;
    for c in 0..k {
        let mut squares = 0.0;
        for j in 0..d {
            squares += (2.0 * q[[c, j]]).exp();
        }
        for e in l.row(c) {
            squares += e * e;
        }
        prior += m as f64 * sums[c] - 0.5 * gamma * gamma * squares;
    }
    fit - n as f64 * logsumexp(alpha) + prior - 0.5 * (n * d) as f64 * std::f64::consts::TAU.ln()
}

//! GradBench's `gmm`: a mixture of Gaussian distributions, over whole arrays.

use ad::prelude::*;

/// `l`: the elements strictly below the diagonal of each component's matrix, column by column.
#[differentiate(grad, hvp, wrt(alpha, mu, q, l))]
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

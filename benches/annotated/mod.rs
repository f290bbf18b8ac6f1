//! The workloads as a user writes them. Everything that the macro writes is in this module.

pub mod loops;

use ad::prelude::*;

/// a
#[differentiate]
pub fn dot(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    x.dot(y)
}

/// b
#[differentiate]
pub fn sum_of_product(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    a.dot(x).sum()
}

/// c: the vector by the quaternion (w, x, y, z).
#[differentiate]
pub fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
    [
        v[0] + w * t[0] + (y * t[2] - z * t[1]),
        v[1] + w * t[1] + (z * t[0] - x * t[2]),
        v[2] + w * t[2] + (x * t[1] - y * t[0]),
    ]
}

/// d: labels are 1 and -1.
#[differentiate(wrt(w))]
pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let scores = x.dot(w);
    let losses = build1(y.len(), |i| (-y[i] * scores[i]).exp().ln_1p());
    losses.mean().unwrap()
}

/// e
#[differentiate(grad, hvp, wrt(w1, b1, w2, b2))]
pub fn perceptron(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> f64 {
    let hidden = (images.dot(w1) + b1).mapv(f64::tanh);
    let scores = hidden.dot(w2) + b2;
    let losses = build1(labels.len(), |i| logsumexp(&scores.row(i)) - scores[[i, labels[i]]]);
    losses.mean().unwrap()
}

/// f
#[differentiate]
pub fn rosenbrock(x: &Array1<f64>) -> f64 {
    let terms = build1(x.len() - 1, |i| {
        let t = x[i + 1] - x[i] * x[i];
        let u = 1.0 - x[i];
        100.0 * t * t + u * u
    });
    terms.sum()
}

/// g
#[differentiate]
pub fn log_sum_exp(x: &Array1<f64>) -> f64 {
    let max = maximum(x);
    (x - max).mapv(f64::exp).sum().ln() + max
}

/// h: bundle adjustment, one observation of GradBench's `ba`.
#[differentiate(jacobian, wrt(camera, point, weight))]
pub fn reprojection(camera: &[f64; 11], point: &[f64; 3], weight: f64, feature: [f64; 2]) -> [f64; 2] {
    let [rx, ry, rz, cx, cy, cz, f, u0, v0, k1, k2] = *camera;
    let (x, y, z) = (point[0] - cx, point[1] - cy, point[2] - cz);
    let square = rx * rx + ry * ry + rz * rz;
    let turned = if square == 0.0 {
        [x + ry * z - rz * y, y + rz * x - rx * z, z + rx * y - ry * x]
    } else {
        let angle = square.sqrt();
        let (sin, cos) = angle.sin_cos();
        let (vx, vy, vz) = (rx / angle, ry / angle, rz / angle);
        let along = (vx * x + vy * y + vz * z) * (1.0 - cos);
        [
            x * cos + (vy * z - vz * y) * sin + vx * along,
            y * cos + (vz * x - vx * z) * sin + vy * along,
            z * cos + (vx * y - vy * x) * sin + vz * along,
        ]
    };
    let (u, v) = (turned[0] / turned[2], turned[1] / turned[2]);
    let q = u * u + v * v;
    let bent = 1.0 + k1 * q + k2 * q * q;
    [weight * (f * u * bent + u0 - feature[0]), weight * (f * v * bent + v0 - feature[1])]
}

/// i: GradBench's Gaussian mixture; `l` is what is strictly below the diagonal of each component's matrix, column by column.
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

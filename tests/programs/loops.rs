//! Problems of the GradBench suite in plain loops, as in a C program. `gradbench_loops.rs` compares
//! them with the suite's results, and `benches/workloads.rs` measures their times.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops over indices are what is meant")]

use ad::prelude::*;

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

#[differentiate]
pub fn llsq(x: &Array1<f64>, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let t = -1.0 + 2.0 * i as f64 / (n - 1) as f64;
        let sign = if t > 0.0 {
            1.0
        } else if t < 0.0 {
            -1.0
        } else {
            0.0
        };
        let mut power = 1.0;
        let mut r = sign;
        for j in 0..x.len() {
            r -= x[j] * power;
            power *= t;
        }
        total += r * r;
    }
    0.5 * total
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

/// The last component at time 2 of `y_0' = x_0`, `y_i' = x_i y_{i-1}` from 0, by steps of Runge and
/// Kutta.
#[differentiate(vjp)]
pub fn ode(x: &Array1<f64>, steps: usize) -> Array1<f64> {
    let slope = |y: &Array1<f64>| build1(x.len(), |i| if i == 0 { x[0] } else { x[i] * y[i - 1] });
    let h = 2.0 / steps as f64;
    let mut y = Array1::<f64>::zeros(x.len());
    for _ in 0..steps {
        let k1 = slope(&y);
        let k2 = slope(&(&y + &(0.5 * h * &k1)));
        let k3 = slope(&(&y + &(0.5 * h * &k2)));
        let k4 = slope(&(&y + &(h * &k3)));
        for i in 0..x.len() {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y
}

/// `main`: for each layer a row of weights [forget
///
/// in
///
/// out
///
/// change] and a row of biases. `extra`: weights in and out, biases out. `state`: for each layer a
/// row of hidden numbers and a row of cells.
#[differentiate(wrt(main, extra))]
pub fn lstm(main: &Array2<f64>, extra: &Array2<f64>, state: &Array2<f64>, sequence: &Array2<f64>) -> f64 {
    let (c, b) = sequence.dim();
    let layers = state.nrows() / 2;
    let mut state = state.to_owned();
    let mut total = 0.0;
    for t in 0..c - 1 {
        let mut x = Array1::<f64>::zeros(b);
        for j in 0..b {
            x[j] = sequence[[t, j]] * extra[[0, j]];
        }
        for l in 0..layers {
            for j in 0..b {
                let (w, v) = (2 * l, 2 * l + 1);
                let forget = sigmoid(x[j] * main[[w, j]] + main[[v, j]]);
                let input = sigmoid(state[[w, j]] * main[[w, b + j]] + main[[v, b + j]]);
                let output = sigmoid(x[j] * main[[w, 2 * b + j]] + main[[v, 2 * b + j]]);
                let change = (state[[w, j]] * main[[w, 3 * b + j]] + main[[v, 3 * b + j]]).tanh();
                state[[v, j]] = state[[v, j]] * forget + input * change;
                state[[w, j]] = output * state[[v, j]].tanh();
                x[j] = state[[w, j]];
            }
        }
        let mut norm = 2.0;
        for j in 0..b {
            norm += (x[j] * extra[[1, j]] + extra[[2, j]]).exp();
        }
        for j in 0..b {
            total += sequence[[t + 1, j]] * (x[j] * extra[[1, j]] + extra[[2, j]] - norm.ln());
        }
    }
    -total / (b * (c - 1)) as f64
}

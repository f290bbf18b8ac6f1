//! Functions of all pairs of items. Each sums over the other items first, so that the gradient of a
//! pair needs a sum over its row.

use ad::prelude::*;

/// The density of each point under kernels at all others. Points are read as items, and whole.
#[differentiate(wrt(log_bandwidth, points))]
pub fn density(log_bandwidth: [f64; 2], points: &[[f64; 2]]) -> f64 {
    let n = points.len();
    let h = [log_bandwidth[0].exp(), log_bandwidth[1].exp()];
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 1e-3;
        for j in 0..n {
            if j != i {
                let a = (points[i][0] - points[j][0]) / h[0];
                let b = (points[i][1] - points[j][1]) / h[1];
                sum += (-0.5 * (a * a + b * b)).exp();
            }
        }
        total += sum.ln() - log_bandwidth[0] - log_bandwidth[1];
    }
    total
}

/// Each point moves to the mean of all, weighted by how near they are.
#[differentiate(wrt(x))]
pub fn mean_shift(x: &Array1<f64>, width: f64) -> f64 {
    let n = x.len();
    let mut total = 0.0;
    for i in 0..n {
        let (mut sum, mut weights) = (0.0, 0.0);
        for j in 0..n {
            let d = (x[i] - x[j]) / width;
            let w = (-d * d).exp();
            weights += w;
            sum += w * x[j];
        }
        let moved = sum / weights - x[i];
        total += moved * moved * x[i].sin();
    }
    total
}

/// The index of an item is a number, and the rows of pairs before it are left out.
#[differentiate(wrt(x, rate))]
pub fn decayed(x: &Array1<f64>, rate: f64) -> f64 {
    let n = x.len();
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 1.0;
        for j in 0..n {
            if j < i {
                let age = i as f64 - j as f64;
                sum += (-rate * age + (x[i] * x[j]).cos()).exp();
            }
        }
        total += sum.ln() * x[i] / n as f64;
    }
    total
}

/// Logits of all pairs, and a softmax of each row.
#[differentiate(wrt(a, b))]
pub fn contrast(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut total = 0.0;
    for i in 0..n {
        let mut logits = Array1::<f64>::zeros(n);
        for j in 0..n {
            for k in 0..a.ncols() {
                logits[j] += (a[[i, k]] * b[[j, k]]).tanh();
            }
        }
        total += logsumexp(&logits) - logits[i];
    }
    total
}

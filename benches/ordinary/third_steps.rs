//! The third set, models over time: programs that were written after the mechanisms for the first
//! two sets, to see whether these fit more than their examples.

use ad::ndarray::Array2;
use ad::prelude::*;

use super::{Data, Table};

fn log_add(a: f64, b: f64) -> f64 {
    let (top, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { top } else { top + (low - top).exp().ln_1p() }
}

/// All alignments of labels with frames, blanks between them (CTC).
#[differentiate(wrt(logits))]
fn alignments(logits: &Array2<f64>, labels: &[usize]) -> f64 {
    let (frames, n) = (logits.nrows(), 2 * labels.len() + 1);
    let mut log_p = logits.clone();
    for mut row in log_p.rows_mut() {
        let norm = row.mapv(f64::exp).sum().ln();
        row -= norm;
    }
    let symbol: Vec<usize> = (0..n).map(|s| if s % 2 == 0 { 0 } else { labels[s / 2] }).collect();
    let mut alpha = vec![-1e30; n];
    alpha[0] = log_p[[0, symbol[0]]];
    alpha[1] = log_p[[0, symbol[1]]];
    for t in 1..frames {
        let mut next = vec![-1e30; n];
        for s in 0..n {
            let mut a: f64 = alpha[s];
            if s >= 1 {
                let top = a.max(alpha[s - 1]);
                a = top + ((a - top).exp() + (alpha[s - 1] - top).exp()).ln();
            }
            if s >= 2 && symbol[s] != 0 && symbol[s] != symbol[s - 2] {
                let top = a.max(alpha[s - 2]);
                a = top + ((a - top).exp() + (alpha[s - 2] - top).exp()).ln();
            }
            next[s] = a + log_p[[t, symbol[s]]];
        }
        alpha = next;
    }
    let top = alpha[n - 1].max(alpha[n - 2]);
    -(top + ((alpha[n - 1] - top).exp() + (alpha[n - 2] - top).exp()).ln())
}

fn alignments_by_hand(logits: &Array2<f64>, labels: &[usize]) -> (f64, Array2<f64>) {
    let (frames, n) = (logits.nrows(), 2 * labels.len() + 1);
    let mut log_p = logits.clone();
    for mut row in log_p.rows_mut() {
        let norm = row.iter().map(|x| x.exp()).sum::<f64>().ln();
        row.mapv_inplace(|x| x - norm);
    }
    let symbol: Vec<usize> = (0..n).map(|s| if s % 2 == 0 { 0 } else { labels[s / 2] }).collect();
    let skips: Vec<bool> = (0..n).map(|s| s >= 2 && symbol[s] != 0 && symbol[s] != symbol[s - 2]).collect();
    // Forward and backward sums of paths; the gradient is what passes through each state.
    let low = f64::NEG_INFINITY;
    let mut alpha = vec![low; frames * n];
    alpha[0] = log_p[[0, symbol[0]]];
    alpha[1] = log_p[[0, symbol[1]]];
    for t in 1..frames {
        let (before, now) = alpha[(t - 1) * n..(t + 1) * n].split_at_mut(n);
        for s in 0..n {
            let mut a = before[s];
            if s >= 1 {
                a = log_add(a, before[s - 1]);
            }
            if skips[s] {
                a = log_add(a, before[s - 2]);
            }
            now[s] = a + log_p[[t, symbol[s]]];
        }
    }
    let last = &alpha[(frames - 1) * n..];
    let total = log_add(last[n - 1], last[n - 2]);
    let mut beta = vec![low; n];
    beta[n - 1] = 0.0;
    beta[n - 2] = 0.0;
    let mut g = log_p.mapv(f64::exp);
    for t in (0..frames).rev() {
        let alpha = &alpha[t * n..(t + 1) * n];
        for s in 0..n {
            let through = alpha[s] + beta[s] - total;
            if through > low {
                g[[t, symbol[s]]] -= through.exp();
            }
        }
        let now: Vec<f64> = (0..n).map(|s| beta[s] + log_p[[t, symbol[s]]]).collect();
        for s in 0..n {
            let mut b = now[s];
            if s + 1 < n {
                b = log_add(b, now[s + 1]);
            }
            if s + 2 < n && skips[s + 2] {
                b = log_add(b, now[s + 2]);
            }
            beta[s] = b;
        }
    }
    (-total, g)
}

/// A system with three bands, solved by elimination (Thomas).
#[differentiate(wrt(lower, diagonal, upper, right))]
fn three_bands(lower: &[f64], diagonal: &[f64], upper: &[f64], right: &[f64], wanted: &[f64]) -> f64 {
    let n = diagonal.len();
    let mut c = vec![0.0; n];
    let mut d = vec![0.0; n];
    c[0] = upper[0] / diagonal[0];
    d[0] = right[0] / diagonal[0];
    for i in 1..n {
        let m = diagonal[i] - lower[i] * c[i - 1];
        c[i] = upper[i] / m;
        d[i] = (right[i] - lower[i] * d[i - 1]) / m;
    }
    let mut x = vec![0.0; n];
    x[n - 1] = d[n - 1];
    for i in (0..n - 1).rev() {
        x[i] = d[i] - c[i] * x[i + 1];
    }
    let mut loss = 0.0;
    for i in 0..n {
        loss += (x[i] - wanted[i]).powi(2);
    }
    loss
}

type Bands = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

fn three_bands_by_hand(lower: &[f64], diagonal: &[f64], upper: &[f64], right: &[f64], wanted: &[f64]) -> (f64, Bands) {
    // x = T^-1 r; with v = T^-T dx: dr = v, dT[i, j] = -v[i] x[j].
    let solve = |lower: &dyn Fn(usize) -> f64, upper: &dyn Fn(usize) -> f64, right: &[f64]| {
        let n = diagonal.len();
        let (mut c, mut x) = (vec![0.0; n], vec![0.0; n]);
        c[0] = upper(0) / diagonal[0];
        x[0] = right[0] / diagonal[0];
        for i in 1..n {
            let m = 1.0 / (diagonal[i] - lower(i) * c[i - 1]);
            c[i] = if i + 1 < n { upper(i) * m } else { 0.0 };
            x[i] = (right[i] - lower(i) * x[i - 1]) * m;
        }
        for i in (0..n - 1).rev() {
            x[i] -= c[i] * x[i + 1];
        }
        x
    };
    let n = diagonal.len();
    let x = solve(&|i| lower[i], &|i| upper[i], right);
    let mut loss = 0.0;
    let dx: Vec<f64> = x
        .iter()
        .zip(wanted)
        .map(|(x, w)| {
            loss += (x - w) * (x - w);
            2.0 * (x - w)
        })
        .collect();
    let v = solve(&|i| upper[i - 1], &|i| lower[i + 1], &dx);
    let (mut dl, mut dd, mut du) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        dd[i] = -v[i] * x[i];
        if i > 0 {
            dl[i] = -v[i] * x[i - 1];
            du[i - 1] = -v[i - 1] * x[i];
        }
    }
    (loss, (dl, dd, du, v))
}

/// Three substances that react, by Runge and Kutta's method.
#[differentiate(wrt(rates, start))]
fn kinetics(rates: [f64; 3], start: [f64; 3], dt: f64, seen: &[[f64; 3]]) -> f64 {
    let slope = |c: [f64; 3]| {
        let (a, b, d) = (rates[0] * c[0], rates[1] * c[1] * c[2], rates[2] * c[1] * c[1]);
        [b - a, a - b - d, d]
    };
    let add = |c: [f64; 3], k: [f64; 3], h: f64| [c[0] + h * k[0], c[1] + h * k[1], c[2] + h * k[2]];
    let mut c = start;
    let mut loss = 0.0;
    for s in seen {
        let k1 = slope(c);
        let k2 = slope(add(c, k1, dt / 2.0));
        let k3 = slope(add(c, k2, dt / 2.0));
        let k4 = slope(add(c, k3, dt));
        for i in 0..3 {
            c[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            loss += (c[i] - s[i]).powi(2);
        }
    }
    loss
}

fn kinetics_by_hand(rates: [f64; 3], start: [f64; 3], dt: f64, seen: &[[f64; 3]]) -> (f64, ([f64; 3], [f64; 3])) {
    let slope = |c: [f64; 3]| {
        let (a, b, d) = (rates[0] * c[0], rates[1] * c[1] * c[2], rates[2] * c[1] * c[1]);
        [b - a, a - b - d, d]
    };
    let add = |c: [f64; 3], k: [f64; 3], h: f64| [c[0] + h * k[0], c[1] + h * k[1], c[2] + h * k[2]];
    let stages = |c: [f64; 3]| {
        let c2 = add(c, slope(c), dt / 2.0);
        let c3 = add(c, slope(c2), dt / 2.0);
        let c4 = add(c, slope(c3), dt);
        [c, c2, c3, c4]
    };
    let mut c = start;
    let mut loss = 0.0;
    let mut path = Vec::with_capacity(seen.len() + 1);
    path.push(c);
    for s in seen {
        let k = stages(c).map(slope);
        for i in 0..3 {
            c[i] += dt / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
            loss += (c[i] - s[i]) * (c[i] - s[i]);
        }
        path.push(c);
    }
    let (mut dr, mut g) = ([0.0; 3], [0.0; 3]);
    for (n, s) in seen.iter().enumerate().rev() {
        for i in 0..3 {
            g[i] += 2.0 * (path[n + 1][i] - s[i]);
        }
        let at = stages(path[n]);
        let mut back = |c: [f64; 3], dk: [f64; 3]| {
            let (da, db, dd) = (dk[1] - dk[0], dk[0] - dk[1], dk[2] - dk[1]);
            dr[0] += da * c[0];
            dr[1] += db * c[1] * c[2];
            dr[2] += dd * c[1] * c[1];
            [da * rates[0], db * rates[1] * c[2] + 2.0 * dd * rates[2] * c[1], db * rates[1] * c[1]]
        };
        let (w, v) = (dt / 6.0, dt / 3.0);
        let d4 = back(at[3], g.map(|g| w * g));
        let d3 = back(at[2], [0, 1, 2].map(|i| v * g[i] + dt * d4[i]));
        let d2 = back(at[1], [0, 1, 2].map(|i| v * g[i] + dt / 2.0 * d3[i]));
        let d1 = back(at[0], [0, 1, 2].map(|i| w * g[i] + dt / 2.0 * d2[i]));
        for i in 0..3 {
            g[i] += d1[i] + d2[i] + d3[i] + d4[i];
        }
    }
    (loss, (dr, g))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(47);
    let logits = data.matrix(100, 30);
    let labels: Vec<usize> = data.below(25, 29).iter().map(|l| l + 1).collect();
    table.row(
        "alignments, 100 frames, 25 labels",
        || alignments_by_hand(&logits, &labels),
        || alignments_value_and_grad(&logits, &labels),
        || alignments(&logits, &labels),
    );
    let n = 2000;
    let (lower, upper, right, wanted) = (data.numbers(n), data.numbers(n), data.numbers(n), data.numbers(n));
    let diagonal: Vec<f64> = data.positive(n).iter().map(|d| d + 1.0).collect();
    table.row(
        "three bands, 2000",
        || three_bands_by_hand(&lower, &diagonal, &upper, &right, &wanted),
        || three_bands_value_and_grad(&lower, &diagonal, &upper, &right, &wanted),
        || three_bands(&lower, &diagonal, &upper, &right, &wanted),
    );
    let seen = data.points::<3>(500);
    table.row(
        "kinetics, 500 steps",
        || kinetics_by_hand([0.4, 0.3, 0.2], [1.0, 0.1, 0.2], 0.01, &seen),
        || kinetics_value_and_grad([0.4, 0.3, 0.2], [1.0, 0.1, 0.2], 0.01, &seen),
        || kinetics([0.4, 0.3, 0.2], [1.0, 0.1, 0.2], 0.01, &seen),
    );
}

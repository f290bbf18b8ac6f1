//! Signals: filters, autoregression, smoothing with seasons, and a spectrum.

use ad::ndarray::{Array1, s};
use ad::prelude::*;

use super::{Data, Table};

/// A filter of finite length: the squared error of its output.
#[differentiate(wrt(h))]
fn fir(h: &Array1<f64>, x: &Array1<f64>, wanted: &Array1<f64>) -> f64 {
    let k = h.len();
    let mut total = 0.0;
    for t in 0..wanted.len() {
        let e = x.slice(s![t..t + k]).dot(h) - wanted[t];
        total += e * e;
    }
    total
}

fn fir_by_hand(h: &Array1<f64>, x: &Array1<f64>, wanted: &Array1<f64>) -> (f64, Array1<f64>) {
    let k = h.len();
    let (h, x) = (h.as_slice().unwrap(), x.as_slice().unwrap());
    let (mut total, mut dh) = (0.0, vec![0.0; k]);
    for (window, wanted) in x.windows(k).zip(wanted) {
        let e = window.iter().zip(h).map(|(a, b)| a * b).sum::<f64>() - wanted;
        total += e * e;
        for (dh, x) in dh.iter_mut().zip(window) {
            *dh += 2.0 * e * x;
        }
    }
    (total, Array1::from(dh))
}

/// A filter with feedback, with two delays each.
#[differentiate(wrt(b, a))]
fn biquad(b: [f64; 3], a: [f64; 2], x: &[f64], wanted: &[f64]) -> f64 {
    let (mut x1, mut x2, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0);
    let mut total = 0.0;
    for (&x0, w) in x.iter().zip(wanted) {
        let y0 = b[0] * x0 + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
        total += (y0 - w).powi(2);
        x2 = x1;
        x1 = x0;
        y2 = y1;
        y1 = y0;
    }
    total
}

fn biquad_by_hand(b: [f64; 3], a: [f64; 2], x: &[f64], wanted: &[f64]) -> (f64, ([f64; 3], [f64; 2])) {
    let n = x.len().min(wanted.len());
    let at = |x: &[f64], t: usize, k: usize| if t >= k { x[t - k] } else { 0.0 };
    let mut y = Vec::with_capacity(n);
    let (mut y1, mut y2, mut total) = (0.0, 0.0, 0.0);
    for t in 0..n {
        let y0 = b[0] * x[t] + b[1] * at(x, t, 1) + b[2] * at(x, t, 2) - a[0] * y1 - a[1] * y2;
        total += (y0 - wanted[t]).powi(2);
        (y1, y2) = (y0, y1);
        y.push(y0);
    }
    let (mut db, mut da, mut d1, mut d2) = ([0.0; 3], [0.0; 2], 0.0, 0.0);
    for t in (0..n).rev() {
        let g = 2.0 * (y[t] - wanted[t]) + d1;
        for k in 0..3 {
            db[k] += g * at(x, t, k);
        }
        da[0] -= g * at(&y, t, 1);
        da[1] -= g * at(&y, t, 2);
        (d1, d2) = (d2 - a[0] * g, -a[1] * g);
    }
    (total, (db, da))
}

/// An autoregression of order 3 with normal noise.
#[differentiate(wrt(phi, log_sigma))]
fn autoregression(phi: &[f64; 3], log_sigma: f64, y: &[f64]) -> f64 {
    let precision = (-2.0 * log_sigma).exp();
    y.windows(4)
        .map(|w| {
            let e = w[3] - phi[0] * w[2] - phi[1] * w[1] - phi[2] * w[0];
            0.5 * e * e * precision + log_sigma
        })
        .sum()
}

fn autoregression_by_hand(phi: &[f64; 3], log_sigma: f64, y: &[f64]) -> (f64, ([f64; 3], f64)) {
    let precision = (-2.0 * log_sigma).exp();
    let (mut squares, mut d) = (0.0, [0.0; 3]);
    for w in y.windows(4) {
        let e = w[3] - phi[0] * w[2] - phi[1] * w[1] - phi[2] * w[0];
        squares += e * e;
        for k in 0..3 {
            d[k] -= e * w[2 - k];
        }
    }
    let n = (y.len() - 3) as f64;
    (0.5 * squares * precision + n * log_sigma, (d.map(|d| d * precision), n - squares * precision))
}

/// Exponential smoothing with a trend and seasons of 12 (Holt and Winters), in single precision.
#[differentiate(wrt(rates, seasons))]
fn seasons(rates: [f32; 3], seasons: [f32; 12], y: &[f32]) -> f32 {
    let (alpha, beta, gamma) = (rates[0], rates[1], rates[2]);
    let mut season = seasons;
    let (mut level, mut trend, mut total) = (y[0], 0.0, 0.0);
    for t in 1..y.len() {
        let k = t % 12;
        let e = y[t] - (level + trend + season[k]);
        total += e * e;
        let before = level;
        level = alpha * (y[t] - season[k]) + (1.0 - alpha) * (level + trend);
        trend = beta * (level - before) + (1.0 - beta) * trend;
        season[k] = gamma * (y[t] - level) + (1.0 - gamma) * season[k];
    }
    total
}

fn seasons_by_hand(rates: [f32; 3], seasons: [f32; 12], y: &[f32]) -> (f32, ([f32; 3], [f32; 12])) {
    let [alpha, beta, gamma] = rates;
    let mut season = seasons;
    let (mut level, mut trend, mut total) = (y[0], 0.0, 0.0);
    let mut saved = Vec::with_capacity(y.len());
    for t in 1..y.len() {
        let k = t % 12;
        let e = y[t] - (level + trend + season[k]);
        total += e * e;
        let next = alpha * (y[t] - season[k]) + (1.0 - alpha) * (level + trend);
        saved.push([level, trend, season[k], next]);
        trend = beta * (next - level) + (1.0 - beta) * trend;
        season[k] = gamma * (y[t] - next) + (1.0 - gamma) * season[k];
        level = next;
    }
    let (mut dl, mut dt, mut ds, mut dr) = (0.0, 0.0, [0.0; 12], [0.0; 3]);
    for t in (1..y.len()).rev() {
        let k = t % 12;
        let [level, trend, season, next] = saved[t - 1];
        dr[2] += ds[k] * (y[t] - next - season);
        let mut dnext = dl - gamma * ds[k] + beta * dt;
        ds[k] *= 1.0 - gamma;
        dr[1] += dt * (next - level - trend);
        let mut dlevel = -beta * dt;
        dt *= 1.0 - beta;
        dr[0] += dnext * (y[t] - season - level - trend);
        ds[k] -= alpha * dnext;
        dnext *= 1.0 - alpha;
        dlevel += dnext;
        dt += dnext;
        let g = -2.0 * (y[t] - (level + trend + season));
        dl = dlevel + g;
        dt += g;
        ds[k] += g;
    }
    (total, (dr, ds))
}

/// A sum of sines that is fitted to samples: amplitudes, frequencies and phases.
#[differentiate(wrt(amplitude, frequency, phase))]
fn sines(amplitude: &[f64; 5], frequency: &[f64; 5], phase: &[f64; 5], time: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for (t, y) in time.iter().zip(y) {
        let mut sum = 0.0;
        for k in 0..5 {
            sum += amplitude[k] * (frequency[k] * t + phase[k]).sin();
        }
        total += (sum - y) * (sum - y);
    }
    total
}

type Fives = ([f64; 5], [f64; 5], [f64; 5]);

fn sines_by_hand(a: &[f64; 5], f: &[f64; 5], p: &[f64; 5], time: &[f64], y: &[f64]) -> (f64, Fives) {
    let (mut total, mut da, mut df, mut dp) = (0.0, [0.0; 5], [0.0; 5], [0.0; 5]);
    for (t, y) in time.iter().zip(y) {
        let mut both = [(0.0, 0.0); 5];
        let mut sum = 0.0;
        for k in 0..5 {
            both[k] = (f[k] * t + p[k]).sin_cos();
            sum += a[k] * both[k].0;
        }
        let g = 2.0 * (sum - y);
        total += (sum - y) * (sum - y);
        for k in 0..5 {
            da[k] += g * both[k].0;
            let d = g * a[k] * both[k].1;
            dp[k] += d;
            df[k] += d * t;
        }
    }
    (total, (da, df, dp))
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(3);
    {
        let (h, x, wanted) = (data.vector(32), data.vector(10_031), data.vector(10_000));
        table.row(
            "filter of 32, 10000 samples",
            || fir_by_hand(&h, &x, &wanted),
            || fir_value_and_grad(&h, &x, &wanted),
            || fir(&h, &x, &wanted),
        );
    }
    {
        let (x, wanted) = (data.numbers(10_000), data.numbers(10_000));
        let (b, a) = ([0.2, 0.3, 0.1], [-0.5, 0.2]);
        table.row(
            "filter with feedback, 10000 samples",
            || biquad_by_hand(b, a, &x, &wanted),
            || biquad_value_and_grad(b, a, &x, &wanted),
            || biquad(b, a, &x, &wanted),
        );
    }
    {
        let y = data.numbers(10_000);
        let phi = [0.4, -0.2, 0.1];
        table.row(
            "autoregression, 10000 samples",
            || autoregression_by_hand(&phi, -0.3, &y),
            || autoregression_value_and_grad(&phi, -0.3, &y),
            || autoregression(&phi, -0.3, &y),
        );
    }
    {
        let y: Vec<f32> = data.numbers(1200).into_iter().map(|y| y as f32).collect();
        let start = [0.1_f32; 12];
        table.row(
            "seasons, 1200 months, f32",
            || seasons_by_hand([0.3, 0.1, 0.2], start, &y),
            || seasons_value_and_grad([0.3, 0.1, 0.2], start, &y),
            || seasons([0.3, 0.1, 0.2], start, &y),
        );
    }
    {
        let (time, y) = (data.numbers(2000), data.numbers(2000));
        let (a, f, p) = ([1.0, 0.5, 0.3, 0.2, 0.1], [1.0, 2.1, 3.3, 4.2, 5.9], [0.1, 0.2, 0.3, 0.4, 0.5]);
        table.row(
            "sum of 5 sines, 2000 samples",
            || sines_by_hand(&a, &f, &p, &time, &y),
            || sines_value_and_grad(&a, &f, &p, &time, &y),
            || sines(&a, &f, &p, &time, &y),
        );
    }
}

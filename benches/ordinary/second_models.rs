//! The second set, models over time and of samples: programs that were written after the
//! mechanisms for the first set, to see whether these fit more than their examples.

#![allow(clippy::reversed_empty_ranges, reason = "`s!` takes ends that count from the last element")]

use ad::ndarray::{Array1, Array2, s};
use ad::prelude::*;

use super::{Data, Table};

/// Events that make further events likely (a Hawkes process).
#[differentiate(wrt(mu, alpha, beta))]
fn hawkes(mu: f64, alpha: f64, beta: f64, times: &[f64], end: f64) -> f64 {
    let mut excitation = 0.0;
    let mut loglik = -mu * end;
    for i in 0..times.len() {
        if i > 0 {
            excitation = (-beta * (times[i] - times[i - 1])).exp() * (1.0 + excitation);
        }
        loglik += (mu + alpha * excitation).ln();
        loglik -= alpha / beta * (1.0 - (-beta * (end - times[i])).exp());
    }
    loglik
}

fn hawkes_by_hand(mu: f64, alpha: f64, beta: f64, times: &[f64], end: f64) -> (f64, (f64, f64, f64)) {
    // The derivative of the excitation by beta goes forward with it.
    let (mut a, mut da) = (0.0, 0.0);
    let (mut loglik, mut dmu, mut dalpha, mut dbeta) = (-mu * end, -end, 0.0, 0.0);
    let mut before = times[0];
    for (i, &t) in times.iter().enumerate() {
        if i > 0 {
            let decay = (-beta * (t - before)).exp();
            da = decay * (da - (t - before) * (1.0 + a));
            a = decay * (1.0 + a);
        }
        before = t;
        let rate = mu + alpha * a;
        loglik += rate.ln();
        dmu += 1.0 / rate;
        dalpha += a / rate;
        dbeta += alpha * da / rate;
        let rest = (-beta * (end - t)).exp();
        loglik -= alpha / beta * (1.0 - rest);
        dalpha -= (1.0 - rest) / beta;
        dbeta += alpha / (beta * beta) * (1.0 - rest) - alpha / beta * (end - t) * rest;
    }
    (loglik, (dmu, dalpha, dbeta))
}

/// An American put on a binomial tree.
#[differentiate(wrt(spot, volatility, rate))]
fn tree(spot: f64, volatility: f64, rate: f64, strike: f64, expiry: f64, steps: usize) -> f64 {
    let dt = expiry / steps as f64;
    let up = (volatility * dt.sqrt()).exp();
    let down = 1.0 / up;
    let p = ((rate * dt).exp() - down) / (up - down);
    let discount = (-rate * dt).exp();
    let mut value: Vec<f64> =
        (0..=steps).map(|j| (strike - spot * up.powi(2 * j as i32 - steps as i32)).max(0.0)).collect();
    for i in (0..steps).rev() {
        for j in 0..=i {
            let hold = discount * (p * value[j + 1] + (1.0 - p) * value[j]);
            let exercise = strike - spot * up.powi(2 * j as i32 - i as i32);
            value[j] = hold.max(exercise);
        }
    }
    value[0]
}

fn tree_by_hand(
    spot: f64,
    volatility: f64,
    rate: f64,
    strike: f64,
    expiry: f64,
    steps: usize,
) -> (f64, (f64, f64, f64)) {
    let dt = expiry / steps as f64;
    let up = (volatility * dt.sqrt()).exp();
    let down = 1.0 / up;
    let p = ((rate * dt).exp() - down) / (up - down);
    let discount = (-rate * dt).exp();
    let powers: Vec<f64> = (0..=2 * steps).map(|k| up.powi(k as i32 - steps as i32)).collect();
    let n = steps + 1;
    let mut all = vec![0.0; n * n];
    let mut held = vec![false; n * n];
    for j in 0..n {
        all[steps * n + j] = (strike - spot * powers[2 * j]).max(0.0);
    }
    for i in (0..steps).rev() {
        let (row, next) = all[i * n..].split_at_mut(n);
        for j in 0..=i {
            let hold = discount * (p * next[j + 1] + (1.0 - p) * next[j]);
            let exercise = strike - spot * powers[steps + 2 * j - i];
            held[i * n + j] = hold >= exercise;
            row[j] = hold.max(exercise);
        }
    }
    let (mut dspot, mut dp, mut ddiscount, mut dup) = (0.0, 0.0, 0.0, 0.0);
    let mut g = vec![0.0; n];
    g[0] = 1.0;
    for i in 0..steps {
        let next = &all[(i + 1) * n..(i + 2) * n];
        let mut later = vec![0.0; n];
        for j in 0..=i {
            if held[i * n + j] {
                let (a, b) = (next[j + 1], next[j]);
                ddiscount += g[j] * (p * a + (1.0 - p) * b);
                dp += g[j] * discount * (a - b);
                later[j + 1] += g[j] * discount * p;
                later[j] += g[j] * discount * (1.0 - p);
            } else {
                let power = powers[steps + 2 * j - i];
                dspot -= g[j] * power;
                dup -= g[j] * spot * (2.0 * j as f64 - i as f64) * power / up;
            }
        }
        g = later;
    }
    for j in 0..n {
        if strike - spot * powers[2 * j] > 0.0 {
            dspot -= g[j] * powers[2 * j];
            dup -= g[j] * spot * (2.0 * j as f64 - steps as f64) * powers[2 * j] / up;
        }
    }
    let growth = (rate * dt).exp();
    let ddown = dp * (-(up - down) + (growth - down)) / ((up - down) * (up - down));
    dup -= dp * (growth - down) / ((up - down) * (up - down));
    dup -= ddown / (up * up);
    let drate = dp * dt * growth / (up - down) - ddiscount * dt * discount;
    (all[0], (dspot, dup * up * dt.sqrt(), drate))
}

/// Classes of samples by a linear model: the mean of the negative log-likelihoods.
#[differentiate(wrt(w, b))]
fn classes(w: &Array2<f64>, b: &Array1<f64>, x: &Array2<f64>, class: &[usize]) -> f64 {
    let z = x.dot(w) + b;
    let mut loss = 0.0;
    for (row, &c) in z.rows().into_iter().zip(class) {
        let top = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        loss += top + row.mapv(|z| (z - top).exp()).sum().ln() - row[c];
    }
    loss / class.len() as f64 + 0.01 * w.mapv(|w| w * w).sum()
}

fn classes_by_hand(
    w: &Array2<f64>,
    b: &Array1<f64>,
    x: &Array2<f64>,
    class: &[usize],
) -> (f64, (Array2<f64>, Array1<f64>)) {
    let mut z = x.dot(w) + b;
    let m = w.ncols();
    let scale = 1.0 / class.len() as f64;
    let mut loss = 0.0;
    let mut db = vec![0.0; m];
    for (row, &c) in z.as_slice_mut().unwrap().chunks_exact_mut(m).zip(class) {
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        loss += top - row[c];
        let mut sum = 0.0;
        for z in &mut *row {
            *z = (*z - top).exp();
            sum += *z;
        }
        loss += sum.ln();
        for z in &mut *row {
            *z *= scale / sum;
        }
        row[c] -= scale;
        for (d, z) in db.iter_mut().zip(&*row) {
            *d += z;
        }
    }
    let mut dw = x.t().dot(&z);
    dw.scaled_add(0.02, w);
    (loss * scale + 0.01 * w.iter().map(|w| w * w).sum::<f64>(), (dw, Array1::from(db)))
}

/// Heat in a plate whose conductivity varies, by explicit steps over slices.
#[differentiate(wrt(conductivity))]
fn plate(conductivity: &Array2<f64>, start: &Array2<f64>, wanted: &Array2<f64>) -> f64 {
    let mut u = start.clone();
    for _ in 0..20 {
        let middle = u.slice(s![1..-1, 1..-1]);
        let laplacian =
            &u.slice(s![..-2, 1..-1]) + &u.slice(s![2.., 1..-1]) + u.slice(s![1..-1, ..-2]) + u.slice(s![1..-1, 2..])
                - 4.0 * &middle;
        let change = conductivity * &laplacian;
        let mut next = u.clone();
        next.slice_mut(s![1..-1, 1..-1]).scaled_add(0.2, &change);
        u = next;
    }
    (&u - wanted).mapv(|d| d * d).sum()
}

fn plate_by_hand(conductivity: &Array2<f64>, start: &Array2<f64>, wanted: &Array2<f64>) -> (f64, Array2<f64>) {
    let (h, w) = start.dim();
    let c = conductivity.as_slice().unwrap();
    let mut all = vec![start.as_slice().unwrap().to_vec()];
    for t in 0..20 {
        let u = &all[t];
        let mut next = u.clone();
        for i in 1..h - 1 {
            let (above, row, below) = (&u[(i - 1) * w..i * w], &u[i * w..(i + 1) * w], &u[(i + 1) * w..(i + 2) * w]);
            let (c, next) = (&c[(i - 1) * (w - 2)..i * (w - 2)], &mut next[i * w..(i + 1) * w]);
            for j in 1..w - 1 {
                next[j] += 0.2 * c[j - 1] * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4.0 * row[j]);
            }
        }
        all.push(next);
    }
    let mut total = 0.0;
    let mut g: Vec<f64> = all[20]
        .iter()
        .zip(wanted)
        .map(|(u, w)| {
            total += (u - w) * (u - w);
            2.0 * (u - w)
        })
        .collect();
    let mut dc = vec![0.0; c.len()];
    for t in (0..20).rev() {
        let u = &all[t];
        let mut before = g.clone();
        for i in 1..h - 1 {
            for j in 1..w - 1 {
                let (k, e) = (i * w + j, (i - 1) * (w - 2) + j - 1);
                let l = u[k - w] + u[k + w] + u[k - 1] + u[k + 1] - 4.0 * u[k];
                dc[e] += 0.2 * g[k] * l;
                let f = 0.2 * g[k] * c[e];
                before[k - w] += f;
                before[k + w] += f;
                before[k - 1] += f;
                before[k + 1] += f;
                before[k] -= 4.0 * f;
            }
        }
        g = before;
    }
    (total, Array2::from_shape_vec((h - 2, w - 2), dc).unwrap())
}

/// A quantile by a linear model: the pinball loss.
#[differentiate(wrt(w, bias))]
fn quantile(w: &Array1<f64>, bias: f64, x: &Array2<f64>, y: &[f64], tau: f64) -> f64 {
    let mut loss = 0.0;
    for (row, &y) in x.outer_iter().zip(y) {
        let r = y - row.dot(w) - bias;
        loss += if r >= 0.0 { tau * r } else { (tau - 1.0) * r };
    }
    loss / y.len() as f64
}

fn quantile_by_hand(w: &Array1<f64>, bias: f64, x: &Array2<f64>, y: &[f64], tau: f64) -> (f64, (Array1<f64>, f64)) {
    let (mut loss, mut db) = (0.0, 0.0);
    let scale = 1.0 / y.len() as f64;
    let prediction = x.dot(w);
    let slopes: Array1<f64> = prediction
        .iter()
        .zip(y)
        .map(|(p, y)| {
            let r = y - p - bias;
            let slope = if r >= 0.0 { tau } else { tau - 1.0 };
            loss += slope * r;
            db -= slope * scale;
            -slope * scale
        })
        .collect();
    (loss * scale, (slopes.dot(x), db))
}

/// An epidemic (susceptible, exposed, infected, recovered) day by day against counted cases.
#[differentiate(wrt(rates))]
fn epidemic(rates: [f64; 3], people: f64, cases: &[f64]) -> f64 {
    let [beta, sigma, gamma] = rates;
    let (mut s, mut e, mut i) = (people - 10.0, 0.0, 10.0);
    let mut loss = 0.0;
    for &count in cases {
        let infected = beta * s * i / people;
        let ill = sigma * e;
        let well = gamma * i;
        s -= infected;
        e += infected - ill;
        i += ill - well;
        loss += ill - count * (ill + 1e-9).ln();
    }
    loss
}

fn epidemic_by_hand(rates: [f64; 3], people: f64, cases: &[f64]) -> (f64, [f64; 3]) {
    let [beta, sigma, gamma] = rates;
    let (mut s, mut e, mut i) = (people - 10.0, 0.0, 10.0);
    let mut saved = Vec::with_capacity(cases.len());
    let mut loss = 0.0;
    for &count in cases {
        saved.push([s, e, i]);
        let (infected, ill, well) = (beta * s * i / people, sigma * e, gamma * i);
        s -= infected;
        e += infected - ill;
        i += ill - well;
        loss += ill - count * (ill + 1e-9).ln();
    }
    let (mut ds, mut de, mut di) = (0.0, 0.0, 0.0);
    let mut d = [0.0; 3];
    for (&[s, e, i], &count) in saved.iter().zip(cases).rev() {
        let dill = 1.0 - count / (sigma * e + 1e-9) - de + di;
        let dinfected = de - ds;
        d[0] += dinfected * s * i / people;
        d[1] += dill * e;
        d[2] -= di * i;
        ds += dinfected * beta * i / people;
        de += dill * sigma;
        di += dinfected * beta * s / people - di * gamma;
    }
    (loss, d)
}

/// The power of a signal at some frequencies, by sums of waves, in single precision.
#[differentiate(wrt(x))]
fn spectrum(x: &[f32], wanted: &[f32]) -> f32 {
    let n = x.len();
    let mut loss = 0.0;
    for k in 0..wanted.len() {
        let (mut re, mut im) = (0.0, 0.0);
        for t in 0..n {
            let angle = 2.0 * std::f32::consts::PI * (k * t % n) as f32 / n as f32;
            re += x[t] * angle.cos();
            im -= x[t] * angle.sin();
        }
        let power = (re * re + im * im) / n as f32;
        loss += (power - wanted[k]).powi(2);
    }
    loss
}

fn spectrum_by_hand(x: &[f32], wanted: &[f32]) -> (f32, Vec<f32>) {
    let n = x.len();
    let (mut loss, mut g) = (0.0, vec![0.0; n]);
    let waves: Vec<(f32, f32)> = (0..n).map(|t| (2.0 * std::f32::consts::PI * t as f32 / n as f32).sin_cos()).collect();
    for (k, wanted) in wanted.iter().enumerate() {
        let (mut re, mut im) = (0.0, 0.0);
        for (t, x) in x.iter().enumerate() {
            let (s, c) = waves[k * t % n];
            re += x * c;
            im -= x * s;
        }
        let r = (re * re + im * im) / n as f32 - wanted;
        loss += r * r;
        let (dre, dim) = (4.0 * r * re / n as f32, 4.0 * r * im / n as f32);
        for (t, g) in g.iter_mut().enumerate() {
            let (s, c) = waves[k * t % n];
            *g += dre * c - dim * s;
        }
    }
    (loss, g)
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(37);
    let mut now = 0.0;
    let times: Vec<f64> = data
        .positive(3000)
        .iter()
        .map(|d| {
            now += d;
            now
        })
        .collect();
    let end = now + 1.0;
    table.row(
        "Hawkes process",
        || hawkes_by_hand(0.5, 0.4, 1.2, &times, end),
        || hawkes_value_and_grad(0.5, 0.4, 1.2, &times, end),
        || hawkes(0.5, 0.4, 1.2, &times, end),
    );
    table.row(
        "American put",
        || tree_by_hand(100.0, 0.3, 0.05, 105.0, 1.0, 200),
        || tree_value_and_grad(100.0, 0.3, 0.05, 105.0, 1.0, 200),
        || tree(100.0, 0.3, 0.05, 105.0, 1.0, 200),
    );
    let (w, b, x) = (data.matrix(30, 8), data.vector(8), data.matrix(1000, 30));
    let class = data.below(1000, 8);
    table.row(
        "classes",
        || classes_by_hand(&w, &b, &x, &class),
        || classes_value_and_grad(&w, &b, &x, &class),
        || classes(&w, &b, &x, &class),
    );
    let conductivity = data.matrix(62, 62).mapv(|x| x + 0.6);
    let (start, wanted) = (data.matrix(64, 64), data.matrix(64, 64));
    table.row(
        "heat in a plate",
        || plate_by_hand(&conductivity, &start, &wanted),
        || plate_value_and_grad(&conductivity, &start, &wanted),
        || plate(&conductivity, &start, &wanted),
    );
    let (w, x, y) = (data.vector(20), data.matrix(2000, 20), data.numbers(2000));
    table.row(
        "quantile",
        || quantile_by_hand(&w, 0.1, &x, &y, 0.9),
        || quantile_value_and_grad(&w, 0.1, &x, &y, 0.9),
        || quantile(&w, 0.1, &x, &y, 0.9),
    );
    let cases: Vec<f64> = data.positive(365).iter().map(|c| 20.0 * c).collect();
    let rates = [0.35, 0.2, 0.1];
    table.row(
        "epidemic",
        || epidemic_by_hand(rates, 1e6, &cases),
        || epidemic_value_and_grad(rates, 1e6, &cases),
        || epidemic(rates, 1e6, &cases),
    );
    let x: Vec<f32> = data.numbers(256).iter().map(|&x| x as f32).collect();
    let wanted: Vec<f32> = data.positive(64).iter().map(|&x| x as f32).collect();
    table.row(
        "spectrum, f32",
        || spectrum_by_hand(&x, &wanted),
        || spectrum_value_and_grad(&x, &wanted),
        || spectrum(&x, &wanted),
    );
}

//! Statistical models: regressions, survival times, groups, and a factorisation.

use ad::ndarray::{Array1, Array2, array};
use ad::prelude::*;

use super::{Data, Table};

/// Poisson regression with exposures: the negative log-likelihood of counts.
#[differentiate(wrt(w, bias))]
fn poisson(w: &Array1<f64>, bias: f64, x: &Array2<f64>, exposure: &[f64], counts: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let eta = x.row(i).dot(w) + bias + exposure[i].ln();
        total += eta.exp() - counts[i] * eta;
    }
    total / counts.len() as f64
}

fn poisson_by_hand(
    w: &Array1<f64>,
    bias: f64,
    x: &Array2<f64>,
    exposure: &[f64],
    counts: &[f64],
) -> (f64, (Array1<f64>, f64)) {
    let (n, d) = x.dim();
    let (w, x) = (w.as_slice().unwrap(), x.as_slice().unwrap());
    let (mut total, mut dw, mut dbias) = (0.0, vec![0.0; d], 0.0);
    let scale = 1.0 / counts.len() as f64;
    for i in 0..n {
        let row = &x[i * d..(i + 1) * d];
        let eta = row.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() + bias + exposure[i].ln();
        let mean = eta.exp();
        total += mean - counts[i] * eta;
        let g = (mean - counts[i]) * scale;
        dbias += g;
        for (dw, x) in dw.iter_mut().zip(row) {
            *dw += g * x;
        }
    }
    (total * scale, (Array1::from(dw), dbias))
}

/// Ordered logit: classes are cut from a score by increasing thresholds.
#[differentiate(wrt(w, first, gaps))]
fn ordered(w: &Array1<f64>, first: f64, gaps: [f64; 3], x: &Array2<f64>, class: &[usize]) -> f64 {
    let mut cuts = [first; 4];
    for k in 1..4 {
        cuts[k] = cuts[k - 1] + gaps[k - 1].exp();
    }
    let scores = x.dot(w);
    let mut total = 0.0;
    for (i, &c) in class.iter().enumerate() {
        let upper = if c < 4 { sigmoid(cuts[c] - scores[i]) } else { 1.0 };
        let lower = if c > 0 { sigmoid(cuts[c - 1] - scores[i]) } else { 0.0 };
        total -= (upper - lower).ln();
    }
    total
}

fn ordered_by_hand(
    w: &Array1<f64>,
    first: f64,
    gaps: [f64; 3],
    x: &Array2<f64>,
    class: &[usize],
) -> (f64, (Array1<f64>, f64, [f64; 3])) {
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    let widths = gaps.map(f64::exp);
    let mut cuts = [first; 4];
    for k in 1..4 {
        cuts[k] = cuts[k - 1] + widths[k - 1];
    }
    let scores = x.dot(w);
    let (mut total, mut dcuts, mut dscores) = (0.0, [0.0; 4], Array1::zeros(class.len()));
    for (i, &c) in class.iter().enumerate() {
        let upper = if c < 4 { sigmoid(cuts[c] - scores[i]) } else { 1.0 };
        let lower = if c > 0 { sigmoid(cuts[c - 1] - scores[i]) } else { 0.0 };
        let p = upper - lower;
        total -= p.ln();
        if c < 4 {
            let g = -upper * (1.0 - upper) / p;
            dcuts[c] += g;
            dscores[i] -= g;
        }
        if c > 0 {
            let g = lower * (1.0 - lower) / p;
            dcuts[c - 1] += g;
            dscores[i] -= g;
        }
    }
    let mut dgaps = [0.0; 3];
    let mut sum = 0.0;
    for k in (1..4).rev() {
        sum += dcuts[k];
        dgaps[k - 1] = sum * widths[k - 1];
    }
    (total, (x.t().dot(&dscores), sum + dcuts[0], dgaps))
}

/// A normal model with an effect for each group: means of groups, and logarithms of deviations.
#[differentiate(wrt(effects, mean, scales))]
fn groups(effects: &[f64], mean: f64, scales: [f64; 2], group: &[usize], y: &[f64]) -> f64 {
    let (within, between) = (scales[0].exp(), scales[1].exp());
    let mut total = 0.0;
    for e in effects {
        total += 0.5 * (e / between).powi(2) + scales[1];
    }
    for (&g, y) in group.iter().zip(y) {
        let r = (y - mean - effects[g]) / within;
        total += 0.5 * r * r + scales[0];
    }
    total
}

fn groups_by_hand(
    effects: &[f64],
    mean: f64,
    scales: [f64; 2],
    group: &[usize],
    y: &[f64],
) -> (f64, (Vec<f64>, f64, [f64; 2])) {
    let (within, between) = ((-scales[0]).exp(), (-scales[1]).exp());
    let (mut squares, mut residuals, mut sum) = (0.0, 0.0, 0.0);
    let mut de: Vec<f64> = Vec::with_capacity(effects.len());
    for e in effects {
        let z = e * between;
        squares += z * z;
        de.push(z * between);
    }
    for (&g, y) in group.iter().zip(y) {
        let r = (y - mean - effects[g]) * within;
        residuals += r * r;
        sum += r;
        de[g] -= r * within;
    }
    let (n, m) = (y.len() as f64, effects.len() as f64);
    let value = 0.5 * (squares + residuals) + m * scales[1] + n * scales[0];
    (value, (de, -sum * within, [n - residuals, m - squares]))
}

/// Weibull survival times, of which some are censored.
#[differentiate(wrt(w, shape))]
fn survival(w: [f64; 3], shape: f64, x: &[[f64; 3]], time: &[f64], died: &[bool]) -> f64 {
    let k = shape.exp();
    let mut total = 0.0;
    for i in 0..time.len() {
        let eta = w[0] * x[i][0] + w[1] * x[i][1] + w[2] * x[i][2];
        let log_time = time[i].ln() - eta;
        let hazard = (k * log_time).exp();
        total += if died[i] { hazard - shape - (k - 1.0) * log_time + eta } else { hazard };
    }
    total
}

fn survival_by_hand(w: [f64; 3], shape: f64, x: &[[f64; 3]], time: &[f64], died: &[bool]) -> (f64, ([f64; 3], f64)) {
    let k = shape.exp();
    let (mut total, mut dw, mut dk, mut deaths) = (0.0, [0.0; 3], 0.0, 0.0);
    for ((x, time), &died) in x.iter().zip(time).zip(died) {
        let eta = w[0] * x[0] + w[1] * x[1] + w[2] * x[2];
        let log_time = time.ln() - eta;
        let hazard = (k * log_time).exp();
        total += hazard;
        dk += hazard * log_time;
        let mut deta = -k * hazard;
        if died {
            total -= shape + (k - 1.0) * log_time - eta;
            dk -= log_time;
            deaths += 1.0;
            deta += k;
        }
        for c in 0..3 {
            dw[c] += deta * x[c];
        }
    }
    (total, (dw, dk * k - deaths))
}

/// A factorisation of ratings: squared errors of products of rows, and a penalty.
#[differentiate(wrt(u, v))]
fn ratings(u: &Array2<f64>, v: &Array2<f64>, user: &[usize], item: &[usize], rating: &[f64]) -> f64 {
    let mut total = 0.0;
    for ((&a, &b), r) in user.iter().zip(item).zip(rating) {
        let e = u.row(a).dot(&v.row(b)) - r;
        total += e * e;
    }
    total + 0.01 * (u.mapv(|x| x * x).sum() + v.mapv(|x| x * x).sum())
}

fn ratings_by_hand(
    u: &Array2<f64>,
    v: &Array2<f64>,
    user: &[usize],
    item: &[usize],
    rating: &[f64],
) -> (f64, (Array2<f64>, Array2<f64>)) {
    let d = u.ncols();
    let (us, vs) = (u.as_slice().unwrap(), v.as_slice().unwrap());
    let (mut du, mut dv) = (u * 0.02, v * 0.02);
    let penalty = 0.01 * (us.iter().map(|x| x * x).sum::<f64>() + vs.iter().map(|x| x * x).sum::<f64>());
    let (dus, dvs) = (du.as_slice_mut().unwrap(), dv.as_slice_mut().unwrap());
    let mut total = 0.0;
    for ((&a, &b), r) in user.iter().zip(item).zip(rating) {
        let (ua, vb) = (&us[a * d..(a + 1) * d], &vs[b * d..(b + 1) * d]);
        let e = ua.iter().zip(vb).map(|(x, y)| x * y).sum::<f64>() - r;
        total += e * e;
        for (du, v) in dus[a * d..(a + 1) * d].iter_mut().zip(vb) {
            *du += 2.0 * e * v;
        }
        for (dv, u) in dvs[b * d..(b + 1) * d].iter_mut().zip(ua) {
            *dv += 2.0 * e * u;
        }
    }
    (total + penalty, (du, dv))
}

/// Beta-binomial counts: a number of successes of each of several trials.
#[differentiate(wrt(a, b))]
fn beta_binomial(a: f64, b: f64, successes: &[f64], trials: &[f64]) -> f64 {
    let constant = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    successes
        .iter()
        .zip(trials)
        .map(|(k, n)| constant + ln_gamma(k + a) + ln_gamma(n - k + b) - ln_gamma(n + a + b))
        .sum()
}

fn beta_binomial_by_hand(a: f64, b: f64, successes: &[f64], trials: &[f64]) -> (f64, (f64, f64)) {
    let n = successes.len() as f64;
    let (mut total, mut da, mut db) = (0.0, 0.0, 0.0);
    for (k, m) in successes.iter().zip(trials) {
        total += ln_gamma(k + a) + ln_gamma(m - k + b) - ln_gamma(m + a + b);
        let both = digamma(m + a + b);
        da += digamma(k + a) - both;
        db += digamma(m - k + b) - both;
    }
    let both = digamma(a + b);
    total += n * (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b));
    (total, (da + n * (both - digamma(a)), db + n * (both - digamma(b))))
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(1);
    {
        let (x, w, exposure) = (data.matrix(5000, 8), data.vector(8), data.positive(5000));
        let counts: Vec<f64> = (0..5000).map(|i| (i % 4) as f64).collect();
        table.row(
            "poisson regression, 5000 x 8",
            || poisson_by_hand(&w, 0.3, &x, &exposure, &counts),
            || poisson_value_and_grad(&w, 0.3, &x, &exposure, &counts),
            || poisson(&w, 0.3, &x, &exposure, &counts),
        );
    }
    {
        let (x, w, class) = (data.matrix(5000, 6), data.vector(6), data.below(5000, 5));
        let gaps = [0.1, -0.2, 0.3];
        table.row(
            "ordered logit, 5000 x 6",
            || ordered_by_hand(&w, -1.0, gaps, &x, &class),
            || ordered_value_and_grad(&w, -1.0, gaps, &x, &class),
            || ordered(&w, -1.0, gaps, &x, &class),
        );
    }
    {
        let (effects, group, y) = (data.numbers(300), data.below(20_000, 300), data.numbers(20_000));
        table.row(
            "groups, 20000 in 300",
            || groups_by_hand(&effects, 0.1, [0.2, -0.3], &group, &y),
            || groups_value_and_grad(&effects, 0.1, [0.2, -0.3], &group, &y),
            || groups(&effects, 0.1, [0.2, -0.3], &group, &y),
        );
    }
    {
        let (x, time) = (data.points::<3>(10_000), data.positive(10_000));
        let died: Vec<bool> = data.below(10_000, 3).iter().map(|&k| k > 0).collect();
        table.row(
            "survival times, 10000",
            || survival_by_hand([0.2, -0.1, 0.4], 0.3, &x, &time, &died),
            || survival_value_and_grad([0.2, -0.1, 0.4], 0.3, &x, &time, &died),
            || survival([0.2, -0.1, 0.4], 0.3, &x, &time, &died),
        );
    }
    {
        let (u, v) = (data.matrix(500, 16), data.matrix(400, 16));
        let (user, item, rating) = (data.below(20_000, 500), data.below(20_000, 400), data.numbers(20_000));
        table.row(
            "ratings, 20000, rank 16",
            || ratings_by_hand(&u, &v, &user, &item, &rating),
            || ratings_value_and_grad(&u, &v, &user, &item, &rating),
            || ratings(&u, &v, &user, &item, &rating),
        );
    }
    {
        let trials: Vec<f64> = data.below(2000, 30).iter().map(|&n| 5.0 + n as f64).collect();
        let successes: Vec<f64> = trials.iter().map(|n| (n * 0.4).floor()).collect();
        table.row(
            "beta-binomial, 2000",
            || beta_binomial_by_hand(1.5, 2.5, &successes, &trials),
            || beta_binomial_value_and_grad(1.5, 2.5, &successes, &trials),
            || beta_binomial(1.5, 2.5, &successes, &trials),
        );
    }
    // The least squares of a quadratic curve through points: the smallest model that people fit.
    {
        let (x, y) = (array![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], array![1.0, 0.5, 1.2, 2.9, 5.8, 9.0]);
        table.row(
            "quadratic curve, 6 points",
            || curve_by_hand([0.9, -0.7, 0.5], &x, &y),
            || curve_value_and_grad([0.9, -0.7, 0.5], &x, &y),
            || curve([0.9, -0.7, 0.5], &x, &y),
        );
    }
}

#[differentiate(wrt(c))]
fn curve(c: [f64; 3], x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for (x, y) in x.iter().zip(y) {
        let r = c[0] + c[1] * x + c[2] * x * x - y;
        total += r * r;
    }
    total
}

fn curve_by_hand(c: [f64; 3], x: &Array1<f64>, y: &Array1<f64>) -> (f64, [f64; 3]) {
    let (mut total, mut dc) = (0.0, [0.0; 3]);
    for (x, y) in x.iter().zip(y) {
        let r = c[0] + c[1] * x + c[2] * x * x - y;
        total += r * r;
        dc[0] += 2.0 * r;
        dc[1] += 2.0 * r * x;
        dc[2] += 2.0 * r * x * x;
    }
    (total, dc)
}

//! Finance: option prices, volatility, simulated paths, portfolios and yields.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// Prices of options by Black and Scholes, compared with those of a market.
#[differentiate(wrt(volatility, rate))]
fn black_scholes(volatility: f64, rate: f64, spot: f64, strikes: &[f64], times: &[f64], prices: &[f64]) -> f64 {
    let normal = |x: f64| 0.5 * erfc(-x / std::f64::consts::SQRT_2);
    let mut total = 0.0;
    for i in 0..strikes.len() {
        let deviation = volatility * times[i].sqrt();
        let d1 = ((spot / strikes[i]).ln() + rate * times[i]) / deviation + 0.5 * deviation;
        let d2 = d1 - deviation;
        let price = spot * normal(d1) - strikes[i] * (-rate * times[i]).exp() * normal(d2);
        total += (price - prices[i]).powi(2);
    }
    total
}

fn black_scholes_by_hand(
    volatility: f64,
    rate: f64,
    spot: f64,
    strikes: &[f64],
    times: &[f64],
    prices: &[f64],
) -> (f64, (f64, f64)) {
    let normal = |x: f64| 0.5 * erfc(-x / std::f64::consts::SQRT_2);
    let (mut total, mut dv, mut dr) = (0.0, 0.0, 0.0);
    for ((strike, time), seen) in strikes.iter().zip(times).zip(prices) {
        let root = time.sqrt();
        let deviation = volatility * root;
        let d1 = ((spot / strike).ln() + rate * time) / deviation + 0.5 * deviation;
        let discounted = strike * (-rate * time).exp() * normal(d1 - deviation);
        let e = spot * normal(d1) - discounted - seen;
        total += e * e;
        // The derivatives of a price by volatility ("vega") and rate ("rho").
        dv += 2.0 * e * spot * root * (-0.5 * d1 * d1).exp() / (2.0 * std::f64::consts::PI).sqrt();
        dr += 2.0 * e * time * discounted;
    }
    (total, (dv, dr))
}

/// The likelihood of returns whose variance follows the last return and the last variance.
#[differentiate(wrt(p))]
fn garch(p: [f64; 3], returns: &[f64]) -> f64 {
    let [omega, alpha, beta] = p.map(f64::exp);
    let mut variance = omega;
    let mut total = 0.0;
    for r in returns {
        total += 0.5 * (variance.ln() + r * r / variance);
        variance = omega + alpha * r * r + beta * variance;
    }
    total
}

fn garch_by_hand(p: [f64; 3], returns: &[f64]) -> (f64, [f64; 3]) {
    let [omega, alpha, beta] = p.map(f64::exp);
    let mut variances = Vec::with_capacity(returns.len());
    let (mut variance, mut total) = (omega, 0.0);
    for r in returns {
        total += 0.5 * (variance.ln() + r * r / variance);
        variances.push(variance);
        variance = omega + alpha * r * r + beta * variance;
    }
    let (mut dv, mut d) = (0.0, [0.0; 3]);
    for (r, v) in returns.iter().zip(&variances).rev() {
        d[0] += dv;
        d[1] += dv * r * r;
        d[2] += dv * v;
        let inverse = 1.0 / v;
        dv = dv * beta + 0.5 * (inverse - r * r * inverse * inverse);
    }
    (total, [(d[0] + dv) * omega, d[1] * alpha, d[2] * beta])
}

/// An option on the mean of a price along simulated paths.
#[differentiate(wrt(spot, volatility, rate))]
fn asian(spot: f64, volatility: f64, rate: f64, strike: f64, noise: &Array2<f64>) -> f64 {
    let (paths, steps) = noise.dim();
    let dt = 1.0 / steps as f64;
    let drift = (rate - 0.5 * volatility * volatility) * dt;
    let scale = volatility * dt.sqrt();
    let mut payoffs = 0.0;
    for path in noise.rows() {
        let mut price = spot;
        let mut sum = 0.0;
        for z in path {
            price *= (drift + scale * z).exp();
            sum += price;
        }
        payoffs += (sum / steps as f64 - strike).max(0.0);
    }
    (-rate).exp() * payoffs / paths as f64
}

fn asian_by_hand(spot: f64, volatility: f64, rate: f64, strike: f64, noise: &Array2<f64>) -> (f64, (f64, f64, f64)) {
    let (paths, steps) = noise.dim();
    let dt = 1.0 / steps as f64;
    let drift = (rate - 0.5 * volatility * volatility) * dt;
    let scale = volatility * dt.sqrt();
    let (mut payoffs, mut dspot, mut ddrift, mut dscale) = (0.0, 0.0, 0.0, 0.0);
    let mut prices = vec![0.0; steps];
    for path in noise.as_slice().unwrap().chunks_exact(steps) {
        let (mut price, mut sum) = (spot, 0.0);
        for (p, z) in prices.iter_mut().zip(path) {
            price *= (drift + scale * z).exp();
            sum += price;
            *p = price;
        }
        let payoff = sum / steps as f64 - strike;
        if payoff > 0.0 {
            payoffs += payoff;
            // The price after a step is the exponential of a sum: cotangents of its terms.
            let mut d = 0.0;
            for (p, z) in prices.iter().zip(path).rev() {
                d += p;
                ddrift += d;
                dscale += d * z;
            }
            dspot += sum / spot;
        }
    }
    let discount = (-rate).exp() / paths as f64;
    // The mean is of 1 / dt steps, and the drift is the rate's and the variance's part of a step.
    let (ds, dd, dc) = (discount * dspot * dt, discount * ddrift * dt, discount * dscale * dt);
    let value = discount * payoffs;
    (value, (ds, dc * dt.sqrt() - dd * volatility * dt, dd * dt - value))
}

/// A portfolio whose weights are a softmax: variance, and what is missed of a return.
#[differentiate(wrt(scores))]
fn portfolio(scores: &Array1<f64>, covariance: &Array2<f64>, expected: &Array1<f64>) -> f64 {
    let w = softmax(scores);
    let risk = w.dot(&covariance.dot(&w));
    let gain = w.dot(expected);
    risk + 10.0 * (0.05 - gain).max(0.0).powi(2)
}

fn portfolio_by_hand(scores: &Array1<f64>, covariance: &Array2<f64>, expected: &Array1<f64>) -> (f64, Array1<f64>) {
    let greatest = scores.fold(f64::NEG_INFINITY, |m, &x| m.max(x));
    let mut w = scores.mapv(|x| (x - greatest).exp());
    w /= w.sum();
    let cw = covariance.dot(&w);
    let (risk, gain) = (w.dot(&cw), w.dot(expected));
    let missed = (0.05 - gain).max(0.0);
    let transposed = covariance.t().dot(&w);
    let mut d = cw + transposed - 20.0 * missed * expected;
    let mean = d.dot(&w);
    d.zip_mut_with(&w, |d, w| *d = w * (*d - mean));
    (risk + 10.0 * missed * missed, d)
}

/// Yields by the curve of Nelson and Siegel.
#[differentiate(wrt(beta, tau))]
fn yields(beta: [f64; 3], tau: f64, maturity: &Array1<f64>, observed: &Array1<f64>) -> f64 {
    let scaled = maturity / tau;
    let decay = (-&scaled).exp();
    let slope = (1.0 - &decay) / &scaled;
    let curve = beta[0] + beta[1] * &slope + beta[2] * (&slope - &decay);
    (curve - observed).powi(2).mean().unwrap()
}

fn yields_by_hand(beta: [f64; 3], tau: f64, maturity: &Array1<f64>, observed: &Array1<f64>) -> (f64, ([f64; 3], f64)) {
    let (mut total, mut d, mut dtau) = (0.0, [0.0; 3], 0.0);
    let scale = 1.0 / maturity.len() as f64;
    for (m, y) in maturity.iter().zip(observed) {
        let x = m / tau;
        let decay = (-x).exp();
        let slope = (1.0 - decay) / x;
        let r = beta[0] + beta[1] * slope + beta[2] * (slope - decay) - y;
        total += r * r;
        let g = 2.0 * r * scale;
        d[0] += g;
        d[1] += g * slope;
        d[2] += g * (slope - decay);
        let by_slope = (decay - slope) / x;
        let dx = (beta[1] + beta[2]) * by_slope + beta[2] * decay;
        dtau -= g * dx * x / tau;
    }
    (total * scale, (d, dtau))
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(4);
    {
        let strikes: Vec<f64> = data.positive(500).iter().map(|x| 80.0 + 20.0 * x).collect();
        let (times, prices) = (data.positive(500), data.positive(500));
        table.row(
            "black-scholes, 500 options",
            || black_scholes_by_hand(0.2, 0.03, 100.0, &strikes, &times, &prices),
            || black_scholes_value_and_grad(0.2, 0.03, 100.0, &strikes, &times, &prices),
            || black_scholes(0.2, 0.03, 100.0, &strikes, &times, &prices),
        );
    }
    {
        let returns = data.numbers(2000);
        table.row(
            "volatility, 2000 returns",
            || garch_by_hand([-2.0, -2.5, -0.2], &returns),
            || garch_value_and_grad([-2.0, -2.5, -0.2], &returns),
            || garch([-2.0, -2.5, -0.2], &returns),
        );
    }
    {
        let noise = data.matrix(1000, 50);
        table.row(
            "option on a mean, 1000 paths of 50",
            || asian_by_hand(100.0, 0.3, 0.02, 100.0, &noise),
            || asian_value_and_grad(100.0, 0.3, 0.02, 100.0, &noise),
            || asian(100.0, 0.3, 0.02, 100.0, &noise),
        );
    }
    {
        let (scores, covariance, expected) = (data.vector(200), data.matrix(200, 200), data.vector(200));
        table.row(
            "portfolio of 200",
            || portfolio_by_hand(&scores, &covariance, &expected),
            || portfolio_value_and_grad(&scores, &covariance, &expected),
            || portfolio(&scores, &covariance, &expected),
        );
    }
    {
        let (maturity, observed) = (Array1::from(data.positive(120)), data.vector(120));
        table.row(
            "yields at 120 maturities",
            || yields_by_hand([0.03, -0.02, 0.01], 2.0, &maturity, &observed),
            || yields_value_and_grad([0.03, -0.02, 0.01], 2.0, &maturity, &observed),
            || yields([0.03, -0.02, 0.01], 2.0, &maturity, &observed),
        );
    }
}

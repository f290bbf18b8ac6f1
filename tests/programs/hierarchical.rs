//! A hierarchical model: eight schools, each with an effect of its own, in centred and non-centred
//! form, and a leapfrog step of a sampler.

use ad::check_grad;
use ad::prelude::*;

/// Estimated effects of coaching, and their standard errors (Rubin, 1981).
const EFFECTS: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const ERRORS: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];

const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

#[differentiable]
fn normal(x: f64, mean: f64, deviation: f64) -> f64 {
    let z = (x - mean) / deviation;
    -0.5 * z * z - deviation.ln() - HALF_LN_TAU
}

/// The half-Cauchy density, on the positive numbers.
#[differentiable]
fn half_cauchy(x: f64, scale: f64) -> f64 {
    let ratio = x / scale;
    (2.0 / (std::f64::consts::PI * scale)).ln() - ratio.powi(2).ln_1p()
}

/// The density of the mean, the logarithm of the deviation and the effects, all in one vector.
#[differentiate]
fn centred(q: &[f64]) -> f64 {
    let (mean, log_deviation, effects) = (q[0], q[1], &q[2..]);
    let deviation = log_deviation.exp();
    // The sampler works on the logarithm, so the density has the derivative of the exponential as a
    // factor.
    let mut total = normal(mean, 0.0, 5.0) + half_cauchy(deviation, 5.0) + log_deviation;
    for ((effect, seen), error) in effects.iter().zip(EFFECTS).zip(ERRORS) {
        total += normal(*effect, mean, deviation);
        total += normal(seen, *effect, error);
    }
    total
}

/// The same with standardised effects.
#[differentiate]
fn non_centred(q: &[f64]) -> f64 {
    let [mean, log_deviation, ref standardised @ ..] = *q else {
        return f64::NEG_INFINITY;
    };
    let deviation = log_deviation.exp();
    let prior = normal(mean, 0.0, 5.0) + half_cauchy(deviation, 5.0) + log_deviation;
    let likelihood = |j: usize| normal(EFFECTS[j], mean + deviation * standardised[j], ERRORS[j]);
    prior
        + standardised.iter().map(|z| normal(*z, 0.0, 1.0)).sum::<f64>()
        + (0..EFFECTS.len()).map(likelihood).sum::<f64>()
}

/// Groups of any size: the measurements have an index of the group they belong to.
#[differentiate(wrt(intercepts, slope, log_noise))]
fn varying_intercepts(
    intercepts: &Array1<f64>,
    slope: f64,
    log_noise: f64,
    group: &[usize],
    floor: &[bool],
    measured: &[f64],
) -> f64 {
    let centre = intercepts.mean().unwrap_or(0.0);
    let spread = intercepts.mapv(|a| normal(a, centre, 1.0)).sum();
    let noise = log_noise.exp();
    let mut total = spread + normal(slope, 0.0, 1.0);
    for i in 0..measured.len() {
        let expected = intercepts[group[i]] + if floor[i] { slope } else { 0.0 };
        total += normal(measured[i], expected, noise);
    }
    total
}

/// The effects are normal given the rest, so the density is highest where the weighted means are.
#[test]
fn the_mode_of_the_effects_is_known() {
    let (mean, deviation) = (6.0, 4.0_f64);
    let mut q = vec![mean, deviation.ln()];
    for (seen, error) in EFFECTS.iter().zip(ERRORS) {
        let (own, common) = (1.0 / (error * error), 1.0 / (deviation * deviation));
        q.push((own * seen + common * mean) / (own + common));
    }
    let gradient = centred_grad(&q);
    assert!(gradient[2..].iter().all(|g| g.abs() < 1e-14), "{gradient:?}");
    let pulled: f64 = q[2..].iter().map(|e| (e - mean) / (deviation * deviation)).sum();
    assert!((gradient[0] - (pulled - mean / 25.0)).abs() < 1e-12);
    // The two forms differ by the derivative of the one with respect to the other.
    let standardised: Vec<f64> =
        q.iter().enumerate().map(|(i, x)| if i < 2 { *x } else { (x - mean) / deviation }).collect();
    assert!((non_centred(&standardised) - centred(&q) - 8.0 * deviation.ln()).abs() < 1e-12);
}

/// A leapfrog integrator keeps the energy, if the gradient is right.
#[test]
fn leapfrog_steps_keep_the_energy() {
    let mut q: Vec<f64> = (0..10).map(|i| 0.3 * (i as f64).sin()).collect();
    let mut p: Vec<f64> = (0..10).map(|i| 0.5 * (2.0 * i as f64).cos()).collect();
    let energy = |q: &[f64], p: &[f64]| -non_centred(q) + 0.5 * p.iter().map(|p| p * p).sum::<f64>();
    let before = energy(&q, &p);
    for _ in 0..100 {
        let h = 0.01;
        p.iter_mut().zip(non_centred_grad(&q)).for_each(|(p, g)| *p += 0.5 * h * g);
        q.iter_mut().zip(&p).for_each(|(q, p)| *q += h * p);
        p.iter_mut().zip(non_centred_grad(&q)).for_each(|(p, g)| *p += 0.5 * h * g);
    }
    assert!((energy(&q, &p) - before).abs() < 1e-4, "{} {before}", energy(&q, &p));
}

#[test]
fn differences_agree() {
    let q: Vec<f64> = (0..10).map(|i| 0.7 * (i as f64 + 0.5).sin()).collect();
    check_grad!(centred(&q));
    check_grad!(non_centred(&q));
    assert_eq!(non_centred_grad(&[1.0]), [0.0]);
    let (group, floor) = ([0, 2, 1, 0, 2, 2], [true, false, false, true, true, false]);
    let measured = [1.1, 0.3, -0.4, 0.8, 0.6, 0.2];
    check_grad!(varying_intercepts(&array![0.4, -0.2, 0.3], -0.5, -0.3, &group, &floor, &measured));
}

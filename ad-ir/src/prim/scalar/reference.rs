//! Reference values of the functions that std lacks: slow and obvious. This module shares no code
//! with `ad-runtime`, whose kernels are tested against it.

pub(super) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

pub(super) fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// Maclaurin series (Kummer's form, all terms positive) for small arguments, and a continued
/// fraction for large ones.
pub(super) fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() < 2.5 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-18 * f64::abs(sum) {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
    } else {
        x.signum() * (1.0 - erfc_tail(x.abs()))
    }
}

pub(super) fn erfc(x: f64) -> f64 {
    if x >= 2.5 { erfc_tail(x) } else { 1.0 - erf(x) }
}

fn erfc_tail(x: f64) -> f64 {
    let mut f = 0.0;
    for k in (1..=120).rev() {
        f = f64::from(k) / 2.0 / (x + f);
    }
    (-x * x).exp() / ((x + f) * std::f64::consts::PI.sqrt())
}

/// Stirling's series after a shift of the argument to above 15, and the reflection formula below
/// 1/2.
pub(super) fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin().abs()).ln() - ln_gamma(1.0 - x);
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += z.ln();
        z += 1.0;
    }
    let r = 1.0 / (z * z);
    let series = (1.0 / 12.0 + r * (-1.0 / 360.0 + r * (1.0 / 1260.0 + r * (-1.0 / 1680.0 + r / 1188.0)))) / z;
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

pub(super) fn digamma(x: f64) -> f64 {
    if x < 0.5 {
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x).tan();
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += 1.0 / z;
        z += 1.0;
    }
    let r = 1.0 / (z * z);
    z.ln() - 0.5 / z - r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r / 132.0)))) - shift
}

pub(super) fn trigamma(x: f64) -> f64 {
    if x < 0.5 {
        let s = (std::f64::consts::PI * x).sin();
        return (std::f64::consts::PI / s).powi(2) - trigamma(1.0 - x);
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += 1.0 / (z * z);
        z += 1.0;
    }
    let r = 1.0 / (z * z);
    shift + 1.0 / z + r / 2.0 + r / z * (1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r / 30.0)))
}

pub(super) fn tetragamma(x: f64) -> f64 {
    if x < 0.5 {
        let (s, c) = (std::f64::consts::PI * x).sin_cos();
        return tetragamma(1.0 - x) - 2.0 * std::f64::consts::PI.powi(3) * c / s.powi(3);
    }
    let (mut z, mut shift) = (x, 0.0);
    while z < 15.0 {
        shift += 2.0 / (z * z * z);
        z += 1.0;
    }
    let r = 1.0 / (z * z);
    -(shift + r + r / z + r * r * (1.0 / 2.0 - r * (1.0 / 6.0 - r * (1.0 / 6.0 - r * (3.0 / 10.0 - r * 5.0 / 6.0)))))
}

/// The recurrence up to a large argument, and the asymptotic series there.
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    const BERNOULLI: [f64; 7] =
        [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    // The order is a whole number and has no derivative.
    let n = n.round();
    let factorial = |n: f64| (1..=300).map(f64::from).take_while(|&k| k <= n).product::<f64>();
    let (mut z, mut sum) = (x, 0.0);
    while z < 16.0 + n {
        sum += factorial(n) / z.powf(n + 1.0);
        z += 1.0;
    }
    sum += factorial(n - 1.0) / z.powf(n) + factorial(n) / (2.0 * z.powf(n + 1.0));
    for (m, b) in (1..).map(|j| 2.0 * f64::from(j)).zip(BERNOULLI) {
        sum += b * factorial(m + n - 1.0) / (factorial(m) * z.powf(m + n));
    }
    if n % 2.0 == 0.0 { -sum } else { sum }
}

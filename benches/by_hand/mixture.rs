//! Row h and GradBench's gmm: mixtures of Gaussians. Sixteen points fill the lanes. One pass
//! computes the responsibilities of all components. A second pass computes the gradient of one
//! component after the other, whose sums over points stay in the cache.

// Tuples of gradients are types of one function each, and loops walk several slices by one index.
#![allow(clippy::type_complexity, clippy::needless_range_loop)]

use ad::ndarray::{Array1, Array2};
use ad::prelude::ln_gamma;

use super::wide::{self, Kernel, LANES, madd, total};
use super::{rows, slice};

type Lanes = [f64; LANES];

/// Blocks of points: for each block, a row of lanes for each coordinate.
fn blocks(x: &Array2<f64>) -> Vec<Lanes> {
    let (n, d) = x.dim();
    let mut all = vec![[0.0; LANES]; n.div_ceil(LANES) * d];
    for (i, row) in rows(x).chunks_exact(d).enumerate() {
        for (j, x) in row.iter().enumerate() {
            all[i / LANES * d + j][i % LANES] = *x;
        }
    }
    all
}

/// Replaces the logarithms of a block by responsibilities, and returns the sum of the points'
/// log-sum-exp. Lanes from `live` on hold no points.
#[inline(always)]
fn responsibilities<const FMA: bool>(beta: &mut [Lanes], live: usize) -> f64 {
    let mut max = [f64::NEG_INFINITY; LANES];
    for beta in &*beta {
        for l in 0..LANES {
            max[l] = if max[l] < beta[l] { beta[l] } else { max[l] };
        }
    }
    let mut sum = [0.0; LANES];
    for beta in &mut *beta {
        for l in 0..LANES {
            beta[l] = wide::exp::<FMA>(beta[l] - max[l]);
            sum[l] += beta[l];
        }
    }
    let mut logs = [0.0; LANES];
    let mut scale = [0.0; LANES];
    for l in 0..LANES {
        logs[l] = max[l] + wide::ln::<FMA>(sum[l]);
        scale[l] = if l < live { 1.0 / sum[l] } else { 0.0 };
    }
    for beta in beta {
        for l in 0..LANES {
            beta[l] *= scale[l];
        }
    }
    logs[..live].iter().sum()
}

/// Row h: a mixture with diagonal covariances.
pub fn diagonal(
    x: &Array2<f64>,
    w: &Array1<f64>,
    m: &Array2<f64>,
    s: &Array2<f64>,
) -> (f64, (Array1<f64>, Array2<f64>, Array2<f64>)) {
    struct Run<'a> {
        x: &'a [Lanes],
        n: usize,
        d: usize,
        w: &'a [f64],
        m: &'a [f64],
        s: &'a [f64],
    }
    impl Kernel for Run<'_> {
        type Out = (f64, (Vec<f64>, Vec<f64>, Vec<f64>));
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self { x, n, d, w, m, s } = self;
            let k = w.len();
            let mut beta = vec![[0.0; LANES]; n.div_ceil(LANES) * k];
            let constants: Vec<f64> =
                w.iter().zip(s.chunks_exact(d)).map(|(w, s)| w + s.iter().map(|s| s.ln()).sum::<f64>()).collect();
            let mut value = 0.0;
            for (block, (x, beta)) in x.chunks_exact(d).zip(beta.chunks_exact_mut(k)).enumerate() {
                for c in 0..k {
                    let mut squares = [0.0; LANES];
                    for ((x, m), s) in x.iter().zip(&m[c * d..]).zip(&s[c * d..]) {
                        for l in 0..LANES {
                            let z = (x[l] - m) * s;
                            squares[l] = madd::<FMA>(z, z, squares[l]);
                        }
                    }
                    for l in 0..LANES {
                        beta[c][l] = madd::<FMA>(-0.5, squares[l], constants[c]);
                    }
                }
                value += responsibilities::<FMA>(beta, LANES.min(n - block * LANES));
            }
            let (mut dw, mut dm, mut ds) = (vec![0.0; k], vec![0.0; k * d], vec![0.0; k * d]);
            let (mut first, mut second) = (vec![[0.0; LANES]; d], vec![[0.0; LANES]; d]);
            for c in 0..k {
                first.fill([0.0; LANES]);
                second.fill([0.0; LANES]);
                let mut weight = [0.0; LANES];
                for (x, beta) in x.chunks_exact(d).zip(beta.chunks_exact(k)) {
                    let p = &beta[c];
                    for l in 0..LANES {
                        weight[l] += p[l];
                    }
                    for (((x, m), first), second) in x.iter().zip(&m[c * d..]).zip(&mut first).zip(&mut second) {
                        for l in 0..LANES {
                            let difference = x[l] - m;
                            let weighted = p[l] * difference;
                            first[l] += weighted;
                            second[l] = madd::<FMA>(weighted, difference, second[l]);
                        }
                    }
                }
                dw[c] = total(weight);
                for j in 0..d {
                    let s = s[c * d + j];
                    dm[c * d + j] = total(first[j]) * s * s;
                    ds[c * d + j] = dw[c] / s - total(second[j]) * s;
                }
            }
            (value, (dw, dm, ds))
        }
    }
    let (n, d) = x.dim();
    let (value, (dw, dm, ds)) = wide::run(Run { x: &blocks(x), n, d, w: slice(w), m: rows(m), s: rows(s) });
    let matrix = |of: Vec<f64>| Array2::from_shape_vec(m.raw_dim(), of).expect("as many entries as m");
    (value, (dw.into(), matrix(dm), matrix(ds)))
}

/// The gradients of alpha, mu, q, l.
type Gradient = (Array1<f64>, Array2<f64>, Array2<f64>, Array2<f64>);

/// gmm
#[allow(clippy::too_many_arguments, reason = "the problem has as many")]
pub fn gmm(
    x: &Array2<f64>,
    alpha: &Array1<f64>,
    mu: &Array2<f64>,
    q: &Array2<f64>,
    l: &Array2<f64>,
    m: usize,
    gamma: f64,
) -> (f64, Gradient) {
    let ((n, d), k) = (x.dim(), alpha.len());
    // Q row by row, its diagonal included.
    let triangle = d * (d + 1) / 2;
    let mut factor = vec![0.0; k * triangle];
    let mut constants = vec![0.0; k];
    for c in 0..k {
        let rows = &mut factor[c * triangle..];
        for r in 0..d {
            for j in 0..r {
                rows[r * (r + 1) / 2 + j] = l[[c, below(d, r, j)]];
            }
            rows[r * (r + 1) / 2 + r] = q[[c, r]].exp();
        }
        constants[c] = alpha[c] + q.row(c).sum();
    }
    let run = Mixture { x: &blocks(x), n, d, constants: &constants, mu: rows(mu), factor: &factor };
    let (fit, (mut dalpha, dmu, dfactor)) = wide::run(run);

    let (mut dq, mut dl) = (Array2::zeros((k, d)), Array2::zeros(l.raw_dim()));
    let gamma2 = gamma * gamma;
    let (mut squares, mut logs) = (0.0, 0.0);
    for c in 0..k {
        for r in 0..d {
            let at = c * triangle + r * (r + 1) / 2;
            for j in 0..r {
                let l = l[[c, below(d, r, j)]];
                squares += l * l;
                dl[[c, below(d, r, j)]] = dfactor[at + j] - gamma2 * l;
            }
            let e = factor[at + r];
            squares += e * e;
            logs += q[[c, r]];
            dq[[c, r]] = dfactor[at + r] * e + dalpha[c] + m as f64 - gamma2 * e * e;
        }
    }
    let (of_alpha, shares) = super::logsumexp(alpha);
    for (dalpha, share) in dalpha.iter_mut().zip(shares) {
        *dalpha -= n as f64 * share;
    }
    let degrees = (d + m + 1) as f64;
    let mut ln_gamma_d = 0.25 * (d * (d - 1)) as f64 * std::f64::consts::PI.ln();
    for j in 0..d {
        ln_gamma_d += ln_gamma(0.5 * (degrees - j as f64));
    }
    let constant = degrees * d as f64 * (gamma.ln() - 0.5 * std::f64::consts::LN_2) - ln_gamma_d;
    let prior = k as f64 * constant - 0.5 * gamma2 * squares + m as f64 * logs;
    let value = fit - n as f64 * of_alpha + prior - 0.5 * (n * d) as f64 * std::f64::consts::TAU.ln();
    let dmu = Array2::from_shape_vec((k, d), dmu).expect("as many entries as mu");
    (value, (dalpha.into(), dmu, dq, dl))
}

/// The index in a row of l of row r, column j below the diagonal.
fn below(d: usize, r: usize, j: usize) -> usize {
    j * (2 * d - j - 1) / 2 + r - j - 1
}

struct Mixture<'a> {
    x: &'a [Lanes],
    n: usize,
    d: usize,
    constants: &'a [f64],
    mu: &'a [f64],
    factor: &'a [f64],
}

impl Kernel for Mixture<'_> {
    /// The gradients of the constants, mu, and the factors.
    type Out = (f64, (Vec<f64>, Vec<f64>, Vec<f64>));
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Out {
        let Self { x, n, d, constants, mu, factor } = self;
        let (k, triangle) = (constants.len(), d * (d + 1) / 2);
        let mut beta = vec![[0.0; LANES]; n.div_ceil(LANES) * k];
        let mut from = vec![[0.0; LANES]; d];
        let mut value = 0.0;
        for (block, (x, beta)) in x.chunks_exact(d).zip(beta.chunks_exact_mut(k)).enumerate() {
            for c in 0..k {
                differences(&mut from, x, &mu[c * d..]);
                let mut squares = [0.0; LANES];
                let mut rows = &factor[c * triangle..];
                for r in 0..d {
                    let (row, rest) = rows.split_at(r + 1);
                    rows = rest;
                    let z = product::<FMA>(row, &from);
                    for l in 0..LANES {
                        squares[l] = madd::<FMA>(z[l], z[l], squares[l]);
                    }
                }
                for l in 0..LANES {
                    beta[c][l] = madd::<FMA>(-0.5, squares[l], constants[c]);
                }
            }
            value += responsibilities::<FMA>(beta, LANES.min(n - block * LANES));
        }
        let (mut weights, mut dmu, mut dfactor) = (vec![0.0; k], vec![0.0; k * d], vec![0.0; k * triangle]);
        let (mut outer, mut sums) = (vec![[0.0; LANES]; triangle], vec![[0.0; LANES]; d]);
        for c in 0..k {
            outer.fill([0.0; LANES]);
            sums.fill([0.0; LANES]);
            let mut weight = [0.0; LANES];
            let rows = &factor[c * triangle..][..triangle];
            for (x, beta) in x.chunks_exact(d).zip(beta.chunks_exact(k)) {
                let p = &beta[c];
                for l in 0..LANES {
                    weight[l] += p[l];
                }
                differences(&mut from, x, &mu[c * d..]);
                let (mut rows, mut outer) = (rows, &mut outer[..]);
                for (r, sum) in sums.iter_mut().enumerate() {
                    let (row, rest) = rows.split_at(r + 1);
                    rows = rest;
                    let mut z = product::<FMA>(row, &from);
                    for l in 0..LANES {
                        z[l] *= p[l];
                        sum[l] += z[l];
                    }
                    let (outer_row, rest) = outer.split_at_mut(r + 1);
                    outer = rest;
                    for (outer, from) in outer_row.iter_mut().zip(&from) {
                        for l in 0..LANES {
                            outer[l] = madd::<FMA>(z[l], from[l], outer[l]);
                        }
                    }
                }
            }
            weights[c] = total(weight);
            for r in 0..d {
                let sum = total(sums[r]);
                for j in 0..=r {
                    let at = r * (r + 1) / 2 + j;
                    dmu[c * d + j] += rows[at] * sum;
                    dfactor[c * triangle + at] = -total(outer[at]);
                }
            }
        }
        (value, (weights, dmu, dfactor))
    }
}

#[inline(always)]
fn differences(from: &mut [Lanes], x: &[Lanes], mu: &[f64]) {
    for ((from, x), mu) in from.iter_mut().zip(x).zip(mu) {
        for l in 0..LANES {
            from[l] = x[l] - mu;
        }
    }
}

/// A row of numbers times rows of lanes.
#[inline(always)]
fn product<const FMA: bool>(row: &[f64], x: &[Lanes]) -> Lanes {
    let mut z = [0.0; LANES];
    for (a, x) in row.iter().zip(x) {
        for l in 0..LANES {
            z[l] = madd::<FMA>(*a, x[l], z[l]);
        }
    }
    z
}

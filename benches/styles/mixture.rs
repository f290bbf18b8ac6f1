//! The log-likelihood of a diagonal mixture of Gaussians: rows of `x`, components with centres `m`
//! and inverse deviations `s`.

use ad::prelude::*;

#[differentiate(wrt(m, s))]
pub fn loops(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let ((n, d), k) = (x.dim(), m.nrows());
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 0.0;
        for c in 0..k {
            let (mut squares, mut scale) = (0.0, 1.0);
            for j in 0..d {
                let z = (x[[i, j]] - m[[c, j]]) * s[[c, j]];
                squares += z * z;
                scale *= s[[c, j]];
            }
            sum += scale * (-0.5 * squares).exp();
        }
        total += sum.ln();
    }
    total
}

#[differentiate(wrt(m, s))]
pub fn iterators(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    x.rows()
        .into_iter()
        .map(|row| {
            let sum: f64 = m
                .rows()
                .into_iter()
                .zip(s.rows())
                .map(|(m, s)| {
                    let squares: f64 = row.iter().zip(&m).zip(&s).map(|((x, m), s)| ((x - m) * s).powi(2)).sum();
                    s.iter().product::<f64>() * (-0.5 * squares).exp()
                })
                .sum();
            sum.ln()
        })
        .sum()
}

#[differentiate(wrt(m, s))]
pub fn arrays(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let mut sums: Array1<f64> = Array1::zeros(x.nrows());
    for c in 0..m.nrows() {
        let z = (x - &m.row(c)) * s.row(c);
        let squares = (&z * &z).sum_axis(Axis(1));
        sums = sums + squares.mapv(|v| (-0.5 * v).exp()) * s.row(c).product();
    }
    sums.mapv(f64::ln).sum()
}

#[differentiate(wrt(m, s))]
pub fn vectors(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let (d, k) = (x.ncols(), m.nrows());
    let mut scales = Vec::new();
    for c in 0..k {
        scales.push(s.row(c).product());
    }
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let mut parts = Vec::new();
        for c in 0..k {
            let mut squares = 0.0;
            for j in 0..d {
                squares += ((x[[i, j]] - m[[c, j]]) * s[[c, j]]).powi(2);
            }
            parts.push(scales[c] * (-0.5 * squares).exp());
        }
        total += parts.iter().sum::<f64>().ln();
    }
    total
}

pub fn by_hand(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> (f64, (Array2<f64>, Array2<f64>)) {
    let (d, k) = (x.ncols(), m.nrows());
    let (xs, ms, ss) = (x.as_slice().unwrap(), m.as_slice().unwrap(), s.as_slice().unwrap());
    let scales: Vec<f64> = ss.chunks_exact(d).map(|s| s.iter().product()).collect();
    let (mut dm, mut ds) = (vec![0.0; k * d], vec![0.0; k * d]);
    let mut weights = vec![0.0; k];
    let mut totals = vec![0.0; k];
    let mut total = 0.0;
    for x in xs.chunks_exact(d) {
        let mut sum = 0.0;
        for ((m, s), (w, scale)) in ms.chunks_exact(d).zip(ss.chunks_exact(d)).zip(weights.iter_mut().zip(&scales)) {
            let squares: f64 = x.iter().zip(m).zip(s).map(|((x, m), s)| ((x - m) * s).powi(2)).sum();
            *w = scale * (-0.5 * squares).exp();
            sum += *w;
        }
        total += sum.ln();
        let inverse = 1.0 / sum;
        for c in 0..k {
            let w = weights[c] * inverse;
            totals[c] += w;
            let at = c * d..(c + 1) * d;
            let (m, s) = (&ms[at.clone()], &ss[at.clone()]);
            for ((((x, m), s), dm), ds) in x.iter().zip(m).zip(s).zip(&mut dm[at.clone()]).zip(&mut ds[at]) {
                let z = w * (x - m) * s;
                *dm += z * s;
                *ds -= z * (x - m);
            }
        }
    }
    for c in 0..k {
        for (ds, s) in ds[c * d..][..d].iter_mut().zip(&ss[c * d..]) {
            *ds += totals[c] / s;
        }
    }
    let shaped = |v: Vec<f64>| Array2::from_shape_vec((k, d), v).unwrap();
    (total, (shaped(dm), shaped(ds)))
}

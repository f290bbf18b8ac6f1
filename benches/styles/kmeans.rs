//! k-means: the sum of the squared distances of points from the nearest centroid.

use ad::prelude::*;

#[differentiate(wrt(m))]
pub fn loops(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
    let (n, d) = x.dim();
    let mut total = 0.0;
    for i in 0..n {
        let mut best = f64::INFINITY;
        for c in 0..m.nrows() {
            let mut s = 0.0;
            for j in 0..d {
                let z = x[[i, j]] - m[[c, j]];
                s += z * z;
            }
            if s < best {
                best = s;
            }
        }
        total += best;
    }
    total
}

#[differentiate(wrt(m))]
pub fn iterators(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
    x.rows()
        .into_iter()
        .map(|x| {
            m.rows()
                .into_iter()
                .map(|m| x.iter().zip(&m).map(|(x, m)| (x - m).powi(2)).sum::<f64>())
                .fold(f64::INFINITY, f64::min)
        })
        .sum()
}

#[differentiate(wrt(m))]
pub fn arrays(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let z = &x.row(i) - m;
        let squares = (&z * &z).sum_axis(Axis(1));
        total += minimum(&squares);
    }
    total
}

#[differentiate(wrt(m))]
pub fn vectors(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
    let (n, d) = x.dim();
    let mut total = 0.0;
    for i in 0..n {
        let mut squares = Vec::new();
        for c in 0..m.nrows() {
            let mut s = 0.0;
            for j in 0..d {
                s += (x[[i, j]] - m[[c, j]]).powi(2);
            }
            squares.push(s);
        }
        total += squares.iter().copied().fold(f64::INFINITY, f64::min);
    }
    total
}

pub fn by_hand(x: &Array2<f64>, m: &Array2<f64>) -> (f64, Array2<f64>) {
    let d = x.ncols();
    let (xs, ms) = (x.as_slice().unwrap(), m.as_slice().unwrap());
    let mut dm = vec![0.0; ms.len()];
    let mut total = 0.0;
    for x in xs.chunks_exact(d) {
        let (mut best, mut at) = (f64::INFINITY, 0);
        for (c, m) in ms.chunks_exact(d).enumerate() {
            let s: f64 = x.iter().zip(m).map(|(x, m)| (x - m) * (x - m)).sum();
            if s < best {
                (best, at) = (s, c);
            }
        }
        total += best;
        for ((dm, m), x) in dm[at * d..][..d].iter_mut().zip(&ms[at * d..]).zip(x) {
            *dm += 2.0 * (m - x);
        }
    }
    (total, Array2::from_shape_vec(m.raw_dim(), dm).unwrap())
}

//! The logarithm of a determinant by Cholesky's decomposition.

use ad::prelude::*;

#[differentiate]
pub fn loops(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l: Array2<f64> = Array2::zeros((n, n));
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[[i, j]];
            for k in 0..j {
                s -= l[[i, k]] * l[[j, k]];
            }
            l[[i, j]] = if i == j { s.sqrt() } else { s / l[[j, j]] };
        }
        total += l[[i, i]].ln();
    }
    2.0 * total
}

#[differentiate]
pub fn iterators(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l = vec![0.0; n * n];
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let below: f64 = l[i * n..i * n + j].iter().zip(&l[j * n..j * n + j]).map(|(a, b)| a * b).sum();
            let s = a[[i, j]] - below;
            l[i * n + j] = if i == j { s.sqrt() } else { s / l[j * n + j] };
        }
        total += l[i * n + i].ln();
    }
    2.0 * total
}

#[differentiate]
pub fn arrays(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l: Array2<f64> = Array2::zeros((n, n));
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let s = a[[i, j]] - l.slice(s![i, ..j]).dot(&l.slice(s![j, ..j]));
            l[[i, j]] = if i == j { s.sqrt() } else { s / l[[j, j]] };
        }
        total += l[[i, i]].ln();
    }
    2.0 * total
}

#[differentiate]
pub fn vectors(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l = Vec::with_capacity(n * (n + 1) / 2);
    let mut total = 0.0;
    for i in 0..n {
        let row = i * (i + 1) / 2;
        for j in 0..=i {
            let other = j * (j + 1) / 2;
            let mut s = a[[i, j]];
            for k in 0..j {
                s -= l[row + k] * l[other + k];
            }
            if i == j {
                l.push(s.sqrt());
                total += l[row + i].ln();
            } else {
                l.push(s / l[other + j]);
            }
        }
    }
    2.0 * total
}

/// The decomposition, backwards: the contribution of each statement to the cotangent of `l`.
pub fn by_hand(a: &Array2<f64>) -> (f64, Array2<f64>) {
    let n = a.nrows();
    let mut l = vec![0.0; n * n];
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let below: f64 = l[i * n..][..j].iter().zip(&l[j * n..][..j]).map(|(a, b)| a * b).sum();
            let s = a[[i, j]] - below;
            l[i * n + j] = if i == j { s.sqrt() } else { s / l[j * n + j] };
        }
        total += l[i * n + i].ln();
    }
    let mut d = vec![0.0; n * n];
    let mut da = Array2::zeros((n, n));
    for i in (0..n).rev() {
        d[i * n + i] += 2.0 / l[i * n + i];
        for j in (0..=i).rev() {
            let ds = if i == j {
                0.5 * d[i * n + i] / l[i * n + i]
            } else {
                let ds = d[i * n + j] / l[j * n + j];
                d[j * n + j] -= ds * l[i * n + j];
                ds
            };
            da[[i, j]] = ds;
            if i == j {
                for (d, l) in d[i * n..][..j].iter_mut().zip(&l[i * n..]) {
                    *d -= 2.0 * ds * l;
                }
            } else {
                let (other, row) = d.split_at_mut(i * n);
                for k in 0..j {
                    row[k] -= ds * l[j * n + k];
                    other[j * n + k] -= ds * l[i * n + k];
                }
            }
        }
    }
    (2.0 * total, da)
}

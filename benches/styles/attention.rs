//! One head of attention, and the sum of the squares of its output.

use ad::prelude::*;

#[differentiate]
pub fn loops(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let (n, d) = q.dim();
    let mut total = 0.0;
    for i in 0..n {
        let mut e: Array1<f64> = Array1::zeros(n);
        let mut z = 0.0;
        for j in 0..n {
            let mut s = 0.0;
            for c in 0..d {
                s += q[[i, c]] * k[[j, c]];
            }
            e[j] = s.exp();
            z += e[j];
        }
        for c in 0..d {
            let mut y = 0.0;
            for j in 0..n {
                y += e[j] * v[[j, c]];
            }
            total += (y / z) * (y / z);
        }
    }
    total
}

#[differentiate]
pub fn iterators(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    q.rows()
        .into_iter()
        .map(|q| {
            let e: Vec<f64> =
                k.rows().into_iter().map(|k| q.iter().zip(&k).map(|(a, b)| a * b).sum::<f64>().exp()).collect();
            let z: f64 = e.iter().sum();
            v.columns()
                .into_iter()
                .map(|v| (e.iter().zip(&v).map(|(e, v)| e * v).sum::<f64>() / z).powi(2))
                .sum::<f64>()
        })
        .sum()
}

#[differentiate]
pub fn arrays(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let e = q.dot(&k.t()).mapv(f64::exp);
    let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
    let y = e.dot(v) / z;
    (&y * &y).sum()
}

#[differentiate]
pub fn vectors(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let (n, d) = q.dim();
    let mut total = 0.0;
    for i in 0..n {
        let mut e = Vec::new();
        for j in 0..n {
            let mut s = 0.0;
            for c in 0..d {
                s += q[[i, c]] * k[[j, c]];
            }
            e.push(s.exp());
        }
        let z: f64 = e.iter().sum();
        let mut y = vec![0.0; d];
        for j in 0..n {
            for c in 0..d {
                y[c] += e[j] * v[[j, c]];
            }
        }
        for c in 0..d {
            total += (y[c] / z) * (y[c] / z);
        }
    }
    total
}

pub type Gradient = (Array2<f64>, Array2<f64>, Array2<f64>);

pub fn by_hand(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> (f64, Gradient) {
    let mut p = q.dot(&k.t());
    for mut row in p.rows_mut() {
        row.mapv_inplace(f64::exp);
        let z = row.sum();
        row.mapv_inplace(|e| e / z);
    }
    let y = p.dot(v);
    let total = y.iter().map(|y| y * y).sum();
    let dy = y * 2.0;
    let dv = p.t().dot(&dy);
    let mut ds = dy.dot(&v.t());
    for (mut ds, p) in ds.rows_mut().into_iter().zip(p.rows()) {
        let mean = ds.dot(&p);
        ds.zip_mut_with(&p, |ds, p| *ds = p * (*ds - mean));
    }
    (total, (ds.dot(k), ds.t().dot(q), dv))
}

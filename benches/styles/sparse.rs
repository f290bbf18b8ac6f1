//! Least squares with a sparse matrix, whose rows have as many elements: `data` and `columns`, the
//! rows of which begin at `starts`.

use ad::prelude::*;

#[differentiate(wrt(w))]
pub fn loops(w: &Array1<f64>, data: &Array1<f64>, columns: &Array1<usize>, starts: &[usize], y: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        let mut s = -y[i];
        for p in starts[i]..starts[i + 1] {
            s += data[p] * w[columns[p]];
        }
        total += s * s;
    }
    total
}

#[differentiate(wrt(w))]
pub fn iterators(w: &Array1<f64>, data: &[f64], columns: &[usize], starts: &[usize], y: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for (i, &y) in y.iter().enumerate() {
        let row = starts[i]..starts[i + 1];
        let mut s = 0.0;
        for (&v, &j) in data[row.start..row.end].iter().zip(&columns[row.start..row.end]) {
            s += v * w[j];
        }
        total += (s - y).powi(2);
    }
    total
}

#[differentiate(wrt(w))]
pub fn arrays(w: &Array1<f64>, data: &Array1<f64>, columns: &Array1<usize>, starts: &[usize], y: &Array1<f64>) -> f64 {
    let each = starts[1] - starts[0];
    let terms = data * &gather([columns.len()], w, |[p]| [columns[p]]);
    let r = terms.into_shape_with_order((y.len(), each)).unwrap().sum_axis(Axis(1)) - y;
    r.dot(&r)
}

#[differentiate(wrt(w))]
pub fn vectors(w: &Array1<f64>, data: &Array1<f64>, columns: &Array1<usize>, starts: &[usize], y: &Array1<f64>) -> f64 {
    let mut residuals = Vec::new();
    for i in 0..y.len() {
        let mut s = 0.0;
        for p in starts[i]..starts[i + 1] {
            s += data[p] * w[columns[p]];
        }
        residuals.push(s - y[i]);
    }
    residuals.iter().map(|r| r * r).sum()
}

pub fn by_hand(
    w: &Array1<f64>,
    data: &[f64],
    columns: &[usize],
    starts: &[usize],
    y: &Array1<f64>,
) -> (f64, Array1<f64>) {
    let mut dw = Array1::zeros(w.len());
    let mut total = 0.0;
    for (i, y) in y.iter().enumerate() {
        let (data, columns) = (&data[starts[i]..starts[i + 1]], &columns[starts[i]..starts[i + 1]]);
        let s: f64 = data.iter().zip(columns).map(|(v, &j)| v * w[j]).sum();
        let r = s - y;
        total += r * r;
        for (v, &j) in data.iter().zip(columns) {
            dw[j] += 2.0 * r * v;
        }
    }
    (total, dw)
}

//! The third set, models of arrays: programs that were written after the mechanisms
//! for the first two sets, to see whether these fit more than their examples.

use ad::ndarray::{Array1, Array2, Array3, ArrayView1, Axis, Zip, s};
use ad::prelude::*;

use super::{Data, Table};

/// A layer that is normalised, two dense layers with GELU between them, and a residual.
#[differentiate(wrt(w1, w2, gain))]
fn feed_forward(x: &Array2<f64>, w1: &Array2<f64>, w2: &Array2<f64>, gain: &Array1<f64>, y: &Array2<f64>) -> f64 {
    let mean = x.mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    let centred = x - &mean;
    let variance = centred.mapv(|v| v * v).mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    let normal = centred / (variance + 1e-5).mapv(f64::sqrt) * gain;
    let hidden = normal.dot(w1).mapv(|h| 0.5 * h * (1.0 + (0.797_884_560_8 * (h + 0.044_715 * h.powi(3))).tanh()));
    let out = x + &hidden.dot(w2);
    (&out - y).mapv(|r| r * r).sum() / x.nrows() as f64
}

type Layers = (Array2<f64>, Array2<f64>, Array1<f64>);

fn feed_forward_by_hand(
    x: &Array2<f64>,
    w1: &Array2<f64>,
    w2: &Array2<f64>,
    gain: &Array1<f64>,
    y: &Array2<f64>,
) -> (f64, Layers) {
    let (n, d) = x.dim();
    let mut unit = Array2::zeros((n, d));
    for (mut unit, x) in unit.rows_mut().into_iter().zip(x.rows()) {
        let mean = x.sum() / d as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / d as f64;
        let inverse = 1.0 / (variance + 1e-5).sqrt();
        unit.zip_mut_with(&x, |u, x| *u = (x - mean) * inverse);
    }
    let normal = &unit * gain;
    let z = normal.dot(w1);
    let k = 0.797_884_560_8;
    let mut slope = z.clone();
    let hidden = Array2::from_shape_vec(
        z.raw_dim(),
        slope
            .iter_mut()
            .map(|slope| {
                let h = *slope;
                let t = (k * (h + 0.044_715 * h * h * h)).tanh();
                *slope = 0.5 * (1.0 + t) + 0.5 * h * (1.0 - t * t) * k * (1.0 + 0.134_145 * h * h);
                0.5 * h * (1.0 + t)
            })
            .collect(),
    )
    .unwrap();
    let mut r = hidden.dot(w2);
    r += x;
    r -= y;
    let loss = r.iter().map(|r| r * r).sum::<f64>() / n as f64;
    r *= 2.0 / n as f64;
    let dw2 = hidden.t().dot(&r);
    let mut dz = r.dot(&w2.t());
    dz *= &slope;
    let dw1 = normal.t().dot(&dz);
    let dnormal = dz.dot(&w1.t());
    (loss, (dw1, dw2, (dnormal * unit).sum_axis(Axis(0))))
}

/// Which of several classes, by rows of an array.
#[differentiate(wrt(w, b))]
fn soft_classes(w: &Array2<f64>, b: &Array1<f64>, x: &Array2<f64>, labels: &Array2<f64>) -> f64 {
    let logits = x.dot(w) + b;
    let top = logits.map_axis(Axis(1), |row| row.fold(f64::NEG_INFINITY, |a, &b| a.max(b))).insert_axis(Axis(1));
    let shifted = &logits - &top;
    let norm = shifted.mapv(f64::exp).sum_axis(Axis(1)).mapv(f64::ln).insert_axis(Axis(1));
    let log_p = &shifted - &norm;
    -(labels * &log_p).sum() / x.nrows() as f64 + 0.01 * w.mapv(|v| v.abs()).sum()
}

fn soft_classes_by_hand(
    w: &Array2<f64>,
    b: &Array1<f64>,
    x: &Array2<f64>,
    labels: &Array2<f64>,
) -> (f64, (Array2<f64>, Array1<f64>)) {
    let scale = 1.0 / x.nrows() as f64;
    let mut p = x.dot(w);
    let mut loss = 0.0;
    for (mut p, labels) in p.rows_mut().into_iter().zip(labels.rows()) {
        p += b;
        let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        let (mut mass, mut chosen) = (0.0, 0.0);
        for (p, l) in p.iter_mut().zip(labels) {
            mass += l;
            chosen += l * (*p - top);
            *p = (*p - top).exp();
            sum += *p;
        }
        loss -= chosen - mass * f64::ln(sum);
        p.zip_mut_with(&labels, |p, l| *p = (*p / sum * mass - l) * scale);
    }
    let mut dw = x.t().dot(&p);
    dw.zip_mut_with(w, |d, w| *d += 0.01 * if *w == 0.0 { 0.0 } else { w.signum() });
    (loss * scale + 0.01 * w.iter().map(|w| w.abs()).sum::<f64>(), (dw, p.sum_axis(Axis(0))))
}

/// A network of two layers, its weights in slices, one sample after the other.
#[differentiate(wrt(w1, b1, w2, b2))]
fn flat_network(w1: &[f32], b1: &[f32], w2: &[f32], b2: &[f32], x: &[f32], y: &[f32]) -> f32 {
    let (hidden, outputs) = (b1.len(), b2.len());
    let inputs = w1.len() / hidden;
    let samples = x.len() / inputs;
    let mut loss = 0.0;
    for n in 0..samples {
        let mut h = vec![0.0; hidden];
        for j in 0..hidden {
            let mut z = b1[j];
            for i in 0..inputs {
                z += w1[j * inputs + i] * x[n * inputs + i];
            }
            h[j] = z.tanh();
        }
        for k in 0..outputs {
            let mut z = b2[k];
            for j in 0..hidden {
                z += w2[k * hidden + j] * h[j];
            }
            let r = z - y[n * outputs + k];
            loss += r * r;
        }
    }
    loss / samples as f32
}

type Flat = (Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>);

fn flat_network_by_hand(w1: &[f32], b1: &[f32], w2: &[f32], b2: &[f32], x: &[f32], y: &[f32]) -> (f32, Flat) {
    let (hidden, outputs) = (b1.len(), b2.len());
    let inputs = w1.len() / hidden;
    let samples = x.len() / inputs;
    let scale = 1.0 / samples as f32;
    let (mut dw1, mut db1) = (vec![0.0; w1.len()], vec![0.0; hidden]);
    let (mut dw2, mut db2) = (vec![0.0; w2.len()], vec![0.0; outputs]);
    let (mut h, mut dh) = (vec![0.0f32; hidden], vec![0.0; hidden]);
    let mut loss = 0.0;
    for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact(outputs)) {
        for ((h, row), b) in h.iter_mut().zip(w1.chunks_exact(inputs)).zip(b1) {
            let z: f32 = row.iter().zip(x).map(|(w, x)| w * x).sum();
            *h = (z + b).tanh();
        }
        dh.fill(0.0);
        for k in 0..outputs {
            let row = &w2[k * hidden..(k + 1) * hidden];
            let z: f32 = row.iter().zip(&h).map(|(w, h)| w * h).sum();
            let r = z + b2[k] - y[k];
            loss += r * r;
            let g = 2.0 * r * scale;
            db2[k] += g;
            let drow = &mut dw2[k * hidden..(k + 1) * hidden];
            for (((dw, dh), w), h) in drow.iter_mut().zip(&mut dh).zip(row).zip(&h) {
                *dw += g * h;
                *dh += g * w;
            }
        }
        for j in 0..hidden {
            let g = dh[j] * (1.0 - h[j] * h[j]);
            db1[j] += g;
            for (dw, x) in dw1[j * inputs..(j + 1) * inputs].iter_mut().zip(x) {
                *dw += g * x;
            }
        }
    }
    (loss * scale, (dw1, db1, dw2, db2))
}

/// Layers of causal filters that look back further and further (WaveNet).
#[differentiate(wrt(filters))]
fn dilated(filters: &[Array3<f64>], x: &Array2<f64>, y: &[f64]) -> f64 {
    let (steps, channels) = x.dim();
    let mut h = x.clone();
    let mut reach = 1;
    for w in filters {
        let mut next = h.clone();
        for t in 0..steps {
            for o in 0..channels {
                let mut z = 0.0;
                for i in 0..channels {
                    z += w[[0, i, o]] * h[[t, i]];
                    if t >= reach {
                        z += w[[1, i, o]] * h[[t - reach, i]];
                    }
                }
                next[[t, o]] += z.tanh();
            }
        }
        h = next;
        reach *= 2;
    }
    let mut loss = 0.0;
    for t in 0..steps {
        loss += (h.row(t).sum() - y[t]).powi(2);
    }
    loss / steps as f64
}

fn dilated_by_hand(filters: &[Array3<f64>], x: &Array2<f64>, y: &[f64]) -> (f64, Vec<Array3<f64>>) {
    let steps = x.nrows();
    let mut inputs = vec![x.clone()];
    let mut slopes = Vec::new();
    for (k, w) in filters.iter().enumerate() {
        let reach = 1 << k;
        let h = &inputs[k];
        let mut z = h.dot(&w.index_axis(Axis(0), 0));
        let past = h.slice(s![..steps - reach, ..]).dot(&w.index_axis(Axis(0), 1));
        let mut late = z.slice_mut(s![reach.., ..]);
        late += &past;
        z.mapv_inplace(f64::tanh);
        inputs.push(h + &z);
        slopes.push(z.mapv(|t| 1.0 - t * t));
    }
    let mut loss = 0.0;
    let last = &inputs[filters.len()];
    let mut g = Array2::zeros(last.raw_dim());
    for (t, mut g) in g.rows_mut().into_iter().enumerate() {
        let r = last.row(t).sum() - y[t];
        loss += r * r;
        g.fill(2.0 * r / steps as f64);
    }
    let mut gradient = Vec::new();
    for (k, w) in filters.iter().enumerate().rev() {
        let reach = 1 << k;
        let h = &inputs[k];
        let dz = &g * &slopes[k];
        let late = dz.slice(s![reach.., ..]);
        let mut dw = Array3::zeros(w.raw_dim());
        dw.index_axis_mut(Axis(0), 0).assign(&h.t().dot(&dz));
        dw.index_axis_mut(Axis(0), 1).assign(&h.slice(s![..steps - reach, ..]).t().dot(&late));
        gradient.push(dw);
        g += &dz.dot(&w.index_axis(Axis(0), 0).t());
        let mut early = g.slice_mut(s![..steps - reach, ..]);
        early += &late.dot(&w.index_axis(Axis(0), 1).t());
    }
    gradient.reverse();
    (loss / steps as f64, gradient)
}

/// Filters of 3 x 3, the largest of each 2 x 2, and weights: one picture.
#[differentiate(wrt(filters, weights))]
fn pooled(filters: &Array3<f64>, weights: &Array3<f64>, picture: &Array2<f64>, wanted: f64) -> f64 {
    let (h, w) = (picture.nrows() - 2, picture.ncols() - 2);
    let mut score = 0.0;
    for k in 0..filters.dim().0 {
        let mut map = Array2::<f64>::zeros((h, w));
        for i in 0..h {
            for j in 0..w {
                let mut z = 0.0;
                for a in 0..3 {
                    for b in 0..3 {
                        z += filters[[k, a, b]] * picture[[i + a, j + b]];
                    }
                }
                map[[i, j]] = z.max(0.0);
            }
        }
        for i in 0..h / 2 {
            for j in 0..w / 2 {
                let top = map[[2 * i, 2 * j]]
                    .max(map[[2 * i, 2 * j + 1]])
                    .max(map[[2 * i + 1, 2 * j]])
                    .max(map[[2 * i + 1, 2 * j + 1]]);
                score += weights[[k, i, j]] * top;
            }
        }
    }
    (score - wanted).powi(2)
}

fn pooled_by_hand(
    filters: &Array3<f64>,
    weights: &Array3<f64>,
    picture: &Array2<f64>,
    wanted: f64,
) -> (f64, (Array3<f64>, Array3<f64>)) {
    let (count, h, w) = weights.dim();
    let mut tops = Array3::zeros((count, h, w));
    let mut at = vec![(0, 0); count * h * w];
    let mut score = 0.0;
    let mut map = Array2::zeros((2 * h, 2 * w));
    for k in 0..count {
        let f = filters.index_axis(Axis(0), k);
        for ((i, j), map) in map.indexed_iter_mut() {
            let mut z = 0.0;
            for a in 0..3 {
                for b in 0..3 {
                    z += f[[a, b]] * picture[[i + a, j + b]];
                }
            }
            *map = f64::max(z, 0.0);
        }
        for i in 0..h {
            for j in 0..w {
                let mut best = (2 * i, 2 * j);
                for other in [(2 * i, 2 * j + 1), (2 * i + 1, 2 * j), (2 * i + 1, 2 * j + 1)] {
                    if map[other] > map[best] {
                        best = other;
                    }
                }
                at[(k * h + i) * w + j] = best;
                tops[[k, i, j]] = map[best];
                score += weights[[k, i, j]] * map[best];
            }
        }
    }
    let g = 2.0 * (score - wanted);
    let mut df = Array3::zeros(filters.raw_dim());
    for ((k, i, j), &top) in tops.indexed_iter() {
        if top > 0.0 {
            let (y, x) = at[(k * h + i) * w + j];
            let c = g * weights[[k, i, j]];
            for a in 0..3 {
                for b in 0..3 {
                    df[[k, a, b]] += c * picture[[y + a, x + b]];
                }
            }
        }
    }
    ((score - wanted) * (score - wanted), (df, tops * g))
}

/// A curve of demand, its prices smoothed, held against sales (all with array operations).
#[differentiate(wrt(theta))]
fn demand(theta: ArrayView1<f64>, price: &Array1<f64>, advert: &Array1<f64>, sales: &Array1<f64>) -> f64 {
    let saturated = advert.mapv(|a| a / (a + theta[1].exp()));
    let mut expected = price.mapv(|p| (theta[0] - theta[2] * p.ln()).exp());
    Zip::from(&mut expected).and(&saturated).for_each(|e, &s| *e *= 1.0 + theta[3] * s);
    let residual = (sales - &expected) / expected.mapv(f64::sqrt);
    residual.dot(&residual) / 2.0 + expected.mapv(f64::ln).sum() / 2.0
}

fn demand_by_hand(
    theta: ArrayView1<f64>,
    price: &Array1<f64>,
    advert: &Array1<f64>,
    sales: &Array1<f64>,
) -> (f64, Array1<f64>) {
    let (scale, half) = (theta[0].exp(), theta[1].exp());
    let mut g = Array1::zeros(4);
    let mut loss = 0.0;
    for i in 0..price.len() {
        let l = price[i].ln();
        let s = advert[i] / (advert[i] + half);
        let base = scale * (-theta[2] * l).exp();
        let m = 1.0 + theta[3] * s;
        let e = base * m;
        let r = sales[i] - e;
        loss += 0.5 * (r * r / e + e.ln());
        let de = 0.5 * (1.0 / e - r * r / (e * e)) - r / e;
        g[0] += de * e;
        g[2] -= de * e * l;
        let ds = de * base;
        g[3] += ds * s;
        g[1] -= ds * theta[3] * s * half / (advert[i] + half);
    }
    (loss, g)
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(43);
    let (x, y, gain) = (data.matrix(128, 64), data.matrix(128, 64), data.vector(64));
    let (w1, w2) = (data.matrix(64, 256) * 0.2, data.matrix(256, 64) * 0.2);
    table.row(
        "feed forward, 128 x 64 x 256",
        || feed_forward_by_hand(&x, &w1, &w2, &gain, &y),
        || feed_forward_value_and_grad(&x, &w1, &w2, &gain, &y),
        || feed_forward(&x, &w1, &w2, &gain, &y),
    );
    let (w, b, x) = (data.matrix(20, 6), data.vector(6), data.matrix(2000, 20));
    let mut labels = Array2::zeros((2000, 6));
    for mut row in labels.rows_mut() {
        row[data.0.usize(..6)] = 1.0;
    }
    table.row(
        "classes by arrays, 2000 x 20 x 6",
        || soft_classes_by_hand(&w, &b, &x, &labels),
        || soft_classes_value_and_grad(&w, &b, &x, &labels),
        || soft_classes(&w, &b, &x, &labels),
    );
    let mut single = |n: usize| -> Vec<f32> { data.numbers(n).iter().map(|&x| x as f32).collect() };
    let (w1, b1, w2, b2) = (single(64 * 32), single(64), single(10 * 64), single(10));
    let (x, y) = (single(128 * 32), single(128 * 10));
    table.row(
        "network in slices, f32",
        || flat_network_by_hand(&w1, &b1, &w2, &b2, &x, &y),
        || flat_network_value_and_grad(&w1, &b1, &w2, &b2, &x, &y),
        || flat_network(&w1, &b1, &w2, &b2, &x, &y),
    );
    let filters: Vec<Array3<f64>> =
        (0..5).map(|_| Array3::from_shape_simple_fn((2, 16, 16), || 0.5 * (data.0.f64() - 0.5))).collect();
    let (x, y) = (data.matrix(256, 16), data.numbers(256));
    table.row(
        "causal filters, 5 of 16 x 16",
        || dilated_by_hand(&filters, &x, &y),
        || dilated_value_and_grad(&filters, &x, &y),
        || dilated(&filters, &x, &y),
    );
    let filters = Array3::from_shape_simple_fn((8, 3, 3), || data.0.f64() - 0.5);
    let weights = Array3::from_shape_simple_fn((8, 15, 15), || data.0.f64() - 0.5);
    let picture = data.matrix(32, 32);
    table.row(
        "largest of 2 x 2",
        || pooled_by_hand(&filters, &weights, &picture, 0.3),
        || pooled_value_and_grad(&filters, &weights, &picture, 0.3),
        || pooled(&filters, &weights, &picture, 0.3),
    );
    let theta = Array1::from(vec![1.0, 0.3, 0.7, 0.4]);
    let (price, advert, sales) =
        (Array1::from(data.positive(2000)), Array1::from(data.positive(2000)), Array1::from(data.positive(2000)));
    table.row(
        "demand, 2000",
        || demand_by_hand(theta.view(), &price, &advert, &sales),
        || demand_value_and_grad(theta.view(), &price, &advert, &sales),
        || demand(theta.view(), &price, &advert, &sales),
    );
}

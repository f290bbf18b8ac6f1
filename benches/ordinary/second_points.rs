//! The second set, points and sequences: programs that were written after the mechanisms for the
//! first set, to see whether these fit more than their examples.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// The likelihood of each point under kernels at all others (leave-one-out density).
#[differentiate(wrt(log_bandwidth))]
fn density(log_bandwidth: [f64; 2], points: &[[f64; 2]]) -> f64 {
    let n = points.len();
    let h = [log_bandwidth[0].exp(), log_bandwidth[1].exp()];
    let mut total = 0.0;
    for i in 0..n {
        let mut sum = 0.0;
        for j in 0..n {
            if j != i {
                let a = (points[i][0] - points[j][0]) / h[0];
                let b = (points[i][1] - points[j][1]) / h[1];
                sum += (-0.5 * (a * a + b * b)).exp();
            }
        }
        total += (sum / (n as f64 - 1.0)).ln() - log_bandwidth[0] - log_bandwidth[1];
    }
    -total / n as f64
}

fn density_by_hand(log_bandwidth: [f64; 2], points: &[[f64; 2]]) -> (f64, [f64; 2]) {
    let n = points.len();
    let inverse = log_bandwidth.map(|l| (-l).exp());
    let (mut total, mut d) = (0.0, [0.0; 2]);
    for i in 0..n {
        let (mut sum, mut da, mut db) = (0.0, 0.0, 0.0);
        for j in 0..n {
            if j != i {
                let a = (points[i][0] - points[j][0]) * inverse[0];
                let b = (points[i][1] - points[j][1]) * inverse[1];
                let e = (-0.5 * (a * a + b * b)).exp();
                sum += e;
                da += e * a * a;
                db += e * b * b;
            }
        }
        total += (sum / (n as f64 - 1.0)).ln() - log_bandwidth[0] - log_bandwidth[1];
        d[0] += da / sum - 1.0;
        d[1] += db / sum - 1.0;
    }
    (-total / n as f64, d.map(|d| -d / n as f64))
}

/// How far two clouds of points are from each other: each point to its nearest.
#[differentiate(wrt(a))]
fn chamfer(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let mut total = 0.0;
    for p in a {
        let mut nearest = f64::INFINITY;
        for q in b {
            let d = (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2) + (p[2] - q[2]).powi(2);
            if d < nearest {
                nearest = d;
            }
        }
        total += nearest.sqrt();
    }
    total / a.len() as f64
}

fn chamfer_by_hand(a: &[[f64; 3]], b: &[[f64; 3]]) -> (f64, Vec<[f64; 3]>) {
    let scale = 1.0 / a.len() as f64;
    let mut total = 0.0;
    let mut gradient = Vec::with_capacity(a.len());
    for p in a {
        let (mut nearest, mut at) = (f64::INFINITY, [0.0; 3]);
        for q in b {
            let r = [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
            let d = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
            if d < nearest {
                (nearest, at) = (d, r);
            }
        }
        let distance = nearest.sqrt();
        total += distance;
        gradient.push(at.map(|r| r / distance * scale));
    }
    (total * scale, gradient)
}

/// Neighbourhoods in the plane against given ones (t-SNE).
#[differentiate(wrt(y))]
fn embedding(y: &Array2<f64>, p: &Array2<f64>) -> f64 {
    let n = y.nrows();
    let mut weights = Array2::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            if i != j {
                let dx = y[[i, 0]] - y[[j, 0]];
                let dy = y[[i, 1]] - y[[j, 1]];
                weights[[i, j]] = 1.0 / (1.0 + dx * dx + dy * dy);
            }
        }
    }
    let z = weights.sum();
    let mut loss = 0.0;
    for i in 0..n {
        for j in 0..n {
            if i != j {
                loss += p[[i, j]] * (p[[i, j]] * z / weights[[i, j]]).ln();
            }
        }
    }
    loss
}

fn embedding_by_hand(y: &Array2<f64>, p: &Array2<f64>) -> (f64, Array2<f64>) {
    let n = y.nrows();
    let (y, p) = (y.as_slice().unwrap(), p.as_slice().unwrap());
    let mut weights = vec![0.0; n * n];
    let mut z = 0.0;
    for i in 0..n {
        for j in 0..n {
            if i != j {
                let (dx, dy) = (y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]);
                let w = 1.0 / (1.0 + dx * dx + dy * dy);
                weights[i * n + j] = w;
                z += w;
            }
        }
    }
    let (mut loss, mut mass) = (0.0, 0.0);
    for i in 0..n {
        for j in 0..n {
            if i != j {
                let p = p[i * n + j];
                loss += p * (p * z / weights[i * n + j]).ln();
                mass += p;
            }
        }
    }
    let mut g = vec![0.0; 2 * n];
    for i in 0..n {
        for j in 0..n {
            let w = weights[i * n + j];
            let pull = 2.0 * (p[i * n + j] - mass * w / z) * w;
            let (dx, dy) = (y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1]);
            g[2 * i] += pull * dx;
            g[2 * i + 1] += pull * dy;
            g[2 * j] -= pull * dx;
            g[2 * j + 1] -= pull * dy;
        }
    }
    (loss, Array2::from_shape_vec((n, 2), g).unwrap())
}

/// Words that stand beside each other, against words that do not (skip-gram).
#[differentiate(wrt(u, v))]
fn skipgram(u: &Array2<f64>, v: &Array2<f64>, centre: &[usize], context: &[usize], others: &[[usize; 5]]) -> f64 {
    let mut loss = 0.0;
    for i in 0..centre.len() {
        let c = u.row(centre[i]);
        loss += (1.0 + (-c.dot(&v.row(context[i]))).exp()).ln();
        for &k in &others[i] {
            loss += (1.0 + c.dot(&v.row(k)).exp()).ln();
        }
    }
    loss / centre.len() as f64
}

fn skipgram_by_hand(
    u: &Array2<f64>,
    v: &Array2<f64>,
    centre: &[usize],
    context: &[usize],
    others: &[[usize; 5]],
) -> (f64, (Array2<f64>, Array2<f64>)) {
    let d = u.ncols();
    let (us, vs) = (u.as_slice().unwrap(), v.as_slice().unwrap());
    let (mut du, mut dv) = (vec![0.0; us.len()], vec![0.0; vs.len()]);
    let scale = 1.0 / centre.len() as f64;
    let mut loss = 0.0;
    for i in 0..centre.len() {
        let c = centre[i] * d..(centre[i] + 1) * d;
        let mut word = |k: usize, sign: f64| {
            let w = k * d..(k + 1) * d;
            let score: f64 = us[c.clone()].iter().zip(&vs[w.clone()]).map(|(a, b)| a * b).sum();
            let e = (sign * score).exp();
            loss += (1.0 + e).ln();
            let g = sign * e / (1.0 + e) * scale;
            for ((du, dv), (u, v)) in
                du[c.clone()].iter_mut().zip(&mut dv[w.clone()]).zip(us[c.clone()].iter().zip(&vs[w]))
            {
                *du += g * v;
                *dv += g * u;
            }
        };
        word(context[i], -1.0);
        for &k in &others[i] {
            word(k, 1.0);
        }
    }
    let gradients = (Array2::from_shape_vec(u.dim(), du).unwrap(), Array2::from_shape_vec(v.dim(), dv).unwrap());
    (loss * scale, gradients)
}

/// One causal head of attention, row by row.
#[differentiate]
fn causal(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let (n, d) = q.dim();
    let scale = 1.0 / (d as f64).sqrt();
    let mut total = 0.0;
    for i in 0..n {
        let scores: Array1<f64> = (0..=i).map(|j| q.row(i).dot(&k.row(j)) * scale).collect();
        let top = scores.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let e = scores.mapv(|s| (s - top).exp());
        let weights = &e / e.sum();
        let mut out = Array1::zeros(v.ncols());
        for j in 0..=i {
            out.scaled_add(weights[j], &v.row(j));
        }
        total += out.dot(&out);
    }
    total
}

/// The gradients by queries, keys and values.
type HeadGradients = (Array2<f64>, Array2<f64>, Array2<f64>);

fn causal_by_hand(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> (f64, HeadGradients) {
    let (n, d) = q.dim();
    let m = v.ncols();
    let (qs, ks, vs) = (q.as_slice().unwrap(), k.as_slice().unwrap(), v.as_slice().unwrap());
    let (mut dq, mut dk, mut dv) = (vec![0.0; n * d], vec![0.0; n * d], vec![0.0; n * m]);
    let scale = 1.0 / (d as f64).sqrt();
    let mut total = 0.0;
    let (mut w, mut dw) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let row = &qs[i * d..(i + 1) * d];
        let mut top = f64::NEG_INFINITY;
        for (w, k) in w[..=i].iter_mut().zip(ks.chunks_exact(d)) {
            *w = row.iter().zip(k).map(|(a, b)| a * b).sum::<f64>() * scale;
            top = top.max(*w);
        }
        let mut sum = 0.0;
        for w in &mut w[..=i] {
            *w = (*w - top).exp();
            sum += *w;
        }
        let mut out = vec![0.0; m];
        for (w, v) in w[..=i].iter_mut().zip(vs.chunks_exact(m)) {
            *w /= sum;
            for (o, v) in out.iter_mut().zip(v) {
                *o += *w * v;
            }
        }
        let mut mean = 0.0;
        for (((dw, w), v), dv) in dw[..=i].iter_mut().zip(&w).zip(vs.chunks_exact(m)).zip(dv.chunks_exact_mut(m)) {
            let mut s = 0.0;
            for ((v, dv), o) in v.iter().zip(dv).zip(&out) {
                s += 2.0 * o * v;
                *dv += w * 2.0 * o;
            }
            *dw = s;
            mean += s * w;
        }
        total += out.iter().map(|o| o * o).sum::<f64>();
        let drow = &mut dq[i * d..(i + 1) * d];
        for (((dw, w), k), dk) in dw[..=i].iter().zip(&w).zip(ks.chunks_exact(d)).zip(dk.chunks_exact_mut(d)) {
            let g = w * (dw - mean) * scale;
            for (((dq, dk), q), k) in drow.iter_mut().zip(dk).zip(row).zip(k) {
                *dq += g * k;
                *dk += g * q;
            }
        }
    }
    let of = |x: Vec<f64>, m| Array2::from_shape_vec((n, m), x).unwrap();
    (total, (of(dq, d), of(dk, d), of(dv, m)))
}

/// A curve of cubic B-splines through noisy samples.
#[differentiate(wrt(control))]
fn spline(control: &[f64], t: &[f64], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for (&t, &y) in t.iter().zip(y) {
        let k = t.floor() as usize;
        let u = t - t.floor();
        let b = [
            (1.0 - u).powi(3) / 6.0,
            (3.0 * u.powi(3) - 6.0 * u.powi(2) + 4.0) / 6.0,
            (-3.0 * u.powi(3) + 3.0 * u.powi(2) + 3.0 * u + 1.0) / 6.0,
            u.powi(3) / 6.0,
        ];
        let mut value = 0.0;
        for j in 0..4 {
            value += b[j] * control[k + j];
        }
        total += (value - y).powi(2);
    }
    total
}

fn spline_by_hand(control: &[f64], t: &[f64], y: &[f64]) -> (f64, Vec<f64>) {
    let mut g = vec![0.0; control.len()];
    let mut total = 0.0;
    for (&t, &y) in t.iter().zip(y) {
        let k = t.floor() as usize;
        let u = t - t.floor();
        let (u2, u3, v) = (u * u, u * u * u, 1.0 - u);
        let b = [
            v * v * v / 6.0,
            (3.0 * u3 - 6.0 * u2 + 4.0) / 6.0,
            (-3.0 * u3 + 3.0 * u2 + 3.0 * u + 1.0) / 6.0,
            u3 / 6.0,
        ];
        let part = &control[k..k + 4];
        let r = b[0] * part[0] + b[1] * part[1] + b[2] * part[2] + b[3] * part[3] - y;
        total += r * r;
        for (g, b) in g[k..k + 4].iter_mut().zip(b) {
            *g += 2.0 * r * b;
        }
    }
    (total, g)
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(31);
    let points = data.points::<2>(500);
    let bandwidth = [-1.5, -1.2];
    table.row(
        "density from kernels",
        || density_by_hand(bandwidth, &points),
        || density_value_and_grad(bandwidth, &points),
        || density(bandwidth, &points),
    );
    let (a, b) = (data.points::<3>(600), data.points::<3>(700));
    table.row("distance of clouds", || chamfer_by_hand(&a, &b), || chamfer_value_and_grad(&a, &b), || chamfer(&a, &b));
    let y = data.matrix(200, 2);
    let mut p = data.matrix(200, 200).mapv(|x| x + 0.51);
    p /= p.sum();
    table.row("t-SNE", || embedding_by_hand(&y, &p), || embedding_value_and_grad(&y, &p), || embedding(&y, &p));
    let (u, v) = (data.matrix(1000, 50), data.matrix(1000, 50));
    let (centre, context) = (data.below(2000, 1000), data.below(2000, 1000));
    let others: Vec<[usize; 5]> = (0..2000).map(|_| <[usize; 5]>::try_from(data.below(5, 1000)).unwrap()).collect();
    table.row(
        "skip-gram",
        || skipgram_by_hand(&u, &v, &centre, &context, &others),
        || skipgram_value_and_grad(&u, &v, &centre, &context, &others),
        || skipgram(&u, &v, &centre, &context, &others),
    );
    let (q, k, v) = (data.matrix(128, 32), data.matrix(128, 32), data.matrix(128, 32));
    table.row(
        "causal attention",
        || causal_by_hand(&q, &k, &v),
        || causal_value_and_grad(&q, &k, &v),
        || causal(&q, &k, &v),
    );
    let control = data.numbers(40);
    let t: Vec<f64> = data.numbers(5000).iter().map(|x| (x + 0.5) * 36.999).collect();
    let y = data.numbers(5000);
    table.row(
        "spline",
        || spline_by_hand(&control, &t, &y),
        || spline_value_and_grad(&control, &t, &y),
        || spline(&control, &t, &y),
    );
}

//! The third set, points and graphs: programs that were written after the mechanisms for the
//! first two sets, to see whether these fit more than their examples.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// A network of radial basis functions against samples.
#[differentiate(wrt(centres, log_width, weights))]
fn radial(centres: &[[f64; 2]], log_width: &[f64], weights: &[f64], x: &[[f64; 2]], y: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (p, y) in x.iter().zip(y) {
        let mut out = 0.0;
        for k in 0..centres.len() {
            let r2 = (p[0] - centres[k][0]).powi(2) + (p[1] - centres[k][1]).powi(2);
            out += weights[k] * (-0.5 * r2 / (2.0 * log_width[k]).exp()).exp();
        }
        loss += (out - y).powi(2);
    }
    loss / x.len() as f64
}

type Basis = (Vec<[f64; 2]>, Vec<f64>, Vec<f64>);

fn radial_by_hand(centres: &[[f64; 2]], log_width: &[f64], weights: &[f64], x: &[[f64; 2]], y: &[f64]) -> (f64, Basis) {
    let k = centres.len();
    let precision: Vec<f64> = log_width.iter().map(|l| (-2.0 * l).exp()).collect();
    let (mut dc, mut dl, mut dw) = (vec![[0.0; 2]; k], vec![0.0; k], vec![0.0; k]);
    let mut basis = vec![0.0; k];
    let mut loss = 0.0;
    let scale = 1.0 / x.len() as f64;
    for (p, y) in x.iter().zip(y) {
        let mut out = 0.0;
        for k in 0..k {
            let (a, b) = (p[0] - centres[k][0], p[1] - centres[k][1]);
            basis[k] = (-0.5 * (a * a + b * b) * precision[k]).exp();
            out += weights[k] * basis[k];
        }
        let r = out - y;
        loss += r * r;
        let g = 2.0 * r * scale;
        for k in 0..k {
            dw[k] += g * basis[k];
            let t = g * weights[k] * basis[k] * precision[k];
            let (a, b) = (p[0] - centres[k][0], p[1] - centres[k][1]);
            dc[k][0] += t * a;
            dc[k][1] += t * b;
            dl[k] += t * (a * a + b * b);
        }
    }
    (loss * scale, (dc, dl, dw))
}

/// Bodies under gravity, by leapfrog: how far they are from where they were seen.
#[differentiate(wrt(position, velocity, mass))]
fn gravity(
    position: &[[f64; 3]],
    velocity: &[[f64; 3]],
    mass: &[f64],
    seen: &[[f64; 3]],
    dt: f64,
    steps: usize,
) -> f64 {
    let n = position.len();
    let mut x = position.to_vec();
    let mut v = velocity.to_vec();
    for _ in 0..steps {
        for i in 0..n {
            let mut a = [0.0; 3];
            for j in 0..n {
                if i == j {
                    continue;
                }
                let d = [x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]];
                let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                let f = mass[j] / (r2 * r2.sqrt());
                for c in 0..3 {
                    a[c] += f * d[c];
                }
            }
            for c in 0..3 {
                v[i][c] += dt * a[c];
            }
        }
        for i in 0..n {
            for c in 0..3 {
                x[i][c] += dt * v[i][c];
            }
        }
    }
    let mut loss = 0.0;
    for i in 0..n {
        for c in 0..3 {
            loss += (x[i][c] - seen[i][c]).powi(2);
        }
    }
    loss
}

type Bodies = (Vec<[f64; 3]>, Vec<[f64; 3]>, Vec<f64>);

fn gravity_by_hand(
    position: &[[f64; 3]],
    velocity: &[[f64; 3]],
    mass: &[f64],
    seen: &[[f64; 3]],
    dt: f64,
    steps: usize,
) -> (f64, Bodies) {
    let n = position.len();
    let (mut x, mut v) = (position.to_vec(), velocity.to_vec());
    let mut path = Vec::with_capacity(n * steps);
    for _ in 0..steps {
        path.extend_from_slice(&x);
        for i in 0..n {
            let p = x[i];
            let mut a = [0.0; 3];
            for j in 0..n {
                if j != i {
                    let d = [x[j][0] - p[0], x[j][1] - p[1], x[j][2] - p[2]];
                    let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                    let f = mass[j] / (r2 * r2.sqrt());
                    for c in 0..3 {
                        a[c] += f * d[c];
                    }
                }
            }
            for c in 0..3 {
                v[i][c] += dt * a[c];
            }
        }
        for (x, v) in x.iter_mut().zip(&v) {
            for c in 0..3 {
                x[c] += dt * v[c];
            }
        }
    }
    let mut loss = 0.0;
    let (mut dx, mut dv, mut dm) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n], vec![0.0; n]);
    for i in 0..n {
        for c in 0..3 {
            let r = x[i][c] - seen[i][c];
            loss += r * r;
            dx[i][c] = 2.0 * r;
        }
    }
    for step in (0..steps).rev() {
        let x = &path[step * n..(step + 1) * n];
        for i in 0..n {
            for c in 0..3 {
                dv[i][c] += dt * dx[i][c];
            }
        }
        for i in 0..n {
            let (p, da) = (x[i], dv[i].map(|g| dt * g));
            let mut dp = [0.0; 3];
            for j in 0..n {
                if j != i {
                    let d = [x[j][0] - p[0], x[j][1] - p[1], x[j][2] - p[2]];
                    let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                    let inverse = 1.0 / (r2 * r2.sqrt());
                    let df = da[0] * d[0] + da[1] * d[1] + da[2] * d[2];
                    dm[j] += df * inverse;
                    let f = mass[j] * inverse;
                    let dr2 = -3.0 * df * f / r2;
                    for c in 0..3 {
                        let dd = f * da[c] + dr2 * d[c];
                        dx[j][c] += dd;
                        dp[c] -= dd;
                    }
                }
            }
            for c in 0..3 {
                dx[i][c] += dp[c];
            }
        }
    }
    (loss, (dx, dv, dm))
}

/// Poses in the plane and what was measured between them.
#[differentiate(wrt(poses))]
fn pose_graph(poses: &[[f64; 3]], edges: &[[usize; 2]], measured: &[[f64; 3]]) -> f64 {
    let mut loss = 0.0;
    for (e, m) in edges.iter().zip(measured) {
        let (a, b) = (poses[e[0]], poses[e[1]]);
        let (s, c) = a[2].sin_cos();
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let r = [c * dx + s * dy - m[0], c * dy - s * dx - m[1], b[2] - a[2] - m[2]];
        let angle = r[2].sin().atan2(r[2].cos());
        loss += r[0] * r[0] + r[1] * r[1] + 10.0 * angle * angle;
    }
    loss
}

fn pose_graph_by_hand(poses: &[[f64; 3]], edges: &[[usize; 2]], measured: &[[f64; 3]]) -> (f64, Vec<[f64; 3]>) {
    let mut g = vec![[0.0; 3]; poses.len()];
    let mut loss = 0.0;
    for (e, m) in edges.iter().zip(measured) {
        let (a, b) = (poses[e[0]], poses[e[1]]);
        let (s, c) = a[2].sin_cos();
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let r = [c * dx + s * dy - m[0], c * dy - s * dx - m[1], b[2] - a[2] - m[2]];
        let (sr, cr) = r[2].sin_cos();
        let angle = sr.atan2(cr);
        loss += r[0] * r[0] + r[1] * r[1] + 10.0 * angle * angle;
        let (u, v, w) = (2.0 * r[0], 2.0 * r[1], 20.0 * angle);
        let (gx, gy) = (c * u - s * v, s * u + c * v);
        let ga = &mut g[e[0]];
        ga[0] -= gx;
        ga[1] -= gy;
        ga[2] += u * (c * dy - s * dx) - v * (s * dy + c * dx) - w;
        let gb = &mut g[e[1]];
        gb[0] += gx;
        gb[1] += gy;
        gb[2] += w;
    }
    (loss, g)
}

/// Times until an event, in the order of these times (Cox's partial likelihood).
#[differentiate(wrt(beta))]
fn cox(beta: &Array1<f64>, x: &Array2<f64>, event: &[bool]) -> f64 {
    let risk = x.dot(beta);
    let mut at_risk = 0.0;
    let mut loglik = 0.0;
    for i in (0..event.len()).rev() {
        at_risk += risk[i].exp();
        if event[i] {
            loglik += risk[i] - f64::ln(at_risk);
        }
    }
    -loglik
}

fn cox_by_hand(beta: &Array1<f64>, x: &Array2<f64>, event: &[bool]) -> (f64, Array1<f64>) {
    let risk = x.dot(beta);
    let n = event.len();
    let mut e = vec![0.0; n];
    let mut inverse = vec![0.0; n];
    let (mut at_risk, mut loglik) = (0.0, 0.0);
    for i in (0..n).rev() {
        e[i] = risk[i].exp();
        at_risk += e[i];
        if event[i] {
            loglik += risk[i] - at_risk.ln();
            inverse[i] = 1.0 / at_risk;
        }
    }
    let mut sum = 0.0;
    let mut g = Array1::zeros(n);
    for i in 0..n {
        sum += inverse[i];
        g[i] = sum * e[i] - if event[i] { 1.0 } else { 0.0 };
    }
    (-loglik, x.t().dot(&g))
}

/// Documents as bags of words: the mean of the words' vectors decides.
#[differentiate(wrt(vectors, weights))]
fn bags(vectors: &Array2<f64>, weights: &Array1<f64>, starts: &[usize], words: &[usize], liked: &[f64]) -> f64 {
    let mut loss = 0.0;
    for d in 0..liked.len() {
        let mut mean = Array1::<f64>::zeros(vectors.ncols());
        for p in starts[d]..starts[d + 1] {
            mean += &vectors.row(words[p]);
        }
        mean /= (starts[d + 1] - starts[d]) as f64;
        let z = mean.dot(weights);
        loss += (1.0 + z.exp()).ln() - liked[d] * z;
    }
    loss
}

fn bags_by_hand(
    vectors: &Array2<f64>,
    weights: &Array1<f64>,
    starts: &[usize],
    words: &[usize],
    liked: &[f64],
) -> (f64, (Array2<f64>, Array1<f64>)) {
    let n = vectors.ncols();
    let mut dvectors = Array2::<f64>::zeros(vectors.raw_dim());
    let mut dweights = Array1::<f64>::zeros(n);
    let mut mean = Array1::<f64>::zeros(n);
    let mut loss = 0.0;
    for d in 0..liked.len() {
        let part = &words[starts[d]..starts[d + 1]];
        mean.fill(0.0);
        for &w in part {
            mean += &vectors.row(w);
        }
        mean /= part.len() as f64;
        let z = mean.dot(weights);
        let e = z.exp();
        loss += (1.0 + e).ln() - liked[d] * z;
        let g = e / (1.0 + e) - liked[d];
        dweights.scaled_add(g, &mean);
        for &w in part {
            dvectors.row_mut(w).scaled_add(g / part.len() as f64, weights);
        }
    }
    (loss, (dvectors, dweights))
}

/// A rotation vector and a shift that move points onto planes (registration of scans).
#[differentiate(wrt(turn, shift))]
fn onto_planes(turn: [f64; 3], shift: [f64; 3], points: &[[f64; 3]], on: &[[f64; 3]], normals: &[[f64; 3]]) -> f64 {
    let angle = (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]).sqrt();
    let k = [turn[0] / angle, turn[1] / angle, turn[2] / angle];
    let (s, c) = (angle.sin(), angle.cos());
    let mut loss = 0.0;
    for i in 0..points.len() {
        let p = points[i];
        let cross = [k[1] * p[2] - k[2] * p[1], k[2] * p[0] - k[0] * p[2], k[0] * p[1] - k[1] * p[0]];
        let dot = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
        let mut r = 0.0;
        for j in 0..3 {
            let moved = p[j] * c + cross[j] * s + k[j] * dot * (1.0 - c) + shift[j];
            r += normals[i][j] * (moved - on[i][j]);
        }
        // Huber's loss.
        loss += if r.abs() < 0.1 { 0.5 * r * r } else { 0.1 * (r.abs() - 0.05) };
    }
    loss
}

fn onto_planes_by_hand(
    turn: [f64; 3],
    shift: [f64; 3],
    points: &[[f64; 3]],
    on: &[[f64; 3]],
    normals: &[[f64; 3]],
) -> (f64, ([f64; 3], [f64; 3])) {
    let angle = (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]).sqrt();
    let k = turn.map(|t| t / angle);
    let (s, c) = angle.sin_cos();
    let mut loss = 0.0;
    let (mut dk, mut ds, mut dc, mut dshift) = ([0.0; 3], 0.0, 0.0, [0.0; 3]);
    for i in 0..points.len() {
        let (p, n) = (points[i], normals[i]);
        let cross = [k[1] * p[2] - k[2] * p[1], k[2] * p[0] - k[0] * p[2], k[0] * p[1] - k[1] * p[0]];
        let dot = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
        let mut r = 0.0;
        for j in 0..3 {
            r += n[j] * (p[j] * c + cross[j] * s + k[j] * dot * (1.0 - c) + shift[j] - on[i][j]);
        }
        let g = if r.abs() < 0.1 {
            loss += 0.5 * r * r;
            r
        } else {
            loss += 0.1 * (r.abs() - 0.05);
            0.1 * r.signum()
        };
        let nk = n[0] * k[0] + n[1] * k[1] + n[2] * k[2];
        let np = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
        let nc = n[0] * cross[0] + n[1] * cross[1] + n[2] * cross[2];
        ds += g * nc;
        dc += g * (np - nk * dot);
        // n . (k x p) = k . (p x n)
        let pn = [p[1] * n[2] - p[2] * n[1], p[2] * n[0] - p[0] * n[2], p[0] * n[1] - p[1] * n[0]];
        for j in 0..3 {
            dk[j] += g * (s * pn[j] + (1.0 - c) * (n[j] * dot + nk * p[j]));
            dshift[j] += g * n[j];
        }
    }
    let dkk = dk[0] * k[0] + dk[1] * k[1] + dk[2] * k[2];
    let dangle = ds * c - dc * s - dkk / angle;
    let dturn = [0, 1, 2].map(|j| dk[j] / angle + k[j] * dangle);
    (loss, (dturn, dshift))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(41);
    let (centres, width, weights) = (data.points::<2>(50), data.numbers(50), data.numbers(50));
    let (x, y) = (data.points::<2>(1000), data.numbers(1000));
    table.row(
        "radial basis, 1000 x 50",
        || radial_by_hand(&centres, &width, &weights, &x, &y),
        || radial_value_and_grad(&centres, &width, &weights, &x, &y),
        || radial(&centres, &width, &weights, &x, &y),
    );
    let (position, velocity, mass) = (data.points::<3>(20), data.points::<3>(20), data.positive(20));
    let seen = data.points::<3>(20);
    table.row(
        "gravity, 20 bodies, 50 steps",
        || gravity_by_hand(&position, &velocity, &mass, &seen, 1e-3, 50),
        || gravity_value_and_grad(&position, &velocity, &mass, &seen, 1e-3, 50),
        || gravity(&position, &velocity, &mass, &seen, 1e-3, 50),
    );
    let poses = data.points::<3>(500);
    let edges: Vec<[usize; 2]> =
        (0..2000).map(|i| if i < 499 { [i, i + 1] } else { [data.0.usize(..500), data.0.usize(..500)] }).collect();
    let measured = data.points::<3>(2000);
    table.row(
        "pose graph, 500, 2000",
        || pose_graph_by_hand(&poses, &edges, &measured),
        || pose_graph_value_and_grad(&poses, &edges, &measured),
        || pose_graph(&poses, &edges, &measured),
    );
    let (beta, x) = (data.vector(10), data.matrix(2000, 10));
    let event: Vec<bool> = (0..2000).map(|_| data.0.bool()).collect();
    table.row(
        "risks, 2000 x 10",
        || cox_by_hand(&beta, &x, &event),
        || cox_value_and_grad(&beta, &x, &event),
        || cox(&beta, &x, &event),
    );
    let (vectors, weights) = (data.matrix(1000, 32), data.vector(32));
    let mut starts = vec![0];
    for d in 0..300 {
        starts.push(starts[d] + data.0.usize(5..40));
    }
    let words = data.below(starts[300], 1000);
    let liked: Vec<f64> = (0..300).map(|_| if data.0.bool() { 1.0 } else { 0.0 }).collect();
    table.row(
        "bags of words, 300",
        || bags_by_hand(&vectors, &weights, &starts, &words, &liked),
        || bags_value_and_grad(&vectors, &weights, &starts, &words, &liked),
        || bags(&vectors, &weights, &starts, &words, &liked),
    );
    let (points, on, normals) = (data.points::<3>(2000), data.points::<3>(2000), data.points::<3>(2000));
    table.row(
        "points onto planes, 2000",
        || onto_planes_by_hand([0.1, 0.2, -0.3], [0.1, 0.0, 0.2], &points, &on, &normals),
        || onto_planes_value_and_grad([0.1, 0.2, -0.3], [0.1, 0.0, 0.2], &points, &on, &normals),
        || onto_planes([0.1, 0.2, -0.3], [0.1, 0.0, 0.2], &points, &on, &normals),
    );
}

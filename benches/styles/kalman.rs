//! A Kalman filter whose first state is observed: minus twice the log-likelihood of `y`, by the
//! transition matrix `f`. Noise is 0.1 in each state and 0.5 in the observation.

use ad::prelude::*;

#[differentiate(wrt(f))]
pub fn loops(f: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let d = f.nrows();
    let mut m: Array1<f64> = Array1::zeros(d);
    let mut p: Array2<f64> = Array2::eye(d);
    let mut total = 0.0;
    for t in 0..y.len() {
        let mut next: Array1<f64> = Array1::zeros(d);
        let mut fp: Array2<f64> = Array2::zeros((d, d));
        for i in 0..d {
            for k in 0..d {
                next[i] += f[[i, k]] * m[k];
                for j in 0..d {
                    fp[[i, j]] += f[[i, k]] * p[[k, j]];
                }
            }
        }
        let mut q: Array2<f64> = Array2::zeros((d, d));
        for i in 0..d {
            for j in 0..d {
                let mut s = if i == j { 0.1 } else { 0.0 };
                for k in 0..d {
                    s += fp[[i, k]] * f[[j, k]];
                }
                q[[i, j]] = s;
            }
        }
        let (e, v) = (y[t] - next[0], q[[0, 0]] + 0.5);
        for i in 0..d {
            m[i] = next[i] + q[[i, 0]] / v * e;
            for j in 0..d {
                p[[i, j]] = q[[i, j]] - q[[i, 0]] / v * q[[0, j]];
            }
        }
        total += e * e / v + v.ln();
    }
    total
}

#[differentiate(wrt(f))]
pub fn iterators(f: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let d = f.nrows();
    let mut m: Array1<f64> = Array1::zeros(d);
    let mut p: Array2<f64> = Array2::eye(d);
    let mut total = 0.0;
    for &y in y {
        let next: Vec<f64> = f.rows().into_iter().map(|f| f.iter().zip(&m).map(|(a, b)| a * b).sum()).collect();
        let mut q: Array2<f64> = Array2::zeros((d, d));
        for i in 0..d {
            let fp: Vec<f64> =
                p.columns().into_iter().map(|p| p.iter().zip(&f.row(i)).map(|(a, b)| a * b).sum()).collect();
            for j in 0..d {
                let s: f64 = fp.iter().zip(&f.row(j)).map(|(a, b)| a * b).sum();
                q[[i, j]] = if i == j { s + 0.1 } else { s };
            }
        }
        let (e, v) = (y - next[0], q[[0, 0]] + 0.5);
        m = next.iter().zip(&q.column(0)).map(|(m, q)| m + q / v * e).collect();
        for i in 0..d {
            for j in 0..d {
                p[[i, j]] = q[[i, j]] - q[[i, 0]] / v * q[[0, j]];
            }
        }
        total += e * e / v + v.ln();
    }
    total
}

#[differentiate(wrt(f))]
pub fn arrays(f: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let d = f.nrows();
    let mut m: Array1<f64> = Array1::zeros(d);
    let mut p: Array2<f64> = Array2::eye(d);
    let mut total = 0.0;
    for t in 0..y.len() {
        let next = f.dot(&m);
        let q = f.dot(&p).dot(&f.t()) + Array2::<f64>::eye(d) * 0.1;
        let (e, v) = (y[t] - next[0], q[[0, 0]] + 0.5);
        let gain = &q.column(0) / v;
        m = next + &gain * e;
        let seen = gain.insert_axis(Axis(1)).dot(&q.row(0).insert_axis(Axis(0)));
        p = q - seen;
        total += e * e / v + v.ln();
    }
    total
}

#[differentiate(wrt(f))]
pub fn vectors(f: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let d = f.nrows();
    let mut m = vec![0.0; d];
    let mut p = vec![0.0; d * d];
    for i in 0..d {
        p[i * d + i] = 1.0;
    }
    let mut total = 0.0;
    for &y in y {
        let mut next = Vec::new();
        let mut fp = Vec::new();
        for i in 0..d {
            let mut s = 0.0;
            for k in 0..d {
                s += f[[i, k]] * m[k];
            }
            next.push(s);
            for j in 0..d {
                let mut s = 0.0;
                for k in 0..d {
                    s += f[[i, k]] * p[k * d + j];
                }
                fp.push(s);
            }
        }
        let mut q = Vec::new();
        for i in 0..d {
            for j in 0..d {
                let mut s = if i == j { 0.1 } else { 0.0 };
                for k in 0..d {
                    s += fp[i * d + k] * f[[j, k]];
                }
                q.push(s);
            }
        }
        let (e, v) = (y - next[0], q[0] + 0.5);
        for i in 0..d {
            m[i] = next[i] + q[i * d] / v * e;
            for j in 0..d {
                p[i * d + j] = q[i * d + j] - q[i * d] / v * q[j];
            }
        }
        total += e * e / v + v.ln();
    }
    total
}

/// The filter with every mean and covariance kept, and then backwards.
pub fn by_hand(f: &Array2<f64>, y: &Array1<f64>) -> (f64, Array2<f64>) {
    let (d, n) = (f.nrows(), y.len());
    let (mut ms, mut ps) = (vec![0.0; (n + 1) * d], vec![0.0; (n + 1) * d * d]);
    let (mut qs, mut es) = (vec![0.0; n * d * d], vec![0.0; n]);
    for i in 0..d {
        ps[i * d + i] = 1.0;
    }
    let f = f.as_slice().unwrap();
    let (mut fp, mut next) = (vec![0.0; d * d], vec![0.0; d]);
    let mut total = 0.0;
    for t in 0..n {
        let (m, m_next) = ms[t * d..(t + 2) * d].split_at_mut(d);
        let (p, p_next) = ps[t * d * d..(t + 2) * d * d].split_at_mut(d * d);
        let q = &mut qs[t * d * d..][..d * d];
        for i in 0..d {
            let row = &f[i * d..][..d];
            next[i] = row.iter().zip(&*m).map(|(f, m)| f * m).sum();
            let fp = &mut fp[i * d..][..d];
            fp.fill(0.0);
            for (f, p) in row.iter().zip(p.chunks_exact(d)) {
                fp.iter_mut().zip(p).for_each(|(s, p)| *s += f * p);
            }
            for j in 0..d {
                let s: f64 = fp.iter().zip(&f[j * d..]).map(|(a, b)| a * b).sum();
                q[i * d + j] = if i == j { s + 0.1 } else { s };
            }
        }
        let (e, v) = (y[t] - next[0], q[0] + 0.5);
        es[t] = e;
        for i in 0..d {
            let gain = q[i * d] / v;
            m_next[i] = next[i] + gain * e;
            for j in 0..d {
                p_next[i * d + j] = q[i * d + j] - gain * q[j];
            }
        }
        total += e * e / v + v.ln();
    }
    let mut df = vec![0.0; d * d];
    let (mut dm, mut dp, mut dq) = (vec![0.0; d], vec![0.0; d * d], vec![0.0; d * d]);
    let (mut dfp, mut fp) = (vec![0.0; d * d], vec![0.0; d * d]);
    for t in (0..n).rev() {
        let (m, p, q) = (&ms[t * d..][..d], &ps[t * d * d..][..d * d], &qs[t * d * d..][..d * d]);
        let (e, v) = (es[t], q[0] + 0.5);
        let (mut de, mut dv) = (2.0 * e / v, 1.0 / v - e * e / (v * v));
        dq.copy_from_slice(&dp);
        for i in 0..d {
            let gain = q[i * d] / v;
            de += dm[i] * gain;
            let mut d_gain = dm[i] * e;
            for j in 0..d {
                d_gain -= dp[i * d + j] * q[j];
                dq[j] -= dp[i * d + j] * gain;
            }
            dq[i * d] += d_gain / v;
            dv -= d_gain * gain / v;
        }
        dq[0] += dv;
        dm[0] -= de;
        fp.fill(0.0);
        dfp.fill(0.0);
        for i in 0..d {
            for k in 0..d {
                for j in 0..d {
                    fp[i * d + j] += f[i * d + k] * p[k * d + j];
                    dfp[i * d + j] += dq[i * d + k] * f[k * d + j];
                }
            }
        }
        dp.fill(0.0);
        let mut dm_before = vec![0.0; d];
        for i in 0..d {
            for k in 0..d {
                df[i * d + k] += dm[i] * m[k];
                dm_before[k] += dm[i] * f[i * d + k];
                for j in 0..d {
                    df[i * d + k] += dfp[i * d + j] * p[k * d + j] + dq[j * d + i] * fp[j * d + k];
                    dp[k * d + j] += f[i * d + k] * dfp[i * d + j];
                }
            }
        }
        dm = dm_before;
    }
    (total, Array2::from_shape_vec((d, d), df).unwrap())
}

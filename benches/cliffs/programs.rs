//! The programs of the table, as people wrote them without knowing the compiler.

#![allow(
    clippy::assign_op_pattern,
    clippy::needless_range_loop,
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "as they were written"
)]

use ad::prelude::*;

#[differentiate]
pub fn arms3(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    for i in 0..n - 1 {
        match i % 3 {
            0 => a[i] = a[i + 1].sin(),
            1 => a[i + 1] = a[i] * a[i + 1],
            _ => a[i] *= 0.3,
        }
    }
    a.sum()
}

#[differentiate]
pub fn arms2(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    for i in 0..n - 1 {
        if i % 2 == 0 {
            a[i] = a[i + 1].sin();
        } else {
            a[i + 1] = a[i] * a[i + 1];
        }
    }
    a.sum()
}

#[differentiate(wrt(x))]
pub fn machine(x: &Array1<f64>, op: &Array1<usize>) -> f64 {
    let n = op.len();
    let mut a: Array1<f64> = Array1::zeros(n + 2);
    let mut top = 2usize;
    a[0] = 1.0;
    a[1] = 1.5;
    for i in 0..n {
        match op[i] {
            0 => {
                a[top] = x[i];
                top += 1;
            }
            1 => {
                let t = a[top - 1];
                a[top - 1] = a[top - 2];
                a[top - 2] = t;
            }
            _ => {
                if top > 2 {
                    let t = a[top - 1] * a[top - 2];
                    a[top - 2] = t.sin();
                    top -= 1;
                }
            }
        }
    }
    a.sum()
}

#[differentiate]
pub fn cholesky(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l: Array2<f64> = Array2::zeros((n, n));
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[[i, j]];
            for k in 0..j {
                s -= l[[i, k]] * l[[j, k]];
            }
            if i == j {
                l[[i, j]] = s.sqrt();
            } else {
                l[[i, j]] = s / l[[j, j]];
            }
        }
    }
    let mut d = 0.0;
    for i in 0..n {
        d += l[[i, i]].ln();
    }
    d
}

#[differentiate]
pub fn gauss(m: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let n = b.len();
    let mut a = m.clone();
    let mut y = b.clone();
    for k in 0..n {
        for i in k + 1..n {
            let f = a[[i, k]] / a[[k, k]];
            for j in k..n {
                a[[i, j]] -= f * a[[k, j]];
            }
            y[i] -= f * y[k];
        }
    }
    let mut x: Array1<f64> = Array1::zeros(n);
    for r in 0..n {
        let i = n - 1 - r;
        let mut s = y[i];
        for j in i + 1..n {
            s -= a[[i, j]] * x[j];
        }
        x[i] = s / a[[i, i]];
    }
    x.sum()
}

#[differentiate]
pub fn chain(p: &Array1<f64>) -> f64 {
    let n = p.len() - 1;
    let mut c: Array2<f64> = Array2::zeros((n, n));
    for len in 1..n {
        for i in 0..n - len {
            let j = i + len;
            let mut best = f64::INFINITY;
            for k in i..j {
                let v = c[[i, k]] + c[[k + 1, j]] + p[i] * p[k + 1] * p[j + 1];
                if v < best {
                    best = v;
                }
            }
            c[[i, j]] = best;
        }
    }
    c[[0, n - 1]]
}

#[differentiate]
pub fn moving(x: &Array1<f64>) -> f64 {
    let mut lo = 0usize;
    let n = x.len();
    let mut a = x.clone();
    while lo < n {
        for k in lo..(lo + 2).min(n) {
            a[k] = a[k].sin();
        }
        lo += 2;
    }
    a.sum()
}

#[differentiate]
pub fn merge_sort(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    let mut b = x.clone();
    let mut width = 1usize;
    while width < n {
        let mut lo = 0usize;
        while lo < n {
            let mid = (lo + width).min(n);
            let hi = (lo + 2 * width).min(n);
            let mut i = lo;
            let mut j = mid;
            for k in lo..hi {
                if i < mid && (j >= hi || a[i] <= a[j]) {
                    b[k] = a[i];
                    i += 1;
                } else {
                    b[k] = a[j];
                    j += 1;
                }
            }
            lo += 2 * width;
        }
        for k in 0..n {
            a[k] = b[k];
        }
        width *= 2;
    }
    let mut s = 0.0;
    for k in 0..n {
        s += a[k] * (k as f64);
    }
    s
}

#[differentiate]
pub fn fft(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut re = x.clone();
    let mut im: Array1<f64> = Array1::zeros(n);
    let mut len = 2usize;
    while len <= n {
        let ang = -6.283185307179586 / (len as f64);
        let mut i = 0usize;
        while i < n {
            for k in 0..len / 2 {
                let (c, s) = ((ang * k as f64).cos(), (ang * k as f64).sin());
                let (p, q) = (i + k, i + k + len / 2);
                let tr = re[q] * c - im[q] * s;
                let ti = re[q] * s + im[q] * c;
                re[q] = re[p] - tr;
                im[q] = im[p] - ti;
                re[p] += tr;
                im[p] += ti;
            }
            i += len;
        }
        len *= 2;
    }
    let mut e = 0.0;
    for i in 0..n {
        e += re[i] * re[i] * (i as f64) + im[i];
    }
    e
}

#[differentiate(wrt(w))]
pub fn csr_iter(w: &Array1<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
    let mut t = 0.0;
    for i in 0..indptr.len() - 1 {
        let mut s = 0.0;
        for &j in &indices[indptr[i]..indptr[i + 1]] {
            s += w[j];
        }
        t += s.sin();
    }
    t
}

#[differentiate(wrt(w, data))]
pub fn csr_zip(w: &Array1<f64>, data: &[f64], indptr: &[usize], indices: &[usize]) -> f64 {
    let mut t = 0.0;
    for i in 0..indptr.len() - 1 {
        let mut s = 0.0;
        for (&j, &v) in indices[indptr[i]..indptr[i + 1]].iter().zip(&data[indptr[i]..indptr[i + 1]]) {
            s += v * w[j];
        }
        t += s.sin();
    }
    t
}

#[differentiate(wrt(w))]
pub fn csr_for(w: &Array1<f64>, indptr: &[usize], indices: &[usize]) -> f64 {
    let mut t = 0.0;
    for i in 0..indptr.len() - 1 {
        let mut s = 0.0;
        for p in indptr[i]..indptr[i + 1] {
            s += w[indices[p]];
        }
        t += s.sin();
    }
    t
}

#[differentiate]
pub fn arma(x: &Array1<f64>, th: &[f64; 4]) -> f64 {
    let mut eps = vec![0.0; 4];
    let mut s = 0.0;
    for t in 0..x.len() {
        let mut m = 0.0;
        for k in 0..4 {
            m += th[k] * eps[3 - k];
        }
        let e = x[t] - m;
        eps.remove(0);
        eps.push(e);
        s += e * e;
    }
    s
}

#[differentiate]
pub fn jacobi(m: &Array2<f64>) -> f64 {
    let n = m.nrows();
    let mut a = m.clone();
    for p in 0..n - 1 {
        let q = p + 1;
        let t = a[[p, q]] / (a[[p, p]] + 3.0);
        let c = 1.0 / (1.0 + t * t).sqrt();
        let s = t * c;
        for k in 0..n {
            let u = a[[p, k]];
            let v = a[[q, k]];
            a[[p, k]] = c * u - s * v;
            a[[q, k]] = s * u + c * v;
        }
    }
    a.sum()
}

#[differentiate]
pub fn breaks(x: &Array1<f64>, lim: f64) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..n * n {
        s += x[i % n].sin();
        if s > lim {
            break;
        }
    }
    s
}

#[differentiate]
pub fn heads_mid(q: &Array3<f64>, k: &Array3<f64>) -> f64 {
    let mut t = 0.0;
    for h in 0..q.len_of(Axis(1)) {
        let s = q.index_axis(Axis(1), h).dot(&k.index_axis(Axis(1), h).t());
        t += s.mapv(|v| v * v).sum();
    }
    t
}

#[differentiate]
pub fn heads_first(q: &Array3<f64>, k: &Array3<f64>) -> f64 {
    let mut t = 0.0;
    for h in 0..q.len_of(Axis(0)) {
        let s = q.index_axis(Axis(0), h).dot(&k.index_axis(Axis(0), h).t());
        t += s.mapv(|v| v * v).sum();
    }
    t
}

#[differentiate]
pub fn stack(m: &Array1<f64>) -> f64 {
    // an explicit stack in a `while`: a tree of products
    let n = m.len();
    let mut at = vec![0usize; 64];
    let mut acc = vec![0.0; 64];
    let mut top = 1usize;
    acc[0] = 1.0;
    let mut total = 0.0;
    while top > 0 {
        top -= 1;
        let node = at[top];
        let v = acc[top];
        if node >= n {
            total += v;
        } else {
            at[top] = 2 * node + 1;
            acc[top] = v * m[node];
            at[top + 1] = 2 * node + 2;
            acc[top + 1] = v + m[node];
            top += 2;
        }
    }
    total
}

#[differentiate]
pub fn movsum(y: &Array1<f64>) -> f64 {
    let k = 16;
    let mut t = 0.0;
    for i in 0..y.len() - k {
        let s = y.slice(s![i..i + k]).sum();
        t += s * s;
    }
    t
}

#[differentiate]
pub fn householder(m: &Array2<f64>) -> f64 {
    let (r, c) = m.dim();
    let mut a = m.clone();
    for k in 0..c {
        let mut nrm = 0.0;
        for i in k..r {
            nrm += a[[i, k]] * a[[i, k]];
        }
        let alpha = if a[[k, k]] > 0.0 { -nrm.sqrt() } else { nrm.sqrt() };
        let mut v: Array1<f64> = Array1::zeros(r);
        for i in k..r {
            v[i] = a[[i, k]];
        }
        v[k] -= alpha;
        let mut vv = 0.0;
        for i in k..r {
            vv += v[i] * v[i];
        }
        for j in k..c {
            let mut d = 0.0;
            for i in k..r {
                d += v[i] * a[[i, j]];
            }
            let f = 2.0 * d / vv;
            for i in k..r {
                a[[i, j]] -= f * v[i];
            }
        }
    }
    let mut s = 0.0;
    for k in 0..c {
        s += a[[k, k]].abs().ln();
    }
    s
}

#[differentiate]
pub fn stencil(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    for _ in 0..1000 {
        let mut b = a.clone();
        for i in 1..n - 1 {
            b[i] = a[i] + 0.1 * (a[i + 1] - 2.0 * a[i] + a[i - 1]);
        }
        a = b;
    }
    a.mapv(|v| v * v).sum()
}

/// A determinant by minors, without recursion: an explicit stack of the columns that are taken.
#[differentiate]
pub fn minors(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut masks: Array1<usize> = Array1::zeros(n * n + 1);
    let mut factors: Array1<f64> = Array1::zeros(n * n + 1);
    factors[0] = 1.0;
    let mut top = 1;
    let mut d = 0.0;
    while top > 0 {
        top -= 1;
        let mask = masks[top];
        let f = factors[top];
        let mut r = 0;
        for c in 0..n {
            if mask & (1 << c) != 0 {
                r += 1;
            }
        }
        if r == n {
            d += f;
        } else {
            let mut sign = 1.0;
            for c in 0..n {
                if mask & (1 << c) == 0 {
                    masks[top] = mask | (1 << c);
                    factors[top] = f * sign * a[[r, c]];
                    top += 1;
                    sign = -sign;
                }
            }
        }
    }
    d
}

/// More labels than rows: only the steps that have a row do anything.
#[differentiate(wrt(w))]
pub fn left_out(x: &Array2<f64>, w: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let mut s = 0.0;
    for i in 0..y.len() {
        if i < x.nrows() {
            s += (x.row(i).dot(w) - y[i]).powi(2);
        }
    }
    s
}

/// 26 parameters and 60 results, as the angles of a hand and the places that they move to.
#[differentiate(jacobian, jvp)]
pub fn hand(x: &Array1<f64>) -> Array1<f64> {
    let mut y: Array1<f64> = Array1::zeros(60);
    for finger in 0..5 {
        let (mut a, mut u, mut v) = (x[0], x[1], x[2]);
        for joint in 0..4 {
            a += x[3 + finger * 4 + joint];
            u += a.cos() * x[23];
            v += a.sin() * x[24];
            let at = (finger * 4 + joint) * 3;
            y[at] = u;
            y[at + 1] = v;
            y[at + 2] = x[25] * u * v;
        }
    }
    y
}

//! Loop programs as people write them, of a slice whose length is the size.

use proc_macro2::TokenStream;
use quote::quote;

pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) item: TokenStream,
    /// Lengths of the slice, ascending.
    pub(crate) sizes: &'static [usize],
    /// Whether all its work is bounded as its operations on numbers are, without a constant for
    /// each argument.
    pub(crate) tight: bool,
}

const PLAIN: &[usize] = &[125, 250, 500, 1000];
/// Sizes of matrices whose sides double, for programs with a cubic number of steps.
const MATRIX: &[usize] = &[16, 64, 256, 1024];

/// The same without 4 x 4, whose work is mostly the overhead of loops.
const LARGER: &[usize] = &[64, 256, 1024, 4096];

/// The programs of a file, as its function `all`.
macro_rules! programs {
    (tight: $tight:literal; $($name:ident $sizes:ident $x:ident $body:block)*) => {
        /// All programs.
        pub(crate) fn all() -> Vec<Program> {
            vec![$(Program {
                name: stringify!($name),
                item: quote!(pub fn $name($x: &[f64]) -> f64 $body),
                sizes: $sizes,
                tight: $tight,
            }),*]
        }
    };
}
pub(crate) use programs;

programs! {
    tight: true;
    heat PLAIN x {
        let n = x.len();
        let mut u = x.to_vec();
        for _ in 0..5 {
            for i in 1..n - 1 {
                u[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += u[i] * u[i]; }
        s
    }
    prefix PLAIN x {
        let mut y = x.to_vec();
        for i in 1..y.len() { y[i] += y[i - 1] * 0.5; }
        let mut s = 0.0;
        for i in 0..y.len() { s += y[i] * y[i]; }
        s
    }
    log_sum_exp PLAIN x {
        let mut most = x[0];
        for i in 1..x.len() {
            if x[i] > most { most = x[i]; }
        }
        let mut s = 0.0;
        for &v in x { s += (v - most).exp(); }
        most + s.ln()
    }
    newton PLAIN x {
        let mut s = 0.0;
        for &v in x {
            let a = 1.0 + v * v;
            let mut y = a;
            while (y * y - a).abs() > 1e-9 { y = 0.5 * (y + a / y); }
            s += y;
        }
        s
    }
    thomas PLAIN x {
        let n = x.len();
        let mut c = vec![0.0; n];
        let mut d = vec![0.0; n];
        c[0] = -1.0 / (2.0 + x[0] * x[0]);
        d[0] = x[0] / (2.0 + x[0] * x[0]);
        for i in 1..n {
            let m = 1.0 / (2.0 + x[i] * x[i] + c[i - 1]);
            c[i] = -m;
            d[i] = (x[i] + d[i - 1]) * m;
        }
        let mut y = d.to_vec();
        for k in 1..n {
            let i = n - 1 - k;
            y[i] = d[i] - c[i] * y[i + 1];
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * y[i]; }
        s
    }
    gauss_seidel PLAIN x {
        let n = x.len();
        let mut y = vec![0.0; n];
        for _ in 0..4 {
            for i in 1..n - 1 { y[i] = (x[i] + y[i - 1] + y[i + 1]) / (2.0 + x[i] * y[i - 1]); }
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * y[i]; }
        s
    }
    histogram PLAIN x {
        let mut h = vec![0.0; x.len()];
        for i in 0..x.len() {
            let k = (x[i] * 4.0) as usize;
            if k < h.len() { h[k] += x[i] * x[i]; }
        }
        let mut s = 0.0;
        for i in 0..h.len() { s += h[i] * h[i]; }
        s
    }
    runge_kutta PLAIN x {
        let (mut u, mut v) = (1.0, 0.5);
        let h = 0.01;
        for i in 0..x.len() {
            let a = x[i];
            let (k1, l1) = (a * u - u * v, u * v - v);
            let (u2, v2) = (u + 0.5 * h * k1, v + 0.5 * h * l1);
            let (k2, l2) = (a * u2 - u2 * v2, u2 * v2 - v2);
            u += h * k2;
            v += h * l2;
        }
        u * v
    }
    recurrent_net PLAIN x {
        let mut h = [0.1, 0.2, 0.3, 0.4];
        for t in 0..x.len() {
            let mut next = [0.0; 4];
            for i in 0..4 {
                let mut s = x[t] * (i as f64 + 1.0);
                for j in 0..4 { s += h[j] * 0.25 * (i as f64 - j as f64); }
                next[i] = s.tanh();
            }
            h = next;
        }
        h[0] * h[1] + h[2] * h[3]
    }
    kalman PLAIN x {
        let (mut m, mut p, mut l) = (0.0, 1.0, 0.0);
        for t in 0..x.len() {
            let q = p + 0.1;
            let k = q / (q + 0.5);
            let e = x[t] - m;
            m += k * e;
            p = (1.0 - k) * q;
            l += e * e / (q + 0.5) + (q + 0.5).ln();
        }
        l
    }
    cholesky MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i + 1 {
                let mut s = 0.1 * (x[i * n + j] + x[j * n + i]);
                if i == j { s += n as f64; }
                for k in 0..j { s -= l[i * n + k] * l[j * n + k]; }
                if i == j { l[i * n + i] = s.sqrt(); } else { l[i * n + j] = s / l[j * n + j]; }
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += l[i * n + i].ln(); }
        s
    }
    bubble_sort MATRIX x {
        let mut y = x.to_vec();
        let n = y.len();
        for i in 0..n {
            for j in 0..n - 1 - i {
                if y[j] > y[j + 1] { y.swap(j, j + 1); }
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * (i as f64); }
        s
    }
    floyd_warshall MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut d = x.to_vec();
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    let through = d[i * n + k] + d[k * n + j];
                    if through < d[i * n + j] { d[i * n + j] = through; }
                }
            }
        }
        let mut s = 0.0;
        for i in 0..m { s += d[i] * d[i]; }
        s
    }
    triangular_solve MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut y = vec![0.0; n];
        for i in 0..n {
            let mut s = x[i];
            for j in 0..i { s -= x[i * n + j] * y[j]; }
            y[i] = s / (2.0 + x[i * n + i]);
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * y[i]; }
        s
    }
    soft_edit_distance MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let w = n + 1;
        let mut d = vec![0.0; w * w];
        for i in 1..w { d[i * w] = i as f64; d[i] = i as f64; }
        for i in 1..w {
            for j in 1..w {
                let change = d[(i - 1) * w + j - 1] + x[(i - 1) * n + j - 1];
                let left = d[i * w + j - 1] + 1.0;
                let up = d[(i - 1) * w + j] + 1.0;
                d[i * w + j] = -((-change).exp() + (-left).exp() + (-up).exp()).ln();
            }
        }
        d[w * w - 1]
    }
    matrix_power MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut p = x.to_vec();
        for _ in 0..3 {
            let mut q = vec![0.0; m];
            for i in 0..n {
                for j in 0..n {
                    let mut s = 0.0;
                    for k in 0..n { s += p[i * n + k] * x[k * n + j]; }
                    q[i * n + j] = s / n as f64;
                }
            }
            p = q;
        }
        let mut s = 0.0;
        for i in 0..n { s += p[i * n + i]; }
        s
    }
    prefix_best PLAIN x {
        let mut best = vec![0.0; x.len()];
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum = if sum > 0.0 { sum + x[i] - 0.57 } else { x[i] - 0.57 };
            best[i] = if i > 0 && best[i - 1] > sum { best[i - 1] } else { sum };
        }
        let mut s = 0.0;
        for i in 0..best.len() { s += best[i] * best[i]; }
        s
    }
    insertion_sort MATRIX x {
        let mut y = x.to_vec();
        for i in 1..y.len() {
            let mut j = i;
            while j > 0 && y[j - 1] > y[j] {
                y.swap(j - 1, j);
                j -= 1;
            }
        }
        let mut s = 0.0;
        for i in 0..y.len() { s += y[i] * y[i] * (i as f64); }
        s
    }
    back_to_a_peak MATRIX x {
        let mut s: f64 = 0.1;
        for i in 0..x.len() {
            for j in (0..i).rev() {
                if x[j] > 0.89 { break; }
                s = s * 0.9 + x[j] * x[i] * s.sin();
            }
        }
        s
    }
    elimination MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut a = x.to_vec();
        for i in 0..n { a[i * n + i] += n as f64; }
        for k in 0..n {
            for i in k + 1..n {
                a[i * n + k] /= a[k * n + k];
                for j in k + 1..n { a[i * n + j] -= a[i * n + k] * a[k * n + j]; }
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += a[i * n + i].ln(); }
        s
    }
    gauss_jordan MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut a = x.to_vec();
        for i in 0..n { a[i * n + i] += n as f64; }
        for k in 0..n {
            let p = 1.0 / a[k * n + k];
            a[k * n + k] = 1.0;
            for j in 0..n { a[k * n + j] *= p; }
            for i in 0..n {
                if i != k {
                    let f = a[i * n + k];
                    a[i * n + k] = 0.0;
                    for j in 0..n { a[i * n + j] -= f * a[k * n + j]; }
                }
            }
        }
        let mut s = 0.0;
        for i in 0..m { s += a[i] * a[i]; }
        s
    }
    relaxation MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut d = x.to_vec();
        for k in 0..n {
            d[k * n + k] *= 0.5;
            for i in 0..n {
                let to = d[i * n + k];
                if to < 0.7 {
                    d[i * n + k] = to + 0.01;
                    for j in 0..n {
                        let through = to + d[k * n + j];
                        if through < d[i * n + j] { d[i * n + j] = 0.5 * (through + d[i * n + j]); }
                    }
                }
            }
        }
        let mut s = 0.0;
        for i in 0..m { s += d[i] * d[i]; }
        s
    }
    right_sides MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut b = x.to_vec();
        for c in 0..n {
            for i in 0..n {
                b[i * n + c] /= 2.0 + x[i * n + i];
                for r in i + 1..n { b[r * n + c] -= x[r * n + i] * b[i * n + c] * 0.2; }
            }
        }
        let mut s = 0.0;
        for i in 0..m { s += b[i] * b[i]; }
        s
    }
    ldlt MATRIX x {
        let m = x.len();
        let mut n = 0;
        for k in 1..m + 1 { if k * k <= m { n = k; } }
        let mut a = x.to_vec();
        for i in 0..n { a[i * n + i] += n as f64; }
        let mut d = vec![0.0; n];
        for j in 0..n {
            d[j] = a[j * n + j];
            for i in j + 1..n { a[i * n + j] /= d[j]; }
            for i in j + 1..n {
                for k in j + 1..i + 1 { a[i * n + k] -= a[i * n + j] * d[j] * a[k * n + j]; }
            }
        }
        let mut y = d.to_vec();
        for i in 0..n {
            for j in 0..i { y[i] -= a[i * n + j] * y[j] * 0.1; }
            y[i] /= d[i];
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * y[i] + d[i].ln(); }
        s
    }
    conditional_writes PLAIN x {
        let mut y = x.to_vec();
        for i in 1..x.len() {
            if x[i] > 0.7 { y[i] = x[i] * y[i - 1]; }
            y[i] += x[i] * y[i];
        }
        let mut s = 0.0;
        for i in 0..y.len() { s += y[i] * y[i]; }
        s
    }
    scattered_reads PLAIN x {
        let n = x.len();
        let mut y = x.to_vec();
        let mut s = 0.0;
        for i in 0..n {
            let k = (x[i] * 3.7) as usize;
            if x[i] > 0.7 && k < n { y[i] = x[i] * y[k]; s += y[k] * y[k]; }
            y[i] = y[i] * x[i] + s * 0.01;
        }
        for i in 0..n { s += y[i] * y[i]; }
        s
    }
    until_and_then PLAIN x {
        let mut y: f64 = 1.0;
        let mut k = 0;
        while k < x.len() {
            y = 0.4 * y.sin() + x[k];
            k += 1;
        }
        let mut s = 1.0;
        for &v in x { s = 0.5 * s * y + v; }
        s
    }
    steps_that_adapt PLAIN x {
        let mut t = 0.0;
        let mut y = 1.0;
        let mut ts = vec![t];
        let mut ys = vec![y];
        let end = x.len() as f64;
        while t < end {
            let k = -x[0] * y;
            let h = if k.abs() < 0.3 { 0.8 } else { 0.5 };
            y += h * k * 0.01;
            t += h;
            ts.push(t);
            ys.push(y);
        }
        let mut s = 0.0;
        for i in 1..ys.len() { s += (ts[i] - ts[i - 1]) * (ys[i] * ys[i] + ys[i - 1]); }
        s
    }
    pairs MATRIX x {
        let mut e = 0.0;
        'outer: for i in 0..x.len() {
            for j in 0..i {
                let d = x[i] - x[j];
                if d.abs() < 1e-9 { continue 'outer; }
                if d > 4.0 { break 'outer; }
                e += 1.0 / (1.0 + d * d);
            }
        }
        e
    }
    three_arms PLAIN x {
        let mut a = x.to_vec();
        for i in 0..a.len() - 1 {
            match i % 3 {
                0 => { a[i] = a[i + 1].sin(); }
                1 => { a[i + 1] = a[i] * a[i + 1]; }
                _ => { a[i] *= 0.3; }
            }
        }
        let mut s = 0.0;
        for i in 0..a.len() { s += a[i] * a[i]; }
        s
    }
    cholesky_by_elements LARGER x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut l: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                let mut s = if i == j { 4.0 * n as f64 + x[i] } else { x[i * n + j] };
                for k in 0..j { s -= l[[i, k]] * l[[j, k]]; }
                if i == j { l[[i, j]] = s.sqrt(); } else { l[[i, j]] = s / l[[j, j]]; }
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += l[[i, i]].ln(); }
        s
    }
    ragged PLAIN x {
        let mut t = 0.0;
        for i in 0..x.len() {
            let mut s = 0.0;
            for &v in &x[i - i % 7..i + 1] { s += v * v; }
            t += s.sin();
        }
        t
    }
    intervals LARGER x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut c: Array2<f64> = Array2::zeros((n, n));
        for len in 1..n {
            for i in 0..n - len {
                let j = i + len;
                let mut best = f64::INFINITY;
                for k in i..j {
                    let v = c[[i, k]] + c[[k + 1, j]] + x[i] * x[k + 1] * x[j + 1];
                    if v < best { best = v; }
                }
                c[[i, j]] = best;
            }
        }
        c[[0, n - 1]]
    }
    pairs_of_steps PLAIN x {
        let (mut a, mut lo) = (x.to_vec(), 0);
        while lo < a.len() {
            for k in lo..(lo + 2).min(a.len()) { a[k] = a[k].sin(); }
            lo += 2;
        }
        let mut s = 0.0;
        for i in 0..a.len() { s += a[i]; }
        s
    }
    butterflies MATRIX x {
        let n = x.len() / 4 * 4;
        let (mut re, mut im, mut len) = (x.to_vec(), x.to_vec(), 2);
        while len <= n {
            let mut i = 0;
            while i + len <= n {
                for k in 0..len / 2 {
                    let (c, s) = ((k as f64 / len as f64).cos(), (k as f64 / len as f64).sin());
                    let (p, q) = (i + k, i + k + len / 2);
                    let tr = re[q] * c - im[q] * s;
                    let ti = re[q] * s + im[q] * c;
                    re[q] = re[p] - tr;
                    im[q] = im[p] - ti;
                    re[p] += tr; im[p] += ti;
                }
                i += len;
            }
            len *= 2;
        }
        let mut e = 0.0;
        for i in 0..n { e += re[i] * re[i] * 0.1 + im[i]; }
        e
    }
    segments PLAIN x {
        let mut a = x.to_vec();
        let (mut from, mut more, mut s) = (0, 1, 0.0);
        while from < a.len() {
            let to = (from + more).min(a.len());
            let mut m = 0.0;
            for k in from..to { m = (m + a[k]).tanh(); a[k] = m * a[k]; }
            s += m * m;
            from = to;
            more = more % 7 + 1;
        }
        for k in 0..a.len() { s += a[k]; }
        s
    }
}

//! Loops over windows whose ends are clamped, bands and blocks: ranges whose length the index of
//! the loop around them does not change, or changes little.

use quote::quote;

use super::programs::{Program, programs};

const LINEAR: &[usize] = &[64, 128, 256, 512];
const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    next_neighbours LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            for j in i + 1..(i + 3).min(n) { t += (x[i] * x[j]).sin(); }
        }
        t
    }
    triples_of_neighbours LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for c in 0..n {
            for i in c + 1..(c + 3).min(n) {
                for j in c..i { t += x[i] * x[j]; }
            }
        }
        t
    }
    band_of_cholesky LINEAR x {
        let n = x.len();
        let k = 2;
        let mut l = vec![0.0; n * 3];
        for i in 0..n {
            for j in i.saturating_sub(k)..=i {
                let mut s = if i == j { 4.0 + x[i] } else { x[j] };
                for m in i.saturating_sub(k)..j {
                    if j - m <= k { s -= l[i * 3 + i - m] * l[j * 3 + j - m]; }
                }
                l[i * 3 + i - j] = if i == j { s.sqrt() } else { s / l[j * 3] };
            }
        }
        (0..n).map(|i| l[i * 3].ln()).sum()
    }
    starts_by_a_condition LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            let lo = if i >= 2 { i - 2 } else { 0 };
            for j in lo..i { t += (x[i] * x[j]).exp(); }
        }
        t
    }
    local_attention LINEAR x {
        let n = x.len();
        let mut out = vec![0.0; n];
        for i in 0..n {
            let lo = i.saturating_sub(3);
            let mut z = 0.0;
            let mut s = 0.0;
            for j in lo..=i { let e = (x[i] * x[j]).exp(); z += e; s += e * x[j]; }
            out[i] = s / z;
        }
        out.iter().map(|v| v * v).sum()
    }
    pairs_in_a_band LINEAR x {
        let n = x.len();
        let mut f = vec![0.0; n];
        for i in 0..n {
            for j in i + 1..n.min(i + 4) {
                let d = x[i] - x[j];
                let w = (-d * d).exp();
                f[i] += w * d;
                f[j] -= w * d;
            }
        }
        f.iter().map(|v| v * v).sum()
    }
    blocks LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for start in (0..n).step_by(8) {
            for i in start..(start + 8).min(n) { t += (x[i] * x[start]).sin(); }
        }
        t
    }
    remainders LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for c in 0..n {
            let mut s: f64 = 0.3;
            for i in 0..c % 3 { s = (s * x[i]).sin(); }
            t += s;
        }
        t
    }
    between_places LINEAR x {
        let n = x.len();
        let lo: Vec<usize> = (0..n).map(|i| (i * 5) % n).collect();
        let mut t = 0.0;
        for c in 0..n {
            for i in lo[c]..n.min(lo[c] + 3) { t += (x[i] * x[c]).sin(); }
        }
        t
    }
    bilateral SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut t = 0.0;
        for r in 0..n {
            for c in 0..n {
                let mut s = 0.0;
                let mut z = 0.0;
                let v = x[r * n + c];
                for rr in r.saturating_sub(1)..(r + 2).min(n) {
                    for cc in c.saturating_sub(1)..(c + 2).min(n) {
                        let w = (-(x[rr * n + cc] - v).powi(2)).exp();
                        s += w * x[rr * n + cc];
                        z += w;
                    }
                }
                t += (s / z).powi(2);
            }
        }
        t
    }
    segments_of_at_most_four LINEAR x {
        let n = x.len();
        let mut best = vec![0.0; n + 1];
        for end in 1..=n {
            let mut m = f64::NEG_INFINITY;
            for start in end.saturating_sub(4)..end {
                let mut s = 0.0;
                for i in start..end { s += x[i] * x[start]; }
                m = m.max(best[start] + s.sin());
            }
            best[end] = m;
        }
        best[n]
    }
    pushed_neighbours LINEAR x {
        let n = x.len();
        let mut row = vec![0usize];
        let mut col = Vec::new();
        for i in 0..n {
            for k in 0..i % 4 { col.push((i * 3 + k * 5) % n); }
            row.push(col.len());
        }
        let mut t = 0.0;
        for i in 0..n {
            let mut s = 0.0;
            for p in row[i]..row[i + 1] { s += x[col[p]]; }
            t += s * s;
        }
        t
    }
    variances LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            let w = &x[i.saturating_sub(4)..=i];
            let m = w.iter().sum::<f64>() / w.len() as f64;
            let v = w.iter().map(|a| (a - m).powi(2)).sum::<f64>() / w.len() as f64;
            t += (v + 0.1).sqrt() * m;
        }
        t
    }
    least_of_parts LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            let w = &x[i.saturating_sub(2)..=i];
            t += w.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap() * x[i];
        }
        t
    }
    sums_of_parts LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for end in 2..n {
            for start in end - 2..end {
                let s: f64 = x[start..end].iter().sum();
                t += s * s;
            }
        }
        t
    }
}

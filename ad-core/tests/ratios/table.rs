//! Programs that people wrote without knowing the compiler, whose gradients were once far from the
//! law. Each is counted at four sizes that double. The law of `ratios.rs` holds for all, without
//! exceptions.

use quote::quote;

use super::programs::{Program, programs};

/// Sizes for loops over all elements.
const LINEAR: &[usize] = &[64, 128, 256, 512];
/// Numbers of elements of matrices whose sides double.
const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    sparse_rows_by_index LINEAR x {
        let n = x.len();
        let mut indptr = vec![0_usize; n + 1];
        let mut indices = vec![0_usize; n * 4];
        for i in 0..n {
            indptr[i + 1] = indptr[i] + i % 5;
            for p in indptr[i]..indptr[i + 1] { indices[p] = (i * 7 + p * 3) % n; }
        }
        let mut total = 0.0;
        for i in 0..n {
            let mut s = 0.0;
            for &j in &indices[indptr[i]..indptr[i + 1]] { s += x[j] * x[j]; }
            total += s.sin();
        }
        total
    }
    sparse_rows_by_zip LINEAR x {
        let n = x.len();
        let mut indptr = vec![0_usize; n + 1];
        let mut indices = vec![0_usize; n * 4];
        for i in 0..n {
            indptr[i + 1] = indptr[i] + i % 5;
            for p in indptr[i]..indptr[i + 1] { indices[p] = (i * 7 + p * 3) % n; }
        }
        let data = vec![0.5; n * 4];
        let mut total = 0.0;
        for i in 0..n {
            let (a, b) = (indptr[i], indptr[i + 1]);
            let mut s = 0.0;
            for (&j, &d) in indices[a..b].iter().zip(&data[a..b]) { s += d * x[j]; }
            total += s.sin();
        }
        total
    }
    sparse_rows_of_arrays LINEAR x {
        let n = x.len();
        let mut indptr = vec![0_usize; n + 1];
        let mut indices = vec![0_usize; n * 4];
        for i in 0..n {
            indptr[i + 1] = indptr[i] + i % 5;
            for p in indptr[i]..indptr[i + 1] { indices[p] = (i * 7 + p * 3) % n; }
        }
        let mut total = 0.0;
        for i in 0..n {
            let mut f = [0.0; 3];
            for p in indptr[i]..indptr[i + 1] {
                for c in 0..3 { f[c] += x[indices[p]] * (x[i] + c as f64); }
            }
            total += f[0] * f[1] + f[2].sin();
        }
        total
    }
    cholesky_by_columns SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut l: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n { l[[i, j]] = 0.1 * (x[i * n + j] + x[j * n + i]); }
            l[[i, i]] += n as f64;
        }
        for j in 0..n {
            for k in 0..j {
                for i in j..n { l[[i, j]] -= l[[i, k]] * l[[j, k]]; }
            }
            let d = l[[j, j]].sqrt();
            for i in j..n { l[[i, j]] /= d; }
        }
        let mut s = 0.0;
        for i in 0..n { s += l[[i, i]].ln(); }
        s
    }
    gaussian_process SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let (t, y) = (&x[..n], &x[n..2 * n]);
        let mut l: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                let d = t[i] - t[j];
                let mut s = (-0.5 * d * d).exp();
                if i == j { s += 1.5; }
                for k in 0..j { s -= l[[i, k]] * l[[j, k]]; }
                l[[i, j]] = if i == j { s.sqrt() } else { s / l[[j, j]] };
            }
        }
        let mut z = vec![0.0; n];
        let mut s = 0.0;
        for i in 0..n {
            let mut r = y[i];
            for k in 0..i { r -= l[[i, k]] * z[k]; }
            z[i] = r / l[[i, i]];
            s += 0.5 * z[i] * z[i] + l[[i, i]].ln();
        }
        s
    }
    portfolio SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut l: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..=i {
                let mut s = 0.1 * x[i * n + j] * x[j * n + i];
                if i == j { s += n as f64; }
                for k in 0..j { s -= l[[i, k]] * l[[j, k]]; }
                l[[i, j]] = if i == j { s.sqrt() } else { s / l[[j, j]] };
            }
        }
        let mut w = vec![1.0; n];
        for i in 0..n {
            for k in 0..i { let v = l[[i, k]] * w[k]; w[i] -= v; }
            w[i] /= l[[i, i]];
        }
        for i in (0..n).rev() {
            for k in i + 1..n { let v = l[[k, i]] * w[k]; w[i] -= v; }
            w[i] /= l[[i, i]];
        }
        let total: f64 = w.iter().sum();
        w.iter().map(|v| v * v).sum::<f64>() / (total * total)
    }
    heap_sort LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        for start in (0..n / 2).rev() {
            let mut root = start;
            while 2 * root + 1 < n {
                let mut child = 2 * root + 1;
                if child + 1 < n && a[child] < a[child + 1] { child += 1; }
                if a[root] >= a[child] { break; }
                a.swap(root, child);
                root = child;
            }
        }
        for end in (1..n).rev() {
            a.swap(0, end);
            let mut root = 0;
            while 2 * root + 1 < end {
                let mut child = 2 * root + 1;
                if child + 1 < end && a[child] < a[child + 1] { child += 1; }
                if a[root] >= a[child] { break; }
                a.swap(root, child);
                root = child;
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += a[i] * i as f64; }
        s
    }
    stencil_of_many_steps LINEAR x {
        let mut u = x[..32].to_vec();
        for _ in 0..x.len() * 4 {
            let mut next = u.clone();
            for i in 1..31 { next[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i]; }
            u = next;
        }
        let mut s = 0.0;
        for i in 0..32 { s += u[i] * u[i]; }
        s
    }
    many_arms LINEAR x {
        let n = x.len();
        let mut s = 0.0;
        for i in 0..n {
            s += match i % 12 {
                0 => x[i].sin(),
                1 => x[i] * x[i],
                2 => x[i].cos(),
                3 => x[i].exp(),
                4 => x[i] * 0.5,
                5 => 1.0 / (2.0 + x[i]),
                6 => x[i].tanh(),
                7 => x[i] * x[i] * x[i],
                8 => x[i] - x[i] * x[i],
                9 => x[i].sin() * x[i],
                10 => x[i].cos() * x[i],
                _ => -x[i],
            };
        }
        s
    }
}

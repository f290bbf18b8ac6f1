//! Functions that call themselves and return arrays, of a slice whose length is a power of two.

use quote::quote;

use super::programs::{Program, programs};

const POWERS: &[usize] = &[16, 64, 256, 1024];

programs! {
    tight: false;
    halves_of_sums POWERS x {
        fn sums(x: &[f64]) -> Vec<f64> {
            let n = x.len();
            if n < 2 {
                return x.to_vec();
            }
            let (a, b) = (sums(&x[..n / 2]), sums(&x[n / 2..]));
            let last = a[a.len() - 1];
            let mut out = vec![0.0; n];
            for k in 0..n {
                out[k] = if k < n / 2 { a[k] } else { last + b[k - n / 2] * 0.5 };
            }
            out
        }
        sums(x).iter().map(|s| s * s).sum()
    }
    fourier POWERS x {
        fn fft(re: &[f64], im: &[f64]) -> (Vec<f64>, Vec<f64>) {
            let n = re.len();
            if n == 1 {
                return (re.to_vec(), im.to_vec());
            }
            let half = n / 2;
            let even = |x: &[f64]| (0..half).map(|k| x[2 * k]).collect::<Vec<f64>>();
            let odd = |x: &[f64]| (0..half).map(|k| x[2 * k + 1]).collect::<Vec<f64>>();
            let (er, ei) = fft(&even(re), &even(im));
            let (or, oi) = fft(&odd(re), &odd(im));
            let mut out_re = vec![0.0; n];
            let mut out_im = vec![0.0; n];
            for k in 0..half {
                let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
                let (s, c) = angle.sin_cos();
                let (tr, ti) = (c * or[k] - s * oi[k], s * or[k] + c * oi[k]);
                out_re[k] = er[k] + tr;
                out_im[k] = ei[k] + ti;
                out_re[k + half] = er[k] - tr;
                out_im[k + half] = ei[k] - ti;
            }
            (out_re, out_im)
        }
        let (a, b) = fft(x, x);
        a.iter().zip(&b).enumerate().map(|(k, (a, b))| (a * a + b * b) * k as f64).sum()
    }
    polynomials POWERS x {
        fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
            let n = a.len();
            let mut out = vec![0.0; 2 * n];
            if n <= 2 {
                for i in 0..n {
                    for j in 0..n {
                        out[i + j] += a[i] * b[j];
                    }
                }
                return out;
            }
            let h = n / 2;
            let low = product(&a[..h], &b[..h]);
            let high = product(&a[h..], &b[h..]);
            let sa: Vec<f64> = (0..h).map(|i| a[i] + a[h + i]).collect();
            let sb: Vec<f64> = (0..h).map(|i| b[i] + b[h + i]).collect();
            let mid = product(&sa, &sb);
            for i in 0..2 * h {
                out[i] += low[i];
                out[i + 2 * h] += high[i];
                out[i + h] += mid[i] - low[i] - high[i];
            }
            out
        }
        let half = x.len() / 2;
        product(&x[..half], &x[half..]).iter().map(|v| v * v).sum()
    }
    powers POWERS x {
        fn power(a: &Array2<f64>, n: usize) -> Array2<f64> {
            if n == 0 {
                return Array2::eye(a.nrows());
            }
            let half = power(a, n / 2);
            let square = half.dot(&half);
            if n % 2 == 0 { square } else { square.dot(a) }
        }
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, j)| x[i * n + j]);
        power(&a, 11).sum()
    }
    sorted_halves POWERS x {
        fn sort(x: &[f64]) -> Vec<f64> {
            if x.len() <= 1 {
                return x.to_vec();
            }
            let (a, b) = x.split_at(x.len() / 2);
            let (a, b) = (sort(a), sort(b));
            let mut out = vec![0.0; x.len()];
            let (mut i, mut j) = (0, 0);
            for v in &mut out {
                if j == b.len() || (i < a.len() && a[i] <= b[j]) {
                    *v = a[i];
                    i += 1;
                } else {
                    *v = b[j];
                    j += 1;
                }
            }
            out
        }
        sort(x).iter().enumerate().map(|(k, v)| v * (k as f64)).sum()
    }
    sorted_by_pushes POWERS x {
        fn sort(x: &[f64]) -> Vec<f64> {
            if x.len() <= 1 {
                return x.to_vec();
            }
            let (a, b) = x.split_at(x.len() / 2);
            let (a, b) = (sort(a), sort(b));
            let mut out = Vec::with_capacity(x.len());
            let (mut i, mut j) = (0, 0);
            while i < a.len() && j < b.len() {
                if a[i] <= b[j] {
                    out.push(a[i]);
                    i += 1;
                } else {
                    out.push(b[j]);
                    j += 1;
                }
            }
            out.extend_from_slice(&a[i..]);
            out.extend_from_slice(&b[j..]);
            out
        }
        sort(x).iter().enumerate().map(|(k, v)| v * (k as f64)).sum()
    }
    deep_rows POWERS x {
        fn smooth(x: &Array1<f64>, n: usize) -> Array1<f64> {
            if n == 0 { x.clone() } else { smooth(&x.mapv(f64::sin), n - 1) * 0.5 + x }
        }
        let a = Array1::from_vec(x.to_vec());
        smooth(&a, 12).sum()
    }
}

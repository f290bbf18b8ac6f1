//! Loops in which few steps take an arm that computes or replaces arrays. The other steps save and
//! compute nothing for the arm.

use quote::quote;

use super::programs::{Program, programs};

const LINEAR: &[usize] = &[64, 128, 256, 512];
const SQUARE: &[usize] = &[1024, 2304, 4096, 9216];

programs! {
    tight: false;
    seldom_replaced LINEAR x {
        let mut a = x.to_vec();
        let n = a.len();
        for i in 0..4 * n {
            if i % n == 0 {
                a = a.iter().map(|v| v.sin()).collect();
            } else {
                a[i % n] = a[(7 * i) % n] * a[i % n];
            }
        }
        a.iter().sum()
    }
    seldom_normalized LINEAR x {
        let n = x.len();
        let mut h = x.to_vec();
        let mut c = 0.3;
        for i in 0..4 * n {
            if h[i % n] > 0.895 {
                let v: Vec<f64> = h.iter().map(|v| (v * c).exp()).collect();
                let m: f64 = v.iter().sum();
                c = m.sin();
                h = v.iter().map(|v| v / m).collect();
            } else {
                c = (c * 1.01).min(0.8);
                h[i % n] += 0.01 * c;
            }
        }
        c + h.iter().map(|v| v * v).sum::<f64>()
    }
    seldom_looped LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        let mut s = 0.1;
        for i in 0..4 * n {
            if a[i % n] > 0.89 {
                for k in 0..n {
                    s = (s * 0.5 + a[k]).sin();
                    a[(k * 3) % n] *= 0.99;
                }
            } else {
                s *= 0.9;
                a[i % n] += 0.001 * s;
            }
        }
        s + a.iter().sum::<f64>()
    }
    seldom_replaced_between_updates LINEAR x {
        let mut a = x.to_vec();
        let n = a.len();
        let mut s = 0.0;
        for i in 0..4 * n {
            a[(3 * i) % n] *= 0.9;
            if i % n == 2 {
                a[i % n] += s;
                a = a.iter().map(|v| v.sin() + 0.1).collect();
                a[1] *= a[2];
            }
            s = (s + a[(7 * i) % n]).sin();
        }
        s + a.iter().sum::<f64>()
    }
    seldom_normalized_in_an_inner_loop SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut h = x[..n].to_vec();
        for i in 0..n {
            for j in 0..n {
                if i == j && i % 8 == 0 {
                    let v: Vec<f64> = h.iter().map(|v| v.exp()).collect();
                    let m: f64 = v.iter().sum();
                    h = v.iter().map(|v| v / m).collect();
                }
                h[i] += 0.1 * h[j] * x[i * n + j];
            }
        }
        h.iter().map(|v| v * v).sum::<f64>()
    }
}

//! Literals and ranges of literals have the type of their uses, wherever these are, and `i32` if
//! there is none. rustc and the front end infer the same types.

use super::native::{self, Arg, agrees, ty};

use quote::quote;

macro_rules! of_numbers {
    ($x:ident: $({ $($body:tt)* })*) => {$(
        agrees! { fn f($x: real) { $($body)* } [Arg::R(1.25)] [Arg::R(-0.75)] }
    )*};
}

macro_rules! of_slices {
    ($x:ident: $({ $($body:tt)* })*) => {$(
        agrees! {
            fn f($x: slice) { $($body)* }
            [Arg::V(vec![0.5, -1.25, 2.0, 0.75, 1.5, -0.25, 3.0, 1.0, -2.0])] [Arg::V(vec![1.0; 2])] [Arg::V(Vec::new())]
        }
    )*};
}

#[test]
fn integer_literals_in_functions_of_numbers() {
    of_numbers! { x:
        { let mut s = 0.0; for k in 0..9 { s += x.powi(k); } s }
        { (0..9).map(|k| x.powi(k)).sum() }
        { let e = [1, 2]; x.powi(e[0]) + x.powi(e[1]) }
        { let mut s = 0.0; for k in 0..9 { s += x * (k - 5) as f64; } s }
        { let n = 2_i32; let mut s = 0.0; for k in 0..9 { if k < n { s += x; } } s }
        { let mut s = 0.0; for k in 0..4 { for j in 0..k { s += x.powi(j + k); } } s }
        { let v: Vec<i32> = (0..4).collect(); x.powi(v[2]) }
        { let v = vec![1, 2, 3]; v.iter().map(|&k| x.powi(k)).sum() }
        { (1..=3).rev().step_by(2).map(|k| x.powi(-k)).sum() }
        { (1..).take(3).map(|k| x.powi(k)).sum() }
        { let n = if x > 0.0 { 2 } else { 3 }; x.powi(n) }
        { let mut k = 0; let mut s = 0.0; while k < 5 { s += x.powi(k); k += 1; } s }
        { let f = |k: i32| x.powi(k); (0..3).map(f).sum() }
        { let f = |k| x.powi(k); f(1) + (0..3).map(|k| f(k)).sum::<f64>() }
        { let n = 2_i32; match (0..9).find(|k| k * k > n) { Some(k) => x.powi(k), None => x } }
        { (0..9).filter(|k| k % 2 == 0).map(|k| x.powi(k)).sum() }
        { let mut s = 0.0; for (i, k) in (2..5).enumerate() { s += x.powi(k) * i as f64; } s }
        { let mut s = 0.0; for k in (0..9).rev() { let m = 2 * k + 1; s += x.powi(m) / f64::from(m); } s }
        { let mut s = 0.0; for k in 0..9 { s += x / f64::from(k + 1); } s }
        { let mut s = 0.0; for (a, b) in [(1, 2), (3, 4)] { s += x.powi(a) * x.powi(b); } s }
        { let k = 2_u8; (0..9).filter(|j| *j < k).map(|j| x * f64::from(j)).sum() }
        { let mut p = vec![]; for k in 0..4 { p.push(k); } x.powi(p[2]) }
        { let k = (0..4).map(|k| k * k).sum::<i32>(); x.powi(k) }
        { let k: i32 = (0..4).map(|k| k * k).sum(); x.powi(k) }
        { let k = (1..4).product::<i32>(); x.powi(k) + x.powi((1..4).fold(0, |a, b| a + b)) }
        { let k = (1..4).fold(0, |a, b| a - b); x.powi(k) }
        { (0..3).flat_map(|i| (0..3).map(move |j| i - j)).map(|d| x.powi(d)).sum() }
        { (0..4).filter(|k| k % 2 == 0).count() as f64 * x }
        { let mut s = 0.0; for k in 0..4 { s += match k { 0 => x, 1 | 2 => x.powi(k), _ => 1.0 }; } s }
        { let n = 2_i64; let mut s = 0.0; for k in 0..6 { s += x * (k.min(2).max(n) + (1 << k) + k % 2) as f64; } s }
        { (0..4).map(|k| x * 2_i32.pow(k) as f64).sum() }
        { let w = [[1, 2], [3, 4]]; let mut s = 0.0; for row in w { for k in row { s += x.powi(k); } } s + x.powi(w[1][0]) }
        { let w = [1, 2, 3]; w.iter().zip(w.iter().skip(1)).map(|(a, b)| x.powi(a * b)).sum() }
        { let w = [1, 2, 3]; let t: i32 = w.iter().sum(); x.powi(t) + x.powi(w.iter().copied().max().unwrap()) }
        { let n = 2_usize; let w = [1, 2, 3]; x.powi(w[n]) }
        { let w = [0, 1].map(|i| i + 1); x.powi(w[0]) }
        { let s: [i32; 2] = [0, 1]; let k = 0..=1; k.map(|i| x.powi(s[i])).sum() }
        { let c = [1.0, -0.5, 0.25]; (0..3).map(|k| c[k] * x.powi(k as i32)).sum() }
        { let mut s = 0.0; let mut sign = 1; for k in 0..5 { s += f64::from(sign) * x.powi(2 * k + 1); sign = -sign; } s }
        { let mut fact = 1; let mut s = 1.0; for k in 1..6 { fact *= k; s += x.powi(k) / fact as f64; } s }
        { let n = 2_i32; let mut s = 0.0; for k in 0..9 { let d = k - 5; if d < n { s += x * d as f64; } } s }
        { let mut c = [0; 3]; for k in 0..4 { c[k % 3] += k as i32; } x.powi(c[0]) }
        { let mut c = vec![0; 3]; for k in 0..3 { c[k] = 2; } x.powi(c[0]) }
        { let mut v = Vec::new(); for k in 0..4 { if x > k as f64 { v.push(k); } } v.iter().map(|&k| x.powi(k)).sum() }
        { let mut v = vec![1]; for k in 0..4 { v.push(k); } v.iter().map(|&k| x.powi(k)).sum() }
    }
}

#[test]
fn integer_literals_in_functions_of_slices() {
    of_slices! { x:
        { let mut s = 0.0; for i in [0, 2] { s += x[i]; } s }
        { [0, 2].iter().map(|&i| x[i]).sum() }
        { let ids = [0, 2]; x[ids[1]] }
        { let mut s = 0.0; for k in 0..4 { for j in 0..k { s += x[j]; } } s }
        { let v = vec![1, 2, 3]; v.iter().map(|&k| x[k]).sum() }
        { x.iter().zip(0..).map(|(v, k)| v.powi(k)).sum() }
        { let n = if x[0] > 0.0 { 2 } else { 1 }; x[n] }
        { let (i, j) = (0, 1); x[i] * x[j].powi(3) }
        { let mut s = 0.0; for (a, b) in [(0, 1), (1, 2)] { s += x[a] * x[b]; } s }
        { let idx = [[0, 1], [1, 2]]; let mut s = 0.0; for [a, b] in idx { s += x[a] * x[b]; } s }
        { let mut m = 1; for k in 0..3 { m *= 2; } x[m - 7] }
        { let n = 0..3; let mut s = 0.0; for k in n { s += x[k]; } s }
        { let best = (0..3).max_by(|&a, &b| x[a].total_cmp(&x[b])).unwrap(); x[best] }
        { (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| x[i] * x[j]).sum() }
        { let ids = [0, 2]; let mut s = 0.0; for k in 0..2 { s += x[ids[k]] } s }
        { let ids = vec![0, 2]; let mut s = 0.0; for k in 0..ids.len() { s += x[ids[k]] } s }
        { let v: Vec<_> = (0..4).collect(); x[v[2]] }
        { let mut last = None; for k in 0..4 { if x[k] > 0.0 { last = Some(k) } } match last { Some(k) => x[k], None => 0.0 } }
        { let mut c = [0; 3]; c[1] += 1; x[c[1]] }
        { let n = x.len() as i32; let mut s = 0.0; for k in 0..n { s += x[0].powi(k); } s }
        { let mut s = 0.0; for k in (0..6).step_by(2) { s += x[k]; } s }
        { let at = |i: usize, j: usize| x[3 * i + j]; (0..3).map(|i| (0..3).map(|j| at(i, j)).sum::<f64>()).sum() }
        { let mut s = 0.0; for i in 0..3 { for j in i..x.len() { s += x[j]; } } s }
        { let mut s = 0.0; for i in 0..3 { for j in i + 1..3 { s += x[i] * x[j]; } } s }
        { x.iter().zip(0..3).map(|(v, k)| v * x[k]).sum() }
        { let mut best = (0, f64::MAX); for k in 0..4 { if x[k] < best.1 { best = (k, x[k]); } } x[best.0] * 2.0 }
        { let w = vec![0; 3]; x[w[1]] }
        { let mut w = vec![0, 1, 2]; w[1] = 2; x[w[1]] }
        { let mut w = vec![0, 1, 2]; w.swap(0, 2); x[w[0]] }
        { let mut w = vec![0, 1, 2]; w.push(1); let mut s = 0.0; for &i in &w { s += x[i]; } s }
        { let w: [_; 2] = [0, 1]; w.map(|i| x[i]).iter().sum() }
        { let n = 3; let mut s = 0.0; for k in 0..n { s += x[k] * x[n - 1 - k]; } s }
        { let mut i = 0; let mut j = 3; let mut s = 0.0; while i < j { s += x[i] * x[j]; i += 1; j -= 1; } s }
        { let mut c = [0; 3]; for k in 0..4 { c[k % 3] += 1; } x[c[0]] * x[c[2]] }
        { let mut v = Vec::new(); for k in 0..4 { if x[k] > 0.0 { v.push(k); } } v.iter().map(|&k| x[k]).sum() }
        { let mut lo = 0; let mut hi = 4; while hi - lo > 1 { let mid = (lo + hi) / 2; if x[mid] > 0.0 { hi = mid } else { lo = mid } } x[lo] }
        { let (mut a, mut b) = (0, 1); for _ in 0..3 { (a, b) = (b, a); } x[a] + x[b] }
    }
}

/// An empty array has the type of its annotation, or that of the other operand.
#[test]
fn types_of_empty_arrays() {
    of_slices! { x:
        { fn g(x: &[f64]) -> Vec<f64> { if x.len() < 3 { return vec![]; } x.to_vec() } g(x).iter().sum() }
        { fn g(x: &[f64]) -> Vec<f64> { if x.is_empty() { return Vec::new(); } x.to_vec() } g(x).iter().map(|v| v * v).sum() }
        { let v = if x.len() > 2 { x.to_vec() } else { vec![] }; v.iter().sum::<f64>() + v.len() as f64 }
        { let v = if x.is_empty() { vec![] } else { x[1..].to_vec() }; v.iter().map(|a| a * a).sum() }
        { let rows: Vec<[f64; 2]> = if x.len() > 2 { vec![[x[0], x[1]], [x[1], x[2]]] } else { vec![] }; rows.iter().map(|r| r[0] * r[1]).sum() }
        { let rows = if x.len() > 2 { vec![[x[0], x[1]], [x[1], x[2]]] } else { vec![] }; rows.iter().map(|r| r[0] * r[1]).sum() }
        { let e: Vec<f64> = vec![]; e.iter().sum::<f64>() + x[0] + e.len() as f64 }
        { let ids: Vec<usize> = vec![]; let mut s = x[0]; for &i in &ids { s += x[i]; } for i in ids { s *= x[i]; } s }
        { let ids: [usize; 0] = []; x[0] + ids.iter().map(|&i| x[i]).sum::<f64>() }
        { let flags: Vec<bool> = Vec::new(); if flags.iter().all(|f| *f) { x[0] } else { x[1] } }
        { let g = |v: &[f64]| v.iter().sum::<f64>() + v.len() as f64; g(&[]) * x[0] + g(x) }
        { let mut e = vec![]; if x[0] > 0.0 { e = x.to_vec(); } e.iter().sum::<f64>() + e.len() as f64 }
        { let e: Vec<f64> = Vec::new(); let m = e.iter().fold(0.0_f64, |a, b| a.max(*b)); m + x[0] * x[0] }
        { let mut ids: Vec<usize> = vec![]; if x[0] > 0.0 { ids.push(2); } let mut s = x[1]; for &i in &ids { s *= x[i]; } s }
        { let (a, b): (Vec<f64>, f64) = (vec![], x[0]); a.iter().sum::<f64>() + b }
    }
}

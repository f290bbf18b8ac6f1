//! Loops as people write them: values are compared with Rust, gradients with differences, and
//! checks fail exactly where Rust panics.

use super::native::{self, Arg::*, agrees, ty};

use quote::quote;

#[test]
fn sums_and_products() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { s += x[i] * x[i]; } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut p = 1.0; for v in x { s += v.sin(); p *= v; } s * p } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for (i, v) in x.iter().enumerate() { s += (i as f64) * v; s *= 1.5; } s } [V(vec![0.3, 0.9, -1.2])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for i in (0..x.len()).rev() { s = s * x[i] + 1.0; } s } [V(vec![0.3, 0.9, -1.2])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for i in (1..=x.len()).step_by(2) { s = s * x[i - 1] + 1.0; } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![0.3, 0.9, -1.2, 1.1])] }
    agrees! { fn f(x: slice, n: int) { let mut s = x[0]; for _ in 0..n { s = s.cos(); } s } [V(vec![0.3]), N(0)] [V(vec![0.3]), N(5)] }
    agrees! { fn f(x: slice, y: slice) { let mut s = 0.0_f64; for (a, &b) in x.iter().zip(y) { s += a * b * s.sin() + a; } s } [V(vec![0.3, 0.4]), V(vec![2.0, 3.0, 4.0])] }
}

#[test]
fn order_of_evaluation() {
    // Gauss-Seidel.
    agrees! { fn f(b: slice, n: int) { let mut x = b.to_vec(); for _ in 0..n { for i in 1..b.len() - 1 { x[i] = (b[i] - x[i - 1] - x[i + 1]) / 4.0; } } let mut s = 0.0; for v in &x { s += v * v; } s } [V(vec![0.3, 0.9, -1.2, 0.5, 0.7]), N(3)] }
    // Prefix sums, in place.
    agrees! { fn f(b: slice) { let mut x = b.to_vec(); for i in 1..x.len() { x[i] += x[i - 1] * x[i - 1]; } x[x.len() - 1] } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    // Swaps, and pairs.
    agrees! { fn f(x: slice) { let (mut a, mut b) = (0.5, 1.0); for v in x { (a, b) = (b, a + b * v); } a * b } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    agrees! { fn f(x: slice) { let (mut a, mut b) = (0.5, 1.0); for v in x { std::mem::swap(&mut a, &mut b); a += v * b; } a - b * b } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    agrees! { fn f(x: slice) { let mut p = (0.5, (1.0, 2.0)); for v in x { p.0 += v * p.1.0; p.1.0 *= p.1.1; p.1 = (p.1.1, p.0); } p.0 * p.1.0 + p.1.1 } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    // Shadowing in inner scopes.
    agrees! { fn f(x: slice) { let mut s = 1.0; for v in x { let s2 = s; { let mut s = *v; s *= 2.0; let _ = s; } let v = v * s2; s += v; } s } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    // A variable that only one branch assigns.
    agrees! { fn f(x: slice) { let mut m = x[0]; let mut at = 0; for i in 1..x.len() { if x[i] > m { m = x[i]; at = i; } } m * at as f64 + x[at] } [V(vec![0.3, 0.9, -1.2, 0.5])] }
    // Reversed in place.
    agrees! { fn f(b: slice) { let mut x = b.to_vec(); let n = x.len(); for i in 0..n / 2 { x.swap(i, n - 1 - i); } let mut s = 0.0; for i in 0..n { s += x[i] * (i as f64 + 1.0); } s } [V(vec![0.3, 0.9, -1.2, 0.5, 1.5])] }
}

/// The initial value may be NaN, and no number is greater than NaN.
#[test]
fn extrema_from_the_first_element() {
    let nan = f64::NAN;
    agrees! { fn f(x: slice) { let mut m = x[0]; for i in 1..x.len() { if x[i] > m { m = x[i]; } } m * m }
    [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![1.3, 0.9])] [V(vec![0.3])] [V(vec![-2.0, nan, -1.0, nan])] }
    agrees! { fn f(x: slice) { let mut m = x[0] * x[0]; for v in x { if v.sin() < m { m = v.sin(); } } m * x[1] }
    [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.0, -0.9])] }
    agrees! { fn f(x: slice) { let mut m = x[0]; for v in &x[1..] { if *v > m { m = *v; } } if m.is_nan() { x[1] } else { m } }
    [V(vec![nan, 0.9, -1.2])] [V(vec![0.3, nan, -1.2])] [V(vec![0.3, 0.9])] }
}

/// Sums over steps with inner recurrences are computed in blocks of steps. There are numbers of
/// steps for exactly one block, several, a remainder, and none.
#[test]
fn sums_of_recurrences() {
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { let t = i as f64 / 100.0 - 0.4; let mut p = 1.0; let mut r = t; for v in x { r -= v * p; p *= t; } s += r * r; } s }
    [V(vec![0.3, 0.9, -1.2]), N(0)] [V(vec![0.3, 0.9]), N(1)] [V(vec![0.3, 0.9]), N(15)] [V(vec![0.3, 0.9]), N(16)] [V(vec![0.3, 0.9, 0.1]), N(35)] [V(vec![]), N(40)] [V(vec![0.3, -0.2]), N(301)] }
    // Sums of rows under conditions, two sums at once, and an inner loop that counts.
    agrees! { fn f(x: slice, y: slice, n: int) { let mut s = 0.0; let mut u = 0.0; for i in (0..y.len()).rev() { let mut h = x[0]; for j in 0..n { h = (h * y[i] + j as f64).sin(); } if y[i] > 0.0 { s += h; } u += h * h * x[1]; } s * u }
    [V(vec![0.3, 0.9]), V((0..50).map(|k| (k as f64).cos()).collect()), N(3)] [V(vec![0.3, 0.9]), V((0..20).map(|k| (k as f64).cos()).collect()), N(0)] [V(vec![0.3, 0.9]), V(vec![0.2]), N(2)] }
    // The steps differ, and each saves an array.
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { let mut h = 0.1; let mut g = 0.0; for v in x { h = h * v + 0.01 * i as f64; g += h.sin() * v; } s += g * h; } s }
    [V(vec![0.3, 0.9, -0.7, 0.2]), N(33)] [V(vec![0.3]), N(16)] }
}

#[test]
fn nested_loops() {
    agrees! { fn f(x: slice) { let n = x.len(); let mut s = 0.0; for i in 0..n { let mut t = 1.0; for j in 0..n { t += x[i] * x[j]; } s += t * t; } s } [V(vec![0.3, 0.9, -1.2])] }
    agrees! { fn f(x: slice) { let n = x.len(); let mut s = 0.0_f64; for i in 0..n { for j in 0..i { s += (x[i] - x[j]).powi(2) * s.cos(); } } s } [V(vec![0.3, 0.9, -1.2])] }
    agrees! { fn f(x: slice) { let n = x.len(); let mut s = 0.0; for i in 0..n { for j in i + 1..n { s += x[i] * x[j]; } } s } [V(vec![0.3, 0.9, -1.2])] }
    agrees! { fn f(x: slice) { let n = x.len(); let mut y = vec![0.0; n]; for i in 0..n { for j in 0..=i { y[i] += x[j] * x[i - j]; } } y.iter().sum() } [V(vec![0.3, 0.9, -1.2])] }
}

#[test]
fn early_exits() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { if *v < 0.0 { continue; } s += v.sqrt(); } s } [V(vec![0.3, -0.9, 1.2])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { if *v < 0.0 { break; } s += v.sqrt(); } s } [V(vec![0.3, -0.9, 1.2])] [V(vec![-0.3])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..10 { if i >= x.len() { break; } s += x[i].sqrt(); } s } [V(vec![0.3, 0.9, 1.2])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { if *v > 1.0 { return s * v; } s += v * v; } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; 'rows: for i in 0..x.len() { for j in 0..x.len() { if x[i] + x[j] > 2.0 { break 'rows; } if j > i { continue 'rows; } s += x[i] * x[j]; } s *= 1.5; } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3, 0.5])] }
    agrees! { fn f(x: slice) { let y = 'found: { for v in x { if *v > 1.0 { break 'found *v * v; } } 3.0 }; y * x[0] } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3, 0.9])] }
    // A jump that no step takes, since its condition is known.
    agrees! { fn f(x: slice) { let y = 'found: { let mut s = 1.0_f64; for v in x { if (false | false) && s.is_finite() { break 'found s * v; } s = s.sin() * v; } s }; y * x[0] } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { if false { return 3.0; } s += v.sin(); } for v in x { if false { break; } s *= v; } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut i = 0; 'all: loop { loop { if false { break 'all; } if i == x.len() { return s * 3.0; } i += 1; s += x[i - 1]; if i > 1 { break; } } s *= 2.0; } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { for i in 0..x.len() { for j in 0..x.len() { if x[i] * x[j] > 1.0 { return x[i] + 2.0 * x[j]; } } } 0.0 } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3, 0.9])] }
    // Code after an exit is not checked.
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { if i == 2 { break; } s += x[i]; } s } [V(vec![0.3, 0.9]), N(1)] [V(vec![0.3, 0.9]), N(2)] [V(vec![0.3, 0.9]), N(7)] [V(vec![0.3]), N(7)] }
}

#[test]
fn checks_in_triangles() {
    // The bounds of the indices suffice; they do not suffice and the function does not panic; the
    // array is too short.
    agrees! { fn f(x: slice, n: int) { let mut s = 0.3_f64; for i in 0..n { for j in i + 1..n { s += x[i * n + j] * s.cos(); } } s } [V(vec![0.3; 9]), N(3)] [V(vec![0.3; 6]), N(3)] [V(vec![0.3; 5]), N(3)] [V(vec![]), N(1)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice, n: int) { let mut s = 0.3_f64; for i in 0..n { for j in 0..=i { s += x[i * n + j] * s.cos(); } } s } [V(vec![0.3; 9]), N(3)] [V(vec![0.3; 8]), N(3)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice, n: int, m: int) { let mut s = 0.3_f64; for i in 0..n { for j in i..n { if j < m { for k in j + 1..n { s += x[k - j + i * j] * s.cos(); } } } } s } [V(vec![0.3; 9]), N(3), N(3)] [V(vec![0.3; 4]), N(3), N(2)] [V(vec![0.3; 3]), N(3), N(1)] [V(vec![0.3; 2]), N(3), N(2)] }
    agrees! { fn f(x: slice, n: int) { let mut s = 0.3_f64; for i in 0..n { for j in (0..i).rev() { s += x[i - j - 1] * x[n - 1 - j] * s.cos(); } } s } [V(vec![0.3, 0.4, 0.1]), N(3)] [V(vec![0.3, 0.2]), N(3)] [V(vec![0.3]), N(2)] }
}

#[test]
fn checks_of_iterations() {
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { s += x[i]; } s } [V(vec![0.3, 0.9]), N(1)] [V(vec![0.3, 0.9]), N(3)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice, n: int) { let mut k = 0; let mut s = 0.0; for _ in 0..n { s += x[k]; k = 2 * k + 1; } s } [V(vec![0.3, 0.9, 0.1, 0.4]), N(3)] [V(vec![0.3, 0.9, 0.1]), N(3)] [V(vec![0.3, 0.9, 0.1]), N(2)] }
    agrees! { fn f(x: slice, n: int) { let mut k = 1; for i in 0..n { k *= i + 1; } x[0] * k as f64 } [V(vec![0.3]), N(5)] [V(vec![0.3]), N(25)] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { if *v > 5.0 { panic!("large"); } s += v; } s } [V(vec![0.3, 6.0])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { assert!(s < 1.0, "too much"); s += v; } s } [V(vec![0.3, 0.8])] [V(vec![0.3, 0.8, 0.1])] }
}

/// A check tests the last index without guards first. If that fails, it tests all steps.
#[test]
fn checks_at_the_last_index() {
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { for j in 0..i { s += x[i * n + j]; } } s } [V(vec![0.3; 9]), N(3)] [V(vec![0.3; 8]), N(3)] [V(vec![0.3; 7]), N(3)] [V(vec![]), N(1)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { for j in 0..n { if j < i { s += x[i * n + j]; } } } s } [V(vec![0.3; 9]), N(3)] [V(vec![0.3; 8]), N(3)] [V(vec![0.3; 7]), N(3)] [V(vec![]), N(1)] }
    agrees! { fn f(x: slice, n: int) { let mut s = 0.0; for i in 0..n { if x[i] > 1.0 { s += x[i * n]; } } s } [V(vec![0.3, 0.4, 0.5]), N(3)] [V(vec![0.3, 1.4, 0.5, 0.6]), N(3)] [V(vec![0.3, 1.4, 0.5]), N(3)] [V(vec![0.3, 0.4, 1.5, 0.1, 0.2]), N(3)] }
}

#[test]
fn types_of_literals() {
    agrees! { fn f(x: slice) { let mut k = 0; let mut s = 0.0; for v in x { s += x[k] * v; k += 1; } s } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut k = 0; for v in x { if *v < 1.0 { k += 1; } } x[k - 1] } [V(vec![0.3, 0.9, 2.0])] [V(vec![3.0])] }
    agrees! { fn f(x: slice) { let mut k = 0; for v in x { if *v < 1.0 { k += 1; } } x[0] * k as f64 } [V(vec![0.3, 0.9, 2.0])] }
    agrees! { fn f(x: slice) { let mut best = None; for (i, v) in x.iter().enumerate() { if *v > 1.0 && best.is_none() { best = Some((i, v * v)); } } match best { Some((i, v)) => v * (i as f64 + 1.0), None => x[0] } } [V(vec![0.3, 0.9, 2.0, 1.5])] [V(vec![0.3])] }
}

#[test]
fn items_by_mutable_reference() {
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for v in y.iter_mut() { *v *= 2.0; } for v in &mut y { *v += *v * *v; } y.iter().sum() } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut y = vec![0.0; x.len()]; for (o, a) in y.iter_mut().zip(x) { *o = a.sin(); } let mut s = 1.0; for (i, o) in y.iter_mut().enumerate().rev() { *o += i as f64; s *= *o; } s + y[0] } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut m = [[0.0; 2]; 2]; for (i, row) in m.iter_mut().enumerate() { for (j, v) in row.iter_mut().enumerate() { *v = x[i] * x[j] + i as f64; } row[0] += 1.0; } m[0][1] * m[1][0] + m[1][1] } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for part in y.chunks_exact_mut(2) { let s = part[0] + part[1]; part[0] = s * s; part[1] *= s; } y[0] * y[1] + y[3] } [V(vec![0.3, 0.9, 0.2, 1.4, 5.0])] }
}

#[test]
fn for_each() {
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); y.iter_mut().for_each(|v| *v *= 2.0); let mut s = 0.0; y.iter().zip(x).enumerate().for_each(|(i, (a, b))| { if *a < 0.0 { return; } s += a.sqrt() * b * i as f64; }); s } [V(vec![0.3, 0.9, -1.2, 0.4])] [V(vec![])] }
    agrees! { fn f(x: slice, n: int) { let mut s = 1.0; (0..n).for_each(|i| s *= x[i]); for k in 0..2 { x.iter().for_each(|v: &f64| { let mut t = *v; for _ in 0..k { t *= s; if t > 1.0 { break; } } s += t; }); } s } [V(vec![0.3, 0.9]), N(2)] [V(vec![0.3, 0.9]), N(3)] }
    agrees! { fn f(x: slice) { let check = |v: &f64| assert!(*v < 1.0); x.iter().for_each(check); x[0] * x[0] } [V(vec![0.3, 0.9])] [V(vec![0.3, 1.9])] }
}

#[test]
fn let_else_and_take() {
    agrees! { fn f(x: slice) { let Some(y) = x.first() else { return 0.0 }; let [a, .., b] = x else { return *y }; a * b * y } [V(vec![])] [V(vec![0.3])] [V(vec![0.3, 0.9, 0.2])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..5 { let Some(v) = x.get(i) else { break }; s += v * v; } s } [V(vec![])] [V(vec![0.3, 2.0])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut t = 1.0; for v in x { s += v; t *= std::mem::take(&mut s) + 1.0; } s + t } [V(vec![0.3, 0.9, 0.2])] }
}

#[test]
fn pushing() {
    agrees! { fn f(x: slice) { let mut y = Vec::new(); for v in x { y.push(v * v); } let mut s = 0.0; for (i, v) in y.iter().enumerate() { s += v * i as f64; } s } [V(vec![0.3, 0.9, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = vec![x[0], 2.0]; let mut s = 1.0; for i in 0..x.len() { s *= x[i]; y.push(s); y.push(s + 1.0); } y[2] * y[3] + y[y.len() - 2] * y[0] + y[1] } [V(vec![0.3, 0.9, 0.2])] }
    agrees! { fn f(x: slice) { let mut y = Vec::with_capacity(9); for a in x { for b in x { y.push(a * b + a); } } let mut s = 0.0; for i in 0..y.len() { s += y[i] * (i as f64 + 1.0); } s } [V(vec![0.3, 0.9, 0.2])] }
    agrees! { fn f(x: slice) { let mut y = vec![]; for a in x { if *a < 0.0 { return a * 2.0; } y.push(a.sqrt()); } y.iter().product::<f64>() } [V(vec![0.3, 0.9, 0.2])] [V(vec![0.3, -0.9, 0.2])] }
}

#[test]
fn vectors_that_are_read_while_they_grow() {
    agrees! { fn f(x: slice) { let mut v = vec![x[0]]; for i in 1..x.len() { let y = v[i - 1] * v[i - 1] + x[i]; v.push(y); } v.iter().sum::<f64>() + v[v.len() - 1] } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![]; for a in x { let last = v.last().copied().unwrap_or(1.0); v.push(last * a + 0.1); } v.iter().map(|y| y * y).sum() } [V(vec![0.3, 0.9, -0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![1.0, x[0]]; for a in x { let n = v.len(); let y = v[n - 1] * a + v[n - 2]; v.push(y); v.push(y * 0.5); v[0] += y; } let mut s = 0.0; for (i, y) in v.iter().enumerate() { s += y * i as f64; } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![0.5]; for i in 0..x.len() { for j in 0..2 { let y = v[2 * i + j] * x[i]; v.push(y); } } v.iter().sum() } [V(vec![0.3, 0.9, -0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![0.5]; for i in 0..x.len() { for j in 0..i { let y = v[v.len() - 1 - j % v.len()] * x[i]; v.push(y); } } let mut s = 0.0; for i in 0..v.len() { s += v[i] * (i + 1) as f64; } s } [V(vec![0.3, 0.9, -0.2, 1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![0.5]; for i in 0..3 { v.push(x[v.len()]); let _ = i; } v[1] } [V(vec![0.3, 0.9, -0.2, 1.2])] [V(vec![0.3, 0.9, 0.1])] }
    agrees! { fn f(x: slice) { let mut v = vec![0.5]; for i in 0..3 { v.push(x[0]); if v[i + 2] > 0.0 { break; } } v[1] } [V(vec![0.3])] }
}

#[test]
fn branches_that_push_different_numbers_of_elements() {
    agrees! { fn f(x: slice) { let mut v = vec![x[0], x[1]]; if x[0] > 0.5 { v.push(x[2] * x[0]); } v.iter().map(|y| y * y).sum::<f64>() * v.len() as f64 + v[v.len() - 1] } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.8, 0.9, -0.2])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); if x.len() > 2 && x[1] > 0.0 { v.push(x[0]); v.push(2.0); } let mut s = 0.0; for (i, y) in v.iter().enumerate() { s += y * y * i as f64; } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.8, -0.9, -0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let v = if x[0] > 0.5 { vec![x[1], x[2]] } else { vec![x[1], x[2], x[0]] }; v.iter().product::<f64>() } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.8, 0.9, -0.2])] }
    agrees! { fn f(x: slice) { let mut v = Vec::new(); if x[0] > 0.5 { v.push(x[1]); v.push(x[1] * x[0]); } let mut w = vec![]; if x[1] > 0.5 { w.push(2.0); } else { w.push(x[2]); w.push(1.0); } v.iter().sum::<f64>() + w.iter().map(|y| y * x[0]).sum::<f64>() + v.len() as f64 } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.8, -0.9, -0.2])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for a in x { let mut v = vec![*a]; if *a > 0.0 { v.push(a * x[0]); } else { v.push(1.0); v.push(*a); } for y in &v { s += y * v.len() as f64; } } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![x[0]]; match x.len() { 2 => v.push(x[1]), 3 => { v.push(x[2]); v.push(x[1] * x[0]); } _ => {} } v[v.len() - 1] * v.len() as f64 } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.8, 0.9])] [V(vec![0.8])] }
}

#[test]
fn vectors_whose_length_depends_on_values() {
    agrees! { fn f(x: slice) { let mut large = Vec::new(); for v in x { if *v > 0.25 { large.push(*v * 2.0); } } let mut s = 1.0; for (i, v) in large.iter().enumerate() { s = s * v + i as f64; } s * large.len() as f64 } [V(vec![0.3, 0.1, 0.9, -0.2])] [V(vec![0.1])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut before = vec![]; for v in x { if *v > 1.0 { break; } before.push(*v); } before.iter().map(|v| v.sqrt()).sum::<f64>() } [V(vec![0.3, 0.9, 1.2, -0.2])] [V(vec![0.3])] [V(vec![1.3])] }
    agrees! { fn f(x: slice) { let mut stack = x.to_vec(); let mut s = 1.0; while let Some(v) = stack.pop() { s = s * v + 1.0; } s + stack.len() as f64 } [V(vec![0.3, 0.9, 1.2, -0.2])] [V(vec![])] }
    // The hull of points, with pushes and pops.
    agrees! { fn f(x: slice) { let mut hull: Vec<f64> = Vec::new(); for &v in x { while hull.len() > 1 && hull[hull.len() - 1] < v { hull.pop(); } hull.push(v); } let mut s = 0.0; for (i, v) in hull.iter().enumerate() { s += v * v * (i + 1) as f64; } s } [V(vec![0.3, 0.9, 1.2, -0.2, 0.5])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..3 { let mut large = vec![x[i]]; for v in x { if *v > x[i] { large.push(*v); } } for v in &large { s += v * large.len() as f64; } } s } [V(vec![0.3, 0.9, 1.2, -0.2])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut pairs = Vec::new(); for (i, v) in x.iter().enumerate() { if *v > 0.0 { pairs.push((i, *v)); } } let mut s = 0.0; for (i, v) in pairs.iter() { s += v * v * x[*i]; } if let Some((i, v)) = pairs.last() { s += v * *i as f64; } s } [V(vec![0.3, -0.9, 1.2, -0.2])] [V(vec![-0.3])] }
    agrees! { fn f(x: slice) { let mut at = vec![]; for i in 0..x.len() { if x[i] > 0.0 { at.push(i); } } let mut s = 0.0; for i in at { s += x[i] * x[i]; } s } [V(vec![0.3, -0.9, 1.2, -0.2])] [V(vec![-0.3])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); v.pop(); v.truncate(2); let last = v.pop(); let mut w = vec![x[0], 2.0]; w.clear(); w.push(x[0]); last.map_or(0.5, |y| y * y) + v.iter().sum::<f64>() * w[0] } [V(vec![0.3, -0.9, 1.2, -0.2])] [V(vec![0.3])] [V(vec![])] }
    // Breadth-first search, with the capacity for all pushes.
    agrees! { fn f(x: slice) { let n = x.len(); let mut queue = vec![0]; let mut at = 0; let mut s = 0.0; for _ in 0..n { if at >= queue.len() { break; } let i = queue[at]; at += 1; s += x[i] * (at as f64); for j in [2 * i + 1, 2 * i + 2] { if j < n { queue.push(j); } } } s } [V(vec![0.3, -0.9, 1.2, -0.2, 0.7, 0.1])] [V(vec![0.3])] }
}

#[test]
fn vectors_that_a_while_pushes_to() {
    agrees! { fn f(x: slice) { let mut t = 0.0; let mut y = x[0]; let mut h = 0.1; let mut ts = vec![t]; let mut ys = vec![y]; while t < 1.0 { let k = -x[1] * y; y += h * k; t += h; if k.abs() < 0.5 { h *= 1.5; } ts.push(t); ys.push(y); } let mut s = 0.0; for i in 1..ys.len() { s += (ts[i] - ts[i - 1]) * (ys[i] + ys[i - 1]); } s } [V(vec![0.9, 1.7])] [V(vec![-0.3, 0.2])] }
    agrees! { fn f(x: slice) { let mut v = Vec::new(); while v.len() < 5 { v.push(x[0] * v.len() as f64 + 1.0); } v.iter().product() } [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut v = vec![]; let mut y = x[0]; loop { y *= 0.5; if y < 0.05 { break; } if y < 0.3 { v.push(y * y); } } let mut s = v.len() as f64; for a in &v { s = s * a + x[0]; } s } [V(vec![1.3])] [V(vec![0.01])] }
    agrees! { fn f(x: slice) { if x[0] > 0.0 { let mut v = vec![1.0]; let mut y = 1.0; while y < 3.0 { y += x[0]; let z = v[v.len() - 1] * y; v.push(z); } let n = v.len(); v[n - 1] + n as f64 } else { x[0] } } [V(vec![0.71])] [V(vec![0.0])] }
}

/// The array is copied into a larger capacity once, in all branches and for all pushes. The old
/// array remains valid.
#[test]
fn vectors_with_many_pushes() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { let mut v = vec![x[i]]; if x[i] > 0.5 { v.push(x[i] * 2.0); v[0] = 3.0 * x[i]; } else if x[i] < 0.0 { v.pop(); v.push(1.0); v.push(x[i]); } let w = v.clone(); v.push(s); v.push(x[0]); for a in &w { s += a * a * 0.1; } for (k, a) in v.iter().enumerate() { s += a * (k as f64 + 1.0) * 0.1; } } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v: Vec<f64> = Vec::new(); for a in x { if *a > 0.0 { v.push(a * a); } } v.push(x[0]); if x[0] > 0.5 { v.push(2.0 * x[0]); v[0] = x[1]; } else { v.push(x[1]); } v.push(v[0] * 3.0); v[1] *= v[0]; let n = v.len(); let mut s = v[n - 1]; for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.7, 0.9, -1.2])] [V(vec![0.7, -0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { let mut v = vec![[x[i], 1.0]]; for a in x { if *a > x[i] { v.push([*a, x[i]]); } } v.push([x[0], s]); if x[i] > 0.5 { v.push([2.0, x[i]]); } v.push([x[i], x[i]]); for (k, r) in v.iter().enumerate() { s += r[0] * r[1] * k as f64 * 0.1; } } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![x[0]]; v.push(x[1]); if x[0] > 0.0 { v.push(1.0); } v.push(2.0); v.push(3.0 * x[0]); v.push(v[1]); v.push(5.0); v.push(6.0); v.push(x[1]); v.push(8.0); v.push(9.0); v.push(x[0]); v.push(11.0); v.push(12.0 * x[1]); v.push(13.0); v.push(14.0); v.push(v[3]); let mut s = 0.0; for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } s } [V(vec![0.3, 0.9])] [V(vec![-0.3, 0.9])] }
}

/// A loop before another one is not part of its steps. It does not run if the function does not
/// reach it.
#[test]
fn loops_before_other_loops_run_once() {
    agrees! { fn f(x: slice) { let mut y = x[0]; while y < 100.0 { y = y * 1.5 + x[1]; } let mut s = 1.0; for v in x { s = s * y * 0.01 + v; } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![101.0, -0.9])] [V(vec![0.3])] }
    agrees! { fn f(x: slice, n: int) { let mut y = x[0]; if x[0] > 0.0 { while y < 2.0 { y += x[0]; } } let mut s = 1.0; for i in 0..n { let mut z = y; while z > 0.1 { z *= 0.5; } s += z * y + i as f64; if s > 3.0 { break; } } s * y } [V(vec![0.33]), N(0)] [V(vec![0.7]), N(4)] [V(vec![-0.7]), N(4)] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for v in x { let mut y = *v; while y < 3.0 { y = y * 1.5 + 0.2; } for w in x { s += (y * w).sin() * s; } } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for v in x { if *v > 0.0 { let mut y = 1.0; while y < 3.0 { y += x[0]; } for w in x { s += y * w * s; } } } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![-0.3, -0.9])] [V(vec![])] }
}

/// Elements that are read after the array may have been written. The elements are saved, and not
/// the array.
#[test]
fn elements_read_after_a_possible_write() {
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for i in 0..x.len() { if x[i] > 0.5 { y[i] = x[i] * 2.0; } y[i] += x[i] * y[i]; } let mut s = 0.0; for v in &y { s += v * v; } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for i in 1..x.len() { if x[i] > 0.5 { y[i] = x[i] * y[i - 1]; y[i - 1] *= y[i]; } else if x[i] < 0.0 { y[0] = y[i] * y[0]; } y[i] += x[i] * y[i] * y[i - 1] + y[0]; } let mut s = 0.0; for v in &y { s += v * v; } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.3, -0.1])] }
    // It is not known whether the indices are equal.
    agrees! { fn f(x: slice) { let n = x.len(); let mut y = x.to_vec(); let mut s = 0.0; for i in 0..n { let k = (x[i] * 4.0).abs() as usize % n; if x[i] > 0.5 { y[i] = x[i] * y[k]; s += y[k] * y[k]; } y[k] = y[k] * y[i] + s; s += y[i] * y[(i + 1) % n]; } s + y[0] } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.6])] [V(vec![])] }
    // A branch reads the elements that it has changed, and they change again after the conditional.
    agrees! { fn f(x: slice) { let n = x.len(); let mut y = x.to_vec(); let mut s = 0.0; for i in 0..n { let k = (x[i] * 4.0).abs() as usize % n; let mut t = 0.5; if x[i] > 0.5 { y[i] = x[i] * 2.0; t = y[k] * x[i]; } y[k] = 3.0 * x[i] + t; s += t * y[i]; } for v in &y { s += v * v; } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.6])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = vec![[0.5, 1.5]; x.len()]; for i in 0..x.len() { if x[i] > 0.5 { y[i] = [x[i], x[i] * 2.0]; } let r = y[i]; y[i][1] += r[0] * r[1] * x[i]; } let mut s = 0.0; for r in &y { s += r[0] * r[1]; } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![])] }
}

/// Steps of an inner loop that is left by `continue` of the outer one, which determines the number
/// of inner items.
#[test]
fn triangles_with_early_exits() {
    agrees! { fn f(x: slice) { let mut e = 0.0; 'outer: for i in 0..x.len() { for j in 0..i { let d = x[i] - x[j]; if d.abs() < 0.1 { continue 'outer; } if d > 4.0 { break 'outer; } e += 1.0 / (d * d); } e *= x[i]; } e } [V(vec![0.3, 0.9, 1.2, 0.35, 0.7])] [V(vec![0.3, 9.0, 1.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for i in 0..x.len() { for j in (i..x.len()).rev() { if x[j] < 0.0 { break; } s = s * x[i] + x[j]; } } s } [V(vec![0.3, 0.9, -1.2, 0.7])] [V(vec![0.3, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for i in 0..x.len() { for v in &x[i..] { if *v < 0.0 { return s * v; } s += v * x[i] * s; } } s } [V(vec![0.3, 0.9, 1.2])] [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { (0..x.len()).map(|i| { let mut s = 1.0; for j in 0..i { if x[j] > 1.0 { break; } s = s * x[j] + x[i]; } s }).sum() } [V(vec![0.3, 0.9, 1.2, 0.4])] [V(vec![])] }
}

#[test]
fn tuples_in_arrays() {
    agrees! { fn f(x: slice) { let mut p = [(x[0], x[1]), (x[1], x[0] * x[1])]; for _ in 0..3 { for i in 0..2 { let (a, b) = p[i]; p[i] = (a + 0.1 * b, b - 0.1 * a.sin()); p[1 - i].1 += 0.01 * a; } let (q, r) = (p[0], p[1]); p[0].1 += 0.01 * (r.0 - q.0); } p[0].0 * p[1].1 } [V(vec![0.3, -0.9])] }
}

#[test]
fn integer_types_inferred_from_later_uses() {
    agrees! { fn f(x: slice) { let n = x.len(); let mut count = vec![0; n]; for i in 0..n { count[i] += i; } let mut s = 0.0; for i in 0..n { s += x[count[i]]; } s } [V(vec![0.3, -0.9])] }
    agrees! { fn f(x: slice) { let mut count = [0; 3]; let mut flags = [0; 3]; for (i, v) in x.iter().enumerate() { count[i % 3] += 1; if *v > 0.0 { flags[i % 3] = 1_i32; } } let k: usize = count[0]; x[k] * flags[0] as f64 } [V(vec![0.3, -0.9])] }
    agrees! { fn f(x: slice) { let mut perm = vec![0; x.len()]; for (i, p) in perm.iter_mut().enumerate() { *p = x.len() - 1 - i; } let mut s = 0.0; for (i, &p) in perm.iter().enumerate() { s += x[p] * i as f64; } s } [V(vec![0.3, -0.9, 0.2])] }
    agrees! { fn f(x: slice) { let mut t = vec![vec![0; 2]; 3]; t[1][1] = x.len(); for i in 0..3 { t[i][0] += i; } x[t[1][0]] * t[1][1] as f64 } [V(vec![0.3, -0.9, 0.2])] }
}

#[test]
fn parts_whose_length_depends_on_a_loop() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { for v in &x[..i] { s += v * x[i]; } s *= x[i..].iter().sum::<f64>(); let part = &x[1..=i]; if part.len() > 1 { s += part[1] * part[part.len() - 1]; } } s } [V(vec![0.3, 0.7, 0.2, 1.3])] [V(vec![0.1])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for i in 0..x.len() { s += x[i + 1..].iter().zip(&x[..i]).map(|(a, b)| a * b).sum::<f64>() * s; } s } [V(vec![0.3, 0.7, 0.2, 1.3])] [V(vec![0.1])] [V(vec![])] }
    agrees! { fn f(x: slice, n: int) { let mut s = 1.0; for i in 0..n { s += x[i..n].iter().product::<f64>(); } s } [V(vec![0.3, 0.7, 0.2, 1.3]), N(3)] [V(vec![0.1]), N(2)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice) { let mut s = 1.0; for c in x.chunks(2) { let mut p = 1.0; for v in c { p *= v; } s += p * s + c[0]; if c.len() == 1 { s += c[0]; } } s } [V(vec![0.3, 0.7, 0.2, 1.3, 0.4])] [V(vec![0.1])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); v.reverse(); v.rotate_left(1); v[1..].reverse(); v.rotate_right(2); let mut w = vec![0.0; v.len()]; w.copy_from_slice(&v); let mut s = 0.0; for (i, a) in w.iter().enumerate() { s = s * a + i as f64; } s } [V(vec![0.3, 0.7, 0.2, 1.3, 0.4])] [V(vec![0.1, 0.2])] [V(vec![0.1])] }
}

#[test]
fn endless_loops_that_are_not_reached() {
    agrees! { fn f(x: slice) { let n = x.len(); let mut s = 1.0; for i in 0..n { let mut k = n; while k != 3 { k = (k + 1) % 4; if n == 0 { k = 1; } } s += k as f64 * x[i]; } s } [V(vec![])] [V(vec![0.3, 0.7])] }
    agrees! { fn f(x: slice) { let t: f64 = x.iter().sum(); let mut s = 1.0; for v in x { if *v > 0.5 { let mut k = 5.0; while k > 0.0 { k -= t; } s += k * v; } } s } [V(vec![])] [V(vec![0.3, 0.72])] [V(vec![0.3, -0.7])] }
    agrees! { fn f(x: slice) { let t: f64 = x.iter().sum(); x.iter().map(|v| { let mut k = t + 1.0; while k > 0.0 { k -= t; } v * k }).sum() } [V(vec![])] [V(vec![0.3, 0.72])] }
    agrees! { fn f(x: slice) { let t: f64 = x.iter().sum(); let mut s = 1.0; for v in x { if *v < 0.0 { break; } for w in x { if w < v { let mut k = 5.0; while k > 0.0 { k -= t; } s += k * v; } } } s } [V(vec![])] [V(vec![0.3, 0.72])] [V(vec![-0.3, -0.7])] }
}

#[test]
fn sizes_computed_by_loops() {
    agrees! { fn f(x: slice) { let mut n = 0; let mut total = 0.0; for i in 0..4 { let y: Vec<f64> = x.iter().map(|v| v * i as f64).collect(); if y.iter().sum::<f64>() > 1.5 { n += 1; } total += y[0]; } let z: Vec<f64> = (0..n).map(|i| x[0] * i as f64 + total).collect(); z.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, 0.7, 0.2])] [V(vec![0.1])] }
    agrees! { fn f(x: slice) { let mut n = 0; let mut t = x.to_vec(); while t.iter().sum::<f64>() > 0.1 { t = t.iter().map(|v| v * 0.6).collect(); n += 1; } let mut y = vec![0.0; n]; for i in 0..n { y[i] = x[0] * i as f64 + t[0]; } y.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, 0.7, 0.2])] [V(vec![0.0])] }
}

/// Elements that do not exist before the first step.
#[test]
fn options_carried_by_loops() {
    agrees! { fn f(x: slice) { let mut last = None; let mut s = 0.0; for &v in x { if let Some(l) = last { s += l * v; } last = Some(v); } s } [V(vec![0.3, 0.9, 1.5])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut best: Option<usize> = None; for i in 0..x.len() { match best { Some(b) if x[b] >= x[i] => {} _ => best = Some(i) } } best.map_or(0.0, |b| x[b] * x[b]) } [V(vec![0.3, 0.9, 0.5])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut p: Option<(usize, f64)> = None; let mut s = 0.0; for (i, &v) in x.iter().enumerate() { if let Some((j, w)) = p { s += (i - j) as f64 * w * v; } if v > 0.0 { p = Some((i, v * v)); } } s } [V(vec![0.3, -0.9, 0.5, 2.0])] [V(vec![-0.3])] [V(vec![])] }
}

/// A range may have one item more than the largest number of its type.
#[test]
fn ranges_up_to_the_limits_of_their_type() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 250..=255_u8 { s += x[(i - 250) as usize] * i as f64; } s } [V(vec![0.3, 0.9, 1.5, 0.2, 0.7, 0.1])] [V(vec![0.3, 0.9, 1.5, 0.2, 0.7])] }
    agrees! { fn f(x: slice, n: int) { let m = n as u8; let mut s = 1.0; for i in 253..=m { s = s * x[0] + x[(i - 253) as usize]; } s } [V(vec![0.3, 0.9, 1.5]), N(255)] [V(vec![0.3, 0.9, 1.5]), N(253)] [V(vec![0.3, 0.9]), N(255)] [V(vec![0.3]), N(4)] }
    agrees! { fn f(x: slice) { (2_147_483_640..=2_147_483_647_i32).map(|i| x[(i - 2_147_483_640) as usize].sin()).sum::<f64>() } [V(vec![0.3, 0.9, 1.5, 0.2, 0.7, 0.1, 0.6, 0.4])] [V(vec![0.3; 7])] }
}

/// If the function panics in a loop, so does the derivative. It terminates.
#[test]
fn panics_end_loops() {
    agrees! { fn f(x: slice) { let mut k = 0; while x[k] < 10.0 { k += 1; } x[k] * x[0] } [V(vec![0.3, 0.4])] [V(vec![0.3, 10.4])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = x[0]; loop { assert!(s < 3.0); if s == 2.5 { break; } s = (s * 1.5).min(3.0); } s } [V(vec![0.3])] }
    // The same inside of loops.
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..2 { let mut k = i; while x[k] < 10.0 { k += 1; } s += x[k] * x[i]; } s } [V(vec![0.3, 0.4])] [V(vec![0.3, 0.4, 10.4])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { let mut y = *v; loop { assert!(y < 3.0); if y > 2.4 { break; } y = (y * 1.5).min(3.0); } s += y; } s } [V(vec![0.3])] [V(vec![2.6, 2.45])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut h = 0.5; for i in 0..3 { let mut k = 0; while x[k + i] * h < 1.0 { k += 1; h *= x[k]; } } h } [V(vec![0.3, 0.4, 0.2, 0.9])] [V(vec![2.5, 3.0, 4.0, 5.0])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut k = 0; while s < 1.0 { for j in 0..3 { s += x[k + j]; } k += 1; if k > 2 { s = 0.0; } } s } [V(vec![0.1; 9])] [V(vec![0.4; 4])] }
}

#[test]
fn while_loops() {
    agrees! { fn f(x: real) { let mut y = x; while y > 1.0 { y /= 2.0; } y } [R(7.3)] [R(0.3)] }
    agrees! { fn f(x: slice) { let mut i = 0; let mut s = 0.0; while i < x.len() && x[i] > 0.0 { s += x[i].sqrt(); i += 1; } s * i as f64 } [V(vec![0.3, 0.9, -1.0, 2.0])] [V(vec![0.3, 0.9])] [V(vec![])] [V(vec![-1.0])] }
    agrees! { fn f(x: slice) { let mut i = 0; let mut s = 0.0; while x[i] > 0.0 { s += x[i].sqrt(); i += 1; } s } [V(vec![0.3, 0.9, -1.0, 2.0])] [V(vec![0.3, 0.9])] [V(vec![])] }
    // Newton's method.
    agrees! { fn f(a: real) { let mut x = a; let mut n = 0; loop { let next = 0.5 * (x + a / x); n += 1; if (next - x).abs() < 1e-14 || n > 60 { break next; } x = next; } } [R(2.0)] [R(0.7)] }
    agrees! { fn f(x: slice, n: int) { let mut k = n; let mut s = 1.0; while k > 0 { k -= 1; if k == 2 { continue; } if x[k] > 2.0 { return s; } s *= x[k]; } s + 1.0 } [V(vec![0.3, 0.9, 1.0, 1.9]), N(4)] [V(vec![0.3, 2.9, 1.0, 1.8]), N(4)] [V(vec![0.3, 0.9]), N(0)] [V(vec![0.3, 0.9]), N(3)] }
    agrees! { fn f(x: slice) { let y; let mut i = 0; loop { if i == x.len() { y = 1.0; break; } if x[i] > 1.0 { y = x[i] * x[i]; break; } i += 1; } y * 2.0 + i as f64 } [V(vec![0.3, 0.9, 1.5])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0.. { if i >= x.len() { break; } s += x[i] * i as f64; } s } [V(vec![0.3, 0.9, 1.5])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut n = x.len(); let mut s = 1.0; for _ in 0..3 { for i in 0..n { s += x[i] * s; } n /= 2; } s } [V(vec![0.3, 0.9, 1.5, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for v in x { let mut y = *v; while y > 1.0 { y = y.ln(); } s += y * v; } s } [V(vec![0.3, 9.0, 150.0])] }
    agrees! { fn f(x: real, n: int) { assert!(n < 9); let mut k = n; let mut y = x; while k != 5 { k += 1; y *= x; } y } [R(1.2), N(3)] [R(1.2), N(5)] }
    agrees! { fn f(x: slice) { let mut k = 0; let mut s = 0.0; while let Some(v) = x.get(k) { s += v * v; k += 1; } s } [V(vec![0.3, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut r = 0.0; 'a: loop { let mut i = 0; loop { if r > 3.0 { break 'a; } if i >= x.len() { r += 0.5; continue 'a; } r += x[i]; i += 1; } } r } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: real) { let mut s = x; loop { s = s * s + 0.1; if s > 2.0 { return s; } if s < 0.2 { return -s; } } } [R(1.4)] [R(0.2)] }
}

#[test]
fn residuals_in_branches() {
    // Expensive results, elements and whole inner loops in branches. A branch that is not taken has
    // no effect, even if it contains NaN.
    agrees! { fn f(x: slice) { let mut s: f64 = 0.5; for v in x { if *v > 0.0 { s = s * v.ln() + v.sqrt(); } else { s *= v; } } s } [V(vec![0.3, -0.9, 1.2])] [V(vec![-0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); let n = y.len(); for i in 0..n { if x[i] > 0.5 { for j in 0..i { y[j] = y[j] * y[i] + 0.1; } } else { y[i] = (y[i] * 0.5).exp(); } } let mut s = 0.0; for v in &y { s += v * v; } s } [V(vec![0.3, 0.9, -1.2, 0.8])] [V(vec![0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); let n = y.len(); for i in 0..n { for j in 0..n - 1 - i { if y[j] > y[j + 1] { y.swap(j, j + 1); } } } let mut s = 0.0; for i in 0..n { s += y[i] * y[i] * (i as f64 + 1.0); } s } [V(vec![0.7, 0.3, -0.9, 1.2, 0.1])] [V(vec![0.3])] [V(vec![0.2, 0.4])] }
    // The whole array is also read, inside of the loop and after it.
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); let mut s = 0.0; for i in 0..y.len() { y[i] *= y[0] + s; for j in 0..y.len() { s += y[j] * y[j]; } } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![])] }
}

//! Structs, enums and lists of products inside of a body, compared with the function itself.

use super::native::{self, Arg::*, agrees, ty};
use quote::quote;

#[test]
fn fields() {
    agrees! { fn f(x: real, n: int) { struct P { a: [f64; 2], k: usize } let mut p = P { a: [x, 2.0], k: n }; p.a[p.k] += x; p.k += 1; p.a[0] * p.a[1] + p.k as f64 } [R(0.7), N(0)] [R(0.7), N(1)] [R(0.7), N(2)] }
    agrees! { fn f(x: real) { #[derive(Clone, Copy)] struct P(f64, usize); let P(a, k) = if x > 0.0 { P(x, 1) } else { P(2.0, 3) }; let q = P(a * a, k); P(1.0, q.1).0 * q.0 + q.1 as f64 } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real, n: int) { #[derive(Clone)] struct P { a: f64, b: f64 } let mut p = P { a: x, b: 1.0 }; for k in 0..n { p = P { b: p.a * k as f64, ..p.clone() }; p.a += p.b; if p.a > 5.0 { break; } } p.a * p.b } [R(0.7), N(0)] [R(0.7), N(3)] [R(1.7), N(9)] }
}

/// A method sees the constants of the block of its type, and not those of its caller.
#[test]
fn methods() {
    agrees! { fn f(x: real) { const G: f64 = 2.0; struct A { x: f64 } impl A { fn g(&self) -> f64 { self.x * G } fn set(&mut self, x: f64) -> f64 { std::mem::replace(&mut self.x, x) } } let mut a = A { x }; let old = { const G: f64 = 3.0; a.set(x * G) + G }; a.g() * old } [R(0.7)] }
    agrees! { fn f(x: real, n: int) { struct S { at: usize, v: [f64; 3] } impl S { fn next(&mut self) -> f64 { let v = self.v[self.at]; self.at += 1; v } } let mut s = S { at: 0, v: [x, x * x, 2.0] }; let mut t = 1.0; for _ in 0..n { t *= s.next(); } t } [R(0.7), N(2)] [R(0.7), N(3)] [R(0.7), N(4)] }
}

#[test]
fn variants() {
    agrees! { fn f(x: real, n: int) { enum E { A(f64, usize), B { v: f64 }, C } let e = match n { 0 => E::A(x, 3), 1 => E::B { v: x * x }, 2 => panic!("two"), _ => E::C }; match e { E::A(v, k) if k > 2 && v > 0.0 => v * k as f64, E::A(v, _) => -v, E::B { v } => v + 1.0, E::C => 0.5 } } [R(0.7), N(0)] [R(-0.7), N(0)] [R(0.7), N(1)] [R(0.7), N(2)] [R(0.7), N(3)] }
    agrees! { fn f(x: real, n: int) { enum E { A(f64), B(f64, f64) } let mut e = E::A(x); for k in 0..n { e = match e { E::A(v) if v > 1.0 => E::B(v, k as f64), E::A(v) => E::A(v + 0.4), E::B(a, b) => E::A(a - b) }; } let E::A(v) = e else { return -1.0 }; v } [R(0.7), N(0)] [R(0.7), N(2)] [R(0.7), N(3)] [R(0.7), N(6)] }
    agrees! { fn f(x: slice) { fn first(x: &[f64]) -> Option<f64> { Some(*x.first()? * 2.0) } fn ratio(x: &[f64]) -> Result<f64, f64> { let a = first(x).unwrap_or(1.0); if a < 0.0 { return Err(a); } Ok(1.0 / a) } fn both(x: &[f64]) -> Result<f64, f64> { Ok(ratio(x)? + 1.0) } match both(x) { Ok(v) => v, Err(e) => 3.0 * e } } [V(vec![0.3])] [V(vec![-0.3])] [V(vec![])] }
}

#[test]
fn lists_of_structs() {
    agrees! { fn f(x: slice, n: int) { struct B { p: [f64; 2], m: f64 } let mut bs: Vec<B> = x.iter().map(|&v| B { p: [v, v * v], m: 1.0 }).collect(); bs[n].p[1] += bs[0].m; bs[0].m *= bs[n].p[0]; bs.iter().map(|b| b.p[1] * b.m).sum::<f64>() } [V(vec![0.3, 0.9]), N(1)] [V(vec![0.3, 0.9]), N(0)] [V(vec![0.3, 0.9]), N(2)] [V(vec![]), N(0)] }
    agrees! { fn f(x: slice) { let mut v: Vec<(f64, usize)> = Vec::new(); for (i, &a) in x.iter().enumerate() { if a > 0.0 { v.push((a, i)); } } while v.len() > 1 { let (a, i) = v.pop().unwrap(); v[0].0 += a * i as f64; } v[0].0 } [V(vec![0.3, -0.1, 0.9, 0.2])] [V(vec![-0.3])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut v: Vec<(f64, usize)> = x.iter().enumerate().map(|(i, &a)| (a, i)).collect(); v.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap()); v.iter().enumerate().map(|(k, &(a, i))| a * (k * i) as f64).sum::<f64>() } [V(vec![0.3, -0.1, 0.9, 0.2, -0.5])] [V(vec![0.3, 0.4, 0.1])] [V(vec![0.3, f64::NAN])] [V(vec![])] }
}

//! Borrowed values and iterators: the rest of a slice, an iterator that a loop advances, mutable
//! references to temporaries and closures.

use super::native::{self, Arg::*, agrees, ty};

use quote::quote;

#[test]
fn remainders_of_slices() {
    agrees! { fn f(x: slice) { let mut rest = x; let mut s = 0.0; let mut k = 1.0; while let Some((v, tail)) = rest.split_first() { s += k * v * v; k *= 0.9; rest = tail; } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut rest = x; let mut s = 0.5; while let Some((v, front)) = rest.split_last() { s = s * 0.5 + v.sin() * s; rest = front; } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let v = x.to_vec(); let mut rest = &v[..]; let mut s = 0.0; while let [a, b, tail @ ..] = rest { s = s * 0.5 + a * b; rest = tail; } s + rest.len() as f64 } [V(vec![0.3, 0.9, -1.2])] [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut rest = x; while rest.len() > 1 { let (v, tail) = rest.split_first().unwrap(); s += v * tail.iter().sum::<f64>(); rest = tail; } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![0.3])] }
}

#[test]
fn remainders_of_chunks() {
    agrees! { fn f(x: slice) { let c = x.chunks_exact(4); let rest = c.remainder().iter().map(|v| v * v).sum::<f64>(); let body = c.map(|c| c[0] * c[1] + c[2] * c[3]).sum::<f64>(); body + rest } [V(vec![0.3, 0.9, -1.2, 0.5, 0.7, 1.5])] [V(vec![0.3, 0.9, -1.2, 0.5])] [V(vec![0.3, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut c = x.chunks_exact(3); let mut s = 0.0; for c in &mut c { s += c[0] * c[1] * c[2]; } for v in c.remainder() { s += v.exp(); } s } [V(vec![0.3, 0.9, -1.2, 0.5, 0.7])] [V(vec![0.3, 0.9, -1.2])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for w in x.windows(2) { let c = w.chunks_exact(1); s += w[0] * w[1] + c.remainder().len() as f64; } s + x.chunks_exact(2).remainder().iter().sum::<f64>() } [V(vec![0.3, 0.9, -1.2])] [V(vec![0.3, 0.9])] }
}

#[test]
fn iterators_that_a_loop_advances_to_their_end() {
    agrees! { fn f(x: slice) { let mut it = x.iter(); let first = it.next().copied().unwrap_or(1.0); let mut s = 0.0; for v in &mut it { s += v * first; } s + it.map(|v| v.exp()).sum::<f64>() } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut it = x.iter().map(|v| v * v); let mut s = 0.0; for v in it.by_ref() { s += s * v + v; } s + it.sum::<f64>() } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
}

#[test]
fn mutable_references_to_temporaries_and_closures() {
    agrees! { fn f(x: slice) { fn fill(v: &mut [f64], x: f64) -> f64 { for e in v.iter_mut() { *e += x; } v.iter().map(|e| e * e).sum() } fill(&mut [1.0, 2.0], x[0]) + fill(&mut vec![0.5; 3], x[1]) } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let v = &mut vec![0.5; 3]; v[1] = x[0]; v[2] *= x[1]; v[1] * v[2] } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { fn visit(xs: &[f64], f: &mut impl FnMut(f64)) { for &x in xs { f(x); } } let mut s = 0.0; visit(x, &mut |v| s += v * v); s } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { fn visit(xs: &[f64], f: &mut dyn FnMut(f64)) { for &x in xs { f(x); } } let mut s = 0.5; for k in 1..3 { visit(x, &mut |v| s += s * v * k as f64); } s } [V(vec![0.3, 0.9, -1.2])] [V(vec![])] }
}

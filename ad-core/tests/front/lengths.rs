//! A `Vec` that grows, shrinks or is replaced in a loop, and parts of arrays with dynamic length:
//! values are compared with Rust, gradients with differences, and panics occur where Rust panics.

use super::native::{self, Arg::*, agrees, ty};
use super::*;

use quote::quote;

/// The capacity of a `Vec` in a step covers the pushes after a loop or an `if`.
#[test]
fn several_pushes_in_a_step() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { let mut v = vec![x[i]]; for a in x { if *a >= x[i] { v.push(*a); } } v.push(7.0 * x[i]); v.push(6.0 * x[i]); for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { let mut v = vec![]; for a in x { if *a >= x[i] { v.push(*a); } } for a in x { if *a <= x[i] { v.push(*a * 2.0); } } for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for a in x { let mut v = vec![*a]; if *a > 0.0 { v.push(a * 2.0); } if *a > 0.1 { v.push(a * 3.0); } v.push(a * 4.0); for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } } s } [V(vec![0.3, 0.9, -0.2, 0.05])] [V(vec![])] }
}

#[test]
fn pushed_tuples_in_branches() {
    agrees! { fn f(x: slice) { let mut v = vec![(x[0], 1.0)]; if x[1] > 0.0 { v.push((x[1], 2.0)); } v.iter().map(|(a, b)| a * b).sum::<f64>() * v.len() as f64 } [V(vec![0.3, 0.9])] [V(vec![0.3, -0.9])] }
    agrees! { fn f(x: slice) { let mut v = Vec::new(); if x[1] > 0.0 { v.push((x[1], 2.0)); } let mut s = x[0]; for (a, b) in &v { s += a * b * s; } s } [V(vec![0.3, 0.9])] [V(vec![0.3, -0.9])] }
    agrees! { fn f(x: slice) { let v = if x[1] > 0.0 { vec![(x[1], 2.0)] } else { vec![(x[0], 1.0), (x[1], x[0])] }; v.iter().map(|&(a, b)| a * b + b).sum() } [V(vec![0.3, 0.9])] [V(vec![0.3, -0.9])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for a in x { let mut v = vec![(*a, 1)]; if *a > 0.0 { v.push((a * 2.0, 2)); } else { v.push((a * 3.0, 3)); v.push((1.0, 4)); } v.push((*a, 5)); for (b, k) in &v { s += b * *k as f64; } } s } [V(vec![0.3, 0.9, -0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut at = vec![(0, x[0])]; if x[0] > 0.5 { at.push((1, x[1])); } let mut s = 0.0; for (i, v) in at { s += x[i] * v; } s } [V(vec![0.3, 0.9])] [V(vec![0.6, -0.9])] }
}

/// The last pushed element decides when the loop ends.
#[test]
fn loops_that_stop_at_a_pushed_element() {
    agrees! { fn f(x: slice) { let mut v = vec![x[0].abs() + 0.5]; while v[v.len() - 1] < 3.0 { let y = v[v.len() - 1] * 1.5; v.push(y); } v.iter().sum() } [V(vec![0.3])] [V(vec![5.0])] }
    agrees! { fn f(x: slice) { let mut v = vec![x[0].abs() + 0.5, x[1].abs()]; loop { let n = v.len(); let next = v[n - 1] + v[n - 2]; if next > 20.0 { break; } v.push(next); } v.iter().map(|a| a.sin()).sum::<f64>() * v.len() as f64 } [V(vec![0.3, 0.8])] [V(vec![30.0, 1.0])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); while *v.last().unwrap() > 0.1 { v.push(v[v.len() - 1] * 0.5 * x[0]); } v.iter().map(|a| a * a).sum() } [V(vec![0.9, 0.8])] [V(vec![0.3, 0.05])] [V(vec![])] }
    // An element before the last one decides, or an element that was pushed before the loop. The
    // capacity is given.
    let text = errors(
        quote!(),
        quote! { fn f(x: f64) -> f64 { let mut v = vec![x]; while v[v.len() / 2] < 3.0 { let y = v[v.len() - 1] * 1.5; v.push(y); } v.iter().sum() } },
    );
    assert!(text.contains("the length of `v` would depend") && text.contains("Vec::with_capacity(most)"), "{text}");
}

/// The capacity is given if nothing else bounds the length. A gradient that exceeds it panics.
#[test]
fn explicit_capacities() {
    agrees! { fn f(x: slice) { let mut s = 0.0; for &a in x { let mut v = Vec::with_capacity(12); let mut y = a.abs() + 0.1; while y < 4.0 { v.push(y); y *= 1.7; } for (i, b) in v.iter().enumerate() { s += b * i as f64; } } s } [V(vec![0.3, 0.8])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for &a in x { let mut v: Vec<f64> = Vec::with_capacity(12); let mut y = a.abs() + 0.1; while y < 4.0 { v.push(y); y *= 1.7; } for (i, b) in v.iter().enumerate() { s += b * i as f64; } } s } [V(vec![0.3, 0.8])] [V(vec![])] }
    agrees! { fn f(x: slice) { let n = x.len(); let mut stack = Vec::with_capacity(2 * n + 4); stack.push((0, 1.0)); let mut s = 0.0; while let Some((i, w)) = stack.pop() { if i >= n { continue; } s += w * x[i]; stack.push((2 * i + 1, w * 0.5)); stack.push((2 * i + 2, w * x[i])); } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let g = |t: f64| (x[0] * t).exp() + x[1] * t; let simpson = |a: f64, b: f64| (b - a) / 6.0 * (g(a) + 4.0 * g(0.5 * (a + b)) + g(b)); let mut stack = Vec::with_capacity(32); stack.push((0.0, 2.0)); let mut total = 0.0; while let Some((a, b)) = stack.pop() { let m = 0.5 * (a + b); let (whole, halves) = (simpson(a, b), simpson(a, m) + simpson(m, b)); if (whole - halves).abs() < 1e-3 { total += halves; } else { stack.push((a, m)); stack.push((m, b)); } } total } [V(vec![1.3, 0.8])] }
    // The length exceeds the capacity: `f` continues, and the derivative reports it.
    let source = program(
        quote!(),
        quote! { fn f(x: &[f64]) -> f64 { let mut s = 0.0; for &a in x { let mut v = Vec::with_capacity(2); let mut y = a; while y < 4.0 { v.push(y); y *= 1.7; } s += v.iter().sum::<f64>(); } s } },
    );
    assert_eq!(failed(&source, &[vector(&[2.0, 3.0])]), Vec::<String>::new());
    let text = failed(&source, &[vector(&[2.0, 1.0])]).join("; ");
    assert!(text.contains("more elements than the capacity given for the `Vec`"), "{text}");
}

#[test]
fn vectors_replaced_by_others_of_different_length() {
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let mut s = 0.0; let mut k = 0; while v.len() > 1 { if k % 2 == 0 { v = v.windows(2).map(|c| c[0] * c[1] + 0.1).collect(); } else { s += v[1]; v = v.iter().skip(1).map(|a| a * 0.7).collect(); } s += v[0]; k += 1; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let mut s = 0.0; while v.len() > 1 { v = v.chunks_exact(2).map(|c| c[0] * c[1] + 0.1).collect(); s += v[0]; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let mut s = 0.0; for _ in 0..2 { v = v.windows(2).map(|w| w[1] - w[0] * w[0]).collect(); s += v.iter().sum::<f64>(); } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![0.3, 0.4])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); for k in 0..3 { v = v.iter().map(|a| a * 0.8).filter(|a| *a > 0.1 * k as f64).collect(); } v.iter().map(|a| a * a).sum() } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut row = vec![x[0]]; for _ in 0..3 { let mut next = vec![x[0]]; for w in row.windows(2) { next.push(w[0] + w[1]); } next.push(x[1]); row = next; } row.iter().map(|a| a * a).sum() } [V(vec![0.3, 0.8])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let mut k = v.len() / 2; loop { let p = v[0]; let below: Vec<f64> = v.iter().copied().filter(|a| *a < p).collect(); let above: Vec<f64> = v.iter().copied().filter(|a| *a > p).collect(); if k < below.len() { v = below; } else if k == below.len() { break p * p; } else { k -= below.len() + 1; v = above; } } } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![x[0]]; let mut w = vec![x[1], x[0]]; let mut s = 0.0; for k in 0..4 { std::mem::swap(&mut v, &mut w); v.push(x[0] * k as f64); for (i, a) in w.iter().enumerate() { s += a * (i + 1) as f64; } } s + v.iter().sum::<f64>() } [V(vec![0.3, 0.8])] }
    agrees! { fn f(x: slice) { let n = x.len() / 2; let mut prev: Vec<f64> = (0..=n).map(|j| j as f64 * 0.7).collect(); for i in 0..n { let mut cur = vec![0.0; n + 1]; cur[0] = prev[0] + 0.7; for j in 0..n { let sub = prev[j] + (x[i] - x[n + j]).abs(); cur[j + 1] = -((-sub).exp() + (-prev[j + 1] - 0.7).exp() + (-cur[j] - 0.7).exp()).ln(); } prev = cur; } prev[n] } [V(vec![0.3, 0.8, -0.4, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = Vec::with_capacity(20); v.push(x[0]); for k in 0..3 { let mut w = Vec::new(); for a in &v { w.push(a * 0.5 + k as f64); if *a > 0.2 { w.push(a * a); } } v = w; } v.iter().map(|a| a * a).sum() } [V(vec![0.3])] [V(vec![-0.3])] }
    // The same in an inner loop.
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let mut s = 0.0; for i in 0..3 { for j in 0..2 { v = v.iter().map(|a| a * 0.9).filter(|a| *a > 0.05 * (i + j) as f64).collect(); } s += v.iter().sum::<f64>() * v.len() as f64; } s } [V(vec![0.3, 0.8, -0.4, 0.07, 0.2])] [V(vec![])] }
    let text = errors(
        quote!(),
        quote! { fn f(x: &[f64]) -> f64 { let mut v = vec![x[0]]; for _ in 0..3 { let mut w = Vec::new(); for a in &v { w.push(*a); w.push(a * a); } v = w; } v.iter().sum() } },
    );
    assert!(text.contains("the length of `v` would depend") && text.contains("Vec::with_capacity(most)"), "{text}");
}

#[test]
fn filtered_items() {
    agrees! { fn f(x: slice) { let v: Vec<f64> = x.iter().copied().filter(|a| *a > 0.25).collect(); let mut s = v.len() as f64; for i in 0..v.len() { s = s * v[i] + 1.0; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let v: Vec<(usize, f64)> = x.iter().copied().enumerate().filter(|(i, a)| *a > 0.25 && i % 2 == 0).collect(); v.iter().map(|(i, a)| a * a * (i + 1) as f64).sum() } [V(vec![0.3, 0.8, -0.4, 0.7, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for a in x { let v: Vec<f64> = x.iter().filter(|b| *b < a).map(|b| b * a).collect(); if let Some(m) = v.last() { s += m * v.len() as f64; } let w: Vec<f64> = x[..v.len()].iter().map(|b| b * b).collect(); s += w.iter().sum::<f64>(); } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let v: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).filter(|p| *p > 0.1).collect(); v.iter().enumerate().map(|(i, p)| p * i as f64).sum() } [V(vec![0.3, 0.8, -0.4])] [V(vec![])] }
}

#[test]
fn insertions_and_removals() {
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); for k in 0..3 { v.retain(|a| *a > 0.1 * k as f64); for a in v.iter_mut() { *a *= 0.9; } } v.iter().map(|a| a * a).sum() } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut q: Vec<f64> = Vec::new(); let mut s = 0.0; for &v in x { q.push(v); if q.len() > 3 { q.remove(0); } s += q.iter().sum::<f64>() * v; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut sorted: Vec<f64> = Vec::new(); let mut s = 0.0; for &v in x { let at = sorted.iter().position(|&a| a > v).unwrap_or(sorted.len()); sorted.insert(at, v); s += sorted[sorted.len() / 2] * sorted[0]; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = vec![x[0]]; for k in 0..2 { let more: Vec<f64> = x.iter().map(|a| a * k as f64).collect(); v.extend(more.iter()); v.extend_from_slice(&x[..1]); } v.iter().map(|a| a * a).sum() } [V(vec![0.3, 0.8])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); let a = v.remove(1); v.insert(0, a * a); let b = v.swap_remove(0); v.insert(v.len(), b); let mut w = vec![2.0]; w.extend_from_slice(&v); let mut s = v.len() as f64; for (i, a) in w.iter().enumerate() { s += a * a * i as f64; } s } [V(vec![0.3, 0.8, 0.5])] [V(vec![0.3, 0.4])] [V(vec![0.3])] }
    agrees! { fn f(x: slice, n: int) { let mut v = x.to_vec(); v.insert(n, 2.0); v[0] * v[v.len() - 1] } [V(vec![0.3, 0.8]), N(2)] [V(vec![0.3, 0.8]), N(3)] [V(vec![0.3, 0.8]), N(0)] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); v.extend(x.iter().filter(|a| **a > 0.25)); v.extend(vec![x[0]; 2]); v.iter().enumerate().map(|(i, a)| a * a * i as f64).sum() } [V(vec![0.3, 0.8, 0.1])] }
}

#[test]
fn sums_of_slices_of_growable_vectors() {
    agrees! { fn f(x: slice) { let mut s = 1.0; let mut k = 0; while k < x.len() { let mut v = x[..k].to_vec(); v.reverse(); for (i, a) in v.iter().enumerate() { s += a * i as f64; } let w = &v[v.len() / 2..]; s += w.iter().sum::<f64>(); k += 2; } s } [V(vec![0.3, 0.8, -0.4, 0.7, 0.2])] [V(vec![])] }
}

#[test]
fn items_taken_from_an_iterator_by_next() {
    agrees! { fn f(x: slice) { let mut it = x.iter(); let mut s = 0.0; while let Some(v) = it.next() { s = s * v + 1.0; } s } [V(vec![0.3, 0.8, -0.4])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut it = x.iter(); let mut s = *it.next().unwrap(); for v in it { s = s * v + 1.0; } s } [V(vec![0.3, 0.8, -0.4])] [V(vec![0.3])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut it = x.iter().peekable(); let mut s = 0.0; while let Some(v) = it.next() { if let Some(n) = it.peek() { s += *v * **n; } } s } [V(vec![0.3, 0.8, -0.4])] [V(vec![])] }
    // Two elements at a time are taken from the end, and then the remaining one.
    agrees! { fn f(x: slice) { let mut it = x.iter().rev().enumerate(); let mut s = 1.0; loop { let Some((i, a)) = it.next() else { break }; if i > 3 { s *= a; break; } match it.next() { Some((_, b)) => s += a * b * i as f64, None => { s -= a; break; } } } s + it.map(|(i, v)| v * i as f64).sum::<f64>() } [V(vec![0.3, 0.8, -0.4, 0.2, 0.7, 1.1, 0.9])] [V(vec![0.3, 0.8, -0.4])] [V(vec![])] }
    // A merge of two vectors.
    agrees! { fn f(x: slice) { let (a, b) = x.split_at(x.len() / 2); let (mut p, mut q) = (a.iter().peekable(), b.iter().peekable()); let mut s = 0.0; let mut k = 1.0; loop { let v = match (p.peek(), q.peek()) { (Some(u), Some(w)) => if u <= w { p.next() } else { q.next() }, (Some(_), None) => p.next(), (None, Some(_)) => q.next(), (None, None) => None }; let Some(v) = v else { break }; s += v * v * k; k += 1.0; } s } [V(vec![0.3, 0.8, -0.4, 0.2, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut it = x.iter(); let mut s = 0.0; for k in 0..3 { for _ in 0..k { if let Some(v) = it.next() { s = s * v + k as f64; } } } s } [V(vec![0.3, 0.8, -0.4])] [V(vec![0.3, 0.8, -0.4, 0.2])] [V(vec![])] }
    agrees! { fn f(x: slice) { x.iter().skip(1).next().map_or(2.0, |v| v * v) } [V(vec![0.3, 0.8])] [V(vec![])] }
}

#[test]
fn elements_of_growable_vectors_that_change() {
    agrees! { fn f(x: slice) { let mut groups: Vec<(f64, usize)> = Vec::new(); for &v in x { match groups.last_mut() { Some((sum, n)) if *sum / *n as f64 > v => { *sum += v; *n += 1; } _ => groups.push((v, 1)) } } groups.iter().map(|(s, n)| s * s / *n as f64).sum() } [V(vec![0.3, 0.8, -0.4, 0.25, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); if let Some(last) = v.last_mut() { *last *= x[0]; } if let Some(first) = v.first_mut() { *first += 1.0; } v.iter().map(|a| a * a).sum() } [V(vec![0.3, 0.8, -0.4])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut p = vec![(x[0], 1.0), (x[1], 2.0)]; for (a, b) in p.iter_mut() { *a += *b; *b *= *a; } let mut v = Vec::new(); for a in x { if *a > 0.0 { v.push((*a, 1.0)); } for q in v.iter_mut() { q.0 *= 0.9; q.1 += *a; } } p[0].1 * p[1].1 + v.iter().map(|(a, b)| a * b).sum::<f64>() } [V(vec![0.3, 0.8, -0.4])] }
}

/// A range of literals gets its type from its uses.
#[test]
fn types_of_ranges() {
    agrees! { fn f(x: slice) { let mut s = 0.0; let mut k = 1.0; for i in 0..20 { let p = 0.5_f64.powi(i); s += x[0] * p * k; k = -k; } s } [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut from = vec![0; 3]; let mut s = 0.0; for i in 0..3 { from[i] = i; s += x[from[i]] * i as f64; } s } [V(vec![0.3, 0.8, -0.4])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 1..4 { for j in 0..2 { s += x[j] * x[i - 1].powi(j as i32); } } s } [V(vec![0.3, 0.8, -0.4])] }
}

/// The array of one branch is a part of the other's.
#[test]
fn branches_with_a_part_and_the_whole_of_an_array() {
    agrees! { fn f(x: slice) { let v = if x[0] > 0.5 { x[..x.len() / 2].to_vec() } else { x.to_vec() }; v.iter().enumerate().map(|(i, a)| a * a * (i + 1) as f64).sum() } [V(vec![0.3, 0.8, -0.4])] [V(vec![0.7, 0.8, -0.4])] }
}

/// Branches of a condition that is known before may have different lengths, and so may values
/// computed from them.
#[test]
fn branches_of_different_lengths() {
    agrees! { fn f(x: slice, n: int, c: int) { let a: Vec<f64> = if c > 0 { x[..n].to_vec() } else { x.to_vec() }; a.iter().map(|v| v * v).sum::<f64>() * a.len() as f64 } [V(vec![0.3, 0.9, -0.2]), N(2), N(1)] [V(vec![0.3, 0.9, -0.2]), N(7), N(0)] }
    agrees! { fn f(x: slice, k: int) { let a = match k { 0 => x[..2].to_vec(), 1 => x.iter().map(|v| v * v).collect(), _ => vec![x[0]; k] }; a.iter().map(|v| v.sin()).sum() } [V(vec![0.3, 0.9, -0.2]), N(0)] [V(vec![0.3, 0.9, -0.2]), N(1)] [V(vec![0.3, 0.9, -0.2]), N(5)] }
}

/// A `None` that no inner loop changes.
#[test]
fn options_that_an_inner_loop_does_not_change() {
    agrees! { fn f(x: real) { let mut best = None; for _ in 0..3 { let mut t = x; for _ in 0..3 { t *= 0.5 * t; } best = Some(t); } best.unwrap_or(0.0) } [R(0.7)] }
}

/// The length of the steps depends on the outer loop: the butterflies of a Fourier transform.
#[test]
fn step_by_a_variable() {
    agrees! { fn f(x: slice) { let mut t = 0.0; for k in 1..4 { for i in (0..x.len()).step_by(k) { t += x[i] * x[i] * k as f64; } } t } [V(vec![0.3, 0.9, -0.2, 0.5, 0.7])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); let n = y.len(); let mut half = 1; while half < n { for start in (0..n).step_by(2 * half) { for k in start..start + half { let (a, b) = (y[k], y[k + half]); y[k] = a + b; y[k + half] = a * b; } } half *= 2; } y.iter().map(|v| v.sin()).sum() } [V(vec![0.3, 0.9, -0.2, 0.5])] [V(vec![0.3, 0.9, -0.2, 0.5, 0.1, 0.8, -0.7, 0.25])] }
}

/// The elements of a part of a matrix are numbers, not rows.
#[test]
fn parts_of_matrices() {
    let source = |body: proc_macro2::TokenStream| program(quote!(), quote! { fn f(x: &Array2<f64>) -> f64 { #body } });
    let x = array(&[3, 2], &[0.3, 0.9, -0.2, 0.5, 0.7, 0.1]);
    let of = |body| (run(&source(body), std::slice::from_ref(&x))[0] * 1e6).round() / 1e6;
    assert_eq!(
        of(quote! { let mut s = 0.0; for i in 0..x.nrows() { for v in x.slice(s![..i, ..]).iter() { s += v; } } s }),
        2.7
    );
    assert_eq!(
        of(quote! { let mut s = 0.0; for i in 0..x.nrows() { s += x.slice(s![..i, ..]).len() as f64; } s }),
        6.0
    );
    assert_eq!(
        of(quote! { let mut s = 0.0; for i in 0..x.nrows() { s += x.slice(s![i.., ..]).iter().count() as f64; } s }),
        12.0
    );
}

/// The growth of a `Vec` is found by a trial lowering of the step. A jump to an outer loop or out
/// of the function is one exit and not two, and a condition that holds in the trial does not hold
/// after it.
#[test]
fn early_exits_from_loops_that_push() {
    agrees! { fn f(x: slice) { let mut s = 0.0; 'outer: for i in 0..x.len() { let mut v = vec![x[i]]; for a in x { if *a > 8.0 { break 'outer; } if *a < -9.0 { continue 'outer; } v.push(a * 2.0); } for (k, a) in v.iter().enumerate() { s += a * a * k as f64; } } s + x[0] } [V(vec![3.0, 7.0, -2.0])] [V(vec![3.0, 9.0, -2.0])] [V(vec![3.0, -9.5, 2.0])] }
    agrees! { fn f(x: slice) { let mut v = Vec::new(); let mut s = x[0]; for a in x { if *a > 0.8 { return s * v.len() as f64 + 7.0 * a; } for b in x { if *b * s > 0.5 { return s * b + v.iter().sum::<f64>(); } if b > a { v.push(a * b); } } s += a * 0.3; } s + v.iter().sum::<f64>() } [V(vec![0.3, 0.7, -0.2])] [V(vec![0.3, 0.9, -0.2])] [V(vec![0.9])] [V(vec![0.7, 0.79, 0.5])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; let m = loop { let mut v = vec![s]; for a in x { if *a > s { v.push(a - s); } else if *a < -0.5 { break; } } s += 0.25; if v.len() < 2 { break v[0] * x[0]; } }; m + s } [V(vec![0.3, 0.7, -0.2])] [V(vec![0.3, -0.9, 0.6])] [V(vec![])] }
}

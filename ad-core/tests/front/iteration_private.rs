//! Loops in which each step reads and writes its own part of an array, and loops that only seem to.

use super::native::{self, Arg::*, agrees, ty};
use quote::quote;

#[test]
fn iterations_with_private_parts() {
    // Two arrays that are read before and after they are written.
    agrees! { fn f(x: slice, w: slice) { let mut h = x.to_vec(); let mut c = w.to_vec(); for i in 0..x.len() { c[i] = c[i] * w[i] + h[i]; h[i] = c[i].tanh() * h[i]; } let mut s = 0.0; for i in 0..x.len() { s += h[i] * c[i]; } s } [V(vec![0.3, 0.9, -1.2]), V(vec![0.5, -0.7, 1.1])] [V(vec![]), V(vec![])] }
    // The same in the steps of an outer loop, which read the earlier results.
    agrees! { fn f(x: slice, n: int) { let mut h = x.to_vec(); for _ in 0..n { for i in 0..x.len() { let before = h[i]; h[i] = (h[i] * x[i]).sin(); h[i] = h[i] * before; } } h.iter().sum() } [V(vec![0.3, 0.9, -1.2]), N(3)] [V(vec![0.3]), N(0)] }
    // A sum of the old and the new values is taken.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); let mut s = 0.0; for i in 0..x.len() { s += h[i]; h[i] = h[i].cos() * 2.0; s += h[i] * h[i]; } s * h[0] } [V(vec![0.3, 0.9, -1.2])] }
    // The loop runs backwards, and over some of the elements.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in (1..x.len()).rev() { h[i] = h[i] * h[i] + x[i - 1]; h[i] *= x[0]; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] [V(vec![0.3])] }
}

#[test]
fn iterations_that_share_elements() {
    // The neighbour that the previous step has written.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in 1..x.len() { h[i] = h[i] * h[i - 1]; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
    // The neighbour that the next step writes.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in 0..x.len() - 1 { h[i] = h[i] * h[i + 1]; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
    // Overlapping and disjoint pairs.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in 0..x.len() / 2 { h[2 * i] = h[2 * i] * h[2 * i + 1]; h[2 * i + 1] = h[2 * i].sin(); } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in 0..x.len() { h[i / 2] = h[i / 2] * x[i]; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
    // A value that is carried from step to step is written.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); let mut s = 1.0; for i in 0..x.len() { h[i] = h[i] * s; s = s.sin() + h[i]; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
    // The whole array is read.
    agrees! { fn f(x: slice) { let mut h = x.to_vec(); for i in 0..x.len() { let mut all = 0.0; for j in 0..x.len() { all += h[j] * h[j]; } h[i] = h[i] * all; } h.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4])] }
}

#[test]
fn neighbours_that_are_read_before_they_change() {
    // Reads of the previous element, if there is one: in one loop, and in nested loops.
    agrees! { fn f(x: slice, n: int) { let mut y = x.to_vec(); for _ in 0..n { let z = y.clone(); for i in 0..x.len() { y[i] = if i == 0 { x[0] * z[0] } else { z[i] + 0.5 * x[i] * z[i - 1] }; } } y.iter().sum() } [V(vec![0.3, 0.9, -1.2, 0.4]), N(3)] [V(vec![0.3]), N(2)] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { s += if i < 2 { x[i] } else { (x[i] * x[i - 2]).sin() }; } s } [V(vec![0.3, 0.9, -1.2, 0.4, 0.7])] [V(vec![0.3])] [V(vec![])] }
    // The first element is read in each step.
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { s += x[i] * x[i.saturating_sub(2)]; } s } [V(vec![0.3, 0.9, -1.2, 0.4, 0.7])] [V(vec![0.3])] }
    agrees! { fn f(x: slice) { let mut s = 0.0; for i in 0..x.len() { s += if i == 0 { 1.0 } else { x[i] * x[i.saturating_sub(2)] }; } s } [V(vec![0.3, 0.9, -1.2, 0.4, 0.7])] [V(vec![0.3, 0.2])] }
}

#[test]
fn rows_and_parts_of_rows() {
    // Without columns the number of rows is not checked. With columns, too few rows are an error.
    agrees! { fn f(w: slice, x: slice, t: int, n: int) { let mut y = x.to_vec(); for k in 0..t { for j in 0..n { y[j] = (y[j] * w[2 * n * k + j] + w[2 * n * k + n + j]).sin(); } } y.iter().sum() }
    [V(vec![0.3, 0.9, -1.2, 0.4, 0.7, 0.2, 0.1, -0.8]), V(vec![0.5, 0.7]), N(2), N(2)]
    [V(vec![0.3, 0.9, -1.2, 0.4, 0.7, 0.2, 0.1, -0.8]), V(vec![0.5, 0.7]), N(2), N(1)]
    [V(vec![0.3, 0.9, -1.2, 0.4, 0.7, 0.2, 0.1]), V(vec![0.5, 0.7]), N(2), N(2)]
    [V(vec![0.3, 0.9, -1.2, 0.4]), V(vec![0.5]), N(1), N(2)]
    [V(vec![]), V(vec![0.5, 0.7]), N(3), N(0)]
    [V(vec![]), V(vec![]), N(0), N(4)] }
}

//! Forms that are understood in most places, and not in these.

use ad::ndarray::NewAxis;
use ad::prelude::*;

#[differentiate]
fn f(x: &Array2<f64>, v: &[f64]) -> f64 {
    let mut y = x.clone();
    y.slice_mut(s![NewAxis, 1.., ..]).fill(1.0);
    y.slice_mut(s![1.., ..]).invert_axis(Axis(0));
    let z = std::mem::take(&mut y);
    let mut pair = (vec![1.0], 2.0);
    pair.0.extend(v);
    let part = v.get(1..3).unwrap();
    let first = v.iter().map(|a| (*a, 1.0)).last().unwrap_or_default();
    let mut queue = std::collections::VecDeque::from(vec![1.0, 2.0]);
    queue.remove(0);
    z.sum() + pair.0[1] + part[0] + first.0
}

#[differentiate]
fn parts(x: &[f64], k: f32) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    (a, b) = x[0];
    a + b + x[0].mul_add(2.0, k)
}

fn main() {}

//! Sums in memory order over arrays of unknown memory order.

use ad::prelude::*;

#[differentiate]
fn turned_elements(x: &Array2<f64>) -> f64 {
    let mut all = vec![x.to_owned()];
    for k in 0..3 {
        all.push(x.t().mapv(|v| v * (k as f64 + 0.5)));
    }
    if all[1].sum() > 1.0 { x[[0, 0]] } else { 2.0 * x[[0, 0]] }
}

#[differentiate]
fn folded_elements(x: &Array2<f64>) -> f64 {
    let turned = x.t().to_owned();
    let mut s = 0.0;
    for m in [x, &turned] {
        s += m.fold(0.0, |acc, v| 0.5 * acc + v);
    }
    s
}

#[differentiate]
fn parts_of_views(x: &Array2<f64>) -> f64 {
    let mut part = x.slice(s![.., ..2]);
    for k in 0..3 {
        if k == 1 {
            part = x.slice(s![.., ..4;2]);
        }
    }
    if part.sum() > 1.0 { x[[0, 0]] } else { x[[0, 1]] }
}

#[differentiate]
fn listed_views(x: &Array2<f64>) -> f64 {
    let mut s = 0.0;
    for view in [x.column(0), x.row(0)] {
        s += view.sum();
    }
    if s > 1.0 { x[[0, 0]] } else { x[[0, 1]] }
}

fn main() {}

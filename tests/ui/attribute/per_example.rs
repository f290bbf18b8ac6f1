//! `per_example` names parameters of the function, and leaves one to differentiate.

use ad::prelude::*;

#[differentiate(per_example(lable))]
fn unknown(w: f64, label: f64) -> f64 {
    w * label
}

#[differentiate(per_example(x, x))]
fn twice(w: f64, x: f64) -> f64 {
    w * x
}

#[differentiate(per_example(w, x))]
fn all(w: f64, x: f64) -> f64 {
    w * x
}

#[differentiate(per_example)]
fn none(w: f64, x: f64) -> f64 {
    w * x
}

#[differentiate(per_example(x))]
fn high(w: f64, x: &Array6<f64>) -> f64 {
    w * x.sum()
}

#[differentiate(per_example(x))]
fn high_shared(w: &Array6<f64>, x: f64) -> f64 {
    x * w.sum()
}

fn main() {
    let a: f64 = unknown_grad_each(1.0, &[1.0]);
    let b: f64 = all_grad_each(&[1.0], &[1.0]);
    let c: f64 = none_grad_each(1.0, &[1.0]);
    let d = twice_grad_each(1.0, &[1.0]) + high_grad_each(1.0, &[1.0]);
    println!("{a} {b} {c} {d} {}", high_shared_grad_each(1.0, &[1.0]));
}

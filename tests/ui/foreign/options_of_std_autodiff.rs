//! Options of std::autodiff.

use ad::prelude::*;

#[differentiate(Reverse)]
fn f0(x: f64) -> f64 {
    x * x
}

#[differentiate(autodiff_reverse)]
fn f1(x: f64) -> f64 {
    x * x
}

#[differentiate(Forward)]
fn f2(x: f64) -> f64 {
    x * x
}

#[differentiate(autodiff_forward)]
fn f3(x: f64) -> f64 {
    x * x
}

#[differentiate(Duplicated)]
fn f4(x: f64) -> f64 {
    x * x
}

#[differentiate(DualOnly)]
fn f5(x: f64) -> f64 {
    x * x
}

fn main() {}

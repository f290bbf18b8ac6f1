//! Operators by the names of their traits' methods.

use std::ops::{Add, Mul, MulAssign, Neg};

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>, y: f64) -> f64 {
    let mut s = y.mul(2.0) + (y + 1.0).add(y) - y.neg();
    s.mul_assign(3.0);
    if y.lt(&2.0) {
        return s;
    }
    x.mul(x).sum()
}

#[differentiate]
fn by_path(x: f64, y: f64) -> f64 {
    Add::add(x, y * 2.0)
}

fn main() {}

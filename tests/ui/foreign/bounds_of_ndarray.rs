//! Bounds of ndarray.

use ad::prelude::*;

mod other {
    pub trait NdFloat: Copy + std::ops::Mul<Output = Self> {}
    pub trait LinalgScalar: Copy + std::ops::Mul<Output = Self> {}
}

#[differentiate]
fn f0<T: other::NdFloat>(x: T) -> T {
    x * x
}

#[differentiate]
fn f1<T: other::LinalgScalar>(x: T) -> T {
    x * x
}

fn main() {}

//! Bounds of nalgebra.

use ad::prelude::*;

mod other {
    pub trait RealField: Copy + std::ops::Mul<Output = Self> {}
    pub trait Scalar: Copy + std::ops::Mul<Output = Self> {}
}

#[differentiate]
fn f0<T: other::RealField>(x: T) -> T {
    x * x
}

#[differentiate]
fn f1<T: other::Scalar>(x: T) -> T {
    x * x
}

fn main() {}

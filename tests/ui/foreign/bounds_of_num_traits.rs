//! Bounds of num_traits.

use ad::prelude::*;

mod other {
    pub trait Float: Copy + std::ops::Mul<Output = Self> {}
    pub trait FromPrimitive: Copy + std::ops::Mul<Output = Self> {}
}

#[differentiate]
fn f0<T: other::Float>(x: T) -> T {
    x * x
}

#[differentiate]
fn f1<T: other::FromPrimitive>(x: T) -> T {
    x * x
}

fn main() {}

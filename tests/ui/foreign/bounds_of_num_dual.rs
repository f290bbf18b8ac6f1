//! Bounds of num_dual.

use ad::prelude::*;

mod other {
    pub trait DualNum: Copy + std::ops::Mul<Output = Self> {}
}

#[differentiate]
fn f0<T: other::DualNum>(x: T) -> T {
    x * x
}

fn main() {}

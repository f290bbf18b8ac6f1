//! Types of glam.

use ad::prelude::*;

mod other {
    pub struct Vec3(pub f64);
    pub struct Quat(pub f64);
}

#[differentiate]
fn f0(x: &other::Vec3) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::Quat) -> f64 {
    x.0
}

fn main() {}

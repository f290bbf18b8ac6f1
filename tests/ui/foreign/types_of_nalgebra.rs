//! Types of nalgebra.

use ad::prelude::*;

mod other {
    pub struct DVector(pub f64);
    pub struct RowDVector(pub f64);
    pub struct DMatrix(pub f64);
    pub struct Matrix(pub f64);
    pub struct Point2(pub f64);
    pub struct Point3(pub f64);
}

#[differentiate]
fn f0(x: &other::DVector) -> f64 {
    x.0
}

#[differentiate]
fn f1(x: &other::RowDVector) -> f64 {
    x.0
}

#[differentiate]
fn f2(x: &other::DMatrix) -> f64 {
    x.0
}

#[differentiate]
fn f3(x: &other::Matrix) -> f64 {
    x.0
}

#[differentiate]
fn f4(x: &other::Point2) -> f64 {
    x.0
}

#[differentiate]
fn f5(x: &other::Point3) -> f64 {
    x.0
}

fn main() {}

//! Types as other languages have them, and results that say that there is none.

use ad::prelude::*;

#[differentiate]
fn of_c(x: float, y: double) -> float {
    x
}

#[differentiate]
fn of_julia(x: Float64, n: int) -> Float64 {
    x
}

#[differentiate]
fn checked(x: Result<f64, f64>) -> f64 {
    x.unwrap()
}

#[differentiate(jacobian, hessian, pullback)]
fn of_several(x: &Array1<float>) -> f64 {
    x.sum()
}

#[differentiate(vjp)]
fn borrowed(x: &[f64]) -> &[f64] {
    x
}

fn main() {
    let x: Array1<f64> = of_several_jacobian(&Array1::zeros(1));
    let (y, back) = of_several_pullback(&Array1::zeros(1));
    back(y);
    let (_, g): (Vec<f64>, Vec<f64>) = borrowed_vjp(&[1.0], &[1.0]);
}

//! Types that are nearly right.

use ad::prelude::*;

type Aray1<F> = Array1<F>;
type Matrix64 = Array2<f64>;

#[differentiate]
fn f(x: &Aray1<f64>) -> f64 {
    x.sum()
}

#[differentiate]
fn g(x: &Matrix64) -> f64 {
    x.sum()
}

fn main() {}

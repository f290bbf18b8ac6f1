//! A closure with a name where one is called that may change what is around it.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    let add = |a: &mut f64, b: &f64| *a += b;
    y.zip_mut_with(x, add);
    y.sum()
}

fn main() {}

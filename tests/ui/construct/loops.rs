//! Loops: every place is shown at once.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i];
    }
    while total > 1.0 {
        total /= 2.0;
    }
    total
}

fn main() {
    println!("{}", f(&array![1.0]) + f_grad(&array![1.0])[0]);
}

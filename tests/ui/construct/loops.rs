//! Loops: every place is shown at once.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut total = x.sum();
    while total > 1.0 {
        total /= 2.0;
    }
    loop {
        total += 1.0;
        if total > 5.0 {
            break;
        }
    }
    total
}

fn main() {
    println!("{}", f(&array![1.0]) + f_grad(&array![1.0])[0]);
}

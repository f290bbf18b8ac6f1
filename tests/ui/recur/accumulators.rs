//! Accumulators that are tuples, that change from step to step, and that are an `Option`.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let pairs = scan((0.0, 1.0), x, |(a, b), e| (a + e, b * e));
    let changing = fold(0.0, x, |a, e| array![a, e]);
    let option = fold(x.first(), x, |a, e| a);
    changing
}

fn main() {
    println!("{}", f_grad(&array![1.0])[0]);
}

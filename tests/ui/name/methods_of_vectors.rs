//! What a `Vec` has and is written in another way here.

use ad::prelude::*;

#[differentiate]
fn parts(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let (a, b) = v.split_at_mut(1);
    a[0] += b[0];
    v[0]
}

fn main() {
    let x = [1.0, 2.0];
    println!("{}", parts(&x) + parts_grad(&x)[0]);
}

//! What a `Vec` has and is written in another way here.

use ad::prelude::*;

#[differentiate]
fn longer(x: &[f64]) -> f64 {
    let mut v = vec![x[0]];
    v.extend(x.iter().map(|e| e * e));
    v.extend_from_slice(x);
    v.insert(0, x[0]);
    v.iter().sum()
}

#[differentiate]
fn shorter(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.retain(|e| *e > 0.5);
    v.remove(0);
    v.iter().sum()
}

#[differentiate]
fn parts(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let (a, b) = v.split_at_mut(1);
    a[0] += b[0];
    let mut s = 0.0;
    for e in x.iter().peekable() {
        s += e;
    }
    s + v[0]
}

fn main() {
    let x = [1.0, 2.0];
    println!("{}", longer(&x) + longer_grad(&x)[0] + shorter(&x) + shorter_grad(&x)[0]);
    println!("{}", parts(&x) + parts_grad(&x)[0]);
}

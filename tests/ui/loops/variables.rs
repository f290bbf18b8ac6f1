//! A variable that a loop may not assign, and one that it may not have assigned.

use ad::prelude::*;

#[differentiate]
fn never_assigned(x: &Array1<f64>) -> f64 {
    let last;
    for v in x {
        last = *v;
        break;
    }
    last * last
}

#[differentiate]
fn fixed(x: &Array1<f64>) -> f64 {
    let total = 0.0;
    for v in x {
        total += v;
    }
    total
}

#[differentiate]
fn captured(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    let mut add = move |v: &f64| total += v;
    x.iter().for_each(&mut add);
    total
}

fn main() {
    let x = array![1.0, 2.0];
    println!("{}", never_assigned(&x) + never_assigned_grad(&x)[0] + fixed(&x) + fixed_grad(&x)[0]);
    println!("{}", captured(&x) + captured_grad(&x)[0]);
}

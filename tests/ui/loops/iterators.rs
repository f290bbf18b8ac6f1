//! What a loop runs over is known here, and what it changes shows where it begins.

use ad::prelude::*;

#[differentiate]
fn of_the_user(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for v in every_other(x) {
        total += v * v;
    }
    total
}

fn every_other(x: &Array1<f64>) -> impl Iterator<Item = f64> + '_ {
    x.iter().copied().step_by(2)
}

#[differentiate]
fn unknown(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for v in x.iter().inspect(|_| ()) {
        total += v;
        if total > 2.0 {
            break;
        }
    }
    total
}

#[differentiate]
fn made_before(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    let parts = y.iter_mut();
    for v in parts {
        *v *= 2.0;
    }
    y.sum()
}

#[differentiate]
fn without_end(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0.. {
        total += x[i];
    }
    total
}

fn main() {
    let x = array![1.0, 2.0];
    println!("{}", of_the_user(&x) + of_the_user_grad(&x)[0] + unknown(&x) + unknown_grad(&x)[0]);
    println!("{}", made_before(&x) + made_before_grad(&x)[0] + without_end(&x) + without_end_grad(&x)[0]);
}

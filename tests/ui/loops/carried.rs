//! What a loop carries has one type and one shape in all steps.

use ad::prelude::*;

#[differentiate]
fn shrinks(x: &Array1<f64>) -> f64 {
    let mut all = x.clone();
    for _ in 0..3 {
        all = all.slice(s![1..]).to_owned();
    }
    all.sum()
}

#[differentiate]
fn nothing_yet(x: &Array1<f64>) -> f64 {
    let mut found = None;
    for i in 0..3 {
        if x[i] > 1.0 {
            found = Some(x.clone());
        }
    }
    found.map_or(0.0, |y| y.sum())
}

#[differentiate]
fn ranges(x: &Array1<f64>) -> f64 {
    let mut range = 0..2;
    for i in 0..3 {
        range = i..3;
    }
    range.map(|i| x[i]).sum::<f64>()
}

#[differentiate]
fn some(x: &Array1<f64>) -> f64 {
    let mut large = Vec::new();
    for v in x {
        if *v > 1.0 {
            large.push(*v);
        }
    }
    large.iter().sum()
}

#[differentiate]
fn until(x: &Array1<f64>) -> f64 {
    let mut before = vec![];
    for v in x {
        if *v > 1.0 {
            break;
        }
        before.push(*v);
    }
    before.iter().sum()
}

fn main() {
    let x = array![1.0, 2.0, 3.0];
    println!("{}", shrinks(&x) + shrinks_grad(&x)[0]);
    println!("{}", nothing_yet(&x) + nothing_yet_grad(&x)[0]);
    println!("{}", ranges(&x) + ranges_grad(&x)[0]);
    println!("{}", some(&x) + some_grad(&x)[0] + until(&x) + until_grad(&x)[0]);
}

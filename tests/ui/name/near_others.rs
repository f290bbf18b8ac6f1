//! Names of every other kind that are nearly right: of variables, of functions of types and modules, of macros, labels and places.

use ad::prelude::*;

#[differentiate]
fn variables(weights: f64) -> f64 {
    let total = weigths * 2.0;
    total
}

#[differentiate]
fn functions_of_types(x: f64) -> f64 {
    let y = Array1::zeross(3);
    f64::sqr(x) * y.sum()
}

#[differentiate]
fn functions_of_modules(x: f64) -> f64 {
    let (mut a, mut b) = (x, 2.0 * x);
    std::mem::swp(&mut a, &mut b);
    std::iter::repeat_m(a, 3).sum::<f64>()
}

#[differentiate]
fn functions_of_ndarray(x: &Array1<f64>) -> f64 {
    ad::ndarray::stak(Axis(0), &[x.view()]).unwrap().sum()
}

#[differentiate]
fn macros(x: f64) -> f64 {
    arrray![x, x].sum()
}

#[differentiate]
fn labels(x: f64) -> f64 {
    'outer: loop {
        break 'outter x;
    }
}

#[differentiate]
fn changes(x: &Array1<f64>) -> f64 {
    let mut y = x.to_owned();
    y.asign(x);
    y.sum()
}

#[differentiate]
fn of_std(x: f64) -> f64 {
    std::iter::successors(Some(x), |v| Some(2.0 * v)).take(4).sum()
}

fn main() {}

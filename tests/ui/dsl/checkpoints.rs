//! `checkpoint` takes a closure without parameters, and gives back a value.

use ad::prelude::*;

fn one() -> f64 {
    1.0
}

#[differentiate]
fn with_a_parameter(x: f64) -> f64 {
    checkpoint(|y: f64| x * y)
}

#[differentiate]
fn of_a_value(x: f64) -> f64 {
    checkpoint(x * x)
}

#[differentiate]
fn of_a_function(x: f64) -> f64 {
    checkpoint(f64::default) + checkpoint(one) * x
}

#[differentiate]
fn of_a_closure(x: f64) -> f64 {
    let f = checkpoint(|| move |y: f64| x * y);
    f(x)
}

fn main() {}

//! Errors of the marks of functions whose bodies are not read.

use ad::prelude::*;

#[custom_vjp]
fn without_a_rule(x: f64) -> f64 {
    x
}

#[custom_jvp(f(x))]
fn no_path(x: f64) -> f64 {
    x
}

#[constant(1)]
fn arguments(x: f64) -> f64 {
    x
}

fn rule(x: f64, cotangent: f64) -> (f64, f64) {
    (x, cotangent)
}

#[constant]
#[custom_vjp(rule)]
fn both(x: f64) -> f64 {
    x
}

#[custom_vjp(rule)]
struct NotAFunction;

#[custom_vjp(rule)]
fn discrete(n: usize) -> f64 {
    n as f64
}

#[constant]
fn sized<const N: usize>(x: [f64; N]) -> f64 {
    x[0]
}

#[constant]
fn pairs(x: &[(f64, f64)]) -> f64 {
    x[0].0
}

struct Other;

#[differentiate]
impl Other {
    #[constant]
    fn method(x: f64) -> f64 {
        x
    }
}

#[differentiate]
fn inside(x: f64) -> f64 {
    #[constant]
    fn hidden(x: f64) -> f64 {
        x
    }
    hidden(x)
}

fn main() {}

//! Types of std around numbers.

use std::rc::Rc;
use std::sync::Arc;

use ad::prelude::*;

#[differentiate]
fn f(a: Box<f64>, b: Rc<f64>, c: Arc<f64>, d: Option<&Array1<f64>>) -> f64 {
    *a + *b + *c + d.unwrap().sum()
}

#[differentiate]
fn g(x: f64, s: &str, t: String, c: char) -> f64 {
    let _ = (s, t, c);
    x
}

fn main() {}

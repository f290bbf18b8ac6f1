//! Expressions that mean nothing here.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let _ = <f64 as Default>::default();
    let _ = std::ptr::addr_of!(x);
    x
}

fn main() {}

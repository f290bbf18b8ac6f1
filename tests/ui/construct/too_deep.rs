//! Expressions that nest too deeply for the compiler's stack.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
}

fn main() {}

//! Const parameters are sizes.

use ad::prelude::*;

#[differentiate]
fn f<const FLAG: bool>(x: f64) -> f64 {
    if FLAG { x } else { -x }
}

fn main() {}

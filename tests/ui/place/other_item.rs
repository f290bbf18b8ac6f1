//! On something else.

use ad::prelude::*;

#[differentiate]
type Real64 = f64;

fn main() {}

//! On a constant.

use ad::prelude::*;

#[differentiate]
const RATE: f64 = 0.5;

fn main() {}

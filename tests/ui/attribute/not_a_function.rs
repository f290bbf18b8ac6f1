//! The attribute goes on functions.

use ad::prelude::*;

#[differentiate]
pub struct Point {
    pub x: f64,
}

fn main() {
    println!("{}", Point { x: 1.0 }.x);
}

//! Macros that print.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    print!("{x}");
    eprint!("{x}");
    eprintln!("{x}");
    dbg!(x)
}

fn main() {}

//! Assertions.

use ad::prelude::*;

#[differentiate]
fn f(x: f64, n: usize) -> f64 {
    assert_eq!(n, 1);
    assert_ne!(n, 2);
    debug_assert!(n > 0);
    debug_assert_eq!(n, 1);
    debug_assert_ne!(n, 2);
    if n > 3 { panic!("too many") } else { x }
}

#[differentiate]
fn g(x: f64, n: usize) -> f64 {
    if n > 3 { unreachable!() } else { x }
}

fn main() {}

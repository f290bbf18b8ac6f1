//! Two types of one name in the blocks of a function.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    struct Point(f64);
    let p = Point(x);
    let q = {
        struct Point(f64, f64);
        let q = Point(x, 2.0);
        q.0 * q.1
    };
    p.0 * q
}

fn main() {}

//! Modules are not supported yet.

use ad::differentiate;

#[differentiate]
mod m {
    pub fn f(x: f64) -> f64 {
        x * x
    }
}

fn main() {}

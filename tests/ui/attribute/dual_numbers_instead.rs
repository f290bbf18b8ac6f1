//! What the body of a generic function cannot have is no obstacle for `mode = "dual_numbers"`.

use ad::prelude::*;

#[differentiate]
fn prints<T: Real>(x: T) -> T {
    let text = format!("{x}");
    x * T::lit(text.len() as f64)
}

fn main() {}

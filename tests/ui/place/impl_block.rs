//! On an `impl` block.

use ad::prelude::*;

struct Model {
    rate: f64,
}

#[differentiate]
impl Model {
    fn loss(&self, x: f64) -> f64 {
        self.rate * x
    }
}

fn main() {
    println!("{}", Model { rate: 1.0 }.loss(1.0));
}

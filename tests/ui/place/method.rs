//! On a method.

use ad::prelude::*;

struct Model {
    rate: f64,
}

impl Model {
    #[differentiate]
    fn loss(&self, x: f64) -> f64 {
        self.rate * x
    }
}

fn main() {
    println!("{}", Model { rate: 1.0 }.loss(1.0));
}

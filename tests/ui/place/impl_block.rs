//! Options of derivatives on an `impl` block, and a block of what has no name.

use ad::prelude::*;

#[derive(Clone, Differentiable)]
struct Model {
    rate: f64,
}

#[differentiate(grad, wrt(self))]
impl Model {
    fn loss(&self, x: f64) -> f64 {
        self.rate * x
    }
}

trait Layer {
    fn apply(&self, x: f64) -> f64;
}

#[differentiate]
impl Layer for fn(f64) -> f64 {
    fn apply(&self, x: f64) -> f64 {
        self(x)
    }
}

fn main() {
    println!("{}", Model { rate: 1.0 }.loss(1.0));
}

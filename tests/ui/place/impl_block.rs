//! Options of derivatives on an `impl` block, and blocks of what has no name or no definition.

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

#[differentiate]
impl std::ops::Mul<Model> for f64 {
    type Output = Model;
    fn mul(self, model: Model) -> Model {
        Model { rate: self * model.rate }
    }
}

fn main() {
    println!("{}", Model { rate: 1.0 }.loss(1.0));
}

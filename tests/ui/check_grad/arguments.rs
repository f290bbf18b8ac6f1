//! Calls with wrong arguments.

use ad::prelude::*;

#[differentiate]
fn weighted(x: f64, y: &Array1<f64>) -> f64 {
    x * y.sum()
}

#[derive(Clone, Differentiable)]
struct Model {
    rate: f64,
}

#[differentiate]
impl Model {
    #[differentiate]
    fn loss(&self, x: f64) -> f64 {
        self.rate * x
    }
}

fn main() {
    let y = array![1.0];
    ad::check_grad!(weighted(1.0));
    ad::check_grad!(weighted());
    ad::check_grad!(weighted(1.0, &y, 3));
    ad::check_grad!(weighted(&y, 1.0));
    ad::check_grad!(Model { rate: 1.0 }.loss());
    ad::check_grad!(Model::loss(&Model { rate: 1.0 }));
}

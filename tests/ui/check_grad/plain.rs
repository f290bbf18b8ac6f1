//! Functions that have no derivatives to check.

use ad::prelude::*;

fn plain(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn helper(x: f64) -> f64 {
    x * x
}

mod model {
    pub fn loss(x: f64) -> f64 {
        x * x
    }
}

struct Model;

impl Model {
    fn loss(&self, x: f64) -> f64 {
        x * x
    }
}

fn main() {
    ad::check_grad!(plain(1.0));
    ad::check_grad!(helper(1.0));
    ad::check_grad!(model::loss(1.0));
    ad::check_grad!(Model.loss(1.0));
}

//! On functions of `impl` blocks and traits without a mark.

use ad::prelude::*;

struct Model;

impl Model {
    #[differentiate]
    fn square(x: f64) -> f64 {
        x * x
    }

    #[differentiable]
    fn helper(x: f64) -> f64 {
        x * x
    }

    #[constant]
    fn measured() -> f64 {
        1.0
    }

    #[custom_vjp(rule)]
    fn sine(x: f64) -> f64 {
        x.sin()
    }
}

trait Layer {
    #[differentiate]
    fn of_all(x: f64) -> f64 {
        x * x
    }
}

mod model {
    use ad::prelude::*;

    #[differentiate]
    pub fn square(x: f64) -> f64 {
        x * x
    }
}

fn main() {
    println!("{} {}", Model::square_grad(1.0), model::square_grad(1.0));
    println!("{} {} {}", Model::helper(1.0), Model::measured(), Model::sine(1.0));
}

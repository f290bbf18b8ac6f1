use ad::prelude::*;

#[derive(Differentiable)]
struct Layer<'a> {
    weights: &'a Array2<f64>,
    bias: f64,
}

fn main() {}

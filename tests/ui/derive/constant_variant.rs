use ad::prelude::*;

#[derive(Differentiable)]
enum Layer {
    Dense(Array2<f64>, Array1<f64>),
    #[constant]
    Scale(f64),
}

fn main() {}

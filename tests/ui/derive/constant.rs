use ad::prelude::*;

#[derive(Differentiable)]
struct Body {
    position: [f64; 3],
    #[constant(mass)]
    mass: f64,
}

fn main() {}

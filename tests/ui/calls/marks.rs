//! Items that `#[differentiable]` does not mark.

use ad::prelude::*;

#[differentiable]
struct State {
    x: f64,
}

#[differentiable(grad)]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
async fn waits(x: f64) -> f64 {
    x
}

struct Owner;

impl Owner {
    #[differentiable]
    fn method(&self, x: f64) -> f64 {
        x
    }
}

fn main() {}

use ad::prelude::*;

#[derive(Differentiable)]
struct Sensor<T: Real> {
    gain: T,
    offsets: Vec<[f32; 3]>,
}

fn main() {}

use ad::prelude::*;

#[derive(Differentiable)]
enum Never {}

fn main() {}

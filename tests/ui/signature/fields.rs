//! Fields of types that parameters cannot have.

use ad::prelude::*;

#[derive(Clone, Differentiable)]
struct Chain {
    x: f64,
    next: Option<Box<Chain>>,
}

#[derive(Clone, Differentiable)]
struct Pair<A> {
    first: A,
    at: f64,
}

#[differentiate]
fn f(chain: &Chain) -> f64 {
    chain.x
}

#[differentiate]
fn g(pair: Pair<f64>) -> f64 {
    pair.at
}

#[derive(Clone, Differentiable)]
struct Line {
    slope: f64,
    #[constant]
    scale: f64,
}

#[differentiate]
fn h(line: &Line) -> Line {
    line.clone()
}

fn main() {}

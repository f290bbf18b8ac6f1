//! Fields of types that parameters cannot have.

use ad::prelude::*;

#[derive(Clone, Differentiable)]
struct Chain {
    x: f64,
    next: Box<f64>,
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

#[derive(Clone, Differentiable)]
struct Named {
    x: f64,
    #[constant]
    name: String,
}

#[differentiate]
fn k(list: &[Named]) -> f64 {
    list[0].x
}

#[differentiate]
fn l(named: &Named) -> Named {
    named.clone()
}

#[differentiate(pullback)]
fn m(named: &Named) -> f64 {
    named.x
}

#[differentiate]
fn n(named: &Named) -> f64 {
    if named.name.is_empty() { named.x } else { 0.0 }
}

fn main() {}

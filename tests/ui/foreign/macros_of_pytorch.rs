//! Macros of PyTorch.

use ad::prelude::*;

macro_rules! tensor {
    ($x:expr) => {
        $x
    };
}

macro_rules! no_grad {
    ($x:expr) => {
        $x
    };
}

#[differentiate]
fn f0(x: f64) -> f64 {
    tensor!(x)
}

#[differentiate]
fn f1(x: f64) -> f64 {
    no_grad!(x)
}

fn main() {}

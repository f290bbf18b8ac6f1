//! Functions of JAX.

use ad::prelude::*;

mod other {
    pub fn vmap(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn grad(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn value_and_grad(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn lax_scan(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn while_loop(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn jit(_: &super::Array2<f64>) -> f64 {
        0.0
    }
    pub fn segment_sum(_: &super::Array2<f64>) -> f64 {
        0.0
    }
}

use other::{grad, jit, lax_scan, segment_sum, value_and_grad, vmap, while_loop};

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [vmap(x), grad(x), value_and_grad(x), lax_scan(x), while_loop(x), jit(x), segment_sum(x)];
    parts[0]
}

fn main() {}

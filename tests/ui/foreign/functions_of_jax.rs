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

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [
        other::vmap(x),
        other::grad(x),
        other::value_and_grad(x),
        other::lax_scan(x),
        other::while_loop(x),
        other::jit(x),
        other::segment_sum(x),
    ];
    parts[0]
}

fn main() {}

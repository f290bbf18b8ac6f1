//! Methods of nalgebra.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn component_mul(&self) -> f64 {
        0.0
    }
    fn component_div(&self) -> f64 {
        0.0
    }
    fn magnitude(&self) -> f64 {
        0.0
    }
    fn norm_l2(&self) -> f64 {
        0.0
    }
    fn norm_squared(&self) -> f64 {
        0.0
    }
    fn magnitude_squared(&self) -> f64 {
        0.0
    }
    fn normalize(&self) -> f64 {
        0.0
    }
    fn add_scalar(&self) -> f64 {
        0.0
    }
    fn try_inverse(&self) -> f64 {
        0.0
    }
    fn solve(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [
        x.component_mul(),
        x.component_div(),
        x.magnitude(),
        x.norm_l2(),
        x.norm_squared(),
        x.magnitude_squared(),
        x.normalize(),
        x.add_scalar(),
        x.try_inverse(),
        x.solve(),
    ];
    parts[0]
}

fn main() {}

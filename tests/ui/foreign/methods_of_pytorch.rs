//! Methods of PyTorch.

use ad::prelude::*;

/// Methods that someone has added to everything.
trait More {
    fn where_self(&self) -> f64 {
        0.0
    }
    fn masked_select(&self) -> f64 {
        0.0
    }
    fn unsqueeze(&self) -> f64 {
        0.0
    }
    fn clamp_min(&self) -> f64 {
        0.0
    }
    fn clamp_max(&self) -> f64 {
        0.0
    }
    fn backward(&self) -> f64 {
        0.0
    }
    fn grad(&self) -> f64 {
        0.0
    }
    fn detach(&self) -> f64 {
        0.0
    }
    fn view_as(&self) -> f64 {
        0.0
    }
    fn item(&self) -> f64 {
        0.0
    }
    fn cpu(&self) -> f64 {
        0.0
    }
    fn to_dtype(&self) -> f64 {
        0.0
    }
    fn pow_tensor(&self) -> f64 {
        0.0
    }
    fn pow_tensor_scalar(&self) -> f64 {
        0.0
    }
    fn mean_dim(&self) -> f64 {
        0.0
    }
    fn sum_dim(&self) -> f64 {
        0.0
    }
    fn log_softmax(&self) -> f64 {
        0.0
    }
}

impl<T: ?Sized> More for T {}

#[differentiate]
fn f(x: &Array2<f64>) -> f64 {
    let parts = [
        x.where_self(),
        x.masked_select(),
        x.unsqueeze(),
        x.clamp_min(),
        x.clamp_max(),
        x.backward(),
        x.grad(),
        x.detach(),
        x.view_as(),
        x.item(),
        x.cpu(),
        x.to_dtype(),
        x.pow_tensor(),
        x.pow_tensor_scalar(),
        x.mean_dim(),
        x.sum_dim(),
        x.log_softmax(),
    ];
    parts[0]
}

fn main() {}

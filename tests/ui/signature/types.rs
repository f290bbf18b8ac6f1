//! Types that are refused, each with what to write instead.

use std::collections::HashMap;

use ad::ndarray::{ArcArray1, ArrayD};
use ad::prelude::*;

#[differentiate]
fn f(x: &ArrayD<f64>, y: &ArcArray1<f64>, z: [f64; 3], w: &[(f64, &[f64])]) -> f64 {
    x.sum() + y.sum() + z[0] + w[0].0
}

#[differentiate]
fn of_map(x: &HashMap<String, f64>, y: f64) -> f64 {
    y * x["a"]
}

fn main() {
    println!("{}", of_map(&HashMap::new(), 1.0));
    println!("{}", f(&array![1.0].into_dyn(), &array![1.0].into_shared(), [0.0; 3], &[]));
}

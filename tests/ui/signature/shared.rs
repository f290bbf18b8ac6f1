//! Arrays that are shared or perhaps borrowed.

use ad::ndarray::{ArcArray, ArcArray2, CowArray, Ix1};
use ad::prelude::*;

#[differentiate]
fn f(x: ArcArray<f64, Ix1>, y: &ArcArray2<f64>, z: CowArray<f64, Ix1>) -> f64 {
    x.sum() + y.sum() + z.sum()
}

fn main() {}

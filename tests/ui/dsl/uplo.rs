//! A triangle that is known only when the program runs.

use ad::linalg::{self, Uplo};
use ad::prelude::*;

#[differentiate]
fn f(t: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let which = if b[0] > 0.0 { Uplo::Lower } else { Uplo::Upper };
    linalg::solve_triangular(t, b, which).sum()
}

fn main() {}

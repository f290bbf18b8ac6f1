//! Which of two mutable references it is would have to be known.

use ad::prelude::*;

#[differentiate]
fn chosen_row(x: &Array2<f64>) -> f64 {
    let mut y = x.to_owned();
    let mut row = if x[[0, 0]] > 0.0 { y.row_mut(0) } else { y.row_mut(1) };
    row[0] *= 2.0;
    y.sum()
}

fn main() {}

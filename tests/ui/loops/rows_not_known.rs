//! Arrays that a loop pushes and looks at, each with another size.

use ad::prelude::*;

#[differentiate]
fn f(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = vec![];
    for i in 0..x.len() {
        let mut row = vec![1.0; i + 1];
        for j in 1..i {
            row[j] = rows[i - 1][j - 1] * x[i] + rows[i - 1][j];
        }
        rows.push(row);
    }
    rows[x.len() - 1].iter().sum()
}

fn main() {}

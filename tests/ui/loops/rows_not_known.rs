//! Arrays that a loop pushes and looks at, where nothing says how large they are.

use ad::prelude::*;

#[differentiate]
fn f(x: &[f64]) -> f64 {
    let mut rows: Vec<Array1<f64>> = vec![];
    for i in 0..3 {
        let next = match rows.last() {
            Some(row) => row * 2.0,
            None => Array1::from_vec(x.to_vec()),
        };
        rows.push(next + i as f64);
    }
    rows[2].sum()
}

fn main() {}

//! Derivatives of functions that may have no result.

use ad::prelude::*;

#[differentiate(jacobian(sparse))]
fn band(x: &[f64]) -> Option<Vec<f64>> {
    if x.is_empty() { None } else { Some(x.iter().map(|v| v * v).collect()) }
}

#[differentiate(grad, per_example(x))]
fn loss(w: &Array1<f64>, x: &Array2<f64>) -> Result<f64, String> {
    if w.is_empty() {
        return Err("no weights".into());
    }
    Ok(x.row(0).dot(w))
}

#[differentiate]
fn root(root: f64) -> Result<f64, String> {
    if root < 0.0 { Err("negative".into()) } else { Ok(root.sqrt()) }
}

#[differentiate]
fn number(x: f64) -> Option<f64> {
    Some(x > 0.0)
}

fn main() {}

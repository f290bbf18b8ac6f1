//! A function whose types `check_grad!` does not know.

use std::collections::HashMap;

use ad::prelude::*;

#[differentiate(mode = "dual_numbers")]
fn total<T: Real>(weights: &HashMap<String, T>, scale: f64) -> T {
    weights.values().map(|&w| w * w).sum::<T>() * T::lit(scale)
}

fn main() {
    let weights = HashMap::from([("a".to_string(), 2.0)]);
    assert_eq!(total_grad(&weights, 0.5)["a"], 2.0);
    ad::check_grad!(total(&weights, 0.5));
}

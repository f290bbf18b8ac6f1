//! Adapters that stop or change nothing.

use ad::prelude::*;

#[differentiate]
fn f(x: &[f64]) -> f64 {
    let e = x.iter().try_fold(0.0, |a, v| if *v > 0.0 { Some(a + v) } else { None });
    let g: f64 = x.iter().inspect(|_| ()).sum();
    x.iter().try_for_each(|v| if *v > 0.0 { Some(()) } else { None });
    let h = [x, x].concat();
    e.unwrap_or(g)
}

fn main() {}

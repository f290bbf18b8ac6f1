//! Adapters that stop or go round.

use ad::prelude::*;

#[differentiate]
fn f(x: &[f64]) -> f64 {
    let a: f64 = x.iter().take_while(|v| **v > 0.0).sum();
    let b: f64 = x.iter().map_while(|v| if *v > 0.0 { Some(v) } else { None }).sum();
    let c: f64 = x.iter().skip_while(|v| **v > 0.0).sum();
    let d: f64 = x.iter().cycle().take(9).sum();
    let e = x.iter().try_fold(0.0, |a, v| if *v > 0.0 { Some(a + v) } else { None });
    let g: f64 = x.iter().inspect(|_| ()).sum();
    x.iter().try_for_each(|v| if *v > 0.0 { Some(()) } else { None });
    let h = [x, x].concat();
    a + b + c + d
}

fn main() {}

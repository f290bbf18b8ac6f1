//! Labels that do not exist, and jumps out of closures.

use ad::prelude::*;

#[differentiate]
fn f(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    'rows: for v in x {
        if *v > 2.0 {
            break 'columns;
        }
        if *v < 0.0 {
            continue 'rows;
        }
        total += v;
    }
    while total > 1.0 {
        let half = |t: f64| {
            if t < 0.0 {
                break;
            }
            t / 2.0
        };
        total = half(total);
    }
    total
}

fn main() {
    println!("{}", f(&array![1.0, 2.0]) + f_grad(&array![1.0, 2.0])[0]);
}

//! Jumps out of blocks that do not exist.

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    let y = 'a: {
        if x < 0.0 {
            break 'b 2.0;
        }
        x
    };
    if y > 1.0 {
        break;
    }
    if y > 2.0 {
        continue;
    }
    y
}

fn main() {
    println!("{}", f(1.0) + f_grad(1.0));
}

//! Options that there are not.

use ad::prelude::*;

#[differentiate(grad, jvp)]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    ad::check_grad!(f(1.0), jpv);
    ad::check_grad!(f(1.0), jvp, wrt(1), tolerance = 1e-4);
    ad::check_grad!(f(1.0), jvp, tolerence = 1e-3);
}

//! Options that there are not, and a position that there is not.

use ad::prelude::*;

#[differentiate(grad, jvp)]
fn f(x: f64) -> f64 {
    x * x
}

fn main() {
    ad::check_grad!(f(1.0), jpv);
    ad::check_grad!(f(1.0), jvp, wrt(1));
}

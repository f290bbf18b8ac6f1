//! GradBench's `llsq`: least squares of a polynomial that approximates the sign. The powers do not
//! depend on `x`.

use ad::prelude::*;

#[differentiate]
pub fn llsq(x: &Array1<f64>, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let t = -1.0 + 2.0 * i as f64 / (n - 1) as f64;
        let sign = if t > 0.0 {
            1.0
        } else if t < 0.0 {
            -1.0
        } else {
            0.0
        };
        let mut power = 1.0;
        let mut r = sign;
        for j in 0..x.len() {
            r -= x[j] * power;
            power *= t;
        }
        total += r * r;
    }
    0.5 * total
}

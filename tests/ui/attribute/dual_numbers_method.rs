//! `mode = "dual_numbers"` on a function of an `impl` block.

use ad::prelude::*;

#[derive(Clone, Differentiable)]
struct Line {
    slope: f64,
}

#[differentiate]
impl Line {
    #[differentiate(mode = "dual_numbers")]
    fn at<T: Real>(&self, x: T) -> T {
        T::lit(self.slope) * x
    }
}

fn main() {}

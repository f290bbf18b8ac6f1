//! Calls of which there are exponentially many.

use ad::prelude::*;

#[differentiate(grad, hessian)]
fn f(x: f64) -> f64 {
    fn h0(x: f64) -> f64 {
        h1(x) * h1(x + 1.0)
    }
    fn h1(x: f64) -> f64 {
        h2(x) * h2(x + 1.0)
    }
    fn h2(x: f64) -> f64 {
        h3(x) * h3(x + 1.0)
    }
    fn h3(x: f64) -> f64 {
        h4(x) * h4(x + 1.0)
    }
    fn h4(x: f64) -> f64 {
        h5(x) * h5(x + 1.0)
    }
    fn h5(x: f64) -> f64 {
        h6(x) * h6(x + 1.0)
    }
    fn h6(x: f64) -> f64 {
        h7(x) * h7(x + 1.0)
    }
    fn h7(x: f64) -> f64 {
        h8(x) * h8(x + 1.0)
    }
    fn h8(x: f64) -> f64 {
        h9(x) * h9(x + 1.0)
    }
    fn h9(x: f64) -> f64 {
        h10(x) * h10(x + 1.0)
    }
    fn h10(x: f64) -> f64 {
        h11(x) * h11(x + 1.0)
    }
    fn h11(x: f64) -> f64 {
        h12(x) * h12(x + 1.0)
    }
    fn h12(x: f64) -> f64 {
        h13(x) * h13(x + 1.0)
    }
    fn h13(x: f64) -> f64 {
        h14(x) * h14(x + 1.0)
    }
    fn h14(x: f64) -> f64 {
        h15(x) * h15(x + 1.0)
    }
    fn h15(x: f64) -> f64 {
        h16(x) * h16(x + 1.0)
    }
    fn h16(x: f64) -> f64 {
        h17(x) * h17(x + 1.0)
    }
    fn h17(x: f64) -> f64 {
        h18(x) * h18(x + 1.0)
    }
    fn h18(x: f64) -> f64 {
        h19(x) * h19(x + 1.0)
    }
    fn h19(x: f64) -> f64 {
        h20(x) * h20(x + 1.0)
    }
    fn h20(x: f64) -> f64 {
        h21(x) * h21(x + 1.0)
    }
    fn h21(x: f64) -> f64 {
        h22(x) * h22(x + 1.0)
    }
    fn h22(x: f64) -> f64 {
        h23(x) * h23(x + 1.0)
    }
    fn h23(x: f64) -> f64 {
        x * x
    }
    h0(x)
}

fn main() {}

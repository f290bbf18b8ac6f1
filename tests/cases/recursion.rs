//! Functions that call themselves or each other. They are compiled on their own, which only the
//! default mode supports. So these cases run in that mode in every test.

use ad::prelude::*;

use super::Case;

#[differentiate]
fn of_each_other(x: f64) -> f64 {
    fn p(x: f64) -> f64 {
        if x < 10.0 { q(0.6 * x) + 1.0 } else { q(0.1 * x) + 2.0 }
    }
    fn q(x: f64) -> f64 {
        if x < 1.0 { x } else { p(x - 1.0) + 2.0 }
    }
    p(x)
}

#[test]
fn functions_that_call_each_other() {
    Case::in_every_layout("dualrev-mutual-recursion", |case| {
        let (value, x) = of_each_other_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * power(x, n - 1) }
}

#[test]
fn a_power_by_recursion() {
    Case::in_every_layout("ksc-power-recursive", |case| {
        let (value, x) = power_value_and_grad(case.input("x"), 7);
        case.check(&value, &[("x", &x)]);
    });
}

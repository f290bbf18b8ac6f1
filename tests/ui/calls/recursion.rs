//! Functions that call themselves, where that is not understood.

use ad::prelude::*;

#[differentiate]
fn method(x: f64, n: usize) -> f64 {
    struct Halving(f64);
    impl Halving {
        fn times(&mut self, n: usize) {
            if n > 0 {
                self.0 *= 0.5;
                self.times(n - 1);
            }
        }
    }
    let mut halving = Halving(x);
    halving.times(n);
    halving.0
}

#[differentiate(grad, hessian)]
fn second(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * second(x, n - 1) }
}

#[differentiate]
fn of_vectors(x: &[f64], n: usize) -> f64 {
    fn halved(x: &[f64], n: usize) -> Vec<f64> {
        if n == 0 { x.to_vec() } else { halved(x, n - 1) }
    }
    halved(x, n)[0]
}

#[differentiate]
fn of_generic(x: f64, n: usize) -> f64 {
    fn generic<T: ad::Real>(x: T, n: usize) -> T {
        if n == 0 { x } else { generic(x, n - 1) }
    }
    generic(x, n)
}

fn main() {}

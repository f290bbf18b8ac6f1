//! Functions that call themselves, where that is not understood.

use ad::prelude::*;

#[differentiate]
fn method(x: f64, n: usize) -> f64 {
    struct Halving(f64);
    impl Halving {
        fn times(&self, n: usize) -> f64 {
            if n == 0 { self.0 } else { 0.5 * self.times(n - 1) }
        }
    }
    Halving(x).times(n)
}

#[differentiate(grad, hessian)]
fn second(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * second(x, n - 1) }
}

#[differentiate]
fn of_matrices(x: &Array2<f64>, n: usize) -> f64 {
    if n == 0 { x.sum() } else { of_matrices(x, n - 1) }
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

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
    fn halved(x: &[f64], n: usize) -> Vec<(f64, f64)> {
        if n == 0 { x.iter().map(|&v| (v, v)).collect() } else { halved(x, n - 1) }
    }
    halved(x, n)[0].0
}

#[differentiate]
fn of_unknown_size(x: f64, n: usize) -> f64 {
    fn doubled(x: f64, n: usize) -> Vec<f64> {
        if n == 0 {
            return vec![x];
        }
        let mut all = doubled(x * 0.5, n - 1);
        all.extend(doubled(x + 1.0, n - 1));
        all
    }
    doubled(x, n)[0]
}

#[differentiate]
fn of_steps(x: f64, n: usize) -> f64 {
    fn powers(x: f64, n: usize) -> Vec<f64> {
        if n == 0 {
            return vec![1.0];
        }
        let mut all = powers(x, n - 1);
        all.push(x * all[n - 1]);
        all
    }
    let mut sum = 0.0;
    for k in 0..n {
        sum += powers(x, k).iter().sum::<f64>();
    }
    sum
}

#[differentiate]
fn of_generic(x: f64, n: usize) -> f64 {
    fn generic<T: ad::Real>(x: T, n: usize) -> T {
        if n == 0 { x } else { generic(x, n - 1) }
    }
    generic(x, n)
}

fn main() {}

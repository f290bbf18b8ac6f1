//! Whoever calls the derivatives of a function with a wrong signature is told of that mistake only.

use ad::ndarray::{ArcArray1, ArrayD};
use ad::prelude::*;

#[differentiate]
fn of_any_rank(x: ArrayD<f64>) -> f64 {
    x.sum()
}

#[differentiate(grad, jvp)]
fn of_tuples(p: (f64, [(f64, [(f64, f64); 1]); 1]), q: &[f64]) -> f64 {
    p.0 * p.1[0].1[0].1 + q[0]
}

#[differentiate]
fn of_shared(x: &ArcArray1<f64>, n: usize) -> f64 {
    x[n]
}

#[differentiate]
fn in_pairs(x: &Array1<f64>) -> [(f64, [(f64, f64); 1]); 1] {
    [(x.sum(), [(x[0], x[1])])]
}

#[differentiate]
fn changes(x: &mut Array1<f64>) -> f64 {
    x[0] = 2.0;
    x.sum()
}

fn main() {
    let any = ArrayD::<f64>::zeros(vec![2]);
    let (value, gradient) = of_any_rank_value_and_grad(any.clone());
    println!("{} {}", value + gradient.sum(), of_any_rank_grad(any).len());
    let ((a, b), q) = of_tuples_grad((1.0, [(2.0, [(3.0, 1.0)])]), &[1.0]);
    let (_, tangent) = of_tuples_jvp((1.0, [(2.0, [(3.0, 1.0)])]), &[1.0], (1.0, [(0.0, [(0.0, 0.0)])]), &[0.0]);
    println!("{}", a + b[0].0 + q[0] + tangent);
    println!("{}", of_shared_grad(&ArcArray1::zeros(2), 1).sum());
    let mut x = array![1.0, 2.0];
    println!("{}", in_pairs_vjp(&x, [(1.0, [(0.0, 0.0)])]).1.sum());
    println!("{}", changes_grad(&mut x).sum());
    ad::check_grad!(of_any_rank(ArrayD::zeros(vec![1])));
}

//! Functions that call linear algebra or derivatives, as a user writes them. Everything that the
//! macro writes is in this module.

#[path = "../../gradbench/src/programs/particle.rs"]
mod particle;
#[path = "../../gradbench/src/programs/saddle.rs"]
mod saddle;

use ad::linalg::{Uplo, cholesky, slogdet, solve, solve_triangular};
use ad::prelude::*;
pub use particle::{reverse, reverse_value_and_grad};
pub use saddle::{greatest, greatest_value_and_grad};

/// The negative logarithm of the evidence of a Gaussian process, up to a constant. `p` has the
/// logarithms of the amplitude, of the length scale and of the noise's deviation.
#[differentiate(wrt(p))]
pub fn evidence(p: [f64; 3], x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let n = x.len();
    let [amplitude, length, noise] = p.map(f64::exp);
    let covariance = build([n, n], |[i, j]| {
        let d = (x[i] - x[j]) / length;
        amplitude * amplitude * (-0.5 * d * d).exp() + if i == j { noise * noise } else { 0.0 }
    });
    let l = cholesky(&covariance);
    let z = solve_triangular(&l, y, Uplo::Lower);
    0.5 * z.dot(&z) + l.diag().mapv(f64::ln).sum()
}

/// A Kalman filter all of whose states are observed: minus twice the log-likelihood of the rows of
/// `y`, up to a constant, given the transition matrix `f`. Noise is 0.1 in each state and 0.5 in
/// each observation.
#[differentiate(wrt(f))]
pub fn filter(f: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let d = f.nrows();
    let mut m: Array1<f64> = Array1::zeros(d);
    let mut p: Array2<f64> = Array2::eye(d);
    let mut total = 0.0;
    for y in y.rows() {
        let next = f.dot(&m);
        let q = f.dot(&p).dot(&f.t()) + Array2::<f64>::eye(d) * 0.1;
        let s = &q + &(Array2::<f64>::eye(d) * 0.5);
        let e = &y - &next;
        let weighted = solve(&s, &e);
        m = next + q.dot(&weighted);
        p = &q - &q.dot(&solve(&s, &q));
        total += e.dot(&weighted) + slogdet(&s).1;
    }
    total
}

//! GradBench's problems in plain loops, and a recurrent net, as a user writes them. Everything that
//! the macro writes is in this module.

#[path = "../../tests/programs/loops.rs"]
mod gradbench;

use ad::prelude::*;
pub use gradbench::*;

/// Row h: a mixture of Gaussians with diagonal covariances. `s` are the inverse deviations.
#[differentiate(wrt(w, m, s))]
pub fn diagonal(x: &Array2<f64>, w: &Array1<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let (n, d) = x.dim();
    let k = w.len();
    let mut total = 0.0;
    for i in 0..n {
        let mut beta = Array1::<f64>::zeros(k);
        for c in 0..k {
            let mut squares = 0.0;
            let mut logs = 0.0;
            for j in 0..d {
                let z = (x[[i, j]] - m[[c, j]]) * s[[c, j]];
                squares += z * z;
                logs += s[[c, j]].ln();
            }
            beta[c] = w[c] - 0.5 * squares + logs;
        }
        total += logsumexp(&beta);
    }
    total
}

/// Row i: a recurrent net. `inputs` are steps x batch x features.
#[differentiate(wrt(w, u, b))]
pub fn recurrent(w: &Array2<f64>, u: &Array2<f64>, b: &Array1<f64>, inputs: &Array3<f64>) -> f64 {
    let (steps, batch, _) = inputs.dim();
    let mut h = Array2::<f64>::zeros((batch, w.nrows()));
    for t in 0..steps {
        let x = inputs.index_axis(Axis(0), t);
        h = (h.dot(w) + x.dot(u) + b).mapv(f64::tanh);
    }
    0.5 * (&h * &h).sum()
}

/// Row j: a convolution. `x` is channels x height x width, `w` outputs x inputs x 3 x 3.
#[differentiate]
pub fn convolution(x: &Array3<f64>, w: &Array4<f64>) -> f64 {
    let (inputs, height, width) = x.dim();
    let outputs = w.dim().0;
    let mut total = 0.0;
    for o in 0..outputs {
        for i in 0..height - 2 {
            for j in 0..width - 2 {
                let mut s = 0.0;
                for c in 0..inputs {
                    for p in 0..3 {
                        for q in 0..3 {
                            s += w[[o, c, p, q]] * x[[c, i + p, j + q]];
                        }
                    }
                }
                total += s.max(0.0);
            }
        }
    }
    total
}

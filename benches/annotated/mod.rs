//! The workloads as a user writes them. Everything that the macro writes is in this module. The
//! letters are those of the rows in `docs/performance.md`.

/// GradBench's Gaussian mixture.
#[path = "../../gradbench/src/programs/gmm.rs"]
mod gmm;
pub mod inside;
pub mod loops;
/// Bundle adjustment, one observation of GradBench's `ba`.
#[path = "../../tests/programs/reprojection.rs"]
mod reprojection;

use ad::prelude::*;
pub use gmm::*;
pub use reprojection::*;

/// Row a: a dot product.
#[differentiate(grad, into)]
pub fn dot(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    x.dot(y)
}

/// Row b: the sum of the product of a matrix and a vector.
#[differentiate]
pub fn sum_of_product(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    a.dot(x).sum()
}

/// Row c: the vector, rotated by the quaternion (w, x, y, z).
#[differentiate]
pub fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
    [
        v[0] + w * t[0] + (y * t[2] - z * t[1]),
        v[1] + w * t[1] + (z * t[0] - x * t[2]),
        v[2] + w * t[2] + (x * t[1] - y * t[0]),
    ]
}

/// Row d: logistic regression. Labels are 1 and -1.
#[differentiate(wrt(w))]
pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let scores = x.dot(w);
    let losses = build1(y.len(), |i| (-y[i] * scores[i]).exp().ln_1p());
    losses.mean().unwrap()
}

/// Row e: the loss of a perceptron with one hidden layer.
#[differentiate(grad, hvp, wrt(w1, b1, w2, b2))]
pub fn perceptron(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> f64 {
    let hidden = (images.dot(w1) + b1).mapv(f64::tanh);
    let scores = hidden.dot(w2) + b2;
    let losses = build1(labels.len(), |i| logsumexp(&scores.row(i)) - scores[[i, labels[i]]]);
    losses.mean().unwrap()
}

/// Row f: Rosenbrock's function.
#[differentiate]
pub fn rosenbrock(x: &Array1<f64>) -> f64 {
    let terms = build1(x.len() - 1, |i| {
        let t = x[i + 1] - x[i] * x[i];
        let u = 1.0 - x[i];
        100.0 * t * t + u * u
    });
    terms.sum()
}

/// Row g: the logarithm of a sum of exponentials.
#[differentiate]
pub fn log_sum_exp(x: &Array1<f64>) -> f64 {
    let max = maximum(x);
    (x - max).mapv(f64::exp).sum().ln() + max
}

/// Two layers, for their Jacobian.
#[differentiate(jacobian, wrt(x))]
pub fn layers(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    b.dot(&a.dot(x).mapv(f64::tanh))
}

/// Differences of neighbours, for a Jacobian with two bands.
#[differentiate(jacobian)]
pub fn neighbours(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len() - 1, |i| 10.0 * (x[i + 1] - x[i] * x[i]))
}

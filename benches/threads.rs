//! Gradients on one thread and on two: both in one run, in turns, with the least time of each.
//!
//! ```text
//! cargo bench -p ad-bench --features rayon --bench threads
//! ```
//!
//! The results of both are compared bit for bit before they are timed. The table is Markdown.

#[allow(dead_code, unused_imports, reason = "other benches use the other functions")]
#[path = "annotated/mod.rs"]
mod annotated;
#[allow(dead_code, reason = "this bench writes no document")]
#[path = "measure/turns.rs"]
mod turns;

use ad::ndarray::{Array, Dimension, IntoDimension};
use ad::prelude::*;
use annotated::{loops, perceptron_grad};
use rayon::ThreadPoolBuilder;
use turns::{Timed, least, micros};

/// Columns are shifted and scaled to mean 0 and variance 1.
#[differentiate]
fn batch_norm(x: &Array2<f64>, scale: &Array1<f64>, shift: &Array1<f64>) -> f64 {
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centred = x - &mean;
    let variance = (&centred * &centred).mean_axis(Axis(0)).unwrap();
    let y = &centred / &(variance + 1e-5).mapv(f64::sqrt) * scale + shift;
    y.mapv(f64::tanh).sum()
}

/// One head.
#[differentiate]
fn attention(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let weights = softmax(&(q.dot(&k.t()) * 0.125));
    let y = weights.dot(v);
    y.mapv(|y| y * y).sum()
}

fn numbers<D: Dimension>(rng: &mut fastrand::Rng, shape: impl IntoDimension<Dim = D>) -> Array<f64, D> {
    Array::from_shape_simple_fn(shape.into_dimension(), || rng.f64() - 0.5)
}

/// Prints the row of a gradient.
fn row<R: Differentiable<f64> + Send>(name: &str, gradient: impl Fn() -> R + Sync) {
    let [one, two] = [1, 2].map(|n| ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    let bits = |r: R| r.to_flat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert!(bits(one.install(&gradient)) == bits(two.install(&gradient)), "{name}: other bits");
    let (first, second) = (|| one.install(&gradient), || two.install(&gradient));
    let times = least(&[Timed::new(&first), Timed::new(&second)]);
    println!("| {name} | {} | {} | {:.2} |", micros(times[0]), micros(times[1]), times[0] / times[1]);
}

fn main() {
    let rng = &mut fastrand::Rng::with_seed(1);
    println!("| gradient | one thread | two threads | faster |\n| --- | --- | --- | --- |");
    for (d, k) in [(10, 25), (20, 50), (64, 100)] {
        let (x, alpha) = (numbers(rng, [1000, d]) * 4.0, numbers(rng, k));
        let (mu, q, l) = (numbers(rng, [k, d]), numbers(rng, [k, d]), numbers(rng, [k, d * (d - 1) / 2]));
        row(&format!("gmm, 1000 x {d}, {k}"), || loops::gmm_grad(&x, &alpha, &mu, &q, &l, 1, 0.9));
    }
    {
        let (points, centroids) = (numbers(rng, [10_000, 8]), numbers(rng, [100, 8]));
        row("kmeans, 10000 x 8, 100", || (loops::kmeans_grad(&points, &centroids),));
    }
    {
        let (x, w) = (numbers(rng, [8, 256, 256]), numbers(rng, [8, 8, 3, 3]));
        row("convolution, 3 x 3 on 256 x 256, 8 to 8", || loops::convolution_grad(&x, &w));
    }
    for batch in [64, 512] {
        let (w1, b1, w2, b2) = (numbers(rng, [784, 128]), numbers(rng, 128), numbers(rng, [128, 10]), numbers(rng, 10));
        let images = numbers(rng, [batch, 784]);
        let labels = Array1::from_shape_fn(batch, |i| i % 10);
        row(&format!("perceptron 784-128-10, batch {batch}"), || perceptron_grad(&w1, &b1, &w2, &b2, &images, &labels));
    }
    for (steps, batch, hidden) in [(100, 32, 64), (50, 256, 128)] {
        let (w, u) = (numbers(rng, [hidden, hidden]) * 0.4, numbers(rng, [hidden, hidden]) * 0.4);
        let (b, inputs) = (numbers(rng, hidden), numbers(rng, [steps, batch, hidden]));
        let name = format!("recurrent net, {steps} steps of {batch} x {hidden}");
        row(&name, || loops::recurrent_grad(&w, &u, &b, &inputs));
    }
    {
        let (x, scale, shift) = (numbers(rng, [4096, 256]), numbers(rng, 256), numbers(rng, 256));
        row("batch norm, 4096 x 256", || batch_norm_grad(&x, &scale, &shift));
    }
    {
        let [q, k, v] = [(); 3].map(|()| numbers(rng, [512, 64]));
        row("attention, 512 x 64", || attention_grad(&q, &k, &v));
    }
    {
        let (x, w, u, b) = (numbers(rng, [10, 4, 8]), numbers(rng, [8, 8]), numbers(rng, [8, 8]), numbers(rng, 8));
        row("small: recurrent net, 10 steps of 4 x 8", || loops::recurrent_grad(&w, &u, &b, &x));
    }
}

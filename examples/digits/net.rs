//! The network, its loss, and Adam.

use ad::ndarray::{Array, Array1, Array2, Dimension, Zip};
use ad::prelude::*;

use crate::data::{CLASSES, Digits, PIXELS};

/// Softmax cross entropy of a perceptron with one hidden layer, averaged over
/// the images. Everything that learns is named by `wrt`.
#[differentiate(wrt(w1, b1, w2, b2))]
pub fn loss(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> f64 {
    let hidden = (images.dot(w1) + b1).mapv(f64::tanh);
    let scores = hidden.dot(w2) + b2;
    let losses = build1(labels.len(), |i| {
        // -ln softmax(scores of image i) at the digit that it shows
        logsumexp(&scores.row(i)) - scores[[i, labels[i]]]
    });
    losses.sum() / labels.len() as f64
}

/// The gradient of [`loss`]: one array for each parameter, in their order.
pub type Gradient = (Array2<f64>, Array1<f64>, Array2<f64>, Array1<f64>);

/// The parameters of [`loss`].
pub struct Net {
    pub w1: Array2<f64>,
    pub b1: Array1<f64>,
    pub w2: Array2<f64>,
    pub b2: Array1<f64>,
}

impl Net {
    /// Small random weights (Glorot's bounds), no bias.
    pub fn random(hidden: usize, rng: &mut fastrand::Rng) -> Self {
        let mut weights = |rows: usize, columns: usize| {
            let bound = (6.0 / (rows + columns) as f64).sqrt();
            Array2::from_shape_simple_fn((rows, columns), || bound * (2.0 * rng.f64() - 1.0))
        };
        Self {
            w1: weights(PIXELS, hidden),
            b1: Array1::zeros(hidden),
            w2: weights(hidden, CLASSES),
            b2: Array1::zeros(CLASSES),
        }
    }

    /// The digit of the highest score, for each image.
    pub fn predict(&self, images: &Array2<f64>) -> Vec<usize> {
        let hidden = (images.dot(&self.w1) + &self.b1).mapv(f64::tanh);
        let scores = hidden.dot(&self.w2) + &self.b2;
        scores.outer_iter().map(|row| (0..CLASSES).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0)).collect()
    }

    /// The share of the images that are recognised.
    pub fn accuracy(&self, digits: &Digits) -> f64 {
        let predictions = self.predict(&digits.images);
        let right = predictions.iter().zip(&digits.labels).filter(|(p, l)| p == l).count();
        right as f64 / digits.len() as f64
    }
}

/// Adam (Kingma and Ba, 2015) with its usual constants.
pub struct Adam {
    rate: f64,
    steps: i32,
    w1: Moments<ad::ndarray::Ix2>,
    b1: Moments<ad::ndarray::Ix1>,
    w2: Moments<ad::ndarray::Ix2>,
    b2: Moments<ad::ndarray::Ix1>,
}

impl Adam {
    /// Ready for the first step of `net`.
    pub fn new(net: &Net, rate: f64) -> Self {
        Self {
            rate,
            steps: 0,
            w1: Moments::like(&net.w1),
            b1: Moments::like(&net.b1),
            w2: Moments::like(&net.w2),
            b2: Moments::like(&net.b2),
        }
    }

    /// One step against the gradient.
    pub fn step(&mut self, net: &mut Net, (w1, b1, w2, b2): Gradient) {
        self.steps += 1;
        self.w1.step(&mut net.w1, &w1, self.rate, self.steps);
        self.b1.step(&mut net.b1, &b1, self.rate, self.steps);
        self.w2.step(&mut net.w2, &w2, self.rate, self.steps);
        self.b2.step(&mut net.b2, &b2, self.rate, self.steps);
    }
}

/// Running means of a gradient and of its square.
struct Moments<D> {
    first: Array<f64, D>,
    second: Array<f64, D>,
}

impl<D: Dimension> Moments<D> {
    const KEEP_FIRST: f64 = 0.9;
    const KEEP_SECOND: f64 = 0.999;

    fn like(weights: &Array<f64, D>) -> Self {
        let zeros = || Array::zeros(weights.raw_dim());
        Self { first: zeros(), second: zeros() }
    }

    fn step(&mut self, weights: &mut Array<f64, D>, gradient: &Array<f64, D>, rate: f64, n: i32) {
        // Both means start at zero; dividing by the weight gathered so far makes them unbiased.
        let first_weight = 1.0 - Self::KEEP_FIRST.powi(n);
        let second_weight = 1.0 - Self::KEEP_SECOND.powi(n);
        Zip::from(weights).and(gradient).and(&mut self.first).and(&mut self.second).for_each(|w, &g, first, second| {
            *first += (1.0 - Self::KEEP_FIRST) * (g - *first);
            *second += (1.0 - Self::KEEP_SECOND) * (g * g - *second);
            *w -= rate * (*first / first_weight) / ((*second / second_weight).sqrt() + 1e-8);
        });
    }
}

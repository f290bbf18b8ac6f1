//! The network, its loss, and Adam.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use crate::data::{CLASSES, Digits, PIXELS};

/// A perceptron with one hidden layer. Its gradient is a `Net`, too.
#[derive(Clone, Debug, Differentiable)]
pub struct Net {
    pub w1: Array2<f64>,
    pub b1: Array1<f64>,
    pub w2: Array2<f64>,
    pub b2: Array1<f64>,
}

/// A score of each class, for each image.
#[differentiable]
pub fn scores(net: &Net, images: &Array2<f64>) -> Array2<f64> {
    let hidden = (images.dot(&net.w1) + &net.b1).mapv(f64::tanh);
    hidden.dot(&net.w2) + &net.b2
}

/// Softmax cross entropy, averaged over the images.
#[differentiate(wrt(net))]
pub fn loss(net: &Net, images: &Array2<f64>, labels: &Array1<usize>) -> f64 {
    let scores = scores(net, images);
    let losses = build1(labels.len(), |i| {
        // -ln softmax(scores of image i) at the digit that it shows
        logsumexp(&scores.row(i)) - scores[[i, labels[i]]]
    });
    losses.sum() / labels.len() as f64
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
        let scores = scores(self, images);
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
    /// Running means of the gradient and of its square, number by number.
    moments: Vec<(f64, f64)>,
}

impl Adam {
    const KEEP_FIRST: f64 = 0.9;
    const KEEP_SECOND: f64 = 0.999;

    /// Ready for the first step of `net`.
    pub fn new(net: &Net, rate: f64) -> Self {
        Self { rate, steps: 0, moments: vec![(0.0, 0.0); net.flat_len()] }
    }

    /// One step against the gradient.
    pub fn step(&mut self, net: &mut Net, gradient: &Net) {
        self.steps += 1;
        // Both means start at zero; dividing by the weight gathered so far makes them unbiased.
        let first_weight = 1.0 - Self::KEEP_FIRST.powi(self.steps);
        let second_weight = 1.0 - Self::KEEP_SECOND.powi(self.steps);
        let mut numbers = net.to_flat();
        for ((w, g), (first, second)) in numbers.iter_mut().zip(gradient.to_flat()).zip(&mut self.moments) {
            *first += (1.0 - Self::KEEP_FIRST) * (g - *first);
            *second += (1.0 - Self::KEEP_SECOND) * (g * g - *second);
            *w -= self.rate * (*first / first_weight) / ((*second / second_weight).sqrt() + 1e-8);
        }
        *net = net.from_flat(&numbers);
    }
}

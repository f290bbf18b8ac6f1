//! A network as a list of layers of several sizes, trained in batches on the points of two spirals.

use ad::check_grad;
use ad::prelude::*;

#[derive(Clone, Debug, PartialEq, Differentiable)]
pub struct Layer {
    weights: Array2<f64>,
    bias: Array1<f64>,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
pub struct Network {
    layers: Vec<Layer>,
}

#[differentiate]
impl Network {
    /// The scores of the classes, a row for each point.
    fn scores(&self, points: &Array2<f64>) -> Array2<f64> {
        let mut h = points.clone();
        for (k, layer) in self.layers.iter().enumerate() {
            let z = h.dot(&layer.weights) + &layer.bias;
            h = if k + 1 < self.layers.len() { z.mapv(f64::tanh) } else { z };
        }
        h
    }

    fn penalty(&self) -> f64 {
        self.layers.iter().map(|layer| layer.weights.iter().map(|w| w * w).sum::<f64>()).sum()
    }

    /// The mean loss over all points.
    #[differentiate(grad, hvp, wrt(self))]
    fn loss(&self, points: &Array2<f64>, classes: &[usize], decay: f64) -> f64 {
        let scores = self.scores(points);
        let mut total = 0.0;
        for (i, &class) in classes.iter().enumerate() {
            total += logsumexp(&scores.row(i)) - scores[[i, class]];
        }
        total / classes.len() as f64 + decay * self.penalty()
    }
}

/// A number between -1 and 1 that looks random.
fn noise(k: usize) -> f64 {
    ((k * 7919 + 104_729) as f64 * 0.618_033_988_75).fract() * 2.0 - 1.0
}

fn network(sizes: &[usize]) -> Network {
    let layer = |k: usize| {
        let (from, to) = (sizes[k], sizes[k + 1]);
        let scale = (1.0 / from as f64).sqrt();
        let weights = Array2::from_shape_fn((from, to), |(i, j)| scale * noise(100 * k + i * to + j));
        Layer { weights, bias: Array1::zeros(to) }
    };
    Network { layers: (0..sizes.len() - 1).map(layer).collect() }
}

fn spirals(n: usize) -> (Array2<f64>, Vec<usize>) {
    let angle = |k: usize| 0.5 + 3.0 * (k / 2) as f64 / (n / 2) as f64;
    let sign = |k: usize| if k % 2 == 0 { 1.0 } else { -1.0 };
    let points = Array2::from_shape_fn((n, 2), |(k, axis)| {
        let (a, r) = (angle(k), 0.4 * angle(k) * sign(k));
        if axis == 0 { r * a.cos() } else { r * a.sin() }
    });
    (points, (0..n).map(|k| k % 2).collect())
}

#[test]
fn derivatives_agree_with_differences() {
    let (points, classes) = spirals(6);
    for sizes in [&[2, 8, 6, 2][..], &[2, 2], &[2, 5, 2], &[2, 2, 2]] {
        check_grad!(network(sizes).loss(&points, &classes, 0.01));
    }
}

#[test]
fn the_gradient_is_that_of_layers_of_their_own() {
    #[differentiate(wrt(first, second))]
    fn two(first: &Layer, second: &Layer, points: &Array2<f64>) -> f64 {
        let h = (points.dot(&first.weights) + &first.bias).mapv(f64::tanh);
        (h.dot(&second.weights) + &second.bias).mapv(|v| v * v).sum()
    }
    #[differentiate(wrt(layers))]
    fn all(layers: &[Layer], points: &Array2<f64>) -> f64 {
        let mut h = points.clone();
        for (k, layer) in layers.iter().enumerate() {
            h = h.dot(&layer.weights) + &layer.bias;
            if k == 0 {
                h = h.mapv(f64::tanh);
            }
        }
        h.mapv(|v| v * v).sum()
    }
    let (points, _) = spirals(6);
    let layers = network(&[2, 7, 3]).layers;
    let (first, second) = two_grad(&layers[0], &layers[1], &points);
    let (gradient, wanted) = (all_grad(&layers, &points), vec![first, second]);
    let distance: f64 = gradient.to_flat().iter().zip(wanted.to_flat()).map(|(a, b)| (a - b).abs()).sum();
    assert!(distance < 1e-12, "{distance}");
}

#[test]
fn the_spirals_are_told_apart() {
    let (points, classes) = spirals(40);
    let mut network = network(&[2, 8, 6, 2]);
    let mut velocity = network.zeros_like();
    let before = network.loss(&points, &classes, 1e-4);
    for _ in 0..300 {
        let gradient = network.loss_grad(&points, &classes, 1e-4);
        let mut next = velocity.zeros_like();
        next.axpy(0.9, &velocity);
        next.axpy(-0.1, &gradient);
        velocity = next;
        network.axpy(1.0, &velocity);
    }
    let after = network.loss(&points, &classes, 1e-4);
    assert!(after < 0.2 * before, "{before} {after}");
}

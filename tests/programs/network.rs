//! A network as a chain of layers of several kinds, each with its own parameters and sizes, trained
//! on the points of two spirals.

use ad::check_grad;
use ad::prelude::*;

#[derive(Clone, Debug, PartialEq, Differentiable)]
pub enum Layer {
    Dense {
        weights: Array2<f64>,
        bias: Array1<f64>,
        then: Box<Layer>,
    },
    Tanh(Box<Layer>),
    /// A smooth rectifier of this sharpness.
    Rectify {
        sharpness: f64,
        then: Box<Layer>,
    },
    /// The input is added to the output of a layer of the same size.
    Residual {
        weights: Array2<f64>,
        then: Box<Layer>,
    },
    /// The probabilities of the classes.
    Softmax,
}

#[differentiate]
impl Layer {
    /// The negative logarithm of the probability of a class.
    fn loss(&self, x: &Array1<f64>, class: usize) -> f64 {
        match self {
            Layer::Dense { weights, bias, then } => then.loss(&(weights.dot(x) + bias), class),
            Layer::Tanh(then) => then.loss(&x.mapv(f64::tanh), class),
            Layer::Rectify { sharpness, then } => then.loss(&x.mapv(|x| softplus(x * sharpness) / sharpness), class),
            Layer::Residual { weights, then } => then.loss(&(x + weights.dot(x).mapv(f64::tanh)), class),
            Layer::Softmax => logsumexp(x) - x[class],
        }
    }

    /// The sum of the squares of all weights of matrices.
    fn penalty(&self) -> f64 {
        match self {
            Layer::Dense { weights, then, .. } | Layer::Residual { weights, then } => {
                weights.iter().map(|w| w * w).sum::<f64>() + then.penalty()
            }
            Layer::Tanh(then) | Layer::Rectify { then, .. } => then.penalty(),
            Layer::Softmax => 0.0,
        }
    }
}

/// The mean loss over all points.
#[differentiate(wrt(network))]
fn objective(network: &Layer, points: &Array2<f64>, classes: &[usize], decay: f64) -> f64 {
    let mut total = 0.0;
    for (i, &class) in classes.iter().enumerate() {
        total += network.loss(&points.row(i).to_owned(), class);
    }
    total / classes.len() as f64 + decay * network.penalty()
}

/// A number between -1 and 1 that looks random.
fn noise(k: usize) -> f64 {
    ((k * 7919 + 104_729) as f64 * 0.618_033_988_75).fract() * 2.0 - 1.0
}

fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    let scale = (1.0 / columns as f64).sqrt();
    Array2::from_shape_fn((rows, columns), |(i, j)| scale * noise(seed + i * columns + j))
}

fn dense(rows: usize, columns: usize, seed: usize, then: Layer) -> Layer {
    Layer::Dense { weights: matrix(rows, columns, seed), bias: Array1::zeros(rows), then: Box::new(then) }
}

/// Two inputs, 8 and then 6 neurons, and two classes.
fn network() -> Layer {
    let last = dense(2, 6, 300, Layer::Softmax);
    let middle = dense(6, 8, 200, Layer::Rectify { sharpness: 2.0, then: Box::new(last) });
    let residual = Layer::Residual { weights: matrix(8, 8, 100), then: Box::new(middle) };
    dense(8, 2, 1, Layer::Tanh(Box::new(residual)))
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
    let (points, classes) = spirals(4);
    check_grad!(objective(&network(), &points, &classes, 0.01));
    check_grad!(objective(&Layer::Softmax, &points, &classes, 0.01));
    let network = network();
    let (gradient, flat) = (objective_grad(&network, &points, &classes, 0.01).to_flat(), network.to_flat());
    for k in (0..flat.len()).step_by(7) {
        let moved = |by: f64| {
            let mut flat = flat.clone();
            flat[k] += by;
            objective(&network.from_flat(&flat), &points, &classes, 0.01)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((gradient[k] - difference).abs() < 1e-7, "{k}: {} and {difference}", gradient[k]);
    }
}

#[test]
fn the_spirals_are_told_apart() {
    let (points, classes) = spirals(40);
    let mut network = network();
    let mut velocity = network.zeros_like();
    let before = objective(&network, &points, &classes, 1e-4);
    for _ in 0..200 {
        let gradient = objective_grad(&network, &points, &classes, 1e-4);
        let mut next = velocity.zeros_like();
        next.axpy(0.9, &velocity);
        next.axpy(-0.1, &gradient);
        velocity = next;
        network.axpy(1.0, &velocity);
    }
    let after = objective(&network, &points, &classes, 1e-4);
    assert!(after < 0.2 * before, "{before} {after}");
    let right = classes.iter().enumerate().filter(|&(i, &class)| {
        let x = points.row(i).to_owned();
        network.loss(&x, class) < network.loss(&x, 1 - class)
    });
    assert!(right.count() >= 38);
}

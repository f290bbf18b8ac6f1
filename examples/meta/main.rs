//! Learning to learn: a small network finds the weights from which a few steps of descent lead to
//! any sine wave. The loss contains the gradient of another loss, `STEPS` times one after the
//! other, and is differentiated through all of them.
//!
//! ```text
//! cargo run --release --example meta [-- DIRECTORY]
//! ```
//!
//! The method and the problem are those of Finn, Abbeel and Levine, "Model-agnostic meta-learning
//! for fast adaptation of deep networks" (2017), section 5.1. The picture is written to the
//! directory (by default `target/meta`).

mod picture;

use std::error::Error;
use std::f64::consts::PI;
use std::path::PathBuf;

use ad::ndarray;
use ad::prelude::*;

const WIDTH: usize = 24;
/// Steps of descent from the common weights to a wave.
const STEPS: usize = 10;
const RATE: f64 = 0.05;
/// Points of a wave that are seen, and that the result is measured at.
const POINTS: usize = 10;
/// Waves for one step of the outer descent.
const WAVES: usize = 10;
const ROUNDS: usize = 3000;

#[derive(Clone, Debug, Differentiable)]
struct Network {
    w1: Array1<f64>,
    b1: Array1<f64>,
    w2: Array2<f64>,
    b2: Array1<f64>,
    w3: Array1<f64>,
    b3: f64,
}

impl Network {
    fn random(rng: &mut fastrand::Rng) -> Network {
        let mut normal = || (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (2.0 * PI * rng.f64()).cos();
        let narrow = 1.0 / (WIDTH as f64).sqrt();
        Network {
            w1: Array1::from_shape_simple_fn(WIDTH, &mut normal),
            b1: Array1::from_shape_simple_fn(WIDTH, &mut normal),
            w2: Array2::from_shape_simple_fn((WIDTH, WIDTH), || narrow * normal()),
            b2: Array1::zeros(WIDTH),
            w3: Array1::from_shape_simple_fn(WIDTH, || narrow * normal()),
            b3: 0.0,
        }
    }
}

/// The height of the network at each place.
#[differentiable]
fn heights(net: &Network, x: &Array1<f64>) -> Array1<f64> {
    let a = build([x.len(), WIDTH], |[i, k]| (x[i] * net.w1[k] + net.b1[k]).tanh());
    let b = (a.dot(&net.w2) + &net.b2).mapv(f64::tanh);
    b.dot(&net.w3) + net.b3
}

/// The mean square error.
#[differentiate(wrt(net))]
fn loss(net: &Network, x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    (heights(net, x) - y).pow2().mean().unwrap()
}

/// The network after some steps of descent on the points of a wave.
#[differentiable]
fn adapted(start: &Network, x: &Array1<f64>, y: &Array1<f64>, steps: usize) -> Network {
    let mut net = start.clone();
    for _ in 0..steps {
        let g = loss_grad(&net, x, y);
        net = Network {
            w1: &net.w1 - RATE * &g.w1,
            b1: &net.b1 - RATE * &g.b1,
            w2: &net.w2 - RATE * &g.w2,
            b2: &net.b2 - RATE * &g.b2,
            w3: &net.w3 - RATE * &g.w3,
            b3: net.b3 - RATE * g.b3,
        };
    }
    net
}

/// The error at other points of a wave after the descent on some of its points.
#[differentiate(wrt(start))]
fn after_descent(start: &Network, seen: &Array2<f64>, other: &Array2<f64>) -> f64 {
    let net = adapted(start, &seen.row(0).to_owned(), &seen.row(1).to_owned(), STEPS);
    loss(&net, &other.row(0).to_owned(), &other.row(1).to_owned())
}

/// A wave of random height and phase: two sets of points. The first row has the places, the second
/// the heights there.
fn wave(rng: &mut fastrand::Rng) -> (Array2<f64>, Array2<f64>) {
    let (height, phase) = (0.5 + 2.0 * rng.f64(), PI * rng.f64());
    let mut points = || {
        let x = Array1::from_shape_simple_fn(POINTS, || 10.0 * rng.f64() - 5.0);
        let y = x.mapv(|x| height * (x - phase).sin());
        ndarray::stack![Axis(0), x, y]
    };
    (points(), points())
}

/// The mean error over waves that have not been learned from.
fn test(net: &Network) -> f64 {
    let mut rng = fastrand::Rng::with_seed(1000);
    let waves = 200;
    (0..waves).map(|_| wave(&mut rng)).map(|(seen, other)| after_descent(net, &seen, &other)).sum::<f64>()
        / f64::from(waves)
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/meta")), PathBuf::from);
    let mut rng = fastrand::Rng::with_seed(1);
    let mut net = Network::random(&mut rng);
    let plain = net.clone();
    let before = test(&net);
    println!("error after {STEPS} steps from random weights: {before:.3}");
    let mut flat = net.to_flat();
    let (mut mean, mut square) = (vec![0.0; flat.len()], vec![0.0; flat.len()]);
    for round in 1..=ROUNDS {
        let mut gradient = net.zeros_like();
        for _ in 0..WAVES {
            let (seen, other) = wave(&mut rng);
            gradient.axpy(1.0 / WAVES as f64, &after_descent_grad(&net, &seen, &other));
        }
        // Adam.
        let (a, b) = (1.0 - 0.9_f64.powi(round as i32), 1.0 - 0.999_f64.powi(round as i32));
        for (k, g) in gradient.to_flat().into_iter().enumerate() {
            mean[k] += 0.1 * (g - mean[k]);
            square[k] += 0.001 * (g * g - square[k]);
            flat[k] -= 0.002 * (mean[k] / a) / ((square[k] / b).sqrt() + 1e-8);
        }
        net = net.from_flat(&flat);
        if round % 1000 == 0 {
            println!("round {round}: {:.3}", test(&net));
        }
    }
    let after = test(&net);
    println!("error after {STEPS} steps from the learned weights: {after:.3}");
    if after > 0.5 * before {
        return Err(format!("nothing learned: {before} before, {after} after").into());
    }

    let (seen, _) = wave(&mut fastrand::Rng::with_seed(7));
    let x = Array1::linspace(-5.0, 5.0, 201);
    let line = |net: &Network, steps: usize| {
        heights(&adapted(net, &seen.row(0).to_owned(), &seen.row(1).to_owned(), steps), &x)
    };
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("wave.svg");
    picture::draw(&path, &seen, &x, &[line(&plain, STEPS), line(&net, 0), line(&net, STEPS)])?;
    println!("drawn in {}", path.display());
    Ok(())
}

//! A recurrent network that learns to repeat its input with a delay: the output at each step is the
//! input `DELAY` steps before. The network is a plain `for` loop; its gradient is the macro's.
//!
//! ```text
//! cargo run --release --example rnn
//! ```

use ad::prelude::*;

const HIDDEN: usize = 16;
const STEPS: usize = 24;
const SEQUENCES: usize = 32;
const DELAY: usize = 4;
const ROUNDS: usize = 400;
/// The error that the example promises. The error of the output zero is the mean square of the
/// inputs, 1/3.
const WANTED: f64 = 0.02;

/// The mean square error. `inputs` has a row for each step, with a number for each sequence.
#[differentiate(wrt(w_in, w, b, w_out))]
fn loss(
    w_in: &Array1<f64>,
    w: &Array2<f64>,
    b: &Array1<f64>,
    w_out: &Array1<f64>,
    inputs: &Array2<f64>,
    delay: usize,
) -> f64 {
    let (steps, sequences) = inputs.dim();
    let mut h = Array2::<f64>::zeros((w.nrows(), sequences));
    let mut total = 0.0;
    for t in 0..steps {
        let x = inputs.row(t);
        let told = &w_in.view().insert_axis(Axis(1)) * &x;
        h = (w.dot(&h) + told + b.view().insert_axis(Axis(1))).tanh();
        if t >= delay {
            let wrong = w_out.dot(&h) - inputs.row(t - delay);
            total += wrong.dot(&wrong);
        }
    }
    total / ((steps - delay) * sequences) as f64
}

/// The learned parameters, and Adam's moments of them.
struct Net {
    weights: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
    round: i32,
}

impl Net {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let n = HIDDEN * (HIDDEN + 3);
        let scale = 1.0 / (HIDDEN as f64).sqrt();
        let weights = (0..n).map(|_| scale * (2.0 * rng.f64() - 1.0)).collect();
        Net { weights, mean: vec![0.0; n], square: vec![0.0; n], round: 0 }
    }

    /// Weights in, between, biases, weights out.
    fn parts(&self) -> (Array1<f64>, Array2<f64>, Array1<f64>, Array1<f64>) {
        let part = |from: usize, n: usize| self.weights[from * HIDDEN..][..n * HIDDEN].to_vec();
        let w = Array2::from_shape_vec((HIDDEN, HIDDEN), part(3, HIDDEN)).expect("a square");
        (part(0, 1).into(), w, part(1, 1).into(), part(2, 1).into())
    }

    fn step(&mut self, gradient: impl Iterator<Item = f64>, rate: f64) {
        self.round += 1;
        let (a, b) = (1.0 - 0.9_f64.powi(self.round), 1.0 - 0.999_f64.powi(self.round));
        for (k, g) in gradient.enumerate() {
            self.mean[k] += 0.1 * (g - self.mean[k]);
            self.square[k] += 0.001 * (g * g - self.square[k]);
            self.weights[k] -= rate * (self.mean[k] / a) / ((self.square[k] / b).sqrt() + 1e-8);
        }
    }
}

fn sequences(rng: &mut fastrand::Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((STEPS, SEQUENCES), || 2.0 * rng.f64() - 1.0)
}

fn main() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut net = Net::random(&mut rng);
    let held_out = sequences(&mut rng);
    let error = |net: &Net| {
        let (w_in, w, b, w_out) = net.parts();
        loss(&w_in, &w, &b, &w_out, &held_out, DELAY)
    };
    for round in 0..=ROUNDS {
        if round % 50 == 0 {
            println!("round {round:3}: mean square error {:.4} on sequences never seen", error(&net));
        }
        let (w_in, w, b, w_out) = net.parts();
        let (dw_in, dw, db, dw_out) = loss_grad(&w_in, &w, &b, &w_out, &sequences(&mut rng), DELAY);
        let rate = 0.02 / (1.0 + round as f64 / 100.0);
        net.step(dw_in.into_iter().chain(db).chain(dw_out).chain(dw), rate);
    }
    let last = error(&net);
    assert!(last < WANTED, "the network did not learn: {last}");
}

//! A Kalman filter that follows a moving object, with the model as a struct of matrices. The
//! gradient of the log-likelihood fits the noise.

use ad::check_grad;
use ad::prelude::*;

/// The log-likelihood of positions that were observed at equal intervals. The arguments are the
/// standard deviations of the acceleration and of the observations, and the time between two
/// observations.
#[differentiate(wrt(acceleration, observation, dt))]
fn log_likelihood(observed: &[[f64; 2]], acceleration: f64, observation: f64, dt: f64) -> f64 {
    struct Model {
        transition: Array2<f64>,
        process: Array2<f64>,
        measurement: Array2<f64>,
        noise: Array2<f64>,
    }

    #[derive(Clone)]
    struct State {
        mean: Array1<f64>,
        covariance: Array2<f64>,
    }

    impl Model {
        /// Position and velocity in the plane: the velocity changes at random.
        fn constant_velocity(dt: f64, acceleration: f64, observation: f64) -> Self {
            let mut transition = Array2::eye(4);
            transition[[0, 2]] = dt;
            transition[[1, 3]] = dt;
            let mut gain = Array2::zeros((4, 2));
            for axis in 0..2 {
                gain[[axis, axis]] = 0.5 * dt * dt;
                gain[[axis + 2, axis]] = dt;
            }
            let process = gain.dot(&gain.t()) * acceleration.powi(2);
            let mut measurement = Array2::zeros((2, 4));
            measurement[[0, 0]] = 1.0;
            measurement[[1, 1]] = 1.0;
            let noise = Array2::eye(2) * observation.powi(2);
            Model { transition, process, measurement, noise }
        }

        fn predict(&self, state: &State) -> State {
            let mean = self.transition.dot(&state.mean);
            let covariance = self.transition.dot(&state.covariance).dot(&self.transition.t()) + &self.process;
            State { mean, covariance }
        }

        /// The state after an observation, and the logarithm of its density.
        fn update(&self, state: &State, seen: &[f64; 2]) -> (State, f64) {
            let h = &self.measurement;
            let residual = array![seen[0], seen[1]] - h.dot(&state.mean);
            let s = h.dot(&state.covariance).dot(&h.t()) + &self.noise;
            let determinant = s[[0, 0]] * s[[1, 1]] - s[[0, 1]] * s[[1, 0]];
            let inverse = array![[s[[1, 1]], -s[[0, 1]]], [-s[[1, 0]], s[[0, 0]]]] / determinant;
            let gain = state.covariance.dot(&h.t()).dot(&inverse);
            let mean = &state.mean + &gain.dot(&residual);
            let covariance = &state.covariance - &gain.dot(h).dot(&state.covariance);
            let distance = residual.dot(&inverse.dot(&residual));
            let density = -0.5 * (distance + determinant.ln()) - (2.0 * std::f64::consts::PI).ln();
            (State { mean, covariance }, density)
        }
    }

    let model = Model::constant_velocity(dt, acceleration, observation);
    let mut state = State { mean: Array1::zeros(4), covariance: Array2::eye(4) };
    let mut total = 0.0;
    for seen in observed {
        let predicted = model.predict(&state);
        let (next, density) = model.update(&predicted, seen);
        total += density;
        state = next;
    }
    total
}

/// The same density without a filter: all observations of one axis are one normal vector.
fn joint(observed: &[f64], acceleration: f64, observation: f64, dt: f64) -> f64 {
    let n = observed.len();
    // The position at step t is the sum of the first position, the velocity and each shock.
    let mut covariance = Array2::<f64>::zeros((n, n));
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let (s, t) = ((i + 1) as f64 * dt, (j + 1) as f64 * dt);
        covariance[[i, j]] = 1.0 + s * t;
        for k in 0..=i.min(j) {
            let moved = |i: usize| 0.5 * dt * dt + dt * dt * (i - k) as f64;
            covariance[[i, j]] += acceleration * acceleration * moved(i) * moved(j);
        }
        if i == j {
            covariance[[i, j]] += observation * observation;
        }
    }
    // Elimination computes the determinant and the distance.
    let (mut total, mut y) = (0.0, observed.to_vec());
    for k in 0..n {
        let pivot = covariance[[k, k]];
        total += -0.5 * (pivot.ln() + y[k] * y[k] / pivot + (2.0 * std::f64::consts::PI).ln());
        for i in k + 1..n {
            let factor = covariance[[i, k]] / pivot;
            y[i] -= factor * y[k];
            for j in k..n {
                covariance[[i, j]] -= factor * covariance[[k, j]];
            }
        }
    }
    total
}

fn track() -> Vec<[f64; 2]> {
    (0..12)
        .map(|i| i as f64)
        .map(|t| [0.3 * t + (1.7 * t).sin() * 0.2, 0.1 * t * t * 0.3 - (0.9 * t).cos() * 0.3])
        .collect()
}

#[test]
fn the_filter_is_the_joint_density() {
    let observed = track();
    let axis = |k: usize| observed.iter().map(|p| p[k]).collect::<Vec<f64>>();
    let both = |a, o, dt| joint(&axis(0), a, o, dt) + joint(&axis(1), a, o, dt);
    let (a, o, dt) = (0.4, 0.3, 0.8);
    let (value, (da, do_, dt_)) = log_likelihood_value_and_grad(&observed, a, o, dt);
    assert!((value - both(a, o, dt)).abs() < 1e-9, "{value} {}", both(a, o, dt));
    let h = 1e-5;
    assert!((da - (both(a + h, o, dt) - both(a - h, o, dt)) / (2.0 * h)).abs() < 1e-6);
    assert!((do_ - (both(a, o + h, dt) - both(a, o - h, dt)) / (2.0 * h)).abs() < 1e-6);
    assert!((dt_ - (both(a, o, dt + h) - both(a, o, dt - h)) / (2.0 * h)).abs() < 1e-6);
}

#[test]
fn differences_agree() {
    check_grad!(log_likelihood(&track(), 0.4, 0.3, 0.8));
    check_grad!(log_likelihood(&[], 0.4, 0.3, 0.8));
}

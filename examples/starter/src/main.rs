//! A model, its gradient, and a fit. Copy the folder, and write your own model instead.

use ad::prelude::*;

/// A model: a decay with an offset.
#[derive(Clone, Debug, Differentiable)]
struct Model {
    amplitude: f64,
    rate: f64,
    offset: f64,
}

/// What the model says at the time `t`. Functions that a differentiated function calls have this
/// mark.
#[differentiable]
fn predict(model: &Model, t: f64) -> f64 {
    model.amplitude * (-model.rate * t).exp() + model.offset
}

/// The mean of the squared errors. The attribute writes `loss_grad` and `loss_value_and_grad`, with
/// respect to `model` only.
#[differentiate(wrt(model))]
fn loss(model: &Model, t: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let errors = build1(t.len(), |i| predict(model, t[i]) - y[i]);
    errors.dot(&errors) / t.len() as f64
}

/// Descent along the gradient.
fn fit(mut model: Model, t: &Array1<f64>, y: &Array1<f64>) -> Model {
    for step in 0..=2000 {
        let (value, gradient) = loss_value_and_grad(&model, t, y);
        if step % 500 == 0 {
            println!("step {step:4}  loss {value:.2e}");
        }
        // `model - 0.3 * gradient`: a gradient has the type of its parameter.
        model.axpy(-0.3, &gradient);
    }
    model
}

/// Measurements of a decay from 2.5 to 0.5 with rate 1.3.
fn measurements() -> (Array1<f64>, Array1<f64>) {
    let t = Array1::linspace(0.0, 3.0, 31);
    let y = t.mapv(|t: f64| 2.0 * (-1.3 * t).exp() + 0.5);
    (t, y)
}

fn main() {
    let (t, y) = measurements();
    let model = fit(Model { amplitude: 1.0, rate: 1.0, offset: 0.0 }, &t, &y);
    println!("{model:.3?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares every derivative that the attribute wrote with difference quotients.
    #[test]
    fn the_gradient_is_right() {
        let (t, y) = measurements();
        ad::check_grad!(loss(&Model { amplitude: 1.0, rate: 0.7, offset: 0.1 }, &t, &y));
    }

    #[test]
    fn the_fit_finds_the_rate() {
        let (t, y) = measurements();
        let model = fit(Model { amplitude: 1.0, rate: 1.0, offset: 0.0 }, &t, &y);
        assert!((model.rate - 1.3).abs() < 1e-3, "{model:?}");
    }
}

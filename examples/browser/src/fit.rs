//! The model, its loss, and the descent. Nothing here knows of the page.

use ad::prelude::*;

// page: model
/// A curve: a sum of soft steps.
#[derive(Clone, Debug, PartialEq, Differentiable)]
pub struct Network {
    slopes: Array1<f64>,
    places: Array1<f64>,
    heights: Array1<f64>,
    offset: f64,
}

#[differentiable]
fn curve(net: &Network, x: f64) -> f64 {
    let steps = build1(net.slopes.len(), |k| (net.slopes[k] * (x - net.places[k])).tanh());
    net.offset + net.heights.dot(&steps)
}

/// The mean of the squared errors.
#[differentiate(wrt(net))]
fn loss(net: &Network, x: &[f64], y: &[f64]) -> f64 {
    let errors = (0..x.len()).map(|i| (curve(net, x[i]) - y[i]).powi(2));
    errors.sum::<f64>() / x.len() as f64
}
// page: end

/// How much of the mean of earlier gradients remains after a step (Adam; Kingma and Ba 2015), and
/// how much of the mean of their squares.
const KEPT: [f64; 2] = [0.9, 0.99];

/// A fit that is going on.
#[derive(Clone, Debug)]
pub struct Fit {
    net: Network,
    x: Vec<f64>,
    y: Vec<f64>,
    mean: Vec<f64>,
    mean_square: Vec<f64>,
    steps: i32,
    slope: f64,
}

impl Fit {
    /// A fit to a few points, before the first step.
    ///
    /// # Panics
    ///
    /// If there are no units.
    #[must_use]
    pub fn new(units: usize) -> Self {
        let x: Vec<f64> = (0..14_i32).map(|i| f64::from(i) / 6.5 - 1.0).collect();
        let y = x.iter().map(|x| 0.55 * (4.0 * x).sin() * (-x).exp().sqrt() - 0.15 * x).collect();
        let net = first(units);
        let many = net.flat_len();
        Fit { net, x, y, mean: vec![0.0; many], mean_square: vec![0.0; many], steps: 0, slope: 0.0 }
    }

    /// Forgets what has been fitted. The points stay.
    ///
    /// # Panics
    ///
    /// If there are no units.
    pub fn restart(&mut self, units: usize) {
        let (x, y) = (std::mem::take(&mut self.x), std::mem::take(&mut self.y));
        *self = Fit { x, y, ..Fit::new(units) };
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> Vec<[f64; 2]> {
        self.x.iter().zip(&self.y).map(|(&x, &y)| [x, y]).collect()
    }

    /// Adds a point.
    pub fn add_point(&mut self, [x, y]: [f64; 2]) {
        self.x.push(x);
        self.y.push(y);
    }

    /// Moves a point, if there is such a point.
    pub fn move_point(&mut self, k: usize, [x, y]: [f64; 2]) {
        if k < self.x.len() {
            (self.x[k], self.y[k]) = (x, y);
        }
    }

    /// Removes a point, if there is such a point.
    pub fn remove_point(&mut self, k: usize) {
        if k < self.x.len() {
            self.x.remove(k);
            self.y.remove(k);
        }
    }

    /// One step of gradient descent. Returns the loss before it; 0 if there are no points.
    pub fn step(&mut self, rate: f64) -> f64 {
        if self.x.is_empty() {
            return 0.0;
        }
        let (value, gradient) = loss_value_and_grad(&self.net, &self.x, &self.y);
        self.slope = gradient.dot(&gradient).sqrt();
        self.steps = self.steps.saturating_add(1);
        let corrections = KEPT.map(|kept| 1.0 - kept.powi(self.steps));
        let mut net = self.net.to_flat();
        for (k, g) in gradient.to_flat().into_iter().enumerate() {
            self.mean[k] = KEPT[0] * self.mean[k] + (1.0 - KEPT[0]) * g;
            self.mean_square[k] = KEPT[1] * self.mean_square[k] + (1.0 - KEPT[1]) * g * g;
            let scale = (self.mean_square[k] / corrections[1]).sqrt() + 1e-8;
            net[k] -= rate * self.mean[k] / corrections[0] / scale;
        }
        self.net = self.net.from_flat(&net);
        value
    }

    /// The length of the last gradient.
    #[must_use]
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The value of the curve.
    #[must_use]
    pub fn curve(&self, x: f64) -> f64 {
        curve(&self.net, x)
    }

    /// The number of parameters that are fitted.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.net.flat_len()
    }
}

/// The network before the first step: its soft steps are spread evenly, and the curve is almost
/// flat.
fn first(units: usize) -> Network {
    #[allow(clippy::cast_precision_loss, reason = "there are few units")]
    let place = |k: usize| (2.0 * k as f64 + 1.0) / units as f64 - 1.0;
    Network {
        slopes: Array1::from_elem(units, 3.0),
        places: Array1::from_shape_fn(units, place),
        heights: Array1::from_shape_fn(units, |k| if k % 2 == 0 { 0.05 } else { -0.05 }),
        offset: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ad::check_grad;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let fit = Fit::new(5);
        check_grad!(loss(&fit.net, &fit.x, &fit.y));
    }

    #[test]
    fn the_curve_comes_to_the_points_and_follows_one_that_is_moved() {
        let mut fit = Fit::new(12);
        let first = fit.step(0.02);
        let last = (0..1500).map(|_| fit.step(0.02)).last().unwrap_or(f64::NAN);
        assert!(first > 0.05 && last < 1e-3 * first, "{first} {last}");
        fit.move_point(7, [0.1, 0.9]);
        assert!(fit.step(0.02) > 10.0 * last);
        let last = (0..3000).map(|_| fit.step(0.02)).last().unwrap_or(f64::NAN);
        assert!(last < 3e-3 && (fit.curve(0.1) - 0.9).abs() < 0.1, "{last} {}", fit.curve(0.1));
    }

    #[test]
    fn without_points_nothing_moves() {
        let mut fit = Fit::new(3);
        while !fit.points().is_empty() {
            fit.remove_point(0);
        }
        let before = fit.net.clone();
        assert_eq!(fit.step(0.1), 0.0);
        assert_eq!(fit.net, before);
    }
}

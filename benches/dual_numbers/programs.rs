//! The programs of the bench, generic over their numbers.

use std::ops::{Add, Div, Mul, Sub};

/// What the numbers of all crates can do.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The product with a constant.
    fn scaled(self, by: f64) -> Self;
    /// The sum with a constant.
    fn plus(self, constant: f64) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
}

/// A function of numbers.
pub trait Program {
    fn value<T: Number>(&self, x: &[T]) -> T;
}

/// Steps of Euler's method for the Lorenz system: sums and products only.
pub struct Lorenz {
    pub steps: usize,
}

impl Program for Lorenz {
    fn value<T: Number>(&self, x: &[T]) -> T {
        let [mut a, mut b, mut c] = [x[0], x[1], x[2]];
        let [s, r, q] = [x[3], x[4], x[5]];
        for _ in 0..self.steps {
            let (da, db, dc) = ((b - a) * s, a * (r - c) - b, a * b - q * c);
            (a, b, c) = (a + da.scaled(1e-3), b + db.scaled(1e-3), c + dc.scaled(1e-3));
        }
        a * a + b * c
    }
}

/// A recurrence with a hyperbolic tangent, a root and a quotient in six operations.
pub struct Recurrence {
    pub steps: usize,
}

impl Program for Recurrence {
    fn value<T: Number>(&self, x: &[T]) -> T {
        let step = |y: T| (y * x[0] + x[1]).tanh() / (y * y).plus(1.0).sqrt();
        (0..self.steps).fold(x[0], |y, _| step(y))
    }
}

/// The potential of bodies in a plane.
pub struct Bodies;

impl Program for Bodies {
    fn value<T: Number>(&self, x: &[T]) -> T {
        let (mut sum, n) = (x[0].scaled(0.0), x.len() / 2);
        for i in 0..n {
            for j in 0..i {
                let (dx, dy) = (x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
                let d = (dx * dx + dy * dy).plus(0.01).sqrt();
                sum = sum + x[0] / d;
            }
        }
        sum
    }
}

/// The squared error of a network with 16 inputs and 16 hidden units.
pub struct Network {
    examples: Vec<([f64; 16], f64)>,
}

impl Network {
    pub fn new(count: usize) -> Self {
        let rng = &mut fastrand::Rng::with_seed(2);
        Network { examples: (0..count).map(|_| (std::array::from_fn(|_| rng.f64() - 0.5), rng.f64())).collect() }
    }
}

impl Program for Network {
    fn value<T: Number>(&self, x: &[T]) -> T {
        let (weights, rest) = x.split_at(256);
        let (shifts, outer) = rest.split_at(16);
        let mut total = x[0].scaled(0.0);
        for (input, label) in &self.examples {
            let mut y = outer[0].scaled(0.0);
            for (i, row) in weights.chunks(16).enumerate() {
                let sum = row.iter().zip(input).fold(shifts[i], |sum, (w, v)| sum + w.scaled(*v));
                y = y + sum.tanh() * outer[i];
            }
            let error = y.plus(-label);
            total = total + error * error;
        }
        total
    }
}

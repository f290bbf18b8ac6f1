//! GradBench's `ode`: a system of differential equations, solved by the classical method of Runge
//! and Kutta.

use ad::prelude::*;

/// The components at time 2 of `y_0' = x_0`, `y_i' = x_i y_{i-1}` from 0, by steps of Runge and
/// Kutta.
#[differentiate(vjp)]
pub fn ode(x: &Array1<f64>, steps: usize) -> Array1<f64> {
    let slope = |y: &Array1<f64>| build1(x.len(), |i| if i == 0 { x[0] } else { x[i] * y[i - 1] });
    let h = 2.0 / steps as f64;
    let mut y = Array1::<f64>::zeros(x.len());
    for _ in 0..steps {
        let k1 = slope(&y);
        let k2 = slope(&(&y + &(0.5 * h * &k1)));
        let k3 = slope(&(&y + &(0.5 * h * &k2)));
        let k4 = slope(&(&y + &(h * &k3)));
        for i in 0..x.len() {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    y
}

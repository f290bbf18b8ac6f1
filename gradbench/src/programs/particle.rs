//! GradBench's `particle`: a particle flies in the field of two charges until it reaches the
//! ground. The height of one charge is `w`; the result is the square of the place where the
//! particle comes down.

use ad::prelude::*;

/// The potential at `x` of the charges.
#[differentiate(grad, jvp, wrt(x))]
pub fn potential(x: &[f64; 2], w: f64) -> f64 {
    let charges = [[10.0, 10.0 - w], [10.0, 0.0]];
    let mut p = 0.0;
    for c in charges {
        let (dx, dy) = (x[0] - c[0], x[1] - c[1]);
        p += 1.0 / (dx * dx + dy * dy).sqrt();
    }
    p
}

/// The force, computed by `grad`.
#[differentiate(grad, jvp)]
pub fn reverse(w: f64) -> f64 {
    let dt = 0.1;
    let mut x = [0.0, 8.0];
    let mut v = [0.75, 0.0];
    loop {
        let slope = potential_grad(&x, w);
        let next = [x[0] + dt * v[0], x[1] + dt * v[1]];
        if next[1] <= 0.0 {
            break;
        }
        x = next;
        v = [v[0] - dt * slope[0], v[1] - dt * slope[1]];
    }
    let rest = -x[1] / v[1];
    let end = x[0] + rest * v[0];
    end * end
}

/// The force, computed by two calls of `jvp`.
#[differentiate(grad, jvp)]
pub fn forward(w: f64) -> f64 {
    let dt = 0.1;
    let mut x = [0.0, 8.0];
    let mut v = [0.75, 0.0];
    loop {
        let slope = [potential_jvp(&x, w, [1.0, 0.0]).1, potential_jvp(&x, w, [0.0, 1.0]).1];
        let next = [x[0] + dt * v[0], x[1] + dt * v[1]];
        if next[1] <= 0.0 {
            break;
        }
        x = next;
        v = [v[0] - dt * slope[0], v[1] - dt * slope[1]];
    }
    let rest = -x[1] / v[1];
    let end = x[0] + rest * v[0];
    end * end
}

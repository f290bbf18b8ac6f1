//! GradBench's `saddle`: the saddle point of x1^2 + y1^2 - x2^2 - y2^2, which is the minimum of
//! maximum values.

use ad::prelude::*;

#[differentiate(grad, jvp, wrt(q))]
pub fn height(p: &[f64; 2], q: &[f64; 2]) -> f64 {
    p[0] * p[0] + p[1] * p[1] - q[0] * q[0] - q[1] * q[1]
}

/// The direction of descent of minus the height at `q`.
#[differentiable]
pub fn slope(p: &[f64; 2], q: &[f64; 2], forwards: bool) -> [f64; 2] {
    if forwards {
        [-height_jvp(p, q, [1.0, 0.0]).1, -height_jvp(p, q, [0.0, 1.0]).1]
    } else {
        let up = height_grad(p, q);
        [-up[0], -up[1]]
    }
}

/// The greatest height over `q`, by a search from `start`.
#[differentiate(grad, jvp, wrt(p))]
pub fn greatest(p: &[f64; 2], start: &[f64; 2], forwards: bool) -> f64 {
    let mut q = *start;
    let mut value = -height(p, &q);
    let mut down = slope(p, &q, forwards);
    let mut eta = 1e-5;
    let mut successes = 0;
    loop {
        if (down[0] * down[0] + down[1] * down[1]).sqrt() <= 1e-5 {
            break;
        }
        if successes == 10 {
            eta *= 2.0;
            successes = 0;
            continue;
        }
        let next = [q[0] - eta * down[0], q[1] - eta * down[1]];
        let (dx, dy) = (next[0] - q[0], next[1] - q[1]);
        if (dx * dx + dy * dy).sqrt() <= 1e-5 {
            break;
        }
        let lower = -height(p, &next);
        if lower < value {
            q = next;
            value = lower;
            down = slope(p, &q, forwards);
            successes += 1;
        } else {
            eta /= 2.0;
            successes = 0;
        }
    }
    height(p, &q)
}

//! Runge-Kutta's classical integrator, which takes the right-hand side as a closure, and systems
//! that are solved with it.

use ad::check_grad;
use ad::prelude::*;

/// One step of the classical method.
#[differentiable]
fn step<const N: usize>(f: &impl Fn(f64, &[f64; N]) -> [f64; N], t: f64, y: [f64; N], h: f64) -> [f64; N] {
    let shifted = |k: &[f64; N], by: f64| {
        let mut z = y;
        for i in 0..N {
            z[i] += by * k[i];
        }
        z
    };
    let k1 = f(t, &y);
    let k2 = f(t + 0.5 * h, &shifted(&k1, 0.5 * h));
    let k3 = f(t + 0.5 * h, &shifted(&k2, 0.5 * h));
    let k4 = f(t + h, &shifted(&k3, h));
    let mut next = y;
    for i in 0..N {
        next[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
    next
}

/// The state at time `end`.
#[differentiable]
fn integrate<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    start: [f64; N],
    end: f64,
    steps: usize,
) -> [f64; N] {
    let h = end / steps as f64;
    let mut y = start;
    for i in 0..steps {
        y = step(&f, i as f64 * h, y, h);
    }
    y
}

/// The position of a damped, driven oscillator.
#[differentiate]
fn oscillator(stiffness: f64, damping: f64, drive: f64, start: [f64; 2], end: f64) -> f64 {
    let rhs = |t: f64, y: &[f64; 2]| [y[1], -stiffness * y[0] - damping * y[1] + drive * (1.3 * t).cos()];
    integrate(rhs, start, end, 200)[0]
}

/// The squared distance of a predator-prey system from the observations.
#[differentiate(wrt(rates, start))]
fn fit(rates: [f64; 4], start: [f64; 2], observed: &[[f64; 2]]) -> f64 {
    let [birth, eaten, death, fed] = rates;
    let lotka_volterra = |_t: f64, y: &[f64; 2]| {
        let [prey, predators] = *y;
        [birth * prey - eaten * prey * predators, fed * prey * predators - death * predators]
    };
    let mut state = start;
    let mut loss = 0.0;
    for point in observed {
        state = integrate(&lotka_volterra, state, 0.5, 10);
        loss += (state[0] - point[0]).powi(2) + (state[1] - point[1]).powi(2);
    }
    loss
}

/// Where a thrown ball with drag comes down: integrated until it is below the ground, then the last
/// step is interpolated.
#[differentiate(wrt(speed, angle, drag))]
fn range(speed: f64, angle: f64, drag: f64, h: f64) -> f64 {
    let flight = |_: f64, s: &[f64; 4]| {
        let v = s[2].hypot(s[3]);
        [s[2], s[3], -drag * v * s[2], -9.81 - drag * v * s[3]]
    };
    let (sin, cos) = angle.sin_cos();
    let mut s = [0.0, 0.0, speed * cos, speed * sin];
    let mut t = 0.0;
    loop {
        let next = step(&flight, t, s, h);
        if next[1] < 0.0 {
            let part = s[1] / (s[1] - next[1]);
            return s[0] + part * (next[0] - s[0]);
        }
        s = next;
        t += h;
    }
}

/// `x'' = -k x - c x'` from `x = 1` at rest, in closed form.
fn damped(k: f64, c: f64, t: f64) -> f64 {
    let (a, w) = (0.5 * c, (k - 0.25 * c * c).sqrt());
    (-a * t).exp() * ((w * t).cos() + a / w * (w * t).sin())
}

#[test]
fn the_oscillator_is_known() {
    let (k, c, t) = (2.0, 0.3, 3.0);
    let (value, (dk, dc, _, start, dt)) = oscillator_value_and_grad(k, c, 0.0, [1.0, 0.0], t);
    assert!((value - damped(k, c, t)).abs() < 1e-8);
    let h = 1e-5;
    let known = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
    assert!((dk - known(&|h| damped(k + h, c, t))).abs() < 1e-7);
    assert!((dc - known(&|h| damped(k, c + h, t))).abs() < 1e-7);
    assert!((dt - known(&|h| damped(k, c, t + h))).abs() < 1e-7);
    // It is linear in where it starts.
    assert!((start[0] - value).abs() < 1e-12);
}

#[test]
fn the_range_is_known_without_drag() {
    let (speed, angle): (f64, f64) = (20.0, 0.7);
    let (value, (dv, da, _)) = range_value_and_grad(speed, angle, 0.0, 0.01);
    assert!((value - speed * speed * (2.0 * angle).sin() / 9.81).abs() < 1e-3);
    assert!((dv - 2.0 * speed * (2.0 * angle).sin() / 9.81).abs() < 1e-2);
    assert!((da - 2.0 * speed * speed * (2.0 * angle).cos() / 9.81).abs() < 1e-1);
}

#[test]
fn differences_agree() {
    check_grad!(oscillator(2.0, 0.3, 0.4, [1.0, -0.2], 2.0));
    let observed = [[1.1, 0.4], [1.3, 0.5], [1.2, 0.9], [0.8, 1.0]];
    check_grad!(fit([1.1, 0.9, 0.7, 0.5], [1.0, 0.5], &observed));
    check_grad!(range(20.0, 0.7, 0.02, 0.05));
}

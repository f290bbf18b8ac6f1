//! Functions that call themselves, with a depth that is not known when they are expanded.

use ad::ndarray::{Array1, array};
use ad::{check_grad, differentiable, differentiate};

/// Whether two numbers are equal up to rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + b.abs())
}

#[differentiate(grad, vjp, jvp, pullback)]
fn of_power(x: f64, n: usize) -> f64 {
    fn power(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { x * power(x, n - 1) }
    }
    power(x, n).sin()
}

#[test]
fn a_function_over_numbers_calls_itself() {
    let (x, n) = (1.1_f64, 7);
    let own = 7.0 * x.powi(6) * x.powi(7).cos();
    let (value, gradient) = of_power_value_and_grad(x, n);
    assert!(close(value, x.powi(7).sin()) && close(gradient, own));
    assert!(close(of_power_jvp(x, n, 2.0).1, 2.0 * own));
    assert!(close(of_power_vjp(x, n, 3.0).1, 3.0 * own));
    let (_, back) = of_power_pullback(x, n);
    assert!(close(back(1.0), own) && close(back(-2.0), -2.0 * own), "a pullback can be called twice");
    assert!(close(of_power_grad(x, 0), 0.0));
    check_grad!(of_power(x, 12));
}

#[differentiate(grad, jvp)]
fn itself(x: f64, n: usize) -> f64 {
    if n < 2 {
        return x.sin();
    }
    let half = itself(x * 0.5, n / 2);
    half * itself(x + 1.0, n - 1 - n / 2) + x
}

#[test]
fn the_annotated_function_calls_itself_twice() {
    for n in [0, 1, 2, 5, 13] {
        check_grad!(itself(0.7, n));
    }
}

#[differentiable]
fn factorial(n: usize, x: f64) -> f64 {
    if n == 0 { x } else { factorial(n - 1, x) * n as f64 }
}

#[differentiate]
fn of_factorial(n: usize, x: f64) -> f64 {
    factorial(n, x.sin()) * x
}

#[differentiate(grad, jacobian)]
fn generic<T: ad::Real>(x: T, n: usize) -> T {
    if n == 0 { x } else { generic(x * x, n - 1) + x.sin() }
}

#[test]
fn a_marked_function_calls_itself() {
    check_grad!(of_factorial(5, 0.8));
    check_grad!(generic(0.8_f64, 4));
    assert!((generic_grad(0.8_f32, 4) - generic_grad(0.8_f64, 4) as f32).abs() < 1e-5);
}

#[differentiate]
fn alternating(x: f64, y: f64, n: u32) -> f64 {
    fn even(x: f64, y: f64, n: u32) -> f64 {
        if n == 0 { x } else { (odd(x, y, n - 1) * y).sin() }
    }
    fn odd(x: f64, y: f64, n: u32) -> f64 {
        if n == 0 { y } else { even(x * y, y, n - 1) + x }
    }
    even(x, y, n) + odd(y, x, n)
}

#[test]
fn functions_call_each_other() {
    for n in [0, 1, 2, 3, 8] {
        check_grad!(alternating(0.7, 1.3, n));
    }
}

#[differentiate]
fn of_ackermann(x: f64, m: u64, n: u64) -> f64 {
    fn ackermann(m: u64, n: u64) -> u64 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    x * ackermann(m, n) as f64
}

#[test]
fn a_function_of_integers_calls_itself() {
    assert!(close(of_ackermann_grad(0.5, 2, 3), 9.0));
    assert!(close(of_ackermann_value_and_grad(0.5, 1, 4).0, 3.0));
}

#[differentiate]
fn halves(x: &[f64]) -> f64 {
    fn product(x: &[f64]) -> f64 {
        match x.len() {
            0 => 1.0,
            1 => x[0],
            n => product(&x[..n / 2]) * product(&x[n / 2..]),
        }
    }
    product(x)
}

#[test]
fn slices_are_divided() {
    let x = [1.5, -0.5, 2.0, 3.0, 0.25];
    let gradient = halves_grad(&x);
    for (k, g) in gradient.iter().enumerate() {
        assert!(close(*g, x.iter().product::<f64>() / x[k]), "{gradient:?}");
    }
    assert!(halves_grad(&[]).is_empty());
    check_grad!(halves(&x));
}

#[differentiate]
fn in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    fn chebyshev(x: f64, n: usize) -> f64 {
        match n {
            0 => 1.0,
            1 => x,
            _ => 2.0 * x * chebyshev(x, n - 1) - chebyshev(x, n - 2),
        }
    }
    let mut state = 0.5;
    for (i, &v) in x.iter().enumerate() {
        state = 0.5 * state + chebyshev(v * state, (i + n) % 5);
    }
    state
}

#[differentiate]
fn in_a_build(x: &Array1<f64>) -> f64 {
    fn tower(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { tower(x.sin(), n - 1) * x }
    }
    let all: Array1<f64> = x.iter().enumerate().map(|(i, &v)| if v > 0.0 { tower(v, i) } else { v }).collect();
    all.dot(x)
}

#[test]
fn calls_are_in_loops_and_builds() {
    check_grad!(in_a_loop(&array![0.3, -0.7, 1.1, 0.9, -0.2, 0.4], 2));
    check_grad!(in_a_build(&array![0.3, -0.7, 1.1, 0.9, -0.2, 0.4]));
}

#[differentiate(grad, vjp)]
fn of_pairs(x: f64, y: f64, n: usize) -> f64 {
    fn rotate(x: f64, y: f64, n: usize) -> (f64, usize, f64) {
        if n == 0 {
            return (x, 0, y);
        }
        let (a, k, b) = rotate(x * y.cos(), x + y, n - 1);
        (a * b, k + 1, b - x)
    }
    let (a, k, b) = rotate(x, y, n);
    a + b * k as f64
}

#[differentiate]
fn of_arrays(x: [f64; 3], n: usize) -> f64 {
    fn step(x: [f64; 3], n: usize) -> [f64; 3] {
        if n == 0 { x } else { step([x[1] * 0.9, x[2].sin() + x[0], x[0] * x[1]], n - 1) }
    }
    let y = step(x, n);
    y[0] + 2.0 * y[1] * y[2]
}

#[test]
fn results_are_tuples_and_arrays() {
    for n in [0, 1, 4] {
        check_grad!(of_pairs(0.7, 0.4, n));
        check_grad!(of_arrays([0.7, 0.4, -0.3], n));
    }
}

#[differentiate]
fn determinant(a: &[f64], n: usize) -> f64 {
    fn det(a: &[f64], n: usize) -> f64 {
        if n == 1 {
            return a[0];
        }
        let mut sum = 0.0;
        let mut sign = 1.0;
        for i in 0..n {
            let mut minor = vec![0.0; (n - 1) * (n - 1)];
            for r in 0..n - 1 {
                for c in 0..n - 1 {
                    let row = if r < i { r } else { r + 1 };
                    minor[r * (n - 1) + c] = a[row * n + c + 1];
                }
            }
            sum += sign * a[i * n] * det(&minor, n - 1);
            sign = -sign;
        }
        sum
    }
    det(a, n)
}

#[test]
fn a_determinant_by_minors() {
    let a = [2.0, 0.5, -1.0, 0.3, 1.5, 0.7, -0.2, 0.9, 1.1];
    check_grad!(determinant(&a, 3));
    let own =
        a[0] * (a[4] * a[8] - a[5] * a[7]) - a[3] * (a[1] * a[8] - a[2] * a[7]) + a[6] * (a[1] * a[5] - a[2] * a[4]);
    assert!(close(determinant_value_and_grad(&a, 3).0, own));
}

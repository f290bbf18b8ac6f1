//! Derivatives that are called in differentiated functions: conditions, checks, and loops that the
//! function does not reach.

use ad::check_grad;
use ad::prelude::*;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// It does not end for `x` at or below 0.
#[differentiate(grad, hvp)]
fn until(x: f64) -> f64 {
    let mut s = x;
    while s < 10.0 {
        s *= 1.5 + x;
    }
    s
}

#[differentiate(grad, hvp)]
fn guarded(x: f64) -> f64 {
    if x > 0.0 { until_grad(x) * x } else { x * x }
}

#[differentiate(grad)]
fn guarded_again(x: f64) -> f64 {
    if x > -1.0 { guarded_grad(x) } else { x }
}

#[differentiate(grad)]
fn early(x: f64) -> f64 {
    if x < 0.0 {
        return x * 3.0;
    }
    let y = until_hvp(x, 1.0);
    y * 2.0
}

#[differentiate]
fn checked(x: f64) -> f64 {
    assert!(x > 0.0, "positive");
    until_grad(x)
}

#[differentiable]
fn safely(x: f64, y: f64) -> f64 {
    if x > y { until_grad(x) } else { 0.0 }
}

#[differentiate]
fn by_helper(x: f64, y: f64) -> f64 {
    safely(x, 0.0) + safely(y, 0.0) + x * y
}

#[test]
fn unreached_loops() {
    close(guarded_grad(-2.0), -4.0);
    check_grad!(guarded(0.3));
    check_grad!(guarded(-0.3));
    close(guarded_again_grad(-0.5), 2.0);
    check_grad!(guarded_again(0.3));
    close(early_grad(-2.0), 3.0);
    check_grad!(early(0.3));
    close(by_helper_grad(-1.0, -2.0).0, -2.0);
    check_grad!(by_helper(0.3, -1.0));
}

#[test]
#[should_panic(expected = "positive")]
fn a_check_comes_first() {
    let _ = checked_grad(-1.0);
}

#[differentiate]
fn table(x: &Array1<f64>, k: usize) -> f64 {
    x[k] * x[k] * x[k]
}

#[differentiate]
fn of_table(x: &Array1<f64>, keys: &[usize]) -> f64 {
    let mut total = 0.0;
    for &k in keys {
        if k < x.len() {
            total += table_grad(x, k)[k];
        }
    }
    total
}

#[differentiate]
fn of_table_unchecked(x: &Array1<f64>, keys: &[usize]) -> f64 {
    keys.iter().map(|&k| table_grad(x, k).sum()).sum::<f64>()
}

#[test]
fn checks_in_loops() {
    let x = array![0.3, 0.8];
    close(of_table_grad(&x, &[0, 7, 1])[0], 6.0 * 0.3);
    check_grad!(of_table(&x, &[0, 7, 1]));
    check_grad!(of_table_unchecked(&x, &[0, 1, 1]));
}

#[test]
#[should_panic(expected = "x[k]")]
fn a_check_in_a_loop() {
    let _ = of_table_unchecked_grad(&array![0.3, 0.8], &[0, 7]);
}

/// Its derivative at 0 is infinite in the arm that is not taken there.
#[differentiate(grad, hvp)]
fn rooted(x: f64, y: f64) -> f64 {
    if x > 0.0 { x.sqrt() * y } else { y * y }
}

#[differentiate]
fn of_rooted(x: &Array1<f64>, y: f64) -> f64 {
    let s = build1(x.len(), |i| rooted_grad(x[i], y).1 + rooted_grad(x[i], y).0);
    let mut t = s.sum();
    for i in 0..x.len() {
        t += rooted_hvp(x[i], y, 1.0, 1.0).0;
    }
    t
}

#[test]
fn no_nan_from_arms_inside() {
    let (dx, dy) = of_rooted_grad(&array![0.0, 4.0, -1.0, 0.0], 0.7);
    assert!(dx.iter().all(|d| d.is_finite()) && dy.is_finite(), "{dx} {dy}");
    close(dx[0], 0.0);
    check_grad!(of_rooted(&array![-0.4, 4.0, -1.0], 0.7));
}

/// The condition holds for the user's operations only.
#[differentiate]
fn stepped(x: f64, y: f64) -> f64 {
    if x * 3.0 - y * 3.0 == 0.1 * 3.0 - 0.3 { x * x } else { y * y * x }
}

#[differentiate]
fn of_stepped(x: f64, y: f64) -> f64 {
    stepped_grad(x, y).0
}

#[test]
fn decisions_of_the_function_inside_are_exact() {
    for (x, y) in [(0.1, 0.1), (0.1, 0.100_000_000_000_000_02), (0.3, 0.1), (1.0, 1.0)] {
        close(of_stepped_value_and_grad(x, y).0, of_stepped(x, y));
    }
}

//! A derivative panics exactly where the function itself panics.

use ad::prelude::*;

use crate::panics::{calls, panic_of};

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn out_of_range(x: &Array1<f64>, k: usize) -> f64 {
    let square = x.dot(x);
    square * x[k]
}
const OUT_OF_RANGE: u32 = line!() - 2;

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn overflowing(x: &Array1<f64>, k: usize) -> f64 {
    let square = x.dot(x);
    square * (k - 2) as f64
}
const OVERFLOWING: u32 = line!() - 2;

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn divided(x: &Array1<f64>, k: usize) -> f64 {
    let square = x.dot(x);
    square * (6 / k) as f64
}
const DIVIDED: u32 = line!() - 2;

/// "An index out of range, an integer overflow or a division by zero of integers that `f` itself
/// would reach panics in the gradient too, with its source line". This is tested for all generated
/// functions.
#[test]
fn panics_of_the_function_are_panics_of_each_derivative() {
    let x = array![1.0, 2.0];
    let cases = [
        (
            calls!(&x, 5, out_of_range out_of_range_grad out_of_range_value_and_grad out_of_range_vjp out_of_range_jvp out_of_range_jacobian out_of_range_hvp out_of_range_hessian out_of_range_pullback out_of_range_value_and_grad_into),
            OUT_OF_RANGE,
            "out_of_range: index out of range: `x[k]` (length of `x` = 2, index = 5)",
        ),
        (
            calls!(&x, 1, overflowing overflowing_grad overflowing_value_and_grad overflowing_vjp overflowing_jvp overflowing_jacobian overflowing_hvp overflowing_hessian overflowing_pullback overflowing_value_and_grad_into),
            OVERFLOWING,
            "overflowing: integer overflow in a subtraction: `k - 2`",
        ),
        (
            calls!(&x, 0, divided divided_grad divided_value_and_grad divided_vjp divided_jvp divided_jacobian divided_hvp divided_hessian divided_pullback divided_value_and_grad_into),
            DIVIDED,
            "divided: division by zero: `6 / k`",
        ),
    ];
    for (calls, line, expected) in cases {
        for (name, call) in calls {
            let (text, at, _) = panic_of(call);
            assert_eq!(at, line, "{name}: {text}");
            assert!(name == "function" || text == expected, "{name}: {text}");
        }
    }
}

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn guarded(x: &Array1<f64>, k: usize) -> f64 {
    let square = x.dot(x);
    let in_an_arm = if k < x.len() { x[k] * (k + 1) as f64 / (6 / (k + 1)) as f64 } else { square };
    let mut in_a_loop = 0.0;
    for i in 2..k.min(2) {
        in_a_loop += x[i + 7] * (i - 9) as f64 * (1 / (i - i)) as f64;
    }
    let behind_and = if k < x.len() && x[k] > 0.0 { 1.0 } else { 0.0 };
    let in_a_match = match k {
        0 | 1 => x[k + 1],
        _ => 0.0,
    };
    let in_a_closure = |j: usize| x[j];
    let called = if k == 0 { in_a_closure(k) } else { 0.0 };
    let of_nothing = build1(k - k, |i| x[i + 100]).sum();
    square + in_an_arm + in_a_loop + behind_and + in_a_match + called + of_nothing
}

/// "One that `f` would not reach (behind an `if`, in a loop of zero iterations) never does: a term
/// that may panic does not leave an arm or a loop."
#[test]
fn unreached_code_never_panics() {
    for (x, ks) in [(array![1.0, 2.0, 3.0], 0..9), (array![], 5..9)] {
        for k in ks {
            for (_, call) in calls!(&x, k, guarded guarded_grad guarded_value_and_grad guarded_vjp guarded_jvp guarded_jacobian guarded_hvp guarded_hessian guarded_pullback guarded_value_and_grad_into)
            {
                call();
            }
            let (value, gradient) = guarded_value_and_grad(&x, k);
            assert!((value - guarded(&x, k)).abs() <= 1e-13 * value.abs());
            assert_eq!(gradient, guarded_vjp(&x, k, 1.0).1);
        }
    }
    let x = array![1.0, 2.0, 3.0];
    ad::check_grad!(guarded(&x, 0), grad, jvp, hvp);
    ad::check_grad!(guarded(&x, 7), grad, jvp, hvp);
}

#[differentiate]
fn in_steps(x: &Array1<f64>, ids: &[usize], stop: f64) -> f64 {
    let mut s = 0.0;
    for &i in ids {
        if s > stop {
            break;
        }
        s += x[i];
    }
    s * s
}
const IN_STEPS: u32 = line!() - 4;

/// The same for carried values: the step with the index out of range comes after the loop was left,
/// or before.
#[test]
fn steps_that_are_not_taken_never_panic() {
    let x = array![1.0, 2.0];
    assert_eq!(in_steps_grad(&x, &[0, 1, 9], 2.5).0, array![6.0, 6.0]);
    assert_eq!(panic_of(|| in_steps(&x, &[0, 1, 9], 3.5)).1, IN_STEPS);
    assert_eq!(panic_of(|| in_steps_grad(&x, &[0, 1, 9], 3.5)).1, IN_STEPS);
}

#[differentiate]
fn not_looked_at(x: &Array1<f64>, k: usize, n: i32) -> f64 {
    let _ = x[k];
    let _unused = 7 / n;
    x.sum()
}

/// An operation whose result is not used is reached nevertheless.
#[test]
fn operations_whose_results_are_unused_panic_too() {
    let x = array![1.0, 2.0];
    assert_eq!(not_looked_at_grad(&x, 1, 1), array![1.0, 1.0]);
    for (k, n) in [(2, 1), (1, 0)] {
        let (_, line, _) = panic_of(|| not_looked_at(&x, k, n));
        assert_eq!(panic_of(|| not_looked_at_grad(&x, k, n)).1, line);
    }
}

#[differentiate]
fn skipped(x: &Array1<f64>, ids: &[usize], n: usize) -> f64 {
    let behind = ids.iter().map(|&i| x[i] * x[i]).skip(n).sum::<f64>();
    let some = (0..ids.len()).map(|k| x[ids[k]]).step_by(2).sum::<f64>();
    behind * some
}

/// An iterator evaluates the items that it skips, so `f` reaches their panics.
#[test]
fn skipped_items_panic_too() {
    let x = array![1.0, 2.0];
    assert_eq!(skipped_grad(&x, &[0, 1, 1], 1), array![8.0, 32.0]);
    for ids in [[5, 0, 1], [0, 5, 1]] {
        panic_of(|| skipped(&x, &ids, 2));
        let (message, ..) = panic_of(|| skipped_grad(&x, &ids, 2));
        assert!(message.contains("index out of range"), "{message}");
    }
}

#[differentiate(grad, vjp, jvp)]
fn asserted(x: &Array1<f64>, n: usize) -> f64 {
    assert!(n < 4, "{n} is too much");
    let s = x.sum();
    assert!(s > 0.0);
    if n == 3 {
        panic!("three");
    }
    s * n as f64
}

/// `assert!` and `panic!` are kept: their messages and lines are those of the function.
#[test]
fn assertions_are_the_functions_own() {
    let x = array![1.0, 2.0];
    assert_eq!(asserted_grad(&x, 2), array![2.0, 2.0]);
    for (x, n, words) in [(&x, 5, "is too much"), (&-&x, 1, "assertion failed"), (&x, 3, "three")] {
        let (_, line, _) = panic_of(|| asserted(x, n));
        for (text, at, _) in
            [panic_of(|| asserted_grad(x, n)), panic_of(|| asserted_vjp(x, n, 1.0)), panic_of(|| asserted_jvp(x, n, x))]
        {
            assert!(text.contains(words), "{text}");
            assert_eq!(at, line, "{text}");
        }
    }
}

#[differentiate(grad, jvp)]
fn in_words(x: &[f64], n: usize, limit: f32) -> f64 {
    assert!(n < 7, "n is {n}, {} of {:>4}", n + 1, x.len());
    if n == 6 {
        panic!("{{x[1]}} is {:.2} and {limit:?}", x[1]);
    }
    let s: f64 = x.iter().sum();
    if s < 0.0 {
        unreachable!("the sum {s}");
    }
    assert_ne!(n, 5, "{0} and {0:02}", n);
    let first = *x.first().expect("there is {no} first");
    assert!(first < 50.0, "{}", if n > 1 { "large" } else { "small" });
    s * first * n as f64
}

/// A panic of the user's has the same text in the derivative, after the function's name.
#[test]
fn the_text_of_a_panic_is_the_functions_own() {
    let fail: [(&[f64], usize); 5] =
        [(&[1.0, 2.0], 9), (&[1.0, 2.0], 6), (&[1.0, -2.0], 1), (&[1.0, 2.0], 5), (&[], 1)];
    for (x, n) in fail {
        let (text, line, _) = panic_of(|| in_words(x, n, 0.5));
        // The message of `assert_ne` also has both sides, and that of `unreachable` follows std's
        // text.
        let own = match n {
            5 => "5 and 05".to_string(),
            _ => text,
        };
        for (found, at, _) in [panic_of(|| in_words_grad(x, n, 0.5)), panic_of(|| in_words_jvp(x, n, 0.5, x, 0.0))] {
            assert_eq!((found, at), (format!("in_words: {own}"), line));
        }
    }
    assert!(panic_of(|| in_words_grad(&[60.0], 1, 0.5)).0.contains("`if n > 1 {"));
}

#[differentiate(wrt(x))]
fn wrapping_in_releases(x: f64, k: u8) -> f64 {
    x * f64::from(k + 200)
}

/// "Panics in the gradient too": in every build profile, including one in which the function itself
/// wraps.
#[test]
fn an_overflow_panics_in_the_gradient_in_each_profile() {
    assert_eq!(wrapping_in_releases_grad(2.0, 55), 255.0);
    let k = std::hint::black_box(56);
    if let Ok(value) = std::panic::catch_unwind(|| wrapping_in_releases(2.0, k)) {
        assert_eq!((value, cfg!(debug_assertions)), (0.0, false));
    }
    let (said, ..) = panic_of(|| wrapping_in_releases_grad(2.0, k));
    assert_eq!(said, "wrapping_in_releases: integer overflow in an addition: `k + 200`");
}

//! A panic in a loop has values in its message that exist in that iteration only: the messages of
//! the derivatives show them as that of the function does.

use ad::prelude::*;

use crate::panics::{calls, panic_of};

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn own_words(x: &Array1<f64>, k: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let d = x[i] - x[0];
        if d > k as f64 {
            panic!("{i}: {d:.1} of {k}");
        }
        s += d * d * d;
    }
    s
}

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn carried(x: &Array1<f64>, k: usize) -> f64 {
    let (mut p, mut s) = (1, x[0]);
    while s < 100.0 {
        assert!(p < k, "p is {p}");
        p *= 2;
        s += x[1] * x[1];
    }
    s
}

#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into)]
fn own_index(x: &Array1<f64>, k: usize) -> f64 {
    let v = x.to_vec();
    let mut s = 0.0;
    for i in 0..k {
        s += v[i + 1] * v[i] * v[i];
    }
    s
}

#[test]
fn messages_have_the_values_of_the_iteration() {
    let x = array![1.0, 2.0, 9.0];
    let cases = [
        (
            calls!(&x, 2, own_words own_words_grad own_words_value_and_grad own_words_vjp own_words_jvp own_words_jacobian own_words_hvp own_words_hessian own_words_pullback own_words_value_and_grad_into),
            "2: 8.0 of 2",
            true,
        ),
        (
            calls!(&x, 5, carried carried_grad carried_value_and_grad carried_vjp carried_jvp carried_jacobian carried_hvp carried_hessian carried_pullback carried_value_and_grad_into),
            "p is 8",
            true,
        ),
        (
            calls!(&x, 4, own_index own_index_grad own_index_value_and_grad own_index_vjp own_index_jvp own_index_jacobian own_index_hvp own_index_hessian own_index_pullback own_index_value_and_grad_into),
            "index out of bounds: the len is 3 but the index is 3",
            false,
        ),
    ];
    for (calls, expected, whole) in cases {
        for (name, call) in calls {
            let (text, ..) = panic_of(call);
            let fits = if whole { text == expected } else { text.ends_with(expected) };
            assert!(fits, "{name}: {text}");
        }
    }
}

/// The function is called once more only where the derivative has found that it panics.
#[test]
fn functions_that_do_not_fail_give_no_message() {
    let x = array![1.0, 1.5, 2.0];
    assert_eq!(own_words_grad(&x, 2).len(), 3);
    assert_eq!(own_index_grad(&x, 2).len(), 3);
}

//! Checks of sizes, and reads of empty arrays.

use ad::prelude::*;

use crate::panics::panic_of;

#[differentiate(grad, vjp, jvp, into, wrt(x))]
fn late_mismatch(x: &Array1<f64>, y: &Array1<f64>, ids: &[usize]) -> f64 {
    let first = x[ids[0]];
    let root = if first > 0.0 { first.sqrt() } else { panic!("not positive") };
    root + (x * y).sum()
}
const MISMATCH: u32 = line!() - 2;
const READ: u32 = line!() - 5;

/// "Shape checks that are unconditional and depend on sizes only run at entry, before anything is
/// computed, naming the function, the expressions, their sizes and the source line": the function
/// itself reads out of range first, or panics with words of its own.
#[test]
fn sizes_are_checked_before_anything_is_computed() {
    let (x, y) = (array![1.0, 2.0, 3.0], array![1.0, 2.0]);
    assert_eq!(panic_of(|| late_mismatch(&x, &y, &[7])).1, READ);
    assert_eq!(panic_of(|| late_mismatch(&-&x, &y, &[0])).0, "not positive");
    let mut place = Array1::zeros(3);
    let mut said = vec![
        panic_of(|| late_mismatch_grad(&x, &y, &[7])),
        panic_of(|| late_mismatch_grad(&-&x, &y, &[0])),
        panic_of(|| late_mismatch_value_and_grad(&x, &y, &[7])),
        panic_of(|| late_mismatch_vjp(&x, &y, &[7], 1.0)),
        panic_of(|| late_mismatch_jvp(&x, &y, &[7], &x)),
    ];
    said.push(panic_of(|| late_mismatch_value_and_grad_into(&x, &y, &[7], &mut place)));
    for (text, line, file) in said {
        assert_eq!(text, "late_mismatch: shapes differ: `x * y` (length of `x` = 3, length of `y` = 2)");
        assert_eq!((line, file.ends_with("entry.rs")), (MISMATCH, true));
    }
    // If the sizes are right, other errors have the function's own message.
    let y = array![1.0, 2.0, 3.0];
    assert_eq!(panic_of(|| late_mismatch_grad(&x, &y, &[7])).1, READ);
    assert!(panic_of(|| late_mismatch_grad(&-&x, &y, &[0])).0.contains("not positive"));
}

#[differentiate(grad, vjp, jvp, wrt(x))]
fn conditional_mismatch(x: &Array1<f64>, y: &Array1<f64>, both: bool) -> f64 {
    let s = x.sum();
    if both { s + (x * y).sum() } else { s * s }
}
const CONDITIONAL: u32 = line!() - 2;

#[differentiate(grad, wrt(x))]
fn mismatch_in_a_loop(x: &Array1<f64>, y: &Array1<f64>, n: usize) -> f64 {
    let mut s = x.sum();
    for _ in 0..n {
        s += (x * y).sum();
    }
    s
}
const IN_A_LOOP: u32 = line!() - 4;

/// "the others run where `f` reaches them."
#[test]
fn other_shapes_are_checked_where_they_are_reached() {
    let (x, y) = (array![1.0, 2.0, 3.0], array![1.0, 2.0]);
    assert_eq!(conditional_mismatch_grad(&x, &y, false), array![12.0, 12.0, 12.0]);
    assert_eq!(conditional_mismatch_vjp(&x, &y, false, 1.0).0, 36.0);
    assert_eq!(conditional_mismatch_jvp(&x, &y, false, &x).1, 72.0);
    for (text, line, _) in [
        panic_of(|| conditional_mismatch_grad(&x, &y, true)),
        panic_of(|| conditional_mismatch_vjp(&x, &y, true, 1.0)),
        panic_of(|| conditional_mismatch_jvp(&x, &y, true, &x)),
    ] {
        assert_eq!(text, "conditional_mismatch: shapes differ: `x * y` (length of `x` = 3, length of `y` = 2)");
        assert_eq!(line, CONDITIONAL);
    }
    assert_eq!(panic_of(|| mismatch_in_a_loop_grad(&x, &y, 2)).1, IN_A_LOOP);
    assert_eq!(mismatch_in_a_loop_grad(&x, &y, 0), array![1.0, 1.0, 1.0]);
}

#[differentiate(grad, vjp, jvp, hvp, into)]
fn rows(x: &Array2<f64>, w: &Array1<f64>, at: usize) -> f64 {
    x.dot(w)[at] + x.row(at).sum() + w.slice(s![..at]).sum() + x.index_axis(Axis(1), at).sum()
}

/// "Never a silently wrong number, never an out-of-bounds read": whatever the sizes, a derivative
/// panics where the function does, and has its value elsewhere. (What is written is safe Rust: this
/// crate denies anything else.)
#[test]
fn sizes_are_never_silently_wrong() {
    for (n, m, k, at) in (0..4 * 4 * 4 * 4).map(|i| (i / 64, i / 16 % 4, i / 4 % 4, i % 4)) {
        let x = Array2::from_shape_fn((n, m), |(i, j)| (i + 2 * j + 1) as f64);
        let w = Array1::from_shape_fn(k, |j| 0.5 - j as f64);
        let own = std::panic::catch_unwind(|| rows(&x, &w, at)).ok();
        let ours = std::panic::catch_unwind(|| rows_value_and_grad(&x, &w, at).0).ok();
        assert_eq!(own, ours, "{n} {m} {k} {at}");
        let ours = std::panic::catch_unwind(|| rows_vjp(&x, &w, at, 1.0).0).ok();
        assert_eq!(own, ours, "{n} {m} {k} {at}");
        let ours = std::panic::catch_unwind(|| rows_jvp(&x, &w, at, &x, &w).0).ok();
        assert_eq!(own, ours, "{n} {m} {k} {at}");
        let product = std::panic::catch_unwind(|| rows_hvp(&x, &w, at, &x, &w));
        assert_eq!(own.is_some(), product.is_ok(), "{n} {m} {k} {at}");
        let into = std::panic::catch_unwind(|| {
            rows_value_and_grad_into(&x, &w, at, &mut Array2::ones((n, m)), &mut Array1::ones(k))
        });
        assert_eq!(own, into.ok(), "{n} {m} {k} {at}");
    }
}

/// The further arguments of a derivative are checked too: tangents, cotangents, directions,
/// destinations.
#[test]
fn arguments_of_derivatives_have_the_right_shapes() {
    let (x, w) = (array![[1.0, 2.0]], array![3.0, 4.0]);
    let wrong = array![1.0, 2.0, 3.0];
    for (text, _, _) in [
        panic_of(|| rows_jvp(&x, &w, 0, &x, &wrong)),
        panic_of(|| rows_hvp(&x, &w, 0, &x, &wrong)),
        panic_of(|| rows_value_and_grad_into(&x, &w, 0, &mut x.clone(), &mut wrong.clone())),
    ] {
        assert!(text.contains("rows") && text.contains("`w`") && text.contains('3') && text.contains('2'), "{text}");
    }
}

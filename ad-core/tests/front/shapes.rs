//! Sizes that have to be equal, and checks: those that remain, those that are proved, and those
//! that hold.

use super::*;
use expect_test::{Expect, expect};
use quote::quote;

#[track_caller]
fn kept(item: TokenStream, expected: Expect) {
    expected.assert_eq(&checks(&program(quote!(), item)));
}

#[test]
fn checks_that_are_proved() {
    for item in [
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len(), |i| x[i]) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len(), |i| if i > 0 { x[i - 1] } else { 0.0 }) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len(), |i| if i == 0 { 0.0 } else { x[i - 1] }) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { let n = x.len(); build1(n, |i| if i + 1 < n { x[i + 1] } else { 0.0 }) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { let n = x.len(); build1(n, |i| x[n - 1 - i]) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { let n = x.len(); build1(n, |i| x[(i + 1) % n]) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len(), |i| x[i / 2]) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { let n = x.len(); build1(n, |i| x[(i + 1).min(n - 1)]) } },
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len(), |i| x[i.saturating_sub(1)]) } },
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { build1(x.nrows(), |i| x.row(i).sum()) } },
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { build([x.nrows(), x.ncols()], |[i, j]| x[[i, j]]) } },
        quote! { fn f(x: &Array1<f64>) -> f64 { (0..x.len()).map(|i| x[i]).sum::<f64>() } },
        quote! { fn f(x: &Array1<f64>) -> f64 { (1..x.len()).map(|i| x[i] - x[i - 1]).sum::<f64>() } },
        quote! {
            fn f(x: &Array1<f64>) -> Array1<f64> {
                let n = x.len() as isize;
                build1(x.len(), |i| { let j = i as isize - 2; if j >= 0 && j < n { x[j as usize] } else { 0.0 } })
            }
        },
        quote! { fn f(x: f64) -> Array1<f64> { build1(3, |i| [x, 2.0, 3.0][i]) } },
    ] {
        assert_eq!(checks(&program(quote!(), item.clone())), "", "{item}");
    }
}

#[test]
fn one_check_for_a_loop() {
    kept(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len() - 1, |i| x[i + 1] - x[i]) } },
        expect!["entry: integer overflow in a subtraction in `x.len() - 1` ()"],
    );
    kept(
        quote! { fn f(x: &Array1<f64>, n: usize) -> Array1<f64> { build1(n, |i| x[i]) } },
        expect!["entry: index out of range in `x[i]` (length of `x`)"],
    );
    kept(
        quote! { fn f(x: &Array1<f64>, ids: &[usize]) -> Array1<f64> { build1(ids.len(), |i| x[ids[i]]) } },
        expect!["reached: index out of range in `x[ids[i]]` (length of `x`)"],
    );
    kept(
        quote! { fn f(x: f64, n: usize, m: usize) -> f64 { x * (n * m) as f64 + (n / m) as f64 } },
        expect![[r#"
            entry: integer overflow in a multiplication in `n * m` ()
            entry: division by zero in `n / m` ()"#]],
    );
}

#[test]
fn equations_between_sizes() {
    let p = program(
        quote!(),
        quote! { fn f(w: &Array1<f64>, x: &Array2<f64>, b: f64, y: &Array1<f64>) -> f64 { let e = x.dot(w) + b - y; e.dot(&e) } },
    );
    expect![[r#"
        entry: shapes differ in `x.dot(w)` (columns of `x`, length of `w`)
        entry: shapes differ in `x.dot(w) + b - y` (length of `x.dot(w) + b`, length of `y`)"#]]
    .assert_eq(&checks(&p));
    let good = [vector(&[1.0, 2.0]), array(&[1, 2], &[1.0, 1.0]), scalar(0.5), vector(&[3.0])];
    assert_eq!(run(&p, &good), [0.25]);
    let bad = [vector(&[1.0]), array(&[1, 2], &[1.0, 1.0]), scalar(0.5), vector(&[3.0])];
    assert_eq!(failed(&p, &bad), ["shapes differ"]);
    // The oldest size represents all.
    let p = program(
        quote!(),
        quote! { fn f(x: &Array2<f64>, n: usize) -> Array2<f64> { x + &x.t() + build1(n, |i| i as f64) } },
    );
    expect![[r#"
        entry: shapes differ in `x + &x.t() + build1(n, |i| i as f64)` (rows of `x`, rows of `x.t()`)
        entry: shapes differ in `x + &x.t() + build1(n, |i| i as f64)` (columns of `x + &x.t()`, length of `build1(n, |i| i as f64)`)"#]].assert_eq(&checks(&p));
}

#[test]
fn guarded_equations_do_not_bind() {
    let p = program(
        quote!(),
        quote! { fn f(c: bool, x: &Array1<f64>, y: &Array1<f64>) -> f64 { if c { x.dot(y) } else { x.sum() } } },
    );
    expect!["reached: shapes differ in `x.dot(y)` (length of `x`, length of `y`)"].assert_eq(&checks(&p));
    let inputs = |c: bool| {
        let c = Value::Array(Array { elem: Elem::Bool, shape: vec![], data: Data::Bool(vec![c]) });
        [c, vector(&[1.0, 2.0]), vector(&[3.0])]
    };
    assert_eq!(failed(&p, &inputs(true)), ["shapes differ"]);
    assert_eq!(run(&p, &inputs(false)), [3.0]);
}

#[test]
fn unreached_reads_are_not_checked() {
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { build1(x.len(), |i| if i < y.len() && y[i] > 0.0 { y[i] } else { x[i] }).sum() } },
    );
    assert_eq!(run(&p, &[vector(&[1.0, 2.0]), vector(&[3.0])]), [5.0]);
    let p = program(quote!(), quote! { fn f(x: &Array1<f64>, k: usize) -> f64 { if k > 0 { x[k - 1] } else { 0.5 } } });
    assert_eq!(run(&p, &[vector(&[]), sizes(&[], &[0])]), [0.5]);
    assert_eq!(failed(&p, &[vector(&[]), sizes(&[], &[1])]), ["index out of range"]);
    // The condition without guards is tested first. If it fails, each index is tested.
    let guarded = quote! { fn f(x: &Array1<f64>, y: &Array1<f64>, k: usize) -> f64 { build1(x.len(), |i| if x[i] > 0.0 { y[i + k] } else { 0.5 }).sum() } };
    let p = program(quote!(), guarded);
    let given = |x: &[f64], k: usize| [vector(x), vector(&[3.0, 4.0]), sizes(&[], &[k])];
    assert_eq!(run(&p, &given(&[1.0, 2.0], 0)), [7.0]);
    assert_eq!(run(&p, &given(&[1.0, -2.0], 1)), [4.5]);
    assert_eq!(failed(&p, &given(&[1.0, 2.0], 1)), ["index out of range"]);
    // A loop without steps reads no element.
    let p = program(quote!(), quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { build1(n, |i| x[i + 7]).sum() } });
    assert_eq!(run(&p, &[vector(&[]), sizes(&[], &[0])]), [0.0]);
    assert_eq!(failed(&p, &[vector(&[0.0; 8]), sizes(&[], &[2])]), ["index out of range"]);
}

#[test]
fn overflow_and_division() {
    let p =
        program(quote!(), quote! { fn f(x: f64, n: usize, m: usize) -> f64 { x * (n - m) as f64 / (n / m) as f64 } });
    assert_eq!(run(&p, &[scalar(1.0), sizes(&[], &[3]), sizes(&[], &[2])]), [1.0]);
    assert_eq!(failed(&p, &[scalar(1.0), sizes(&[], &[2]), sizes(&[], &[3])]), ["integer overflow in a subtraction"]);
    assert_eq!(failed(&p, &[scalar(1.0), sizes(&[], &[2]), sizes(&[], &[0])]), ["division by zero"]);
    let p = program(quote!(), quote! { fn f(x: f64, n: usize, m: usize) -> f64 { x * (n * m + n) as f64 } });
    assert_eq!(
        failed(&p, &[scalar(1.0), sizes(&[], &[usize::MAX]), sizes(&[], &[2])]),
        ["integer overflow in a multiplication", "integer overflow in an addition"]
    );
    let p = program(quote!(), quote! { fn f(x: f64, k: i32) -> f64 { x * (k + 1) as f64 - (-k) as f64 } });
    let int =
        |k: i32| Value::Array(Array { elem: Elem::Int(IntTy::I32), shape: vec![], data: Data::Int(vec![k.into()]) });
    assert_eq!(run(&p, &[scalar(1.0), int(4)]), [9.0]);
    assert_eq!(failed(&p, &[scalar(1.0), int(i32::MAX)]), ["integer overflow in an addition"]);
    assert_eq!(failed(&p, &[scalar(1.0), int(i32::MIN)]), ["integer overflow in a negation"]);
}

/// Slices are checked once.
#[test]
fn slices_are_checked() {
    let p = program(quote!(), quote! { fn f(x: &Array2<f64>, k: usize) -> f64 { x.slice(s![1.., ..k]).sum() } });
    let (k, x) = (super::sizes(&[], &[2]), array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(run(&p, &[x.clone(), k.clone()]), [9.0]);
    assert_eq!(failed(&p, &[array(&[0, 3], &[]), k]).len(), 1);
    assert_eq!(failed(&p, &[x, super::sizes(&[], &[4])]).len(), 1);
}

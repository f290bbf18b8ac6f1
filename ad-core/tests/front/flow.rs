//! Variables, assignment, branches, early returns, labelled blocks, panics.

use super::native::{self, Arg::*, agrees, ty};
use super::*;
use quote::quote;

#[test]
fn variables_hold_what_was_assigned_last() {
    agrees! { fn f(x: real) { let mut y = x; y += 1.0; y *= x; y -= 0.5; y /= 2.0; let z = y; y = z * y; y + z } [R(0.7)] }
    agrees! { fn f(x: real, y: real) { let (mut a, mut b) = (x, y); (a, b) = (b, a * b); (b, _) = (a - b, 1.0); a * a + b } [R(0.7), R(1.3)] }
    agrees! { fn f(x: real) { let mut p = (x, (x * x, 2.0)); p.0 += 1.0; p.1.0 = p.0 * p.1.1; p.1.1 = 3.0; p.0 + p.1.0 * p.1.1 } [R(0.7)] }
    agrees! { fn f(x: real) { let y; let z: f64; y = x * 2.0; z = 3.0; y * z } [R(0.7)] }
    agrees! { fn f(x: real) { let mut s = 0.0; let mut k = 1; s += x; k += 2; s *= k as f64; { let s = 5.0; k = 4; let _ = s; } s + k as f64 } [R(0.7)] }
    agrees! { fn f(x: slice) { let mut s = x[0]; s = { let t = s * x[1]; s += 1.0; t + s }; s *= s; s } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: real) { let mut x = x; let f = |v: f64| v * 2.0; x = f(x) + x; x } [R(0.7)] }
    agrees! { fn f(x: real) { let mut k = 7_usize; k /= 2; k %= 2; let mut b = true; b &= k == 1; b ^= false; if b { x * k as f64 } else { 0.0 } } [R(0.7)] }
}

#[test]
fn references_are_places() {
    agrees! { fn f(x: real, y: real) { let mut a = x; let mut b = (y, 1.0); std::mem::swap(&mut a, &mut b.0); let old = std::mem::replace(&mut b.1, a * a); a * 3.0 + b.0 + old * b.1 } [R(0.7), R(1.3)] }
    agrees! { fn f(x: real) { let mut a = x; { let r = &mut a; *r *= 2.0; *r += x; let _ = *r; } a * a } [R(0.7)] }
}

#[test]
fn closures_read_the_values_at_their_definition() {
    agrees! { fn f(x: real) { let mut a = x; let g = move |v: f64| v * a; a = 5.0; g(a) + a } [R(0.7)] }
    agrees! { fn f(x: real) { let g = |v: f64| { let mut s = v; if s > 0.5 { return s * s; } s += 1.0; s }; g(x) * g(x - 1.0) } [R(0.7)] [R(0.2)] }
    agrees! { fn f(x: slice) { let mut c = 2.0; c += x[0]; x.iter().map(|v| { let mut t = *v; t *= c; t }).sum::<f64>() } [V(vec![0.3, 0.9])] }
}

#[test]
fn if_and_else() {
    agrees! { fn f(x: real) { let mut y = x; if x > 1.0 { y = x * x; } y } [R(0.7)] [R(1.7)] }
    agrees! { fn f(x: real) { let mut y = x; let mut z = 1.0; if x > 1.0 { y *= x; } else if x > 0.5 { z = x; y += 2.0; } else { z = y.sin(); } y * z } [R(0.7)] [R(1.7)] [R(0.2)] }
    agrees! { fn f(x: real) { let y; if x > 1.0 { y = x * x; } else { y = -x; } y } [R(0.7)] [R(1.7)] }
    agrees! { fn f(x: real) { let mut n = 0; if x > 1.0 && { n += 1; x < 3.0 } { n += 10; } x * n as f64 } [R(0.7)] [R(1.7)] [R(3.5)] }
    agrees! { fn f(x: real) { let mut n = 0; let _ = x > 1.0 || { n += 1; x < 3.0 }; x * n as f64 } [R(0.7)] [R(1.7)] }
    agrees! { fn f(x: real) { let mut y = x; let z = if x > 0.0 { y = 2.0 * x; y } else { y += 1.0; 1.0 }; y * z } [R(0.7)] [R(-0.7)] }
    // No fact is derived from code that never runs.
    agrees! { fn f(x: slice) { if false && (if let Some(v) = x.first() { *v } else { 0.5 }).is_nan() { 1.0 } else { x[0] } } [V(vec![0.7])] }
    // The branch that is not taken does not reach the gradient.
    agrees! { fn f(x: real) { let mut y = 0.0; if x > 0.0 { y += x.sqrt(); } if x <= 0.0 { y += (-x).sqrt(); } y } [R(0.7)] [R(-0.7)] }
}

#[test]
fn match_arms() {
    agrees! { fn f(x: real, n: int) { let mut y = x; let z = match n { 0 => { y *= 2.0; 1.0 } 1 | 2 => y * y, k if k > 7 => { y += k as f64; y } _ => return x.sin() }; y * z } [R(0.7), N(0)] [R(0.7), N(1)] [R(0.7), N(8)] [R(0.7), N(5)] }
    agrees! { fn f(x: real, n: int) { let mut k = n; k <<= 3; k |= 1; match (k, x > 0.0) { (1, true) => x, (mut j, true) => { j += 1; x * j as f64 } (_, false) => panic!("negative") } } [R(0.7), N(0)] [R(0.7), N(2)] [R(-0.7), N(0)] }
    agrees! { fn f(v: slice) { let mut s = 1.0; if let Some(x) = v.first() { s += x * x; } s * s } [V(vec![0.7])] [V(vec![])] }
}

#[test]
fn early_returns() {
    agrees! { fn f(x: real) { if x < 0.0 { return 0.0; } x.sqrt() } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real) { return x * x; } [R(0.7)] }
    agrees! { fn f(x: real) { let mut y = x; if x > 1.0 { y += 1.0; if x > 2.0 { return y * 3.0; } y *= x; } else if x < 0.0 { return -x; } y + x } [R(0.7)] [R(1.5)] [R(2.5)] [R(-0.5)] }
    agrees! { fn f(x: real, y: real) { let r = if x < 0.0 { return y; } else { x.sqrt() }; if y < 0.0 { return r; } r * y.ln() } [R(0.7), R(2.0)] [R(-0.7), R(2.0)] [R(0.7), R(-2.0)] [R(-0.7), R(-2.0)] }
    agrees! { fn f(x: slice, n: int) { if n >= x.len() { return 1.0; } let y = x[n]; if y < 0.0 { return y; } if y > 1.0 { return y * y; } y.sqrt() } [V(vec![0.5, -0.5, 2.0]), N(0)] [V(vec![0.5, -0.5, 2.0]), N(1)] [V(vec![0.5, -0.5, 2.0]), N(2)] [V(vec![0.5, -0.5, 2.0]), N(3)] }
    agrees! { fn f(x: real) { if x < 0.0 { return 0.0; } else { return x; } } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real) { let y = { if x < 0.0 { return 2.0 * x; } x + 1.0 }; y * y } [R(0.7)] [R(-0.7)] }
}

#[test]
fn labelled_blocks() {
    agrees! { fn f(x: real) { let y = 'a: { if x < 0.0 { break 'a 2.0 * x; } x.sqrt() }; y * y } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real) { let mut y = 1.0; 'a: { y += x; 'b: { if x < 0.0 { break 'a; } if x < 1.0 { break 'b; } y *= 3.0; } y *= x; } y } [R(-0.7)] [R(0.7)] [R(1.7)] }
    agrees! { fn f(x: real) { let y = 'a: { if x < 0.0 { return -x; } if x < 1.0 { break 'a x; } x * x }; y + x } [R(-0.7)] [R(0.7)] [R(1.7)] }
}

#[test]
fn panics_and_assertions() {
    agrees! { fn f(x: real) { assert!(x > 0.0); x.sqrt() } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real) { if x < 0.0 { panic!("negative: {}", x); } x.sqrt() } [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: real) { let y = if x > 1.0 { x } else if x > 0.0 { x * x } else { unreachable!() }; y * 2.0 } [R(1.7)] [R(0.7)] [R(-0.7)] }
    agrees! { fn f(x: slice, y: slice) { assert_eq!(x.len(), y.len(), "as many weights as values"); x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>() } [V(vec![0.7, 0.1]), V(vec![1.0, 2.0])] [V(vec![0.7]), V(vec![1.0, 2.0])] }
    agrees! { fn f(x: real, n: int) { if n == 0 { if x > 0.0 { return x; } assert_ne!(x, 0.0); panic!(); } debug_assert!(n < 5); x * n as f64 } [R(0.7), N(0)] [R(-0.7), N(0)] [R(0.7), N(3)] [R(0.7), N(5)] }
    agrees! { fn f(x: slice, n: int) { if n >= x.len() { panic!("out of range"); } x[n] } [V(vec![0.7, 0.1]), N(1)] [V(vec![0.7, 0.1]), N(2)] }
}

#[test]
fn assertion_messages() {
    let p = program(
        quote!(),
        quote! { fn f(x: f64, n: usize) -> f64 {
            assert!(x > 0.0, "x is {x:.3}, not {:?}", n + 1);
            assert_eq!(n, 3);
            if n == 7 { unreachable!("seven") }
            debug_assert!(x < 9.0);
            x
        } },
    );
    expect_test::expect![[r#"
        entry: assertion `left == right` failed in `assert_eq!(n, 3)` (left, right)
        reached: x is {:.3}, not {:?}
        reached: assertion failed in `debug_assert!(x < 9.0)` ()"#]]
    .assert_eq(&checks(&p));
}

#[test]
fn sizes_that_are_asserted_equal_are_one() {
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], y: &[f64]) -> f64 { assert_eq!(x.len(), y.len()); (0..x.len()).map(|i| x[i] * y[i]).sum::<f64>() } },
    );
    expect_test::expect![["entry: assertion `left == right` failed in `assert_eq!(x.len(), y.len())` (left, right)"]]
        .assert_eq(&checks(&p));
}

#[test]
fn assignments_that_are_refused() {
    let text = errors(
        quote!(),
        quote! { fn f(x: f64, v: &[f64]) -> f64 {
            let mut total = 0.0;
            let mut add = move |y: f64| { total += y; };
            add(x);
            let y = 1.0;
            y = 2.0;
            v[0] = 1.0;
            let z;
            if x > 0.0 { z = 1.0; }
            'a: { break 'b; }
            total + z
        } },
    );
    expect_test::expect![[r#"
        this closure changes `total`, which it captures
        = help: write a `for` loop for it, or let it return the new value, which is assigned outside: `total = f(total);`

        `y` is assigned, but not declared `mut`
        = help: write `let mut y = ..;`

        `v` is a parameter, and a differentiated function does not change its arguments
        = help: change a copy of it: `let mut v = v.clone();`, or for a view `.to_owned()`

        there is no block or loop with the label `'b`
        = help: write the label in front of it: `'b: loop { .. }`

        `z` may be used before it is assigned
        = help: give it a value where it is declared: `let mut z = ..;`"#]]
    .assert_eq(&text);
}

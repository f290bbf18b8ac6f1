//! Integers, `match`, `Option`, closures and iterators through the macro: values are the function's
//! own, gradients are those of central differences, and a panic happens where the function panics.

#![allow(clippy::all, reason = "every way to write a chain, not the shortest")]

mod layouts;

use std::f64::consts::PI;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::prelude::*;

/// Compares the gradient with central differences of the function.
#[track_caller]
fn checks(f: impl Fn(&[f64]) -> f64, g: impl Fn(&[f64]) -> (f64, Vec<f64>), x: &[f64]) {
    let (value, gradient) = g(x);
    assert!((value - f(x)).abs() <= 1e-12 * (1.0 + value.abs()), "{value} is not {}", f(x));
    assert_eq!(gradient.len(), x.len());
    for (k, found) in gradient.iter().enumerate() {
        let at = |d: f64| {
            let mut x = x.to_vec();
            x[k] += d;
            f(&x)
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{k}: {found} is not {expected}");
    }
}

const X: [f64; 5] = [0.7, -1.3, 2.1, 0.4, -0.6];

/// Each line is `name { body }`: a function of a slice with its derivative, and the comparison for
/// several lengths.
macro_rules! slices {
    ($($name:ident $x:ident $body:block)*) => {$(
        #[test]
        fn $name() {
            #[differentiate]
            fn f($x: &[f64]) -> f64 $body
            // A slice has one layout only; an array may have several.
            #[differentiate]
            fn of_array(given: &ArrayRef1<f64>) -> f64 {
                let elements = given.to_vec();
                let $x = &elements[..];
                $body
            }
            for n in [5, 3, 1, 0] {
                checks(f, f_value_and_grad, &X[..n]);
                layouts::on_every_input(of_array, of_array_value_and_grad, &Array1::from(X[..n].to_vec()));
            }
            assert_eq!(f_grad(&X), of_array_grad(&Array1::from(X.to_vec())).to_vec());
        }
    )*};
}

slices! {
    triangle x { (0..x.len()).map(|i| (0..i).map(|j| (x[i] * x[j]).sin()).sum::<f64>()).sum() }
    steps x { x.iter().rev().step_by(2).chain(x.iter().skip(1)).map(|v| v * v).sum() }
    positive x { x.iter().filter(|v| **v > 0.0).map(|v| v.ln()).sum() }
    windows x { x.windows(2).map(|w| (w[0] - w[1]).powi(2)).sum::<f64>() + x.chunks_exact(2).map(|c| c[0] * c[1]).sum::<f64>() }
    largest x { x.iter().copied().max_by(|a, b| a.total_cmp(b)).map_or(1.0, |v| v * v) }
    nearest x { x.iter().enumerate().min_by(|(_, a), (_, b)| a.abs().partial_cmp(&b.abs()).unwrap()).map_or(0.0, |(i, v)| v * v * i as f64) }
    before_the_first_negative x { x.iter().take_while(|v| **v > 0.0).map(|v| v * v).sum::<f64>() + x.iter().skip_while(|v| **v > -1.0).map(|v| v.sin()).sum::<f64>() }
    sines_while x { x.iter().map_while(|v| if *v > -1.0 { Some(v.sin()) } else { None }).enumerate().map(|(i, v)| v * (i + 1) as f64).sum() }
    running_sums x { x.iter().scan(0.0, |s, v| { *s += v * v; Some(*s) }).map(|v| v.sqrt()).sum() }
    pairs_of_std x { std::iter::zip(x, x.iter().skip(1)).enumerate().map(|(i, (a, b))| a * b.sin() * i as f64).sum() }
    pairs_of_core x { let mut s = 0.0; for (a, k) in core::iter::zip(x.windows(2), 1..) { s += a[0] * a[1] * f64::from(k); } s }
    states_of_two x { x.iter().scan((0.5, 1.0), |s, &v| { s.0 = s.0 * v + s.1; s.1 = v.cos(); Some(s.0 * s.1) }).zip(x).map(|(a, b)| a * b).sum() }
    until_too_large x { x.iter().scan(1.0, |s, v| { *s *= 1.0 + v * v; if *s < 5.0 { Some(*s) } else { None } }).collect::<Vec<f64>>().iter().map(|v| v.ln() * v).sum() }
    first_negative x { x.iter().position(|v| *v < 0.0).map_or(0.0, |i| x[i].powi(3)) + x.iter().find(|v| **v > 1.0).map_or(0.0, |v| v * v) }
    products x { (0..x.len()).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| x[i] * x[j] * (i + j) as f64).sum() }
    kept_largest x { x.iter().filter(|v| **v < 1.0).max_by(|a, b| a.total_cmp(b)).map_or(2.0, |v| v.exp()) }
    matched x {
        x.iter().enumerate().map(|(i, &v)| match i { 0 => v, 1 | 2 => v * v, n @ 3..=3 => v * n as f64, _ if v > 0.0 => 0.0, _ => v.sin() }).sum()
    }
    optional x {
        let head = if let Some(v) = x.first() { v * v } else { 1.0 };
        let tail = match x { [] => 0.0, [a] => *a, [a, .., b] => a * b };
        head + tail + x.get(7).copied().unwrap_or(PI)
    }
    bits x { x.iter().enumerate().map(|(i, v)| v * ((i << 2 | 1) ^ 3) as f64 * 2_i32.pow(i as u32 & 3) as f64).sum() }
    angles x { x.iter().map(|&v| if v.is_sign_negative() { v.rem_euclid(PI) * v } else { v.hypot(1.0) }).sum() }
    tested x { if x.iter().all(|v| v.abs() < 2.0) && !x.iter().any(|v| *v > 5.0) { x.iter().sum() } else { x.iter().map(|v| v * 2.0).sum() } }
}

#[differentiate(wrt(x))]
fn integers(x: f64, n: i32, k: &[u8], shift: u32) -> f64 {
    const BASE: i32 = 3;
    fn half(v: f64) -> f64 {
        0.5 * v
    }
    let power = BASE.pow(shift);
    let sum = k.iter().filter(|&&v| v > 1).map(|&v| v as i32).sum::<i32>();
    let (q, r) = (n.div_euclid(4), n.rem_euclid(4));
    let low = n.checked_add(1).map_or(0, |m| m & 7) | (1 << shift);
    half(x) * power as f64 + x * x * sum as f64 + x * (q - r) as f64 + x.powi(low)
}

#[test]
fn integers_are_of_their_type() {
    let k = [1, 200, 100];
    for (n, shift) in [(-7, 2), (9, 0), (i32::MAX, 4)] {
        let f = |x: &[f64]| integers(x[0], n, &k, shift);
        let g = |x: &[f64]| {
            let (y, dx) = integers_value_and_grad(x[0], n, &k, shift);
            (y, vec![dx])
        };
        checks(f, g, &[1.1]);
    }
    for shift in [20, 31, 32, u32::MAX] {
        let both = [
            catch_unwind(AssertUnwindSafe(|| integers(1.1, 2, &k, shift))).is_err(),
            catch_unwind(AssertUnwindSafe(|| integers_value_and_grad(1.1, 2, &k, shift).0)).is_err(),
        ];
        assert_eq!(both, [true, true], "{shift}");
    }
}

#[differentiate(wrt(x))]
fn until(x: &[f64], at: &[usize]) -> f64 {
    let fine = at.iter().all(|&i| x[i] > 0.0);
    let least = at.iter().map(|&i| x[i]).min_by(|a, b| a.partial_cmp(b).unwrap());
    if fine { least.unwrap_or(0.5) } else { -1.0 }
}

#[test]
fn a_test_stops_at_the_item_that_decides() {
    #[differentiate(wrt(x))]
    fn stops(x: &[f64], at: &[usize]) -> f64 {
        if at.iter().all(|&i| x[i] > 0.0) { x[0] * x[0] } else { x[1] }
    }
    let x = [1.5, -2.0];
    for at in [&[0, 0][..], &[0, 1, 9], &[]] {
        assert_eq!(stops_value_and_grad(&x, at).0, stops(&x, at));
    }
    assert!(catch_unwind(|| stops_grad(&x, &[0, 9])).is_err());
    assert!(catch_unwind(|| stops(&x, &[0, 9])).is_err());
    for (x, at, panics) in
        [([1.0, f64::NAN], &[1][..], false), ([1.0, f64::NAN], &[0, 1], true), ([1.0, 2.0], &[1, 0], false)]
    {
        assert_eq!(catch_unwind(|| until(&x, at)).is_err(), panics);
        assert_eq!(catch_unwind(|| until_grad(&x, at)).is_err(), panics);
    }
    assert_eq!(until_grad(&[1.0, 2.0], &[1, 0]), [1.0, 0.0]);
}

#[differentiate]
fn singles(x: &Array1<f32>, y: f32) -> f32 {
    x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0.0, |(i, v)| v * i as f32) * y
        + f32::sqrt(2.0) * y * std::f32::consts::FRAC_PI_2
}

#[test]
fn of_single_precision() {
    let x = array![0.5_f32, 2.0, 1.0];
    let (value, (dx, dy)) = singles_value_and_grad(&x, 3.0);
    assert_eq!(value, singles(&x, 3.0));
    assert_eq!(dx, array![0.0, 3.0, 0.0]);
    assert!((dy - (2.0 + 2.0_f32.sqrt() * std::f32::consts::FRAC_PI_2)).abs() < 1e-6);
}

/// A constant that is taken in an arm of a pattern, and copied for a size that depends on it: each
/// copy has the type of the constant.
#[differentiate(grad)]
fn constant_of_a_pattern(x: &Array2<f64>) -> f64 {
    let v: Vec<f64> = (0..x.nrows()).map(|_| 0.84375).collect();
    let s = match &v[..] {
        [_, .., b] => *b,
        [a] => *a,
        [] => 1.5,
    }
    .sin();
    let t = x.sum();
    let w = if s < t { Array1::from_vec([1.0; 2].map(|_| s).to_vec()) } else { one_hot::<f64>(x.nrows(), 1) * t };
    t * w.mapv(|e| (e * 2.0).sin()).sum()
}

#[test]
fn constants_of_patterns() {
    for x in [[0.7, -1.3, 2.1, 0.4], [0.2, -1.3, 0.1, 0.4]] {
        let matrix = |x: &[f64]| Array2::from_shape_vec((2, 2), x.to_vec()).unwrap();
        let gradient = |x: &[f64]| {
            let (value, gradient) = constant_of_a_pattern_value_and_grad(&matrix(x));
            (value, gradient.into_raw_vec_and_offset().0)
        };
        checks(|x| constant_of_a_pattern(&matrix(x)), gradient, &x);
    }
}

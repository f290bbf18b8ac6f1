//! Numbers of both modes: rules, tapes, and numbers that leave their call.

use std::boxed::Box;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use num_traits::Float;

use super::{Call, Forward, Lift, Reverse, numbers, parts, pushed};
use crate::{Real, dsl};

/// The value and the gradient of a function of numbers.
fn gradient<T: Real>(x: &[T], f: impl Fn(&[Reverse<T>]) -> Reverse<T>) -> (T, Vec<T>) {
    let mut call = Call::begin();
    let lifted: Vec<Reverse<T>> = call.argument(x);
    let (value, mut pulled) = call.number(f(&lifted));
    let gradient = pulled.gradient().like(x);
    (value, gradient)
}

/// The value and the tangent of a function of numbers.
fn pushforward<T: Real>(x: &[T], t: &[T], f: impl Fn(&[Forward<T>]) -> Forward<T>) -> (T, T) {
    parts(&f(&pushed::<T, [T]>(x, &mut t.iter())))
}

/// A function in each mode.
macro_rules! checked {
    ($($name:literal at $($at:literal)*: |$x:ident| $f:expr;)*) => {$(
        for at in [$($at),*] {
            let at: f64 = at;
            fn f<T: Real>($x: T) -> T {
                $f
            }
            let (value, by_reverse) = gradient(&[at], |x| f(x[0]));
            let (_, by_forward) = pushforward(&[at], &[1.0], |x| f(x[0]));
            assert_eq!(value.to_bits(), f(at).to_bits(), "{} at {at}", $name);
            let h = 1e-6;
            let difference = (f(at + h) - f(at - h)) / (2.0 * h);
            assert!((by_reverse[0] - difference).abs() <= 1e-7 * (1.0 + difference.abs()), "{} at {at}: {} and {difference}", $name, by_reverse[0]);
            assert!((by_reverse[0] - by_forward).abs() <= 1e-13 * (1.0 + by_forward.abs()), "{} at {at}", $name);
            // The second derivative: forward over reverse, and reverse over forward over
            // difference.
            let one = Forward { value: at, tangent: 1.0 };
            let (_, second) = gradient(&[one], |x| f(x[0]));
            let slope = |at: f64| gradient(&[at], |x| f(x[0])).1[0];
            let difference = (slope(at + h) - slope(at - h)) / (2.0 * h);
            assert_eq!(second[0].value.to_bits(), by_reverse[0].to_bits(), "{} at {at}", $name);
            assert!((second[0].tangent - difference).abs() <= 1e-6 * (1.0 + difference.abs()), "second of {} at {at}: {} and {difference}", $name, second[0].tangent);
        }
    )*};
}

#[test]
fn each_rule_agrees_with_differences_in_first_and_second_order() {
    checked! {
        "quotient" at 0.7 -1.3: |x| (x + T::one()) / (x * x + T::lit(2.0));
        "difference" at 0.7: |x| T::lit(3.0) - x * x;
        "remainder" at 5.3: |x| (x * x) % T::lit(2.5);
        "remainder by x" at 1.3: |x| T::lit(5.0) % x;
        "abs" at 0.7 -0.4: |x| (x * x * x).abs();
        "powi" at 1.2 -0.7: |x| x.powi(3) + x.powi(-2) + x.powi(1);
        "powf" at 1.3: |x| x.powf(x) + x.powf(T::lit(2.5)) + T::lit(2.0).powf(x);
        "log" at 1.7: |x| x.log(T::lit(3.0)) + T::lit(3.0).log(x);
        "roots" at 1.7: |x| x.sqrt() + x.cbrt() + x.recip();
        "exponentials" at 0.4: |x| x.exp() + x.exp2() * x.exp_m1();
        "logarithms" at 0.4: |x| x.ln() + x.log2() * x.log10() + x.ln_1p();
        "trigonometric" at 0.4: |x| x.sin() * x.cos() + x.tan() + x.sin_cos().0 * x.sin_cos().1;
        "arcs" at 0.4: |x| x.asin() * x.acos() + x.atan() + x.atan2(T::lit(2.0)) + T::lit(2.0).atan2(x);
        "hyperbolic" at 0.4: |x| x.sinh() * x.cosh() + x.tanh();
        "areas" at 0.4: |x| x.asinh() + x.atanh() + (x + T::one()).acosh();
        "hypot" at 0.4: |x| x.hypot(x * x);
        "mul_add" at 0.4: |x| x.mul_add(x, x * x * x);
        "copysign" at 0.4: |x| (x * x).copysign(-x);
        "max and min" at 0.4: |x| (x * x).max(x) * x.min(T::one()) + x.clamp(T::zero(), x * x);
        "angles" at 0.4: |x| (x * x).to_degrees() + (x * x).to_radians();
        "fract" at 1.4: |x| (x * x).fract();
        "sigmoid" at 0.0 1.3 -2.0: |x| dsl::sigmoid(x);
        "softplus" at 0.0 1.3: |x| dsl::softplus(x);
        "error functions" at 0.4: |x| dsl::erf(x) * dsl::erfc(x);
        "gamma functions" at 1.4: |x| dsl::ln_gamma(x) * dsl::digamma(x);
        "kernels" at 0.4: |x| dsl::sum(&[x, x * x, x.sin()]) * dsl::norm(&[x, x * x]) + dsl::logsumexp(&[x, T::one()]);
    }
}

#[test]
fn conventions_where_a_derivative_is_not_defined() {
    let of = |at: &[f64], f: &dyn Fn(&[Reverse<f64>]) -> Reverse<f64>| gradient(at, f).1;
    assert_eq!(of(&[1.0, 1.0], &|x| x[0].max(x[1])), [1.0, 0.0]);
    assert_eq!(of(&[1.0, 1.0], &|x| x[0].min(x[1])), [1.0, 0.0]);
    assert_eq!(of(&[f64::NAN, 1.0], &|x| x[0].max(x[1])), [0.0, 1.0]);
    assert_eq!(of(&[1.0, f64::NAN], &|x| x[0].min(x[1])), [1.0, 0.0]);
    assert_eq!(of(&[2.0, 2.0], &|x| dsl::maximum(x)), [1.0, 0.0]);
    assert_eq!(of(&[0.0], &|x| x[0].abs()), [0.0]);
    assert_eq!(of(&[0.0, 0.0], &|x| x[0].hypot(x[1])), [0.0, 0.0]);
    assert_eq!(of(&[0.0, 0.0], &|x| x[0].atan2(x[1])), [0.0, 0.0]);
    assert_eq!(of(&[0.0, 0.0], &|x| dsl::norm(x)), [0.0, 0.0]);
    assert_eq!(of(&[0.0], &|x| dsl::relu(x[0])), [0.0]);
    assert_eq!(of(&[0.0], &|x| x[0].sqrt()), [f64::INFINITY]);
    assert_eq!(of(&[0.0], &|x| x[0].cbrt()), [f64::INFINITY]);
    assert_eq!(of(&[0.0], &|x| x[0].sqrt() * Reverse::lit(0.0)), [0.0]);
    assert_eq!(of(&[0.0], &|x| x[0].powi(0)), [0.0]);
    assert_eq!(of(&[0.0, 2.0], &|x| x[0].powf(x[1])), [0.0, 0.0]);
    assert_eq!(of(&[2.0], &|x| x[0].clamp(Reverse::lit(2.0), Reverse::lit(3.0))), [1.0]);
    assert_eq!(of(&[1.5], &|x| x[0].floor() + x[0].round() + x[0].signum() + x[0].ceil() + x[0].trunc()), [0.0]);
}

#[test]
fn a_derivative_inside_of_a_derivative_is_not_confused_with_it() {
    // d/dx (x * d/dy (x + y)) is 1, not 2.
    fn inner<T: Real>(x: T, y: T) -> T {
        let (_, all) = gradient(&[x, y], |v| v[0] + v[1]);
        all[1]
    }
    let (value, outer) = gradient(&[3.0], |v| v[0] * inner(v[0], Reverse::lit(2.0)));
    assert_eq!((value, outer), (3.0, vec![1.0]));
    // d/dx (x * d/dy (x * y * y)) at x = 3, y = 2: (2 x^2 y)' = 4 x y.
    let (_, outer) = gradient(&[3.0], |v| v[0] * gradient(&[v[0], Reverse::lit(2.0)], |w| w[0] * w[1] * w[1]).1[1]);
    assert_eq!(outer, [24.0]);
    // A call with the same numbers inside of a call.
    let (_, outer) = gradient(&[3.0_f64], |v| v[0] * Reverse::lit(gradient(&[2.0], |w| w[0] * w[0]).1[0]) * v[0]);
    assert_eq!(outer, [24.0]);
}

#[test]
fn a_number_that_leaves_its_call_is_an_error() {
    std::thread_local! {
        static KEPT: Cell<Reverse<f64>> = Cell::new(Reverse::default());
    }
    let keeping = |x: &[Reverse<f64>]| {
        KEPT.set(x[0]);
        x[0] * x[0]
    };
    let text = |f: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    gradient(&[2.0], keeping);
    assert!(
        text(&|| {
            let _ = KEPT.get() * KEPT.get();
        })
        .contains("used after it")
    );
    assert!(text(&|| drop(gradient(&[2.0], |x| x[0] * KEPT.get()))).contains("in another call"));
    assert!(text(&|| drop(gradient(&[2.0], |_| KEPT.get()))).contains("in another call"));
    // A call that panics half way ends.
    let panicking = catch_unwind(|| {
        gradient(&[2.0], |x: &[Reverse<f64>]| {
            KEPT.set(x[0] * x[0]);
            panic!("half way")
        })
    });
    assert!(panicking.is_err());
    assert!(
        text(&|| {
            let _ = KEPT.get() * KEPT.get();
        })
        .contains("used after it")
    );
    // Another thread has another tape.
    let elsewhere = |x: &[Reverse<f64>]| {
        let x = x[0];
        std::thread::scope(|s| s.spawn(move || x * x).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    };
    assert!(text(&|| drop(gradient(&[2.0], elsewhere))).contains("after it"));
    // None of this has broken the next call.
    assert_eq!(gradient(&[3.0], |x| x[0] * x[0]).1, [6.0]);
}

#[test]
fn a_jacobian_is_the_same_by_rows_and_by_columns() {
    fn f<T: Real>(x: &[T], m: usize) -> Vec<T> {
        (0..m).map(|i| x.iter().fold(T::lit(0.5), |s, &v| (s * v).sin() + v / T::lit(1.0 + i as f64))).collect()
    }
    for (n, m) in [(2, 5), (5, 2), (3, 3), (4, 0), (0, 4)] {
        let x: Vec<f64> = (0..n).map(|k| 0.3 + k as f64).collect();
        let mut call = Call::begin();
        let lifted: Vec<_> = call.argument(&x);
        let (values, mut pulled) = call.values(&f(&lifted, m));
        assert_eq!(values, f(&x, m));
        let jacobian: ndarray::Array2<f64> = pulled.jacobian().block((0, &[m]), (0, &[n]));
        for j in 0..n {
            let unit: Vec<f64> = (0..n).map(|k| f64::from(u8::from(k == j))).collect();
            let moved: Vec<Forward<f64>> = pushed(&x, &mut unit.iter());
            let (_, column) = parts(&f(&moved, m));
            for i in 0..m {
                assert!((jacobian[[i, j]] - column[i]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_tape_is_small_and_long_tapes_are_right() {
    let n = 1_000_000;
    let mut call = Call::<f64>::begin();
    let x: Reverse<f64> = call.argument(&1.5);
    let mut y = x;
    for _ in 0..n {
        y *= x;
        y = y - y.floor();
    }
    let (_, mut pulled) = call.number(y);
    let gradient = pulled.gradient().like(&1.5);
    assert!(gradient.is_infinite() || gradient.is_finite());
    let bytes = pulled.bytes();
    assert!(bytes < 33 * n, "{bytes} bytes for {n} operations");
    // Many chunks: the derivative of the sum of n products.
    let (_, slope) = self::gradient(&[2.0], |x| (0..100_000).fold(Reverse::lit(0.0), |s, _| s + x[0] * x[0]));
    assert_eq!(slope, [400_000.0]);
    let (_, slope) = self::gradient(&[2.0], |x| x[0] * x[0]);
    assert_eq!(slope, [4.0]);
}

#[test]
fn a_value_keeps_its_structure() {
    use std::collections::{BTreeMap, HashMap};
    let words: HashMap<String, f64> = [("b", 2.0), ("a", 1.0), ("c", 3.0)].map(|(k, v)| (k.to_string(), v)).into();
    let x = (words, Some(Box::new(4.0)), vec![[5.0, 6.0]], 7_usize);
    assert_eq!(numbers::<f64, _>(&x), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let doubled = Lift::<f64, f64>::lift(&x, &mut |v| 2.0 * v);
    assert_eq!((doubled.0["b"], doubled.1, doubled.2, doubled.3), (4.0, Some(Box::new(8.0)), vec![[10.0, 12.0]], 7));
    let tree = BTreeMap::from([(1, 2.0)]);
    assert_eq!(Lift::<f64, f64>::lift(&tree, &mut |v| v + 1.0), BTreeMap::from([(1, 3.0)]));
}

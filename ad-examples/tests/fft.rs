//! Fourier transforms: values by the definition, derivatives by differences, by the identities of
//! linear maps, and once more; in loops, in builds and in single precision.

use std::f64::consts::{PI, TAU};
use std::panic::catch_unwind;

use ad::check_grad;
use ad::fft::{self, irfft, rfft};
use ad::prelude::*;

#[differentiate(vjp, jvp, jacobian)]
fn both(re: &Array1<f64>, im: &Array1<f64>) -> Array1<f64> {
    let (a, b) = fft::fft(re, im);
    &a * &b
}

#[differentiate(grad, hvp)]
fn back(re: &Array1<f64>, im: &Array1<f64>) -> f64 {
    let (a, b) = fft::ifft(re, im);
    a.dot(&a) * b[0] + b.mapv(f64::sin).sum()
}

/// A signal after a filter in the space of frequencies.
#[differentiate(grad, jvp, hvp, hessian, wrt(x))]
fn filtered(x: &Array1<f64>, gain: &Array1<f64>) -> f64 {
    let (re, im) = rfft(x);
    let y = irfft(&(&re * gain), &(&im * gain), x.len());
    y.iter().enumerate().map(|(k, y)| (k as f64 + 1.0) * y * y * y).sum()
}

#[differentiate(vjp)]
fn round_trip(x: &Array1<f64>) -> Array1<f64> {
    let (re, im) = rfft(x);
    irfft(&re, &im, x.len())
}

/// The energies of windows of a signal: a transform for each row of a build.
#[differentiate]
fn spectrogram(x: &Array1<f64>, width: usize, weight: &Array2<f64>) -> f64 {
    let windows = build1(x.len() - width + 1, |t| {
        let window = build1(width, |k| x[t + k] * (PI * k as f64 / width as f64).sin());
        let (re, im) = rfft(&window);
        re.mapv(|v| v * v) + im.mapv(|v| v * v)
    });
    (&windows * weight).sum()
}

/// The heat equation on a ring, some steps in the space of frequencies.
#[differentiate]
fn cooled(start: &Array1<f64>, conductivity: f64, steps: usize) -> f64 {
    let mut u = start.clone();
    for _ in 0..steps {
        let (re, im) = rfft(&u);
        let decay = build1(re.len(), |k| (-conductivity * (k * k) as f64).exp());
        u = irfft(&(&re * &decay), &(&im * &decay), u.len());
        u = u.mapv(|v| v + 0.1 * v.sin());
    }
    u.dot(&u)
}

#[differentiate]
fn single(x: &Array1<f32>) -> f32 {
    let (re, im) = rfft(x);
    re.dot(&re) + im[1]
}

/// The numbers of this mode are transformed by the definition.
#[differentiate(grad, hvp, mode = "dual_numbers")]
fn unread<T: Real>(x: &Array1<T>) -> T {
    let (re, im) = rfft(x);
    let y = irfft(&im, &re, x.len());
    y.iter().enumerate().map(|(k, &y)| T::lit(k as f64 + 1.0) * y * y * y).sum()
}

#[differentiate(grad, hvp)]
fn read(x: &Array1<f64>) -> f64 {
    let (re, im) = rfft(x);
    let y = irfft(&im, &re, x.len());
    y.iter().enumerate().map(|(k, &y)| (k as f64 + 1.0) * y * y * y).sum()
}

fn vector(n: usize, seed: u64) -> Array1<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    Array1::from_shape_simple_fn(n, || rng.f64() - 0.5)
}

#[test]
fn values_are_those_of_the_definition() {
    for n in [1, 2, 3, 4, 5, 8, 12, 17, 30, 97] {
        let (re, im) = (vector(n, 1), vector(n, 2));
        let (a, b) = fft::fft(&re, &im);
        for k in 0..n {
            let angle = |j: usize| TAU * ((j * k) % n) as f64 / n as f64;
            let x: f64 = (0..n).map(|j| re[j] * angle(j).cos() + im[j] * angle(j).sin()).sum();
            let y: f64 = (0..n).map(|j| im[j] * angle(j).cos() - re[j] * angle(j).sin()).sum();
            assert!((a[k] - x).abs() < 1e-12 && (b[k] - y).abs() < 1e-12, "{n}, {k}");
        }
        let (c, d) = fft::ifft(&a, &b);
        assert!((c - &re).iter().chain(&(d - im)).all(|e| e.abs() < 1e-14), "{n}");
        let (a, b) = rfft(&re);
        assert_eq!((a.len(), b.len()), (n / 2 + 1, n / 2 + 1));
        assert!((irfft(&a, &b, n) - re).iter().all(|e| e.abs() < 1e-14), "{n}");
    }
}

#[test]
fn derivatives_of_first_and_second_order() {
    for n in [1, 4, 5, 9] {
        let (re, im, gain) = (vector(n, 3), vector(n, 4), vector(n / 2 + 1, 5));
        check_grad!(both(&re, &im));
        check_grad!(back(&re, &im));
        check_grad!(filtered(&re, &gain));
        let (hessian, direction, h) = (filtered_hessian(&re, &gain), vector(n, 6), 1e-5);
        let product = filtered_hvp(&re, &gain, &direction);
        assert!((hessian.dot(&direction) - &product).iter().all(|e| e.abs() < 1e-12), "{n}");
        let there = |h: f64| filtered_grad(&(&re + &(h * &direction)), &gain);
        let slope = (there(h) - there(-h)) / (2.0 * h);
        assert!((slope - product).iter().all(|e| e.abs() < 1e-7), "{n}");
    }
    check_grad!(spectrogram(&vector(12, 7), 5, &Array2::from_shape_fn((8, 3), |(i, j)| (i + 2 * j) as f64 - 3.0)));
    check_grad!(cooled(&vector(8, 8), 0.05, 4));
    check_grad!(cooled(&vector(7, 8), 0.05, 0));
}

/// The cotangent of a map that is the identity is the cotangent, and energies are those of
/// Parseval's theorem.
#[test]
fn identities() {
    for n in [2, 5, 6, 16] {
        let (x, cotangent) = (vector(n, 9), vector(n, 10));
        let (y, gradient) = round_trip_vjp(&x, &cotangent);
        assert!((y - &x).iter().chain(&(gradient - &cotangent)).all(|e| e.abs() < 1e-14), "{n}");
        let (re, im) = fft::fft(&x, &cotangent);
        let energy = x.dot(&x) + cotangent.dot(&cotangent);
        assert!(((re.dot(&re) + im.dot(&im)) / n as f64 - energy).abs() < 1e-13, "{n}");
    }
}

#[test]
fn forwards_as_in_reverse() {
    let (re, im) = (vector(6, 11), vector(6, 12));
    let (t, u, cotangent) = (vector(6, 13), vector(6, 14), vector(6, 15));
    let (_, forward) = both_jvp(&re, &im, &t, &u);
    let (_, (a, b)) = both_vjp(&re, &im, &cotangent);
    assert!((forward.dot(&cotangent) - a.dot(&t) - b.dot(&u)).abs() < 1e-13);
}

#[test]
fn single_precision() {
    let x = vector(9, 16).mapv(|v| v as f32);
    let gradient = single_grad(&x);
    let wide = x.mapv(f64::from);
    let (re, _) = rfft(&wide);
    for (j, g) in gradient.iter().enumerate() {
        let angle = |k: usize| TAU * ((j * k) % 9) as f64 / 9.0;
        let exact = (0..5).map(|k| 2.0 * re[k] * angle(k).cos()).sum::<f64>() - angle(1).sin();
        assert!((f64::from(*g) - exact).abs() < 1e-5, "{g} instead of {exact}");
    }
}

#[test]
fn of_dual_numbers() {
    for n in [1, 6, 7] {
        let (x, v) = (vector(n, 17), vector(n, 18));
        let difference = (unread_grad(&x) - read_grad(&x), unread_hvp(&x, &v) - read_hvp(&x, &v));
        assert!(difference.0.iter().chain(&difference.1).all(|d| d.abs() < 1e-13), "{n}: {difference:?}");
    }
}

#[test]
fn wrong_lengths_panic_in_the_derivative_as_in_the_function() {
    let message = |f: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        let error = catch_unwind(f).expect_err("a panic");
        error.downcast_ref::<String>().cloned().or(error.downcast_ref::<&str>().map(ToString::to_string)).expect("text")
    };
    let empty = || drop(round_trip_vjp(&Array1::zeros(0), &Array1::<f64>::zeros(0)));
    assert!(message(&empty).contains("rfft of an empty array"));
    assert!(message(&|| drop(rfft(&Array1::<f64>::zeros(0)))).contains("rfft of an empty array"));
    let x = array![0.1, 0.2, 0.3, 0.4];
    let gain = || drop(filtered_grad(&array![0.1, 0.2, 0.3, 0.4], &array![1.0, 2.0]));
    assert!(message(&gain).contains("filtered"), "{}", message(&gain));
    assert!(
        message(&|| drop(irfft(&array![1.0, 2.0], &array![1.0, 2.0], 5))).contains("2 elements do not determine 5")
    );
    assert_eq!(filtered_grad(&x, &array![0.0, 0.0, 0.0]), array![0.0, 0.0, 0.0, 0.0]);
}

//! Variables, assignment, early returns and assertions through the macro: values are the function's
//! own, gradients those of central differences, and a derivative panics where the function does.

mod layouts;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::prelude::*;

#[track_caller]
fn verify(f: fn(&[f64]) -> f64, value_and_grad: fn(&[f64]) -> (f64, Vec<f64>), x: &[f64]) {
    let (value, gradient) = value_and_grad(x);
    let own = f(x);
    assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "value {value} is not {own}");
    let h = 1e-5;
    for (k, &g) in gradient.iter().enumerate() {
        let at = |d: f64| {
            let mut x = x.to_vec();
            x[k] += d;
            f(&x)
        };
        let central = (at(h) - at(-h)) / (2.0 * h);
        assert!((g - central).abs() <= 1e-7 * central.abs().max(1.0), "at {k}: {g} is not {central}");
    }
}

/// Each program runs on a slice and on an array: the same text, which indexes and reads the length,
/// at points of the slice, and at each of them on every layout of the array.
macro_rules! programs {
    ($($name:ident($x:ident) at $points:tt $body:block)*) => {$(
        mod $name {
            use super::*;

            #[differentiate]
            pub fn f($x: &[f64]) -> f64 $body

            #[differentiate]
            pub fn of_array($x: &ArrayRef1<f64>) -> f64 $body

            #[test]
            fn gradients() {
                let points: &[&[f64]] = &$points;
                for x in points {
                    verify(f, f_value_and_grad, x);
                    let x = Array1::from(x.to_vec());
                    layouts::on_every_input(of_array, of_array_value_and_grad, &x);
                    assert_eq!(of_array_grad(&x).to_vec(), f_grad(&x.to_vec()));
                }
            }
        }
    )*};
}

programs! {
    running(x) at [&[0.3, 0.7, 1.1]] {
        let mut total = 0.0;
        total += x[0] * x[1];
        total *= 2.0;
        let y = total;
        total -= x[2].sin();
        total / (1.0 + y * y)
    }

    branches(x) at [&[0.7, 0.6, 0.2], &[0.3, 0.6, 0.2], &[-0.4, 0.6, 0.2]] {
        let scale;
        let mut shift = x[1];
        if x[0] > 0.5 {
            scale = x[2].exp();
            shift = shift * shift;
        } else if x[0] > 0.0 {
            scale = x[1];
        } else {
            scale = 2.0;
            shift += x[0];
        }
        scale * shift + x[0]
    }

    early(x) at [&[], &[-0.7], &[0.6, 1.0], &[0.4, 1.0, 2.0, 3.0]] {
        if x.is_empty() {
            return 0.0;
        }
        let first = x[0];
        if first < 0.0 {
            return first.powi(2);
        }
        let found = 'search: {
            if x.len() > 3 {
                break 'search x[3];
            }
            first.sqrt()
        };
        found * first
    }

    elements(x) at [&[0.3, 0.7, 1.1]] {
        let mut a = Array2::zeros((2, 3));
        a[[0, 1]] = x[0];
        a[[1, 2]] += x[1] * a[[0, 1]];
        let row = array![x[2], a[[0, 1]] * x[2], 1.0];
        a.row_mut(0).assign(&row);
        a.slice_mut(s![.., ..;2]).mapv_inplace(|v| v * v + 0.5);
        let mut v = vec![x[0], x[1]];
        v.push(x[2]);
        v.swap(0, 2);
        v[1] *= v[0];
        let (mut p, mut q) = (v[0], v[1]);
        (p, q) = (q * 2.0, p + q);
        std::mem::swap(&mut p, &mut q);
        let scaled = &a * p;
        a += &scaled;
        a.sum() * q + a[[1, 2]]
    }

    diagonals(x) at [&[0.3, 0.7, 1.1, -0.4, 0.2, 0.9]] {
        let mut a = build([2, 3], |[i, j]| x[3 * i + j]);
        let mut b = a.t().dot(&a);
        b.diag_mut().mapv_inplace(|v| v + x[0]);
        b.diag_mut().assign(&array![x[1], x[0] * x[2], 3.0]);
        let mut d = b.diag_mut();
        d[1] *= 2.0;
        d += &a.row(0);
        for (i, v) in b.diag_mut().iter_mut().enumerate() {
            *v = v.sin() * (i + 1) as f64;
        }
        b.slice_mut(s![1.., ..2]).diag_mut().fill(x[4]);
        a.diag_mut().fill(x[5]);
        a.diag_mut().slice_mut(s![1..]).fill(x[3]);
        a.dot(&b).iter().enumerate().map(|(i, v)| v * v * i as f64).sum()
    }

    elements_of_a_matrix_in_order(x) at [&[0.3, 0.7, 1.1, -0.4, 0.2, 0.9]] {
        let mut a = build([2, 3], |[i, j]| x[3 * i + j]);
        for (k, v) in a.iter_mut().enumerate() {
            *v *= x[5 - k] + k as f64;
        }
        for (v, w) in a.iter_mut().zip(x) {
            *v += w * w;
        }
        for v in a.iter_mut().skip(2).step_by(2) {
            *v = v.cos();
        }
        a.iter().enumerate().map(|(i, v)| v * v * i as f64).sum()
    }

    moved_references(x) at [&[0.3, 0.7, 1.1, 0.4, -0.2, 0.9]] {
        let mut y = Array2::from_shape_fn((2, 3), |(i, j)| x[3 * i + j]);
        for r in y.outer_iter_mut() {
            let mut r = r;
            r.mapv_inplace(|v| v * 2.0);
        }
        for r in y.outer_iter_mut() {
            let (mut a, b) = (r, 1.5);
            a[0] *= b;
        }
        for r in y.outer_iter_mut() {
            for v in r {
                *v += 0.3;
            }
        }
        for v in y.iter_mut() {
            let w = v;
            *w *= *w;
        }
        let first = y.row_mut(0);
        let mut first = first;
        first[2] += 1.0;
        for (a, &b) in y.row_mut(1).iter_mut().zip(x.iter()) {
            let (p, q) = (a, b);
            *p += q * q;
        }
        y.iter().enumerate().map(|(i, v)| v * (1.0 + i as f64)).sum::<f64>()
    }

    guarded(x) at [&[0.3, 0.7], &[0.3, 0.7, 0.1, 0.1]] {
        assert!(x.len() >= 2, "two numbers at least");
        assert_ne!(x[1], 0.0);
        match x.len() {
            2 => x[0] / x[1],
            3 => unreachable!("never three"),
            _ => x[0].ln(),
        }
    }
}

#[test]
fn panics_are_the_functions_own() {
    for x in [&[][..], &[1.0], &[1.0, 0.0], &[1.0, 2.0, 3.0]] {
        assert!(catch_unwind(AssertUnwindSafe(|| guarded::f(x))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| guarded::f_value_and_grad(x))).is_err(), "{x:?}");
    }
}

#[allow(non_upper_case_globals, reason = "as some call constants of physics")]
const gravity: f64 = 9.81;

#[allow(non_upper_case_globals, reason = "likewise")]
mod scales {
    pub(super) static lengths: [f64; 3] = [1.0, 0.5, 0.25];
}

#[differentiate]
fn of_small_constants(x: f64) -> f64 {
    let g: f64 = gravity;
    let l: [f64; 3] = scales::lengths;
    l.iter().map(|l| (x * l / g).sqrt()).sum()
}

/// A constant outside of the function may be in lower case if a `let` states its type.
#[test]
fn lowercase_constants() {
    let (value, gradient) = of_small_constants_value_and_grad(2.0);
    assert!((value - of_small_constants(2.0)).abs() < 1e-15);
    assert!((gradient - value / 4.0).abs() < 1e-15);
}

#[allow(clippy::useless_vec, reason = "a temporary `Vec` is one of the forms")]
#[differentiate]
fn of_borrowed(x: &[f64]) -> f64 {
    fn visit(x: &[f64], f: &mut impl FnMut(f64)) {
        for &v in x {
            f(v);
        }
    }
    fn raised(x: &mut [f64], by: f64) -> f64 {
        for v in x.iter_mut() {
            *v += by;
        }
        x.iter().map(|v| v * v).sum()
    }
    let (mut rest, mut s) = (x, 0.0);
    while let Some((v, tail)) = rest.split_first() {
        s = s * 0.9 + v * v;
        rest = tail;
    }
    visit(x, &mut |v| s += v.sin());
    let mut threes = x.chunks_exact(3);
    for c in &mut threes {
        s += c[0] * c[1] * c[2];
    }
    s += threes.remainder().iter().map(|v| v.exp()).sum::<f64>();
    let mut items = x.iter();
    let first = items.next().copied().unwrap_or(1.0);
    for v in items.by_ref() {
        s += first * v;
    }
    s + raised(&mut [1.0, 2.0], first) + raised(&mut vec![0.5; 3], first)
}

/// The rest of a slice, the elements after the last chunk, iterators that a loop advances, mutable
/// references to closures and to temporaries.
#[test]
fn borrowed_values() {
    for x in [&[0.3, 0.9, -1.2, 0.5, 0.7][..], &[0.3, 0.9, -1.2], &[0.4]] {
        verify(of_borrowed, of_borrowed_value_and_grad, x);
    }
}

//! Parts with dynamic length, as people use them in linear algebra: values are the function's own,
//! gradients those of central differences, on every layout of the input, and a derivative panics
//! where the function panics.

#![deny(unsafe_code, warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::cast_precision_loss, clippy::many_single_char_names)]
// Programs as people write them.
#![allow(clippy::explicit_iter_loop, clippy::op_ref)]
#![allow(clippy::float_cmp, reason = "values are the function's own, bit for bit")]

#[allow(clippy::pedantic, reason = "the other tests' own")]
mod layouts;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::prelude::*;

fn matrix(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| {
        let off = 0.4 * ((3 * i + 2 * j) as f64 + 0.3).sin();
        if i == j { 2.0 + off } else { off }
    })
}

fn verify(f: fn(&ArrayRef2<f64>) -> f64, value_and_grad: fn(&ArrayRef2<f64>) -> (f64, Array2<f64>), n: usize) {
    let x = matrix(n);
    let ((value, gradient), own) = (value_and_grad(&x), f(&x));
    assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "value {value} is not {own}");
    let h = 1e-5;
    for (at, &g) in gradient.indexed_iter() {
        let moved = |d: f64| {
            let mut x = x.clone();
            x[at] += d;
            f(&x)
        };
        let central = (moved(h) - moved(-h)) / (2.0 * h);
        assert!((g - central).abs() <= 1e-6 * central.abs().max(1.0), "at {at:?}: {g} is not {central}");
    }
}

macro_rules! programs {
    ($($name:ident($x:ident) $body:block)*) => {$(
        mod $name {
            use super::*;

            #[differentiate(grad, jvp, hvp)]
            pub fn f($x: &ArrayRef2<f64>) -> f64 $body

            #[test]
            fn gradients() {
                for n in [0, 1, 2, 3, 6] {
                    verify(f, f_value_and_grad, n);
                }
                layouts::on_every_input(f, f_value_and_grad, &matrix(4));
                ad::check_grad!(f(&matrix(5)));
            }
        }
    )*};
}

programs! {
    lu_with_pivoting(x) {
        let n = x.nrows();
        let mut a = x.to_owned();
        let mut total = 0.0;
        for k in 0..n {
            let p = k + argmax(&a.slice(s![k.., k]).mapv(f64::abs));
            if p != k {
                for j in 0..n {
                    a.swap([k, j], [p, j]);
                }
            }
            let pivot = a[[k, k]];
            a.slice_mut(s![k + 1.., k]).mapv_inplace(|v| v / pivot);
            let l = a.slice(s![k + 1.., k]).to_owned().insert_axis(Axis(1));
            let u = a.slice(s![k, k + 1..]).to_owned().insert_axis(Axis(0));
            let mut rest = a.slice_mut(s![k + 1.., k + 1..]);
            rest -= &(&l * &u);
            total += pivot.abs().ln();
        }
        total
    }

    cholesky_by_columns(x) {
        let n = x.nrows();
        let a = x.dot(&x.t());
        let mut l = Array2::<f64>::zeros((n, n));
        for j in 0..n {
            let c = &a.slice(s![j.., j]) - &l.slice(s![j.., ..j]).dot(&l.slice(s![j, ..j]));
            let d = c[0].sqrt();
            l.slice_mut(s![j.., j]).assign(&(&c / d));
        }
        l.diag().mapv(f64::ln).sum() + l.sum()
    }

    householder_qr(x) {
        let n = x.nrows();
        let mut a = x.to_owned();
        for k in 0..n {
            let mut v = a.slice(s![k.., k]).to_owned();
            let length = v.dot(&v).sqrt();
            v[0] += length.copysign(v[0]);
            let v = &v / v.dot(&v).sqrt();
            let w = v.dot(&a.slice(s![k.., k..]));
            let mut rest = a.slice_mut(s![k.., k..]);
            rest -= &(2.0 * &v.view().insert_axis(Axis(1)) * &w.view().insert_axis(Axis(0)));
        }
        a.diag().mapv(|d| d.abs().ln()).sum()
    }

    substitution(x) {
        let n = x.nrows();
        let mut y = Array1::<f64>::zeros(n);
        for i in 0..n {
            y[i] = (1.0 - x.slice(s![i, ..i]).dot(&y.slice(s![..i]))) / x[[i, i]];
        }
        let mut z = Array1::<f64>::zeros(n);
        for i in (0..n).rev() {
            z[i] = (y[i] - x.slice(s![i, i + 1..]).dot(&z.slice(s![i + 1..]))) / x[[i, i]];
        }
        y.dot(&z)
    }

    gram_schmidt(x) {
        let n = x.ncols();
        let mut q = x.to_owned();
        for k in 0..n {
            let v = q.column(k).to_owned();
            let before = q.slice(s![.., ..k]);
            let v = &v - &before.dot(&before.t().dot(&v));
            q.column_mut(k).assign(&(&v / norm(&v)));
        }
        (&q * &q.mapv(f64::sin)).sum()
    }

    levinson_durbin(x) {
        let r = x.sum_axis(Axis(0)) * 0.1;
        let n = r.len();
        let mut a = Array1::<f64>::zeros(n);
        let mut e = 4.0;
        for m in 0..n {
            let k = (r[m] - a.slice(s![..m]).dot(&r.slice(s![..m;-1]))) / e;
            let old = a.slice(s![..m]).to_owned();
            let mut part = a.slice_mut(s![..m]);
            part -= &(k * &old.slice(s![..;-1]));
            a[m] = k;
            e *= 1.0 - k * k;
        }
        a.dot(&r) + e
    }

    triangles(x) {
        let n = x.nrows();
        let (mut l, mut u) = (x.to_owned(), x.to_owned());
        for i in 0..n {
            l.slice_mut(s![i, i + 1..]).fill(0.0);
            u.row_mut(i).slice_mut(s![..i]).fill(0.0);
            for v in l.slice_mut(s![i, ..i]).iter_mut() {
                *v *= *v;
            }
            for (j, v) in u.slice_mut(s![i.., i..]).iter_mut().enumerate() {
                *v += 0.1 * j as f64 * x[[i, i]];
            }
            let mut corner = l.slice_mut(s![..i, ..i;2]);
            corner *= 0.5;
        }
        l.dot(&u).sum()
    }

    slices(x) {
        let mut y = x.iter().copied().collect::<Vec<f64>>();
        let n = y.len();
        for i in 0..n {
            for v in &mut y[i..] {
                *v *= 0.99;
            }
            for v in y[..i].iter_mut() {
                *v += 0.01 * x[[0, i % x.ncols()]];
            }
            let before = y[..i].iter().sum::<f64>();
            y[i] += 0.1 * before;
            y[i / 2..i].reverse();
            if i % 3 == 0 {
                y[i..n.min(i + 2)].fill(0.5 * before);
            }
        }
        y.iter().map(|v| v * v).sum::<f64>()
    }

    changed_variables(x) {
        let n = x.nrows();
        let mut s = 0.0;
        for k in 0..n {
            let mut v = x.slice(s![k.., k]).to_owned();
            v += &x.slice(s![k, k..]);
            v *= 2.0;
            v.slice_mut(s![1..;2]).fill(x[[k, 0]]);
            let mut i = 0;
            while i < v.len() {
                v[i] += v[0] * i as f64;
                if v[i] > 100.0 {
                    break;
                }
                i += 1;
            }
            let mut m = x.slice(s![k.., ..k]).to_owned();
            for j in 0..k {
                let c = m.column(j).sum();
                m.column_mut(j).fill(c);
                m[[0, j]] = 1.0;
            }
            for mut r in m.outer_iter_mut() {
                r *= 1.1;
            }
            s += v.sum() + m.sum();
        }
        s
    }

    differences(x) {
        let n = x.nrows();
        let mut s = 0.0;
        for k in 0..n {
            let mut w = x.slice(s![k.., 0]).to_owned();
            while w.len() > 1 {
                w = &w.slice(s![1..]) - &(&w.slice(s![..w.len() - 1]) * 0.5);
            }
            s += w.sum();
        }
        s
    }

    in_builds(x) {
        let n = x.nrows();
        let a = build1(n, |i| x.slice(s![i, ..=i]).mapv(|v| v * v).sum());
        let b = Array1::from_shape_fn(n, |i| x.slice(s![i.., i]).dot(&x.slice(s![i, i..])));
        let d = build1(n, |i| {
            let mut y = x.to_owned();
            y.slice_mut(s![i.., i]).fill(2.0);
            y.slice_mut(s![..i, ..i]).mapv_inplace(f64::exp);
            y.sum()
        });
        a.dot(&b) + d.sum()
    }

    statistics(x) {
        let n = x.nrows();
        let mut s = 0.0;
        for k in 1..n {
            let c = x.slice(s![..=k, k]);
            let row = x.row(k);
            let (a, b) = row.split_at(Axis(0), k);
            s += c.var(1.0) + c.std(0.0) + a.sum() * b.sum();
            s += x.slice(s![k - 1.., ..k]).mean_axis(Axis(0)).map_or(0.0, |m| m.dot(&a));
            s += x.slice(s![k.., ..k]).diag().sum() + Array2::<f64>::eye(k).dot(&x.slice(s![..k, ..k])).sum();
        }
        s
    }

    steps_of_all_kinds(x) {
        let n = x.nrows();
        let mut s = 0.0;
        for k in 0..n {
            let c = x.slice(s![k.., k]);
            s += c.mapv(|v| v * v).sum() + norm(&c) + maximum(&c) * c[argmin(&c)] + logsumexp(&c);
            s += Zip::from(&c).and(&x.slice(s![k, k..])).map_collect(|a, b| a * b.exp()).sum();
            for (i, v) in x.slice(s![k.., ..k]).iter().enumerate() {
                s += v * i as f64;
            }
            for row in x.slice(s![k.., ..k]).rows() {
                s += row.dot(&row);
            }
            s += x.slice(s![k.., ..k]).sum_axis(Axis(0)).mapv(f64::cos).sum();
            let w = if k % 2 == 0 { c.to_owned() } else { Array1::zeros(k) };
            s += w.len() as f64 * w.sum();
        }
        s
    }
}

#[differentiate]
fn unlike(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 0.0;
    for k in 0..n {
        s += (&x.slice(s![k..]) * &x.slice(s![..4 - k])).sum();
    }
    s
}

#[differentiate]
fn too_far(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = x.to_owned();
    for k in 0..n {
        y.slice_mut(s![k + 1..]).fill(x[0]);
    }
    y.sum()
}

/// Sizes that do not fit, and bounds that are out of range.
#[test]
fn panics() {
    let fails = |f: &dyn Fn() -> f64| catch_unwind(AssertUnwindSafe(f)).is_err();
    let x = array![1.0, 2.0, 3.0, 4.0];
    for n in 0..=4 {
        assert!(!fails(&|| unlike(&x, n) + unlike_grad(&x, n)[0]), "{n}");
        assert!(!fails(&|| too_far(&x, n) + too_far_grad(&x, n)[0]), "{n}");
    }
    let long = array![1.0, 2.0, 3.0, 4.0, 5.0];
    assert!(fails(&|| unlike(&long, 1)) && fails(&|| unlike_grad(&long, 1)[0]));
    assert!(fails(&|| too_far(&x, 5)) && fails(&|| too_far_grad(&x, 5)[0]));
}

#[differentiate]
fn corner(x: &Array2<f64>, n: usize) -> f64 {
    let mut a = x.to_owned();
    let mut s = 0.0;
    for k in 1..n {
        let part = a.slice(s![..k, ..k]).to_owned();
        let v: Array1<f64> = part.dot(&x.slice(s![..k, 0_usize]));
        let w: Array1<f64> = x.slice(s![0_usize, ..k]).dot(&part);
        s += part.dot(&part).sum() + v.dot(&w) + norm(&v) + part.sum_axis(Axis(1)).mapv(f64::ln).sum();
        s += (1.0 / &part).sum() + part.mapv(f64::sqrt).sum() + maximum(&part) + logsumexp(&v) + part.var(0.0);
        s += part.mean_axis(Axis(0)).map_or(0.0, |m| m.sum()) + softmax(&v)[0] + v[argmax(&w)] + part.t().diag().sum();
        let mut inner = a.slice_mut(s![..k, ..k]);
        inner /= &part.mapv(|e| 1.0 + e);
        inner += &(&v.insert_axis(Axis(1)) * &w.insert_axis(Axis(0)));
        for e in a.slice_mut(s![..k;-1, ..k;2]).iter_mut() {
            *e = e.recip();
        }
    }
    s
}

/// NaN and infinities outside of a part do not reach a derivative.
#[test]
fn elements_outside_of_a_part_have_no_effect() {
    for (outside, n) in [(f64::NAN, 3), (f64::INFINITY, 3), (0.0, 3), (-1.0, 3), (f64::NAN, 1), (f64::NAN, 0)] {
        let x = Array2::from_shape_fn(
            (5, 4),
            |(i, j)| if i < 2 && j < 2 { 0.4 + 0.3 * (i + 2 * j) as f64 } else { outside },
        );
        let (value, gradient) = corner_value_and_grad(&x, n);
        assert!((value - corner(&x, n)).abs() <= 1e-12 * value.abs(), "{outside}");
        let clean = Array2::from_shape_fn((5, 4), |at| if at.0 < 2 && at.1 < 2 { x[at] } else { 0.7 });
        assert_eq!(gradient, corner_grad(&clean, n), "{outside}");
        assert!(gradient.slice(s![2.., ..]).iter().chain(gradient.slice(s![.., 2..])).all(|&g| g == 0.0), "{outside}");
    }
    ad::check_grad!(corner(&matrix(4).mapv(|v| v.abs() + 0.3), 4));
}

/// The last element of the last product, times 2 if it is above `c`, and 3 otherwise.
macro_rules! decisions {
    ($($name:ident($a:ident, $v:ident, $k:ident) $product:expr;)*) => {$(
        mod $name {
            use super::*;

            fn last($a: &Array2<f64>, $v: &Array1<f64>, n: usize) -> f64 {
                let mut last = 0.0;
                for $k in 1..n {
                    let y: Array1<f64> = $product;
                    last = y[y.len() - 1];
                }
                last
            }

            #[differentiate(grad, wrt(c))]
            fn f($a: &Array2<f64>, $v: &Array1<f64>, c: f64, n: usize) -> f64 {
                let mut last = 0.0;
                for $k in 1..n {
                    let y: Array1<f64> = $product;
                    last = y[y.len() - 1];
                }
                if last > c { 2.0 * c } else { 3.0 * c }
            }

            #[test]
            fn decisions_on_parts_are_exact() {
                for n in 2..30 {
                    let a = Array2::from_shape_fn((30, 31), |(i, j)| ((i * 31 + j) as f64 * 1.7).sin() * 3.7);
                    let v = Array1::from_shape_fn(31, |i| (i as f64 * 2.9 + 0.3).sin());
                    let s = last(&a, &v, n);
                    for (c, slope) in [(s, 3.0), (s.next_down(), 2.0), (s.next_up(), 3.0)] {
                        assert_eq!(f_value_and_grad(&a, &v, c, n), (slope * c, slope), "{n}: {s} against {c}");
                    }
                }
            }
        }
    )*};
}

decisions! {
    rows_with_a_vector(a, v, k) a.slice(s![..k, ..k]).dot(&v.slice(s![..k]));
    rows_with_a_vector_by_twos(a, v, k) a.slice(s![.., ..k;2]).dot(&v.slice(s![..k / 2 + k % 2]));
    a_vector_with_columns(a, v, k) v.slice(s![..k]).dot(&a.slice(s![..k, 1..]));
    transposed(a, v, k) a.slice(s![..k, 1..]).t().dot(&v.slice(s![..k]));
    rows_from_somewhere(a, v, k) a.slice(s![k.., k..]).dot(&v.slice(s![k..]));
}

#[differentiate]
fn between(x: &Array1<f64>, a: usize, b: usize) -> f64 {
    x[0] + x.slice(s![a..b]).mapv(f64::sin).sum()
}

#[differentiate]
fn between_backwards(x: &Array2<f64>, a: isize, b: isize) -> f64 {
    x[[0, 0]] + x.slice(s![.., a..b;-1]).mapv(|v| v * v).sum()
}

#[differentiate]
fn between_by_twos(x: &Array1<f64>, a: usize, b: usize) -> f64 {
    let part = x.slice_axis(Axis(0), ad::ndarray::Slice::from(a..b).step_by(2));
    x[0] + part.iter().map(|v| v.exp()).sum::<f64>()
}

#[differentiate]
fn between_of_a_slice(x: &[f64], a: usize, b: usize) -> f64 {
    x[0] + x[a..b].iter().map(|v| v.exp()).sum::<f64>()
}

/// A range that ndarray treats as empty is empty in the derivative, and a range that panics does so
/// in both.
#[test]
fn slices_that_end_before_they_begin_are_ndarrays() {
    fn panics<R>(f: impl Fn() -> R) -> bool {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err()
    }
    let x = array![0.5, 1.0, 2.0, 3.0];
    let m = array![[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]];
    for a in 0..6 {
        for b in 0..6 {
            let same = |fails: bool, derivative: bool| assert_eq!(fails, derivative, "{a}..{b}");
            same(panics(|| between(&x, a, b)), panics(|| between_grad(&x, a, b)));
            same(panics(|| between_by_twos(&x, a, b)), panics(|| between_by_twos_grad(&x, a, b)));
            let [i, j] = [a, b].map(usize::cast_signed);
            same(panics(|| between_backwards(&m, i, j)), panics(|| between_backwards_grad(&m, i, j)));
            let slice = x.as_slice().unwrap();
            same(panics(|| between_of_a_slice(slice, a, b)), panics(|| between_of_a_slice_grad(slice, a, b)));
        }
    }
    assert!(panics(|| between_of_a_slice_grad(&[1.0, 2.0, 3.0], 2, 1)));
    let (value, gradient) = between_value_and_grad(&x, 3, 1);
    assert_eq!(value, between(&x, 3, 1));
    assert_eq!(gradient, array![1.0, 0.0, 0.0, 0.0]);
    let (value, gradient) = between_backwards_value_and_grad(&m, 2, 1);
    assert_eq!(value, between_backwards(&m, 2, 1));
    assert_eq!(gradient, array![[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
    assert_eq!(between_by_twos_value_and_grad(&x, 3, 0), (between_by_twos(&x, 3, 0), array![1.0, 0.0, 0.0, 0.0]));
}

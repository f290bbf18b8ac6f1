//! Branches that are not taken, and elements outside of masks.

use ad::prelude::*;

/// A function without a finite value or derivative at zero and below.
#[differentiate(grad, vjp, jvp, hvp)]
fn arms(x: &Array1<f64>, k: f64) -> f64 {
    let lazy = build1(x.len(), |i| if x[i] > 0.0 { x[i].ln() * x[i].sqrt() / x[i] } else { k * x[i] });
    let strict = build1(x.len(), |i| select(x[i] > 0.0, x[i].powf(-0.5) * k, x[i]));
    let matched = build1(x.len(), |i| match x[i] > 0.0 {
        true => (1.0 / x[i]).exp().ln(),
        false => x[i] * x[i],
    });
    let whole = if k > 0.0 { (x / k).sum() } else { x.mapv(f64::sqrt).sum() };
    lazy.sum() + strict.sum() + matched.sum() + whole
}

/// "An arm that is not taken, and an element outside a mask, contribute nothing, not even NaN".
#[test]
fn arms_that_are_not_taken_contribute_nothing() {
    let x = array![0.0, -1.0, 4.0, -0.0, f64::NEG_INFINITY];
    let (dx, _) = arms_grad(&x, 1.0);
    let k = 1.0;
    for (i, &v) in x.iter().enumerate().filter(|(_, v)| **v <= 0.0) {
        assert_eq!(dx[i], k + 1.0 + 2.0 * v + 1.0 / k, "{v}");
    }
    assert!(dx[2].is_finite());
    let (_, (vx, _)) = arms_vjp(&x, 1.0, 1.0);
    assert_eq!(vx, dx);
    let x = array![0.0, -1.0, 4.0, -0.0, -3.0];
    let direction = array![1.0, 1.0, 0.0, 1.0, 0.0];
    assert_eq!(arms_jvp(&x, 1.0, &direction, 0.0).1, 3.0 * 3.0 - 2.0);
    let (second, _) = arms_hvp(&x, 1.0, &direction, 0.0);
    assert_eq!(second, array![2.0, 2.0, 0.0, 2.0, 0.0]);
}

#[differentiate(grad, vjp, jvp)]
fn masked_in_loops(x: &Array1<f64>) -> f64 {
    let mut s = 0.0;
    for &v in x {
        if v <= 0.0 {
            continue;
        }
        s += v.ln() + 1.0 / v;
    }
    let kept: f64 = x.iter().filter(|v| **v > 0.0).map(|v| v.sqrt().recip()).sum();
    let mut largest = 0.0;
    let mut i = 0;
    while i < x.len() && x[i] < 100.0 {
        largest = if x[i] > 1.0 { (x[i] - 1.0).sqrt() } else { largest };
        i += 1;
    }
    s + kept + largest
}

/// The same in loops, filtered iterators, and steps that do not run.
#[test]
fn skipped_items_contribute_nothing() {
    let x = array![0.0, -1.0, 4.0, 1.0, f64::INFINITY];
    let (value, gradient) = masked_in_loops_value_and_grad(&x.slice(s![..4]).to_owned());
    assert!(value.is_finite());
    let expected =
        |v: f64| 1.0 / v - 1.0 / (v * v) - 0.5 * v.powf(-1.5) + if v > 1.0 { 0.5 / (v - 1.0).sqrt() } else { 0.0 };
    for (g, &v) in gradient.iter().zip(&x) {
        let expected = if v > 0.0 { expected(v) } else { 0.0 };
        assert!((g - expected).abs() < 1e-14, "{v}: {g} instead of {expected}");
    }
    // A step after the end of the loop, at infinity.
    let gradient = masked_in_loops_grad(&x);
    assert!(gradient.iter().take(4).all(|g| g.is_finite()));
    assert_eq!(gradient[4], 0.0);
}

#[differentiate]
fn outside(x: &Array1<f64>, ids: &[usize]) -> f64 {
    let tail = x.slice(s![1..]).mapv(f64::ln).sum();
    let root = x[0].sqrt();
    let picked = gather([ids.len()], x, |[i]| [ids[i]]).mapv(|v| 1.0 / v).sum();
    tail + if x[0] > 0.0 { root } else { 0.0 } + picked
}

/// A value that is computed before a condition, and used in a branch that is not taken. It is
/// masked after the local derivative.
#[test]
fn values_of_untaken_arms_are_masked_after_the_local_derivative() {
    let (value, gradient) = outside_value_and_grad(&array![0.0, 1.0, 2.0], &[2]);
    assert_eq!(value, 2.0_f64.ln() + 0.5);
    assert_eq!(gradient, array![0.0, 1.0, 0.25]);
}

/// Rows of an array outside of a mask, in products with a vector and a matrix, by an index in a
/// loop, and by windows.
#[differentiate(grad, vjp, hvp, wrt(w))]
fn masked_rows(w: &Array1<f64>, x: &Array2<f64>, keep: &[bool]) -> f64 {
    let z = x.dot(w);
    let mut s = 0.0;
    for i in 0..x.nrows() {
        if keep[i] {
            s += z[i].tanh();
        }
    }
    s
}

#[differentiate(grad, wrt(w))]
fn masked_rows_of_matrices(w: &Array2<f64>, x: &Array2<f64>, keep: &[bool]) -> f64 {
    let z = x.dot(w);
    build1(x.nrows(), |i| if keep[i] { z.row(i).mapv(f64::tanh).sum() } else { 0.0 }).sum()
}

#[differentiate(grad, wrt(w))]
fn masked_steps(w: &Array2<f64>, x: &Array2<f64>, keep: &[bool]) -> f64 {
    let mut h = w.row(0).to_owned();
    for i in 0..x.nrows() {
        let z = w.dot(&(&h + &x.row(i)));
        h = build1(h.len(), |j| if keep[i] { z[j].tanh() } else { h[j] });
    }
    h.sum()
}

#[differentiate(grad, wrt(w))]
fn masked_windows(w: &Array1<f64>, x: &Array1<f64>, keep: &[bool]) -> f64 {
    let z = build1(keep.len(), |i| (0..w.len()).map(|p| w[p] * x[i + p]).sum::<f64>());
    build1(keep.len(), |i| if keep[i] { z[i].sin() } else { 0.0 }).sum()
}

#[differentiate(grad, wrt(w))]
fn masked_numbers(w: &[f64; 3], x: &[[f64; 3]; 2], keep: [bool; 2]) -> f64 {
    let mut s = 0.0;
    for i in 0..2 {
        let z = x[i][0] * w[0] + x[i][1] * w[1] + x[i][2] * w[2];
        if keep[i] {
            s += z.tanh();
        }
    }
    s
}

/// A contraction is 0 where its cotangent is: "an element outside a mask contributes nothing, not
/// even NaN".
#[test]
fn rows_that_are_masked_contribute_nothing() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let x = Array2::from_shape_fn((5, 3), |(i, j)| if i % 2 == 1 { bad } else { 0.3 * i as f64 - 0.2 * j as f64 });
        let (keep, kept) = ([true, false, true, false, true], [true; 3]);
        let only = x.select(Axis(0), &[0, 2, 4]);
        let w = array![0.5, -0.2, 0.1];
        let close = |a: &[f64], b: &[f64]| {
            assert_eq!(a.len(), b.len());
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} instead of {b:?}");
        };
        let expected = masked_rows_grad(&w, &only, &kept);
        assert!(expected.iter().all(|g| g.is_finite()));
        close(&masked_rows_grad(&w, &x, &keep).to_vec(), &expected.to_vec());
        close(&masked_rows_vjp(&w, &x, &keep, 1.0).1.to_vec(), &expected.to_vec());
        let second = masked_rows_hvp(&w, &only, &kept, &array![1.0, 2.0, 3.0]);
        close(&masked_rows_hvp(&w, &x, &keep, &array![1.0, 2.0, 3.0]).to_vec(), &second.to_vec());
        let w2 = Array2::from_shape_fn((3, 3), |(i, j)| 0.1 * i as f64 - 0.3 * j as f64 + 0.2);
        let flat = |a: Array2<f64>| a.into_raw_vec_and_offset().0;
        let expected = flat(masked_rows_of_matrices_grad(&w2, &only, &kept));
        close(&flat(masked_rows_of_matrices_grad(&w2, &x, &keep)), &expected);
        close(&flat(masked_steps_grad(&w2, &x, &keep)), &flat(masked_steps_grad(&w2, &only, &kept)));
        let rows = [[0.1, 0.2, 0.3], [bad, bad, bad]];
        let alone = masked_numbers_grad(&[0.5, -0.2, 0.1], &[rows[0], [0.0; 3]], [true, false]);
        close(&masked_numbers_grad(&[0.5, -0.2, 0.1], &rows, [true, false]), &alone);
        // The first three windows do not contain the bad elements.
        let x = array![0.1, 0.4, -0.2, 0.3, 0.6, bad, 0.1];
        let expected = masked_windows_grad(&w, &x, &[true; 3]);
        assert!(expected.iter().all(|g| g.is_finite()));
        let found = masked_windows_grad(&w, &x, &[true, true, true, false, false]);
        close(&found.to_vec(), &expected.to_vec());
    }
    // A NaN that is not masked remains.
    let gradient = masked_rows_grad(&array![1.0, 2.0], &array![[f64::NAN, 1.0], [0.5, 1.0]], &[true, true]);
    assert!(gradient[0].is_nan());
}

#[differentiate(wrt(w))]
fn rows_by_data(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut s = 0.0;
    for i in 0..x.nrows() {
        if y[i] > 0.0 {
            s += x.row(i).dot(w);
        }
    }
    s
}

/// The same if the product itself is under the condition.
#[test]
fn rows_excluded_by_data_contribute_nothing() {
    for bad in [f64::NAN, f64::INFINITY] {
        let x = array![[1.0, 2.0], [bad, -bad], [0.5, 0.25]];
        let (value, gradient) = rows_by_data_value_and_grad(&array![0.5, 0.25], &x, &array![1.0, -1.0, 0.5]);
        assert_eq!((value, gradient), (1.3125, array![1.5, 2.25]));
    }
}

#[differentiate(grad, vjp, jvp, hvp)]
fn as_many_as_given(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>, k: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..y.len() {
        if i < k {
            s += (x.row(i).dot(w) - y[i]).tanh();
        } else if i >= k + 2 && y[i] > 0.0 {
            s += x.row(i - 2).dot(w).exp() * y[i];
        }
    }
    s
}

/// Rows that a condition on the index leaves out, also rows that do not exist.
#[test]
fn rows_outside_of_a_range_of_indices_contribute_nothing() {
    let w = array![0.5, -0.25];
    let x = array![[1.0, 2.0], [0.5, -1.0], [f64::NAN, f64::INFINITY], [0.25, 0.75], [f64::NAN, 1.0]];
    let y = array![0.1, 0.2, f64::NAN, f64::NAN, f64::NAN, 0.3, -1.0];
    let (value, (dw, dx, dy)) = as_many_as_given_value_and_grad(&w, &x, &y, 2);
    let (mut expected, mut expected_dx, mut sum) = (array![0.0, 0.0], Array2::zeros((5, 2)), 0.0);
    let mut expected_dy = Array1::zeros(7);
    for i in [0, 1] {
        let t = (x.row(i).dot(&w) - y[i]).tanh();
        let slope = 1.0 - t * t;
        sum += t;
        expected += &(&x.row(i) * slope);
        expected_dx.row_mut(i).assign(&(&w * slope));
        expected_dy[i] = -slope;
    }
    let e = x.row(3).dot(&w).exp();
    sum += e * y[5];
    expected += &(&x.row(3) * (e * y[5]));
    expected_dx.row_mut(3).assign(&(&w * (e * y[5])));
    expected_dy[5] = e;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-14;
    assert!(near(value, sum), "{value} instead of {sum}");
    assert!(dw.iter().zip(&expected).all(|(&a, &b)| near(a, b)), "{dw} instead of {expected}");
    assert!(dx.iter().zip(&expected_dx).all(|(&a, &b)| near(a, b)), "{dx} instead of {expected_dx}");
    assert!(dy.iter().zip(&expected_dy).all(|(&a, &b)| near(a, b)), "{dy} instead of {expected_dy}");
    // No index, and all of them.
    let short = array![0.1, 0.2];
    for k in [0, 1, 2, 3, 100] {
        let (dw, ..) = as_many_as_given_grad(&w, &x, &short, k);
        let rows = k.min(2);
        let of = |i: usize| 1.0 - (x.row(i).dot(&w) - y[i]).tanh().powi(2);
        let expected = (0..rows).fold(array![0.0, 0.0], |sum, i| sum + &x.row(i) * of(i));
        assert!(dw.iter().zip(&expected).all(|(&a, &b)| near(a, b)), "{k}: {dw} instead of {expected}");
    }
}

//! Recurrences through the macro: values are the function's own, gradients are those of central
//! differences, and the memory of a long recurrence is linear in its steps.

#![allow(clippy::all, reason = "every way to write a recurrence, not the shortest")]

mod allocator;
mod layouts;

use ad::prelude::*;
use allocator::counted;

/// Compares the gradient with central differences of the function.
#[track_caller]
fn checks(f: impl Fn(&Array1<f64>) -> f64, g: impl Fn(&Array1<f64>) -> (f64, Array1<f64>), x: &Array1<f64>) {
    let (value, gradient) = g(x);
    assert!((value - f(x)).abs() <= 1e-12 * (1.0 + value.abs()), "{value} is not {}", f(x));
    assert_eq!(gradient.len(), x.len());
    for (k, found) in gradient.iter().enumerate() {
        let at = |d: f64| {
            let mut x = x.clone();
            x[k] += d;
            f(&x)
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{k}: {found} is not {expected}");
    }
}

/// Each line is `name { body }`: a function of an array with its derivative, and the comparison for
/// several lengths, with no elements, and with a zero among the elements.
macro_rules! arrays {
    ($($name:ident $x:ident $body:block)*) => {$(
        #[test]
        fn $name() {
            #[differentiate]
            fn f(given: &ArrayRef1<f64>) -> f64 {
                let $x = &given.to_owned();
                $body
            }
            for x in [array![0.7, -1.3, 2.1, 0.4], array![0.5, 0.0, -1.5, 0.0], array![2.0, 0.0], array![-0.3], array![]] {
                checks(|x| f(x), |x| f_value_and_grad(x), &x);
                layouts::on_every_input(f, f_value_and_grad, &x);
            }
            f_grad(&array![1.0, 2.0]);
        }
    )*};
}

arrays! {
    folds x { fold(1.0_f64, x, |acc, e| acc * 0.5 + e.sin() * acc) }
    folds_of_ranges x { fold(0.5_f64, 0..x.len(), |acc, i| acc.cos() * x[i] + x[x.len() - 1 - i]) }
    iterator_folds x { x.iter().rev().enumerate().fold(0.3_f64, |acc, (k, e)| acc * e + k as f64) }
    array_folds x { x.fold(2.0_f64, |acc, e| acc / (1.0 + e * e)) }
    reduces x { reduce(1.0_f64, x, |a, b| a * b) + reduce(0.0_f64, x, |a, b| a + b) }
    products x { product(x) + x.product() * 2.0 + x.iter().map(|e| e + 1.0).product::<f64>() }
    products_of_rows x {
        let m = build([x.len(), 2], |[i, j]| x[i] + j as f64);
        m.product_axis(Axis(1)).sum() + m.product_axis(Axis(0)).sum()
    }
    comparisons_of_elements x {
        let n = x.len();
        let mut y = build1(n, |i| x[i] + 0.31 * i as f64 + 0.07);
        for i in 0..n {
            for j in 0..n - 1 - i {
                if y[j] > y[j + 1] {
                    y.swap(j, j + 1);
                    y[j] *= 0.9;
                }
            }
            let k = (y[i].abs() * 2.3 + 0.13) as usize % n;
            y[k] = y[k] * 1.1 + y[i];
        }
        (0..n).map(|i| y[i] * (1.0 + i as f64)).sum::<f64>()
    }
    scans x { let s = scan(0.5_f64, x, |a, e| a * e + 1.0); (&s * &s).sum() }
    scans_from_the_left x { let s = scanl(0.5_f64, x, |a, e| (a * e).sin()); build1(s.len(), |i| s[i] * (i as f64 + 1.0)).sum() }
    scans_from_the_right x { let s = scanr(0.5_f64, x, |a, e| (a + e).tanh()); build1(s.len(), |i| s[i] * (i as f64 + 1.0)).sum() }
    scans_of_arrays x { let s = scan(array![0.0_f64, 1.0], x, |a, e| array![a[0] + e * a[1], a[1] * 0.5]); s.column(0).sum() * 2.0 + s.sum() }
    folds_in_builds x { let t = build1(x.len(), |i| fold(0.2_f64, x, |acc, e| acc * x[i] + e)); (&t * &t).sum() }
    builds_in_folds x { fold(x.clone(), 0..3, |y, k| build1(x.len(), |i| (y[i] * y[x.len() - 1 - i]).sin() + k as f64 * x[i])).sum() }
    folds_in_folds x { fold(1.0_f64, x, |acc, a| fold(acc, x, |acc, b| acc * 0.5 + (a * b).sin())) }
    scans_in_folds x { fold(0.1_f64, x, |acc, e| scan(acc * e, x, |a, b| (a + b).sin()).sum()) }
    tuples x { let (m, s) = fold((0.0_f64, 1.0_f64), x, |(m, s), e| (m + e * s, s * 0.9 + m.sin())); m * s }
    tuples_of_arrays x { let (v, n) = fold((x.clone(), 1.0_f64), 0..4, |(v, n), i| (&v * n, n * 0.5 + i as f64)); v.sum() * n }
    mixed_tuples x {
        let (s, n, up) = fold((0.0_f64, 0_usize, true), x, |(s, n, up), e| (if up { s + e * e } else { s * e }, n + 1, !up));
        if up { s } else { s * n as f64 }
    }
    sums_that_only_add x { fold(x.len() as f64, x, |acc, e| acc + e * e) }
    sums_of_a_step x { fold((0.0_f64, 1.0_f64), x, |(s, p), e| (s + p * e, p * 0.5)).0 }
    sums_that_decide x { let s = fold(0.0_f64, x, |acc, e| acc + e * e); if s > 1.0 { s.sqrt() } else { s * s } }
    normalised x { let s = fold(x.clone(), 0..3, |y, _| { let n = 1.0 + y.dot(&y); y.mapv(|e| e / n) }); s.sum() }
}

#[differentiate]
fn single(x: &Array1<f32>, r: f32) -> f32 {
    let s = scan(r, x, |a, e| a * e + 0.5);
    fold(1.0, &s, |p, e| p * 0.5 + e * e)
}

#[differentiate]
fn double(x: &Array1<f64>, r: f64) -> f64 {
    let s = scan(r, x, |a, e| a * e + 0.5);
    fold(1.0, &s, |p, e| p * 0.5 + e * e)
}

#[differentiate]
fn generic<T: Real>(x: &Array1<T>, r: T) -> T {
    let s = scan(r, x, |a, e| a * e + T::lit(0.5));
    fold(T::lit(1.0), &s, |p, e| p * T::lit(0.5) + e * e)
}

#[test]
fn both_real_types() {
    let (x, r) = (array![0.5, -1.25, 2.0, 0.75], 0.5);
    let (value, (dx, dr)) = double_value_and_grad(&x, r);
    checks(|x| double(x, r), |x| (double(x, r), double_grad(x, r).0), &x);
    checks(|r| double(&x, r[0]), |r| (double(&x, r[0]), array![double_grad(&x, r[0]).1]), &array![r]);
    assert_eq!(generic_value_and_grad(&x, r), (value, (dx.clone(), dr)));
    let (x, r) = (x.mapv(|e| e as f32), r as f32);
    let (value_32, (dx_32, dr_32)) = single_value_and_grad(&x, r);
    assert_eq!(generic_value_and_grad(&x, r), (value_32, (dx_32.clone(), dr_32)));
    assert!((f64::from(value_32) - value).abs() < 1e-5);
    assert!((f64::from(dr_32) - dr).abs() < 1e-5);
    assert!(dx_32.iter().zip(&dx).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-4));
}

#[differentiate(vjp, jvp)]
fn running(x: &Array1<f64>) -> Array1<f64> {
    scanl(1.0, x, |a, e| a * e.cos())
}

#[test]
fn scans_as_results() {
    let (x, u, dx) = (array![0.3, -0.7, 1.1], array![1.0, -2.0, 0.5, 3.0], array![0.2, 0.4, -0.1]);
    let (value, gradient) = running_vjp(&x, &u);
    let (same, tangent) = running_jvp(&x, &dx);
    assert_eq!(value, running(&x));
    assert_eq!(value, same);
    assert!((u.dot(&tangent) - gradient.dot(&dx)).abs() < 1e-14);
    let h = 1e-6;
    let slope = (running(&(&x + &(&dx * h))) - running(&(&x - &(&dx * h)))) / (2.0 * h);
    assert!((slope - tangent).iter().all(|e| e.abs() < 1e-9));
}

/// A million steps of `s = a s + e`.
const STEPS: usize = 1_000_000;

#[differentiate]
fn filter(x: &Array1<f64>, a: f64) -> f64 {
    fold(0.0, x, |s, e| a * s + e)
}

#[differentiate]
fn filtered(x: &Array1<f64>, a: f64) -> f64 {
    let s = scanl(0.0, x, |s, e| a * s + e);
    s[s.len() - 1]
}

/// The test runs on a small stack, so code with a recursive call for each step would fail. The
/// number of bytes is proportional to the steps, and they are allocated at once.
#[test]
fn a_million_steps() {
    let run = || {
        let (x, a) = (Array1::from_elem(STEPS, 1.0), 0.5);
        for derivative in [filter_value_and_grad, filtered_value_and_grad] {
            let ((value, (dx, da)), used) = counted(|| derivative(&x, a));
            assert!(used.bytes <= 6 * 8 * STEPS && used.times <= 20, "{used:?}");
            assert_eq!(value, 2.0);
            // d/da of 1 / (1 - a).
            assert!((da - 4.0).abs() < 1e-12, "{da}");
            assert_eq!(dx.len(), STEPS);
            for k in 0..60 {
                assert_eq!(dx[STEPS - 1 - k], 0.5_f64.powi(k as i32));
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread").join().expect("no overflow");
}

#[differentiate]
fn smoothed(x: &Array1<f64>) -> f64 {
    let mut y = x.to_vec();
    for i in 1..y.len() {
        y[i] += y[i - 1] * y[i - 1] * 0.1;
    }
    y[y.len() - 1]
}

/// A step that reads and writes elements of an array saves elements: the number of bytes is
/// proportional to the steps, and not to their square.
#[test]
fn a_step_that_writes_one_element_saves_no_array() {
    for n in [10, 100, 1000] {
        let x = Array1::from_shape_fn(n, |k| 0.3 + 0.1 * (k as f64).sin());
        let ((_, gradient), used) = counted(|| smoothed_value_and_grad(&x));
        assert!(used.bytes <= 8 * 8 * n && used.times <= 12, "{n}: {used:?}");
        assert_eq!(gradient[n - 1], 1.0);
    }
    checks(smoothed, smoothed_value_and_grad, &array![0.5, -0.25, 1.5, 0.75]);
}

#[differentiate]
fn eliminated(x: &Array2<f64>) -> f64 {
    let n = x.nrows();
    let mut a = x.clone();
    for k in 0..n {
        for i in k + 1..n {
            a[[i, k]] /= a[[k, k]];
            for j in k + 1..n {
                a[[i, j]] -= a[[i, k]] * a[[k, j]];
            }
        }
    }
    let mut s = 0.0;
    for i in 0..n {
        s += a[[i, i]].ln();
    }
    s
}

/// The two factors of each product are not written again, so the reverse loop reads them from the
/// final array. The residuals are the two operands of each quotient.
#[test]
fn elimination_saves_no_products() {
    for n in [4, 12, 40] {
        let x =
            Array2::from_shape_fn((n, n), |(i, j)| if i == j { n as f64 } else { 0.3 * ((i * n + j) as f64).sin() });
        let ((value, gradient), used) = counted(|| eliminated_value_and_grad(&x));
        assert!(used.bytes <= 8 * 8 * n * n && used.times <= 14, "{n}: {used:?}");
        assert!((value - eliminated(&x)).abs() <= 1e-12 * value.abs());
        // The logarithm of the determinant. Its gradient is the transposed inverse.
        let one = gradient.t().dot(&x);
        assert!(one.indexed_iter().all(|((i, j), e)| (e - f64::from(u8::from(i == j))).abs() < 1e-9), "{one}");
    }
}

#[differentiate]
fn root(a: f64) -> f64 {
    let mut y = a;
    let mut n = 0;
    while (y * y - a).abs() > 1e-14 * a && n < 100_000 {
        y = y * 0.999 + 0.001 * a / y;
        n += 1;
    }
    y
}

/// A loop that stops early saves its residuals while it counts. The memory grows by doubling, so
/// the number of bytes is proportional to the steps, and there are few allocations.
#[test]
fn a_loop_saves_while_it_counts() {
    let a = 7.0;
    let (mut y, mut steps) = (a, 0);
    while f64::abs(y * y - a) > 1e-14 * a && steps < 100_000 {
        y = y * 0.999 + 0.001 * a / y;
        steps += 1;
    }
    assert!(steps > 1000);
    let ((value, slope), used) = counted(|| root_value_and_grad(a));
    // Two rows: the number, and the number of steps. Each doubling is a new allocation.
    assert!(used.bytes <= 2 * 8 * 4 * (steps + 8) && used.times <= 2 * 20, "{steps}: {used:?}");
    assert!((value - a.sqrt()).abs() < 1e-12 && (slope - 0.5 / a.sqrt()).abs() < 1e-3, "{value} {slope}");
}

/// A polynomial at points that do not depend on active parameters. Its powers are not saved,
/// whatever the number of points is.
#[differentiate(wrt(c))]
fn fitted<T: Real>(c: &Array1<T>, points: &Array1<T>, decay: T) -> T {
    let mut total = T::zero();
    for i in 0..points.len() {
        let mut power = T::one();
        let mut r = points[i].cos();
        for j in 0..c.len() {
            r -= c[j] * power;
            power = power * points[i] * decay;
        }
        total += r * r;
    }
    total
}

#[test]
fn powers_of_points_are_not_stored() {
    let residuals = |c: &Array1<f64>, points: &Array1<f64>| {
        points.mapv(|t| t.cos() - c.iter().enumerate().map(|(j, c)| c * (0.9 * t).powi(j as i32)).sum::<f64>())
    };
    for (n, m) in [(0, 3), (1, 3), (15, 8), (16, 1), (17, 0), (128, 5), (129, 40), (1000, 60)] {
        let points = Array1::from_shape_fn(n, |i| (i as f64 * 0.37).sin());
        let c = Array1::from_shape_fn(m, |j| 0.3 / (j as f64 + 1.0));
        let ((value, gradient), used) = counted(|| fitted_value_and_grad(&c, &points, 0.9));
        // Rows of a block and of the remainder, and a few sums.
        assert!(used.bytes <= 8 * (24 * 128 + 10 * m + 16), "{n} {m}: {used:?}");
        let r = residuals(&c, &points);
        assert!((value - r.dot(&r)).abs() <= 1e-12 * (1.0 + value), "{n} {m}: {value}");
        for (j, g) in gradient.iter().enumerate() {
            let own = -2.0 * points.iter().zip(&r).map(|(t, r)| r * (0.9 * t).powi(j as i32)).sum::<f64>();
            assert!((g - own).abs() < 1e-10, "{n} {m} {j}: {g} {own}");
        }
        let single = fitted_value_and_grad(&c.mapv(|c| c as f32), &points.mapv(|t| t as f32), 0.9);
        assert!((f64::from(single.0) - value).abs() < 1e-3 * (1.0 + value), "{n} {m}: {single:?}");
        for (a, b) in single.1.iter().zip(&gradient) {
            assert!((f64::from(*a) - b).abs() < 1e-3 * (1.0 + value.sqrt()), "{n} {m}: {a} {b}");
        }
    }
}

/// No step reads the carried value, so the carried cotangent becomes zero.
#[differentiate]
fn same_in_each_step(x: &Array1<f64>) -> f64 {
    let v = x.mapv(|a| [0.3; 3].iter().fold(a, |_, _| a.sin()));
    v.mapv(f64::sin).sum()
}

#[test]
fn an_array_that_a_loop_begins_with_and_reads_is_not_moved() {
    let x = Array1::from_shape_fn(21, |i| (i as f64 * 0.4).cos());
    checks(same_in_each_step, same_in_each_step_value_and_grad, &x);
}

/// The derivative in one arm is a value that another arm computes.
#[differentiate(grad, jvp, hvp)]
fn sine_or_cosine(x: f64, which: &[usize]) -> f64 {
    let mut y = x;
    for k in which {
        y = match k {
            0 => y.sin() + 1.0,
            1 => y.cos() + 1.0,
            2 => y.sinh(),
            3 => y.cosh(),
            4 => y.powf(1.3),
            _ => 1.0 + y.abs().ln().powi(2),
        };
    }
    y
}

#[differentiate]
fn sines_or_cosines(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = x.clone();
    for k in 0..n {
        y = if k % 2 == 0 { y.mapv(f64::sin) } else { y.mapv(f64::cos) };
    }
    y.sum()
}

#[differentiate]
fn in_place(x: &Array1<f64>, _n: usize) -> f64 {
    let mut a = x.to_vec();
    for i in 1..a.len() {
        if i % 2 == 0 {
            a[i] *= a[i - 1].sin();
        } else {
            a[i] += a[i - 1].cos();
        }
    }
    a.iter().sum()
}

#[test]
fn an_arm_may_need_what_another_arm_computes() {
    for which in [&[0][..], &[0, 1, 1, 0], &[0, 2, 1, 3, 4, 5, 1, 0], &[1, 0, 2, 0, 3, 1]] {
        ad::check_grad!(sine_or_cosine(0.4, which));
        let slope = |x: f64| sine_or_cosine_jvp(x, which, 1.0).1;
        assert!((slope(0.4) - sine_or_cosine_grad(0.4, which)).abs() < 1e-12);
        let second = (slope(0.4 + 1e-6) - slope(0.4 - 1e-6)) / 2e-6;
        assert!((sine_or_cosine_hvp(0.4, which, 1.0) - second).abs() < 1e-6 * (1.0 + second.abs()), "{which:?}");
    }
    let x = Array1::from_shape_fn(7, |i| (i as f64 * 0.7).cos());
    ad::check_grad!(sines_or_cosines(&x, 5));
    ad::check_grad!(in_place(&x, 0));
}

//! Loops through the macro: values are the function's own, gradients those of central differences,
//! and a derivative panics where the function panics.

// The loops are as people write them: indices, sums written out.
#![allow(clippy::assign_op_pattern, clippy::manual_is_multiple_of, clippy::needless_range_loop)]

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

/// Whether both panic with the same message.
#[track_caller]
fn both_panic(f: fn(&[f64]) -> f64, value_and_grad: fn(&[f64]) -> (f64, Vec<f64>), x: &[f64]) {
    assert!(catch_unwind(AssertUnwindSafe(|| f(x))).is_err(), "the function does not panic");
    assert!(catch_unwind(AssertUnwindSafe(|| value_and_grad(x))).is_err(), "the derivative does not panic");
}

#[differentiate]
fn sum_of_squares(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in x {
        total += v * v;
    }
    total
}

#[differentiate]
fn horner(x: &[f64]) -> f64 {
    let mut value = 0.0;
    for c in x[1..].iter().rev() {
        value = value * x[0] + c;
    }
    value
}

#[differentiate]
fn gauss_seidel(b: &[f64]) -> f64 {
    let n = b.len();
    let mut x = vec![0.0; n];
    for _ in 0..4 {
        for i in 0..n {
            let left = if i > 0 { x[i - 1] } else { 0.0 };
            let right = if i + 1 < n { x[i + 1] } else { 0.0 };
            x[i] = (b[i] + left + right) / (4.0 + left * left);
        }
    }
    x.iter().sum()
}

#[differentiate]
fn prefix(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    for i in 1..y.len() {
        y[i] = y[i - 1] * x[i] + y[i];
    }
    let mut total = 1.0;
    for (i, v) in y.iter().enumerate() {
        total += v * (i as f64);
    }
    total
}

#[differentiate]
fn first_large(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for (i, v) in x.iter().enumerate() {
        if *v > 2.0 {
            return total * v;
        }
        if *v < 0.0 {
            continue;
        }
        if i == 5 {
            break;
        }
        total += v.sqrt();
    }
    total
}

#[differentiate]
fn pairs(x: &[f64]) -> f64 {
    let mut energy = 0.0;
    'outer: for i in 0..x.len() {
        for j in 0..i {
            let d = x[i] - x[j];
            if d.abs() < 1e-3 {
                continue 'outer;
            }
            if d > 4.0 {
                break 'outer;
            }
            energy += 1.0 / (d * d);
        }
    }
    energy
}

#[differentiate]
fn changed_in_place(x: &[f64]) -> f64 {
    let n = x.len();
    let mut m = Array2::zeros((n, n));
    for (i, mut row) in m.outer_iter_mut().enumerate() {
        for (j, v) in row.iter_mut().enumerate() {
            *v = x[i] * x[j];
        }
        row[i] += 1.0;
    }
    let mut out = Array1::zeros(n);
    for (o, row) in out.iter_mut().zip(m.rows()) {
        for (a, b) in row.iter().zip(x) {
            *o += a * b;
        }
    }
    for v in &mut out {
        *v *= *v;
    }
    out.sum()
}

#[differentiate]
fn pushed(x: &[f64]) -> f64 {
    let mut path = vec![x[0]];
    let mut at = x[0];
    for v in x {
        if *v > 5.0 {
            return at * v;
        }
        at = at * v + 1.0;
        path.push(at);
    }
    let mut total = 0.0;
    for (i, p) in path.iter().enumerate() {
        total += p * (i as f64 + 1.0);
    }
    total
}

#[differentiate]
fn newton(x: &[f64]) -> f64 {
    let mut root = x[0];
    let mut steps = 0;
    while (root * root - x[0] - x[1]).abs() > 1e-13 && steps < 50 {
        root = 0.5 * (root + (x[0] + x[1]) / root);
        steps += 1;
    }
    root * x[1]
}

#[differentiate]
fn fixed_point(x: &[f64]) -> f64 {
    let mut y = x[0];
    let mut k = 0;
    let found = loop {
        let next = (y * x[1]).cos();
        k += 1;
        if k == 20 {
            break next;
        }
        if next < -0.9 {
            return next * 2.0;
        }
        y = next;
    };
    found + x[0] * k as f64
}

#[differentiate]
fn halving(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in x {
        let mut y = *v;
        while y > 1.0 {
            y /= 1.0 + x[0];
        }
        total += y * y;
    }
    total
}

#[differentiate]
fn logistic(x: &[f64]) -> f64 {
    let mut y = x[0];
    for _ in 0..1_000_000 {
        y += 1e-6 * (x[1] - y);
    }
    y
}

#[differentiate]
fn reads(x: &[f64]) -> f64 {
    let mut total: f64 = 0.0;
    for i in 0..3 {
        total += x[i] * total.cos();
        if total > 10.0 {
            break;
        }
    }
    total
}

/// The root of a polynomial between two bounds, and one step of Newton's method, which has its
/// derivative.
#[differentiate]
fn bisection(x: &[f64]) -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    let root = loop {
        let mid = 0.5 * (low + high);
        let rest = mid * mid * mid + x[0] * mid - x[1];
        if rest.abs() < 1e-12 || high - low < 1e-13 {
            break mid - rest / (3.0 * mid * mid + x[0]);
        }
        if rest > 0.0 {
            high = mid;
        } else {
            low = mid;
        }
    };
    root * root + x[1]
}

/// Heun's method with the largest steps that the error permits.
#[differentiate]
fn adaptive(x: &[f64]) -> f64 {
    let mut t = 0.0;
    let mut y = x[0];
    let mut h = 0.1;
    while t < 1.0 {
        if t + h > 1.0 {
            h = 1.0 - t;
        }
        let k1 = t - x[1] * y;
        let k2 = t + h - x[1] * (y + h * k1);
        let error = (0.5 * h * (k2 - k1)).abs();
        if error > 1e-2 {
            h *= 0.5;
            continue;
        }
        t += h;
        y += 0.5 * h * (k1 + k2);
        if error < 1e-3 {
            h *= 1.0 + x[2];
        }
    }
    y
}

#[differentiate]
fn while_in_for_in_build(x: &[f64]) -> f64 {
    let y = build1(x.len(), |i| {
        let mut total = 0.0;
        for j in 0..=i {
            let mut v = x[j] * x[i];
            while v > 0.5 {
                v *= 0.6 + 0.01 * x[0];
            }
            total += v * v;
        }
        total
    });
    (&y * &y).sum()
}

/// Kepler's equation by its fixed point.
#[differentiate]
fn kepler(x: &[f64]) -> f64 {
    let mut e = x[0];
    loop {
        let next = x[0] + x[1] * e.sin();
        let done = (next - e).abs() < 1e-13;
        e = next;
        if done {
            return e * x[1];
        }
    }
}

#[differentiate]
fn collatz(x: &[f64]) -> f64 {
    let mut n = x.len() + 22;
    let mut y = x[0];
    while n != 1 {
        if n % 2 == 0 {
            n /= 2;
            y = (y + x[1]).sin();
        } else {
            n = 3 * n + 1;
            y *= 1.0 + 0.01 * x[2];
        }
    }
    y
}

#[differentiate]
fn along_axes(x: &[f64]) -> f64 {
    let n = x.len();
    let mut m = Array2::zeros((n, 2));
    for (k, mut column) in m.axis_iter_mut(Axis(1)).enumerate() {
        for (i, v) in column.iter_mut().enumerate() {
            *v = x[i] * x[i] + k as f64;
        }
        column[0] *= 2.0;
    }
    for mut row in m.axis_iter_mut(Axis(0)) {
        row[1] *= row[0];
    }
    m[[0, 1]] + m[[n - 1, 1]] * m[[n - 1, 0]]
}

#[differentiate]
fn rows_and_columns(x: &[f64]) -> f64 {
    let n = x.len();
    let mut m = Array2::ones((n, n));
    for (mut row, v) in m.rows_mut().into_iter().zip(x) {
        row *= *v;
        row[0] += 1.0;
    }
    for (mut column, v) in m.columns_mut().into_iter().zip(x.iter().rev()) {
        column[0] *= v.sin();
        column += 0.5;
    }
    m.iter().product::<f64>()
}

#[differentiate]
fn indexed(x: &[f64]) -> f64 {
    let n = x.len();
    let mut m = Array2::zeros((n, n));
    for ((i, j), v) in m.indexed_iter_mut() {
        *v = x[i] * x[j] + i as f64;
    }
    let mut y = m.row(0).to_owned();
    for (i, v) in y.indexed_iter_mut() {
        *v *= x[i];
    }
    m.sum() * y.sum()
}

#[differentiate]
fn swaps(x: &[f64]) -> f64 {
    let (mut a, mut b) = (x[0], 1.0);
    let mut y = x.to_vec();
    for i in 0..x.len() {
        (a, b) = (b * x[i], a + x[i]);
        std::mem::swap(&mut a, &mut b);
        y.swap(i, x.len() - 1 - i);
        y[i] += a;
    }
    a * b + y.iter().enumerate().map(|(i, v)| v * v * i as f64).sum::<f64>()
}

#[differentiate]
fn shadowed(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for v in x {
        let t = s;
        {
            let mut s = *v;
            s *= t;
            let t = s.sin();
            if t > 2.0 {
                break;
            }
        }
        let v = v * t;
        s += v;
    }
    s
}

#[differentiate]
#[allow(clippy::needless_late_init, reason = "a variable that is assigned behind a loop")]
fn one_arm(x: &[f64]) -> f64 {
    let mut best = x[0];
    let mut at = 0;
    let last;
    for i in 1..x.len() {
        if x[i] > best {
            best = x[i];
            at = i;
        }
    }
    if at > 0 {
        last = x[at - 1];
    } else {
        last = best * best;
    }
    best * at as f64 + last
}

#[differentiate]
fn orbit(x: &[f64]) -> f64 {
    let mut v = vec![x[0]];
    for i in 1..20 {
        let y = x[1] * v[i - 1] * (1.0 - v[i - 1]);
        v.push(y);
    }
    v.iter().sum::<f64>() * v[v.len() - 2]
}

/// The upper hull of points, by a stack.
#[differentiate]
fn hull(x: &[f64]) -> f64 {
    let mut stack: Vec<(usize, f64)> = Vec::new();
    for (i, &v) in x.iter().enumerate() {
        while stack.len() > 1 {
            let ((a, p), (b, q)) = (stack[stack.len() - 2], stack[stack.len() - 1]);
            if (q - p) * ((i - a) as f64) >= (v - p) * ((b - a) as f64) {
                break;
            }
            stack.pop();
        }
        stack.push((i, v));
    }
    let mut area = 0.0;
    for k in 1..stack.len() {
        let ((a, p), (b, q)) = (stack[k - 1], stack[k]);
        area += 0.5 * (p + q) * (b - a) as f64;
    }
    area * area
}

/// Euler's method with growing steps, and the integral of the recorded values.
#[differentiate]
fn trajectory(x: &[f64]) -> f64 {
    let (mut t, mut y, mut h) = (0.0, x[0], 0.1);
    let mut ts = vec![t];
    let mut ys = vec![y];
    while t < 1.0 {
        let k = -x[1] * y;
        y += h * k;
        t += h;
        if k.abs() < 0.5 {
            h *= 1.5;
        }
        ts.push(t);
        ys.push(y);
    }
    let mut s = 0.0;
    for i in 1..ys.len() {
        s += (ts[i] - ts[i - 1]) * (ys[i] * ys[i] + ys[i - 1]);
    }
    s
}

#[differentiate]
fn sampled(x: &[f64]) -> f64 {
    let mut seed: u64 = 42;
    let mut kept = Vec::new();
    for _ in 0..40 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let u = (seed >> 11) as f64 / (1_u64 << 53) as f64;
        if u < 0.4 {
            kept.push((x[0] * u + x[1]).sin());
        }
    }
    kept.iter().sum::<f64>() / kept.len() as f64
}

#[differentiate]
fn of_parts(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for c in x.chunks(2) {
        let mut p = 1.0;
        for v in c {
            p *= v;
        }
        s += p * s;
    }
    for i in 0..x.len() {
        s += x[..i].iter().zip(&x[i..]).map(|(a, b)| a * b).sum::<f64>() * x[i];
    }
    s
}

/// No step runs if there is none, however long it would take.
#[differentiate]
fn never_ends(x: &[f64]) -> f64 {
    let total: f64 = x.iter().sum();
    let mut s = 1.0;
    for v in x {
        let mut k = 5.0;
        while k > 0.0 {
            k -= total;
        }
        s += k * v;
    }
    s
}

/// A loop over arrays computes the size of an array.
#[differentiate]
fn sized(x: &[f64]) -> f64 {
    let mut n = 0;
    let mut t = build1(x.len(), |i| x[i]);
    while t.sum() > 0.1 {
        t = build1(x.len(), |i| t[i] * 0.7);
        n += 1;
    }
    let y = build1(n, |i| x[0] * i as f64 + t.sum());
    y.dot(&y)
}

#[test]
fn order_of_evaluation() {
    let x = [0.7, 1.3, 0.4, 1.9, 0.2];
    for x in [&x[..], &x[..1], &x[..2]] {
        verify(swaps, swaps_value_and_grad, x);
        verify(shadowed, shadowed_value_and_grad, x);
        verify(one_arm, one_arm_value_and_grad, x);
    }
    both_panic(one_arm, one_arm_value_and_grad, &[]);
}

#[test]
fn vectors_that_grow() {
    verify(orbit, orbit_value_and_grad, &[0.3, 2.9]);
    verify(hull, hull_value_and_grad, &[0.7, 1.3, 0.4, 1.9, 0.2, 0.5]);
    verify(hull, hull_value_and_grad, &[0.7]);
    verify(hull, hull_value_and_grad, &[]);
    verify(trajectory, trajectory_value_and_grad, &[0.9, 1.7]);
    verify(trajectory, trajectory_value_and_grad, &[-0.3, 0.2]);
    verify(sampled, sampled_value_and_grad, &[0.9, 1.7]);
}

#[test]
fn lengths_that_loops_decide() {
    for x in [&[0.7, 1.3, 0.4, 1.9, 0.2][..], &[0.3], &[]] {
        verify(of_parts, of_parts_value_and_grad, x);
    }
    verify(never_ends, never_ends_value_and_grad, &[]);
    verify(never_ends, never_ends_value_and_grad, &[0.3, 0.72]);
    verify(sized, sized_value_and_grad, &[0.7, 1.3, 0.4]);
    verify(sized, sized_value_and_grad, &[0.01]);
}

#[test]
fn parts_that_are_changed() {
    verify(along_axes, along_axes_value_and_grad, &[0.3, 0.9, -1.2]);
    verify(along_axes, along_axes_value_and_grad, &[0.3]);
    both_panic(along_axes, along_axes_value_and_grad, &[]);
    verify(rows_and_columns, rows_and_columns_value_and_grad, &[0.3, 0.9, -1.2]);
    verify(rows_and_columns, rows_and_columns_value_and_grad, &[]);
    verify(indexed, indexed_value_and_grad, &[0.3, 0.9, -1.2]);
}

#[test]
fn unusual_whiles() {
    verify(bisection, bisection_value_and_grad, &[1.3, 2.9]);
    verify(adaptive, adaptive_value_and_grad, &[0.7, 1.9, 0.43]);
    verify(adaptive, adaptive_value_and_grad, &[8.0, 6.1, 0.37]);
    verify(while_in_for_in_build, while_in_for_in_build_value_and_grad, &[0.7, 1.3, 2.4, 0.2]);
    verify(while_in_for_in_build, while_in_for_in_build_value_and_grad, &[]);
    verify(kepler, kepler_value_and_grad, &[0.9, 0.3]);
    verify(collatz, collatz_value_and_grad, &[0.7, 0.3, 1.4, 0.0, 0.0]);
}

#[test]
fn values_and_gradients() {
    let x = [0.7, 1.3, 0.4, 1.9, 0.2];
    verify(sum_of_squares, sum_of_squares_value_and_grad, &x);
    verify(sum_of_squares, sum_of_squares_value_and_grad, &[]);
    verify(horner, horner_value_and_grad, &x);
    verify(horner, horner_value_and_grad, &[2.0]);
    verify(gauss_seidel, gauss_seidel_value_and_grad, &x);
    verify(gauss_seidel, gauss_seidel_value_and_grad, &[]);
    verify(prefix, prefix_value_and_grad, &x);
    verify(first_large, first_large_value_and_grad, &x);
    verify(first_large, first_large_value_and_grad, &[0.7, -1.3, 0.4, 2.9, f64::NAN]);
    verify(first_large, first_large_value_and_grad, &[0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]);
    verify(pairs, pairs_value_and_grad, &x);
    verify(pairs, pairs_value_and_grad, &[0.7, 0.7, 1.5, 8.0, 9.0]);
    verify(pushed, pushed_value_and_grad, &x);
    verify(pushed, pushed_value_and_grad, &[0.7, 6.0, 0.4]);
    verify(newton, newton_value_and_grad, &[0.7, 1.6]);
    verify(fixed_point, fixed_point_value_and_grad, &[0.7, 0.6]);
    verify(fixed_point, fixed_point_value_and_grad, &[1.0, 3.0]);
    verify(halving, halving_value_and_grad, &[0.7, 5.0, 0.4, 31.9]);
    verify(changed_in_place, changed_in_place_value_and_grad, &x);
}

#[test]
fn a_million_iterations_on_a_small_stack() {
    let run = || verify(logistic, logistic_value_and_grad, &[0.3, 0.8]);
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn panics() {
    verify(reads, reads_value_and_grad, &[1.0, 2.0, 3.0]);
    verify(reads, reads_value_and_grad, &[20.0]);
    both_panic(reads, reads_value_and_grad, &[1.0, 2.0]);
}

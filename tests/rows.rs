//! Loops whose parts of arrays are slices in the generated code: columns of points, rows that are
//! read from the last element on, and loops over the beginning or the end of a row. The gradients
//! are checked for numbers of elements from none on, and around the number of lanes.

mod allocator;

use ad::check_grad;
use ad::prelude::*;
use allocator::counted;

/// A ball, to which a derivative belongs as well.
#[derive(Clone, Copy, Differentiable)]
struct Ball {
    centre: [f64; 3],
    radius: f64,
}

/// The overlap of all pairs of balls. The decision depends on a sum of three terms.
#[differentiate]
fn overlap(balls: &[Ball]) -> f64 {
    let mut energy = 0.0;
    for i in 0..balls.len() {
        for j in i + 1..balls.len() {
            let (a, b) = (&balls[i], &balls[j]);
            let square: f64 = (0..3).map(|k| (a.centre[k] - b.centre[k]).powi(2)).sum();
            let gap = a.radius + b.radius - square.sqrt();
            if gap > 0.0 {
                energy += gap * gap;
            }
        }
    }
    energy
}

/// Springs between neighbours on a rope, over several steps.
#[differentiate(wrt(start, stiffness))]
fn rope(start: &[[f64; 2]], stiffness: f64, steps: usize) -> f64 {
    let mut points = start.to_vec();
    for _ in 0..steps {
        let mut force = vec![[0.0, -0.1]; points.len()];
        for i in 0..points.len() - 1 {
            let d = [points[i + 1][0] - points[i][0], points[i + 1][1] - points[i][1]];
            let tension = stiffness * ((d[0] * d[0] + d[1] * d[1] + 0.01).sqrt() - 1.0);
            for k in 0..2 {
                force[i][k] += tension * d[k];
                force[i + 1][k] -= tension * d[k];
            }
        }
        for i in 1..points.len() {
            for k in 0..2 {
                points[i][k] += 0.1 * force[i][k];
            }
        }
    }
    points.iter().map(|p| p[0] * p[0] + p[1]).sum()
}

/// The Levinson recursion.
#[differentiate]
fn levinson(r: &[f64]) -> f64 {
    let n = r.len() - 1;
    let mut a = vec![0.0; n + 1];
    a[0] = 1.0;
    let mut e = r[0];
    for m in 1..=n {
        let mut sum = r[m];
        for i in 1..m {
            sum += a[i] * r[m - i];
        }
        let k = -sum / e;
        let old = a.clone();
        for i in 1..m {
            a[i] = old[i] + k * old[m - i];
        }
        a[m] = k;
        e *= 1.0 - k * k;
    }
    e.ln() + a.iter().map(|a| a * a).sum::<f64>()
}

/// Backwards through a tree of values, of which fewer are left in each step.
#[differentiate(wrt(x, p))]
fn tree(x: &[f64], p: f64) -> f64 {
    let n = x.len() - 1;
    let mut v = x.to_vec();
    for i in (0..n).rev() {
        for j in 0..=i {
            v[j] = (p * v[j + 1] + (1.0 - p) * v[j]).max(x[j] * 0.9);
        }
    }
    v[0]
}

/// Each element takes in the next one, before that is changed.
#[differentiate]
fn upwind(x: &Array1<f64>) -> f64 {
    let mut u = x.clone();
    for _ in 0..3 {
        for i in 0..u.len() - 1 {
            u[i] += 0.4 * (u[i + 1] - u[i]).sin();
        }
        for i in (1..u.len()).rev() {
            u[i] *= 1.0 + 0.1 * u[i - 1];
        }
    }
    u.dot(&u)
}

/// What a window of `k` elements at each place adds, as far as there are elements. The loop may
/// stop before the array ends, and the number of a step is used by itself.
#[differentiate(wrt(x))]
fn windows(x: &[f64], k: usize) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..n {
        for r in 0..k {
            if r < n - i {
                s += (x[i] * x[i + r] + r as f64).sin();
            }
        }
    }
    s
}

/// The same with windows behind a place, and conditions of both kinds.
#[differentiate(wrt(x))]
fn short_windows(x: &[f64], k: usize) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..n {
        for r in 0..k {
            if r < n - i {
                s += (x[i] * x[i + r]).sin();
            }
        }
        for r in 0..k {
            if r < n - (i + 1) {
                s += (x[i] + x[i + 1 + r]).cos();
            }
        }
        for r in 0..k {
            if r <= n - 1 - i {
                s += (x[i] - 2.0 * x[i + r]).sin();
            }
        }
        for r in 0..n {
            if r <= n - 1 - i {
                s += (x[i] - 3.0 * x[i + r]).sin();
            }
        }
    }
    s
}

/// Each element takes in the one before it, after that has been changed.
#[differentiate]
fn ordered(x: &[f64]) -> f64 {
    let n = x.len();
    let mut total = 0.0;
    for i in 0..n {
        let mut u = x.to_vec();
        for j in i + 1..n {
            u[j] += 0.3 * u[j - 1];
        }
        total += u.iter().map(|u| u.sin()).sum::<f64>();
    }
    total
}

/// The greatest element behind each one.
#[allow(clippy::needless_range_loop, reason = "the loop is the case")]
#[differentiate]
fn first_top(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut top = f64::NEG_INFINITY;
        for j in i + 1..x.len() {
            top = top.max(x[j]);
        }
        if i + 1 < x.len() {
            total += top * (i as f64 + 1.0);
        }
    }
    total
}

/// All loops leave the last element alone, and the derivative needs a reciprocal of the others.
#[differentiate]
fn all_but_the_last(x: &[f64]) -> f64 {
    let n = x.len() - 1;
    let mut a = x.to_vec();
    for i in 0..n {
        for j in 0..n {
            a[j] = x[i] * a[j] + x[j].ln();
        }
    }
    a[..n].iter().map(|a| a * a).sum()
}

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 1.7 + seed).sin()).collect()
}

#[test]
fn pairs_of_which_the_second_comes_later() {
    for n in [0, 1, 2, 3, 16, 17, 40] {
        let ball = |i: usize| {
            let x = numbers(4, i as f64);
            Ball { centre: [x[0], x[1], x[2]], radius: 0.6 + 0.2 * x[3] }
        };
        check_grad!(overlap(&(0..n).map(ball).collect::<Vec<_>>()));
    }
}

#[test]
fn no_array_of_all_pairs_is_stored() {
    let balls = vec![Ball { centre: [0.1, 0.2, 0.3], radius: 1.0 }; 200];
    let (_, used) = counted(|| overlap_value_and_grad(&balls));
    assert!(used.bytes < 200 * 200, "{used:?}");
}

#[test]
fn neighbours_in_the_plane() {
    for n in [1, 2, 3, 16, 17, 18, 33] {
        let points: Vec<[f64; 2]> = (0..n).map(|i| [i as f64, (i as f64).sin()]).collect();
        check_grad!(rope(&points, 0.7, 3));
    }
}

#[test]
fn rows_that_are_read_from_the_last_element_on() {
    for n in [1, 2, 3, 4, 17, 18, 19, 40] {
        let r: Vec<f64> = (0..n).map(|i| 0.8_f64.powi(i) * (f64::from(i) * 0.7).cos()).collect();
        check_grad!(levinson(&r));
    }
}

#[test]
fn loops_that_end_early_and_elements_ahead() {
    for n in [1, 2, 3, 9, 20] {
        check_grad!(tree(&numbers(n, 0.3), 0.4));
        check_grad!(upwind(&Array1::from(numbers(n, 0.1))));
    }
}

#[test]
fn loops_that_may_stop_before_the_end() {
    for n in [0, 1, 2, 5, 20] {
        let x = numbers(n, 0.2);
        for k in [0, 1, 3, n, n + 2] {
            let (one, two) = (windows_value_and_grad(&x, k).0, short_windows_value_and_grad(&x, k).0);
            assert!((one - windows(&x, k)).abs() < 1e-12, "{n} {k}");
            assert!((two - short_windows(&x, k)).abs() < 1e-12, "{n} {k}");
            check_grad!(windows(&x, k));
            check_grad!(short_windows(&x, k));
        }
    }
}

#[test]
fn steps_whose_order_matters() {
    for n in [0, 1, 2, 5, 20] {
        check_grad!(ordered(&numbers(n, 0.4)));
    }
    // Of equal elements the first is the greatest.
    assert_eq!(first_top_grad(&[0.5, 2.0, 2.0, 1.0]), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn loops_over_all_elements_but_the_last_one() {
    for n in [1, 2, 3, 5, 18] {
        let x: Vec<f64> = numbers(n, 0.3).iter().map(|x| x.abs() * 0.5 + 0.1).collect();
        check_grad!(all_but_the_last(&x));
    }
}

/// Powers whose exponents differ along a row: a fixed base, a base for each element, a decision
/// that depends on a power, and powers that are stored.
#[differentiate(wrt(x, base))]
fn integer_powers(x: &[f64], base: f64, shift: i32) -> f64 {
    let mut total = 0.0;
    for (i, v) in x.iter().enumerate() {
        let power = base.powi(i as i32 - shift);
        total += if power > 1.0 { power * v } else { v.powi(shift - i as i32) + power };
    }
    let scaled: Vec<f64> = x.iter().enumerate().map(|(i, v)| v * base.powi(shift - 2 * i as i32)).collect();
    total + scaled.iter().zip(&scaled[1.min(x.len())..]).map(|(a, b)| a * b).sum::<f64>()
}

#[test]
fn integer_powers_of_every_length() {
    for n in (0..20).chain([31, 32, 33]) {
        let x: Vec<f64> = (0..n).map(|i| 0.9 + 0.2 * (i as f64 * 1.7).sin()).collect();
        for shift in [0, 1, 5, 40] {
            let own = integer_powers(&x, 0.97, shift);
            let (value, _) = integer_powers_value_and_grad(&x, 0.97, shift);
            assert!((value - own).abs() <= 1e-13 * own.abs().max(1.0), "{n}, {shift}: {value} is not {own}");
            check_grad!(integer_powers(&x, 0.97, shift));
        }
    }
}

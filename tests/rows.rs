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

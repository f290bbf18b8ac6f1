//! Loops within groups: parts of an array between bounds that another array has. The gradients are
//! checked for groups of every size, also empty ones, one group of all elements, and groups that
//! leave elements out.

#![allow(clippy::needless_range_loop, reason = "formulas are written with indices")]

use ad::check_grad;
use ad::prelude::*;

/// A loss over the pairs of each group that are in the wrong order.
#[differentiate(wrt(w))]
fn ranking(w: &Array1<f64>, x: &Array2<f64>, level: &[usize], starts: &[usize]) -> f64 {
    let s = x.dot(w);
    let mut loss = 0.0;
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            for j in starts[q]..starts[q + 1] {
                if level[i] > level[j] {
                    loss += softplus(s[j] - s[i]) * (level[i] - level[j]) as f64;
                }
            }
        }
    }
    loss
}

/// Each pair of elements once.
#[differentiate(wrt(x))]
fn pairs(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            for j in i + 1..starts[q + 1] {
                total += (x[i] * x[j]).sin() + (x[i] - x[j]).powi(2);
            }
        }
    }
    total
}

/// The same group twice, as slices.
#[differentiate(wrt(x))]
fn slices(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for q in 0..starts.len() - 1 {
        let group = &x[starts[q]..starts[q + 1]];
        for u in group {
            for v in group {
                total += (u - 0.5 * v).tanh();
            }
        }
    }
    total
}

/// The logarithms of sums of exponentials, and a state that all groups change in turn.
#[differentiate(wrt(x, c))]
fn chained(x: &[f64], starts: &[usize], c: f64) -> f64 {
    let (mut state, mut total) = (c, 0.0);
    for q in 0..starts.len() - 1 {
        let mut greatest = f64::NEG_INFINITY;
        for p in starts[q]..starts[q + 1] {
            if x[p] > greatest {
                greatest = x[p];
            }
        }
        let mut sum = 0.1;
        for p in starts[q]..starts[q + 1] {
            sum += (x[p] * state - greatest).exp();
        }
        state = 0.5 * state + 0.1 * sum.ln();
        total += state * state;
    }
    total
}

/// Elements of a group that change, one after the other, by all elements of the group.
#[differentiate(wrt(x))]
fn updates(x: &[f64], starts: &[usize]) -> f64 {
    let mut a = x.to_vec();
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            for j in starts[q]..starts[q + 1] {
                a[i] += 0.1 * a[j] * x[i];
            }
        }
    }
    a.iter().map(|v| v * v).sum()
}

/// Numbers of rows of several widths in a matrix: a group's rows against each other.
#[differentiate(wrt(x))]
fn distances(x: &Array2<f64>, starts: &[usize], scale: f64) -> f64 {
    let mut total = 0.0;
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            for j in starts[q]..i {
                let mut square = 0.0;
                for k in 0..x.ncols() {
                    square += (x[[i, k]] - x[[j, k]]).powi(2);
                }
                total += (-square * scale).exp();
            }
        }
    }
    total
}

/// The rank of each element in its group, by iterators over windows of the bounds.
#[differentiate(wrt(x))]
fn ranks(x: &[f64], starts: &[usize]) -> f64 {
    let rank = |group: &[f64], u: f64| 0.5 + group.iter().map(|v| 1.0 / (1.0 + (u - v).exp())).sum::<f64>();
    let of_group = |w: &[usize]| {
        let group = &x[w[0]..w[1]];
        group.iter().enumerate().map(|(i, &u)| rank(group, u).ln() * (i as f64 + 1.0)).sum::<f64>()
    };
    starts.windows(2).map(of_group).sum()
}

/// Means that the pairs of a group weight, and the triples of a group.
#[differentiate(wrt(x))]
fn weighted(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            let (mut z, mut y) = (0.0, 0.0);
            for j in starts[q]..starts[q + 1] {
                let e = (x[i] * x[j]).exp();
                z += e;
                y += e * x[j];
            }
            total += (y / z).powi(2);
            for j in i + 1..starts[q + 1] {
                for k in j + 1..starts[q + 1] {
                    total += (x[i] - x[j]) * (x[j] - x[k]).cos() * x[k];
                }
            }
        }
    }
    total
}

/// Groups whose numbers another array has, with bounds in the rows of a matrix, as pairs, and as
/// lengths.
#[differentiate(wrt(x))]
fn looked_up(x: &[f64], cells: &[usize], bounds: &Array2<usize>, ranges: &[(usize, usize)], lens: &[usize]) -> f64 {
    let mut total = 0.0;
    for &c in cells {
        for i in bounds[[c, 0]]..bounds[[c, 1]] {
            for j in ranges[c].0..ranges[c].1 {
                total += (x[i] * x[j]).sin();
            }
        }
        let part = &x[bounds[[c, 0]]..bounds[[c, 1]]];
        for i in 0..lens[c].min(part.len()) {
            for u in part {
                total += (u - x[i]).tanh() * part[i];
            }
        }
    }
    total
}

/// Bounds of groups, and the number of elements.
fn bounds() -> Vec<(Vec<usize>, usize)> {
    let mut all = vec![
        (vec![0], 0),
        (vec![0], 5),
        (vec![0, 0], 0),
        (vec![0, 1], 1),
        (vec![0, 0, 3, 3, 7], 7),
        (vec![1, 4, 4, 6, 9], 12),
        (vec![0, 20], 20),
        (vec![0, 16, 17, 33, 33, 40], 40),
        (vec![5, 22, 39], 41),
    ];
    all.push(((0..=30).collect(), 30));
    all.push(((0..=12).map(|i| i * (i + 1) / 2).collect(), 78));
    all
}

#[test]
fn groups_of_every_size() {
    for (starts, n) in bounds() {
        let x: Vec<f64> = (0..n).map(|i| 0.6 * (i as f64 * 1.3).sin() + 0.1).collect();
        let near = |(value, own): (f64, f64)| {
            assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "{starts:?}: {value} is not {own}");
        };
        near((pairs_value_and_grad(&x, &starts).0, pairs(&x, &starts)));
        near((slices_value_and_grad(&x, &starts).0, slices(&x, &starts)));
        near((updates_value_and_grad(&x, &starts).0, updates(&x, &starts)));
        near((ranks_value_and_grad(&x, &starts).0, ranks(&x, &starts)));
        near((weighted_value_and_grad(&x, &starts).0, weighted(&x, &starts)));
        check_grad!(ranks(&x, &starts));
        check_grad!(weighted(&x, &starts));
        let groups = starts.len() - 1;
        let cells: Vec<usize> = (0..groups).rev().chain(0..groups / 2).collect();
        let ranges: Vec<(usize, usize)> = starts.windows(2).map(|w| (w[0], w[1])).collect();
        let table = Array2::from_shape_fn((groups, 2), |(q, k)| starts[q + k]);
        let lens: Vec<usize> = (0..groups).map(|q| q * 5 % 7).collect();
        let own = looked_up(&x, &cells, &table, &ranges, &lens);
        near((looked_up_value_and_grad(&x, &cells, &table, &ranges, &lens).0, own));
        check_grad!(looked_up(&x, &cells, &table, &ranges, &lens));
        check_grad!(pairs(&x, &starts));
        check_grad!(slices(&x, &starts));
        check_grad!(updates(&x, &starts));
        // An empty group has no greatest element.
        if starts.windows(2).all(|w| w[0] < w[1]) {
            near((chained_value_and_grad(&x, &starts, 0.7).0, chained(&x, &starts, 0.7)));
            check_grad!(chained(&x, &starts, 0.7));
        }
        let rows = Array2::from_shape_fn((n, 3), |(i, k)| ((3 * i + k) as f64 * 0.7).cos());
        near((distances_value_and_grad(&rows, &starts, 0.4).0, distances(&rows, &starts, 0.4)));
        check_grad!(distances(&rows, &starts, 0.4));
        let (w, level) = (Array1::from(vec![0.3, -0.2, 0.5]), (0..n).map(|i| i * 7 % 4).collect::<Vec<usize>>());
        near((ranking_value_and_grad(&w, &rows, &level, &starts).0, ranking(&w, &rows, &level, &starts)));
        check_grad!(ranking(&w, &rows, &level, &starts));
    }
}

#[test]
fn bounds_that_fall_or_lie_outside() {
    let x = [0.3, -0.2, 0.5, 0.1];
    // A loop whose end is before its start has no steps.
    let (value, gradient) = pairs_value_and_grad(&x, &[3, 1, 4]);
    assert_eq!((value, gradient), pairs_value_and_grad(&x, &[1, 1, 4]));
    for bad in [vec![0, 5], vec![2, 4, 9]] {
        for f in [pairs_value_and_grad, |x: &[f64], starts: &[usize]| slices_value_and_grad(x, starts)] {
            assert!(std::panic::catch_unwind(|| f(&x, &bad)).is_err(), "{bad:?}");
        }
        assert!(std::panic::catch_unwind(|| pairs(&x, &bad)).is_err());
    }
}

/// A condition on the number of the step: the loop goes on where it does not hold.
#[differentiate(wrt(x))]
fn few_are_read(x: &[f64], n: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        let mut s = 0.0;
        for k in 0..n[i] {
            if k < 3 {
                s += x[k] * x[k];
            } else {
                s += x[0];
            }
        }
        total += s * s;
    }
    total
}

#[test]
fn a_loop_is_longer_than_what_a_condition_lets_it_read() {
    let (x, n) = ([0.5, 0.25, 1.5], [10, 2]);
    assert_eq!(few_are_read_value_and_grad(&x, &n).0, few_are_read(&x, &n));
    check_grad!(few_are_read(&x, &n));
}

/// Each group has a `Vec` of the elements that meet a condition.
#[differentiate(wrt(x))]
fn chosen(x: &[f64], n: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        let (mut near, mut few, mut weights) = (Vec::new(), vec![x[0]], Vec::new());
        for k in 0..n[i] {
            let v = x[k];
            if v > 0.4 {
                near.push(v * v);
            }
        }
        for k in 0..n[i] {
            if k > 3 {
                break;
            }
            few.push(x[k % 2] * x[i]);
        }
        for k in 1..n[i] {
            if k % 2 == 1 {
                weights.push(x[i] / k as f64);
            }
        }
        for (j, v) in near.iter().enumerate() {
            total = (total + v * few[j % few.len()]).sin();
        }
        for w in weights.iter().rev() {
            total = total * 0.5 + w;
        }
        total += near.len() as f64 * few.last().unwrap();
    }
    total
}

#[test]
fn vectors_of_elements_of_groups() {
    let x = [0.5, 0.25, 1.5, 0.7, -0.2, 0.45, 0.9];
    for n in [vec![7, 0, 3], vec![1, 1, 1, 2], vec![0, 6], vec![0]] {
        assert_eq!(chosen_value_and_grad(&x, &n).0, chosen(&x, &n));
        check_grad!(chosen(&x, &n));
    }
    assert!(std::panic::catch_unwind(|| chosen_value_and_grad(&x, &[8])).is_err());
}

/// The elements of a group after each of its elements.
#[differentiate(wrt(x))]
fn later(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for q in 0..starts.len() - 1 {
        for i in starts[q]..starts[q + 1] {
            for j in i + 1..starts[q + 1] {
                total += x[i] * x[j];
            }
        }
    }
    total
}

#[test]
fn a_step_that_fails_is_made_although_there_is_no_element() {
    for n in 0..3 {
        let x: Vec<f64> = (0..n).map(|i| 0.5 + i as f64).collect();
        for end in 0..5 {
            let own = std::panic::catch_unwind(|| later(&x, &[0, end])).ok();
            let found = std::panic::catch_unwind(|| later_value_and_grad(&x, &[0, end]).0).ok();
            assert_eq!(own, found, "{n} elements, to {end}");
        }
    }
}

/// The start of a group is a variable, and each step reads an element that is the same for all.
#[differentiate(wrt(x))]
fn times_one_element(x: &[f64], n: &[usize], m: usize) -> f64 {
    let (mut total, mut start) = (0.0, 0);
    for i in 0..n.len() {
        for k in start..start + n[i] {
            total += x[k] * x[m];
        }
        start += n[i];
    }
    total
}

#[test]
fn an_element_may_be_missing_if_no_group_has_items() {
    let x = [0.5, 0.25, 1.5, 0.7, -0.2, 0.45, 0.9];
    check_grad!(times_one_element(&x, &[3, 0, 4], 4));
    check_grad!(times_one_element(&x, &[0, 0], 7));
    assert!(std::panic::catch_unwind(|| times_one_element_value_and_grad(&x, &[0, 1], 7)).is_err());
    assert!(std::panic::catch_unwind(|| times_one_element_value_and_grad(&x, &[7, 1], 4)).is_err());
}

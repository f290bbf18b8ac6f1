//! Iterators over ranges whose ends an enclosing loop decides, as in `starts[i]..starts[i + 1]`.
//! They mean what the same loop means, for groups of every size.

#![allow(clippy::double_ended_iterator_last, reason = "`last` is tested")]

use ad::check_grad;
use ad::prelude::*;

/// Sums, folds and products.
#[differentiate(wrt(x), grad, jvp, hvp, hessian)]
fn sums(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..starts.len() - 1 {
        let squares = (starts[i]..starts[i + 1]).map(|a| x[a] * x[a]).sum::<f64>();
        let (p, q) = (starts[i]..starts[i + 1]).fold((1.0, 0.0), |(p, q), a| (p * x[a], q + p * x[a]));
        let product: f64 = (starts[i]..starts[i + 1]).map(|a| x[a].exp()).product();
        total += squares.sin() + p * q + product.ln_1p();
    }
    total
}

/// Conditions, counts and extrema.
#[differentiate(wrt(x))]
fn conditions(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..starts.len() - 1 {
        let group = || starts[i]..starts[i + 1];
        let greatest = group().map(|a| x[a]).fold(0.0, f64::max);
        let last = group().map(|a| x[a].exp()).max_by(|a, b| a.total_cmp(b)).unwrap_or(0.0);
        let many = group().filter(|&a| x[a] > 0.6).count() as f64;
        if group().all(|a| x[a] > 0.0) {
            total += greatest * last + many * greatest;
        } else if group().any(|a| x[a] > 0.6) {
            total -= last;
        }
    }
    total
}

/// Arrays with an element for each element of a group.
#[differentiate(wrt(x))]
fn arrays(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..starts.len() - 1 {
        let n = starts[i + 1] - starts[i];
        let w = build1(n, |a| x[starts[i] + a].exp());
        let v: Vec<f64> = (starts[i]..starts[i + 1]).map(|a| x[a].sin()).collect();
        for j in 0..v.len() {
            total += v[j] * v[v.len() - 1 - j];
        }
        total += w.sum().ln_1p();
    }
    total
}

/// Searches, of items that are indices too.
#[differentiate(wrt(x))]
fn searches(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..starts.len() - 1 {
        let group = || starts[i]..starts[i + 1];
        if let Some(a) = group().find(|&a| x[a] > 0.6) {
            total += x[a] * x[a];
        }
        if let Some(a) = group().position(|a| x[a] > 0.6) {
            total += x[starts[i]] * a as f64;
        }
        if let Some(v) = group().map(|a| x[a]).reduce(f64::max) {
            total += v * v;
        }
        if let Some(k) = group().map(|a| (a + 1) as f64).reduce(|a, b| a * 0.5 + b) {
            total += k * x[i];
        }
        if let Some(a) = group().min_by(|&a, &b| x[a].total_cmp(&x[b])) {
            total += x[a].sin();
        }
        if let Some(v) = group().map(|a| x[a]).last() {
            total += v.cos();
        }
    }
    total + (0..starts.len() - 1).flat_map(|i| (starts[i]..starts[i + 1]).map(move |a| x[a] * i as f64)).sum::<f64>()
}

/// Within iterators.
#[differentiate(wrt(x))]
fn nested(x: &[f64], starts: &[usize]) -> f64 {
    let sums: Vec<f64> =
        (0..starts.len() - 1).map(|i| (starts[i]..starts[i + 1]).map(|a| x[a] * x[a]).sum::<f64>().sin()).collect();
    sums.iter().map(|v| v * v).sum()
}

/// The body of `for_each`.
#[differentiate(wrt(x))]
fn each(x: &[f64], starts: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..starts.len() - 1 {
        let mut s = 0.0;
        (starts[i]..starts[i + 1]).for_each(|a| s += x[a] * x[a]);
        (0..starts[i]).for_each(|a| s += 0.1 * a as f64);
        total += s.sin();
    }
    total
}

#[test]
fn iterators_over_groups_are_the_loops_over_them() {
    let x = [0.5, 0.7, 0.3, 1.1, 0.9, 0.2, -0.4];
    for starts in [vec![0, 3, 3, 5, 7], vec![0, 7], vec![2, 3], vec![0, 0, 1, 2, 6]] {
        check_grad!(sums(&x, &starts));
        check_grad!(conditions(&x, &starts));
        check_grad!(arrays(&x, &starts));
        check_grad!(searches(&x, &starts));
        check_grad!(nested(&x, &starts));
        check_grad!(each(&x, &starts));
    }
}

/// Adapters, and loops and iterators inside of closures.
#[differentiate(wrt(x))]
fn adapters(x: &[f64], n: &[usize], m: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        total += (0..n[i]).fold(0.0, |s, k| {
            let mut u = 0.0;
            for b in 0..m[k % m.len()] {
                u += x[b] * x[i];
            }
            s * 0.5 + u + (0..2).map(|c| x[c]).sum::<f64>()
        });
        total += (0..n[i]).map(|k| (0..m[k % m.len()]).map(|b| x[b] * k as f64).sum::<f64>()).sum::<f64>();
        total += (0..n[i]).rev().map(|k| x[k % 3]).sum::<f64>().sin();
        total += (0..n[i]).map(|k| if x[i] > 0.45 { x[k] } else { 1.0 + x[i] }).sum::<f64>().cos();
        total += (0..n[i]).zip(x.iter()).map(|(k, v)| v * k as f64).sum::<f64>();
        total += (0..n[i]).step_by(2).map(|k| x[k % 4]).sum::<f64>();
        total += (0..n[i]).skip(1).take(2).map(|k| x[k % 4]).sum::<f64>();
        total += (0..n[i]).enumerate().map(|(j, k)| x[k % 4] * j as f64).sum::<f64>();
    }
    total
}

#[test]
fn adapters_of_groups() {
    let x = [0.5, 0.7, 0.3, 1.1, 0.9, 0.2, -0.4];
    check_grad!(adapters(&x, &[3, 0, 9, 1], &[1, 3, 0]));
}

/// No element of an array is certainly read, so nothing bounds the number of items.
#[differentiate(wrt(x))]
fn unbounded(x: &[f64], n: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let harmonic = (0..n[i]).map(|k| x[i].powi(2) / (1.0 + k as f64)).sum::<f64>();
        let product = (0..n[i]).map(|k| x[i] / (1.0 + k as f64)).product::<f64>();
        let folded = (0..n[i]).map(|k| x[i] / (1.0 + k as f64)).fold(0.0, |a, b| a * 0.5 + b);
        let even = (0..n[i]).filter(|&k| k % 2 == 0).count() as f64;
        let odd: f64 = (0..n[i]).map(|k| if k % 2 == 1 { x[k] } else { 0.5 * x[i] }).sum();
        if (0..n[i]).all(|k| x[i] > 0.1 * k as f64) {
            total += x[i].exp();
        }
        if let Some(k) = (0..n[i]).find(|&k| x[i] * k as f64 > 0.55) {
            total += x[i] / (1.0 + k as f64);
        }
        if let Some(v) = (0..n[i]).map(|k| x[i].powi(2) * k as f64).find(|&v| v > 0.4) {
            total += v.sin();
        }
        total += (0..n[i]).map(|k| k * k).position(|q| q > i).map_or(x[0], |p| x[i] * p as f64);
        total += harmonic.sin() + product * folded + even * x[i] + odd * odd;
    }
    total
}

#[test]
fn a_step_tests_for_the_end_if_nothing_bounds_the_items() {
    let x = [0.5, 0.7, 0.3, 1.1, 0.9, 0.2, -0.4];
    check_grad!(unbounded(&x, &[3, 0, 5, 1, 2, 2, 0]));
    check_grad!(unbounded(&x, &[0, 0, 0, 0, 0, 0, 7]));
}

/// The numbers of items that are not reached do not matter.
#[differentiate(wrt(x))]
fn guarded(x: &[f64], n: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        if n[i] < 1000 {
            total += (0..n[i]).map(|k| x[i] / (1.0 + k as f64)).sum::<f64>();
            total += (0..n[i]).map(|k| x[k]).sum::<f64>();
            total += build1(n[i], |k| x[k] * x[k]).sum();
        }
    }
    total
}

#[test]
fn groups_that_are_not_reached_may_be_of_any_size() {
    check_grad!(guarded(&[0.5, 0.7, 0.3, 1.1, 0.9], &[3, usize::MAX, 2, 1 << 40, 5]));
}

#[test]
#[should_panic(expected = "index out of range")]
fn an_item_out_of_range_panics() {
    guarded_grad(&[0.5, 0.1, 0.2], &[4, 1, 1]);
}

/// `any` stops before it reads out of range.
#[differentiate(wrt(x))]
fn stops(x: &[f64], n: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        if (0..n[i]).any(|k| x[k] > 0.6) {
            total += x[i] * x[i];
        }
    }
    total
}

#[test]
fn any_may_stop_before_the_end() {
    check_grad!(stops(&[0.9, 0.1, 0.2], &[1, 100, 1]));
}

#[test]
#[should_panic(expected = "index out of range")]
fn any_does_not_stop_if_no_item_decides() {
    stops_grad(&[0.5, 0.1, 0.2], &[1, 100, 1]);
}

/// A condition on an item: the iterator goes on where it does not hold.
#[differentiate(wrt(x))]
fn few_are_read(x: &[f64], n: &[usize]) -> f64 {
    (0..n.len()).map(|i| (0..n[i]).map(|k| if k < 2 { x[k] } else { x[1] * x[1] }).sum::<f64>()).sum()
}

#[test]
fn an_iterator_is_longer_than_what_a_condition_lets_it_read() {
    check_grad!(few_are_read(&[0.5, 0.25, 1.5], &[10, 2]));
}

/// The median of each group: a copy of the group is sorted.
#[differentiate(grad, jvp, wrt(x))]
fn medians(x: &[f64], starts: &[usize]) -> f64 {
    let mut t = 0.0;
    for g in 0..starts.len() - 1 {
        let mut v = x[starts[g]..starts[g + 1]].to_vec();
        v.sort_by(|a, b| a.partial_cmp(b).unwrap());
        t += if v.len() % 2 == 1 { v[v.len() / 2] } else { v[v.len() / 2 - 1] * v[v.len() / 2] };
    }
    t
}

#[test]
fn copies_of_groups_are_sorted() {
    let x = [0.7, 0.2, 0.9, 0.4, 0.1, 0.3, 0.8, 0.6];
    ad::check_grad!(medians(&x, &[0, 3, 4, 8]));
    assert!((medians(&x, &[0, 3, 4, 8]) - medians_value_and_grad(&x, &[0, 3, 4, 8]).0).abs() < 1e-15);
}

/// The positions in a group, in descending order of their elements.
#[differentiate(grad, jvp, wrt(x))]
fn ranked(x: &[f64], starts: &[usize]) -> f64 {
    let mut t = 0.0;
    for g in 0..starts.len() - 1 {
        let group = &x[starts[g]..starts[g + 1]];
        let mut order: Vec<usize> = group.iter().enumerate().map(|(i, _)| i).collect();
        order.sort_by(|&i, &j| group[j].partial_cmp(&group[i]).unwrap());
        for (rank, &i) in order.iter().enumerate() {
            t += group[i] * group[i] / (1.0 + rank as f64);
        }
    }
    t
}

#[test]
fn positions_in_groups_are_sorted() {
    let x = [0.7, 0.2, 0.9, 0.4, 0.1, 0.3, 0.8, 0.6];
    ad::check_grad!(ranked(&x, &[0, 3, 3, 4, 8]));
    assert!((ranked(&x, &[0, 3, 3, 4, 8]) - ranked_value_and_grad(&x, &[0, 3, 3, 4, 8]).0).abs() < 1e-15);
}

/// A vector of the positions in a group, and an array of the size of the group.
#[differentiate(grad, jvp, wrt(x))]
fn arrays_of_groups(x: &[f64], starts: &[usize]) -> f64 {
    let mut t = 0.0;
    for g in 0..starts.len() - 1 {
        let at: Vec<usize> = (starts[g]..starts[g + 1]).collect();
        let mut z = vec![0.0; starts[g + 1] - starts[g]];
        for k in 0..at.len() {
            z[k] = x[at[k]] * x[g];
        }
        for k in 0..z.len() {
            t += z[k] * z[z.len() - 1 - k];
        }
    }
    t
}

#[test]
fn arrays_are_as_large_as_a_group() {
    let x = [0.7, 0.2, 0.9, 0.4, 0.1, 0.3, 0.8, 0.6];
    ad::check_grad!(arrays_of_groups(&x, &[0, 3, 3, 4, 8]));
    assert!((arrays_of_groups(&x, &[1, 3, 8]) - arrays_of_groups_value_and_grad(&x, &[1, 3, 8]).0).abs() < 1e-15);
}

#[test]
#[should_panic(expected = "index out of range")]
fn an_array_of_a_group_that_is_too_long() {
    arrays_of_groups_grad(&[0.5; 4], &[0, 3, 6]);
}

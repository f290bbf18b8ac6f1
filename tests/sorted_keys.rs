//! Sorting by keys, and comparisons that are values: the order is std's, also of equal elements,
//! and gradients are those of central differences.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use std::cmp::Ordering;

use ad::prelude::*;

/// The mean of the worst twentieth.
#[differentiate(grad, hvp)]
fn shortfall(x: &[f64], w: &[f64]) -> f64 {
    let mut losses: Vec<f64> = (0..x.len()).map(|i| x[i] * w[i] * w[i]).collect();
    losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let k = (losses.len() / 20).max(1);
    losses[..k].iter().sum::<f64>() / k as f64
}

/// Indices in the order of the numbers at them.
#[differentiate(grad, jvp)]
fn by_index(x: &[f64], w: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&i, &j| x[i].total_cmp(&x[j]));
    order.iter().enumerate().map(|(rank, &i)| w[i] * x[i] * (rank + 1) as f64).sum()
}

/// Pairs by the first part, descending, and then by the second, ascending.
#[differentiate]
fn two_keys(group: &[usize], x: &[f64]) -> f64 {
    let mut items: Vec<(usize, f64)> = group.iter().zip(x).map(|(&g, &x)| (g, x)).collect();
    items.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal)));
    items.iter().enumerate().map(|(i, item)| item.1 * item.1 * (i + 1) as f64 + item.0 as f64).sum()
}

/// A closure with a condition has no keys.
#[differentiate]
fn chosen(group: &[usize], x: &[f64]) -> f64 {
    let mut items: Vec<(usize, f64)> = group.iter().zip(x).map(|(&g, &x)| (g, x)).collect();
    items.sort_by(|a, b| if a.0 != b.0 { a.0.cmp(&b.0) } else { b.1.partial_cmp(&a.1).unwrap() });
    items.iter().enumerate().map(|(i, item)| item.1 * item.1 * (i + 1) as f64).sum()
}

/// As many elements as a loop pushes.
#[differentiate]
fn pushed(x: &[f64], bound: f64) -> f64 {
    let mut large = Vec::new();
    for &v in x {
        if v > bound {
            large.push(v * v);
        }
    }
    large.sort_by(|a: &f64, b| b.total_cmp(a));
    let mut s = 0.0;
    for (k, v) in large.iter().enumerate() {
        s += v / (k + 1) as f64;
    }
    s
}

/// The medians of rows, each sorted in a step.
#[differentiate]
fn medians(x: &[[f64; 5]]) -> f64 {
    let mut s = 0.0;
    for row in x {
        let mut sorted = *row;
        sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
        s += sorted[2] * sorted[2] + 0.1 * sorted[4];
    }
    s
}

/// A recurrence that sorts what it carries.
#[differentiate]
fn repeated(x: &[f64], steps: usize) -> f64 {
    let mut v = x.to_vec();
    for step in 0..steps {
        v.sort_by_key(|e| (e * 3.0) as i32);
        for (i, e) in v.iter_mut().enumerate() {
            *e = (*e * 1.3 + 0.01 * (i + step) as f64).sin();
        }
    }
    v.iter().enumerate().map(|(i, e)| e * i as f64).sum()
}

fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 7919 + seed * 104_729 + 13) % 1009) as f64 / 250.0 - 2.0).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + b.abs())
}

#[test]
fn values_and_gradients() {
    for n in [0, 1, 2, 3, 7, 20, 33, 64, 101] {
        let (x, w) = (numbers(n, 1), numbers(n, 2));
        let group: Vec<usize> = (0..n).map(|i| i * i % 4).collect();
        if n > 0 {
            assert!(close(shortfall_value_and_grad(&x, &w).0, shortfall(&x, &w)));
            ad::check_grad!(shortfall(&x, &w));
        }
        ad::check_grad!(by_index(&x, &w));
        ad::check_grad!(two_keys(&group, &x));
        ad::check_grad!(chosen(&group, &x));
        ad::check_grad!(pushed(&x, 0.25));
        ad::check_grad!(repeated(&x, 3));
        assert!(close(by_index_value_and_grad(&x, &w).0, by_index(&x, &w)));
        assert!(close(two_keys_value_and_grad(&group, &x).0, two_keys(&group, &x)));
        assert!(close(chosen_value_and_grad(&group, &x).0, chosen(&group, &x)));
        assert!(close(pushed_value_and_grad(&x, 0.25).0, pushed(&x, 0.25)));
        assert!(close(repeated_value_and_grad(&x, 3).0, repeated(&x, 3)));
        let rows: Vec<[f64; 5]> = x.chunks_exact(5).map(|row| row.try_into().unwrap()).collect();
        ad::check_grad!(medians(&rows));
    }
}

/// Equal elements keep their order: zeros of both signs are equal for `partial_cmp`, and are not
/// for `total_cmp`.
#[differentiate(vjp)]
fn stable(x: &[f64]) -> Vec<f64> {
    let mut v: Vec<(f64, f64)> = x.iter().enumerate().map(|(i, &x)| (x, x + i as f64)).collect();
    v.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    v.iter().map(|p| p.1).collect()
}

#[differentiate(vjp)]
fn total(x: &[f64]) -> Vec<f64> {
    let mut v: Vec<(f64, f64)> = x.iter().enumerate().map(|(i, &x)| (x, i as f64)).collect();
    v.sort_by(|a, b| b.0.total_cmp(&a.0));
    v.iter().map(|p| p.1).collect()
}

#[test]
fn equal_elements() {
    let x = [1.0, 0.0, -0.0, 1.0, 0.0, -2.0, -0.0, 1.0];
    let seeds: Vec<f64> = (0..8).map(f64::from).collect();
    let (value, gradient) = stable_vjp(&x, &seeds);
    assert_eq!(value, stable(&x));
    assert_eq!(gradient, [5.0, 1.0, 2.0, 6.0, 3.0, 0.0, 4.0, 7.0]);
    let x = [f64::NAN, 0.0, -0.0, f64::INFINITY, -f64::NAN, f64::NEG_INFINITY, 0.0];
    assert_eq!(total_vjp(&x, &seeds[..7].to_vec()).0, total(&x));
}

/// NaN is the last one where the function says nothing about it that is an order.
#[test]
fn not_a_number() {
    let (value, _) = two_keys_value_and_grad(&[1, 1, 1], &[1.0, f64::NAN, 0.5]);
    assert!(value.is_nan());
}

#[test]
#[should_panic(expected = "unwrap of `None`")]
fn compared_with_nan() {
    let _ = shortfall_grad(&[1.0, f64::NAN], &[1.0, 1.0]);
}

#[test]
fn a_single_nan_is_not_compared() {
    assert!(shortfall_value_and_grad(&[f64::NAN], &[1.0]).0.is_nan());
}

/// The position of the largest element, where a comparison has a value for NaN.
#[differentiate]
fn largest(x: &[f64]) -> f64 {
    let best = x.iter().max_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal)).unwrap();
    let (place, least) = x.iter().enumerate().min_by(|a, b| a.1.partial_cmp(b.1).unwrap_or(Ordering::Equal)).unwrap();
    best * best + least * place as f64
}

#[test]
fn extrema() {
    let x = [0.5, 2.0, -1.0, 2.0, -1.0];
    assert_eq!(largest_value_and_grad(&x), (largest(&x), vec![0.0, 0.0, 2.0, 4.0, 0.0]));
    ad::check_grad!(largest(&[0.3, -0.7, 1.5]));
}

#[test]
#[should_panic(expected = "a comparison has a NaN: use `total_cmp`")]
fn an_extremum_with_nan() {
    let _ = largest_grad(&[0.5, f64::NAN, 1.0]);
}

//! Windows whose ends are clamped, bands and blocks, also where they are longer than the array.

#![allow(clippy::implicit_saturating_sub, clippy::needless_range_loop)]

use ad::prelude::*;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + ((i * 7) % 11) as f64 * 0.05).collect()
}

/// A local softmax.
#[differentiate(grad, jvp, hvp)]
fn local_attention(x: &[f64], back: usize) -> f64 {
    let mut t = 0.0;
    for i in 0..x.len() {
        let lo = i.saturating_sub(back);
        let (mut z, mut s) = (0.0, 0.0);
        for j in lo..=i {
            let e = (x[i] * x[j]).exp();
            z += e;
            s += e * x[j];
        }
        t += (s / z).powi(2);
    }
    t
}

#[test]
fn windows_that_end_at_the_index() {
    for n in 0..7 {
        for back in [0, 1, 3, 100] {
            ad::check_grad!(local_attention(&numbers(n), back));
        }
    }
}

#[test]
fn a_second_derivative() {
    let (x, v) = (numbers(6), vec![0.3, -0.2, 0.5, 0.1, 0.9, -0.4]);
    let shifted = |h: f64| -> Vec<f64> { x.iter().zip(&v).map(|(x, v)| x + h * v).collect() };
    let (up, down) = (local_attention_grad(&shifted(1e-5), 2), local_attention_grad(&shifted(-1e-5), 2));
    let second = local_attention_hvp(&x, 2, &v);
    for k in 0..x.len() {
        let central = (up[k] - down[k]) / 2e-5;
        assert!((second[k] - central).abs() < 1e-7, "at {k}: {} is not {central}", second[k]);
    }
}

/// The greatest element of a window around the index, by its position.
#[differentiate(grad, jvp)]
fn greatest_around(x: &[f64], by: usize) -> f64 {
    let n = x.len();
    let mut t = 0.0;
    for i in 0..n {
        let (lo, hi) = (i.saturating_sub(by), (i + by + 1).min(n));
        let mut k = lo;
        for j in lo + 1..hi {
            if x[j] > x[k] {
                k = j;
            }
        }
        t += x[k] * x[i] * (k + 1) as f64;
    }
    t
}

#[test]
fn windows_around_the_index() {
    for n in 0..8 {
        for by in [0, 1, 2, 50] {
            ad::check_grad!(greatest_around(&numbers(n), by));
        }
    }
}

/// A start by a condition, blocks, and a part as a slice.
#[differentiate(grad, jvp)]
fn several_ranges(x: &[f64], block: usize) -> f64 {
    let n = x.len();
    let mut t = 0.0;
    for i in 0..n {
        let lo = if i >= 2 { i - 2 } else { 0 };
        for j in lo..i {
            t += (x[i] * x[j]).sin();
        }
        for j in i / 4 * 4..(i / 4 * 4 + 4).min(n) {
            t += (x[i] - x[j]).exp();
        }
        let part = &x[i.saturating_sub(3)..(i + 2).min(n)];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        t += part.iter().map(|v| (v - mean).powi(2)).sum::<f64>().exp();
    }
    for start in (0..n).step_by(block) {
        for i in start..(start + block).min(n) {
            t += x[start] * x[i].cos();
        }
    }
    t
}

#[test]
fn other_ranges() {
    for n in 0..10 {
        for block in [1, 3, 20] {
            ad::check_grad!(several_ranges(&numbers(n), block));
        }
    }
}

//! Windows that move, queues and rotations: gradients of loops that carry an array which their
//! steps rotate, against difference quotients, and second derivatives.

use std::collections::VecDeque;

use ad::prelude::*;

/// The errors before.
#[differentiate(hvp)]
fn moving_average(x: &Array1<f64>, th: &[f64]) -> f64 {
    let k = th.len();
    let mut eps = vec![0.1; k];
    let mut s = 0.0;
    for t in 0..x.len() {
        let mut m = 0.0;
        for j in 0..k {
            m += th[j] * eps[k - 1 - j];
        }
        let e = x[t] - m.sin();
        eps.remove(0);
        eps.push(e);
        s += e * e;
    }
    s + eps[k - 1]
}

/// A queue of which a step takes some elements.
#[differentiate]
fn queue(x: &Array1<f64>) -> f64 {
    let mut q = Vec::new();
    let mut s = 0.5;
    for &v in x {
        q.push(v * s);
        if v > 1.0 && q.len() > 1 {
            let first = q.remove(0);
            s += first * v;
        }
        if q.len() > 2 {
            q[1] *= 0.7;
            s += q[q.len() - 1].sin();
        }
    }
    for &v in &q {
        s += v * v;
    }
    s
}

/// An array is rotated by a number of places that depends on the step; an inner loop reads all of
/// it.
#[differentiate]
fn rotations(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    let mut s = 0.0;
    for i in 0..2 * n {
        a.rotate_left(i % n);
        a[0] = a[0].sin() + s * 0.1;
        a.rotate_right(1);
        let mut p = 1.0;
        for (j, &v) in a.iter().enumerate() {
            p = 0.5 * p * v + (j as f64) * 0.1;
        }
        s += p * a[n / 2];
    }
    s + a[0] - a[n - 1]
}

/// An array is rotated by an inner loop, which also reads it, and is replaced now and then.
#[differentiate]
fn nested(x: &Array1<f64>) -> f64 {
    let mut w = x.to_vec();
    let mut s = 0.3;
    for i in 0..x.len() {
        for j in 0..3 {
            w.rotate_left(1);
            s += w[0] * x[i];
            w[j % x.len()] = s.cos();
        }
        if i % 4 == 3 {
            w = x.to_vec();
        }
    }
    s + w[0]
}

/// A moving sum by a queue, which is full from the element `k` on.
#[differentiate(wrt(x))]
fn moving_sum(x: &Array1<f64>, k: usize) -> f64 {
    let mut q: VecDeque<f64> = VecDeque::new();
    let (mut sum, mut s) = (0.0, 0.0);
    for &v in x {
        q.push_back(v * v);
        sum += v * v;
        if q.len() > k {
            sum -= 0.5 * q.pop_front().unwrap();
        }
        s += sum.sin();
        if let Some(first) = q.front() {
            s += first * q[q.len() - 1];
        }
    }
    s + q.iter().map(|v| v * v).sum::<f64>() + q.back().copied().unwrap_or(0.0)
}

/// Both ends of a queue, in a loop and outside of one.
#[differentiate]
fn both_ends(x: &Array1<f64>) -> f64 {
    let mut q = VecDeque::from(x.to_vec());
    q.push_front(0.3);
    let mut s = 0.0;
    for &v in x {
        if v > 1.0 {
            q.push_front(v.sin());
            s += q.pop_back().unwrap();
        } else {
            q.push_back(s);
            q[0] *= 0.9;
        }
        s += q[0] * q[q.len() / 2];
    }
    while let Some(v) = q.pop_front() {
        s = 0.9 * s + v * v;
    }
    s
}

/// The first element is taken in each step, as in a breadth-first search.
#[differentiate]
fn breadth(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut q = VecDeque::with_capacity(4 * n + 4);
    q.push_back(0);
    let mut s: f64 = 0.0;
    while let Some(at) = q.pop_front() {
        s += x[at % n] * s.cos();
        for child in [2 * at + 1, 2 * at + 2] {
            if child < n {
                q.push_back(child);
            }
        }
    }
    s
}

fn numbers(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 0.4 + 0.37 * ((i * 7 + 3) % 11) as f64 / 3.0)
}

#[test]
fn gradients_of_windows_are_difference_quotients() {
    for n in [1, 2, 3, 8, 21] {
        let x = numbers(n);
        for k in [1, 2, 4, 9] {
            ad::check_grad!(moving_average(&x, &numbers(k).to_vec()));
        }
        ad::check_grad!(queue(&x));
        ad::check_grad!(rotations(&x));
        ad::check_grad!(nested(&x));
        ad::check_grad!(moving_sum(&x, 4));
        ad::check_grad!(both_ends(&x));
        ad::check_grad!(breadth(&x));
    }
}

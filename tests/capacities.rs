//! The capacity of a `Vec` that the program states bounds its length, also after loops that push.

#![allow(clippy::needless_range_loop, clippy::vec_init_then_push)]

use ad::prelude::*;

/// Kahn's algorithm: the loop before the `while` pushes to the `Vec` whose capacity is stated.
#[differentiate(grad, jvp, wrt(w))]
fn longest_of_a_graph(w: &[f64], from: &[usize], to: &[usize], n: usize) -> f64 {
    let mut degree = vec![0; n];
    for &v in to {
        degree[v] += 1;
    }
    let mut queue = Vec::with_capacity(n);
    for i in 0..n {
        if degree[i] == 0 {
            queue.push(i);
        }
    }
    let mut dist = vec![0.0; n];
    let mut head = 0;
    while head < queue.len() {
        let u = queue[head];
        head += 1;
        for e in 0..from.len() {
            if from[e] == u {
                let v = to[e];
                dist[v] += (dist[u] + w[e]).sin();
                degree[v] -= 1;
                if degree[v] == 0 {
                    queue.push(v);
                }
            }
        }
    }
    dist[n - 1]
}

#[test]
fn a_stated_capacity_holds_after_a_loop_that_pushes() {
    ad::check_grad!(longest_of_a_graph(&[0.3, 0.4, 0.1, 0.7, 0.2], &[0, 0, 1, 2, 1], &[1, 2, 3, 3, 2], 4));
}

/// Each step of the first loop pushes.
#[differentiate(grad, jvp)]
fn all_at_first(x: &[f64]) -> f64 {
    let mut left = Vec::with_capacity(3 * x.len());
    for i in 0..x.len() {
        left.push(i);
    }
    let mut s = 0.0;
    while let Some(i) = left.pop() {
        s += x[i] * x[i].sin();
        if i >= 2 && i % 2 == 0 {
            left.push(i / 2);
        }
    }
    s
}

#[test]
fn a_stated_capacity_holds_after_a_loop_that_pushes_in_each_step() {
    ad::check_grad!(all_at_first(&[0.3, 0.4, 0.1, 0.7, 0.2]));
}

/// A loop and a condition push before the `while`.
#[differentiate(grad, jvp)]
fn more_after_a_loop(x: &[f64]) -> f64 {
    let mut left: Vec<usize> = Vec::with_capacity(4 * x.len());
    for i in 0..x.len() {
        left.push(i);
    }
    if x[0] > 0.0 {
        left.push(1);
    }
    let mut s = 0.0;
    while let Some(i) = left.pop() {
        s += x[i] * x[i].sin();
        if i >= 2 && i % 2 == 0 {
            left.push(i / 2);
        }
    }
    s
}

#[test]
fn a_stated_capacity_holds_after_a_condition_that_pushes() {
    ad::check_grad!(more_after_a_loop(&[0.3, 0.4, 0.1, 0.7, 0.2]));
    ad::check_grad!(more_after_a_loop(&[-0.3, 0.4, 0.1, 0.7, 0.2]));
}

/// The annotation gives the type of the elements, and literals get it.
#[differentiate(grad, jvp)]
fn literals_in_an_annotated_vector(x: &[f64]) -> f64 {
    let mut q: Vec<usize> = Vec::with_capacity(x.len());
    if x.len() > 4 {
        q.push(4);
    }
    q.push(0);
    let mut t = 0.0;
    for &v in x {
        t += v * x[q[0]];
    }
    while let Some(u) = q.pop() {
        t += x[u] * x[u];
        if 3 * u + 6 < x.len() {
            q.push(2 * u + 1);
        }
    }
    t
}

#[test]
fn literals_have_the_annotated_type() {
    ad::check_grad!(literals_in_an_annotated_vector(&[0.3, 0.4, 0.1]));
    ad::check_grad!(literals_in_an_annotated_vector(&[0.3, 0.4, 0.1, 0.7, 0.2, 0.9, 0.5]));
}

/// An inner loop pushes to a `Vec` that was empty when it began.
#[differentiate(grad, jvp)]
fn one_stack_for_all_starts(x: &[f64]) -> f64 {
    let n = x.len();
    let mut st: Vec<usize> = Vec::with_capacity(n + 8);
    let mut t = 0.0;
    for s in 0..n {
        st.push(s);
        while let Some(u) = st.pop() {
            t += x[u] * x[s];
            for v in [u + 1, u + 2] {
                if u % 4 == 2 && v < n {
                    st.push(v);
                }
            }
        }
    }
    t
}

#[test]
fn an_empty_vector_has_the_annotated_type() {
    ad::check_grad!(one_stack_for_all_starts(&[0.3, 0.4, 0.1, 0.7, 0.2, 0.9, 0.5]));
}

//! Functions that call themselves with several arrays and numbers, or with parts of arrays: the
//! reverse half of a call adds to arrays of its caller.

use ad::ndarray::{Array1, Array2, ArrayView1, array, s};
use ad::{check_grad, differentiate};

#[differentiate(grad, jvp, pullback, jacobian, into)]
fn passed_on(x: &[f64], w: &Array1<f64>, scale: f64, n: usize) -> f64 {
    if n == 0 {
        return scale;
    }
    (x[n % x.len()] * scale).sin() + w[n % w.len()] * passed_on(x, w, scale * 0.9, n - 1)
}

#[differentiate(grad, vjp)]
fn one_array_twice(x: &[f64], y: &[f64], n: usize) -> f64 {
    if n == 0 { x[0] * y[1] } else { one_array_twice(x, x, n - 1) * y[n % y.len()] + one_array_twice(y, x, n - 1) }
}

#[differentiate]
fn swapped(x: &[f64], y: &[f64], n: usize) -> f64 {
    let own = x[n % x.len()].sin();
    if n == 0 { own } else { own * swapped(y, x, n - 1) + y[0] }
}

#[test]
fn several_arrays_and_numbers() {
    let (x, w) = ([0.4, -0.3, 0.7], array![0.8, 1.1]);
    for n in [0, 1, 2, 7] {
        check_grad!(passed_on(&x, &w, 0.8, n));
        check_grad!(swapped(&x, &[0.5, 0.25], n));
        check_grad!(one_array_twice(&x, &[0.5, 0.25, -0.5], n.min(4)));
    }
    let (_, back) = passed_on_pullback(&x, &w, 0.8, 5);
    assert_eq!(back(1.0), back(1.0), "a pullback adds to arrays of its own");
}

#[differentiate]
fn states(w: &[f64], v: &Array1<f64>, n: usize) -> f64 {
    if n == 0 {
        return v.sum();
    }
    let next = v.mapv(|v| (v * w[n % w.len()]).sin());
    let both = states(w, &next, n - 1) + v[0] * w[0];
    if n == 2 { both * states(w, v, n - 1) } else { both }
}

#[differentiate]
fn in_a_loop(x: &[f64], w: &[f64], depth: usize) -> f64 {
    fn tree(x: &[f64], w: &[f64], at: f64, depth: usize) -> f64 {
        let mut sum = at * x[depth];
        for k in 0..depth {
            if x[k] > -0.5 {
                sum += w[k] * tree(x, w, at * x[k], k);
            }
        }
        sum
    }
    let mut total = 0.0;
    for (k, &v) in x.iter().enumerate() {
        total = total * 0.5 + tree(x, w, v, k.min(depth));
    }
    total
}

#[differentiate]
fn in_a_build(x: &Array1<f64>, w: &[f64]) -> f64 {
    fn tower(x: f64, w: &[f64], n: usize) -> f64 {
        if n == 0 { x } else { tower((x * w[n % w.len()]).sin(), w, n - 1) * x }
    }
    let all: Array1<f64> = x.iter().enumerate().map(|(i, &v)| if v > 0.0 { tower(v, w, i) } else { v }).collect();
    all.dot(x)
}

#[test]
fn arrays_that_change_and_calls_in_loops() {
    let x = [0.4, -0.3, 0.7, -0.8, 0.6];
    for n in [0, 1, 2, 4] {
        check_grad!(states(&x, &array![0.2, -0.3, 0.5], n));
        check_grad!(in_a_loop(&x, &[0.5, 0.25, 0.8, -0.4, 0.3], n));
    }
    check_grad!(in_a_build(&array![0.3, -0.7, 1.1, 0.9, -0.2, 0.4], &[0.9, 1.1]));
}

#[differentiate(grad, jvp, into)]
fn parts(x: &[f64], at: f64) -> f64 {
    match x {
        [] => at * at,
        [only] => only.sin() * at,
        [first, rest @ ..] => first * parts(rest, at * 0.9) + parts(&rest[..rest.len() / 2], at),
    }
}

#[differentiate]
fn parts_of_two(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len();
    if n < 2 {
        return x.iter().sum::<f64>() * (0.5 + y.iter().sum::<f64>());
    }
    let m = n / 2;
    let (a, b): (f64, f64) = (x[..m].iter().sum(), y[m..].iter().sum());
    a * b + parts_of_two(&x[..m], &y[m..]) * parts_of_two(&y[m..], &x[..m])
}

#[differentiate]
fn parts_of_an_ndarray(x: &Array1<f64>, a: &Array2<f64>) -> f64 {
    fn walked(x: ArrayView1<f64>, a: &Array2<f64>) -> f64 {
        if x.is_empty() { 1.0 } else { x[0] * a[[0, x.len() % 2]] + walked(x.slice(s![1..]), a).sin() }
    }
    fn every_other(x: ArrayView1<f64>) -> f64 {
        if x.len() < 2 { x.sum() } else { every_other(x.slice(s![..;2])) * every_other(x.slice(s![1..;2])) }
    }
    walked(x.view(), a) + every_other(x.view())
}

#[test]
fn parts_of_arrays() {
    let x = [0.4, -0.3, 0.7, 1.1, -0.6, 0.2, 0.9];
    for n in [0, 1, 2, 3, 7] {
        check_grad!(parts(&x[..n], 0.8));
        let y: Vec<f64> = x.iter().map(|v| 0.5 - v).collect();
        check_grad!(parts_of_two(&x[..n], &y[..n.max(1)]));
        check_grad!(parts_of_an_ndarray(&Array1::from(x[..n].to_vec()), &array![[0.7, 0.3]]));
    }
}

#[differentiate(grad, jacobian, vjp)]
fn numbers(x: f64, y: f64, n: usize) -> f64 {
    if n < 2 { x * y } else { numbers(x + y, 0.5 * y, n - 1) * x.cos() + numbers(y, x, n - 2) }
}

#[test]
fn numbers_alone() {
    for n in [0, 2, 3, 9] {
        check_grad!(numbers(0.6, 0.8, n));
    }
}

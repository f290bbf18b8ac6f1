//! Functions that call themselves and return arrays: the sizes of a result follow from the sizes
//! and integers that are passed.

#![allow(clippy::manual_is_multiple_of, clippy::needless_range_loop, reason = "loops and tests as people write them")]

use ad::prelude::*;
use ad::{check_grad, differentiate};

#[differentiate(grad, jvp, vjp, pullback)]
fn spectrum(re: &[f64], im: &[f64]) -> f64 {
    fn fft(re: &[f64], im: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = re.len();
        if n == 1 {
            return (re.to_vec(), im.to_vec());
        }
        let half = n / 2;
        let even = |x: &[f64]| (0..half).map(|k| x[2 * k]).collect::<Vec<f64>>();
        let odd = |x: &[f64]| (0..half).map(|k| x[2 * k + 1]).collect::<Vec<f64>>();
        let (er, ei) = fft(&even(re), &even(im));
        let (or, oi) = fft(&odd(re), &odd(im));
        let mut out_re = vec![0.0; n];
        let mut out_im = vec![0.0; n];
        for k in 0..half {
            let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
            let (s, c) = angle.sin_cos();
            let (tr, ti) = (c * or[k] - s * oi[k], s * or[k] + c * oi[k]);
            out_re[k] = er[k] + tr;
            out_im[k] = ei[k] + ti;
            out_re[k + half] = er[k] - tr;
            out_im[k + half] = ei[k] - ti;
        }
        (out_re, out_im)
    }
    let (a, b) = fft(re, im);
    a.iter().zip(&b).enumerate().map(|(k, (a, b))| (a * a + b * b) * k as f64).sum()
}

#[differentiate]
fn doubling(x: &Array1<f64>, n: usize) -> f64 {
    fn smooth(x: &Array1<f64>, n: usize) -> Array1<f64> {
        if n == 0 { x.clone() } else { smooth(&x.mapv(f64::sin), n - 1) * 0.5 + x }
    }
    smooth(x, n).sum()
}

#[differentiate]
fn scanned(x: &[f64]) -> f64 {
    fn sums(x: &[f64]) -> Vec<f64> {
        let n = x.len();
        if n < 2 {
            return x.to_vec();
        }
        let (a, b) = (sums(&x[..n / 2]), sums(&x[n / 2..]));
        let last = a[a.len() - 1];
        let mut out = vec![0.0; n];
        for k in 0..n {
            out[k] = if k < n / 2 { a[k] } else { last + b[k - n / 2] };
        }
        out
    }
    sums(x).iter().map(|s| s.sin()).sum()
}

#[differentiate(vjp, jvp, jacobian)]
fn merged(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n < 2 {
        return x.to_vec();
    }
    let (a, b) = (merged(&x[..n / 2]), merged(&x[n / 2..]));
    let (mut i, mut j) = (0, 0);
    let mut out = vec![0.0; n];
    for k in 0..n {
        if j == b.len() || (i < a.len() && a[i] <= b[j]) {
            out[k] = a[i] * 1.5;
            i += 1;
        } else {
            out[k] = b[j];
            j += 1;
        }
    }
    out
}

#[differentiate]
fn of_power(a: &Array2<f64>, n: usize) -> f64 {
    fn power(a: &Array2<f64>, n: usize) -> Array2<f64> {
        if n == 0 {
            Array2::eye(a.nrows())
        } else if n % 2 == 0 {
            let h = power(a, n / 2);
            h.dot(&h)
        } else {
            a.dot(&power(a, n - 1))
        }
    }
    power(a, n).mapv(f64::sin).sum()
}

#[differentiate(vjp, jvp, jacobian)]
fn karatsuba(a: &[f64], b: &[f64]) -> Vec<f64> {
    fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
        let n = a.len();
        let mut out = vec![0.0; 2 * n];
        if n <= 2 {
            for i in 0..n {
                for j in 0..n {
                    out[i + j] += a[i] * b[j];
                }
            }
            return out;
        }
        let h = n / 2;
        let low = product(&a[..h], &b[..h]);
        let high = product(&a[h..], &b[h..]);
        let sa: Vec<f64> = (0..h).map(|i| a[i] + a[h + i]).collect();
        let sb: Vec<f64> = (0..h).map(|i| b[i] + b[h + i]).collect();
        let mid = product(&sa, &sb);
        for i in 0..2 * h {
            out[i] += low[i];
            out[i + 2 * h] += high[i];
            out[i + h] += mid[i] - low[i] - high[i];
        }
        out
    }
    product(a, b)
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Tree {
    Leaf(usize),
    Node(Box<Tree>, Box<Tree>),
}

#[differentiate(wrt(words, w))]
fn encoded(t: &Tree, words: &Array2<f64>, w: &Array2<f64>) -> f64 {
    fn embed(t: &Tree, words: &Array2<f64>, w: &Array2<f64>) -> Array1<f64> {
        match t {
            Tree::Leaf(k) => words.row(*k).to_owned(),
            Tree::Node(a, b) => w.dot(&(embed(a, words, w) + embed(b, words, w))).mapv(f64::tanh),
        }
    }
    let e = embed(t, words, w);
    e.dot(&e)
}

#[differentiate]
mod forest {
    use ad::prelude::*;

    pub fn even(x: &Array1<f64>, n: usize) -> Array1<f64> {
        if n == 0 { x.clone() } else { odd(&(x * 0.9), n - 1).mapv(f64::sin) }
    }
    pub fn odd(x: &Array1<f64>, n: usize) -> Array1<f64> {
        if n == 0 { x.mapv(f64::cos) } else { even(x, n - 1) * x }
    }
    #[differentiate]
    pub fn both(x: &Array1<f64>, n: usize) -> f64 {
        even(x, n).dot(&odd(x, n + 1))
    }
}

#[differentiate(vjp, jvp)]
fn norms(x: &Array1<f64>, n: usize) -> (f64, Array1<f64>) {
    fn step(x: &Array1<f64>, n: usize) -> (f64, Array1<f64>) {
        if n == 0 {
            return (x.sum(), x.clone());
        }
        let (s, y) = step(&x.mapv(f64::sin), n - 1);
        (s + y.dot(x), &y * s)
    }
    step(x, n)
}

#[differentiate]
fn in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    fn smooth(x: &Array1<f64>, n: usize) -> Array1<f64> {
        if n == 0 { x.clone() } else { smooth(&x.mapv(f64::sin), n - 1) * 0.5 + x }
    }
    let mut s = 0.0;
    let mut y = x.clone();
    for k in 0..n {
        y = smooth(&y, k) * 0.3;
        s += y.sum();
    }
    s
}

#[differentiate]
fn in_a_build(x: &Array2<f64>) -> f64 {
    fn smooth(x: &Array1<f64>, n: usize) -> Array1<f64> {
        if n == 0 { x.clone() } else { smooth(&x.mapv(f64::sin), n - 1) * 0.5 + x }
    }
    build1(x.nrows(), |i| smooth(&x.row(i).to_owned(), i).sum().sin()).sum()
}

#[differentiate(jvp, vjp, grad)]
fn generic<T: ad::Real>(x: &[T], n: usize) -> T {
    fn haar<T: ad::Real>(x: &[T]) -> Vec<T> {
        let n = x.len();
        if n < 2 {
            return x.to_vec();
        }
        let half = n / 2;
        let mean: Vec<T> = (0..half).map(|k| x[2 * k] + x[2 * k + 1]).collect();
        let low = haar(&mean);
        (0..n).map(|k| if k < half { low[k] } else { x[2 * (k - half)] - x[2 * (k - half) + 1] }).collect()
    }
    haar(x)[n].sin()
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct State {
    at: Array1<f64>,
    energy: f64,
}

#[differentiate]
impl State {
    fn moved(&self, n: usize) -> State {
        if n == 0 {
            return self.clone();
        }
        let half = State { at: self.at.mapv(|v| v - 0.1 * v.sin()), energy: self.energy + self.at.sum() };
        half.moved(n - 1)
    }
    #[differentiate]
    fn total(&self, n: usize) -> f64 {
        let s = self.moved(n);
        s.energy * s.at.dot(&self.at)
    }
}

#[differentiate]
fn cumulated(x: &[f64]) -> f64 {
    fn sums(x: &[f64]) -> Vec<f64> {
        if x.is_empty() {
            return vec![];
        }
        let mut v = sums(&x[..x.len() - 1]);
        let last = if v.is_empty() { 0.0 } else { v[v.len() - 1] };
        v.push(last * 0.5 + x[x.len() - 1]);
        v
    }
    sums(x).iter().map(|v| v * v).sum()
}

#[differentiate(vjp, jvp, jacobian)]
fn chebyshev(x: f64, n: usize) -> Vec<f64> {
    if n == 0 {
        return vec![1.0];
    }
    let mut all = chebyshev(x, n - 1);
    let last = all[n - 1];
    let next = if n == 1 { x } else { 2.0 * x * last - all[n - 2] };
    all.push(next);
    all
}

#[differentiate(vjp, jvp)]
fn from_front(x: &[f64], a: f64) -> Vec<f64> {
    match x {
        [] => Vec::new(),
        [first, rest @ ..] => {
            let mut all = vec![first * a];
            all.extend(from_front(rest, a * first));
            all
        }
    }
}

#[differentiate]
fn sorted(x: &[f64]) -> f64 {
    fn sort(x: &[f64]) -> Vec<f64> {
        if x.len() <= 1 {
            return x.to_vec();
        }
        let (a, b) = x.split_at(x.len() / 2);
        let (a, b) = (sort(a), sort(b));
        let mut out = Vec::with_capacity(x.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] <= b[j] {
                out.push(a[i]);
                i += 1;
            } else {
                out.push(b[j]);
                j += 1;
            }
        }
        out.extend_from_slice(&a[i..]);
        out.extend_from_slice(&b[j..]);
        out
    }
    sort(x).iter().enumerate().map(|(k, v)| v * (k as f64).sin()).sum()
}

/// Calls that only move numbers. Their cotangents may be zero since an arm is not taken.
#[differentiate(grad, jvp)]
fn seldom_read(x: &[f64]) -> f64 {
    fn turned(x: &[f64]) -> Vec<f64> {
        if x.len() < 2 {
            return x.to_vec();
        }
        let (a, b) = (turned(&x[..x.len() / 2]), turned(&x[x.len() / 2..]));
        let mut out = b;
        out.extend_from_slice(&a);
        out
    }
    let (y, mut s) = (turned(x), 0.0);
    for k in 0..y.len() {
        s += if y[k].abs() < 10.0 { y[k] * y[k] * (k + 1) as f64 } else { 0.0 };
    }
    s
}

/// The size of the result follows from no condition that a call knows.
#[differentiate(vjp, jvp)]
fn chosen(x: &[f64], y: &[f64], n: usize) -> Vec<f64> {
    if x[0] > 0.5 {
        x.to_vec()
    } else if n == 0 {
        y.to_vec()
    } else {
        chosen(y, x, n - 1).iter().map(|v| v * x[0]).collect()
    }
}

#[test]
fn a_fourier_transform() {
    for n in [1, 2, 8] {
        let re: Vec<f64> = (0..n).map(|k| 0.3 + 0.2 * f64::from(k * k % 5)).collect();
        let im: Vec<f64> = (0..n).map(|k| 0.1 - 0.3 * f64::from(k * 3 % 4)).collect();
        check_grad!(spectrum(&re, &im));
        let energy = |k: usize| {
            let turn = |j: usize| -2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64;
            let parts = (0..n as usize).map(|j| (turn(j).sin_cos(), re[j], im[j]));
            let (a, b) = parts.fold((0.0, 0.0), |(a, b), ((s, c), x, y)| (a + c * x - s * y, b + s * x + c * y));
            (a * a + b * b) * k as f64
        };
        let own: f64 = (0..n as usize).map(energy).sum();
        assert!((spectrum_value_and_grad(&re, &im).0 - own).abs() <= 1e-9 * (1.0 + own.abs()));
    }
}

#[test]
fn arrays_of_halves_and_of_all() {
    let x = [0.7, -0.4, 1.2, 0.3, 0.9, -0.1, 0.5];
    for n in [0, 1, 2, 3, 7] {
        check_grad!(doubling(&Array1::from(x[..n].to_vec()), n));
        check_grad!(scanned(&x[..n]));
        check_grad!(merged(&x[..n]));
    }
}

#[test]
fn powers_and_products() {
    let a = array![[0.9, 0.2], [-0.3, 1.1]];
    for n in [0, 1, 2, 5, 6] {
        check_grad!(of_power(&a, n));
    }
    let x: Vec<f64> = (0..16).map(|k| f64::from(k * 7 % 5) * 0.3 - 0.4).collect();
    for n in [1, 2, 4, 8] {
        check_grad!(karatsuba(&x[..n], &x[n..2 * n]));
        let own = |k: usize| -> f64 { (0..n).filter(|&i| i <= k && k - i < n).map(|i| x[i] * x[n + k - i]).sum() };
        let product = karatsuba(&x[..n], &x[n..2 * n]);
        let (value, _) = karatsuba_jvp(&x[..n], &x[n..2 * n], &x[..n], &x[..n]);
        assert!((0..2 * n).all(|k| (value[k] - own(k)).abs() < 1e-12 && (product[k] - own(k)).abs() < 1e-12));
        check_grad!(generic(&x[..8], n.min(7)));
    }
}

#[test]
fn vectors_of_trees() {
    let t = |a: Tree, b: Tree| Tree::Node(a.into(), b.into());
    let tree = t(t(Tree::Leaf(0), Tree::Leaf(2)), t(Tree::Leaf(1), t(Tree::Leaf(1), Tree::Leaf(0))));
    let (words, w) = (array![[0.2, -0.4], [0.5, 0.1], [-0.3, 0.6]], array![[0.9, 0.2], [-0.3, 1.1]]);
    check_grad!(encoded(&tree, &words, &w));
    check_grad!(encoded(&Tree::Leaf(1), &words, &w));
}

#[test]
fn several_functions_and_results() {
    let x = array![0.3, -0.2, 0.8];
    for n in 0..4 {
        check_grad!(forest::both(&x, n));
        check_grad!(norms(&x, n));
        check_grad!(State { at: array![0.3, 0.9], energy: 0.7 }.total(n));
    }
}

#[test]
fn calls_in_loops_and_builds() {
    for n in 0..4 {
        check_grad!(in_a_loop(&array![0.3, -0.2, 0.8], n));
    }
    check_grad!(in_a_build(&array![[0.3, 0.9], [0.1, -0.4], [0.8, 0.2]]));
}

#[test]
fn vectors_that_grow() {
    let x = [0.7, -0.4, 1.2, 0.3, 0.9, -0.1, 0.5];
    for n in 0..7 {
        check_grad!(cumulated(&x[..n]));
        check_grad!(chebyshev(0.7, n));
        check_grad!(from_front(&x[..n], 0.7));
        check_grad!(sorted(&x[..n]));
    }
}

#[test]
fn numbers_that_are_only_moved_may_be_infinite() {
    let x = [f64::INFINITY, 0.5, f64::NAN, 2.0, f64::NEG_INFINITY];
    assert_eq!(seldom_read_grad(&x), [0.0, 4.0, 0.0, 8.0, 0.0]);
    check_grad!(seldom_read(&[0.4, 12.0, -0.3, 2.0, 0.7, -20.0, 1.1]));
}

#[test]
fn a_size_that_no_formula_gives_is_checked() {
    let x = [0.4, -0.3];
    for n in 0..3 {
        check_grad!(chosen(&x, &[0.3, 0.2], n));
        check_grad!(chosen(&x, &[0.7, 0.2], n));
    }
    assert_eq!(chosen(&[0.7], &x, 1), [0.7]);
    check_grad!(chosen(&[0.7], &x, 1));
    let found = std::panic::catch_unwind(|| chosen_jvp(&[0.1], &x, 1, &[1.0], &x));
    let said = found.expect_err("the result of the call is as long as its other argument");
    let said = said.downcast_ref::<String>().expect("a message with sizes");
    assert!(said.contains("not as large as its arguments say"), "{said}");
}

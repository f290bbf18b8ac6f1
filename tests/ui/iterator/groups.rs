//! Iterators and arrays whose size an enclosing loop decides, and that nothing bounds.

use ad::prelude::*;

#[differentiate(wrt(x))]
fn collected(n: &[usize], x: &[f64]) -> f64 {
    let (mut total, mut most) = (0.0, 1);
    for i in 0..n.len() {
        let harmonic: Vec<f64> = (0..most).map(|k| x[i] / (1.0 + k as f64)).collect();
        total += harmonic.iter().sum::<f64>();
        most *= n[i];
    }
    total
}

#[differentiate(wrt(x))]
fn greatest(n: &[usize], x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..n.len() {
        if let Some(v) = (0..n[i]).map(|k| x[i] / (1.0 + k as f64)).max_by(|a, b| a.total_cmp(b)) {
            total += v * v;
        }
    }
    total
}

#[differentiate(wrt(x))]
fn allocated(start: &[usize], x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..start.len() - 1 {
        let n = start[i + 1] - start[i];
        if n > 100 {
            continue;
        }
        let mut w = vec![0.0; n];
        for a in 0..n {
            w[a] = x[start[i] + a].exp();
        }
        total += w.iter().sum::<f64>();
    }
    total
}

#[differentiate]
fn replaced(v: &[f64]) -> f64 {
    let mut v = v.to_vec();
    for _ in 0..3 {
        v = (0..2 * v.len()).map(|i| v[i / 2] * 0.5).collect();
    }
    v.iter().map(|x| x * x).sum()
}

fn main() {
    let (n, x) = ([1, 2], [0.5, 0.25]);
    println!("{:?}", (collected_grad(&n, &x), greatest_grad(&n, &x), allocated_grad(&n, &x), replaced_grad(&x)));
    println!("{}", collected(&n, &x) + greatest(&n, &x) + allocated(&n, &x) + replaced(&x));
}

//! A carried value has one type and one shape in all steps.

use ad::prelude::*;

#[differentiate]
fn shrinks(x: &Array1<f64>) -> f64 {
    let mut all = Array2::from_elem((4, x.len()), x[0]);
    for _ in 0..3 {
        all = all.slice(s![1.., ..]).to_owned();
    }
    all.sum()
}

#[differentiate]
fn begun(x: &Array1<f64>) -> f64 {
    let mut y = Array1::zeros(0);
    for i in 0..3 {
        y = x * (i as f64);
    }
    y.sum()
}

#[differentiate]
fn nothing_yet(x: &Array1<f64>) -> f64 {
    let mut found = None;
    for i in 0..3 {
        if x[i] > 1.0 {
            found = Some(x.slice(s![..i]).to_owned());
        }
    }
    found.map_or(0.0, |y| y.sum())
}

#[differentiate]
fn ranges(x: &Array1<f64>) -> f64 {
    let mut range = 0..2;
    for i in 0..3 {
        range = i..3;
    }
    range.map(|i| x[i]).sum::<f64>()
}

#[differentiate]
fn halves(x: &Array1<f64>) -> f64 {
    let mut all = vec![x[0]];
    while all[all.len() / 2] > 0.1 {
        let half = 0.5 * all[all.len() - 1];
        all.push(half);
    }
    all.iter().sum()
}

#[differentiate]
fn doubles(x: &Array1<f64>) -> f64 {
    let mut all = vec![x[0]];
    for _ in 0..3 {
        let mut next = Vec::new();
        for v in &all {
            next.push(*v);
            next.push(v * v);
        }
        all = next;
    }
    all.iter().sum()
}

#[differentiate]
fn as_an_array(x: &Array1<f64>) -> f64 {
    let mut large = Vec::new();
    let mut total = 0.0;
    for v in x {
        if *v > 1.0 {
            large.push(*v);
        }
        total += Array2::from_diag(&Array1::from_vec(large.clone())).sum();
    }
    total
}

#[differentiate]
fn pushed_parts(x: &Array1<f64>) -> f64 {
    let mut parts = Vec::new();
    for i in 0..x.len() {
        parts.push(x.slice(s![..i]).to_owned());
    }
    parts.iter().map(|p| p.sum()).sum()
}

fn main() {
    let x = array![1.0, 2.0, 3.0];
    println!("{}", shrinks(&x) + shrinks_grad(&x)[0]);
    println!("{}", nothing_yet(&x) + nothing_yet_grad(&x)[0]);
    println!("{}", ranges(&x) + ranges_grad(&x)[0]);
    println!("{}", doubles(&x) + doubles_grad(&x)[0] + halves(&x) + halves_grad(&x)[0]);
    println!("{}", as_an_array(&x) + as_an_array_grad(&x)[0]);
}

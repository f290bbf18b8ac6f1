//! Elements at computed places, in loops over several axes: the index is an element of another
//! array, is computed from numbers, or is chosen. The array that is read is computed as well, so
//! that no check of the index has to visit the same loops.

#![allow(clippy::needless_range_loop, reason = "formulas are written with indices")]

use ad::check_grad;
use ad::prelude::*;

#[differentiate(wrt(a, x))]
fn table_of_indices(a: f64, x: &Array1<f64>, g: &Array2<usize>) -> f64 {
    let s = x.mapv(f64::sin);
    let mut total = 0.0;
    for i in 0..g.nrows() {
        for k in 0..g.ncols() {
            total += (a * s[g[[i, k]]]).exp();
        }
    }
    total
}

#[differentiate(wrt(x))]
fn lists_of_one_length(x: &[f64], lists: &[Vec<usize>]) -> f64 {
    let s: Vec<f64> = x.iter().map(|v| v.sin()).collect();
    let mut total = 0.0;
    for list in lists {
        for &j in list {
            total += s[j] * s[j];
        }
    }
    total
}

#[differentiate(vjp, wrt(x))]
fn looked_up(x: &Array1<f64>, g: &Array2<usize>) -> Array2<f64> {
    let s = x.mapv(f64::sin);
    g.mapv(|j| s[j])
}

#[differentiate(wrt(x))]
fn rows_of_a_table(x: &Array2<f64>, g: &Array2<usize>) -> f64 {
    let s = x.mapv(f64::sin);
    let mut total = 0.0;
    for i in 0..g.nrows() {
        for k in 0..g.ncols() {
            total += s[[g[[i, k]], 1]] * s[[g[[i, k]], g[[i, k]] % 2]];
        }
    }
    total
}

#[differentiate(wrt(x, w))]
fn chosen(x: &Array1<f64>, w: &Array2<f64>) -> f64 {
    let (n, s) = (x.len(), x.mapv(f64::sin));
    let mut total = 0.0;
    for i in 0..w.nrows() {
        for k in 0..w.ncols() {
            let j = if w[[i, k]] > 0.4 { 2 } else { 0 };
            total += w[[i, k]] * s[j] + x[((w[[i, k]].abs() * 2.0) as usize).min(n - 1)];
        }
    }
    total
}

#[differentiate(wrt(x))]
fn remainders(x: &Array1<f64>, g: &Array2<usize>) -> f64 {
    build([g.nrows(), g.ncols()], |[i, k]| x[g[[i, k]] % x.len()]).sum()
}

#[differentiate(wrt(x))]
fn cross_entropy(x: &Array1<f64>, g: &Array2<usize>) -> f64 {
    let z = x.mapv(f64::exp).sum().ln();
    let p = x.mapv(|v| v - z);
    let mut total = 0.0;
    for classes in g.rows() {
        for &c in classes {
            total -= p[c];
        }
    }
    total
}

#[test]
fn values_and_gradients() {
    let near = |name: &str, (value, own): (f64, f64)| {
        assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "{name}: {value} is not {own}");
    };
    // The arrays that are read have fewer elements than the loops have steps, as many, and more.
    for n in [3, 6, 14] {
        let x = Array1::from_shape_fn(n, |i| 0.3 + 0.9 * (1.7 * i as f64 + 0.3).sin());
        let w = Array2::from_shape_fn((3, 2), |(i, k)| 0.3 + 0.9 * (1.7 * (3 * i + k) as f64 + 0.3).sin());
        let table = Array2::from_shape_fn((n, 2), |(i, k)| 0.1 * (4 * i + k) as f64);
        for g in [array![[0, 1], [2, 1], [1, 2]], array![[2, 2], [0, 0], [1, 0]]] {
            near("table_of_indices", (table_of_indices_value_and_grad(0.7, &x, &g).0, table_of_indices(0.7, &x, &g)));
            check_grad!(table_of_indices(0.7, &x, &g));
            let (list, lists) = (x.to_vec(), g.rows().into_iter().map(|r| r.to_vec()).collect::<Vec<_>>());
            let own = lists_of_one_length(&list, &lists);
            near("lists_of_one_length", (lists_of_one_length_value_and_grad(&list, &lists).0, own));
            check_grad!(lists_of_one_length(&list, &lists));
            let (value, _) = looked_up_vjp(&x, &g, &Array2::ones(g.raw_dim()));
            assert_eq!(value, looked_up(&x, &g));
            near("rows_of_a_table", (rows_of_a_table_value_and_grad(&table, &g).0, rows_of_a_table(&table, &g)));
            check_grad!(rows_of_a_table(&table, &g));
            near("chosen", (chosen_value_and_grad(&x, &w).0, chosen(&x, &w)));
            check_grad!(chosen(&x, &w));
            near("remainders", (remainders_value_and_grad(&x, &g).0, remainders(&x, &g)));
            check_grad!(remainders(&x, &g));
            near("cross_entropy", (cross_entropy_value_and_grad(&x, &g).0, cross_entropy(&x, &g)));
            check_grad!(cross_entropy(&x, &g));
        }
    }
}

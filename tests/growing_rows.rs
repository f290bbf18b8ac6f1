//! A `Vec` of rows that a loop pushes to and reads. The sizes of the rows are known from the
//! arguments, although the first row is pushed by a step.

#![allow(clippy::needless_range_loop)]

use ad::prelude::*;

#[differentiate(grad, jvp)]
fn products_of_first_elements(a: &Array2<f64>) -> f64 {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut s = 0.0;
    for i in 0..a.nrows() {
        let v = a.row(i).to_vec();
        for b in &basis {
            s += b[0] * v[1];
        }
        basis.push(v);
    }
    s
}

#[differentiate(grad, jvp)]
fn rows_minus_earlier_rows(a: &Array2<f64>) -> f64 {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for i in 0..a.nrows() {
        let mut v = a.row(i).to_vec();
        for b in &basis {
            for k in 0..v.len() {
                v[k] -= 0.5 * b[k];
            }
        }
        basis.push(v);
    }
    basis[1][0]
}

#[differentiate(grad, jvp)]
fn gram_schmidt(a: &Array2<f64>) -> f64 {
    let mut basis: Vec<Array1<f64>> = Vec::new();
    for i in 0..a.nrows() {
        let mut v = a.row(i).to_owned();
        for b in &basis {
            let d = b.dot(&v);
            v.scaled_add(-d, b);
        }
        let norm = v.dot(&v).sqrt();
        basis.push(v / norm);
    }
    basis[1][0]
}

#[differentiate(grad, jvp)]
fn gram_schmidt_by_index(a: &Array2<f64>) -> f64 {
    let mut basis: Vec<Array1<f64>> = Vec::new();
    for i in 0..a.nrows() {
        let mut v = a.row(i).to_owned();
        for j in 0..i {
            let d = basis[j].dot(&v);
            v = v - d * &basis[j];
        }
        let norm = v.dot(&v).sqrt();
        basis.push(v / norm);
    }
    basis[1][0]
}

#[differentiate(grad, jvp)]
fn gram_schmidt_of_vecs(a: &Array2<f64>) -> f64 {
    let mut basis: Vec<Vec<f64>> = vec![];
    for i in 0..a.nrows() {
        let mut v = a.row(i).to_vec();
        for j in 0..i {
            let d = dot(&basis[j], &v);
            for k in 0..v.len() {
                v[k] -= d * basis[j][k];
            }
        }
        basis.push(v);
    }
    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }
    basis[1][0]
}

#[differentiate(grad, jvp)]
fn recurrent(w: &Array2<f64>, x: &Array2<f64>) -> f64 {
    let mut states: Vec<Array1<f64>> = Vec::new();
    for t in 0..x.nrows() {
        let mut h = x.row(t).to_owned();
        if let Some(last) = states.last() {
            h = h + w.dot(last);
        }
        states.push(h.mapv(f64::tanh));
    }
    states.iter().map(|s| s.sum()).sum()
}

#[differentiate(grad, jvp)]
fn arnoldi(a: &Array2<f64>, b: &Array1<f64>, steps: usize) -> f64 {
    let mut q: Vec<Array1<f64>> = vec![];
    let mut v = b / b.dot(b).sqrt();
    let mut s = 0.0;
    for _ in 0..steps.min(3) {
        let mut w = a.dot(&v);
        for u in q.iter() {
            let c = u.dot(&w);
            w -= &(u * c);
        }
        q.push(v);
        let n = w.dot(&w).sqrt();
        s += n;
        v = w / n;
    }
    s
}

#[differentiate(grad, jvp, wrt(x))]
fn powers(x: &[f64], k: usize) -> f64 {
    let mut hist: Vec<Vec<f64>> = Vec::new();
    let mut s = 0.0;
    for t in 0..x.len() {
        let mut row = vec![0.0; k + 1];
        for j in 0..=k {
            row[j] = x[t].powi(j as i32);
            if t > 0 {
                row[j] += 0.5 * hist[t - 1][j];
            }
        }
        s += row.iter().sum::<f64>();
        hist.push(row);
    }
    s
}

#[differentiate(grad, jvp)]
fn far_rows(x: &Array2<f64>) -> f64 {
    let mut kept: Vec<Array1<f64>> = Vec::new();
    for r in x.rows() {
        if kept.iter().all(|k| (k - &r).mapv(|d| d * d).sum() > 0.1) {
            kept.push(r.to_owned());
        }
    }
    kept.iter().map(|k| k.dot(k)).sum()
}

#[differentiate(grad, jvp)]
fn cholesky_by_rows(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l: Vec<Vec<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let mut row = vec![0.0; n];
        for j in 0..=i {
            let mut s = a[[i, j]];
            for k in 0..j {
                s -= row[k] * if i == j { row[k] } else { l[j][k] };
            }
            row[j] = if i == j { s.sqrt() } else { s / l[j][j] };
        }
        l.push(row);
    }
    (0..n).map(|i| l[i][i].ln()).sum()
}

#[differentiate(grad, jvp)]
fn pairs_of_numbers_and_arrays(x: &[f64]) -> f64 {
    let mut hist: Vec<(f64, [f64; 2])> = Vec::new();
    for t in 0..x.len() {
        let (a, b) = if t > 0 { hist[t - 1] } else { (0.0, [1.0, 2.0]) };
        hist.push((a + x[t], [b[1], b[0] * x[t]]));
    }
    let (a, b) = hist[x.len() - 1];
    a + b[0] * b[1]
}

/// The row that is nearest to the first one.
#[differentiate(grad, jvp)]
fn nearest_row(x: &Array2<f64>) -> f64 {
    let mut best: Option<Array1<f64>> = None;
    let mut least = f64::INFINITY;
    for i in 1..x.nrows() {
        let d = (&x.row(i) - &x.row(0)).mapv(|d| d * d).sum();
        if d < least {
            least = d;
            best = Some(x.row(i).to_owned());
        }
    }
    best.map_or(0.0, |row| row.mapv(f64::sin).sum())
}

#[test]
fn an_option_of_an_array_is_none_before_the_loop() {
    ad::check_grad!(nearest_row(&matrix(5, 3)));
    assert_eq!(nearest_row_value_and_grad(&matrix(1, 3)), (0.0, Array2::zeros((1, 3))));
}

/// Each step takes its row from one of two matrices. The cotangent of a row is that of either.
#[differentiate(grad, jvp)]
fn alternating(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut s = 0.0;
    for i in 0..a.nrows() {
        if i % 2 == 0 {
            rows.push(a.row(i).to_vec());
        } else {
            rows.push(b.row(i).to_vec());
        }
        s += rows[i / 2][0] * rows[rows.len() - 1].iter().sum::<f64>();
    }
    s
}

/// The same with rows that are there before the loop.
#[differentiate(grad, jvp)]
fn alternating_in_place(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let mut rows = vec![vec![0.0; a.ncols()]; a.nrows()];
    let mut s = 0.0;
    for i in 0..a.nrows() {
        if i % 2 == 0 {
            rows[i] = a.row(i).to_vec();
        } else {
            rows[i] = b.row(i).to_vec();
        }
        s += rows[i / 2][0] * rows[i].iter().sum::<f64>();
    }
    s
}

#[test]
fn a_row_is_that_of_one_of_two_matrices() {
    for rows in 1..7 {
        let (a, b) = (matrix(rows, 3), matrix(rows, 3) * 0.7 + 0.1);
        ad::check_grad!(alternating(&a, &b));
        ad::check_grad!(alternating_in_place(&a, &b));
    }
}

/// A helper for matrices of two widths: its rows and the best row have the sizes of each call.
#[differentiate(grad, jvp)]
fn of_two_widths(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    fn products(x: &Array2<f64>) -> f64 {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut best = None;
        let mut s = 0.0;
        for i in 0..x.nrows() {
            let v = x.row(i).to_vec();
            for row in &rows {
                s += row[0] * v[1];
            }
            if v[0] > 0.5 {
                best = Some(x.row(i).to_owned());
            }
            rows.push(v);
        }
        s + best.map_or(0.0, |row| row.dot(&row))
    }
    let twice = |x: &Array2<f64>| products(x) * products(&(x * 2.0));
    products(a) + twice(b)
}

#[test]
fn a_helper_has_rows_of_each_callers_size() {
    ad::check_grad!(of_two_widths(&matrix(3, 4), &matrix(4, 2)));
    ad::check_grad!(of_two_widths(&matrix(2, 3), &matrix(3, 3)));
}

/// A matrix of `rows` rows without two equal numbers.
fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((3 * i + 7 * j + 1) as f64).sin() + if i == j { 2.0 } else { 0.0 })
}

#[test]
fn rows_that_a_loop_pushes_are_read_by_later_steps() {
    for rows in 2..6 {
        let a = matrix(rows, 4);
        ad::check_grad!(products_of_first_elements(&a));
        ad::check_grad!(rows_minus_earlier_rows(&a));
        if rows < 5 {
            ad::check_grad!(gram_schmidt(&a));
            ad::check_grad!(gram_schmidt_by_index(&a));
            ad::check_grad!(gram_schmidt_of_vecs(&a));
        }
        ad::check_grad!(far_rows(&a));
        ad::check_grad!(recurrent(&matrix(4, 4), &a));
    }
}

#[test]
fn no_row_is_pushed() {
    let none = Array2::zeros((0, 4));
    assert_eq!(products_of_first_elements_value_and_grad(&none), (0.0, none.clone()));
    assert_eq!(far_rows_value_and_grad(&none), (0.0, none.clone()));
    let (value, (by_w, by_x)) = recurrent_value_and_grad(&matrix(4, 4), &none);
    assert_eq!((value, by_w, by_x), (0.0, Array2::zeros((4, 4)), none));
}

#[test]
fn the_sizes_of_rows_are_formulas_of_the_arguments() {
    let b = Array1::from_vec(vec![0.3, -0.4, 0.1, 0.7]);
    ad::check_grad!(arnoldi(&matrix(4, 4), &b, 3));
    ad::check_grad!(powers(&[0.3, 0.4, 0.1, 0.7], 2));
    ad::check_grad!(powers(&[0.3, 0.4, 0.1, 0.7], 0));
    ad::check_grad!(pairs_of_numbers_and_arrays(&[0.3, 0.4, 0.1, 0.7]));
}

#[test]
fn a_factor_is_computed_row_by_row() {
    let a = matrix(4, 4);
    ad::check_grad!(cholesky_by_rows(&(a.dot(&a.t()) + Array2::<f64>::eye(4))));
}

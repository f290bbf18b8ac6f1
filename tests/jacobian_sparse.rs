//! `jacobian(sparse)`: the elements are those of `jacobian`, those that are left out are zero, and
//! their number follows from the elements that the function reads.

use ad::Csr;
use ad::prelude::*;

/// Compares with the whole Jacobian, and the number of elements and of products.
macro_rules! sparse {
    ($f:ident, $dense:ident, ($($arg:expr),*), $elements:expr) => {{
        let (dense, sparse): (Array2<f64>, Csr<f64>) = ($dense($($arg),*), $f($($arg),*));
        assert_eq!([sparse.rows, sparse.cols], [dense.nrows(), dense.ncols()]);
        well_formed(&sparse);
        for (i, row) in dense.rows().into_iter().enumerate() {
            let (columns, values) = sparse.row(i);
            let mut found = Array1::zeros(dense.ncols());
            for (&j, &x) in columns.iter().zip(values) {
                found[j] = x;
            }
            for (j, (a, b)) in row.iter().zip(&found).enumerate() {
                assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "row {i}, column {j}: {a} and {b}");
            }
        }
        assert_eq!(sparse.to_dense().shape(), dense.shape());
        assert_eq!(sparse.values.len(), $elements, "elements of {:?}", sparse.indices);
    }};
}

fn well_formed(a: &Csr<f64>) {
    assert_eq!(a.indptr.len(), a.rows + 1);
    assert_eq!([a.indptr[0], a.indptr[a.rows]], [0, a.indices.len()]);
    assert_eq!(a.indices.len(), a.values.len());
    for i in 0..a.rows {
        let (columns, _) = a.row(i);
        assert!(columns.windows(2).all(|w| w[0] < w[1]) && columns.iter().all(|&j| j < a.cols), "{columns:?}");
    }
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.3 + (k as f64 * 0.7).sin()).collect()
}

#[differentiate(jacobian, jacobian(sparse))]
fn band(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len() - 1, |i| (x[i + 1] - x[i] * x[i]).sin())
}

#[differentiate(jacobian, jacobian(sparse))]
fn second_differences(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut y = vec![0.0; n];
    y[0] = x[0];
    for i in 1..n - 1 {
        y[i] = (x[i - 1] - 2.0 * x[i] + x[i + 1]) * x[i];
    }
    y
}

#[differentiate(jacobian, jacobian(sparse))]
fn rosenbrock(x: &Array1<f64>) -> Array1<f64> {
    let n = x.len();
    let mut r = Array1::zeros(2 * (n - 1));
    for i in 0..n - 1 {
        r[2 * i] = 10.0 * (x[i + 1] - x[i] * x[i]);
        r[2 * i + 1] = 1.0 - x[i];
    }
    r
}

#[differentiate(jacobian, jacobian(sparse))]
fn neighbours(x: &Array1<f64>) -> Array1<f64> {
    let n = x.len();
    &x.slice(s![1..]) * &x.slice(s![..n - 1])
}

#[differentiate(jacobian, jacobian(sparse))]
fn pushed(x: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..x.len() - 1 {
        out.push(x[i] * x[i + 1]);
        out.push(x[i] - 1.0);
    }
    out
}

#[differentiate(jacobian, jacobian(sparse), wrt(x))]
fn edges(x: &[f64], from: &[usize], to: &[usize]) -> Vec<f64> {
    let mut r = vec![0.0; from.len()];
    for e in 0..from.len() {
        r[e] = (x[from[e]] - x[to[e]]).powi(2);
    }
    r
}

/// Blocks: each mean reads the numbers of its group.
#[differentiate(jacobian, jacobian(sparse))]
fn means(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len() / 4, |i| sum(&build1(4, |k| x[4 * i + k].sin())) / 4.0)
}

/// A Laplacian on a grid: five columns a row, far apart.
#[differentiate(jacobian, jacobian(sparse), wrt(x))]
fn grid(x: &Array1<f64>, n: usize) -> Array1<f64> {
    let u = x.to_shape((n, n)).unwrap();
    let mut y = Array1::zeros(n * n);
    for i in 1..n - 1 {
        for j in 1..n - 1 {
            y[i * n + j] = u[[i - 1, j]] + u[[i + 1, j]] + u[[i, j - 1]] + u[[i, j + 1]] - 4.0 * u[[i, j]].exp();
        }
    }
    y
}

/// A full row and a full column.
#[differentiate(jacobian, jacobian(sparse))]
fn arrow(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len(), |i| if i == 0 { sum(x) } else { x[i] * x[i] })
}

#[differentiate(jacobian, jacobian(sparse))]
fn arrow_of_columns(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len(), |i| x[0] * x[i])
}

/// The columns of the loop's reads are not known, so rows that it writes have all elements.
#[differentiate(jacobian, jacobian(sparse))]
fn recurrence(x: &Array1<f64>) -> Array1<f64> {
    let mut y = x.clone();
    for i in 2..x.len() {
        y[i] = 0.5 * (y[i - 1] * y[i - 2]).sin() + x[i];
    }
    y
}

/// The elements are the same at every point.
#[differentiate(jacobian, jacobian(sparse))]
fn arms(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len() - 1, |i| if x[i] > 0.5 { x[i + 1] * 2.0 } else { x[i].exp() })
}

#[differentiate(jacobian, jacobian(sparse), wrt(x))]
fn product(x: &Array1<f64>, a: &Array2<f64>) -> Array1<f64> {
    a.dot(&x.mapv(f64::sin))
}

#[differentiate(jacobian, jacobian(sparse))]
fn sums(x: &Array1<f64>) -> Array1<f64> {
    cumsum(&x.mapv(f64::sin))
}

#[differentiate(jacobian, jacobian(sparse))]
fn reversed(x: &Array1<f64>) -> Array1<f64> {
    x.slice(s![..;-2]).mapv(f64::exp)
}

/// Two rows of many columns for each group: columns that follow each other are one range.
#[differentiate(jacobian, jacobian(sparse), wrt(x))]
fn groups(x: &[f64], group: &[usize]) -> Vec<f64> {
    let mut r = vec![0.0; 2 * group.len()];
    for i in 0..group.len() {
        let at = 13 * group[i];
        let u: [f64; 13] = std::array::from_fn(|k| x[at + k].sin());
        r[2 * i] = u[0] * u[1] * u[2] * u[3] * u[4] * u[5] * u[6] * u[7] * u[8] * u[9] * u[10] * u[11] * u[12];
        r[2 * i + 1] = u[12] + u[11] * u[10] + u[9] + u[8] + u[7] + u[6] + u[5] + u[4] + u[3] + u[2] + u[1] + u[0];
    }
    r
}

#[differentiate(jacobian(sparse))]
fn of_nothing(x: &Array1<f64>) -> Array1<f64> {
    build1(x.len(), |i| i as f64)
}

#[differentiate(jacobian(sparse), wrt(x))]
fn of_any<T: Real>(x: Vec<T>, w: &Array1<T>) -> Array1<T> {
    build1(w.len(), |i| x[i] * x[i] * w[i])
}

#[test]
fn elements_are_those_of_the_jacobian() {
    for n in [5, 12, 33] {
        let v = numbers(n);
        let x = Array1::from(v.clone());
        sparse!(band_jacobian_sparse, band_jacobian, (&x), 2 * (n - 1));
        sparse!(second_differences_jacobian_sparse, second_differences_jacobian, (&v), 1 + 3 * (n - 2));
        sparse!(rosenbrock_jacobian_sparse, rosenbrock_jacobian, (&x), 3 * (n - 1));
        sparse!(neighbours_jacobian_sparse, neighbours_jacobian, (&x), 2 * (n - 1));
        sparse!(pushed_jacobian_sparse, pushed_jacobian, (&v), 3 * (n - 1));
        let (from, to): (Vec<usize>, Vec<usize>) = (0..2 * n).map(|e| (e % n, (e * e + 1) % n)).unzip();
        let elements = from.iter().zip(&to).map(|(a, b)| 1 + usize::from(a != b)).sum::<usize>();
        sparse!(edges_jacobian_sparse, edges_jacobian, (&v, &from, &to), elements);
        sparse!(means_jacobian_sparse, means_jacobian, (&x), n / 4 * 4);
        sparse!(arrow_jacobian_sparse, arrow_jacobian, (&x), 2 * n - 1);
        sparse!(arrow_of_columns_jacobian_sparse, arrow_of_columns_jacobian, (&x), 2 * n - 1);
        sparse!(recurrence_jacobian_sparse, recurrence_jacobian, (&x), 2 + (n - 2) * n);
        sparse!(arms_jacobian_sparse, arms_jacobian, (&x), 2 * (n - 1));
        let a = Array2::from_shape_fn((7, n), |(i, j)| (i * n + j) as f64);
        sparse!(product_jacobian_sparse, product_jacobian, (&x, &a), 7 * n);
        sparse!(sums_jacobian_sparse, sums_jacobian, (&x), n * (n + 1) / 2);
        let of: Vec<usize> = (0..n).map(|i| i * i % 3).collect();
        sparse!(groups_jacobian_sparse, groups_jacobian, (&numbers(39), &of), 26 * n);
        sparse!(reversed_jacobian_sparse, reversed_jacobian, (&x), n.div_ceil(2));
    }
    for n in [4, 9] {
        let x = Array1::from(numbers(n * n));
        sparse!(grid_jacobian_sparse, grid_jacobian, (&x, n), 5 * (n - 2) * (n - 2));
    }
}

#[test]
fn values_and_empty_patterns() {
    let x = Array1::from(numbers(6));
    let (value, jacobian) = band_value_and_jacobian_sparse(&x);
    assert!((&value - &band(&x)).iter().all(|d| d.abs() < 1e-14));
    assert_eq!(jacobian, band_jacobian_sparse(&x));
    let (value, jacobian) = of_nothing_value_and_jacobian_sparse(&x);
    assert_eq!(value, of_nothing(&x));
    assert_eq!((jacobian.indptr, jacobian.values), (vec![0; 7], vec![]));
    let empty = of_nothing_jacobian_sparse(&Array1::zeros(0));
    assert_eq!((empty.rows, empty.cols, empty.indptr), (0, 0, vec![0]));
    let w = Array1::from(vec![1.0_f32, 2.0, 3.0]);
    let single = of_any_jacobian_sparse(vec![1.0_f32, 2.0, 3.0], &w);
    assert_eq!(single.values, [2.0, 8.0, 18.0]);
    assert_eq!(single.indices, [0, 1, 2]);
}

/// The whole matrix would take 80 GB.
#[test]
fn a_banded_jacobian_takes_memory_proportional_to_the_band() {
    let n = 100_000;
    let jacobian = band_jacobian_sparse(&Array1::from(numbers(n)));
    assert_eq!([jacobian.rows, jacobian.cols, jacobian.values.len()], [n - 1, n, 2 * (n - 1)]);
    let n = 300;
    let jacobian = grid_jacobian_sparse(&Array1::from(numbers(n * n)), n);
    assert_eq!(jacobian.values.len(), 5 * (n - 2) * (n - 2));
}

#[test]
fn finite_differences_agree() {
    let v = numbers(7);
    let x = Array1::from(v.clone());
    ad::check_grad!(rosenbrock(&x), jacobian(sparse));
    ad::check_grad!(rosenbrock(&x));
    ad::check_grad!(second_differences(&v));
    ad::check_grad!(of_any(v, &x));
}

//! Systems of one to eight rows, of which those of two to six have kernels of their own.

mod common;

use ad_runtime::kernel::{Operand, gemm, lu, lu_solve, lu_solve_t};
use common::numbers;
use proptest::prelude::*;

/// Diagonal elements near 0, so that rows have to be exchanged.
fn matrix(n: usize) -> impl Strategy<Value = Vec<f64>> {
    numbers(n * n).prop_map(move |mut a| {
        for k in 0..n {
            a[k * n + k] *= 1e-3;
        }
        a
    })
}

/// A matrix of n rows and a right-hand side of m columns.
fn systems() -> impl Strategy<Value = (usize, usize, Vec<f64>, Vec<f64>)> {
    (1..9_usize, 1..10_usize).prop_flat_map(|(n, m)| (Just(n), Just(m), matrix(n), numbers(n * m)))
}

fn factored(a: &[f64], n: usize) -> Vec<f64> {
    let mut packed = vec![0.0; (n + 3) * n];
    lu(&mut packed, a, n);
    packed
}

proptest! {
    #[test]
    fn solutions_solve_their_equations((n, m, a, b) in systems()) {
        let packed = factored(&a, n);
        // The determinant tells how near to singular the matrix is.
        let determinant: f64 = (0..n).map(|k| packed[k * n + k]).product();
        prop_assume!(determinant.abs() > 1e-3);
        for transposed in [false, true] {
            let mut x = vec![0.0; n * m];
            let solve = if transposed { lu_solve_t } else { lu_solve };
            solve(&mut x, &b, &a, &packed, n);
            let operand = if transposed { Operand::Transposed(&a[..]) } else { Operand::Plain(&a[..]) };
            let mut product = vec![0.0; n * m];
            gemm(&mut product, operand, Operand::Plain(&x), [n, n, m], false);
            let size = x.iter().chain(&b).fold(1.0_f64, |size, x| size.max(x.abs()));
            for (product, b) in product.iter().zip(&b) {
                prop_assert!((product - b).abs() < 1e-9 * size, "n = {n}, m = {m}, transposed: {transposed}");
            }
        }
    }
}

#[test]
fn a_singular_matrix_has_the_solution_nan() {
    for n in 1..9 {
        let a = vec![1.0; n * n];
        let a = if n == 1 { vec![0.0] } else { a };
        let packed = factored(&a, n);
        let mut x = vec![0.0; n];
        lu_solve(&mut x, &vec![1.0; n], &a, &packed, n);
        assert!(x.iter().all(|x| x.is_nan()), "{n}: {x:?}");
    }
}

#[test]
fn pivots_without_a_finite_reciprocal_divide() {
    for n in 1..9 {
        for pivot in [f64::from_bits(3), 1e-310, 1.7e308] {
            let a: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { pivot } else { 0.0 }).collect();
            let packed = factored(&a, n);
            for solve in [lu_solve, lu_solve_t] {
                let mut x = vec![0.0; n];
                solve(&mut x, &vec![pivot; n], &a, &packed, n);
                assert_eq!(x, vec![1.0; n], "n = {n}, pivot {pivot:e}");
            }
        }
    }
}

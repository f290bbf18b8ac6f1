//! Matrix products, matrix-vector products, outer products and column sums against triple loops.

mod common;

use ad_runtime::Real;
use ad_runtime::kernel::{Operand, add_assign, axpy, column_sums, gemm, gemv, gemv_t, ger};
use common::numbers;
use proptest::prelude::*;

/// Small integers in floating point: every order of summation gives the same bits.
fn integers(n: usize) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-8..=8_i32).prop_map(f64::from), n)
}

/// (rows, columns) stored row by row, as (columns, rows).
fn transposed<F: Real>(x: &[F], rows: usize, columns: usize) -> Vec<F> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| x[i * columns + j])).collect()
}

fn naive<F: Real>(a: &[F], b: &[F], [m, k, n]: [usize; 3]) -> Vec<F> {
    let mut c = vec![F::zero(); m * n];
    for i in 0..m {
        for j in 0..n {
            for p in 0..k {
                c[i * n + j] += a[i * k + p] * b[p * n + j];
            }
        }
    }
    c
}

/// All four transpositions, overwriting NaNs and accumulating onto ones, must give exactly the
/// naive product.
fn check<F: Real>(a: &[F], b: &[F], sizes: [usize; 3]) {
    let [m, k, n] = sizes;
    let expected = naive(a, b, sizes);
    let (at, bt) = (transposed(a, m, k), transposed(b, k, n));
    for ta in [false, true] {
        for tb in [false, true] {
            let a = if ta { Operand::Transposed(&at) } else { Operand::Plain(a) };
            let b = if tb { Operand::Transposed(&bt) } else { Operand::Plain(b) };
            let mut c = vec![F::nan(); m * n];
            gemm(&mut c, a, b, sizes, false);
            assert_eq!(c, expected, "{sizes:?}, transposed: {ta}, {tb}");
            let mut c = vec![F::one(); m * n];
            gemm(&mut c, a, b, sizes, true);
            let onto: Vec<F> = expected.iter().map(|&v| v + F::one()).collect();
            assert_eq!(c, onto, "{sizes:?}, transposed: {ta}, {tb}, accumulated");
        }
    }
}

/// Sizes on both sides of every case that `gemm` distinguishes: 0, 1, small, thin and large.
fn sizes() -> impl Strategy<Value = [usize; 3]> {
    let size = || prop_oneof![0..3_usize, 0..12_usize, 8..40_usize];
    [size(), size(), size()]
}

proptest! {
    #[test]
    fn products(case in sizes().prop_flat_map(|s| (Just(s), integers(s[0] * s[1]), integers(s[1] * s[2])))) {
        let (sizes, a, b) = case;
        check(&a, &b, sizes);
        let single = |x: &[f64]| x.iter().map(|&v| v as f32).collect::<Vec<f32>>();
        check(&single(&a), &single(&b), sizes);
    }

    #[test]
    fn matrix_and_vector(case in (0..20_usize, 0..40_usize).prop_flat_map(|(m, n)| (integers(m * n), integers(m), integers(n)))) {
        let (a, x, y) = case;
        let (m, n) = (x.len(), y.len());
        let rows: Vec<f64> = (0..m).map(|i| (0..n).map(|j| a[i * n + j] * y[j]).sum()).collect();
        let columns: Vec<f64> = (0..n).map(|j| (0..m).map(|i| a[i * n + j] * x[i]).sum()).collect();
        let outer: Vec<f64> = (0..m).flat_map(|i| y.iter().map(|v| x[i] * v).collect::<Vec<_>>()).collect();
        for accumulate in [false, true] {
            let (start, offset) = if accumulate { (2.0, 2.0) } else { (f64::NAN, 0.0) };
            let plus = |v: &[f64]| v.iter().map(|v| v + offset).collect::<Vec<f64>>();
            let mut out = vec![start; m];
            gemv(&mut out, &a, &y, accumulate);
            prop_assert_eq!(&out, &plus(&rows));
            let mut out = vec![start; n];
            gemv_t(&mut out, &a, &x, accumulate);
            prop_assert_eq!(&out, &plus(&columns));
            let mut out = vec![start; m * n];
            ger(&mut out, &x, &y, accumulate);
            prop_assert_eq!(&out, &plus(&outer));
        }
    }

    #[test]
    fn sums_of_columns(case in (0..30_usize, 0..20_usize).prop_flat_map(|(m, n)| (Just((m, n)), integers(m * n)))) {
        let ((m, n), x) = case;
        // A matrix without columns has no elements to say how many rows it has.
        let expected: Vec<f64> = (0..n).map(|j| (0..m).map(|i| x[i * n + j]).sum()).collect();
        let mut out = vec![f64::NAN; n];
        column_sums(&mut out, &x, false);
        prop_assert_eq!(&out, &expected);
        column_sums(&mut out, &x, true);
        prop_assert_eq!(out, expected.iter().map(|v| 2.0 * v).collect::<Vec<f64>>());
    }

    #[test]
    fn multiples(case in (0..50_usize).prop_flat_map(|n| (numbers(n), numbers(n))), alpha in -3.0..3.0_f64) {
        let (x, y) = case;
        let mut out = y.clone();
        axpy(&mut out, alpha, &x);
        for i in 0..x.len() {
            // Fused with the addition or not, as the machine can.
            prop_assert!((out[i] - (y[i] + alpha * x[i])).abs() < 1e-14);
        }
        let mut out = y.clone();
        add_assign(&mut out, &x);
        for i in 0..x.len() {
            prop_assert_eq!(out[i], y[i] + x[i]);
        }
    }

    /// Not integers: the same bits from the same input every time, and near the naive product.
    #[test]
    fn repeated_calls_give_the_same_bits(case in sizes().prop_flat_map(|s| (Just(s), numbers(s[0] * s[1]), numbers(s[1] * s[2])))) {
        let (sizes, a, b) = case;
        let run = || {
            let mut c = vec![0.0; sizes[0] * sizes[2]];
            gemm(&mut c, Operand::Plain(&a), Operand::Plain(&b), sizes, false);
            c
        };
        let first = run();
        prop_assert!(first.iter().zip(&run()).all(|(u, v)| u.to_bits() == v.to_bits()));
        for (u, v) in first.iter().zip(&naive(&a, &b, sizes)) {
            prop_assert!((u - v).abs() < 1e-12);
        }
    }
}

#[test]
fn large_products() {
    for sizes in [[64, 784, 10], [100, 3, 100], [2, 500, 2], [33, 65, 129], [300, 1, 7], [1, 50, 60], [60, 50, 1]]
        .into_iter()
        .chain([[2, 100, 70], [3, 5, 65], [4, 64, 8], [70, 64, 2], [4, 4, 64], [5, 4, 64]])
    {
        let [m, k, n] = sizes;
        let fill = |len: usize, step: usize| -> Vec<f64> {
            (0..len).map(|i| f64::from(u8::try_from(i * step % 17).unwrap()) - 8.0).collect()
        };
        check(&fill(m * k, 7), &fill(k * n, 5), sizes);
    }
}

#[test]
fn an_empty_inner_size_gives_zeros() {
    let mut c = vec![f64::NAN; 6];
    gemm(&mut c, Operand::Plain(&[]), Operand::Transposed(&[]), [2, 0, 3], false);
    assert_eq!(c, [0.0; 6]);
    gemm(&mut c, Operand::Transposed(&[]), Operand::Plain(&[]), [2, 0, 3], true);
    assert_eq!(c, [0.0; 6]);
}

#[test]
fn nan_in_an_operand_is_not_lost() {
    let mut c = vec![0.0; 4];
    gemm(&mut c, Operand::Plain(&[f64::NAN, 0.0, 0.0, 0.0]), Operand::Plain(&[0.0; 4]), [2, 2, 2], false);
    assert!(c[0].is_nan() && c[1].is_nan() && c[2] == 0.0);
}

#[test]
#[should_panic(expected = "a product of (2, 2) and (2, 2) of 4 and 3 elements into 4")]
fn gemm_refuses_a_wrong_length() {
    gemm(&mut [0.0; 4], Operand::Plain(&[0.0; 4]), Operand::Plain(&[0.0; 3]), [2, 2, 2], false);
}

#[test]
#[should_panic(expected = "7 elements are not a whole number of rows of 3")]
fn column_sums_refuses_a_broken_row() {
    column_sums(&mut [0.0; 3], &[0.0; 7], false);
}

#[test]
#[should_panic(expected = "5 elements are not a matrix of shape (2, 3)")]
fn gemv_refuses_a_wrong_length() {
    gemv(&mut [0.0; 2], &[0.0; 5], &[0.0; 3], false);
}

//! Kernels of loops that are compiled for a number of rows: the bits of the general kernels,
//! whether the matrices have so many rows or not.

mod common;

use ad_runtime::kernel::{
    Body, Isa, Operand, absorbed, absorbed_n, dispatch, gemm, gemm_n, gemv, gemv_n, gemv_t, gemv_t_n, lu, lu_n,
    lu_solve, lu_solve_n, lu_solve_t, lu_solve_t_n,
};
use common::numbers;
use proptest::prelude::*;

/// Runs all kernels, those for N rows and the others, and returns pairs of results.
struct Both<'a, const N: usize> {
    n: usize,
    a: &'a [f64],
    b: &'a [f64],
    accumulate: bool,
}

type Pairs = Vec<(&'static str, Vec<f64>, Vec<f64>)>;

impl<const N: usize> Body for Both<'_, N> {
    type Out = Pairs;
    #[inline(always)]
    fn run<I: Isa>(self) -> Pairs {
        let Both { n, a, b, accumulate } = self;
        let x = &b[..n];
        let mut pairs = Vec::new();
        let mut pair = |name, len: usize, own: &dyn Fn(&mut [f64]), general: &dyn Fn(&mut [f64])| {
            let (mut c, mut d) = (vec![0.5; len], vec![0.5; len]);
            own(&mut c);
            general(&mut d);
            pairs.push((name, c, d));
        };
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let flag = |t: bool, x| if t { Operand::Transposed(x) } else { Operand::Plain(x) };
            let (l, r) = (flag(transposed[0], a), flag(transposed[1], b));
            pair("gemm", n * n, &|c| gemm_n::<I, f64, N>(c, l, r, [n, n, n], accumulate), &|c| {
                gemm(c, l, r, [n, n, n], accumulate)
            });
            let zeros = [true, false];
            pair(
                "absorbed",
                n * n,
                &|c| {
                    c.fill(f64::NAN);
                    absorbed_n::<I, f64, N>(c, a, b, transposed, 1, [n, n, n], zeros);
                },
                &|c| {
                    c.fill(f64::NAN);
                    absorbed(c, a, b, transposed, 1, [n, n, n], zeros);
                },
            );
        }
        pair("gemv", n, &|c| gemv_n::<I, f64, N>(c, a, x, accumulate), &|c| gemv(c, a, x, accumulate));
        pair("gemv_t", n, &|c| gemv_t_n::<I, f64, N>(c, a, x, accumulate), &|c| gemv_t(c, a, x, accumulate));
        let mut packed = vec![0.0; (n + 3) * n];
        lu(&mut packed, a, n);
        pair("lu", (n + 3) * n, &|c| lu_n::<I, f64, N>(c, a, n), &|c| lu(c, a, n));
        let p = &packed;
        for b in [b, x, &vec![0.0; n]] {
            let len = b.len();
            pair("lu_solve", len, &|c| lu_solve_n::<I, f64, N>(c, b, a, p, n), &|c| lu_solve(c, b, a, p, n));
            pair("lu_solve_t", len, &|c| lu_solve_t_n::<I, f64, N>(c, b, a, p, n), &|c| lu_solve_t(c, b, a, p, n));
        }
        pairs
    }
}

fn compared<const N: usize>(n: usize, a: &[f64], b: &[f64], accumulate: bool) -> Result<(), TestCaseError> {
    for (name, own, general) in dispatch(Both::<N> { n, a, b, accumulate }) {
        let bits = |x: &[f64]| x.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<u64>>();
        prop_assert_eq!(bits(&own), bits(&general), "{} of {} rows for {}", name, n, N);
    }
    Ok(())
}

fn matrices() -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>)> {
    (0..9_usize).prop_flat_map(|n| (Just(n), numbers(n * n), numbers(n * n)))
}

proptest! {
    #[test]
    fn kernels_of_literal_sizes_have_the_bits_of_the_others((n, a, b) in matrices(), accumulate: bool) {
        compared::<0>(n, &a, &b, accumulate)?;
        compared::<2>(n, &a, &b, accumulate)?;
        compared::<3>(n, &a, &b, accumulate)?;
        compared::<4>(n, &a, &b, accumulate)?;
        compared::<6>(n, &a, &b, accumulate)?;
    }
}

#[test]
fn a_singular_matrix_is_singular_for_literal_sizes() {
    let pairs = dispatch(Both::<3> { n: 3, a: &[1.0; 9], b: &[2.0; 9], accumulate: false });
    let of = |name| pairs.iter().find(|p| p.0 == name).expect("all kernels run");
    assert!(of("lu").1.iter().all(|x| x.is_nan()));
    assert!(of("lu_solve").1.iter().all(|x| x.is_nan()));
}

/// A loop is called with the number that all sizes are, and with 0 if there is no loop for it.
#[test]
fn the_sizes_choose_the_loop() {
    fn rows_of_loop<I: Isa, const N: usize>(n: usize, m: usize) -> [usize; 3] {
        [usize::from(I::FUSED) * N, n, m]
    }
    let run = |n: usize, m: usize| ad_runtime::dispatched_by_rows!('a,; [n, m]; rows_of_loop(n: usize, m: usize) -> [usize; 3]);
    let fused = ad_runtime::kernel::force_plain(false);
    for n in 0..9 {
        let rows = if fused && [2, 3, 4, 6].contains(&n) { n } else { 0 };
        assert_eq!(run(n, n), [rows, n, n]);
        assert_eq!(run(n, n + 1), [0, n, n + 1]);
    }
}

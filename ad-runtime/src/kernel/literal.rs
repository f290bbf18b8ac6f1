//! Kernels for loops that are compiled for a number of rows N (`dispatched_by_rows!`): where the
//! matrices have N rows and columns, a call is code without loops and without tests of lengths, in
//! the caller's own function. A step of a loop over small matrices spends most of its time on calls
//! otherwise.
//!
//! N is 0 if the loop is for all sizes, and a matrix may have another size than N. Then the general
//! kernel does the work. The bits of a result never depend on N.

use super::absorbing::absorbed;
use super::isa::Isa;
use super::linalg::{lu, lu_of_rows, lu_solve, lu_solve_of_rows, lu_solve_t};
use super::matrix::{gemm, gemv, gemv_t};
use super::operand::Operand;
use super::square::{of_rows, rows};
use crate::Real;

/// The largest number of rows of a product in the caller's function. A product of more rows is
/// longer than its call.
const MAX_ROWS: usize = 4;

/// [`gemm`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn gemm_n<I: Isa, F: Real, const N: usize>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    sizes: [usize; 3],
    accumulate: bool,
) {
    if N == 0 || N > MAX_ROWS {
        return gemm(c, a, b, sizes, accumulate);
    }
    let [m, k, n] = sizes;
    if m == N && k == N && n == N {
        let transposed = [a, b].map(|x| matches!(x, Operand::Transposed(_)));
        let (a, b, size) = (a.data(), b.data(), N * N);
        let fits = a.len() == size && b.len() == size && c.len() == size;
        if fits && of_rows::<I, F, N>(c, a, b, transposed, accumulate).is_some() {
            return;
        }
    }
    other_product(c, a, b, sizes, accumulate);
}

/// A product of other sizes. It is out of the way, so that the caller's function is short.
#[cold]
#[inline(never)]
fn other_product<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    gemm(c, a, b, sizes, accumulate);
}

/// [`gemv`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn gemv_n<I: Isa, F: Real, const N: usize>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    let Some((y, a, x)) = system::<F, N>(y, a, x) else { return gemv(y, a, x, accumulate) };
    for (y, row) in y.iter_mut().zip(a) {
        let mut total = F::zero();
        for (&a, &x) in row.iter().zip(x) {
            total = I::mul_add(a, x, total);
        }
        *y = if accumulate { *y + total } else { total };
    }
}

/// [`gemv_t`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn gemv_t_n<I: Isa, F: Real, const N: usize>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    let Some((y, a, x)) = system::<F, N>(y, a, x) else { return gemv_t(y, a, x, accumulate) };
    let mut sums = if accumulate { *y } else { [F::zero(); N] };
    // Four rows are added at once, as `gemv_t` does it.
    let groups = N / 4 * 4;
    for p in (0..groups).step_by(4) {
        for (j, sum) in sums.iter_mut().enumerate() {
            let first = I::mul_add(x[p + 1], a[p + 1][j], x[p] * a[p][j]);
            let second = I::mul_add(x[p + 3], a[p + 3][j], x[p + 2] * a[p + 2][j]);
            *sum += first + second;
        }
    }
    for p in groups..N {
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = I::mul_add(x[p], a[p][j], *sum);
        }
    }
    *y = sums;
}

/// Two vectors of N numbers and a matrix of N rows.
type System<'a, F, const N: usize> = (&'a mut [F; N], &'a [[F; N]; N], &'a [F; N]);

#[inline(always)]
fn system<'a, F, const N: usize>(y: &'a mut [F], a: &'a [F], x: &'a [F]) -> Option<System<'a, F, N>> {
    if N == 0 || N > MAX_ROWS || a.len() != N * N || x.len() != N || y.len() != N {
        return None;
    }
    Some((y.first_chunk_mut::<N>()?, rows::<F, N>(a)?, x.first_chunk::<N>()?))
}

/// [`absorbed`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn absorbed_n<I: Isa, F: Real, const N: usize>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
    absorbs: [bool; 2],
) {
    if N > 0
        && c.len() == N * N
        && let Some(c) = rows::<F, N>(c)
        && !c.as_flattened().iter().fold(false, |any, x| any | x.is_nan())
    {
        return;
    }
    absorbed(c, a, b, transposed, batch, sizes, absorbs);
}

/// [`lu`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn lu_n<I: Isa, F: Real, const N: usize>(out: &mut [F], a: &[F], n: usize) {
    if N == 0 || n != N || lu_of_rows::<F, N>(out, a).is_none() {
        lu(out, a, n);
    }
}

/// [`lu_solve`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn lu_solve_n<I: Isa, F: Real, const N: usize>(out: &mut [F], b: &[F], a: &[F], packed: &[F], n: usize) {
    if N == 0 || n != N || lu_solve_of_rows::<F, N>(out, b, packed, false).is_none() {
        lu_solve(out, b, a, packed, n);
    }
}

/// [`lu_solve_t`], for loops that are compiled for N rows.
#[track_caller]
#[inline(always)]
pub fn lu_solve_t_n<I: Isa, F: Real, const N: usize>(out: &mut [F], b: &[F], a: &[F], packed: &[F], n: usize) {
    if N == 0 || n != N || lu_solve_of_rows::<F, N>(out, b, packed, true).is_none() {
        lu_solve_t(out, b, a, packed, n);
    }
}

/// The number that all sizes are. It is 0 if there is none, and without fused multiply-add.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn common_size<I: Isa>(sizes: &[usize]) -> usize {
    let first = sizes.first().copied().unwrap_or_default();
    if I::FUSED && sizes.iter().all(|&size| size == first) { first } else { 0 }
}

/// [`dispatched!`](crate::dispatched) for a loop over small square matrices:
/// `dispatched_by_rows!('a, F; [n, m]; inner(x: &'a [F], n: usize, m: usize) -> F)` is
/// `inner::<I, F, N>(x, n, m)` for the number N that all sizes in the brackets are, if there is a
/// loop for it, and for N = 0 otherwise. There is none without fused multiply-add. **Not a public
/// API.**
///
/// A loop is compiled once more for each number here, so these are few: those of states in the
/// plane and in space.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatched_by_rows {
    ($a:lifetime, $($f:ident)?; [$($size:ident),*]; $inner:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty) => {{
        #[inline(always)]
        fn by_rows<$a, Machine: $crate::kernel::Isa $(, $f: $crate::Real)?>($($arg: $ty),*) -> $out {
            match $crate::kernel::common_size::<Machine>(&[$($size),*]) {
                2 => $inner::<Machine $(, $f)?, 2>($($arg),*),
                3 => $inner::<Machine $(, $f)?, 3>($($arg),*),
                4 => $inner::<Machine $(, $f)?, 4>($($arg),*),
                6 => $inner::<Machine $(, $f)?, 6>($($arg),*),
                _ => $inner::<Machine $(, $f)?, 0>($($arg),*),
            }
        }
        $crate::dispatched!($a, $($f)?; by_rows($($arg: $ty),*) -> $out)
    }};
}

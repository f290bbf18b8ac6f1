//! Products of row-major matrices and vectors.
//!
//! Large products go to `matrixmultiply` (through ndarray); small ones and products with a vector, at which it is
//! poor, are loops here. Which of them runs depends on the sizes and the transpositions alone.
//!
//! Must never read a destination that is to be overwritten, and never transpose by copying.

use ndarray::{ArrayView2, ArrayViewMut2, linalg::general_mat_mul};

use super::reduce::dot;
use super::vector::{axpy, axpy4};
use crate::Real;

/// Products of fewer multiplications than this (8 by 8 by 8) are loops: `matrixmultiply` packs its operands
/// first, which costs more than such a product.
const SMALL: usize = 512;

/// Whether a product of this shape is better done by rows ([`by_rows`]) than by `matrixmultiply`, although none
/// of its sizes is 1. The bounds are measured (plain x86-64 build): what they let through is 1.1 to 5 times faster.
fn loops_win<F>(a: Operand<'_, F>, b: Operand<'_, F>, [m, k, n]: [usize; 3]) -> bool {
    use Operand::{Plain, Transposed};
    let thin = match (a, b) {
        // Dot products of long rows, few of them or with few partners.
        (Plain(_), Transposed(_)) => k >= 64 && (m.min(n) <= 2 || m * n <= 32),
        // Few passes over long rows; with two rows in the result, packing b is never repaid.
        (Plain(_), Plain(_)) => m <= 2 || (n >= 64 && m * k <= 16),
        (Transposed(_), Plain(_)) => n >= 64 && m * k <= 16,
        (Transposed(_), Transposed(_)) => false,
    };
    thin || m * k * n < SMALL
}

/// An operand of [`gemm`]: a row-major matrix, taken as it is or transposed.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a, F> {
    /// The matrix itself.
    Plain(&'a [F]),
    /// The transpose of the matrix that is stored: an operand of shape (r, c) is stored as (c, r).
    Transposed(&'a [F]),
}

impl<'a, F: Real> Operand<'a, F> {
    fn data(self) -> &'a [F] {
        match self {
            Operand::Plain(x) | Operand::Transposed(x) => x,
        }
    }

    /// The operand as a view of shape (rows, columns).
    fn view(self, rows: usize, columns: usize) -> ArrayView2<'a, F> {
        let stored = match self {
            Operand::Plain(x) => ArrayView2::from_shape((rows, columns), x),
            Operand::Transposed(x) => ArrayView2::from_shape((columns, rows), x).map(ArrayView2::reversed_axes),
        };
        stored.expect("gemm has checked the operand's length")
    }
}

/// `c (+)= a b`, where a has the shape (m, k), b (k, n) and c (m, n), for `[m, k, n] = sizes`.
///
/// `gemm(&mut c, Operand::Transposed(&x), Operand::Plain(&y), [m, k, n], false)` is `c = x' y` with x stored
/// as (k, m). Batches are loops of the caller.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn gemm<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    let [m, k, n] = sizes;
    assert!(
        a.data().len() == m * k && b.data().len() == k * n && c.len() == m * n,
        "a product of ({m}, {k}) and ({k}, {n}) of {} and {} elements into {}",
        a.data().len(),
        b.data().len(),
        c.len()
    );
    if c.is_empty() {
        return;
    }
    match (a, b) {
        // A vector is its own transpose, so only the matrix's flag matters.
        (_, Operand::Plain(matrix)) if m == 1 => gemv_t(c, matrix, a.data(), accumulate),
        (_, Operand::Transposed(matrix)) if m == 1 => gemv(c, matrix, a.data(), accumulate),
        (Operand::Plain(matrix), _) if n == 1 => gemv(c, matrix, b.data(), accumulate),
        (Operand::Transposed(matrix), _) if n == 1 => gemv_t(c, matrix, b.data(), accumulate),
        _ if k == 1 => ger(c, a.data(), b.data(), accumulate),
        _ if loops_win(a, b, sizes) => by_rows(c, a, b, sizes, accumulate),
        _ => {
            let mut c = ArrayViewMut2::from_shape((m, n), c).expect("gemm has checked the result's length");
            let beta = if accumulate { F::one() } else { F::zero() };
            general_mat_mul(F::one(), &a.view(m, k), &b.view(k, n), beta, &mut c);
        }
    }
}

/// The small and thin products of [`gemm`], row by row of the result; no size is zero except perhaps k.
fn by_rows<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, [m, k, n]: [usize; 3], accumulate: bool) {
    match (a, b) {
        (Operand::Plain(a), _) => {
            for (i, row) in c.chunks_exact_mut(n).enumerate() {
                let weights = &a[i * k..(i + 1) * k];
                match b {
                    Operand::Plain(b) => gemv_t(row, b, weights, accumulate),
                    Operand::Transposed(b) => gemv(row, b, weights, accumulate),
                }
            }
        }
        (Operand::Transposed(a), Operand::Plain(b)) => {
            if !accumulate {
                c.fill(F::zero());
            }
            for p in 0..k {
                ger(c, &a[p * m..(p + 1) * m], &b[p * n..(p + 1) * n], true);
            }
        }
        (Operand::Transposed(a), Operand::Transposed(b)) => {
            for (i, row) in c.chunks_exact_mut(n).enumerate() {
                for (j, out) in row.iter_mut().enumerate() {
                    let mut total = if accumulate { *out } else { F::zero() };
                    for p in 0..k {
                        total += a[p * m + i] * b[j * k + p];
                    }
                    *out = total;
                }
            }
        }
    }
}

/// `y (+)= A x`, where A is row-major of shape (`y.len()`, `x.len()`): the dot product of each row with x.
///
/// # Panics
///
/// If `a` has not `y.len() * x.len()` elements.
#[track_caller]
pub fn gemv<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    check_matrix(a, y.len(), x.len());
    if x.is_empty() {
        if !accumulate {
            y.fill(F::zero());
        }
        return;
    }
    for (y, row) in y.iter_mut().zip(a.chunks_exact(x.len())) {
        let product = dot(row, x);
        *y = if accumulate { *y + product } else { product };
    }
}

/// `y (+)= A' x`, where A is row-major of shape (`x.len()`, `y.len()`): the rows of A weighted by x and added,
/// four rows a pass over `y`. Walking A by columns would be three to five times slower.
///
/// # Panics
///
/// If `a` has not `x.len() * y.len()` elements.
#[track_caller]
pub fn gemv_t<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    check_matrix(a, x.len(), y.len());
    if !accumulate {
        y.fill(F::zero());
    }
    let n = y.len();
    if n == 0 {
        return;
    }
    let (quads, rest) = x.as_chunks::<4>();
    let (blocks, rest_rows) = a.split_at(4 * n * quads.len());
    for (&weights, block) in quads.iter().zip(blocks.chunks_exact(4 * n)) {
        let (r0, block) = block.split_at(n);
        let (r1, block) = block.split_at(n);
        let (r2, r3) = block.split_at(n);
        axpy4(y, weights, r0, r1, r2, r3);
    }
    for (&weight, row) in rest.iter().zip(rest_rows.chunks_exact(n)) {
        axpy(y, weight, row);
    }
}

/// `A (+)= x y'`, the outer product, where A is row-major of shape (`x.len()`, `y.len()`).
///
/// # Panics
///
/// If `a` has not `x.len() * y.len()` elements.
#[track_caller]
pub fn ger<F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool) {
    check_matrix(a, x.len(), y.len());
    if y.is_empty() {
        return;
    }
    for (row, &weight) in a.chunks_exact_mut(y.len()).zip(x) {
        if accumulate {
            axpy(row, weight, y);
        } else {
            scaled(row, weight, y);
        }
    }
}

/// `y = alpha * x`.
#[inline]
fn scaled<F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = alpha * x;
    }
}

#[track_caller]
fn check_matrix<F>(a: &[F], rows: usize, columns: usize) {
    assert!(a.len() == rows * columns, "{} elements are not a matrix of shape ({rows}, {columns})", a.len());
}

//! Products of row-major matrices and vectors.
//!
//! Large products are computed by `matrixmultiply` (through ndarray). Small and thin products and
//! products with a vector, for which it is slow, are computed by the loops of [`super::product`].
//! Which of the two runs depends only on the sizes and the transpositions.
//!
//! This module must never read a destination that is to be overwritten, and never transpose by
//! copying.

use alloc::vec;

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};

use super::isa::dispatched;
use super::operand::Operand;
use super::product::{by_loops, gemv_in, gemv_t_in, ger_in};
use super::small::{MAX_SIZE, small_product};
use super::square::square_product;
use super::threads::{Division, join};
use crate::Real;

/// A part of a product for another thread begins at a multiple of this number of rows: whole groups
/// of rows of the loops.
const PART_ROWS: usize = 8;
/// [`PART_ROWS`] for `matrixmultiply`, which packs the other operand for each part.
const PACKED_ROWS: usize = 64;

/// Whether the loops of [`super::product`] are faster than `matrixmultiply` for a product of this
/// shape, none of whose sizes is 1. The bounds come from the measurements in this table.
///
/// The table shows the time of our loops divided by that of `matrixmultiply`, both with AVX2 and
/// FMA (f64, one core of a Zen 5 server; the shape is `m k n`, N and T say which operands are
/// stored transposed). `benches/kernels.rs` measures them again. Products of at most eight rows,
/// columns and summed indices now have separate loops ([`super::small_product`]), and those of
/// square matrices of two to six rows no loops at all ([`super::square`]).
///
/// | `m k n` | NN | TN | NT | | `m k n` | NN | TN | NT |
/// | --- | --- | --- | --- | --- | --- | --- | --- | --- |
/// | 4 4 4 | 0.45 | 0.45 | 0.91 | | 64 784 10 | 0.79 | 0.99 | 1.22 |
/// | 8 8 8 | 0.56 | 0.59 | 1.37 | | 784 64 10 | 0.98 | 1.14 | 1.59 |
/// | 12 12 12 | 0.77 | 0.83 | 2.3 | | 10 64 784 | 0.77 | 0.75 | 1.24 |
/// | 16 16 16 | 1.15 | 1.18 | 2.5 | | 4 1000 100 | 0.31 | 0.31 | 0.57 |
/// | 32 32 32 | 1.24 | 1.35 | 2.6 | | 1000 100 4 | 0.83 | 1.08 | 1.01 |
/// | 64 64 64 | 1.11 | 1.24 | 2.2 | | 100 4 100 | 3.2 | 3.2 | 12 |
/// | 64 784 16 | 0.71 | 1.01 | 1.47 | | 8 1000 8 | 0.47 | 0.57 | 0.63 |
/// | 64 784 32 | 0.83 | 1.19 | 1.59 | | 16 256 16 | 0.66 | 0.78 | 1.01 |
/// | 64 784 128 | 1.00 | 1.56 | 2.2 | | 1000 20 20 | 1.7 | 2.0 | 5.1 |
fn loops_win<F>(a: Operand<'_, F>, b: Operand<'_, F>, [m, k, n]: [usize; 3]) -> bool {
    use Operand::{Plain, Transposed};
    let (volume, thin) = (m.saturating_mul(k).saturating_mul(n), m.min(n));
    match (a, b) {
        (Plain(_), Plain(_)) => {
            let few_rows = m <= 2 || (n >= 64 && m * k <= 16);
            volume <= 2048 || few_rows || (k >= 64 && thin <= 16) || (k >= 256 && thin <= 32)
        }
        (Transposed(_), Plain(_)) => volume <= 2048 || (n >= 64 && m * k <= 16) || (k >= 64 && thin <= 16 && m <= 256),
        (Plain(_), Transposed(_)) => volume <= 128 || (k >= 64 && thin <= 2) || (k >= 256 && thin <= 8),
        (Transposed(_), Transposed(_)) => volume <= 256,
    }
}

/// `c (+)= a b`, where a has the shape (m, k), b (k, n) and c (m, n), for `[m, k, n] = sizes`.
///
/// `gemm(&mut c, Operand::Transposed(&x), Operand::Plain(&y), [m, k, n], false)` is `c = x' y` with
/// x stored as (k, m). A caller loops over a batch itself.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
#[inline]
pub fn gemm<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    if !square_product(c, a, b, sizes, accumulate) {
        multiply(c, a, b, sizes, accumulate, false);
    }
}

/// [`gemm`] without the heap, for arrays of static size. It does not use `matrixmultiply`, which
/// packs its operands into memory that it allocates.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn gemm_off_heap<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    if !square_product(c, a, b, sizes, accumulate) {
        multiply(c, a, b, sizes, accumulate, true);
    }
}

#[track_caller]
fn multiply<F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    sizes: [usize; 3],
    accumulate: bool,
    off_heap: bool,
) {
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
        _ if m.max(k).max(n) <= MAX_SIZE => small_product(c, a, b, sizes, accumulate),
        _ if off_heap => by_loops(c, a, b, sizes, accumulate),
        _ if loops_win(a, b, sizes) => by_loops_in_parts(c, a, b, sizes, accumulate, Division::of(m, k * n, PART_ROWS)),
        _ => {
            let c = ArrayViewMut2::from_shape((m, n), c).expect("gemm has checked the result's length");
            let beta = if accumulate { F::one() } else { F::zero() };
            product_of_views(c, a.view(m, k), b.view(k, n), beta);
        }
    }
}

/// [`by_loops`] for parts of the rows of the result. The rows of a transposed operand are scattered
/// over its memory, so such a product is not divided.
fn by_loops_in_parts<F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    [m, k, n]: [usize; 3],
    accumulate: bool,
    parts: Division,
) {
    if let Operand::Plain(data) = a
        && let Some(half) = parts.half(m)
    {
        let ((c0, c1), (a0, a1)) = (c.split_at_mut(half * n), data.split_at(half * k));
        join(
            || by_loops_in_parts(c0, Operand::Plain(a0), b, [half, k, n], accumulate, parts),
            || by_loops_in_parts(c1, Operand::Plain(a1), b, [m - half, k, n], accumulate, parts),
        );
        return;
    }
    by_loops(c, a, b, [m, k, n], accumulate);
}

/// `c = a b + beta c` by `matrixmultiply`, for parts of the rows or columns of the result.
pub(super) fn product_of_views<F: Real>(c: ArrayViewMut2<'_, F>, a: ArrayView2<'_, F>, b: ArrayView2<'_, F>, beta: F) {
    let ((m, n), k) = (c.dim(), a.ncols());
    let by_rows = m >= n;
    let parts = if by_rows { Division::of(m, k * n, PACKED_ROWS) } else { Division::of(n, k * m, PACKED_ROWS) };
    parts_of_views(c, a, b, beta, (by_rows, parts));
}

fn parts_of_views<F: Real>(
    mut c: ArrayViewMut2<'_, F>,
    a: ArrayView2<'_, F>,
    b: ArrayView2<'_, F>,
    beta: F,
    by: (bool, Division),
) {
    let (by_rows, parts) = by;
    let axis = Axis(usize::from(!by_rows));
    let Some(half) = parts.half(c.len_of(axis)) else {
        general_mat_mul(F::one(), &a, &b, beta, &mut c);
        return;
    };
    let (c0, c1) = c.split_at(axis, half);
    let ((a0, a1), (b0, b1)) =
        if by_rows { (a.split_at(axis, half), (b, b)) } else { ((a, a), b.split_at(axis, half)) };
    join(|| parts_of_views(c0, a0, b0, beta, by), || parts_of_views(c1, a1, b1, beta, by));
}

/// `y (+)= A x`, where A is row-major of shape (`y.len()`, `x.len()`): the dot product of each row
/// with x.
///
/// # Panics
///
/// If the number of elements of `a` is not `y.len() * x.len()`.
#[track_caller]
pub fn gemv<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    check_matrix(a, y.len(), x.len());
    if x.is_empty() {
        if !accumulate {
            y.fill(F::zero());
        }
        return;
    }
    gemv_in_parts(y, a, x, accumulate, Division::of(y.len(), x.len(), PART_ROWS));
}

fn gemv_in_parts<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool, parts: Division) {
    if let Some(half) = parts.half(y.len()) {
        let ((y0, y1), (a0, a1)) = (y.split_at_mut(half), a.split_at(half * x.len()));
        join(|| gemv_in_parts(y0, a0, x, accumulate, parts), || gemv_in_parts(y1, a1, x, accumulate, parts));
        return;
    }
    dispatched!('a, F; gemv_in(y: &'a mut [F], a: &'a [F], x: &'a [F], accumulate: bool) -> ());
}

/// `y (+)= A' x`, where A is row-major of shape (`x.len()`, `y.len()`): the sum of the rows of A,
/// weighted by x. Each pass over `y` adds eight rows. Reading A by columns would be three to five
/// times slower.
///
/// # Panics
///
/// If the number of elements of `a` is not `x.len() * y.len()`.
#[track_caller]
pub fn gemv_t<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    check_matrix(a, x.len(), y.len());
    if y.is_empty() {
        return;
    }
    // A sum of rows as short as these is divided into sums; each has to be much longer than a row.
    gemv_t_in_parts(y, a, x, accumulate, Division::of(x.len(), y.len(), PART_ROWS));
}

/// [`gemv_t`] for parts of the rows that are added. Each part has a sum of its own.
fn gemv_t_in_parts<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool, parts: Division) {
    if let Some(half) = parts.half(x.len()) {
        let ((x0, x1), (a0, a1)) = (x.split_at(half), a.split_at(half * y.len()));
        let mut other = vec![F::zero(); y.len()];
        let (first, second) = (&mut *y, &mut other[..]);
        join(|| gemv_t_in_parts(first, a0, x0, accumulate, parts), || gemv_t_in_parts(second, a1, x1, true, parts));
        for (y, other) in y.iter_mut().zip(other) {
            *y += other;
        }
        return;
    }
    dispatched!('a, F; gemv_t_in(y: &'a mut [F], a: &'a [F], x: &'a [F], accumulate: bool) -> ());
}

/// `A (+)= x y'`, the outer product, where A is row-major of shape (`x.len()`, `y.len()`).
///
/// # Panics
///
/// If the number of elements of `a` is not `x.len() * y.len()`.
#[track_caller]
pub fn ger<F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool) {
    check_matrix(a, x.len(), y.len());
    if y.is_empty() {
        return;
    }
    ger_in_parts(a, x, y, accumulate, Division::of(x.len(), y.len(), PART_ROWS));
}

fn ger_in_parts<F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool, parts: Division) {
    if let Some(half) = parts.half(x.len()) {
        let ((a0, a1), (x0, x1)) = (a.split_at_mut(half * y.len()), x.split_at(half));
        join(|| ger_in_parts(a0, x0, y, accumulate, parts), || ger_in_parts(a1, x1, y, accumulate, parts));
        return;
    }
    dispatched!('a, F; ger_in(a: &'a mut [F], x: &'a [F], y: &'a [F], accumulate: bool) -> ());
}

#[track_caller]
fn check_matrix<F>(a: &[F], rows: usize, columns: usize) {
    assert!(a.len() == rows * columns, "{} elements are not a matrix of shape ({rows}, {columns})", a.len());
}

/// The product of a matrix and a vector as ndarray itself computes it: `out = a x`, where a has the
/// shape (m, k) for `[m, k] = sizes`. It is for products that a decision depends on.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn exact_gemv<F: Real>(out: &mut [F], a: Operand<'_, F>, x: &[F], [m, k]: [usize; 2]) {
    assert!(a.data().len() == m * k && x.len() == k && out.len() == m, "exact_gemv: lengths");
    let mut out = ArrayViewMut1::from(out);
    general_mat_vec_mul(F::one(), &a.view(m, k), &ArrayView1::from(x), F::zero(), &mut out);
}

/// The product of two matrices as ndarray itself computes it; the arguments are those of [`gemm`].
/// It is for products that a decision depends on.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn exact_gemm<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, [m, k, n]: [usize; 3]) {
    assert!(a.data().len() == m * k && b.data().len() == k * n && c.len() == m * n, "exact_gemm: lengths");
    let product = a.view(m, k).dot(&b.view(k, n));
    for (out, &v) in c.iter_mut().zip(product.iter()) {
        *out = v;
    }
}

//! The loops of matrix products. They hold a block of the result in registers and read the operands
//! in place.
//!
//! They must not pack or allocate, and the result of a row must not depend on its neighbouring
//! rows.

use super::isa::{Isa, dispatched};
use super::lanes::eight_lanes;
use super::operand::Operand;
use super::small::small_product_in;
use super::vector::{axpy_in, axpy4, axpy8};
use crate::Real;

/// The number of rows in a block of a product.
const ROWS: usize = 4;
/// The number of columns in a block: with four rows, eight vectors of four doubles.
const COLUMNS: usize = 8;
/// The number of rows whose dot products are computed together, to hide the latency of the
/// additions; a matrix is still read nearly in order. Four take a tenth longer if rows have a
/// hundred elements, and as long if they have more (measured on a Zen 4).
const DOT_ROWS: usize = 2;
/// The number of rows that are added in one pass over the result.
const ADDED_ROWS: usize = 8;

/// Copies the sums before a call. The address of the original is then never taken, so that it stays
/// in registers.
#[inline(always)]
fn opaque_copy<F: Real, const R: usize, const C: usize>(sums: &[[F; C]; R]) -> [[F; C]; R] {
    let mut copy = [[F::zero(); C]; R];
    for r in 0..R {
        for l in 0..C {
            copy[r][l] = sums[r][l];
        }
    }
    copy
}

/// `R` dot products with one vector, each in [`COLUMNS`] lanes. `x` is loaded once for all of them.
#[inline(always)]
fn dots<I: Isa, F: Real, const R: usize>(rows: [&[F]; R], x: &[F]) -> [F; R] {
    let (xs, x_rest) = x.as_chunks::<COLUMNS>();
    let chunks = rows.map(|row| &row[..x.len()].as_chunks::<COLUMNS>().0[..xs.len()]);
    let mut lanes = [[F::zero(); COLUMNS]; R];
    for (p, xs) in xs.iter().enumerate() {
        for r in 0..R {
            for l in 0..COLUMNS {
                lanes[r][l] = I::mul_add(chunks[r][p][l], xs[l], lanes[r][l]);
            }
        }
    }
    let done = x.len() - x_rest.len();
    let lanes = opaque_copy(&lanes);
    let mut totals = [F::zero(); R];
    for r in 0..R {
        totals[r] = eight_lanes(lanes[r]);
        for (&v, &x) in rows[r][done..x.len()].iter().zip(x_rest) {
            totals[r] = I::mul_add(v, x, totals[r]);
        }
    }
    totals
}

#[inline(always)]
fn put<F: Real>(place: &mut F, value: F, accumulate: bool) {
    *place = if accumulate { *place + value } else { value };
}

/// [`super::gemv`], for callers that are already inside of [`super::dispatch`]; `x` is not empty.
#[inline(always)]
pub fn gemv_in<I: Isa, F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    let k = x.len();
    if k < COLUMNS {
        for (y, row) in y.iter_mut().zip(a.chunks_exact(k)) {
            let total = row.iter().zip(x).fold(F::zero(), |total, (&a, &x)| I::mul_add(a, x, total));
            put(y, total, accumulate);
        }
        return;
    }
    let (groups, rest) = y.as_chunks_mut::<DOT_ROWS>();
    let mut blocks = a.chunks_exact(DOT_ROWS * k);
    for (y, block) in groups.iter_mut().zip(&mut blocks) {
        let (r0, r1) = block.split_at(k);
        let totals = dots::<I, F, DOT_ROWS>([r0, r1], x);
        for r in 0..DOT_ROWS {
            put(&mut y[r], totals[r], accumulate);
        }
    }
    for (y, row) in rest.iter_mut().zip(blocks.remainder().chunks_exact(k)) {
        let [total] = dots::<I, F, 1>([row], x);
        put(y, total, accumulate);
    }
}

/// [`super::gemv_t`], for callers that are already inside of [`super::dispatch`]; `y` is not empty.
#[inline(always)]
pub fn gemv_t_in<I: Isa, F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    if !accumulate {
        y.fill(F::zero());
    }
    let n = y.len();
    let (groups, rest) = x.as_chunks::<ADDED_ROWS>();
    let (blocks, rows) = a.split_at(groups.len() * ADDED_ROWS * n);
    for (&weights, block) in groups.iter().zip(blocks.chunks_exact(ADDED_ROWS * n)) {
        let (r0, block) = block.split_at(n);
        let (r1, block) = block.split_at(n);
        let (r2, block) = block.split_at(n);
        let (r3, block) = block.split_at(n);
        let (r4, block) = block.split_at(n);
        let (r5, block) = block.split_at(n);
        let (r6, r7) = block.split_at(n);
        axpy8::<I, F>(y, weights, r0, r1, r2, r3, r4, r5, r6, r7);
    }
    let (groups, rest) = rest.as_chunks::<ROWS>();
    let mut blocks = rows.chunks_exact(ROWS * n);
    for (&weights, block) in groups.iter().zip(&mut blocks) {
        let (r0, block) = block.split_at(n);
        let (r1, block) = block.split_at(n);
        let (r2, r3) = block.split_at(n);
        axpy4::<I, F>(y, weights, r0, r1, r2, r3);
    }
    for (&weight, row) in rest.iter().zip(blocks.remainder().chunks_exact(n)) {
        axpy_in::<I, F>(y, weight, row);
    }
}

/// [`super::ger`], for callers that are already inside of [`super::dispatch`]; `y` is not empty.
#[inline(always)]
pub fn ger_in<I: Isa, F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool) {
    for (row, &weight) in a.chunks_exact_mut(y.len()).zip(x) {
        if accumulate {
            axpy_in::<I, F>(row, weight, y);
        } else {
            scaled(row, weight, y);
        }
    }
}

/// `y = alpha * x`.
#[inline(always)]
fn scaled<F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = alpha * x;
    }
}

/// Computes the block of `R` rows and `C` columns of the result at column `j`. `weights(p)` are the
/// elements of the left operand in these rows; `b` has the rows of the right one.
#[inline(always)]
fn block<I: Isa, F: Real, const R: usize, const C: usize>(
    c: &mut [F],
    weights: impl Iterator<Item = [F; R]>,
    b: &[F],
    j: usize,
    n: usize,
    accumulate: bool,
) {
    let mut sums = [[F::zero(); C]; R];
    for (weights, b) in weights.zip(b.chunks_exact(n)) {
        let Some(b) = b[j..].first_chunk::<C>() else { return };
        for r in 0..R {
            for l in 0..C {
                sums[r][l] = I::mul_add(weights[r], b[l], sums[r][l]);
            }
        }
    }
    store(c, opaque_copy(&sums), j, n, accumulate);
}

/// Writes a block. Never inlined, for the reason given at [`super::lanes`]: the sums stay in whole
/// vectors.
#[inline(never)]
fn store<F: Real, const R: usize, const C: usize>(
    c: &mut [F],
    sums: [[F; C]; R],
    j: usize,
    n: usize,
    accumulate: bool,
) {
    for (row, sums) in c.chunks_exact_mut(n).zip(sums) {
        // Without the known length, LLVM calls `memcpy` for each row.
        let Some(places) = row[j..].first_chunk_mut::<C>() else { return };
        for l in 0..C {
            put(&mut places[l], sums[l], accumulate);
        }
    }
}

/// Computes `R` rows of the result, in blocks of 8, 4, 2 and 1 columns.
#[inline(always)]
fn band<I: Isa, F: Real, const R: usize, W: Iterator<Item = [F; R]>>(
    c: &mut [F],
    weights: impl Fn() -> W,
    b: &[F],
    n: usize,
    accumulate: bool,
) {
    let mut j = 0;
    while j + COLUMNS <= n {
        block::<I, F, R, COLUMNS>(c, weights(), b, j, n, accumulate);
        j += COLUMNS;
    }
    if n - j >= 4 {
        block::<I, F, R, 4>(c, weights(), b, j, n, accumulate);
        j += 4;
    }
    if n - j >= 2 {
        block::<I, F, R, 2>(c, weights(), b, j, n, accumulate);
        j += 2;
    }
    if n > j {
        block::<I, F, R, 1>(c, weights(), b, j, n, accumulate);
    }
}

/// The small and thin products of [`super::gemm`]; no size is zero except perhaps k.
#[doc(hidden)]
pub fn by_loops<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    dispatched!('a, F; product_in(c: &'a mut [F], a: Operand<'a, F>, b: Operand<'a, F>, sizes: [usize; 3], accumulate: bool) -> ());
}

#[inline(always)]
fn product_in<I: Isa, F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    [m, k, n]: [usize; 3],
    accumulate: bool,
) {
    match (a, b) {
        (Operand::Plain(a), Operand::Transposed(b)) if k >= COLUMNS => {
            rows_by_rows::<I, F>(c, a, b, [k, n], accumulate);
        }
        (_, Operand::Transposed(_)) => small_product_in::<I, F>(c, a, b, [m, k, n], accumulate),
        // A result of few long rows is computed by passes over whole rows.
        (Operand::Plain(a), Operand::Plain(b)) if k > 0 && (m <= 2 || (n >= 64 && m * k <= 16)) => {
            for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                gemv_t_in::<I, F>(c, b, a, accumulate);
            }
        }
        (Operand::Transposed(a), Operand::Plain(b)) if n >= 64 && m * k <= 16 => {
            if !accumulate {
                c.fill(F::zero());
            }
            for (a, b) in a.chunks_exact(m).zip(b.chunks_exact(n)) {
                ger_in::<I, F>(c, a, b, true);
            }
        }
        (Operand::Plain(a), Operand::Plain(b)) => plain::<I, F>(c, a, b, [k, n], accumulate),
        (Operand::Transposed(a), Operand::Plain(b)) => transposed::<I, F>(c, a, b, [m, n], accumulate),
    }
}

#[inline(always)]
fn plain<I: Isa, F: Real>(c: &mut [F], a: &[F], b: &[F], [k, n]: [usize; 2], accumulate: bool) {
    let mut bands = c.chunks_exact_mut(ROWS * n);
    let mut i = 0;
    for c in &mut bands {
        let rows: [&[F]; ROWS] = core::array::from_fn(|r| &a[(i + r) * k..][..k]);
        let [r0, r1, r2, r3] = rows;
        let weights = || r0.iter().zip(r1).zip(r2).zip(r3).map(|(((&a, &b), &c), &d)| [a, b, c, d]);
        band::<I, F, ROWS, _>(c, weights, b, n, accumulate);
        i += ROWS;
    }
    for c in bands.into_remainder().chunks_exact_mut(n) {
        let row = &a[i * k..][..k];
        band::<I, F, 1, _>(c, || row.iter().map(|&a| [a]), b, n, accumulate);
        i += 1;
    }
}

#[inline(always)]
fn transposed<I: Isa, F: Real>(c: &mut [F], a: &[F], b: &[F], [m, n]: [usize; 2], accumulate: bool) {
    let mut bands = c.chunks_exact_mut(ROWS * n);
    let mut i = 0;
    for c in &mut bands {
        let weights = || a.chunks_exact(m).filter_map(|row| row[i..].first_chunk::<ROWS>().copied());
        band::<I, F, ROWS, _>(c, weights, b, n, accumulate);
        i += ROWS;
    }
    for c in bands.into_remainder().chunks_exact_mut(n) {
        band::<I, F, 1, _>(c, || a.chunks_exact(m).map(|row| [row[i]]), b, n, accumulate);
        i += 1;
    }
}

/// The product with a transposed right operand: each element is the dot product of two rows.
#[inline(always)]
fn rows_by_rows<I: Isa, F: Real>(c: &mut [F], a: &[F], b: &[F], [k, n]: [usize; 2], accumulate: bool) {
    for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        gemv_in::<I, F>(c, b, a, accumulate);
    }
}

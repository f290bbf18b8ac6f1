//! Loops that write one slice: additions, multiples, running sums, column sums.
//!
//! This module must never read a destination that is to be overwritten.

use super::isa::{Isa, dispatched};
use crate::Real;

/// `y += x`, element by element.
///
/// # Panics
///
/// If the lengths differ.
#[inline]
#[track_caller]
pub fn add_assign<F: Real>(y: &mut [F], x: &[F]) {
    assert!(y.len() == x.len(), "{} elements added to {}", x.len(), y.len());
    dispatched!('a, F; added(y: &'a mut [F], x: &'a [F]) -> ());
}

#[inline(always)]
#[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
fn added<I: Isa, F: Real>(y: &mut [F], x: &[F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

/// `y += alpha * x`, element by element.
///
/// # Panics
///
/// If the lengths differ.
#[inline]
#[track_caller]
pub fn axpy<F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    assert!(y.len() == x.len(), "a multiple of {} elements added to {}", x.len(), y.len());
    dispatched!('a, F; axpy_in(y: &'a mut [F], alpha: F, x: &'a [F]) -> ());
}

/// [`axpy`], for callers that are already inside of [`super::dispatch`]. Elements beyond the
/// shorter length are ignored.
#[inline(always)]
pub fn axpy_in<I: Isa, F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = I::mul_add(alpha, x, *y);
    }
}

/// `y += a0 r0 + a1 r1 + a2 r2 + a3 r3`: one pass over `y` for four rows.
#[inline(always)]
pub(super) fn axpy4<I: Isa, F: Real>(y: &mut [F], a: [F; 4], r0: &[F], r1: &[F], r2: &[F], r3: &[F]) {
    let n = y.len();
    let (r0, r1, r2, r3) = (&r0[..n], &r1[..n], &r2[..n], &r3[..n]);
    for j in 0..n {
        let first = I::mul_add(a[1], r1[j], a[0] * r0[j]);
        let second = I::mul_add(a[3], r3[j], a[2] * r2[j]);
        y[j] += first + second;
    }
}

/// [`axpy4`] for eight rows. It takes a tenth less time, since `y` is loaded and stored half as
/// often.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "slices that are parameters do not alias; elements of an array may")]
pub(super) fn axpy8<I: Isa, F: Real>(
    y: &mut [F],
    a: [F; 8],
    r0: &[F],
    r1: &[F],
    r2: &[F],
    r3: &[F],
    r4: &[F],
    r5: &[F],
    r6: &[F],
    r7: &[F],
) {
    let n = y.len();
    let (r0, r1, r2, r3) = (&r0[..n], &r1[..n], &r2[..n], &r3[..n]);
    let (r4, r5, r6, r7) = (&r4[..n], &r5[..n], &r6[..n], &r7[..n]);
    for j in 0..n {
        let first = I::mul_add(a[1], r1[j], a[0] * r0[j]);
        let second = I::mul_add(a[3], r3[j], a[2] * r2[j]);
        let third = I::mul_add(a[5], r5[j], a[4] * r4[j]);
        let fourth = I::mul_add(a[7], r7[j], a[6] * r6[j]);
        y[j] += (first + second) + (third + fourth);
    }
}

/// `y += r0 + r1 + r2 + r3`.
#[inline(always)]
fn add4<F: Real>(y: &mut [F], r0: &[F], r1: &[F], r2: &[F], r3: &[F]) {
    let n = y.len();
    let (r0, r1, r2, r3) = (&r0[..n], &r1[..n], &r2[..n], &r3[..n]);
    for j in 0..n {
        y[j] += (r0[j] + r1[j]) + (r2[j] + r3[j]);
    }
}

/// The running sums of each row of `n` elements, added from the first element to the last.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn cumsum<F: Real>(out: &mut [F], x: &[F], n: usize) {
    check_rows(out, x, n);
    if n > 0 {
        for (out, x) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
            sums_so_far(out.iter_mut().zip(x));
        }
    }
}

/// The running sums of each row of `n` elements, added from the last element to the first.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn cumsum_back<F: Real>(out: &mut [F], x: &[F], n: usize) {
    check_rows(out, x, n);
    if n > 0 {
        for (out, x) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
            sums_so_far(out.iter_mut().zip(x).rev());
        }
    }
}

/// Rows of several lengths, one after the other: the number of the row of each element. `lens` has
/// the lengths of `n` rows for each vector. An element after the last row has the number `n`.
///
/// # Panics
///
/// If the lengths are not a whole number of vectors of `n`, or if there are not as many vectors of
/// row numbers.
#[track_caller]
pub fn numbers_of_rows(out: &mut [usize], lens: &[usize], n: usize) {
    rows_of_lengths(out, lens, n, |row, number| row.fill(number));
}

/// Like [`numbers_of_rows`], for the place of each element in its row. An element after the last
/// row is counted from there.
///
/// # Panics
///
/// If the lengths are not a whole number of vectors of `n`, or if there are not as many vectors of
/// places.
#[track_caller]
pub fn places_in_rows(out: &mut [usize], lens: &[usize], n: usize) {
    rows_of_lengths(out, lens, n, |row, _| row.iter_mut().enumerate().for_each(|(k, place)| *place = k));
}

/// Calls `f` with each row and its number, and then with the elements after the last row and the
/// number `n`.
#[track_caller]
fn rows_of_lengths(out: &mut [usize], lens: &[usize], n: usize, mut f: impl FnMut(&mut [usize], usize)) {
    if n == 0 || lens.is_empty() {
        f(out, n);
        return;
    }
    let count = lens.len() / n;
    assert!(lens.len() == count * n && out.len().is_multiple_of(count), "{} numbers of {count} vectors", out.len());
    let total = out.len() / count;
    for (k, lens) in lens.chunks_exact(n).enumerate() {
        let mut rest = &mut out[k * total..][..total];
        for (number, &len) in lens.iter().enumerate() {
            let (row, after) = rest.split_at_mut(len.min(rest.len()));
            f(row, number);
            rest = after;
        }
        f(rest, n);
    }
}

#[track_caller]
fn check_rows<F>(out: &[F], x: &[F], n: usize) {
    assert!(out.len() == x.len(), "{} sums of {} elements", out.len(), x.len());
    assert!(
        if n == 0 { x.is_empty() } else { x.len().is_multiple_of(n) },
        "{} elements are not a whole number of rows of {n}",
        x.len()
    );
}

/// Writes the running sums. The first one is the element itself: a sum that begins with 0 would
/// lose the sign of a zero.
#[inline]
fn sums_so_far<'a, F: Real>(mut pairs: impl Iterator<Item = (&'a mut F, &'a F)>) {
    let Some((out, &first)) = pairs.next() else { return };
    *out = first;
    let mut sum = first;
    for (out, &x) in pairs {
        sum += x;
        *out = sum;
    }
}

/// The sums of the columns of the row-major matrix `x` of `out.len()` columns: `out[j] (+)= sum_i
/// x[i, j]`.
///
/// This is also the sum over the first axis of an array of any rank: the rows are the outer items
/// of the array.
///
/// # Panics
///
/// If `x` is not a whole number of rows.
#[track_caller]
pub fn column_sums<F: Real>(out: &mut [F], x: &[F], accumulate: bool) {
    let n = out.len();
    assert!(
        if n == 0 { x.is_empty() } else { x.len().is_multiple_of(n) },
        "{} elements are not a whole number of rows of {n}",
        x.len()
    );
    if !accumulate {
        out.fill(F::zero());
    }
    if n == 0 {
        return;
    }
    dispatched!('a, F; column_sums_in(out: &'a mut [F], x: &'a [F]) -> ());
}

/// Adds the rows of `x` to `out`. A row has the length of `out`, which is not 0.
#[inline(always)]
#[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
fn column_sums_in<I: Isa, F: Real>(out: &mut [F], x: &[F]) {
    let n = out.len();
    // Four rows a pass: the destination is loaded and stored a quarter as often.
    let mut blocks = x.chunks_exact(4 * n);
    for block in &mut blocks {
        let (r0, block) = block.split_at(n);
        let (r1, block) = block.split_at(n);
        let (r2, r3) = block.split_at(n);
        add4(out, r0, r1, r2, r3);
    }
    for row in blocks.remainder().chunks_exact(n) {
        for (out, &v) in out.iter_mut().zip(row) {
            *out += v;
        }
    }
}

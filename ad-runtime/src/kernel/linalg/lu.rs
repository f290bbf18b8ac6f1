//! The LU factorisation with partial pivoting, block by block from the left, and the solution of
//! systems by it.

use alloc::vec::Vec;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayViewMut2, Axis, s};

use super::triangular::{System, each_system, in_place};
use super::{BLOCK, batch, each_matrix, few, quotient, two_rows};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::vector::axpy_in;

/// The factorisation of each matrix of n rows in n + 3 rows: u in the upper triangle, and l below
/// it; the numbers of the rows; the signs of the diagonal of u; and ones, the first of which is -1
/// if the number of exchanges is odd.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn lu<F: Real>(out: &mut [F], a: &[F], n: usize) {
    each_matrix(out, a, [n, n], |out, a| factored(out, a, n));
}

/// The factorisation of one matrix of n rows. False if there is none.
#[inline(always)]
pub(super) fn factored<F: Real>(out: &mut [F], a: &[F], n: usize) -> bool {
    let (u, rest) = out.split_at_mut(n * n);
    let (order, rest) = rest.split_at_mut(n);
    let (signs, parity) = rest.split_at_mut(n);
    u.copy_from_slice(a);
    order.iter_mut().enumerate().for_each(|(k, row)| *row = number(k));
    let odd = few::factor(u, order, n).unwrap_or_else(|| factor(u, order, n));
    let Some(odd) = odd else { return false };
    for (k, sign) in signs.iter_mut().enumerate() {
        *sign = u[k * n + k].signum();
    }
    parity.fill(F::one());
    if odd {
        parity[0] = -F::one();
    }
    true
}

#[inline]
pub(super) fn number<F: Real>(k: usize) -> F {
    F::from(k).unwrap_or_else(F::nan)
}

/// The number of a row as a factorisation stores it. The order of a factorisation that failed is
/// NaN, and so is every solution: then it is k.
#[inline(always)]
pub(super) fn stored_row<F: Real>(row: F, k: usize, n: usize) -> usize {
    row.to_usize().filter(|&row| row < n).unwrap_or(k)
}

/// Whether the number of exchanges is odd. `None` if a pivot is zero or not finite.
pub(super) fn factor<F: Real>(u: &mut [F], order: &mut [F], n: usize) -> Option<bool> {
    let mut odd = false;
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        odd ^= dispatched!('a, F; panel(u: &'a mut [F], order: &'a mut [F], n: usize, start: usize, end: usize) -> Option<bool>)?;
        if end == n {
            break;
        }
        dispatched!('a, F; right(u: &'a mut [F], n: usize, start: usize, end: usize) -> ());
        let all = ArrayViewMut2::from_shape((n, n), &mut *u).ok()?;
        let (above, below) = all.split_at(Axis(0), end);
        let (left, mut rest) = below.split_at(Axis(1), end);
        let (columns, rows) = (left.slice(s![.., start..]), above.slice(s![start.., end..]));
        general_mat_mul(-F::one(), &columns, &rows, F::one(), &mut rest);
    }
    Some(odd)
}

/// The columns from `start` to `end`. Whole rows are exchanged.
#[inline(always)]
fn panel<I: Isa, F: Real>(u: &mut [F], order: &mut [F], n: usize, start: usize, end: usize) -> Option<bool> {
    let mut odd = false;
    for j in start..end {
        let mut pivot = j;
        for i in j + 1..n {
            if u[i * n + j].abs() > u[pivot * n + j].abs() {
                pivot = i;
            }
        }
        let size = u[pivot * n + j].abs();
        if !(size > F::zero() && size < F::infinity()) {
            return None;
        }
        if pivot != j {
            let (upper, lower) = two_rows(u, n, j, pivot);
            upper.swap_with_slice(lower);
            order.swap(j, pivot);
            odd = !odd;
        }
        for i in j + 1..n {
            let (upper, lower) = two_rows(u, n, j, i);
            let factor = lower[j] / upper[j];
            lower[j] = factor;
            axpy_in::<I, F>(&mut lower[j + 1..end], -factor, &upper[j + 1..end]);
        }
    }
    Some(odd)
}

/// The rows from `start` to `end`, to the right of the panel.
#[inline(always)]
fn right<I: Isa, F: Real>(u: &mut [F], n: usize, start: usize, end: usize) {
    for i in start + 1..end {
        for j in start..i {
            let (upper, lower) = two_rows(u, n, j, i);
            let factor = lower[j];
            axpy_in::<I, F>(&mut lower[end..], -factor, &upper[end..]);
        }
    }
}

/// The logarithm of the absolute value of the determinant of each matrix a of n rows, by its
/// factorisation.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn log_det<F: Real>(out: &mut [F], _a: &[F], packed: &[F], n: usize) {
    let size = (n + 3) * n;
    // A matrix without elements has the determinant 1.
    let count = if size == 0 { out.len() } else { batch(packed.len(), size) };
    assert!(out.len() == count, "{} determinants of {count} matrices", out.len());
    for (k, out) in out.iter_mut().enumerate() {
        let packed = &packed[k * size..][..size];
        *out = sum_of_logarithms((0..n).map(|k| packed[k * n + k].abs()));
    }
}

/// The sum of the logarithms of these numbers. Numbers are multiplied as long as their product is
/// far from the largest and from the smallest number: a product costs less than a logarithm.
fn sum_of_logarithms<F: Real>(sizes: impl Iterator<Item = F>) -> F {
    let (least, most) = (F::min_positive_value().sqrt(), F::max_value().sqrt());
    let moderate = |x: F| x > least && x < most;
    let (mut sum, mut product) = (F::zero(), F::one());
    for size in sizes {
        if !moderate(size) {
            sum += size.ln();
            continue;
        }
        product *= size;
        if !moderate(product) {
            sum += product.ln();
            product = F::one();
        }
    }
    sum + product.ln()
}

/// The solution x of `a x = b`, by the factorisation of a. b may have several columns.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn lu_solve<F: Real>(out: &mut [F], b: &[F], _a: &[F], packed: &[F], n: usize) {
    assert!(out.len() == b.len(), "{} solutions of {} equations", out.len(), b.len());
    out.copy_from_slice(b);
    each_system(out, packed, (n + 3) * n, |x, packed| {
        if few::solve(x, packed, n, quotient(x.len(), n), false).is_some() {
            return;
        }
        permuted(x, packed, n, false);
        in_place(x, packed, n, System { upper: false, transposed: false, unit: true });
        in_place(x, packed, n, System { upper: true, transposed: false, unit: false });
    });
}

/// The solution x of `a' x = b`, by the factorisation of a.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn lu_solve_t<F: Real>(out: &mut [F], b: &[F], _a: &[F], packed: &[F], n: usize) {
    assert!(out.len() == b.len(), "{} solutions of {} equations", out.len(), b.len());
    out.copy_from_slice(b);
    each_system(out, packed, (n + 3) * n, |x, packed| {
        if few::solve(x, packed, n, quotient(x.len(), n), true).is_some() {
            return;
        }
        in_place(x, packed, n, System { upper: true, transposed: true, unit: false });
        in_place(x, packed, n, System { upper: false, transposed: true, unit: true });
        permuted(x, packed, n, true);
    });
}

/// The number of elements of a right-hand side that is brought into order without the heap.
const MAX_STACK_ELEMENTS: usize = 64;

/// Brings the rows of x into the order of the factorisation, or back.
fn permuted<F: Real>(x: &mut [F], packed: &[F], n: usize, back: bool) {
    let order = &packed[n * n..][..n];
    if order.iter().enumerate().all(|(k, &row)| row == number(k)) {
        return;
    }
    let (mut few, mut many) = ([F::zero(); MAX_STACK_ELEMENTS], Vec::new());
    let before = if x.len() <= MAX_STACK_ELEMENTS {
        &mut few[..x.len()]
    } else {
        many.resize(x.len(), F::zero());
        &mut many[..]
    };
    before.copy_from_slice(x);
    let columns = quotient(x.len(), n);
    for (k, row) in order.iter().enumerate() {
        let row = stored_row(*row, k, n);
        let (to, from) = if back { (row, k) } else { (k, row) };
        for (to, &from) in x[to * columns..][..columns].iter_mut().zip(&before[from * columns..][..columns]) {
            *to = from;
        }
    }
}

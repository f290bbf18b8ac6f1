//! Cholesky's factorisation, block by block from the left.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayViewMut2, Axis, s};

use super::{BLOCK, each_matrix, symmetric_part, two_rows};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::reduce::dot_in;

/// The number of columns that one product subtracts from the rest of the matrix. The part above the
/// diagonal is computed needlessly only within these columns.
const STRIP_COLUMNS: usize = 128;

/// The lower triangular factor of the symmetric part of each matrix of n rows.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn cholesky<F: Real>(out: &mut [F], a: &[F], n: usize) {
    each_matrix(out, a, [n, n], |l, a| {
        symmetric_part(l, a, n);
        factor(l, n)
    });
}

fn factor<F: Real>(l: &mut [F], n: usize) -> bool {
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        if !dispatched!('a, F; panel(l: &'a mut [F], n: usize, start: usize, end: usize) -> bool) {
            return false;
        }
        if end == n {
            break;
        }
        let Ok(all) = ArrayViewMut2::from_shape((n, n), &mut *l) else { return false };
        let (left, mut right) = all.split_at(Axis(1), end);
        for first in (end..n).step_by(STRIP_COLUMNS) {
            let last = (first + STRIP_COLUMNS).min(n);
            let rows = left.slice(s![first.., start..end]);
            let columns = left.slice(s![first..last, start..end]);
            let mut rest = right.slice_mut(s![first.., first - end..last - end]);
            general_mat_mul(-F::one(), &rows, &columns.t(), F::one(), &mut rest);
        }
    }
    for i in 0..n {
        l[i * n + i + 1..(i + 1) * n].fill(F::zero());
    }
    true
}

/// The columns from `start` to `end`, from whose elements the products of all earlier columns have
/// been subtracted.
#[inline(always)]
fn panel<I: Isa, F: Real>(l: &mut [F], n: usize, start: usize, end: usize) -> bool {
    for j in start..end {
        let row = &mut l[j * n + start..][..j - start + 1];
        let (before, pivot) = row.split_at_mut(j - start);
        let rest = pivot[0] - dot_in::<I, F>(before, before);
        // A NaN is not a pivot either.
        if !(rest > F::zero() && rest < F::infinity()) {
            return false;
        }
        let root = rest.sqrt();
        pivot[0] = root;
        for i in j + 1..n {
            let (upper, lower) = two_rows(l, n, j, i);
            let rest = lower[j] - dot_in::<I, F>(&lower[start..j], &upper[start..j]);
            lower[j] = rest / root;
        }
    }
    true
}

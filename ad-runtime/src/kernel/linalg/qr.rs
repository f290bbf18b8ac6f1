//! The QR factorisation by Householder's reflections, one column after the other.

use alloc::vec;

use super::each_matrix;
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::reduce::dot_in;
use crate::kernel::vector::axpy_in;

/// The factorisation of each matrix of n columns, which has at least as many rows: the rows of q,
/// and the n rows of r, whose diagonal is positive. It fails if a column is a sum of multiples of
/// the others, up to rounding.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn qr<F: Real>(out: &mut [F], a: &[F], n: usize) {
    // `out` has n rows more than `a` for each matrix of the batch.
    let more = out.len().saturating_sub(a.len());
    let count = more.checked_div(n * n).unwrap_or(0);
    let size = a.len().checked_div(count).unwrap_or(0);
    let m = size.checked_div(n).unwrap_or(0);
    if m < n {
        return out.fill(F::nan());
    }
    each_matrix(out, a, [m, n], |out, a| {
        let (q, r) = out.split_at_mut(m * n);
        let mut columns = vec![F::zero(); m * n];
        let columns = &mut columns[..];
        for (i, row) in a.chunks_exact(n).enumerate() {
            row.iter().enumerate().for_each(|(j, &x)| columns[j * m + i] = x);
        }
        dispatched!('a, F; factor(q: &'a mut [F], r: &'a mut [F], columns: &'a mut [F], m: usize, n: usize) -> bool)
    });
}

/// `columns` has the columns of the matrix as rows.
#[inline(always)]
fn factor<I: Isa, F: Real>(q: &mut [F], r: &mut [F], columns: &mut [F], m: usize, n: usize) -> bool {
    let least = F::epsilon() * F::from(m).unwrap_or_else(F::nan);
    // Column k becomes the vector of reflection k: `h = 1 - 2 v v'`, with a unit vector v that is
    // zero before k.
    for k in 0..n {
        let (done, rest) = columns.split_at_mut(k * m);
        let (own, _) = rest.split_at_mut(m);
        let length = dot_in::<I, F>(own, own).sqrt();
        for (l, v) in done.chunks_exact(m).enumerate() {
            reflect::<I, F>(&mut own[l..], &v[l..]);
        }
        let norm = dot_in::<I, F>(&own[k..], &own[k..]).sqrt();
        if !(norm > least * length && norm < F::infinity()) {
            return false;
        }
        for (i, &x) in own[..k].iter().enumerate() {
            r[i * n + k] = x;
        }
        // The image has the sign that loses no digits. It is made positive at the end.
        let image = if own[k] > F::zero() { -norm } else { norm };
        r[k * n + k] = image;
        r[k * n..][..k].fill(F::zero());
        own[..k].fill(F::zero());
        own[k] -= image;
        let size = dot_in::<I, F>(&own[k..], &own[k..]).sqrt();
        own[k..].iter_mut().for_each(|x| *x /= size);
    }
    let mut column = vec![F::zero(); m];
    for k in 0..n {
        column.fill(F::zero());
        column[k] = F::one();
        for l in (0..=k).rev() {
            reflect::<I, F>(&mut column[l..], &columns[l * m + l..(l + 1) * m]);
        }
        let negative = r[k * n + k] < F::zero();
        for (i, &x) in column.iter().enumerate() {
            q[i * n + k] = if negative { -x } else { x };
        }
        if negative {
            r[k * n + k..(k + 1) * n].iter_mut().for_each(|x| *x = -*x);
        }
    }
    true
}

/// `x - 2 v (v' x)`.
#[inline(always)]
fn reflect<I: Isa, F: Real>(x: &mut [F], v: &[F]) {
    let along = dot_in::<I, F>(x, v);
    axpy_in::<I, F>(x, -(along + along), v);
}

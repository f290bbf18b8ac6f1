//! Factorisations and systems of two to six rows. Their number of rows is known when the kernel is
//! compiled, so a matrix has no loop and no test of an index. For such sizes the general kernels
//! spend more time on their calls than on numbers.
//!
//! This is code for each number of rows, so there is none for machines without fused multiply-add.
//! Where a function returns `None`, the general kernel does the work.
//!
//! A kernel of this module must do what the general one does, up to rounding: sums have another
//! order, and rows are multiplied by the reciprocal of their pivot.

use super::lu::{factored, number, stored_row};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::square::{by_rows, rows, rows_mut};

/// The number of columns of the right-hand sides that are solved together.
const COLUMNS: usize = 4;

/// Solves `a x = b`, or `a' x = b`, in the place of b, by the factorisation of a. b has m columns.
pub(super) fn solve<F: Real>(x: &mut [F], packed: &[F], n: usize, m: usize, transposed: bool) -> Option<()> {
    dispatched!('a, F; solve_in(x: &'a mut [F], packed: &'a [F], n: usize, m: usize, transposed: bool) -> Option<()>)
}

#[inline(always)]
fn solve_in<I: Isa, F: Real>(x: &mut [F], packed: &[F], n: usize, m: usize, transposed: bool) -> Option<()> {
    by_rows!(n, I, F, solve_rows(x, packed, m, transposed))
}

#[inline(always)]
fn solve_rows<I: Isa, F: Real, const N: usize>(x: &mut [F], packed: &[F], m: usize, transposed: bool) -> Option<()> {
    let packed = packed.as_chunks::<N>().0;
    let (u, order) = (packed.first_chunk::<N>()?, packed.get(N)?);
    let mut first = 0;
    while first + COLUMNS <= m {
        columns::<I, F, N, COLUMNS>(x, u, order, first, m, transposed)?;
        first += COLUMNS;
    }
    while first < m {
        columns::<I, F, N, 1>(x, u, order, first, m, transposed)?;
        first += 1;
    }
    Some(())
}

/// Solves for `C` columns, from `first` on.
#[inline(always)]
fn columns<I: Isa, F: Real, const N: usize, const C: usize>(
    x: &mut [F],
    u: &[[F; N]; N],
    order: &[F; N],
    first: usize,
    m: usize,
    transposed: bool,
) -> Option<()> {
    let mut rows = [[F::zero(); C]; N];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = *x.get(k * m + first..)?.first_chunk::<C>()?;
    }
    // The quotients do not wait for each other, as divisions of the rows would.
    let pivots: [(F, F); N] = core::array::from_fn(|k| (u[k][k], F::one() / u[k][k]));
    let exchanged = order.iter().enumerate().any(|(k, &row)| row != number(k));
    if transposed {
        substitute::<I, F, N, C>(&mut rows, true, |i, j| u[j][i], Some(&pivots));
        substitute::<I, F, N, C>(&mut rows, false, |i, j| u[j][i], None);
    }
    if exchanged {
        let before = rows;
        for (k, &row) in order.iter().enumerate() {
            let row = stored_row(row, k, N);
            let (to, from) = if transposed { (row, k) } else { (k, row) };
            rows[to] = before[from];
        }
    }
    if !transposed {
        substitute::<I, F, N, C>(&mut rows, true, |i, j| u[i][j], None);
        substitute::<I, F, N, C>(&mut rows, false, |i, j| u[i][j], Some(&pivots));
    }
    for (k, row) in rows.iter().enumerate() {
        *x.get_mut(k * m + first..)?.first_chunk_mut::<C>()? = *row;
    }
    Some(())
}

/// A substitution, forwards or backwards, by the triangle of which `element(i, j)` is an element.
/// Without pivots, its diagonal is 1.
#[inline(always)]
fn substitute<I: Isa, F: Real, const N: usize, const C: usize>(
    rows: &mut [[F; C]; N],
    forward: bool,
    element: impl Fn(usize, usize) -> F,
    pivots: Option<&[(F, F); N]>,
) {
    for step in 0..N {
        let i = if forward { step } else { N - 1 - step };
        let others = if forward { 0..i } else { i + 1..N };
        for j in others {
            let factor = -element(i, j);
            let other = rows[j];
            for (own, other) in rows[i].iter_mut().zip(other) {
                *own = I::mul_add(factor, other, *own);
            }
        }
        if let Some(pivots) = pivots {
            divide(&mut rows[i], pivots[i]);
        }
    }
}

/// Divides a row by its pivot, whose reciprocal is the second number. A reciprocal that is infinite
/// or loses digits is not used.
#[inline(always)]
fn divide<F: Real, const C: usize>(row: &mut [F; C], (pivot, reciprocal): (F, F)) {
    if reciprocal.is_normal() {
        row.iter_mut().for_each(|x| *x *= reciprocal);
    } else {
        row.iter_mut().for_each(|x| *x /= pivot);
    }
}

/// [`super::lu`] of one matrix of N rows, if the lengths are those of one. Its lengths are known
/// when the caller is compiled.
#[inline(always)]
pub(in crate::kernel) fn lu_of_rows<F: Real, const N: usize>(out: &mut [F], a: &[F]) -> Option<()> {
    if out.len() != (N + 3) * N || a.len() != N * N {
        return None;
    }
    if !factored(out, a, N) {
        out.fill(F::nan());
    }
    Some(())
}

/// [`super::lu_solve`], or [`super::lu_solve_t`], for one matrix of N rows and one or N right-hand
/// sides, if the lengths are those of such a system.
#[inline(always)]
pub(in crate::kernel) fn lu_solve_of_rows<F: Real, const N: usize>(
    out: &mut [F],
    b: &[F],
    packed: &[F],
    transposed: bool,
) -> Option<()> {
    if packed.len() != (N + 3) * N || out.len() != b.len() {
        return None;
    }
    let (any, m) = if out.len() == N {
        (copied(out.first_chunk_mut::<N>()?, b.first_chunk::<N>()?), 1)
    } else if out.len() == N * N {
        (copied(rows_mut::<F, N>(out)?.as_flattened_mut(), rows::<F, N>(b)?.as_flattened()), N)
    } else {
        return None;
    };
    if any { solve(out, packed, N, m, transposed) } else { Some(()) }
}

/// Copies a right-hand side, and returns whether it has a number that is not zero.
#[inline(always)]
fn copied<F: Real>(x: &mut [F], b: &[F]) -> bool {
    x.copy_from_slice(b);
    b.iter().fold(false, |any, &b| any | (b != F::zero()))
}

/// The factorisation of the matrix of n rows that is in u, and the order of its rows. The result is
/// that of [`super::lu::factor`].
pub(super) fn factor<F: Real>(u: &mut [F], order: &mut [F], n: usize) -> Option<Option<bool>> {
    dispatched!('a, F; factor_in(u: &'a mut [F], order: &'a mut [F], n: usize) -> Option<Option<bool>>)
}

#[inline(always)]
fn factor_in<I: Isa, F: Real>(u: &mut [F], order: &mut [F], n: usize) -> Option<Option<bool>> {
    by_rows!(n, I, F, factor_rows(u, order))
}

#[inline(always)]
fn factor_rows<I: Isa, F: Real, const N: usize>(u: &mut [F], order: &mut [F]) -> Option<Option<bool>> {
    let u = rows_mut::<F, N>(u)?;
    let order = order.first_chunk_mut::<N>()?;
    let mut odd = false;
    for j in 0..N {
        let mut pivot = j;
        for i in j + 1..N {
            if u[i][j].abs() > u[pivot][j].abs() {
                pivot = i;
            }
        }
        let size = u[pivot][j].abs();
        if !(size > F::zero() && size < F::infinity()) {
            return Some(None);
        }
        if pivot != j {
            u.swap(j, pivot);
            order.swap(j, pivot);
            odd = !odd;
        }
        let upper = u[j];
        for row in &mut u[j + 1..] {
            let factor = row[j] / upper[j];
            row[j] = factor;
            for l in j + 1..N {
                row[l] = I::mul_add(-factor, upper[l], row[l]);
            }
        }
    }
    Some(Some(odd))
}

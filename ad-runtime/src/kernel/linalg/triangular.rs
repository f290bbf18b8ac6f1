//! Systems of a triangular matrix. A right-hand side that is zero has the solution zero, whatever
//! the matrix is.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::{BLOCK, batch, quotient};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::reduce::dot_in;
use crate::kernel::vector::axpy_in;

/// The number of columns whose elements of one row are in registers together.
const COLUMNS: usize = 16;

/// The solution x of `t x = b` for the lower triangle t of n rows. b may have several columns.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn solve_lower<F: Real>(out: &mut [F], b: &[F], t: &[F], n: usize) {
    systems(out, b, t, n, [false, false]);
}

/// The solution x of `t' x = b` for the lower triangle t of n rows.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn solve_lower_t<F: Real>(out: &mut [F], b: &[F], t: &[F], n: usize) {
    systems(out, b, t, n, [false, true]);
}

/// The solution x of `t x = b` for the upper triangle t of n rows.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn solve_upper<F: Real>(out: &mut [F], b: &[F], t: &[F], n: usize) {
    systems(out, b, t, n, [true, false]);
}

/// The solution x of `t' x = b` for the upper triangle t of n rows.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn solve_upper_t<F: Real>(out: &mut [F], b: &[F], t: &[F], n: usize) {
    systems(out, b, t, n, [true, true]);
}

#[track_caller]
fn systems<F: Real>(out: &mut [F], b: &[F], t: &[F], n: usize, [upper, transposed]: [bool; 2]) {
    assert!(out.len() == b.len(), "{} solutions of {} equations", out.len(), b.len());
    out.copy_from_slice(b);
    each_system(out, t, n * n, |x, t| in_place(x, t, n, System { upper, transposed, unit: false }));
}

/// Calls `f` with each right-hand side that is not zero, and its matrix of `size` elements.
#[track_caller]
pub(super) fn each_system<F: Real>(out: &mut [F], t: &[F], size: usize, f: impl Fn(&mut [F], &[F])) {
    let count = batch(t.len(), size);
    let len = quotient(out.len(), count);
    assert!(len * count == out.len(), "{} elements for {count} systems", out.len());
    for k in 0..count {
        let x = &mut out[k * len..][..len];
        if x.iter().any(|&x| x != F::zero()) {
            f(x, &t[k * size..][..size]);
        }
    }
}

/// Which system a triangle is part of.
#[derive(Clone, Copy)]
pub(super) struct System {
    pub upper: bool,
    pub transposed: bool,
    /// Whether the diagonal is 1, whatever is stored there.
    pub unit: bool,
}

/// Solves a system in the place of its right-hand side. `t` has n columns, and at least n rows.
pub(super) fn in_place<F: Real>(x: &mut [F], t: &[F], n: usize, system: System) {
    let m = quotient(x.len(), n);
    if m == 1 {
        dispatched!('a, F; vector(x: &'a mut [F], t: &'a [F], n: usize, system: System) -> ());
        return;
    }
    // The first rows of a forward substitution depend on no others.
    let forward = system.upper == system.transposed;
    let strides = if system.transposed { [1, n] } else { [n, 1] };
    let unit = system.unit;
    if n <= BLOCK {
        dispatched!('a, F; block(x: &'a mut [F], t: &'a [F], strides: [usize; 2], n: usize, m: usize, forward: bool, unit: bool) -> ());
        return;
    }
    let (Ok(mut x), Ok(all)) = (ArrayViewMut2::from_shape((n, m), x), ArrayView2::from_shape((n, n), &t[..n * n]))
    else {
        return;
    };
    let all = if system.transposed { all.reversed_axes() } else { all };
    for step in 0..n.div_ceil(BLOCK) {
        let at = if forward { step } else { n.div_ceil(BLOCK) - 1 - step };
        let (start, end) = (at * BLOCK, (at * BLOCK + BLOCK).min(n));
        let (mut above, below) = x.view_mut().split_at(Axis(0), start);
        let (mut own, mut below) = below.split_at(Axis(0), end - start);
        if let Some(own) = own.as_slice_mut() {
            let (corner, size) = (&t[start * (n + 1)..], end - start);
            dispatched!('a, F; block(own: &'a mut [F], corner: &'a [F], strides: [usize; 2], size: usize, m: usize, forward: bool, unit: bool) -> ());
        }
        let minus = -F::one();
        if forward && end < n {
            general_mat_mul(minus, &all.slice(s![end.., start..end]), &own, F::one(), &mut below);
        } else if !forward && start > 0 {
            general_mat_mul(minus, &all.slice(s![..start, start..end]), &own, F::one(), &mut above);
        }
    }
}

/// Solves the equations of a block of `size` rows of m columns. Element `[i, j]` of the matrix is
/// at `i * strides[0] + j * strides[1]`.
#[inline(always)]
fn block<I: Isa, F: Real>(x: &mut [F], t: &[F], strides: [usize; 2], size: usize, m: usize, forward: bool, unit: bool) {
    let mut first = 0;
    while first + COLUMNS <= m {
        columns::<I, F, COLUMNS>(x, t, strides, size, [first, m], forward, unit);
        first += COLUMNS;
    }
    while first + 4 <= m {
        columns::<I, F, 4>(x, t, strides, size, [first, m], forward, unit);
        first += 4;
    }
    while first < m {
        columns::<I, F, 1>(x, t, strides, size, [first, m], forward, unit);
        first += 1;
    }
}

/// Solves the equations of a block for `C` of its m columns, from `first` on. The elements of a row
/// stay in registers until its equation is solved.
#[inline(always)]
fn columns<I: Isa, F: Real, const C: usize>(
    x: &mut [F],
    t: &[F],
    [down, right]: [usize; 2],
    size: usize,
    [first, m]: [usize; 2],
    forward: bool,
    unit: bool,
) {
    for step in 0..size {
        let i = if forward { step } else { size - 1 - step };
        let Some(&own) = x[i * m + first..].first_chunk::<C>() else { return };
        let mut rest = own;
        let others = if forward { 0..i } else { i + 1..size };
        for j in others {
            let factor = -t[i * down + j * right];
            let Some(other) = x[j * m + first..].first_chunk::<C>() else { return };
            for l in 0..C {
                rest[l] = I::mul_add(factor, other[l], rest[l]);
            }
        }
        if !unit {
            let pivot = t[i * (down + right)];
            rest.iter_mut().for_each(|x| *x /= pivot);
        }
        let Some(place) = x[i * m + first..].first_chunk_mut::<C>() else { return };
        *place = rest;
    }
}

/// Solves a system of one right-hand side. It reads the matrix row by row.
#[inline(always)]
fn vector<I: Isa, F: Real>(x: &mut [F], t: &[F], n: usize, system: System) {
    let forward = system.upper == system.transposed;
    for step in 0..n {
        let i = if forward { step } else { n - 1 - step };
        let row = &t[i * n..][..n];
        let (before, rest) = x.split_at_mut(i);
        let Some((own, after)) = rest.split_first_mut() else { return };
        let (others, of_row) = if system.upper { (after, &row[i + 1..]) } else { (before, &row[..i]) };
        let pivot = if system.unit { F::one() } else { row[i] };
        if system.transposed {
            *own /= pivot;
            axpy_in::<I, F>(others, -*own, of_row);
        } else {
            *own = (*own - dot_in::<I, F>(of_row, others)) / pivot;
        }
    }
}

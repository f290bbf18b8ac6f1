//! The derivative of Cholesky's factorisation, and its transpose. Only the lower triangle of the
//! factor is read. A change of zeros has the result zero, whatever the factor is.

use alloc::vec;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

use super::triangular::{System, each_system, in_place};
use super::{BLOCK, symmetric_part, two_rows};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::vector::axpy_in;

/// The change of the factor l of n rows, if the matrix changes by x.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn cholesky_change<F: Real>(out: &mut [F], x: &[F], l: &[F], n: usize) {
    assert!(out.len() == x.len() && x.len() == l.len(), "{} changes of {} elements", x.len(), l.len());
    out.copy_from_slice(x);
    each_system(out, l, n * n, |x, l| {
        let given = x.to_vec();
        symmetric_part(x, &given, n);
        let system = System { upper: false, transposed: false, unit: false };
        in_place(x, l, n, system);
        transpose(x, n);
        in_place(x, l, n, system);
        for (i, row) in x.chunks_exact_mut(n).enumerate() {
            row[i] *= F::lit(0.5);
            row[i + 1..].fill(F::zero());
        }
        times_lower(x, l, n);
    });
}

fn transpose<F: Real>(x: &mut [F], n: usize) {
    for i in 0..n {
        for j in 0..i {
            x.swap(i * n + j, j * n + i);
        }
    }
}

/// `x = l x`, block by block from the last rows, which no other rows need.
fn times_lower<F: Real>(x: &mut [F], l: &[F], n: usize) {
    for at in (0..n.div_ceil(BLOCK)).rev() {
        let (start, end) = (at * BLOCK, (at * BLOCK + BLOCK).min(n));
        dispatched!('a, F; times_corner(x: &'a mut [F], l: &'a [F], n: usize, start: usize, end: usize) -> ());
        let (above, own) = x.split_at_mut(start * n);
        let size = end - start;
        let (Ok(above), Ok(mut own), Ok(l)) = (
            ArrayView2::from_shape((start, n), &*above),
            ArrayViewMut2::from_shape((size, n), &mut own[..size * n]),
            ArrayView2::from_shape((n, n), l),
        ) else {
            return;
        };
        if start > 0 {
            general_mat_mul(F::one(), &l.slice(s![start..end, ..start]), &above, F::one(), &mut own);
        }
    }
}

/// The part of the rows from `start` to `end` that depends on these rows.
#[inline(always)]
fn times_corner<I: Isa, F: Real>(x: &mut [F], l: &[F], n: usize, start: usize, end: usize) {
    for i in (start..end).rev() {
        let pivot = l[i * n + i];
        x[i * n..][..n].iter_mut().for_each(|x| *x *= pivot);
        for j in start..i {
            let (upper, lower) = two_rows(x, n, j, i);
            axpy_in::<I, F>(lower, l[i * n + j], upper);
        }
    }
}

/// The symmetric matrix whose product with each change of a matrix of n rows is the product of x
/// with the change of its factor l. It goes through the factorisation backwards, block by block
/// (Murray 2016, section 3), with two thirds of n^3 operations.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn cholesky_change_t<F: Real>(out: &mut [F], x: &[F], l: &[F], n: usize) {
    assert!(out.len() == x.len() && x.len() == l.len(), "{} changes of {} elements", x.len(), l.len());
    out.copy_from_slice(x);
    if n > 0 {
        out.chunks_exact_mut(n).enumerate().for_each(|(k, row)| row[k % n + 1..].fill(F::zero()));
    }
    each_system(out, l, n * n, |x, l| {
        for at in (0..n.div_ceil(BLOCK)).rev() {
            columns_back(x, l, n, at * BLOCK, (at * BLOCK + BLOCK).min(n));
        }
        for i in 0..n {
            for j in 0..i {
                let half = x[i * n + j] * F::lit(0.5);
                (x[i * n + j], x[j * n + i]) = (half, half);
            }
        }
    });
}

/// The columns from `start` to `end`: the cotangent of the factor there becomes that of the lower
/// triangle of the matrix, and the contributions to the columns before them are added.
fn columns_back<F: Real>(x: &mut [F], l: &[F], n: usize, start: usize, end: usize) {
    let size = end - start;
    if size == n {
        dispatched!('a, F; corner_back(x: &'a mut [F], l: &'a [F], n: usize, size: usize) -> ());
        return;
    }
    let corner = &l[start * (n + 1)..];
    if end < n {
        let below = &mut x[end * n..];
        dispatched!('a, F; rows_back(below: &'a mut [F], corner: &'a [F], n: usize, start: usize, size: usize) -> ());
    }
    let Ok(factor) = ArrayView2::from_shape((n, n), l) else { return };
    let (before, after) = (factor.slice(s![start..end, ..start]), factor.slice(s![end.., ..start]));
    let column = factor.slice(s![end.., start..end]);
    let minus = -F::one();
    {
        let Ok(all) = ArrayViewMut2::from_shape((n, n), &mut *x) else { return };
        let (above, below) = all.split_at(Axis(0), end);
        let (mut left, right) = below.split_at(Axis(1), start);
        let (own, _) = right.split_at(Axis(1), size);
        let (_, rows) = above.split_at(Axis(0), start);
        let (mut rows_left, rows_right) = rows.split_at(Axis(1), start);
        let (mut own_corner, _) = rows_right.split_at(Axis(1), size);
        if end < n {
            general_mat_mul(minus, &own.t(), &column, F::one(), &mut own_corner);
            if start > 0 {
                general_mat_mul(minus, &own, &before, F::one(), &mut left);
                general_mat_mul(minus, &own.t(), &after, F::one(), &mut rows_left);
            }
        }
    }
    let own = &mut x[start * (n + 1)..];
    dispatched!('a, F; corner_back(own: &'a mut [F], corner: &'a [F], n: usize, size: usize) -> ());
    if start > 0 {
        let mut both = vec![F::zero(); size * size];
        for i in 0..size {
            for j in 0..=i {
                let found = own[i * n + j];
                both[i * size + j] += found;
                both[j * size + i] += found;
            }
        }
        let (Ok(both), Ok(all)) =
            (ArrayView2::from_shape((size, size), &both), ArrayViewMut2::from_shape((n, n), &mut *x))
        else {
            return;
        };
        let (_, rows) = all.split_at(Axis(0), start);
        let (rows, _) = rows.split_at(Axis(0), size);
        let (mut left, _) = rows.split_at(Axis(1), start);
        general_mat_mul(minus, &both, &before, F::one(), &mut left);
    }
}

/// Multiplies the elements of rows from column `start` on by the inverse of a corner of l.
#[inline(always)]
fn rows_back<I: Isa, F: Real>(x: &mut [F], corner: &[F], n: usize, start: usize, size: usize) {
    for row in x.chunks_exact_mut(n) {
        let own = &mut row[start..][..size];
        for q in (0..size).rev() {
            let (before, rest) = own.split_at_mut(q);
            let of_l = &corner[q * n..][..q + 1];
            rest[0] /= of_l[q];
            axpy_in::<I, F>(before, -rest[0], of_l);
        }
    }
}

/// The same for a corner of at most [`BLOCK`] rows, one column after the other.
#[inline(always)]
fn corner_back<I: Isa, F: Real>(x: &mut [F], l: &[F], n: usize, size: usize) {
    let mut row = [F::zero(); BLOCK];
    for j in (0..size).rev() {
        let pivot = l[j * n + j];
        let mut own = x[j * n + j];
        for i in j + 1..size {
            let scaled = x[i * n + j] / pivot;
            x[i * n + j] = scaled;
            own = I::mul_add(-l[i * n + j], scaled, own);
        }
        own /= pivot;
        x[j * n + j] = own * F::lit(0.5);
        let of_l = &l[j * n..][..j];
        let row = &mut row[..j];
        row.copy_from_slice(&x[j * n..][..j]);
        axpy_in::<I, F>(row, -own, of_l);
        for i in j + 1..size {
            let other = x[i * n + j];
            axpy_in::<I, F>(row, -other, &l[i * n..][..j]);
            axpy_in::<I, F>(&mut x[i * n..][..j], -other, of_l);
        }
        x[j * n..][..j].copy_from_slice(row);
    }
}

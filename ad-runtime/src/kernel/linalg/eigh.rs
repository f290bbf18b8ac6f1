//! Eigenvalues and eigenvectors of symmetric matrices: Householder's reduction to tridiagonal form,
//! and the QL algorithm with implicit shifts (Golub and Van Loan, section 8.3).

use alloc::vec;
use alloc::vec::Vec;

use super::{each_matrix, symmetric_part, two_rows};
use crate::Real;
use crate::kernel::isa::{Isa, dispatched};
use crate::kernel::reduce::dot_in;
use crate::kernel::vector::axpy_in;

/// The number of QL steps for one eigenvalue, after which the computation has failed. Two or three
/// are usual.
const MAX_STEPS: usize = 60;

/// The eigenvalues of the symmetric part of each matrix of n rows, in ascending order, and below
/// them the n rows of the matrix whose columns are the eigenvectors. The largest element of each
/// vector is positive.
///
/// # Panics
///
/// If a length does not fit.
#[track_caller]
pub fn eigh<F: Real>(out: &mut [F], a: &[F], n: usize) {
    each_matrix(out, a, [n, n], |out, a| {
        if a.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let (mut work, mut turned) = (vec![F::zero(); n * n], vec![F::zero(); n * n]);
        let (mut values, mut beside) = (vec![F::zero(); n], vec![F::zero(); n]);
        symmetric_part(&mut work, a, n);
        let (w, z, d, e) = (&mut work[..], &mut turned[..], &mut values[..], &mut beside[..]);
        if !dispatched!('a, F; decompose(w: &'a mut [F], z: &'a mut [F], d: &'a mut [F], e: &'a mut [F], n: usize) -> bool)
        {
            return false;
        }
        write(out, &values, &turned, n);
        true
    });
}

/// The eigenvalues in d, and the eigenvectors in the rows of z.
#[inline(always)]
fn decompose<I: Isa, F: Real>(a: &mut [F], z: &mut [F], d: &mut [F], e: &mut [F], n: usize) -> bool {
    reduce::<I, F>(a, z, d, e, n);
    (0..n).all(|first| isolate::<I, F>(z, d, e, n, first))
}

/// Reduces a to tridiagonal form: its diagonal is d, and e has the elements next to the diagonal.
/// `z` becomes the transposed product of the reflections.
#[inline(always)]
fn reduce<I: Isa, F: Real>(a: &mut [F], z: &mut [F], d: &mut [F], e: &mut [F], n: usize) {
    for k in 0..n {
        z[k * n + k] = F::one();
    }
    let (mut v, mut p) = (vec![F::zero(); n], vec![F::zero(); n]);
    for k in 0..n {
        d[k] = a[k * n + k];
        if k + 1 == n {
            break;
        }
        let own = k + 1..n;
        v[own.clone()].copy_from_slice(&a[k * n..][own.clone()]);
        // A scaled vector has a square that neither overflows nor underflows.
        let scale = v[own.clone()].iter().fold(F::zero(), |m, x| m.max(x.abs()));
        let outside = v[k + 2..n].iter().any(|&x| x != F::zero());
        if !outside {
            e[k] = v[k + 1];
            continue;
        }
        v[own.clone()].iter_mut().for_each(|x| *x /= scale);
        let norm = dot_in::<I, F>(&v[own.clone()], &v[own.clone()]).sqrt();
        let image = if v[k + 1] > F::zero() { -norm } else { norm };
        e[k] = image * scale;
        v[k + 1] -= image;
        let factor = F::lit(2.0) / dot_in::<I, F>(&v[own.clone()], &v[own.clone()]);
        // `a - v w' - w v'`, with `p = f a v` and `w = p - (f / 2) (p' v) v`.
        for i in own.clone() {
            p[i] = factor * dot_in::<I, F>(&a[i * n..][own.clone()], &v[own.clone()]);
        }
        let along = factor * F::lit(0.5) * dot_in::<I, F>(&p[own.clone()], &v[own.clone()]);
        axpy_in::<I, F>(&mut p[own.clone()], -along, &v[own.clone()]);
        for i in own.clone() {
            let row = &mut a[i * n..][own.clone()];
            axpy_in::<I, F>(row, -v[i], &p[own.clone()]);
            axpy_in::<I, F>(row, -p[i], &v[own.clone()]);
        }
        // The rows of z are those of the transposed product, so the reflection acts on its rows.
        p[..n].fill(F::zero());
        for i in own.clone() {
            axpy_in::<I, F>(&mut p[..n], v[i], &z[i * n..][..n]);
        }
        for i in own {
            axpy_in::<I, F>(&mut z[i * n..][..n], -factor * v[i], &p[..n]);
        }
    }
}

/// Makes `e[first]` zero, by QL steps with Wilkinson's shift.
#[inline(always)]
fn isolate<I: Isa, F: Real>(z: &mut [F], d: &mut [F], e: &mut [F], n: usize, first: usize) -> bool {
    for _ in 0..MAX_STEPS {
        let negligible = |k: usize| k + 1 == n || e[k].abs() <= F::epsilon() * (d[k].abs() + d[k + 1].abs());
        let last = (first..n).find(|&k| negligible(k)).unwrap_or(n - 1);
        if last == first {
            return true;
        }
        let ratio = (d[first + 1] - d[first]) / (e[first] + e[first]);
        let root = ratio.hypot(F::one());
        let root = if ratio < F::zero() { ratio - root } else { ratio + root };
        // The bulge that the rotations chase up the diagonal, and the part of the shift that has
        // been taken off the last diagonal element.
        let mut bulge = d[last] - d[first] + e[first] / root;
        let (mut sine, mut cosine, mut taken) = (F::one(), F::one(), F::zero());
        let mut split = false;
        for k in (first..last).rev() {
            let (outer, inner) = (sine * e[k], cosine * e[k]);
            let size = outer.hypot(bulge);
            e[k + 1] = size;
            if size == F::zero() {
                d[k + 1] -= taken;
                e[last] = F::zero();
                split = true;
                break;
            }
            (sine, cosine) = (outer / size, bulge / size);
            let corner = d[k + 1] - taken;
            let mixed = (d[k] - corner) * sine + F::lit(2.0) * cosine * inner;
            taken = sine * mixed;
            d[k + 1] = corner + taken;
            bulge = cosine * mixed - inner;
            let (upper, lower) = two_rows(z, n, k, k + 1);
            for (x, y) in upper.iter_mut().zip(lower) {
                let (a, b) = (*x, *y);
                *y = I::mul_add(sine, a, cosine * b);
                *x = I::mul_add(cosine, a, -(sine * b));
            }
        }
        if !split {
            d[first] -= taken;
            e[first] = bulge;
            e[last] = F::zero();
        }
    }
    false
}

/// Writes the values in ascending order, and the vectors as columns.
fn write<F: Real>(out: &mut [F], values: &[F], z: &[F], n: usize) {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[i].partial_cmp(&values[j]).unwrap_or(core::cmp::Ordering::Equal));
    for (column, &k) in order.iter().enumerate() {
        let vector = &z[k * n..][..n];
        let largest = vector.iter().fold(F::zero(), |m, &x| if x.abs() > m.abs() { x } else { m });
        out[column] = values[k];
        for (i, &x) in vector.iter().enumerate() {
            out[(i + 1) * n + column] = if largest < F::zero() { -x } else { x };
        }
    }
}

//! Contractions of cotangents with masked zeros: a product is 0 if a factor that absorbs is 0, even
//! if the other factor is infinite or NaN.
//!
//! If no product of an ordinary kernel is NaN, its result is already right. So the ordinary kernel
//! runs first, and only those elements of its result that are NaN are recomputed, product by
//! product. An element that is not NaN must never be changed.

use crate::Real;

/// `a * b`, or 0 if a factor that absorbs is 0.
#[inline]
pub(super) fn absorbing_product<F: Real>(a: F, b: F, absorbs: [bool; 2]) -> F {
    if (absorbs[0] && a.vanishes()) || (absorbs[1] && b.vanishes()) { F::zero() } else { a * b }
}

/// The dot product of `x` and `y` with zeros that absorb. `found` is their ordinary dot product. If
/// it is not NaN, it is the result.
#[inline]
#[must_use]
pub fn absorbed_dot<F: Real>(found: F, x: &[F], y: &[F], absorbs: [bool; 2]) -> F {
    if found.is_nan() {
        x.iter().zip(y).fold(F::zero(), |sum, (&x, &y)| sum + absorbing_product(x, y, absorbs))
    } else {
        found
    }
}

/// Recomputes the elements of `c` that are NaN, with zeros that absorb. `c` holds the products of
/// matrices that an ordinary kernel has computed; flags and sizes are those of
/// [`super::gemm_each`]. A vector is a matrix of one column.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn absorbed<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    [m, k, n]: [usize; 3],
    absorbs: [bool; 2],
) {
    if !c.iter().fold(false, |any, x| any | x.is_nan()) {
        return;
    }
    let fits = [c.len(), a.len(), b.len()] == [batch * m * n, batch * m * k, batch * k * n];
    assert!(fits, "products of {} and {} elements into {}", a.len(), b.len(), c.len());
    for p in 0..batch {
        let (a, b) = (&a[p * m * k..][..m * k], &b[p * k * n..][..k * n]);
        let c = &mut c[p * m * n..][..m * n];
        for (place, c) in c.iter_mut().enumerate().filter(|(_, c)| c.is_nan()) {
            let (i, j) = (place / n, place % n);
            *c = (0..k).fold(F::zero(), |sum, l| {
                let x = if transposed[0] { a[l * m + i] } else { a[i * k + l] };
                let y = if transposed[1] { b[j * k + l] } else { b[l * n + j] };
                sum + absorbing_product(x, y, absorbs)
            });
        }
    }
}

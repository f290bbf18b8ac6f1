//! Products of square matrices of two to six rows. Their number of rows is known when the kernel
//! is compiled, so a product has no loop and no test of an index, and the result stays in registers
//! until it is stored.
//!
//! This is code for each number of rows, and twice for each layout of an operand. So there is none
//! for machines without fused multiply-add, which use the loops of [`super::small`].
//!
//! Each element is summed from left to right, as in [`super::small`]: which of the two modules
//! computes a product must not change its bits.

use super::isa::{Isa, dispatched};
use super::operand::Operand;
use crate::Real;

/// The largest number of rows.
const MAX_ROWS: usize = 6;

/// `$kernel::<I, F, N>(..)` for the number of rows N that `$n` is. `None` if there is no kernel for
/// so many rows, and without fused multiply-add.
macro_rules! by_rows {
    ($n:expr, $isa:ident, $f:ident, $kernel:ident($($arg:expr),*)) => {
        match $n {
            _ if !$isa::FUSED => None,
            2 => $kernel::<$isa, $f, 2>($($arg),*),
            3 => $kernel::<$isa, $f, 3>($($arg),*),
            4 => $kernel::<$isa, $f, 4>($($arg),*),
            5 => $kernel::<$isa, $f, 5>($($arg),*),
            6 => $kernel::<$isa, $f, 6>($($arg),*),
            _ => None,
        }
    };
}
pub(super) use by_rows;

/// `c (+)= a b`, and true, if both operands are square and have 2 to [`MAX_ROWS`] rows. Otherwise,
/// if a length does not fit, and without fused multiply-add, it returns false.
#[inline]
pub(super) fn square_product<F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    [m, k, n]: [usize; 3],
    accumulate: bool,
) -> bool {
    let (a, b) = ((a.data(), matches!(a, Operand::Transposed(_))), (b.data(), matches!(b, Operand::Transposed(_))));
    let size = n * n;
    let square = m == k && k == n && (2..=MAX_ROWS).contains(&n);
    // Arrays of lengths would be compared in memory.
    if !square || c.len() != size || a.0.len() != size || b.0.len() != size {
        return false;
    }
    by_size(c, a.0, b.0, n, a.1, b.1, accumulate).is_some()
}

/// The operands are slices and flags: an enum would be copied through memory, which takes longer
/// than the product.
#[inline(never)]
fn by_size<F: Real>(c: &mut [F], a: &[F], b: &[F], n: usize, left: bool, right: bool, accumulate: bool) -> Option<()> {
    dispatched!('a, F; of_size(c: &'a mut [F], a: &'a [F], b: &'a [F], n: usize, left: bool, right: bool, accumulate: bool) -> Option<()>)
}

#[inline(always)]
fn of_size<I: Isa, F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    n: usize,
    left: bool,
    right: bool,
    accumulate: bool,
) -> Option<()> {
    by_rows!(n, I, F, of_rows(c, a, b, [left, right], accumulate))
}

/// [`square_product`] for N rows.
#[inline(always)]
pub(super) fn of_rows<I: Isa, F: Real, const N: usize>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    accumulate: bool,
) -> Option<()> {
    let c = rows_mut::<F, N>(c)?;
    let (a, b) = (rows::<F, N>(a)?, rows::<F, N>(b)?);
    match transposed {
        [false, false] => product::<I, F, N>(c, |i, p| a[i][p], |p| b[p], accumulate),
        [true, false] => product::<I, F, N>(c, |i, p| a[p][i], |p| b[p], accumulate),
        [false, true] => product::<I, F, N>(c, |i, p| a[i][p], |p| b.map(|row| row[p]), accumulate),
        [true, true] => product::<I, F, N>(c, |i, p| a[p][i], |p| b.map(|row| row[p]), accumulate),
    }
    Some(())
}

/// The rows of a matrix of N rows and columns.
#[inline(always)]
pub(super) fn rows<F, const N: usize>(a: &[F]) -> Option<&[[F; N]; N]> {
    a.as_chunks::<N>().0.first_chunk::<N>()
}

/// [`rows`] that can be changed.
#[inline(always)]
pub(super) fn rows_mut<F, const N: usize>(a: &mut [F]) -> Option<&mut [[F; N]; N]> {
    a.as_chunks_mut::<N>().0.first_chunk_mut::<N>()
}

/// `left(i, p)` is an element of the left operand, `right(p)` a row of the right one.
#[inline(always)]
fn product<I: Isa, F: Real, const N: usize>(
    c: &mut [[F; N]; N],
    left: impl Fn(usize, usize) -> F,
    right: impl Fn(usize) -> [F; N],
    accumulate: bool,
) {
    for (i, places) in c.iter_mut().enumerate() {
        let mut sums = [F::zero(); N];
        for p in 0..N {
            let (weight, row) = (left(i, p), right(p));
            for l in 0..N {
                sums[l] = I::mul_add(weight, row[l], sums[l]);
            }
        }
        for (place, sum) in places.iter_mut().zip(sums) {
            *place = if accumulate { *place + sum } else { sum };
        }
    }
}

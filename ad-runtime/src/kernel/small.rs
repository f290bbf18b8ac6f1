//! Products of matrices of a few rows and columns, for which the set-up of other loops takes longer
//! than the product. Here it has no division and no call, and each element is summed from left to
//! right, whatever the operands' layouts are.
//!
//! The result of a row must not depend on its neighbouring rows.

use super::isa::{Isa, dispatched};
use super::operand::Operand;
use crate::Real;

/// The largest number of rows, columns and summed indices.
pub(super) const MAX_SIZE: usize = 8;
/// The number of rows and of columns of a block.
const BLOCK: usize = 4;

/// [`super::gemm`] for matrices of a few rows and columns.
pub(super) fn small_product<F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    sizes: [usize; 3],
    accumulate: bool,
) {
    dispatched!('a, F; small_product_in(c: &'a mut [F], a: Operand<'a, F>, b: Operand<'a, F>, sizes: [usize; 3], accumulate: bool) -> ());
}

/// [`small_product`], for callers that are already inside of [`super::dispatch`].
#[inline(always)]
pub(super) fn small_product_in<I: Isa, F: Real>(
    c: &mut [F],
    a: Operand<'_, F>,
    b: Operand<'_, F>,
    sizes: [usize; 3],
    accumulate: bool,
) {
    let [m, k, n] = sizes;
    let (a, strides) = match a {
        Operand::Plain(a) => (a, [k, 1]),
        Operand::Transposed(a) => (a, [1, m]),
    };
    match b {
        Operand::Plain(b) => {
            let four = |p: usize, j: usize| b[p * n + j..].first_chunk().copied();
            let one = |p: usize, j: usize| b[p * n + j..].first_chunk().copied();
            blocks::<I, F>(c, (a, strides), &four, &one, sizes, accumulate);
        }
        Operand::Transposed(b) => {
            let four = |p: usize, j: usize| Some(core::array::from_fn(|l| b[(j + l) * k + p]));
            let one = |p: usize, j: usize| Some([b[j * k + p]]);
            blocks::<I, F>(c, (a, strides), &four, &one, sizes, accumulate);
        }
    }
}

/// Element `[i, p]` of the left operand is at `i * strides[0] + p * strides[1]`; the functions give
/// the elements of row `p` of the right operand from column `j` on.
#[inline(always)]
fn blocks<I: Isa, F: Real>(
    c: &mut [F],
    a: (&[F], [usize; 2]),
    four: &impl Fn(usize, usize) -> Option<[F; BLOCK]>,
    one: &impl Fn(usize, usize) -> Option<[F; 1]>,
    [m, k, n]: [usize; 3],
    accumulate: bool,
) {
    let mut i = 0;
    while i < m {
        let whole = i + BLOCK <= m;
        let mut j = 0;
        while j < n {
            let wide = j + BLOCK <= n;
            match (whole, wide) {
                (true, true) => block::<I, F, BLOCK, BLOCK>(c, a, four, [i, j, k, n], accumulate),
                (true, false) => block::<I, F, BLOCK, 1>(c, a, one, [i, j, k, n], accumulate),
                (false, true) => block::<I, F, 1, BLOCK>(c, a, four, [i, j, k, n], accumulate),
                (false, false) => block::<I, F, 1, 1>(c, a, one, [i, j, k, n], accumulate),
            }
            j += if wide { BLOCK } else { 1 };
        }
        i += if whole { BLOCK } else { 1 };
    }
}

#[inline(always)]
fn block<I: Isa, F: Real, const R: usize, const C: usize>(
    c: &mut [F],
    (a, [down, along]): (&[F], [usize; 2]),
    row: &impl Fn(usize, usize) -> Option<[F; C]>,
    [i, j, k, n]: [usize; 4],
    accumulate: bool,
) {
    let mut sums = [[F::zero(); C]; R];
    for p in 0..k {
        let Some(b) = row(p, j) else { return };
        for r in 0..R {
            let weight = a[(i + r) * down + p * along];
            for l in 0..C {
                sums[r][l] = I::mul_add(weight, b[l], sums[r][l]);
            }
        }
    }
    for r in 0..R {
        let Some(places) = c[(i + r) * n + j..].first_chunk_mut::<C>() else { return };
        for l in 0..C {
            places[l] = if accumulate { places[l] + sums[r][l] } else { sums[r][l] };
        }
    }
}

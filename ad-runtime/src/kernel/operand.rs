//! The operands of matrix products.

use ndarray::ArrayView2;

use crate::Real;

/// An operand of [`super::gemm`]: a row-major matrix or its transpose.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a, F> {
    /// The matrix itself.
    Plain(&'a [F]),
    /// The transpose of the matrix that is stored: an operand of shape (r, c) is stored as (c, r).
    Transposed(&'a [F]),
}

impl<'a, F: Real> Operand<'a, F> {
    #[inline]
    pub(super) fn data(self) -> &'a [F] {
        match self {
            Operand::Plain(x) | Operand::Transposed(x) => x,
        }
    }

    /// The operand as a view of shape (rows, columns).
    pub(super) fn view(self, rows: usize, columns: usize) -> ArrayView2<'a, F> {
        let stored = match self {
            Operand::Plain(x) => ArrayView2::from_shape((rows, columns), x),
            Operand::Transposed(x) => ArrayView2::from_shape((columns, rows), x).map(ArrayView2::reversed_axes),
        };
        stored.expect("gemm has checked the operand's length")
    }
}

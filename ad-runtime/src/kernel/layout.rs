//! Between ndarray's layouts and slices in standard layout.
//!
//! Must never reorder elements: position in the slice is position in row-major (logical) order.

use std::borrow::Cow;

use ndarray::{Array, ArrayRef, Dim, Dimension};

use crate::dsl::{Rank, dim};

/// The elements of `x` in row-major order: borrowed if that is how they lie in memory, otherwise copied.
///
/// Any rank and layout: transposed, strided, reversed and broadcast (stride 0) views are copied row by row;
/// zero-sized arrays of any strides are the empty slice.
#[must_use]
pub fn contiguous<A: Copy, D: Dimension>(x: &ArrayRef<A, D>) -> Cow<'_, [A]> {
    if let Some(slice) = x.as_slice() {
        return Cow::Borrowed(slice);
    }
    let mut data = Vec::with_capacity(x.len());
    // Row by row, so that a view with contiguous rows (a slice of a matrix) is copied by memcpy.
    for row in x.rows() {
        match row.to_slice() {
            Some(slice) => data.extend_from_slice(slice),
            None => data.extend(row.iter().copied()),
        }
    }
    Cow::Owned(data)
}

/// The array of this shape whose elements in row-major order are `data`; nothing is copied.
///
/// # Panics
///
/// If `data` has not as many elements as the shape.
#[track_caller]
#[must_use]
pub fn assemble<A, const N: usize>(shape: [usize; N], data: Vec<A>) -> Array<A, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Rank,
{
    let len = data.len();
    match Array::from_shape_vec(dim(shape), data) {
        Ok(array) => array,
        Err(_) => panic!("{len} elements do not fill an array of shape {shape:?}"),
    }
}

//! Conversions between ndarray's layouts and slices in standard layout.
//!
//! Elements are never reordered: the position in the slice is the position in row-major (logical)
//! order.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use ndarray::{Array, ArrayRef, Dim, Dimension};

use crate::dsl::{Rank, dim};

/// The elements of `x` in row-major order: borrowed if that is their order in memory, otherwise
/// copied.
///
/// `x` may have any rank and layout. Transposed, strided, reversed and broadcast (stride 0) views
/// are copied row by row. An array without elements gives the empty slice, whatever its strides.
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
/// If the number of elements of `data` is not that of the shape.
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

/// The caller's array as memory for a result: its own elements if they are in row-major order in
/// memory, otherwise a buffer that [`Destination::finish`] copies from.
#[derive(Debug)]
pub enum Destination<'a, A, D: Dimension> {
    /// The caller's elements.
    Lent(&'a mut [A]),
    /// An array in another layout, and the buffer.
    Apart(&'a mut ArrayRef<A, D>, Vec<A>),
}

/// The memory of `array`, filled with `fill`. Allocates only if the array is not in standard
/// layout.
#[must_use]
pub fn destination<A: Copy, D: Dimension>(array: &mut ArrayRef<A, D>, fill: A) -> Destination<'_, A, D> {
    if array.is_standard_layout()
        && let Some(slice) = array.as_slice_mut()
    {
        slice.fill(fill);
        // The slice is requested a second time: a borrow that is returned from one branch would
        // last in the other branch too.
        return Destination::Lent(array.as_slice_mut().unwrap_or_default());
    }
    let buffer = vec![fill; array.len()];
    Destination::Apart(array, buffer)
}

/// The memory of a slice, filled with `fill`.
#[must_use]
pub fn destination_slice<A: Copy>(slice: &mut [A], fill: A) -> Destination<'_, A, ndarray::Ix1> {
    slice.fill(fill);
    Destination::Lent(slice)
}

/// The memory of `array` for a kernel that overwrites every element; it holds arbitrary values
/// until then. Allocates only if the array is not in standard layout.
#[must_use]
pub fn replaced<A: Copy, D: Dimension>(array: &mut ArrayRef<A, D>, fill: A) -> Destination<'_, A, D> {
    if array.is_standard_layout() {
        return Destination::Lent(array.as_slice_mut().unwrap_or_default());
    }
    let buffer = vec![fill; array.len()];
    Destination::Apart(array, buffer)
}

/// The memory of a slice for a kernel that overwrites every element.
#[must_use]
pub fn replaced_slice<A: Copy>(slice: &mut [A], _fill: A) -> Destination<'_, A, ndarray::Ix1> {
    Destination::Lent(slice)
}

impl<A: Copy, D: Dimension> Destination<'_, A, D> {
    /// Copies the elements to the caller's array, if they are in a buffer.
    pub fn finish(self) {
        if let Destination::Apart(array, buffer) = self {
            overwrite(array, &buffer);
        }
    }
}

impl<A, D: Dimension> Deref for Destination<'_, A, D> {
    type Target = [A];

    fn deref(&self) -> &[A] {
        match self {
            Destination::Lent(slice) => slice,
            Destination::Apart(_, buffer) => buffer,
        }
    }
}

impl<A, D: Dimension> DerefMut for Destination<'_, A, D> {
    fn deref_mut(&mut self) -> &mut [A] {
        match self {
            Destination::Lent(slice) => slice,
            Destination::Apart(_, buffer) => buffer,
        }
    }
}

/// Overwrites an array of any layout with these elements, given in row-major order.
///
/// # Panics
///
/// If the numbers of elements differ.
pub fn overwrite<A: Copy, D: Dimension>(array: &mut ArrayRef<A, D>, elements: &[A]) {
    assert!(array.len() == elements.len(), "{} elements for an array of {}", elements.len(), array.len());
    if array.is_standard_layout()
        && let Some(slice) = array.as_slice_mut()
    {
        slice.copy_from_slice(elements);
        return;
    }
    for (to, from) in array.iter_mut().zip(elements) {
        *to = *from;
    }
}

/// A copy that is made in blocks, while a kernel reads the same elements: see
/// [`super::dot_with_copies`].
#[derive(Debug)]
pub struct Copied<'a, A> {
    to: &'a mut [A],
    from: &'a [A],
    done: usize,
    /// The number of elements before the first one at the start of a cache line.
    ahead: usize,
}

/// The number of bytes in a cache line.
const CACHE_LINE: usize = 64;

/// A copy of these elements, given in row-major order, to an array: made in blocks if the array is
/// in standard layout, and at once otherwise.
///
/// # Panics
///
/// If the numbers of elements differ.
#[must_use]
pub fn copied<'a, A: Copy, D: Dimension>(array: &'a mut ArrayRef<A, D>, from: &'a [A]) -> Copied<'a, A> {
    if !array.is_standard_layout() {
        overwrite(array, from);
        return Copied { to: &mut [], from, done: 0, ahead: 0 };
    }
    copied_slice(array.as_slice_mut().unwrap_or_default(), from)
}

/// A copy of these elements to a slice, made in blocks.
///
/// # Panics
///
/// If the numbers of elements differ.
#[must_use]
pub fn copied_slice<'a, A: Copy>(to: &'a mut [A], from: &'a [A]) -> Copied<'a, A> {
    assert!(to.len() == from.len(), "{} elements for a slice of {}", from.len(), to.len());
    let ahead = to.as_ptr().align_offset(CACHE_LINE);
    Copied { to, from, done: 0, ahead: if ahead < CACHE_LINE { ahead } else { 0 } }
}

impl<A: Copy> Copied<'_, A> {
    /// Checks that the copy has `n` elements.
    pub(super) fn are(&self, n: usize) {
        assert!(self.from.len() == n, "a copy of {} elements beside {n}", self.from.len());
    }

    /// Copies the elements before `end` that are not copied yet, except for a partial cache line at
    /// the end: blocks of whole cache lines are written without being read.
    pub(super) fn go_on(&mut self, end: usize) {
        let line = (CACHE_LINE / size_of::<A>().max(1)).max(1);
        if let Some(lines) = end.checked_sub(self.ahead) {
            self.copy_to(self.ahead + lines / line * line);
        }
    }

    /// Copies the remaining elements.
    pub(super) fn end(&mut self) {
        self.copy_to(self.from.len());
    }

    fn copy_to(&mut self, end: usize) {
        if !self.to.is_empty() && self.done < end {
            self.to[self.done..end].copy_from_slice(&self.from[self.done..end]);
            self.done = end;
        }
    }
}

//! Lists of arrays whose shapes may differ. A derivative computes with one vector of the elements
//! of all arrays, and with the sizes of each array. This module takes lists apart and puts them
//! together again. It must never compute with elements.

use alloc::vec::Vec;

use ndarray::{Array, Dimension};

use crate::lists::Element;

/// The shapes of the arrays of a list.
pub struct Shapes<D> {
    all: Vec<D>,
    /// The shape of the first array that exists.
    first: Option<D>,
    differ: bool,
}

impl<D: Dimension> Shapes<D> {
    /// The shapes of an empty list.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "generated code calls it by this name, as it does for other lists")]
    pub fn new() -> Self {
        Shapes { all: Vec::new(), first: None, differ: false }
    }

    /// Adds the shape of an array. If it is not `present`, as in a variant that an element of the
    /// list is not, it has no elements.
    pub fn push_if<F>(&mut self, present: bool, array: &(impl Element<F, D> + ?Sized)) {
        let mut shape = array.viewed().raw_dim();
        if present {
            let first = self.first.get_or_insert_with(|| shape.clone());
            self.differ |= *first != shape;
        } else {
            shape.slice_mut().fill(0);
        }
        self.all.push(shape);
    }

    /// The shapes of all arrays of a list. `push` adds the array of an item.
    #[must_use]
    pub fn of_all<I: IntoIterator>(mut self, list: I, push: impl Fn(&mut Self, I::Item)) -> Self {
        list.into_iter().for_each(|item| push(&mut self, item));
        self
    }

    /// Whether a derivative has to be that for arrays of several shapes: two arrays have different
    /// shapes; there is no array, so that none has a shape; or there is a single array, and a loop
    /// may compute arrays of other shapes from it.
    #[must_use]
    pub fn several(&self) -> bool {
        self.differ || self.all.len() == 1 || (self.first.is_none() && !self.all.is_empty())
    }

    /// The index of the first element of each array in the vector of the elements of all arrays.
    #[must_use]
    pub fn starts(&self) -> Vec<usize> {
        let mut next = 0;
        let start = |shape: &D| {
            let start = next;
            next += shape.size();
            start
        };
        self.all.iter().map(start).collect()
    }

    /// The size of each array along an axis.
    #[must_use]
    pub fn sizes(&self, axis: u8) -> Vec<usize> {
        self.all.iter().map(|shape| shape.slice()[usize::from(axis)]).collect()
    }

    /// The greatest size along an axis, 0 if there is no array.
    #[must_use]
    pub fn most(&self, axis: u8) -> usize {
        self.sizes(axis).into_iter().max().unwrap_or(0)
    }
}

/// The elements of the arrays of a list.
pub struct Flat<F> {
    elements: Vec<F>,
    /// The number of elements, while they are counted and not yet stored.
    counted: Option<usize>,
}

impl<F: Clone> Flat<F> {
    /// The elements of an empty list.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "generated code calls it by this name, as it does for other lists")]
    pub fn new() -> Self {
        Flat { elements: Vec::new(), counted: None }
    }

    /// Adds the elements of an array row by row, if it is `present`.
    pub fn push_if<D: Dimension>(&mut self, present: bool, array: &(impl Element<F, D> + ?Sized)) {
        if !present {
            return;
        }
        let view = array.viewed();
        match (&mut self.counted, view.as_slice()) {
            (Some(count), _) => *count += view.len(),
            (None, Some(elements)) => self.elements.extend_from_slice(elements),
            (None, None) => self.elements.extend(view.iter().cloned()),
        }
    }

    /// The elements of all arrays of a list. `push` adds those of an item. It is called twice for
    /// each item: the elements are counted first, so that they are copied once.
    #[must_use]
    pub fn of_all<I: IntoIterator + Clone>(mut self, list: I, push: impl Fn(&mut Self, I::Item)) -> Vec<F> {
        self.counted = Some(0);
        list.clone().into_iter().for_each(|item| push(&mut self, item));
        self.elements.reserve_exact(self.counted.take().unwrap_or(0));
        list.into_iter().for_each(|item| push(&mut self, item));
        self.elements
    }
}

/// The closure of one of two versions of a function.
pub enum Either<A, B> {
    /// The closure of the version for arrays of one shape.
    First(A),
    /// The closure of the version for arrays of several shapes.
    Second(B),
}

/// An array that is made of its shape and its elements.
pub trait OfShape<F> {
    /// The array of these elements, row by row.
    fn of_shape(shape: &[usize], elements: Vec<F>) -> Self;
}

impl<F> OfShape<F> for Vec<F> {
    fn of_shape(_: &[usize], elements: Vec<F>) -> Self {
        elements
    }
}

impl<F, D: Dimension> OfShape<F> for Array<F, D> {
    fn of_shape(shape: &[usize], elements: Vec<F>) -> Self {
        let mut sizes = D::zeros(shape.len());
        sizes.slice_mut().copy_from_slice(shape);
        Array::from_shape_vec(sizes, elements).expect("an array has the elements of its shape")
    }
}

/// The arrays of a list, given the elements of all arrays and the sizes of each array along each
/// axis. An array with at least half of the elements keeps the memory of the vector.
///
/// # Panics
/// If there are fewer elements than the shapes have.
#[must_use]
pub fn arrays_of_shapes<F: Clone, A: OfShape<F>, const N: usize>(
    mut elements: Vec<F>,
    sizes: [Vec<usize>; N],
) -> Vec<A> {
    let count = sizes.first().map_or(0, Vec::len);
    let shapes: Vec<Vec<usize>> = (0..count).map(|k| sizes.iter().map(|sizes| sizes[k]).collect()).collect();
    let mut next = 0;
    let parts: Vec<(usize, usize)> = shapes
        .iter()
        .map(|shape| {
            let start = next;
            next += shape.iter().product::<usize>();
            (start, next)
        })
        .collect();
    let large = parts.iter().position(|(start, end)| *end > *start && 2 * (end - start) >= elements.len());
    let copied = |(k, &(start, end))| if large == Some(k) { Vec::new() } else { elements[start..end].to_vec() };
    let mut all: Vec<Vec<F>> = parts.iter().enumerate().map(copied).collect();
    if let Some(k) = large {
        elements.truncate(parts[k].1);
        elements.drain(..parts[k].0);
        all[k] = elements;
    }
    shapes.iter().zip(all).map(|(shape, own)| A::of_shape(shape, own)).collect()
}

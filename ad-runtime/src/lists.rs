//! Lists of arrays. A derivative computes with one array that contains all arrays of the list and
//! has one more axis in front, so all arrays of a list have one shape. This module must never
//! accept a list of other arrays.

use alloc::vec::Vec;

use ndarray::{Array, ArrayBase, ArrayView, ArrayView1, Axis, Data, Dimension, Ix1, RemoveAxis};

/// An array that can be an element of a list.
pub trait Element<F, D> {
    /// A view of it.
    fn viewed(&self) -> ArrayView<'_, F, D>;
}

impl<S: Data, D: Dimension> Element<S::Elem, D> for ArrayBase<S, D> {
    fn viewed(&self) -> ArrayView<'_, S::Elem, D> {
        self.view()
    }
}

impl<F> Element<F, Ix1> for Vec<F> {
    fn viewed(&self) -> ArrayView<'_, F, Ix1> {
        ArrayView1::from(&self[..])
    }
}

impl<F> Element<F, Ix1> for [F] {
    fn viewed(&self) -> ArrayView<'_, F, Ix1> {
        ArrayView1::from(self)
    }
}

impl<F, D, E: Element<F, D> + ?Sized> Element<F, D> for &E {
    fn viewed(&self) -> ArrayView<'_, F, D> {
        (**self).viewed()
    }
}

/// The arrays of a list, concatenated.
pub struct Stack<F, D> {
    name: &'static str,
    count: usize,
    shape: Option<D>,
    data: Vec<F>,
    /// The number of absent arrays before the first one.
    absent: usize,
}

impl<F: Clone, D: Dimension> Stack<F, D> {
    /// An empty list. `name` is the name of the list in messages.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Stack { name, count: 0, shape: None, data: Vec::new(), absent: 0 }
    }

    /// Adds an array, or zeros in its place if it is not `present`, as in a variant that an element
    /// of the list is not. Nothing reads these.
    ///
    /// # Panics
    /// If it is present and has another shape than those before.
    pub fn push_if(&mut self, present: bool, array: &(impl Element<F, D> + ?Sized), zero: F) {
        if present {
            // With the first array, the number of elements of the absent ones before it is known.
            let absent = core::mem::take(&mut self.absent) * array.viewed().len();
            self.data.extend(core::iter::repeat_n(zero, absent));
            return self.push(array);
        }
        match &self.shape {
            Some(shape) => self.data.extend(core::iter::repeat_n(zero, shape.size())),
            None => self.absent += 1,
        }
        self.count += 1;
    }

    /// Adds an array.
    ///
    /// # Panics
    /// If it has another shape than those before.
    pub fn push(&mut self, array: &(impl Element<F, D> + ?Sized)) {
        let view = array.viewed();
        let shape = self.shape.get_or_insert_with(|| view.raw_dim());
        assert!(
            *shape == view.raw_dim(),
            "`{}`: the arrays of a list have to be of one shape, and array {} is of shape {:?} instead of {:?}; go \
             over the list with a `for` loop, or pass arrays of several shapes as parameters of their own",
            self.name,
            self.count,
            view.shape(),
            shape.slice(),
        );
        self.count += 1;
        match view.as_slice() {
            Some(elements) => self.data.extend_from_slice(elements),
            None => self.data.extend(view.iter().cloned()),
        }
    }

    /// One array of all arrays of a list, which are its rows. `push` adds the arrays of an item.
    ///
    /// # Panics
    /// If two arrays have different shapes.
    #[must_use]
    pub fn of_all<I: IntoIterator>(mut self, list: I, push: impl Fn(&mut Self, I::Item)) -> Array<F, D::Larger> {
        list.into_iter().for_each(|item| push(&mut self, item));
        let mut sizes = <D::Larger as Dimension>::zeros(self.shape.as_ref().map_or(D::NDIM.unwrap_or(0), D::ndim) + 1);
        sizes[0] = self.count;
        if let Some(shape) = &self.shape {
            sizes.slice_mut()[1..].copy_from_slice(shape.slice());
        }
        Array::from_shape_vec(sizes, self.data).expect("each array has the elements of its shape")
    }
}

/// The arrays of a list, which are the rows of this array.
#[must_use]
pub fn elements<F: Clone, D: RemoveAxis>(all: Array<F, D>) -> Vec<Array<F, D::Smaller>> {
    (0..all.len_of(Axis(0))).map(|k| all.index_axis(Axis(0), k).to_owned()).collect()
}

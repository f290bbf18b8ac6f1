//! Values as lists of numbers, in row-major order.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use ndarray::{Array, ArrayRef, Axis, Dimension, IntoDimension, RemoveAxis};

use crate::Real;

/// A value that is a real number or an array of real numbers, and owns them.
pub trait Flat: Clone {
    /// Sizes, outermost first.
    fn shape(&self) -> Vec<usize>;
    /// Adds the entries, in row-major order.
    fn read(&self, out: &mut Vec<f64>);
    /// Passes each entry through `f`, in row-major order.
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64);
    /// Whether the entries are `f32`.
    fn is_single() -> bool;
}

impl<F: Real> Flat for F {
    fn shape(&self) -> Vec<usize> {
        Vec::new()
    }
    fn read(&self, out: &mut Vec<f64>) {
        out.push(self.as_f64());
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        *self = F::lit(f(self.as_f64()));
    }
    fn is_single() -> bool {
        size_of::<F>() == 4
    }
}

impl<F: Real, D: Dimension> Flat for Array<F, D> {
    fn shape(&self) -> Vec<usize> {
        (**self).shape().to_vec()
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_single() -> bool {
        F::is_single()
    }
}

impl<X: Flat> Flat for Vec<X> {
    fn shape(&self) -> Vec<usize> {
        core::iter::once(self.len()).chain(self.first().map_or_else(Vec::new, Flat::shape)).collect()
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_single() -> bool {
        X::is_single()
    }
}

impl<X: Flat, const N: usize> Flat for [X; N] {
    fn shape(&self) -> Vec<usize> {
        core::iter::once(N).chain(self.first().map_or_else(Vec::new, Flat::shape)).collect()
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_single() -> bool {
        X::is_single()
    }
}

/// The entries of a value.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    /// Sizes, outermost first.
    pub shape: Vec<usize>,
    /// The entries, in row-major order.
    pub values: Vec<f64>,
}

/// The entries of a value.
pub fn leaf<X: Flat>(x: &X) -> Leaf {
    let mut values = Vec::new();
    x.read(&mut values);
    Leaf { shape: x.shape(), values }
}

/// The entries of several values, one after the other.
#[must_use]
pub fn together(parts: Vec<Leaf>) -> Leaf {
    let values: Vec<f64> = parts.into_iter().flat_map(|part| part.values).collect();
    Leaf { shape: vec![values.len()], values }
}

/// The entries that follow those of `before`.
#[must_use]
pub fn after<'a>(entries: &'a [f64], before: &[&Leaf]) -> &'a [f64] {
    &entries[before.iter().map(|part| part.values.len()).sum()..]
}

/// The blocks of a Jacobian for several results and this parameter, as one block of all rows.
pub fn rows<X: Flat>(parameter: &X, blocks: Vec<Leaf>) -> Leaf {
    let own = leaf(parameter);
    let all = together(blocks);
    let rows = all.values.len() / own.values.len().max(1);
    Leaf { shape: core::iter::once(rows).chain(own.shape).collect(), values: all.values }
}

/// The blocks of a matrix, each of which has all rows of some columns, as one matrix.
#[must_use]
pub fn columns(blocks: Vec<Leaf>) -> Leaf {
    let rows = blocks.first().map_or(0, |block| block.shape[0]);
    let width = |block: &Leaf| block.values.len() / rows.max(1);
    let of_row = |row: usize| blocks.iter().flat_map(move |b| b.values[row * width(b)..][..width(b)].iter().copied());
    let values: Vec<f64> = (0..rows).flat_map(of_row).collect();
    Leaf { shape: vec![rows, values.len() / rows.max(1)], values }
}

/// A value of the same shape with these entries.
pub fn refill<X: Flat>(like: &X, values: &[f64]) -> X {
    let mut copy = like.clone();
    let mut rest = values.iter();
    copy.change(&mut |x| rest.next().copied().unwrap_or(x));
    copy
}

/// A value of the same shape filled with NaN: the content of a destination before it is
/// overwritten.
pub fn unwritten<X: Flat>(like: &X) -> X {
    let mut copy = like.clone();
    copy.change(&mut |_| f64::NAN);
    copy
}

/// A copy of an array that owns its entries.
pub fn array<A: Clone, D: Dimension>(of: &ArrayRef<A, D>) -> Array<A, D> {
    of.to_owned()
}

/// An array of two equal examples.
#[must_use]
pub fn twice<A: Clone, D: Dimension>(of: &Array<A, D>) -> Array<A, D::Larger>
where
    D::Larger: RemoveAxis,
{
    match ndarray::stack(Axis(0), &[of.view(), of.view()]) {
        Ok(both) => both,
        Err(e) => panic!("two arrays of one shape: {e}"),
    }
}

/// The elements of an array of static size as an array of this shape.
#[must_use]
pub fn shaped<A, S: IntoDimension>(elements: Vec<A>, shape: S) -> Array<A, S::Dim> {
    match Array::from_shape_vec(shape.into_dimension(), elements) {
        Ok(array) => array,
        Err(e) => panic!("an array of static size has the sizes of its type: {e}"),
    }
}

/// A copy of a slice that owns its entries.
pub fn slice<A: Clone>(of: &[A]) -> Vec<A> {
    of.to_vec()
}

/// A leaked value, for a parameter that is a `&'static` reference.
pub fn leaked<X>(x: X) -> &'static X {
    Box::leak(Box::new(x))
}

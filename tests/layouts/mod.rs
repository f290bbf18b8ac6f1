//! The same values in other memory layouts, and results as bits. Generated code promises the same
//! bits whatever the layout is.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use ad::ndarray::{Array, ArrayRef, ArrayView, Axis, Dimension, ShapeBuilder, Slice};

/// The memory layout of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Row-major, without gaps.
    Standard,
    /// The last element first: every stride is negative.
    Reversed,
    /// Column-major.
    Transposed,
    /// With gaps along every axis, of a different size along each.
    Strided,
}

/// Every layout that an owned array can have, the standard one first.
pub const LAYOUTS: [Layout; 4] = [Layout::Standard, Layout::Reversed, Layout::Transposed, Layout::Strided];

/// The same elements in another layout.
pub fn stored<A: Clone, D: Dimension>(x: &Array<A, D>, layout: Layout) -> Array<A, D> {
    match layout {
        Layout::Standard => x.as_standard_layout().into_owned(),
        Layout::Reversed => {
            let mut x = x.clone();
            for k in 0..x.ndim() {
                x.invert_axis(Axis(k));
            }
            let mut x = x.as_standard_layout().into_owned();
            for k in 0..x.ndim() {
                x.invert_axis(Axis(k));
            }
            x
        }
        Layout::Transposed => x.t().as_standard_layout().into_owned().reversed_axes(),
        Layout::Strided => {
            let Some(first) = x.first() else { return x.clone() };
            let steps = |k: usize| Slice::new(0, None, k.cast_signed() + 2);
            let mut wide = x.raw_dim();
            for k in 0..wide.ndim() {
                wide[k] *= k + 2;
            }
            let mut wide = Array::from_elem(wide, first.clone());
            let mut part = wide.view_mut();
            for k in 0..x.ndim() {
                part.slice_axis_inplace(Axis(k), steps(k));
            }
            part.assign(x);
            wide.slice_each_axis_inplace(|axis| steps(axis.axis.index()));
            wide
        }
    }
}

/// The first row of an array in place of all rows: as an owned array, and as a view whose rows
/// share memory.
pub fn repeated<A: Clone, D: Dimension>(x: &Array<A, D>) -> Array<A, D> {
    let rows = x.shape().first().copied().unwrap_or(1);
    let row = x.len() / rows.max(1);
    let elements = x.iter().take(row).cycle().take(x.len()).cloned().collect();
    Array::from_shape_vec(x.raw_dim(), elements).expect("as many elements")
}

/// The view whose rows are all the first row of `x`, which is in standard layout.
pub fn broadcast<A, S: ad::ndarray::Data<Elem = A>, D: Dimension>(
    x: &ad::ndarray::ArrayBase<S, D>,
) -> ArrayView<'_, A, D> {
    let elements = x.as_slice().expect("standard layout");
    let mut strides = x.raw_dim();
    for (k, &stride) in x.strides().iter().enumerate() {
        strides[k] = stride.unsigned_abs();
    }
    let rows = x.shape().first().copied().unwrap_or(1).max(1);
    if x.ndim() > 0 {
        strides[0] = 0;
    }
    ArrayView::from_shape(x.raw_dim().strides(strides), &elements[..x.len() / rows]).expect("inside of the row")
}

/// A result as bits, sizes included.
pub trait Bits {
    /// Adds them to a list.
    fn add_bits(&self, bits: &mut Vec<u64>);

    /// All of them.
    fn bits(&self) -> Vec<u64> {
        let mut bits = Vec::new();
        self.add_bits(&mut bits);
        bits
    }
}

impl Bits for f64 {
    fn add_bits(&self, bits: &mut Vec<u64>) {
        bits.push(self.to_bits());
    }
}

impl Bits for f32 {
    fn add_bits(&self, bits: &mut Vec<u64>) {
        bits.push(self.to_bits().into());
    }
}

impl<A: Bits> Bits for Vec<A> {
    fn add_bits(&self, bits: &mut Vec<u64>) {
        bits.push(self.len() as u64);
        self.iter().for_each(|x| x.add_bits(bits));
    }
}

impl<A: Bits, const N: usize> Bits for [A; N] {
    fn add_bits(&self, bits: &mut Vec<u64>) {
        self.iter().for_each(|x| x.add_bits(bits));
    }
}

impl<A: Bits, D: Dimension> Bits for Array<A, D> {
    fn add_bits(&self, bits: &mut Vec<u64>) {
        bits.extend(self.shape().iter().map(|&n| n as u64));
        self.iter().for_each(|x| x.add_bits(bits));
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Bits),*> Bits for ($($name,)*) {
            #[allow(non_snake_case, reason = "a type and its value share a name")]
            fn add_bits(&self, bits: &mut Vec<u64>) {
                let ($($name,)*) = self;
                $($name.add_bits(bits);)*
            }
        }
    };
}
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);

/// The result of a call has to have the same bits on every layout of its arguments. `call` stores
/// them in the given layout.
#[track_caller]
pub fn on_every_layout<R: Bits>(call: impl Fn(Layout) -> R) -> R {
    let result = call(Layout::Standard);
    for layout in LAYOUTS {
        assert_eq!(call(layout).bits(), result.bits(), "{layout:?}: other bits");
    }
    result
}

/// Runs a function of an array and its gradient on the numbers of `x` in every memory layout, on
/// rows that share memory, and on an array without elements. The bits are the same, gradients are
/// in standard layout, and a panic occurs only where the function panics.
#[track_caller]
pub fn on_every_input<D: Dimension>(
    f: impl Fn(&ArrayRef<f64, D>) -> f64,
    value_and_grad: impl Fn(&ArrayRef<f64, D>) -> (f64, Array<f64, D>),
    x: &Array<f64, D>,
) {
    on_every_layout(|layout| {
        let (value, gradient) = value_and_grad(&stored(x, layout));
        assert!(gradient.is_standard_layout() && gradient.shape() == x.shape(), "{layout:?}");
        (value, gradient)
    });
    let panics = |call: &dyn Fn() -> f64| catch_unwind(AssertUnwindSafe(call)).is_err();
    let rows = repeated(x);
    if !panics(&|| f(&rows)) {
        let (one, several) = (value_and_grad(&broadcast(&x.as_standard_layout())), value_and_grad(&rows));
        assert!(one.1.is_standard_layout());
        assert_eq!(one.bits(), several.bits(), "other bits on rows that are one memory");
    }
    let empty = Array::zeros(D::zeros(x.ndim()));
    let (own, ours) = (panics(&|| f(&empty)), panics(&|| value_and_grad(&empty).0));
    assert_eq!(own, ours, "without elements the function {}", if own { "panics" } else { "does not panic" });
    if !own {
        let ((value, gradient), own) = (value_and_grad(&empty), f(&empty));
        assert!(value == own || value.is_nan() && own.is_nan(), "without elements: {value} is not {own}");
        assert_eq!(gradient.shape(), empty.shape());
    }
}

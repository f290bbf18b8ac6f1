//! The calls that the functions of the attribute make: they call the differentiated function with
//! numbers of one mode, and read its derivative off the result.
//!
//! This module must never call the differentiated function itself, except through a closure that
//! the attribute writes.

use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;
use core::slice::Iter;

use ndarray::{Array, ArrayRef, Dimension};

use super::forward::Forward;
use super::lift::Lift;
use super::reverse::{Reverse, left_its_call};
use super::rules::Number;
use super::tape::Ended;
use crate::Real;

/// A running call of a function with numbers of reverse mode over `T`.
#[derive(Debug)]
pub struct Call<T: Real> {
    inputs: usize,
    ended: bool,
    of: PhantomData<T>,
}

impl<T: Real> Call<T> {
    /// Begins a call.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it has an effect")]
    pub fn begin() -> Self {
        T::own_recorder();
        T::with_recorder(|recorder| recorder.begin());
        #[cfg(feature = "rayon")]
        super::forks::began::<T>();
        Call { inputs: 0, ended: false, of: PhantomData }
    }

    /// An argument with respect to which derivatives are taken. All these come before the function
    /// is called.
    pub fn argument<X: Lift<T, Reverse<T>> + ?Sized>(&mut self, x: &X) -> X::Output {
        let inputs = &mut self.inputs;
        x.lift(&mut |value| {
            *inputs += 1;
            Reverse::argument(value)
        })
    }

    /// An argument whose numbers move along a direction: for second derivatives.
    pub fn moving<F: Real, X>(&mut self, x: &X, directions: &mut Iter<'_, F>) -> X::Output
    where
        T: WithTangent<F>,
        X: Lift<F, Reverse<T>> + ?Sized,
    {
        let inputs = &mut self.inputs;
        x.lift(&mut |value| {
            *inputs += 1;
            Reverse::argument(T::of(value, next(directions)))
        })
    }

    fn end(&mut self) -> Ended<T> {
        self.ended = true;
        #[cfg(feature = "rayon")]
        super::forks::ended();
        T::with_recorder(|recorder| recorder.end())
    }

    /// Ends a call whose result is one number.
    #[must_use]
    pub fn number(mut self, result: Reverse<T>) -> (T, Pulled<T>) {
        let operand = operand(result);
        let ended = self.end();
        (result.value, Pulled { ended: Some(ended), inputs: self.inputs, result: ResultPositions::One(operand) })
    }

    /// Ends a call with any result.
    #[must_use]
    pub fn values<R: Lift<Reverse<T>, T>>(mut self, result: &R) -> (R::Output, Pulled<T>) {
        let mut positions = Vec::new();
        let values = result.lift(&mut |number| {
            positions.push(operand(number));
            number.value
        });
        let ended = self.end();
        let result = ResultPositions::Many(positions);
        (values, Pulled { ended: Some(ended), inputs: self.inputs, result })
    }
}

/// A number of a result as an operand of the running call. Fails if it is one of another call.
fn operand<T: Real>(number: Reverse<T>) -> u32 {
    let operand = T::with_recorder(|recorder| recorder.operand(number.identity()));
    operand.unwrap_or_else(|| left_its_call::<T>())
}

impl<T: Real> Drop for Call<T> {
    /// A call that has panicked ends, so that the calls around it can continue.
    fn drop(&mut self) {
        if !self.ended {
            let ended = self.end();
            T::with_recorder(|recorder| recorder.reuse(ended));
        }
    }
}

/// A number type whose numbers have a value and a tangent of type `F`.
pub trait WithTangent<F>: Sized {
    /// The number.
    fn of(value: F, tangent: F) -> Self;
    /// The tangent.
    fn tangent(self) -> F;
}

impl<F: Real> WithTangent<F> for Forward<F> {
    fn of(value: F, tangent: F) -> Self {
        Forward { value, tangent }
    }
    fn tangent(self) -> F {
        self.tangent
    }
}

/// The operands that are the numbers of a result.
#[derive(Debug)]
enum ResultPositions {
    One(u32),
    Many(Vec<u32>),
}

impl ResultPositions {
    fn all(&self) -> &[u32] {
        match self {
            ResultPositions::One(one) => core::slice::from_ref(one),
            ResultPositions::Many(all) => all,
        }
    }
}

/// A call that has ended: a linear map from the arguments to the result.
#[derive(Debug)]
pub struct Pulled<T: Real> {
    ended: Option<Ended<T>>,
    inputs: usize,
    result: ResultPositions,
}

impl<T: Real> Pulled<T> {
    fn tape(&mut self) -> &mut Ended<T> {
        self.ended.as_mut().unwrap_or_else(|| unreachable!("only `drop` takes the tape"))
    }

    /// The gradient of the one number that is the result.
    pub fn gradient(&mut self) -> Read<'_, T> {
        self.transposed([T::one()].into_iter())
    }

    /// The cotangents of the arguments, from cotangents of the result.
    fn transposed(&mut self, cotangents: impl Iterator<Item = T>) -> Read<'_, T> {
        let Pulled { ended, inputs, result } = self;
        let ended = ended.as_mut().unwrap_or_else(|| unreachable!("only `drop` takes the tape"));
        Read { rest: ended.transposed(*inputs, result.all().iter().copied().zip(cotangents)).iter() }
    }

    /// The cotangents of the arguments, from a cotangent of the structure of the result.
    ///
    /// # Panics
    /// If the cotangent has another structure.
    #[track_caller]
    pub fn pulled<R: Lift<T, T> + ?Sized, C: Lift<T, T> + ?Sized>(&mut self, result: &R, cotangent: &C) -> Read<'_, T> {
        same_structure("the cotangent", "the result", result, cotangent);
        let cotangents = numbers(cotangent);
        self.transposed(cotangents.into_iter())
    }

    /// The Jacobian of all numbers of the result by all numbers of the arguments: by rows or by
    /// columns, whichever are fewer.
    pub fn jacobian(&mut self) -> Columns<T> {
        let (rows, columns) = (self.result.all().len(), self.inputs);
        let mut elements = vec![T::zero(); rows * columns];
        if rows <= columns || !self.tape().is_applicable() {
            for i in 0..rows {
                let row = self.transposed((0..rows).map(|k| if k == i { T::one() } else { T::zero() }));
                for (place, value) in elements[i * columns..][..columns].iter_mut().zip(row.rest) {
                    *place = *value;
                }
            }
        } else {
            for j in 0..columns {
                let unit = (0..columns).map(|k| if k == j { T::one() } else { T::zero() });
                self.tape().applied(unit);
                let Pulled { ended, result, .. } = self;
                let tangents = ended.as_ref().map_or(&[][..], Ended::sums);
                for (i, &position) in result.all().iter().enumerate() {
                    elements[i * columns + j] = tangents[position as usize];
                }
            }
        }
        Columns { elements, columns }
    }
}

#[cfg(test)]
impl<T: Real> Pulled<T> {
    /// The number of bytes that the call has needed.
    pub(super) fn bytes(&self) -> usize {
        self.ended.as_ref().map_or(0, Ended::bytes)
    }
}

impl<T: Real> Drop for Pulled<T> {
    /// The next call uses the memory.
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            T::with_recorder(|recorder| recorder.reuse(ended));
        }
    }
}

/// The numbers of a gradient that are still to be read.
#[derive(Debug)]
pub struct Read<'a, T> {
    rest: Iter<'a, T>,
}

impl<T: Real> Read<'_, T> {
    /// The gradient with the structure of this argument.
    pub fn like<X: Lift<T, T> + ?Sized>(&mut self, x: &X) -> X::Output {
        x.lift(&mut |_| next(&mut self.rest))
    }

    /// Overwrites a destination with the gradient of an argument.
    ///
    /// # Panics
    /// If the destination has another structure than the argument.
    #[track_caller]
    pub fn written<X, Y>(&mut self, x: &X, destination: &mut Y)
    where
        X: Lift<T, T> + ?Sized,
        Y: Overwrite<T> + Lift<T, T> + ?Sized,
    {
        same_structure("the destination", "the argument", x, &*destination);
        destination.overwrite(&mut self.rest);
    }

    /// The derivatives of a gradient along the directions of [`Call::moving`], with the structure
    /// of
    /// this argument.
    pub fn tangents_like<F: Real, X: Lift<F, F> + ?Sized>(&mut self, x: &X) -> X::Output
    where
        T: WithTangent<F>,
    {
        x.lift(&mut |_| next(&mut self.rest).tangent())
    }
}

/// The next number of a list that has one for each number of a structure.
fn next<T: Copy>(list: &mut Iter<'_, T>) -> T {
    *list.next().unwrap_or_else(|| unreachable!("the lists have equal lengths"))
}

/// The numbers of a value.
pub fn numbers<T: Real, X: Lift<T, T> + ?Sized>(x: &X) -> Vec<T> {
    let mut all = Vec::new();
    x.lift(&mut |value| {
        all.push(value);
        value
    });
    all
}

/// A number type with a constant for each number of type `T`.
pub trait OfConstant<T> {
    /// The constant.
    fn of_constant(value: T) -> Self;
}

impl<T: Real> OfConstant<T> for Reverse<T> {
    fn of_constant(value: T) -> Self {
        Self::constant(value)
    }
}

impl<T: Real> OfConstant<T> for Forward<T> {
    fn of_constant(value: T) -> Self {
        Self::constant(value)
    }
}

impl<T: Real> OfConstant<T> for Reverse<Forward<T>> {
    fn of_constant(value: T) -> Self {
        Self::constant(Forward::constant(value))
    }
}

impl<T: Real> OfConstant<T> for Forward<Forward<T>> {
    fn of_constant(value: T) -> Self {
        Self::constant(Forward::constant(value))
    }
}

/// A value with constants of another number type.
pub fn constant<T: Real, N: OfConstant<T>, X: Lift<T, N> + ?Sized>(x: &X) -> X::Output {
    x.lift(&mut N::of_constant)
}

/// An owned copy of a value.
pub fn copied<T: Real, X: Lift<T, T> + ?Sized>(x: &X) -> X::Output {
    x.lift(&mut |value| value)
}

#[track_caller]
fn same_structure<T: Real, X, Y>(what: &str, of: &str, x: &X, y: &Y)
where
    X: Lift<T, T> + ?Sized,
    Y: Lift<T, T> + ?Sized,
{
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    x.structure(&mut expected);
    y.structure(&mut found);
    assert!(expected == found, "{what} has the lengths {found:?}, and {of} has {expected:?}");
}

/// The numbers of tangents or directions, in the order of the numbers of an argument.
///
/// # Panics
/// If they have another structure than the argument.
#[track_caller]
pub fn along<T: Real, X: Lift<T, T> + ?Sized, Y: Lift<T, T> + ?Sized>(x: &X, direction: &Y) -> Vec<T> {
    same_structure("a direction", "its argument", x, direction);
    numbers(direction)
}

/// An argument whose numbers move along a direction.
pub fn pushed<T: Real, X: Lift<T, Forward<T>> + ?Sized>(x: &X, direction: &mut Iter<'_, T>) -> X::Output {
    x.lift(&mut |value| Forward { value, tangent: next(direction) })
}

/// The value of a result and its tangent.
pub fn parts<T: Real, R: Lift<Forward<T>, T>>(result: &R) -> (R::Output, R::Output) {
    (result.lift(&mut |x| x.value), result.lift(&mut |x| x.tangent))
}

/// The value of a result of any mode.
pub fn primal<N: Number, R: Lift<N, N::Inner>>(result: &R) -> R::Output {
    result.lift(&mut N::primal)
}

/// A direction of unit length.
fn unit<T: Real>(count: usize, k: usize) -> Vec<T> {
    let mut all = vec![T::zero(); count];
    all[k] = T::one();
    all
}

/// The trace of the Hessian: for each number of the argument its second derivative, of `f` at the
/// argument that moves twice along one axis.
pub fn laplacian<T, X>(
    count: usize,
    x: &X,
    f: impl Fn(<X as Lift<T, Forward<Forward<T>>>>::Output) -> Forward<Forward<T>>,
) -> T
where
    T: Real,
    X: Lift<T, Forward<Forward<T>>> + ?Sized,
{
    let mut sum = T::zero();
    for k in 0..count {
        let mut place = 0;
        let moving = x.lift(&mut |value| {
            let tangent = if place == k { T::one() } else { T::zero() };
            place += 1;
            Forward { value: Forward { value, tangent }, tangent: Forward { value: tangent, tangent: T::zero() } }
        });
        sum += f(moving).tangent.tangent;
    }
    sum
}

/// The Hessian, from its products with directions.
pub fn hessian<T: Real>(count: usize, mut product: impl FnMut(&[T]) -> Vec<T>) -> Columns<T> {
    let elements = (0..count).flat_map(|k| product(&unit(count, k))).collect();
    // It is symmetric: its columns are its rows.
    Columns { elements, columns: count }
}

/// A matrix of derivatives: a row for each number of the result.
#[derive(Debug)]
pub struct Columns<T> {
    elements: Vec<T>,
    columns: usize,
}

impl<T: Real> Columns<T> {
    /// The block of a leaf of the result and a leaf of the arguments. `rows` and `columns` have the
    /// sizes of the axes of all leaves.
    pub fn of_leaves<B: Block<T>>(&self, (rows, i): (&[Vec<usize>], usize), (columns, j): (&[Vec<usize>], usize)) -> B {
        let first = |all: &[Vec<usize>]| all.iter().map(|dims| dims.iter().product::<usize>()).sum();
        self.block((first(&rows[..i]), &rows[i]), (first(&columns[..j]), &columns[j]))
    }

    /// The block of these rows and columns, with these sizes of axes.
    pub fn block<B: Block<T>>(&self, rows: (usize, &[usize]), columns: (usize, &[usize])) -> B {
        let dims: Vec<usize> = rows.1.iter().chain(columns.1).copied().collect();
        let range =
            |(first, dims): (usize, &[usize])| -> Range<usize> { first..first + dims.iter().product::<usize>() };
        let columns = range(columns);
        let elements = range(rows).flat_map(|i| columns.clone().map(move |j| self.elements[i * self.columns + j]));
        B::filled(&dims, &mut { elements })
    }
}

/// A block of a Jacobian: a number, static arrays, or an array.
pub trait Block<T>: Sized {
    /// The block with these sizes and elements.
    fn filled(dims: &[usize], elements: &mut dyn Iterator<Item = T>) -> Self;
}

fn element<T>(elements: &mut dyn Iterator<Item = T>) -> T {
    elements.next().unwrap_or_else(|| unreachable!("a block has an element for each of its places"))
}

impl<T: Real> Block<T> for T {
    fn filled(_: &[usize], elements: &mut dyn Iterator<Item = T>) -> T {
        element(elements)
    }
}

impl<T, B: Block<T>, const N: usize> Block<T> for [B; N] {
    fn filled(dims: &[usize], elements: &mut dyn Iterator<Item = T>) -> Self {
        let rest = dims.get(1..).unwrap_or_default();
        core::array::from_fn(|_| B::filled(rest, elements))
    }
}

impl<T: Clone, D: Dimension> Block<T> for Array<T, D> {
    fn filled(dims: &[usize], elements: &mut dyn Iterator<Item = T>) -> Self {
        let mut shape = D::zeros(dims.len());
        shape.slice_mut().copy_from_slice(dims);
        Array::from_shape_simple_fn(shape, || element(elements))
    }
}

/// A number or an array of numbers, whose axes a Jacobian has.
pub trait Dims<T> {
    /// The sizes of the axes.
    fn dims(&self) -> Vec<usize>;
}

/// The sizes of the axes of a value.
pub fn dims<T, X: Dims<T> + ?Sized>(x: &X) -> Vec<usize> {
    x.dims()
}

impl<T: Real> Dims<T> for T {
    fn dims(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// The sizes of a static array follow from its type, even if it has no element.
impl<T, X: StaticDims<T>, const N: usize> Dims<T> for [X; N] {
    fn dims(&self) -> Vec<usize> {
        <[X; N]>::static_dims()
    }
}

/// A number or a static array.
pub trait StaticDims<T> {
    /// The sizes of the axes.
    fn static_dims() -> Vec<usize>;
}

impl<T: Real> StaticDims<T> for T {
    fn static_dims() -> Vec<usize> {
        Vec::new()
    }
}

impl<T, X: StaticDims<T>, const N: usize> StaticDims<T> for [X; N] {
    fn static_dims() -> Vec<usize> {
        [vec![N], X::static_dims()].concat()
    }
}

impl<T, X: StaticDims<T>> Dims<T> for Vec<X> {
    fn dims(&self) -> Vec<usize> {
        [vec![self.len()], X::static_dims()].concat()
    }
}

impl<T: Real, D: Dimension> Dims<T> for Array<T, D> {
    fn dims(&self) -> Vec<usize> {
        self.shape().to_vec()
    }
}

/// Memory that is overwritten with a gradient.
pub trait Overwrite<T> {
    /// Overwrites each number.
    fn overwrite(&mut self, numbers: &mut Iter<'_, T>);
}

impl<T: Real> Overwrite<T> for T {
    fn overwrite(&mut self, numbers: &mut Iter<'_, T>) {
        *self = next(numbers);
    }
}

macro_rules! overwritten {
    ($([$($g:tt)*] $t:ty;)*) => {$(
        impl<T, X: Overwrite<T> $($g)*> Overwrite<T> for $t {
            fn overwrite(&mut self, numbers: &mut Iter<'_, T>) {
                self.iter_mut().for_each(|x| x.overwrite(numbers));
            }
        }
    )*};
}
overwritten! {
    [] [X];
    [] Vec<X>;
    [, const N: usize] [X; N];
    [, D: Dimension] ArrayRef<X, D>;
    [, D: Dimension] Array<X, D>;
}

//! Arguments of a call: a copy of each that can be moved by a step, and passed again as what it was.

use ndarray::{Array, ArrayRef, ArrayView, Dimension};

use super::flat::{Flat, Passed};
use super::{Check, Step};

/// What may be an argument of a function that `check_grad!` calls.
pub trait Argument {
    /// A copy that owns its entries.
    type Own: Flat + 'static;
    /// What is passed again: this type, with another lifetime.
    type Lent<'a>;
    /// The copy.
    fn copied(&self) -> Self::Own;
    /// The copy as an argument.
    fn lent(own: &Self::Own) -> Self::Lent<'_>;
}

/// A copy of an argument.
pub struct Owned<T: Argument>(T::Own);

/// A copy of this argument.
pub fn own<T: Argument>(argument: &T) -> Owned<T> {
    Owned(argument.copied())
}

impl<T: Argument> Owned<T> {
    /// The entries.
    pub fn flat(&self) -> &T::Own {
        &self.0
    }

    /// An argument of the type that it was.
    pub fn lent(&self) -> T::Lent<'_> {
        T::lent(&self.0)
    }

    /// The copy after the steps that are of argument `k`.
    #[must_use]
    pub fn after(&self, k: usize, steps: &[Step]) -> Self {
        let mut copy = self.0.clone();
        for step in steps.iter().filter(|s| s.argument == k) {
            let mut moved = step.moved.iter().peekable();
            let mut at = 0;
            copy.change(&mut |x| {
                let by = moved.next_if(|m| m.0 == at).map_or(0.0, |m| m.1);
                at += 1;
                x + by
            });
        }
        Owned(copy)
    }

    /// Argument `k`'s tangent, as an owned value.
    #[must_use]
    pub fn tangent(&self, check: &Check, k: usize) -> T::Own
    where
        T::Own: Passed,
    {
        super::flat::refill(&self.0, &check.tangent(k))
    }
}

macro_rules! by_value {
    ($($t:ty),*) => {$(
        impl Argument for $t {
            type Own = $t;
            type Lent<'a> = $t;
            fn copied(&self) -> $t {
                *self
            }
            fn lent(own: &$t) -> $t {
                *own
            }
        }
        impl Stored for $t {
            type Own = $t;
            fn stored(&self) -> $t {
                *self
            }
            fn seen(own: &$t) -> &$t {
                own
            }
        }
    )*};
}

by_value!(f32, f64, usize, isize, i32, i64, u32, u64, u8, bool);

impl<A: Clone + 'static, D: Dimension + 'static> Argument for Array<A, D>
where
    Array<A, D>: Flat,
{
    type Own = Array<A, D>;
    type Lent<'a> = Array<A, D>;
    fn copied(&self) -> Self {
        self.clone()
    }
    fn lent(own: &Self) -> Self {
        own.clone()
    }
}

impl<A: Clone + 'static, D: Dimension + 'static> Argument for ArrayView<'_, A, D>
where
    Array<A, D>: Flat,
{
    type Own = Array<A, D>;
    type Lent<'a> = ArrayView<'a, A, D>;
    fn copied(&self) -> Array<A, D> {
        self.to_owned()
    }
    fn lent(own: &Array<A, D>) -> ArrayView<'_, A, D> {
        own.view()
    }
}

impl<A: Clone + 'static> Argument for Vec<A>
where
    Vec<A>: Flat,
{
    type Own = Vec<A>;
    type Lent<'a> = Vec<A>;
    fn copied(&self) -> Self {
        self.clone()
    }
    fn lent(own: &Self) -> Self {
        own.clone()
    }
}

impl<X: Flat + 'static, const N: usize> Argument for [X; N] {
    type Own = [X; N];
    type Lent<'a> = [X; N];
    fn copied(&self) -> Self {
        self.clone()
    }
    fn lent(own: &Self) -> Self {
        own.clone()
    }
}

/// What may be behind a reference.
pub trait Stored {
    /// A copy that owns its entries.
    type Own: Flat + 'static;
    /// The copy.
    fn stored(&self) -> Self::Own;
    /// The copy seen as this type.
    fn seen(own: &Self::Own) -> &Self;
}

impl<X: Stored + ?Sized + 'static> Argument for &X {
    type Own = X::Own;
    type Lent<'a> = &'a X;
    fn copied(&self) -> X::Own {
        (**self).stored()
    }
    fn lent(own: &X::Own) -> &X {
        X::seen(own)
    }
}

impl<A: Clone + 'static, D: Dimension + 'static> Stored for Array<A, D>
where
    Array<A, D>: Flat,
{
    type Own = Array<A, D>;
    fn stored(&self) -> Self {
        self.clone()
    }
    fn seen(own: &Self) -> &Self {
        own
    }
}

impl<A: Clone + 'static, D: Dimension + 'static> Stored for ArrayRef<A, D>
where
    Array<A, D>: Flat,
{
    type Own = Array<A, D>;
    fn stored(&self) -> Array<A, D> {
        self.to_owned()
    }
    fn seen(own: &Array<A, D>) -> &Self {
        own
    }
}

impl<A: Clone + 'static> Stored for Vec<A>
where
    Vec<A>: Flat,
{
    type Own = Vec<A>;
    fn stored(&self) -> Self {
        self.clone()
    }
    fn seen(own: &Self) -> &Self {
        own
    }
}

impl<A: Clone + 'static> Stored for [A]
where
    Vec<A>: Flat,
{
    type Own = Vec<A>;
    fn stored(&self) -> Vec<A> {
        self.to_vec()
    }
    fn seen(own: &Vec<A>) -> &Self {
        own
    }
}

impl<X: Flat + 'static, const N: usize> Stored for [X; N] {
    type Own = [X; N];
    fn stored(&self) -> Self {
        self.clone()
    }
    fn seen(own: &Self) -> &Self {
        own
    }
}

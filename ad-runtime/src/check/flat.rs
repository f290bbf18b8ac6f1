//! Values as lists of numbers, in row-major order.

use ndarray::{Array, Dimension};

/// A value that is a number or an array of numbers (or of `bool`).
pub trait Flat: Clone {
    /// Sizes, outermost first.
    fn shape(&self) -> Vec<usize>;
    /// Adds the entries, in row-major order.
    fn read(&self, out: &mut Vec<f64>);
    /// Passes each entry through `f`, in row-major order.
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64);
    /// Whether the entries are real numbers.
    fn is_real(&self) -> bool;
    /// Whether they are `f32`.
    fn is_single(&self) -> bool;

    /// The entries.
    fn values(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.read(&mut out);
        out
    }
}

/// A copy with other entries.
pub fn refill<X: Flat>(like: &X, values: &[f64]) -> X {
    let mut copy = like.clone();
    let mut rest = values.iter();
    copy.change(&mut |x| rest.next().copied().unwrap_or(x));
    copy
}

macro_rules! number {
    ($real:literal: $($t:ty),*) => {$(
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "one macro for all")]
        impl Flat for $t {
            fn shape(&self) -> Vec<usize> {
                Vec::new()
            }
            fn read(&self, out: &mut Vec<f64>) {
                out.push(*self as f64);
            }
            fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
                if $real {
                    *self = f(*self as f64) as $t;
                }
            }
            fn is_real(&self) -> bool {
                $real
            }
            fn is_single(&self) -> bool {
                $real && size_of::<$t>() == 4
            }
        }
    )*};
}

number!(true: f32, f64);
number!(false: usize, isize, i32, i64, u32, u64, u8);

impl Flat for bool {
    fn shape(&self) -> Vec<usize> {
        Vec::new()
    }
    fn read(&self, out: &mut Vec<f64>) {
        out.push(f64::from(u8::from(*self)));
    }
    fn change(&mut self, _: &mut dyn FnMut(f64) -> f64) {}
    fn is_real(&self) -> bool {
        false
    }
    fn is_single(&self) -> bool {
        false
    }
}

/// What kind of numbers a container without elements has.
trait Kind {
    fn zero() -> Self;
}

macro_rules! kind {
    ($($t:ty: $zero:expr),*) => {$(impl Kind for $t {
        fn zero() -> Self {
            $zero
        }
    })*};
}

kind!(f32: 0.0, f64: 0.0, usize: 0, isize: 0, i32: 0, i64: 0, u32: 0, u64: 0, u8: 0, bool: false);

#[allow(private_bounds, reason = "numbers and bool, nothing else")]
impl<A: Flat + Kind, D: Dimension> Flat for Array<A, D> {
    fn shape(&self) -> Vec<usize> {
        (**self).shape().to_vec()
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_real(&self) -> bool {
        A::zero().is_real()
    }
    fn is_single(&self) -> bool {
        A::zero().is_single()
    }
}

#[allow(private_bounds, reason = "numbers and bool, nothing else")]
impl<A: Flat + Kind> Flat for Vec<A> {
    fn shape(&self) -> Vec<usize> {
        vec![self.len()]
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_real(&self) -> bool {
        A::zero().is_real()
    }
    fn is_single(&self) -> bool {
        A::zero().is_single()
    }
}

impl<X: Flat, const N: usize> Flat for [X; N] {
    fn shape(&self) -> Vec<usize> {
        std::iter::once(N).chain(self.first().map_or_else(Vec::new, Flat::shape)).collect()
    }
    fn read(&self, out: &mut Vec<f64>) {
        self.iter().for_each(|x| x.read(out));
    }
    fn change(&mut self, f: &mut dyn FnMut(f64) -> f64) {
        self.iter_mut().for_each(|x| x.change(f));
    }
    fn is_real(&self) -> bool {
        self.first().is_some_and(Flat::is_real)
    }
    fn is_single(&self) -> bool {
        self.first().is_some_and(Flat::is_single)
    }
}

/// How tangents and cotangents of a type are passed: numbers and static arrays by value, others by reference.
pub trait Passed: Flat {
    /// The type that is passed.
    type As<'a>
    where
        Self: 'a;
    /// This value as it is passed.
    fn passed(&self) -> Self::As<'_>;
}

macro_rules! passed_by_value {
    ($($t:ty),*) => {$(impl Passed for $t {
        type As<'a> = $t;
        fn passed(&self) -> $t {
            *self
        }
    })*};
}

passed_by_value!(f32, f64);

impl<X: Flat + Copy, const N: usize> Passed for [X; N] {
    type As<'a>
        = [X; N]
    where
        X: 'a;
    fn passed(&self) -> [X; N] {
        *self
    }
}

#[allow(private_bounds, reason = "numbers and bool, nothing else")]
impl<A: Flat + Kind, D: Dimension> Passed for Array<A, D> {
    type As<'a>
        = &'a Array<A, D>
    where
        Self: 'a;
    fn passed(&self) -> &Array<A, D> {
        self
    }
}

#[allow(private_bounds, reason = "numbers and bool, nothing else")]
impl<A: Flat + Kind> Passed for Vec<A> {
    type As<'a>
        = &'a [A]
    where
        Self: 'a;
    fn passed(&self) -> &[A] {
        self
    }
}

/// One part of a derivative.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Its entries.
    pub values: Vec<f64>,
}

/// A derivative: one part, or a tuple of parts.
pub trait Leaves {
    /// The parts, in order.
    fn leaves(&self) -> Vec<Leaf>;
}

macro_rules! one_leaf {
    ($([$($generics:tt)*] $t:ty),*) => {$(
        #[allow(private_bounds, reason = "numbers and bool, nothing else")]
        impl<$($generics)*> Leaves for $t {
            fn leaves(&self) -> Vec<Leaf> {
                vec![Leaf { values: self.values() }]
            }
        }
    )*};
}

one_leaf!([] f32, [] f64, [A: Flat + Kind, D: Dimension] Array<A, D>, [A: Flat + Kind] Vec<A>, [X: Flat, const N: usize] [X; N]);

macro_rules! tuple {
    ($($name:ident)*) => {
        impl<$($name: Leaves),*> Leaves for ($($name,)*) {
            #[allow(non_snake_case, reason = "type parameters name the parts")]
            fn leaves(&self) -> Vec<Leaf> {
                let ($($name,)*) = self;
                let mut all = Vec::new();
                $(all.extend($name.leaves());)*
                all
            }
        }
    };
}

tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);
tuple!(A B C D E F G H I);
tuple!(A B C D E F G H I J);
tuple!(A B C D E F G H I J K);
tuple!(A B C D E F G H I J K L);

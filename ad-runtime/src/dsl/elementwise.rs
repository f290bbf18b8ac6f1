//! Functions of each element, and functions that only affect derivatives.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use ndarray::{Array, ArrayBase, ArrayRef, Data};

use super::elements::{Elements, Rank};
use crate::Real;

/// A scalar by value or an array by reference: an argument of `sigmoid`, `relu` and similar
/// functions.
///
/// ```
/// use ad_runtime::dsl::Elementwise;
/// use ndarray::array;
///
/// fn cube<X: Elementwise>(x: X) -> X::Output {
///     x.apply(|v| v * v * v)
/// }
/// assert_eq!(cube(2.0), 8.0);
/// assert_eq!(cube(&array![1.0, -2.0]), array![1.0, -8.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a real number nor a reference to an array of them",
    label = "expected a number by value or an array by reference",
    note = "write `relu(x)` for a number and `relu(&x)` for an array"
)]
pub trait Elementwise {
    /// The type of the number, or of the elements.
    type Elem: Real;

    /// A number, or an owned array of the same shape.
    type Output;

    /// Applies `f` to the number or to each element.
    fn apply(self, f: impl Fn(Self::Elem) -> Self::Elem) -> Self::Output;
}

impl<F: Real> Elementwise for F {
    type Elem = F;
    type Output = F;

    #[inline]
    fn apply(self, f: impl Fn(F) -> F) -> F {
        f(self)
    }
}

/// `f` of each element of an array.
fn map<X: Elements + ?Sized>(x: &X, f: impl Fn(X::Elem) -> X::Elem) -> X::Owned {
    let data = match x.contiguous() {
        Cow::Borrowed(data) => data.iter().map(|&v| f(v)).collect(),
        Cow::Owned(mut data) => {
            for v in &mut data {
                *v = f(*v);
            }
            data
        }
    };
    x.with_elements(data)
}

// Each type has an `impl` of its own. One `impl` for all references to `Elements` would overlap
// with the `impl` for numbers, since the compiler does not exclude that a reference is a number.
macro_rules! arrays {
    ($([$($g:tt)*] $t:ty, $output:ty;)*) => {$(
        impl<$($g)* F: Real> Elementwise for $t {
            type Elem = F;
            type Output = $output;

            fn apply(self, f: impl Fn(F) -> F) -> $output {
                map(self, f)
            }
        }
    )*};
}
arrays! {
    [S: Data<Elem = F>, D: Rank,] &ArrayBase<S, D>, Array<F, D>;
    [S: Data<Elem = F>, D: Rank,] &&ArrayBase<S, D>, Array<F, D>;
    [D: Rank,] &ArrayRef<F, D>, Array<F, D>;
    [D: Rank,] &&ArrayRef<F, D>, Array<F, D>;
    [] &[F], Vec<F>;
    [] &Vec<F>, Vec<F>;
    [const N: usize,] &[F; N], [F; N];
    [const N: usize, const M: usize,] &[[F; N]; M], [[F; N]; M];
}

macro_rules! number_references {
    ($($t:ty),*) => {$(
        impl Elementwise for &$t {
            type Elem = $t;
            type Output = $t;

            fn apply(self, f: impl Fn($t) -> $t) -> $t {
                f(*self)
            }
        }
    )*};
}
number_references!(f32, f64);

/// Functions of one number, which can also be applied to each element of an array.
/// `kernel::special` lists them.
pub mod scalar {
    use super::Elementwise;
    use crate::kernel;

    macro_rules! functions {
        ($($(#[$doc:meta])* $name:ident;)*) => {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name<X: Elementwise>(x: X) -> X::Output {
                x.apply(kernel::$name)
            }
        )*};
    }
    kernel::scalar_functions!(functions);
}

/// `a` where `c` holds, else `b`. It is strict: both are computed. Use `if` to compute only one.
///
/// ```
/// use ad_runtime::dsl::select;
/// assert_eq!(select(2.0 > 1.0, 'a', 'b'), 'a');
/// ```
#[inline]
#[must_use]
pub fn select<T>(c: bool, a: T, b: T) -> T {
    if c { a } else { b }
}

/// `f(a, b)` for corresponding elements of two arrays of the same shape.
///
/// Shape: that of both. The result has the owned type that belongs to `a`: a `Vec` for a slice or a
/// `Vec`, a static array for a static array.
///
/// ```
/// use ad_runtime::dsl::map2;
/// use ndarray::array;
/// assert_eq!(map2(&array![1.0, 5.0], &array![4.0, 2.0], f64::max), array![4.0, 5.0]);
/// ```
///
/// # Panics
///
/// If the shapes differ, or if `f` panics.
#[track_caller]
pub fn map2<X, Y>(a: &X, b: &Y, f: impl Fn(X::Elem, X::Elem) -> X::Elem) -> X::Owned
where
    X: Elements + ?Sized,
    Y: Elements<Elem = X::Elem, Rank = X::Rank> + ?Sized,
{
    let (shape_a, shape_b) = (a.dims(), b.dims());
    assert!(
        shape_a == shape_b,
        "map2 of arrays of different shapes, {:?} and {:?}",
        ndarray::Dimension::slice(&shape_a),
        ndarray::Dimension::slice(&shape_b)
    );
    let data = a.contiguous().iter().zip(b.contiguous().iter()).map(|(&a, &b)| f(a, b)).collect();
    a.with_elements(data)
}

/// `x` itself, which derivatives treat as a constant.
///
/// ```
/// assert_eq!(ad_runtime::dsl::stop_gradient(2.0), 2.0);
/// ```
///
/// # Panics
///
/// If `x` has numbers of `mode = "dual_numbers"`: this function can take values of any type, and so
/// it cannot change them. In such a function write [`Real::without_derivative`] for a number.
#[inline]
#[must_use]
#[track_caller]
pub fn stop_gradient<T>(x: T) -> T {
    // A wrong derivative would be the alternative.
    assert!(
        !core::any::type_name::<T>().contains("ad_runtime::dual_numbers::"),
        "`stop_gradient` in a function with `mode = \"dual_numbers\"`: write `x.without_derivative()`, and \
         `x.mapv(T::without_derivative)` for an array"
    );
    x
}

/// The value of `f()`. Its intermediate values are recomputed in the reverse pass instead of being
/// saved.
///
/// ```
/// assert_eq!(ad_runtime::dsl::checkpoint(|| 2.0 * 3.0), 6.0);
/// ```
#[inline]
pub fn checkpoint<T>(f: impl Fn() -> T) -> T {
    f()
}

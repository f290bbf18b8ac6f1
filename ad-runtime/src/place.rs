//! Access to the constants and functions that a definition names, for code that is written in
//! another module, where private items cannot be named.
//!
//! **Not a public API**: the numbers are valid for one compilation only.

use core::any::TypeId;

use crate::{Calls, Real};

/// The type that identifies a constant or a function by its number.
#[derive(Debug)]
pub struct At<const ID: u128>;

/// A constant that is found by its number. `Place` is a type of the crate that has the definition:
/// the orphan rule would forbid the implementation otherwise. There is only one, so it is inferred.
pub trait Constant<Place, T> {
    /// The constant.
    const VALUE: T;
}

/// The marked function of a number. `Place` is as in [`Constant`].
pub trait Function<Place> {
    /// Whether `function` is the marked function, and the functions that the marked function calls
    /// are those of its definition.
    fn is<F: 'static>(function: &F) -> bool;
}

/// A function whose body is not read, by its number. Its arguments, results, cotangents and
/// tangents are records of results ([`Calls::results`]). `Place` is as in [`Constant`]. `T` is the
/// type of the function's real numbers, if it has a type parameter for them.
pub trait Ruled<Place> {
    /// Calls the function. `after` is the number of calls after this one.
    fn value<T: Real>(calls: &Calls, given: usize, after: usize) -> usize;
}

/// The rule for reverse mode of a function. All is as in [`Ruled`].
pub trait Reverse<Place> {
    /// Calls the rule, with the record of the function and cotangents of its results. The record
    /// that it returns has the cotangents of the arguments.
    fn reverse<T: Real>(calls: &Calls, record: usize, cotangents: usize) -> usize;
}

/// The rule for forward mode of a function. All is as in [`Ruled`].
pub trait Tangent<Place> {
    /// Calls the rule, with the record of the function and tangents of its arguments. The record
    /// that it returns has the tangents of the results.
    fn tangent<T: Real>(calls: &Calls, record: usize, tangents: usize) -> usize;
}

/// Whether two functions are the same item. Each item has a type of its own.
pub fn same<F: 'static, G: 'static>(_: &F, _: &G) -> bool {
    TypeId::of::<F>() == TypeId::of::<G>()
}

/// A function that takes values of these types.
pub trait Takes<Types> {}

macro_rules! takes {
    ($($t:ident)*) => {
        impl<Function, Result, $($t),*> Takes<($($t,)*)> for Function where Function: Fn($($t),*) -> Result {}
    };
}

takes!(A);
takes!(A B);
takes!(A B C);
takes!(A B C D);
takes!(A B C D E);
takes!(A B C D E F);
takes!(A B C D E F G);
takes!(A B C D E F G H);
takes!(A B C D E F G H I);
takes!(A B C D E F G H I J);
takes!(A B C D E F G H I J K);
takes!(A B C D E F G H I J K L);

/// A function that takes functions, for those of one type. It is a value only then.
pub fn of_types<Types, F: Takes<Types>>(function: F) -> F {
    function
}

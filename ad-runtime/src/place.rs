//! Access to the constants and functions that a definition names, for code that is written in
//! another module, where private items cannot be named.
//!
//! **Not a public API**: the numbers are valid for one compilation only.

use std::any::TypeId;

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

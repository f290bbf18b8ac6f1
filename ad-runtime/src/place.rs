//! Constants and functions of the place of a definition, for code that is written elsewhere: what is
//! private to a module cannot be named there.
//!
//! Nothing here may be used by a person: the numbers are those of one compilation.

use std::any::TypeId;

/// A constant or a function, by its number.
#[derive(Debug)]
pub struct At<const ID: u128>;

/// What a constant of a number is. `Place` is a type of the crate that has the definition, as the
/// implementation could not be written there otherwise. There is only one, so it is inferred.
pub trait Constant<Place, T> {
    /// The constant.
    const VALUE: T;
}

/// The marked function of a number. `Place` is as in [`Constant`].
pub trait Function<Place> {
    /// Whether a function is this one, and what this one calls are the functions that its
    /// definition has.
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

//! Constants of the place of a definition, for code that is written elsewhere: a private constant
//! of a module cannot be named there.
//!
//! Nothing here may be used by a person: the numbers are those of one compilation.

/// A constant, by its number.
#[derive(Debug)]
pub struct At<const ID: u128>;

/// What a constant of a number is. `Place` is a type of the crate that has the definition, as the
/// implementation could not be written there otherwise. There is only one, so it is inferred.
pub trait Constant<Place, T> {
    /// The constant.
    const VALUE: T;
}

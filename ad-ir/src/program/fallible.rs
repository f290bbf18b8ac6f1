//! Results that may be absent: the function returns an `Option` or a `Result`.
//!
//! This module must never know when a result is absent: a check of the phase
//! [`Phase::Absent`](super::Phase::Absent) does.

use proc_macro2::TokenStream;

/// The type of a result that may be absent, as the signature names it. All that a derivative
/// returns is in a value of the same type: `Option<(f64, Vec<f64>)>`, `Result<Vec<f64>, Error>`.
#[derive(Clone, Debug)]
pub struct Fallible {
    /// Which type it is.
    pub kind: FallibleKind,
    /// Its path, without generic arguments.
    pub path: TokenStream,
    /// The arguments after the first one.
    pub further: Vec<TokenStream>,
}

/// `Option` or `Result`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FallibleKind {
    /// `Option<T>`, or an alias of it.
    Option,
    /// `Result<T, E>`, or an alias of it.
    Result,
}

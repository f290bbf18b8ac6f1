//! A function of an `impl` block: the properties of the block, and how the function is called.
//!
//! This module must never know what a method computes.

use proc_macro2::TokenStream;

use super::Program;

/// The `impl` block of a function, and the properties that only the function has.
#[derive(Clone, Debug)]
pub struct Within {
    /// The `#[cfg(..)]` attributes of the block.
    pub cfgs: TokenStream,
    /// The generic parameters of the block, with angle brackets and bounds.
    pub generics: TokenStream,
    /// The where clause of the block.
    pub where_clause: TokenStream,
    /// The type that the block is for.
    pub self_ty: TokenStream,
    /// The receiver as written: `&self`. `None` for an associated function.
    pub receiver: Option<TokenStream>,
    /// The generic parameters of the function alone.
    pub own_generics: TokenStream,
    /// The where clause of the function alone.
    pub own_where: TokenStream,
    /// The generic arguments of the function alone.
    pub own_turbofish: TokenStream,
}

impl Program {
    /// A link to the annotated function in the documentation of a derivative.
    #[must_use]
    pub fn link(&self) -> String {
        match &self.within {
            None => format!("[`{}`]", self.name),
            Some(_) => format!("[`{0}`](Self::{0})", self.name),
        }
    }
}

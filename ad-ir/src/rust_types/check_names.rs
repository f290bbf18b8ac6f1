//! The names of the hidden functions that `check_grad!` calls. rustc's errors show them.
//!
//! This module must never find out whether there is such a function.

use proc_macro2::Ident;
use quote::format_ident;

/// The name of the hidden function that accompanies `of` and that `check_grad!` calls. If there is
/// none, rustc's error shows this name, so it says what is missing. The error may offer the name of
/// another hidden function, which is therefore taken as it is.
#[must_use]
pub fn check_name(of: &Ident) -> Ident {
    hidden(of, "_marked_differentiate")
}

/// The name of the hidden function that `check_grad!` calls for a method. Its first parameter is
/// the receiver.
#[must_use]
pub fn check_name_of_method(of: &Ident) -> Ident {
    hidden(of, "_method_marked_differentiate")
}

fn hidden(of: &Ident, end: &str) -> Ident {
    let name = of.to_string();
    match name.strip_prefix("__").and_then(|name| name.strip_suffix(end)) {
        Some(_) => of.clone(),
        None => format_ident!("__{}{end}", name.trim_start_matches("r#"), span = of.span()),
    }
}

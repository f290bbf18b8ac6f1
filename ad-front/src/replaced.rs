//! The derivative that an attribute would write by default, and does not, since it names others.
//!
//! This module must never read the body of a function.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::ItemFn;

use super::attr;
use super::definitions::Definitions;
use super::sig;
use super::travel::OuterDefinitions;
use ad_ir::descriptor::{WrittenFunction, by_default};
use ad_ir::diag::{Diags, SrcRange};

/// A derivative that an attribute does not write, since it names others.
pub struct Replaced {
    /// The beginning of the names.
    pub stem: Ident,
    /// The option that would ask for it.
    pub option: &'static str,
    /// The names that its functions would have.
    pub names: Vec<Ident>,
    /// The place of an option that is named.
    pub range: SrcRange,
}

/// The derivative that would be written next to a function if its attribute named none.
#[must_use]
pub fn replaced(attr: &TokenStream, function: &ItemFn, outside: &OuterDefinitions) -> Option<Replaced> {
    let mut diags = Diags::new();
    let options = attr::parse(attr.clone(), &mut diags);
    let (_, range) = *options.derivatives.first()?;
    let sig = sig::parse(function, &options, &Definitions::outside(outside), &mut diags).ok()?;
    let left_out = by_default(sig::is_one_number(sig.differentiated())).find(|d| !sig.derivatives.contains(d))?;
    let (stem, option) = (sig.stem, left_out.option);
    let name = |f: WrittenFunction| format_ident!("{stem}_{}", f.suffix, span = range.first);
    let names = left_out.functions().map(name).collect();
    Some(Replaced { stem, option, names, range })
}

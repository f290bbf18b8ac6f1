//! The derivatives that an attribute does not write.
//!
//! This module must never read the body of a function.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::ItemFn;

use super::attr;
use super::definitions::Definitions;
use super::sig;
use super::travel::OuterDefinitions;
use ad_ir::descriptor::DERIVATIVES;
use ad_ir::diag::{Diags, SrcRange};

/// The functions that would be written next to a function if its attribute named more options.
pub struct Unnamed {
    /// The beginning of the names.
    pub stem: Ident,
    /// The names.
    pub names: Vec<Ident>,
    /// The place of the attribute, or of one of its options.
    pub range: SrcRange,
}

/// The functions that an attribute does not write.
#[must_use]
pub fn unnamed(attr: &TokenStream, function: &ItemFn, outside: &OuterDefinitions) -> Option<Unnamed> {
    let mut diags = Diags::new();
    let options = attr::parse(attr.clone(), &mut diags);
    // This is an error, and the names would be one more.
    if function.attrs.iter().any(|other| options.writes_names_of(other)) {
        return None;
    }
    let range = options.derivatives.first().map_or_else(SrcRange::call_site, |(_, range)| *range);
    let sig = sig::parse(function, &options, &Definitions::outside(outside), &mut diags).ok()?;
    let left_out = DERIVATIVES.iter().filter(|d| !sig.derivatives.contains(d)).flat_map(|d| d.functions());
    let names = left_out.map(|f| format_ident!("{}_{}", sig.stem, f.suffix, span = range.first)).collect();
    Some(Unnamed { stem: sig.stem, names, range })
}

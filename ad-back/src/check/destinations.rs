//! The destinations of a gradient in the hidden function. This module must never know what is
//! written there.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::structures::{BoundPattern, inside_of_type};
use super::{Names, own};
use ad_ir::program::ParamTree;
use ad_ir::rust_types::owned_value;

/// The destinations of a gradient.
pub(super) struct CheckDestinations {
    /// The statements that make them.
    pub(super) before: TokenStream,
    pub(super) arguments: Vec<TokenStream>,
    /// The statements that take their parts apart afterwards.
    pub(super) taken: TokenStream,
}

impl CheckDestinations {
    pub(super) fn of(names: &Names<'_>) -> Self {
        let run = &names.run;
        let unwritten = |leaf: usize| match names.active(leaf) {
            Some(k) => {
                let own = &names.owned[k];
                quote!(#run::unwritten(&#own))
            }
            None => names.copy(leaf),
        };
        let mut all = CheckDestinations { before: quote!(), arguments: Vec::new(), taken: quote!() };
        for (n, &k) in names.program.wrt.iter().enumerate() {
            let tree = names.program.declared[k].parts.tree();
            let value = owned_value(
                &names.program.krate,
                &inside_of_type(&tree, &mut |&leaf, inside| names.elements(leaf, inside, unwritten(leaf))),
            );
            let BoundPattern { pattern, taken } = names.bound(&tree);
            let whole = match names.program.declared[k].parts {
                ParamTree::Leaf(_) => pattern.clone(),
                _ => {
                    let whole = own("whole", n);
                    all.taken.extend(quote!(let #pattern = #whole; #taken));
                    whole.to_token_stream()
                }
            };
            all.before.extend(quote!(let mut #whole = #value;));
            all.arguments.push(quote!(&mut #whole));
        }
        all
    }
}

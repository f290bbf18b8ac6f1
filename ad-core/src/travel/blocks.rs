//! `#[differentiate] impl`: each function and each constant of the block is an expansion of its
//! own.
//!
//! A type has one name, and its blocks have none. So the definition of a function travels by a
//! hidden macro that is named after the number of the type's definition and after the function, and
//! at the root of its crate, where it is found from anywhere. The expansion asks for the definition
//! when lowering meets a call of the function, since only lowering knows the type of a receiver.
//!
//! This module must never decide what a call means.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, ImplItem, Item, ItemImpl};

use super::{Chain, Request, Subject, constants, entry, has_dollar, number};
use crate::expansion::{Expansion, Records, Written, guarded, written_of};
use ad_back as emit;
use ad_front::{self as front, DefId, Marked, Method, OuterDefinitions, Probed};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange};

/// The item as an `impl` block. `None` for any other item.
pub(super) fn block(item: &TokenStream) -> Option<ItemImpl> {
    let named = |t| matches!(&t, proc_macro2::TokenTree::Ident(i) if i == "impl");
    item.clone().into_iter().any(named).then(|| syn::parse2(item.clone()).ok())?
}

/// The expansion of `#[differentiate(attr)] impl`.
pub(super) fn differentiate(attr: &TokenStream, block: &ItemImpl, place: &str) -> Expansion {
    let mut diags = Diags::new();
    front::options_of_block(attr.clone(), &mut diags);
    match front::type_of_block(block) {
        None => {
            diags.push(SrcRange::of(&block.self_ty), catalogue::block_of_no_type());
        }
        Some(of) => {
            if let Some(number) = of.get_ident().filter(|name| front::is_number(name)) {
                diags.push(SrcRange::of(number), catalogue::block_of_numbers(&number.to_string()));
            }
        }
    }
    front::refuse_rules(block, &mut diags);
    let plain = front::without_marks(block);
    if !diags.is_empty() {
        let errors = diags.list().to_vec();
        let tokens = diags.into_tokens();
        return Expansion { tokens: quote!(#plain #tokens), errors, internal: false };
    }
    let mut tokens = quote! {
        #[allow(dead_code, reason = "a function may be used through its derivatives only")]
        #plain
    };
    let (mut errors, mut internal) = (Vec::new(), false);
    for part in front::parts(block) {
        let written = chain(attr, &part, place).next();
        errors.extend(written.errors);
        internal |= written.internal;
        tokens.extend(written.tokens);
    }
    Expansion { tokens, errors, internal }
}

fn chain(attr: &TokenStream, part: &ItemImpl, place: &str) -> Chain {
    let mut open: Vec<Request> = front::type_of_block(part).into_iter().map(Request::Path).collect();
    if let Some(method) = front::methods(part).pop().filter(is_read) {
        let more = guarded(|| front::requests_of_method(&method)).unwrap_or_default();
        let known = front::type_of_block(part).map(|path| front::written(&path));
        open.extend(more.into_iter().filter(|p| Some(front::written(p)) != known).map(Request::Path));
    }
    let id = number(place, &part.to_token_stream());
    chain_of(attr, part, id, open, OuterDefinitions::default())
}

/// Whether the expansion asks for the names of a function.
pub(super) fn is_read(method: &Method) -> bool {
    method.marked.is_some() || front::is_readable(method)
}

/// The chain of a part of a block.
pub(super) fn chain_of(
    attr: &TokenStream,
    part: &ItemImpl,
    id: DefId,
    open: Vec<Request>,
    outside: OuterDefinitions,
) -> Chain {
    let marked = front::methods(part).pop().and_then(|m| m.marked).filter(|marked| !marked.is_empty());
    let attr = match marked {
        Some(marked) if attr.is_empty() => marked,
        Some(marked) => quote!(#marked, #attr),
        None => attr.clone(),
    };
    let item = part.to_token_stream();
    Chain { kind: Subject::Member, id, attr, item, open, outside, defined: false }
}

/// The name of the macro of a function or of a constant of a type.
pub(super) fn macro_name(of: DefId, member: &Ident) -> Ident {
    let name = member.to_string();
    format_ident!(
        "__ad_{}_in_an_impl_with_the_mark_differentiate_{of:032x}",
        name.trim_start_matches("r#"),
        span = member.span()
    )
}

/// The hidden macro of a function or constant of a block. All definitions that it needs are known.
pub(super) fn definition(part: &ItemImpl, id: DefId, outside: &OuterDefinitions) -> TokenStream {
    let mut part = front::without_marks(part);
    let attrs = std::mem::take(&mut part.attrs);
    let Some(of) = front::type_of_block(&part) else { return TokenStream::new() };
    let path = front::written(&of);
    let Some((_, of)) = outside.names.iter().find(|(name, _)| *name == path) else { return TokenStream::new() };
    let (name, own) = match part.items.first() {
        Some(ImplItem::Fn(f)) => (f.sig.ident.clone(), &f.attrs),
        Some(ImplItem::Const(c)) => (c.ident.clone(), &c.attrs),
        _ => return TokenStream::new(),
    };
    let cfgs: Vec<Attribute> = attrs.iter().chain(own).filter(|a| a.path().is_ident("cfg")).cloned().collect();
    // `macro_rules!` would read a dollar in the definition as its own syntax.
    if has_dollar(part.to_token_stream()) {
        return TokenStream::new();
    }
    let hidden = macro_name(*of, &name);
    let own = Marked {
        id,
        item: Item::Impl(part),
        names: outside.names.clone(),
        broken: false,
        certain: false,
        home: quote!($crate),
    };
    let list = std::iter::once(&own).chain(&outside.list).map(entry);
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_local_definitions, reason = "a type of a body may be named outside of it")]
        #[macro_export]
        macro_rules! #hidden {
            ({ $($callback:tt)* } $($rest:tt)*) => { $($callback)* ! { { #(#list)* } $($rest)* } };
        }
    }
}

/// The items to write beside a part of a block when its names are known: the derivatives of a
/// marked function, and the proofs of the assumptions about names of another one.
pub(super) fn written(attr: &TokenStream, part: &ItemImpl, id: DefId, outside: &OuterDefinitions) -> Written {
    let Some(method) = front::methods(part).pop() else { return Written::default() };
    let krate = front::krate(attr.clone());
    let mut found = match &method.marked {
        Some(_) => written_of(
            || front::read_method(attr.clone(), &method, outside),
            || front::stubs_of_method(attr.clone(), &method, outside),
            &Records::wanted(),
        ),
        None if !front::is_readable(&method) => return Written::default(),
        None => match guarded(|| front::probe_method(&method, id, &front::without_marks(part), outside, &krate)) {
            Ok(Probed::Right(program)) => {
                Written { tokens: emit::proofs(&program), constants: Some(program.constants), ..Written::default() }
            }
            // Its errors are reported where it is called.
            _ => Written::default(),
        },
    };
    let item = &method.item;
    found
        .tokens
        .extend(found.constants.as_deref().map(|all| constants(id, all, &krate, &item.attrs, &item.sig.generics)));
    found
}

/// The path of the type of a part of a block, and the name of the function or constant.
pub(super) fn member_of(part: &ItemImpl) -> Option<(String, String)> {
    let name = match part.items.first()? {
        ImplItem::Fn(f) => f.sig.ident.to_string(),
        ImplItem::Const(c) => c.ident.to_string(),
        _ => return None,
    };
    Some((front::written(&front::type_of_block(part)?), name))
}

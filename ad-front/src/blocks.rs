//! The functions of an `impl` block as functions of their own: `Self` is the type that the block is
//! for, the receiver is the first parameter, and the generic parameters are those of both.
//!
//! This module must never read a body.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, FnArg, ImplItem, ImplItemFn, ItemFn, ItemImpl, Meta, Pat, PatIdent, PatType, ReceiverKind, Type,
    TypeReference, Visibility,
};

use super::definitions::{SelfType, both};
use super::sig::turbofish;
use super::travel::is_mark;
use crate::walk::{Changing, Part, Walk};
use ad_ir::catalogue::refused;
use ad_ir::program::{KnownType, Within};

/// A function of an `impl` block.
#[derive(Clone)]
pub struct Method {
    /// The function. A receiver is a parameter with the name `self`.
    pub item: ItemFn,
    /// The block that contains it.
    pub within: Within,
    /// The options of `#[differentiate(..)]`, if it has this attribute.
    pub marked: Option<TokenStream>,
}

/// The functions of a block, in their order.
#[must_use]
pub fn methods(block: &ItemImpl) -> Vec<Method> {
    let functions = block.items.iter().filter_map(|item| if let ImplItem::Fn(f) = item { Some(f) } else { None });
    functions.map(|f| method(block, f)).collect()
}

fn method(block: &ItemImpl, f: &ImplItemFn) -> Method {
    let marked = f.attrs.iter().find(|a| is_mark(a, "differentiate")).map(options);
    let mut sig = f.sig.clone();
    let mut receiver = None;
    if let Some(first) = sig.inputs.first_mut()
        && let FnArg::Receiver(found) = &*first
    {
        receiver = Some(found.to_token_stream());
        *first = parameter(found, &block.self_ty);
    }
    // A method of a trait is as public as the trait, which is not known here.
    let vis = if block.trait_.is_some() { Visibility::Public(Default::default()) } else { f.vis.clone() };
    let within = Within {
        cfgs: cfgs(&block.attrs),
        generics: block.generics.to_token_stream(),
        where_clause: block.generics.where_clause.to_token_stream(),
        self_ty: block.self_ty.to_token_stream(),
        receiver,
        own_generics: sig.generics.to_token_stream(),
        own_where: sig.generics.where_clause.to_token_stream(),
        own_turbofish: turbofish(&sig.generics),
    };
    sig.generics = both(&block.generics, &sig.generics);
    let attrs = f.attrs.iter().filter(|a| a.path().is_ident("cfg")).cloned().collect();
    let mut item = ItemFn { attrs, vis, modifiers: f.modifiers.clone(), sig, block: Box::new(f.block.clone()) };
    Changing(&mut SelfType(&block.self_ty)).visit_item_fn_mut(&mut item);
    Method { item, within, marked }
}

/// The block for rustc: without the marks of its functions.
#[must_use]
pub fn without_marks(block: &ItemImpl) -> ItemImpl {
    let mut block = block.clone();
    for item in &mut block.items {
        if let ImplItem::Fn(f) = item {
            f.attrs.retain(|a| {
                let marked = is_mark(a, "differentiate") || is_mark(a, "differentiable");
                !marked && !super::rules::is_rule(a)
            });
        }
    }
    block
}

/// The options of an attribute.
#[must_use]
pub fn options(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn cfgs(attrs: &[Attribute]) -> TokenStream {
    attrs.iter().filter(|a| a.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect()
}

/// Tokens with another source location.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let one = |mut token: TokenTree| {
        match &mut token {
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), at(g.stream(), span));
                inner.set_span(span);
                return TokenTree::Group(inner);
            }
            other => other.set_span(other.span().located_at(span)),
        }
        token
    };
    tokens.into_iter().map(one).collect()
}

/// The receiver as a parameter.
fn parameter(receiver: &syn::Receiver, self_ty: &Type) -> FnArg {
    // An error in the type is reported at the receiver.
    let own = at(self_ty.to_token_stream(), receiver.self_token.span);
    let self_ty = &syn::parse2(own).unwrap_or_else(|_| self_ty.clone());
    let ty = match &receiver.kind {
        ReceiverKind::Reference(and_token, lifetime, mutability) => Type::Reference(TypeReference {
            attrs: Vec::new(),
            and_token: *and_token,
            lifetime: lifetime.clone(),
            mutability: *mutability,
            elem: Box::new(self_ty.clone()),
        }),
        ReceiverKind::Typed(_, ty) => (**ty).clone(),
        _ => self_ty.clone(),
    };
    let pat = PatIdent {
        attrs: Vec::new(),
        by_ref: None,
        mutability: receiver.mutability.filter(|_| !matches!(receiver.kind, ReceiverKind::Reference(..))),
        ident: Ident::new("self", receiver.self_token.span),
        subpat: None,
    };
    let colon_token = syn::Token![:](Span::call_site());
    FnArg::Typed(PatType { attrs: Vec::new(), pat: Box::new(Pat::Ident(pat)), colon_token, ty: Box::new(ty) })
}

/// Whether the expansion asks for the names of a function without a mark at the place of the
/// function. It does not if the signature has a macro or a type that is not understood:
/// differentiated functions cannot call the function, and its names may have no definitions. A call
/// of it is refused where it is made.
#[must_use]
pub fn is_readable(method: &Method) -> bool {
    let last = |path: &syn::Path| path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let mut unknown = false;
    let mut body = |part: Part<'_>| {
        if let Part::Macro(mac) = part {
            unknown |= !super::macros_understood().contains(&&*last(&mac.path));
        }
    };
    Walk(&mut body).visit_block(&method.item.block);
    let mut of_std = false;
    let mut signature = |part: Part<'_>| {
        let Part::Path(path) = part else { return };
        let name = last(path);
        let text = matches!(&*name, "str" | "char");
        let known = KnownType::named(&name).is_some();
        of_std |= text || (!known && (refused::is_value_of_std(&name) || refused::named_type(&name).is_some()));
    };
    let mut signature = Walk(&mut signature);
    for input in &method.item.sig.inputs {
        signature.visit_fn_arg(input);
    }
    signature.visit_return_type(&method.item.sig.output);
    !unknown && !of_std
}

/// The path of the type that a block is for, without generic arguments. `None` if it is for no type
/// with a name.
#[must_use]
pub fn type_of_block(block: &ItemImpl) -> Option<syn::Path> {
    fn path(ty: &Type) -> Option<syn::Path> {
        match ty {
            Type::Paren(p) => path(&p.elem),
            Type::Group(g) => path(&g.elem),
            Type::Reference(r) => path(&r.elem),
            Type::Path(p) if p.qself.is_none() => Some(p.path.clone()),
            _ => None,
        }
    }
    let mut path = path(&block.self_ty)?;
    path.segments.iter_mut().for_each(|s| s.arguments = syn::PathArguments::None);
    Some(path)
}

/// Whether a name is that of a type of numbers.
#[must_use]
pub fn is_number(name: &syn::Ident) -> bool {
    super::types::NUMBERS.iter().any(|number| name == number)
}

/// For each function and constant of a block, the block with that one alone.
#[must_use]
pub fn parts(block: &ItemImpl) -> Vec<ItemImpl> {
    let of = |item: &&ImplItem| matches!(item, ImplItem::Fn(_) | ImplItem::Const(_));
    let alone = |item: &ImplItem| ItemImpl { items: vec![item.clone()], ..block.clone() };
    block.items.iter().filter(of).map(alone).collect()
}

//! Outside that travel: what a marked function gives to those that call it, and how an
//! annotated function gets it.
//!
//! A marked item has a hidden macro beside it, re-exported under the item's own name. So every
//! import of the item imports the macro, too. The macro is called with a callback and any tokens,
//! and calls the callback with the definition before these tokens. An expansion that needs
//! definitions is a chain of such calls: [`resume`] is the callback, and the tokens are what it has
//! so far. A definition contains all that it needs, since only at its place is it certain that
//! the names mean what they mean there.
//!
//! This module must never read what a definition computes, and a function that needs no
//! definition never becomes a chain.

mod apart;

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Item, ItemFn, Path, Visibility};

use super::expansion::{Expansion, Written, beside, guarded, with_item, written};
use ad_back as emit;
use ad_front::{self as front, Id, Marked, Outside, Probed};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange};
use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::Constant;
use ad_ir::rust_types;

/// What an expansion is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function of which derivatives are written.
    Differentiate,
    /// A function that can be called.
    Differentiable,
    /// A type.
    Type,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Differentiate => "differentiate",
            Kind::Differentiable => "differentiable",
            Kind::Type => "type",
        }
    }
}

/// An expansion and what it has so far.
struct Chain {
    kind: Kind,
    id: Id,
    attr: TokenStream,
    item: TokenStream,
    /// The names whose definitions have still to be asked for.
    open: Vec<Path>,
    outside: Outside,
}

/// What `#[differentiate(attr)] item` expands to. `place` is different at each place of a program.
#[must_use]
pub fn differentiate(attr: TokenStream, item: TokenStream, place: &str) -> Expansion {
    let open = guarded(|| front::requests(&item)).unwrap_or_default();
    let outside = Outside { open: open.iter().map(front::written).collect(), ..Outside::default() };
    let folder = std::env::var_os("AD_DUMP");
    let found = written(attr.clone(), &item, &outside, folder.as_deref().map(std::path::Path::new));
    let id = number(place, &item);
    if !outside.open.is_empty() && found.constants.is_none() && found.errors.is_empty() {
        let chain = Chain { kind: Kind::Differentiate, id, attr, item: item.clone(), open, outside };
        return Expansion { tokens: beside(&item, &chain.next().into_tokens()), ..Expansion::default() };
    }
    let (right, krate) = (found.constants.is_some(), front::krate(attr));
    let constants = found.constants.as_deref().map(|all| constants(id, all, &krate, &item));
    let mut expansion = with_item(item.clone(), found);
    expansion.tokens.extend(constants);
    // An item of another kind has an error, and nothing to hand on.
    if let Ok(function) = syn::parse2::<ItemFn>(item) {
        expansion.tokens.extend(definition(Item::Fn(function), id, right, &Outside::default(), &krate));
    }
    expansion
}

/// What `#[differentiable] item` expands to. `place` is different at each place of a program.
#[must_use]
pub fn differentiable(attr: TokenStream, item: TokenStream, place: &str) -> Expansion {
    let mut diags = Diags::new();
    front::mark(attr.clone(), &mut diags);
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(f)) => {
            if let Some(token) = &f.sig.asyncness {
                diags.push(SrcRange::of(token), catalogue::refused::function("async"));
            }
            if let Some(dots) = &f.sig.variadic {
                diags.push(SrcRange::of(dots), catalogue::refused::function("variadic"));
            }
            if let Some(receiver) = f.sig.receiver() {
                diags.push(SrcRange::of(receiver), catalogue::method());
            }
        }
        Ok(_) => {
            diags.push(SrcRange::of_stream(item.clone()), catalogue::marked_item());
        }
        // rustc reports what does not parse.
        Err(e) => {
            let range = SrcRange { first: e.span(), last: e.span() };
            diags.push(range, catalogue::syntax(&e.to_string(), true));
        }
    }
    if !diags.is_empty() {
        let errors = diags.list().to_vec();
        let tokens = diags.into_tokens();
        return Expansion { tokens: quote!(#item #tokens), errors, internal: false };
    }
    let open = guarded(|| front::requests(&item)).unwrap_or_default();
    let id = number(place, &item);
    let outside = Outside::default();
    let chain = Chain { kind: Kind::Differentiable, id, attr, item: item.clone(), open, outside };
    with_item(item, chain.next())
}

/// What stands beside a type with `#[derive(Differentiable)]`: its definition, and the functions that
/// take a value apart and put one together. `place` is different at each place of a program.
#[must_use]
pub(crate) fn of_type(item: &TokenStream, place: &str) -> TokenStream {
    let Ok(read) = syn::parse2::<Item>(item.clone()) else { return TokenStream::new() };
    let open = guarded(|| front::requests_of_type(&read)).unwrap_or_default();
    let (id, attr) = (number(place, item), TokenStream::new());
    let chain = Chain { kind: Kind::Type, id, attr, item: item.clone(), open, outside: Outside::default() };
    chain.next().into_tokens()
}

/// Goes on with a chain: the tokens are a definition that it has asked for, and what it was called
/// with.
#[must_use]
pub fn resume(tokens: TokenStream) -> TokenStream {
    let failed = || {
        let mut diags = Diags::new();
        diags.push(SrcRange::call_site(), catalogue::internal("the chain of definitions", "a definition is not one"));
        diags.into_tokens()
    };
    let Some((mut chain, defined)) = Chain::read(tokens) else { return failed() };
    let (Some(first), false) = (defined.first().map(|d| d.id), chain.open.is_empty()) else { return failed() };
    let path = chain.open.remove(0);
    chain.outside.names.push((front::written(&path), first));
    for definition in defined {
        if chain.outside.list.iter().all(|known| known.id != definition.id) {
            chain.outside.list.push(definition);
        }
    }
    chain.next().into_tokens()
}

impl Chain {
    /// The call that asks for the next definition, or what is written with all of them.
    fn next(self) -> Written {
        let Some(path) = self.open.first() else { return self.finished() };
        let krate = front::krate(self.attr.clone());
        let (kind, id) = (format_ident!("{}", self.kind.name()), Literal::u128_unsuffixed(self.id));
        let (attr, item, open) = (&self.attr, &self.item, &self.open);
        let names = names(&self.outside.names);
        let list = self.outside.list.iter().map(entry);
        // What rustc says of the call is said at the user's word.
        let tokens = quote_spanned! {path.span()=>
            #path! { { #krate::__resume } { #kind #id } { #attr } { #item } { #({ #open })* } { #names } { #(#list)* } }
        };
        Written { tokens, ..Written::default() }
    }

    /// What is written when all definitions are there.
    fn finished(self) -> Written {
        let Chain { kind, id, attr, item, outside, .. } = self;
        let krate = front::krate(attr.clone());
        if kind == Kind::Type {
            let Ok(read) = syn::parse2::<Item>(item) else { return Written::default() };
            let mut tokens = guarded(|| apart::beside_type(&read, &outside, &krate)).ok().flatten().unwrap_or_default();
            tokens.extend(definition(read, id, true, &outside, &krate));
            return Written { tokens, ..Written::default() };
        }
        let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return Written::default() };
        let mut found = match kind {
            Kind::Differentiate => {
                let folder = std::env::var_os("AD_DUMP");
                written(attr, &item, &outside, folder.as_deref().map(std::path::Path::new))
            }
            Kind::Differentiable => match guarded(|| front::probe(&function, id, &outside, &krate)) {
                Ok(Probed::Right(program)) => {
                    Written { tokens: emit::proofs(&program), constants: Some(program.constants), ..Written::default() }
                }
                Ok(Probed::OfBroken) => Written::default(),
                Ok(Probed::Wrong(diags)) | Err(diags) => {
                    let errors = diags.list().to_vec();
                    Written { tokens: diags.into_tokens(), errors, ..Written::default() }
                }
            },
            Kind::Type => Written::default(),
        };
        found.tokens.extend(found.constants.as_deref().map(|all| constants(id, all, &krate, &item)));
        found.tokens.extend(definition(Item::Fn(function), id, found.constants.is_some(), &outside, &krate));
        found
    }

    /// Reads what [`Chain::next`] writes, after a definition.
    fn read(tokens: TokenStream) -> Option<(Chain, Vec<Marked>)> {
        let groups: Option<Vec<TokenStream>> = tokens.into_iter().map(group).collect();
        let [defined, head, attr, item, open, names, list] = <[TokenStream; 7]>::try_from(groups?).ok()?;
        let mut head = head.into_iter();
        let (kind, id) = (head.next()?.to_string(), head.next()?.to_string().parse().ok()?);
        let kind = [Kind::Differentiate, Kind::Differentiable, Kind::Type].into_iter().find(|k| k.name() == kind)?;
        let open: Option<Vec<Path>> = open.into_iter().map(|path| syn::parse2(group(path)?).ok()).collect();
        let chain = Chain {
            kind,
            id,
            attr: of_caller(attr),
            item: of_caller(item),
            open: open?,
            outside: Outside { names: read_names(names)?, list: entries(list)?, ..Outside::default() },
        };
        Some((chain, entries(defined)?))
    }
}

/// A number that identifies a definition.
fn number(place: &str, item: &TokenStream) -> Id {
    let text = item.to_string();
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (&krate, place, &text, salt).hash(&mut hasher);
        Id::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// The hidden macro of a marked function or of a type.
fn definition(mut item: Item, id: Id, right: bool, needs: &Outside, krate: &TokenStream) -> TokenStream {
    let identity = match &item {
        Item::Fn(function) if is_carried(function) => identity(function, id, needs, krate),
        Item::Struct(_) | Item::Enum(_) => None,
        _ => return TokenStream::new(),
    };
    // A dollar would be read as one of the macro's own.
    if has_dollar(item.to_token_stream()) {
        return TokenStream::new();
    }
    let (name, attrs, visibility) = match &mut item {
        Item::Fn(f) => (f.sig.ident.clone(), &mut f.attrs, &mut f.vis),
        Item::Struct(s) => (s.ident.clone(), &mut s.attrs, &mut s.vis),
        Item::Enum(e) => (e.ident.clone(), &mut e.attrs, &mut e.vis),
        _ => return TokenStream::new(),
    };
    let visibility = std::mem::replace(visibility, Visibility::Inherited);
    let cfgs: Vec<_> = attrs.drain(..).filter(|a| a.path().is_ident("cfg")).collect();
    let own = Marked { id, item, names: needs.names.clone(), broken: !right };
    let list = std::iter::once(&own).chain(&needs.list).map(entry);
    let hidden = format_ident!("__ad_definition_{}_{id:032x}", name.to_string().trim_start_matches("r#"));
    let exported = matches!(visibility, Visibility::Public(_)).then(|| {
        quote! {
            #[allow(non_local_definitions, reason = "what is public in a body is public there, too")]
            #[macro_export]
        }
    });
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #exported
        macro_rules! #hidden {
            ({ $($callback:tt)* } $($rest:tt)*) => { $($callback)* ! { { #(#list)* } $($rest)* } };
        }
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(unused_imports, reason = "a marked item may be named in no differentiated function")]
        #visibility use #hidden as #name;
        #(#cfgs)*
        #identity
    }
}

/// Whether a function has a hidden macro.
fn is_carried(function: &ItemFn) -> bool {
    let marked_again = function.attrs.iter().any(|a| {
        let last = a.path().segments.last();
        last.is_some_and(|s| [Kind::Differentiate, Kind::Differentiable].iter().any(|kind| s.ident == kind.name()))
    });
    // A method is called by no path, an item that is marked twice has a macro already, and what is
    // called like a macro that its scope has would hide that one.
    let hides = catalogue::refused::is_macro(&function.sig.ident.to_string());
    function.sig.receiver().is_none() && !marked_again && !hides
}

/// What tells at any place whether a function is this one. `None` if it is no value of one type.
fn identity(function: &ItemFn, id: Id, needs: &Outside, krate: &TokenStream) -> Option<TokenStream> {
    let value = front::value(function, &function.sig.ident.to_token_stream(), krate)?;
    let at = Literal::u128_unsuffixed(id);
    let inner = needs.conditions(krate).map(|(_, condition)| condition);
    let place = place();
    Some(quote! {
        const _: () = {
            #place
            impl #krate::runtime::Function<Place> for #krate::runtime::At<#at> {
                fn is<F: 'static>(function: &F) -> bool {
                    #krate::runtime::same(function, &#value) #(&& #inner)*
                }
            }
        };
    })
}

/// A type of the crate that has a definition.
fn place() -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, reason = "it is only a name for this place")]
        pub struct Place;
    }
}

/// The constants of a definition's place, which are read through this from anywhere.
fn constants(id: Id, all: &[Constant], krate: &TokenStream, item: &TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return TokenStream::new() };
    let cfgs = function.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let params = &function.sig.generics;
    let own: Vec<String> = params
        .type_params()
        .map(|t| t.ident.to_string())
        .chain(params.const_params().map(|c| c.ident.to_string()))
        .collect();
    let outer = all.iter().filter(|c| c.elem != Elem::Real(RealTy::Param) && !mentions(c.path.clone(), &own));
    let none = format_ident!("T");
    let given = outer.map(|c| {
        let (path, value) = (front::named(&c.path), &c.path);
        let at = Literal::u128_unsuffixed(front::constant_id(id, &path));
        let elem = rust_types::elem_type(c.elem, &none);
        // An array may be a reference to one, or to a slice.
        let (ty, value) = match c.lens.split_first() {
            None => (elem, quote!(#value)),
            Some((_, inner)) => {
                let row = inner.iter().rev().fold(elem, |ty, len| quote!([#ty; #len]));
                (quote!(&'static [#row]), quote!(#value.split_at(0).1))
            }
        };
        quote! {
            impl #krate::runtime::Constant<Place, #ty> for #krate::runtime::At<#at> {
                const VALUE: #ty = #value;
            }
        }
    });
    let given: Vec<TokenStream> = given.collect();
    if given.is_empty() {
        return TokenStream::new();
    }
    let place = place();
    quote! {
        #(#cfgs)*
        const _: () = {
            #place
            #(#given)*
        };
    }
}

fn mentions(tokens: TokenStream, names: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(g) => mentions(g.stream(), names),
        TokenTree::Ident(i) => names.iter().any(|name| i == name),
        _ => false,
    })
}

fn has_dollar(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(g) => has_dollar(g.stream()),
        TokenTree::Punct(p) => p.as_char() == '$',
        _ => false,
    })
}

/// A definition as tokens.
fn entry(definition: &Marked) -> TokenStream {
    let (id, item) = (Literal::u128_unsuffixed(definition.id), &definition.item);
    let state = format_ident!("{}", if definition.broken { "broken" } else { "right" });
    let names = names(&definition.names);
    quote!({ #id #state { #item } { #names } })
}

fn entries(tokens: TokenStream) -> Option<Vec<Marked>> {
    let one = |token: TokenTree| {
        let parts: Vec<TokenTree> = group(token)?.into_iter().collect();
        let [id, state, item, names] = <[TokenTree; 4]>::try_from(parts).ok()?;
        Some(Marked {
            id: id.to_string().parse().ok()?,
            broken: state.to_string() == "broken",
            item: syn::parse2(of_caller(group(item)?)).ok()?,
            names: read_names(group(names)?)?,
        })
    };
    tokens.into_iter().map(one).collect()
}

/// Names as tokens: each with the number of its definition.
fn names(names: &[(String, Id)]) -> TokenStream {
    let one = |(name, id): &(String, Id)| {
        let (name, id) = (Literal::string(name), Literal::u128_unsuffixed(*id));
        quote!(#name #id)
    };
    names.iter().map(one).collect()
}

fn read_names(tokens: TokenStream) -> Option<Vec<(String, Id)>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let one = |pair: &[TokenTree]| {
        let [name, id] = pair else { return None };
        let name: syn::LitStr = syn::parse2(name.to_token_stream()).ok()?;
        Some((name.value(), id.to_string().parse().ok()?))
    };
    tokens.chunks(2).map(one).collect()
}

fn group(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => Some(g.stream()),
        _ => None,
    }
}

/// The tokens with the hygiene of what is written here. Variables of a function and of its
/// derivatives have to be the same ones, and after a macro call they are not.
fn of_caller(tokens: TokenStream) -> TokenStream {
    let one = |mut token: TokenTree| {
        match &mut token {
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), of_caller(g.stream()));
                inner.set_span(g.span());
                return TokenTree::Group(inner);
            }
            // This is the crate where the user's macro is.
            TokenTree::Ident(i) if *i == "$crate" => {}
            other => other.set_span(other.span().resolved_at(Span::call_site())),
        }
        token
    };
    tokens.into_iter().map(one).collect()
}

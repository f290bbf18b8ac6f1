//! Definitions of items outside of the annotated function: how a marked function publishes its
//! definition, and how an annotated function gets it. A marked item has a hidden macro beside it,
//! re-exported under the item's own name, so every import of the item imports the macro, too. The
//! macro passes the definition to a callback. An expansion that needs definitions is a chain of
//! such calls: [`resume`] is the callback, and the tokens that it gets are the state of the chain.
//!
//! This module must never read what a definition computes, and a function that needs no definition
//! must never become a chain.

mod beside;
mod blocks;
mod destructure;
mod modules;
mod ruled;
mod tables;
mod wire;

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Item, ItemFn, Path, Visibility};

use self::beside::{derivatives, refuse_in_block};
pub use self::ruled::ruled;
use self::wire::{entries, entry, group, names, of_caller, read_names};
use super::derive;
use super::expansion::{Expansion, Records, Written, beside, guarded, refuse_deep, unread, with_item, written};
use ad_back as emit;
use ad_front::{self as front, DefId, Marked, Member, OuterDefinitions, Probed};
use ad_ir::catalogue;
use ad_ir::diag::{Diagnostic, Diags, SrcRange};
use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::Constant;
use ad_ir::rust_types;

/// The kind of item that an expansion is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// A function with derivatives to write.
    Differentiate,
    /// A function that differentiated functions can call.
    Differentiable,
    /// A type.
    Type,
    /// A function or a constant of an `impl` block.
    Member,
    /// A function without a mark in a marked module.
    Helper,
    /// A function whose body is not read.
    Ruled,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Subject::Differentiate => "differentiate",
            Subject::Differentiable => "differentiable",
            Subject::Type => "type",
            Subject::Member => "member",
            Subject::Helper => "helper",
            Subject::Ruled => "ruled",
        }
    }
}

/// An expansion and its state.
struct Chain {
    kind: Subject,
    id: DefId,
    attr: TokenStream,
    item: TokenStream,
    /// The definitions that the expansion still has to ask for.
    open: Vec<Request>,
    outside: OuterDefinitions,
    /// Whether its own definition has been written. It is written before the definitions of
    /// functions of types are asked for, so that two functions may call each other.
    defined: bool,
}

/// A definition that an expansion asks for.
enum Request {
    /// A definition that is asked for by its path.
    Path(Path),
    /// A function or a constant of a type.
    Member(Member),
}

impl Request {
    fn span(&self) -> Span {
        match self {
            Request::Path(path) => path.span(),
            Request::Member(member) => member.name.span(),
        }
    }

    fn tokens(&self) -> TokenStream {
        match self {
            Request::Path(path) => path.to_token_stream(),
            Request::Member(Member { of, name }) => {
                let of = Literal::u128_unsuffixed(*of);
                quote!(#of #name)
            }
        }
    }

    fn read(tokens: TokenStream) -> Option<Self> {
        let mut parts = tokens.clone().into_iter();
        match (parts.next(), parts.next()) {
            (Some(TokenTree::Literal(of)), Some(TokenTree::Ident(name))) => {
                Some(Request::Member(Member { of: of.to_string().parse().ok()?, name }))
            }
            _ => syn::parse2(tokens).ok().map(Request::Path),
        }
    }
}

/// The expansion of `#[differentiate(attr)] item`. `place` is a number that is different for each
/// attribute of a program.
#[must_use]
pub fn differentiate(attr: TokenStream, item: TokenStream, place: &str) -> Expansion {
    if let Some(refused) = refuse_deep(&attr, &item) {
        return with_item(item, refused);
    }
    if let Some(block) = blocks::block(&item) {
        return blocks::differentiate(&attr, &block, place);
    }
    if let Some(module) = modules::module(&item) {
        return modules::differentiate(&attr, module, place);
    }
    if let Some(refused) = refuse_in_block(Subject::Differentiate.name(), &attr, &item) {
        return refused;
    }
    if let Some((written, of)) = unread(&attr, &item) {
        return ruled::with_rules(with_item(item.clone(), written), of, number(place, &item));
    }
    let open: Vec<Path> = guarded(|| front::requests(&item)).unwrap_or_default();
    let outside = OuterDefinitions { open: open.iter().map(front::written).collect(), ..OuterDefinitions::default() };
    let found = written(attr.clone(), &item, &outside, &Records::wanted());
    let id = number(place, &item);
    if !outside.open.is_empty() && found.constants.is_none() && found.errors.is_empty() {
        let open = open.into_iter().map(Request::Path).collect();
        let kind = Subject::Differentiate;
        let chain =
            Chain { kind, id, attr, item: item.clone(), open, outside: OuterDefinitions::default(), defined: false };
        return Expansion { tokens: beside(&item, &chain.next().into_tokens()), ..Expansion::default() };
    }
    let (right, options, krate) = (found.constants.is_some(), attr.clone(), front::krate(attr));
    let constants = found.constants.as_deref().map(|all| constants_of(id, all, &krate, &item));
    let mut expansion = with_item(item.clone(), found);
    expansion.tokens.extend(constants);
    // An item of another kind gets an error, and has no definition.
    if let Ok(function) = syn::parse2::<ItemFn>(item) {
        let needs = OuterDefinitions::default();
        expansion.tokens.extend(derivatives(&options, &function, (id, right), &needs, &krate));
        expansion.tokens.extend(definition(Item::Fn(function), id, right, &needs, &krate));
    }
    expansion
}

/// The expansion of `#[differentiable] item`. `place` is a number that is different for each
/// attribute of a program.
#[must_use]
pub fn differentiable(attr: TokenStream, item: TokenStream, place: &str) -> Expansion {
    if let Some(refused) = refuse_deep(&attr, &item) {
        return with_item(item, refused);
    }
    if let Some(refused) = refuse_in_block(Subject::Differentiable.name(), &attr, &item) {
        return refused;
    }
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
        // rustc reports tokens that do not parse.
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
    let open = open.into_iter().map(Request::Path).collect();
    let (kind, outside) = (Subject::Differentiable, OuterDefinitions::default());
    let chain = Chain { kind, id, attr, item: item.clone(), open, outside, defined: false };
    with_item(item, chain.next())
}

/// The expansion of `#[derive(Differentiable)]` on an item, and its errors. `place` is different at
/// each place of a program.
#[must_use]
pub fn derive(item: &TokenStream, place: &str) -> (TokenStream, Vec<Diagnostic>) {
    if let Some(refused) = refuse_deep(&TokenStream::new(), item) {
        return (refused.tokens, refused.errors);
    }
    let (mut tokens, errors) = derive::implementation_for(item);
    if errors.is_empty() {
        tokens.extend(type_definition(item, place));
    }
    (tokens, errors)
}

/// The items beside a type with `#[derive(Differentiable)]`: its definition, and the functions that
/// take a value apart and put one together. `place` is a number that is different for each derive
/// of a program.
#[must_use]
fn type_definition(item: &TokenStream, place: &str) -> TokenStream {
    let Ok(read) = syn::parse2::<Item>(item.clone()) else { return TokenStream::new() };
    let open = guarded(|| front::requests_of_type(&read)).unwrap_or_default();
    let (id, attr) = (number(place, item), TokenStream::new());
    let open = open.into_iter().map(Request::Path).collect();
    let (kind, outside) = (Subject::Type, OuterDefinitions::default());
    let chain = Chain { kind, id, attr, item: item.clone(), open, outside, defined: false };
    chain.next().into_tokens()
}

/// Continues a chain: the tokens are the definition that it has asked for, and the state of the
/// chain.
#[must_use]
pub fn resume(tokens: TokenStream) -> TokenStream {
    let failed = || {
        let mut diags = Diags::new();
        diags.push(SrcRange::call_site(), catalogue::internal("the chain of definitions", "a definition is not one"));
        diags.into_tokens()
    };
    let Some((mut chain, defined)) = Chain::read(tokens) else { return failed() };
    if chain.open.is_empty() {
        return failed();
    }
    match (chain.open.remove(0), defined.first().map(|d| d.id)) {
        // The name is that of a function in the front end's table.
        (Request::Path(_), None) => {}
        (Request::Member(_), None) => return failed(),
        (Request::Path(path), Some(first)) => {
            chain.outside.found(front::stand_in_for(&path), first);
            chain.outside.names.push((front::written(&path), first));
        }
        (Request::Member(member), Some(_)) => chain.outside.asked.push((member.name.to_string(), member.of)),
    }
    for definition in defined {
        match chain.outside.list.iter_mut().find(|known| known.id == definition.id) {
            Some(known) => known.certain &= definition.certain,
            None => chain.outside.list.push(definition),
        }
    }
    chain.next().into_tokens()
}

impl Chain {
    /// The call that asks for the next definition, or the final expansion if none is missing.
    fn next(self) -> Written {
        let Some(first) = self.open.first() else { return self.finished() };
        let krate = front::krate(self.attr.clone());
        let (kind, id) = (format_ident!("{}", self.kind.name()), Literal::u128_unsuffixed(self.id));
        let stage = format_ident!("{}", if self.defined { "defined" } else { "first" });
        let (attr, item, open) = (&self.attr, &self.item, self.open.iter().map(Request::tokens));
        let (asked, names) = (names(&self.outside.asked), names(&self.outside.names));
        let list = self.outside.list.iter().map(entry);
        // If rustc reports an error in the call, it underlines the user's own name. Imported under
        // another name, the macro could say in rustc's error which mark is missing. But in an
        // import, rustc takes a function of this module that a glob import has too for ambiguous.
        let span = first.span();
        let has = quote_spanned! {span=>
            { #kind #id #stage } { #attr } { #item } { #({ #open })* } { #names } { #asked } { #(#list)* }
        };
        let tokens = match first {
            Request::Path(path) => quote_spanned!(span=> #path! { { #krate::__resume } #has }),
            Request::Member(member) => {
                let (reach, root) = self.root_of(member);
                let name = blocks::macro_name(member.of, &member.name);
                let call = quote_spanned!(span=> #reach::#name! { { #krate::__resume } #has });
                quote!(#root #call)
            }
        };
        Written { tokens, ..Written::default() }
    }

    /// A module through which the root of the crate of a type is reached. rustc refuses a path that
    /// begins with `crate` to a macro that another macro has written.
    fn root_of(&self, member: &Member) -> (Ident, TokenStream) {
        let mut hasher = DefaultHasher::new();
        (self.id, member.of, member.name.to_string(), self.outside.asked.len()).hash(&mut hasher);
        let reach = format_ident!("__ad_reach_{:016x}_{:032x}", hasher.finish(), self.id);
        let home = self.outside.list.iter().find(|d| d.id == member.of).map(|d| &d.home);
        let root = quote! {
            #[doc(hidden)]
            mod #reach {
                #[allow(
                    unused_imports,
                    clippy::wildcard_imports,
                    reason = "no other path leads to a macro there"
                )]
                pub(super) use #home::*;
            }
        };
        (reach, root)
    }

    /// The expansion, if every definition that is known to be needed has arrived. If lowering asks
    /// for functions of types, the chain goes on.
    fn finished(mut self) -> Written {
        let mut before = TokenStream::new();
        let found = match self.kind {
            Subject::Member => {
                let Ok(part) = syn::parse2(self.item.clone()) else { return Written::default() };
                if !std::mem::replace(&mut self.defined, true) {
                    before = blocks::definition(&part, self.id, &self.outside);
                }
                blocks::written(&self.attr, &part, self.id, &self.outside)
            }
            _ => self.written(),
        };
        let wanted = self.outside.wanted.take();
        let mut found = if found.constants.is_none() && found.errors.is_empty() && !wanted.is_empty() {
            self.open = wanted.into_iter().map(Request::Member).collect();
            self.next()
        } else {
            found
        };
        before.extend(std::mem::take(&mut found.tokens));
        Written { tokens: before, ..found }
    }

    /// The items to write beside a function or a type.
    fn written(&self) -> Written {
        let Chain { kind, id, attr, item, outside, .. } = self;
        let (kind, id, attr, item) = (*kind, *id, attr.clone(), item.clone());
        let krate = front::krate(attr.clone());
        if kind == Subject::Type {
            let Ok(read) = syn::parse2::<Item>(item) else { return Written::default() };
            let mut tokens =
                guarded(|| destructure::beside_type(&read, outside, &krate)).ok().flatten().unwrap_or_default();
            tokens.extend(definition(read, id, true, outside, &krate));
            return Written { tokens, ..Written::default() };
        }
        let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return Written::default() };
        let options = attr.clone();
        let mut found = match kind {
            Subject::Ruled => return ruled::written(&function, id, outside, &krate),
            Subject::Differentiate => written(attr, &item, outside, &Records::wanted()),
            Subject::Differentiable | Subject::Helper => match guarded(|| front::probe(&function, id, outside, &krate))
            {
                Ok(Probed::Right(program)) => {
                    Written { tokens: emit::proofs(&program), constants: Some(program.constants), ..Written::default() }
                }
                Ok(Probed::OfBroken | Probed::Open) => Written::default(),
                // Its errors are reported where it is called.
                _ if kind == Subject::Helper => Written::default(),
                Ok(Probed::Wrong(diags)) | Err(diags) => {
                    let errors = diags.list().to_vec();
                    Written { tokens: diags.into_tokens(), errors, ..Written::default() }
                }
            },
            Subject::Type | Subject::Member => Written::default(),
        };
        found.tokens.extend(found.constants.as_deref().map(|all| constants_of(id, all, &krate, &item)));
        if kind == Subject::Differentiate {
            let right = found.constants.is_some();
            found.tokens.extend(derivatives(&options, &function, (id, right), outside, &krate));
        }
        if kind != Subject::Helper {
            found.tokens.extend(definition(Item::Fn(function), id, found.constants.is_some(), outside, &krate));
        }
        found
    }

    /// Reads the state that [`Chain::next`] writes after a definition.
    fn read(tokens: TokenStream) -> Option<(Chain, Vec<Marked>)> {
        let groups: Option<Vec<TokenStream>> = tokens.into_iter().map(group).collect();
        let [defined, head, attr, item, open, names, asked, list] = <[TokenStream; 8]>::try_from(groups?).ok()?;
        let mut head = head.into_iter();
        let (kind, id) = (head.next()?.to_string(), head.next()?.to_string().parse().ok()?);
        let defined_before = head.next()?.to_string() == "defined";
        use Subject::{Differentiable, Differentiate, Helper, Member, Ruled, Type};
        let kinds = [Differentiate, Differentiable, Type, Member, Helper, Ruled];
        let kind = kinds.into_iter().find(|k| k.name() == kind)?;
        let open: Option<Vec<Request>> = open.into_iter().map(|request| Request::read(group(request)?)).collect();
        let chain = Chain {
            kind,
            id,
            attr: of_caller(attr),
            item: of_caller(item),
            open: open?,
            outside: OuterDefinitions {
                names: read_names(names)?,
                asked: read_names(asked)?,
                list: entries(list)?,
                ..OuterDefinitions::default()
            },
            defined: defined_before,
        };
        Some((chain, entries(defined)?))
    }
}

/// A number that identifies a definition.
fn number(place: &str, item: &TokenStream) -> DefId {
    let text = item.to_string();
    let krate = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (&krate, place, &text, salt).hash(&mut hasher);
        DefId::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// The hidden macro of a marked function or of a type.
fn definition(mut item: Item, id: DefId, right: bool, needs: &OuterDefinitions, krate: &TokenStream) -> TokenStream {
    let identity = match &item {
        Item::Fn(function) if is_carried(function) => identity(function, id, needs, krate),
        Item::Struct(_) | Item::Enum(_) => None,
        _ => return TokenStream::new(),
    };
    // `macro_rules!` would read a dollar in the definition as its own syntax.
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
    // Marks of a function whose body is not read, and of a derivative, belong to its definition.
    let belongs = |attr: &Attribute| front::is_rule(attr) || front::is_derivative(attr);
    let (rules, others): (Vec<_>, Vec<_>) = attrs.drain(..).partition(belongs);
    *attrs = rules;
    let cfgs: Vec<_> = others.into_iter().filter(|a| a.path().is_ident("cfg")).collect();
    let own = Marked { id, item, names: needs.names.clone(), broken: !right, certain: false, home: quote!($crate) };
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

/// Whether a function gets a hidden macro.
fn is_carried(function: &ItemFn) -> bool {
    let marked_again = function.attrs.iter().any(|a| {
        let last = a.path().segments.last();
        last.is_some_and(|s| {
            [Subject::Differentiate, Subject::Differentiable].iter().any(|kind| s.ident == kind.name())
        })
    });
    // A method gets none, since it is not called by a path. An item that is marked twice has a
    // macro already. An item with the name of a macro in scope would hide that macro.
    let hides = catalogue::refused::is_macro(&function.sig.ident.to_string());
    function.sig.receiver().is_none() && !marked_again && !hides
}

/// Tokens that identify the function, so that another place can test whether its function is the
/// same. `None` if the function is not a value of one type.
fn identity(function: &ItemFn, id: DefId, needs: &OuterDefinitions, krate: &TokenStream) -> Option<TokenStream> {
    let value = front::value(function, &function.sig.ident.to_token_stream(), krate)?;
    let at = Literal::u128_unsuffixed(id);
    let inner = needs.conditions(krate).map(|(_, condition)| condition);
    let place = definition_type();
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
fn definition_type() -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, reason = "it is only a name for this place")]
        pub struct Place;
    }
}

/// Implementations through which the constants at a definition's place can be read from anywhere.
fn constants_of(id: DefId, all: &[Constant], krate: &TokenStream, item: &TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return TokenStream::new() };
    constants(id, all, krate, &function.attrs, &function.sig.generics)
}

fn constants(id: DefId, all: &[Constant], krate: &TokenStream, attrs: &[Attribute], params: &Generics) -> TokenStream {
    let cfgs = attrs.iter().filter(|a| a.path().is_ident("cfg"));
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
        // The constant may be an array, a reference to an array, or a reference to a slice.
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
    let place = definition_type();
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

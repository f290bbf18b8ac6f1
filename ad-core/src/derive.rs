//! `#[derive(Differentiable)]`: the walk over the real numbers of a struct or an enum, as an
//! implementation of the runtime's trait `Leaves`.
//!
//! The fields give the type of the real numbers: `f32`, `f64`, or a type parameter with the bound
//! `Real`. If they name none, rustc infers it from the types of the fields. This module must never
//! recognise any other type by its name.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Fields, GenericParam, Generics, Ident, Item, Member, Type, WherePredicate};

use ad_ir::catalogue;
use ad_ir::diag::{Diagnostic, Diags, SrcRange, text_of};

/// The attribute of a field that has no gradient.
const CONSTANT: &str = "constant";

/// A struct or an enum.
struct Definition {
    name: Ident,
    generics: Generics,
    /// The only variant of a struct has no name.
    variants: Vec<Variant>,
}

struct Variant {
    name: Option<Ident>,
    fields: Vec<Field>,
}

struct Field {
    member: Member,
    ty: Type,
    constant: bool,
}

/// The type of the real numbers.
enum Number {
    /// A field names the type.
    Named(TokenStream),
    /// No field names the type, so only rustc can infer it.
    Inferred(Ident),
}

impl Number {
    fn tokens(&self) -> TokenStream {
        match self {
            Number::Named(number) => number.clone(),
            Number::Inferred(param) => param.to_token_stream(),
        }
    }
}

/// The implementation of the trait for an item, and its errors.
#[must_use]
pub fn implementation_for(item: &TokenStream) -> (TokenStream, Vec<Diagnostic>) {
    let mut diags = Diags::new();
    let read = definition(item.clone(), &mut diags).and_then(|d| Some((number(&d, &mut diags)?, d)));
    match read {
        Some((number, definition)) if diags.is_empty() => (implementation(&definition, &number), Vec::new()),
        _ => {
            let errors = diags.list().to_vec();
            (diags.into_tokens(), errors)
        }
    }
}

fn definition(item: TokenStream, diags: &mut Diags) -> Option<Definition> {
    let range = SrcRange::of_stream(item.clone());
    let (name, generics, variants) = match syn::parse2(item) {
        Ok(Item::Struct(s)) => {
            only_on_fields(&s.attrs, diags);
            let fields = fields(s.fields, diags);
            (s.ident, s.generics, vec![Variant { name: None, fields }])
        }
        Ok(Item::Enum(e)) => {
            only_on_fields(&e.attrs, diags);
            let variants = e.variants.into_iter();
            let variants = variants.map(|v| {
                only_on_fields(&v.attrs, diags);
                Variant { name: Some(v.ident), fields: fields(v.fields, diags) }
            });
            (e.ident, e.generics, variants.collect())
        }
        _ => {
            diags.push(range, catalogue::derive_of_item());
            return None;
        }
    };
    if variants.is_empty() {
        diags.push(SrcRange::of(&name), catalogue::derive_of_no_variants(&name.to_string()));
        return None;
    }
    Some(Definition { name, generics, variants })
}

fn fields(fields: Fields, diags: &mut Diags) -> Vec<Field> {
    let members: Vec<Member> = fields.members().collect();
    let mut read = Vec::new();
    for (field, member) in fields.into_iter().zip(members) {
        let constant = field.attrs.iter().any(|a| is_constant(a, diags));
        if let (Type::Reference(_), false) = (&field.ty, constant) {
            let text = text_of(&field.ty, 40);
            diags.push(SrcRange::of(&field.ty), catalogue::derive_of_reference(&text));
        }
        read.push(Field { member, ty: field.ty, constant });
    }
    read
}

/// The mark of a constant has no meaning on a type or on a variant.
fn only_on_fields(attributes: &[Attribute], diags: &mut Diags) {
    for mark in attributes.iter().filter(|a| a.path().is_ident(CONSTANT)) {
        diags.push(SrcRange::of(mark), catalogue::constant_on_no_field());
    }
}

fn is_constant(attribute: &Attribute, diags: &mut Diags) -> bool {
    if !attribute.path().is_ident(CONSTANT) {
        return false;
    }
    if !matches!(attribute.meta, syn::Meta::Path(_)) {
        diags.push(SrcRange::of(attribute), catalogue::constant_takes_nothing());
    }
    true
}

impl Definition {
    /// The fields that may have real numbers.
    fn active(&self) -> impl Iterator<Item = &Field> {
        self.variants.iter().flat_map(|v| &v.fields).filter(|f| !f.constant)
    }

    /// The type parameters that are bounded by `Real`.
    fn real_params(&self) -> Vec<&Ident> {
        let real = self.generics.type_params().filter(|p| ad_front::is_real(&self.generics, p));
        real.map(|p| &p.ident).collect()
    }
}

/// Whether the tokens contain one of these words.
fn mentions(tokens: &impl ToTokens, words: &[&Ident]) -> bool {
    word_in(tokens.to_token_stream(), &|i| words.contains(&i)).is_some()
}

/// The first word that satisfies the predicate.
fn word_in(tokens: TokenStream, holds: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(i) => holds(&i).then_some(i),
        TokenTree::Group(g) => word_in(g.stream(), holds),
        _ => None,
    })
}

/// The type of the real numbers; an error if the fields name two.
fn number(definition: &Definition, diags: &mut Diags) -> Option<Number> {
    let params = definition.real_params();
    let is_number = |i: &Ident| i == "f32" || i == "f64" || params.contains(&i);
    let mut named: Option<Ident> = None;
    for field in definition.active() {
        let Some(number) = word_in(field.ty.to_token_stream(), &is_number) else { continue };
        let first = named.get_or_insert_with(|| number.clone());
        let differs = |i: &Ident| is_number(i) && i != first;
        if let Some(other) = word_in(field.ty.to_token_stream(), &differs) {
            let message = catalogue::derive_of_two_numbers(&first.to_string(), &other.to_string());
            diags.push(SrcRange::of(&field.ty), message);
            return None;
        }
    }
    Some(match named {
        Some(ident) => Number::Named(ident.to_token_stream()),
        None => Number::Inferred(Ident::new("__AdReal", Span::mixed_site())),
    })
}

/// The implementations of `Leaves` and of `Differentiable`.
fn implementation(definition: &Definition, number: &Number) -> TokenStream {
    let name = &definition.name;
    let generics = bounded(definition, number);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, type_generics, _) = definition.generics.split_for_impl();
    let lifted = lift(definition, number);
    let number = number.tokens();
    let call = |field: &Field, function: &str| {
        // If a field's type has no leaves, rustc underlines the type, with the same message each
        // time.
        let (ty, span) = (&field.ty, field.ty.span());
        let function = Ident::new(function, span);
        let number = spanned(number.clone(), span);
        quote_spanned!(span=> <#ty as ::ad::runtime::Leaves<#number>>::#function)
    };
    let count = match_on_variants(definition, |fields| {
        let counts = fields.iter().filter(|(f, _)| !f.constant).map(|(f, s)| {
            let count = call(f, "count_leaves");
            quote!(#count(#s))
        });
        quote!(0 #(+ #counts)*)
    });
    let write = match_on_variants(definition, |fields| {
        let writes = fields.iter().filter(|(f, _)| !f.constant).map(|(f, s)| {
            let write = call(f, "write_leaves");
            quote!(#write(#s, flat);)
        });
        quote!(#(#writes)*)
    });
    let read = rebuilt(definition, |field, s| {
        let read = call(field, "read_leaves");
        quote!(#read(#s, flat))
    });
    let zeros = rebuilt(definition, |field, s| {
        let zeros = call(field, "zero_leaves");
        quote!(#zeros(#s))
    });
    let scaled = match_on_both(definition, |fields| {
        let sums = fields.iter().map(|(f, s, x)| {
            let add_scaled = call(f, "add_leaves");
            quote!(#add_scaled(#s, a, #x);)
        });
        quote!(#(#sums)*)
    });
    let inner = match_on_both(definition, |fields| {
        let products = fields.iter().map(|(f, s, x)| {
            let inner = call(f, "dot_leaves");
            quote!(#inner(#s, #x))
        });
        quote!(<#number as ::ad::Real>::lit(0.0) #(+ #products)*)
    });
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::all, clippy::pedantic, reason = "what has no field uses no parameter")]
        impl #impl_generics ::ad::runtime::Leaves<#number> for #name #type_generics #where_clause {
            fn count_leaves(&self) -> usize { #count }
            fn write_leaves(&self, flat: &mut ::ad::runtime::alloc::vec::Vec<#number>) { #write }
            fn read_leaves(&self, flat: &mut ::core::slice::Iter<'_, #number>) -> Self { #read }
            fn zero_leaves(&self) -> Self { #zeros }
            fn add_leaves(&mut self, a: #number, x: &Self) { #scaled }
            fn dot_leaves(&self, x: &Self) -> #number { #inner }
        }
        #[automatically_derived]
        impl #impl_generics ::ad::Differentiable<#number> for #name #type_generics #where_clause {}
        #lifted
    }
}

/// The implementation of `Lift`: the value with numbers of another type. A type has one if its
/// numbers are its only type parameter.
fn lift(definition: &Definition, number: &Number) -> Option<TokenStream> {
    let Number::Named(number) = number else { return None };
    let mut params = definition.generics.type_params();
    let own = params.next().filter(|p| p.ident == number.to_string())?;
    if params.next().is_some() || definition.generics.lifetimes().next().is_some() {
        return None;
    }
    let (name, own) = (&definition.name, &own.ident);
    let other = Ident::new("__AdOther", Span::mixed_site());
    let mut generics = definition.generics.clone();
    generics.params.push(GenericParam::Type(syn::parse_quote!(#other: ::ad::Real)));
    let run = quote!(::ad::runtime::dual_numbers);
    let into: WherePredicate = syn::parse_quote!(#own: #run::Lift<#own, #other, Output = #other>);
    generics.make_where_clause().predicates.push(into);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, type_generics, _) = definition.generics.split_for_impl();
    let arguments = definition.generics.params.iter().filter_map(|p| match p {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(_) => Some(other.to_token_stream()),
        GenericParam::Const(c) => Some(c.ident.to_token_stream()),
    });
    let call = |field: &Field, function: &str| {
        let (ty, span) = (&field.ty, field.ty.span());
        let function = Ident::new(function, span);
        let (own, other) = (spanned(own.to_token_stream(), span), spanned(other.to_token_stream(), span));
        quote_spanned!(span=> <#ty as #run::Lift<#own, #other>>::#function)
    };
    let itself = quote!(#name::<#(#arguments),*>);
    let lifted = definition.variants.iter().map(|variant| {
        let names = names(variant, "s");
        let (pattern, _) = pattern(variant, &names);
        let path = variant.name.as_ref().map_or_else(|| quote!(#itself), |name| quote!(#itself::#name));
        let parts = variant.fields.iter().zip(&names).map(|(field, s)| {
            let (member, lift) = (&field.member, call(field, "lift"));
            if field.constant {
                quote!(#member: ::core::clone::Clone::clone(#s))
            } else {
                quote!(#member: #lift(#s, map))
            }
        });
        quote!(#pattern => #path { #(#parts),* },)
    });
    let structure = definition.variants.iter().enumerate().map(|(k, variant)| {
        let names = names(variant, "s");
        let (pattern, _) = pattern(variant, &names);
        let fields = variant.fields.iter().zip(&names).filter(|(f, _)| !f.constant).map(|(field, s)| {
            let structure = call(field, "structure");
            quote!(#structure(#s, found);)
        });
        let which = (definition.variants.len() > 1).then(|| quote!(found.push(#k);));
        quote!(#pattern => { #which #(#fields)* })
    });
    let output = if definition.generics.params.is_empty() { quote!(#name) } else { quote!(#itself) };
    Some(quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::all, clippy::pedantic, reason = "what has no field uses no parameter")]
        impl #impl_generics #run::Lift<#own, #other> for #name #type_generics #where_clause {
            type Output = #output;
            fn lift<__AdMap: ::core::ops::FnMut(#own) -> #other>(&self, map: &mut __AdMap) -> Self::Output {
                match self { #(#lifted)* }
            }
            fn structure(&self, found: &mut ::ad::runtime::alloc::vec::Vec<usize>) {
                match self { #(#structure)* }
            }
        }
    })
}

/// The tokens with another span.
fn spanned(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        token.set_span(span.resolved_at(token.span()));
        token
    };
    tokens.into_iter().map(at).collect()
}

/// The variant of a value with these names for its fields, and the path of the variant.
fn pattern(variant: &Variant, names: &[Ident]) -> (TokenStream, TokenStream) {
    let path = variant.name.as_ref().map_or_else(|| quote!(Self), |name| quote!(Self::#name));
    let members = variant.fields.iter().map(|f| &f.member);
    (quote!(#path { #(#members: #names),* }), path)
}

/// A name for each field.
fn names(variant: &Variant, prefix: &str) -> Vec<Ident> {
    (0..variant.fields.len()).map(|k| format_ident!("{prefix}{k}", span = Span::mixed_site())).collect()
}

/// A `match` over the variants of `self`.
fn match_on_variants(definition: &Definition, body: impl Fn(&[(&Field, Ident)]) -> TokenStream) -> TokenStream {
    let arms = definition.variants.iter().map(|variant| {
        let names = names(variant, "s");
        let (pattern, _) = pattern(variant, &names);
        let body = body(&variant.fields.iter().zip(names).collect::<Vec<_>>());
        quote!(#pattern => { #body })
    });
    quote!(match self { #(#arms)* })
}

/// A value of the same variant as `self`, in which constants are copied.
fn rebuilt(definition: &Definition, part: impl Fn(&Field, &Ident) -> TokenStream) -> TokenStream {
    let arms = definition.variants.iter().map(|variant| {
        let names = names(variant, "s");
        let (pattern, path) = pattern(variant, &names);
        let parts = variant.fields.iter().zip(&names).map(|(field, s)| {
            let (member, part) = (&field.member, part(field, s));
            if field.constant { quote!(#member: ::core::clone::Clone::clone(#s)) } else { quote!(#member: #part) }
        });
        quote!(#pattern => #path { #(#parts),* },)
    });
    quote!(match self { #(#arms)* })
}

/// A `match` over the variants of `self` and `x`, which must be the same variant. It binds the
/// fields that are not constant.
fn match_on_both(definition: &Definition, body: impl Fn(&[(&Field, &Ident, &Ident)]) -> TokenStream) -> TokenStream {
    let arms = definition.variants.iter().map(|variant| {
        let (own, others) = (names(variant, "s"), names(variant, "x"));
        let ((of_self, _), (of_x, _)) = (pattern(variant, &own), pattern(variant, &others));
        let fields = variant.fields.iter().zip(own.iter().zip(&others)).map(|(f, (s, x))| (f, s, x));
        let body = body(&fields.filter(|(f, ..)| !f.constant).collect::<Vec<_>>());
        quote!((#of_self, #of_x) => { #body })
    });
    let name = definition.name.to_string();
    let differ = (definition.variants.len() > 1).then(|| quote!(_ => ::ad::runtime::different_variants(#name),));
    quote!(match (self, x) { #(#arms)* #differ })
}

/// The generics of the implementations: type parameters have leaves, or are copied if only
/// constants have them. If only rustc can infer the type of the real numbers, the bounds use the
/// types of the fields.
fn bounded(definition: &Definition, number: &Number) -> Generics {
    let mut generics = definition.generics.clone();
    let real = definition.real_params();
    let mut predicates: Vec<WherePredicate> = Vec::new();
    let of = number.tokens();
    if let Number::Inferred(param) = number {
        generics.params.push(GenericParam::Type(syn::parse_quote!(#param: ::ad::Real)));
    }
    let params: Vec<&Ident> = definition.generics.type_params().map(|p| &p.ident).collect();
    for param in params.iter().filter(|p| !real.contains(p)) {
        predicates.push(if definition.active().any(|f| mentions(&f.ty, &[param])) {
            syn::parse_quote!(#param: ::ad::runtime::Leaves<#of>)
        } else {
            syn::parse_quote!(#param: ::core::clone::Clone)
        });
    }
    if let Number::Inferred(_) = number {
        let itself = [&definition.name, &format_ident!("Self")];
        // A bound on a field type that contains the derived type again could never be proved.
        let plain = definition.active().filter(|f| !mentions(&f.ty, &itself));
        predicates.extend(
            plain.map(|f| &f.ty).map(|ty| -> WherePredicate { syn::parse_quote!(#ty: ::ad::runtime::Leaves<#of>) }),
        );
    }
    if !predicates.is_empty() {
        generics.make_where_clause().predicates.extend(predicates);
    }
    generics
}

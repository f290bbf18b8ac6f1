//! The signature of a function with `mode = "dual_numbers"`: its number type, and the form of each
//! parameter and of the result, as far as they are spelt with that type. Everything else is passed
//! on as it is. This module must never read the body of such a function.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::visit::Visit;
use syn::{
    Expr, FnArg, GenericArgument, GenericParam, ItemFn, Pat, PathArguments, ReturnType, Type, TypeParamBound,
    WherePredicate,
};

use super::attr::{self, Attr};
use super::definitions::Definitions;
use super::sig::{is_real, qualifiers};
use super::walk::{Part, Walk};
use super::{Failure, stand_in};
use ad_ir::catalogue::dual_numbers as words;
use ad_ir::descriptor::{self, ByDefault, Descriptor, Structure};
use ad_ir::diag::{Diags, SrcRange, text_of};

/// A function whose body is not read.
#[allow(missing_debug_implementations, reason = "syntax has none without a feature")]
pub struct Unread {
    /// The function.
    pub item: ItemFn,
    /// The beginning of the names of its derivatives.
    pub stem: Ident,
    /// The path of the crate `ad`.
    pub krate: TokenStream,
    /// The type parameter for its numbers.
    pub number: Ident,
    /// Its parameters, in order.
    pub params: Vec<UnreadParam>,
    /// The form of its result.
    pub result: Form,
    /// The type of its result.
    pub result_ty: Type,
    /// Whether only the first part of the result is differentiated.
    pub aux: bool,
    /// Whether the number is the whole result, or its first part with `aux`.
    pub one_number: bool,
    /// The requested derivatives, in the order of the list of derivatives.
    pub derivatives: Vec<&'static Descriptor>,
}

impl Unread {
    /// Whether the number type has a bound that `Real` does not imply.
    #[must_use]
    pub fn has_further_bounds(&self) -> bool {
        const IMPLIED: [&str; 10] =
            ["Real", "Float", "NdFloat", "Copy", "Clone", "Send", "Sync", "PartialEq", "PartialOrd", "Debug"];
        let generics = &self.item.sig.generics;
        let own = generics.type_params().filter(|p| p.ident == self.number).flat_map(|p| &p.bounds);
        let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
        let others = predicates.flat_map(|p| match p {
            // A bound on another type, such as `Vec<T>`, is further too if it names the number.
            WherePredicate::Type(p) if mentions(&p.bounded_ty, &self.number) => p.bounds.iter().collect(),
            _ => Vec::new(),
        });
        own.chain(others).any(|bound| match bound {
            TypeParamBound::Trait(t) => !t.path.segments.last().is_some_and(|s| IMPLIED.iter().any(|i| s.ident == i)),
            _ => false,
        })
    }
}

/// A parameter.
#[allow(missing_debug_implementations, reason = "syntax has none without a feature")]
pub struct UnreadParam {
    /// Its name, or a name that stands for its pattern.
    pub name: Ident,
    /// Its type as it is written.
    pub ty: Type,
    /// Its form, if its type is spelt with the number type.
    pub form: Option<Form>,
    /// Whether derivatives are taken with respect to it.
    pub active: bool,
}

/// The form of a type that is spelt with the number type.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "syntax has none without a feature")]
pub enum Form {
    /// The number type itself.
    Number,
    /// `&F`.
    Reference(Box<Form>),
    /// `[F]`.
    Slice(Box<Form>),
    /// `Vec<F>`.
    Vec(Box<Form>),
    /// `[F; N]`.
    Static(Box<Form>, Expr),
    /// An owned array of this rank.
    Array(usize),
    /// A view.
    View(usize),
    /// `ArrayRef`: only behind references.
    ArrayRef(usize),
    /// A tuple.
    Tuple(Vec<Form>),
    /// A type with the number type in its arguments; its parts are found by traits.
    Other(Type),
    /// A part of a tuple without numbers.
    Discrete(Type),
}

impl Form {
    /// Whether a value of the form can be returned.
    fn is_owned(&self) -> bool {
        match self {
            Form::Number | Form::Array(_) | Form::Other(_) | Form::Discrete(_) => true,
            Form::Reference(_) | Form::Slice(_) | Form::View(_) | Form::ArrayRef(_) => false,
            Form::Vec(of) | Form::Static(of, _) => of.is_owned(),
            Form::Tuple(parts) => parts.iter().all(Form::is_owned),
        }
    }

    /// Whether its blocks in a Jacobian have types.
    fn has_blocks(&self) -> bool {
        match self {
            Form::Number | Form::Array(_) | Form::View(_) | Form::ArrayRef(_) => true,
            Form::Reference(of) => of.has_blocks(),
            Form::Slice(of) | Form::Vec(of) | Form::Static(of, _) => of.is_static(),
            Form::Tuple(parts) => parts.iter().all(Form::has_blocks),
            Form::Other(_) | Form::Discrete(_) => false,
        }
    }

    /// Whether it is a number or static arrays of numbers.
    fn is_static(&self) -> bool {
        match self {
            Form::Number => true,
            Form::Static(of, _) => of.is_static(),
            _ => false,
        }
    }
}

/// Whether the attribute asks for this mode.
#[must_use]
pub fn is_unread(attr: &TokenStream) -> bool {
    attr::parse(attr.clone(), &mut Diags::new()).unread.is_some()
}

/// Reads the signature of a function with this mode.
///
/// # Errors
///
/// All errors of the attribute and the signature, and stand-ins for the derivatives.
pub fn read_unread(attr: TokenStream, item: ItemFn) -> Result<Unread, Failure> {
    let mut diags = Diags::new();
    let attr = attr::parse(attr, &mut diags);
    if let Some(again) = item.attrs.iter().find(|other| attr.writes_names_of(other)) {
        diags.push(SrcRange::of(again), ad_ir::catalogue::attribute_twice());
        return Err(Failure { diags, stubs: TokenStream::new() });
    }
    match unread(&attr, item.clone(), &mut diags).filter(|_| diags.is_empty()) {
        Some(found) => Ok(found),
        None => {
            let stubs = stand_in::of(&item, (&attr, None), &Definitions::default());
            Err(Failure { diags, stubs })
        }
    }
}

fn unread(attr: &Attr, item: ItemFn, diags: &mut Diags) -> Option<Unread> {
    qualifiers(&item, diags).ok()?;
    if let Some(receiver) = item.sig.receiver() {
        diags.push(SrcRange::of(receiver), ad_ir::catalogue::method());
        return None;
    }
    let name = item.sig.ident.to_string();
    let (number, others) = number(&item, diags)?;
    let mut params = Vec::new();
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        let FnArg::Typed(arg) = arg else { return None };
        let name = match &*arg.pat {
            // The derivatives call the function by its name.
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() && p.ident != item.sig.ident => p.ident.clone(),
            _ => format_ident!("argument{k}_"),
        };
        if let Some(other) = others.iter().find(|other| mentions(&arg.ty, other))
            && wanted(attr, &name)
        {
            let words = words::two_number_types(&name.to_string(), &other.to_string(), &number.to_string());
            diags.push(SrcRange::of(&arg.ty), words);
        }
        let form = mentions(&arg.ty, &number).then(|| form(&arg.ty, &number, false, diags));
        if let Some(None) = form {
            continue;
        }
        let form = form.flatten();
        let active = form.is_some() && wanted(attr, &name);
        params.push(UnreadParam { name, ty: (*arg.ty).clone(), form, active });
    }
    for name in attr.wrt.iter().flatten() {
        if !params.iter().any(|p| p.name == *name && p.active) && diags.is_empty() {
            diags.push(SrcRange::of(name), words::wrt_of_no_number(&name.to_string(), &number.to_string()));
        }
    }
    if params.iter().all(|p| !p.active) && diags.is_empty() {
        diags.push(SrcRange::of(&item.sig.ident), words::no_numbers(&name, &number.to_string()));
    }
    let ReturnType::Type(_, result_ty) = item.sig.output.clone() else {
        diags.push(SrcRange::of(&item.sig.ident), ad_ir::catalogue::no_result(&name));
        return None;
    };
    let result = result(&result_ty, &number, attr, diags)?;
    let differentiated = match &result {
        Form::Tuple(parts) if attr.aux.is_some() => parts.first().unwrap_or(&result),
        whole => whole,
    };
    let one_number = matches!(differentiated, Form::Number);
    let derivatives = derivatives(attr, (differentiated, one_number), &params, diags);
    let aux = attr.aux.is_some();
    let (stem, krate) = (attr.stem(&item.sig.ident), attr.krate.clone());
    let result_ty = *result_ty;
    diags.is_empty().then_some(Unread {
        item,
        stem,
        krate,
        number,
        params,
        result,
        result_ty,
        aux,
        one_number,
        derivatives,
    })
}

/// Whether `wrt` names a parameter, or there is no `wrt`.
fn wanted(attr: &Attr, name: &Ident) -> bool {
    attr.wrt.as_ref().is_none_or(|wrt| wrt.contains(name))
}

/// The type parameter for the numbers that are differentiated, and other type parameters for
/// numbers. Of several, it is the one that the result names.
fn number(item: &ItemFn, diags: &mut Diags) -> Option<(Ident, Vec<Ident>)> {
    let generics = &item.sig.generics;
    let mut all: Vec<Ident> =
        generics.type_params().filter(|p| is_real(generics, p)).map(|p| p.ident.clone()).collect();
    let name = item.sig.ident.to_string();
    let of_result = match &item.sig.output {
        ReturnType::Type(_, ty) => all.iter().position(|number| mentions(ty, number)),
        ReturnType::Default => None,
    };
    if all.is_empty() {
        diags.push(SrcRange::of(&item.sig.ident), words::no_number_type(&name));
        return None;
    }
    let number = all.remove(of_result.unwrap_or(0));
    let in_bounds = |tokens: TokenStream| mentions_word(tokens, &number);
    for param in generics.type_params().filter(|p| p.ident != number) {
        let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
        let of_param = predicates.filter(|p| match p {
            WherePredicate::Type(p) => param.ident == p.bounded_ty.to_token_stream().to_string(),
            _ => false,
        });
        let mut bounds = param.bounds.to_token_stream();
        bounds.extend(of_param.map(ToTokens::to_token_stream));
        if in_bounds(bounds) {
            let message = words::bound_by_numbers(&param.ident.to_string(), &number.to_string());
            diags.push(SrcRange::of(param), message);
        }
    }
    Some((number, all))
}

/// The form of the result.
fn result(ty: &Type, number: &Ident, attr: &Attr, diags: &mut Diags) -> Option<Form> {
    let text = text_of(ty, 40);
    if !mentions(ty, number) {
        diags.push(SrcRange::of(ty), words::result_without_numbers(&text, &number.to_string()));
        return None;
    }
    let found = form(ty, number, false, diags)?;
    if !found.is_owned() {
        diags.push(SrcRange::of(ty), ad_ir::catalogue::result_not_owned(&text));
        return None;
    }
    let pair = match &found {
        Form::Tuple(parts) => parts.len() == 2 && matches!(parts[0], Form::Number),
        _ => false,
    };
    if attr.aux.is_some() && !pair {
        diags.push(SrcRange::of(ty), ad_ir::catalogue::aux_of_no_pair(&text));
        return None;
    }
    Some(found)
}

/// The requested derivatives that the function has.
fn derivatives(
    attr: &Attr,
    (result, one_number): (&Form, bool),
    params: &[UnreadParam],
    diags: &mut Diags,
) -> Vec<&'static Descriptor> {
    let active: Vec<&UnreadParam> = params.iter().filter(|p| p.active).collect();
    if let Some(range) = attr.workspace {
        diags.push(range, words::option("workspace", "remove it: memory is reused from call to call anyway"));
    }
    for &(derivative, at) in &attr.derivatives {
        let (option, requires) = (derivative.option, &derivative.requires);
        let blocks = matches!(derivative.returns, Structure::Jacobian | Structure::Hessian);
        let without = active.iter().find(|p| !p.form.as_ref().is_some_and(Form::has_blocks));
        match derivative.returns {
            Structure::Sparse => {
                diags.push(at, words::option(option, "write `jacobian`: the whole of it"));
            }
            Structure::Examples => {
                diags.push(at, words::option(option, "write a loop over the examples that calls `f_grad`"));
            }
            _ if !one_number && requires.one_number.is_some() => {
                let instead = requires.one_number.unwrap_or_default();
                let array = !matches!(result, Form::Tuple(_));
                diags.push(at, ad_ir::catalogue::derivative_of_an_array(option, array, instead));
            }
            _ if active.len() > 1 && requires.one_active.is_some() => {
                let names: Vec<String> = active.iter().map(|p| format!("`{}`", p.name)).collect();
                let instead = requires.one_active.unwrap_or_default();
                let first = names[0].trim_matches('`').to_string();
                diags.push(at, ad_ir::catalogue::derivative_of_several(option, &names, &first, instead));
            }
            _ if blocks && without.is_some() => {
                let name = without.map(|p| p.name.to_string()).unwrap_or_default();
                diags.push(at, words::blocks(option, &format!("`{name}`")));
            }
            Structure::Jacobian if !result.has_blocks() => {
                diags.push(at, words::blocks(option, "the result"));
            }
            _ => {}
        }
    }
    let mut found: Vec<&'static Descriptor> = attr.derivatives.iter().map(|d| d.0).collect();
    if attr.derivatives.is_empty() {
        let default = if one_number { ByDefault::ForNumbers } else { ByDefault::ForOthers };
        found.extend(descriptor::DERIVATIVES.iter().filter(|d| d.default == default));
    }
    found.sort_by_key(|d| descriptor::DERIVATIVES.iter().position(|other| other == d));
    found
}

/// Whether a type is spelt with a name.
fn mentions(ty: &Type, name: &Ident) -> bool {
    mentions_word(ty.to_token_stream(), name)
}

fn mentions_word(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => word == *name,
        proc_macro2::TokenTree::Group(group) => mentions_word(group.stream(), name),
        _ => false,
    })
}

/// The form of a type that is spelt with the number type. `inside`: of a list, whose elements own
/// their numbers.
fn form(ty: &Type, number: &Ident, inside: bool, diags: &mut Diags) -> Option<Form> {
    let text = text_of(ty, 40);
    let mut refuse = |instead: &str| -> Option<Form> {
        diags.push(SrcRange::of(ty), words::no_form(&text, instead));
        None
    };
    match ty {
        Type::Paren(p) => form(&p.elem, number, inside, diags),
        Type::Group(p) => form(&p.elem, number, inside, diags),
        _ if !mentions(ty, number) => Some(Form::Discrete(ty.clone())),
        Type::Reference(r) if r.mutability.is_some() => refuse("take it by value, and return the changed value"),
        Type::Reference(_) if inside => refuse("write a list of values that own their numbers"),
        Type::Reference(r) => Some(Form::Reference(form(&r.elem, number, false, diags)?.into())),
        Type::Slice(s) => Some(Form::Slice(form(&s.elem, number, true, diags)?.into())),
        Type::Array(a) => Some(Form::Static(form(&a.elem, number, true, diags)?.into(), a.len.clone())),
        Type::Tuple(t) => {
            let parts: Vec<_> = t.elems.iter().map(|e| form(e, number, inside, diags)).collect();
            Some(Form::Tuple(parts.into_iter().collect::<Option<_>>()?))
        }
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            if p.path.is_ident(number) {
                return Some(Form::Number);
            }
            let elem = match &last.arguments {
                PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                }),
                _ => None,
            };
            let name = last.ident.to_string();
            let of_numbers = matches!(elem, Some(Type::Path(e)) if e.path.is_ident(number));
            let rank = |prefix: &str| name.strip_prefix(prefix)?.parse::<usize>().ok().filter(|r| *r <= 6);
            if let Some(elem) = elem.filter(|_| name == "Vec") {
                return Some(Form::Vec(form(elem, number, true, diags)?.into()));
            }
            match (rank("Array"), rank("ArrayView"), rank("ArrayRef")) {
                (Some(rank), ..) if of_numbers => return Some(Form::Array(rank)),
                (_, Some(_), _) if inside => return refuse("write a list of arrays that own their numbers"),
                (_, Some(rank), _) if of_numbers => return Some(Form::View(rank)),
                (_, _, Some(rank)) if of_numbers => return Some(Form::ArrayRef(rank)),
                _ => {}
            }
            if borrows(ty) {
                return refuse("take a type that owns its numbers, by reference");
            }
            Some(Form::Other(ty.clone()))
        }
        Type::TraitObject(_) | Type::ImplTrait(_) | Type::FnPtr(_) => {
            refuse("make it inside of the function, or take a type that does not depend on the number type")
        }
        _ => refuse("take a type that owns its numbers, by value or by reference"),
    }
}

/// Whether a type has a lifetime, a trait or a function among its arguments.
fn borrows(ty: &Type) -> bool {
    let mut found = false;
    Walk(&mut |part| {
        found |= match part {
            Part::Lifetime(lifetime) => lifetime.ident != "static",
            // An elided lifetime cannot be named in the type of a gradient.
            Part::Type(Type::Reference(r)) => r.lifetime.is_none(),
            Part::Type(Type::TraitObject(_) | Type::ImplTrait(_) | Type::FnPtr(_) | Type::Ptr(_)) => true,
            _ => false,
        };
    })
    .visit_type(ty);
    found
}

/// The parameters of `f::<..>` with another type in place of the number type.
#[must_use]
pub fn turbofish_with(item: &ItemFn, number: &Ident, other: &TokenStream) -> TokenStream {
    let names = item.sig.generics.params.iter().filter_map(|p| match p {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(t) if t.ident == *number => Some(other.clone()),
        GenericParam::Type(t) => Some(t.ident.to_token_stream()),
        GenericParam::Const(c) => Some(c.ident.to_token_stream()),
    });
    quote::quote!(::<#(#names),*>)
}

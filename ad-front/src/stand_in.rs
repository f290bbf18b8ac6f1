//! Stand-ins for the derivatives of a function that has an error. With them one mistake gives one
//! error, and not one more for every call of a derivative. If the signature is valid they have the
//! derivatives' own types. Otherwise they have the types that follow from the valid part, and any
//! other type is assumed to be the type of its own gradient.
//!
//! Invariants: a stand-in causes no further error and computes nothing; it panics when it is
//! called. If rustc does not report an error that was left to it, the stand-in still returns no
//! number.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, Generics, ItemFn, Pat, ReturnType, Type};

use super::attr::Attr;
use super::boundary::{self, of_several};
use super::definitions::Definitions;
use super::sig::{self, Sig, generics};
use super::types::{self, Leaf};
use ad_ir::descriptor::{self, Descriptor, Further, Structure, WrittenFunction};
use ad_ir::diag::Diags;
use ad_ir::program::{Container, Fallible, Tree, Within, pair};
use ad_ir::rust_types::{check_name, check_name_of_method, fallible_type};

/// A type, and the type parameters in it that replace unknown types.
#[derive(Clone)]
struct Guess {
    ty: TokenStream,
    unknown: Vec<Ident>,
}

impl Guess {
    fn known(ty: TokenStream) -> Self {
        Guess { ty, unknown: Vec::new() }
    }

    /// A type parameter: the caller decides the type.
    fn unknown(name: &str) -> Self {
        let name = format_ident!("{name}");
        Guess { ty: name.to_token_stream(), unknown: vec![name] }
    }

    fn pair(&self, second: &Guess) -> Self {
        let (a, b) = (&self.ty, &second.ty);
        let new = second.unknown.iter().filter(|name| !self.unknown.contains(name));
        Guess { ty: quote!((#a, #b)), unknown: self.unknown.iter().chain(new).cloned().collect() }
    }
}

/// The types from which stand-ins are written.
struct Types {
    /// The types of the function's parameters.
    params: Vec<TokenStream>,
    /// The type that a result is in, if it may be absent.
    fallible: Option<Fallible>,
    result: Guess,
    /// The part of the result that is differentiated.
    differentiated: Guess,
    gradient: Guess,
    jacobian: Guess,
    sparse: Guess,
    hessian: Guess,
    closure: Guess,
    cotangent: TokenStream,
    directions: Vec<TokenStream>,
    destinations: Vec<TokenStream>,
    /// The results and the gradients of all examples.
    of_examples: [Guess; 2],
}

impl Types {
    /// The types of the parameters that follow those of the function.
    fn further(&self, further: Further) -> &[TokenStream] {
        match further {
            Further::Nothing => &[],
            Further::Cotangent => std::slice::from_ref(&self.cotangent),
            Further::Directions(_) => &self.directions,
            Further::Destinations => &self.destinations,
        }
    }

    /// The return type of a function of a derivative.
    fn returned(&self, derivative: &Descriptor, function: WrittenFunction) -> Guess {
        let derived = match derivative.returns {
            Structure::Gradient => &self.gradient,
            Structure::Result => &self.differentiated,
            Structure::Jacobian => &self.jacobian,
            Structure::Sparse => &self.sparse,
            Structure::Hessian => &self.hessian,
            Structure::Closure => &self.closure,
            Structure::Written => return self.result.clone(),
            Structure::Examples => {
                let [results, gradients] = &self.of_examples;
                return if function.with_value { results.pair(gradients) } else { gradients.clone() };
            }
        };
        if function.with_value { self.result.pair(derived) } else { derived.clone() }
    }
}

/// Writes the stand-ins for these derivatives, and for the function that `check_grad!` calls.
fn written<'a>(
    (item, stem, within): (&ItemFn, &Ident, Option<&Within>),
    derivatives: impl Iterator<Item = &'a Descriptor>,
    types: &Types,
    krate: &TokenStream,
    why: &str,
) -> TokenStream {
    let (vis, name) = (&item.vis, &item.sig.ident);
    // The generic parameters of the block are in scope in a method.
    let own: Option<Generics> = within.and_then(|w| syn::parse2(w.own_generics.clone()).ok());
    let generics = own.as_ref().unwrap_or(&item.sig.generics);
    let where_clause = within.map_or_else(|| generics.where_clause.to_token_stream(), |w| w.own_where.clone());
    let receiver = within.and_then(|w| w.receiver.as_ref());
    let parameter = |k: usize, ty: TokenStream| match receiver {
        Some(receiver) if k == 0 => receiver.clone(),
        _ => quote!(_: #ty),
    };
    let cfgs = item.attrs.iter().filter(|a| a.path().is_ident("cfg"));
    let cfgs = quote!(#(#cfgs)*);
    let params = &types.params;
    let doc = format!("Stands in for a derivative of `{name}`, which has an error.");
    let allowed = quote!(#[allow(dead_code, clippy::all, clippy::pedantic, reason = "stands in for a function that could not be written")]);
    let message = format!("the derivatives of `{name}` were not written: {why}");
    // `panic!` would read braces as placeholders.
    let message = message.replace('{', "{{").replace('}', "}}");
    let mut code = TokenStream::new();
    for derivative in derivatives {
        for function in derivative.functions() {
            let name = format_ident!("{stem}_{}", function.suffix);
            let further = types.further(derivative.further);
            // The error may be that other parameters are arrays of examples, so each parameter has
            // any type.
            let any = derivative.returns == Structure::Examples;
            let params = params
                .iter()
                .enumerate()
                .map(|(k, ty)| parameter(k, if any { quote!(impl ::core::marker::Sized) } else { ty.clone() }));
            let Guess { ty, unknown } = types.returned(derivative, function);
            let ty = types.fallible.as_ref().map_or_else(|| ty.clone(), |fallible| fallible_type(fallible, &ty));
            let mut generics = generics.clone();
            generics.params.extend(unknown.iter().map(|any| -> syn::GenericParam { syn::parse_quote!(#any) }));
            code.extend(quote! {
                #[doc = #doc]
                #cfgs
                #allowed
                #vis fn #name #generics (#(#params,)* #(_: #further),*) -> #ty #where_clause {
                    ::core::panic!(#message)
                }
            });
        }
    }
    let check = check_name(stem);
    code.extend(quote! {
        #[doc(hidden)]
        #cfgs
        #allowed
        #vis fn #check #generics (_: #krate::runtime::check::CheckCall<'_>, _: (#(#params,)*)) #where_clause {
            ::core::panic!(#message)
        }
    });
    let Some(within) = within else { return code };
    if let Some(receiver) = receiver {
        let (check, others) = (check_name_of_method(stem), params.iter().skip(1));
        code.extend(quote! {
            #[doc(hidden)]
            #cfgs
            #allowed
            #vis fn #check #generics (#receiver, _: #krate::runtime::check::CheckCall<'_>, _: (#(#others,)*)) #where_clause {
                ::core::panic!(#message)
            }
        });
    }
    let Within { cfgs, generics, where_clause, self_ty, .. } = within;
    quote!(#cfgs impl #generics #self_ty #where_clause { #code })
}

/// The stand-ins for a function with a valid signature.
pub(super) fn of_signature(sig: &Sig, item: &ItemFn, diags: &Diags) -> TokenStream {
    let why = match diags.left_to_rustc() {
        Some(error) => {
            format!("rustc should have refused it ({}): please report this to the authors of `ad`", error.message.text)
        }
        None => "it has an error".into(),
    };
    let (krate, real) = (&sig.krate, sig.real_param.as_ref());
    let active: Vec<Tree<Leaf>> = sig.wrt.iter().map(|&k| sig.tree(k)).collect();
    let each = |ty: &dyn Fn(&Tree<Leaf>) -> TokenStream| active.iter().map(ty).collect::<Vec<_>>();
    let gradient = of_several(&each(&|ty| boundary::owned(ty, real, krate)));
    let all = |ty: &Tree<Leaf>| {
        let all = |leaf: &Leaf| match leaf.is_active() {
            true => Leaf { container: Container::NdArray, rank: leaf.rank + 1, lens: Vec::new(), ..leaf.clone() },
            false => leaf.clone(),
        };
        boundary::owned(&ty.clone().of_blocks().map(&mut |leaf| all(leaf)), real, krate)
    };
    let shared = sig.wrt.iter().map(|&k| &sig.declared[k]).zip(&active);
    let shared = shared.filter(|(p, _)| p.leaves().iter().all(|k| !sig.examples.contains(k)));
    let gradients: Vec<TokenStream> = shared.map(|(_, ty)| all(ty)).collect();
    let gradients = match sig.examples.is_empty() || gradients.is_empty() {
        true => Guess::unknown("StandInForG"),
        false => Guess::known(of_several(&gradients)),
    };
    let result = sig.differentiated();
    let cotangent = boundary::passed(result, real, krate);
    let types = Types {
        params: sig.declared.iter().map(|p| p.declared.ty.clone()).collect(),
        fallible: sig.fallible.clone(),
        result: Guess::known(sig.result_ty.clone()),
        differentiated: Guess::known(boundary::owned(result, real, krate)),
        jacobian: Guess::known(of_several(&each(&|ty| block(sig, result, ty)))),
        sparse: Guess::known(sparse(&active, real, krate)),
        hessian: Guess::known(of_several(&each(&|ty| block(sig, ty, ty)))),
        closure: Guess::known(quote!(#krate::runtime::alloc::boxed::Box<dyn ::core::ops::Fn(#cotangent) -> #gradient>)),
        directions: each(&|ty| boundary::passed(ty, real, krate)),
        destinations: each(&|ty| boundary::destination(ty, real, krate))
            .into_iter()
            .chain(sig.workspace.then(|| quote!(&mut #krate::runtime::Workspace)))
            .collect(),
        of_examples: [Guess::known(all(result)), gradients],
        gradient: Guess::known(gradient),
        cotangent,
    };
    written((item, &sig.stem, sig.within.as_ref()), sig.derivatives.iter().copied(), &types, krate, &why)
}

/// The type of a sparse Jacobian.
fn sparse(active: &[Tree<Leaf>], real: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let leaves = active.iter().flat_map(Tree::leaves);
    let elem: Vec<TokenStream> = leaves.map(|leaf| types::elem_tokens(leaf.elem, real)).collect();
    let elem = of_several(&elem);
    quote!(#krate::runtime::Csr<#elem>)
}

/// The type of the blocks of a Jacobian. It has the structure of the parameter, and inside of each
/// leaf the structure of the result.
fn block(sig: &Sig, result: &Tree<Leaf>, param: &Tree<Leaf>) -> TokenStream {
    let lens = |leaf: &Leaf| leaf.lens.iter().map(types::Len::tokens).collect::<Vec<_>>();
    let one = |result: &Leaf, param: &Leaf| {
        let (container, lens) = pair((result.container, &lens(result)), (param.container, &lens(param)));
        let lens = lens.into_iter().map(types::Len::Named).collect();
        Leaf { container, rank: result.rank + param.rank, lens, ..param.clone() }
    };
    let blocks = param.clone().of_blocks().grafted(&mut |param: &Leaf| match param.is_active() {
        true => result
            .clone()
            .of_blocks()
            .map(&mut |result| if result.elem.is_real() { one(result, param) } else { result.clone() }),
        false => Tree::Leaf(param.clone()),
    });
    boundary::owned(&blocks, sig.real_param.as_ref(), &sig.krate)
}

/// A parameter: its name, and the type of its gradient, if it has one.
struct Given {
    name: Option<String>,
    gradient: Option<TokenStream>,
}

/// The stand-ins for a function with an invalid signature, as far as types can be guessed.
pub(super) fn of(item: &ItemFn, (attr, within): (&Attr, Option<&Within>), types: &Definitions) -> TokenStream {
    let mut unheard = Diags::new();
    let (known, _) = generics(item, &mut unheard);
    let krate = &attr.krate;
    let (mut given, mut params) = (Vec::new(), Vec::new());
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        // The derivatives of a method would be in an `impl`, where no code is generated.
        let FnArg::Typed(arg) = arg else { return TokenStream::new() };
        let name = match &*arg.pat {
            Pat::Ident(p) => Some(p.ident.to_string()),
            other => sig::param_name(other, k).map(|(name, _)| name.to_string()),
        };
        let ty_tree = boundary::tree(&arg.ty, (&known, types), &mut unheard).ok().map(|ty| ty.tree());
        let mut ty = (*arg.ty).clone();
        types::mend(&mut ty);
        let gradient = match ty_tree {
            Some(ty) => {
                let real = ty.leaves().iter().any(|leaf| leaf.is_active());
                real.then(|| boundary::owned(&ty, known.real.as_ref(), krate))
            }
            None => owned(&ty).map(ToTokens::to_token_stream),
        };
        given.push(Given { name, gradient });
        params.push(ty.to_token_stream());
    }
    let mut result = match &item.sig.output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => Type::Tuple(syn::parse_quote!(())),
    };
    types::mend(&mut result);
    let (fallible, result) =
        super::result::fallible(&result).map_or((None, &result), |(fallible, ty)| (Some(fallible), ty));
    let one_number = boundary::tree(result, (&known, types), &mut unheard)
        .map_or(true, |ty| sig::is_one_number(&ty.tree()) || attr.aux.is_some());
    let active = given.iter().filter(|g| match (&attr.wrt, &g.name) {
        (Some(wrt), Some(name)) => wrt.iter().any(|w| w == name),
        _ => true,
    });
    let active: Vec<TokenStream> = active.filter_map(|g| g.gradient.clone()).collect();
    let (gradient, any) = (of_several(&active), quote!(impl ::core::marker::Sized));
    let further = vec![any.clone(); active.len()];
    let argument = format_ident!("StandInForArgument");
    let whole = owned(result).map_or_else(|| Guess::unknown("StandIn"), |_| Guess::known(result.to_token_stream()));
    let types = Types {
        params,
        fallible,
        differentiated: if attr.aux.is_some() { Guess::unknown("StandInForR") } else { whole.clone() },
        result: whole,
        jacobian: Guess::unknown("StandInForJ"),
        sparse: Guess::unknown("StandInForJ"),
        hessian: Guess::unknown("StandInForJ"),
        closure: Guess { ty: quote!(fn(#argument) -> #gradient), unknown: vec![argument] },
        cotangent: any.clone(),
        directions: further.clone(),
        destinations: further.into_iter().chain(attr.workspace.map(|_| any.clone())).collect(),
        of_examples: [Guess::unknown("StandInForR"), Guess::unknown("StandInForG")],
        gradient: Guess::known(gradient),
    };
    let named = attr.derivatives.iter().map(|d| d.0);
    let default = descriptor::by_default(one_number).filter(|_| attr.derivatives.is_empty());
    let stem = attr.stem(&item.sig.ident);
    written((item, &stem, within), named.chain(default), &types, krate, "its signature has an error")
}

/// A type without references, if a function can return it.
fn owned(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(r) => owned(&r.elem),
        Type::Paren(p) => owned(&p.elem),
        Type::Group(g) => owned(&g.elem),
        // A type that may contain a lifetime cannot be named in a return type.
        Type::Path(p) if p.path.segments.iter().any(borrows) => None,
        Type::Path(_) | Type::Array(_) => Some(ty),
        Type::Tuple(t) => t.elems.iter().all(|e| owned(e).is_some()).then_some(ty),
        _ => None,
    }
}

/// Whether a segment of a type borrows, as far as names show it.
fn borrows(segment: &syn::PathSegment) -> bool {
    let name = segment.ident.to_string();
    let arguments = || match &segment.arguments {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().any(|arg| match arg {
            syn::GenericArgument::Lifetime(_) => true,
            syn::GenericArgument::Type(ty) => may_borrow(ty),
            _ => false,
        }),
        // This is `Fn(A) -> B`.
        syn::PathArguments::Parenthesized(_) => true,
        syn::PathArguments::None => false,
    };
    name == "str" || ["View", "Cow", "Ref"].iter().any(|word| name.contains(word)) || arguments()
}

/// Whether a type contains a reference, or a type that cannot be named.
fn may_borrow(ty: &Type) -> bool {
    match ty {
        Type::Paren(p) => may_borrow(&p.elem),
        Type::Group(g) => may_borrow(&g.elem),
        Type::Array(a) => may_borrow(&a.elem),
        Type::Slice(s) => may_borrow(&s.elem),
        Type::Tuple(t) => t.elems.iter().any(may_borrow),
        Type::Path(p) => p.path.segments.iter().any(borrows),
        _ => true,
    }
}

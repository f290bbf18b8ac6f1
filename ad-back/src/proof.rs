//! Proofs that names have the meanings that the front end assumed. The front end takes a bare
//! `relu` for the DSL's function, and only rustc knows which function the name refers to. Each
//! function item has a type of its own. So a call of a function with two parameters of one type,
//! given the user's name and the DSL's function, compiles only if both are the same function. Type
//! arguments are inferred from a call with arguments of the simplest kind. None of this code runs.

use ad_ir::sorted::SortedSet;

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit::{self, Visit};

use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::KnownType;
use ad_ir::program::{Assumed, AssumedConst, AssumedFunction, Home, Owner, Program, Takes, Vectors};

/// The proofs of a function, for all of its derivatives.
#[must_use]
pub fn proofs(program: &Program) -> TokenStream {
    let krate = &program.krate;
    let cfgs = &program.cfgs;
    let functions: Vec<TokenStream> = program.assumed.iter().filter_map(|a| function(program, a)).collect();
    let consts = program.consts.iter().map(constant).chain(types(program)).chain(program.bound.iter().map(bound));
    let mut written = quote!(#(#consts)*);
    if !functions.is_empty() {
        written.extend(quote! {
            /// The derivative assumes that these functions are those of `ad::prelude`, ndarray and
            /// std. This does not compile if a name refers to another function.
            fn assumed_functions(x_: &#krate::ndarray::Array1<f64>) {
                let _ = x_;
                #(#functions)*
            }
        });
    }
    written.extend(macros(program));
    written.extend(methods(program));
    if written.is_empty() {
        return written;
    }
    // A trait that only the body imports may have a method of an assumed name.
    let imports = program.imports.iter().map(|path| {
        quote! {
            #[allow(unused_imports, reason = "only a trait among them matters here")]
            use #path as _;
        }
    });
    quote! {
        #cfgs
        #[allow(dead_code, reason = "these functions prove assumptions when they are compiled, and are never called")]
        #[allow(
            clippy::semicolon_if_nothing_returned,
            clippy::wildcard_imports,
            reason = "the imports make a name ambiguous if it is not the assumed one, and the calls only name it"
        )]
        #[allow(ambiguous_panic_imports, reason = "core and std each have a `panic!`")]
        const _: () = {
            #(#imports)*
            #written
        };
    }
}

/// Proves that macros are those of ndarray and std. A glob import inside a block brings these into
/// scope. If the name means another macro outside of the block, it is ambiguous inside, whether the
/// other macro is imported or defined by `macro_rules!`.
fn macros(program: &Program) -> Option<TokenStream> {
    let krate = &program.krate;
    let proof = |assumed: &Assumed| {
        let Assumed::Macro { path, name, arguments } = assumed else { return None };
        let arguments = rust(krate, arguments);
        let import = (path.clone().into_iter().count() > 1).then(|| {
            quote! {
                #[allow(unused_imports, reason = "the same macro is imported inside")]
                use #path;
            }
        });
        Some(quote! {
            {
                #import
                {
                    use #krate::runtime::assumed::*;
                    let _ = || #name! #arguments;
                }
            }
        })
    };
    let proofs: Vec<TokenStream> = program.assumed.iter().filter_map(proof).collect();
    (!proofs.is_empty()).then(|| {
        quote! {
            /// The derivative assumes that these macros are those of ndarray and std. This does not
            /// compile if another macro of such a name is in scope.
            fn assumed_macros(x_: &#krate::ndarray::Array1<f64>, yes_: bool) {
                let _ = (x_, yes_);
                #(#proofs)*
            }
        }
    })
}

/// A form of a receiver: references to the type, or a mutable one.
enum ProofForm {
    Refs(u8),
    Mutable,
}

/// The forms of a receiver that Rust tries before it finds the type's own method. A receiver with
/// `n` references is looked up with `n` of them, then `n + 1`, then `n - 1`, and so on down to the
/// type, `&` and `&mut` of it, and then the type that it derefs to.
fn forms(own: Takes, refs: Option<u8>) -> Vec<ProofForm> {
    // If the number is not known, the receiver has at most one reference.
    let (low, high) = refs.map_or((0, 1), |n| (n, n));
    let first = match own {
        // A method that takes a value is found in the first form if the receiver is a value, and
        // later if it is a reference.
        Takes::Value => 1,
        Takes::Reference if low > 0 => 2,
        Takes::Reference | Takes::Mutable | Takes::Deref => 0,
    };
    let last = match own {
        Takes::Value if high == 0 => return Vec::new(),
        // The method is found in the first form, `&T`. An unknown receiver is tested in it only.
        Takes::Reference if high == 1 => {
            return if low == 0 { vec![ProofForm::Refs(0)] } else { Vec::new() };
        }
        Takes::Reference if high == 0 => 0,
        // `&mut T` counts as one reference.
        Takes::Mutable => return vec![ProofForm::Refs(0), ProofForm::Refs(1)],
        Takes::Value | Takes::Reference | Takes::Deref => high.min(2) + 1,
    };
    let mut forms: Vec<ProofForm> = (first..=last).map(ProofForm::Refs).collect();
    if own == Takes::Deref {
        forms.push(ProofForm::Mutable);
    }
    forms
}

/// Proves that methods are those of the type. A trait that has all their names makes a method of
/// the same name in any other trait ambiguous, in each form of the receiver that is tried before
/// the one for which the type has the method.
fn methods(program: &Program) -> Option<TokenStream> {
    let krate = &program.krate;
    let style = super::style(program);
    let mut calls = Vec::new();
    let of_queue = |a: &Assumed| matches!(a, Assumed::Method { found, .. } if found.vectors == Vectors::Queues);
    let queues = program.assumed.iter().any(of_queue);
    for assumed in &program.assumed {
        if let Assumed::OfStd { name, ty, by_reference } = assumed {
            // If the receiver is a value, the type's own methods that take a value are found first.
            calls.push(if *by_reference {
                quote!(let _ = |x_: #ty| x_.#name();)
            } else {
                // A lint forbids the type `&Option<&F>`.
                quote! {
                    let _ = |x_: #ty| {
                        let x_ = &x_;
                        x_.#name();
                    };
                }
            });
            continue;
        }
        let Assumed::Method { name, found, elem, rank, array, sizes, receiver } = assumed else { continue };
        let elem = match elem {
            Elem::Real(RealTy::Param) => quote!(f64),
            elem => style.ty(*elem),
        };
        let owner = receiver.map_or(Owner::Any, |r| r.owner);
        let may = |o: Owner| owner == Owner::Any || owner == o;
        // A queue has its methods itself and dereferences to no other type.
        let mut of_queue = Vec::new();
        if *rank == 1 && queues && found.vectors != Vectors::No {
            let takes = if found.takes == Takes::Deref { Takes::Reference } else { found.takes };
            of_queue.push((quote!(#krate::runtime::alloc::collections::VecDeque<#elem>), takes));
        }
        let mut owners = Vec::new();
        if *rank > 0 {
            let only = matches!(found.vectors, Vectors::Only | Vectors::Queues);
            let vectors = matches!(found.vectors, Vectors::Too | Vectors::Only);
            // A receiver that is assumed to be a queue may be a `Vec` with a method of some trait.
            if *rank == 1 && found.vectors == Vectors::Queues {
                owners.push(quote!(#krate::runtime::alloc::vec::Vec<#elem>));
            }
            if !only && may(Owner::Array) {
                let array = format_ident!("Array{rank}");
                owners.push(quote!(#krate::ndarray::#array<#elem>));
            }
            if !only && may(Owner::View) {
                let view = format_ident!("ArrayView{rank}");
                owners.push(quote!(#krate::ndarray::#view<'_, #elem>));
            }
            if *rank == 1 && vectors && may(Owner::Vector) {
                owners.push(quote!(#krate::runtime::alloc::vec::Vec<#elem>));
            }
            if vectors && !sizes.is_empty() && may(Owner::Static) {
                let lens: Vec<TokenStream> =
                    sizes.iter().map(|&n| Literal::usize_unsuffixed(n).to_token_stream()).collect();
                owners.push(ad_ir::rust_types::static_type(elem.clone(), &lens));
            }
            // If the receiver has one reference, the slice's own methods are found first.
            if *rank == 1 && vectors && may(Owner::Slice) && receiver.is_none_or(|r| r.refs > 1) {
                calls.push(quote!(let _ = |x_: &&[#elem]| x_.#name();));
            }
            // `ArrayRefN` has these methods only through the type to which it dereferences. A
            // receiver of this type is always a reference.
            if found.of_layout && may(Owner::Shared) {
                let shared = format_ident!("ArrayRef{rank}");
                calls.push(quote!(let _ = |x_: &#krate::ndarray::#shared<#elem>| x_.#name();));
            }
        } else {
            owners.push(elem);
        }
        // A receiver without axes is a number, or an array that has the methods of numbers only
        // through the type to which it dereferences.
        let takes = if *rank == 0 && *array { Takes::Deref } else { found.takes };
        for (owner, takes) in owners.into_iter().map(|owner| (owner, takes)).chain(of_queue) {
            calls.extend(forms(takes, receiver.map(|r| r.refs)).into_iter().map(|form| {
                let receiver = match form {
                    ProofForm::Refs(n) => {
                        let refs = (0..n).map(|_| quote!(&));
                        quote!(#(#refs)* #owner)
                    }
                    ProofForm::Mutable => quote!(&mut #owner),
                };
                quote!(let _ = |x_: #receiver| x_.#name();)
            }));
        }
    }
    (!calls.is_empty()).then(|| {
        quote! {
            /// The derivative assumes that these methods are those of ndarray and std. This does
            /// not compile if a trait in scope has a method of such a name.
            fn assumed_methods<K>()
            where
                (K,): #krate::runtime::assumed::methods::Assumed,
            {
                use #krate::runtime::assumed::methods::*;
                #(#calls)*
            }
        }
    })
}

/// Proves that a name in a pattern is bound there. If the name is a constant, the pattern of this
/// closure's parameter is refutable, and does not compile.
fn bound(name: &Ident) -> TokenStream {
    let span = name.span();
    if name.to_string().starts_with('_') {
        quote_spanned!(span=> const _: fn(u8) = |#name| ();)
    } else {
        quote_spanned!(span=> const _: fn(u8) -> u8 = |#name| #name;)
    }
}

/// Proves that the arrays of the signature are ndarray's, of the rank that is in their names.
fn types(program: &Program) -> Vec<TokenStream> {
    let mut arrays = Arrays::default();
    let params = program.declared.iter().map(|p| &p.ty);
    for ty in params.chain(std::iter::once(&program.result_ty)) {
        if let Ok(ty) = syn::parse2::<syn::Type>(ty.clone()) {
            arrays.visit_type(&ty);
        }
    }
    let krate = &program.krate;
    let proof = |path: &TokenStream| {
        let name = path.clone().into_iter().last()?;
        let ty = KnownType::named(&name.to_string())?;
        let of_signature = !matches!(ty, KnownType::Box | KnownType::Zip | KnownType::Slice);
        of_signature.then(|| {
            let proof = same_type(krate, path, ty);
            quote!(const #proof)
        })
    };
    arrays.paths.iter().filter_map(proof).collect()
}

/// The paths of a type that may be arrays, without their arguments.
#[derive(Default)]
struct Arrays {
    seen: SortedSet<String>,
    paths: Vec<TokenStream>,
}

impl Visit<'_> for Arrays {
    fn visit_path(&mut self, path: &syn::Path) {
        let mut plain = path.clone();
        plain.segments.iter_mut().for_each(|s| s.arguments = syn::PathArguments::None);
        let tokens = plain.to_token_stream();
        if self.seen.insert(tokens.to_string()) {
            self.paths.push(tokens);
        }
        visit::visit_path(self, path);
    }
}

/// `_: fn(P) -> Q = |x_| x_;` for a path that is assumed to be this type: it compiles only if both
/// are one type.
fn same_type(krate: &TokenStream, path: &TokenStream, ty: KnownType) -> TokenStream {
    // The tokens have the span of the user's name, so that the error is reported there if the types
    // differ.
    let span = path.clone().into_iter().last().map_or_else(Span::call_site, |t| t.span());
    let nd = quote!(#krate::ndarray);
    match ty {
        KnownType::Vec => quote_spanned!(span=> _: fn(#path<()>) -> #krate::runtime::alloc::vec::Vec<()> = |x_| x_;),
        KnownType::VecDeque => {
            quote_spanned!(span=> _: fn(#path<()>) -> #krate::runtime::alloc::collections::VecDeque<()> = |x_| x_;)
        }
        KnownType::Box => quote_spanned!(span=> _: fn(#path<()>) -> #krate::runtime::alloc::boxed::Box<()> = |x_| x_;),
        KnownType::Ranked(Owner::View, rank) => {
            let ty = format_ident!("ArrayView{rank}");
            quote_spanned!(span=> _: fn(#path<'_, ()>) -> #nd::#ty<'_, ()> = |x_| x_;)
        }
        KnownType::Ranked(Owner::Shared, rank) => {
            let ty = format_ident!("ArrayRef{rank}");
            quote_spanned!(span=> _: fn(&#path<()>) -> &#nd::#ty<()> = |x_| x_;)
        }
        KnownType::Ranked(_, rank) => {
            let ty = format_ident!("Array{rank}");
            quote_spanned!(span=> _: fn(#path<()>) -> #nd::#ty<()> = |x_| x_;)
        }
        KnownType::Array(Owner::View) => {
            quote_spanned!(span=> _: fn(#path<'_, (), #nd::Ix1>) -> #nd::ArrayView<'_, (), #nd::Ix1> = |x_| x_;)
        }
        KnownType::Array(_) => quote_spanned!(span=> _: fn(#path<(), #nd::Ix1>) -> #nd::Array<(), #nd::Ix1> = |x_| x_;),
        KnownType::Zip => quote_spanned!(span=> _: fn(#path<(), #nd::Ix1>) -> #nd::Zip<(), #nd::Ix1> = |zip_| zip_;),
        KnownType::Slice => quote_spanned!(span=> _: fn(#path) -> #nd::Slice = |slice_| slice_;),
    }
}

/// Proves that a bare `PI` is std's constant of this type, by an assertion at compile time.
fn constant(c: &AssumedConst) -> TokenStream {
    let path = &c.path;
    let span = path.clone().into_iter().next().map_or_else(Span::call_site, |t| t.span());
    #[allow(clippy::cast_possible_truncation, reason = "the constant is of this type")]
    let (ty, bits) = match c.ty {
        RealTy::F32 => (quote!(f32), bits((c.value as f32).to_bits().into(), 2)),
        _ => (quote!(f64), bits(c.value.to_bits(), 4)),
    };
    quote_spanned!(span=> const _: () = ::core::assert!(<#ty>::to_bits(#path) == #bits);)
}

/// Bits in groups of four digits.
fn bits(bits: u64, groups: u32) -> Literal {
    let digits: Vec<String> = (0..groups).rev().map(|k| format!("{:04x}", bits >> (16 * k) & 0xffff)).collect();
    format!("0x{}", digits.join("_")).parse().unwrap_or_else(|_| Literal::u64_unsuffixed(bits))
}

/// Proves that a path is the function or type that the front end assumed.
fn function(program: &Program, assumed: &Assumed) -> Option<TokenStream> {
    let krate = &program.krate;
    match assumed {
        Assumed::Function { path, name, called } => Some(call(krate, (path, name), called)),
        Assumed::Type { path, ty } => {
            let proof = same_type(krate, path, *ty);
            Some(quote!(let #proof))
        }
        Assumed::NoneValue { path } => {
            let span = path.clone().into_iter().last().map_or_else(Span::call_site, |t| t.span());
            Some(quote_spanned! {span=> let _: ::core::option::Option<()> = #path; })
        }
        Assumed::OfNumber { path, elem, name, conversion } => {
            let span = name.span();
            let ty = super::style(program).ty(*elem);
            if *conversion {
                // There are several `from`s: the source type selects one.
                return Some(quote_spanned! {span=>
                    #krate::runtime::kernel::same(<::core::primitive::#ty as ::core::convert::From<u8>>::from, #path);
                });
            }
            Some(quote_spanned!(span=> #krate::runtime::kernel::same(<::core::primitive::#ty>::#name, #path);))
        }
        _ => None,
    }
}

/// Proves that a path is a function: both have one type, and a call determines its arguments.
fn call(krate: &TokenStream, (path, name): (&TokenStream, &Ident), called: &AssumedFunction) -> TokenStream {
    let span = name.span();
    let ours = match called.home {
        Home::Prelude => quote!(#krate::prelude::#name),
        Home::Ndarray => quote!(#krate::ndarray::#name),
        Home::NdarrayLinalg => quote!(#krate::ndarray::linalg::#name),
        Home::Linalg => quote!(#krate::linalg::#name),
        Home::Fft => quote!(#krate::fft::#name),
        Home::Iter => quote!(::core::iter::#name),
        Home::Mem => quote!(::core::mem::#name),
        Home::StaticArray => quote!(::core::array::#name),
        Home::Option => quote!(::core::option::Option::#name),
        Home::Result => quote!(::core::result::Result::#name),
    };
    let arguments = rust(krate, called.arguments);
    let result = called.result.map(|ty| rust(krate, ty)).map_or_else(|| quote!(_), |ty| quote!(_: #ty));
    quote_spanned! {span=>
        let f_ = #path;
        #krate::runtime::kernel::same(#ours, f_);
        let #result = f_(#arguments);
    }
}

/// The Rust text of a row as tokens, with the path to `ad` in place of `$crate`. (A test of the
/// table checks that it is Rust.)
fn rust(krate: &TokenStream, text: &str) -> TokenStream {
    fn put(krate: &TokenStream, tokens: TokenStream) -> TokenStream {
        let (mut made, mut tokens) = (TokenStream::new(), tokens.into_iter());
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(p) if p.as_char() == '$' => {
                    // The next token is `crate`.
                    let _ = tokens.next();
                    made.extend(krate.clone());
                }
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), put(krate, group.stream()));
                    inner.set_span(group.span());
                    made.extend([TokenTree::Group(inner)]);
                }
                other => made.extend([other]),
            }
        }
        made
    }
    put(krate, text.parse().unwrap_or_default())
}

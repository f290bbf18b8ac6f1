//! The hidden function beside each function that is differentiated, which `check_grad!` calls: it says by name which derivatives there are, which
//! parameters are active, and how values are passed to them; `ad_runtime::check` does the rest.
//!
//! Must never add a warning, nor stop anything from compiling that compiles without it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::program::{Container, Param, Program};
use crate::rust_types::{check_name, references};

/// How a type is written: the references in front, and whether what they refer to is a view, a slice or an owned value.
struct Written {
    references: usize,
    base: Base,
    /// `'static` stands in it.
    forever: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Number,
    Static,
    /// An ndarray or a `Vec` that owns its elements.
    Owned,
    View,
    /// `ArrayRef`.
    Ref,
    Slice,
}

fn written(param: &Param) -> Written {
    let (references, tokens) = references(&param.ty);
    let slice = matches!(&*tokens, [TokenTree::Group(_)]);
    // The last segment of the path: what stands before its arguments.
    let head = tokens.iter().take_while(|tt| !matches!(tt, TokenTree::Punct(p) if p.as_char() == '<'));
    let last = head.filter_map(|tt| if let TokenTree::Ident(i) = tt { Some(i.to_string()) } else { None }).last();
    let starts = |prefix: &str| last.as_ref().is_some_and(|name| name.starts_with(prefix));
    let base = match param.container {
        Container::Scalar | Container::ScalarRef => Base::Number,
        Container::Static => Base::Static,
        Container::Slice if slice => Base::Slice,
        Container::NdArray if starts("ArrayView") => Base::View,
        Container::NdArray if starts("ArrayRef") => Base::Ref,
        Container::NdArray | Container::Slice => Base::Owned,
    };
    Written { references, base, forever: forever(&param.ty) }
}

/// Whether a type asks for references that are never given back.
fn forever(ty: &TokenStream) -> bool {
    ty.clone().into_iter().any(|tt| match tt {
        TokenTree::Group(g) => forever(&g.stream()),
        TokenTree::Ident(i) => i == "static",
        _ => false,
    })
}

impl Written {
    /// The value of an argument, owned.
    fn own(&self, argument: &Ident, run: &TokenStream) -> TokenStream {
        let stars = std::iter::repeat_n(quote!(*), self.references);
        let lent = if self.references == 0 { quote!(&#argument) } else { quote!(#argument) };
        match self.base {
            Base::Number | Base::Static => quote!(#(#stars)* #argument),
            Base::Owned if self.references < 2 => quote!(#argument.clone()),
            Base::Owned => {
                let stars = std::iter::repeat_n(quote!(*), self.references - 1);
                quote!((#(#stars)* #argument).clone())
            }
            Base::View | Base::Ref => quote!(#run::array(#lent)),
            Base::Slice => quote!(#run::slice(#lent)),
        }
    }

    /// The argument itself, once more.
    fn again(&self, argument: &Ident) -> TokenStream {
        if self.references == 0 && self.base == Base::Owned { quote!(#argument.clone()) } else { quote!(#argument) }
    }

    /// An owned value as an argument.
    fn lent(&self, value: &TokenStream, run: &TokenStream) -> TokenStream {
        let value = if self.forever { quote!((*#run::forever(#value))) } else { value.clone() };
        let value = match self.base {
            Base::View => quote!(#value.view()),
            // One reference is coerced.
            Base::Ref if self.references > 1 => quote!(*#value),
            Base::Slice => quote!(#value[..]),
            _ => value,
        };
        let references = std::iter::repeat_n(quote!(&), self.references);
        quote!(#(#references)* #value)
    }
}

/// The hidden function.
#[must_use]
pub fn check(program: &Program) -> TokenStream {
    let Program { name, vis, cfgs, generics, where_clause, turbofish, options, .. } = program;
    let krate = &program.options.krate;
    let run = quote!(#krate::runtime::check);
    let own = |what: &str, k: usize| Ident::new(&format!("{what}{k}_"), Span::mixed_site());
    let arguments: Vec<Ident> = (0..program.params.len()).map(|k| own("argument", k)).collect();
    let all: Vec<Written> = program.params.iter().map(written).collect();
    let types = program.params.iter().map(|p| &p.ty);
    let derived = |suffix: &str| {
        let name = format_ident!("{name}_{suffix}");
        quote!(#name #turbofish)
    };
    // Active parameters by their place among these.
    let active: Vec<(&Param, &Written, &Ident)> =
        program.active.iter().map(|&k| (&program.params[k], &all[k], &arguments[k])).collect();
    let owned: Vec<Ident> = (0..active.len()).map(|k| own("own", k)).collect();
    let parts: Vec<Ident> = (0..active.len()).map(|k| own("part", k)).collect();
    let copies = active.iter().map(|(_, written, argument)| written.own(argument, &run));
    let points = active.iter().zip(&owned).map(|((param, ..), own)| {
        let name = param.name.to_string();
        let name = name.trim_start_matches("r#");
        quote!(#run::point(#name, &#own))
    });
    let (check, at) = (own("check", 0), own("at", 0));
    let here: Vec<TokenStream> = all.iter().zip(&arguments).map(|(w, a)| w.again(a)).collect();
    let moved: Vec<TokenStream> = all
        .iter()
        .zip(&arguments)
        .enumerate()
        .map(|(k, (written, argument))| match program.active.iter().position(|&a| a == k) {
            Some(k) => {
                let own = &owned[k];
                written.lent(&quote!(#at.moved(#k, &#own)), &run)
            }
            None => written.again(argument),
        })
        .collect();
    let along: Vec<TokenStream> = active
        .iter()
        .zip(&owned)
        .enumerate()
        .map(|(k, ((param, ..), own))| passed(param.container, &quote!(#at.of(#k, &#own))))
        .collect();
    let gradient = if let [only] = &*parts { quote!(#only) } else { quote!((#(#parts),*)) };
    let leaves = quote!(::std::vec::Vec::from([#(#run::leaf(&#parts)),*]));
    let (value, back, points_) = (own("value", 0), own("back", 0), own("all", 0));
    let both = quote!((#run::leaf(&#value), #leaves));
    let container = program.result.leaves().first().map_or(Container::Scalar, |out| out.container);
    let mut code = TokenStream::new();
    if options.grad {
        let f = derived("value_and_grad");
        code.extend(quote! {
            #check.grad(|#at| {
                let (#value, #gradient) = #f(#(#moved),*);
                #both
            });
        });
    }
    if options.into {
        let f = derived("value_and_grad_into");
        code.extend(quote! {
            #check.value_and_grad_into(|| {
                #(let mut #parts = #run::unwritten(&#owned);)*
                let #value = #f(#(#here,)* #(&mut #parts),*);
                #both
            });
        });
    }
    if options.vjp {
        let f = derived("vjp");
        let cotangent = passed(container, &quote!(#run::refill(&#value, #at)));
        code.extend(quote! {
            #check.vjp(|#at| {
                let #value = #name #turbofish(#(#here),*);
                let (#value, #gradient) = #f(#(#here,)* #cotangent);
                #both
            });
        });
    }
    if options.pullback {
        let f = derived("pullback");
        let cotangent = passed(container, &quote!(#run::refill(&#value, #at)));
        code.extend(quote! {
            #check.pullback(|#points_| {
                let (#value, #back) = #f(#(#here),*);
                let #points_ = #points_.iter().map(|#at| {
                    let #gradient = #back(#cotangent);
                    #leaves
                });
                (#run::leaf(&#value), #points_.collect())
            });
        });
    }
    if options.jacobian {
        let f = derived("value_and_jacobian");
        code.extend(quote! {
            #check.jacobian(|| {
                let (#value, #gradient) = #f(#(#here),*);
                #both
            });
        });
    }
    if options.jvp {
        let f = derived("jvp");
        code.extend(quote! {
            #check.jvp(|#at| {
                let (#value, #back) = #f(#(#here,)* #(#along),*);
                (#run::leaf(&#value), #run::leaf(&#back))
            });
        });
    }
    if options.hvp {
        let f = derived("hvp");
        code.extend(quote! {
            #check.hvp(|#at| {
                let #gradient = #f(#(#here,)* #(#along),*);
                #leaves
            });
        });
    }
    if options.hessian {
        let f = derived("hessian");
        code.extend(quote!(#check.hessian(|| #run::leaf(&#f(#(#here),*)));));
    }
    let hidden = check_name(name);
    let how = own("how", 0);
    quote! {
        #cfgs
        #[doc(hidden)]
        #[allow(dead_code, reason = "not every function is checked")]
        #[allow(
            clippy::elidable_lifetime_names,
            clippy::extra_unused_lifetimes,
            clippy::large_types_passed_by_value,
            clippy::needless_lifetimes,
            clippy::needless_pass_by_value,
            clippy::ptr_arg,
            clippy::redundant_closure_for_method_calls,
            clippy::similar_names,
            clippy::too_many_arguments,
            clippy::too_many_lines,
            clippy::trivially_copy_pass_by_ref,
            clippy::type_complexity,
            non_snake_case,
            reason = "parameters and name are the function's own"
        )]
        #[inline]
        #vis fn #hidden #generics (#how: #run::How<'_>, #(#arguments: #types),*) #where_clause {
            #(let #owned = #copies;)*
            let mut #check = #run::Check::new(#how, ::std::vec::Vec::from([#(#points),*]), |#at| #run::leaf(&#name #turbofish(#(#moved),*)));
            #code
            #check.done();
        }
    }
}

/// An owned value as a tangent or a cotangent.
fn passed(container: Container, value: &TokenStream) -> TokenStream {
    if container.is_static() { value.clone() } else { quote!(&#value) }
}

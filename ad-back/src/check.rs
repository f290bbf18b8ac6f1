//! The hidden function that accompanies each differentiated function and that `check_grad!` calls.
//! It lists the derivatives by name, the active parameters, and how values are passed to them.
//! `ad_runtime::check` does the rest.
//!
//! The hidden function adds no warning, and compiles wherever the program compiles without it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::signature::again;
use ad_ir::descriptor::{Descriptor, Further, Structure};
use ad_ir::program::{Container, Owner, Param, Passing, Program};
use ad_ir::rust_types::check_name;

/// How the user writes the type of a parameter.
#[derive(Clone, Copy)]
struct Written(Passing);

impl Written {
    /// An owned copy of the value of an argument.
    fn own(self, argument: &Ident, run: &TokenStream) -> TokenStream {
        let Passing { references, owner, .. } = self.0;
        let stars = std::iter::repeat_n(quote!(*), references);
        let lent = if references == 0 { quote!(&#argument) } else { quote!(#argument) };
        match owner {
            Owner::Any | Owner::Static => quote!(#(#stars)* #argument),
            Owner::Array | Owner::Vector if references < 2 => quote!(#argument.clone()),
            Owner::Array | Owner::Vector => {
                let stars = std::iter::repeat_n(quote!(*), references - 1);
                quote!((#(#stars)* #argument).clone())
            }
            Owner::View | Owner::Shared => quote!(#run::array(#lent)),
            Owner::Slice => quote!(#run::slice(#lent)),
        }
    }

    /// An owned value as an argument.
    fn lent(self, value: &TokenStream, run: &TokenStream) -> TokenStream {
        let Passing { references, owner, is_static } = self.0;
        let value = if is_static { quote!((*#run::forever(#value))) } else { value.clone() };
        let value = match owner {
            Owner::View => quote!(#value.view()),
            // rustc coerces a single reference.
            Owner::Shared if references > 1 => quote!(*#value),
            Owner::Slice => quote!(#value[..]),
            _ => value,
        };
        let references = std::iter::repeat_n(quote!(&), references);
        quote!(#(#references)* #value)
    }
}

/// The hidden function.
#[must_use]
pub fn check(program: &Program, derivatives: &[&Descriptor]) -> TokenStream {
    let Program { name, vis, cfgs, generics, where_clause, turbofish, .. } = program;
    let krate = &program.krate;
    let run = quote!(#krate::runtime::check);
    let own = |what: &str, k: usize| Ident::new(&format!("{what}{k}_"), Span::mixed_site());
    let arguments: Vec<Ident> = (0..program.params.len()).map(|k| own("argument", k)).collect();
    let all: Vec<Written> = program.params.iter().map(|p| Written(p.passing)).collect();
    let types = program.params.iter().map(|p| &p.ty);
    // Active parameters, by their position in this list.
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
    let here: Vec<TokenStream> = all.iter().zip(&arguments).map(|(w, a)| again(w.0, a)).collect();
    let moved: Vec<TokenStream> = all
        .iter()
        .zip(&arguments)
        .enumerate()
        .map(|(k, (written, argument))| match program.active.iter().position(|&a| a == k) {
            Some(k) => {
                let own = &owned[k];
                written.lent(&quote!(#at.moved(#k, &#own)), &run)
            }
            None => again(written.0, argument),
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
    let suffixed = |suffix: &str| {
        let name = format_ident!("{name}_{suffix}");
        quote!(#name #turbofish)
    };
    let cotangent = passed(container, &quote!(#run::refill(&#value, #at)));
    // The call that checks a derivative, given a closure that evaluates it.
    let call = |d: &Descriptor| {
        let (f, by) = (suffixed(d.suffix), format_ident!("{}", d.checked.by));
        if d.returns == Structure::Closure {
            return quote! {
                #check.#by(|#points_| {
                    let (#value, #back) = #f(#(#here),*);
                    let #points_ = #points_.iter().map(|#at| {
                        let #gradient = #back(#cotangent);
                        #leaves
                    });
                    (#run::leaf(&#value), #points_.collect())
                });
            };
        }
        let (before, further) = match d.further {
            Further::Nothing => (quote!(), Vec::new()),
            Further::Cotangent => (quote!(let #value = #name #turbofish(#(#here),*);), vec![cotangent.clone()]),
            Further::Directions(_) => (quote!(), along.clone()),
            Further::Destinations => (quote!(#(let mut #parts = #run::unwritten(&#owned);)*), {
                let own = program.workspace.then(|| quote!(&mut #krate::runtime::Workspace::new()));
                parts.iter().map(|part| quote!(&mut #part)).chain(own).collect()
            }),
        };
        if d.returns == Structure::Examples {
            let (shared, ours): (Vec<usize>, Vec<&Ident>) = (0..active.len())
                .filter(|&k| !program.examples.contains(&program.active[k]))
                .map(|k| (k, &parts[k]))
                .unzip();
            let gradient = if let [only] = &*ours { quote!(#only) } else { quote!((#(#ours),*)) };
            let arguments = program.params.iter().enumerate().map(|(k, param)| {
                let (written, argument) = (all[k], &arguments[k]);
                if program.examples.contains(&k) {
                    twice(param, &written.own(argument, &run), krate)
                } else {
                    again(written.0, argument)
                }
            });
            return quote! {
                #check.#by(&[#(#shared),*], || {
                    let (#value, #gradient) = #f(#(#arguments),*);
                    (#run::leaf(&#value), ::std::vec::Vec::from([#(#run::leaf(&#ours)),*]))
                });
            };
        }
        let arguments = if d.checked.elsewhere { &moved } else { &here };
        let arguments = arguments.iter().chain(&further);
        let given = match d.further {
            Further::Cotangent | Further::Directions(_) => quote!(|#at|),
            Further::Nothing if d.checked.elsewhere => quote!(|#at|),
            Further::Nothing | Further::Destinations => quote!(||),
        };
        let called = quote!(#f(#(#arguments),*));
        let body = match (d.returns, d.with_value) {
            (Structure::Gradient | Structure::Jacobian, true) => quote!({
                #before
                let (#value, #gradient) = #called;
                #both
            }),
            (Structure::Gradient | Structure::Jacobian, false) => quote!({
                #before
                let #gradient = #called;
                #leaves
            }),
            (Structure::Result | Structure::Hessian, true) => quote!({
                #before
                let (#value, #back) = #called;
                (#run::leaf(&#value), #run::leaf(&#back))
            }),
            (Structure::Result | Structure::Hessian, false) => quote!(#run::leaf(&#called)),
            (Structure::Written | Structure::Closure | Structure::Examples, _) => quote!({
                #before
                let #value = #called;
                #both
            }),
        };
        quote!(#check.#by(#given #body);)
    };
    let code: TokenStream = derivatives.iter().map(|d| call(d)).collect();
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

/// An owned value as an array of two equal examples.
fn twice(param: &Param, value: &TokenStream, krate: &TokenStream) -> TokenStream {
    let arrays = quote!(#krate::ndarray);
    let array = match param.container {
        Container::Scalar | Container::ScalarRef => quote!(#arrays::arr0(#value)),
        Container::NdArray => value.clone(),
        Container::Slice | Container::Static => {
            let (lens, own) = (&param.lens, Ident::new("example_", Span::mixed_site()));
            let flat = (0..param.container.nested(lens.len())).map(|_| quote!(.as_flattened()));
            let first = if param.container == Container::Slice { quote!(#own.len(),) } else { quote!() };
            quote!({
                let #own = #value;
                #krate::runtime::check::shaped(#own[..] #(#flat)*.iter().copied().collect(), [#first #(#lens),*])
            })
        }
    };
    quote!(&#krate::runtime::check::twice(&#array))
}

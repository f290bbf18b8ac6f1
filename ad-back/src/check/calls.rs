//! The calls by which the hidden function of `check_grad!` checks each derivative: a method of the
//! check, and a closure that evaluates the derivative and returns its numbers. This module must
//! never find out what a derivative computes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::destinations::CheckDestinations;
use super::structures::{BoundPattern, bound_result, twice, unbound};
use super::{Names, own, tuple_of};
use ad_ir::descriptor::{Descriptor, Further, Structure};
use ad_ir::program::{ParamTree, Program, Tree};
use ad_ir::rust_types::{Apart, path_of};

/// The calls that check derivatives, each given a closure that evaluates the derivative.
pub(super) struct Calls<'a> {
    program: &'a Program,
    names: &'a Names<'a>,
    pub(super) check: Ident,
    /// The point, tangent or cotangent that a closure gets.
    pub(super) at: Ident,
    /// The path of the function.
    pub(super) itself: TokenStream,
    /// The arguments at the point of the check, and at `at`.
    here: Vec<TokenStream>,
    pub(super) moved: Vec<TokenStream>,
    cotangent: TokenStream,
    /// The pattern of the value, and of the gradient.
    value: BoundPattern,
    gradient: BoundPattern,
    /// The entries of the value, and the leaves of the gradient.
    entries: TokenStream,
    leaves: TokenStream,
}

impl<'a> Calls<'a> {
    pub(super) fn of(program: &'a Program, names: &'a Names<'a>) -> Self {
        let Names { run, parts, .. } = names;
        let at = own("at", 0);
        let all = 0..program.declared.len();
        Calls {
            program,
            names,
            check: own("check", 0),
            itself: path_of(program, &program.name),
            here: all.clone().map(|k| names.argument_here(k)).collect(),
            moved: all.map(|k| names.argument_at(k, &at)).collect(),
            cotangent: names.cotangent(&at),
            value: names.value(false),
            gradient: names.gradient(),
            entries: names.entries(&names.result),
            leaves: quote!(#run::Vec::from([#(#run::leaf(&#parts)),*])),
            at,
        }
    }

    /// The path of a function with a derivative.
    fn path(&self, d: &Descriptor) -> TokenStream {
        path_of(self.program, &format_ident!("{}_{}", self.program.stem, d.suffix))
    }

    pub(super) fn of_derivative(&self, d: &Descriptor) -> TokenStream {
        match d.returns {
            Structure::Closure => self.of_closure(d),
            Structure::Examples => self.of_examples(d),
            _ => self.of_function(d),
        }
    }

    /// The check of a pullback, which is called for several cotangents.
    fn of_closure(&self, d: &Descriptor) -> TokenStream {
        let Calls { names, check, at, here, cotangent, entries, leaves, .. } = self;
        let BoundPattern { pattern: gradient, taken: gradient_taken } = &self.gradient;
        let BoundPattern { pattern: value, taken } = names.value(true);
        let (f, by) = (self.path(d), format_ident!("{}", d.checked.by));
        let (back, points) = (own("back", 0), own("all", 0));
        let call = names.present(quote!(#f(#(#here),*)));
        quote! {
            #check.#by(|#points| {
                let (#value, #back) = #call;
                #taken
                let #points = #points.iter().map(|#at| {
                    let #gradient = #back(#cotangent);
                    #gradient_taken
                    #leaves
                });
                (#entries, #points.collect())
            });
        }
    }

    /// The check of the gradients of two examples that are the same.
    fn of_examples(&self, d: &Descriptor) -> TokenStream {
        let Calls { program, names, check, entries, .. } = self;
        let Names { run, owned, parts, .. } = names;
        let value = &self.value.pattern;
        let (f, by) = (self.path(d), format_ident!("{}", d.checked.by));
        let of_one = |k: usize| program.examples.contains(&program.active[k]);
        let (shared, ours): (Vec<usize>, Vec<&Ident>) =
            (0..owned.len()).filter(|&k| !of_one(k)).map(|k| (k, &parts[k])).unzip();
        let mut structures = names.active_patterns(
            &mut |k| if of_one(k) { TokenStream::new() } else { parts[k].to_token_stream() },
            &mut |_| unbound(),
        );
        structures.retain(|structure| !structure.is_empty());
        let gradient = tuple_of(&structures);
        let arguments = program.declared.iter().enumerate().map(|(k, declared)| match declared.parts {
            ParamTree::Leaf(leaf) if program.examples.contains(&leaf) => {
                twice(&program.params[leaf], &names.copy(leaf), &program.krate)
            }
            _ => names.argument_here(k),
        });
        quote! {
            #check.#by(&[#(#shared),*], || {
                let (#value, #gradient) = #f(#(#arguments),*);
                (#entries, #run::Vec::from([#(#run::leaf(&#ours)),*]))
            });
        }
    }

    /// The check of a function that returns a derivative, or writes it.
    fn of_function(&self, d: &Descriptor) -> TokenStream {
        let Calls { program, names, check, at, here, moved, cotangent, .. } = self;
        let (f, by) = (self.path(d), format_ident!("{}", d.checked.by));
        let destinations = CheckDestinations::of(names);
        let (before, further) = match d.further {
            Further::Nothing => (quote!(), Vec::new()),
            Further::Cotangent => {
                let BoundPattern { pattern, taken } = names.value(true);
                let itself = &self.itself;
                let call = names.present(quote!(#itself(#(#here),*)));
                (quote!(let #pattern = #call; #taken), vec![cotangent.clone()])
            }
            Further::Directions(_) => (quote!(), names.tangents_at(at)),
            Further::Destinations => (destinations.before.clone(), {
                let krate = &program.krate;
                let own = program.workspace.then(|| quote!(&mut #krate::runtime::Workspace::new()));
                destinations.arguments.iter().cloned().chain(own).collect()
            }),
        };
        let arguments = if d.checked.elsewhere { moved } else { here };
        let arguments = arguments.iter().chain(&further);
        let given = match d.further {
            Further::Cotangent | Further::Directions(_) => quote!(|#at|),
            Further::Nothing if d.checked.elsewhere => quote!(|#at|),
            Further::Nothing | Further::Destinations => quote!(||),
        };
        let called = names.present(quote!(#f(#(#arguments),*)));
        let body = self.evaluated(d, (&before, &called, &destinations.taken));
        quote!(#check.#by(#given #body);)
    }

    /// The body of a closure: statements, a call, and what the check compares of its result.
    /// `written`: statements that read the destinations.
    fn evaluated(
        &self,
        d: &Descriptor,
        (before, called, written): (&TokenStream, &TokenStream, &TokenStream),
    ) -> TokenStream {
        let Calls { program, names, entries, leaves, .. } = self;
        let run = &names.run;
        let BoundPattern { pattern: gradient, taken: gradient_taken } = &self.gradient;
        let BoundPattern { pattern: value, taken: value_taken } = &self.value;
        match (d.returns, d.with_value) {
            (Structure::Jacobian, _) => {
                let (pattern, blocks) = names.blocks(&names.result);
                quote!({
                    #before
                    let (#value, #pattern) = #called;
                    #value_taken
                    (#entries, #run::Vec::from([#(#blocks),*]))
                })
            }
            (Structure::Gradient, true) => quote!({
                #before
                let (#value, #gradient) = #called;
                #value_taken
                #gradient_taken
                (#entries, #leaves)
            }),
            (Structure::Gradient, false) => quote!({
                #before
                let #gradient = #called;
                #gradient_taken
                #leaves
            }),
            (Structure::Result, true) => {
                let tangent = names.results("back");
                let (BoundPattern { pattern, taken }, of_tangent) =
                    (bound_result(&tangent, false, &Apart::of(program)), names.entries(&tangent));
                quote!({
                    #before
                    let (#value, #pattern) = #called;
                    #value_taken
                    #taken
                    (#entries, #of_tangent)
                })
            }
            (Structure::Hessian, _) => {
                let rows = &program.declared[program.wrt[0]].parts.tree();
                let rows = rows.map(&mut |&k| {
                    let param = &program.params[k];
                    (own("row", k), param.container, param.is_active())
                });
                let (pattern, blocks) = names.blocks(&rows);
                match rows {
                    Tree::Leaf(_) => quote!(#run::leaf(&#called)),
                    _ => quote!({
                        let #pattern = #called;
                        #run::columns(#run::Vec::from([#(#blocks),*]))
                    }),
                }
            }
            (Structure::Result, false) => quote!(#run::leaf(&#called)),
            (Structure::Written | Structure::Closure | Structure::Examples, _) => {
                quote!({
                    #before
                    let #value = #called;
                    #written
                    (#entries, #leaves)
                })
            }
            (Structure::Sparse, _) => {
                let back = own("back", 0);
                quote!({
                    #before
                    let (#value, #back) = #called;
                    (#entries, #run::Vec::from([#run::leaf(&#back.to_dense())]))
                })
            }
        }
    }
}

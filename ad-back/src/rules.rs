//! Functions with rules of their own. The expansion writes a *bridge* next to the definition of
//! such a function. It makes the arguments from a record, calls the function or its rule, and makes
//! a record of the results. A routine that calls the function reaches the bridge by the number of
//! the definition, from any module or crate.
//!
//! This module must never know what a function computes.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use ad_ir::program::{Container, Declared, Param, ParamTree, Program, Role, Tree};
use ad_ir::rust_types::{
    Apart, Passed, argument_type, elem_type, made, owned_type, owned_value, real_param, tuple, type_of,
};

use super::check::structures::{BoundLeaf, BoundPattern, LeafPosition, value_of};
use super::check::{Written, own, passed, referred, tuple_of};

/// A number or array in a record.
#[derive(Clone)]
struct Leaf {
    container: Container,
    elem: TokenStream,
    rank: usize,
    lens: Vec<TokenStream>,
    is_real: bool,
    /// Its sizes, where they can be read.
    sizes: Vec<TokenStream>,
}

/// The bridge of a function, and the types that its rules have to have.
///
/// A record of arguments has a word for each number or array of the parameters, and then the sizes
/// of the arrays. A record of the function has a word for each number or array of the result, the
/// number of calls after it, the sizes that the result's type does not have, and the record of its
/// arguments. A record of cotangents or tangents has a word for each number or array, whether it is
/// real or not.
struct Bridge<'p> {
    program: &'p Program,
    params: Vec<Leaf>,
    results: Tree<Leaf>,
    /// The word of the record of the arguments in a record of the function.
    given: usize,
}

/// The items beside a function with rules: its bridge. `vjp` and `jvp` are the paths of the rules.
#[must_use]
pub fn beside_rule(program: &Program, id: u128, vjp: Option<&TokenStream>, jvp: Option<&TokenStream>) -> TokenStream {
    let Program { krate, cfgs, .. } = program;
    let bridge = Bridge::of(program);
    let (at, real) = (Literal::u128_unsuffixed(id), real_param(program));
    let run = quote!(#krate::runtime);
    let value = bridge.value();
    let checked = [
        vjp.map(|rule| bridge.wanted(rule, &[bridge.cotangent_type()], &bridge.gradient_type())),
        jvp.map(|rule| bridge.wanted(rule, &bridge.tangent_types(), &program.result_ty)),
    ];
    let reverse = vjp.map(|rule| {
        let body = bridge.reverse(rule);
        quote! {
            impl #run::Reverse<Place> for #run::At<#at> {
                fn reverse<#real: #krate::Real>(calls_: &#run::Calls, record_: usize, cotangents_: usize) -> usize {
                    #body
                }
            }
        }
    });
    let tangent = jvp.map(|rule| {
        let body = bridge.tangent(rule);
        quote! {
            impl #run::Tangent<Place> for #run::At<#at> {
                fn tangent<#real: #krate::Real>(calls_: &#run::Calls, record_: usize, tangents_: usize) -> usize {
                    #body
                }
            }
        }
    });
    let [vjp, jvp] = checked;
    quote! {
        #cfgs
        #[allow(
            dead_code,
            unused_variables,
            clippy::all,
            clippy::pedantic,
            reason = "derivatives may need no part of the bridge"
        )]
        const _: () = {
            #[doc(hidden)]
            pub struct Place;
            #vjp
            #jvp
            impl #run::Ruled<Place> for #run::At<#at> {
                fn value<#real: #krate::Real>(calls_: &#run::Calls, given_: usize, after_: usize) -> usize {
                    #value
                }
            }
            #reverse
            #tangent
        };
    }
}

impl<'p> Bridge<'p> {
    fn of(program: &'p Program) -> Self {
        let real = real_param(program);
        let mut next = program.params.len();
        let size = |record: &TokenStream, k: &mut usize| {
            let at = Literal::usize_unsuffixed(*k);
            *k += 1;
            quote!(calls_.read::<usize>(#record, #at))
        };
        let params = program.params.iter().map(|param| Leaf {
            container: param.container,
            elem: elem_type(param.elem, &real),
            rank: usize::from(param.rank),
            lens: param.lens.clone(),
            is_real: param.is_active(),
            sizes: (0..param.rank).map(|_| size(&quote!(given_), &mut next)).collect(),
        });
        let params = params.collect();
        let g = &program.graph;
        let mut given = program.result.leaves().len() + 1;
        let results = program.result.map(&mut |out| {
            let rank = g.rank(out.term);
            let mut leaf = Leaf {
                container: out.container,
                elem: elem_type(g.elem(out.term), &real),
                rank,
                lens: out.lens.clone(),
                is_real: g.elem(out.term).is_real(),
                sizes: Vec::new(),
            };
            leaf.sizes = (0..rank)
                .map(|axis| match leaf.static_size(axis) {
                    Some(len) if is_number(len) => len.clone(),
                    _ => size(&quote!(record_), &mut given),
                })
                .collect();
            leaf
        });
        Bridge { program, params, results, given }
    }

    /// Calls the function, and makes its record.
    fn value(&self) -> TokenStream {
        let Program { name, turbofish, krate, .. } = self.program;
        let (arguments, arguments_given) = self.arguments();
        let (BoundPattern { pattern, taken }, leaves) = self.bound_result(true);
        let mut words = Vec::new();
        let mut sizes = Vec::new();
        for (leaf, name) in &leaves {
            words.push(leaf.word(name, krate));
            for axis in 0..leaf.rank {
                let len = leaf.static_size(axis);
                if !len.is_some_and(is_number) {
                    let len = len.cloned().unwrap_or_else(|| leaf.size_of(name, axis));
                    sizes.push(quote!(#krate::runtime::Word::to_word(#len)));
                }
            }
        }
        quote! {
            #arguments
            let #pattern = #name #turbofish (#(#arguments_given),*);
            #taken
            calls_.results().record([
                #(#words,)*
                #krate::runtime::Word::to_word(after_),
                #(#sizes,)*
                #krate::runtime::Word::to_word(given_)
            ])
        }
    }

    /// Calls the rule for reverse mode, and makes a record of the gradient.
    fn reverse(&self, rule: &TokenStream) -> TokenStream {
        let program = self.program;
        let krate = &program.krate;
        let (arguments, arguments_given) = self.arguments();
        let given = Literal::usize_unsuffixed(self.given);
        let mut cotangents = TokenStream::new();
        for (k, leaf) in self.results.leaves().into_iter().enumerate() {
            let (name, record) =
                (own("cotangent", k), if leaf.is_real { quote!(cotangents_) } else { quote!(record_) });
            let value = leaf.read(&record, k, krate);
            cotangents.extend(quote!(let #name = #value;));
        }
        let mut k = 0..;
        let cotangent = value_of(krate, &self.results, &mut |leaf, inside| {
            let name = own("cotangent", k.next().unwrap_or(0));
            match inside {
                LeafPosition::Nothing => passed(leaf.container, &quote!(#name)),
                _ => quote!(#name),
            }
        });
        let bound = |&k: &usize| {
            let tree = program.declared[k].parts.tree();
            let named = |k: usize| {
                let Param { container, role, .. } = program.params[k];
                let name = program.active.contains(&k).then(|| (own("part", k), container));
                BoundLeaf { name, is_tag: role == Role::Tag }
            };
            BoundPattern::of(&tree.map(&mut |&k| named(k)), &Apart::of(program))
        };
        let all: Vec<BoundPattern> = program.wrt.iter().map(bound).collect();
        let pattern = tuple_of(&all.iter().map(|bound| bound.pattern.clone()).collect::<Vec<_>>());
        let taken = all.iter().map(|bound| &bound.taken);
        let mut checks = TokenStream::new();
        let words = self.params.iter().enumerate().map(|(k, leaf)| {
            if !program.active.contains(&k) {
                return quote!(0);
            }
            let name = own("part", k);
            checks.extend(leaf.require_shape(&name, (rule, &program.params[k].label), krate));
            leaf.word(&name, krate)
        });
        let words: Vec<TokenStream> = words.collect();
        quote! {
            let given_ = calls_.read::<usize>(record_, #given);
            #arguments
            #cotangents
            let (_, #pattern) = #rule(#(#arguments_given,)* #cotangent);
            #(#taken)*
            #checks
            calls_.results().record([#(#words),*])
        }
    }

    /// Calls the rule for forward mode, and makes a record of the tangents of the results.
    fn tangent(&self, rule: &TokenStream) -> TokenStream {
        let program = self.program;
        let krate = &program.krate;
        let (arguments, arguments_given) = self.arguments();
        let given = Literal::usize_unsuffixed(self.given);
        let mut tangents = TokenStream::new();
        for (k, leaf) in self.params.iter().enumerate() {
            let (name, own) = (own("tangent", k), own("leaf", k));
            let value = if program.active.contains(&k) {
                leaf.read_tangent(k, krate)
            } else {
                quote!(::core::clone::Clone::clone(&#own))
            };
            tangents.extend(quote!(let #name = #value;));
        }
        let along = program.wrt.iter().map(|&k| {
            value_of(krate, &program.declared[k].parts.tree(), &mut |&k, inside| {
                let name = own("tangent", k);
                match inside {
                    LeafPosition::Nothing => passed(program.params[k].container, &quote!(#name)),
                    _ => quote!(#name),
                }
            })
        });
        let along: Vec<TokenStream> = along.collect();
        let (BoundPattern { pattern, taken }, leaves) = self.bound_result(false);
        let mut checks = TokenStream::new();
        let words = leaves.iter().map(|(leaf, name)| {
            if !leaf.is_real {
                return quote!(0);
            }
            checks.extend(leaf.require_shape(name, (rule, "the result"), krate));
            leaf.word(name, krate)
        });
        let words: Vec<TokenStream> = words.collect();
        quote! {
            let given_ = calls_.read::<usize>(record_, #given);
            #arguments
            #tangents
            let (_, #pattern) = #rule(#(#arguments_given,)* #(#along),*);
            #taken
            #checks
            calls_.results().record([#(#words),*])
        }
    }

    /// The statements that read the numbers and arrays of the arguments, and the arguments.
    fn arguments(&self) -> (TokenStream, Vec<TokenStream>) {
        let Program { krate, declared, params, .. } = self.program;
        let mut read = TokenStream::new();
        for (k, leaf) in self.params.iter().enumerate() {
            let (name, value) = (own("leaf", k), leaf.read(&quote!(given_), k, krate));
            read.extend(quote!(let #name = #value;));
        }
        let run = quote!(#krate::runtime::check);
        (read, declared.iter().map(|Declared { parts, .. }| argument(krate, parts, params, &run)).collect())
    }

    /// The pattern of a result, and its numbers and arrays with their names. `discrete`: with names
    /// for parts that are not real.
    fn bound_result(&self, discrete: bool) -> (BoundPattern, Vec<(&Leaf, Ident)>) {
        let mut k = 0..;
        let names = self.results.map(&mut |leaf| {
            let name = own("value", k.next().unwrap_or(0));
            BoundLeaf { name: (leaf.is_real || discrete).then_some((name, leaf.container)), is_tag: false }
        });
        let leaves = self.results.leaves().into_iter().enumerate().map(|(k, leaf)| (leaf, own("value", k)));
        (BoundPattern::of(&names, &Apart::of(self.program)), leaves.collect())
    }

    /// An item for which a rule has to have the right type.
    fn wanted(&self, rule: &TokenStream, further: &[TokenStream], derivative: &TokenStream) -> TokenStream {
        let Program { declared, result_ty, generics, where_clause, .. } = self.program;
        let types = declared.iter().map(|p| &p.ty);
        quote! {
            const _: () = {
                fn wanted_ #generics () #where_clause {
                    let _: fn(#(#types,)* #(#further),*) -> (#result_ty, #derivative) = #rule;
                }
            };
        }
    }

    fn cotangent_type(&self) -> TokenStream {
        let program = self.program;
        let g = &program.graph;
        type_of(&program.krate, &program.result, Passed::Borrowed, &mut |out, _| {
            argument_type(program, out.container, g.elem(out.term), g.rank(out.term), &out.lens)
        })
    }

    fn types_of_params(&self, how: Passed, ty: fn(&Program, &Param) -> TokenStream) -> Vec<TokenStream> {
        let program = self.program;
        let one = |&k: &usize| {
            type_of(&program.krate, &program.declared[k].parts.tree(), how, &mut |&leaf, _| {
                ty(program, &program.params[leaf])
            })
        };
        program.wrt.iter().map(one).collect()
    }

    fn tangent_types(&self) -> Vec<TokenStream> {
        self.types_of_params(Passed::Borrowed, |program, p| {
            argument_type(program, p.container, p.elem, usize::from(p.rank), &p.lens)
        })
    }

    fn gradient_type(&self) -> TokenStream {
        tuple_of(&self.types_of_params(Passed::Owned, |program, p| {
            owned_type(program, p.container, p.elem, usize::from(p.rank), &p.lens)
        }))
    }
}

impl Leaf {
    /// The size of an axis, if the type has it.
    fn static_size(&self, axis: usize) -> Option<&TokenStream> {
        let dynamic = usize::from(self.container == Container::Slice);
        self.lens.get(axis.checked_sub(dynamic)?)
    }

    /// The size of an axis of a value.
    fn size_of(&self, name: &Ident, axis: usize) -> TokenStream {
        match self.container {
            Container::NdArray => {
                let axis = Literal::usize_unsuffixed(axis);
                quote!(#name.shape()[#axis])
            }
            _ => quote!(#name.len()),
        }
    }

    /// The value, read from a record.
    fn read(&self, record: &TokenStream, k: usize, krate: &TokenStream) -> TokenStream {
        let (elem, at) = (&self.elem, Literal::usize_unsuffixed(k));
        if self.rank == 0 {
            return self.number(&quote!(calls_.read::<#elem>(#record, #at)), krate);
        }
        self.assembled(&quote!(calls_.owned::<#elem>(#record, #at)), krate)
    }

    /// The tangent, read from a record.
    fn read_tangent(&self, k: usize, krate: &TokenStream) -> TokenStream {
        let (elem, at, sizes) = (&self.elem, Literal::usize_unsuffixed(k), &self.sizes);
        if self.rank == 0 {
            return self.number(&quote!(calls_.read::<#elem>(tangents_, #at)), krate);
        }
        self.assembled(&quote!(calls_.owned_or_zeros::<#elem>(tangents_, #at, 1 #(* #sizes)*)), krate)
    }

    fn number(&self, value: &TokenStream, krate: &TokenStream) -> TokenStream {
        if self.container == Container::NdArray { quote!(#krate::ndarray::arr0(#value)) } else { value.clone() }
    }

    /// The value, given a `Vec` of its elements.
    fn assembled(&self, elements: &TokenStream, krate: &TokenStream) -> TokenStream {
        let (lens, elem) = (&self.lens, &self.elem);
        match self.container {
            Container::NdArray => {
                let sizes = &self.sizes;
                quote!(#krate::runtime::kernel::assemble([#(#sizes),*], #elements))
            }
            Container::Slice => {
                let steps = lens.iter().rev().map(|len| quote!(.as_chunks::<{ #len }>().0));
                if lens.is_empty() { elements.clone() } else { quote!(#elements #(#steps)* .to_vec()) }
            }
            _ => {
                let next = quote!(elements_.next().unwrap_or_default());
                let all = lens
                    .iter()
                    .rev()
                    .fold(next, |inner, len| quote!(::core::array::from_fn::<_, { #len }, _>(|_| #inner)));
                quote!({
                    let mut elements_ = ::core::iter::IntoIterator::into_iter(#elements);
                    let elements_: &mut dyn ::core::iter::Iterator<Item = #elem> = &mut elements_;
                    #all
                })
            }
        }
    }

    /// The word of a value in a record.
    fn word(&self, name: &Ident, krate: &TokenStream) -> TokenStream {
        let elem = &self.elem;
        if self.rank == 0 {
            let value = if self.container == Container::NdArray { quote!(#name[()]) } else { quote!(#name) };
            return quote!(<#elem as #krate::runtime::Word>::to_word(#value));
        }
        let flat = |times: usize| {
            let times = (0..times).map(|_| quote!(.as_flattened()));
            quote!(#name[..] #(#times)*)
        };
        let elements = match self.container {
            Container::NdArray => quote!(#name.iter().copied().collect::<#krate::runtime::alloc::vec::Vec<#elem>>()),
            Container::Slice => flat(self.lens.len()),
            _ => flat(self.lens.len() - 1),
        };
        quote!(calls_.results().keep::<#elem>(&#elements))
    }

    /// A statement that panics if a derivative has another shape than the value.
    fn require_shape(&self, name: &Ident, (rule, of): (&TokenStream, &str), krate: &TokenStream) -> TokenStream {
        let rule = rule.to_string().replace(' ', "");
        let found = match self.container {
            Container::NdArray => quote!(#name.shape()),
            Container::Slice => quote!(&[#name.len()]),
            _ => return TokenStream::new(),
        };
        let sizes = if self.container == Container::Slice { &self.sizes[..1] } else { &self.sizes };
        quote!(#krate::runtime::require_shape(#rule, #of, #found, &[#(#sizes),*]);)
    }
}

/// Whether tokens are a number, which the calls know.
fn is_number(len: &TokenStream) -> bool {
    len.to_string().trim_end_matches("usize").parse::<usize>().is_ok()
}

/// An argument, made of its numbers and arrays.
fn argument(krate: &TokenStream, parts: &ParamTree, params: &[Param], run: &TokenStream) -> TokenStream {
    match parts {
        ParamTree::Leaf(k) => {
            let name = own("leaf", *k);
            Written(params[*k].passing).as_argument(&quote!(#name), run)
        }
        ParamTree::Tuple { references, is_static, parts } => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| argument(krate, part, params, run)).collect();
            referred((*references, *is_static), tuple(&parts), run)
        }
        ParamTree::Defined { references, is_static, of, inner } => {
            let leaves = inner.tree().map(&mut |&k| {
                let name = own("leaf", k);
                quote!(#name)
            });
            referred((*references, *is_static), made(of, &owned_value(krate, &leaves)), run)
        }
        // No function with a rule has a list as a parameter.
        ParamTree::List { .. } | ParamTree::Ragged(..) => TokenStream::new(),
    }
}

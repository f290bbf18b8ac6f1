//! The function around the body of a nest: its parameters, its results, and whether it is generic
//! over the real type or dispatched on the instruction set. This module does not change the body.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::kernel::{Op, Scalar};
use super::super::notes::{NestSummary, PartSummary};
use super::state::{Arg, Nest, NestFunction, NestRange};
use ad_ir::ir::{Elem, Term};

impl Nest<'_, '_> {
    /// The function with this body, which returns these values of these scalars.
    pub(super) fn finished(
        mut self,
        (name, doc): (&Ident, &str),
        body: &TokenStream,
        (returns, return_values): (Vec<Term>, &[TokenStream]),
        begun: Vec<Term>,
    ) -> NestFunction {
        let named = self.named.take();
        let summary = NestSummary {
            loops: self.depth,
            dispatched: self.isa && !self.inlined && !self.within,
            part_of_loop: self.inlined || self.within,
            part: match self.part {
                NestRange::Whole => PartSummary::Whole,
                NestRange::Prefix(_) => PartSummary::Prefix,
                NestRange::Ragged(_) => PartSummary::Ragged,
                NestRange::Interior(_) => PartSummary::Interior,
                NestRange::Ends(_) => PartSummary::Ends,
            },
            extremum: self.extremum.is_some(),
            shortened: self.shortened.is_some(),
            tiled: self.in_block,
            outer_rows: self.outer_rows.len(),
            rows_under_test: self.tested.len(),
            exact: self.exact_operations(),
            ..std::mem::take(&mut self.summary)
        };
        self.args.retain(|arg| !matches!(arg, Arg::Scalar(t) if !named.contains(t)));
        let length = &self.length;
        let params = self.args.iter().map(|arg| {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg else { return quote!(#length: usize) };
            let (name, ty) = (&self.arg_names[t], self.style.ty(self.g.elem(*t)));
            match arg {
                Arg::Out(_) => quote!(#name: &mut [#ty]),
                Arg::Buffer(_) => quote!(#name: &[#ty]),
                _ => quote!(#name: #ty),
            }
        });
        let types: Vec<TokenStream> = returns.iter().map(|t| self.style.ty(self.g.elem(*t))).collect();
        let (result, value) = match (&*types, return_values) {
            ([], _) => (quote!(), quote!()),
            ([ty], [value]) => (quote!(-> #ty), quote!(#value)),
            _ => (quote!(-> (#(#types),*)), quote!((#(#return_values),*))),
        };
        let (krate, param) = (&self.style.krate, &self.style.param);
        let inferred = self.args.iter().any(|a| self.of_parameter(a));
        let generic = self.generic();
        let part = self.inlined || self.within;
        let turbofish = match (part, generic) {
            (true, generic) => {
                let (isa, of) = (&self.isa_name, generic.then_some(param).into_iter());
                quote!(::<#isa #(, #of)*>)
            }
            (false, true) if !inferred => quote!(::<#param>),
            (false, _) => quote!(),
        };
        let bound = generic.then(|| quote!(#param: #krate::runtime::Real));
        let item = if part {
            let (isa, trait_, again) = (&self.isa_name, self.style.kernel("Isa"), bound.iter());
            quote! {
                #[doc = #doc]
                #[inline(always)]
                fn #name<#isa: #trait_ #(, #again)*>(#(#params),*) #result {
                    #body
                    #value
                }
            }
        } else if self.isa {
            let (isa, trait_) = (&self.isa_name, self.style.kernel("Isa"));
            let out = if types.is_empty() { quote!(()) } else { quote!((#(#types),*)) };
            let out = if let [one] = &*types { one.clone() } else { out };
            let borrowed = self.args.iter().map(|arg| {
                let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg else { return quote!(#length: usize) };
                let (name, ty) = (&self.arg_names[t], self.style.ty(self.g.elem(*t)));
                match arg {
                    Arg::Out(_) => quote!(#name: &'a mut [#ty]),
                    Arg::Buffer(_) => quote!(#name: &'a [#ty]),
                    _ => quote!(#name: #ty),
                }
            });
            let (params, again): (Vec<TokenStream>, Vec<Option<TokenStream>>) =
                (params.collect(), vec![bound.clone(); usize::from(bound.is_some())]);
            let end = types.is_empty().then(|| quote!(;));
            let of = bound.is_some().then_some(param);
            let generics = bound.map(|b| quote!(<#b>));
            quote! {
                #[doc = #doc]
                fn #name #generics (#(#params),*) #result {
                    #[inline(always)]
                    fn loops<#isa: #trait_ #(, #again)*>(#(#params),*) #result {
                        #body
                        #value
                    }
                    #krate::runtime::dispatched!('a, #of; loops(#(#borrowed),*) -> #out) #end
                }
            }
        } else {
            let generics = bound.map(|b| quote!(<#b>));
            quote! {
                #[doc = #doc]
                fn #name #generics (#(#params),*) #result {
                    #body
                    #value
                }
            }
        };
        NestFunction { item, args: self.args, returns, turbofish, begun, summary, generic }
    }

    /// The number of operations on reals that a decision depends on.
    fn exact_operations(&self) -> usize {
        let exact = |(id, n): &(usize, &Scalar)| {
            self.uses[*id] > 0 && n.exact && n.elem.is_real() && matches!(n.op, Op::Prim(..))
        };
        self.k.nodes.iter().enumerate().filter(exact).count()
    }

    /// Whether the nest computes with reals of the type parameter.
    fn generic(&self) -> bool {
        let param = Elem::Real(ad_ir::ir::RealTy::Param);
        self.args.iter().any(|a| self.of_parameter(a)) || self.k.nodes.iter().any(|n| n.elem == param)
    }

    fn of_parameter(&self, arg: &Arg) -> bool {
        let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg else { return false };
        self.g.elem(*t) == Elem::Real(ad_ir::ir::RealTy::Param)
    }
}

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
        let summary = self.finished_summary();
        self.args.retain(|arg| !matches!(arg, Arg::Scalar(t) if !named.contains(t)));
        let types: Vec<TokenStream> = returns.iter().map(|t| self.style.ty(self.g.elem(*t))).collect();
        let (result, value) = match (&*types, return_values) {
            ([], _) => (quote!(), quote!()),
            ([ty], [value]) => (quote!(-> #ty), quote!(#value)),
            _ => (quote!(-> (#(#types),*)), quote!((#(#return_values),*))),
        };
        let generic = self.generic();
        let code = quote!(#body #value);
        let item = if self.inlined || self.within {
            self.inlined_item((name, doc), generic, &code, &result)
        } else if self.isa {
            self.dispatched_item((name, doc), generic, &code, (&result, &types))
        } else {
            let (params, bound) = (self.params(None), self.bound(generic).map(|b| quote!(<#b>)));
            quote! {
                #[doc = #doc]
                fn #name #bound (#(#params),*) #result { #code }
            }
        };
        let turbofish = self.turbofish(generic);
        NestFunction { item, args: self.args, returns, turbofish, begun, summary, generic }
    }

    /// What a page shows of the nest.
    fn finished_summary(&mut self) -> NestSummary {
        NestSummary {
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
        }
    }

    /// The parameters, with this lifetime.
    fn params(&self, lifetime: Option<&TokenStream>) -> Vec<TokenStream> {
        let length = &self.length;
        let param = |arg: &Arg| {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg else { return quote!(#length: usize) };
            let (name, ty) = (&self.arg_names[t], self.style.ty(self.g.elem(*t)));
            match arg {
                Arg::Out(_) => quote!(#name: &#lifetime mut [#ty]),
                Arg::Buffer(_) => quote!(#name: &#lifetime [#ty]),
                _ => quote!(#name: #ty),
            }
        };
        self.args.iter().map(param).collect()
    }

    /// The parameter for the real type with its bound, if the function is generic over it.
    fn bound(&self, generic: bool) -> Option<TokenStream> {
        let (krate, param) = (&self.style.krate, &self.style.param);
        generic.then(|| quote!(#param: #krate::runtime::Real))
    }

    /// The type arguments of a call.
    fn turbofish(&self, generic: bool) -> TokenStream {
        let (isa, param) = (&self.isa_name, &self.style.param);
        let inferred = self.args.iter().any(|a| self.of_parameter(a));
        if self.inlined || self.within {
            let of = generic.then_some(param).into_iter();
            quote!(::<#isa #(, #of)*>)
        } else if generic && !inferred {
            quote!(::<#param>)
        } else {
            quote!()
        }
    }

    /// The function as a part of another one, which is dispatched.
    fn inlined_item(
        &self,
        (name, doc): (&Ident, &str),
        generic: bool,
        code: &TokenStream,
        result: &TokenStream,
    ) -> TokenStream {
        let (isa, trait_, bound) = (&self.isa_name, self.style.kernel("Isa"), self.bound(generic).into_iter());
        let params = self.params(None);
        quote! {
            #[doc = #doc]
            #[inline(always)]
            fn #name<#isa: #trait_ #(, #bound)*>(#(#params),*) #result { #code }
        }
    }

    /// The function with the loops in an inner one, which is dispatched on the instruction set.
    fn dispatched_item(
        &self,
        (name, doc): (&Ident, &str),
        generic: bool,
        code: &TokenStream,
        (result, types): (&TokenStream, &[TokenStream]),
    ) -> TokenStream {
        let (krate, isa, trait_) = (&self.style.krate, &self.isa_name, self.style.kernel("Isa"));
        let out = match types {
            [] => quote!(()),
            [one] => one.clone(),
            types => quote!((#(#types),*)),
        };
        let (params, borrowed) = (self.params(None), self.params(Some(&quote!('a))));
        let end = types.is_empty().then(|| quote!(;));
        let of = generic.then_some(&self.style.param);
        let bound = self.bound(generic);
        let (generics, more) = (bound.as_ref().map(|b| quote!(<#b>)), bound.iter());
        quote! {
            #[doc = #doc]
            fn #name #generics (#(#params),*) #result {
                #[inline(always)]
                fn loops<#isa: #trait_ #(, #more)*>(#(#params),*) #result { #code }
                #krate::runtime::dispatched!('a, #of; loops(#(#borrowed),*) -> #out) #end
            }
        }
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

//! Calls of products on strided arrays. Which contraction is such a call is decided in
//! `ad_middle::passes::lowering::strided`, and never here.

use proc_macro2::TokenStream;
use quote::quote;

use super::super::plan::Guard;
use super::super::rust::Expr;
use super::memory::Storage;
use super::state::Driver;
use ad_ir::ir::Term;
use ad_middle::passes::lowering::strided::{Distance, Group, StridedOperand, strided};

impl Driver<'_> {
    /// A contraction as a batch of matrix products.
    pub(super) fn strided(&mut self, t: Term, guard: &[Guard]) -> Result<(), String> {
        let Some(p) = strided(self.g, t, self.plan.exact.contains(&t)) else {
            return Err("a contraction that is not a matrix product".into());
        };
        let mut names = Vec::new();
        let code = self.allocate(t, &mut names, false);
        let out = self.out(t);
        let (a, b) = (self.operand_at(&p.a, &mut names), self.operand_at(&p.b, &mut names));
        let batch: Vec<TokenStream> = p.batch.iter().map(|x| self.group(x, &[0, 1, 2], &mut names)).collect();
        let rows = self.group(&p.rows, &[0, 1], &mut names);
        let summed = self.group(&p.summed, &[1, 2], &mut names);
        let columns = self.group(&p.columns, &[0, 2], &mut names);
        let indices = self.kernel("Indices");
        let at = quote!(#indices { batch: [#(#batch),*], rows: #rows, summed: #summed, columns: #columns });
        let on_stack = matches!(self.memory.hold.get(&t), Some(Storage::Stack(_)));
        let [first, second] = p.absorbs;
        let (name, absorbs) = match (on_stack, first || second) {
            _ if p.is_limited() => ("products_within", quote!(, [#first, #second], #on_stack)),
            (true, _) => ("products_off_heap", quote!(, [#first, #second])),
            (false, true) => ("absorbing_products", quote!(, [#first, #second])),
            (false, false) => ("products", quote!()),
        };
        let kernel = self.kernel(name);
        self.plain(guard, quote!(#code #kernel(#out, #a, #b, #at #absorbs);), vec![t], names);
        Ok(())
    }

    fn operand_at(&self, part: &StridedOperand, names: &mut Vec<Term>) -> TokenStream {
        let array = self.borrow(part.array, names);
        let starts: Vec<TokenStream> = part
            .begins(self.g)
            .iter()
            .map(|(start, stride)| {
                let (start, stride) = (self.argument(*start, names), self.stride(stride, names));
                quote!([#start, #stride])
            })
            .collect();
        quote!((#array, &[#(#starts),*]))
    }

    /// The size of a group and its strides in these arrays.
    fn group(&self, group: &Group, arrays: &[usize], names: &mut Vec<Term>) -> TokenStream {
        let mut size = self.product(&group.size, names).tokens;
        for &limit in &group.limits {
            let limit = self.argument(limit, names);
            size = quote!(::core::cmp::min(#size, #limit));
        }
        let strides = arrays.iter().map(|&k| match &group.strides[k] {
            Some(stride) => self.stride(stride, names),
            None => quote!(0),
        });
        let strides: Vec<TokenStream> = strides.collect();
        quote!([#size, #(#strides),*])
    }

    fn stride(&self, stride: &Distance, names: &mut Vec<Term>) -> TokenStream {
        let sizes = self.product(&stride.sizes, names);
        if stride.step == 1 {
            return sizes.tokens;
        }
        let step = proc_macro2::Literal::usize_unsuffixed(stride.step);
        Expr::atom(quote!(#step)).times(&sizes).tokens
    }
}

//! Calls of the kernel that reads windows in place. This module must never decide which
//! contractions call it.

use proc_macro2::{Literal as Number, TokenStream};
use quote::quote;

use super::super::code::Code;
use super::super::plan::Guard;
use super::super::store::is_broadcast;
use super::state::Driver;
use ad_ir::analysis::range::Linear;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::Term;
use ad_middle::passes::lowering::im2col::{Added, ImplicitIm2col, WindowAxis};

impl Driver<'_> {
    /// Writes the call for a contraction of windows, or for a scatter of one.
    pub(super) fn windows(&mut self, t: Term, w: &ImplicitIm2col, guard: &[Guard], k: usize) {
        let mut names = Vec::new();
        let (mut code, accumulate, effect) = match w.added {
            None => (self.allocate(t, &mut names, false), false, false),
            Some(Added { dst, .. }) => match self.plan.in_place.get(&t).copied() {
                Some(now) => {
                    self.same_memory(t, now);
                    (Code::default(), true, true)
                }
                None => (self.added_onto(t, dst, k, &mut names), !is_zero(self, dst), false),
            },
        };
        let out = self.out(t);
        let [a, b] = [0, 1].map(|o| self.borrow(w.operands[o].array, &mut names));
        let labels: Vec<TokenStream> = w.labels.iter().map(|&n| self.argument(n, &mut names)).collect();
        let [out_axes, a_axes, b_axes] = [&w.out, &w.operands[0].axes, &w.operands[1].axes]
            .map(|axes| axes.iter().map(|a| self.axis(a, &mut names)).collect::<Vec<TokenStream>>());
        let (kernel, accumulate) = if w.in_order {
            let start = self.initial_value(t);
            (self.kernel("windows_in_order"), quote!(, #start))
        } else if w.absorbs != [false; 2] {
            let [a, b] = w.absorbs;
            (self.kernel("absorbing_windows"), quote!(, #accumulate, [#a, #b]))
        } else {
            (self.kernel("windows"), quote!(, #accumulate))
        };
        code.push(quote! {
            #kernel(
                (#out, &[#(#out_axes),*]),
                (#a, &[#(#a_axes),*]),
                (#b, &[#(#b_axes),*]),
                [#(#labels),*]
                #accumulate
            );
        });
        let before = self.statements.len();
        self.plain(guard, code, vec![t], names);
        if let Some(s) = self.statements.get_mut(before) {
            s.effect |= effect;
        }
    }

    /// Size, start and steps of an axis.
    fn axis(&self, axis: &WindowAxis, names: &mut Vec<Term>) -> TokenStream {
        let size = self.argument(axis.size, names);
        let start = self.start_of(&axis.start, names);
        let steps = axis.steps.iter().map(|&s| number(s));
        quote!((#size, #start, [#(#steps),*]))
    }

    fn start_of(&self, start: &Linear, names: &mut Vec<Term>) -> TokenStream {
        let mut sum = number(start.constant);
        for (&t, &c) in &start.atoms {
            let (n, c) = (self.argument(t, names), number(c));
            sum = quote!(((#n) as isize).wrapping_mul(#c).wrapping_add(#sum));
        }
        sum
    }
}

fn number(n: i128) -> TokenStream {
    let digits = Number::u128_unsuffixed(n.unsigned_abs());
    if n < 0 { quote!(-#digits) } else { quote!(#digits) }
}

fn is_zero(driver: &Driver<'_>, t: Term) -> bool {
    is_broadcast(driver.g, t) && is_zero_of_either_sign(driver.g, t)
}

//! Statements of calls, and of results that are read from records. This module does not decide what
//! a function keeps.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::block::Spell;
use super::super::block::Statement;
use super::super::calls::{is_call, name_of_callee};
use super::super::code::Code;
use super::super::plan::{Guard, Work};
use super::state::Driver;
use ad_ir::ir::Term;
use ad_ir::prim::structural::Callee;

impl Driver<'_> {
    /// The statement of a call.
    pub(super) fn call_of(&mut self, t: Term, callee: &Callee, args: &[Term], guard: &[Guard]) {
        let mut names = Vec::new();
        let call = self.called(callee, &args[1..], &TokenStream::new(), &mut names);
        let name = self.name(t);
        let value = match self.g.bool_value(args[0]) {
            Some(true) => call,
            _ => {
                let (reached, zero) = (self.argument(args[0], &mut names), self.style.zero(self.g.elem(t)));
                quote!(if #reached { #call } else { #zero })
            }
        };
        self.plain(guard, quote!(let #name = #value;), vec![t], names);
    }

    fn called(&self, callee: &Callee, args: &[Term], onto: &TokenStream, names: &mut Vec<Term>) -> TokenStream {
        let g = self.g;
        let passed: Vec<TokenStream> = args
            .iter()
            .map(|&c| if g.rank(c) == 0 { self.argument(c, names) } else { self.borrow(c, names) })
            .collect();
        let function = name_of_callee(callee);
        let turbofish = match callee.rule {
            Some(_) => Some(&self.program.turbofish),
            None => self.program.turbofishes.get(callee.function as usize),
        };
        quote!(#function #turbofish (calls_, #(#passed,)* #onto))
    }

    /// The statement of a call that adds to an array.
    pub(super) fn call_onto(&mut self, t: Term, callee: &Callee, args: &[Term], guard: &[Guard], k: usize) {
        let Some((&dst, args)) = args.split_last() else { return };
        let mut names = Vec::new();
        let in_place = self.plan.in_place.get(&t).copied();
        let mut code = match in_place {
            Some(now) => {
                self.same_memory(t, now);
                Code::default()
            }
            None => self.added_onto(t, dst, k, &mut names),
        };
        let out = self.out(t);
        let call = self.called(callee, &args[1..], &out, &mut names);
        let call = Code::from(quote!(#call;));
        code.push(match self.g.bool_value(args[0]) {
            Some(true) => call,
            _ => {
                self.argument(args[0], &mut names);
                Code::of_if(self.condition(args[0]), call, &Code::default())
            }
        });
        let (guard, effect) = (guard.to_vec(), in_place.is_some());
        self.add(Statement { guard, code, defines: vec![t], names, effect, ..Statement::default() });
    }

    /// The statement of a result of a call.
    pub(super) fn returned(&mut self, t: Term, k: u32, args: &[Term], guard: &[Guard]) {
        let k = Literal::u32_unsuffixed(k);
        let mut names = Vec::new();
        let record = self.argument(args[0], &mut names);
        if self.g.rank(t) == 0 {
            let (name, ty) = (self.name(t), self.style.ty(self.g.elem(t)));
            self.plain(guard, quote!(let #name = calls_.read::<#ty>(#record, #k);), vec![t], names);
        } else {
            let code = self.allocate(t, &mut names, false);
            let out = self.out(t);
            self.plain(guard, quote!(#code calls_.read_array(#out, #record, #k);), vec![t], names);
        }
    }

    /// Whether a loop makes calls, in its body or in inner loops.
    pub(super) fn makes_calls(&self, n: usize) -> bool {
        self.plan.bodies[n].iter().any(|&k| match self.plan.steps[k].work {
            Work::Whole(t) => is_call(self.g, t),
            Work::Loop(inner) => self.makes_calls(inner),
            _ => false,
        })
    }
}

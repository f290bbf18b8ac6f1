//! Statements of calls, and of results that are read from records. This module does not decide
//! which values a function saves.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::block::Spell;
use super::super::block::Statement;
use super::super::calls::{is_call, name_of_callee};
use super::super::code::Code;
use super::super::plan::{Guard, Work};
use super::super::store::{Class, part_of};
use super::state::Driver;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::Callee;

/// A cotangent that a call computes.
struct PartOfCall {
    term: Term,
    /// The array or number that it is added to.
    onto: Term,
    /// The start and the length of the part of the array to which it is added.
    place: Option<(Term, Term)>,
}

/// The arguments of a call that adds to arrays, without the arrays and places.
fn given_to<'t>(g: &Graph, t: Term, args: &'t [Term]) -> &'t [Term] {
    let part = matches!(g.node(t), Node::Prim(Prim::Onto(_, _, true), _));
    &args[..args.len() - 1 - 2 * usize::from(part)]
}

impl Driver<'_> {
    /// The statement of a call.
    pub(super) fn call_of(&mut self, t: Term, callee: &Callee, args: &[Term], guard: &[Guard]) {
        let mut names = Vec::new();
        let call = self.called(callee, &callee.split(args).0[1..], &TokenStream::new(), &mut names);
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
        let passed: Vec<TokenStream> = args.iter().map(|&c| self.passed(c, names)).collect();
        let function = name_of_callee(callee);
        let turbofish = match callee.rule {
            Some(_) => Some(&self.program.turbofish),
            None => self.program.turbofishes.get(callee.function as usize),
        };
        quote!(#function #turbofish (calls_, #(#passed,)* #onto))
    }

    /// An argument. A part of an array is read where the array is.
    fn passed(&self, c: Term, names: &mut Vec<Term>) -> TokenStream {
        match part_of(self.g, c).filter(|_| self.plan.class(c) == Class::View) {
            _ if self.g.rank(c) == 0 => self.argument(c, names),
            None => self.borrow(c, names),
            Some((of, start, len)) => {
                let (of, zero) = (self.borrow(of, names), self.style.zero(self.g.elem(c)));
                let (start, len) = (self.argument(start, names), self.argument(len, names));
                let cut = self.kernel("cut");
                quote!(&#cut(#of, #start, #len, #zero))
            }
        }
    }

    /// The statement of a call that adds to arrays of this function and returns numbers, each the
    /// cotangent of one active argument. It is written where the first of these terms is.
    pub(super) fn call_onto(
        &mut self,
        t: Term,
        callee: &Callee,
        args: &[Term],
        guard: &[Guard],
        k: usize,
    ) -> Result<(), String> {
        let parts = self.parts_of_call(t, callee)?;
        if parts.len() > 1 && self.names.contains_key(&t) {
            return Ok(());
        }
        let given = given_to(self.g, t, args);
        let (mut names, mut effect, mut code) = (Vec::new(), false, Code::default());
        let (mut arrays, mut numbers) = (TokenStream::new(), Vec::new());
        for &PartOfCall { term: part, onto, place } in &parts {
            if self.g.rank(part) == 0 {
                let onto = self.argument(onto, &mut names);
                numbers.push((self.name(part), onto, self.style.zero(self.g.elem(part))));
                continue;
            }
            match self.plan.in_place.get(&part).copied() {
                Some(now) => {
                    self.same_memory(part, now);
                    effect = true;
                }
                None => code.push(self.added_onto(part, onto, k, &mut names)),
            }
            let out = match place {
                Some((start, len)) => {
                    let (start, len) = (self.argument(start, &mut names), self.argument(len, &mut names));
                    let all = self.slice_mut(part, &self.names[&part]);
                    quote!(&mut #all[#start..][..#len])
                }
                None => self.out(part),
            };
            arrays.extend(quote!(#out,));
        }
        let call = self.called(callee, &given[1..], &arrays, &mut names);
        let reached = self.g.bool_value(given[0]) == Some(true);
        if numbers.is_empty() {
            let call = Code::from(quote!(#call;));
            code.push(if reached {
                call
            } else {
                self.argument(given[0], &mut names);
                Code::of_if(self.condition(given[0]), call, &Code::default())
            });
        } else {
            let tuple = |all: Vec<TokenStream>| if let [one] = &all[..] { one.clone() } else { quote!((#(#all),*)) };
            let pattern = tuple(numbers.iter().map(|(name, ..)| quote!(#name)).collect());
            let value = if reached {
                call
            } else {
                let (reached, zeros) = (self.argument(given[0], &mut names), numbers.iter().map(|n| n.2.clone()));
                let zeros = tuple(zeros.collect());
                quote!(if #reached { #call } else { #zeros })
            };
            let sums = numbers.iter().map(|(name, onto, _)| quote!(let #name = #onto + #name;));
            code.push(Code::from(quote!(let #pattern = #value; #(#sums)*)));
        }
        let (guard, defines) = (guard.to_vec(), parts.iter().map(|p| p.term).collect());
        self.add(Statement { guard, code, defines, names, effect, ..Statement::default() });
        Ok(())
    }

    /// The terms that the call of `t` computes, in the order of the active arguments.
    fn parts_of_call(&self, t: Term, callee: &Callee) -> Result<Vec<PartOfCall>, String> {
        let own = |term: Term| {
            let Node::Prim(Prim::Onto(of, k, part), args) = self.g.node(term) else { return None };
            let (given, onto) = (given_to(self.g, term, args), *args.last()?);
            let place = part.then(|| (args[given.len()], args[given.len() + 1]));
            Some((of, *k, given, PartOfCall { term, onto, place }))
        };
        let Some((_, _, given, alone)) = own(t) else { return Err("a term that is not a call".into()) };
        if callee.active.len() == 1 {
            return Ok(vec![alone]);
        }
        let beside = match self.plan.scopes.of(t) {
            0 => &self.plan.order,
            scope => &self.plan.bodies[scope - 1],
        };
        let mut found: Vec<Option<PartOfCall>> = callee.active.iter().map(|_| None).collect();
        for &k in beside {
            if let Work::Whole(u) = self.plan.steps[k].work
                && let Some((of, k, same, part)) = own(u)
                && (&**of, same) == (callee, given)
            {
                found[k as usize] = Some(part);
            }
        }
        found.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| "a call without one of its results".into())
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

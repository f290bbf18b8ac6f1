//! Which functions among items call which, and which of them may call themselves. Calls are found
//! by their names.
//!
//! This module must never lower anything.

use ad_ir::sorted::{SortedMap, SortedSet};

use syn::visit::Visit;
use syn::{Expr, Item, ItemFn};

use super::LARGE;
use crate::travel::written;
use crate::walk::{Part, Walk};

/// The functions among these items, with the names that each one calls.
pub(super) fn functions_among<'s>(items: &[&'s Item]) -> Vec<(&'s ItemFn, Vec<String>)> {
    items.iter().filter_map(|item| if let Item::Fn(f) = item { Some((f, all_calls(f))) } else { None }).collect()
}

/// The functions whose calls would expand to too many bodies.
pub(super) fn large_among<'s>(functions: &[(&'s ItemFn, Vec<String>)], itself: &SortedSet<String>) -> Vec<&'s ItemFn> {
    let number = |name: &String| functions.iter().position(|(f, _)| f.sig.ident == name.as_str());
    let called = |k: usize| functions[k].1.iter().filter(|name| !itself.contains(*name)).filter_map(number).collect();
    let mut sizes = Sizes { called: &called, found: SortedMap::new() };
    (0..functions.len()).filter(|&k| sizes.of(k) > LARGE).map(|k| functions[k].0).collect()
}

/// The number of bodies to which functions expand. The list of called functions has each function
/// once for each call.
pub(super) struct Sizes<'s> {
    pub(super) called: &'s dyn Fn(usize) -> Vec<usize>,
    pub(super) found: SortedMap<usize, usize>,
}

impl Sizes<'_> {
    pub(super) fn of(&mut self, function: usize) -> usize {
        let mut waiting = vec![function];
        while let Some(&k) = waiting.last() {
            let called = (self.called)(k);
            // A function that is being examined calls itself, so its call is not expanded.
            let open = called.iter().find(|&c| !self.found.contains_key(c) && !waiting.contains(c));
            if let Some(&open) = open {
                waiting.push(open);
                continue;
            }
            let size = called.iter().fold(1_usize, |n, c| n.saturating_add(*self.found.get(c).unwrap_or(&0)));
            self.found.insert(k, size);
            waiting.pop();
        }
        self.found[&function]
    }
}

/// The functions among these that may call themselves.
pub(super) fn recursive_among(functions: &[(&ItemFn, Vec<String>)]) -> SortedSet<String> {
    let functions: Vec<(String, &Vec<String>)> =
        functions.iter().map(|(f, called)| (f.sig.ident.to_string(), called)).collect();
    let reaches_itself = |name: &String| {
        let (mut seen, mut stack) = (SortedSet::new(), vec![name]);
        while let Some(at) = stack.pop() {
            let Some((_, called)) = functions.iter().find(|(other, _)| other == at) else { continue };
            for next in *called {
                if next == name {
                    return true;
                }
                if seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        false
    };
    functions.iter().map(|f| &f.0).filter(|name| reaches_itself(name)).cloned().collect()
}

/// The names that a function calls.
pub(super) fn calls(f: &ItemFn) -> SortedSet<String> {
    all_calls(f).into_iter().collect()
}

/// All called names, each once for each call.
pub(super) fn all_calls(f: &ItemFn) -> Vec<String> {
    let mut calls = Vec::new();
    let mut walk = |part: Part<'_>| {
        if let Part::ExprCall(c) = part
            && let Expr::Path(p) = &*c.func
            && p.qself.is_none()
        {
            calls.push(written(&p.path));
        }
    };
    Walk(&mut walk).visit_block(&f.block);
    calls
}

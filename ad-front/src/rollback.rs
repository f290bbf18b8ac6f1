//! Trial lowerings: a trial lowers something to see the result, and then restores the state.
//!
//! [`Lower`] has three kinds of parts. A trial restores all of [`State`], by construction
//! (`translation::restored`). The input of the run never changes. A trial keeps the rest: facts
//! about terms, which are never removed, and input for the next run.
//!
//! Invariants: no field is restored by hand, and a part of [`Lower`] has to say here what a trial
//! does with it.

use super::lower::Lower;
use super::translation::assumptions::Assumptions;
use super::translation::cells::Cells;
use super::translation::enclosing::Enclosing;
use super::translation::items::ItemsInScope;
use super::translation::jumps::Jumps;
use super::translation::names::Bindings;
use super::translation::nesting::Nesting;
use super::translation::requirements::Requirements;
use super::translation::restored::{Rollback, restored};
use super::translation::rule_calls::RuleCalls;
use super::translation::source::SourceMap;
use ad_ir::analysis::range::Facts;
use ad_ir::diag::Diags;
use ad_ir::program::SourceLocation;

restored! {
    /// The part of the translation state that a trial restores: the current position, and the
    /// findings so far.
    pub(crate) struct State<'a> {
        /// The errors so far.
        pub diags: Diags,
        /// Source locations, and the names of terms.
        pub source: SourceMap,
        /// The bindings in scope, and the definition whose body is being lowered.
        pub names: Bindings<'a>,
        /// The items in scope, as syntax.
        pub items: ItemsInScope<'a>,
        /// The variables.
        pub cells: Cells<'a>,
        /// The jumps that can leave the current construct.
        pub jumps: Jumps<'a>,
        /// The enclosing loops and conditions.
        pub enclosing: Enclosing,
        /// The known facts about integers at this point.
        pub facts: Facts,
        /// The checks and equations found so far.
        pub requirements: Requirements,
        /// What is assumed of names.
        pub assumptions: Assumptions,
        /// The count of the calls of functions with rules of their own.
        pub rule_calls: RuleCalls,
        /// How deep the translation is nested.
        pub nesting: Nesting,
    }
}

impl State<'_> {
    /// The state at the start of a function.
    pub(super) fn of_function(name: SourceLocation) -> Self {
        State { source: SourceMap::of_function(name), jumps: Jumps::of_function(), ..State::default() }
    }
}

impl<'a> Lower<'a> {
    /// Lowers something to see the result. All other effects are undone, its errors included. The
    /// literal types that it infers are kept, since they remain valid.
    pub(super) fn trial<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        #[cfg(test)]
        let before = self.state.snapshot();
        let mark = self.state.mark();
        self.state.nesting.enter_trial();
        let result = self.maybe_unreached(f);
        // This pattern is exhaustive, so a new field has to be placed here.
        let Lower {
            state,
            // It does not change.
            input: _,
            // Facts about terms, which are never removed, and input for the next run.
            g: _,
            graph_inputs: _,
            inference: _,
            functions: _,
            growable: _,
            maybe_unreached: _,
            memory: _,
        } = self;
        state.rollback(mark);
        #[cfg(test)]
        tests::compare(&before, &self.state.snapshot());
        result
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proc_macro2::TokenStream;

    use crate::lower::Lower;
    use crate::translation::restored::Rollback;
    use ad_ir::diag::Diags;

    thread_local! {
        static TRIALS: Cell<usize> = const { Cell::new(0) };
    }

    /// The state after a trial equals the state before it.
    pub(super) fn compare(before: &str, after: &str) {
        TRIALS.set(TRIALS.get() + 1);
        assert_eq!(before, after);
    }

    /// The changes that a body makes are undone, whether it is lowered without an error or with
    /// one.
    #[test]
    fn a_trial_is_taken_back() {
        let good = "fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { \
            let mut s = x[0]; for i in 0..x.len() { s += x[i]; } s + (x + y).sum() }";
        let bad = "fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { \
            let mut s = x[2]; while s > 0.0 { s += z; } return y[s]; }";
        for (text, ends_well) in [(good, true), (bad, false)] {
            let item: syn::ItemFn = syn::parse_str(text).expect("a function");
            let mut diags = Diags::new();
            let attr = crate::attr::parse(TokenStream::new(), &mut diags);
            let sig = crate::sig::parse(&item, &attr, &crate::definitions::Definitions::default(), &mut diags)
                .expect("a signature");
            let outside = crate::OuterDefinitions::default();
            let definitions = crate::definitions::Definitions::of_body(&item.block, &outside);
            let input = crate::translation::run_input::RunInput::new(&sig, &definitions, &outside);
            let mut lower = Lower::new(input, Default::default(), Default::default());
            let parameters = lower.declare(&[]);
            let before = lower.state.snapshot();
            let mut inside = String::new();
            let result = lower.trial(|me| {
                let result = me.function(&item, parameters);
                inside = me.state.snapshot();
                result
            });
            assert_eq!(result.is_ok(), ends_well, "{text}\n{inside}");
            let changed = before.lines().zip(inside.lines()).filter(|(a, b)| a != b).count();
            assert!(changed >= 3, "only {changed} fields were changed by {text}");
            assert_eq!(before, lower.state.snapshot(), "{text}");
        }
    }

    /// Trials in programs of the repository's tests: growing `Vec`s, filtered iterators, and
    /// messages of panics.
    #[test]
    fn trials_of_programs_are_taken_back() {
        #[derive(Default)]
        struct Annotated(Vec<(TokenStream, syn::ItemFn)>);
        impl syn::visit::Visit<'_> for Annotated {
            fn visit_item_fn(&mut self, f: &syn::ItemFn) {
                let mut f = f.clone();
                let found = f.attrs.iter().position(|a| a.path().is_ident("differentiate"));
                if let Some(at) = found {
                    let attr = match f.attrs.remove(at).meta {
                        syn::Meta::List(list) => list.tokens,
                        _ => TokenStream::new(),
                    };
                    self.0.push((attr, f));
                }
            }
        }
        let tests = format!("{}/../tests", env!("CARGO_MANIFEST_DIR"));
        let mut annotated = Annotated::default();
        for name in ["lengths", "lists", "loops", "statements", "recurrences"] {
            let text = std::fs::read_to_string(format!("{tests}/{name}.rs")).expect("a file");
            let file = syn::parse_file(&text).expect("a file that parses");
            syn::visit::Visit::visit_file(&mut annotated, &file);
        }
        for (attr, f) in annotated.0 {
            let _ = crate::parse(attr, quote::ToTokens::into_token_stream(f));
        }
        assert!(TRIALS.get() > 50, "only {} trials", TRIALS.get());
    }
}

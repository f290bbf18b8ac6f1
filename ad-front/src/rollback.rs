//! Trial lowerings: a trial lowers something to see the result, and then restores the state.
//!
//! [`Lower`] has three parts. A trial restores all of [`State`], by construction: the struct, its
//! mark and both functions are generated from one list of fields, and a field whose type does not
//! implement [`Rollback`] does not compile. The inputs of the run never change. A trial keeps the
//! rest: facts about terms, which are never removed, and input for the next run.
//!
//! Invariants: no field is restored by hand, and the restored state is exactly this list.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::ops::Deref;
use std::rc::Rc;

use proc_macro2::Ident;

use super::checks::{Frame, OpenRecurrence};
use super::flow::JumpTarget;
use super::lower::Lower;
use super::shapes::Equation;
use super::state::Store;
use super::value::Scope;
use crate::translation::items::ItemsInScope;
use crate::translation::rule_calls::RuleCalls;
use ad_ir::analysis::range::Facts;
use ad_ir::diag::Diags;
use ad_ir::ir::{Loc, Term};
use ad_ir::program::{Assumed, AssumedConst, Check, SourceLocation};

/// A value that can be marked and restored to the mark.
trait Rollback: std::fmt::Debug {
    /// The information that `rollback` needs.
    type Mark;
    fn mark(&self) -> Self::Mark;
    fn rollback(&mut self, mark: Self::Mark);
    /// A text that distinguishes different states.
    #[cfg(test)]
    fn snapshot(&self) -> String {
        format!("{self:?}")
    }
}

/// The marks of these types are copies. They are small, or share their contents.
macro_rules! by_copy {
    ($($ty:ty),*) => {
        $(impl<'a> Rollback for $ty {
            type Mark = $ty;
            fn mark(&self) -> $ty {
                self.clone()
            }
            fn rollback(&mut self, mark: $ty) {
                *self = mark;
            }
        })*
    };
}

by_copy! {
    bool, u32, usize, Loc, Option<usize>, Option<Rc<[Option<Term>]>>, Diags, Scope<'a>, Store<'a>,
    Vec<usize>, Vec<JumpTarget<'a>>, Vec<Frame>, Vec<OpenRecurrence>, Vec<Check>, Vec<Equation>, Vec<Term>,
    SortedMap<Term, String>,
    SortedSet<String>, ItemsInScope<'a>, RuleCalls
}

/// A list that only grows. Its length is the mark.
#[derive(Debug)]
pub(super) struct AppendOnly<T>(Vec<T>);

impl<T> Default for AppendOnly<T> {
    fn default() -> Self {
        AppendOnly(Vec::new())
    }
}

impl<T> AppendOnly<T> {
    pub(super) fn push(&mut self, item: T) {
        self.0.push(item);
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for AppendOnly<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: std::fmt::Debug> Rollback for AppendOnly<T> {
    type Mark = usize;
    fn mark(&self) -> usize {
        self.0.len()
    }
    fn rollback(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

impl Rollback for Facts {
    type Mark = usize;
    fn mark(&self) -> usize {
        Facts::mark(self)
    }
    fn rollback(&mut self, mark: usize) {
        self.forget(mark);
    }
    // The caches of the graph may have grown.
    #[cfg(test)]
    fn snapshot(&self) -> String {
        self.mark().to_string()
    }
}

/// Declares the state and the functions that restore it, from one list of fields.
macro_rules! state {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        /// The part of the translation state that a trial restores: the current position, and the
        /// findings so far.
        #[derive(Default, Debug)]
        pub(super) struct State<'a> {
            $($(#[$doc])* pub $name: $ty,)*
        }

        /// A state that can be restored.
        pub(super) struct Mark<'a> {
            $($name: <$ty as Rollback>::Mark,)*
        }

        impl<'a> State<'a> {
            fn mark(&self) -> Mark<'a> {
                Mark { $($name: self.$name.mark(),)* }
            }

            fn rollback(&mut self, mark: Mark<'a>) {
                $(self.$name.rollback(mark.$name);)*
            }

            /// The text of each field.
            #[cfg(test)]
            fn snapshot(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), self.$name.snapshot()),)*]
            }
        }
    };
}

state! {
    /// The errors so far.
    diags: Diags,
    /// Source locations. Terms refer to them by number.
    places: AppendOnly<SourceLocation>,
    /// The source location of the expression that is being lowered.
    here: Loc,
    /// Names of terms.
    hints: SortedMap<Term, String>,
    /// The bindings in scope.
    scope: Scope<'a>,
    /// The items that are declared in the body. Nested functions see only these.
    items: Scope<'a>,
    /// The definition whose body is being lowered. `None` for the annotated function.
    definition: Option<usize>,
    /// The current value of each variable.
    store: Store<'a>,
    /// Cells below this one belong to the function that encloses the current closure.
    first_own_cell: usize,
    /// Whether the current program point is reachable.
    reachable: bool,
    /// The enclosing functions, labelled blocks, loops and loop bodies that a jump can leave, the
    /// innermost last.
    targets: Vec<JumpTarget<'a>>,
    /// The enclosing loops and conditions.
    frames: Vec<Frame>,
    /// The enclosing loops as recurrences, the outermost first.
    recurrences: Vec<OpenRecurrence>,
    /// The frame of the loop whose number of steps is to be bounded, and the closed bounds found so
    /// far.
    bounded: Option<usize>,
    step_bounds: Vec<Term>,
    /// The first term that was created after a jump out of the current block, if there was one.
    after_jump: Option<usize>,
    /// The valid length along each axis of the array that is being reduced. An entry is `Some`
    /// where the length is dynamic.
    valid_lengths: Option<Rc<[Option<Term>]>>,
    /// The known facts about integers at this point.
    facts: Facts,
    /// The checks found so far.
    checks: Vec<Check>,
    /// Pairs of sizes that have to be equal.
    equations: Vec<Equation>,
    /// Whether the next check is evaluated only with debug assertions.
    debug_only: bool,
    /// Bare names (such as `PI`) that are assumed to be constants of std, with types and values.
    consts: AppendOnly<AssumedConst>,
    /// Assumptions about what names refer to. The generated code asserts them.
    assumed: AppendOnly<Assumed>,
    /// Names in patterns of `match` that are assumed to be bindings.
    bound: AppendOnly<Ident>,
    /// Outer constants that patterns were compared with.
    compared: SortedSet<String>,
    /// The nesting depth of trial lowerings.
    trial_depth: u32,
    /// The nesting depth of expressions and closure calls.
    depth: u32,
    /// The functions of `impl` blocks whose bodies are being lowered, by their addresses.
    active: Vec<usize>,
    /// The items in scope, as syntax.
    item_scope: ItemsInScope<'a>,
    /// The count of the calls of functions with rules of their own.
    rule_calls: RuleCalls,
    /// How often derivatives inside of the function differentiate what is being lowered.
    inner_order: usize,
}

impl<'a> State<'a> {
    /// The state at the start of a function.
    pub(super) fn of_function(name: SourceLocation) -> Self {
        let mut state = State { reachable: true, ..State::default() };
        state.places.push(name);
        state
    }
}

impl<'a> Lower<'a> {
    /// Lowers something to see the result. All other effects are undone, its errors included. The
    /// literal types that it infers are kept, since they remain valid.
    pub(super) fn trial<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        #[cfg(test)]
        let before = self.state.snapshot();
        let mark = self.state.mark();
        self.state.trial_depth += 1;
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
    use ad_ir::diag::Diags;

    thread_local! {
        static TRIALS: Cell<usize> = const { Cell::new(0) };
    }

    /// The state after a trial equals the state before it.
    pub(super) fn compare(before: &[(&str, String)], after: &[(&str, String)]) {
        TRIALS.set(TRIALS.get() + 1);
        before.iter().zip(after).for_each(|(a, b)| assert_eq!(a, b));
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
            let mut inside = Vec::new();
            let result = lower.trial(|me| {
                let result = me.function(&item, parameters);
                inside = me.state.snapshot();
                result
            });
            assert_eq!(result.is_ok(), ends_well, "{text}\n{inside:?}");
            let changed = before.iter().zip(&inside).filter(|(a, b)| a != b).count();
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

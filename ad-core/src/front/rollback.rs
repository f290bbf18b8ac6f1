//! Attempts: something is lowered for what it comes to, and no trace of it is kept.
//!
//! [`Lower`] has three parts. [`State`] is what an attempt takes back, all of it, by construction:
//! the struct, its mark and both functions are one list of fields, and a field whose type has no
//! [`Rollback`] does not compile. What is given for the whole pass never changes. The rest stays
//! when an attempt is taken back: it is true of terms, which are never removed, or meant for the
//! next pass.
//!
//! Must never restore a field by hand, nor let the state change outside of this list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::rc::Rc;

use proc_macro2::Ident;

use super::checks::{Frame, Steps};
use super::flow::Target;
use super::lower::Lower;
use super::shapes::Equation;
use super::state::Store;
use super::value::Scope;
use crate::analysis::range::Facts;
use crate::diag::Diags;
use crate::ir::{Loc, Term};
use crate::program::{Assumed, AssumedConst, Check, Place};

/// What can be marked, and brought back to the mark.
trait Rollback: std::fmt::Debug {
    /// What the way back needs.
    type Mark;
    fn mark(&self) -> Self::Mark;
    fn rollback(&mut self, mark: Self::Mark);
    /// What tells one state from another.
    #[cfg(test)]
    fn snapshot(&self) -> String {
        format!("{self:?}")
    }
}

/// These are copied: they are small, or share their parts.
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
    Vec<Target<'a>>, Vec<Frame>, Vec<Steps>, Vec<Check>, Vec<Equation>, BTreeMap<Term, String>,
    BTreeSet<String>
}

/// A list that only grows. Its length is the mark.
#[derive(Debug)]
pub(super) struct Log<T>(Vec<T>);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Log(Vec::new())
    }
}

impl<T> Log<T> {
    pub(super) fn push(&mut self, item: T) {
        self.0.push(item);
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for Log<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: std::fmt::Debug> Rollback for Log<T> {
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
    // Its caches may have grown.
    #[cfg(test)]
    fn snapshot(&self) -> String {
        self.mark().to_string()
    }
}

/// Declares the state and what restores it, from one list of fields.
macro_rules! state {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        /// Where lowering is, and what it has found on the way: all that an attempt takes back.
        #[derive(Default, Debug)]
        pub(super) struct State<'a> {
            $($(#[$doc])* pub $name: $ty,)*
        }

        /// A state to come back to.
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

            /// Each field as a text.
            #[cfg(test)]
            fn snapshot(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), self.$name.snapshot()),)*]
            }
        }
    };
}

state! {
    /// The errors.
    diags: Diags,
    /// Source locations, which terms name by their numbers.
    places: Log<Place>,
    /// The source location of the expression that is being lowered.
    here: Loc,
    /// Names of terms.
    hints: BTreeMap<Term, String>,
    /// What names mean.
    scope: Scope<'a>,
    /// Items in the function, which are all that functions in it can name.
    items: Scope<'a>,
    /// What the variables hold.
    store: Store<'a>,
    /// Cells below this one belong to the function around the closure that is being lowered.
    captured: usize,
    /// Whether control can get here.
    reached: bool,
    /// Blocks, loops and functions that can be left before their ends, the innermost last.
    targets: Vec<Target<'a>>,
    /// Loops and conditions around the expression.
    frames: Vec<Frame>,
    /// Recurrences around the expression, the outermost first.
    steps: Vec<Steps>,
    /// The first term behind a jump out, while the block that was left goes on.
    left: Option<usize>,
    /// The lengths of the part that is being reduced, axis by axis, where loops decide them.
    there: Option<Rc<[Option<Term>]>>,
    /// What is known of integers here.
    facts: Facts,
    /// The checks found so far.
    checks: Vec<Check>,
    /// Pairs of sizes that have to be equal.
    equations: Vec<Equation>,
    /// Whether the next check is one of builds with debug assertions only.
    debug: bool,
    /// Constants that bare names were taken for, with their types and values.
    consts: Log<AssumedConst>,
    /// What names were taken for.
    assumed: Log<Assumed>,
    /// Names that patterns of `match` are assumed to bind.
    bound: Log<Ident>,
    /// Constants outside of the function that patterns were compared with.
    compared: BTreeSet<String>,
    /// How many attempts are being made around the expression.
    attempts: u32,
    /// How deep expressions and calls of closures nest here.
    depth: u32,
}

impl<'a> State<'a> {
    /// The state at the beginning of a function.
    pub(super) fn of_function(name: Place) -> Self {
        let mut state = State { reached: true, ..State::default() };
        state.places.push(name);
        state
    }
}

impl<'a> Lower<'a> {
    /// Lowers something for what it comes to, and takes everything else back, its errors too. The
    /// types of literals that it finds are kept, since they are true.
    pub(super) fn attempt<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        #[cfg(test)]
        let before = self.state.snapshot();
        let mark = self.state.mark();
        self.state.attempts += 1;
        let result = self.unsure(f);
        // Whoever adds a field has to say here whether an attempt takes it back.
        let Lower {
            state,
            // Given for the whole pass.
            sig: _,
            receivers: _,
            classes: _,
            chosen: _,
            first_param: _,
            inner: _,
            // True of terms, which are never taken back, or for the next pass.
            g: _,
            unsure: _,
            decided: _,
            soft: _,
            literals: _,
            constants: _,
            unseen: _,
            slots: _,
            capacities: _,
            rooms: _,
            memory: _,
            empties: _,
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

    use crate::diag::Diags;
    use crate::front::lower::Lower;

    thread_local! {
        static ATTEMPTS: Cell<usize> = const { Cell::new(0) };
    }

    /// The state behind an attempt is that before it.
    pub(super) fn compare(before: &[(&str, String)], after: &[(&str, String)]) {
        ATTEMPTS.set(ATTEMPTS.get() + 1);
        before.iter().zip(after).for_each(|(a, b)| assert_eq!(a, b));
    }

    /// What a body changes in the state is taken back, whether it is lowered well or with an error.
    #[test]
    fn an_attempt_is_taken_back() {
        let good = "fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { \
            let mut s = x[0]; for i in 0..x.len() { s += x[i]; } s + (x + y).sum() }";
        let bad = "fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { \
            let mut s = x[2]; while s > 0.0 { s += z; } return y[s]; }";
        for (text, ends_well) in [(good, true), (bad, false)] {
            let item: syn::ItemFn = syn::parse_str(text).expect("a function");
            let mut diags = Diags::new();
            let attr = crate::front::attr::parse(TokenStream::new(), &mut diags);
            let sig = crate::front::sig::parse(&item, &attr, &mut diags).expect("a signature");
            let mut lower = Lower::new(&sig);
            lower.declare(&[]);
            let before = lower.state.snapshot();
            let mut inside = Vec::new();
            let result = lower.attempt(|me| {
                let result = me.function(&item);
                inside = me.state.snapshot();
                result
            });
            assert_eq!(result.is_ok(), ends_well, "{text}\n{inside:?}");
            let changed = before.iter().zip(&inside).filter(|(a, b)| a != b).count();
            assert!(changed >= 3, "only {changed} fields were changed by {text}");
            assert_eq!(before, lower.state.snapshot(), "{text}");
        }
    }

    /// Attempts of loops that make `Vec`s longer, of iterators that leave items out and of words of
    /// messages, in programs of the repository's tests.
    #[test]
    fn attempts_of_programs_are_taken_back() {
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
            let _ = crate::front::parse(attr, quote::ToTokens::into_token_stream(f));
        }
        assert!(ATTEMPTS.get() > 50, "only {} attempts", ATTEMPTS.get());
    }
}

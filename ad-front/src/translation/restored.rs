//! How a part of the state goes back to an earlier state. A trial lowering lowers something to see
//! the result, and then restores `State` (`rollback`).
//!
//! A restored part is declared by [`restored!`]: the struct, its mark and both functions are
//! generated from one list of fields, and a field whose type does not implement [`Rollback`] does
//! not compile.
//!
//! Invariants: no field is restored by hand, and the restored state is exactly the marked one.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::ops::Deref;
use std::rc::Rc;

use super::cells::Store;
use super::enclosing::{BoundedSteps, Frame, OpenRecurrence};
use super::items::ItemsInScope;
use super::jumps::JumpTarget;
use super::rule_calls::RuleCalls;
use crate::shapes::Equation;
use crate::value::Scope;
use ad_ir::analysis::range::Facts;
use ad_ir::diag::Diags;
use ad_ir::ir::{Loc, Term};
use ad_ir::program::Check;

/// A value that can be marked and restored to the mark.
pub(crate) trait Rollback: std::fmt::Debug {
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
    bool, u32, usize, Loc, Option<usize>, Option<BoundedSteps>, Option<Rc<[Option<Term>]>>, Diags, Scope<'a>, Store<'a>,
    Vec<usize>, Vec<JumpTarget<'a>>, Vec<Frame>, Vec<OpenRecurrence>, Vec<Check>, Vec<Equation>, Vec<Term>,
    SortedMap<Term, String>, SortedSet<String>, ItemsInScope<'a>, RuleCalls
}

/// A list that only grows. Its length is the mark.
#[derive(Debug)]
pub(crate) struct AppendOnly<T>(Vec<T>);

impl<T> Default for AppendOnly<T> {
    fn default() -> Self {
        AppendOnly(Vec::new())
    }
}

impl<T> AppendOnly<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.0.push(item);
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
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

/// Declares a part that a trial lowering restores, with the functions that restore it, from one
/// list of fields.
macro_rules! restored {
    (
        $(#[$meta:meta])*
        pub(crate) struct $name:ident $(<$life:lifetime>)? {
            $($(#[$doc:meta])* $vis:vis $field:ident: $ty:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Default, Debug)]
        pub(crate) struct $name $(<$life>)? {
            $($(#[$doc])* $vis $field: $ty,)*
        }

        /// A state of the part that can be restored.
        pub(crate) struct Mark $(<$life>)? {
            $($field: <$ty as $crate::translation::restored::Rollback>::Mark,)*
        }

        impl $(<$life>)? $crate::translation::restored::Rollback for $name $(<$life>)? {
            type Mark = Mark $(<$life>)?;

            fn mark(&self) -> Self::Mark {
                Mark { $($field: self.$field.mark(),)* }
            }

            fn rollback(&mut self, mark: Self::Mark) {
                $(self.$field.rollback(mark.$field);)*
            }

            #[cfg(test)]
            fn snapshot(&self) -> String {
                let fields = [$((stringify!($field), self.$field.snapshot()),)*];
                fields.map(|(name, text)| format!("{name}: {text}\n")).concat()
            }
        }
    };
}

pub(crate) use restored;

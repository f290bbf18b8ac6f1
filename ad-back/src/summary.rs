//! The plan of a routine, in a form for tests: the kernels that it calls, its loop nests and their
//! properties, the numbers of arrays that it allocates and copies. The module that writes a
//! statement adds its summary entries; nothing is read from tokens. `AD_DUMP` prints the same plan
//! in words.
//!
//! The summary does not affect the emitted code.

use std::collections::BTreeMap;

/// The plan of a routine, for the statements that its results need.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlanSummary {
    /// How often each kernel of the runtime is called by a statement (not from inside of a nest).
    pub kernels: BTreeMap<String, usize>,
    /// Loop nests, in the order in which they are emitted.
    pub nests: Vec<NestSummary>,
    /// Arrays that are allocated and filled with a value.
    pub made: usize,
    /// Arrays that are copies of others.
    pub copied: usize,
    /// Arrays that an iteration of a loop allocates or copies.
    pub made_in_steps: usize,
    /// Carried arrays of inner loops that start with a copy of their initial value.
    pub copied_beginnings: usize,
    /// Operations on scalars outside of nests, by the name of the primitive.
    pub scalars: BTreeMap<String, usize>,
    /// Loops that are outlined functions, dispatched once (outlined dispatch).
    pub outlined: usize,
    /// Loops that run all iterations for one chunk of elements after the other (outer-loop
    /// vectorisation).
    pub outer_vectorised: usize,
    /// Carried arrays of inner loops that take over the memory of their initial value.
    pub swapped: usize,
    /// The statements in words, as `AD_DUMP` prints them.
    pub steps: String,
}

/// One loop nest.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct NestSummary {
    /// Its kind: compute, scatter, update, add.
    pub verb: &'static str,
    /// The number of loops in its code: 1 if all axes are one loop.
    pub loops: usize,
    /// Whether it dispatches on the instruction set itself (not as part of a function that does).
    pub dispatched: bool,
    /// Whether it is part of an outlined loop, which has dispatched.
    pub part_of_loop: bool,
    /// Whether it visits all elements, or some of them.
    pub part: PartSummary,
    /// How often each vectorised function occurs in it: once for whole vectors and once for the
    /// remaining elements.
    pub functions: BTreeMap<&'static str, usize>,
    /// Functions that are computed for a whole vector of lanes by one call.
    pub by_the_vector: BTreeMap<&'static str, usize>,
    /// The functions of both kinds that are computed only in a branch.
    pub lazy_functions: BTreeMap<&'static str, usize>,
    /// Other functions, computed as in the user's function.
    pub plain_functions: BTreeMap<&'static str, usize>,
    /// Products that are fused with the sum that reads them.
    pub fused: usize,
    /// Sums that it returns.
    pub sums: usize,
    /// Whether it has sums with independent accumulators.
    pub lanes: bool,
    /// Whether the last whole vector overlaps the one before, so that no elements remain.
    pub overlapping: bool,
    /// Whether sums are held in registers until the loops around the innermost one end.
    pub register_blocked: bool,
    /// Whether extrema of sums are taken while these are in registers.
    pub extremum: bool,
    /// Whether a loop ends where a condition on its index becomes false.
    pub shortened: bool,
    /// Branches inside of the nest, and reads that are tested element by element.
    pub choices: usize,
    /// Rows that are sliced with a test, since they are not proved to be in range.
    pub tested_rows: usize,
    /// Indices of rows that are tested once for a whole row.
    pub rows_under_test: usize,
    /// Rows along a loop that is not the innermost one, sliced once before it.
    pub outer_rows: usize,
    /// Whether it is tiled over items.
    pub tiled: bool,
    /// Operations on reals that are exactly those of the user's function, since a decision depends
    /// on them.
    pub exact: usize,
    /// Products that absorb a zero.
    pub absorbing: usize,
}

/// The elements of its innermost loop that a nest visits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum PartSummary {
    /// All elements.
    #[default]
    Whole,
    /// The first elements.
    Prefix,
    /// The first elements of each row, as many as enclosing loops determine.
    Ragged,
    /// The elements that need no test.
    Interior,
    /// The elements before and after the interior.
    Ends,
}

/// A property of a statement, in addition to its code.
#[derive(Clone, Debug)]
pub(super) enum Note {
    Kernel(String),
    Nest(Box<NestSummary>),
    Made,
    Copied,
    MadeInStep,
    CopiedBeginning,
    Scalar(String),
    Outlined,
    OuterVectorised,
    Swapped,
}

impl PlanSummary {
    /// The summary of the statements with these entries.
    pub(super) fn of(notes: impl IntoIterator<Item = Note>) -> Self {
        let mut all = PlanSummary::default();
        for note in notes {
            match note {
                Note::Kernel(name) => *all.kernels.entry(name).or_default() += 1,
                Note::Nest(nest) => all.nests.push(*nest),
                Note::Made => all.made += 1,
                Note::Copied => all.copied += 1,
                Note::MadeInStep => all.made_in_steps += 1,
                Note::CopiedBeginning => all.copied_beginnings += 1,
                Note::Scalar(name) => *all.scalars.entry(name).or_default() += 1,
                Note::Outlined => all.outlined += 1,
                Note::OuterVectorised => all.outer_vectorised += 1,
                Note::Swapped => all.swapped += 1,
            }
        }
        all
    }

    /// How often a kernel is called.
    #[must_use]
    pub fn calls(&self, kernel: &str) -> usize {
        self.kernels.get(kernel).copied().unwrap_or_default()
    }

    /// How often a vectorised function is written, in all nests.
    #[must_use]
    pub fn function(&self, name: &str) -> usize {
        self.nests.iter().map(|n| n.functions.get(name).copied().unwrap_or_default()).sum()
    }

    /// How often a function is computed for a whole vector of lanes by one call.
    #[must_use]
    pub fn by_the_vector(&self, name: &str) -> usize {
        self.nests.iter().map(|n| n.by_the_vector.get(name).copied().unwrap_or_default()).sum()
    }

    /// How often an operation on scalars occurs outside of nests.
    #[must_use]
    pub fn scalar(&self, name: &str) -> usize {
        self.scalars.get(name).copied().unwrap_or_default()
    }

    /// The number of functions that dispatch on the instruction set.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.outlined + self.outer_vectorised + self.nests.iter().filter(|n| n.dispatched).count()
    }
}

//! What a routine does, in a form that can be asked: which kernels it calls, which loop nests it
//! has and what each asks of the machine, how many arrays it makes and copies. Whoever writes a
//! statement says here what it is; nothing is read from tokens. `AD_DUMP` prints the same plan in
//! words.
//!
//! It must never change what is written.

use std::collections::BTreeMap;

/// The plan of a routine, as far as it is needed for its results.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlanSummary {
    /// How often each kernel of the runtime is called by a statement (not from inside of a nest).
    pub kernels: BTreeMap<String, usize>,
    /// Loop nests, in the order in which they are written.
    pub nests: Vec<NestSummary>,
    /// Arrays that are made anew, filled with a value.
    pub made: usize,
    /// Arrays that are copies of others.
    pub copied: usize,
    /// Arrays that a step of a loop makes or copies, in memory that it asks for.
    pub made_in_steps: usize,
    /// Carried arrays of loops inside of loops that begin with a copy of what they begin with.
    pub copied_beginnings: usize,
    /// Operations on numbers that stand outside of nests, by the name of the primitive.
    pub scalars: BTreeMap<String, usize>,
    /// Loops over steps that are functions of their own, compiled for the processor's instructions
    /// (outlined dispatch).
    pub outlined: usize,
    /// Loops over steps that do all steps for a few elements after the others (outer-loop
    /// vectorisation).
    pub outer_vectorised: usize,
    /// Carried arrays that begin each time in the memory of what they begin with.
    pub swapped: usize,
    /// The steps in words, as `AD_DUMP` prints them.
    pub steps: String,
}

/// One loop nest.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct NestSummary {
    /// What it does: compute, scatter, update, add.
    pub verb: &'static str,
    /// Loops that are written: 1 if all axes are walked as one.
    pub loops: usize,
    /// Whether it asks for the processor's instructions itself (not as part of a function that
    /// has).
    pub dispatched: bool,
    /// Whether it is part of a loop that has asked for them.
    pub part_of_loop: bool,
    /// Whether it is all elements, or a part of them.
    pub part: PartSummary,
    /// How often each vectorised function is written in it: once for whole vectors and once for
    /// what is left over.
    pub functions: BTreeMap<&'static str, usize>,
    /// Functions that are computed for a whole vector of lanes by one call.
    pub by_the_vector: BTreeMap<&'static str, usize>,
    /// Of the functions of both kinds, those that are computed in an arm of a choice alone.
    pub lazy_functions: BTreeMap<&'static str, usize>,
    /// Other functions, as they are in the user's own function.
    pub plain_functions: BTreeMap<&'static str, usize>,
    /// Products that are fused with the sum that reads them.
    pub fused: usize,
    /// Sums that it returns.
    pub sums: usize,
    /// Whether it has sums of independent accumulators.
    pub lanes: bool,
    /// Whether the last whole vector overlaps the one before, so that nothing is left over.
    pub overlapping: bool,
    /// Whether sums stay in registers while loops around the innermost run.
    pub register_blocked: bool,
    /// Whether extrema of sums are taken while these are in registers.
    pub extremum: bool,
    /// Whether a loop ends where a condition on its index does.
    pub shortened: bool,
    /// Choices inside of the nest, and reads that are tested element by element.
    pub choices: usize,
    /// Rows that are cut with a test, since they are not known to be there.
    pub tested_rows: usize,
    /// Indices of rows that are tested once for a whole row.
    pub rows_under_test: usize,
    /// Rows along a loop that is not the innermost one, cut once before it.
    pub outer_rows: usize,
    /// Whether it is done for blocks of items.
    pub tiled: bool,
    /// Operations on reals that are those of the user's function, since a decision depends on them.
    pub exact: usize,
    /// Products that absorb a zero.
    pub absorbing: usize,
}

/// Which elements of its innermost loop a nest does.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum PartSummary {
    /// All of them.
    #[default]
    Whole,
    /// The first ones.
    Prefix,
    /// The beginnings of its rows, as far as the loops around say.
    Ragged,
    /// Those for which no test is needed.
    Interior,
    /// Those before and behind the interior.
    Ends,
}

/// What a statement is, beside its code.
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
    /// The summary of statements that say this of themselves.
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

    /// How often an operation on numbers stands outside of nests.
    #[must_use]
    pub fn scalar(&self, name: &str) -> usize {
        self.scalars.get(name).copied().unwrap_or_default()
    }

    /// Functions that ask for the processor's instructions.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.outlined + self.outer_vectorised + self.nests.iter().filter(|n| n.dispatched).count()
    }
}

//! The plan of a routine as numbers, for tests: how often it calls each kernel, its loop nests, how
//! many arrays it allocates and copies. The emitter notes these while it writes, and `AD_DUMP`
//! prints them.

use std::collections::BTreeMap;

use ad_core::emit::{Description, Note, describe_routine};
use ad_core::ir::Graph;
use ad_core::program::{Program, Routine};

pub use ad_core::emit::{NestSummary, PartSummary};

/// The plan of a routine.
///
/// # Errors
/// If the emitter refuses the routine.
pub fn plan_of(g: &mut Graph, program: &Program, routine: &Routine) -> Result<PlanSummary, String> {
    Ok(PlanSummary::of(describe_routine(g, program, routine, None)?))
}

/// The plan of a routine, for the statements that its results need. Nests are in the order in which
/// they are emitted.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlanSummary {
    /// The number of times that each kernel of the runtime is called by a statement (not from
    /// inside of a nest).
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
    /// Those of them that are also compiled for literal sizes of small matrices.
    pub literal_sizes: usize,
    /// Loops that run all iterations for one chunk of elements after the other (outer-loop
    /// vectorisation).
    pub outer_vectorised: usize,
    /// Carried arrays of inner loops that take over the memory of their initial value.
    pub swapped: usize,
    /// The statements in words, as `AD_DUMP` prints them.
    pub steps: String,
}

impl PlanSummary {
    /// The numbers of the notes of each kind.
    fn of(Description { steps, notes, .. }: Description) -> Self {
        let mut all = PlanSummary { steps, ..PlanSummary::default() };
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
                Note::LiteralSizes => all.literal_sizes += 1,
                Note::OuterVectorised => all.outer_vectorised += 1,
                Note::Swapped => all.swapped += 1,
            }
        }
        all
    }

    /// The number of times that a kernel is called.
    #[must_use]
    pub fn calls(&self, kernel: &str) -> usize {
        self.kernels.get(kernel).copied().unwrap_or_default()
    }

    /// The number of times that a vectorised function is written, in all nests.
    #[must_use]
    pub fn function(&self, name: &str) -> usize {
        self.nests.iter().map(|n| n.functions.get(name).copied().unwrap_or_default()).sum()
    }

    /// The number of times that a function is computed for a whole vector of lanes by one call.
    #[must_use]
    pub fn by_the_vector(&self, name: &str) -> usize {
        self.nests.iter().map(|n| n.by_the_vector.get(name).copied().unwrap_or_default()).sum()
    }

    /// The number of times that an operation on scalars occurs outside of nests.
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

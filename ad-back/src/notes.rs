//! Notes of what the driver has decided while it wrote a routine: the kernels that are called, the
//! loop nests and their properties, the arrays that are allocated and copied. The module that
//! writes a statement adds its notes; nothing is read from tokens. `AD_DUMP` prints them, and
//! `ad-oracle` counts them for tests.
//!
//! The notes do not affect the emitted code.

use ad_ir::sorted::SortedMap;
use std::fmt;

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
    pub functions: SortedMap<&'static str, usize>,
    /// Functions that are computed for a whole vector of lanes by one call.
    pub by_the_vector: SortedMap<&'static str, usize>,
    /// The functions of both kinds that are computed only in a branch.
    pub lazy_functions: SortedMap<&'static str, usize>,
    /// Other functions, computed as in the user's function.
    pub plain_functions: SortedMap<&'static str, usize>,
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
    /// Rows of short arrays, such as points, whose columns are read or written.
    pub rows_of_arrays: usize,
    /// Rows that are read or written from the last element on.
    pub reversed_rows: usize,
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
pub enum Note {
    /// It calls this kernel of the runtime (not from inside of a nest).
    Kernel(String),
    /// It is a loop nest.
    Nest(Box<NestSummary>),
    /// It allocates an array and fills it with a value.
    Made,
    /// It copies an array.
    Copied,
    /// Each iteration of its loop allocates or copies an array.
    MadeInStep,
    /// A carried array of its loop starts with a copy of the initial value.
    CopiedBeginning,
    /// It computes this operation on scalars, outside of nests.
    Scalar(String),
    /// It is a loop in an outlined function, dispatched once (outlined dispatch).
    Outlined,
    /// Its outlined function is also compiled for literal sizes of small matrices.
    LiteralSizes,
    /// It is a loop that runs all iterations for one chunk of elements after the other (outer-loop
    /// vectorisation).
    OuterVectorised,
    /// A carried array of its loop takes over the memory of the initial value.
    Swapped,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Kernel(name) => write!(f, "calls the kernel `{name}`"),
            Note::Nest(nest) => nest.fmt(f),
            Note::Made => f.write_str("allocates an array"),
            Note::Copied => f.write_str("copies an array"),
            Note::MadeInStep => f.write_str("allocates or copies an array in each iteration"),
            Note::CopiedBeginning => f.write_str("copies the initial value of a carried array"),
            Note::Scalar(name) => write!(f, "computes `{name}` of scalars"),
            Note::Outlined => f.write_str("outlines a loop, which is dispatched once"),
            Note::LiteralSizes => f.write_str("compiles a loop for literal sizes too"),
            Note::OuterVectorised => f.write_str("runs all iterations of a loop for each chunk of elements"),
            Note::Swapped => f.write_str("takes over the memory of a carried array's initial value"),
        }
    }
}

impl fmt::Display for NestSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            PartSummary::Whole => "all elements",
            PartSummary::Prefix => "the first elements",
            PartSummary::Ragged => "the first elements of each row",
            PartSummary::Interior => "the elements that need no test",
            PartSummary::Ends => "the elements before and after the interior",
        };
        write!(f, "visits {part} in a nest ({}) of {} loops", self.verb, self.loops)?;
        let marks = [
            (self.dispatched, "dispatched on the instruction set"),
            (self.part_of_loop, "part of an outlined loop"),
            (self.lanes, "sums in lanes"),
            (self.overlapping, "the last vector overlaps the one before"),
            (self.register_blocked, "sums in registers"),
            (self.extremum, "extrema of sums in registers"),
            (self.shortened, "a loop is shortened"),
            (self.tiled, "tiled over items"),
        ];
        for (_, what) in marks.iter().filter(|mark| mark.0) {
            write!(f, ", {what}")?;
        }
        let counts = [
            (self.fused, "fused products"),
            (self.sums, "sums"),
            (self.choices, "choices"),
            (self.tested_rows, "rows sliced with a test"),
            (self.rows_of_arrays, "rows of short arrays"),
            (self.reversed_rows, "rows from the last element on"),
            (self.rows_under_test, "indices of rows tested once"),
            (self.outer_rows, "rows sliced before the innermost loop"),
            (self.exact, "exact operations"),
            (self.absorbing, "products that absorb a zero"),
        ];
        for (n, what) in counts.iter().filter(|count| count.0 > 0) {
            write!(f, ", {n} {what}")?;
        }
        let functions = [
            (&self.functions, "vectorised"),
            (&self.by_the_vector, "by whole vectors"),
            (&self.lazy_functions, "in a branch"),
            (&self.plain_functions, "as in the function"),
        ];
        for (names, how) in functions {
            for (name, n) in names {
                write!(f, ", {n} `{name}` {how}")?;
            }
        }
        Ok(())
    }
}

//! Choices by cost. A module that has a choice between two implementations calls `choose` with
//! the answer of its cost model and the reason, and follows the answer that is returned: in
//! production always that of the cost model. The dump of a function (`AD_DUMP`) lists each choice
//! with its reason. Tests can replace the answers ([`replace_policy`]), because no choice may
//! change what is computed.
//!
//! A choice is identified by its kind and its key. Without [`replace_policy`], which only tests
//! call, this module never changes an answer: the code generated for a program depends on the
//! program alone. What correctness requires (for example the order of a sum that a decision depends
//! on) is not a choice, and is not routed through this module.

use crate::sorted::SortedMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Each kind of choice: its documentation, its name, its heading in the dump, and the text for the
/// answers yes and no.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $question:literal, $yes:literal, $no:literal;)*) => {
        /// The kind of a choice.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$name),*];

            /// The heading in the dump, and the text for the answers yes and no.
            fn words(self) -> [&'static str; 3] {
                match self {
                    $(Kind::$name => [$question, $yes, $no],)*
                }
            }
        }
    };
}

kinds! {
    /// In a contraction, a label that only one operand has is summed over that operand before the
    /// product.
    Associate: "reassociated contractions", "summed before the product", "summed after the product";
    /// A contraction, a sum over leading axes or a repetition is a kernel of the runtime, or a loop
    /// nest.
    Kernel: "kernels or loop nests", "a kernel", "a loop nest";
    /// A contraction reads the windows of an array in place (implicit im2col), or they are copied
    /// for a matrix product.
    ImplicitIm2col: "windows of arrays", "implicit im2col", "copied for a matrix product";
    /// An array is stored, or recomputed where it is read.
    Store: "store or recompute", "stored", "recomputed where it is read";
    /// A statement joins the loop nest of an earlier one.
    NestFusion: "fusion of loop nests", "in the nest of", "a nest of its own, not that of";
    /// A sum of blocks is one nest, split into its interior and its ends, or one pass for each
    /// block.
    IndexSetSplitting: "index set splitting", "one nest, split into interior and ends", "a pass for each block";
    /// A sequence of nests processes one block of items after the other.
    Tiling: "tiling over items", "in tiles of items", "not in tiles of items";
    /// An update of a carried array is done in its memory, or on a copy.
    InPlace: "updates of carried arrays", "in place", "on a copy";
    /// A result is written to the memory of an array whose last use is in its nest.
    Reuse: "reuse of dead arrays", "overwrites", "does not overwrite";
    /// An array whose last use is in a later statement is moved there, not copied.
    Move: "last uses of arrays", "moved", "copied or borrowed";
    /// A nest is also compiled for the instruction sets that are detected at run time.
    Dispatch: "dispatch of nests", "dispatched on the instruction set", "compiled for any machine";
    /// A product is fused with the sum that reads it.
    FusedMultiplyAdd: "fused multiply-add", "fused", "not fused";
    /// A subterm of an element is computed in the only branch that reads it.
    LazyBranch: "branches of elements", "in its branch", "before the branch";
    /// The bounds of the innermost loop are shortened to the range in which an index test holds.
    LoopBounds: "bounds of innermost loops", "the loop is shortened", "the loop runs over the whole axis";
    /// Sums over the loops around the loop over items are held in registers until these loops end.
    RegisterBlocking: "register blocking", "sums in registers", "sums in memory";
    /// A loop that carries rows is done for one chunk of their elements after the other, all
    /// iterations for each chunk.
    OuterVectorisation: "outer-loop vectorisation", "all iterations for each chunk", "all elements in each iteration";
    /// A whole outermost loop is one function that is dispatched once, or each nest in it is
    /// dispatched.
    OutlinedDispatch: "outlined dispatch", "one dispatch for the whole loop", "a dispatch in each iteration";
    /// Rows that a loop saves for a sum over their elements are recomputed by a second loop that
    /// takes the sum.
    Rematerialisation: "rematerialisation", "recomputed", "saved";
    /// Elements of a carried array that a loop saves for its derivative, and does not write again,
    /// are read from the array after the loop.
    FinalRead: "reads of final arrays", "read from the array after the loop", "saved";
    /// A result of a loop that depends on no carried value is a bulk operation over all iterations,
    /// or stays in the loop.
    LoopDistribution: "loop distribution", "over all iterations at once", "in each iteration";
    /// A sum over the iterations is taken after the loop, from rows that the loop saves, or in each
    /// iteration.
    DeferredSum: "sums in loops", "taken after the loop", "taken in each iteration";
    /// A contraction with a loop-invariant operand is one contraction before the loop, for all
    /// iterations.
    BatchedContraction: "contractions in loops", "batched before the loop", "in each iteration";
    /// Loops with the same trip count are fused.
    LoopFusion: "loop fusion", "one loop", "separate loops";
    /// A sum over the iterations of a loop is taken for blocks of iterations.
    StripMining: "strip-mining", "in blocks of iterations", "one iteration at a time";
    /// A sum over items that only a scatter reads is accumulated into the scatter's result, block
    /// by block.
    ScatterAccumulate: "scatter-accumulate fusion", "accumulated into the result", "stored, then scattered";
    /// The indices of a scatter that are the same along some of its axes are computed once, in a
    /// table.
    IndexTable: "indices of scatters", "in a table", "computed where they are used";
    /// The extremum of blocked sums over items is taken while these are in registers.
    BlockedExtrema: "extrema of blocked sums", "taken in registers", "taken of the array of sums";
    /// In a loop with more sums than products, half of the lanes take a difference by a fused
    /// multiply-add.
    PortBalancing: "FMA port balancing", "half of the lanes by a fused multiply-add", "all lanes by subtraction";
    /// A scatter of values of items is part of their tiles.
    TiledScatter: "scatters in tiles", "done in each tile", "done after the tiles";
    /// A product of a matrix with rows of items is part of their tiles.
    TiledProduct: "products in tiles", "done in each tile", "done by one kernel";
    /// Rows that a loop saves under a condition are appended to a vector, or each step has one.
    AppendedRows: "rows under a condition", "appended by the steps that save one", "one for each step";
    /// A loop of few steps, whose number is a literal, is straight-line code.
    Unrolling: "full unrolling of loops", "unrolled", "a loop";
    /// A loop carries the elements of small arrays.
    CarriedScalars: "small arrays that loops carry", "their elements", "arrays";
    /// An outlined loop over small square matrices is also compiled for a few literal sizes.
    LiteralSizes: "loops over small matrices", "also compiled for literal sizes", "compiled for any sizes";
}

impl Kind {
    /// The heading of its choices in the dump.
    #[must_use]
    pub fn question(self) -> &'static str {
        self.words()[0]
    }

    /// Whether nearly every operation needs a choice of this kind: too many for the dump.
    fn is_small(self) -> bool {
        matches!(self, Kind::FusedMultiplyAdd | Kind::LazyBranch)
    }
}

/// The number of the term of a choice, and a number that distinguishes the choices of one kind
/// about that term.
pub type Key = (usize, usize);

/// Choices with their answers and reasons.
type Record = SortedMap<(Kind, Key), (bool, String)>;

/// Answers that replace those of the cost model. It has to give the same answer for the same kind
/// and key.
pub type Policy = Rc<dyn Fn(Kind, Key) -> bool>;

thread_local! {
    static POLICY: RefCell<Option<Policy>> = const { RefCell::new(None) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
    static THREADS: Cell<bool> = const { Cell::new(false) };
}

/// The answer to a choice. `why` continues the sentence of the answer in the dump and names the
/// costs that were compared. It is only called for the dump, which leaves out a choice whose `why`
/// is empty.
pub fn choose(kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    let answer = policy().map_or(by_cost, |policy| policy(kind, key));
    RECORD.with_borrow_mut(|record| {
        // A choice that is made several times is listed once, with the last answer.
        if let Some(record) = record.as_mut().filter(|_| !kind.is_small()) {
            match why() {
                why if why.is_empty() => drop(record.remove(&(kind, key))),
                why => drop(record.insert((kind, key), (answer, why))),
            }
        }
    });
    answer
}

/// [`choose`] for a choice that a policy may replace only if `possible`: both answers are correct
/// and affordable.
pub fn choose_if(possible: bool, kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    if possible || policy().is_none() { choose(kind, key, by_cost, why) } else { by_cost }
}

fn policy() -> Option<Policy> {
    POLICY.with_borrow(Clone::clone)
}

/// Puts `policy` in the place of the cost model for all choices on this thread, and returns the one
/// before. Only tests call it (`ad_oracle::chance`): the computed values must not depend on the
/// answers.
pub fn replace_policy(policy: Option<Policy>) -> Option<Policy> {
    POLICY.replace(policy)
}

/// Sets whether the code that is generated on this thread from now on may use several threads, and
/// returns what was set before. The feature `rayon` is not a choice by cost: a user asks for it.
pub fn set_threads(on: bool) -> bool {
    THREADS.replace(on)
}

/// Whether generated code may use several threads.
#[must_use]
pub fn threads() -> bool {
    THREADS.get()
}

/// Begins to record the choices of this thread.
pub fn record() {
    RECORD.set(Some(Record::new()));
}

/// Ends the recording and returns its text: a heading for each kind, then a line for each term (as
/// `name` prints it) with the answer and its reason.
pub fn recorded(name: impl Fn(usize) -> String) -> String {
    let record = RECORD.take().unwrap_or_default();
    let (mut text, mut last) = (String::new(), None);
    for ((kind, (about, _)), (answer, why)) in &record {
        let [question, yes, no] = kind.words();
        if last.replace(*kind) != Some(*kind) {
            text.push_str(&format!("{question}\n"));
        }
        let said = if *answer { yes } else { no };
        text.push_str(&format!("    {}: {said} {why}\n", name(*about)));
    }
    text
}

//! Choices by cost: whoever has one says here what the costs say, and why, and does what comes back. That is what the costs say; but the
//! record of a function (`AD_DUMP`) shows each choice with its reason, and tests can have choices made by chance ([`by_chance`]), since
//! none of them may change what is computed.
//!
//! A choice is known by its kind and its key, and comes out the same as often as it is asked. Outside of [`by_chance`], which nothing but
//! tests calls, this module never changes an answer: what a user's program becomes depends on the program alone. What must be so for the
//! sake of meaning (the order of a sum that a decision depends on, say) is no choice and never comes here.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// What is chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Kind {
    /// A sum over a label of one operand of a contraction is taken first.
    Associate,
    /// A contraction is a call of a matrix kernel, or a loop nest; a sum over leading axes, a repetition too.
    Kernel,
    /// Windows of an array are read where they are, or written out for a product of matrices.
    Windows,
    /// An array is stored, or computed where it is read.
    Store,
    /// A statement joins the nest of an earlier one.
    Fuse,
    /// A sum of blocks is one nest, split into its interior and its ends, or a pass for each block.
    Split,
    /// A run of nests is done for a block of items after the other.
    Tile,
    /// A carried array is added to where it is.
    InPlace,
    /// A result takes the memory of an array that dies in its nest.
    Reuse,
    /// An array that another statement goes on with is moved, not copied.
    Move,
    /// A nest is compiled for the instructions that the processor turns out to have.
    Dispatch,
    /// A product is fused with the sum that reads it.
    MulAdd,
    /// A part of an element is computed in the arm that alone uses it.
    Lazy,
    /// The innermost loop is shortened to, or run under, what a test says of it.
    Bounds,
    /// Sums of the items of a block are kept in registers while the loops around run.
    Columns,
    /// All steps of a loop are done for a few elements of what it carries after the others.
    Lanes,
    /// All steps of a loop are one function that knows the instructions, or each nest is one.
    Around,
    /// Rows that a loop saves for a sum over their elements are computed again by a loop that takes the sum.
    Again,
    /// What of a loop depends on nothing carried is an operation over all steps, or stays in the step.
    Bulk,
    /// A sum is taken behind its loop, of rows that are saved for it, or in the step.
    Rows,
    /// A product with what is the same in each step is taken before the loop, for all steps.
    Before,
    /// Loops over the same steps are one.
    Together,
    /// A sum over steps is taken for blocks of steps.
    Blocks,
    /// A sum over items that is scattered is added, block by block, where the scatter puts it.
    Onto,
    /// The indices of a scatter that are the same along some of its axes are computed once, in a table.
    Table,
    /// The extremum of sums of the items of a block is taken while these are in registers.
    Extrema,
    /// Of a loop of more sums than products, half of the lanes take a difference by the multipliers.
    Balance,
    /// A scatter of what items have is part of their blocks.
    Scatter,
    /// A product with a matrix of rows of items is part of their blocks.
    Product,
}

/// All of them, for the tests' histogram.
const ALL: [Kind; 28] = [
    Kind::Associate,
    Kind::Kernel,
    Kind::Windows,
    Kind::Store,
    Kind::Fuse,
    Kind::Split,
    Kind::Tile,
    Kind::InPlace,
    Kind::Reuse,
    Kind::Move,
    Kind::Dispatch,
    Kind::MulAdd,
    Kind::Lazy,
    Kind::Bounds,
    Kind::Columns,
    Kind::Extrema,
    Kind::Balance,
    Kind::Lanes,
    Kind::Again,
    Kind::Bulk,
    Kind::Rows,
    Kind::Before,
    Kind::Together,
    Kind::Blocks,
    Kind::Onto,
    Kind::Scatter,
    Kind::Product,
    Kind::Table,
];

impl Kind {
    /// The question, and what is said where the answer is yes, and where it is no.
    fn words(self) -> [&'static str; 3] {
        match self {
            Kind::Associate => ["sums of products", "summed before the product", "summed after the product"],
            Kind::Kernel => ["kernels or loop nests", "a kernel", "a loop nest"],
            Kind::Windows => ["windows of arrays", "where they are", "written out"],
            Kind::Store => ["store or compute again", "stored", "computed where it is read"],
            Kind::Fuse => ["one loop or two", "in the loop of", "a loop of its own, not that of"],
            Kind::Split => ["sums of blocks", "one loop, split into interior and ends", "a pass for each block"],
            Kind::Tile => ["blocks of items", "in blocks of items", "not in blocks of items"],
            Kind::InPlace => ["arrays that loops carry", "changed in place", "computed beside the former state"],
            Kind::Reuse => ["memory of dead arrays", "overwrites", "does not overwrite"],
            Kind::Move => ["arrays that are gone on with", "moved", "copied or borrowed"],
            Kind::Dispatch => ["instructions", "compiled for two machines", "compiled for any machine"],
            Kind::MulAdd => ["fused multiply-add", "fused", "not fused"],
            Kind::Lazy => ["arms of elements", "in its arm", "before the choice"],
            Kind::Bounds => ["bounds of innermost loops", "the loop is shortened", "the whole loop is run"],
            Kind::Columns => ["sums of columns", "kept in registers", "added to in memory"],
            Kind::Extrema => ["extrema of sums", "taken where the sums are", "taken of the array of the sums"],
            Kind::Balance => ["differences in lanes", "half of them by the multipliers", "all by subtraction"],
            Kind::Lanes => ["loops over carried rows", "all steps for a few elements", "all elements step by step"],
            Kind::Around => ["instructions of loops", "known around all steps", "asked for in each step"],
            Kind::Again => ["rows of loops", "computed again", "saved"],
            Kind::Bulk => ["parts of loops", "of all steps at once", "step by step"],
            Kind::Rows => ["sums in loops", "taken behind the loop", "taken in each step"],
            Kind::Before => ["products in loops", "taken before the loop", "taken in each step"],
            Kind::Together => ["loops over the same steps", "one loop", "a loop each"],
            Kind::Blocks => ["sums over steps", "in blocks of steps", "step by step"],
            Kind::Onto => ["sums that are scattered", "added where they go", "made, then scattered"],
            Kind::Scatter => ["scatters of items", "done with each block", "done behind the blocks"],
            Kind::Product => ["products with rows of items", "done with each block", "done as a whole"],
            Kind::Table => ["indices of scatters", "in a table", "computed where they are used"],
        }
    }

    /// Whether there is one for nearly every operation: too many for a record.
    fn is_small(self) -> bool {
        matches!(self, Kind::MulAdd | Kind::Lazy)
    }
}

/// The term that a choice is about, by its number, and what tells choices of one kind about it apart.
type Key = (usize, usize);

/// Choices with their answers and reasons.
type Record = BTreeMap<(Kind, Key), (bool, String)>;

thread_local! {
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
    static TALLY: RefCell<BTreeMap<Kind, [usize; 2]>> = const { RefCell::new(BTreeMap::new()) };
}

/// The answer to a question. `why` is the rest of a sentence that begins with the answer, and names the costs that were compared; it is only
/// asked for the record, where nothing is kept if it is empty.
pub(crate) fn choose(kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    let answer = match SEED.get() {
        Some(seed) => {
            let answer = mixed(seed, [kind as u64, key.0 as u64, key.1 as u64]);
            TALLY.with_borrow_mut(|tally| tally.entry(kind).or_default()[usize::from(answer)] += 1);
            answer
        }
        None => by_cost,
    };
    RECORD.with_borrow_mut(|record| {
        // What is asked again is said once, as it is known at last.
        if let Some(record) = record.as_mut().filter(|_| !kind.is_small()) {
            match why() {
                why if why.is_empty() => drop(record.remove(&(kind, key))),
                why => drop(record.insert((kind, key), (answer, why))),
            }
        }
    });
    answer
}

/// [`choose`], where only one of the answers can be had by chance: the other one is too dear or impossible.
pub(crate) fn choose_if(possible: bool, kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    if possible || SEED.get().is_none() { choose(kind, key, by_cost, why) } else { by_cost }
}

/// One of two with equal chances, the same each time (the finaliser of splitmix64).
fn mixed(seed: u64, words: [u64; 3]) -> bool {
    let mut x = seed;
    for word in words {
        x = (x ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
    }
    x & 1 == 1
}

/// What the call gives if every choice on this thread is made by chance. For tests: each answer has to compute the same.
#[doc(hidden)]
pub fn by_chance<R>(seed: u64, call: impl FnOnce() -> R) -> R {
    struct Before(Option<u64>);
    impl Drop for Before {
        fn drop(&mut self) {
            SEED.set(self.0);
        }
    }
    let _before = Before(SEED.replace(Some(seed)));
    call()
}

/// For each question, how often chance has said no and yes on this thread since the last call. For tests: each answer has to be met.
#[doc(hidden)]
#[must_use]
pub fn tally() -> BTreeMap<&'static str, [usize; 2]> {
    let found = TALLY.take();
    ALL.iter().map(|kind| (kind.words()[0], found.get(kind).copied().unwrap_or_default())).collect()
}

/// Keeps the choices of this thread from here on.
pub(crate) fn record() {
    RECORD.set(Some(Record::new()));
}

/// What was chosen since [`record`], which is over: by kind, lines of a term, as `name` shows it, and what is done with it for which reason.
pub(crate) fn recorded(name: impl Fn(usize) -> String) -> String {
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

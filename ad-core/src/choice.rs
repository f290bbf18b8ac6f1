//! Choices by cost: whoever has one says here what the costs say, and why, and does what comes back. That is what the costs say; but the
//! record of a function (`AD_DUMP`) shows each choice with its reason, and a test can have choices made by a policy of its own
//! ([`with_policy`]), since none of them may change what is computed.
//!
//! A choice is known by its kind and its key. Outside of [`with_policy`], which nothing but tests calls, this module never changes an
//! answer: what a user's program becomes depends on the program alone. What must be so for the sake of meaning (the order of a sum that
//! a decision depends on, say) is no choice and never comes here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Each kind of choice: what is chosen, its name, the question, and what is said where the answer is yes, and where it is no.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $question:literal, $yes:literal, $no:literal;)*) => {
        /// What is chosen.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$name),*];

            /// The question, and what is said where the answer is yes, and where it is no.
            fn words(self) -> [&'static str; 3] {
                match self {
                    $(Kind::$name => [$question, $yes, $no],)*
                }
            }
        }
    };
}

kinds! {
    /// A sum over a label of one operand of a contraction is taken first.
    Associate: "sums of products", "summed before the product", "summed after the product";
    /// A contraction is a call of a matrix kernel, or a loop nest; a sum over leading axes, a repetition too.
    Kernel: "kernels or loop nests", "a kernel", "a loop nest";
    /// Windows of an array are read where they are, or written out for a product of matrices.
    Windows: "windows of arrays", "where they are", "written out";
    /// An array is stored, or computed where it is read.
    Store: "store or compute again", "stored", "computed where it is read";
    /// A statement joins the nest of an earlier one.
    Fuse: "one loop or two", "in the loop of", "a loop of its own, not that of";
    /// A sum of blocks is one nest, split into its interior and its ends, or a pass for each block.
    Split: "sums of blocks", "one loop, split into interior and ends", "a pass for each block";
    /// A run of nests is done for a block of items after the other.
    Tile: "blocks of items", "in blocks of items", "not in blocks of items";
    /// A carried array is added to where it is.
    InPlace: "arrays that loops carry", "changed in place", "computed beside the former state";
    /// A result takes the memory of an array that dies in its nest.
    Reuse: "memory of dead arrays", "overwrites", "does not overwrite";
    /// An array that another statement goes on with is moved, not copied.
    Move: "arrays that are gone on with", "moved", "copied or borrowed";
    /// A nest is compiled for the instructions that the processor turns out to have.
    Dispatch: "instructions", "compiled for two machines", "compiled for any machine";
    /// A product is fused with the sum that reads it.
    MulAdd: "fused multiply-add", "fused", "not fused";
    /// A part of an element is computed in the arm that alone uses it.
    Lazy: "arms of elements", "in its arm", "before the choice";
    /// The innermost loop is shortened to, or run under, what a test says of it.
    Bounds: "bounds of innermost loops", "the loop is shortened", "the whole loop is run";
    /// Sums of the items of a block are kept in registers while the loops around run.
    Columns: "sums of columns", "kept in registers", "added to in memory";
    /// All steps of a loop are done for a few elements of what it carries after the others.
    Lanes: "loops over carried rows", "all steps for a few elements", "all elements step by step";
    /// All steps of a loop are one function that knows the instructions, or each nest is one.
    Around: "instructions of loops", "known around all steps", "asked for in each step";
    /// Rows that a loop saves for a sum over their elements are computed again by a loop that takes the sum.
    Again: "rows of loops", "computed again", "saved";
    /// What of a loop depends on nothing carried is an operation over all steps, or stays in the step.
    Bulk: "parts of loops", "of all steps at once", "step by step";
    /// A sum is taken behind its loop, of rows that are saved for it, or in the step.
    Rows: "sums in loops", "taken behind the loop", "taken in each step";
    /// A product with what is the same in each step is taken before the loop, for all steps.
    Before: "products in loops", "taken before the loop", "taken in each step";
    /// Loops over the same steps are one.
    Together: "loops over the same steps", "one loop", "a loop each";
    /// A sum over steps is taken for blocks of steps.
    Blocks: "sums over steps", "in blocks of steps", "step by step";
    /// A sum over items that is scattered is added, block by block, where the scatter puts it.
    Onto: "sums that are scattered", "added where they go", "made, then scattered";
    /// The indices of a scatter that are the same along some of its axes are computed once, in a table.
    Table: "indices of scatters", "in a table", "computed where they are used";
    /// The extremum of sums of the items of a block is taken while these are in registers.
    Extrema: "extrema of sums", "taken where the sums are", "taken of the array of the sums";
    /// Of a loop of more sums than products, half of the lanes take a difference by the multipliers.
    Balance: "differences in lanes", "half of them by the multipliers", "all by subtraction";
    /// A scatter of what items have is part of their blocks.
    Scatter: "scatters of items", "done with each block", "done behind the blocks";
    /// A product with a matrix of rows of items is part of their blocks.
    Product: "products with rows of items", "done with each block", "done as a whole";
}

impl Kind {
    /// The question, in words.
    #[must_use]
    pub fn question(self) -> &'static str {
        self.words()[0]
    }

    /// Whether there is one for nearly every operation: too many for a record.
    fn is_small(self) -> bool {
        matches!(self, Kind::MulAdd | Kind::Lazy)
    }
}

/// The term that a choice is about, by its number, and what tells choices of one kind about it apart.
pub type Key = (usize, usize);

/// Choices with their answers and reasons.
type Record = BTreeMap<(Kind, Key), (bool, String)>;

/// Answers in place of the costs. It has to answer the same question the same each time that it is asked.
type Policy = Rc<dyn Fn(Kind, Key) -> bool>;

thread_local! {
    static POLICY: RefCell<Option<Policy>> = const { RefCell::new(None) };
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

/// The answer to a question. `why` is the rest of a sentence that begins with the answer, and names the costs that were compared; it is only
/// asked for the record, where nothing is kept if it is empty.
pub(crate) fn choose(kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    let answer = policy().map_or(by_cost, |policy| policy(kind, key));
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

/// [`choose`], where a policy is only asked if the other answer is possible and not too expensive.
pub(crate) fn choose_if(possible: bool, kind: Kind, key: Key, by_cost: bool, why: impl FnOnce() -> String) -> bool {
    if possible || policy().is_none() { choose(kind, key, by_cost, why) } else { by_cost }
}

fn policy() -> Option<Policy> {
    POLICY.with_borrow(Clone::clone)
}

/// What the call gives if `policy` answers each question on this thread instead of the costs. For tests alone (`ad-oracle` has one that
/// answers by chance): whatever is answered, the same has to be computed.
///
/// The policy must answer the same question the same each time.
pub fn with_policy<R>(policy: impl Fn(Kind, Key) -> bool + 'static, call: impl FnOnce() -> R) -> R {
    struct Before(Option<Policy>);
    impl Drop for Before {
        fn drop(&mut self) {
            POLICY.set(self.0.take());
        }
    }
    let _before = Before(POLICY.replace(Some(Rc::new(policy))));
    call()
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

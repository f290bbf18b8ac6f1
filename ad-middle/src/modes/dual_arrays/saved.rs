//! Descriptions of the values that a loop can save for its derivative. `residuals` and `undo`
//! decide between them.

use ad_ir::analysis::guards::Guard;
use ad_ir::ir::Term;

/// The reason why a term is a residual.
#[derive(Clone, Debug)]
pub(super) enum ResidualReason {
    /// It is the result of an expensive function or of a sum, or a position or number that a step
    /// searches or counts, and it differs from step to step.
    Expensive,
    /// It is a truth value or an integer, which is found by a comparison or by rounding a number.
    Decision,
    /// It is an element or a part of this carried array, or of a later state of it in the step. It
    /// is saved only if the derived body reads nothing else of the array.
    Part(Term),
    /// It is a result of the inner loop `scan`, which reads these carried arrays. It is saved only
    /// if an array would otherwise be saved just to run the inner loop again. `whole`: it is an
    /// array that the loop carries. `reads`: the loop changes none of the arrays that it reads.
    Loop { scan: Term, arrays: Vec<Term>, whole: bool, reads: bool },
    /// It is a result of this inner loop, which carries numbers only and is in a loop in another
    /// one. The derivative would run the inner loop once for each enclosing loop.
    OfNumbers(Term),
}

/// A term of a body that a loop saves for its derivative.
#[derive(Clone, Debug)]
pub(super) struct Residual {
    pub(super) term: Term,
    /// The saved value: in the body the row of a step, and after the loop all rows.
    pub(super) row: Term,
    pub(super) why: ResidualReason,
    /// The row is zero in a step for which one of these does not hold.
    pub(super) guards: Vec<Guard>,
    /// The row is zero at elements for which one of these does not hold.
    pub(super) masks: Vec<Guard>,
}

/// The changes of a carried array in a step, and the values that are needed to change it back.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    /// The index of the carried array.
    pub(super) carry: usize,
    /// The array after the loop.
    pub(super) last: Term,
    /// Its states in a step, newest first. The last entry is the state at the start of the step.
    pub(super) states: Vec<Term>,
    /// The states that are updates, each with the row of the elements that it overwrites.
    pub(super) overwritten: Vec<(Term, Term)>,
    /// The states that are new arrays, each with the state that its row has.
    pub(super) replaced: Vec<(Term, Term)>,
    /// The number of axes of the elements that a step overwrites.
    pub(super) rank: usize,
    /// A step does nothing unless this guard holds.
    pub(super) bound: Option<Guard>,
}

//! The algorithms of differentiation by name. The front end reads the name in the attribute, a
//! program stores the mode, and `ad_middle::modes` dispatches on it. This module must never depend
//! on an algorithm.

/// An algorithm of differentiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Dual arrays (BOT sections 6 and 7).
    #[default]
    DualArrays,
    /// Unary normal form (UNF sections 3 to 5 and 7).
    Unf,
    /// Pairs of a value and a linear function (CHAD sections 2.3, 4, 7, 9 and 10).
    Chad,
}

/// The values that the derivative of a loop saves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Saving {
    /// All values that it reads of each step.
    #[default]
    EachStep,
    /// The carried values of every `sqrt(n)`-th step. Steps run again.
    SquareRoot,
}

impl Saving {
    /// The names in `checkpoint = ".."`.
    pub const NAMES: &[&str] = &["sqrt"];

    /// The schedule of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Saving> {
        (name == "sqrt").then_some(Saving::SquareRoot)
    }
}

impl Mode {
    /// Every algorithm that a user may ask for.
    pub const ALL: &[Mode] = &[Mode::DualArrays, Mode::Unf, Mode::Chad];

    /// The name of the mode that reads no body: numbers record what a function does (DN). It is not
    /// an algorithm over terms, so the modes above do not include it.
    pub const UNREAD: &str = "dual_numbers";

    /// Its name in `mode = ".."`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::DualArrays => "dual_arrays",
            Mode::Unf => "unf",
            Mode::Chad => "chad",
        }
    }

    /// The algorithm of this name, if a user may ask for it.
    #[must_use]
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.iter().copied().find(|mode| mode.name() == name)
    }
}

/// A construct that an algorithm does not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A call of a function that is compiled on its own: recursion, or a rule of the user's.
    Call,
    /// A derivative inside of the function, where it has not been replaced by terms.
    Derived,
    /// A loop that stops early and depends on an active input, where its steps are not counted
    /// first.
    Stops,
    /// A loop.
    Loop,
}

impl Refusal {
    /// What it is, in words for the user.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Refusal::Call => "a call of a function that is compiled on its own (recursion, or a rule of your own)",
            Refusal::Derived => "a derivative inside of the function",
            Refusal::Stops => "a loop that stops early inside of another loop and has a derivative",
            Refusal::Loop => "a loop that has a derivative",
        }
    }
}

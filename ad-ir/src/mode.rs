//! The algorithms of differentiation by name. The front end reads the name in the attribute, a
//! program stores the mode, and `ad_middle::modes` dispatches on it. This module must never depend
//! on an algorithm.

/// An algorithm of differentiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Dual arrays (BOT sections 6 and 7).
    #[default]
    DualArrays,
}

/// What the derivative of a loop saves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Saving {
    /// What it reads of each step.
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
    /// Every algorithm that is implemented.
    pub const ALL: &[Mode] = &[Mode::DualArrays];

    /// The names that are reserved for algorithms that are not implemented.
    pub const RESERVED: &[&str] = &["chad", "unf"];

    /// The name of the mode that reads no body: numbers record what a function does (DN). It is no
    /// algorithm over terms, so it is none of the modes above.
    pub const UNREAD: &str = "dual_numbers";

    /// Its name in `mode = ".."`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::DualArrays => "dual_arrays",
        }
    }

    /// The algorithm of this name, if it is built.
    #[must_use]
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.iter().copied().find(|mode| mode.name() == name)
    }
}

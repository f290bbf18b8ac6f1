//! The table of locations in the user's source to which terms refer.
//!
//! This module must never read the text at a location.

use crate::diag::SrcRange;
use crate::ir::{Graph, Loc};

/// A location in the user's source, for messages at run time and for the spans of generated code.
#[derive(Clone, Debug)]
pub struct SourceLocation {
    /// The tokens at the location.
    pub range: SrcRange,
    /// The source text of the expression, shortened.
    pub text: String,
    /// If several expressions became one term: all of them. Only a page needs them.
    pub of: Vec<Loc>,
}

impl SourceLocation {
    /// The location of one expression.
    #[must_use]
    pub fn of_range(range: SrcRange, text: String) -> Self {
        SourceLocation { range, text, of: Vec::new() }
    }
}

/// The table of source locations to which [`Loc`] refers. Entry 0 is the function itself.
#[derive(Clone, Debug, Default)]
pub struct SourceLocations(pub Vec<SourceLocation>);

impl SourceLocations {
    /// Gives each term that several expressions became a location that names all of them, if the
    /// graph has kept their places.
    pub fn unite(&mut self, g: &mut Graph) {
        for (t, all) in g.take_places() {
            let of: Vec<Loc> = all.into_iter().filter(|loc| loc.index() != 0).collect();
            let Some(first) = of.first().and_then(|&loc| self.get(loc)).cloned() else { continue };
            g.set_place(t, Loc(u32::try_from(self.0.len()).unwrap_or(0)));
            self.0.push(SourceLocation { of, ..first });
        }
    }

    /// The source location of `loc`, or that of the function.
    #[must_use]
    pub fn get(&self, loc: Loc) -> Option<&SourceLocation> {
        self.0.get(loc.index()).or_else(|| self.0.first())
    }
}

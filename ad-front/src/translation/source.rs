//! Source locations of what is being lowered, and the names of terms. Messages have them.
//!
//! Invariants: a location keeps its number. The current location is that of the innermost syntax
//! that is being lowered. A term keeps its first name.
//!
//! This module must never report an error.

use ad_ir::sorted::SortedMap;

use super::restored::{AppendOnly, restored};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Loc, Term};
use ad_ir::program::SourceLocation;

restored! {
    /// The locations and names so far.
    pub(crate) struct SourceMap {
        /// Terms refer to the locations by number.
        places: AppendOnly<SourceLocation>,
        /// The location of the expression that is being lowered.
        here: Loc,
        /// Names of terms.
        hints: SortedMap<Term, String>,
    }
}

impl SourceMap {
    /// At the start of a function with this name.
    pub(crate) fn of_function(name: SourceLocation) -> Self {
        let mut source = SourceMap::default();
        source.places.push(name);
        source
    }

    /// Adds a location.
    pub(crate) fn add(&mut self, place: SourceLocation) -> Loc {
        self.places.push(place);
        Loc(u32::try_from(self.places.len() - 1).unwrap_or(0))
    }

    /// Moves to a location. Returns the former one, for [`SourceMap::leave`].
    pub(crate) fn enter(&mut self, loc: Loc) -> Loc {
        std::mem::replace(&mut self.here, loc)
    }

    /// Moves back to a former location.
    pub(crate) fn leave(&mut self, outer: Loc) {
        self.here = outer;
    }

    /// The current location.
    pub(crate) fn here(&self) -> Loc {
        self.here
    }

    /// The number of the current location, as the address of a key.
    pub(crate) fn address(&self) -> usize {
        self.here.0 as usize
    }

    /// The source text of the current location.
    pub(crate) fn text(&self) -> String {
        self.places.get(self.address()).map_or_else(String::new, |p| p.text.clone())
    }

    /// The range of a location, or else of the function.
    pub(crate) fn range(&self, loc: Loc) -> Option<SrcRange> {
        self.places.get(loc.index()).or(self.places.first()).map(|place| place.range)
    }

    /// Names a term, unless it has a name.
    pub(crate) fn hint(&mut self, t: Term, name: &str) {
        self.hints.entry(t).or_insert_with(|| name.to_string());
    }

    /// The names of terms, and the locations by their numbers.
    pub(crate) fn into_parts(self) -> (SortedMap<Term, String>, Vec<SourceLocation>) {
        (self.hints, self.places.into_vec())
    }
}

//! Analyses: facts about terms that passes ask for. Each looks at a graph and changes nothing.
//!
//! Must never depend on a pass, on the front end or on the emitter.

pub mod bound;
pub mod decisions;
pub mod guards;
pub mod range;
pub mod sizes;
pub mod uses;

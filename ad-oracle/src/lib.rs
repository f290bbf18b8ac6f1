//! The parts that only the tests of `ad` need: the reference interpreter ([`interp`]) and random
//! choices ([`chance`]). They are a separate crate, so that a user's build does not compile them.
//!
//! This crate does not use `ad-runtime`, since it checks it. Only tests, benchmarks and examples
//! depend on it.

#![forbid(unsafe_code)]

pub mod chance;
pub mod documents;
pub mod interp;
pub mod plan;

use ad_core::ir::Term;
use ad_core::passes::{Context, Pass};
use ad_core::pipeline::LISTS;

/// All passes of the pipeline, each once, in the order in which they run first.
#[must_use]
pub fn passes() -> Vec<Pass> {
    let mut all: Vec<Pass> = Vec::new();
    for pass in LISTS.iter().flat_map(|(_, passes)| *passes) {
        if all.iter().all(|met| met.name != pass.name) {
            all.push(*pass);
        }
    }
    all
}

/// The context of a pass in which these terms are exact, without a decision that depends on them.
#[must_use]
pub fn with_exact(terms: impl IntoIterator<Item = Term>) -> Context {
    let mut context = Context::default();
    context.set_extra_exact(&terms.into_iter().collect());
    context
}

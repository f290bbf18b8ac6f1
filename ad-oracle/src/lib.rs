//! The parts that only the tests of `ad` need: the reference interpreter ([`interp`]) and random
//! choices ([`chance`]). They are a separate crate, so that a user's build does not compile them.
//!
//! This crate does not use `ad-runtime`, since it checks it. Only tests, benchmarks and examples
//! depend on it.

#![forbid(unsafe_code)]

pub mod chance;
pub mod documents;
pub mod interp;

use ad_core::ir::Term;
use ad_core::passes::Context;

/// The context of a pass in which these terms are exact, without a decision that depends on them.
#[must_use]
pub fn with_exact(terms: impl IntoIterator<Item = Term>) -> Context {
    let mut context = Context::default();
    context.set_extra_exact(&terms.into_iter().collect());
    context
}

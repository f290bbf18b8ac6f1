//! What only the tests of `ad` need, in a crate of its own, so that a user's build does not compile
//! it: the reference interpreter ([`interp`]), and choices made by chance ([`chance`]).
//!
//! Must never use `ad-runtime`: what it checks would check itself. Only tests, benchmarks and
//! examples may depend on it.

#![forbid(unsafe_code)]

pub mod chance;
pub mod interp;

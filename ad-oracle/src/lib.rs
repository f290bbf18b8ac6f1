//! The parts that only the tests of `ad` need: the reference interpreter ([`interp`]) and random
//! choices ([`chance`]). They are a separate crate, so that a user's build does not compile them.
//!
//! This crate does not use `ad-runtime`, since it checks it. Only tests, benchmarks and examples
//! depend on it.

#![forbid(unsafe_code)]

pub mod chance;
pub mod interp;

//! Modules that the integration tests share: a random program generator and the comparison of
//! values. They contain no tests.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

pub mod compare;
pub mod discrete;
pub mod r#gen;
pub mod histogram;
pub mod loops;
pub mod modes;
pub mod real;
pub mod rng;
pub mod source;
pub mod systems;
pub mod terms;

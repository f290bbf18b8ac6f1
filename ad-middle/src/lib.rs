//! The middle end of the compiler of `ad`: the passes over core terms, differentiation, and the
//! order in which these run. Core terms in, core terms out.
//!
//! This crate must know neither the syntax of the source nor how Rust is written. It and the front
//! end do not depend on each other, so the two are compiled at the same time.
//!
//! BOT, CHAD, DN, KN and UNF in comments are the papers that docs/internals/src/introduction.md
//! lists; figures and rules are cited where they are implemented.

#![forbid(unsafe_code)]

pub mod calls;
pub mod derivative;
pub mod modes;
pub mod passes;
pub mod pipeline;

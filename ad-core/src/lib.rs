//! The compiler of `ad`: an ordinary library over `proc-macro2` tokens, so that all of it can be
//! tested without a macro.
//!
//! [`expand`] is the one call of the macro; the rest is public for tests. [`front`] reads function
//! bodies, and [`emit`] writes routines; in between, everything is a term of [`ir`]. `derive`,
//! `travel` and `check_grad` read and write the items around them.
//!
//! BOT, CHAD, DN, KN and UNF in comments are the papers that docs/internals/src/introduction.md
//! lists; figures and rules are cited where they are implemented.

#![forbid(unsafe_code)]

pub mod check_grad;
pub mod derive;
mod dual_numbers;
pub mod travel;

mod expansion;
mod explain;

pub use ad_back as emit;
pub use ad_front as front;
pub use ad_ir::{
    analysis, catalogue, choice, descriptor, diag, ir, memory_order, mode, positions, prim, program, sorted,
};
pub use ad_middle::{derivative, modes, passes, pipeline};
pub use expansion::{Expansion, expand, expand_and_dump, expand_watched, expansion, set_pages};

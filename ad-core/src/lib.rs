//! The compiler of `ad`: an ordinary library over `proc-macro2` tokens, so that all of it can be
//! tested without a macro.
//!
//! [`expand`] is the one call of the macro; the rest is public for tests. Only [`front`] reads
//! `syn`, only [`emit`] writes tokens; in between, everything is a term of [`ir`].
//!
//! BOT, CHAD, DN, KN and UNF in comments are the papers that ARCHITECTURE.md names; figures and
//! rules are cited where they are implemented.

#![forbid(unsafe_code)]

pub mod check_grad;
pub mod derive;
pub mod travel;

mod expansion;

pub use ad_back as emit;
pub use ad_front as front;
pub use ad_ir::{analysis, catalogue, choice, descriptor, diag, ir, memory_order, mode, prim, program};
pub use ad_middle::{derivative, modes, passes, pipeline};
pub use expansion::{Expansion, expand, expand_and_dump, expansion};

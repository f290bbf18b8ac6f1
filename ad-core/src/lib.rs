//! The compiler of `ad`: an ordinary library over `proc-macro2` tokens, so that all of it can be
//! tested without a macro.
//!
//! [`expand`] is the one call of the macro; the rest is public for tests. Only [`front`] reads
//! `syn`, only [`emit`] writes tokens; in between, everything is a term of [`ir`].
//!
//! BOT, CHAD, DN, KN and UNF in comments are the papers that ARCHITECTURE.md names; figures and
//! rules are cited where they are implemented.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod catalogue;
pub mod check_grad;
pub mod choice;
pub mod derivative;
pub mod diag;
pub mod emit;
pub mod front;
pub mod ir;
pub mod memory_order;
pub mod modes;
pub mod passes;
pub mod pipeline;
pub mod prim;
pub mod program;

mod expansion;
mod rust_types;
mod stage;
mod term;

pub use expansion::{Expansion, expand, expand_and_dump, expansion};

//! The parts that all crates of the compiler of `ad` share: the core language with its primitives
//! and analyses, ndarray's memory orders, diagnostics with their catalogue, programs in core terms,
//! and the list of derivatives.
//!
//! It must know neither the front end nor any pass. The crates `ad-front` and `ad-middle` depend on
//! it and not on each other, so that they are compiled at the same time; `ad-back` depends on
//! `ad-middle`, and `ad-core` puts all of them together.
//!
//! BOT, CHAD, DN, KN and UNF in comments are the papers that docs/internals/src/introduction.md
//! lists; figures and rules are cited where they are implemented.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod catalogue;
pub mod choice;
pub mod descriptor;
pub mod diag;
pub mod ir;
pub mod memory_order;
pub mod mode;
pub mod positions;
pub mod prim;
pub mod program;
pub mod rust_types;
pub mod sorted;
pub mod stage;

mod term;

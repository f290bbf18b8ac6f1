//! The compiler of `ad`.

pub mod ad;
pub mod bot;
pub mod catalogue;
pub mod diag;
pub mod emit;
mod flatten;
pub mod front;
pub mod ir;
pub mod prim;
pub mod program;
pub mod simplify;

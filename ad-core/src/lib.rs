//! The compiler of `ad`.

pub mod ad;
pub mod bot;
mod flatten;
pub mod ir;
pub mod prim;
pub mod program;
pub mod simplify;

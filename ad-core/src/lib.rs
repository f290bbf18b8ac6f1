//! The compiler of `ad`.

pub mod ir;
pub mod prim;
pub mod program;

//! The package of the benches, which are in `benches` at the root. The library only draws their
//! tables: it must never measure, and never need a dependency, so that the picture is drawn in
//! seconds.

pub mod speed;

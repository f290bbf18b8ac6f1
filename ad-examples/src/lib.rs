//! Holds nothing: the examples are in `examples` at the root.

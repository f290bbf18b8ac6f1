//! This library is empty: the package exists for the benches, which are in `benches` at the root.

//! Algorithms of differentiation, as peers: each gives build-free terms their derivative. One is built so far.

pub mod dual_arrays;

//! `exp ln tanh sigmoid softplus sin cos powf` and their kin without branches, for loops that LLVM vectorises.
//!
//! Plain arithmetic, fused multiply-adds, moves of bits and selects; every path is computed and the right one
//! chosen at the end. Written from the mathematics; the coefficients were computed for this file in 60 digits
//! (interpolation in Chebyshev nodes, then rounded). The errors stated are asserted by `tests/fast.rs`.
//!
//! Must never be called but from code that runs with fused multiply-add ([`super::Fused`]): elsewhere the results are
//! the same, but each `mul_add` is a library call. Must never branch on a value (but for the blocks of sines).

mod exponential;
mod power;
pub(super) mod trigonometric;

pub(super) mod double {
    //! In double precision.
    pub(crate) use super::exponential::double::*;
    pub(crate) use super::power::double as powf;
}

pub(super) mod single {
    //! In single precision.
    pub(crate) use super::exponential::single::*;
    pub(crate) use super::power::single as powf;
}

/// `c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule. The loops that call this have enough independent elements to
/// hide its latency; fewer operations then count for more than a shorter chain.
macro_rules! horner {
    ($x:expr, $c:expr) => {{
        let c = $c;
        let mut p = c[c.len() - 1];
        let mut i = c.len() - 1;
        while i > 0 {
            i -= 1;
            p = p.mul_add($x, c[i]);
        }
        p
    }};
}
use horner;

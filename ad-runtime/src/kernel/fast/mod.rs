//! `exp ln tanh sigmoid softplus sin cos powf` and similar functions without branches, for loops
//! that LLVM vectorises. Every path is computed, and the right one is selected at the end. The
//! coefficients were computed for this file in 60 digits (interpolation in Chebyshev nodes, then
//! rounded). `tests/fast.rs` asserts the stated errors.
//!
//! This module must only be called from code that runs with fused multiply-add ([`super::Fused`]):
//! elsewhere the results are the same, but each `mul_add` is a library call. This module must never
//! branch on a value (except in the blocks of sines).

mod exponential;
mod power;
pub(super) mod trigonometric;

pub(super) mod double {
    //! The functions in double precision.
    pub(crate) use super::exponential::double::*;
    pub(crate) use super::power::double as powf;
}

pub(super) mod single {
    //! The functions in single precision.
    pub(crate) use super::exponential::single::*;
    pub(crate) use super::power::single as powf;
}

/// `c[0] + c[1] x + c[2] x^2 + ...`, with separate chains for the even and the odd powers: a fused
/// multiply-add takes four cycles and two can start in each cycle, so the processor would wait for
/// one chain (Horner's rule), even in a loop.
macro_rules! horner {
    ($x:expr, $c:expr) => {{
        let (x, c) = ($x, $c);
        let square = x * x;
        let last = c.len() - 1;
        let (mut p, mut q) = (c[last], c[last - 1]);
        let mut i = last;
        while i >= 3 {
            i -= 2;
            p = p.mul_add(square, c[i]);
            q = q.mul_add(square, c[i - 1]);
        }
        if i == 2 { q.mul_add(x, p.mul_add(square, c[0])) } else { p.mul_add(x, q) }
    }};
}
use horner;

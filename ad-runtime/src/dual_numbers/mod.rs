//! Dual numbers: differentiation of any function that is generic over `T: Real`, without its body
//! (DN, the paper of Smeding and Vákár; sections are cited where they are implemented). The
//! function is called with numbers that record how they depend on its arguments ([`Reverse`]), or
//! that carry a tangent ([`Forward`]). Numbers are numbers of other numbers:
//! `Reverse<Forward<f64>>` gives second derivatives. Each level has its own type and its own tape,
//! so perturbations are never confused.
//!
//! A number that leaves its call is an error where it is used next. This module must never return a
//! derivative of such a number, and it must never allocate memory for a single operation.

// `tape` has the operations of a call, a reverse sweep and a forward sweep; `jobs` has the tapes of
// a call that forks, and `forks` their recorders. `rules` has the derivative of each operation,
// once for both modes, and `operators` the traits by which numbers are used. `lift` replaces the
// numbers in a value, and `calls` has what the functions of the attribute do.
//
// The recorders of the tapes are thread-local, so calls need std. Without it the numbers exist,
// since bounds name them, and nothing makes one.
#[cfg(feature = "std")]
mod calls;
#[cfg(feature = "rayon")]
mod forks;
mod forward;
#[cfg(feature = "rayon")]
mod jobs;
mod lift;
#[cfg(feature = "nalgebra")]
mod nalgebra;
mod operators;
#[cfg(feature = "rayon")]
pub mod parallel;
mod reverse;
mod rules;
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "only calls use a tape"))]
mod tape;
#[cfg(all(test, feature = "std"))]
mod tests;

#[cfg(feature = "std")]
pub use calls::{
    Block, Call, Columns, Dims, Overwrite, Pulled, Read, along, constant, copied, dims, hessian, laplacian, numbers,
    parts, primal, pushed,
};
pub use forward::Forward;
pub use lift::Lift;
pub use reverse::{Reverse, Reversible};
pub use rules::{Digamma, Erf, Erfc, LnGamma, Polygamma, Sigmoid, Softplus, Special, Tetragamma, Trigamma};
pub use tape::Recorder;

//! The problems of the suite as a user writes them: what is to be differentiated, and nothing of
//! the protocol. Tests and benches of the project use these files, too.

#![allow(missing_docs, reason = "the suite defines them")]
#![allow(clippy::needless_range_loop, clippy::manual_memcpy, reason = "loops over indices are what is meant")]

pub mod ba;
pub mod descent;
pub mod det;
pub mod gmm;
pub mod hello;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;
pub mod particle;
pub mod saddle;

//! A tool for GradBench, the benchmark suite of automatic differentiation: it answers the suite's
//! messages, one JSON object a line, by the derivatives of `ad`.
//!
//! A message never ends the process: what is wrong with it is the answer. Nothing here is
//! differentiated by hand.

mod evals;
mod inputs;
pub mod programs;
mod protocol;
mod runs;

pub use evals::{EVALS, Eval, Outcome, Run};
pub use protocol::answer;

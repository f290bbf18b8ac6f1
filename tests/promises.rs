//! The promises to users about a call of a derivative, sentence by sentence. Each sentence is
//! quoted above the test that shows it. (Decisions are tested in `decisions.rs`; the generated code
//! and its lints in `lints.rs` and `outside.rs`.)

// `forbid` is not compatible with ndarray's own `s!`.
#![deny(unsafe_code)]
// The tests are about code that is not reached.
#![allow(clippy::eq_op, clippy::redundant_closure_call, reason = "sizes of zero are written out")]
#![allow(clippy::needless_range_loop, reason = "an index of several arrays is what is tested")]

mod layouts;

#[path = "promises/bits.rs"]
mod bits;
#[path = "promises/entry.rs"]
mod entry;
#[path = "promises/masks.rs"]
mod masks;
#[path = "promises/messages.rs"]
mod messages;
#[path = "promises/no_step.rs"]
mod no_step;
#[path = "promises/panics.rs"]
mod panics;
#[path = "promises/reached.rs"]
mod reached;
#[path = "promises/values.rs"]
mod values;

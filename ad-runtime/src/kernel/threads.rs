//! Work that is shared by the threads of `rayon`'s pool, if the feature `rayon` is on.
//!
//! Work is halved until its parts are small. Where it is halved depends on sizes only, and so does
//! the order in which the sums of two parts are added. So the bits of a result do not depend on the
//! number of threads. This module must never ask how many threads there are, and never read a
//! clock.

#[cfg(feature = "rayon")]
mod chunks;

#[cfg(feature = "rayon")]
pub use chunks::{Rows, chunk, in_chunks};

#[cfg(feature = "rayon")]
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether all work is divided, however small it is.
#[cfg(feature = "rayon")]
static ALWAYS: AtomicBool = AtomicBool::new(false);

/// For tests: the rest of this process divides all work, down to single rows and items.
#[cfg(feature = "rayon")]
#[doc(hidden)]
pub fn force_parts() {
    ALWAYS.store(true, Ordering::Relaxed);
}

#[cfg(feature = "rayon")]
fn always() -> bool {
    ALWAYS.load(Ordering::Relaxed)
}

#[cfg(not(feature = "rayon"))]
fn always() -> bool {
    false
}

/// The least work of a part, in products of numbers or similar operations: about 30 microseconds.
/// To hand a part to another thread takes up to ten.
const MIN_PART: usize = 1 << 18;

/// The maximum number of parts of one piece of work. More would only repeat what each part does
/// once, such as packing an operand.
const MAX_PARTS: usize = 16;

/// How work on rows is divided into parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// The maximum number of rows of a part.
    rows: usize,
}

impl Division {
    /// The division of this number of rows, given the work on each; a part begins at a multiple of
    /// `unit`.
    pub(super) fn of(rows: usize, work: usize, unit: usize) -> Self {
        if !cfg!(feature = "rayon") {
            return Division { rows };
        }
        if always() {
            return Division { rows: rows.div_ceil(MAX_PARTS).max(1) };
        }
        let least = MIN_PART.div_ceil(work.max(1)).max(rows.div_ceil(MAX_PARTS));
        Division { rows: least.div_ceil(unit).saturating_mul(unit) }
    }

    /// How many rows the first half of these rows has; `None` if they are one part.
    pub(super) fn half(self, rows: usize) -> Option<usize> {
        (rows > self.rows).then(|| rows.div_ceil(self.rows) / 2 * self.rows)
    }
}

/// Runs both functions, at the same time if a thread is free and the feature is on.
pub(super) fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "rayon")]
    return rayon::join(a, b);
    #[cfg(not(feature = "rayon"))]
    (a(), b())
}

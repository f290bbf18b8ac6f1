//! Blocks of items on threads: generated code calls this for a tile (`ad-back/src/tiling.rs` of the
//! compiler) if the feature `rayon` is on.
//!
//! The items are divided into *chunks*, which are fixed by sizes. Each chunk has its own parts of
//! the arrays over items, and sums of its own; the sums of two neighbours are added up in a tree.

use alloc::vec;
use alloc::vec::Vec;

use super::{MAX_PARTS, MIN_PART, always, join};
use crate::Real;

/// How much more work a chunk has than its sums have numbers, which are cleared and added.
const WORK_OF_SUMS: usize = 64;
/// How much more work a chunk has than the numbers of 128 items in its memory, which it clears
/// once.
const WORK_OF_MEMORY: usize = 8 * 128;
/// A chunk has a multiple of this number of items, so that its blocks have whole lanes.
const LANES: usize = 16;

/// The number of items of a chunk. For each item there are `work` operations and `memory` numbers
/// in the memory of a block; the sums of a chunk have `sums` numbers.
#[must_use]
pub fn chunk(items: usize, [work, memory, sums]: [usize; 3]) -> usize {
    if always() {
        return items.div_ceil(MAX_PARTS).max(1);
    }
    let memory = memory.saturating_mul(WORK_OF_MEMORY);
    let least = MIN_PART.max(memory).max(sums.saturating_mul(WORK_OF_SUMS)).div_ceil(work.max(1));
    least.max(items.div_ceil(MAX_PARTS)).max(1).div_ceil(LANES).saturating_mul(LANES)
}

/// Arrays that have a row for each item: an array with the number of elements of a row, or a pair.
pub trait Rows: Send + Sized {
    /// The rows of the first items, and the others.
    fn halves(self, items: usize) -> (Self, Self);
}

impl<A: Send> Rows for (&mut [A], usize) {
    fn halves(self, items: usize) -> (Self, Self) {
        let (first, second) = self.0.split_at_mut(items * self.1);
        ((first, self.1), (second, self.1))
    }
}

impl Rows for () {
    fn halves(self, _: usize) -> (Self, Self) {
        ((), ())
    }
}

impl<A: Rows, B: Rows> Rows for (A, B) {
    fn halves(self, items: usize) -> (Self, Self) {
        let ((a, c), (b, d)) = (self.0.halves(items), self.1.halves(items));
        ((a, b), (c, d))
    }
}

/// Calls `one` for each chunk of the items, with the first item, the number of items, the rows of
/// these items, and sums to which it adds.
pub fn in_chunks<F: Real, R: Rows, const S: usize>(
    items: usize,
    chunk: usize,
    rows: R,
    sums: [&mut [F]; S],
    one: impl Fn(usize, usize, R, [&mut [F]; S]) + Sync,
) {
    halved((0, items), chunk, rows, sums, &one);
}

fn halved<F: Real, R: Rows, const S: usize>(
    (first, items): (usize, usize),
    chunk: usize,
    rows: R,
    mut sums: [&mut [F]; S],
    one: &(impl Fn(usize, usize, R, [&mut [F]; S]) + Sync),
) {
    if items <= chunk {
        one(first, items, rows, sums);
        return;
    }
    let half = items.div_ceil(chunk) / 2 * chunk;
    let (rows, other_rows) = rows.halves(half);
    let mut other: [Vec<F>; S] = core::array::from_fn(|k| vec![F::zero(); sums[k].len()]);
    let (own, others) = (sums.each_mut().map(|sum| &mut **sum), other.each_mut().map(|sum| &mut sum[..]));
    join(
        || halved((first, half), chunk, rows, own, one),
        || halved((first + half, items - half), chunk, other_rows, others, one),
    );
    for (sum, other) in sums.iter_mut().zip(&other) {
        for (sum, &other) in sum.iter_mut().zip(other) {
            *sum += other;
        }
    }
}

//! The tape of one number type and thread (DN section 9.3): for each operation the two operands
//! and the partial derivatives, in the order of evaluation. Identities are positions, so they are
//! monotone: a sweep is one walk over the entries (DN section 9.1).
//!
//! A tape is a list of chunks of a fixed size. It grows without being copied, and its memory is
//! reused by the next call. This module must never know what an operation computes.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::Real;

/// The number of entries of a chunk.
const CHUNK: usize = 1 << 14;

/// The identity of constants. Contributions to it are never read.
pub(super) const CONSTANT: u32 = 0;

/// A generation that no call has.
const NO_CALL: u32 = 0;

/// An operation: its contributions to two earlier entries (the defunctionalised backpropagator of
/// DN section 9.2).
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    partials: [T; 2],
    operands: [u32; 2],
}

/// The operations of one call.
#[derive(Debug)]
struct Tape<T> {
    full: Vec<Vec<Entry<T>>>,
    last: Vec<Entry<T>>,
    empty: Vec<Vec<Entry<T>>>,
    generation: u32,
}

impl<T> Tape<T> {
    const fn new() -> Self {
        Tape { full: Vec::new(), last: Vec::new(), empty: Vec::new(), generation: NO_CALL }
    }

    /// Drops the entries, and keeps their memory.
    fn clear(&mut self) {
        if let Some(first) = self.full.first_mut() {
            // The first chunk stays the first, since it alone may be small.
            core::mem::swap(first, &mut self.last);
        }
        for mut chunk in self.full.drain(..).rev() {
            chunk.clear();
            self.empty.push(chunk);
        }
        self.last.clear();
        self.generation = NO_CALL;
    }

    fn len(&self) -> usize {
        self.full.len() * CHUNK + self.last.len()
    }

    #[cold]
    #[inline(never)]
    fn next_chunk(&mut self) {
        let next = self.empty.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        self.full.push(core::mem::replace(&mut self.last, next));
        let positions = u32::MAX as usize;
        assert!(self.len() + CHUNK <= positions, "dual numbers: a call has more than {positions} operations");
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "`next_chunk` checks the number of entries")]
    fn push(&mut self, entry: Entry<T>) -> u32 {
        if self.last.len() == CHUNK {
            self.next_chunk();
        }
        let position = self.full.len() * CHUNK + self.last.len();
        self.last.push(entry);
        position as u32
    }

    fn chunks(&self) -> impl DoubleEndedIterator<Item = &Vec<Entry<T>>> {
        self.full.iter().chain([&self.last])
    }
}

/// The tapes of one number type and thread: that of the running call, and those of the calls around
/// it.
#[derive(Debug)]
pub struct Recorder<T> {
    running: Tape<T>,
    outer: Vec<Tape<T>>,
    spare: Vec<Tape<T>>,
    /// The memory for cotangents.
    sums: Vec<Vec<T>>,
}

impl<T> Recorder<T> {
    /// The recorder of a thread without a call.
    #[must_use]
    pub const fn new() -> Self {
        Recorder { running: Tape::new(), outer: Vec::new(), spare: Vec::new(), sums: Vec::new() }
    }
}

impl<T> Default for Recorder<T> {
    fn default() -> Self {
        Recorder::new()
    }
}

impl<T: Real> Recorder<T> {
    /// Begins a call, whose generation no other call of the program has.
    pub(super) fn begin(&mut self) -> u32 {
        static LAST: AtomicU32 = AtomicU32::new(NO_CALL);
        let mut generation = NO_CALL;
        while generation == NO_CALL {
            generation = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        }
        let mut tape = self.spare.pop().unwrap_or_else(Tape::new);
        tape.generation = generation;
        // The first entry is that of all constants.
        tape.push(Entry { partials: [T::zero(); 2], operands: [CONSTANT; 2] });
        self.outer.push(core::mem::replace(&mut self.running, tape));
        generation
    }

    /// Ends the running call. The calls around it continue.
    pub(super) fn end(&mut self) -> Ended<T> {
        let outer = self.outer.pop().unwrap_or_else(Tape::new);
        let tape = core::mem::replace(&mut self.running, outer);
        Ended { tape, sums: self.sums.pop().unwrap_or_default() }
    }

    /// Keeps the memory of a call for the next one.
    pub(super) fn reuse(&mut self, Ended { mut tape, mut sums }: Ended<T>) {
        tape.clear();
        self.spare.push(tape);
        sums.clear();
        self.sums.push(sums);
    }

    /// Fails unless a number is one of the running call.
    #[inline(always)]
    pub(super) fn check(&self, generation: u32, position: u32) {
        if generation != self.running.generation && position != CONSTANT {
            left_its_call(self.running.generation == NO_CALL);
        }
    }

    /// Records an operation. The result is its identity.
    #[inline(always)]
    pub(super) fn push(&mut self, operands: [u32; 2], partials: [T; 2]) -> (u32, u32) {
        (self.running.push(Entry { partials, operands }), self.running.generation)
    }
}

#[cold]
#[inline(never)]
fn left_its_call(outside: bool) -> ! {
    let place = if outside { "after it" } else { "in another call or thread" };
    panic!(
        "dual numbers: a number of a call of a derivative is used {place}; a function must not keep its numbers \
         (in a static or a thread-local variable, or for another thread)"
    );
}

/// The tape of a call that has ended, and the memory for sweeps over it.
#[derive(Debug)]
pub(super) struct Ended<T> {
    tape: Tape<T>,
    sums: Vec<T>,
}

impl<T: Real> Ended<T> {
    /// Fails unless a number is one of this call.
    pub(super) fn check(&self, generation: u32, position: u32) {
        if generation != self.tape.generation && position != CONSTANT {
            left_its_call(false);
        }
    }

    /// Sets the cotangent (or the tangent) of each entry to zero.
    fn reset(&mut self) {
        let len = self.tape.len();
        self.sums.clear();
        self.sums.reserve_exact(len);
        self.sums.resize(len, T::zero());
    }

    /// The transposed linear map of the call: the cotangents of the first entries after the
    /// constants, from cotangents of some entries. Zeros contribute nothing, even if partial
    /// derivatives are infinite.
    pub(super) fn transposed(&mut self, inputs: usize, seeds: impl Iterator<Item = (u32, T)>) -> &[T] {
        self.reset();
        let sums = &mut self.sums[..];
        for (position, seed) in seeds {
            sums[position as usize] += seed;
        }
        let mut end = self.tape.len();
        for chunk in self.tape.chunks().rev() {
            let start = end - chunk.len();
            let first = start.max(inputs + 1).min(end) - start;
            for (k, entry) in chunk.iter().enumerate().skip(first).rev() {
                let cotangent = sums[start + k];
                if cotangent.vanishes() {
                    continue;
                }
                let ([a, b], [da, db]) = (entry.operands, entry.partials);
                sums[a as usize] += da * cotangent;
                // The partial derivative of an absent operand must not turn an infinity into NaN.
                if b != CONSTANT {
                    sums[b as usize] += db * cotangent;
                }
            }
            end = start;
        }
        &self.sums[1..=inputs]
    }

    /// What the last sweep has found, by position.
    pub(super) fn sums(&self) -> &[T] {
        &self.sums
    }

    /// The linear map of the call: the tangents of all entries, from tangents of the first entries
    /// after the constants.
    pub(super) fn applied(&mut self, tangents: impl ExactSizeIterator<Item = T>) -> &[T] {
        self.reset();
        let inputs = tangents.len();
        for (place, tangent) in self.sums[1..].iter_mut().zip(tangents) {
            *place = tangent;
        }
        let mut position = 0;
        for chunk in self.tape.chunks() {
            for entry in chunk {
                if position > inputs {
                    let mut sum = T::zero();
                    for (operand, partial) in entry.operands.into_iter().zip(entry.partials) {
                        let tangent = self.sums[operand as usize];
                        if operand != CONSTANT && !tangent.vanishes() {
                            sum += partial * tangent;
                        }
                    }
                    self.sums[position] = sum;
                }
                position += 1;
            }
        }
        &self.sums
    }

    /// The number of bytes that the call has needed.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let chunks = self.tape.full.iter().chain(&self.tape.empty).chain([&self.tape.last]);
        chunks.map(|c| c.capacity() * size_of::<Entry<T>>()).sum::<usize>() + self.sums.capacity() * size_of::<T>()
    }
}

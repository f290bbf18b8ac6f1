//! The tape of one number type and thread (DN section 9.3): for each operation the two operands
//! and the partial derivatives, in the order of evaluation. Identities are positions, so they are
//! monotone: a sweep is one walk over the entries (DN section 9.1).
//!
//! A tape is a list of chunks of a fixed size. It grows without being copied, and its memory is
//! reused by the next call. A call that forks has a tape for each of its jobs (`jobs`); an operand
//! is then a position on the job's own tape, or the number of an entry in its list of numbers of
//! other jobs. This module must never know what an operation computes.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "rayon")]
use super::jobs::Job;
use crate::Real;

/// The number of entries of a chunk, and of the first chunk of a tape at its beginning.
const CHUNK: usize = 1 << 14;
const FIRST: usize = 1 << 6;

/// The identity of constants. Contributions to it are never read.
pub(super) const CONSTANT: u32 = 0;

/// A generation that no call has.
pub(super) const NO_CALL: u32 = 0;

/// The bit of operands that are numbers of other jobs.
pub(super) const FOREIGN: u32 = 1 << 31;

/// The entry of a number: its position, and the generation of its call or job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub position: u32,
    pub generation: u32,
}

impl Identity {
    /// The constants beside it.
    #[inline(always)]
    pub(super) fn constant(self) -> Self {
        Identity { position: CONSTANT, ..self }
    }
}

/// An operation: its contributions to two earlier entries (the defunctionalised backpropagator of
/// DN section 9.2).
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    partials: [T; 2],
    operands: [u32; 2],
}

/// The operations of one call, or of one of its jobs.
#[derive(Debug)]
pub(super) struct Tape<T> {
    full: Vec<Vec<Entry<T>>>,
    /// The chunk that grows. Its places after the last entry have any values, so that one test of
    /// an index is all that an operation costs.
    last: Vec<Entry<T>>,
    /// The number of entries in `last`, and of those before them.
    used: usize,
    before: usize,
    empty: Vec<Vec<Entry<T>>>,
    pub(super) generation: u32,
    /// The cotangent (or the tangent) of each entry, in a sweep.
    pub(super) sums: Vec<T>,
    /// What a call that forks needs besides.
    #[cfg(feature = "rayon")]
    pub(super) job: Option<alloc::boxed::Box<Job<T>>>,
}

impl<T> Tape<T> {
    pub(super) const fn new() -> Self {
        Tape {
            full: Vec::new(),
            last: Vec::new(),
            used: 0,
            before: 0,
            empty: Vec::new(),
            generation: NO_CALL,
            sums: Vec::new(),
            #[cfg(feature = "rayon")]
            job: None,
        }
    }

    /// Drops the entries, and keeps their memory.
    fn clear(&mut self) {
        if let Some(first) = self.full.first_mut() {
            // The first chunk stays the first, since it alone may be small.
            core::mem::swap(first, &mut self.last);
        }
        while let Some(chunk) = self.full.pop() {
            self.empty.push(chunk);
        }
        (self.used, self.before) = (0, 0);
        self.sums.clear();
        self.generation = NO_CALL;
    }

    pub(super) fn len(&self) -> usize {
        self.before + self.used
    }

    fn chunks(&self) -> impl DoubleEndedIterator<Item = &[Entry<T>]> {
        self.full.iter().map(|chunk| &chunk[..]).chain([&self.last[..self.used]])
    }
}

/// Rare work is in functions that are not given an entry: if the address of an entry were taken,
/// entries could not be in registers.
impl<T: Real> Tape<T> {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "`grow` checks the number of entries")]
    fn push(&mut self, operands: [u32; 2], partials: [T; 2]) -> u32 {
        if self.used >= self.last.len() {
            self.grow();
        }
        let position = self.before + self.used;
        if let Some(place) = self.last.get_mut(self.used) {
            *place = Entry { partials, operands };
        }
        self.used += 1;
        position as u32
    }

    /// Makes room for entries.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let nothing = Entry { partials: [T::zero(); 2], operands: [CONSTANT; 2] };
        if self.used == CHUNK {
            let next = self.empty.pop().unwrap_or_else(|| vec![nothing; CHUNK]);
            self.full.push(core::mem::replace(&mut self.last, next));
            (self.used, self.before) = (0, self.before + CHUNK);
            let positions = FOREIGN as usize;
            assert!(self.len() + CHUNK <= positions, "dual numbers: a call has more than {positions} operations");
        } else {
            self.last.resize((2 * self.used).max(FIRST), nothing);
        }
    }
}

impl<T: Real> Tape<T> {
    /// Begins an empty tape, whose generation no other call or job of the program has.
    pub(super) fn begin(&mut self) {
        static LAST: AtomicU32 = AtomicU32::new(NO_CALL);
        while self.generation == NO_CALL {
            self.generation = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        }
        // The first entry is that of all constants.
        self.push([CONSTANT; 2], [T::zero(); 2]);
    }

    /// Sets the cotangent (or the tangent) of each entry to zero.
    pub(super) fn reset(&mut self) {
        let len = self.len();
        self.sums.clear();
        self.sums.reserve_exact(len);
        self.sums.resize(len, T::zero());
    }

    /// Goes over the entries of a range, the last first, and adds the contributions of their
    /// cotangents to those of their operands. `foreign` has those of numbers of other jobs. Zeros
    /// contribute nothing, even if partial derivatives are infinite.
    pub(super) fn swept(&mut self, from: usize, to: usize, foreign: &mut [T]) {
        let mut sums = core::mem::take(&mut self.sums);
        let mut end = self.len();
        for chunk in self.chunks().rev() {
            let start = end - chunk.len();
            let (first, last) = (from.clamp(start, end) - start, to.clamp(start, end) - start);
            // A call that does not fork has no numbers of other jobs.
            match foreign.is_empty() {
                true => {
                    sweep(&chunk[first..last], start + first, &mut sums, |sums, at, more| sums[at as usize] += more)
                }
                false => sweep(&chunk[first..last], start + first, &mut sums, |sums, at, more| match at & FOREIGN {
                    0 => sums[at as usize] += more,
                    _ => foreign[(at ^ FOREIGN) as usize] += more,
                }),
            }
            end = start;
        }
        self.sums = sums;
    }
}

/// Sweeps over entries, of which the first has this position.
#[inline(always)]
fn sweep<T: Real>(entries: &[Entry<T>], position: usize, sums: &mut [T], mut add: impl FnMut(&mut [T], u32, T)) {
    for (k, entry) in entries.iter().enumerate().rev() {
        let cotangent = sums[position + k];
        if cotangent.vanishes() {
            continue;
        }
        let ([a, b], [da, db]) = (entry.operands, entry.partials);
        add(sums, a, da * cotangent);
        // The partial derivative of an absent operand must not turn an infinity into NaN.
        if b != CONSTANT {
            add(sums, b, db * cotangent);
        }
    }
}

/// The tapes of one number type and thread: that of the running call, and those of the calls around
/// it.
#[derive(Debug)]
pub struct Recorder<T> {
    pub(super) running: Tape<T>,
    outer: Vec<Tape<T>>,
    pub(super) spare: Vec<Tape<T>>,
}

impl<T> Recorder<T> {
    /// The recorder of a thread without a call.
    #[must_use]
    pub const fn new() -> Self {
        Recorder { running: Tape::new(), outer: Vec::new(), spare: Vec::new() }
    }

    /// Runs a tape. The calls around it wait.
    pub(super) fn enter(&mut self, tape: Tape<T>) {
        self.outer.push(core::mem::replace(&mut self.running, tape));
    }

    /// Ends the running tape. The calls around it continue.
    pub(super) fn leave(&mut self) -> Tape<T> {
        let outer = self.outer.pop().unwrap_or_else(Tape::new);
        core::mem::replace(&mut self.running, outer)
    }

    /// Keeps the memory of a tape for the next one.
    pub(super) fn keep(&mut self, mut tape: Tape<T>) {
        tape.clear();
        self.spare.push(tape);
    }
}

impl<T> Default for Recorder<T> {
    fn default() -> Self {
        Recorder::new()
    }
}

impl<T: Real> Recorder<T> {
    /// Begins a call.
    pub(super) fn begin(&mut self) {
        let mut tape = self.spare.pop().unwrap_or_else(Tape::new);
        tape.begin();
        self.enter(tape);
    }

    /// Ends the running call. The calls around it continue.
    pub(super) fn end(&mut self) -> Ended<T> {
        Ended { tape: self.leave() }
    }

    /// Keeps the memory of a call for the next one.
    pub(super) fn reuse(&mut self, ended: Ended<T>) {
        #[cfg(feature = "rayon")]
        let ended = Ended { tape: self.without_jobs(ended.tape) };
        self.keep(ended.tape);
    }

    /// Whether no call runs in this thread.
    pub(super) fn is_idle(&self) -> bool {
        self.running.generation == NO_CALL
    }

    /// A number as an operand of the running tape, if it is a number of the running call.
    #[inline(never)]
    pub(super) fn operand(&mut self, number: Identity) -> Option<u32> {
        match number {
            Identity { position: CONSTANT, .. } => Some(CONSTANT),
            Identity { position, generation } if generation == self.running.generation => Some(position),
            #[cfg(feature = "rayon")]
            _ => self.running.job.as_mut()?.operand(number),
            #[cfg(not(feature = "rayon"))]
            _ => None,
        }
    }

    /// Records an argument.
    pub(super) fn argument(&mut self) -> Identity {
        let position = self.running.push([CONSTANT; 2], [T::zero(); 2]);
        Identity { position, generation: self.running.generation }
    }

    /// Records an operation. The result is its identity, if both operands are numbers of the
    /// running call.
    #[inline(always)]
    pub(super) fn record(&mut self, [a, b]: [Identity; 2], partials: [T; 2]) -> Option<Identity> {
        let generation = self.running.generation;
        let mut operands = [a.position, b.position];
        if a.generation != generation || b.generation != generation {
            operands = self.foreign(a, b)?;
        }
        Some(Identity { position: self.running.push(operands, partials), generation })
    }

    #[inline(never)]
    fn foreign(&mut self, a: Identity, b: Identity) -> Option<[u32; 2]> {
        Some([self.operand(a)?, self.operand(b)?])
    }
}

/// The tape of a call that has ended, with those of its jobs.
#[derive(Debug)]
pub(super) struct Ended<T> {
    pub(super) tape: Tape<T>,
}

impl<T: Real> Ended<T> {
    /// The transposed linear map of the call: the cotangents of the first entries after the
    /// constants, from cotangents of some operands.
    pub(super) fn transposed(&mut self, inputs: usize, seeds: impl Iterator<Item = (u32, T)>) -> &[T] {
        #[cfg(feature = "rayon")]
        if self.tape.job.is_some() {
            self.tape.jobs_transposed(inputs, seeds);
            return &self.tape.sums[1..=inputs];
        }
        let tape = &mut self.tape;
        tape.reset();
        for (position, seed) in seeds {
            tape.sums[position as usize] += seed;
        }
        tape.swept(inputs + 1, tape.len(), &mut []);
        &tape.sums[1..=inputs]
    }

    /// Whether [`Ended::applied`] has the linear map.
    pub(super) fn is_applicable(&self) -> bool {
        #[cfg(feature = "rayon")]
        return self.tape.job.is_none();
        #[cfg(not(feature = "rayon"))]
        true
    }

    /// What the last sweep has found, by position.
    pub(super) fn sums(&self) -> &[T] {
        &self.tape.sums
    }

    /// The linear map of a call that has not forked: the tangents of all entries, from tangents of
    /// the first entries after the constants.
    pub(super) fn applied(&mut self, tangents: impl ExactSizeIterator<Item = T>) -> &[T] {
        self.tape.reset();
        let inputs = tangents.len();
        let mut sums = core::mem::take(&mut self.tape.sums);
        for (place, tangent) in sums[1..].iter_mut().zip(tangents) {
            *place = tangent;
        }
        let mut position = 0;
        for chunk in self.tape.chunks() {
            for entry in chunk {
                if position > inputs {
                    let mut sum = T::zero();
                    for (operand, partial) in entry.operands.into_iter().zip(entry.partials) {
                        let tangent = sums[operand as usize];
                        if operand != CONSTANT && !tangent.vanishes() {
                            sum += partial * tangent;
                        }
                    }
                    sums[position] = sum;
                }
                position += 1;
            }
        }
        self.tape.sums = sums;
        &self.tape.sums
    }

    /// The number of bytes that the call has needed.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let tape = &self.tape;
        let chunks = tape.full.iter().chain(&tape.empty).chain([&tape.last]);
        chunks.map(|c| c.capacity() * size_of::<Entry<T>>()).sum::<usize>() + tape.sums.capacity() * size_of::<T>()
    }
}

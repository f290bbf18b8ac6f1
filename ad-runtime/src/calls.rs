//! The records of calls that a derivative makes: what a forward half leaves for the reverse half,
//! and results that are more than one number. A record is a number, 0 for a call that was not made.
//! Records only grow while a derivative runs: memory is in proportion to the calls.
//!
//! This module must never know what a record means.

use std::cell::RefCell;

/// A number or truth value as bits.
pub trait Word: Copy + Default {
    /// The bits.
    fn to_word(self) -> u64;
    /// The value with these bits.
    fn of_word(word: u64) -> Self;
}

impl Word for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits()
    }
    #[inline]
    fn of_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
}

impl Word for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the upper half is empty")]
    fn of_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }
}

impl Word for bool {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn of_word(word: u64) -> bool {
        word != 0
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(impl Word for $ty {
            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss, trivial_numeric_casts, reason = "the way back is the same")]
            fn to_word(self) -> u64 {
                self as u64
            }
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, trivial_numeric_casts, reason = "it was one before")]
            fn of_word(word: u64) -> $ty {
                word as $ty
            }
        })*
    };
}

integers!(usize, isize, i32, i64, u32, u64, u8);

/// The records of the calls of one derivative.
#[derive(Debug, Default)]
pub struct Calls {
    /// Of each record: its numbers, and for each of its arrays where it begins.
    places: RefCell<Vec<u64>>,
    /// The arrays, each behind its length.
    arrays: RefCell<Vec<u64>>,
}

impl Calls {
    /// No records.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a record of these numbers, and of arrays that have been kept.
    #[must_use]
    #[inline]
    pub fn record<const N: usize>(&self, words: [u64; N]) -> usize {
        let mut places = self.places.borrow_mut();
        let record = places.len() + 1;
        places.extend_from_slice(&words);
        record
    }

    /// Keeps an array. The result stands for it in a record.
    #[must_use]
    #[inline]
    pub fn keep(&self, x: &[impl Word]) -> u64 {
        let mut arrays = self.arrays.borrow_mut();
        let at = arrays.len();
        arrays.reserve(x.len() + 1);
        arrays.push(x.len() as u64);
        arrays.extend(x.iter().map(|x| x.to_word()));
        at as u64
    }

    /// `N` numbers of a record from `first` on.
    #[must_use]
    #[inline]
    pub fn words<const N: usize>(&self, record: usize, first: usize) -> [u64; N] {
        let mut words = [0; N];
        if let Some(begin) = record.checked_sub(1) {
            words.copy_from_slice(&self.places.borrow()[begin + first..][..N]);
        }
        words
    }

    /// Number `k` of a record.
    #[must_use]
    #[inline]
    pub fn read<W: Word>(&self, record: usize, k: usize) -> W {
        let [word] = self.words(record, k);
        W::of_word(word)
    }

    /// An array that was kept.
    #[must_use]
    #[inline]
    pub fn array<W: Word>(&self, kept: u64) -> Vec<W> {
        let (at, arrays) = (usize::of_word(kept), self.arrays.borrow());
        let len = usize::of_word(arrays[at]);
        arrays[at + 1..][..len].iter().map(|&x| W::of_word(x)).collect()
    }

    /// An array that was kept, as far as there is place. What is left is zero.
    #[inline]
    pub fn fill<W: Word>(&self, out: &mut [W], kept: u64) {
        let (at, arrays) = (usize::of_word(kept), self.arrays.borrow());
        let written = usize::of_word(arrays[at]).min(out.len());
        for (x, &word) in out.iter_mut().zip(&arrays[at + 1..][..written]) {
            *x = W::of_word(word);
        }
        out[written..].fill(W::default());
    }

    /// Array `k` of a record. That of no call is zero.
    #[inline]
    pub fn read_array<W: Word>(&self, out: &mut [W], record: usize, k: usize) {
        match record {
            0 => out.fill(W::default()),
            _ => self.fill(out, self.read(record, k)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Word};

    #[test]
    fn a_record_gives_back_what_was_written() {
        let calls = Calls::new();
        let array = calls.keep(&[1_i64, -2]);
        let first = calls.record([1.5_f32.to_word(), array]);
        let array = calls.keep(&[0.25_f64]);
        let second = calls.record([true.to_word(), array, 7_usize.to_word()]);
        assert!(calls.read::<f32>(first, 0) == 1.5 && calls.array::<i64>(calls.read(first, 1)) == [1, -2]);
        let [number] = calls.words(second, 2);
        assert!(calls.read::<bool>(second, 0) && usize::of_word(number) == 7);
        let mut out = [9.0; 3];
        calls.read_array(&mut out, second, 1);
        assert!(out == [0.25, 0.0, 0.0]);
    }

    #[test]
    fn the_record_of_no_call_is_zero() {
        let calls = Calls::new();
        let mut out = [3.0; 2];
        calls.read_array(&mut out, 0, 4);
        assert!(out == [0.0; 2] && calls.read::<f64>(0, 2) == 0.0 && calls.words::<2>(0, 1) == [0, 0]);
    }
}

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
    fn to_word(self) -> u64 {
        self.to_bits()
    }
    fn of_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
}

impl Word for f32 {
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[allow(clippy::cast_possible_truncation, reason = "the upper half is empty")]
    fn of_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }
}

impl Word for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    fn of_word(word: u64) -> bool {
        word != 0
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(impl Word for $ty {
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss, trivial_numeric_casts, reason = "the way back is the same")]
            fn to_word(self) -> u64 {
                self as u64
            }
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
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the record that is written next.
    #[must_use]
    pub fn begin(&self) -> usize {
        self.places.borrow().len() + 1
    }

    /// Writes a number of the record.
    pub fn write(&self, x: impl Word) {
        self.places.borrow_mut().push(x.to_word());
    }

    /// Writes an array of the record.
    pub fn write_array(&self, x: &[impl Word]) {
        let mut arrays = self.arrays.borrow_mut();
        self.write(arrays.len());
        arrays.push(x.len() as u64);
        arrays.extend(x.iter().map(|x| x.to_word()));
    }

    /// Number `k` of a record.
    #[must_use]
    pub fn read<W: Word>(&self, record: usize, k: usize) -> W {
        match record.checked_sub(1) {
            Some(first) => W::of_word(self.places.borrow()[first + k]),
            None => W::default(),
        }
    }

    /// Array `k` of a record.
    #[must_use]
    pub fn array<W: Word>(&self, record: usize, k: usize) -> Vec<W> {
        if record == 0 {
            return Vec::new();
        }
        let (at, arrays) = (self.read::<usize>(record, k), self.arrays.borrow());
        let len = usize::of_word(arrays[at]);
        arrays[at + 1..][..len].iter().map(|&x| W::of_word(x)).collect()
    }

    /// Array `k` of a record, as far as there is place. What is left is zero.
    pub fn read_array<W: Word>(&self, out: &mut [W], record: usize, k: usize) {
        let mut written = 0;
        if record > 0 {
            let (at, arrays) = (self.read::<usize>(record, k), self.arrays.borrow());
            written = usize::of_word(arrays[at]).min(out.len());
            for (x, &word) in out.iter_mut().zip(&arrays[at + 1..][..written]) {
                *x = W::of_word(word);
            }
        }
        out[written..].fill(W::default());
    }
}

#[cfg(test)]
mod tests {
    use super::Calls;

    #[test]
    fn a_record_gives_back_what_was_written() {
        let calls = Calls::new();
        let first = calls.begin();
        calls.write(1.5_f32);
        calls.write_array(&[1_i64, -2]);
        let second = calls.begin();
        calls.write(true);
        calls.write_array(&[0.25_f64]);
        calls.write(7_usize);
        assert!(calls.read::<f32>(first, 0) == 1.5 && calls.array::<i64>(first, 1) == [1, -2]);
        assert!(calls.read::<bool>(second, 0) && calls.array::<f64>(second, 1) == [0.25]);
        assert_eq!(calls.read::<usize>(second, 2), 7);
        let mut out = [9.0; 3];
        calls.read_array(&mut out, second, 1);
        assert!(out == [0.25, 0.0, 0.0]);
    }

    #[test]
    fn the_record_of_no_call_is_zero() {
        let calls = Calls::new();
        let mut out = [3.0; 2];
        calls.read_array(&mut out, 0, 4);
        assert!(out == [0.0; 2] && calls.read::<f64>(0, 2) == 0.0 && calls.array::<u8>(0, 1).is_empty());
    }
}

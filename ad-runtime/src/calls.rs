//! The records of calls in a derivative: the residuals that a forward half saves for the reverse
//! half, and results with more than one number. A record is a number, 0 for a call that was not
//! made. Records only grow while a derivative runs: memory is proportional to the number of calls.
//! Up to a limit, the memory is reused by the next derivative of the thread.
//! Records of forward halves are kept apart from the results of other calls, since a reverse half
//! reads the former in place while it adds the latter.
//!
//! This module must never know the meaning of a record.

use alloc::boxed::Box;
#[cfg(not(feature = "std"))]
use alloc::collections::BTreeMap as Map;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Ref, RefCell};
#[cfg(feature = "std")]
use std::collections::HashMap as Map;

/// A number or truth value as bits.
pub trait Word: Copy + Default {
    /// The bits.
    fn to_word(self) -> u64;
    /// The value with these bits.
    fn of_word(word: u64) -> Self;
    /// The memory for arrays of this type.
    #[doc(hidden)]
    fn arena(arrays: &Arrays) -> &RefCell<SavedArrays<Self>>;
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
    #[inline]
    fn arena(arrays: &Arrays) -> &RefCell<SavedArrays<f64>> {
        &arrays.f64
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
    #[inline]
    fn arena(arrays: &Arrays) -> &RefCell<SavedArrays<f32>> {
        &arrays.f32
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
    #[inline]
    fn arena(arrays: &Arrays) -> &RefCell<SavedArrays<bool>> {
        &arrays.bool
    }
}

macro_rules! integers {
    ($($ty:ident),*) => {
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
            #[inline]
            fn arena(arrays: &Arrays) -> &RefCell<SavedArrays<$ty>> {
                &arrays.$ty
            }
        })*
    };
}

integers!(usize, isize, i32, i64, u32, u64, u8);

/// The saved arrays of one element type, concatenated.
#[derive(Debug, Default)]
pub struct SavedArrays<W> {
    all: Vec<W>,
    /// The start and the number of zeros that all arrays of zeros share.
    zeros: (usize, usize),
}

impl<W> SavedArrays<W> {
    #[cfg(feature = "std")]
    fn clear(&mut self) {
        self.all.clear();
        self.zeros = (0, 0);
    }

    #[cfg(feature = "std")]
    fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<W>()
    }
}

type Arena<W> = RefCell<SavedArrays<W>>;

macro_rules! arrays {
    ($($ty:ident)*) => {
        /// The saved arrays, by element type.
        #[derive(Debug, Default)]
        pub struct Arrays {
            $($ty: Arena<$ty>,)*
        }

        impl Arrays {
            #[cfg(feature = "std")]
            fn clear(&mut self) {
                $(self.$ty.get_mut().clear();)*
            }

            #[cfg(feature = "std")]
            fn bytes(&self) -> usize {
                [$(self.$ty.borrow().bytes()),*].iter().sum()
            }
        }
    };
}

arrays!(f64 f32 bool usize isize i32 i64 u32 u64 u8);

/// The bits of a word for the start of an array. The bits above are for its length, and the highest
/// one marks an index into the list of places.
const START_BITS: u32 = 40;
const START_LIMIT: u64 = 1 << START_BITS;
const LENGTH_LIMIT: u64 = 1 << (63 - START_BITS);
const LISTED_MARK: u64 = 1 << 63;

/// Records, which only grow while a derivative runs.
#[derive(Debug, Default)]
pub struct Records {
    /// The lowest bit of the number of a record, which tells the two lists of records apart.
    tag: usize,
    /// For each record its numbers, and for each of its arrays its place.
    words: RefCell<Vec<u64>>,
    /// The start and the end of each array whose place does not fit into a word.
    places: RefCell<Vec<(usize, usize)>>,
    arrays: Arrays,
}

impl Records {
    /// Makes a record of these numbers, some of which refer to saved arrays.
    #[must_use]
    #[inline]
    pub fn record<const N: usize>(&self, words: [u64; N]) -> usize {
        let mut all = self.words.borrow_mut();
        let record = 2 * all.len() + 2 + self.tag;
        all.extend_from_slice(&words);
        // A record without numbers has a unique number as well.
        if N == 0 {
            all.push(0);
        }
        record
    }

    /// Saves an array. Returns the word that refers to it in a record.
    #[must_use]
    #[inline]
    pub fn keep<W: Word>(&self, x: &[W]) -> u64 {
        let mut arena = W::arena(&self.arrays).borrow_mut();
        let begin = arena.all.len();
        arena.all.extend_from_slice(x);
        self.placed(begin, x.len())
    }

    /// Saves an array of zeros. All arrays of zeros share their memory.
    #[must_use]
    #[inline]
    pub fn keep_zeros<W: Word>(&self, n: usize) -> u64 {
        let mut arena = W::arena(&self.arrays).borrow_mut();
        if arena.zeros.1 < n {
            let (begin, many) = (arena.all.len(), n.max(2 * arena.zeros.1));
            arena.all.resize(begin + many, W::default());
            arena.zeros = (begin, many);
        }
        self.placed(arena.zeros.0, n)
    }

    /// The word of an array: its start and its length, or an index into `places`.
    #[inline]
    fn placed(&self, begin: usize, len: usize) -> u64 {
        let (first, many) = (begin as u64, len as u64);
        if first < START_LIMIT && many < LENGTH_LIMIT {
            return many << START_BITS | first;
        }
        let mut places = self.places.borrow_mut();
        places.push((begin, begin + len));
        LISTED_MARK | (places.len() - 1) as u64
    }

    /// The start and the end of an array.
    #[inline]
    fn place(&self, kept: u64) -> (usize, usize) {
        if kept & LISTED_MARK != 0 {
            return self.places.borrow()[usize::of_word(kept & !LISTED_MARK)];
        }
        let begin = usize::of_word(kept & (START_LIMIT - 1));
        (begin, begin + usize::of_word(kept >> START_BITS))
    }

    #[cfg(feature = "std")]
    fn clear(&mut self) {
        self.words.get_mut().clear();
        self.places.get_mut().clear();
        self.arrays.clear();
    }

    #[cfg(feature = "std")]
    fn bytes(&self) -> usize {
        8 * self.words.borrow().capacity() + 16 * self.places.borrow().capacity() + self.arrays.bytes()
    }

    /// A saved array.
    #[must_use]
    #[inline]
    fn array<W: Word>(&self, kept: u64) -> Ref<'_, [W]> {
        let (begin, end) = self.place(kept);
        Ref::map(W::arena(&self.arrays).borrow(), |arena| &arena.all[begin..end])
    }
}

/// The records of the calls of one derivative.
#[derive(Debug)]
pub struct Calls {
    kept: Records,
    results: Records,
    /// The calls of functions with rules of their own, by their keys, with their records.
    made: RefCell<Map<Box<[usize]>, usize>>,
}

/// The word of a record in place of an array of zeros.
pub const NO_ARRAY: u64 = u64::MAX;

/// Panics if a rule gives a derivative whose shape is not that of the value.
///
/// # Panics
///
/// If the shapes differ.
#[track_caller]
pub fn require_shape(rule: &str, of: &str, found: &[usize], wanted: &[usize]) {
    assert!(
        found == wanted,
        "the rule `{rule}` gives a derivative of shape {found:?} for `{of}`, which has the shape {wanted:?}"
    );
}

/// The memory of earlier derivatives of a thread. A later one needs no new pages from the system.
#[cfg(feature = "std")]
mod earlier {
    use alloc::vec::Vec;
    use core::cell::RefCell;

    use super::Records;

    /// The number of bytes up to which the memory of records is kept for the next derivative.
    const MAX_KEPT_BYTES: usize = 1 << 28;

    std::thread_local! {
        static KEPT_RECORDS: RefCell<Vec<[Records; 2]>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn take() -> [Records; 2] {
        let left = KEPT_RECORDS.try_with(|left| left.borrow_mut().pop()).ok().flatten();
        left.unwrap_or_default()
    }

    pub(super) fn give(mut records: [Records; 2]) {
        if records.iter().map(Records::bytes).sum::<usize>() > MAX_KEPT_BYTES {
            return;
        }
        records.iter_mut().for_each(Records::clear);
        // Few derivatives run at a time. When a thread ends, the memory is freed.
        let _ = KEPT_RECORDS.try_with(|left| {
            let mut left = left.borrow_mut();
            if left.len() < 4 {
                left.push(records);
            }
        });
    }
}

impl Default for Calls {
    fn default() -> Self {
        #[cfg(feature = "std")]
        let [kept, results] = earlier::take();
        #[cfg(not(feature = "std"))]
        let [kept, results] = <[Records; 2]>::default();
        Calls { kept, results: Records { tag: 1, ..results }, made: RefCell::default() }
    }
}

#[cfg(feature = "std")]
impl Drop for Calls {
    fn drop(&mut self) {
        earlier::give([core::mem::take(&mut self.kept), core::mem::take(&mut self.results)]);
    }
}

impl Calls {
    /// An empty list of records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The records of forward halves.
    #[must_use]
    #[inline]
    pub fn kept(&self) -> &Records {
        &self.kept
    }

    /// The results of other calls. A caller reads them right after the call.
    #[must_use]
    #[inline]
    pub fn results(&self) -> &Records {
        &self.results
    }

    /// The record of a call of a function with a rule of its own. It is made once for these keys,
    /// however often it is asked for.
    pub fn once(&self, keys: &[usize], call: impl FnOnce() -> usize) -> usize {
        let made = self.made.borrow().get(keys).copied();
        made.unwrap_or_else(|| {
            let record = call();
            self.made.borrow_mut().insert(keys.into(), record);
            record
        })
    }

    /// A copy of array `k` of a record.
    #[must_use]
    pub fn owned<W: Word>(&self, record: usize, k: usize) -> Vec<W> {
        self.of(record).array(self.read(record, k)).to_vec()
    }

    /// A copy of array `k` of a record, or as many zeros if the record has none there
    /// ([`NO_ARRAY`]).
    #[must_use]
    pub fn owned_or_zeros<W: Word>(&self, record: usize, k: usize, len: usize) -> Vec<W> {
        match self.read::<u64>(record, k) {
            NO_ARRAY => vec![W::default(); len],
            kept => self.of(record).array(kept).to_vec(),
        }
    }

    fn of(&self, record: usize) -> &Records {
        if record.is_multiple_of(2) { &self.kept } else { &self.results }
    }

    /// `N` numbers of a record from `first` on.
    #[must_use]
    #[inline]
    pub fn words<const N: usize>(&self, record: usize, first: usize) -> [u64; N] {
        let mut words = [0; N];
        if let Some(begin) = (record / 2).checked_sub(1) {
            words.copy_from_slice(&self.of(record).words.borrow()[begin + first..][..N]);
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

    /// An array in a record of a forward half. While it is borrowed, no forward half may run.
    #[must_use]
    #[inline]
    pub fn array<W: Word>(&self, kept: u64) -> Ref<'_, [W]> {
        self.kept.array(kept)
    }

    /// Copies an array that a forward half has saved into `out`, up to the length of `out`. The
    /// remaining elements of `out` are set to zero.
    #[inline]
    pub fn fill<W: Word>(&self, out: &mut [W], kept: u64) {
        fill(out, &self.kept.array(kept));
    }

    /// Array `k` of a record. Without a call (record 0) the array is zero.
    #[inline]
    pub fn read_array<W: Word>(&self, out: &mut [W], record: usize, k: usize) {
        match record {
            0 => out.fill(W::default()),
            _ => fill(out, &self.of(record).array(self.read(record, k))),
        }
    }
}

fn fill<W: Word>(out: &mut [W], from: &[W]) {
    let (written, rest) = out.split_at_mut(from.len().min(out.len()));
    written.copy_from_slice(&from[..written.len()]);
    rest.fill(W::default());
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::{Calls, Word};

    #[test]
    fn a_record_returns_the_written_values() {
        let calls = Calls::new();
        let (kept, results) = (calls.kept(), calls.results());
        let array = kept.keep(&[1_i64, -2]);
        let first = kept.record([1.5_f32.to_word(), array]);
        let array = results.keep(&[0.25_f64]);
        let second = results.record([true.to_word(), array, 7_usize.to_word()]);
        assert!(kept.record([]) != kept.record([]));
        let [_, array] = calls.words(first, 0);
        assert!(calls.read::<f32>(first, 0) == 1.5 && *calls.array::<i64>(array) == [1, -2]);
        let [number] = calls.words(second, 2);
        assert!(calls.read::<bool>(second, 0) && usize::of_word(number) == 7);
        let mut out = [9.0; 3];
        calls.read_array(&mut out, second, 1);
        assert!(out == [0.25, 0.0, 0.0]);
    }

    #[test]
    fn zeros_stay_zeros() {
        for _ in 0..2 {
            let calls = Calls::new();
            let kept = calls.kept();
            let places =
                [kept.keep_zeros::<f64>(2), kept.keep(&[1.0, 2.0]), kept.keep_zeros::<f64>(3), kept.keep(&[7.0])];
            let found = places.map(|place| calls.array::<f64>(place).to_vec());
            assert!(found == [vec![0.0; 2], vec![1.0, 2.0], vec![0.0; 3], vec![7.0]], "{found:?}");
        }
    }

    #[test]
    fn the_position_of_a_long_array_is_in_a_list() {
        let calls = Calls::new();
        let kept = calls.kept();
        let many = usize::of_word(super::LENGTH_LIMIT);
        let (short, long) = (kept.keep(&[3_u8; 2]), kept.keep(&vec![5_u8; many]));
        assert!(short & super::LISTED_MARK == 0 && long & super::LISTED_MARK != 0);
        assert!(*calls.array::<u8>(short) == [3; 2] && calls.array::<u8>(long).iter().all(|&x| x == 5));
        assert!(calls.array::<u8>(long).len() == many);
    }

    #[test]
    fn a_call_that_was_not_made_has_record_zero() {
        let calls = Calls::new();
        let mut out = [3.0; 2];
        calls.read_array(&mut out, 0, 4);
        assert!(out == [0.0; 2] && calls.read::<f64>(0, 2) == 0.0 && calls.words::<2>(0, 1) == [0, 0]);
    }
}

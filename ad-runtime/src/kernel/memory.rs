//! Hints for the allocator. They must never change a value.

use alloc::vec::Vec;

/// The least number of bytes that is reserved: glibc keeps less in any case.
const MIN_BYTES: usize = 1 << 17;
/// The greatest one: a program should not keep more than that without being asked. A caller that
/// wants to has `ad::Workspace`.
const MAX_BYTES: usize = 1 << 22;

/// Allocates memory for `count` values, and frees it again. A routine that needs many arrays makes
/// this call first. glibc takes it as a sign that the program needs as much again: it keeps so much
/// memory after the arrays are freed, so that the next call finds pages that are mapped. Without
/// it, the arrays of a call of 200 kB are mapped and cleared in each call, which costs more than
/// the computation on them. If there is not enough memory, nothing happens.
pub fn reserve<A>(count: usize) {
    let bytes = count.saturating_mul(size_of::<A>());
    if (MIN_BYTES..=MAX_BYTES).contains(&bytes) {
        let mut block: Vec<A> = Vec::new();
        let _ = block.try_reserve_exact(count);
        // Otherwise the compiler would leave out an allocation that nothing uses.
        core::hint::black_box(&block);
    }
}

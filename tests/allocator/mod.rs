//! The system's allocator with counters for each thread, for tests of the memory that a call
//! allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static USED: Cell<Used> = const { Cell::new(Used { bytes: 0, times: 0 }) };
}

/// Memory that was allocated, whether or not it was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Used {
    pub bytes: usize,
    pub times: usize,
}

// An allocator is the only place that sees all allocations.
#[allow(unsafe_code, reason = "an allocator is unsafe by its trait")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let more = |used: Used| Used { bytes: used.bytes + layout.size(), times: used.times + 1 };
        let _ = USED.try_with(|used| used.set(more(used.get())));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of a call, and the memory that this thread allocated for it.
pub fn counted<R>(call: impl FnOnce() -> R) -> (R, Used) {
    let before = USED.with(Cell::get);
    let result = call();
    let after = USED.with(Cell::get);
    (result, Used { bytes: after.bytes - before.bytes, times: after.times - before.times })
}

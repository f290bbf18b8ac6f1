//! The system's allocator with a counter of the allocated bytes, which runs on request.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static ALIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn add(bytes: isize) {
    let alive = ALIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(alive, Relaxed);
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: every call is the system's allocator's, with the same arguments; the counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            add(signed(layout.size()));
        }
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            add(signed(layout.size()));
        }
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            add(-signed(layout.size()));
        }
        // SAFETY: the caller's promise is the system's.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            // Both are alive while one is copied to the other.
            add(signed(new_size));
            add(-signed(layout.size()));
        }
        // SAFETY: the caller's promise is the system's.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

/// The peak number of bytes alive during the call, without those that were alive before it; its
/// result, which is alive at the end, counts.
pub fn peak<R>(call: impl FnOnce() -> R) -> (R, usize) {
    ALIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
    let result = call();
    ON.store(false, Relaxed);
    (result, usize::try_from(PEAK.load(Relaxed)).unwrap_or(0))
}

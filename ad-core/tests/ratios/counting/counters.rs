//! The counters, in the crate of the counted programs: operations on numbers, all work, bytes of
//! memory, and bytes of values that a derivative may have to save; and the measurement of a program
//! with them. This module must never count work that a program does not do. Work that it does not
//! see makes a function look cheaper, and its gradient has to keep the law all the same.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
    static NUMBERS: Cell<u64> = const { Cell::new(0) };
    static LOST: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with the number of bytes that are alive and its maximum.
struct Counting;
static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);
/// The bytes that have been allocated so far.
pub fn allocated() -> u64 {
    ALL.load(Relaxed) as u64
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        ALL.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }
    /// A large block grows in place: its pages are moved, not copied.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let more = size.saturating_sub(layout.size());
        let now = ALIVE.fetch_add(more, Relaxed) + more;
        ALIVE.fetch_sub(layout.size().saturating_sub(size), Relaxed);
        MOST.fetch_max(now, Relaxed);
        ALL.fetch_add(more, Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A run with more work is not completed: the function may never end for these numbers.
const LONGEST: u64 = 400_000_000;
thread_local! {
    static LIMIT: Cell<u64> = const { Cell::new(LONGEST) };
}
/// Runs a closure with a lower limit.
pub fn limited<R>(limit: u64, f: impl FnOnce() -> R) -> R {
    LIMIT.with(|l| l.set(limit));
    let result = f();
    LIMIT.with(|l| l.set(LONGEST));
    result
}

/// Work.
pub fn tick(n: u64) {
    DONE.with(|d| {
        d.set(d.get() + n);
        assert!(d.get() <= LIMIT.with(Cell::get), "too long");
    });
}
/// Operations on numbers, which are counted as work elsewhere.
pub fn more(n: u64) {
    NUMBERS.with(|c| c.set(c.get() + n));
}
/// Operations on numbers of a loop over elements that are read or written too.
pub fn bulk(operations: u64, elements: u64) {
    tick(operations + elements);
    more(operations);
}
/// Bytes of values that are no longer known when the function ends: a derivative that reads them
/// has saved them.
pub fn lost(bytes: u64) {
    LOST.with(|c| c.set(c.get() + bytes));
}
/// Counts values of variables or elements that are replaced by others.
pub fn replaces<T>(n: u64, x: T) -> T {
    lost(8 * n);
    x
}
/// The result of an operation that is not linear. (Arrays of results are counted when they are
/// allocated.)
pub fn nonlinear<T: Amount>(x: T) -> T {
    if x.elements() == 0 {
        lost(8 * x.operations());
    }
    x
}
fn real<T: ?Sized>() -> bool {
    matches!(std::any::type_name::<T>(), "f64" | "&f64" | "&&f64")
}

/// How many elements a value has, and how many of them are numbers that are computed with.
pub trait Amount {
    /// The sizes of an array. A number has none.
    fn elements(&self) -> u64;
    /// The number of operations on numbers, if the value is the result of one operation.
    fn operations(&self) -> u64;
}
macro_rules! single {
    ($($t:ty: $n:literal),*) => {$(
        impl Amount for $t {
            fn elements(&self) -> u64 { 0 }
            fn operations(&self) -> u64 { $n }
        }
    )*};
}
single!(f64: 1, f32: 1, usize: 0, isize: 0, u8: 0, u16: 0, u32: 0, u64: 0, i8: 0, i16: 0, i32: 0, i64: 0, bool: 0, char: 0, String: 0, std::time::Instant: 0, std::time::Duration: 0);
impl<T: Amount + ?Sized> Amount for &T {
    fn elements(&self) -> u64 {
        (**self).elements()
    }
    fn operations(&self) -> u64 {
        (**self).operations()
    }
}
fn of_elements<T>(n: usize) -> u64 {
    if real::<T>() { n as u64 } else { 0 }
}
impl<T> Amount for [T] {
    fn elements(&self) -> u64 {
        self.len() as u64
    }
    fn operations(&self) -> u64 {
        of_elements::<T>(self.len())
    }
}
impl<T> Amount for Vec<T> {
    fn elements(&self) -> u64 {
        self.len() as u64
    }
    fn operations(&self) -> u64 {
        of_elements::<T>(self.len())
    }
}
impl<T> Amount for std::collections::VecDeque<T> {
    fn elements(&self) -> u64 {
        self.len() as u64
    }
    fn operations(&self) -> u64 {
        of_elements::<T>(self.len())
    }
}
impl<T, D: ndarray::Dimension> Amount for ndarray::ArrayRef<T, D> {
    fn elements(&self) -> u64 {
        self.len() as u64
    }
    fn operations(&self) -> u64 {
        of_elements::<T>(self.len())
    }
}
impl<S: ndarray::Data, D: ndarray::Dimension> Amount for ndarray::ArrayBase<S, D> {
    fn elements(&self) -> u64 {
        self.len() as u64
    }
    fn operations(&self) -> u64 {
        of_elements::<S::Elem>(self.len())
    }
}

/// An operation on numbers, or on whole arrays of them: two are read and one is written.
pub fn number<T: Amount>(x: T) -> T {
    tick(x.elements() * 4);
    more(x.operations());
    x
}
/// Counts a function of numbers, if the type is a number. (`max` exists for integers too.)
pub fn function<T>(x: T) -> T {
    more(u64::from(real::<T>()));
    lost(8 * u64::from(real::<T>()));
    x
}
/// The first operand of a comparison: one operation, if it is a number. Its result is a truth
/// value.
pub fn compared<T>(x: T) -> T {
    more(u64::from(real::<T>()));
    lost(u64::from(real::<T>()));
    x
}
/// The operand that an operation changes: see [`number`].
pub fn place<T: Amount + ?Sized>(x: &mut T) -> &mut T {
    tick(x.elements() * 4);
    lost(8 * x.elements().max(1));
    more(x.operations());
    x
}
/// Numbers that are moved in an array, or copied into it: an operation of each, as its derivative
/// is an addition.
pub fn moved<T>(n: usize) {
    lost((n * size_of::<T>()) as u64);
    bulk(of_elements::<T>(n), 2 * n as u64);
}
/// Counts an argument that a function of the library reads once.
pub fn reads<T: Amount>(x: T) -> T {
    bulk(x.operations(), x.elements());
    x
}
/// A new array, whose elements are written.
pub fn made<T: Amount>(x: T) -> T {
    tick(x.elements());
    x
}
/// A function of numbers in lanes.
pub fn lanes<T>(x: T) -> T {
    let n = (size_of::<T>() / 8) as u64;
    bulk(n, 0);
    x
}
/// A slice that is read.
pub fn over<T>(x: &[T]) -> &[T] {
    tick(x.len() as u64);
    x
}
/// `vec![x; n]`.
pub fn vector<T: Clone>(x: T, n: usize) -> Vec<T> {
    tick(n as u64);
    vec![x; n]
}

/// The counts of a run: work, operations on numbers, bytes beyond those that were allocated before,
/// and bytes of values that are lost: those of all arrays, and of what [`lost`] counts.
pub fn counted<R>(f: impl FnOnce() -> R) -> (R, [u64; 4]) {
    DONE.with(Cell::take);
    NUMBERS.with(Cell::take);
    LOST.with(Cell::take);
    let (before, all) = (ALIVE.load(Relaxed), allocated());
    MOST.store(before, Relaxed);
    let result = f();
    let bytes = (MOST.load(Relaxed) - before) as u64;
    let lost = LOST.with(Cell::take) + allocated() - all;
    (result, [DONE.with(Cell::take), NUMBERS.with(Cell::take), bytes, lost])
}
pub fn print(name: &str, n: usize, f: [u64; 4], g: [u64; 4]) {
    println!("{name} {n} {} {} {} {} {} {} {}", f[0], g[0], f[1], g[1], f[2], g[2], f[3]);
}

/// A function of a slice, with its gradient compared with differences at some places.
pub fn measure(name: &str, n: usize, f: fn(&[f64]) -> f64, g: fn(&[f64]) -> (f64, Vec<f64>)) {
    let x: Vec<f64> = (0..n).map(|k| 0.6 + 0.3 * (k as f64 * 1.7).sin()).collect();
    let (value, function) = counted(|| f(&x));
    let ((same, gradient), derivative) = counted(|| g(&x));
    assert!((value - same).abs() <= 1e-9 * value.abs().max(1.0), "{name}: {same} is not {value}");
    for k in [0, n / 2, n - 1] {
        let at = |h: f64| {
            let mut x = x.clone();
            x[k] += h;
            counted(|| f(&x)).0
        };
        let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        let agree = (slope - gradient[k]).abs() <= 1e-4 * slope.abs().max(1.0);
        assert!(agree, "{name} at {k} of {n}: {} is not {slope}", gradient[k]);
    }
    print(name, n, function, derivative);
}
pub fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| 0.6 + 0.3 * ((k * (seed + 1)) as f64 * 1.7 + seed as f64).sin()).collect()
}
/// Counts at growing sizes, as long as that is quick; where the function panics, so must the
/// gradient.
pub fn growing(name: &str, sizes: &[usize], f: impl Fn(usize) -> f64, g: impl Fn(usize) -> f64) {
    for &n in sizes {
        let run = std::panic::AssertUnwindSafe(|| f(n));
        let (value, function) = counted(|| std::panic::catch_unwind(run));
        if function[0] > 1_000_000 || value.is_err() && ELSEWHERE.with(Cell::get) {
            return;
        }
        let run = std::panic::AssertUnwindSafe(|| g(n));
        let (same, derivative) = counted(|| std::panic::catch_unwind(run));
        compared_values(name, n, n, (value, function), (same, derivative));
    }
}
/// A value, or a panic, and its counts.
type Run = (std::thread::Result<f64>, [u64; 4]);
/// Prints the counts of a function and its gradient for this many elements, if both have the same
/// value.
pub fn compared_values(name: &str, scale: usize, elements: usize, function: Run, derivative: Run) {
    match (function.0, derivative.0) {
        (Ok(value), Ok(same)) => {
            let agree = (value - same).abs() <= 1e-9 * value.abs().max(1.0)
                || value.to_bits() == same.to_bits()
                || (value.is_nan() && same.is_nan());
            if !agree {
                println!("wrong: {name} at {scale}: {same} is not {value}");
            }
            print(name, elements, function.1, derivative.1);
        }
        (Err(_), Err(_)) => {}
        (value, same) => {
            println!("wrong: {name} at {scale}: {:?} and {:?}", value.map_err(said), same.map_err(said));
        }
    }
}
thread_local! {
    static ELSEWHERE: Cell<bool> = const { Cell::new(false) };
}
/// Panics are expected, and say nothing. Whether the last one was raised by ndarray is recorded:
/// its products of negative strides overflow in debug builds only.
pub fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let elsewhere = panic.location().is_some_and(|at| at.file().contains("/ndarray-"));
        ELSEWHERE.with(|e| e.set(elsewhere && panic.to_string().contains("overflow")));
    }));
}
/// The message of a panic.
pub fn said(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

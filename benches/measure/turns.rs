//! The least time of each of several calls that run in turns, for tables on machines with other
//! work. This module must never time a function before its result is compared with the others.

#[path = "docs.rs"]
pub mod docs;
#[path = "entries.rs"]
pub mod entries;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long each of them runs, in turns.
const TIME: Duration = Duration::from_millis(200);
/// The target time of a batch of calls in nanoseconds: short enough that some batches are not
/// interrupted, and long compared with the time to read the clock.
const BATCH: f64 = 2e5;

/// A call that is timed.
pub struct Timed<'a>(Box<dyn Fn() + 'a>);

impl<'a> Timed<'a> {
    /// A call with a result, which is thrown away.
    pub fn new<R>(call: &'a impl Fn() -> R) -> Self {
        Self(Box::new(move || {
            black_box(call());
        }))
    }
}

/// Nanoseconds of each.
pub fn least(calls: &[Timed]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; calls.len()];
    let mut counts = vec![1_u32; calls.len()];
    let begin = Instant::now();
    let mut turns = 0;
    while turns < 3 || begin.elapsed() < TIME * calls.len() as u32 {
        for ((call, count), least) in calls.iter().zip(&mut counts).zip(&mut least) {
            let start = Instant::now();
            for _ in 0..*count {
                call.0();
            }
            let time = start.elapsed().as_nanos() as f64 / f64::from(*count);
            *least = least.min(time);
            *count = (BATCH / time).clamp(1.0, 1e4) as u32;
        }
        turns += 1;
    }
    least
}

/// Nanoseconds as microseconds, with three digits.
pub fn micros(nanoseconds: f64) -> String {
    let micros = nanoseconds / 1e3;
    let digits = if micros < 10.0 { 2 } else { usize::from(micros < 100.0) };
    format!("{micros:.digits$} us")
}

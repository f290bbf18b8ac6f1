//! How often a function is called, and the time of each call.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// A function is called until both are reached. Without them it is called once.
#[derive(Clone, Copy, Deserialize)]
#[serde(default)]
pub struct Runs {
    min_runs: u64,
    min_seconds: f64,
}

impl Default for Runs {
    fn default() -> Self {
        Self { min_runs: 1, min_seconds: 0.0 }
    }
}

impl Runs {
    /// The result of the last call, and the nanoseconds of each.
    pub fn time<T>(self, mut f: impl FnMut() -> T) -> (T, Vec<u128>) {
        let mut times = Vec::new();
        let mut total = Duration::ZERO;
        loop {
            let start = Instant::now();
            let result = black_box(f());
            let elapsed = start.elapsed();
            times.push(elapsed.as_nanos());
            total += elapsed;
            if times.len() as u64 >= self.min_runs && total.as_secs_f64() >= self.min_seconds {
                return (result, times);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Runs;

    #[test]
    fn a_function_is_called_until_both_are_reached() {
        let mut calls = 0;
        let (last, times) = Runs { min_runs: 7, min_seconds: 0.0 }.time(|| {
            calls += 1;
            calls
        });
        assert_eq!((last, times.len()), (7, 7));
        let wait = || std::thread::sleep(std::time::Duration::from_millis(2));
        let ((), times) = Runs { min_runs: 1, min_seconds: 0.01 }.time(wait);
        assert!(times.len() > 1 && times.iter().sum::<u128>() >= 10_000_000, "{times:?}");
        assert_eq!(Runs { min_runs: 0, min_seconds: -1.0 }.time(|| ()).1.len(), 1);
    }
}

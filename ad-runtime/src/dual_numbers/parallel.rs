//! Threads inside of functions with `mode = "dual_numbers"`: [`join`] and [`map`].
//!
//! A function records its operations in its thread. rayon does not say that it moves work to
//! another thread, so its own `join` cannot be followed; these functions can. They divide the work
//! the same way however many threads there are, so a derivative has the same bits on any machine.
//! For numbers that record nothing they are rayon's `join`.
//!
//! This module must never know what is recorded.

use alloc::vec::Vec;

use super::forks::Forked;

/// Runs two closures, if possible at the same time, on the threads of rayon's pool, and returns
/// both results: `rayon::join` for functions with `mode = "dual_numbers"`. The reverse sweep runs
/// the two parts at the same time too.
///
/// # Panics
/// If one of the closures panics.
///
/// ```
/// use ad_runtime::parallel::join;
///
/// fn sum(x: &[f64]) -> f64 {
///     match x {
///         [] => 0.0,
///         [x] => x * x,
///         _ => {
///             let (left, right) = x.split_at(x.len() / 2);
///             let (a, b) = join(|| sum(left), || sum(right));
///             a + b
///         }
///     }
/// }
/// assert_eq!(sum(&[1.0, 2.0, 3.0]), 14.0);
/// ```
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let forked = Forked::begin();
    if forked.is_empty() {
        return rayon::join(a, b);
    }
    let both = &forked;
    rayon::join(move || both.run(0, a), move || both.run(1, b))
}

/// The number of times that [`map`] divides a list.
const DEPTH: u32 = 5;

/// The values of a function at all elements of a list, in their order, on the threads of rayon's
/// pool. The list is divided into at most 32 parts.
///
/// # Panics
/// If the function panics.
///
/// ```
/// use ad_runtime::parallel::map;
///
/// assert_eq!(map(&[1.0, 2.0, 3.0], |x| x * x), [1.0, 4.0, 9.0]);
/// ```
pub fn map<X: Sync, R: Send>(list: &[X], f: impl Fn(&X) -> R + Sync) -> Vec<R> {
    divided(list, &f, DEPTH)
}

fn divided<X: Sync, R: Send>(list: &[X], f: &(impl Fn(&X) -> R + Sync), depth: u32) -> Vec<R> {
    if depth == 0 || list.len() < 2 {
        return list.iter().map(f).collect();
    }
    let (left, right) = list.split_at(list.len() / 2);
    let (mut all, mut rest) = join(|| divided(left, f, depth - 1), || divided(right, f, depth - 1));
    all.append(&mut rest);
    all
}

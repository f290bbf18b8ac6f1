//! The order of integers. Reals are sorted by integers in the same order ([`super::order`]).

use alloc::vec::Vec;

use super::generated::Whole;

/// Rows of at most this many elements are sorted in memory on the stack.
const FEW: usize = 32;

/// For each row of `n` integers the positions of its elements in ascending order. Equal elements
/// keep their order.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn argsort<A: Whole>(out: &mut [usize], x: &[A], n: usize) {
    rows(out, x, n, A::rank);
}

/// Like [`argsort`], in descending order.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn argsort_descending<A: Whole>(out: &mut [usize], x: &[A], n: usize) {
    rows(out, x, n, |x| !x.rank());
}

#[track_caller]
fn rows<A: Whole>(out: &mut [usize], x: &[A], n: usize, rank: impl Fn(A) -> u64) {
    assert!(out.len() == x.len(), "{} positions of {} elements", out.len(), x.len());
    assert!(
        if n == 0 { x.is_empty() } else { x.len().is_multiple_of(n) },
        "{} elements are not a whole number of rows of {n}",
        x.len()
    );
    if n == 0 {
        return;
    }
    // A position is a part of what is compared, so all elements differ, and one comparison of
    // integers decides.
    let entry = |(k, &x): (usize, &A)| u128::from(rank(x)) << 64 | k as u128;
    let mut few = [0; FEW];
    let mut many = Vec::new();
    let entries = match few.get_mut(..n) {
        Some(few) => few,
        None => {
            many.resize(n, 0);
            &mut many[..]
        }
    };
    for (out, x) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
        entries.iter_mut().zip(x.iter().enumerate()).for_each(|(to, x)| *to = entry(x));
        entries.sort_unstable();
        out.iter_mut().zip(&*entries).for_each(|(to, &entry)| *to = (entry & u128::from(u64::MAX)) as usize);
    }
}

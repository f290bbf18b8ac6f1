//! The order of integers. Reals are sorted by integers in the same order ([`super::order`]).

use alloc::vec::Vec;

use super::generated::Whole;

/// Rows of at most this many elements are sorted in memory on the stack.
const FEW: usize = 32;

/// For each row of `n` integers the positions of its first elements in ascending order, as many as
/// `lens` says. Equal elements keep their order. The other positions stay as they are.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn argsort<A: Whole>(out: &mut [usize], lens: &[usize], x: &[A], n: usize) {
    rows(out, lens, (x, n), A::rank);
}

/// Like [`argsort`], in descending order.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of rows.
#[track_caller]
pub fn argsort_descending<A: Whole>(out: &mut [usize], lens: &[usize], x: &[A], n: usize) {
    rows(out, lens, (x, n), |x| !x.rank());
}

#[track_caller]
fn rows<A: Whole>(out: &mut [usize], lens: &[usize], (x, n): (&[A], usize), rank: impl Fn(A) -> u64) {
    assert!(out.len() == x.len(), "{} positions of {} elements", out.len(), x.len());
    assert!(x.len() == lens.len() * n, "{} elements are not {} rows of {n}", x.len(), lens.len());
    if n == 0 {
        return;
    }
    // A position is a part of what is compared, so all elements differ, and one comparison of
    // integers decides.
    let entry = |(k, &x): (usize, &A)| u128::from(rank(x)) << 64 | k as u128;
    let mut few = [0; FEW];
    let mut many = Vec::new();
    for ((out, x), &len) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)).zip(lens) {
        let len = len.min(n);
        let entries = match few.get_mut(..len) {
            Some(few) => few,
            None => {
                many.resize(len, 0);
                &mut many[..]
            }
        };
        entries.iter_mut().zip(x.iter().enumerate()).for_each(|(to, x)| *to = entry(x));
        entries.sort_unstable();
        let (first, others) = out.split_at_mut(len);
        first.iter_mut().zip(&*entries).for_each(|(to, &entry)| *to = (entry & u128::from(u64::MAX)) as usize);
        others.iter_mut().zip(len..).for_each(|(to, k)| *to = k);
    }
}

//! Positions of elements in arrays whose sizes are known, in row-major order. This module knows no
//! terms.

/// The number of elements.
pub(super) fn product(sizes: &[usize]) -> usize {
    sizes.iter().fold(1_usize, |a, &n| a.saturating_mul(n))
}

/// The position of an index in row-major order.
pub(super) fn ravel(ix: &[usize], sizes: &[usize]) -> usize {
    ix.iter().zip(sizes).fold(0, |k, (&i, &n)| k * n + i)
}

/// The index at a position.
pub(crate) fn unravel(mut k: usize, sizes: &[usize]) -> Vec<usize> {
    let mut ix = vec![0; sizes.len()];
    for (i, &n) in ix.iter_mut().zip(sizes).rev() {
        *i = k % n.max(1);
        k /= n.max(1);
    }
    ix
}

/// `start + step * i` on each axis, if that is in range.
pub(super) fn strided(starts: &[usize], steps: &[i64], ix: &[usize], sizes: &[usize]) -> Option<Vec<usize>> {
    let at = starts.iter().zip(steps).zip(ix).zip(sizes).map(|(((&start, &step), &i), &n)| {
        let at = i128::try_from(start).ok()? + i128::from(step) * i128::try_from(i).ok()?;
        usize::try_from(at).ok().filter(|&at| at < n)
    });
    at.collect()
}

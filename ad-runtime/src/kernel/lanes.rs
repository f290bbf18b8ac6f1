//! Sums of the lanes of a sum, in a fixed order. Every kernel that adds in lanes ends with these
//! functions.

use crate::Real;

/// The sum of sixteen lanes and a rest, always in the same order.
#[inline]
#[must_use]
pub fn total<F: Real>(sums: [F; 16], rest: F) -> F {
    lanes(sums) + rest
}

/// The sum of sixteen lanes as a balanced tree: the order of [`super::sum`].
#[inline(always)]
#[must_use]
pub fn lanes<F: Real>(mut lanes: [F; 16]) -> F {
    for l in 0..8 {
        lanes[l] += lanes[l + 8];
    }
    let [a, b, c, d, e, f, g, h, ..] = lanes;
    eight_lanes([a, b, c, d, e, f, g, h])
}

/// The sum of eight lanes as a balanced tree.
///
/// If the lanes fit one vector, the last step goes through memory. Otherwise LLVM vectorises the
/// preceding loop with 2-lane vectors, to match the last addition of the tree; so it uses vectors
/// of 32 bytes. (A call would have the same effect, but costs more than the sum.)
#[inline(always)]
pub(super) fn eight_lanes<F: Real>([a, b, c, d, e, f, g, h]: [F; 8]) -> F {
    let [a, b, c, d] = if size_of::<F>() == 4 {
        let [a, b, c, d, e, f, g, h] = core::hint::black_box([a, b, c, d, e, f, g, h]);
        [a + e, b + f, c + g, d + h]
    } else {
        core::hint::black_box([a + e, b + f, c + g, d + h])
    };
    (a + c) + (b + d)
}

//! Integer powers of a block of numbers, by repeated squaring.
//!
//! This module must never differ from std's `powi` in a bit: a decision of the user's function may
//! depend on a power.

use crate::Real;

/// `x[l].powi(n[l])` for each lane. All lanes do the number of squarings that the largest exponent
/// needs. These are the products of std, in its order; a lane with a smaller exponent is multiplied
/// by one afterwards.
#[inline(always)]
pub(super) fn lanes<F: Real, const N: usize>(mut x: [F; N], n: [i32; N]) -> [F; N] {
    // Without std, a power is that of num-traits, which inverts first.
    if !F::IS_MACHINE || !cfg!(feature = "std") {
        for l in 0..N {
            x[l] = x[l].powi(n[l]);
        }
        return x;
    }
    let mut left = n.map(i32::unsigned_abs);
    let mut power = [F::one(); N];
    for _ in 0..u32::BITS - left.iter().fold(0, |all, &n| all | n).leading_zeros() {
        for l in 0..N {
            power[l] *= if left[l] & 1 == 1 { x[l] } else { F::one() };
            x[l] *= x[l];
            left[l] >>= 1;
        }
    }
    for l in 0..N {
        power[l] = if n[l] < 0 { F::one() / power[l] } else { power[l] };
    }
    power
}

//! Small parts of generated loop nests: non-panicking variants of operations that users call in
//! checked form. The terms of the core language are total; checks, which are separate from the
//! results, test the conditions for a panic.
//!
//! No function here panics on values; only a wrong number of elements (an internal error) may.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use ndarray::ArrayView1;

use super::reduce::{argmax, argmin, maximum, minimum};
use super::threads::{Division, join};
use crate::Real;

/// Takes two values of one type. Called with two functions it proves that they are the same
/// function.
#[inline]
pub fn same<F>(_: F, _: F) {}

/// The elements `start..start + len`, with `fill` for those that are out of range (never an error).
#[inline]
#[must_use]
pub fn cut<A: Copy>(x: &[A], start: usize, len: usize, fill: A) -> Cow<'_, [A]> {
    match x.get(start..start.saturating_add(len)) {
        Some(row) => Cow::Borrowed(row),
        None => outside(x, start, len, fill),
    }
}

/// At least `len` elements: `fill` is appended if the array has fewer (never an error). The operand
/// of a loop without iterations may have any size.
#[inline]
#[must_use]
pub fn extended<A: Copy>(x: &[A], len: usize, fill: A) -> Cow<'_, [A]> {
    if x.len() < len { outside(x, 0, len, fill) } else { Cow::Borrowed(x) }
}

/// The array with exactly `len` elements: later ones are dropped, or `fill` is appended. See
/// [`extended`].
#[inline]
#[must_use]
pub fn resized<A: Copy>(mut x: Vec<A>, len: usize, fill: A) -> Vec<A> {
    x.resize(len, fill);
    x
}

#[cold]
fn outside<A: Copy>(x: &[A], start: usize, len: usize, fill: A) -> Cow<'_, [A]> {
    let mut row: Vec<A> = x.get(start..).unwrap_or_default().iter().copied().take(len).collect();
    row.resize(len, fill);
    Cow::Owned(row)
}

/// Whether `start..start + len` is not empty and is inside `0..size`.
#[inline]
#[must_use]
pub fn fits(start: usize, len: usize, size: usize) -> bool {
    len > 0 && start.checked_add(len).is_some_and(|end| end <= size)
}

/// Applies `f` to each row of `x`, which has as many rows as `out` has elements.
#[inline]
pub fn each_row<A, B>(out: &mut [B], x: &[A], f: impl Fn(&[A]) -> B) {
    if out.is_empty() {
        return;
    }
    let n = x.len() / out.len();
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(&x[i * n..][..n]);
    }
}

/// Applies `f` to the first elements of each row of `x`. `lens` has their number for each row.
#[inline]
pub fn each_first<A, B>(out: &mut [B], x: &[A], lens: &[usize], f: impl Fn(&[A]) -> B) {
    if out.is_empty() {
        return;
    }
    let n = x.len() / out.len();
    for ((i, out), &len) in out.iter_mut().enumerate().zip(lens) {
        *out = f(&x[i * n..][..len]);
    }
}

/// Concatenates arrays of one size.
#[inline]
pub fn joined<A: Copy>(out: &mut [A], parts: &[&[A]]) {
    let mut rest = out;
    for part in parts {
        let (row, behind) = rest.split_at_mut(part.len().min(rest.len()));
        row.copy_from_slice(&part[..row.len()]);
        rest = behind;
    }
}

/// The largest element, with the NaN rule of a chain of `max`; minus infinity if there is no
/// element.
#[inline]
#[must_use]
pub fn largest<F: Real>(x: &[F]) -> F {
    if x.is_empty() { F::neg_infinity() } else { maximum(x) }
}

/// The smallest element, with the NaN rule of a chain of `min`; infinity if there is no element.
#[inline]
#[must_use]
pub fn smallest<F: Real>(x: &[F]) -> F {
    if x.is_empty() { F::infinity() } else { minimum(x) }
}

/// The index of the first largest element, NaN ignored; 0 if there is none.
#[inline]
#[must_use]
pub fn place_of_largest<F: Real>(x: &[F]) -> usize {
    if x.is_empty() { 0 } else { argmax(x) }
}

/// The index of the first smallest element, NaN ignored; 0 if there is none.
#[inline]
#[must_use]
pub fn place_of_smallest<F: Real>(x: &[F]) -> usize {
    if x.is_empty() { 0 } else { argmin(x) }
}

/// The number of bytes that are copied at a time when elements are repeated: a quarter of a
/// first-level cache, and long enough for `memcpy` to reach its best speed (measured: half and
/// twice this size are as good, four times and more are slower by a fifth).
const COPIED_BYTES: usize = 1 << 13;

/// Repeats the elements `times` times. The memory is written once.
///
/// The source of the copies stays in the first-level cache: a short `x` is doubled up to
/// `COPIED_BYTES` bytes, and that is copied repeatedly. Doubling to the end, as `slice::repeat`
/// does, reads all of the result again, from slower and slower levels of memory.
///
/// # Panics
///
/// If the result is too large for the memory.
#[must_use]
pub fn repeated<A: Copy>(x: &[A], times: usize) -> Vec<A> {
    let Some(all) = x.len().checked_mul(times) else { panic!("{} elements {times} times are too many", x.len()) };
    let mut out = Vec::with_capacity(all);
    if all == 0 {
        return out;
    }
    out.extend_from_slice(x);
    let mut piece = x.len();
    while out.len() < all {
        out.extend_from_within(..piece.min(all - out.len()));
        if 2 * size_of::<A>() * piece <= COPIED_BYTES {
            piece *= 2;
        }
    }
    out
}

/// [`place_of_largest`] of elements that are not real numbers.
#[inline]
#[must_use]
pub fn place_of_largest_whole<A: Copy + PartialOrd>(x: &[A]) -> usize {
    first_best(x, |a, b| a > b)
}

/// [`place_of_smallest`] of elements that are not real numbers.
#[inline]
#[must_use]
pub fn place_of_smallest_whole<A: Copy + PartialOrd>(x: &[A]) -> usize {
    first_best(x, |a, b| a < b)
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
fn first_best<A: Copy + PartialOrd>(x: &[A], beats: impl Fn(A, A) -> bool) -> usize {
    let Some(first) = x.iter().position(|v| v == v) else { return 0 };
    let (mut best, mut at) = (x[first], first);
    for (i, &v) in x.iter().enumerate().skip(first + 1) {
        if beats(v, best) {
            (best, at) = (v, i);
        }
    }
    at
}

/// The sum of the elements in ndarray's own order, for sums that a decision depends on.
#[must_use]
pub fn exact_sum<F: Real>(x: &[F]) -> F {
    ArrayView1::from(x).sum()
}

/// The sum from the first element to the last, starting at -0 like the sum of an iterator.
#[inline]
#[must_use]
pub fn sum_in_order<F: Real>(x: &[F]) -> F {
    x.iter().fold(-F::zero(), |total, &v| total + v)
}

/// The sum from the first element to the last, starting at 0 like a user's loop.
#[inline]
#[must_use]
pub fn sum_from_zero<F: Real>(x: &[F]) -> F {
    x.iter().fold(F::zero(), |total, &v| total + v)
}

/// The sum in the order of [`super::column_sums`]: four elements at a time.
#[inline]
#[must_use]
pub fn sum_in_fours<F: Real>(x: &[F]) -> F {
    let (fours, rest) = x.as_chunks::<4>();
    let all = fours.iter().fold(F::zero(), |total, &[a, b, c, d]| total + ((a + b) + (c + d)));
    rest.iter().fold(all, |total, &v| total + v)
}

/// The product of the elements in ndarray's own order.
#[must_use]
pub fn exact_product<F: Real>(x: &[F]) -> F {
    ArrayView1::from(x).product()
}

/// The sum of squared distances from the mean, in the order of ndarray's `var`: one element after
/// the other (Welford).
#[must_use]
pub fn sum_of_squared_distances<F: Real>(x: &[F]) -> F {
    let (mut mean, mut total) = (F::zero(), F::zero());
    for (i, &v) in x.iter().enumerate() {
        let before = v - mean;
        // A count that is too large for the type becomes infinity.
        mean += before / F::from(i + 1).unwrap_or_else(F::infinity);
        total = (v - mean).mul_add(before, total);
    }
    total
}

/// The dot product in ndarray's own order.
///
/// # Panics
/// If the lengths differ.
#[must_use]
pub fn exact_dot<F: Real>(x: &[F], y: &[F]) -> F {
    ArrayView1::from(x).dot(&ArrayView1::from(y))
}

/// Products of corresponding matrices of two stacks; `[m, k, n]` and flags as in [`super::gemm`].
#[inline]
pub fn gemm_each<F: Real>(c: &mut [F], a: &[F], b: &[F], transposed: [bool; 2], batch: usize, sizes: [usize; 3]) {
    let [m, k, n] = sizes;
    each_in_parts(c, a, b, transposed, batch, sizes, Division::of(batch, m.saturating_mul(k).saturating_mul(n), 1));
}

/// [`gemm_each`] for parts of the batch.
fn each_in_parts<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
    parts: Division,
) {
    let [m, k, n] = sizes;
    if let Some(half) = parts.half(batch) {
        let (c0, c1) = c.split_at_mut(half * m * n);
        let ((a0, a1), (b0, b1)) = (a.split_at(half * m * k), b.split_at(half * k * n));
        join(
            || each_in_parts(c0, a0, b0, transposed, half, sizes, parts),
            || each_in_parts(c1, a1, b1, transposed, batch - half, sizes, parts),
        );
        return;
    }
    multiply_each(c, a, b, transposed, batch, sizes, super::gemm);
}

/// [`gemm_each`] without the heap, for arrays of static size.
#[inline]
pub fn gemm_each_off_heap<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
) {
    multiply_each(c, a, b, transposed, batch, sizes, super::gemm_off_heap);
}

#[inline]
fn multiply_each<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
    gemm: impl Fn(&mut [F], super::Operand<'_, F>, super::Operand<'_, F>, [usize; 3], bool),
) {
    let [m, k, n] = sizes;
    let operand = |x, t| if t { super::Operand::Transposed(x) } else { super::Operand::Plain(x) };
    for p in 0..batch {
        let (a, b) = (&a[p * m * k..][..m * k], &b[p * k * n..][..k * n]);
        let c = &mut c[p * m * n..][..m * n];
        gemm(c, operand(a, transposed[0]), operand(b, transposed[1]), sizes, false);
    }
}

/// The integers of generated code, with operations that are total.
pub trait Whole: Copy {
    /// `a / b`; `a` if `b` is 0, and the nearest value of the type if the quotient overflows.
    #[must_use]
    fn quotient(self, b: Self) -> Self;
    /// `a % b`; `a` if `b` is 0.
    #[must_use]
    fn remainder(self, b: Self) -> Self;
    /// `a << b`; `a` if `b` is not a bit position.
    #[must_use]
    fn shifted_left(self, b: Self) -> Self;
    /// `a >> b`; `a` if `b` is not a bit position.
    #[must_use]
    fn shifted_right(self, b: Self) -> Self;
    /// `a` to the power `b`; 1 if `b` is negative, and the nearest value of the type if the power
    /// overflows.
    #[must_use]
    fn power(self, b: Self) -> Self;
    /// The largest element; the smallest value of the type if there is none.
    #[must_use]
    fn largest_of(x: &[Self]) -> Self;
    /// The smallest element; the largest value of the type if there is none.
    #[must_use]
    fn smallest_of(x: &[Self]) -> Self;
    /// The number of values of the type that are less.
    #[must_use]
    fn rank(self) -> u64;
}

macro_rules! whole {
    ($($t:ty),*) => {$(
        impl Whole for $t {
            #[inline(always)]
            fn quotient(self, b: $t) -> $t {
                if b == 0 { self } else { self.checked_div(b).unwrap_or(<$t>::MAX) }
            }
            #[inline(always)]
            fn remainder(self, b: $t) -> $t {
                // Most indices wrap around once at most, and a division costs more than that.
                let once = if b > 0 && self >= b { self - b } else { self };
                if (0..b).contains(&once) {
                    once
                } else if b == 0 {
                    self
                } else {
                    self.checked_rem(b).unwrap_or(0)
                }
            }
            #[inline(always)]
            fn shifted_left(self, b: $t) -> $t {
                u32::try_from(b).ok().and_then(|b| self.checked_shl(b)).unwrap_or(self)
            }
            #[inline(always)]
            fn shifted_right(self, b: $t) -> $t {
                u32::try_from(b).ok().and_then(|b| self.checked_shr(b)).unwrap_or(self)
            }
            #[inline]
            fn power(self, b: $t) -> $t {
                self.saturating_pow(u32::try_from(b).unwrap_or(if b > 0 { u32::MAX } else { 0 }))
            }
            fn largest_of(x: &[$t]) -> $t {
                x.iter().copied().max().unwrap_or(<$t>::MIN)
            }
            fn smallest_of(x: &[$t]) -> $t {
                x.iter().copied().min().unwrap_or(<$t>::MAX)
            }
            #[inline(always)]
            fn rank(self) -> u64 {
                self.abs_diff(<$t>::MIN) as u64
            }
        }
    )*};
}
whole!(usize, isize, i32, i64, u32, u64, u8);

/// [`Whole::quotient`].
#[inline(always)]
#[must_use]
pub fn quotient<A: Whole>(a: A, b: A) -> A {
    a.quotient(b)
}

/// [`Whole::remainder`].
#[inline(always)]
#[must_use]
pub fn remainder<A: Whole>(a: A, b: A) -> A {
    a.remainder(b)
}

/// [`Whole::shifted_left`].
#[inline(always)]
#[must_use]
pub fn shifted_left<A: Whole>(a: A, b: A) -> A {
    a.shifted_left(b)
}

/// [`Whole::shifted_right`].
#[inline(always)]
#[must_use]
pub fn shifted_right<A: Whole>(a: A, b: A) -> A {
    a.shifted_right(b)
}

/// [`Whole::power`].
#[inline]
#[must_use]
pub fn power<A: Whole>(a: A, b: A) -> A {
    a.power(b)
}

/// Maps a number to an integer, so that the order of the integers is that of `total_cmp`.
#[inline(always)]
#[must_use]
pub fn order<F: Real>(x: F) -> i64 {
    let bits = x.as_f64().to_bits().cast_signed();
    // All bits of a negative number except the sign are inverted.
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Always true. The argument is a result of a call, so the call has returned.
#[inline(always)]
#[must_use]
pub fn finished<T: Copy>(_: T) -> bool {
    true
}

/// [`Whole::largest_of`].
#[inline]
#[must_use]
pub fn largest_whole<A: Whole>(x: &[A]) -> A {
    A::largest_of(x)
}

/// [`Whole::smallest_of`].
#[inline]
#[must_use]
pub fn smallest_whole<A: Whole>(x: &[A]) -> A {
    A::smallest_of(x)
}

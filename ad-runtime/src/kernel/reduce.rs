//! Reductions of slices to one number, in a fixed order.
//!
//! Floating-point additions are not associative, so LLVM never splits a sum into lanes by itself;
//! here the lanes are written out: lane `l` takes the elements `l, l + LANES, ...`, the lanes are
//! added as a balanced tree, then the remaining elements (fewer than `LANES`) from left to right.
//! Below `LANES` elements that is the plain sum from left to right.
//!
//! A result must depend only on the values, the length, and whether the processor fuses products
//! with additions. In particular it must not depend on alignment.

use super::isa::{Isa, dispatched};
use super::lanes::lanes as lanes_total;
use super::layout::Copied;
use crate::Real;

/// 16 doubles are eight SSE or four AVX registers: enough independent additions to hide their
/// latency.
const LANES: usize = 16;

/// Copies the lanes before a call. The address of the original is then never taken, so that it
/// stays in registers.
#[inline(always)]
#[allow(clippy::manual_memcpy, reason = "copied as bytes, the original would have an address")]
fn opaque_copy<F: Real>(lanes: &[F; LANES]) -> [F; LANES] {
    let mut copy = [F::zero(); LANES];
    for l in 0..LANES {
        copy[l] = lanes[l];
    }
    copy
}

/// The sum of the elements; 0 if there is none.
#[inline]
#[must_use]
pub fn sum<F: Real>(x: &[F]) -> F {
    if x.len() < LANES {
        return x.iter().fold(F::zero(), |total, &v| total + v);
    }
    dispatched!('a, F; sum_in(x: &'a [F]) -> F)
}

/// [`sum`], for callers that are already inside of [`super::dispatch`].
#[inline(always)]
#[must_use]
pub fn sum_in<I: Isa, F: Real>(x: &[F]) -> F {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut total = F::zero();
    if !chunks.is_empty() {
        let mut lanes = [F::zero(); LANES];
        for chunk in chunks {
            for l in 0..LANES {
                lanes[l] += chunk[l];
            }
        }
        total = lanes_total(opaque_copy(&lanes));
    }
    for &v in rest {
        total += v;
    }
    total
}

/// The sum of the products of corresponding elements; 0 if there is none.
///
/// # Panics
///
/// If the lengths differ.
#[inline]
#[track_caller]
#[must_use]
pub fn dot<F: Real>(x: &[F], y: &[F]) -> F {
    assert!(x.len() == y.len(), "dot of {} and {} elements", x.len(), y.len());
    if x.len() < LANES {
        return x.iter().zip(y).fold(F::zero(), |total, (&a, &b)| total + a * b);
    }
    dispatched!('a, F; dot_in(x: &'a [F], y: &'a [F]) -> F)
}

/// [`dot`], for callers that are already inside of [`super::dispatch`]. Elements beyond the shorter
/// length are ignored.
#[inline(always)]
#[must_use]
pub fn dot_in<I: Isa, F: Real>(x: &[F], y: &[F]) -> F {
    let n = x.len().min(y.len());
    let (xs, x_rest) = x[..n].as_chunks::<LANES>();
    let (ys, y_rest) = y[..n].as_chunks::<LANES>();
    if xs.is_empty() {
        return rest_in::<I, F>(F::zero(), x_rest, y_rest);
    }
    products_total::<I, F>(products_in::<I, F>([F::zero(); LANES], xs, ys), x_rest, y_rest)
}

/// Adds the products of more chunks to the lanes of a sum of products.
#[inline(always)]
fn products_in<I: Isa, F: Real>(mut lanes: [F; LANES], xs: &[[F; LANES]], ys: &[[F; LANES]]) -> [F; LANES] {
    for (cx, cy) in xs.iter().zip(ys) {
        for l in 0..LANES {
            lanes[l] = I::mul_add(cx[l], cy[l], lanes[l]);
        }
    }
    lanes
}

/// [`products_in`] in blocks, with a call after each block that gets the number of elements read so
/// far.
#[inline(always)]
fn parts_in<I: Isa, F: Real>(
    mut lanes: [F; LANES],
    xs: &[[F; LANES]],
    ys: &[[F; LANES]],
    then: &mut dyn FnMut(usize),
) -> [F; LANES] {
    let part = BLOCK_BYTES / size_of::<[F; LANES]>();
    let mut end = 0;
    for (xs, ys) in xs.chunks(part).zip(ys.chunks(part)) {
        lanes = products_in::<I, F>(lanes, xs, ys);
        end += LANES * xs.len();
        then(end);
    }
    lanes
}

/// The total of the lanes of products and of the remaining elements after the chunks.
#[inline(always)]
fn products_total<I: Isa, F: Real>(lanes: [F; LANES], x_rest: &[F], y_rest: &[F]) -> F {
    rest_in::<I, F>(lanes_total(opaque_copy(&lanes)), x_rest, y_rest)
}

/// Adds the products of corresponding elements from left to right.
#[inline(always)]
fn rest_in<I: Isa, F: Real>(mut total: F, x: &[F], y: &[F]) -> F {
    for (&a, &b) in x.iter().zip(y) {
        total = I::mul_add(a, b, total);
    }
    total
}

/// Block size in bytes for each array: the blocks of all arrays stay in the second-level cache of a
/// core, while a kernel reads them and its operands are copied. Smaller blocks would start more
/// copies, which takes time; in a copy of a large block, `memcpy` does not read the memory that it
/// overwrites. A Zen 5 is fastest with twice this size (an eighth of it takes a third longer), a
/// Zen 4 with an eighth (twice as much takes half as long again): this is a compromise.
const BLOCK_BYTES: usize = 1 << 15;

/// The size in bytes up to which a whole array is in the first-level cache.
const MAX_CACHED_BYTES: usize = BLOCK_BYTES / 2;

/// Computes [`dot`] (the same bits) and makes `copies` of arrays of the same length, in one pass if
/// the arrays are larger than the first-level cache.
///
/// # Panics
///
/// If lengths differ.
#[track_caller]
pub fn dot_with_copies<F: Real>(x: &[F], y: &[F], copies: &mut [Copied<'_, F>]) -> F {
    let n = x.len();
    assert!(n == y.len(), "dot of {n} and {} elements", y.len());
    for copy in &mut *copies {
        copy.are(n);
    }
    if size_of_val(x) <= MAX_CACHED_BYTES {
        let total = dot(x, y);
        for copy in copies {
            copy.end();
        }
        return total;
    }
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ys, y_rest) = y.as_chunks::<LANES>();
    let lanes = [F::zero(); LANES];
    let mut then = |end: usize| copies.iter_mut().for_each(|copy| copy.go_on(end));
    let then: &mut dyn FnMut(usize) = &mut then;
    let lanes = dispatched!('a, F; parts_in(lanes: [F; LANES], xs: &'a [[F; LANES]], ys: &'a [[F; LANES]], then: &'a mut (dyn FnMut(usize) + 'a)) -> [F; LANES]);
    for copy in copies {
        copy.end();
    }
    dispatched!('a, F; products_total(lanes: [F; LANES], x_rest: &'a [F], y_rest: &'a [F]) -> F)
}

/// The sum of the squares of the elements; 0 if there is none.
#[inline]
#[must_use]
pub fn sum_of_squares<F: Real>(x: &[F]) -> F {
    dot(x, x)
}

/// The product of the elements from left to right; 1 if there is none.
///
/// It is not computed in lanes: in another order, it could overflow or underflow although this one
/// does not.
#[inline]
#[must_use]
pub fn product<F: Real>(x: &[F]) -> F {
    x.iter().fold(F::one(), |p, &v| p * v)
}

/// The first element that no other element beats. `beats(a, b)` is false if a or b is NaN. Every
/// number except `worst` and NaN beats `worst`.
///
/// Lanes start at `worst` and only take elements that beat them, so that no lane is ever NaN.
#[inline(always)]
fn extreme<F: Real>(x: &[F], worst: F, beats: impl Fn(F, F) -> bool) -> F {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [worst; LANES];
    for chunk in chunks {
        for l in 0..LANES {
            lanes[l] = if beats(chunk[l], lanes[l]) { chunk[l] } else { lanes[l] };
        }
    }
    let mut best = worst;
    for &v in lanes.iter().chain(rest) {
        best = if beats(v, best) { v } else { best };
    }
    // Two rare cases in which the lanes do not determine the element: the best may be -0 or +0,
    // which compare equal, and the first of them counts; or nothing beat `worst`, because `worst`
    // itself occurs in `x`, or because all elements are NaN.
    if best == F::zero() || best == worst { first_equal(x, best) } else { best }
}

#[cold]
#[inline(never)]
fn first_equal<F: Real>(x: &[F], wanted: F) -> F {
    x.iter().copied().find(|&v| v == wanted).unwrap_or_else(F::nan)
}

/// [`maximum`], for callers that are already inside of [`super::dispatch`]; NaN if there is no
/// element.
#[inline(always)]
#[must_use]
pub fn maximum_in<I: Isa, F: Real>(x: &[F]) -> F {
    extreme(x, F::neg_infinity(), |a, b| a > b)
}

/// [`minimum`], for callers that are already inside of [`super::dispatch`]; NaN if there is no
/// element.
#[inline(always)]
#[must_use]
pub fn minimum_in<I: Isa, F: Real>(x: &[F]) -> F {
    extreme(x, F::infinity(), |a, b| a < b)
}

/// The largest element.
///
/// NaN is ignored, as in a chain of `f64::max`; the result is NaN only if all elements are NaN. If
/// the largest elements are -0 and +0, the result is the first of them, so that it is always the
/// element at [`argmax`].
///
/// # Panics
///
/// If there is no element.
#[inline]
#[track_caller]
#[must_use]
pub fn maximum<F: Real>(x: &[F]) -> F {
    assert!(!x.is_empty(), "maximum of an empty array");
    if x.len() < LANES {
        return extreme(x, F::neg_infinity(), |a, b| a > b);
    }
    dispatched!('a, F; maximum_in(x: &'a [F]) -> F)
}

/// The smallest element; NaN and zeros are treated as in [`maximum`].
///
/// # Panics
///
/// If there is no element.
#[inline]
#[track_caller]
#[must_use]
pub fn minimum<F: Real>(x: &[F]) -> F {
    assert!(!x.is_empty(), "minimum of an empty array");
    if x.len() < LANES {
        return extreme(x, F::infinity(), |a, b| a < b);
    }
    dispatched!('a, F; minimum_in(x: &'a [F]) -> F)
}

/// The index of the first element that equals `wanted`; `None` if `wanted` is NaN.
fn position<F: Real>(x: &[F], wanted: F) -> Option<usize> {
    dispatched!('a, F; position_in(x: &'a [F], wanted: F) -> Option<usize>)
}

/// All elements of a chunk are compared at once, which is vectorised; only the chunk that has the
/// element is searched.
#[inline(always)]
#[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
fn position_in<I: Isa, F: Real>(x: &[F], wanted: F) -> Option<usize> {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let chunk = chunks.iter().position(|chunk| chunk.iter().fold(false, |found, &v| found | (v == wanted)));
    let (start, part) = match chunk {
        Some(i) => (i * LANES, &chunks[i][..]),
        None => (x.len() - rest.len(), rest),
    };
    part.iter().position(|&v| v == wanted).map(|i| start + i)
}

/// The index of the largest element, the first one if several are equal. NaN is ignored; the index
/// is 0 if all elements are NaN.
///
/// # Panics
///
/// If there is no element.
#[inline]
#[track_caller]
#[must_use]
pub fn argmax<F: Real>(x: &[F]) -> usize {
    assert!(!x.is_empty(), "argmax of an empty array");
    position(x, maximum(x)).unwrap_or(0)
}

/// The index of the smallest element, the first one if several are equal. NaN is ignored; the index
/// is 0 if all elements are NaN.
///
/// # Panics
///
/// If there is no element.
#[inline]
#[track_caller]
#[must_use]
pub fn argmin<F: Real>(x: &[F]) -> usize {
    assert!(!x.is_empty(), "argmin of an empty array");
    position(x, minimum(x)).unwrap_or(0)
}

//! Kernels for blocks of items, which tiling uses (`ad-back/src/tiling.rs` of the compiler). The
//! last axis of an array runs over the items of a block, so that an operation on the items fills
//! the lanes. The number of blocks must affect nothing but the order of sums.

use super::isa::{Isa, dispatched};
use crate::Real;

/// The maximum number of scalars in memory for all items of a block: they fit into a second-level
/// cache with other data. (Measured: half of it is slower by a fifth if an item has many scalars,
/// and twice of it gains nothing.)
const MAX_SCALARS: usize = 3 << 14;
/// SIMD lanes: the number of columns that are processed together.
const LANES: usize = 16;
/// The number of items that are packed together. (If rows have a power of two of scalars, this is
/// up to seven times faster, since the scalars of one item map to one cache set.)
const PACKED_ITEMS: usize = 8;
/// The minimum number of items of a block: fewer leave lanes empty.
const MIN_ITEMS: usize = 16;
/// The maximum number of items of a block: more gain nothing.
const MAX_ITEMS: usize = 128;

/// The number of items in a block, given the number of all items and the number of scalars in
/// memory for each. It is a multiple of sixteen, unless one block has all items.
#[inline]
#[must_use]
pub fn block(len: usize, width: usize) -> usize {
    let items = (MAX_SCALARS / width.max(1)).clamp(MIN_ITEMS, MAX_ITEMS) / MIN_ITEMS * MIN_ITEMS;
    items.min(len.max(1))
}

/// The maximum number of scalars in the rows of a block that are read in place, twice: the second
/// time they are in the second-level cache.
const MAX_ROW_SCALARS: usize = 1 << 13;
/// The maximum number of rows of a block: more gain nothing.
const MAX_ROWS: usize = 1 << 11;

/// [`block`] for rows of items that are read in place. Then items fill no lanes, except in arrays
/// with one scalar for each item.
#[inline]
#[must_use]
pub fn block_of_rows(len: usize, width: usize) -> usize {
    let items = (MAX_ROW_SCALARS / width.max(1)).clamp(MIN_ITEMS, MAX_ROWS) / MIN_ITEMS * MIN_ITEMS;
    items.min(len.max(1))
}

/// Packs the scalars of `count` items, given item by item, as rows over the items.
///
/// # Panics
/// If `out` is shorter than `rows`.
#[inline]
pub fn packed<A: Copy>(out: &mut [A], rows: &[A], count: usize) {
    if count == 0 {
        return;
    }
    let width = rows.len() / count;
    let out = &mut out[..width * count];
    // If several items are packed together, their scalars are stored together.
    let whole = count / PACKED_ITEMS * PACKED_ITEMS;
    for i in (0..whole).step_by(PACKED_ITEMS) {
        let rows = &rows[i * width..][..PACKED_ITEMS * width];
        for j in 0..width {
            let out = &mut out[j * count + i..][..PACKED_ITEMS];
            for l in 0..PACKED_ITEMS {
                out[l] = rows[l * width + j];
            }
        }
    }
    for i in whole..count {
        let row = &rows[i * width..][..width];
        for (j, &x) in row.iter().enumerate() {
            out[j * count + i] = x;
        }
    }
}

/// Stores scalars of `count` items, given as rows over the items, item by item: the inverse of
/// [`packed`].
///
/// # Panics
/// If `block` is shorter than `out`.
#[inline]
pub fn unpacked<A: Copy>(out: &mut [A], block: &[A], count: usize) {
    if count == 0 {
        return;
    }
    let width = out.len() / count;
    let block = &block[..width * count];
    for (i, row) in out.chunks_exact_mut(width.max(1)).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = block[j * count + i];
        }
    }
}

/// [`super::largest`] of each column of `count`-wide rows.
#[inline]
pub fn largest_columns<F: Real>(out: &mut [F], x: &[F], count: usize) {
    groups(out, x, count, F::neg_infinity(), |out, x, count| {
        dispatched!('a, F; largest_in(out: &'a mut [F], x: &'a [F], count: usize) -> ());
    });
}

/// [`super::smallest`] of each column of `count`-wide rows.
#[inline]
pub fn smallest_columns<F: Real>(out: &mut [F], x: &[F], count: usize) {
    groups(out, x, count, F::infinity(), |out, x, count| {
        dispatched!('a, F; smallest_in(out: &'a mut [F], x: &'a [F], count: usize) -> ());
    });
}

/// [`super::place_of_largest`] of each column of `count`-wide rows.
#[inline]
pub fn places_of_largest<F: Real>(out: &mut [usize], x: &[F], count: usize) {
    groups(out, x, count, 0, |out, x, count| {
        dispatched!('a, F; places_of_largest_in(out: &'a mut [usize], x: &'a [F], count: usize) -> ());
    });
}

/// [`super::place_of_smallest`] of each column of `count`-wide rows.
#[inline]
pub fn places_of_smallest<F: Real>(out: &mut [usize], x: &[F], count: usize) {
    groups(out, x, count, 0, |out, x, count| {
        dispatched!('a, F; places_of_smallest_in(out: &'a mut [usize], x: &'a [F], count: usize) -> ());
    });
}

/// Calls `one` for each group of rows of `x`; `out` has one row for each group. A group without
/// rows has no extremum, and gives `none`.
#[inline]
fn groups<A: Copy, B: Copy>(out: &mut [A], x: &[B], count: usize, none: A, one: impl Fn(&mut [A], &[B], usize)) {
    if out.is_empty() || count == 0 {
        return;
    }
    let group = x.len() / (out.len() / count);
    for (k, out) in out.chunks_exact_mut(count).enumerate() {
        if group == 0 {
            out.fill(none);
        } else {
            one(out, &x[k * group..][..group], count);
        }
    }
}

macro_rules! columns {
    ($($name:ident $places:ident from $worst:ident by $better:expr;)*) => {$(
        #[inline(always)]
        #[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
        fn $name<I: Isa, F: Real>(out: &mut [F], x: &[F], count: usize) {
            columns(x, count, (F::$worst(), $better), |i, best, _| out[i] = best);
        }

        #[inline(always)]
        #[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
        fn $places<I: Isa, F: Real>(out: &mut [usize], x: &[F], count: usize) {
            columns(x, count, (F::$worst(), $better), |i, _, place| out[i] = place);
        }
    )*};
}
columns! {
    largest_in places_of_largest_in from neg_infinity by |a, b| b > a;
    smallest_in places_of_smallest_in from infinity by |a, b| b < a;
}

/// Calls `found` for each column, with the first best element of the column and its row. NaN is
/// ignored; if all elements are NaN, the first one is the best.
///
/// Lanes start at `worst` and take only elements that beat it, so that one comparison suffices. If
/// no element does, all are `worst` or NaN, and the scalar rule is applied to the column.
#[inline(always)]
fn columns<F: Real>(
    x: &[F],
    count: usize,
    (worst, better): (F, impl Fn(F, F) -> bool),
    mut found: impl FnMut(usize, F, usize),
) {
    // Row numbers are kept as numbers of type `F`, so that both selections have the same kind of
    // lanes. If there are more rows than `F` can count, columns are searched one by one.
    let whole = if x.len() / count.max(1) <= 1 << 24 { count / LANES * LANES } else { 0 };
    let none = F::lit(-1.0);
    for start in (0..whole).step_by(LANES) {
        let (mut best, mut place, mut at) = ([worst; LANES], [none; LANES], F::zero());
        for row in x.chunks_exact(count) {
            let row = &row[start..][..LANES];
            for l in 0..LANES {
                let wins = better(best[l], row[l]);
                best[l] = if wins { row[l] } else { best[l] };
                place[l] = if wins { at } else { place[l] };
            }
            at += F::one();
        }
        for l in 0..LANES {
            if place[l] == none {
                let (best, place) = first_best_of_column(x, count, start + l, &better);
                found(start + l, best, place);
            } else {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a number of rows, exactly"
                )]
                found(start + l, best[l], place[l].as_f64() as usize);
            }
        }
    }
    for i in whole..count {
        let (best, place) = first_best_of_column(x, count, i, &better);
        found(i, best, place);
    }
}

/// The first best element of one column and its row, found by comparing one row after the other.
#[inline(never)]
fn first_best_of_column<F: Real>(x: &[F], count: usize, i: usize, better: impl Fn(F, F) -> bool) -> (F, usize) {
    let (mut best, mut place) = (x[i], 0);
    for (r, row) in x.chunks_exact(count).enumerate().skip(1) {
        if better(best, row[i]) | (best.is_nan() & !row[i].is_nan()) {
            (best, place) = (row[i], r);
        }
    }
    (best, place)
}

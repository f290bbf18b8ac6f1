//! The loops of [`super::windows`]: a tile of results in registers, with a table of the positions
//! of their operands.
//!
//! A destination that is to be overwritten is not read.

use alloc::vec;
use alloc::vec::Vec;

use super::Label;
use crate::Real;
use crate::kernel::isa::{Isa, Plain};

/// The number of rows of a tile.
const ROWS: usize = 4;
/// The number of terms of a sum that are added to a tile at once: their weights stay in the
/// first-level cache.
const TILE_TERMS: usize = 1024;
/// The number of weights that are copied at once.
const COPIED_WEIGHTS: usize = 1 << 16;
/// Dot products of a tile: this number of rows of one operand with this number of rows of the
/// other.
const TILE_DOTS: usize = 3;
/// The number of elements of a row that are summed before the lanes are combined.
const STRIP_ELEMENTS: usize = 2048;

/// Walks over the indices of labels, the last one fastest, with the offset of each array from its
/// first element.
struct Walk {
    labels: Vec<Label>,
    at: Vec<usize>,
    far: [isize; 3],
    left: usize,
}

impl Walk {
    fn new(labels: Vec<Label>) -> Self {
        let left = labels.iter().map(|l| l.n).product();
        Walk { at: vec![0; labels.len()], labels, far: [0; 3], left }
    }
}

impl Iterator for Walk {
    type Item = [isize; 3];

    fn next(&mut self) -> Option<[isize; 3]> {
        self.left = self.left.checked_sub(1)?;
        let here = self.far;
        for (l, at) in self.labels.iter().zip(&mut self.at).rev() {
            *at += 1;
            let more = *at < l.n;
            let times = if more { 1 } else { 1 - l.n.cast_signed() };
            for (far, step) in self.far.iter_mut().zip([l.out, l.a, l.b]) {
                *far += step * times;
            }
            if more {
                break;
            }
            *at = 0;
        }
        Some(here)
    }
}

/// Converts a sum of differences to a position. The sum is known to be in range.
#[inline(always)]
fn place(k: isize) -> usize {
    k.cast_unsigned()
}

/// The labels that pass a test, except one.
fn pick(all: &[Label], lane: usize, test: impl Fn(&Label) -> bool) -> Vec<Label> {
    all.iter().enumerate().filter(|(l, label)| *l != lane && test(label)).map(|(_, label)| *label).collect()
}

/// [`lanes`] of products that are rounded, in the order of their labels from `start` on.
#[inline(always)]
#[allow(clippy::extra_unused_type_parameters, reason = "what is dispatched has this shape")]
pub(super) fn lanes_in_order<I: Isa, F: Real>(
    out: &mut [F],
    y: &[F],
    z: &[F],
    all: &[Label],
    lane: usize,
    first: [isize; 3],
    start: F,
) {
    spread::<Plain, F>(out, y, z, all, lane, first, (false, Some(start)));
}

/// Contiguous elements of the result and of `y` in lanes, with an element of `z` that is the same
/// for all of them. In the labels, `y` is `a` and `z` is `b`.
#[inline(always)]
pub(super) fn lanes<I: Isa, F: Real>(
    out: &mut [F],
    y: &[F],
    z: &[F],
    all: &[Label],
    lane: usize,
    first: [isize; 3],
    accumulate: bool,
) {
    spread::<I, F>(out, y, z, all, lane, first, (accumulate, None));
}

#[inline(always)]
fn spread<I: Isa, F: Real>(
    out: &mut [F],
    y: &[F],
    z: &[F],
    all: &[Label],
    lane: usize,
    first: [isize; 3],
    (accumulate, in_order): (bool, Option<F>),
) {
    let n = all[lane].n;
    let is_row = |l: &Label| l.out != 0 && l.a == 0 && l.b != 0;
    let rows: Vec<[isize; 3]> = Walk::new(pick(all, lane, is_row)).collect();
    let outer = pick(all, lane, |l| l.out != 0 && !is_row(l));
    let terms = pick(all, lane, |l| l.out == 0);
    // Each negative offset is subtracted once, before the loop.
    let lowest: isize = terms.iter().map(|l| (l.a * (l.n.cast_signed() - 1)).min(0)).sum();
    let few = (COPIED_WEIGHTS / rows.len()).clamp(32, TILE_TERMS);
    let (mut walk, mut accumulate) = (Walk::new(terms), accumulate);
    let mut weights = Vec::new();
    loop {
        let chunk: Vec<[isize; 3]> = walk.by_ref().take(few).collect();
        if chunk.is_empty() {
            return;
        }
        let places: Vec<usize> = chunk.iter().map(|t| place(t[1] - lowest)).collect();
        let mut packed_at = None;
        for [o, a, b] in Walk::new(outer.clone()) {
            if packed_at != Some(b) {
                packed_at = Some(b);
                pack(&mut weights, z, &rows, &chunk, first[2] + b);
            }
            let (o, y) = (first[0] + o, &y[place(first[1] + a + lowest)..]);
            let tile = Tile { places: &places, weights: &weights, rows: &rows, at: o, accumulate, in_order };
            if size_of::<F>() == 4 { tile.all::<I, 16>(out, y, n) } else { tile.all::<I, 8>(out, y, n) }
        }
        accumulate = true;
    }
}

/// The weights of these terms: for each tile of rows, term by term.
fn pack<F: Real>(weights: &mut Vec<F>, z: &[F], rows: &[[isize; 3]], terms: &[[isize; 3]], first: isize) {
    weights.clear();
    let tiles = rows.as_chunks::<ROWS>();
    for tile in tiles.0 {
        for term in terms {
            weights.extend(tile.iter().map(|row| z[place(first + row[2] + term[2])]));
        }
    }
    for row in tiles.1 {
        weights.extend(terms.iter().map(|term| z[place(first + row[2] + term[2])]));
    }
}

/// The operands of a row of tiles.
struct Tile<'a, F> {
    places: &'a [usize],
    weights: &'a [F],
    rows: &'a [[isize; 3]],
    at: isize,
    accumulate: bool,
    in_order: Option<F>,
}

impl<F: Real> Tile<'_, F> {
    /// All rows of the result, block by block of columns. The last block overlaps the one before,
    /// so that it is complete.
    #[inline(always)]
    fn all<I: Isa, const C: usize>(&self, out: &mut [F], y: &[F], n: usize) {
        let mut j = 0;
        while j < n {
            if n >= C {
                let skip = (j + C).saturating_sub(n);
                self.columns::<I, C>(out, y, j - skip, skip);
                j += C;
            } else if n >= 4 {
                let skip = (j + 4).saturating_sub(n);
                self.columns::<I, 4>(out, y, j - skip, skip);
                j += 4;
            } else {
                self.columns::<I, 1>(out, y, j, 0);
                j += 1;
            }
        }
    }

    /// `C` columns from the `j`th on, of which the first `skip` have been written already.
    #[inline(always)]
    fn columns<I: Isa, const C: usize>(&self, out: &mut [F], y: &[F], j: usize, skip: usize) {
        let (tiles, rest) = self.rows.as_chunks::<ROWS>();
        let mut weights = self.weights;
        for rows in tiles {
            let (here, later) = weights.split_at(ROWS * self.places.len());
            self.one::<I, ROWS, C>(out, &y[j..], here, rows, j, skip);
            weights = later;
        }
        for row in rest {
            let (here, later) = weights.split_at(self.places.len());
            self.one::<I, 1, C>(out, &y[j..], here, core::array::from_ref(row), j, skip);
            weights = later;
        }
    }

    #[inline(always)]
    fn one<I: Isa, const R: usize, const C: usize>(
        &self,
        out: &mut [F],
        y: &[F],
        weights: &[F],
        rows: &[[isize; 3]; R],
        j: usize,
        skip: usize,
    ) {
        let places: [usize; R] = core::array::from_fn(|r| place(self.at + rows[r][0]) + j);
        let mut sums = [[F::zero(); C]; R];
        if let Some(start) = self.in_order {
            sums = [[start; C]; R];
            if self.accumulate {
                for r in 0..R {
                    sums[r].copy_from_slice(&out[places[r]..][..C]);
                }
            }
        }
        for (&place, weights) in self.places.iter().zip(weights.as_chunks::<R>().0) {
            let y: &[F; C] = y[place..].first_chunk().expect("a block of columns in range");
            for r in 0..R {
                for l in 0..C {
                    sums[r][l] = I::mul_add(weights[r], y[l], sums[r][l]);
                }
            }
        }
        let mut copy = [[F::zero(); C]; R];
        for r in 0..R {
            for l in 0..C {
                copy[r][l] = sums[r][l];
            }
        }
        store(out, copy, places, skip, self.accumulate && self.in_order.is_none());
    }
}

/// Writes a tile. Never inlined, for the reason given at [`crate::kernel::lanes`]: the sums stay in
/// whole vectors.
#[inline(never)]
fn store<F: Real, const R: usize, const C: usize>(
    out: &mut [F],
    sums: [[F; C]; R],
    places: [usize; R],
    skip: usize,
    accumulate: bool,
) {
    for (sums, place) in sums.iter().zip(places) {
        let to = &mut out[place..][..C];
        match (accumulate, skip) {
            (false, 0) => to.copy_from_slice(sums),
            (false, _) => to[skip..].copy_from_slice(&sums[skip..]),
            (true, _) => {
                for (to, &sum) in to[skip..].iter_mut().zip(&sums[skip..]) {
                    *to += sum;
                }
            }
        }
    }
}

/// Dot products along a label of both operands, added to the result.
#[inline(always)]
pub(super) fn dots<I: Isa, F: Real>(out: &mut [F], a: &[F], b: &[F], all: &[Label], lane: usize, first: [isize; 3]) {
    let n = all[lane].n;
    let of_a: Vec<[isize; 3]> = Walk::new(pick(all, lane, |l| l.out != 0 && l.b == 0)).collect();
    let of_b: Vec<[isize; 3]> = Walk::new(pick(all, lane, |l| l.out != 0 && l.a == 0 && l.b != 0)).collect();
    let both = pick(all, lane, |l| l.out != 0 && l.a != 0 && l.b != 0);
    let terms = pick(all, lane, |l| l.out == 0);
    let strip = (STRIP_ELEMENTS / n).max(1);
    for [o, x, y] in Walk::new(both) {
        let first = [first[0] + o, first[1] + x, first[2] + y];
        let mut walk = Walk::new(terms.clone());
        loop {
            let rows: Vec<[isize; 3]> = walk.by_ref().take(strip).collect();
            if rows.is_empty() {
                break;
            }
            let (fours, rest) = of_a.as_chunks::<ROWS>();
            for of_a in fours {
                block::<I, F, ROWS>(out, a, b, (of_a, &of_b), &rows, first, n);
            }
            for one in rest {
                block::<I, F, 1>(out, a, b, (core::array::from_ref(one), &of_b), &rows, first, n);
            }
        }
    }
}

/// `R` rows of one operand with all rows of the other.
#[inline(always)]
fn block<I: Isa, F: Real, const R: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    (of_a, of_b): (&[[isize; 3]; R], &[[isize; 3]]),
    rows: &[[isize; 3]],
    first: [isize; 3],
    n: usize,
) {
    let (threes, rest) = of_b.as_chunks::<TILE_DOTS>();
    for of_b in threes {
        sized::<I, F, R, TILE_DOTS>(out, a, b, (of_a, of_b), rows, first, n);
    }
    for one in rest {
        sized::<I, F, R, 1>(out, a, b, (of_a, core::array::from_ref(one)), rows, first, n);
    }
}

#[inline(always)]
fn sized<I: Isa, F: Real, const R: usize, const Q: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    of: (&[[isize; 3]; R], &[[isize; 3]; Q]),
    rows: &[[isize; 3]],
    first: [isize; 3],
    n: usize,
) {
    if size_of::<F>() == 4 {
        tile::<I, F, R, Q, 8>(out, a, b, of, rows, first, n);
    } else {
        tile::<I, F, R, Q, 4>(out, a, b, of, rows, first, n);
    }
}

#[inline(always)]
fn tile<I: Isa, F: Real, const R: usize, const Q: usize, const C: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    (of_a, of_b): (&[[isize; 3]; R], &[[isize; 3]; Q]),
    rows: &[[isize; 3]],
    first: [isize; 3],
    n: usize,
) {
    let mut sums = [[[F::zero(); C]; Q]; R];
    let mut rest = [[F::zero(); Q]; R];
    for row in rows {
        let xs: [&[F]; R] = core::array::from_fn(|r| &a[place(first[1] + of_a[r][1] + row[1])..][..n]);
        let ys: [&[F]; Q] = core::array::from_fn(|q| &b[place(first[2] + of_b[q][2] + row[2])..][..n]);
        let count = n / C;
        let x_chunks: [&[[F; C]]; R] = core::array::from_fn(|r| &xs[r].as_chunks::<C>().0[..count]);
        let y_chunks: [&[[F; C]]; Q] = core::array::from_fn(|q| &ys[q].as_chunks::<C>().0[..count]);
        for k in 0..count {
            for r in 0..R {
                for q in 0..Q {
                    for l in 0..C {
                        sums[r][q][l] = I::mul_add(x_chunks[r][k][l], y_chunks[q][k][l], sums[r][q][l]);
                    }
                }
            }
        }
        for k in count * C..n {
            for r in 0..R {
                for q in 0..Q {
                    rest[r][q] = I::mul_add(xs[r][k], ys[q][k], rest[r][q]);
                }
            }
        }
    }
    let mut copy = [[[F::zero(); C]; Q]; R];
    for r in 0..R {
        for q in 0..Q {
            for l in 0..C {
                copy[r][q][l] = sums[r][q][l];
            }
        }
    }
    let totals = added(copy, rest);
    for r in 0..R {
        for q in 0..Q {
            out[place(first[0] + of_a[r][0] + of_b[q][0])] += totals[r][q];
        }
    }
}

/// The sums of the lanes and the remaining elements. Never inlined, as [`store`].
#[inline(never)]
fn added<F: Real, const R: usize, const Q: usize, const C: usize>(
    lanes: [[[F; C]; Q]; R],
    mut rest: [[F; Q]; R],
) -> [[F; Q]; R] {
    for r in 0..R {
        for q in 0..Q {
            let mut lanes = lanes[r][q];
            let mut width = C / 2;
            while width > 0 {
                for l in 0..width {
                    lanes[l] += lanes[l + width];
                }
                width /= 2;
            }
            rest[r][q] += lanes[0];
        }
    }
    rest
}

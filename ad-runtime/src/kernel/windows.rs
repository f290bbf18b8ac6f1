//! Sums of products of arrays that are read at sums of indices: convolutions, correlations, and
//! their adjoints.
//!
//! `y[o, i, j] = sum of w[o, c, p, q] * x[c, i + p, j + q]` over c, p, q is a contraction of `w`
//! with the windows of `x`, an array nine times the size of `x` for windows of 3 x 3. These loops
//! do not store the windows (implicit im2col): each label of the contraction has a constant stride
//! in each array, so they are the loops of a product of matrices with other strides ([`tiles`]).
//!
//! No element out of range is read or written: a term that is out of range adds nothing.

mod parts;
mod tiles;

use alloc::vec;
use alloc::vec::Vec;

use super::absorbing::absorbing_product;
use super::isa::dispatched;
use crate::Real;
use tiles::{dots, lanes, lanes_in_order};

/// An axis of an array: its size, an offset, and the stride of each label. The array is read at the
/// offset plus the sum of each label times its stride.
pub type Axis<const L: usize> = (usize, isize, [isize; L]);

/// How the result is combined with its earlier content.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Combined<F> {
    /// It is overwritten.
    New,
    /// It is added to.
    Added,
    /// It is overwritten by sums in order that start at this value.
    InOrder(F),
}

impl<F: Real> Combined<F> {
    /// Initialises the result before terms are added.
    fn filled(self, out: &mut [F]) {
        match self {
            Combined::New => out.fill(F::zero()),
            Combined::Added => {}
            Combined::InOrder(start) => out.fill(start),
        }
    }
}

/// The extent of a label, and its stride in the flat result and operands.
#[derive(Clone, Copy, Debug)]
struct Label {
    n: usize,
    out: isize,
    a: isize,
    b: isize,
}

/// The elements of an array that are read, its axes, and the stride of each axis.
#[derive(Clone, Debug)]
struct Read<const L: usize> {
    axes: Vec<Axis<L>>,
}

impl<const L: usize> Read<L> {
    fn new(axes: &[Axis<L>]) -> Self {
        Read { axes: axes.to_vec() }
    }

    /// Whether all accesses are in range; every label has an extent of at least 1.
    fn fits(&self, labels: &[usize; L]) -> bool {
        self.axes.iter().all(|(size, start, steps)| {
            let (mut low, mut high) = (*start as i128, *start as i128);
            for (&step, &n) in steps.iter().zip(labels) {
                let far = step as i128 * (n as i128 - 1);
                low += far.min(0);
                high += far.max(0);
            }
            low >= 0 && high < *size as i128
        })
    }

    /// The position of the first element, and the stride of each label.
    fn flat(&self) -> (isize, [isize; L]) {
        let (mut first, mut far, mut stride) = (0, [0; L], 1);
        for (size, start, steps) in self.axes.iter().rev() {
            first += start * stride;
            for (far, step) in far.iter_mut().zip(steps) {
                *far += step * stride;
            }
            stride *= size.cast_signed();
        }
        (first, far)
    }

    /// The position of an element, if it is in range.
    fn place(&self, at: &[usize; L]) -> Option<usize> {
        let mut place = 0;
        for (size, start, steps) in &self.axes {
            let mut k = *start as i128;
            for (&step, &at) in steps.iter().zip(at) {
                k += step as i128 * at as i128;
            }
            place = place * size + usize::try_from(k).ok().filter(|k| k < size)?;
        }
        Some(place)
    }

    /// The only axis that the label indexes, if it does so with stride 1 and without other labels.
    fn own_axis(&self, label: usize) -> Option<usize> {
        let mut found = None;
        for (k, (.., steps)) in self.axes.iter().enumerate() {
            if steps[label] != 0 {
                let alone = steps.iter().enumerate().all(|(l, &s)| s == i64::from(l == label) as isize);
                if found.is_some() || !alone {
                    return None;
                }
                found = Some(k);
            }
        }
        found
    }

    fn has(&self, label: usize) -> bool {
        self.axes.iter().any(|a| a.2[label] != 0)
    }
}

/// `out[..] (+)= the sum of a[..] * b[..]` over all indices of the labels, where each array is read
/// along its axes as described at [`Axis`]. A term is left out if any of its three elements is out
/// of range. Without `accumulate`, elements of the result that no term is added to are zero.
///
/// `windows((&mut y, &[(n, 0, [1, 0])]), (&w, &[(k, 0, [0, 1])]), (&x, &[(n + k - 1, 0, [1, 1])]),
/// [n, k], false)` is `y[i] = sum of w[p] * x[i + p]` over p. The weights, or the operand with
/// zeros around it, are copied.
///
/// - If a label has unit stride in the result and in one operand, contiguous elements fill the
///   lanes, and a tile of the result stays in registers until all its terms have been added
///   (convolution).
/// - If a label has unit stride in both operands and is summed, tiles of dot products are computed
///   (the gradient of `w`).
/// - If the *result* is at a sum of indices, `dx[c, i + p, j + q] += w[o, c, p, q] * d[o, i, j]`
///   (the gradient of `x`), the contraction is reindexed as a gather: `dx[c, v, u]` is the sum of
///   `w[o, c, p, q] * d[o, v - p, u - q]`, and `d` is copied once with zeros around it.
///
/// (Explicit im2col: K. Chellapilla, S. Puri, P. Simard, *High performance convolutional neural
/// networks for document processing*, 2006.)
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn windows<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    accumulate: bool,
) {
    check([(out.len(), out_axes), (a.len(), a_axes), (b.len(), b_axes)]);
    let how = if accumulate { Combined::Added } else { Combined::New };
    let arrays = [Read::new(out_axes), Read::new(a_axes), Read::new(b_axes)];
    if labels.contains(&0) || !arrays.iter().all(|x| x.fits(&labels)) {
        return one_by_one(out, a, b, &arrays, &labels, how);
    }
    match parts::outer(&arrays[0], &labels) {
        Some((label, division)) => parts::each(out, [a, b], arrays, labels, how, (label, division)),
        None => fitting(out, a, b, &arrays, labels, how),
    }
}

/// [`windows`] where all accesses are in range.
fn fitting<F: Real, const L: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    arrays: &[Read<L>; 3],
    labels: [usize; L],
    how: Combined<F>,
) {
    // The zeros around one operand are multiplied by elements of the other, which must be finite.
    let finite = |x: &[F]| x.iter().all(|v| v.is_finite());
    if let Some(turned) = turned(arrays, labels, true).filter(|_| finite(b)) {
        let padded = padded(a, &arrays[1], &turned);
        return inside(out, &padded, b, &turned.arrays, &turned.labels, how);
    }
    if let Some(turned) = turned(arrays, labels, false).filter(|_| finite(a)) {
        let padded = padded(b, &arrays[2], &turned);
        return inside(out, a, &padded, &turned.arrays, &turned.labels, how);
    }
    inside(out, a, b, arrays, &labels, how);
}

/// [`windows`] in whose products a zero of the first operand, of the second one, absorbs: it makes
/// a product 0 also where the other factor is infinite or NaN.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn absorbing_windows<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    accumulate: bool,
    absorbs: [bool; 2],
) {
    let finite = |x: &[F]| x.iter().fold(true, |all, v| all & v.is_finite());
    if (!absorbs[0] || finite(b)) && (!absorbs[1] || finite(a)) {
        return windows((out, out_axes), (a, a_axes), (b, b_axes), labels, accumulate);
    }
    check([(out.len(), out_axes), (a.len(), a_axes), (b.len(), b_axes)]);
    let how = if accumulate { Combined::Added } else { Combined::New };
    let arrays = [Read::new(out_axes), Read::new(a_axes), Read::new(b_axes)];
    each_product(out, &arrays, &labels, how, |x, y| absorbing_product(a[x], b[y], absorbs));
}

/// [`windows`] for results that a decision depends on: each element of the result is `start` and,
/// one after the other in the order of the labels (the last one fastest), the products, each
/// rounded before it is added.
///
/// # Panics
///
/// If a length is not the product of its sizes.
#[track_caller]
pub fn windows_in_order<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    start: F,
) {
    check([(out.len(), out_axes), (a.len(), a_axes), (b.len(), b_axes)]);
    let arrays = [Read::new(out_axes), Read::new(a_axes), Read::new(b_axes)];
    if labels.contains(&0) || !arrays.iter().all(|x| x.fits(&labels)) {
        return one_by_one(out, a, b, &arrays, &labels, Combined::InOrder(start));
    }
    inside(out, a, b, &arrays, &labels, Combined::InOrder(start));
}

#[track_caller]
fn check<const L: usize>([out, a, b]: [(usize, &[Axis<L>]); 3]) {
    let fits = |(len, axes): (usize, &[Axis<L>])| len == axes.iter().map(|a| a.0).product::<usize>();
    assert!(fits(out) && fits(a) && fits(b), "windows of {} and {} elements into {}", a.0, b.0, out.0);
}

/// A reindexed contraction: the result, which was at `i + p`, is at `i`, and the operand that was
/// at `i` is at `i - p`.
struct Reindexed<const L: usize> {
    arrays: [Read<L>; 3],
    labels: [usize; L],
    /// The padding of each axis of the operand: zeros on each side, first element, number of
    /// elements.
    zeros: Vec<(usize, usize, usize)>,
}

/// The contraction reindexed so that one label indexes the last axis of the result, if that is
/// possible, by the first operand or the second.
fn turned<const L: usize>([out, a, b]: &[Read<L>; 3], labels: [usize; L], first: bool) -> Option<Reindexed<L>> {
    let (mut moved, fixed) = if first { (a.clone(), b) } else { (b.clone(), a) };
    let (mut new_out, mut new_labels) = (out.clone(), labels);
    let mut zeros: Vec<(usize, usize, usize)> = moved.axes.iter().map(|a| (0, 0, a.0)).collect();
    let mut last = false;
    for (k, (.., steps)) in out.axes.iter().enumerate() {
        let here: Vec<usize> = (0..L).filter(|&l| steps[l] != 0).collect();
        let [x, y] = here[..] else { continue };
        if steps[x] != 1 || steps[y] != 1 {
            continue;
        }
        let elsewhere = |l: usize| out.axes.iter().enumerate().any(|(m, a)| m != k && a.2[l] != 0);
        let Some((i, p, axis)) = [(x, y), (y, x)].into_iter().find_map(|(i, p)| {
            let axis = moved.own_axis(i)?;
            // Zeros are put around the longer operand: around the shorter one most elements would
            // be zeros.
            let fits = labels[i] >= labels[p] && !fixed.has(i) && !moved.has(p) && !elsewhere(i) && !elsewhere(p);
            fits.then_some((i, p, axis))
        }) else {
            continue;
        };
        let around = labels[p] - 1;
        zeros[axis] = (around, usize::try_from(moved.axes[axis].1).ok()?, labels[i]);
        let to = &mut moved.axes[axis];
        to.0 = labels[i] + 2 * around;
        to.1 = around.cast_signed();
        to.2[p] = -1;
        new_out.axes[k].2[p] = 0;
        new_labels[i] = labels[i] + around;
        last |= k + 1 == out.axes.len() && axis + 1 == moved.axes.len();
    }
    let arrays = if first { [new_out, moved, fixed.clone()] } else { [new_out, fixed.clone(), moved] };
    last.then_some(Reindexed { arrays, labels: new_labels, zeros })
}

/// An operand with zeros around it.
fn padded<F: Real, const L: usize>(x: &[F], from: &Read<L>, turned: &Reindexed<L>) -> Vec<F> {
    let zeros = &turned.zeros;
    let mut out = vec![F::zero(); zeros.iter().map(|z| z.2 + 2 * z.0).product()];
    let Some((&(around, start, row), outer)) = zeros.split_last() else { return out };
    let mut at = vec![0; outer.len()];
    loop {
        let (mut source, mut place) = (0, 0);
        for (k, &(around, start, n)) in outer.iter().enumerate() {
            source = source * from.axes[k].0 + start + at[k];
            place = place * (n + 2 * around) + around + at[k];
        }
        let (source, place) = (source * from.axes[outer.len()].0 + start, place * (row + 2 * around) + around);
        out[place..][..row].copy_from_slice(&x[source..][..row]);
        let Some(k) = (0..outer.len()).rev().find(|&k| at[k] + 1 < outer[k].2) else { return out };
        at[k] += 1;
        at[k + 1..].fill(0);
    }
}

/// Computes the sums if all accesses are in range.
fn inside<F: Real, const L: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    arrays: &[Read<L>; 3],
    labels: &[usize; L],
    how: Combined<F>,
) {
    let [(o0, os), (a0, a_s), (b0, bs)] = [arrays[0].flat(), arrays[1].flat(), arrays[2].flat()];
    let first = [o0, a0, b0];
    let all: Vec<Label> = (0..L).map(|l| Label { n: labels[l], out: os[l], a: a_s[l], b: bs[l] }).collect();
    // Whether each element of the result is written for one combination of its own labels only; and
    // how many elements are written.
    let once = arrays[0].axes.iter().all(|(.., steps)| steps.iter().filter(|s| **s != 0).count() <= 1)
        && (0..L).all(|l| arrays[0].axes.iter().filter(|a| a.2[l] != 0).count() <= 1);
    let met: usize = all.iter().filter(|l| l.out != 0).map(|l| l.n).product();
    // The longest label that can fill lanes; a label of the result and one operand is preferred to
    // a label of both operands.
    let worth = |l: &Label| l.n.min(64);
    let spread = |l: &Label| l.out == 1 && ((l.a, l.b) == (1, 0) || (l.a, l.b) == (0, 1));
    let summed = |l: &Label| l.out == 0 && (l.a, l.b) == (1, 1);
    let best = |fits: &dyn Fn(&Label) -> bool| {
        (0..L).filter(|&l| fits(&all[l])).fold(None, |best: Option<usize>, l| match best {
            Some(m) if worth(&all[m]) >= worth(&all[l]) => Some(m),
            _ => Some(l),
        })
    };
    let (spread, summed) = (best(&spread), best(&summed));
    let start = if let Combined::InOrder(start) = how { Some(start) } else { None };
    let in_order = start.is_some();
    let lane = match (spread, summed) {
        _ if in_order && (spread.is_none() || !once) => return one_by_one(out, a, b, arrays, labels, how),
        (Some(s), Some(d)) if worth(&all[d]) > worth(&all[s]) && !in_order => Err(d),
        (Some(s), _) => Ok(s),
        (None, Some(d)) => Err(d),
        (None, None) => return one_by_one(out, a, b, arrays, labels, how),
    };
    match lane {
        Ok(lane) => {
            if !once || met < out.len() {
                how.filled(out);
            }
            let accumulate = how == Combined::Added || !once;
            let turn = |l: &Label| Label { n: l.n, out: l.out, a: l.b, b: l.a };
            let (y, z, first, all) = if all[lane].a == 1 {
                (a, b, first, all)
            } else {
                (b, a, [first[0], first[2], first[1]], all.iter().map(turn).collect())
            };
            let all = &all[..];
            if let Some(start) = start {
                dispatched!('a, F; lanes_in_order(out: &'a mut [F], y: &'a [F], z: &'a [F], all: &'a [Label], lane: usize, first: [isize; 3], start: F) -> ());
            } else {
                dispatched!('a, F; lanes(out: &'a mut [F], y: &'a [F], z: &'a [F], all: &'a [Label], lane: usize, first: [isize; 3], accumulate: bool) -> ());
            }
        }
        Err(lane) => {
            how.filled(out);
            let all = &all[..];
            dispatched!('a, F; dots(out: &'a mut [F], a: &'a [F], b: &'a [F], all: &'a [Label], lane: usize, first: [isize; 3]) -> ());
        }
    }
}

/// A scalar loop with range tests, for accesses without lanes or partly out of range.
fn one_by_one<F: Real, const L: usize>(
    out: &mut [F],
    a: &[F],
    b: &[F],
    arrays: &[Read<L>; 3],
    labels: &[usize; L],
    how: Combined<F>,
) {
    each_product(out, arrays, labels, how, |x, y| a[x] * b[y]);
}

/// The products at these positions of the operands, added one after the other.
fn each_product<F: Real, const L: usize>(
    out: &mut [F],
    arrays: &[Read<L>; 3],
    labels: &[usize; L],
    how: Combined<F>,
    product: impl Fn(usize, usize) -> F,
) {
    how.filled(out);
    if labels.contains(&0) {
        return;
    }
    let mut at = [0; L];
    loop {
        let [o, x, y] = [&arrays[0], &arrays[1], &arrays[2]].map(|r| r.place(&at));
        if let (Some(o), Some(x), Some(y)) = (o, x, y) {
            out[o] += product(x, y);
        }
        let Some(l) = (0..L).rev().find(|&l| at[l] + 1 < labels[l]) else { return };
        at[l] += 1;
        at[l + 1..].fill(0);
    }
}

//! Products of matrices that are strided parts of arrays: batches of matrices on any axis of an
//! array, parts of arrays, rows and columns in any order.
//!
//! Every group of indices of such a product has a size and, for each array, a stride. So nothing is
//! copied to bring axes into an order. This module must never read outside of an operand, whatever
//! its strides are: an element out of range is 0.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

use super::absorbing::absorbing_product;
use super::isa::{Isa, dispatched};
use super::matrix::{gemm, product_of_views};
use super::operand::Operand;
use super::threads::{Division, join};
use crate::Real;

/// The number of products of numbers up to which packing the operands, as `matrixmultiply` does, is
/// not worth it: the table of `matrix.rs` has the break-even of our loops between 8 8 8 and
/// 16 16 16.
const MAX_UNPACKED: usize = 512;

/// The indices of a product: each group of them has its size, and its stride in every array that it
/// indexes.
#[derive(Clone, Copy, Debug)]
pub struct Indices<const B: usize> {
    /// For each axis of the batch: the size, the strides in the result and in both operands. An
    /// axis that the result lacks (stride 0) is summed.
    pub batch: [[usize; 4]; B],
    /// The rows: their number, the strides in the result and in the first operand.
    pub rows: [usize; 3],
    /// The summed indices: their number, the strides in both operands.
    pub summed: [usize; 3],
    /// The columns: their number, the strides in the result and in the second operand.
    pub columns: [usize; 3],
}

/// An operand: an array, and the start of the operand in it as multiples of strides.
pub type OperandAt<'a, F> = (&'a [F], &'a [[usize; 2]]);

/// An array with the strides of the batch and of a matrix in it.
struct Strided<'a, F: Real, const B: usize> {
    data: Cow<'a, [F]>,
    batch: [usize; B],
    matrix: [usize; 2],
}

/// `c = a b` for each index of the batch.
///
/// # Panics
///
/// If the result is longer than `c`.
pub fn products<F: Real, const B: usize>(c: &mut [F], a: OperandAt<'_, F>, b: OperandAt<'_, F>, at: Indices<B>) {
    multiply(c, a, b, at, [false; 2], false);
}

/// [`products`] where zeros of these operands absorb: see [`super::absorbed`].
///
/// # Panics
///
/// If the result is longer than `c`.
pub fn absorbing_products<F: Real, const B: usize>(
    c: &mut [F],
    a: OperandAt<'_, F>,
    b: OperandAt<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
) {
    multiply(c, a, b, at, absorbs, false);
}

/// [`absorbing_products`] without the heap, for arrays of static size.
///
/// # Panics
///
/// If the result is longer than `c`.
pub fn products_off_heap<F: Real, const B: usize>(
    c: &mut [F],
    a: OperandAt<'_, F>,
    b: OperandAt<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
) {
    multiply(c, a, b, at, absorbs, true);
}

/// [`absorbing_products`] in a part of the result. The rest of it is zero. `off_heap`: without the
/// heap.
///
/// # Panics
///
/// If the part is longer than `c`.
pub fn products_within<F: Real, const B: usize>(
    c: &mut [F],
    a: OperandAt<'_, F>,
    b: OperandAt<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
    off_heap: bool,
) {
    c.fill(F::zero());
    multiply(c, a, b, at, absorbs, off_heap);
}

fn multiply<F: Real, const B: usize>(
    c: &mut [F],
    a: OperandAt<'_, F>,
    b: OperandAt<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
    off_heap: bool,
) {
    let Indices { batch, rows: [m, mc, ma], summed: [k, ka, kb], columns: [n, nc, nb] } = at;
    if c.is_empty() {
        return;
    }
    if m == 0 || k == 0 || n == 0 || batch.iter().any(|axis| axis[0] == 0) {
        c.fill(F::zero());
        return;
    }
    let sizes = batch.map(|axis| axis[0]);
    let a = within(a, sizes, batch.map(|axis| axis[2]), [m, k], [ma, ka]);
    let b = within(b, sizes, batch.map(|axis| axis[3]), [k, n], [kb, nb]);
    let c_batch = batch.map(|axis| axis[1]);
    let last = extent(0, &sizes, &c_batch).and_then(|x| extent(x, &[m, n], &[mc, nc]));
    assert!(last.is_some_and(|last| last < c.len()), "a product longer than its result of {}", c.len());
    let shape = Shape { sizes: [m, k, n], c: [mc, nc], a: a.matrix, b: b.matrix };
    let all = Batch { sizes, c: c_batch, a: a.batch, b: b.batch };
    match all.outer(shape).filter(|_| !off_heap) {
        Some(outer) => {
            let work = sizes.iter().chain(&shape.sizes).fold(1, |w: usize, &n| w.saturating_mul(n)) / outer.size;
            in_parts(c, &a.data, &b.data, all, shape, (outer, Division::of(outer.size, work, 1)));
        }
        None => each(c, &a.data, &b.data, all, shape, off_heap),
    }
    if absorbs != [false; 2] && c.iter().fold(false, |any, x| any | x.is_nan()) {
        recompute_nans(c, &a, &b, sizes, c_batch, shape, absorbs);
    }
}

/// The axes of a batch: sizes, and strides in the three arrays.
#[derive(Clone, Copy)]
struct Batch<const B: usize> {
    sizes: [usize; B],
    c: [usize; B],
    a: [usize; B],
    b: [usize; B],
}

/// An axis of the result whose elements are one part of memory for each index: its size, and its
/// strides in the three arrays.
#[derive(Clone, Copy)]
struct Outer {
    which: Which,
    size: usize,
    c: usize,
    a: usize,
    b: usize,
}

#[derive(Clone, Copy)]
enum Which {
    Batch(usize),
    Rows,
    Columns,
}

impl<const B: usize> Batch<B> {
    /// The axis of the result with the longest stride, if all elements of one index come before
    /// those of the next.
    fn outer(&self, at: Shape) -> Option<Outer> {
        let [m, _, n] = at.sizes;
        let rows = Outer { which: Which::Rows, size: m, c: at.c[0], a: at.a[0], b: 0 };
        let columns = Outer { which: Which::Columns, size: n, c: at.c[1], a: 0, b: at.b[1] };
        let batch = (0..B).map(|k| Outer {
            which: Which::Batch(k),
            size: self.sizes[k],
            c: self.c[k],
            a: self.a[k],
            b: self.b[k],
        });
        let axes = || batch.clone().chain([rows, columns]).filter(|axis| axis.size > 1);
        let outer = axes().max_by_key(|axis| axis.c)?;
        let reach = axes().try_fold(0, |reach, axis| extent(reach, &[axis.size], &[axis.c]))?;
        (reach - (outer.size - 1) * outer.c < outer.c).then_some(outer)
    }
}

/// The products for parts of one axis of the result.
fn in_parts<F: Real, const B: usize>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    mut all: Batch<B>,
    mut at: Shape,
    (mut outer, parts): (Outer, Division),
) {
    let Some(half) = parts.half(outer.size) else { return each(c, a, b, all, at, false) };
    let (c0, c1) = c.split_at_mut(half * outer.c);
    let (a1, b1) = (&a[half * outer.a..], &b[half * outer.b..]);
    let rest = outer.size - half;
    let mut part = |size| {
        outer.size = size;
        match outer.which {
            Which::Batch(k) => all.sizes[k] = size,
            Which::Rows => at.sizes[0] = size,
            Which::Columns => at.sizes[2] = size,
        }
        (all, at, (outer, parts))
    };
    let (first, second) = (part(half), part(rest));
    join(|| in_parts(c0, a, b, first.0, first.1, first.2), || in_parts(c1, a1, b1, second.0, second.1, second.2));
}

/// The products, one after the other.
fn each<F: Real, const B: usize>(c: &mut [F], a: &[F], b: &[F], all: Batch<B>, shape: Shape, off_heap: bool) {
    each_index(all.sizes, |index| {
        let accumulate = index.iter().zip(&all.c).any(|(&i, &stride)| i > 0 && stride == 0);
        let place = |strides: &[usize; B]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<usize>();
        one(&mut c[place(&all.c)..], &a[place(&all.a)..], &b[place(&all.b)..], shape, accumulate, off_heap);
    });
}

/// Calls `f` with every index, the last axis fastest. No size is 0.
fn each_index<const B: usize>(sizes: [usize; B], mut f: impl FnMut([usize; B])) {
    let mut index = [0; B];
    loop {
        f(index);
        let Some(k) = (0..B).rev().find(|&k| index[k] + 1 < sizes[k]) else { return };
        index[k] += 1;
        index[k + 1..].fill(0);
    }
}

/// The largest position of these indices from a start, if it does not overflow. No size is 0.
fn extent(start: usize, sizes: &[usize], strides: &[usize]) -> Option<usize> {
    let reach = |at: usize, (&n, &stride): (&usize, &usize)| (n - 1).checked_mul(stride)?.checked_add(at);
    sizes.iter().zip(strides).try_fold(start, reach)
}

/// The operand from its start on: a slice if all of it is in range, and otherwise a copy with
/// zeros.
fn within<F: Real, const B: usize>(
    (data, starts): OperandAt<'_, F>,
    sizes: [usize; B],
    batch: [usize; B],
    shape: [usize; 2],
    matrix: [usize; 2],
) -> Strided<'_, F, B> {
    let start = starts.iter().try_fold(0, |at, [i, stride]| i.checked_mul(*stride)?.checked_add(at));
    let last = start.and_then(|x| extent(x, &sizes, &batch)).and_then(|x| extent(x, &shape, &matrix));
    if let Some(start) = start.filter(|_| last.is_some_and(|last| last < data.len())) {
        return Strided { data: Cow::Borrowed(&data[start..]), batch, matrix };
    }
    outside(data, start, sizes, batch, shape, matrix)
}

#[cold]
fn outside<F: Real, const B: usize>(
    data: &[F],
    start: Option<usize>,
    mut sizes: [usize; B],
    batch: [usize; B],
    [rows, columns]: [usize; 2],
    matrix: [usize; 2],
) -> Strided<'static, F, B> {
    // An axis of the batch that the operand lacks is not copied.
    let mut strides = [0; B];
    let mut len = rows * columns;
    for k in (0..B).rev() {
        if batch[k] == 0 {
            sizes[k] = 1;
        } else {
            strides[k] = len;
            len *= sizes[k];
        }
    }
    let mut copy = Vec::with_capacity(len);
    each_index(sizes, |index| {
        for i in 0..rows {
            for j in 0..columns {
                let step = |at: Option<usize>, (&i, &s): (&usize, &usize)| i.checked_mul(s)?.checked_add(at?);
                let place = index.iter().zip(&batch).fold(start, step);
                let place = [i, j].iter().zip(&matrix).fold(place, step);
                copy.push(place.and_then(|at| data.get(at)).copied().unwrap_or_else(F::zero));
            }
        }
    });
    Strided { data: Cow::Owned(copy), batch: strides, matrix: [columns, 1] }
}

/// The sizes of a product and the strides of its three matrices.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Shape {
    sizes: [usize; 3],
    c: [usize; 2],
    a: [usize; 2],
    b: [usize; 2],
}

/// One product. No size is 0, and all positions are in range.
fn one<F: Real>(c: &mut [F], a: &[F], b: &[F], at: Shape, accumulate: bool, off_heap: bool) {
    let [m, k, n] = at.sizes;
    let plain = |x: &'_ [usize; 2], rows: usize, columns: usize| match *x {
        [r, 1] if r == columns || rows == 1 => Some(false),
        [1, c] if c == rows || columns == 1 => Some(true),
        _ => None,
    };
    if !off_heap
        && plain(&at.c, m, n) == Some(false)
        && let (Some(ta), Some(tb)) = (plain(&at.a, m, k), plain(&at.b, k, n))
    {
        let (c, a, b) = (&mut c[..m * n], &a[..m * k], &b[..k * n]);
        let operand = |x, t| if t { Operand::Transposed(x) } else { Operand::Plain(x) };
        return gemm(c, operand(a, ta), operand(b, tb), at.sizes, accumulate);
    }
    if off_heap || m.saturating_mul(k).saturating_mul(n) <= MAX_UNPACKED {
        return dispatched!('a, F; small_in(c: &'a mut [F], a: &'a [F], b: &'a [F], at: Shape, accumulate: bool) -> ());
    }
    let fits = "the strides have been checked";
    let a = ArrayView2::from_shape((m, k).strides((at.a[0], at.a[1])), a).expect(fits);
    let b = ArrayView2::from_shape((k, n).strides((at.b[0], at.b[1])), b).expect(fits);
    let c = ArrayViewMut2::from_shape((m, n).strides((at.c[0], at.c[1])), c).expect(fits);
    product_of_views(c, a, b, if accumulate { F::one() } else { F::zero() });
}

#[inline(always)]
fn small_in<I: Isa, F: Real>(c: &mut [F], a: &[F], b: &[F], at: Shape, accumulate: bool) {
    let [m, k, n] = at.sizes;
    for i in 0..m {
        for j in 0..n {
            let mut sum = F::zero();
            for p in 0..k {
                sum = I::mul_add(a[i * at.a[0] + p * at.a[1]], b[p * at.b[0] + j * at.b[1]], sum);
            }
            let place = &mut c[i * at.c[0] + j * at.c[1]];
            *place = if accumulate { *place + sum } else { sum };
        }
    }
}

/// Recomputes the elements that are NaN, product by product.
#[cold]
fn recompute_nans<F: Real, const B: usize>(
    c: &mut [F],
    a: &Strided<'_, F, B>,
    b: &Strided<'_, F, B>,
    sizes: [usize; B],
    c_batch: [usize; B],
    at: Shape,
    absorbs: [bool; 2],
) {
    let [m, k, n] = at.sizes;
    let place = |index: [usize; B], strides: &[usize; B]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<usize>();
    // The axes of the result, and the summed ones.
    let kept: [usize; B] = core::array::from_fn(|k| if c_batch[k] == 0 { 1 } else { sizes[k] });
    let summed: [usize; B] = core::array::from_fn(|k| if c_batch[k] == 0 { sizes[k] } else { 1 });
    each_index(kept, |outer| {
        for i in 0..m {
            for j in 0..n {
                let at_c = place(outer, &c_batch) + i * at.c[0] + j * at.c[1];
                if !c[at_c].is_nan() {
                    continue;
                }
                let mut sum = F::zero();
                each_index(summed, |inner| {
                    let index = core::array::from_fn(|k| outer[k] + inner[k]);
                    let (a_from, b_from) = (place(index, &a.batch), place(index, &b.batch));
                    for p in 0..k {
                        let x = a.data[a_from + i * at.a[0] + p * at.a[1]];
                        let y = b.data[b_from + p * at.b[0] + j * at.b[1]];
                        sum += absorbing_product(x, y, absorbs);
                    }
                });
                c[at_c] = sum;
            }
        }
    });
}

//! The kernels of `ad-runtime` with counters, in the place of `ad::runtime::kernel`. Every kernel
//! whose work is proportional to its arguments has a wrapper here, so a program with a new kernel
//! that is not counted does not compile. This module must never change the result of a kernel.

use std::borrow::Cow;

use ad_runtime::Real;
use ad_runtime::kernel as plain;
pub use ad_runtime::kernel::{
    Axis, Body, Copied, Destination, Fused, Indices, Isa, Operand, Plain, Whole, assemble, block, block_of_rows,
    copied, copied_slice, destination, destination_slice, dispatch, finished, fits, order, power, quotient, remainder,
    replaced, replaced_slice, same, shifted_left, shifted_right,
};
use ndarray::{ArrayRef, Dimension};

use crate::arrays::product as matrices;
use crate::counters::{bulk, tick};

fn len<A>(x: &[A]) -> u64 {
    x.len() as u64
}
/// Counts the copy, if the value was copied.
fn copy<'a, A: Copy>(x: Cow<'a, [A]>) -> Cow<'a, [A]> {
    if let Cow::Owned(x) = &x {
        tick(2 * len(x));
    }
    x
}

macro_rules! of_a_number {
    ($($name:ident)*) => {$(
        #[inline]
        pub fn $name<F: Real>(x: F) -> F {
            bulk(1, 0);
            plain::$name(x)
        }
    )*};
}
of_a_number! { sigmoid relu softplus erf erfc ln_gamma digamma trigamma tetragamma }

macro_rules! of_two_numbers {
    ($($name:ident)*) => {$(
        #[inline]
        pub fn $name<F: Real>(x: F, y: F) -> F {
            bulk(1, 0);
            plain::$name(x, y)
        }
    )*};
}
of_two_numbers! { mul_zero polygamma }

macro_rules! of_a_slice {
    ($($name:ident -> $result:ty;)*) => {$(
        #[inline]
        pub fn $name<F: Real>(x: &[F]) -> $result {
            bulk(len(x), len(x));
            plain::$name(x)
        }
    )*};
}
of_a_slice! {
    sum -> F;
    product -> F;
    maximum -> F;
    minimum -> F;
    largest -> F;
    smallest -> F;
    exact_sum -> F;
    exact_product -> F;
    sum_in_order -> F;
    sum_from_zero -> F;
    sum_in_fours -> F;
    argmax -> usize;
    argmin -> usize;
    place_of_largest -> usize;
    place_of_smallest -> usize;
}
pub fn sum_in<I: Isa, F: Real>(x: &[F]) -> F {
    bulk(len(x), len(x));
    plain::sum_in::<I, F>(x)
}
pub fn maximum_in<I: Isa, F: Real>(x: &[F]) -> F {
    bulk(len(x), len(x));
    plain::maximum_in::<I, F>(x)
}
pub fn minimum_in<I: Isa, F: Real>(x: &[F]) -> F {
    bulk(len(x), len(x));
    plain::minimum_in::<I, F>(x)
}
pub fn sum_of_squares<F: Real>(x: &[F]) -> F {
    bulk(2 * len(x), len(x));
    plain::sum_of_squares(x)
}
pub fn sum_of_squared_distances<F: Real>(x: &[F]) -> F {
    bulk(6 * len(x), len(x));
    plain::sum_of_squared_distances(x)
}
/// The lanes of a sum are added. These are as many additions for three elements as for a thousand,
/// so they count as work, and not as operations on numbers of the program.
pub fn total<F: Real>(sums: [F; 16], rest: F) -> F {
    tick(15);
    plain::total(sums, rest)
}
pub fn lanes<F: Real>(sums: [F; 16]) -> F {
    tick(15);
    plain::lanes(sums)
}

pub fn dot<F: Real>(x: &[F], y: &[F]) -> F {
    matrices(1, [1, x.len(), 1]);
    plain::dot(x, y)
}
pub fn exact_dot<F: Real>(x: &[F], y: &[F]) -> F {
    matrices(1, [1, x.len(), 1]);
    plain::exact_dot(x, y)
}
pub fn dot_in<I: Isa, F: Real>(x: &[F], y: &[F]) -> F {
    matrices(1, [1, x.len(), 1]);
    plain::dot_in::<I, F>(x, y)
}
pub fn dot_with_copies<F: Real>(x: &[F], y: &[F], copies: &mut [Copied<'_, F>]) -> F {
    matrices(1, [1, x.len(), 1]);
    tick(2 * len(x) * copies.len() as u64);
    plain::dot_with_copies(x, y, copies)
}
pub fn absorbed_dot<F: Real>(found: F, x: &[F], y: &[F], absorbs: [bool; 2]) -> F {
    tick(1);
    plain::absorbed_dot(found, x, y, absorbs)
}
pub fn absorbed<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
    absorbs: [bool; 2],
) {
    tick(2 * len(c));
    plain::absorbed(c, a, b, transposed, batch, sizes, absorbs);
}

pub fn gemm<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    matrices(1, sizes);
    plain::gemm(c, a, b, sizes, accumulate);
}
pub fn gemm_off_heap<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    matrices(1, sizes);
    plain::gemm_off_heap(c, a, b, sizes, accumulate);
}
pub fn by_loops<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool) {
    matrices(1, sizes);
    plain::by_loops(c, a, b, sizes, accumulate);
}
pub fn exact_gemm<F: Real>(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3]) {
    matrices(1, sizes);
    plain::exact_gemm(c, a, b, sizes);
}
pub fn exact_gemv<F: Real>(out: &mut [F], a: Operand<'_, F>, x: &[F], [m, k]: [usize; 2]) {
    matrices(1, [m, k, 1]);
    plain::exact_gemv(out, a, x, [m, k]);
}
pub fn gemm_each<F: Real>(c: &mut [F], a: &[F], b: &[F], transposed: [bool; 2], batch: usize, sizes: [usize; 3]) {
    matrices(batch, sizes);
    plain::gemm_each(c, a, b, transposed, batch, sizes);
}
pub fn gemm_each_off_heap<F: Real>(
    c: &mut [F],
    a: &[F],
    b: &[F],
    transposed: [bool; 2],
    batch: usize,
    sizes: [usize; 3],
) {
    matrices(batch, sizes);
    plain::gemm_each_off_heap(c, a, b, transposed, batch, sizes);
}
pub fn gemv<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    matrices(1, [y.len(), x.len(), 1]);
    plain::gemv(y, a, x, accumulate);
}
pub fn gemv_t<F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    matrices(1, [y.len(), x.len(), 1]);
    plain::gemv_t(y, a, x, accumulate);
}
pub fn ger<F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool) {
    matrices(1, [x.len(), 1, y.len()]);
    plain::ger(a, x, y, accumulate);
}
pub fn gemv_in<I: Isa, F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    matrices(1, [y.len(), x.len(), 1]);
    plain::gemv_in::<I, F>(y, a, x, accumulate);
}
pub fn gemv_t_in<I: Isa, F: Real>(y: &mut [F], a: &[F], x: &[F], accumulate: bool) {
    matrices(1, [y.len(), x.len(), 1]);
    plain::gemv_t_in::<I, F>(y, a, x, accumulate);
}
pub fn ger_in<I: Isa, F: Real>(a: &mut [F], x: &[F], y: &[F], accumulate: bool) {
    matrices(1, [x.len(), 1, y.len()]);
    plain::ger_in::<I, F>(a, x, y, accumulate);
}

/// The kernels of loops that are compiled for a number of rows, as those for any number.
macro_rules! of_rows {
    ($($name:ident $general:ident($($arg:ident: $ty:ty),*);)*) => {$(
        pub fn $name<I: Isa, F: Real, const N: usize>($($arg: $ty),*) {
            $general($($arg),*);
        }
    )*};
}
of_rows! {
    gemm_n gemm(c: &mut [F], a: Operand<'_, F>, b: Operand<'_, F>, sizes: [usize; 3], accumulate: bool);
    gemv_n gemv(y: &mut [F], a: &[F], x: &[F], accumulate: bool);
    gemv_t_n gemv_t(y: &mut [F], a: &[F], x: &[F], accumulate: bool);
    absorbed_n absorbed(
        c: &mut [F], a: &[F], b: &[F], transposed: [bool; 2], batch: usize, sizes: [usize; 3], absorbs: [bool; 2]
    );
    lu_n lu(out: &mut [F], a: &[F], n: usize);
    lu_solve_n lu_solve(out: &mut [F], b: &[F], a: &[F], packed: &[F], n: usize);
    lu_solve_t_n lu_solve_t(out: &mut [F], b: &[F], a: &[F], packed: &[F], n: usize);
}

type From<'a, F> = (&'a [F], &'a [[usize; 2]]);
fn strided<const B: usize>(at: &Indices<B>) {
    let batch = at.batch.iter().map(|axis| axis[0]).product();
    matrices(batch, [at.rows[0], at.summed[0], at.columns[0]]);
}
pub fn products<F: Real, const B: usize>(c: &mut [F], a: From<'_, F>, b: From<'_, F>, at: Indices<B>) {
    strided(&at);
    plain::products(c, a, b, at);
}
pub fn absorbing_products<F: Real, const B: usize>(
    c: &mut [F],
    a: From<'_, F>,
    b: From<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
) {
    strided(&at);
    plain::absorbing_products(c, a, b, at, absorbs);
}
pub fn products_off_heap<F: Real, const B: usize>(
    c: &mut [F],
    a: From<'_, F>,
    b: From<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
) {
    strided(&at);
    plain::products_off_heap(c, a, b, at, absorbs);
}
pub fn products_within<F: Real, const B: usize>(
    c: &mut [F],
    a: From<'_, F>,
    b: From<'_, F>,
    at: Indices<B>,
    absorbs: [bool; 2],
    off_heap: bool,
) {
    tick(len(c));
    strided(&at);
    plain::products_within(c, a, b, at, absorbs, off_heap);
}

/// Each array is read along its axes: a sum and a product for each value of the labels.
fn of_labels<F: Real>(out: &[F], a: &[F], b: &[F], labels: &[usize]) {
    let all: usize = labels.iter().product();
    bulk(2 * all as u64, len(out) + len(a) + len(b));
}
pub fn windows<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    accumulate: bool,
) {
    of_labels(out, a, b, &labels);
    plain::windows((out, out_axes), (a, a_axes), (b, b_axes), labels, accumulate);
}
pub fn absorbing_windows<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    accumulate: bool,
    absorbs: [bool; 2],
) {
    of_labels(out, a, b, &labels);
    tick(len(a) + len(b));
    plain::absorbing_windows((out, out_axes), (a, a_axes), (b, b_axes), labels, accumulate, absorbs);
}
pub fn windows_in_order<F: Real, const L: usize>(
    (out, out_axes): (&mut [F], &[Axis<L>]),
    (a, a_axes): (&[F], &[Axis<L>]),
    (b, b_axes): (&[F], &[Axis<L>]),
    labels: [usize; L],
    start: F,
) {
    of_labels(out, a, b, &labels);
    plain::windows_in_order((out, out_axes), (a, a_axes), (b, b_axes), labels, start);
}

pub fn add_assign<F: Real>(y: &mut [F], x: &[F]) {
    bulk(len(x), 3 * len(x));
    plain::add_assign(y, x);
}
pub fn axpy<F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    bulk(2 * len(x), 3 * len(x));
    plain::axpy(y, alpha, x);
}
pub fn axpy_in<I: Isa, F: Real>(y: &mut [F], alpha: F, x: &[F]) {
    bulk(2 * len(x), 3 * len(x));
    plain::axpy_in::<I, F>(y, alpha, x);
}
pub fn cumsum<F: Real>(out: &mut [F], x: &[F], n: usize) {
    bulk(len(x), 2 * len(x));
    plain::cumsum(out, x, n);
}
pub fn cumsum_back<F: Real>(out: &mut [F], x: &[F], n: usize) {
    bulk(len(x), 2 * len(x));
    plain::cumsum_back(out, x, n);
}
pub fn numbers_of_rows(out: &mut [usize], lens: &[usize], n: usize) {
    tick(len(out) + len(lens));
    plain::numbers_of_rows(out, lens, n);
}
pub fn places_in_rows(out: &mut [usize], lens: &[usize], n: usize) {
    tick(len(out) + len(lens));
    plain::places_in_rows(out, lens, n);
}
/// A sort compares each element as often as the number of elements has digits.
fn compared(lens: &[usize], all: u64) {
    tick(all + lens.iter().map(|&n| 2 * n as u64 * u64::from(n.max(1).ilog2() + 1)).sum::<u64>());
}
pub fn argsort<A: Whole>(out: &mut [usize], lens: &[usize], x: &[A], n: usize) {
    compared(lens, len(x));
    plain::argsort(out, lens, x, n);
}
pub fn argsort_descending<A: Whole>(out: &mut [usize], lens: &[usize], x: &[A], n: usize) {
    compared(lens, len(x));
    plain::argsort_descending(out, lens, x, n);
}
/// Work proportional to the elements of the result times the rows of the matrix.
macro_rules! of_matrices {
    ($($name:ident($($operand:ident),*);)*) => {$(
        pub fn $name<F: Real>(out: &mut [F], $($operand: &[F],)* n: usize) {
            bulk(2 * len(out) * n as u64, len(out) $(+ len($operand))*);
            plain::$name(out, $($operand,)* n);
        }
    )*};
}
of_matrices! {
    cholesky(a);
    lu(a);
    qr(a);
    eigh(a);
    solve_lower(b, t);
    solve_lower_t(b, t);
    solve_upper(b, t);
    solve_upper_t(b, t);
    lu_solve(b, a, packed);
    lu_solve_t(b, a, packed);
}
pub fn column_sums<F: Real>(out: &mut [F], x: &[F], accumulate: bool) {
    bulk(len(x), len(x) + len(out));
    plain::column_sums(out, x, accumulate);
}
macro_rules! of_columns {
    ($($name:ident: $result:ty;)*) => {$(
        pub fn $name<F: Real>(out: &mut [$result], x: &[F], count: usize) {
            bulk(len(x), len(x) + len(out));
            plain::$name(out, x, count);
        }
    )*};
}
of_columns! { largest_columns: F; smallest_columns: F; places_of_largest: usize; places_of_smallest: usize; }

pub fn contiguous<A: Copy, D: Dimension>(x: &ArrayRef<A, D>) -> Cow<'_, [A]> {
    copy(plain::contiguous(x))
}
pub fn cut<A: Copy>(x: &[A], start: usize, len: usize, fill: A) -> Cow<'_, [A]> {
    copy(plain::cut(x, start, len, fill))
}
pub fn extended<A: Copy>(x: &[A], len: usize, fill: A) -> Cow<'_, [A]> {
    copy(plain::extended(x, len, fill))
}
pub fn resized<A: Copy>(x: Vec<A>, size: usize, fill: A) -> Vec<A> {
    tick(size.saturating_sub(x.len()) as u64);
    plain::resized(x, size, fill)
}
pub fn reserve<A>(_count: usize) {}
pub fn overwrite<A: Copy, D: Dimension>(array: &mut ArrayRef<A, D>, elements: &[A]) {
    tick(2 * len(elements));
    plain::overwrite(array, elements);
}
pub fn repeated<A: Copy>(x: &[A], times: usize) -> Vec<A> {
    let all = plain::repeated(x, times);
    tick(2 * len(&all));
    all
}
pub fn joined<A: Copy>(out: &mut [A], parts: &[&[A]]) {
    tick(2 * len(out));
    plain::joined(out, parts);
}
pub fn packed<A: Copy>(out: &mut [A], rows: &[A], count: usize) {
    tick(2 * len(rows));
    plain::packed(out, rows, count);
}
pub fn unpacked<A: Copy>(out: &mut [A], block: &[A], count: usize) {
    tick(2 * len(out));
    plain::unpacked(out, block, count);
}
pub fn each_row<A, B>(out: &mut [B], x: &[A], f: impl Fn(&[A]) -> B) {
    tick(len(out));
    plain::each_row(out, x, f);
}
pub fn each_first<A, B>(out: &mut [B], x: &[A], lens: &[usize], f: impl Fn(&[A]) -> B) {
    tick(2 * len(out));
    plain::each_first(out, x, lens, f);
}
pub fn place_of_largest_whole<A: Copy + PartialOrd>(x: &[A]) -> usize {
    tick(2 * len(x));
    plain::place_of_largest_whole(x)
}
pub fn place_of_smallest_whole<A: Copy + PartialOrd>(x: &[A]) -> usize {
    tick(2 * len(x));
    plain::place_of_smallest_whole(x)
}
pub fn largest_whole<A: Whole>(x: &[A]) -> A {
    tick(2 * len(x));
    plain::largest_whole(x)
}
pub fn smallest_whole<A: Whole>(x: &[A]) -> A {
    tick(2 * len(x));
    plain::smallest_whole(x)
}

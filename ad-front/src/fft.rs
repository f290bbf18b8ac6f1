//! Discrete Fourier transforms in core terms. `ad::fft` defines the meaning of each function. All
//! of them are one linear primitive, sums and products, so no function here has a rule of
//! differentiation.

use super::arith::axis_words;
use super::functions::require_elements;
use super::linalg::tuple;
use super::lower::Lower;
use super::refs::results;
use super::sorting::vector;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::ir::Term;
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The functions of `ad::fft`.
pub(super) const TABLE: &[Row] = &[
    row("fft", On::Fft, (2, 2), fft, "the Fourier transform of a vector of real and one of imaginary parts")
        .called("x_, x_"),
    row("ifft", On::Fft, (2, 2), ifft, "the inverse of `fft`").called("x_, x_"),
    row("rfft", On::Fft, (1, 1), rfft, "the first half of the transform of a real vector").called("x_"),
    row("irfft", On::Fft, (3, 3), irfft, "the real vector of n elements with this first half of a transform")
        .called("x_, x_, 1")
        .gives(results::array),
];

/// Two arguments that are vectors of one length and type.
fn complex<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<[Term; 2]> {
    let (re, im) = (vector(me, call, 0)?, vector(me, call, 1)?);
    if me.g.elem(re) != me.g.elem(im) {
        let (value, range) = call.arg(1)?;
        let found = me.describe(value);
        return Err(me.error(range, catalogue::expected(wanted::VECTOR, &found)));
    }
    let (n, other) = (me.g.shape(re)[0], me.g.shape(im)[0]);
    me.equate(n, other, [axis_words(call.text(0), 0, 1), axis_words(call.text(1), 0, 1)], call.range)?;
    Ok([re, me.g.recast(im, &[n])])
}

/// The transform: the matrix whose rows are its real and its imaginary parts.
fn transform(me: &mut Lower, [re, im]: [Term; 2], back: bool) -> Term {
    let rows = me.g.stack(&[re, im]);
    me.g.prim(Prim::Fourier(back), &[rows])
}

/// The first `len` elements of a row.
fn row_of(me: &mut Lower, t: Term, row: usize, len: Term) -> Term {
    let row = me.g.lit_usize(row);
    let row = me.g.index(t, &[row]);
    let none = me.g.lit_usize(0);
    me.g.slice(row, &[none], &[1], &[len])
}

fn fft<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let parts = complex(me, call)?;
    let n = me.g.shape(parts[0])[0];
    let whole = transform(me, parts, false);
    Ok(tuple(&[0, 1].map(|row| row_of(me, whole, row, n))))
}

/// Divides by the number of elements.
fn scaled(me: &mut Lower, x: Term, n: Term) -> Term {
    let elem = me.g.elem(x);
    let n_real = me.g.cast(elem, n);
    let n_real = me.g.broadcast(n_real, &[n]);
    me.g.div(x, n_real)
}

fn ifft<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let parts = complex(me, call)?;
    let n = me.g.shape(parts[0])[0];
    let whole = transform(me, parts, true);
    Ok(tuple(&[0, 1].map(|row| {
        let row = row_of(me, whole, row, n);
        scaled(me, row, n)
    })))
}

fn empty(call: &Call) -> String {
    format!("{} of an empty array", call.name())
}

/// The number of elements that determine the transform of a real vector of n elements.
fn half(me: &mut Lower, n: Term) -> Term {
    let (one, two) = (me.g.lit_usize(1), me.g.lit_usize(2));
    let half = me.g.int(IntOp::Div, n, two);
    me.g.int(IntOp::Add, half, one)
}

fn rfft<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = vector(me, call, 0)?;
    let n = me.g.shape(x)[0];
    require_elements(me, x, &empty(call));
    let none = me.g.zeros_like(x);
    let whole = transform(me, [x, none], false);
    let len = half(me, n);
    Ok(tuple(&[0, 1].map(|row| row_of(me, whole, row, len))))
}

/// The elements of the other half are conjugates of those of the first, so the real part of their
/// terms is the same. The first element has no conjugate, nor has the last where n is even.
fn irfft<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let parts = complex(me, call)?;
    let (count, range) = call.arg(2)?;
    let n = me.usize(count, range)?;
    let none = me.g.lit_usize(0);
    me.require_lt(none, n, &empty(call));
    let (len, found) = (half(me, n), me.g.shape(parts[0])[0]);
    let words = [format!("`{} / 2 + 1`", call.text(2)), axis_words(call.text(0), 0, 1)];
    me.equate(len, found, words, call.range)?;
    let g = &mut me.g;
    let (zero, two) = (g.lit_usize(0), g.lit_usize(2));
    let k = g.iota(len);
    let [first, last] = [zero, n].map(|edge| {
        let twice = g.broadcast(two, &[len]);
        let twice = g.int(IntOp::Mul, twice, k);
        let edge = g.broadcast(edge, &[len]);
        g.compare(Cmp::Eq, twice, edge)
    });
    let alone = g.or(first, last);
    let parts = parts.map(|x| {
        let x = g.recast(x, &[len]);
        let (one, double) = (g.lit_like(x, 1.0), g.lit_like(x, 2.0));
        let weight = g.select(alone, one, double);
        let x = g.mul(x, weight);
        g.pad(x, &[zero], &[1], &[n])
    });
    let whole = transform(me, parts, true);
    let row = row_of(me, whole, 0, n);
    Ok(Value::Term(scaled(me, row, n)))
}

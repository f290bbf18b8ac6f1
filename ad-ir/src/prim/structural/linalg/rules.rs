//! Linear operations on a tangent that the rules of this family are made of. Each is a primitive in
//! one of its arguments, so the mode can transpose it.

use super::{Selected, Triangle, constant, transposition};
use crate::prim::structural::{Applied, Linear, LinearMap, LinearTerm};
use crate::prim::{Prim, Scaling};
use crate::term::{Contraction, Term, axis};

/// A side of a product.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Left,
    Right,
}

/// The derivative of a linear primitive with respect to its first argument. `args` has an array of
/// the type of the argument in its place.
pub(super) fn of_first(d: &mut dyn Linear, prim: &Prim, args: &[Term], x: LinearTerm) -> LinearTerm {
    let map = prim.structural(|s| s.linear(d.build(), args, 0)).flatten();
    map.map_or(x, |map| d.apply(map, x))
}

/// The product with a matrix: `m x` or `x m`. `columns` is the number of axes of x after the first
/// axis of the matrix: the right-hand side of a system may be a vector or have several columns.
pub(super) fn times(d: &mut dyn Linear, side: Side, m: Term, x: LinearTerm) -> LinearTerm {
    let lead = super::lead(d.build(), m);
    times_columns(d, (side, m, false), (lead, 1), x)
}

/// Like [`times`], with m transposed if the flag says so, for x with `columns` axes after its rows.
pub(super) fn times_columns(
    d: &mut dyn Linear,
    (side, m, transposed): (Side, Term, bool),
    (lead, columns): (usize, usize),
    x: LinearTerm,
) -> LinearTerm {
    let batch = || (0..lead).map(axis);
    // The summed label is `lead`, and the one of the result is `lead + 1`.
    let (summed, own) = (axis(lead), axis(lead + 1));
    let others: Vec<u8> = (lead + 2..lead + 2 + columns).map(axis).collect();
    let of_m = match (side, transposed) {
        (Side::Left, false) | (Side::Right, true) => [own, summed],
        (Side::Left, true) | (Side::Right, false) => [summed, own],
    };
    let of_x = |label: u8| -> Vec<u8> {
        match side {
            Side::Left => batch().chain([label]).chain(others.iter().copied()).collect(),
            Side::Right => batch().chain(others.iter().copied()).chain([label]).collect(),
        }
    };
    let of_m: Vec<u8> = batch().chain(of_m).collect();
    let spec = Contraction::new(of_x(summed), of_m, of_x(own));
    of_first(d, &Prim::Contract(spec), &[m, m], x)
}

/// The product `x c`, where x is a tangent of a matrix and c is a right-hand side with any number
/// of columns: the rows of x (or its columns, if `transposed`) become the rows of the result.
pub(super) fn of_matrix(d: &mut dyn Linear, c: Term, transposed: bool, lead: usize, x: LinearTerm) -> LinearTerm {
    let columns = d.build().shape(c).len() - lead - 1;
    let batch = || (0..lead).map(axis);
    let (own, summed) = (axis(lead), axis(lead + 1));
    let others: Vec<u8> = (lead + 2..lead + 2 + columns).map(axis).collect();
    let of_x = if transposed { [summed, own] } else { [own, summed] };
    let column = |label: u8| -> Vec<u8> { batch().chain([label]).chain(others.iter().copied()).collect() };
    let spec = Contraction::new(batch().chain(of_x).collect::<Vec<u8>>(), column(summed), column(own));
    of_first(d, &Prim::Contract(spec), &[c, c], x)
}

/// The last two axes in the other order.
pub(super) fn transposed(d: &mut dyn Linear, rank: usize, x: LinearTerm) -> LinearTerm {
    of_first(d, &transposition(rank), &[], x)
}

/// `x + x'`.
pub(super) fn symmetric(d: &mut dyn Linear, rank: usize, x: LinearTerm) -> LinearTerm {
    let other = transposed(d, rank, x);
    d.add(x, other)
}

/// The solution of the system of a triangular matrix t, whose right-hand side is x.
pub(super) fn solved(d: &mut dyn Linear, by: Triangle, t: Term, x: LinearTerm) -> LinearTerm {
    let applied = |by: Triangle| Applied { prim: Prim::TriangularSolve(by), rest: vec![t] };
    d.apply(LinearMap { forward: applied(by), backward: applied(by.transpose()), unread: false }, x)
}

/// `c x` at the selected elements of a matrix of the shape of `like`, and zero elsewhere.
pub(super) fn part(d: &mut dyn Linear, like: Term, selected: Selected, c: f64, x: LinearTerm) -> LinearTerm {
    let factor = constant(d.build(), like, selected, c);
    d.scale(factor, Scaling::Plain, x)
}

/// `-x`, of the shape of `like`.
pub(super) fn negative(d: &mut dyn Linear, like: Term, x: LinearTerm) -> LinearTerm {
    let minus = d.build().lit_like(like, -1.0);
    d.scale(minus, Scaling::Plain, x)
}

/// Zeros of the shape of `whole`, with x (of the shape of `like`) in the rows from `start` on.
pub(super) fn placed(d: &mut dyn Linear, whole: Term, like: Term, start: Term, x: LinearTerm) -> LinearTerm {
    let g = d.build();
    let sizes = g.shape(whole).to_vec();
    let zero = g.lit_usize(0);
    let mut starts = vec![zero; sizes.len()];
    starts[sizes.len() - 2] = start;
    let prim = Prim::Pad(vec![1; sizes.len()].into());
    let args: Vec<Term> = std::iter::once(like).chain(starts).chain(sizes).collect();
    of_first(d, &prim, &args, x)
}

/// The diagonal of a matrix of the shape of `like`, times c, as a matrix of one row.
pub(super) fn diagonal(d: &mut dyn Linear, like: Term, c: f64, x: LinearTerm) -> LinearTerm {
    let own = part(d, like, Selected::Diagonal, c, x);
    let lead = super::lead(d.build(), like);
    let rows: Box<[u8]> = [axis(lead)].into();
    let sum = of_first(d, &Prim::Sum(rows.clone()), &[like], own);
    let one = d.build().lit_usize(1);
    of_first(d, &Prim::Replicate(rows), &[like, one], sum)
}

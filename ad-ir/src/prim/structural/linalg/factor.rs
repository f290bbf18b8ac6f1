//! Factorisations of a matrix. Each is one array, in which the factors are rows below each other,
//! so that a primitive has one result. If a matrix has no factorisation, all elements are NaN.

use super::change::change;
use super::rules::{self, Side, diagonal, negative, part, placed, solved, symmetric, times, transposed};
use super::{Selected, Triangle, masked, matrix, rows, square};
use crate::prim::build::{Build, Typed, Types};
use crate::prim::structural::{
    Applied, Batch, Example, Linear, LinearMap, LinearTerm, Sample, Structural, arity, shaped,
};
use crate::prim::{Prim, Scaling};
use crate::term::{Term, axis};

/// A kind of factorisation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Factorisation {
    /// The lower triangular factor l of the symmetric part of a, with positive diagonal: `l l' = (a
    /// + a') / 2`. It exists if the symmetric part is positive definite.
    Cholesky,
    /// Partial pivoting: n rows that have u in the upper triangle, and l (whose diagonal is 1)
    /// below it; a row of the numbers of the rows of a; a row of the signs of the diagonal of u;
    /// and a row of ones, whose first is -1 if the number of exchanges is odd. It exists if a is
    /// regular.
    Lu,
    /// The m rows of q, whose n columns are orthonormal, and the n rows of the upper triangular r
    /// with nonnegative diagonal: `q r = a`, with at least as many rows as columns.
    Qr,
    /// A row of the eigenvalues of the symmetric part of a, in ascending order, and the n rows of
    /// the matrix whose columns are the eigenvectors. The largest element of each is positive.
    Eigh,
}

/// `[a, rows]`: the factorisation, an array of that many rows.
pub(in crate::prim::structural) struct Factor(pub(in crate::prim::structural) Factorisation);

impl Structural for Factor {
    fn name(&self) -> String {
        match self.0 {
            Factorisation::Cholesky => "cholesky".into(),
            Factorisation::Lu => "lu".into(),
            Factorisation::Qr => "qr".into(),
            Factorisation::Eigh => "eigh".into(),
        }
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 2)?;
        g.check_size(args[1])?;
        let (elem, shape) = match self.0 {
            Factorisation::Qr => matrix(&self.name(), g, args[0])?,
            _ => square(&self.name(), g, args[0])?,
        };
        let (batch, last) = (&shape[..shape.len() - 2], shape[shape.len() - 1]);
        shaped(elem, batch.iter().copied().chain([args[1], last]))
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::Factor(self.0), &[b.lifted[0], b.args[1]])
    }

    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        result: Term,
        _k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        Some(match self.0 {
            Factorisation::Cholesky => d.apply(change(false, result), x),
            Factorisation::Lu => lu(d, args[0], result, x),
            Factorisation::Qr => qr(d, args[0], result, x),
            Factorisation::Eigh => eigh(d, args[0], result, x),
        })
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(match self.0 {
            Factorisation::Cholesky => "cholesky",
            Factorisation::Lu => "lu",
            Factorisation::Qr => "qr",
            Factorisation::Eigh => "eigh",
        })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        let of = |kind, matrix, rows, result| Example {
            prim: Prim::Factor(kind),
            args: vec![matrix, Sample::Size(rows)],
            result,
        };
        vec![
            // The symmetric part is [[4, 2], [2, 10]].
            of(
                Factorisation::Cholesky,
                Sample::Reals(&[2, 2], &[4.0, 3.0, 1.0, 10.0]),
                2,
                Sample::Reals(&[2, 2], &[2.0, 0.0, 1.0, 3.0]),
            ),
            of(
                Factorisation::Lu,
                Sample::Reals(&[2, 2], &[1.0, 3.0, 2.0, 4.0]),
                5,
                Sample::Reals(&[5, 2], &[2.0, 4.0, 0.5, 1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 1.0]),
            ),
            of(
                Factorisation::Qr,
                Sample::Reals(&[3, 2], &[0.0, 2.0, 3.0, 5.0, 4.0, 0.0]),
                5,
                Sample::Reals(
                    &[5, 2],
                    &[
                        0.0,
                        0.4472135954999579,
                        0.6,
                        0.7155417527999327,
                        0.8,
                        -0.5366563145999494,
                        5.0,
                        3.0,
                        0.0,
                        4.47213595499958,
                    ],
                ),
            ),
            // The symmetric part is [[2, 2], [2, 5]].
            of(
                Factorisation::Eigh,
                Sample::Reals(&[2, 2], &[2.0, 3.0, 1.0, 5.0]),
                3,
                Sample::Reals(
                    &[3, 2],
                    &[1.0, 6.0, 0.894427190999916, 0.447213595499958, -0.447213595499958, 0.894427190999916],
                ),
            ),
        ]
    }
}

/// `dl = l f` and `du = f u` with the parts of `f = l^-1 p da u^-1` below the diagonal, and from it
/// on (Giles 2008, section 2.3; de Hoog, Anderssen and Lukas 2011). `l^-1 p da` is `u a^-1 da`,
/// which needs no permutation.
fn lu(d: &mut dyn Linear, a: Term, packed: Term, x: LinearTerm) -> LinearTerm {
    let g = d.build();
    let shape = g.shape(a).to_vec();
    let (rank, n, none) = (shape.len(), shape[shape.len() - 1], g.lit_usize(0));
    let square = rows(g, packed, none, n);
    let (zero, one) = (g.lit_like(square, 0.0), g.lit_like(square, 1.0));
    let u = masked(g, Selected::Upper, square, zero);
    let unit = masked(g, Selected::Diagonal, one, zero);
    let l = masked(g, Selected::StrictlyLower, square, unit);
    let applied = |transposed| Applied { prim: Prim::LuSolve(transposed), rest: vec![a, packed] };
    let x = d.apply(LinearMap { forward: applied(false), backward: applied(true), unread: false }, x);
    let x = times(d, Side::Left, u, x);
    let x = transposed(d, rank, x);
    let x = solved(d, Triangle::UPPER.transpose(), u, x);
    let f = transposed(d, rank, x);
    let below = part(d, square, Selected::StrictlyLower, 1.0, f);
    let below = times(d, Side::Left, l, below);
    let above = part(d, square, Selected::Upper, 1.0, f);
    let above = times(d, Side::Right, u, above);
    let both = d.add(below, above);
    placed(d, packed, square, none, both)
}

/// With `c = da r^-1`, `b = q' c`, the antisymmetric m whose part below the diagonal is that of b,
/// and `e = b - m`: `dq = c - q e` and `dr = e r` (Walter and Lehmann 2012; Roberts and Roberts
/// 2020).
fn qr(d: &mut dyn Linear, a: Term, packed: Term, x: LinearTerm) -> LinearTerm {
    let g = d.build();
    let shape = g.shape(a).to_vec();
    let (rank, none) = (shape.len(), g.lit_usize(0));
    let (m, n) = (shape[rank - 2], shape[rank - 1]);
    let (q, r) = (rows(g, packed, none, m), rows(g, packed, m, n));
    let x = transposed(d, rank, x);
    let x = solved(d, Triangle::UPPER.transpose(), r, x);
    let c = transposed(d, rank, x);
    let b = rules::times_columns(d, (Side::Left, q, true), (rank - 2, 1), c);
    let below = part(d, r, Selected::StrictlyLower, 1.0, b);
    let above = transposed(d, rank, below);
    let minus = negative(d, r, below);
    let e = d.add(b, minus);
    let e = d.add(e, above);
    let dr = times(d, Side::Right, r, e);
    let moved = times(d, Side::Left, q, e);
    let moved = negative(d, q, moved);
    let dq = d.add(c, moved);
    let (dq, dr) = (placed(d, packed, q, none, dq), placed(d, packed, r, m, dr));
    d.add(dq, dr)
}

/// With `b = v' da v`: the tangents of the eigenvalues are the diagonal of b, and `dv = v (f * b)`,
/// where f has the reciprocals of the differences of eigenvalues, and zeros on the diagonal (Giles
/// 2008, section 3.1). The vectors of equal eigenvalues have no derivative: it is infinite or NaN,
/// and 0 only where nothing asks for it.
fn eigh(d: &mut dyn Linear, a: Term, packed: Term, x: LinearTerm) -> LinearTerm {
    let g = d.build();
    let shape = g.shape(a).to_vec();
    let (rank, n) = (shape.len(), shape[shape.len() - 1]);
    let (none, one) = (g.lit_usize(0), g.lit_usize(1));
    let (w, v) = (rows(g, packed, none, one), rows(g, packed, one, n));
    let f = reciprocal_differences(g, w, v);
    let x = symmetric(d, rank, x);
    let x = rules::times_columns(d, (Side::Left, v, true), (rank - 2, 1), x);
    let b = times(d, Side::Right, v, x);
    // The tangent is `(x + x') / 2`.
    let values = diagonal(d, v, 0.5, b);
    let values = placed(d, packed, w, none, values);
    let turned = d.scale(f, Scaling::Absorbing, b);
    let vectors = times(d, Side::Left, v, turned);
    let vectors = placed(d, packed, v, one, vectors);
    d.add(values, vectors)
}

/// Half of the reciprocals of `w_j - w_i`, and zeros on the diagonal, of the shape of v.
fn reciprocal_differences(g: &mut dyn Build, w: Term, v: Term) -> Term {
    let shape = g.shape(v).to_vec();
    let rank = shape.len();
    let flat: Vec<Term> = std::iter::once(w).chain(shape[..rank - 1].iter().copied()).collect();
    let values = g.make(&Prim::Reshape, &flat);
    let along = |g: &mut dyn Build, k: usize| g.replicate_axes(values, &[axis(k)], &[shape[k]]);
    let (columns, rows) = (along(g, rank - 2), along(g, rank - 1));
    let difference = g.sub(columns, rows);
    let (half, zero) = (g.lit_like(difference, 0.5), g.lit_like(difference, 0.0));
    let reciprocal = g.recip(difference);
    let scaled = g.mul(reciprocal, half);
    masked(g, Selected::Diagonal, zero, scaled)
}

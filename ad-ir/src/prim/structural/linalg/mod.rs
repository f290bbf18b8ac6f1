//! Linear algebra: factorisations of matrices, and solutions of systems of equations. The matrix is
//! in the last two axes, and all axes before them are a batch. Everything else (inverses,
//! determinants, least squares, ..) is composed of these primitives by the front end, so its
//! derivatives of every order come from the few rules here.
//!
//! A matrix without a factorisation has one that is NaN everywhere. So the primitives are total,
//! and the front end checks one element.
//!
//! This module must never hold a transposed rule: each derivative is made of linear primitives, and
//! the mode transposes these.

mod change;
mod determinant;
mod factor;
mod rules;
mod solve;

pub(super) use change::CholeskyChange;
pub(super) use determinant::LogDet;
pub(super) use factor::Factor;
pub use factor::Factorisation;
pub use solve::Triangle;
pub(super) use solve::{LuSolve, TriangularSolve};

use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::{Cmp, Prim};
use crate::term::{Elem, Term, axis};

/// The number of axes before the matrix.
fn lead(g: &dyn Types, matrix: Term) -> usize {
    g.shape(matrix).len().saturating_sub(2)
}

/// The element type and the shape of a real matrix, or of a batch of them.
fn matrix<'g>(name: &str, g: &'g dyn Types, t: Term) -> Result<(Elem, &'g [Term]), super::super::TypeError> {
    let (elem, shape) = g.array(t)?;
    ensure!(elem.is_real() && shape.len() >= 2, "{name} of a term that is not a real matrix");
    Ok((elem, shape))
}

/// Like [`matrix`], for a matrix with as many rows as columns.
fn square<'g>(name: &str, g: &'g dyn Types, t: Term) -> Result<(Elem, &'g [Term]), super::super::TypeError> {
    let (elem, shape) = matrix(name, g, t)?;
    ensure!(shape[shape.len() - 1] == shape[shape.len() - 2], "{name} of a matrix that is not square");
    Ok((elem, shape))
}

/// The type of an argument whose shape has been checked.
fn like(g: &dyn Types, t: Term) -> Typed {
    Ok(g.ty(t).clone())
}

/// Which elements of a matrix a mask selects, by the row and the column.
#[derive(Clone, Copy)]
enum Selected {
    Lower,
    StrictlyLower,
    Upper,
    Diagonal,
}

/// The matrix (or batch) of the given shape that is `inside` at the selected elements, and
/// `outside` elsewhere. Both have that shape.
fn masked(g: &mut dyn Build, selected: Selected, inside: Term, outside: Term) -> Term {
    let shape = g.shape(inside).to_vec();
    let lead = shape.len() - 2;
    let mut indices = [0, 1].map(|k| {
        let own = lead + k;
        let others: Vec<usize> = (0..shape.len()).filter(|&a| a != own).collect();
        let iota = g.make(&Prim::Iota, &[shape[own]]);
        let axes: Vec<u8> = others.iter().map(|&a| axis(a)).collect();
        let sizes: Vec<Term> = others.iter().map(|&a| shape[a]).collect();
        g.replicate_axes(iota, &axes, &sizes)
    });
    let op = match selected {
        Selected::Lower => Cmp::Ge,
        Selected::StrictlyLower => Cmp::Gt,
        Selected::Upper => {
            indices.swap(0, 1);
            Cmp::Ge
        }
        Selected::Diagonal => Cmp::Eq,
    };
    let mask = g.compare(op, indices[0], indices[1]);
    g.select(mask, inside, outside)
}

/// `c` at the selected elements of a matrix of the shape of `t`, and zero elsewhere.
fn constant(g: &mut dyn Build, t: Term, selected: Selected, c: f64) -> Term {
    let (inside, outside) = (g.lit_like(t, c), g.lit_like(t, 0.0));
    masked(g, selected, inside, outside)
}

/// The last two axes in the other order.
fn transposition(rank: usize) -> Prim {
    let perm: Vec<u8> = (0..rank - 2).map(axis).chain([axis(rank - 1), axis(rank - 2)]).collect();
    Prim::Transpose(perm.into())
}

/// `len` rows of a matrix, from row `start` on.
fn rows(g: &mut dyn Build, t: Term, start: Term, len: Term) -> Term {
    let mut lens = g.shape(t).to_vec();
    let (rank, zero) = (lens.len(), g.lit_usize(0));
    let mut starts = vec![zero; rank];
    (starts[rank - 2], lens[rank - 2]) = (start, len);
    let args: Vec<Term> = std::iter::once(t).chain(starts).chain(lens).collect();
    g.make(&Prim::Slice(vec![1; rank].into()), &args)
}

//! Systems of linear equations: with a triangular matrix, and with the LU factorisation of any
//! regular matrix. Both are linear in the right-hand side, and their transpose is the system of the
//! transposed matrix. Zeros of a right-hand side absorb: a system whose right-hand side is zero has
//! the solution zero, even if its matrix has NaNs. So no NaN comes back from an arm that was not
//! taken.

use super::rules::{negative, of_matrix, part, solved};
use super::{Selected, like, square};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::structural::{Applied, Batch, Example, Linear, LinearMap, LinearTerm, Sample, Structural, arity};
use crate::term::{Elem, Term, axis};

/// Which system a triangular matrix is part of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Triangle {
    /// Whether the matrix is the upper triangle, the diagonal included. The elements outside of the
    /// triangle are not read.
    pub upper: bool,
    /// Whether the system is that of the transposed matrix.
    pub transposed: bool,
}

impl Triangle {
    /// The lower triangle.
    pub const LOWER: Triangle = Triangle { upper: false, transposed: false };
    /// The upper triangle.
    pub const UPPER: Triangle = Triangle { upper: true, transposed: false };

    /// The system of the transposed matrix.
    #[must_use]
    pub fn transpose(self) -> Self {
        Triangle { transposed: !self.transposed, ..self }
    }

    fn selected(self) -> Selected {
        if self.upper { Selected::Upper } else { Selected::Lower }
    }
}

/// The type of the solution: that of the right-hand side, whose rows are those of the matrix.
fn of_right_hand_side(name: &str, g: &dyn Types, b: Term, matrix: Term) -> Typed {
    let (elem, shape) = square(name, g, matrix)?;
    let (of_b, rows) = g.array(b)?;
    let lead = shape.len() - 1;
    ensure!(of_b == elem && rows.get(..lead) == Some(&shape[..lead]), "{name}: the right-hand side does not fit");
    like(g, b)
}

/// A solution for all values of the index. If only the right-hand side varies, its values are
/// further columns.
fn batch(g: &mut dyn Build, b: &Batch<'_>, prim: &Prim) -> Term {
    if b.varies[1..b.lifted.len()].iter().any(|&v| v) {
        return g.raw(prim.clone(), b.lifted);
    }
    let lead = g.shape(b.args[1]).len() - 1;
    let rank = g.shape(b.lifted[0]).len();
    // The index is the first axis, and is moved after the rows.
    let behind: Vec<u8> = (1..=lead).chain([0]).chain(lead + 1..rank).map(axis).collect();
    let front: Vec<u8> = [lead].into_iter().chain(0..lead).chain(lead + 1..rank).map(axis).collect();
    let columns = g.transpose(b.lifted[0], &behind);
    let args: Vec<Term> = std::iter::once(columns).chain(b.args[1..].iter().copied()).collect();
    let solution = g.raw(prim.clone(), &args);
    g.transpose(solution, &front)
}

/// The solution x of `t x = b`, for `[b, t]`.
pub(in crate::prim::structural) struct TriangularSolve(pub(in crate::prim::structural) Triangle);

impl Structural for TriangularSolve {
    fn name(&self) -> String {
        let (side, transposed) =
            (if self.0.upper { "upper" } else { "lower" }, if self.0.transposed { "_t" } else { "" });
        format!("solve_{side}{transposed}")
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 2)?;
        of_right_hand_side(&self.name(), g, args[0], args[1])
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        batch(g, b, &Prim::TriangularSolve(self.0))
    }

    fn linear(&self, _g: &dyn Types, args: &[Term], k: usize) -> Option<LinearMap> {
        let applied = |by| Applied { prim: Prim::TriangularSolve(by), rest: args[1..].to_vec() };
        (k == 0).then(|| LinearMap { forward: applied(self.0), backward: applied(self.0.transpose()), unread: false })
    }

    /// `t x = b` gives `dx = -t^-1 dt x` (Giles 2008, section 2.3.1). Only the triangle of dt
    /// counts.
    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        solution: Term,
        k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        if let Some(map) = self.linear(d.build(), args, k) {
            return Some(d.apply(map, x));
        }
        let t = args[1];
        let lead = super::lead(d.build(), t);
        let x = part(d, t, self.0.selected(), 1.0, x);
        let x = of_matrix(d, solution, self.0.transposed, lead, x);
        let x = solved(d, self.0, t, x);
        Some(negative(d, solution, x))
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(match (self.0.upper, self.0.transposed) {
            (false, false) => "solve_lower",
            (false, true) => "solve_lower_t",
            (true, false) => "solve_upper",
            (true, true) => "solve_upper_t",
        })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // The unread elements are 9 and -9.
        const LOWER: Sample = Sample::Reals(&[2, 2], &[2.0, 9.0, 1.0, 4.0]);
        const UPPER: Sample = Sample::Reals(&[2, 2], &[2.0, 1.0, -9.0, 4.0]);
        let of = |upper, transposed, matrix, result| Example {
            prim: Prim::TriangularSolve(Triangle { upper, transposed }),
            args: vec![Sample::Reals(&[2, 2], &[2.0, 4.0, 9.0, 10.0]), matrix],
            result: Sample::Reals(&[2, 2], result),
        };
        vec![
            of(false, false, LOWER, &[1.0, 2.0, 2.0, 2.0]),
            of(false, true, LOWER, &[-0.125, 0.75, 2.25, 2.5]),
            of(true, false, UPPER, &[-0.125, 0.75, 2.25, 2.5]),
            of(true, true, UPPER, &[1.0, 2.0, 2.0, 2.0]),
            Example {
                prim: Prim::TriangularSolve(Triangle::LOWER),
                args: vec![
                    Sample::Reals(&[2, 2], &[2.0, 9.0, 3.0, 5.0]),
                    Sample::Reals(&[2, 2, 2], &[2.0, 0.0, 1.0, 4.0, 1.0, 0.0, -1.0, 2.0]),
                ],
                result: Sample::Reals(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
            },
        ]
    }
}

/// The element type and the shape of a matrix that has this LU factorisation.
pub(super) fn fits<'g>(
    name: &str,
    g: &'g dyn Types,
    a: Term,
    packed: Term,
) -> Result<(Elem, &'g [Term]), crate::prim::TypeError> {
    let (elem, shape) = square(name, g, a)?;
    let (packed, of_packed) = g.array(packed)?;
    let (last, lead) = (shape.len() - 1, shape.len() - 2);
    ensure!(
        packed == elem
            && of_packed.len() == shape.len()
            && of_packed[..lead] == shape[..lead]
            && of_packed[last] == shape[last],
        "{name}: the factorisation does not fit"
    );
    Ok((elem, shape))
}

/// The solution x of `a x = b`, or of the transposed system, for `[b, a, packed]`. `packed` is the
/// LU factorisation of a. The value is computed from `packed` alone, and the derivative is taken
/// with respect to a: so it does not need the derivative of the factorisation.
pub(in crate::prim::structural) struct LuSolve(pub(in crate::prim::structural) bool);

impl Structural for LuSolve {
    fn name(&self) -> String {
        if self.0 { "lu_solve_t".into() } else { "lu_solve".into() }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 3)?;
        fits(&self.name(), g, args[1], args[2])?;
        of_right_hand_side(&self.name(), g, args[0], args[1])
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        batch(g, b, &Prim::LuSolve(self.0))
    }

    fn linear(&self, _g: &dyn Types, args: &[Term], k: usize) -> Option<LinearMap> {
        let applied = |transposed| Applied { prim: Prim::LuSolve(transposed), rest: args[1..].to_vec() };
        (k == 0).then(|| LinearMap { forward: applied(self.0), backward: applied(!self.0), unread: false })
    }

    /// `a x = b` gives `dx = -a^-1 da x` (Giles 2008, section 2.3.1).
    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        solution: Term,
        k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        if let Some(map) = self.linear(d.build(), args, k) {
            return Some(d.apply(map, x));
        }
        if k != 1 {
            return None;
        }
        let lead = super::lead(d.build(), args[1]);
        let x = of_matrix(d, solution, self.0, lead, x);
        let map = self.linear(d.build(), args, 0)?;
        let x = d.apply(map, x);
        Some(negative(d, solution, x))
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "lu_solve_t" } else { "lu_solve" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // The rows of [[1, 3], [2, 4]] change places: its factors are [[1, 0], [0.5, 1]] and
        // [[2, 4], [0, 1]].
        let of = |transposed, result| Example {
            prim: Prim::LuSolve(transposed),
            args: vec![
                Sample::Reals(&[2], &[5.0, 8.0]),
                Sample::Reals(&[2, 2], &[1.0, 3.0, 2.0, 4.0]),
                Sample::Reals(&[5, 2], &[2.0, 4.0, 0.5, 1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 1.0]),
            ],
            result: Sample::Reals(&[2], result),
        };
        vec![of(false, &[2.0, 1.0]), of(true, &[-2.0, 3.5])]
    }
}

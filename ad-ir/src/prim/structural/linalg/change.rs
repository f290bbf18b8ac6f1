//! The derivative of Cholesky's factorisation, as a primitive: a kernel computes the transposed map
//! with a third of the operations that products and systems of whole matrices take, and in the
//! memory of its result.

use super::rules::{Side, negative, part, solved, symmetric, times, transposed};
use super::{Selected, Triangle, lead, like, masked, square, transposition};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::structural::{Applied, Batch, Example, Linear, LinearMap, LinearTerm, Sample, Structural, arity};
use crate::prim::{Prim, Scaling};
use crate::term::{Contraction, Term, axis};

/// `[x, l]`: the change `l phi(l^-1 s l^-1')` of the factor l, if the matrix changes by x, where s
/// is the symmetric part of x, and phi takes the lower triangle with half of the diagonal (Murray
/// 2016, equation 8); or (`true`) the transposed map, the symmetric part of `l^-1' phi(l' x) l^-1`.
/// Of l, and of the x of the transposed map, only the lower triangle is read. An x of zeros gives
/// zeros, whatever l is.
pub(in crate::prim::structural) struct CholeskyChange(pub(in crate::prim::structural) bool);

impl Structural for CholeskyChange {
    fn name(&self) -> String {
        if self.0 { "cholesky_change_t".into() } else { "cholesky_change".into() }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 2)?;
        let (elem, shape) = square(&self.name(), g, args[1])?;
        ensure!(g.array(args[0])? == (elem, shape), "{}: the change does not fit", self.name());
        like(g, args[0])
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::CholeskyChange(self.0), b.lifted)
    }

    fn linear(&self, _g: &dyn Types, args: &[Term], k: usize) -> Option<LinearMap> {
        (k == 0).then(|| change(self.0, args[1]))
    }

    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        _result: Term,
        k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        if let Some(map) = self.linear(d.build(), args, k) {
            return Some(d.apply(map, x));
        }
        let x = part(d, args[1], Selected::Lower, 1.0, x);
        Some(if self.0 { of_transposed(d, args[0], args[1], x) } else { of_change(d, args[0], args[1], x) })
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "cholesky_change_t" } else { "cholesky_change" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // The unread elements are 9 and 7. The symmetric part of the first change is l l'.
        let of = |transposed, x, result| Example {
            prim: Prim::CholeskyChange(transposed),
            args: vec![Sample::Reals(&[2, 2], x), Sample::Reals(&[2, 2], &[2.0, 7.0, 1.0, 3.0])],
            result: Sample::Reals(&[2, 2], result),
        };
        vec![
            of(false, &[4.0, 3.0, 1.0, 10.0], &[1.0, 0.0, 0.5, 1.5]),
            of(true, &[1.0, 9.0, 2.0, 3.0], &[0.125, 0.25, 0.25, 0.5]),
        ]
    }
}

/// The change of a factor by that of the matrix.
pub(super) fn change(back: bool, l: Term) -> LinearMap {
    let applied = |back| Applied { prim: Prim::CholeskyChange(back), rest: vec![l] };
    LinearMap { forward: applied(back), backward: applied(!back), unread: false }
}

/// Ones below the diagonal, and halves on it, with zeros above.
fn phi(g: &mut dyn Build, l: Term) -> Term {
    let (half, one, zero) = (g.lit_like(l, 0.5), g.lit_like(l, 1.0), g.lit_like(l, 0.0));
    let lower = masked(g, Selected::Diagonal, half, one);
    masked(g, Selected::Lower, lower, zero)
}

fn lower(g: &mut dyn Build, t: Term) -> Term {
    let zero = g.lit_like(t, 0.0);
    masked(g, Selected::Lower, t, zero)
}

fn turned(g: &mut dyn Build, t: Term) -> Term {
    let rank = g.shape(t).len();
    g.make(&transposition(rank), &[t])
}

fn solution(g: &mut dyn Build, by: Triangle, b: Term, l: Term) -> Term {
    g.make(&Prim::TriangularSolve(by), &[b, l])
}

/// With `s = l^-1 x l^-1'` for the symmetric part of x, and `m = l^-1 dl`: `dl phi(s) - l phi(m s +
/// (m s)')`.
fn of_change(d: &mut dyn Linear, x: Term, l: Term, dl: LinearTerm) -> LinearTerm {
    let g = d.build();
    let (rank, half, phi) = (g.shape(l).len(), g.lit_like(l, 0.5), phi(g, l));
    let other = turned(g, x);
    let both = g.add(x, other);
    let both = g.mul(both, half);
    let once = solution(g, Triangle::LOWER, both, l);
    let once = turned(g, once);
    let s = solution(g, Triangle::LOWER, once, l);
    let (f, factor) = (g.mul(s, phi), lower(g, l));
    let first = times(d, Side::Right, f, dl);
    let m = solved(d, Triangle::LOWER, l, dl);
    let m = times(d, Side::Right, s, m);
    let m = symmetric(d, rank, m);
    let m = d.scale(phi, Scaling::Plain, m);
    let second = times(d, Side::Left, factor, m);
    let second = negative(d, l, second);
    d.add(first, second)
}

/// With `p = phi(l' x)` and `w = phi(dl' x) - dl' (l^-1' p) - (p l^-1) dl`: the symmetric part of
/// `l^-1' w l^-1`.
fn of_transposed(d: &mut dyn Linear, x: Term, l: Term, dl: LinearTerm) -> LinearTerm {
    let g = d.build();
    let (rank, half, phi) = (g.shape(l).len(), g.lit_like(l, 0.5), phi(g, l));
    let (x, factor) = (lower(g, x), lower(g, l));
    let batch = || (0..lead(g, l)).map(axis);
    let (i, j, k) = (axis(rank), axis(rank + 1), axis(rank + 2));
    let labels = |row: u8, column: u8| -> Vec<u8> { batch().chain([row, column]).collect() };
    let spec = Contraction::new(labels(k, i), labels(k, j), labels(i, j));
    let p = g.make(&Prim::Contract(spec), &[factor, x]);
    let p = g.mul(p, phi);
    let back = Triangle::LOWER.transpose();
    let left = solution(g, back, p, l);
    let right = turned(g, p);
    let right = solution(g, back, right, l);
    let right = turned(g, right);
    let turned = transposed(d, rank, dl);
    let first = times(d, Side::Right, x, turned);
    let first = d.scale(phi, Scaling::Plain, first);
    let second = times(d, Side::Right, left, turned);
    let third = times(d, Side::Left, right, dl);
    let rest = d.add(second, third);
    let rest = negative(d, l, rest);
    let w = d.add(first, rest);
    let w = solved(d, back, l, w);
    let w = transposed(d, rank, w);
    let w = solved(d, back, l, w);
    let w = symmetric(d, rank, w);
    d.scale(half, Scaling::Plain, w)
}

//! The logarithm of the absolute value of a determinant.

use super::Selected;
use super::rules::{of_first, part};
use super::solve::fits;
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types};
use crate::prim::structural::{
    Applied, Batch, Example, Linear, LinearMap, LinearTerm, Sample, Structural, arity, shaped,
};
use crate::term::{Term, axis};

/// `[a, packed, 1]`: a vector with the one number. `packed` is the LU factorisation of a. The value
/// is computed from `packed` alone, and the derivative is taken with respect to a: it is one
/// system, where the derivative of the factorisation would be two systems and three products.
pub(in crate::prim::structural) struct LogDet;

impl Structural for LogDet {
    fn name(&self) -> String {
        "log_det".into()
    }

    fn data_args(&self, _args: usize) -> usize {
        2
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 3)?;
        g.check_size(args[2])?;
        let (elem, shape) = fits(&self.name(), g, args[0], args[1])?;
        shaped(elem, shape[..shape.len() - 2].iter().copied().chain([args[2]]))
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::LogDet, &[b.lifted[0], b.lifted[1], b.args[2]])
    }

    /// `tr(a^-1 da)` (Giles 2008, section 2.2.4). The trace is that of a system, in which the zeros
    /// of a cotangent absorb.
    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        _result: Term,
        k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        if k != 0 {
            return None;
        }
        let a = args[0];
        let applied = |transposed| Applied { prim: Prim::LuSolve(transposed), rest: args[..2].to_vec() };
        let x = d.apply(LinearMap { forward: applied(false), backward: applied(true), unread: false }, x);
        let x = part(d, a, Selected::Diagonal, 1.0, x);
        let lead = axis(super::lead(d.build(), a));
        let trace = of_first(d, &Prim::Sum([lead, lead + 1].into()), &[a], x);
        Some(of_first(d, &Prim::Replicate([lead].into()), &[a, args[2]], trace))
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some("log_det")
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // The determinant is -2.
        vec![Example {
            prim: Prim::LogDet,
            args: vec![
                Sample::Reals(&[2, 2], &[1.0, 3.0, 2.0, 4.0]),
                Sample::Reals(&[5, 2], &[2.0, 4.0, 0.5, 1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 1.0]),
                Sample::Size(1),
            ],
            result: Sample::Reals(&[1], &[std::f64::consts::LN_2]),
        }]
    }
}

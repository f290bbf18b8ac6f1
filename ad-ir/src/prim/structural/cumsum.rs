//! `cumsum`: partial sums along the last axis, from the first or the last element. Each direction
//! is the transpose of the other, since element i of one is the sum of the elements up to i, and
//! element i of the other is the sum of the elements from i to the end.

use super::{Applied, Batch, ElementRead, Example, LinearMap, Sample, Structural, arity, summed};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::{IntOp, Prim};
use crate::term::Term;

/// Partial sums. The flag says whether they start at the last element.
pub(super) struct CumSum(pub(super) bool);

impl Structural for CumSum {
    fn name(&self) -> String {
        if self.0 { "cumsum_back".into() } else { "cumsum".into() }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 1)?;
        let (elem, shape) = g.array(args[0])?;
        ensure!(elem.is_real() && !shape.is_empty(), "{} of a term that is not a real array with an axis", self.name());
        Ok(g.ty(args[0]).clone())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::CumSum(self.0), b.lifted)
    }

    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<LinearMap> {
        Some(LinearMap {
            forward: Applied { prim: Prim::CumSum(self.0), rest: Vec::new() },
            backward: Applied { prim: Prim::CumSum(!self.0), rest: Vec::new() },
            unread: false,
        })
    }

    fn scalars(&self, g: &mut dyn Build, x: &[Term], shape: &[usize]) -> Option<Vec<Term>> {
        let mut out = Vec::with_capacity(x.len());
        for row in x.chunks(*shape.last()?) {
            let mut sums: Vec<Term> = Vec::with_capacity(row.len());
            let in_order: Vec<Term> = if self.0 { row.iter().rev().copied().collect() } else { row.to_vec() };
            for x in in_order {
                let sum = sums.last().map_or(x, |&sum| g.add(sum, x));
                sums.push(sum);
            }
            if self.0 {
                sums.reverse();
            }
            out.extend(sums);
        }
        Some(out)
    }

    fn reads(&self, g: &mut dyn Build, _args: &[Term], shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let (&last, &size) = (at.last()?, shape.last()?);
        let one = g.lit_usize(1);
        let count = if self.0 { g.int(IntOp::Sub, size, last) } else { g.int(IntOp::Add, last, one) };
        let mut over = Vec::new();
        let mut own = summed(g, count, &mut over);
        if self.0 {
            own = g.int(IntOp::Add, last, own);
        }
        let inner = at[..at.len() - 1].iter().copied().chain([own]).collect();
        Some(vec![ElementRead { over, ..ElementRead::of(0, inner) }])
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "cumsum_back" } else { "cumsum" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        const MATRIX: Sample = Sample::Reals(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.25, -0.75]);
        let of = |back, result| Example { prim: Prim::CumSum(back), args: vec![MATRIX], result };
        vec![
            of(false, Sample::Reals(&[2, 3], &[0.5, -0.5, 1.5, 1.5, 1.75, 1.0])),
            of(true, Sample::Reals(&[2, 3], &[1.5, 1.0, 2.0, 1.0, -0.5, -0.75])),
        ]
    }
}

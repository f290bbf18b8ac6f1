//! `sum`, and the reductions over trailing axes.
//!
//! The derivative of an extremum is not a linear map of this form: it reads the argument at the
//! position of the extremum. So a mode has its rule, which computes that position
//! (`modes::dual_arrays::dual`). A reduction in a fixed order has no derivative: it is the exact
//! value of a pair whose relaxed sum has the derivative.

use super::{
    Applied, Batch, ElementRead, Example, LinearMap, Sample, Structural, arity, behind_first, list, shaped, summed,
};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::{Prim, Reduce};
use crate::term::{Elem, Term};

/// The sum over these axes.
pub(super) struct Sum<'a>(pub(super) &'a [u8]);

impl Structural for Sum<'_> {
    fn name(&self) -> String {
        format!("sum{}", list(self.0))
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let axes = self.0;
        arity(&self.name(), args, 1)?;
        let (elem, shape) = g.array(args[0])?;
        ensure!(elem != Elem::Bool, "sum of booleans");
        ensure!(
            axes.windows(2).all(|w| w[0] < w[1]) && axes.iter().all(|&a| usize::from(a) < shape.len()),
            "sum's axes"
        );
        shaped(
            elem,
            shape.iter().enumerate().filter(|(k, _)| !axes.iter().any(|&a| usize::from(a) == *k)).map(|(_, &n)| n),
        )
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.make(&Prim::Sum(behind_first(self.0).into()), &[b.lifted[0]])
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        let from = g.shape(args[0]);
        let sizes = self.0.iter().map(|&a| from[usize::from(a)]).collect();
        Some(LinearMap {
            forward: Applied { prim: Prim::Sum(self.0.into()), rest: Vec::new() },
            backward: Applied { prim: Prim::Replicate(self.0.into()), rest: sizes },
            unread: false,
        })
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let (mut rest, mut over, mut inner) = (at.iter(), Vec::new(), Vec::new());
        for (k, size) in g.shape(args[0]).to_vec().into_iter().enumerate() {
            inner.push(match self.0.iter().any(|&a| usize::from(a) == k) {
                true => summed(g, size, &mut over),
                false => *rest.next()?,
            });
        }
        Some(vec![ElementRead { over, ..ElementRead::of(0, inner) }])
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example { prim: Prim::Sum([1].into()), args: vec![MATRIX], result: Sample::Reals(&[2], &[1.5, 1.1]) }]
    }
}

/// A reduction over a number of trailing axes.
pub(super) struct Reduction(pub(super) Reduce, pub(super) u8);

const MATRIX: Sample = Sample::Reals(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.3, -0.7]);

impl Structural for Reduction {
    fn name(&self) -> String {
        format!("{}[{}]", format!("{:?}", self.0).to_lowercase(), self.1)
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let Reduction(op, rank) = *self;
        ensure!(!args.is_empty(), "a reduction without an argument");
        let (elem, shape) = g.array(args[0])?;
        ensure!(usize::from(rank) <= shape.len(), "reduction over more axes than there are");
        if let (2, true, 1) = (args.len(), op.of_first(), rank) {
            let (len, lanes) = g.array(args[1])?;
            ensure!(len == Elem::USIZE && lanes == &shape[..shape.len() - 1], "as many lengths as there are lanes");
        } else {
            arity(&self.name(), args, 1)?;
        }
        let elem = match op {
            Reduce::Max | Reduce::Min => {
                ensure!(elem != Elem::Bool, "extremum of booleans");
                elem
            }
            Reduce::ArgMax | Reduce::ArgMin => {
                ensure!(elem != Elem::Bool, "extremum of booleans");
                Elem::USIZE
            }
            Reduce::All | Reduce::Any => {
                ensure!(elem == Elem::Bool, "all and any are of booleans");
                Elem::Bool
            }
            _ => {
                ensure!(elem.is_real() && rank > 0, "a reduction in an order of its own is of arrays of reals");
                elem
            }
        };
        shaped(elem, shape[..shape.len() - usize::from(rank)].iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::Reduce(self.0, self.1), b.lifted)
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        // A reduction of the first elements of an axis counts as one of the whole axis.
        let (mut over, mut inner) = (Vec::new(), at.to_vec());
        let sizes = g.shape(args[0]).to_vec();
        debug_assert_eq!(at.len() + usize::from(self.1), sizes.len());
        for &size in &sizes[at.len()..] {
            inner.push(summed(g, size, &mut over));
        }
        Some(vec![ElementRead { over, ..ElementRead::of(0, inner) }])
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        const MASK: Sample = Sample::Bools(&[3, 2], &[true, true, true, false, false, false]);
        let of = |op, rank, result| Example { prim: Prim::Reduce(op, rank), args: vec![MATRIX], result };
        let of_mask = |op, result| Example { prim: Prim::Reduce(op, 1), args: vec![MASK], result };
        vec![
            of(Reduce::Max, 1, Sample::Reals(&[2], &[2.0, 1.5])),
            of(Reduce::Min, 2, Sample::Reals(&[], &[-1.0])),
            of(Reduce::ArgMax, 2, Sample::Indices(&[], &[2])),
            of(Reduce::ArgMin, 1, Sample::Indices(&[2], &[1, 2])),
            of_mask(Reduce::All, Sample::Bools(&[3], &[true, false, false])),
            of_mask(Reduce::Any, Sample::Bools(&[3], &[true, true, false])),
            of(Reduce::InOrder, 1, Sample::Reals(&[2], &[1.5, 1.1])),
            of(Reduce::FromZero, 1, Sample::Reals(&[2], &[1.5, 1.1])),
            of(Reduce::Unrolled, 1, Sample::Reals(&[2], &[1.5, 1.1])),
            of(Reduce::Lanes, 2, Sample::Reals(&[], &[2.6])),
            of(Reduce::Fours, 2, Sample::Reals(&[], &[2.6])),
            of(Reduce::Squares, 1, Sample::Reals(&[2], &[5.25, 2.83])),
            of(Reduce::Factors, 1, Sample::Reals(&[2], &[-1.0, -0.315])),
            of(Reduce::Distances, 1, Sample::Reals(&[2], &[4.5, 2.83 - 1.21 / 3.0])),
        ]
    }
}

//! `replicate`: new axes along which the array is constant.

use super::{Applied, Batch, Example, LinearMap, Sample, Structural, arity, behind_first, list, shaped};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, bad, ensure};
use crate::term::Term;

/// New axes at these positions.
pub(super) struct Replicate<'a>(pub(super) &'a [u8]);

impl Structural for Replicate<'_> {
    fn name(&self) -> String {
        format!("replicate{}", list(self.0))
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let axes = self.0;
        arity(&self.name(), args, 1 + axes.len())?;
        args[1..].iter().try_for_each(|&t| g.check_size(t))?;
        let (elem, shape) = g.array(args[0])?;
        ensure!(axes.windows(2).all(|w| w[0] < w[1]), "replicate's axes ascend");
        let mut old = shape.iter();
        let mut result = Vec::new();
        for axis in 0..shape.len() + axes.len() {
            match axes.iter().position(|&a| usize::from(a) == axis) {
                Some(k) => result.push(args[1 + k]),
                None => match old.next() {
                    Some(&n) => result.push(n),
                    None => return bad("replicate's axes leave a gap"),
                },
            }
        }
        shaped(elem, result)
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.replicate_axes(b.lifted[0], &behind_first(self.0), b.rest())
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        let sizes = &args[1..];
        Some(LinearMap {
            forward: Applied { prim: Prim::Replicate(self.0.into()), rest: sizes.to_vec() },
            backward: Applied { prim: Prim::Sum(self.0.into()), rest: Vec::new() },
            // If a new axis may be empty, nothing reads the argument.
            unread: sizes.iter().any(|&n| g.int_value(n).is_none_or(|n| n == 0)),
        })
    }

    fn selects(&self, rank: usize) -> Option<Vec<usize>> {
        Some((0..rank).filter(|&k| !self.0.iter().any(|&a| usize::from(a) == k)).collect())
    }

    fn cost(&self) -> Option<u32> {
        Some(1)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example {
            prim: Prim::Replicate([0, 2].into()),
            args: vec![Sample::Reals(&[2], &[1.5, -2.0]), Sample::Size(2), Sample::Size(3)],
            result: Sample::Reals(&[2, 2, 3], &[1.5, 1.5, 1.5, -2.0, -2.0, -2.0, 1.5, 1.5, 1.5, -2.0, -2.0, -2.0]),
        }]
    }
}

//! Primitives that keep the elements and change their order or shape: `tr`, `reshape`, `recast`.

use super::{Applied, Batch, ElementRead, Example, LinearMap, Sample, Structural, arity, list, shaped};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::{IntOp, Prim};
use crate::term::{Term, axis};

const MATRIX: Sample = Sample::Reals(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.3, -0.7]);

/// Axis k of the result is axis `perm[k]` of the argument.
pub(super) struct Transpose<'a>(pub(super) &'a [u8]);

impl Structural for Transpose<'_> {
    fn name(&self) -> String {
        format!("tr{}", list(self.0))
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 1)?;
        let (elem, shape) = g.array(args[0])?;
        let mut seen: Vec<u8> = self.0.to_vec();
        seen.sort_unstable();
        ensure!(
            seen.len() == shape.len() && seen.iter().enumerate().all(|(k, &a)| usize::from(a) == k),
            "not a permutation of the axes"
        );
        shaped(elem, self.0.iter().map(|&a| shape[usize::from(a)]))
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        let perm: Vec<u8> = std::iter::once(0).chain(super::behind_first(self.0)).collect();
        g.transpose(b.lifted[0], &perm)
    }

    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<LinearMap> {
        let inverse = self.inverse().into_iter().map(axis).collect();
        Some(LinearMap {
            forward: Applied { prim: Prim::Transpose(self.0.into()), rest: Vec::new() },
            backward: Applied { prim: Prim::Transpose(inverse), rest: Vec::new() },
            unread: false,
        })
    }

    fn selects(&self, _rank: usize) -> Option<Vec<usize>> {
        Some(self.inverse())
    }

    fn cost(&self) -> Option<u32> {
        Some(1)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example {
            prim: Prim::Transpose([1, 0].into()),
            args: vec![MATRIX],
            result: Sample::Reals(&[3, 2], &[0.5, 1.5, -1.0, 0.3, 2.0, -0.7]),
        }]
    }
}

impl Transpose<'_> {
    fn inverse(&self) -> Vec<usize> {
        let mut inverse = vec![0; self.0.len()];
        for (k, &a) in self.0.iter().enumerate() {
            inverse[usize::from(a)] = k;
        }
        inverse
    }
}

/// The elements in row-major order in another shape.
pub(super) struct Reshape;

/// The same array with other terms for its sizes.
pub(super) struct Recast;

/// The batched primitive has the size of the build in front of the other sizes.
fn resized(prim: &Prim, g: &mut dyn Build, b: &Batch<'_>) -> Term {
    let args: Vec<Term> = [b.lifted[0], b.size].into_iter().chain(b.rest().iter().copied()).collect();
    g.raw(prim.clone(), &args)
}

/// The derivative maps to the shape of the result, and its transpose to that of the argument.
fn of_sizes(prim: &Prim, g: &dyn Types, args: &[Term]) -> LinearMap {
    LinearMap {
        forward: Applied { prim: prim.clone(), rest: args[1..].to_vec() },
        backward: Applied { prim: prim.clone(), rest: g.shape(args[0]).to_vec() },
        unread: false,
    }
}

impl Structural for Reshape {
    fn name(&self) -> String {
        "reshape".into()
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        ensure!(!args.is_empty(), "a reshape without an argument");
        args[1..].iter().try_for_each(|&t| g.check_size(t))?;
        shaped(g.array(args[0])?.0, args[1..].iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        resized(&Prim::Reshape, g, b)
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        Some(of_sizes(&Prim::Reshape, g, args))
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let mut flat = g.lit_usize(0);
        for (&at, &size) in at.iter().zip(shape) {
            let before = g.int(IntOp::Mul, flat, size);
            flat = g.int(IntOp::Add, before, at);
        }
        let sizes = g.shape(args[0]).to_vec();
        let mut inner = Vec::new();
        for &size in sizes.iter().skip(1).rev() {
            inner.push(g.int(IntOp::Rem, flat, size));
            flat = g.int(IntOp::Div, flat, size);
        }
        inner.push(flat);
        inner.reverse();
        inner.truncate(sizes.len());
        Some(vec![ElementRead::of(0, inner)])
    }

    fn cost(&self) -> Option<u32> {
        Some(1)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example {
            prim: Prim::Reshape,
            args: vec![MATRIX, Sample::Size(3), Sample::Size(2)],
            result: Sample::Reals(&[3, 2], &[0.5, -1.0, 2.0, 1.5, 0.3, -0.7]),
        }]
    }
}

impl Structural for Recast {
    fn name(&self) -> String {
        "recast".into()
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        ensure!(!args.is_empty(), "a recast without an argument");
        args[1..].iter().try_for_each(|&t| g.check_size(t))?;
        let (elem, shape) = g.array(args[0])?;
        ensure!(shape.len() == args.len() - 1, "recast keeps the rank");
        shaped(elem, args[1..].iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        resized(&Prim::Recast, g, b)
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        Some(of_sizes(&Prim::Recast, g, args))
    }

    fn reads(&self, _g: &mut dyn Build, _args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        Some(vec![ElementRead::of(0, at.to_vec())])
    }

    fn cost(&self) -> Option<u32> {
        Some(1)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example { prim: Prim::Recast, args: vec![MATRIX, Sample::Size(2), Sample::Size(3)], result: MATRIX }]
    }
}

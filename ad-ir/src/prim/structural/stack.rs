//! `stack`: arrays of one type along a new first axis.
//!
//! It is linear in all of its arguments jointly, so its derivative is a special form of a mode
//! (`modes::dual_arrays`, `Delta::Stack`). With one map for each argument, the tangent would be a
//! sum of as many arrays of the result's size.

use super::{Batch, ElementRead, Example, Sample, Structural, shaped};
use crate::prim::build::{Build, Typed, Types, bad, ensure};
use crate::prim::{Cmp, Prim};
use crate::term::{Term, axis};

/// Arrays of one type as the rows of one array.
pub(super) struct Stack;

impl Structural for Stack {
    fn name(&self) -> String {
        "stack".into()
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        ensure!(!args.is_empty(), "a stack without arguments has no type");
        for &t in &args[1..] {
            ensure!(g.ty(t) == g.ty(args[0]), "the parts of a stack differ in type");
        }
        let (elem, shape) = g.array(args[0])?;
        match g.find_usize(args.len()) {
            Some(n) => shaped(elem, std::iter::once(n).chain(shape.iter().copied())),
            None => bad("the size of a stack must be made before it"),
        }
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        let stacked = g.raw(Prim::Stack, b.lifted);
        let mut perm: Vec<u8> = (0..g.shape(stacked).len()).map(axis).collect();
        perm.swap(0, 1);
        g.transpose(stacked, &perm)
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let read = |k: usize| {
            let number = g.lit_usize(k);
            let here = g.compare(Cmp::Eq, at[0], number);
            ElementRead { under: Some(here), ..ElementRead::of(k, at[1..].to_vec()) }
        };
        Some((0..args.len()).map(read).collect())
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example {
            prim: Prim::Stack,
            args: vec![Sample::Reals(&[2], &[1.0, 2.0]), Sample::Reals(&[2], &[3.0, 4.0])],
            result: Sample::Reals(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        }]
    }
}

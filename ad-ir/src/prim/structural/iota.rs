//! `iota`: the indices themselves.

use super::{Batch, Example, Sample, Structural, arity, shaped};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types};
use crate::term::{Elem, Term};

/// 0, 1, .., n - 1.
pub(super) struct Iota;

impl Structural for Iota {
    fn name(&self) -> String {
        "iota".into()
    }

    fn data_args(&self, _args: usize) -> usize {
        0
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity("iota", args, 1)?;
        g.check_size(args[0])?;
        shaped(Elem::USIZE, [args[0]])
    }

    fn batch(&self, _g: &mut dyn Build, _b: &Batch<'_>) -> Term {
        panic!("iota has no argument that can depend on an index")
    }

    fn cost(&self) -> Option<u32> {
        // The value is the index of a loop.
        Some(0)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example { prim: Prim::Iota, args: vec![Sample::Size(3)], result: Sample::Indices(&[3], &[0, 1, 2]) }]
    }
}

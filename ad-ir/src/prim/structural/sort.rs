//! The order of integers, along the last axis. Reals are sorted by integers in the same order
//! (`TotalOrder`). The order consists of positions, so it has no derivative.

use super::{Batch, Example, Sample, Structural, arity, shaped};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::term::{Elem, Term};

/// The positions of the first elements along the last axis in ascending or (`true`) descending
/// order, as many as the first argument says for each row. The other positions stay as they are.
pub(super) struct Argsort(pub(super) bool);

impl Structural for Argsort {
    fn name(&self) -> String {
        if self.0 { "argsort_descending".into() } else { "argsort".into() }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 2)?;
        let ((len, lanes), (elem, shape)) = (g.array(args[0])?, g.array(args[1])?);
        ensure!(
            matches!(elem, Elem::Int(_)) && !shape.is_empty(),
            "{} of a term that is not an array of integers",
            self.name()
        );
        let rows = shape.len() - 1;
        let one = lanes.len() == shape.len() && g.int_value(lanes[rows]) == Some(1);
        ensure!(len == Elem::USIZE && one && lanes[..rows] == shape[..rows], "a length for each row");
        shaped(Elem::USIZE, shape.iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::Argsort(self.0), b.lifted)
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "argsort_descending" } else { "argsort" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        const LENS: Sample = Sample::Indices(&[2, 1], &[4, 3]);
        const ROWS: Sample = Sample::Indices(&[2, 4], &[3, 1, 2, 1, 0, 7, 7, 5]);
        let of = |back, result| Example { prim: Prim::Argsort(back), args: vec![LENS, ROWS], result };
        vec![
            of(false, Sample::Indices(&[2, 4], &[1, 3, 2, 0, 0, 1, 2, 3])),
            of(true, Sample::Indices(&[2, 4], &[0, 2, 1, 3, 1, 2, 0, 3])),
        ]
    }
}

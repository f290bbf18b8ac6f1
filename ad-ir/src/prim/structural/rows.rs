//! Rows of several lengths, one after the other in one vector: for each element the number of its
//! row, or its place in the row. They are indices, so they have no derivative.

use super::{Batch, Example, Sample, Structural, arity, shaped};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::term::{Elem, Term};

/// The number of the row of each element, or (`true`) its place in the row, given the lengths of
/// the rows. An element after the last row has the number of rows for its number.
pub(super) struct RowIndex(pub(super) bool);

impl Structural for RowIndex {
    fn name(&self) -> String {
        if self.0 { "place_in_row".into() } else { "row_of".into() }
    }

    fn data_args(&self, args: usize) -> usize {
        args - 1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 2)?;
        let (elem, shape) = g.array(args[0])?;
        ensure!(
            elem == Elem::USIZE && !shape.is_empty(),
            "{} of a term that does not hold lengths of rows",
            self.name()
        );
        g.check_size(args[1])?;
        shaped(Elem::USIZE, shape[..shape.len() - 1].iter().copied().chain([args[1]]))
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::RowIndex(self.0), &[b.lifted[0], b.rest()[0]])
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "places_in_rows" } else { "numbers_of_rows" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        const LENS: Sample = Sample::Indices(&[4], &[2, 0, 3, 1]);
        let of = |place, result| Example { prim: Prim::RowIndex(place), args: vec![LENS, Sample::Size(6)], result };
        vec![
            of(false, Sample::Indices(&[6], &[0, 0, 2, 2, 2, 3])),
            of(true, Sample::Indices(&[6], &[0, 1, 0, 1, 2, 0])),
        ]
    }
}

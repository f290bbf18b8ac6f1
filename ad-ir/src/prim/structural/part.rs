//! A part of an array (`slice`), and an array padded with zeros (`pad`). Each is the transpose of
//! the other.

use super::{Applied, Batch, ElementRead, Example, LinearMap, Sample, Structural, arity, list, shaped};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::prim::{Cmp, IntOp, Prim};
use crate::term::Term;

/// Element i of axis k is the argument's element at `start_k + step_k * i`.
pub(super) struct Slice<'a>(pub(super) &'a [i64]);

/// Zeros, with element i of the argument at `start_k + step_k * i`.
pub(super) struct Pad<'a>(pub(super) &'a [i64]);

fn infer(name: &str, steps: &[i64], g: &dyn Types, args: &[Term]) -> Typed {
    let (elem, shape) = g.array(args[0])?;
    let rank = shape.len();
    arity(name, args, 1 + 2 * rank)?;
    ensure!(steps.len() == rank && steps.iter().all(|&s| s != 0), "{name}: one step, not 0, for each axis");
    args[1..].iter().try_for_each(|&t| g.check_size(t))?;
    shaped(elem, args[1 + rank..].iter().copied())
}

/// Batching adds a first axis, which is taken whole.
fn batch(prim: fn(Box<[i64]>) -> Prim, steps: &[i64], g: &mut dyn Build, b: &Batch<'_>) -> Term {
    let (starts, sizes) = b.rest().split_at(steps.len());
    let steps = std::iter::once(1).chain(steps.iter().copied()).collect();
    let mut args = vec![b.lifted[0], g.lit_usize(0)];
    args.extend(starts);
    args.push(b.size);
    args.extend(sizes);
    g.raw(prim(steps), &args)
}

/// The starts, followed by the sizes.
fn at(starts: &[Term], sizes: &[Term]) -> Vec<Term> {
    starts.iter().chain(sizes).copied().collect()
}

/// Appends `(to - from) / by` to the index. Returns the condition that it is an integer below the
/// size, and that `there` holds.
pub fn quotient(
    g: &mut dyn Build,
    there: Option<Term>,
    [from, to]: [Term; 2],
    by: Term,
    size: Term,
    index: &mut Vec<Term>,
) -> Term {
    let zero = g.lit_usize(0);
    let behind = g.compare(Cmp::Le, from, to);
    let distance = g.int(IntOp::Sub, to, from);
    let value = g.int(IntOp::Div, distance, by);
    let mut there = there.map_or(behind, |there| g.and(there, behind));
    if g.int_value(by) != Some(1) {
        let rest = g.int(IntOp::Rem, distance, by);
        let whole = g.compare(Cmp::Eq, rest, zero);
        there = g.and(there, whole);
    }
    let before = g.compare(Cmp::Lt, value, size);
    index.push(value);
    g.and(there, before)
}

impl Structural for Slice<'_> {
    fn name(&self) -> String {
        format!("slice{}", list(self.0))
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        infer(&self.name(), self.0, g, args)
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        batch(Prim::Slice, self.0, g, b)
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        let starts = &args[1..=self.0.len()];
        Some(LinearMap {
            forward: Applied { prim: Prim::Slice(self.0.into()), rest: args[1..].to_vec() },
            backward: Applied { prim: Prim::Pad(self.0.into()), rest: at(starts, g.shape(args[0])) },
            unread: true,
        })
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let mut inner = Vec::new();
        for ((&step, &start), &at) in self.0.iter().zip(&args[1..]).zip(at) {
            let by = g.lit_usize(usize::try_from(step.unsigned_abs()).ok()?);
            let moved = g.int(IntOp::Mul, at, by);
            inner.push(g.int(if step < 0 { IntOp::Sub } else { IntOp::Add }, start, moved));
        }
        Some(vec![ElementRead::of(0, inner)])
    }

    fn cost(&self) -> Option<u32> {
        Some(1)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // Rows 1, 0 and columns 0, 2.
        vec![Example {
            prim: Prim::Slice([-1, 2].into()),
            args: vec![
                Sample::Reals(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.3, -0.7]),
                Sample::Size(1),
                Sample::Size(0),
                Sample::Size(2),
                Sample::Size(2),
            ],
            result: Sample::Reals(&[2, 2], &[1.5, -0.7, 0.5, 2.0]),
        }]
    }
}

impl Structural for Pad<'_> {
    fn name(&self) -> String {
        format!("pad{}", list(self.0))
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        infer(&self.name(), self.0, g, args)
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        batch(Prim::Pad, self.0, g, b)
    }

    fn linear(&self, g: &dyn Types, args: &[Term], _k: usize) -> Option<LinearMap> {
        let starts = &args[1..=self.0.len()];
        Some(LinearMap {
            forward: Applied { prim: Prim::Pad(self.0.into()), rest: args[1..].to_vec() },
            backward: Applied { prim: Prim::Slice(self.0.into()), rest: at(starts, g.shape(args[0])) },
            unread: false,
        })
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let sizes = g.shape(args[0]).to_vec();
        let (mut under, mut inner) = (None, Vec::new());
        for (((&step, &start), &at), &size) in self.0.iter().zip(&args[1..]).zip(at).zip(&sizes) {
            let by = g.lit_usize(usize::try_from(step.unsigned_abs()).ok()?);
            let (from, to) = if step < 0 { (at, start) } else { (start, at) };
            under = Some(quotient(g, under, [from, to], by, size, &mut inner));
        }
        Some(vec![ElementRead { under, ..ElementRead::of(0, inner) }])
    }

    fn cost(&self) -> Option<u32> {
        Some(2)
    }

    #[inline]
    fn examples() -> Vec<Example> {
        vec![Example {
            prim: Prim::Pad([-1, 2].into()),
            args: vec![
                Sample::Reals(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
                Sample::Size(1),
                Sample::Size(0),
                Sample::Size(2),
                Sample::Size(4),
            ],
            result: Sample::Reals(&[2, 4], &[3.0, 0.0, 4.0, 0.0, 1.0, 0.0, 2.0, 0.0]),
        }]
    }
}

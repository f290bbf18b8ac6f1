//! `contract`: a sum of products of two arrays by labelled axes. Contractions are closed under
//! batching and under transposition.

use super::{Applied, Batch, ElementRead, Example, LinearMap, Sample, Structural, arity, summed};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, bad, ensure};
use crate::term::{Contraction, Term, Type};
use std::collections::HashMap;

/// The sum of products with these labels.
pub(super) struct Contract<'a>(pub(super) &'a Contraction);

impl Structural for Contract<'_> {
    fn name(&self) -> String {
        let letters = |ls: &[u8]| ls.iter().map(|&l| char::from(b'i' + l)).collect::<String>();
        let zero = |k: usize| if self.0.absorbs[k] { "0" } else { "" };
        let (a, b, out) = (letters(&self.0.a), letters(&self.0.b), letters(&self.0.out));
        format!("contract[{a}{},{b}{}->{out}]", zero(0), zero(1))
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let c = self.0;
        arity(&self.name(), args, 2)?;
        let ((ea, sa), (eb, sb)) = (g.array(args[0])?, g.array(args[1])?);
        ensure!(ea == eb && ea.is_real(), "a contraction is of reals of one type");
        ensure!(sa.len() == c.a.len() && sb.len() == c.b.len(), "contraction: one label for each axis");
        let mut sizes: [Option<Term>; 256] = [None; 256];
        for (&l, &n) in c.a.iter().zip(sa).chain(c.b.iter().zip(sb)) {
            let slot = &mut sizes[usize::from(l)];
            ensure!(slot.is_none_or(|m| m == n), "contraction: sizes differ");
            *slot = Some(n);
        }
        let distinct = |ls: &[u8]| (0..ls.len()).all(|k| !ls[..k].contains(&ls[k]));
        ensure!(distinct(&c.a) && distinct(&c.b) && distinct(&c.out), "contraction: a label occurs twice");
        ensure!(c.a.iter().all(|l| c.b.contains(l) || c.out.contains(l)), "contraction: a lone label");
        ensure!(c.b.iter().all(|l| c.a.contains(l) || c.out.contains(l)), "contraction: a lone label");
        let shape: Option<Box<[Term]>> = c.out.iter().map(|&l| sizes[usize::from(l)]).collect();
        match shape {
            Some(shape) => Ok(Type::Array(ea, shape)),
            None => bad("contraction: a label of the result is in no operand"),
        }
    }

    fn batch(&self, g: &mut dyn Build, batch: &Batch<'_>) -> Term {
        let c = self.0;
        let label = c.a.iter().chain(&c.b).max().map_or(0, |l| l + 1);
        let with = |ls: &[u8]| -> Box<[u8]> { std::iter::once(label).chain(ls.iter().copied()).collect() };
        let mut spec = c.with(c.a.clone(), c.b.clone(), with(&c.out));
        let (mut a, mut b) = (batch.args[0], batch.args[1]);
        if batch.varies[0] {
            (a, spec.a) = (batch.lifted[0], with(&c.a));
        }
        if batch.varies[1] {
            (b, spec.b) = (batch.lifted[1], with(&c.b));
        }
        g.contract(a, b, spec)
    }

    fn linear(&self, _g: &dyn Types, args: &[Term], k: usize) -> Option<LinearMap> {
        let c = self.0;
        // If zeros of this operand absorb, so do those of its tangent and of the cotangent.
        let of = if k == 0 { c.clone() } else { c.swapped() };
        let absorbs = of.absorbs;
        let (own, other) = (&of.a, &of.b);
        let with = vec![args[1 - k]];
        let forward = Contraction { absorbs, ..Contraction::new(own.clone(), other.clone(), c.out.clone()) };
        let backward = Contraction { absorbs, ..Contraction::new(c.out.clone(), other.clone(), own.clone()) };
        Some(LinearMap {
            forward: Applied { prim: Prim::Contract(forward), rest: with.clone() },
            backward: Applied { prim: Prim::Contract(backward), rest: with },
            unread: false,
        })
    }

    fn reads(&self, g: &mut dyn Build, args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let spec = self.0;
        let (mut places, mut over) = (HashMap::new(), Vec::new());
        places.extend(spec.out.iter().copied().zip(at.iter().copied()));
        for (labels, &arg) in [&spec.a, &spec.b].into_iter().zip(args) {
            for (&label, size) in labels.iter().zip(g.shape(arg).to_vec()) {
                places.entry(label).or_insert_with(|| summed(g, size, &mut over));
            }
        }
        let inner = |labels: &[u8]| labels.iter().map(|label| places[label]).collect();
        let read = |arg, labels: &[u8]| ElementRead { over: over.clone(), ..ElementRead::of(arg, inner(labels)) };
        Some(vec![read(0, &spec.a), read(1, &spec.b)])
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // This is the transpose of the matrix product.
        vec![Example {
            prim: Prim::Contract(Contraction::new([0, 1], [1, 2], [2, 0])),
            args: vec![Sample::Reals(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), Sample::Reals(&[2, 2], &[5.0, 6.0, 7.0, 8.0])],
            result: Sample::Reals(&[2, 2], &[19.0, 43.0, 22.0, 50.0]),
        }]
    }
}

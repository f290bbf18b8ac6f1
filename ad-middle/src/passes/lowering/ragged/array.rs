//! Ragged rows as an array: a vector of all rows, and for each index where its rows begin and how
//! many there are. This module must never read a row that has not been saved: a read after the last
//! row gives zero.

use super::super::row;
use ad_ir::ir::{Graph, Node, Term, axis};
use ad_ir::prim::{Cmp, IntOp};

/// An array in memory, or ragged rows that stand for an array.
#[derive(Clone, Debug)]
pub(super) enum Array {
    Plain(Term),
    Ragged(Box<Ragged>),
}

/// Rows of inner loops: row `j` at the index `i` is `all[first[i] + j]` if `j < steps[i]`, and zero
/// otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Ragged {
    pub(super) first: Array,
    pub(super) steps: Array,
    /// All rows, one after another.
    pub(super) all: Term,
    /// The maximum number of rows at an index. If it is not given, there is at most one row, and
    /// the array has no axis for it.
    pub(super) count: Option<Term>,
}

impl Array {
    /// The element at these indices.
    fn at(&self, g: &mut Graph, index: &[Term]) -> Term {
        match (self, index.split_last()) {
            (Array::Plain(t), None) => *t,
            (Array::Plain(t), Some(_)) => g.index(*t, index),
            (Array::Ragged(rows), Some((&last, index))) => rows.at(g, index, last),
            (Array::Ragged(rows), None) => rows.term(g, &[]),
        }
    }

    fn row(&self, g: &mut Graph, step: Term) -> Array {
        match self {
            Array::Plain(t) => Array::Plain(row(g, *t, step)),
            Array::Ragged(rows) => match rows.row(g, step) {
                Ok(rows) => Array::Ragged(rows.into()),
                Err(element) => Array::Plain(element),
            },
        }
    }

    /// The sizes of all its axes. The elements are scalars.
    fn dims(&self, g: &Graph) -> Vec<Term> {
        match self {
            Array::Plain(t) => g.shape(*t).to_vec(),
            Array::Ragged(rows) => rows.steps.dims(g).into_iter().chain(rows.count).collect(),
        }
    }
}

impl Ragged {
    fn at(&self, g: &mut Graph, index: &[Term], last: Term) -> Term {
        let (first, steps) = (self.first.at(g, index), self.steps.at(g, index));
        let place = g.int(IntOp::Add, first, last);
        let found = g.index(self.all, &[place]);
        let there = g.compare(Cmp::Lt, last, steps);
        let zero = g.zeros_of_any(found);
        g.select(there, found, zero)
    }

    /// The rows at a step. An `Err` has the element, if there is only one axis.
    pub(in super::super) fn row(&self, g: &mut Graph, step: Term) -> Result<Ragged, Term> {
        let (first, steps, number) = if self.count.is_some() {
            (self.first.clone(), self.steps.clone(), step)
        } else {
            (self.first.row(g, step), self.steps.row(g, step), g.lit_usize(0))
        };
        if let (Array::Plain(first), Array::Plain(steps)) = (&first, &steps)
            && g.rank(*steps) == 0
        {
            let place = g.int(IntOp::Add, *first, number);
            let found = g.index(self.all, &[place]);
            let there = g.compare(Cmp::Lt, number, *steps);
            let zero = g.zeros_of_any(found);
            return Err(g.cond(there, found, zero));
        }
        let (first, steps) = match self.count {
            Some(_) => (first.row(g, step), steps.row(g, step)),
            None => (first, steps),
        };
        Ok(Ragged { first, steps, all: self.all, count: self.count })
    }

    /// The array as a term.
    pub(in super::super) fn array(&self, g: &mut Graph) -> Term {
        let dims = self.steps.dims(g);
        self.term(g, &dims)
    }

    /// The array as a term, with these sizes of its outer axes.
    fn term(&self, g: &mut Graph, dims: &[Term]) -> Term {
        let sizes: Vec<Term> = dims.iter().copied().chain(self.count).collect();
        let vars: Vec<_> = sizes.iter().map(|_| g.fresh()).collect();
        let index: Vec<Term> = vars.iter().map(|&v| g.mk(Node::Var(v))).collect();
        let first = self.first.at(g, &index[..dims.len()]);
        let place = match index.get(dims.len()) {
            Some(&last) => g.int(IntOp::Add, first, last),
            None => first,
        };
        let found = g.gather(self.all, sizes.clone().into(), &vars, &[place]);
        let outer: Vec<u8> = (0..dims.len()).map(axis).collect();
        let steps = match &self.steps {
            Array::Plain(t) => *t,
            Array::Ragged(rows) => rows.term(g, &dims[..dims.len() - usize::from(rows.count.is_some())]),
        };
        let (steps, last) = match self.count {
            Some(count) => {
                let last = g.iota(count);
                (g.replicate_axes(steps, &[axis(dims.len())], &[count]), g.replicate_axes(last, &outer, dims))
            }
            None => {
                let none = g.lit_usize(0);
                (steps, g.broadcast(none, dims))
            }
        };
        let there = g.compare(Cmp::Lt, last, steps);
        let rest = g.shape(self.all)[1..].to_vec();
        let inner: Vec<u8> = (sizes.len()..sizes.len() + rest.len()).map(axis).collect();
        let there = g.replicate_axes(there, &inner, &rest);
        let none = g.zeros_of_any(found);
        g.select(there, found, none)
    }
}

//! Copies of arrays with another number of rows, for growable vectors whose capacity changes.
//!
//! This module must never change a row that both arrays have.

use std::collections::HashMap;

use super::lower::Lower;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::Cmp;

/// The maximum number of updates and conditionals that are replayed when the capacity grows.
const MAX_REPLAYED: usize = 12;

impl Lower<'_> {
    /// An array with another number of rows. Additional rows are zeros, which are never read.
    /// Omitted rows are above the length.
    pub(super) fn resize_rows(&mut self, t: Term, capacity: Term) -> Term {
        let n = self.g.shape(t)[0];
        if n == capacity {
            return t;
        }
        if let (Some(n), Some(m)) = (self.g.int_value(n), self.g.int_value(capacity))
            && m < n
        {
            let mut sizes = self.g.shape(t).to_vec();
            sizes[0] = capacity;
            let zero = self.g.lit_usize(0);
            let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
            return self.g.slice(t, &starts, &steps, &sizes);
        }
        let more = self.with_more_rows(t, capacity);
        self.layouts().note_rows(more, &[t]);
        more
    }

    /// Enlarges an array that is a chain of updates: enlarges its base and replays the updates. So
    /// repeated pushes copy it once.
    fn with_more_rows(&mut self, t: Term, capacity: Term) -> Term {
        let mut e = Enlarging { lower: self, capacity, entered: 0, new: HashMap::new() };
        on_demand(&mut e, [t]);
        e.new[&t]
    }

    /// A copy with another number of rows.
    fn copied_into(&mut self, t: Term, capacity: Term) -> Term {
        let n = self.g.shape(t)[0];
        let rest = self.g.shape(t)[1..].to_vec();
        let zero = self.g.zero(self.g.elem(t));
        let none = self.g.broadcast(zero, &rest);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let exists = self.g.compare(Cmp::Lt, i, n);
        let row = self.g.index(t, &[i]);
        let row = self.g.cond(exists, row, none);
        self.g.build(capacity, var, row)
    }
}

struct Enlarging<'l, 'a> {
    lower: &'l mut Lower<'a>,
    capacity: Term,
    /// The number of updates and conditionals that are replayed.
    entered: usize,
    new: HashMap<Term, Term>,
}

impl Memoised for Enlarging<'_, '_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (&mut self.lower.g, &mut self.new)
    }

    fn made(&mut self, &t: &Term) -> Term {
        match *self.lower.g.node_rc(t) {
            Node::Scatter { put, dst, src, ref vars, ref index } => {
                let (dst, vars, index) = (self.new[&dst], vars.clone(), index.clone());
                self.lower.g.mk(Node::Scatter { put, dst, src, vars, index })
            }
            Node::Cond { cond, then, other } => self.lower.g.cond(cond, self.new[&then], self.new[&other]),
            _ => t,
        }
    }
}

impl OnDemand for Enlarging<'_, '_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        let few = self.entered < MAX_REPLAYED;
        match *self.lower.g.node(t) {
            Node::Scatter { put: Put::Set, dst, .. } if few => needs.push(dst),
            Node::Cond { then, other, .. } if few => needs.extend([then, other]),
            _ => {
                let (lower, capacity) = (&mut *self.lower, self.capacity);
                let from = lower.growable.original(t);
                let same = lower.g.shape(from)[0] == capacity;
                let made = if same { from } else { lower.copied_into(from, capacity) };
                lower.growable.add_copy(made, from);
                return Some(made);
            }
        }
        self.entered += 1;
        None
    }
}

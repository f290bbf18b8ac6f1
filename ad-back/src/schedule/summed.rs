//! Sums over items between statements. If a statement that waits for a sum over all items shared a
//! nest with one that rows of these items are computed from, the rows would wait for the sum, and
//! the items could not be tiled. This module does not decide which nest a statement joins.

use std::collections::HashMap;

use super::super::plan::domain_of;
use super::statements::{Shared, Target};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::Prim;

/// A set of sizes that are not literals, by their numbers. Sizes beyond the first 64 are ignored:
/// then more statements share a nest.
type Axes = u64;

/// The axes around a statement, or around all statements of a nest.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    /// The axes of the statement itself.
    own: Axes,
    /// The axes over which the terms that it depends on were summed.
    before: Axes,
    /// The axes of the terms that depend on it.
    after: Axes,
}

impl Around {
    /// Whether one of the two would wait for a sum over an axis that it does not have, although
    /// terms with that axis depend on it.
    pub(super) fn delays(self, other: Self) -> bool {
        let waits = |a: Self, b: Self| (b.before & !a.before) & a.after & !a.own != 0;
        waits(self, other) || waits(other, self)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Around { own: self.own | other.own, before: self.before | other.before, after: self.after | other.after }
    }
}

/// The axes around each statement of a scope.
pub(super) fn around(all: &Shared<'_>, order: &[usize]) -> HashMap<usize, Around> {
    let mut axes = Numbers::default();
    let mut found: HashMap<usize, Around> = HashMap::new();
    let read = |s: usize| all.statements[s].reads.keys().filter_map(|r| all.of_term.get(r).copied());
    for &s in order {
        let before = read(s).map(|r| found.get(&r).map_or(0, |of| of.before) | axes.summed(all, r));
        let before = before.fold(0, |all, axes| all | axes);
        found.insert(s, Around { own: axes.own(all, s), before, after: 0 });
    }
    for &s in order.iter().rev() {
        let of = found[&s];
        for r in read(s) {
            if let Some(read) = found.get_mut(&r) {
                read.after |= of.own | of.after;
            }
        }
    }
    found
}

#[derive(Default)]
struct Numbers(HashMap<Term, u32>);

impl Numbers {
    fn of(&mut self, all: &Shared<'_>, shape: &[Term]) -> Axes {
        let sizes = shape.iter().filter(|&&n| all.g.int_value(n).is_none());
        sizes.fold(0, |axes, &n| {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            axes | 1_u64.checked_shl(*self.0.entry(n).or_insert(next)).unwrap_or(0)
        })
    }

    fn own(&mut self, all: &Shared<'_>, s: usize) -> Axes {
        match all.statements[s].of {
            Target::Term(t) => self.of(all, &domain_of(all.g, t)) | self.of(all, all.g.shape(t)),
            _ => 0,
        }
    }

    /// The axes over which a statement sums. A term that reads elements of an array with other axes
    /// does not wait for all of them.
    fn summed(&mut self, all: &Shared<'_>, s: usize) -> Axes {
        let Target::Term(t) = all.statements[s].of else { return 0 };
        let read: Vec<Term> = match all.g.node(t) {
            Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), args) => args.to_vec(),
            Node::Scatter { src, .. } => vec![*src],
            _ => return 0,
        };
        let read = read.iter().fold(0, |axes, &c| axes | self.of(all, all.g.shape(c)));
        read & !self.of(all, all.g.shape(t))
    }
}

//! Nests that threads share, if the feature `rayon` is on: a nest whose rows are independent,
//! except for sums over them, is a tile of one statement. Its blocks are parts of the arrays as
//! they are.
//!
//! Whether the work is enough for two threads is decided when the program runs. This module must
//! never tile a nest that is written in a faster form otherwise, such as one whose interior has no
//! index tests.

use std::collections::HashSet;

use super::super::plan::{ItemAxis, Work};
use super::super::split::interior;
use super::{Run, SortedMap, SortedSet, TileFinder, blocked};
use ad_ir::choice;
use ad_ir::ir::Term;

impl TileFinder<'_> {
    /// The first of these statements as a tile for threads.
    pub(super) fn shared_nest(&self, order: &[usize]) -> Option<(Run, HashSet<Term>)> {
        let &s = order.first().filter(|_| choice::threads())?;
        let step = &self.plan.steps[s];
        let Work::Nest { domain, items } = &step.work else { return None };
        let n = *domain.first().filter(|n| self.g.int_value(**n).is_none())?;
        let mut run = Run {
            n,
            axis: ItemAxis::First,
            guard: step.guard.clone(),
            steps: vec![s],
            rows: HashSet::new(),
            unpacked: SortedSet::new(),
            late: HashSet::new(),
            fused_scatters: SortedMap::new(),
            before: Vec::new(),
            after: order[1..].to_vec(),
        };
        if !self.joins(&mut run, s) {
            return None;
        }
        let none = SortedMap::new();
        let made = blocked(self.g, self.plan, self.hints, (n, ItemAxis::First), (domain, items), (s, &none))?;
        interior(&made.kernel, &made.items).is_none().then(|| (run, HashSet::new()))
    }
}

//! Tiling over items. An item is an index of an axis of unknown size, for example one of many
//! observations. If each row of an array over items depends on rows of the same item only, a
//! sequence of statements is done for one block of items after the other. So no array over all
//! items is stored, and the forward and the reverse pass of a sum over items become one loop.
//! docs/internals/src/planning.md has the rules.
//!
//! This module decides which statements can be tiled and whether that pays. It must never tile a
//! statement that reads a sum over items, or the row that the tile computes for another item, nor
//! move a statement across a check. Only in pairs of items (`square`) may a statement read the
//! number or the index of an item, or an array from outside as a whole.

mod blocked;
mod layout;
mod products;
mod square;
mod threads;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::in_range::InRange;
use super::items::Item;
use super::kernel::{Kernel, Op};
use super::plan::{Guard, ItemAxis, Plan, Step, TiledStatements, Work};
use super::store::Class;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::prim::{Prim, Reduce};
pub(super) use blocked::{Blocked, Reads, ScatteredItems, blocked, scattered, updated};
use layout::{first_axis, leads};
pub(super) use layout::{is_over, row_of, widths};
pub(super) use products::{ByItems, by_items};
pub(super) use square::BlockTerms;

/// The kernel that takes the extrema of all items of a block.
pub(super) fn extremum(op: Reduce) -> Option<&'static str> {
    match op {
        Reduce::Max => Some("largest_columns"),
        Reduce::Min => Some("smallest_columns"),
        Reduce::ArgMax => Some("places_of_largest"),
        Reduce::ArgMin => Some("places_of_smallest"),
        _ => None,
    }
}

/// A sequence of statements that is tiled, while it is collected.
struct Run {
    n: Term,
    axis: ItemAxis,
    guard: Vec<Guard>,
    steps: Vec<usize>,
    /// Arrays over items.
    rows: HashSet<Term>,
    /// Arrays over items that other statements read too, and that each block unpacks.
    unpacked: SortedSet<Term>,
    /// Terms that are not known before the whole sequence has ended, such as sums over the items,
    /// and terms that depend on them. A statement that reads one of them comes after the sequence.
    late: HashSet<Term>,
    /// Maps each sum over items that is accumulated into the result of a scatter to this scatter.
    fused_scatters: SortedMap<Term, Term>,
    before: Vec<usize>,
    after: Vec<usize>,
}

struct TileFinder<'a> {
    g: &'a Graph,
    plan: &'a Plan,
    hints: &'a HashMap<Term, String>,
    reads: Vec<SortedSet<Term>>,
    /// The facts that hold after all checks.
    known: InRange<'a>,
    /// The nests in the form of a block, by statement, number of items and axis. They are kept,
    /// since a statement is tried again for each sequence that may contain it.
    forms: RefCell<HashMap<(usize, Term, ItemAxis), Option<BlockForm>>>,
}

/// The properties of a nest, in the form that it has in a block, that a sequence needs.
#[derive(Clone)]
struct BlockForm {
    reads: Reads,
    /// The terms that are summed over the items, and those that have a row for each item.
    late: Vec<Term>,
    rows: Vec<Term>,
}

/// Finds the sequences, and moves the statements of each next to each other. All of `checked` is
/// tested somewhere in the routine.
pub(super) fn form(g: &mut Graph, plan: &mut Plan, hints: &HashMap<Term, String>, checked: &[Term]) {
    let count = plan.order.len();
    if plan.order.iter().enumerate().any(|(k, &s)| k != s) {
        return;
    }
    square::add_block_terms(g, plan);
    let g = &*g;
    let mut reads: Vec<SortedSet<Term>> = vec![SortedSet::new(); plan.steps.len()];
    for (&t, steps) in &plan.readers {
        for &s in steps {
            reads[s].insert(t);
        }
    }
    let known = InRange::new(g);
    checked.iter().for_each(|&ok| known.checked(ok));
    let former = TileFinder { g, plan, hints, reads, known, forms: RefCell::default() };
    let mut order: Vec<usize> = (0..count).collect();
    let mut tiles: Vec<TiledStatements> = Vec::new();
    let mut from = 0;
    while from < order.len() {
        match former.run(&order[from..]) {
            Some((run, private)) => {
                let start = from + run.before.len();
                let end = start + run.steps.len();
                let mut new = run.before;
                new.extend(run.steps);
                new.extend(run.after);
                order.splice(from.., new);
                tiles.push(TiledStatements {
                    n: run.n,
                    axis: run.axis,
                    steps: start..end,
                    rows: run.rows,
                    private,
                    unpacked: run.unpacked,
                    fused_scatters: run.fused_scatters,
                });
                from = end;
            }
            None => from += 1,
        }
    }
    if tiles.is_empty() {
        return;
    }
    // Statements are numbered in their order.
    let mut place = vec![0; count];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    for steps in plan.readers.values_mut() {
        for s in steps.iter_mut().filter(|s| **s < count) {
            *s = place[*s];
        }
        steps.sort_unstable();
    }
    let moved: Vec<Step> = order.iter().map(|&old| plan.steps[old].clone()).collect();
    plan.steps.splice(..count, moved);
    plan.tiles = tiles;
}

impl TileFinder<'_> {
    /// The sequence that begins with the first of these statements, if tiling it pays. If several
    /// axes are possible for the items, the one that saves most is taken, and among equals the
    /// first.
    fn run(&self, order: &[usize]) -> Option<(Run, HashSet<Term>)> {
        let first = &self.plan.steps[*order.first()?];
        let mut axes = match &first.work {
            Work::Nest { domain, .. } => domain.clone(),
            Work::Whole(t) => vec![by_items(self.g, self.plan, *t, None)?.0],
            _ => return None,
        };
        axes.retain(|&n| self.g.int_value(n).is_none());
        let mut best: Option<(Run, HashSet<Term>)> = None;
        for (&n, unpacks) in axes.iter().flat_map(|n| [(n, false), (n, true)]) {
            let Some(found) = self.over(order, n, ItemAxis::Last, unpacks) else { continue };
            let more = |(run, own): &(Run, HashSet<Term>)| self.saved(&found.0, &found.1).0 > self.saved(run, own).0;
            if best.as_ref().is_none_or(more) {
                best = Some(found);
            }
        }
        let best = best.filter(|(run, private)| self.pays(run, private));
        // Without a scatter, the arrays of a sequence overwrite each other, and nests over all
        // items are as good.
        let scatters = |run: &Run| {
            let whole = |s: &usize| if let Work::Whole(t) = self.plan.steps[*s].work { Some(t) } else { None };
            run.steps.iter().filter_map(whole).any(|t| matches!(self.g.node(t), Node::Scatter { .. }))
        };
        best.or_else(|| {
            let found = self.over(order, *axes.first()?, ItemAxis::First, false)?;
            (scatters(&found.0) && self.pays(&found.0, &found.1)).then_some(found)
        })
        .or_else(|| self.shared_nest(order))
    }

    /// The sequence over these items.
    fn over(&self, order: &[usize], n: Term, axis: ItemAxis, unpacks: bool) -> Option<(Run, HashSet<Term>)> {
        // An array that statements outside of the sequence read keeps its layout. So the sequence
        // excludes a nest that computes, for such statements, more than one scalar for each item,
        // unless these are unpacked.
        let mut banned: SortedSet<usize> = SortedSet::new();
        loop {
            let mut run = self.collect(order, (n, axis), &banned)?;
            let inside: HashSet<usize> = run.steps.iter().copied().collect();
            let own = |t: &Term| {
                !self.plan.results.contains(t)
                    && self.plan.readers.get(t).is_some_and(|r| r.iter().all(|s| inside.contains(s)))
            };
            let other_layout = |t: &Term| axis == ItemAxis::Last && run.rows.contains(t) && self.g.rank(*t) > 1;
            let mut public: SortedSet<usize> = SortedSet::new();
            let mut unpacked: SortedSet<Term> = SortedSet::new();
            for &s in &run.steps {
                for t in self.plan.results_of(s).into_iter().filter(|t| other_layout(t) && !own(t)) {
                    let nest = matches!(self.plan.steps[s].work, Work::Nest { .. });
                    if unpacks && nest && first_axis(self.g.shape(t), n) == Some(0) {
                        unpacked.insert(t);
                    } else {
                        public.insert(s);
                    }
                }
            }
            // The destination of a fused scatter is memory of the whole sequence: no statement of
            // the sequence may read its earlier state.
            public.extend(run.fused_scatters.values().filter_map(|&t| {
                let Node::Scatter { dst, .. } = self.g.node(t) else { return None };
                let own = self.plan.readers.get(dst).into_iter().flatten().filter(|s| inside.contains(s)).count();
                run.steps.iter().copied().find(|&s| self.plan.results_of(s) == [t]).filter(|_| own > 1)
            }));
            if public.is_empty() {
                let private: HashSet<Term> = run.rows.iter().copied().filter(own).collect();
                let idle = self.idle(&run, &private);
                if idle.is_empty() {
                    run.unpacked = unpacked;
                    return Some((run, private));
                }
                public = idle;
            }
            banned.extend(public);
        }
    }

    /// Statements that gain nothing from being in the sequence. One kind is a product whose matrix
    /// no other product reads. If the sequence saves no array of more than one axis, another kind
    /// is a nest that loops over more than the items, since it would need packing. If nothing is
    /// packed, it is a nest that neither makes nor reads an array of the block.
    fn idle(&self, run: &Run, private: &HashSet<Term>) -> SortedSet<usize> {
        let saved = private.iter().any(|&t| self.g.rank(t) > 1);
        let touches = |s: usize| self.plan.results_of(s).iter().chain(&self.reads[s]).any(|t| private.contains(t));
        let alone = |s: usize| match self.product(run, s) {
            Some((t, rows)) => {
                let readers = run.steps.iter().filter(|&&k| self.product(run, k).is_some_and(|p| p.1 == rows)).count();
                let why = || format!("(%{} is read by {readers} products of the tile, at least 2)", rows.0.index());
                !choose(Kind::TiledProduct, (t.index(), 0), readers > 1, why)
            }
            None if run.axis == ItemAxis::First => matches!(self.plan.steps[s].work, Work::Nest { .. }) && !touches(s),
            None => !saved && matches!(&self.plan.steps[s].work, Work::Nest { domain, .. } if domain.len() > 1),
        };
        run.steps.iter().copied().filter(|&s| alone(s)).collect()
    }

    /// For a statement that is a product with rows of items: the product, the matrix, and which of
    /// its rows is the first.
    fn product(&self, run: &Run, s: usize) -> Option<(Term, (Term, Option<Term>))> {
        let Work::Whole(t) = self.plan.steps[s].work else { return None };
        let matrix = by_items(self.g, self.plan, t, Some(run.n))?.1.matrix;
        Some((t, (matrix.array, matrix.start)))
    }

    /// The gain of tiling: how many arrays over items are no longer stored, of more than one axis
    /// if items are the last axis, and how many matrices are read one time less. Unpacking an array
    /// costs as much as storing one.
    fn saved(&self, run: &Run, private: &HashSet<Term>) -> (usize, usize) {
        let made = private.iter().filter(|&&t| run.axis == ItemAxis::First || self.g.rank(t) > 1).count();
        let mut read: Vec<(Term, Option<Term>)> =
            run.steps.iter().filter_map(|&s| Some(self.product(run, s)?.1)).collect();
        let all = read.len();
        read.sort_unstable();
        read.dedup();
        let made = made.saturating_sub(run.unpacked.len());
        (made + all - read.len(), made)
    }

    /// Whether tiling saves passes over memory.
    fn pays(&self, run: &Run, private: &HashSet<Term>) -> bool {
        let (saved, made) = self.saved(run, private);
        let first = self.plan.results_of(run.steps[0]).first().map_or(0, |t| t.index());
        let why = || {
            format!(
                "over %{} ({} statements; {made} arrays over items are not stored, {} are read once less; \
                 in all at least 1)",
                run.n.index(),
                run.steps.len(),
                saved - made
            )
        };
        choose(Kind::Tiling, (first, run.steps.len()), saved > 0, why)
    }

    /// All statements that can be in one sequence with the first one. A statement between them that
    /// needs no result of the sequence comes before it; one that needs a result comes after it. The
    /// sequence ends at a check, or where memory is handed on.
    fn collect(&self, order: &[usize], (n, axis): (Term, ItemAxis), banned: &SortedSet<usize>) -> Option<Run> {
        let guard = self.plan.steps[order[0]].guard.clone();
        let mut run = Run {
            n,
            axis,
            guard,
            steps: Vec::new(),
            rows: HashSet::new(),
            unpacked: SortedSet::new(),
            late: HashSet::new(),
            fused_scatters: SortedMap::new(),
            before: Vec::new(),
            after: Vec::new(),
        };
        let continues = |run: &Run, s: usize| {
            let Work::Whole(t) = self.plan.steps[s].work else { return false };
            let others = |dst: Term| self.reads[s].iter().all(|&u| u == dst || !run.late.contains(&u));
            self.continued(run, t).is_some_and(others) && self.scatters(run, s, t)
        };
        for (k, &s) in order.iter().enumerate() {
            if matches!(self.plan.steps[s].work, Work::Check(_)) {
                run.after.extend(&order[k..]);
                break;
            }
            let waits = self.reads[s].iter().any(|t| run.late.contains(t));
            if waits
                && !banned.contains(&s)
                && let Some((sum, scatter)) = self.fusible_sum(&run, s)
            {
                run.fused_scatters.insert(sum, scatter);
                run.late.insert(scatter);
                run.steps.push(s);
                continue;
            }
            if waits && !banned.contains(&s) && continues(&run, s) {
                run.late.extend(self.plan.results_of(s));
                run.steps.push(s);
                continue;
            }
            if !waits && !banned.contains(&s) && self.joins(&mut run, s) {
                run.steps.push(s);
                continue;
            }
            if k == 0 {
                return None;
            }
            if waits || self.reads[s].iter().any(|t| run.rows.contains(t)) {
                run.late.extend(self.plan.results_of(s));
                run.after.push(s);
            } else {
                run.before.push(s);
            }
        }
        (run.steps.len() > 1).then_some(run)
    }

    /// Whether the statement can be done in blocks of items. If it can, its results are added to
    /// those of the sequence.
    fn joins(&self, run: &mut Run, s: usize) -> bool {
        let (g, step) = (self.g, &self.plan.steps[s]);
        if step.guard != run.guard {
            return false;
        }
        match &step.work {
            Work::Nest { domain, items } => {
                let Some(form) = self.form_of(s, (run.n, run.axis), (domain, items)) else { return false };
                if !self.can_read(run, &form.reads, domain) {
                    return false;
                }
                run.rows.extend(form.rows);
                run.late.extend(form.late);
                true
            }
            Work::Whole(t) if self.updates(run, s, *t) => {
                run.rows.insert(*t);
                true
            }
            Work::Whole(t) if matches!(g.node(*t), Node::Scatter { .. }) => {
                let fits = self.scatters(run, s, *t);
                if fits {
                    run.late.insert(*t);
                }
                fits
            }
            Work::Whole(t) if matches!(g.node(*t), Node::Prim(Prim::Contract(_), _)) => {
                let Some((_, p)) = by_items(g, self.plan, *t, Some(run.n)) else { return false };
                // An array of the sequence with more than one scalar for each item has another
                // layout, and is not known before the sequence ends.
                if !self.has_row_for_each_item(run, (p.matrix.array, p.matrix.start), &p.row)
                    || run.rows.contains(&p.matrix.array)
                    || (!p.summed && run.rows.contains(&p.vector.array))
                {
                    return false;
                }
                if p.summed { &mut run.late } else { &mut run.rows }.insert(*t);
                true
            }
            Work::Whole(t) => {
                let Node::Prim(Prim::Reduce(op, _), args) = g.node(*t) else { return false };
                if run.axis == ItemAxis::First {
                    return false;
                }
                let own = first_axis(g.shape(args[0]), run.n).is_some() && run.rows.contains(&args[0]);
                let here = leads(g, args[0], run.n) || own;
                let rows = is_over(g, *t, run.n) && here && g.elem(args[0]).is_real();
                let fits = rows && extremum(*op).is_some() && self.plan.class(args[0]) == Class::Buffer;
                if fits {
                    run.rows.insert(*t);
                }
                fits
            }
            _ => false,
        }
    }

    /// The nest of a statement in the form of a block.
    fn form_of(&self, s: usize, to: (Term, ItemAxis), (domain, items): (&[Term], &[Term])) -> Option<BlockForm> {
        if let Some(known) = self.forms.borrow().get(&(s, to.0, to.1)) {
            return known.clone();
        }
        let made = blocked(self.g, self.plan, self.hints, to, (domain, items), (s, &SortedMap::new()));
        let form = made.map(|made| {
            let summed = |t: &Term| made.items.iter().any(|i| sums_over_items(i, *t));
            let (late, rows) = items.iter().copied().partition(summed);
            BlockForm { reads: made.reads, late, rows }
        });
        self.forms.borrow_mut().insert((s, to.0, to.1), form.clone());
        form
    }

    /// Whether a block has what a nest over these sizes reads.
    fn can_read(&self, run: &Run, reads: &Reads, sizes: &[Term]) -> bool {
        reads.inner.iter().all(|t| run.rows.contains(t))
            && !reads.whole.iter().any(|t| run.rows.contains(t))
            && reads.leading.iter().all(|&t| self.has_row_for_each_item(run, (t, None), sizes))
    }

    /// Whether the statement adds values of the items to elements of their own rows, of an array of
    /// the sequence that no other statement reads. It is done in place.
    fn updates(&self, run: &Run, s: usize, t: Term) -> bool {
        let Node::Scatter { dst, src, .. } = *self.g.node(t) else { return false };
        let alone = self.plan.readers.get(&dst).is_some_and(|r| r == &[s]) && !self.plan.results.contains(&dst);
        if run.axis == ItemAxis::First || src == dst || !alone || !run.rows.contains(&dst) {
            return false;
        }
        let made = updated(self.g, self.plan, self.hints, run.n, t);
        made.is_some_and(|made| self.can_read(run, &made.reads, self.g.shape(t)))
    }

    /// Whether the array is proved to have a row for each item, the first one at `start`. The proof
    /// may assume that the sequence has items and that these sizes are not 0. A missing row must
    /// not be invented.
    fn has_row_for_each_item(&self, run: &Run, (t, start): (Term, Option<Term>), sizes: &[Term]) -> bool {
        let mark = self.known.enter(&run.guard);
        let some = self.known.enter_nonempty(&[std::slice::from_ref(&run.n), sizes].concat());
        let there = self.known.fits(start, Some(run.n), self.g.shape(t)[0]);
        some.into_iter().for_each(|mark| self.known.leave(mark));
        self.known.leave(mark);
        there
    }

    /// Whether a scatter of values of the items is done in each block, while these are in the
    /// cache. Its destination is memory of the whole sequence, so no other statement of a sequence
    /// may read the destination.
    fn scatters(&self, run: &Run, s: usize, t: Term) -> bool {
        let (g, plan) = (self.g, self.plan);
        let Node::Scatter { dst, src, .. } = *g.node(t) else { return false };
        let never = |k: usize| matches!(plan.steps[k].work, Work::Whole(u) if matches!(g.node(u), Node::Cond { .. }));
        let alone = plan.readers.get(&dst).is_none_or(|r| r.iter().all(|&k| k == s || never(k)));
        if src == dst || !alone || plan.windows.contains_key(&t) || plan.in_place.contains_key(&t) {
            return false;
        }
        let natural = |b: &Term| run.axis == ItemAxis::First || !run.rows.contains(b) || g.rank(*b) == 1;
        let Some(made) = scattered(g, plan, self.hints, run.n, &[t]) else { return false };
        let sizes = made.kernel.loops.clone();
        if !made.leading.iter().all(|&t| self.has_row_for_each_item(run, (t, None), &sizes)) {
            return false;
        }
        let read = buffers(&made.kernel);
        let mine = read.iter().filter(|b| run.rows.contains(b)).count();
        let why = || format!("(it reads {mine} arrays that the tile computes, at least 1)");
        read.iter().all(natural) && choose(Kind::TiledScatter, (t.index(), 0), mine > 0, why)
    }

    /// For a scatter onto the result of a scatter of the sequence: that result. Both add to the
    /// same memory.
    fn continued(&self, run: &Run, t: Term) -> Option<Term> {
        let Node::Scatter { put: Put::Add, dst, .. } = *self.g.node(t) else { return None };
        let of_run = run.steps.iter().any(|&k| matches!(self.plan.steps[k].work, Work::Whole(u) if u == dst));
        let exact = self.plan.exact.contains(&t) || self.plan.exact.contains(&dst);
        (of_run && matches!(self.g.node(dst), Node::Scatter { .. }) && !exact).then_some(dst)
    }

    /// For a statement that scatters a sum over the items, if nothing else reads the sum and no
    /// decision depends on it: the sum, and the scatter. Only the innermost loops accumulate such a
    /// sum in registers, so the items have to be the last axis.
    fn fusible_sum(&self, run: &Run, s: usize) -> Option<(Term, Term)> {
        if run.axis == ItemAxis::First {
            return None;
        }
        let (g, plan) = (self.g, self.plan);
        let step = &plan.steps[s];
        let Work::Whole(t) = step.work else { return None };
        let Node::Scatter { put: Put::Add, dst, src, .. } = *g.node(t) else { return None };
        let others = || self.reads[s].iter().filter(|&&u| u != src);
        let alone = plan.readers.get(&src).is_some_and(|r| r == &[s]) && !plan.results.contains(&src);
        let decides = plan.exact.contains(&t) || plan.exact.contains(&src);
        // In a block the size of the items' axis is the size of the block, so the result must not
        // have this axis.
        let whole = !g.shape(t).contains(&run.n) && !plan.windows.contains_key(&t) && !plan.in_place.contains_key(&t);
        if step.guard != run.guard
            || !(alone && whole && g.elem(t).is_real() && g.rank(src) > 0 && src != dst)
            || decides
            || !run.late.contains(&src)
            || others().any(|u| run.late.contains(u) || run.rows.contains(u))
        {
            return None;
        }
        let nest = run.steps.iter().copied().find(|&k| self.plan.results_of(k).contains(&src))?;
        let Work::Nest { domain, items } = &plan.steps[nest].work else { return None };
        let mut fused_scatters = run.fused_scatters.clone();
        fused_scatters.insert(src, t);
        blocked(g, plan, self.hints, (run.n, run.axis), (domain, items), (nest, &fused_scatters))?;
        let why = || format!("(an array of {} axes is not stored, at least 2)", g.rank(src));
        choose(Kind::ScatterAccumulate, (t.index(), 0), g.rank(src) > 1, why).then_some((src, t))
    }
}

/// Whether this is a fold over the items, into this term.
fn sums_over_items(item: &Item, t: Term) -> bool {
    matches!(item, Item::Fold { out, added: true, .. } if *out == t)
}

/// The arrays that a kernel reads, in order of appearance.
pub(super) fn buffers(kernel: &Kernel<'_>) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for node in &kernel.nodes {
        if let Op::Load { buf, .. } = node.op
            && !found.contains(&buf)
        {
            found.push(buf);
        }
    }
    found
}

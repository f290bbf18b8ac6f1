//! Reuse of memory: an array whose last use is in a statement may be moved, or overwritten by a
//! result. The memory of an array is not reused if the array is read again, or if the routine does
//! not own it.

use std::collections::{HashMap, HashSet};

use super::super::items::Item;
use super::super::kernel::{Kernel, Op};
use super::super::plan::{Guard, Work};
use super::super::store::Class;
use super::memory::Storage;
use super::state::Driver;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Node, Term};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::opened::LeafRole;

impl Driver<'_> {
    /// Whether the routine owns the array, and statement `k` is its last reader and reads it once,
    /// to move it on.
    pub(super) fn moves(&self, t: Term, k: usize) -> bool {
        let once = match &self.plan.steps[k].work {
            Work::Whole(u) => !self.reads_beside(*u, t),
            _ => false,
        };
        let only = self.plan.uses.get(&t) == Some(&1) && self.plan.readers.get(&t).is_some_and(|r| r == &[k]);
        // If this is the only use, the array is not returned, even if `results` lists it: initial
        // values of loops are listed there too.
        (only && self.last_read(t, k) || once && self.is_dead_after(t, k))
            && choose(Kind::Move, (t.index(), k), true, || "(nothing else reads it)".into())
    }

    /// Whether the routine owns the array, and nothing reads it after step `k`.
    pub(super) fn is_dead_after(&self, t: Term, k: usize) -> bool {
        self.last_read(t, k) && !self.plan.results.contains(&t)
    }

    /// Whether the routine owns the array, and step `k` is its last reader.
    fn last_read(&self, t: Term, k: usize) -> bool {
        matches!(self.memory.hold.get(&t), Some(Storage::Owned | Storage::Stack(_)))
            && (self.inside == 0 || !self.memory.outside.contains(&t))
            && !matches!(self.plan.loops.role(t), Some((_, LeafRole::Carry(_))))
            && self.plan.readers.get(&t).and_then(|r| r.last()) == Some(&k)
            && !self.memory.lent.contains(&t)
    }

    /// Whether the statement of `u` reads `t` in more than one place, or not at all.
    fn reads_beside(&self, u: Term, t: Term) -> bool {
        let mut stack = Vec::new();
        let mut met = 0;
        self.g.node(u).for_each_child(|c| stack.push(c));
        let mut seen: HashSet<Term> = HashSet::new();
        while let Some(c) = stack.pop() {
            if c == t {
                met += 1;
            } else if self.plan.class(c) == Class::View && seen.insert(c) {
                self.g.node(c).for_each_child(|d| stack.push(d));
            }
        }
        met != 1
    }

    /// Arrays whose last use is in a nest and that are read only where a result of the same shape
    /// is written: maps the result to the array whose memory it takes.
    pub(super) fn reused(&self, kernel: &Kernel<'_>, items: &[Item], step: usize) -> HashMap<Term, Term> {
        let mut reused: HashMap<Term, Term> = HashMap::new();
        if self.inside > 0 {
            return reused;
        }
        for item in items {
            let Item::Store { out: Some(out), .. } = item else { continue };
            let found = kernel.nodes.iter().find_map(|node| match &node.op {
                Op::Load { buf, .. } if !reused.contains_key(buf) && self.fits_in(kernel, *buf, *out, step) => {
                    Some(*buf)
                }
                _ => None,
            });
            let why = |buf: Term| format!("%{} (which nothing reads any more)", buf.index());
            if let Some(buf) = found
                && choose(Kind::Reuse, (out.index(), buf.index()), true, || why(buf))
            {
                reused.insert(buf, *out);
            }
        }
        reused
    }

    /// Like [`Driver::reused`], for the nest of a tile, whose arrays have the items last: arrays
    /// that another statement of the tile has computed, and no later one reads.
    pub(super) fn reused_in_block(
        &self,
        kernel: &Kernel<'_>,
        items: &[Item],
        (private, step): (&HashSet<Term>, usize),
    ) -> HashMap<Term, Term> {
        let g = self.g;
        let mut reused: HashMap<Term, Term> = HashMap::new();
        // Sums over other loops are held in registers, if nothing in their nest is overwritten.
        let by_row = |i: &Item| match i {
            Item::Store { .. } => true,
            Item::Fold { reduced, .. } => reduced.last() == Some(&true),
            _ => false,
        };
        if !items.iter().all(by_row) {
            return reused;
        }
        let own = |op: &Op, buf: Term| match op {
            Op::Load { buf: b, sizes, ix } if *b == buf => **sizes == *kernel.loops && **ix == *kernel.identity(),
            _ => true,
        };
        for item in items {
            let Item::Store { out: Some(out), .. } = item else { continue };
            let fits = |buf: &Term| {
                private.contains(buf)
                    && private.contains(out)
                    && self.is_dead_after(*buf, step)
                    && g.elem(*buf) == g.elem(*out)
                    && g.rank(*buf) > 1
                    && !reused.contains_key(buf)
                    && kernel.nodes.iter().all(|node| own(&node.op, *buf))
            };
            let found = kernel.nodes.iter().find_map(|node| match &node.op {
                Op::Load { buf, .. } => Some(*buf).filter(fits),
                _ => None,
            });
            let why = |buf: Term| format!("%{} (which nothing in the block reads any more)", buf.index());
            if let Some(buf) = found
                && choose(Kind::Reuse, (out.index(), buf.index()), true, || why(buf))
            {
                reused.insert(buf, *out);
            }
        }
        reused
    }

    /// An array of the same shape that nothing reads from statement `k` on, for a result that a
    /// kernel writes as a whole: it takes over the memory, whatever its content.
    pub(super) fn dead_memory(&self, t: Term, guard: &[Guard], k: usize) -> Option<Term> {
        let g = self.g;
        let returned = self.destinations.memory.contains_key(&t);
        if self.inside > 0 || self.style.workspace || returned || !guard.is_empty() || g.rank(t) == 0 {
            return None;
        }
        let same = |of: &Term| g.elem(*of) == g.elem(t) && g.shape(*of) == g.shape(t);
        let held = self.memory.hold.iter().filter(|(of, hold)| **hold == Storage::Owned && same(of));
        let of = held.map(|(&of, _)| of).filter(|&of| self.is_dead(of, k)).min()?;
        let why = || format!("%{} (which nothing reads any more)", of.index());
        choose(Kind::Reuse, (t.index(), of.index()), true, why).then_some(of)
    }

    /// Whether the routine owns the array, in a variable of its own, and its last reader was a
    /// kernel before statement `k`. Another statement may have moved it.
    fn is_dead(&self, t: Term, k: usize) -> bool {
        let plan = self.plan;
        let place = |step: usize| plan.order.iter().position(|&s| s == step);
        let kernel = |u: Term| match self.g.node(u) {
            Node::Prim(Prim::Contract(_), _) => true,
            Node::Prim(prim, _) => prim.structural(|s| s.kernel()).flatten().is_some(),
            _ => false,
        };
        let last = plan.readers.get(&t).and_then(|readers| readers.last()).copied();
        let borrowed = last.is_some_and(|s| matches!(plan.steps[s].work, Work::Whole(u) if kernel(u)));
        let made = |s: &usize| match &plan.steps[*s].work {
            Work::Whole(u) => *u == t,
            Work::Nest { items, .. } => items.contains(&t),
            _ => false,
        };
        borrowed
            && last.and_then(place).zip(place(k)).is_some_and(|(last, now)| last < now)
            && plan.order.iter().any(|s| plan.steps[*s].guard.is_empty() && made(s))
            && !plan.results.contains(&t)
            && !plan.tiles.iter().any(|tile| tile.private.contains(&t))
            && !self.memory.storage.contains_key(&t)
            && !self.memory.lent.contains(&t)
            && !self.memory.outside.contains(&t)
            && !self.memory.reused.contains(&t)
    }

    fn fits_in(&self, kernel: &Kernel<'_>, buf: Term, out: Term, step: usize) -> bool {
        let g = self.g;
        self.memory.hold.get(&buf) == Some(&Storage::Owned)
            && self.is_dead_after(buf, step)
            && g.elem(buf) == g.elem(out)
            && g.shape(buf) == g.shape(out)
            && g.shape(buf) == &*kernel.loops
            && kernel.nodes.iter().all(|node| match &node.op {
                Op::Load { buf: b, sizes, ix } if *b == buf => **sizes == *kernel.loops && **ix == *kernel.identity(),
                _ => true,
            })
    }
}

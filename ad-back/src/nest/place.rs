//! The operands of a nest and the position of each node: parameters in order of appearance, uses,
//! and lazy branches. A cheap node is not put into a branch (that would prevent vectorisation of
//! the loop), and an expensive one is not computed outside of it.

use super::super::items::Item;
use super::super::kernel::{Id, Op, operands};
use super::super::rust::stem;
use super::state::{Arg, Arm, Nest, NestRange, RowLoad};
use ad_ir::choice::{Kind, choose_if};
use ad_ir::ir::{Node, Term};

impl Nest<'_, '_> {
    /// Counts uses, from the newest node to the oldest, and collects the parameters: results first,
    /// then operands, in order of appearance.
    pub(super) fn collect_args(&mut self) {
        let mut scalars: Vec<Term> = Vec::new();
        for item in self.items {
            match item {
                // Several scatters may add to one array.
                Item::Store { out: Some(t), .. } | Item::Scatter { out: t, .. } | Item::Block { out: t, .. }
                    if !self.args.contains(&Arg::Out(*t)) =>
                {
                    self.args.push(Arg::Out(*t));
                }
                Item::Fold { out, .. } if self.g.rank(*out) > 0 => self.args.push(Arg::Out(*out)),
                _ => {}
            }
            match item {
                Item::Scatter { sizes, .. } => scalars.extend(sizes),
                Item::Fold { out, .. } | Item::Block { out, .. } => scalars.extend(self.g.shape(*out)),
                Item::Store { .. } => {}
            }
        }
        for root in self.roots() {
            self.uses[root as usize] += 1;
            self.reader_level[root as usize] = self.depth;
        }
        for id in (0..self.k.nodes.len()).rev() {
            if self.uses[id] == 0 {
                continue;
            }
            let level = self.level(u32::try_from(id).unwrap_or(0));
            for c in self.reads(id) {
                self.uses[c as usize] += 1;
                let reader = &mut self.reader_level[c as usize];
                *reader = (*reader).max(level);
            }
        }
        let mut buffers: Vec<Term> = Vec::new();
        for (id, node) in self.k.nodes.iter().enumerate() {
            if self.uses[id] == 0 {
                continue;
            }
            match &node.op {
                Op::Load { buf, sizes, .. } => {
                    if !buffers.contains(buf) && !self.reused.contains_key(buf) {
                        buffers.push(*buf);
                    }
                    scalars.extend(sizes);
                }
                Op::Scalar(t) => scalars.push(*t),
                _ => {}
            }
        }
        scalars.extend(&self.k.loops);
        self.args.extend(buffers.into_iter().map(Arg::Buffer));
        let mut seen: Vec<Term> = Vec::new();
        for t in scalars {
            if !seen.contains(&t) && self.driver.contains_key(&t) {
                seen.push(t);
                self.args.push(Arg::Scalar(t));
            }
        }
        for arg in &self.args {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg else { continue };
            // In the driver's code a name may be one of the user's. In a generated function all
            // names are generated.
            let name = if self.k.loops.is_empty() {
                let name = self.driver[t].clone();
                self.names.reserve(&name.to_string());
                name
            } else {
                let name = self.driver[t].to_string();
                let input = matches!((arg, self.g.node(*t)), (Arg::Buffer(_), Node::Input(_)));
                self.names.fresh(if input { stem(&name, "_data") } else { &name })
            };
            self.arg_names.insert(*t, name);
        }
    }

    /// The branch that each node is computed in: the innermost one that all its uses share, if it
    /// is expensive. Cheap nodes stay outside, where they do not prevent vectorisation of the loop.
    pub(super) fn place_nodes(&mut self) {
        let n = self.k.nodes.len();
        let mut context: Vec<Option<usize>> = vec![None; n];
        for root in self.roots() {
            context[root as usize] = Some(0);
        }
        for id in (0..n).rev() {
            let Some(own) = context[id] else { continue };
            let this = u32::try_from(id).unwrap_or(0);
            let mut meet = |nest: &Self, c: Id, arm: usize| {
                let slot = &mut context[c as usize];
                *slot = Some(slot.map_or(arm, |old| nest.common(old, arm)));
            };
            if let Op::If(c, a, b) = self.k.nodes[id].op {
                meet(self, c, own);
                for (value, arm) in [(a, true), (b, false)] {
                    let number = self.arms.len();
                    let (depth, level) = (self.arms[own].depth + 1, self.level(this));
                    self.arms.push(Arm { parent: own, depth, level, choice: this });
                    self.arm_of.insert((this, arm), number);
                    meet(self, value, number);
                }
            } else {
                for c in self.reads(id) {
                    meet(self, c, own);
                }
            }
        }
        for (id, context) in context.into_iter().enumerate() {
            let Some(mut own) = context else { continue };
            let this = u32::try_from(id).unwrap_or(0);
            let level = self.level(this);
            while own != 0 && self.arms[own].level > level {
                own = self.arms[own].parent;
            }
            let mut place = 0;
            let named = matches!(self.k.nodes[id].op, Op::Var(_) | Op::Lit(_) | Op::Scalar(_));
            let mut expensive = choose_if(!named, Kind::LazyBranch, self.key(id), self.is_expensive(this), String::new);
            for c in self.reads(id) {
                let at = self.place[c as usize];
                if at != 0 && self.arms[at].choice == this {
                    expensive = true;
                } else if self.arms[at].depth > self.arms[place].depth && self.level(c) == level {
                    place = at;
                }
            }
            self.place[id] = if expensive { own } else { place };
        }
    }

    pub(super) fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.arms[a].depth >= self.arms[b].depth {
                a = self.arms[a].parent;
            } else {
                b = self.arms[b].parent;
            }
        }
        a
    }

    pub(super) fn is_expensive(&self, id: Id) -> bool {
        match &self.k.node(id).op {
            Op::Load { sizes, ix, .. } => {
                self.row_load(id).is_none() && !(0..ix.len()).all(|k| self.proven(ix[k], sizes[k]))
            }
            // For a whole block, it costs little more than a division.
            _ if self.is_power(id) && self.level(id) == self.depth => !self.may_be_blocked(),
            _ => self.is_function(id),
        }
    }

    /// Whether the node is an expensive function.
    pub(super) fn is_function(&self, id: Id) -> bool {
        match &self.k.node(id).op {
            Op::Prim(prim, _) => prim.is_expensive(),
            _ => false,
        }
    }

    /// The nodes that the code of a node mentions. For an element of a row this is only the start
    /// of the row.
    pub(super) fn reads(&self, id: usize) -> Vec<Id> {
        let this = u32::try_from(id).unwrap_or(0);
        if matches!(self.k.nodes[id].op, Op::Load { .. })
            && self.level(this) == self.depth
            && let Some(RowLoad { key, column }) = self.row_load(this)
        {
            return key.outer.into_iter().chain(key.base).chain(column).collect();
        }
        operands(&self.k.nodes[id].op)
    }

    pub(super) fn roots(&self) -> Vec<Id> {
        let mut roots: Vec<Id> = self.mask.into_iter().collect();
        if let NestRange::Ragged(end) = *self.part {
            roots.push(end);
        }
        for item in self.items {
            match item {
                Item::Store { out: None, .. } => {}
                Item::Fold { at: Some(ix), value, .. } => {
                    roots.extend(ix);
                    roots.extend(ix);
                    roots.push(*value);
                }
                Item::Store { value, .. } | Item::Fold { value, .. } => roots.push(*value),
                Item::Scatter { out, ix, value, .. } => {
                    match self.scatter_row(*out, ix) {
                        Some(RowLoad { key, column }) => roots.extend(key.outer.iter().chain(&key.base).chain(&column)),
                        // The index is used twice: in the test and as the position.
                        None => roots.extend(ix.iter().chain(ix)),
                    }
                    roots.push(*value);
                }
                Item::Block { ix, value, .. } => {
                    roots.extend(&ix[..ix.len() - 1]);
                    roots.extend(self.tested.iter().map(|t| t.0));
                    roots.extend(self.block_start(ix));
                    roots.push(*value);
                }
            }
        }
        roots
    }

    pub(super) fn level(&self, id: Id) -> usize {
        usize::from(self.k.node(id).level).min(self.depth)
    }
}

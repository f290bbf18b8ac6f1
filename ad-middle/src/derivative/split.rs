//! The split of terms into two stages: the terms that depend on later inputs, and those that do
//! not. The second stage gets the terms of the first that it reads as new inputs. A term that only
//! repeats or rearranges others (`replicate`, a transposition) is computed again in the second
//! stage.
//!
//! This module must never let the second stage compute any other term that the first stage could
//! have computed.

use ad_ir::sorted::SortedSet;
use std::collections::{HashMap, HashSet};

use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Elem, Graph, Node, Term, Type};
use ad_ir::prim::Prim;

use super::computed_again::{Facts, computed_again, is_discrete};

/// A term of the first stage that the second reads.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The term.
    pub term: Term,
    /// The input of the second stage that has its value.
    pub input: Term,
}

/// The state of a split.
pub struct StageSplit<'a> {
    g: &'a mut Graph,
    /// The inputs that the second stage takes.
    inputs: Vec<u32>,
    /// The inputs that both stages take.
    shared: Vec<u32>,
    /// The numbers of these inputs in the second stage, if a term has read them.
    own: HashMap<u32, u32>,
    /// Whether a term depends on these inputs.
    late: HashMap<Term, bool>,
    /// Terms of the second stage.
    done: HashMap<Term, Term>,
    kept: Vec<Kept>,
    /// Conditions of the first stage, where it has ended without a panic.
    instead: HashMap<Term, Term>,
    /// Numbers that the second stage computes again.
    again: SortedSet<Term>,
}

impl Memoised for StageSplit<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        if let Some(instead) = self.instead.get(&t) {
            return self.done[instead];
        }
        let node = self.g.node_rc(t);
        if self.is_border(t, &node) {
            match self.g.ty(t).clone() {
                Type::Array(..) => self.keep(t),
                Type::Tuple(parts) => {
                    let parts: Vec<Term> = (0..parts.len()).map(|k| self.done[&self.g.proj(t, k)]).collect();
                    self.g.tuple(&parts)
                }
            }
        } else if let Node::Scan(_) = &*node {
            let Node::Scan(mut scan) = node.map_children(|c| self.done[&c]) else { return t };
            // Types in a body mention sizes.
            scan.body.params = scan.body.params.iter().map(|ty| self.ty(ty)).collect();
            scan.body.results = self.terms(&scan.body.results).into();
            self.g.mk(Node::Scan(scan))
        } else if node.binders().is_empty() {
            let mapped = node.map_children(|c| self.done[&c]);
            match mapped {
                Node::Proj(tuple, k) => self.g.proj(tuple, k as usize),
                mapped => self.g.mk(mapped),
            }
        } else {
            let (vars, scoped) = self.g.open_binder(&node);
            let scoped = self.terms(&scoped);
            let done = &self.done;
            self.g.rebuild_binder(&node, |c| done[c], &vars, &scoped)
        }
    }
}

impl OnDemand for StageSplit<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if let Some(&instead) = self.instead.get(&t) {
            needs.push(instead);
            return None;
        }
        let node = self.g.node_rc(t);
        if let Some(new) = self.leaf(t, &node) {
            return Some(new);
        }
        if self.is_border(t, &node) {
            // The sizes of a kept term are needed as well.
            match self.g.ty(t).clone() {
                Type::Array(_, shape) => needs.extend(shape),
                Type::Tuple(parts) => needs.extend((0..parts.len()).map(|k| self.g.proj(t, k))),
            }
            return None;
        }
        // A gather at a fixed index binds no variables.
        let binds = !node.binders().is_empty();
        node.for_each_scoped_child(|c, inside| {
            if !inside || !binds {
                needs.push(c);
            }
        });
        None
    }
}

impl<'a> StageSplit<'a> {
    /// A split of terms of this graph at the inputs that only the second stage takes. Both stages
    /// take the inputs that are `shared`.
    pub fn new(g: &'a mut Graph, inputs: Vec<u32>, shared: Vec<u32>) -> Self {
        let (own, late, done) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (kept, instead, again) = (Vec::new(), HashMap::new(), SortedSet::new());
        StageSplit { g, inputs, shared, own, late, done, kept, instead, again }
    }

    /// The number of axes of a term.
    #[must_use]
    pub fn rank(&self, t: Term) -> usize {
        self.g.rank(t)
    }

    /// A further input of the second stage, an array with the type of a term of it. If the size of
    /// its only axis is a number of the first stage, the second reads it off the array.
    pub fn array_like(&mut self, t: Term) -> Term {
        let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
        if let [size] = shape[..]
            && !self.done.contains_key(&size)
        {
            let node = self.g.node_rc(size);
            let own = match &*node {
                Node::Size(k, _) | Node::Input(k) => !self.shared.contains(k),
                Node::Lit(_) => false,
                _ => true,
            };
            if own && self.is_border(size, &node) {
                let array = self.g.add_input(elem, 1);
                let own = self.g.shape(array)[0];
                self.done.insert(size, own);
                return array;
            }
        }
        let shape = self.terms(&shape);
        self.g.add_input_shaped(elem, shape)
    }

    /// Lets the second stage compute conditions and integers again that follow from others. The
    /// first stage has found these conditions to hold.
    pub fn compute_again(&mut self, roots: &[Term], hold: &[Term]) {
        let (facts, borders) = (Facts::of(self.g, hold.iter().copied()), self.borders(roots));
        let (mut wanted, mut kept) = (Vec::new(), SortedSet::new());
        for t in borders {
            if !is_discrete(self.g, t) {
                kept.insert(t);
                continue;
            }
            let instead = if self.g.elem(t) == Elem::Bool { facts.simplified(self.g, t) } else { t };
            if instead != t {
                self.instead.insert(t, instead);
            }
            if !matches!(self.g.node(instead), Node::Lit(_)) {
                wanted.push(instead);
            }
        }
        let (shared, done) = (&self.shared, &self.done);
        let has = |g: &Graph, t: Term| match g.node(t) {
            Node::Input(k) | Node::Size(k, _) => shared.contains(k),
            _ => false,
        };
        let g = &*self.g;
        self.again = computed_again(g, &wanted, kept, &|t| has(g, t) || done.contains_key(&t));
    }

    /// The terms of the first stage that these terms of the second read.
    fn borders(&mut self, roots: &[Term]) -> SortedSet<Term> {
        let (mut found, mut seen, mut open) = (SortedSet::new(), HashSet::new(), roots.to_vec());
        while let Some(t) = open.pop() {
            if !seen.insert(t) || self.done.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            self.g.ty(t).for_each_size(&mut |n| open.push(n));
            match &*node {
                Node::Input(k) | Node::Size(k, _) if self.shared.contains(k) || self.inputs.contains(k) => continue,
                Node::Lit(_) | Node::Var(_) | Node::Param(..) => continue,
                _ => {}
            }
            if self.is_border(t, &node) {
                found.insert(t);
                if let Type::Tuple(parts) = self.g.ty(t).clone() {
                    found.remove(&t);
                    open.extend((0..parts.len()).map(|k| self.g.proj(t, k)));
                }
                continue;
            }
            // Bodies mention records and sizes of the first stage.
            if let Node::Scan(scan) = &*node {
                open.extend(&scan.body.results);
            }
            node.for_each_child(|c| open.push(c));
        }
        found
    }

    /// The terms that the second stage reads of the first, and the numbers of the later inputs in
    /// the second stage.
    #[must_use]
    pub fn into_kept(self) -> (Vec<Kept>, HashMap<u32, u32>) {
        (self.kept, self.own)
    }

    /// Whether a term depends on an input of the second stage.
    pub fn depends_on_later_input(&mut self, t: Term) -> bool {
        if let Some(&late) = self.late.get(&t) {
            return late;
        }
        for t in self.g.reachable(&[t]) {
            if self.late.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            let mut late = match &*node {
                Node::Input(k) | Node::Size(k, _) => self.inputs.contains(k),
                _ => false,
            };
            node.for_each_child(|c| late |= self.late.get(&c) == Some(&true));
            self.late.insert(t, late);
        }
        self.late[&t]
    }

    /// A closed term, in the second stage.
    pub fn closed(&mut self, t: Term) -> Term {
        self.terms(&[t])[0]
    }

    /// The terms in the second stage.
    fn terms(&mut self, roots: &[Term]) -> Vec<Term> {
        on_demand(self, roots.iter().copied());
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// A type with the sizes of the second stage.
    fn ty(&mut self, ty: &Type) -> Type {
        let mut sizes = Vec::new();
        ty.for_each_size(&mut |n| sizes.push(n));
        self.terms(&sizes);
        ty.map_sizes(&mut |n| self.done[&n])
    }

    /// `t` in the second stage, if it needs no rewritten children there.
    fn leaf(&mut self, t: Term, node: &Node) -> Option<Term> {
        match node {
            Node::Lit(_) | Node::Var(_) => Some(t),
            Node::Param(k, ty) => {
                let ty = self.ty(ty);
                Some(self.g.mk(Node::Param(*k, ty)))
            }
            Node::Input(k) | Node::Size(k, _) if self.shared.contains(k) => Some(t),
            Node::Input(k) if self.inputs.contains(k) => {
                let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
                // Sizes that occur in no term of the first stage belong to the second stage.
                let mut known = Vec::new();
                let mut same: Vec<u8> = (0..shape.len()).map(ad_ir::ir::axis).collect();
                for (&size, same) in shape.iter().zip(&mut same) {
                    known.push(match *self.g.node(size) {
                        Node::Size(of, axis) if of == *k => {
                            *same = axis;
                            None
                        }
                        _ => Some(self.closed(size)),
                    });
                }
                let new = self.g.add_input_united(elem, &known, &same);
                if let Node::Input(own) = self.g.node(new) {
                    self.own.insert(*k, *own);
                }
                Some(new)
            }
            Node::Size(k, axis) if self.inputs.contains(k) => {
                let old = self.g.mk(Node::Input(*k));
                let new = self.closed(old);
                match *self.g.node(new) {
                    Node::Input(k) => Some(self.g.mk(Node::Size(k, *axis))),
                    _ => Some(t),
                }
            }
            _ => None,
        }
    }

    /// Whether a term belongs to the first stage and is kept.
    fn is_border(&mut self, t: Term, node: &Node) -> bool {
        let again = self.again.contains(&t);
        if again || self.g.is_open(t) || !self.g.free(t).is_empty() || self.depends_on_later_input(t) {
            return false;
        }
        !matches!(
            node,
            Node::Prim(Prim::Replicate(_) | Prim::Transpose(_) | Prim::Reshape | Prim::Recast | Prim::Iota, _)
        )
    }

    /// A new input for a term of the first stage.
    fn keep(&mut self, t: Term) -> Term {
        let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
        let shape: Vec<Term> = shape.iter().map(|n| self.done[n]).collect();
        let input = self.g.add_input_shaped(elem, shape);
        self.kept.push(Kept { term: t, input });
        input
    }
}

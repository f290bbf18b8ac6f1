//! The position of the item axis in an array that a loop carries for all items of a build at once.
//!
//! Suppose that a step writes one element of each item's array. If the item axis is the first one,
//! the written numbers are not adjacent in memory. If it follows the indexed axes, they are a row.
//! So the item axis follows the indexed axes in arrays whose elements the steps write. In all other
//! arrays it is the first axis.
//!
//! This module must never change a computed value. Each array is transposed before and after the
//! loop, and the chain of its updates is transposed back.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Body, Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::{Binary, Prim};

/// The number of axes of a carried array that precede the item axis. Each write in the body has an
/// index for these axes. 0 if a step does not write elements.
pub(super) fn place(g: &Graph, body: &Body, carry: usize) -> usize {
    written(g, body, carry).unwrap_or(0)
}

/// The minimum number of axes that the body's writes to a carried array index.
fn written(g: &Graph, body: &Body, carry: usize) -> Option<usize> {
    let (mut least, mut begins, mut seen) = (None, false, HashSet::new());
    let mut stack = vec![body.results[carry]];
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let mut found = |axes: usize| least = Some(least.map_or(axes, |n: usize| n.min(axes)));
        match g.node(t) {
            Node::Param(k, _) => begins |= *k as usize == carry,
            Node::Scatter { dst, index, .. } => {
                found(index.len());
                stack.push(*dst);
            }
            Node::Prim(Prim::Binary(Binary::Add), args) => stack.extend(args.iter()),
            Node::Cond { then, other, .. } => stack.extend([*then, *other]),
            Node::Proj(tuple, k) => {
                if let Node::Scan(inner) = g.node(*tuple)
                    && let Some(&init) = inner.init.get(*k as usize)
                {
                    stack.push(init);
                    if let Some(axes) = written(g, &inner.body, *k as usize) {
                        found(axes);
                    }
                }
            }
            _ => {}
        }
    }
    least.filter(|_| begins)
}

/// A write to an array. A write into a transposed array becomes a transposed write, so that a read
/// between two writes reads the carried array.
pub(super) fn written_to(g: &mut Graph, put: Put, dst: Term, src: Term, (vars, index): (&[Var], &[Term])) -> Term {
    let node = g.node_rc(dst);
    let transposition = match node.as_ref() {
        Node::Prim(Prim::Transpose(perm), args) => {
            let fits = perm.iter().enumerate().all(|(k, &a)| k < index.len() || usize::from(a) == k);
            fits.then_some((perm, args[0]))
        }
        _ => None,
    };
    let mut there = index.to_vec();
    let onto = transposition.map_or(dst, |(perm, array)| {
        for (&own, &a) in index.iter().zip(perm.iter()) {
            there[usize::from(a)] = own;
        }
        array
    });
    let made = match put {
        Put::Add => g.scatter(onto, src, vars, &there),
        Put::Set => g.update(onto, src, vars, &there),
    };
    transposition.map_or(made, |(perm, _)| g.transpose(made, perm))
}

/// The array with one axis moved. A chain of updates stays a chain of updates.
pub(super) fn moved(g: &mut Graph, t: Term, from: usize, to: usize) -> Term {
    if from == to {
        return t;
    }
    let mut moving = Move { g, from, to, done: HashMap::new() };
    on_demand(&mut moving, [t]);
    moving.done[&t]
}

struct Move<'g> {
    g: &'g mut Graph,
    from: usize,
    to: usize,
    done: HashMap<Term, Term>,
}

impl Memoised for Move<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        match &*node {
            Node::Scatter { put, dst, src, .. } => {
                let (vars, mut index) = self.g.open_binder(&node);
                let item = index.remove(self.from);
                index.insert(self.to, item);
                written_to(self.g, *put, self.done[dst], *src, (&vars, &index))
            }
            Node::Cond { cond, then, other } => self.g.cond(*cond, self.done[then], self.done[other]),
            Node::Prim(_, args) => self.g.add(self.done[&args[0]], self.done[&args[1]]),
            _ => self.transposed(t),
        }
    }
}

impl OnDemand for Move<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        let first = self.moved_first(t);
        if first.is_empty() {
            return Some(self.transposed(t));
        }
        needs.extend(first);
        None
    }
}

impl Move<'_> {
    /// The arrays of which the axis is moved instead of that of an update, a conditional or a sum.
    fn moved_first(&self, t: Term) -> Vec<Term> {
        match self.g.node(t) {
            Node::Scatter { dst, index, .. } if index.len() > self.from.max(self.to) => vec![*dst],
            Node::Cond { then, other, .. } => vec![*then, *other],
            Node::Prim(Prim::Binary(Binary::Add), args) => args.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Any other array, transposed.
    fn transposed(&mut self, t: Term) -> Term {
        let mut perm: Vec<u8> = (0..self.g.rank(t)).map(axis).collect();
        let item = perm.remove(self.from);
        perm.insert(self.to, item);
        let node = self.g.node_rc(t);
        if let Node::Prim(Prim::Transpose(before), args) = &*node {
            let both: Vec<u8> = perm.iter().map(|&a| before[usize::from(a)]).collect();
            return self.g.transpose(args[0], &both);
        }
        self.g.transpose(t, &perm)
    }
}

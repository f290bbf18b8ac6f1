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

use ad_ir::ir::{Body, Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::{Binary, Prim};

/// The number of axes of a carried array that precede the item axis: those that each write of the
/// body indexes. `None` if a step does not write elements.
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

/// The maximum nesting of sums and conditionals of updates that is followed.
const DEEP: usize = 32;

/// The array with one axis moved. A chain of updates stays a chain of updates.
pub(super) fn moved(g: &mut Graph, t: Term, from: usize, to: usize) -> Term {
    if from == to { t } else { Move { from, to, done: HashMap::new() }.at(g, t, DEEP) }
}

struct Move {
    from: usize,
    to: usize,
    done: HashMap<Term, Term>,
}

impl Move {
    fn at(&mut self, g: &mut Graph, t: Term, deep: usize) -> Term {
        // A chain of updates may be as long as the body, so a loop follows it, and not a recursion.
        let mut updates = Vec::new();
        let mut first = t;
        while let Node::Scatter { dst, index, .. } = g.node(first)
            && !self.done.contains_key(&first)
            && index.len() > self.from.max(self.to)
        {
            updates.push(first);
            first = *dst;
        }
        let mut made = match self.done.get(&first) {
            Some(&made) => made,
            None => self.whole(g, first, deep),
        };
        self.done.insert(first, made);
        for update in updates.into_iter().rev() {
            let node = g.node_rc(update);
            let Node::Scatter { put, src, .. } = &*node else { continue };
            let (vars, mut index) = g.open_binder(&node);
            let item = index.remove(self.from);
            index.insert(self.to, item);
            made = written_to(g, *put, made, *src, (&vars, &index));
            self.done.insert(update, made);
        }
        made
    }

    /// Moves the axis of a term that is no update.
    fn whole(&mut self, g: &mut Graph, t: Term, deep: usize) -> Term {
        let mut perm: Vec<u8> = (0..g.rank(t)).map(axis).collect();
        let item = perm.remove(self.from);
        perm.insert(self.to, item);
        match g.node_rc(t).as_ref() {
            Node::Prim(Prim::Transpose(before), args) => {
                let both: Vec<u8> = perm.iter().map(|&a| before[usize::from(a)]).collect();
                g.transpose(args[0], &both)
            }
            Node::Cond { cond, then, other } if deep > 0 => {
                let (then, other) = (self.at(g, *then, deep - 1), self.at(g, *other, deep - 1));
                g.cond(*cond, then, other)
            }
            Node::Prim(Prim::Binary(Binary::Add), args) if deep > 0 => {
                let (a, b) = (self.at(g, args[0], deep - 1), self.at(g, args[1], deep - 1));
                g.add(a, b)
            }
            _ => g.transpose(t, &perm),
        }
    }
}

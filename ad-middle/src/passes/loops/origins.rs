//! Where the integers of a loop's body come from. A body is closed: what it reads from outside is a
//! parameter, and so `i` and `i + 1` may be two parameters that have nothing in common. Here an
//! integer of the body is written as a term over sizes and over what the loops around give it, so
//! that inequalities between such terms can be proved.
//!
//! The terms that this module makes never become part of the program.

use std::collections::HashMap;

use ad_ir::ir::{Elem, Graph, Node, Scan, Term};
use ad_ir::prim::Prim;

/// The maximum number of operations of an integer.
const MAX_OPERATIONS: usize = 16;

/// What the body of a loop reads from outside, and its number of steps.
pub(crate) struct Enclosing {
    carries: usize,
    captures: Box<[Term]>,
    xs: Box<[Term]>,
    count: Term,
}

impl Enclosing {
    pub(crate) fn new(scan: &Scan) -> Self {
        let Scan { init, captures, xs, count, .. } = scan;
        Enclosing { carries: init.len(), captures: captures.clone(), xs: xs.clone(), count: *count }
    }

    /// The number of carried values.
    pub(crate) fn carries(&self) -> usize {
        self.carries
    }
}

/// The origins of integers in the body of the innermost of these loops.
pub(super) struct Origins<'a> {
    around: &'a [Enclosing],
    own: Enclosing,
    /// The integers that loops give to their bodies, by the depth of the loop and the number of the
    /// parameter: a placeholder for each.
    given: HashMap<(usize, usize), Term>,
}

impl<'a> Origins<'a> {
    /// `around` are the loops around the loop, the outermost first. The parameters of the loop's
    /// body must not change afterwards.
    pub(super) fn new(around: &'a [Enclosing], scan: &Scan) -> Self {
        Origins { around, own: Enclosing::new(scan), given: HashMap::new() }
    }

    fn at_depth(&self, depth: usize) -> &Enclosing {
        self.around.get(depth).unwrap_or(&self.own)
    }

    /// A `usize` of the body over sizes and placeholders. `None` if it is not made of these by
    /// arithmetic, or if it differs between the steps of the loop in another way than their number.
    pub(super) fn of(&mut self, g: &mut Graph, t: Term) -> Option<Term> {
        self.found(g, t, self.around.len(), &mut 0)
    }

    fn found(&mut self, g: &mut Graph, t: Term, depth: usize, operations: &mut usize) -> Option<Term> {
        *operations += 1;
        if *operations > MAX_OPERATIONS || g.rank(t) > 0 || g.elem(t) != Elem::USIZE {
            return None;
        }
        match g.node(t).clone() {
            _ if g.is_closed(t) => Some(t),
            // The index of a build around is a number like that of a step.
            Node::Var(var) => var.is_fresh().then_some(t),
            Node::Param(k, _) => {
                let (k, of) = (k as usize, self.at_depth(depth));
                if let Some(&t) = k.checked_sub(of.carries).and_then(|k| of.captures.get(k)) {
                    return self.found(g, t, depth.checked_sub(1)?, operations);
                }
                if depth == self.around.len() && !self.is_step(g, depth, k) {
                    return None;
                }
                Some(*self.given.entry((depth, k)).or_insert_with(|| {
                    let var = g.fresh();
                    g.mk(Node::Var(var))
                }))
            }
            Node::Prim(Prim::Int(op), args) => {
                let a = self.found(g, args[0], depth, operations)?;
                let b = self.found(g, args[1], depth, operations)?;
                Some(g.int(op, a, b))
            }
            _ => None,
        }
    }

    /// Whether the parameter of the loop at this depth is the number of its step.
    fn is_step(&self, g: &Graph, depth: usize, k: usize) -> bool {
        let of = self.at_depth(depth);
        let x = k.checked_sub(of.carries + of.captures.len()).and_then(|k| of.xs.get(k));
        x.is_some_and(|&x| matches!(g.node(x), Node::Prim(Prim::Iota, _)))
    }

    /// The number of steps of the loop whose step this placeholder is; `None` if it is another
    /// integer.
    pub(super) fn count(&self, g: &Graph, placeholder: Term) -> Option<Term> {
        let (&(depth, k), _) = self.given.iter().find(|(_, t)| **t == placeholder)?;
        self.is_step(g, depth, k).then(|| self.at_depth(depth).count)
    }

    /// An integer over placeholders, at another step of the loop itself.
    pub(super) fn at_step(&self, g: &mut Graph, t: Term, step: Term) -> Term {
        let own = self.given.iter().filter(|((depth, _), _)| *depth == self.around.len());
        let new: HashMap<Term, Term> = own.map(|(_, &placeholder)| (placeholder, step)).collect();
        g.replaced(&[t], new)[0]
    }
}

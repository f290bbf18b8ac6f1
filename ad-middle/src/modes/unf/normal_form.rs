//! To unary normal form (UNF Fig. 9): the terms of a function, in an order in which each comes
//! after those that it reads, are the steps of a composition.
//!
//! `build1 n (\i. e)` is a `map2` over the index and over the rows of arrays: a read `x[f(i)]` in e
//! of an array that does not depend on i is the row i of the array `gather [n] x (\i. f(i))`, which
//! is an argument of the map. So the transposed Jacobian of the read is one scatter, and not a sum
//! over i of arrays of the size of x. If e has a loop, the build becomes a loop over i, so that
//! each array has one sum of cotangents that all elements add to.
//!
//! This module must never simplify a term, and never examine a whole function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ad_ir::analysis::Analyses;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::Prim;

use super::source::{Composition, Map, Primitive, Step, Variable};
use super::{Refusal, fold};
use crate::modes::as_loops::{AsLoops, has_tuples};
use crate::modes::operation::operation;

/// A variable of the environment, whether it is active, and its primal term.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) variable: Variable,
    pub(super) active: bool,
    pub(super) primal: Term,
}

/// The state of one translation.
pub(super) struct Normaliser<'g> {
    pub(super) g: &'g mut Graph,
    /// Sizes are parts of types, so their terms do not change.
    sizes: Rc<HashSet<Term>>,
    opened: HashMap<Term, Rc<Opened>>,
    loops: AsLoops,
    /// The terms that the mode does not take.
    pub(super) refused: Vec<(Term, Refusal)>,
}

/// A build with its scope opened.
struct Opened {
    size: Term,
    var: Var,
    body: Term,
    /// The terms of the body that do not depend on the index, and those that read an array at the
    /// index, with the term outside that they stand for.
    leaves: Vec<(Term, Outside)>,
}

#[derive(Clone, Copy)]
enum Outside {
    Same,
    /// The rows of this array, as many as the build has elements.
    Rows(Term),
}

impl<'g> Normaliser<'g> {
    pub(super) fn new(g: &'g mut Graph, roots: &[Term]) -> Self {
        let sizes = Analyses::default().get::<Sizes>(g, roots);
        Normaliser { g, sizes, opened: HashMap::new(), loops: AsLoops::default(), refused: Vec::new() }
    }

    /// The composition that computes these terms, in an environment of these variables. The inputs
    /// `active` are variables too.
    pub(super) fn compose(&mut self, roots: &[Term], variables: &HashMap<Term, Entry>, active: &[u32]) -> Composition {
        let mut out = Composition::default();
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, entered)) = stack.pop() {
            if out.positions.contains_key(&t) {
                continue;
            }
            if !entered {
                stack.push((t, true));
                let children = self.children(t, variables);
                stack.extend(children.into_iter().rev().map(|c| (c, false)));
                continue;
            }
            let here = self.g.loc(t);
            let before = self.g.at(here);
            let step = self.step(t, variables, active, &out);
            self.g.at(before);
            debug_assert_eq!(self.g.ty(t), self.g.ty(step.primal));
            out.positions.insert(t, out.steps.len());
            out.steps.push(step);
        }
        out.results = roots.iter().map(|t| out.positions[t]).collect();
        out
    }

    /// The terms that come before a term in a composition.
    fn children(&mut self, t: Term, variables: &HashMap<Term, Entry>) -> Vec<Term> {
        if variables.contains_key(&t) || self.sizes.contains(&t) {
            return Vec::new();
        }
        match self.g.node(t).clone() {
            Node::Build { .. } => match self.as_loop(t) {
                Some(rows) => vec![rows],
                None => {
                    let outside = |&(t, outside): &(Term, Outside)| match outside {
                        Outside::Same => t,
                        Outside::Rows(rows) => rows,
                    };
                    self.opened(t).leaves.iter().map(outside).collect()
                }
            },
            Node::Scan(s) if has_tuples(&s) => vec![self.loops.over_components(self.g, t, *s)],
            Node::Scan(s) => s.init.iter().chain(&s.captures).chain(&s.xs).copied().collect(),
            node => {
                let mut all = Vec::new();
                node.for_each_child(|c| all.push(c));
                all
            }
        }
    }

    fn step(&mut self, t: Term, variables: &HashMap<Term, Entry>, inputs: &[u32], out: &Composition) -> Step {
        let constant = |primal| Step { term: t, primal, primitive: Primitive::Constant, active: false };
        if let Some(entry) = variables.get(&t) {
            let primitive = Primitive::Variable(entry.variable);
            return Step { term: t, primal: entry.primal, primitive, active: entry.active };
        }
        if self.sizes.contains(&t) {
            return constant(t);
        }
        let node = self.g.node_rc(t);
        match &*node {
            Node::Build { .. } => return self.map(t, out),
            Node::Scan(scan) if has_tuples(scan) => return self.same(t, out),
            Node::Scan(scan) => return fold::step(self, t, scan, out),
            Node::Input(k) if inputs.contains(k) => {
                let primitive = Primitive::Variable(Variable::Input(*k));
                return Step { term: t, primal: t, primitive, active: true };
            }
            _ => {}
        }
        let primal = self.g.mk(node.map_children(|c| out.primal_of(c)));
        let mut read = Vec::new();
        node.for_each_child(|c| read.push(out.positions.get(&c).copied()));
        let active: Vec<Option<usize>> = read.iter().map(|&at| at.filter(|&at| out.active(at))).collect();
        let reads_active = active.iter().any(Option::is_some);
        // The record of a call is not real itself, but results are read from it.
        if reads_active && matches!(&*node, Node::Prim(Prim::Call(_), _)) {
            self.refused.push((t, Refusal::Call));
            return constant(primal);
        }
        if !reads_active || !self.g.ty(t).has_real() {
            return constant(primal);
        }
        let all = || read.iter().map(|at| at.unwrap_or(usize::MAX)).collect::<Vec<usize>>();
        let primitive = match self.g.node(primal).clone() {
            Node::Tuple(_) => Primitive::Pair(all()),
            Node::Proj(_, k) => Primitive::Component(all()[0], k as usize),
            Node::Cond { cond, .. } => Primitive::Conditional { condition: cond, then: all()[1], other: all()[2] },
            Node::Prim(Prim::Select, args) => Primitive::Choice { mask: args[0], then: all()[1], other: all()[2] },
            Node::Prim(Prim::Stack, _) => Primitive::Stack(all()),
            Node::Scatter { put: Put::Set, src, vars, index, .. } => {
                Primitive::Update { onto: all()[0], put: all()[1], written: src, vars, index }
            }
            Node::Prim(Prim::Call(_) | Prim::Returned(..) | Prim::Onto(..), _) => {
                self.refused.push((t, Refusal::Call));
                return constant(primal);
            }
            Node::Prim(Prim::Derived(_), _) => {
                self.refused.push((t, Refusal::Derived));
                return constant(primal);
            }
            _ => match operation(self.g, primal, &active) {
                Some(operation) => Primitive::Operation(operation),
                None => return constant(primal),
            },
        };
        Step { term: t, primal, primitive, active: true }
    }

    /// `map2`: the body in the environment of the values and rows that it reads.
    fn map(&mut self, t: Term, out: &Composition) -> Step {
        if self.as_loop(t).is_some() {
            return self.same(t, out);
        }
        let opened = self.opened(t);
        let mut variables = HashMap::new();
        for &(inside, outside) in &opened.leaves {
            let entry = match outside {
                Outside::Same => {
                    let at = out.positions[&inside];
                    Entry { variable: Variable::Outer(at), active: out.active(at), primal: out.primal(at) }
                }
                Outside::Rows(rows) => {
                    let at = out.positions[&rows];
                    // Only the array that is read may have another primal term.
                    let node = self.g.node_rc(inside);
                    let Node::Gather { src, .. } = *node else { continue };
                    let primal = self.g.mk(node.map_children(|c| if c == src { out.primal_of(c) } else { c }));
                    Entry { variable: Variable::Row(at), active: out.active(at), primal }
                }
            };
            variables.insert(inside, entry);
        }
        let body = self.compose(&[opened.body], &variables, &[]);
        let element = body.results[0];
        let active = body.active(element);
        let primal = self.g.build(opened.size, opened.var, body.primal(element));
        let map = Map { size: opened.size, var: opened.var, body };
        let primitive = if active { Primitive::Map(Box::new(map)) } else { Primitive::Constant };
        Step { term: t, primal, primitive, active }
    }

    /// A term that is computed as another one.
    fn same(&self, t: Term, out: &Composition) -> Step {
        let at = out.positions[&self.loops.of(t)];
        Step { term: t, primal: out.primal(at), primitive: Primitive::Same(at), active: out.active(at) }
    }

    /// The rows of a loop over the index, for a build with a loop in it.
    fn as_loop(&mut self, t: Term) -> Option<Term> {
        let opened = self.opened(t);
        self.loops.of_build(self.g, t, opened.var, [opened.size, opened.body])
    }

    fn opened(&mut self, t: Term) -> Rc<Opened> {
        if let Some(opened) = self.opened.get(&t) {
            return Rc::clone(opened);
        }
        let node = self.g.node_rc(t);
        let Node::Build { size, .. } = *node else { panic!("a build is opened") };
        let (vars, scoped) = self.g.open_binder(&node);
        let (var, body) = (vars[0], scoped[0]);
        let (mut leaves, mut seen) = (Vec::new(), HashSet::new());
        let mut stack = vec![body];
        while let Some(s) = stack.pop() {
            if !seen.insert(s) {
                continue;
            }
            if !self.g.mentions(s, var) {
                leaves.push((s, Outside::Same));
                continue;
            }
            match self.g.node(s).clone() {
                Node::Gather { src, .. } if !self.g.mentions(src, var) && self.g.elem(s).is_real() => {
                    let rows = self.rows(s, var, size);
                    leaves.push((s, Outside::Rows(rows)));
                }
                Node::Build { .. } => {
                    let inner = self.opened(s);
                    stack.extend(inner.leaves.iter().map(|&(t, outside)| match outside {
                        Outside::Same => t,
                        Outside::Rows(rows) => rows,
                    }));
                }
                node => node.for_each_child(|c| stack.push(c)),
            }
        }
        let opened = Rc::new(Opened { size, var, body, leaves });
        self.opened.insert(t, Rc::clone(&opened));
        opened
    }

    /// `gather` with the index of a build as one more variable.
    fn rows(&mut self, read: Term, var: Var, size: Term) -> Term {
        let node = self.g.node_rc(read);
        let Node::Gather { src, sizes, .. } = &*node else { panic!("a read is a gather") };
        let (mut vars, index) = if node.binders().is_empty() {
            let mut index = Vec::new();
            node.for_each_scoped_child(|c, inside| {
                if inside {
                    index.push(c);
                }
            });
            (Vec::new(), index)
        } else {
            self.g.open_binder(&node)
        };
        let own = self.g.fresh();
        let own_term = self.g.mk(Node::Var(own));
        let index = self.g.subst_vars_all(&index, &[(var, own_term)]);
        vars.insert(0, own);
        let sizes = std::iter::once(size).chain(sizes.iter().copied()).collect();
        self.g.gather(*src, sizes, &vars, &index)
    }
}

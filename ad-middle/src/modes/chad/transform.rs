//! CHAD: a program becomes the pairs of its terms' values and their linear functions (CHAD section
//! 7.3 to 7.5, and section 10 for arrays). There is one rule for each form of the core language.
//!
//! The context of an element `e` of `build1 n (\i. e)` are the terms of `e` that do not depend on
//! i. They are bound outside. If `e` has a loop with a derivative, the build becomes a loop over i
//! first, so that the elements add to one sum of cotangents for each array.
//!
//! This module must never simplify a term, and never examine a whole function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ad_ir::analysis::Analyses;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Graph, Node, Put, Term, Var};
use ad_ir::prim::Prim;

use super::lfun::{Bound, Elements, LFun, Lets, Variable};
use super::{Refusal, fold};
use crate::modes::as_loops::{AsLoops, has_tuples};
use crate::modes::operation::operation;

/// The facts that are known about a variable of a context.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) variable: Variable,
    pub(super) active: bool,
    pub(super) primal: Term,
}

/// The state of one transformation.
pub(super) struct Transform<'g> {
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
    element: Term,
    /// The context: the largest terms of the element that do not depend on the index.
    context: Vec<Term>,
}

impl<'g> Transform<'g> {
    pub(super) fn new(g: &'g mut Graph, roots: &[Term]) -> Self {
        let sizes = Analyses::default().get::<Sizes>(g, roots);
        Transform { g, sizes, opened: HashMap::new(), loops: AsLoops::default(), refused: Vec::new() }
    }

    /// `D(t)` of these terms, in a context of these variables and of the inputs `active`.
    pub(super) fn program(&mut self, roots: &[Term], context: &HashMap<Term, Known>, active: &[u32]) -> Lets {
        let mut out = Lets::default();
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, entered)) = stack.pop() {
            if out.numbers.contains_key(&t) {
                continue;
            }
            if !entered {
                stack.push((t, true));
                let subterms = self.subterms(t, context);
                stack.extend(subterms.into_iter().rev().map(|c| (c, false)));
                continue;
            }
            let here = self.g.loc(t);
            let before = self.g.at(here);
            let (primal, dual) = self.pair(t, context, active, &out);
            self.g.at(before);
            debug_assert_eq!(self.g.ty(t), self.g.ty(primal));
            out.numbers.insert(t, out.bound.len());
            out.bound.push(Bound { term: t, primal, dual });
        }
        out.results = roots.iter().map(|t| out.numbers[t]).collect();
        out
    }

    /// The terms that are bound before a term.
    fn subterms(&mut self, t: Term, context: &HashMap<Term, Known>) -> Vec<Term> {
        if context.contains_key(&t) || self.sizes.contains(&t) {
            return Vec::new();
        }
        match self.g.node(t).clone() {
            Node::Build { .. } => match self.as_loop(t) {
                Some(rows) => vec![rows],
                None => self.opened(t).context.clone(),
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

    /// `D(t)`: the value of a term, and its linear function.
    fn pair(&mut self, t: Term, context: &HashMap<Term, Known>, inputs: &[u32], out: &Lets) -> (Term, LFun) {
        if let Some(known) = context.get(&t) {
            let dual = if known.active { LFun::Variable(known.variable) } else { LFun::Zero };
            return (known.primal, dual);
        }
        if self.sizes.contains(&t) {
            return (t, LFun::Zero);
        }
        let node = self.g.node_rc(t);
        match &*node {
            Node::Build { .. } if self.as_loop(t).is_some() => return self.same(t, out),
            Node::Build { .. } => return self.build(t, out),
            Node::Scan(scan) if has_tuples(scan) => return self.same(t, out),
            Node::Scan(scan) => return fold::pair(self, t, scan, out),
            Node::Input(k) if inputs.contains(k) => return (t, LFun::Variable(Variable::Input(*k))),
            _ => {}
        }
        let primal = self.g.mk(node.map_children(|c| out.primal_of(c)));
        let mut read = Vec::new();
        node.for_each_child(|c| read.push(out.numbers.get(&c).copied()));
        let active: Vec<Option<usize>> = read.iter().map(|&k| k.filter(|&k| out.is_active(k))).collect();
        let reads_active = active.iter().any(Option::is_some);
        // The record of a call has no cotangent itself, but results are read from it.
        if reads_active && matches!(&*node, Node::Prim(Prim::Call(_), _)) {
            self.refused.push((t, Refusal::Call));
            return (primal, LFun::Zero);
        }
        if !reads_active || !self.g.ty(t).has_real() {
            return (primal, LFun::Zero);
        }
        let all = || read.iter().map(|k| k.unwrap_or(usize::MAX)).collect::<Vec<usize>>();
        let dual = match self.g.node(primal).clone() {
            Node::Tuple(_) => LFun::Pair(all()),
            Node::Proj(_, k) => LFun::Component(all()[0], k as usize),
            Node::Cond { cond, .. } => LFun::Case { condition: cond, then: all()[1], other: all()[2] },
            Node::Prim(Prim::Select, args) => LFun::Choice { mask: args[0], then: all()[1], other: all()[2] },
            Node::Prim(Prim::Stack, _) => LFun::Stack(all()),
            Node::Gather { .. } => LFun::Evaluation { of: all()[0], read: primal },
            Node::Scatter { put: Put::Set, src, vars, index, .. } => {
                LFun::Update { onto: all()[0], put: all()[1], written: src, vars, index }
            }
            Node::Prim(Prim::Call(_) | Prim::Returned(..) | Prim::Onto(..), _) => {
                self.refused.push((t, Refusal::Call));
                LFun::Zero
            }
            Node::Prim(Prim::Derived(_), _) => {
                self.refused.push((t, Refusal::Derived));
                LFun::Zero
            }
            _ => operation(self.g, primal, &active).map_or(LFun::Zero, LFun::Dop),
        };
        (primal, dual)
    }

    /// `D(build1 n (\i. e)) = <build1 n (\i. fst D(e)), Dbuild (\i. snd D(e))>`.
    fn build(&mut self, t: Term, out: &Lets) -> (Term, LFun) {
        let opened = self.opened(t);
        let known = |&inside: &Term| {
            let number = out.numbers[&inside];
            let variable = Variable::Outer(number);
            (inside, Known { variable, active: out.is_active(number), primal: out.primal(number) })
        };
        let context = opened.context.iter().map(known).collect();
        let body = self.program(&[opened.element], &context, &[]);
        let element = body.results[0];
        let primal = self.g.build(opened.size, opened.var, body.primal(element));
        if !body.is_active(element) {
            return (primal, LFun::Zero);
        }
        (primal, LFun::Build(Box::new(Elements { size: opened.size, var: opened.var, body })))
    }

    /// A term that is bound as another one.
    fn same(&self, t: Term, out: &Lets) -> (Term, LFun) {
        let number = out.numbers[&self.loops.of(t)];
        let dual = if out.is_active(number) { LFun::Same(number) } else { LFun::Zero };
        (out.primal(number), dual)
    }

    /// The rows of a loop over the index, for a build with a loop in it.
    fn as_loop(&mut self, t: Term) -> Option<Term> {
        let opened = self.opened(t);
        self.loops.of_build(self.g, t, opened.var, [opened.size, opened.element])
    }

    fn opened(&mut self, t: Term) -> Rc<Opened> {
        if let Some(opened) = self.opened.get(&t) {
            return Rc::clone(opened);
        }
        let node = self.g.node_rc(t);
        let Node::Build { size, .. } = *node else { panic!("a build is opened") };
        let (vars, scoped) = self.g.open_binder(&node);
        let (var, element) = (vars[0], scoped[0]);
        let (mut context, mut seen) = (Vec::new(), HashSet::new());
        let mut stack = vec![element];
        while let Some(s) = stack.pop() {
            if !seen.insert(s) {
                continue;
            }
            if !self.g.mentions(s, var) {
                context.push(s);
                continue;
            }
            match self.g.node(s).clone() {
                Node::Build { .. } => match self.as_loop(s) {
                    Some(rows) => stack.push(rows),
                    None => stack.extend(self.opened(s).context.iter().copied()),
                },
                node => node.for_each_child(|c| stack.push(c)),
            }
        }
        let opened = Rc::new(Opened { size, var, element, context });
        self.opened.insert(t, Rc::clone(&opened));
        opened
    }
}

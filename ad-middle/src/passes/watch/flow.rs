//! Which watched terms a term is computed from. Terms that only decide (conditions, indices) do not
//! count: a number that is not finite comes from numbers.
//!
//! A term of the body of a loop is another one in each loop that has the body. So terms are known
//! by their scope. A term that mentions no parameter belongs to the routine, wherever it occurs.
//! This module must never change a term.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Graph, Node, Scan, Term, Type};
use ad_ir::prim::watch::WatchKind;
use ad_ir::prim::{Prim, Reduce};

/// The number of a scope: 0 is the routine, each other one the body of a loop.
pub(super) type Scope = usize;

/// The terms of a routine, with the terms that each is computed from.
#[derive(Default)]
pub(super) struct Flow {
    numbers: HashMap<(Scope, Term), u32>,
    bodies: HashMap<(Scope, Term), Scope>,
    scopes: Scope,
    /// For each number, those of the terms that it is computed from.
    sources: Vec<Vec<u32>>,
    watched: Vec<bool>,
}

impl Flow {
    /// The flow to these roots. The `fixed` terms are not watched.
    pub(super) fn of(g: &Graph, roots: &[Term], fixed: &HashSet<Term>) -> Flow {
        let mut flow = Flow::default();
        flow.scope(g, roots, fixed, &[]);
        flow
    }

    /// A number for a further watched term that is computed from another one.
    pub(super) fn reading(&mut self, g: &Graph, scope: Scope, t: Term) -> u32 {
        let source = self.known(g, scope, [t]);
        self.node(source, true)
    }

    /// Lets a term be computed from a further watched term.
    pub(super) fn add_source(&mut self, number: u32, source: u32) {
        self.sources[number as usize].push(source);
    }

    /// The scope of the body of a loop.
    pub(super) fn body(&self, g: &Graph, scope: Scope, t: Term) -> Option<Scope> {
        self.bodies.get(&key(g, scope, t)).copied()
    }

    /// The number of a term, if it is watched.
    pub(super) fn watched(&self, g: &Graph, scope: Scope, t: Term) -> Option<u32> {
        self.numbers.get(&key(g, scope, t)).copied().filter(|&n| self.watched[n as usize])
    }

    /// The watched terms that a term is computed from, without itself.
    pub(super) fn reads(&self, number: u32) -> Box<[u32]> {
        let (mut seen, mut found) = (HashSet::from([number]), Vec::new());
        let mut stack = self.sources[number as usize].clone();
        while let Some(n) = stack.pop() {
            if !seen.insert(n) {
                continue;
            }
            if self.watched[n as usize] {
                found.push(n);
            } else {
                stack.extend(&self.sources[n as usize]);
            }
        }
        found.sort_unstable();
        found.into()
    }

    fn node(&mut self, sources: Vec<u32>, watched: bool) -> u32 {
        self.sources.push(sources);
        self.watched.push(watched);
        u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX)
    }

    /// Numbers the terms of a scope, whose parameters are computed from `args`. Recursion is over
    /// nested loops only.
    fn scope(&mut self, g: &Graph, roots: &[Term], fixed: &HashSet<Term>, args: &[Vec<u32>]) -> Scope {
        let scope = self.scopes;
        self.scopes += 1;
        for t in g.reachable(roots) {
            let own = key(g, scope, t);
            if self.numbers.contains_key(&own) {
                continue;
            }
            let sources: Vec<u32> = match g.node(t) {
                Node::Param(k, _) => args.get(*k as usize).cloned().unwrap_or_default(),
                Node::Scan(scan) => {
                    self.of_loop(g, own, scan, fixed);
                    Vec::new()
                }
                Node::Proj(of, k) => match g.node(*of) {
                    Node::Scan(scan) => self.of_result(g, key(g, scope, *of), scan, *k as usize),
                    _ => self.known(g, scope, [*of]),
                },
                node => self.known(g, scope, sources(g, node)),
            };
            let watched = !fixed.contains(&t) && kind(g, t).is_some();
            let number = self.node(sources, watched);
            self.numbers.insert(own, number);
        }
        scope
    }

    fn known(&self, g: &Graph, scope: Scope, terms: impl IntoIterator<Item = Term>) -> Vec<u32> {
        terms.into_iter().filter_map(|t| self.numbers.get(&key(g, scope, t)).copied()).collect()
    }

    fn of_loop(&mut self, g: &Graph, (scope, t): (Scope, Term), scan: &Scan, fixed: &HashSet<Term>) {
        let outer = scan.init.iter().chain(&scan.captures).chain(&scan.xs);
        let args: Vec<Vec<u32>> = outer.map(|&x| self.known(g, scope, [x])).collect();
        let body = self.scope(g, &scan.body.results, fixed, &args);
        self.bodies.insert((scope, t), body);
        // A carried value comes from the step before, too.
        for p in g.reachable(&scan.body.results) {
            if let Node::Param(k, _) = g.node(p)
                && (*k as usize) < scan.init.len()
                && let Some(&number) = self.numbers.get(&(body, p))
            {
                let next = self.known(g, body, [scan.body.results[*k as usize]]);
                self.sources[number as usize].extend(next);
            }
        }
    }

    /// What the result k of a loop is computed from.
    fn of_result(&self, g: &Graph, of: (Scope, Term), scan: &Scan, k: usize) -> Vec<u32> {
        let Some(&body) = self.bodies.get(&of) else { return Vec::new() };
        let mut sources = self.known(g, body, scan.body.results.get(k).copied());
        sources.extend(self.known(g, of.0, scan.init.get(k).copied()));
        sources
    }
}

/// The name of a term of a scope.
fn key(g: &Graph, scope: Scope, t: Term) -> (Scope, Term) {
    (if g.is_open(t) { scope } else { 0 }, t)
}

/// The children whose numbers become those of the term.
fn sources(g: &Graph, node: &Node) -> Vec<Term> {
    match node {
        Node::Cond { then, other, .. } => vec![*then, *other],
        Node::Gather { src, .. } => vec![*src],
        Node::Scatter { dst, src, .. } => vec![*dst, *src],
        Node::Tuple(parts) => parts.to_vec(),
        Node::Prim(Prim::Returned(..), args) => vec![args[0]],
        Node::Prim(_, args) => args.iter().copied().filter(|&a| g.ty(a).has_real()).collect(),
        _ => Vec::new(),
    }
}

/// What a term is computed by, if it is watched. Terms that only move numbers are not, and neither
/// are updates, which change an array in place.
pub(super) fn kind(g: &Graph, t: Term) -> Option<WatchKind> {
    let Node::Prim(prim, args) = g.node(t) else { return None };
    let is_real = matches!(g.ty(t), Type::Array(elem, _) if elem.is_real());
    // An index function is not watched: its value is an index.
    if !is_real || !g.free(t).is_empty() {
        return None;
    }
    match prim {
        Prim::Select | Prim::Reduce(Reduce::Max | Reduce::Min, _) => Some(WatchKind::Choice),
        Prim::Cast(_) if !g.elem(args[0]).is_real() => None,
        Prim::Returned(..) | Prim::Call(_) => Some(WatchKind::Call),
        Prim::Unary(_) | Prim::Binary(_) | Prim::PowI | Prim::Fused | Prim::Cast(_) => Some(WatchKind::Operation),
        Prim::Sum(_)
        | Prim::Reduce(..)
        | Prim::Contract(_)
        | Prim::Factor(_)
        | Prim::TriangularSolve(_)
        | Prim::LuSolve(_)
        | Prim::LogDet
        | Prim::CholeskyChange(_)
        | Prim::CumSum(_)
        | Prim::Fourier(_) => Some(WatchKind::Operation),
        _ => None,
    }
}

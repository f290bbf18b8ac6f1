//! The bulk-operation transform (BOT section 5): eliminates every `build1` in favour of whole-array
//! operations.
//!
//! Departures from the paper. (1) This pass does not push an index into the indexed expression
//! (Fig. 10): on a hash-consed graph, where no `let` stops it, that takes exponential time. Instead
//! `build1 k (\i -> index t ix)` becomes `gather [k] (build1 k (\i -> t)) (\i -> i : ix)` for every
//! t; Fig. 11 is the special case in which t does not mention i. The pass `push` moves indices
//! afterwards, by use counts. (2) A read out of range has an unspecified value, not 0, and no mask
//! is added: the program has a separate `Check` for each read that may be out of range.
//!
//! The pass makes no term whose size depends on an index, and recognises no whole functions.

use std::collections::{HashMap, HashSet};

use super::loops;
use super::{Context, Pass, trace};
use ad_ir::analysis::decisions::{Decisions, decisions_and};
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Body, Elem, Graph, Node, Put, Scan, Term, Type, Var};
use ad_ir::prim::structural::Batch;
use ad_ir::prim::{Prim, Reduce};

/// The pass.
pub const PASS: Pass =
    Pass { name: "bulk", run: |g, roots, cx| roots.map(|all| eliminated(g, all, cx)), simplified: false };

/// Tabulates a scalar: the array of its values for all values of its free variables, which range
/// below the given sizes.
pub(crate) fn table(g: &mut Graph, vars: &[(Var, Term)], t: Term) -> Term {
    vars.iter().rev().fold(t, |t, &(var, size)| Lift::new(g, var, size).lift(t))
}

/// The roots without builds and calls, closed bodies included. The result satisfies
/// `valid::normal_form`.
pub fn transform(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    eliminated(g, roots, &mut Context::default())
}

fn eliminated(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = (*cx.get::<Decisions>(g, roots)).clone();
    let mut sizes: Vec<Term> = cx.get::<Sizes>(g, roots).iter().copied().collect();
    sizes.sort_unstable();
    let mut bot = BuildElimination { g, exact, done: Rewritten::default() };
    // In order of creation, since a size may be computed by a loop over arrays of an older size. A
    // size that is already in normal form is kept, because types contain it.
    for size in sizes {
        let in_normal_form = ad_ir::ir::valid::normal_form(bot.g, &[size]).is_ok();
        let new = if in_normal_form { size } else { bot.eliminate_all(&[size])[0] };
        bot.done.sizes.insert(size, new);
    }
    bot.eliminate_all(roots)
}

/// `build1 size (\\var -> t)` for each of these build-free terms: arrays with a new first axis for
/// the variable.
pub fn batch(g: &mut Graph, var: Var, size: Term, terms: &[Term]) -> Vec<Term> {
    let mut lift = Lift::new(g, var, size);
    terms.iter().map(|&t| lift.lift(t)).collect()
}

struct BuildElimination<'g> {
    g: &'g mut Graph,
    /// Terms that decisions depend on. Their sums keep the order of the function.
    exact: HashSet<Term>,
    done: Rewritten,
}

/// Rewritten terms, one map for each scope. A lookup also searches the enclosing scopes, up to the
/// innermost closed body.
#[derive(Default)]
struct Rewritten {
    /// The rewritten sizes; new types contain these.
    sizes: HashMap<Term, Term>,
    scopes: Vec<HashMap<Term, Term>>,
    /// The scope of the innermost closed body.
    base: usize,
}

impl Rewritten {
    fn get(&self, t: Term) -> Option<Term> {
        let here = self.scopes[self.base..].iter().rev().chain([&self.sizes]);
        here.filter_map(|scope| scope.get(&t)).copied().next()
    }

    /// The replacement of a child. Children are rewritten before their parents.
    fn of(&self, t: Term) -> Term {
        self.get(t).unwrap_or(t)
    }

    fn set(&mut self, t: Term, new: Term) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(t, new);
        }
    }
}

impl BuildElimination<'_> {
    /// The type with rewritten sizes.
    fn resized(&self, ty: &Type) -> Type {
        match ty {
            Type::Array(elem, shape) => {
                Type::Array(*elem, shape.iter().map(|n| *self.done.sizes.get(n).unwrap_or(n)).collect())
            }
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|ty| self.resized(ty)).collect()),
        }
    }

    /// The body of a function or a loop.
    fn eliminate_body(&mut self, roots: &[Term]) -> Vec<Term> {
        let around = std::mem::replace(&mut self.done.base, self.done.scopes.len());
        let results = self.eliminate_all(roots);
        self.done.base = around;
        results
    }

    /// Pushes the maximal subterms of a binder's body that do not mention the variables of the
    /// binders in it. They are rewritten here, once. Otherwise each further build of a chain would
    /// double the work.
    fn push_invariant_subterms(&self, body: Term, stack: &mut Vec<(Term, bool)>) {
        let (mut seen, mut inside) = (HashSet::from([body]), vec![body]);
        while let Some(t) = inside.pop() {
            if self.g.free(t).iter().all(|v| v.is_fresh()) {
                stack.push((t, false));
                continue;
            }
            self.g.node(t).for_each_child(|c| {
                if seen.insert(c) {
                    inside.push(c);
                }
            });
        }
    }

    /// Rewrites the terms and all they reach. Recursion is over nested binders and bodies only; a
    /// scope itself is a worklist.
    fn eliminate_all(&mut self, roots: &[Term]) -> Vec<Term> {
        self.done.scopes.push(HashMap::new());
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if self.done.get(t).is_some() {
                continue;
            }
            let node = self.g.node_rc(t);
            if !children_done {
                stack.push((t, true));
                node.for_each_scoped_child(|c, inside| {
                    if inside {
                        self.push_invariant_subterms(c, &mut stack);
                    } else {
                        stack.push((c, false));
                    }
                });
                continue;
            }
            let here = self.g.loc(t);
            let before = self.g.at(here);
            let new = match &*node {
                Node::Build { size, .. } => {
                    let size = self.done.of(*size);
                    let (vars, scoped) = self.g.open_binder(&node);
                    self.opened(&scoped, self.exact.contains(&t));
                    let body = self.eliminate_all(&scoped)[0];
                    Lift::new(self.g, vars[0], size).lift(body)
                }
                Node::Gather { .. } | Node::Scatter { .. } => {
                    let (mut vars, scoped) = self.g.open_binder(&node);
                    self.opened(&scoped, true);
                    let mut index = self.eliminate_all(&scoped);
                    let sizes = match &*node {
                        Node::Gather { sizes, .. } => sizes.iter().map(|&n| self.done.of(n)).collect::<Vec<_>>(),
                        Node::Scatter { src, .. } => self.g.shape(self.done.of(*src))[..vars.len()].to_vec(),
                        _ => Vec::new(),
                    };
                    // An index function may only read and do scalar arithmetic. Its other subterms
                    // are tabulated beforehand.
                    for (var, &size) in vars.iter_mut().zip(&sizes) {
                        let fresh = self.g.fresh();
                        let mut lift = Lift::new(self.g, *var, size);
                        index = index.iter().map(|&ix| lift.lift_index(ix, fresh)).collect();
                        *var = fresh;
                    }
                    let done = &self.done;
                    self.g.rebuild_binder(&node, |&c| done.of(c), &vars, &index)
                }
                Node::Call(func, args) => {
                    let body = self.g.functions()[func.0 as usize].body.clone();
                    let args: Vec<Term> = args.iter().map(|&a| self.done.of(a)).collect();
                    self.opened(&body.results, true);
                    let results = self.eliminate_body(&body.results);
                    let params = body.params.iter().map(|ty| self.resized(ty)).collect();
                    let body = Body { params, results: results.into() };
                    let results = self.g.instantiate(&body, &args);
                    match &results[..] {
                        [one] => *one,
                        many => self.g.tuple(many),
                    }
                }
                Node::Scan(scan) => {
                    let results = self.eliminate_body(&scan.body.results);
                    let Node::Scan(mut scan) = node.map_children(|c| self.done.of(c)) else { return Vec::new() };
                    scan.body.results = results.into();
                    scan.body.params = scan.body.params.iter().map(|ty| self.resized(ty)).collect();
                    let wanted = loops::wanted(self.g, roots, t);
                    let exact = loops::exact_parts(self.g, &self.exact, t);
                    loops::bulk(self.g, *scan, &exact, &wanted)
                }
                Node::Proj(tuple, k) => self.g.proj(self.done.of(*tuple), *k as usize),
                // The rules below look at what is computed, in whatever order.
                Node::Prim(Prim::RelaxedExact, args) if !self.exact.contains(&t) => self.done.of(args[0]),
                Node::Param(k, ty) if !self.done.sizes.is_empty() => {
                    let ty = self.resized(ty);
                    self.g.param(*k as usize, ty)
                }
                _ => {
                    let mapped = node.map_children(|c| self.done.of(c));
                    self.g.mk(mapped)
                }
            };
            self.g.at(before);
            debug_assert_eq!(self.resized(self.g.ty(t)), *self.g.ty(new), "the transform keeps types");
            if matches!(*node, Node::Build { .. } | Node::Call(..) | Node::Scan(_)) {
                trace::fired("bulk", t, &[new]);
            }
            self.done.set(t, new);
        }
        let results = roots.iter().map(|&t| self.done.of(t)).collect();
        self.done.scopes.pop();
        results
    }
}

impl BuildElimination<'_> {
    /// Opening a binder makes new terms. This marks those as exact that a decision depends on.
    fn opened(&mut self, scoped: &[Term], decides: bool) {
        let all = if decides { scoped.to_vec() } else { Vec::new() };
        self.exact.extend(decisions_and(self.g, scoped, all));
    }
}

/// `build1 size (\var -> t)` for build-free t, memoised by t: the rules of BOT Figs. 9 and 11.
pub(crate) struct Lift<'g> {
    pub(crate) g: &'g mut Graph,
    var: Var,
    size: Term,
    done: HashMap<Term, Term>,
}

impl<'g> Lift<'g> {
    pub(crate) fn new(g: &'g mut Graph, var: Var, size: Term) -> Self {
        Lift { g, var, size, done: HashMap::new() }
    }

    /// The array (or tuple of arrays) of `t` for all values of the variable.
    pub(crate) fn lift(&mut self, t: Term) -> Term {
        let mut stack = vec![(t, false)];
        while let Some((t, children_done)) = stack.pop() {
            if self.done.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            if !children_done && self.g.mentions(t, self.var) {
                stack.push((t, true));
                node.for_each_scoped_child(|c, inside| {
                    if !inside {
                        stack.push((c, false));
                    }
                });
                continue;
            }
            let new = if self.g.mentions(t, self.var) { self.rule(t, &node) } else { self.constant(t) };
            self.done.insert(t, new);
        }
        self.done[&t]
    }

    /// `build1 k (\i -> t) = replicate k t` where i is not free in t.
    pub(crate) fn constant(&mut self, t: Term) -> Term {
        match self.g.ty(t).clone() {
            Type::Array(..) => self.g.replicate(self.size, t),
            Type::Tuple(parts) => {
                let parts: Vec<Term> = (0..parts.len())
                    .map(|k| {
                        let part = self.g.proj(t, k);
                        self.constant(part)
                    })
                    .collect();
                self.g.tuple(&parts)
            }
        }
    }

    fn varies(&self, t: Term) -> bool {
        self.g.mentions(t, self.var)
    }

    fn rule(&mut self, t: Term, node: &Node) -> Term {
        match node {
            Node::Var(_) => self.g.iota(self.size),
            Node::Tuple(parts) => {
                let parts: Vec<Term> = parts.iter().map(|p| self.done[p]).collect();
                self.g.tuple(&parts)
            }
            Node::Proj(tuple, k) => {
                let tuple = self.done[tuple];
                self.g.proj(tuple, *k as usize)
            }
            Node::Cond { cond, then, other } => {
                let (a, b) = (self.done[then], self.done[other]);
                if self.varies(*cond) {
                    let mask = self.done[cond];
                    self.select(mask, a, b)
                } else {
                    self.g.cond(*cond, a, b)
                }
            }
            Node::Gather { src, sizes, .. } => {
                let (mut vars, index) = self.g.open_binder(node);
                let fresh = self.g.fresh();
                let mut index: Vec<Term> = index.iter().map(|&ix| self.lift_index(ix, fresh)).collect();
                let mut lifted = *src;
                if self.varies(*src) {
                    let v = self.g.mk(Node::Var(fresh));
                    index.insert(0, v);
                    lifted = self.done[src];
                }
                vars.insert(0, fresh);
                let sizes = std::iter::once(self.size).chain(sizes.iter().copied()).collect();
                self.g.gather(lifted, sizes, &vars, &index)
            }
            Node::Scatter { put, dst, src, .. } => {
                let (mut vars, index) = self.g.open_binder(node);
                let fresh = self.g.fresh();
                let mut index: Vec<Term> = index.iter().map(|&ix| self.lift_index(ix, fresh)).collect();
                let v = self.g.mk(Node::Var(fresh));
                index.insert(0, v);
                vars.insert(0, fresh);
                let (dst, src) = (self.done[dst], self.done[src]);
                match put {
                    Put::Add => self.g.scatter(dst, src, &vars, &index),
                    Put::Set => self.g.update(dst, src, &vars, &index),
                }
            }
            Node::Scan(scan) => self.scan(scan),
            Node::Prim(prim, args) => self.prim(prim, args),
            Node::Input(_) | Node::Size(..) | Node::Param(..) | Node::Lit(_) | Node::Build { .. } | Node::Call(..) => {
                panic!("{t:?} cannot mention a build index here: {node:?}")
            }
        }
    }

    /// A conditional whose condition varies becomes an elementwise selection; tuples by component.
    fn select(&mut self, mask: Term, a: Term, b: Term) -> Term {
        if let Type::Tuple(parts) = self.g.ty(a).clone() {
            let parts: Vec<Term> = (0..parts.len())
                .map(|k| {
                    let (a, b) = (self.g.proj(a, k), self.g.proj(b, k));
                    self.select(mask, a, b)
                })
                .collect();
            return self.g.tuple(&parts);
        }
        let inner = self.g.shape(a)[1..].to_vec();
        let axes: Vec<u8> = (1..=inner.len()).map(axis).collect();
        let mask = self.g.replicate_axes(mask, &axes, &inner);
        self.g.select(mask, a, b)
    }

    fn prim(&mut self, prim: &Prim, args: &[Term]) -> Term {
        let lifted: Vec<Term> = args[..prim.data_args(args.len())].iter().map(|a| self.done[a]).collect();
        let varies: Vec<bool> = args.iter().map(|&a| self.varies(a)).collect();
        let batch = Batch { size: self.size, args, lifted: &lifted, varies: &varies };
        let g = &mut *self.g;
        match prim.structural(|s| s.batch(g, &batch)) {
            Some(t) => t,
            None => self.g.prim(prim.clone(), &lifted),
        }
    }

    /// A loop inside a build is one loop over batched values. Carried values are batched whether
    /// they vary or not; captures and consumed arrays only where they vary.
    fn scan(&mut self, scan: &Scan) -> Term {
        let (carries, captures) = (scan.init.len(), scan.captures.len());
        let outer: Vec<Term> = scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied().collect();
        let batched: Vec<bool> = outer.iter().enumerate().map(|(k, &t)| k < carries || self.varies(t)).collect();
        let lifted: Vec<Term> = outer.iter().zip(&batched).map(|(t, b)| if *b { self.done[t] } else { *t }).collect();
        let lane = self.g.fresh();
        let lane_term = self.g.mk(Node::Var(lane));
        let mut params = Vec::new();
        let mut args = Vec::new();
        // An additional carried flag: whether all lanes have stopped.
        let more = usize::from(scan.stop.is_some());
        let place = |k: usize| if k < carries { k } else { k + more };
        for (k, ty) in scan.body.params.iter().enumerate() {
            let ty = if batched[k] { self.batched(ty) } else { ty.clone() };
            let p = self.g.param(place(k), ty.clone());
            args.push(if batched[k] { self.row(p, lane_term) } else { p });
            params.push(ty);
        }
        let results = self.g.instantiate(&scan.body, &args);
        let mut body_lift = Lift::new(self.g, lane, self.size);
        let mut results: Vec<Term> = results.iter().map(|&r| body_lift.lift(r)).collect();
        let mut init = lifted[..carries].to_vec();
        if let Some(stop) = scan.stop {
            // A lane that has stopped keeps its values while others continue.
            let stopped = self.g.param(stop, params[stop].clone());
            for k in 0..carries {
                let old = self.g.param(k, params[k].clone());
                results[k] = self.select(stopped, old, results[k]);
            }
            let all = self.g.reduce(Reduce::All, 1, results[stop]);
            results.insert(carries, all);
            params.insert(carries, Type::scalar(Elem::Bool));
            let all = self.g.reduce(Reduce::All, 1, init[stop]);
            init.push(all);
        }
        // The build's axis is outermost in consumed arrays, but the loop's own axis has to be: swap
        // the two.
        let xs: Vec<Term> = (carries + captures..outer.len())
            .map(|k| if batched[k] { self.swap_first_two_axes(lifted[k]) } else { lifted[k] })
            .collect();
        let produced = results.len() - carries - more;
        let new = self.g.scan(Scan {
            count: scan.count,
            reverse: scan.reverse,
            stop: scan.stop.map(|_| carries),
            init: init.into(),
            captures: lifted[carries..carries + captures].into(),
            xs: xs.into(),
            body: Body { params: params.into(), results: results.into() },
        });
        let parts: Vec<Term> = (0..carries + produced)
            .map(|k| {
                let part = self.g.proj(new, place(k));
                if k < carries { part } else { self.swap_first_two_axes(part) }
            })
            .collect();
        self.g.tuple(&parts)
    }

    fn batched(&self, ty: &Type) -> Type {
        match ty {
            Type::Array(elem, shape) => {
                Type::Array(*elem, std::iter::once(self.size).chain(shape.iter().copied()).collect())
            }
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|p| self.batched(p)).collect()),
        }
    }

    /// Row `i` of a batched value.
    fn row(&mut self, t: Term, i: Term) -> Term {
        match self.g.ty(t).clone() {
            Type::Array(..) => self.g.index(t, &[i]),
            Type::Tuple(parts) => {
                let parts: Vec<Term> = (0..parts.len())
                    .map(|k| {
                        let part = self.g.proj(t, k);
                        self.row(part, i)
                    })
                    .collect();
                self.g.tuple(&parts)
            }
        }
    }

    fn swap_first_two_axes(&mut self, t: Term) -> Term {
        let mut perm: Vec<u8> = (0..self.g.rank(t)).map(axis).collect();
        perm.swap(0, 1);
        self.g.transpose(t, &perm)
    }

    /// Rewrites a scalar of an index function from the build variable to `at`. Scalar operations
    /// stay, since they run once for each index anyway. An array that depends on the variable is
    /// batched and then indexed with `at`.
    pub(crate) fn lift_index(&mut self, ix: Term, at: Var) -> Term {
        let at_term = self.g.mk(Node::Var(at));
        let mut done: HashMap<Term, Term> = HashMap::new();
        let mut stack = vec![(ix, false)];
        while let Some((t, children_done)) = stack.pop() {
            if done.contains_key(&t) {
                continue;
            }
            if !self.varies(t) {
                done.insert(t, t);
                continue;
            }
            let node = self.g.node_rc(t);
            let scalar = self.g.ty(t).as_array().is_some_and(|(_, shape)| shape.is_empty());
            let kept: bool = scalar
                && match &*node {
                    Node::Var(_) | Node::Cond { .. } => true,
                    Node::Gather { vars, .. } => vars.is_empty(),
                    Node::Prim(prim, _) => prim.is_elementwise(),
                    _ => false,
                };
            if !kept {
                let lifted = self.lift(t);
                let read = self.g.index(lifted, &[at_term]);
                done.insert(t, read);
                continue;
            }
            let lifted_src = match &*node {
                Node::Gather { src, .. } if self.varies(*src) => Some(*src),
                _ => None,
            };
            if !children_done {
                stack.push((t, true));
                node.for_each_child(|c| {
                    if Some(c) != lifted_src {
                        stack.push((c, false));
                    }
                });
                continue;
            }
            let new = match &*node {
                Node::Var(v) if *v == self.var => at_term,
                Node::Gather { src, index, .. } if lifted_src.is_some() => {
                    let src = self.lift(*src);
                    let index: Vec<Term> = std::iter::once(at_term).chain(index.iter().map(|c| done[c])).collect();
                    self.g.index(src, &index)
                }
                _ => {
                    let mapped = node.map_children(|c| done[&c]);
                    self.g.mk(mapped)
                }
            };
            done.insert(t, new);
        }
        done[&ix]
    }
}

fn axis(k: usize) -> u8 {
    ad_ir::ir::axis(k)
}

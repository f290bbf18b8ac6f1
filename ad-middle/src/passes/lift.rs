//! Lifting: the array of the values of a build-free term for all values of one variable (BOT Figs.
//! 9 and 11). Each primitive defines its own lifting (`prim::structural`).
//!
//! This module must never copy a term that does not mention the variable, except by a replication.

mod index_sets;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use self::index_sets::ArmSplit;
use super::item_axis;
use super::transposed::transposed;
use ad_ir::analysis::Analyses;
use ad_ir::analysis::bounds::bound;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Body, Elem, Graph, Node, OpenLoop, Scan, Term, Type, Var};
use ad_ir::prim::structural::Batch;
use ad_ir::prim::{Cmp, Prim, Reduce};

/// Computes `build1 size (\var -> t)` for any number of terms `t` without builds.
pub(super) struct Lift<'g> {
    pub(super) g: &'g mut Graph,
    var: Var,
    size: Term,
    done: HashMap<Term, Term>,
    /// Whether the axis of the variable is the last one in a carried array (`item_axis`).
    items_last: bool,
    /// Whether a batched loop ends after the last step of the item with the most steps.
    ends: bool,
    /// The terms that are computed for all indices.
    pub(super) shared: Rc<HashSet<Term>>,
    /// The conditionals with an arm that is lifted only over some of the indices.
    splits: HashMap<Term, ArmSplit>,
}

impl<'g> Lift<'g> {
    pub(super) fn new(g: &'g mut Graph, var: Var, size: Term) -> Self {
        let (done, shared, splits) = (HashMap::new(), Rc::default(), HashMap::new());
        Lift { g, var, size, done, items_last: false, ends: false, shared, splits }
    }

    /// A lift that puts the axis of the variable last in carried arrays, so that the values of one
    /// element are adjacent.
    pub(super) fn items_last(g: &'g mut Graph, var: Var, size: Term) -> Self {
        Lift { items_last: true, ..Lift::new(g, var, size) }
    }

    /// The lift of a block of items. In a triangle (`for j in 0..i`) the loop of all items of a
    /// block has no more steps than its longest one.
    pub(super) fn of_block(g: &'g mut Graph, var: Var, size: Term) -> Self {
        Lift { ends: true, ..Lift::new(g, var, size) }
    }

    /// Adds the terms that `roots` compute for all indices to `shared`.
    pub(super) fn share(&mut self, roots: &[Term]) {
        let more = self.unconditional(roots);
        if more.iter().any(|t| !self.shared.contains(t)) {
            self.shared = self.shared.iter().copied().chain(more).collect::<HashSet<Term>>().into();
        }
    }

    /// The array (or tuple of arrays) of `t` for all values of the variable.
    pub(super) fn lift(&mut self, t: Term) -> Term {
        self.share(&[t]);
        on_demand(self, [t]);
        self.done[&t]
    }

    /// `build1 k (\i -> t) = replicate k t` where i is not free in t.
    pub(super) fn constant(&mut self, t: Term) -> Term {
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
            Node::Cond { .. } if self.splits.contains_key(&t) => self.in_parts(t),
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
                item_axis::written_to(self.g, *put, dst, src, (&vars, &index))
            }
            Node::Scan(scan) => self.scan(scan),
            Node::Prim(prim, args) => self.prim(prim, args),
            Node::Input(_) | Node::Size(..) | Node::Param(..) | Node::Lit(_) | Node::Build { .. } => {
                panic!("{t:?} cannot mention a build index here: {node:?}")
            }
        }
    }

    /// A conditional whose condition varies becomes an elementwise selection, for a tuple in each
    /// component.
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

    /// The number of steps in which an item of the block has an effect, if a captured value limits
    /// the steps of each item.
    fn longest(&mut self, scan: &Scan) -> Option<Term> {
        if !self.ends || scan.stop.is_some() {
            return None;
        }
        let limit = limit_of_steps(self.g, scan)?;
        if !self.varies(limit) {
            return None;
        }
        let all = self.lift(limit);
        let longest = self.g.reduce(Reduce::ArgMax, 1, all);
        Some(self.g.index(all, &[longest]))
    }

    /// The loop whose steps from `end` on do nothing.
    fn ending(&mut self, mut scan: Scan, end: Term) -> Scan {
        let (old, first) = (scan.body.params.len(), scan.init.len() + scan.captures.len());
        let index = Type::scalar(Elem::USIZE);
        // The new capture increases the parameter numbers of the consumed rows by one.
        let mut params = scan.body.params.to_vec();
        params.insert(first, index.clone());
        params.push(index.clone());
        let args: Vec<Term> =
            (0..old).map(|k| self.g.param(k + usize::from(k >= first), scan.body.params[k].clone())).collect();
        let results = self.g.instantiate(&scan.body, &args);
        let (end_inside, step) = (self.g.param(first, index.clone()), self.g.param(old + 1, index));
        let runs = self.g.compare(Cmp::Lt, step, end_inside);
        let results = results.iter().enumerate().map(|(k, &result)| {
            let idle = if k < scan.init.len() { args[k] } else { self.g.zeros_of_any(result) };
            self.g.cond(runs, result, idle)
        });
        let results = results.collect();
        scan.body = Body { params: params.into(), results };
        scan.captures = scan.captures.iter().copied().chain([end]).collect();
        let steps = self.g.iota(scan.count);
        scan.xs = scan.xs.iter().copied().chain([steps]).collect();
        scan
    }

    /// A loop inside a build is one loop over batched values. Carried values are batched whether
    /// they vary or not; captures and consumed arrays only where they vary.
    fn scan(&mut self, scan: &Scan) -> Term {
        if self.g.is_one_call(scan) {
            return self.one_call(scan);
        }
        let (carries, captures) = (scan.init.len(), scan.captures.len());
        let outer: Vec<Term> = scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied().collect();
        let batched: Vec<bool> = outer.iter().enumerate().map(|(k, &t)| k < carries || self.varies(t)).collect();
        // If a loop may stop early, the items that have stopped keep their values by a selection
        // over whole arrays, so carried arrays keep the ordinary order of axes.
        let items_last = self.items_last && scan.stop.is_none();
        let behind =
            |g: &Graph, k: usize| if items_last && k < carries { item_axis::place(g, &scan.body, k) } else { 0 };
        let lifted: Vec<Term> = outer.iter().zip(&batched).map(|(t, b)| if *b { self.done[t] } else { *t }).collect();
        let item = self.g.fresh();
        let lane_term = self.g.mk(Node::Var(item));
        let mut params = Vec::new();
        let mut args = Vec::new();
        // The batched loop carries one more flag: whether all items have stopped.
        let more = usize::from(scan.stop.is_some());
        let place = |k: usize| if k < carries { k } else { k + more };
        let mut whole = Vec::new();
        let axes: Vec<usize> = (0..outer.len()).map(|k| behind(self.g, k)).collect();
        for (k, ty) in scan.body.params.iter().enumerate() {
            let ty = if batched[k] { self.batched(ty, axes[k]) } else { ty.clone() };
            let p = self.g.param(place(k), ty.clone());
            let first = item_axis::moved(self.g, p, axes[k], 0);
            let own = if batched[k] { self.row(first, lane_term) } else { p };
            if axes[k] > 0 {
                whole.push((own, first));
            }
            args.push(own);
            params.push(ty);
        }
        let results = self.g.instantiate(&scan.body, &args);
        let mut body_lift = Lift { items_last: self.items_last, ..Lift::new(self.g, item, self.size) };
        body_lift.done.extend(whole);
        let mut results: Vec<Term> = results.iter().map(|&r| body_lift.lift(r)).collect();
        let mut init = lifted[..carries].to_vec();
        for (k, &axes) in axes[..carries].iter().enumerate() {
            results[k] = item_axis::moved(self.g, results[k], 0, axes);
            init[k] = item_axis::moved(self.g, init[k], 0, axes);
        }
        if let Some(stop) = scan.stop {
            // An item that has stopped keeps its values while others continue.
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
            .map(|k| if batched[k] { self.consumed(lifted[k]) } else { lifted[k] })
            .collect();
        let produced = results.len() - carries - more;
        let mut batched = Scan {
            count: scan.count,
            reverse: scan.reverse,
            stop: scan.stop.map(|_| carries),
            init: init.into(),
            captures: lifted[carries..carries + captures].into(),
            xs: xs.into(),
            body: Body { params: params.into(), results: results.into() },
        };
        if let Some(end) = self.longest(scan) {
            batched = self.ending(batched, end);
        }
        let new = self.g.scan(batched);
        let parts: Vec<Term> = (0..carries + produced)
            .map(|k| {
                let part = self.g.proj(new, place(k));
                if k < carries { item_axis::moved(self.g, part, axes[k], 0) } else { self.swap_first_two_axes(part) }
            })
            .collect();
        self.g.tuple(&parts)
    }

    /// A call for each item: a loop over the items, each step of which makes one call.
    fn one_call(&mut self, scan: &Scan) -> Term {
        let step = self.g.fresh();
        let at = self.g.mk(Node::Var(step));
        let of_item = |me: &mut Self, t: &Term| {
            if me.varies(*t) { me.g.index(me.done[t], &[at]) } else { *t }
        };
        let init = scan.init.iter().map(|t| of_item(self, t)).collect();
        let captures = scan.captures.iter().map(|t| of_item(self, t)).collect();
        let made = self.g.scan(Scan { init, captures, ..scan.clone() });
        let results = (0..scan.init.len()).map(|k| self.g.proj(made, k)).collect();
        let (count, init, carried) = (self.size, Vec::new(), Vec::new());
        self.g.close_loop(&OpenLoop { count, reverse: false, stop: None, step, init, carried, results })
    }

    /// The type for all values of the variable, whose axis comes after `behind` other axes.
    fn batched(&self, ty: &Type, behind: usize) -> Type {
        match ty {
            Type::Array(elem, shape) => {
                let mut shape = shape.to_vec();
                shape.insert(behind, self.size);
                Type::Array(*elem, shape.into())
            }
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|p| self.batched(p, 0)).collect()),
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

    /// A batched array whose rows a loop consumes. The rows of a block are computed where they are
    /// read, with the items adjacent.
    fn consumed(&mut self, t: Term) -> Term {
        if !self.ends {
            return self.swap_first_two_axes(t);
        }
        let order = [1, 0].into_iter().chain(2..self.g.rank(t)).map(axis).collect::<Vec<u8>>();
        transposed(self.g, t, &order)
    }

    fn swap_first_two_axes(&mut self, t: Term) -> Term {
        let mut perm: Vec<u8> = (0..self.g.rank(t)).map(axis).collect();
        perm.swap(0, 1);
        self.g.transpose(t, &perm)
    }

    /// Rewrites a scalar of an index function from the build variable to `at`. Scalar operations
    /// stay, since they run once for each index anyway. An array that depends on the variable is
    /// batched and then indexed with `at`.
    pub(super) fn lift_index(&mut self, ix: Term, at: Var) -> Term {
        let at = self.g.mk(Node::Var(at));
        let mut index = LiftIndex { lift: self, at, done: HashMap::new() };
        on_demand(&mut index, [ix]);
        index.done[&ix]
    }

    /// Whether a term of an index function stays a scalar operation.
    fn stays_scalar(&self, t: Term) -> bool {
        let scalar = self.g.ty(t).as_array().is_some_and(|(_, shape)| shape.is_empty());
        scalar
            && match self.g.node(t) {
                Node::Var(_) | Node::Cond { .. } => true,
                Node::Gather { vars, .. } => vars.is_empty(),
                Node::Prim(prim, _) => prim.is_elementwise(),
                _ => false,
            }
    }

    /// The array that an index function reads, if it varies.
    fn varying_source(&self, node: &Node) -> Option<Term> {
        match node {
            Node::Gather { src, .. } if self.varies(*src) => Some(*src),
            _ => None,
        }
    }
}

impl Memoised for Lift<'_> {
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
        self.rule(t, &node)
    }
}

impl OnDemand for Lift<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if !self.varies(t) {
            return Some(self.constant(t));
        }
        if let Some(split) = self.split(t) {
            needs.extend(split.over_all());
            self.splits.insert(t, split);
            return None;
        }
        self.g.node(t).for_each_scoped_child(|c, inside| {
            if !inside {
                needs.push(c);
            }
        });
        None
    }
}

/// Rewrites an index function so that another variable takes the place of the variable of a
/// [`Lift`].
struct LiftIndex<'l, 'g> {
    lift: &'l mut Lift<'g>,
    at: Term,
    done: HashMap<Term, Term>,
}

impl Memoised for LiftIndex<'_, '_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.lift.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let (lift, at, done) = (&mut *self.lift, self.at, &self.done);
        let node = lift.g.node_rc(t);
        match (&*node, lift.varying_source(&node)) {
            (Node::Var(v), _) if *v == lift.var => at,
            (Node::Gather { index, .. }, Some(src)) => {
                let src = lift.lift(src);
                let index: Vec<Term> = std::iter::once(at).chain(index.iter().map(|c| done[c])).collect();
                lift.g.index(src, &index)
            }
            _ => lift.g.mk(node.map_children(|c| done[&c])),
        }
    }
}

impl OnDemand for LiftIndex<'_, '_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        let lift = &mut *self.lift;
        if !lift.varies(t) {
            return Some(t);
        }
        if !lift.stays_scalar(t) {
            let lifted = lift.lift(t);
            return Some(lift.g.index(lifted, &[self.at]));
        }
        let node = lift.g.node_rc(t);
        let lifted = lift.varying_source(&node);
        node.for_each_child(|c| {
            if Some(c) != lifted {
                needs.push(c);
            }
        });
        None
    }
}

fn axis(k: usize) -> u8 {
    ad_ir::ir::axis(k)
}

/// The number of steps in which a loop has an effect, if a captured value limits them.
pub(super) fn limit_of_steps(g: &mut Graph, scan: &Scan) -> Option<Term> {
    let limit = bound(g, scan, &mut Analyses::default())?.limit(g);
    let (first, params) = (scan.init.len(), &scan.body.params);
    let outside = |k: usize| scan.captures.get(k.wrapping_sub(first)).copied();
    let args: Vec<Term> =
        (0..params.len()).map(|k| outside(k).unwrap_or_else(|| g.param(k, params[k].clone()))).collect();
    let of_item = Body { params: params.clone(), results: [limit].into() };
    Some(g.instantiate(&of_item, &args)[0])
}

//! Builds the loop that remains and the bulk operations for the results that have left it, from the
//! outcomes decided in `loops`. It decides nothing.

use ad_ir::sorted::SortedSet;
use std::collections::HashSet;
use std::rc::Rc;

use super::{Distribution, Placement, Update};
use crate::passes::lift::Lift;
use crate::passes::rewrite::Rewriter;
use crate::passes::trace;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Body, Node, Put, Scan, Term, Type, Var};
use ad_ir::prim::{Binary, Cmp, Prim, Reduce};

impl Distribution<'_> {
    /// The remaining loop, and the tuple of all results.
    pub(super) fn make(mut self) -> Term {
        let stays = |me: &Self, k: usize| matches!(me.placement[k], Placement::Keep);
        let left: Vec<usize> = (0..self.placement.len()).filter(|&k| stays(&self, k)).collect();
        if left.len() == self.placement.len() {
            return self.g.scan(self.scan);
        }
        let mut parts: Vec<Option<Term>> = vec![None; self.placement.len()];
        let mut rows: Vec<Term> = Vec::new();
        if !left.is_empty() || !self.saved.is_empty() {
            rows = self.remaining_loop(&left, &mut parts);
        }
        let (var, args) = self.step(&rows);
        let results = self.scan.body.results.to_vec();
        let chooses = self.g.reachable(&results).iter().any(|&t| matches!(self.g.node(t), Node::Cond { .. }));
        let in_step = if chooses { self.at_step(&results, &args) } else { Vec::new() };
        let shared: Rc<HashSet<Term>> = Lift::new(self.g, var, self.scan.count).unconditional(&in_step).into();
        let fates = std::mem::take(&mut self.placement);
        for (k, placement) in fates.into_iter().enumerate() {
            let result = self.scan.body.results[k];
            let made = match placement {
                Placement::Keep => continue,
                Placement::Initial => self.scan.init[k],
                Placement::Counted(last) => last,
                Placement::Dead => {
                    let (elem, shape) =
                        (self.g.elem(self.scan.body.results[k]), self.g.shape(self.scan.body.results[k]).to_vec());
                    let shape: Vec<Term> = std::iter::once(self.scan.count).chain(shape).collect();
                    let nothing = self.g.zero(elem);
                    self.g.broadcast(nothing, &shape)
                }
                Placement::Map(r) => {
                    let r = self.at_step(&[r], &args)[0];
                    let mut lift = Lift::new(self.g, var, self.scan.count);
                    lift.shared = shared.clone();
                    let rows = lift.lift(r);
                    trace::fired("loops.rows", result, &[rows]);
                    rows
                }
                Placement::ArgSelect { extremum, op, e, payload } => {
                    let each = self.at_step(&[e], &args)[0];
                    let (met, none, at) = self.best(self.scan.init[extremum], op, (e, each), var, &rows);
                    let payload = self.at_step(&[payload], &at)[0];
                    let begin = self.scan.init[k];
                    let met = self.g.cond(met.0, payload, begin);
                    let made = self.g.cond(none, begin, met);
                    trace::fired("loops.followers", result, &[made]);
                    made
                }
                Placement::Updates(updates) => {
                    // The last update of the chain is first in the list.
                    updates.iter().rev().fold(self.scan.init[k], |acc, p| {
                        let terms = p.terms();
                        let each = p.with(&self.at_step(&terms, &args));
                        let made = match (p, &each) {
                            (Update::Winner(op, e), Update::Winner(_, each)) => {
                                self.winner(acc, *op, (*e, *each), var, &rows)
                            }
                            _ => self.over_steps(acc, &each, var, &shared),
                        };
                        let rule = if self.private.contains(&k) { "loops.fission" } else { p.rule() };
                        trace::fired(rule, result, &[made]);
                        if let Some(&plain) = self.masks.get(&terms[0]) {
                            trace::fired("loops.masks", plain, &terms[..1]);
                        }
                        made
                    })
                }
            };
            parts[k] = Some(made);
        }
        let all: Vec<Term> = parts.into_iter().flatten().collect();
        self.g.tuple(&all)
    }

    /// The loop for the results `left`. It also saves terms for what leaves the loop: their rows
    /// are the result. The results of the loop are put into `parts`.
    fn remaining_loop(&mut self, left: &[usize], parts: &mut [Option<Term>]) -> Vec<Term> {
        let (carries, captures) = (self.carries(), self.scan.captures.len());
        let total = self.scan.body.params.len();
        let kept: Vec<usize> = left.iter().copied().filter(|&k| k < carries).collect();
        let mut results: Vec<Term> = left.iter().map(|&k| self.scan.body.results[k]).collect();
        // A term that is saved may be a row of the loop already.
        let mut saved_at = Vec::new();
        for &t in &self.saved {
            let row = (kept.len()..results.len()).find(|&n| results[n] == t);
            saved_at.push(row.unwrap_or(results.len()));
            results.extend(row.is_none().then_some(t));
        }
        // The parameters that occur, in their order: carried values, captures (with new ones),
        // rows.
        let occurs: SortedSet<usize> = self
            .g
            .reachable(&results)
            .into_iter()
            .filter_map(|t| if let Node::Param(k, _) = self.g.node(t) { Some(*k as usize) } else { None })
            .collect();
        let caught: Vec<usize> = (carries..carries + captures)
            .chain((0..carries).filter(|k| !kept.contains(k)))
            .filter(|k| occurs.contains(k))
            .collect();
        let consumed: Vec<usize> = (carries + captures..total).filter(|k| occurs.contains(k)).collect();
        let order: Vec<usize> = kept.iter().chain(&caught).chain(&consumed).copied().collect();
        let params: Vec<Type> = order.iter().map(|&k| self.scan.body.params[k].clone()).collect();
        let mut args: Vec<Term> = (0..total).map(|k| self.g.param(k, self.scan.body.params[k].clone())).collect();
        for (new, &old) in order.iter().enumerate() {
            args[old] = self.g.param(new, params[new].clone());
        }
        let body = Body { params: self.scan.body.params.clone(), results: results.into() };
        let results = self.g.instantiate(&body, &args).into();
        let outer = |k: usize| if k < carries { self.scan.init[k] } else { self.scan.captures[k - carries] };
        let rest = self.g.scan(Scan {
            count: self.scan.count,
            reverse: self.scan.reverse,
            stop: None,
            init: kept.iter().map(|&k| self.scan.init[k]).collect(),
            captures: caught.iter().map(|&k| outer(k)).collect(),
            xs: consumed.iter().map(|&k| self.scan.xs[k - carries - captures]).collect(),
            body: Body { params: params.into(), results },
        });
        for (n, &k) in left.iter().enumerate() {
            parts[k] = Some(self.g.proj(rest, n));
        }
        saved_at.into_iter().map(|n| self.g.proj(rest, n)).collect()
    }

    /// The value at the argmin or argmax, or the initial value. Its index is a decision, as the
    /// choices of the loop were.
    fn winner(&mut self, acc: Term, op: Reduce, e: (Term, Term), var: Var, rows: &[Term]) -> Term {
        let ((better, best), none, _) = self.best(acc, op, e, var, rows);
        let met = self.g.cond(better, best, acc);
        self.g.cond(none, acc, met)
    }

    /// Whether the value at the best iteration is better than the initial value, and that value;
    /// whether there are no iterations; and the parameters at the best iteration.
    fn best(
        &mut self,
        acc: Term,
        op: Reduce,
        (e, each): (Term, Term),
        var: Var,
        rows: &[Term],
    ) -> ((Term, Term), Term, Vec<Term>) {
        let count = self.scan.count;
        let all = Lift::new(self.g, var, count).lift(each);
        let greatest = op == Reduce::Max;
        let place = self.g.reduce(if greatest { Reduce::ArgMax } else { Reduce::ArgMin }, 1, all);
        let args = self.args_at(place, rows);
        let best = self.at_step(&[e], &args)[0];
        // The exact value of the winner is the best of the compared values. So its sum in the order
        // of the function is not computed again.
        let in_order =
            self.g.reachable(&[e]).into_iter().any(|t| matches!(self.g.node(t), Node::Prim(Prim::RelaxedExact, _)));
        let best = if in_order {
            let exact = self.g.reduce(op, 1, all);
            self.g.relaxed_exact(best, exact)
        } else {
            best
        };
        // This is the comparison of the loop. A NaN is never better, so it has no effect.
        let better = self.g.compare(if greatest { Cmp::Gt } else { Cmp::Lt }, best, acc);
        // Without steps the initial value remains.
        let zero = self.g.lit_usize(0);
        let none = self.g.compare(Cmp::Eq, count, zero);
        ((better, best), none, args)
    }

    /// The variable of an iteration, and the parameters of the body and its saved terms at that
    /// iteration.
    pub(super) fn step(&mut self, rows: &[Term]) -> (Var, Vec<Term>) {
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        (var, self.args_at(i, rows))
    }

    /// The parameters of the body and its saved terms at an iteration.
    fn args_at(&mut self, i: Term, rows: &[Term]) -> Vec<Term> {
        let mut args: Vec<Term> = self.scan.init.iter().chain(&self.scan.captures).copied().collect();
        let xs = self.scan.xs.clone();
        for &x in &xs {
            let row = self.row(x, i);
            args.push(row);
        }
        args.extend(self.scan.init.iter().copied());
        for &all in rows {
            let row = self.g.index(all, &[i]);
            args.push(row);
        }
        args
    }

    /// Row i of an array; for a row of iteration numbers, i.
    fn row(&mut self, x: Term, i: Term) -> Term {
        match self.g.node(x).clone() {
            Node::Prim(Prim::Iota, _) => i,
            _ => self.g.index(x, &[i]),
        }
    }

    /// Terms of the body at an iteration, as terms outside of the loop.
    pub(super) fn at_step(&mut self, terms: &[Term], args: &[Term]) -> Vec<Term> {
        let first = self.scan.body.params.len() + self.carries();
        let mut params = self.scan.body.params.to_vec();
        params.extend(self.scan.init.iter().map(|&t| self.g.ty(t).clone()).collect::<Vec<_>>());
        let mut new = Rewriter::default();
        for (n, &t) in self.saved.clone().iter().enumerate() {
            let ty = self.g.ty(t).clone();
            params.push(ty.clone());
            let p = self.g.param(first + n, ty);
            new.set(t, p);
        }
        let results: Vec<Term> = if self.saved.is_empty() { terms.to_vec() } else { new.substitute(self.g, terms) };
        let body = Body { params: params.into(), results: results.into() };
        self.g.instantiate(&body, args)
    }

    /// The update of `acc` by all iterations.
    fn over_steps(&mut self, acc: Term, p: &Update, var: Var, shared: &Rc<HashSet<Term>>) -> Term {
        let count = self.scan.count;
        let mut lift = Lift::new(self.g, var, count);
        lift.shared = shared.clone();
        match p {
            Update::Add(e) => {
                let sum = lift.sum(*e);
                if is_zero_of_either_sign(self.g, acc) { sum } else { self.g.add(acc, sum) }
            }
            Update::InOrder(e) => {
                let all = lift.lift(*e);
                let axes: Vec<u8> = (0..self.g.rank(all)).map(ad_ir::ir::axis).collect();
                let sum = self.g.sum_axes(all, &axes);
                // The initial value `acc` is 0, so the reduction starts from 0 as well.
                let exact = self.g.reduce(Reduce::FromZero, axes.len(), all);
                self.g.relaxed_exact(sum, exact)
            }
            Update::Scatter { put: Put::Add, src, vars, index } => lift.scatter(acc, *src, (vars, index)),
            Update::Scatter { put: Put::Set, src, vars, index } => {
                let src = lift.lift(*src);
                let fresh = lift.g.fresh();
                let index: Vec<Term> = index.iter().map(|&ix| lift.lift_index(ix, fresh)).collect();
                let vars: Vec<Var> = std::iter::once(fresh).chain(vars.iter().copied()).collect();
                self.g.update(acc, src, &vars, &index)
            }
            Update::Extremum(op, e) | Update::Winner(op, e) => {
                let all = lift.lift(*e);
                let rank = self.g.rank(all);
                let last: Vec<u8> = (1..rank).chain([0]).map(ad_ir::ir::axis).collect();
                let all = self.g.transpose(all, &last);
                let best = self.g.reduce(*op, 1, all);
                let f = if *op == Reduce::Max { Binary::Max } else { Binary::Min };
                let met = self.g.binary(f, acc, best);
                // The extremum of no elements is an infinity, which replaces only a NaN.
                if self.g.real_value(acc).is_some_and(|start| !start.is_nan()) {
                    return met;
                }
                let zero = self.g.lit_usize(0);
                let none = self.g.compare(Cmp::Eq, count, zero);
                self.g.cond(none, acc, met)
            }
        }
    }
}

//! What of a loop is no loop: the rules by which parts of a [`Scan`] become bulk operations over all its steps. They are applied where builds
//! are eliminated, and again after differentiation, to the loops of the derivative.
//!
//! | rule | before | after |
//! | --- | --- | --- |
//! | fixed | a carried value that no step changes | its beginning, a capture |
//! | unused | what neither the results nor other carried values read | nothing |
//! | rows | rows that depend on nothing carried | a build |
//! | sum | `acc + e` | beginning + the sum of a build |
//! | elements | `acc[f] += e` | one scatter over all steps |
//! | sum in order | `acc + e` that a decision depends on, from 0, of numbers under no condition; through loops inside of the step too | the same, and for the decision the sum in its order ([`Prim::Own`]) |
//! | winner | `if e < acc { e } else { acc }`, e computed, or a beginning that may be NaN | the same choice between the beginning and e at the place of the smallest: only there e has a derivative |
//! | followers | `if e < acc { p } else { other }` beside a winner `acc` | p at the place of the smallest, if that is less than the beginning |
//! | extremum | `max(acc, e)`, `if e > acc { e } else { acc }` | `max(beginning, maximum of a build)` |
//! | writes | `acc[f] = e`, at another place in each step | one update over all steps |
//! | apart | arrays that each step reads and writes at a place of its own only | reads of the beginning; each write one update over all steps |
//! | masks | `if c { one of these } else { acc }` | the same, of what is masked |
//! | products | a contraction with what is the same in each step | rows of one contraction before the loop |
//!
//! `acc` is read by nothing else (but where its steps are apart), and `e`, `f` and `c` depend on nothing carried. There is one exception, which is the cost rule of sums:
//! where all that e needs of carried values has *fewer axes* than e, rows of that are saved and the sum is taken after the loop. For an outer
//! product that is two vectors a step instead of a pass over a matrix, and the sum is one contraction (the weight gradient of a recurrent
//! net). A scalar in a loop that stays has nothing smaller, and stays. What is saved anyway costs nothing, so what needs no more follows.
//!
//! The cost rule of products: the contraction depends on nothing carried, is computed in every step, and what is the same in each step (a
//! matrix) has more axes than a row of the result. A step then reads a row that is smaller than the matrix that it read before, and all steps
//! are one product of matrices. Whatever else depends on nothing carried stays in the step: saving it would cost memory for all steps, and
//! computing it again costs a step no more than reading it does.
//!
//! Any other sum that a decision depends on keeps its order and so its loop. Must never put a loop that is left in a step into bulk: all steps would
//! be in memory at once.

mod distribute;
mod fission;
mod fusion;
mod legality;
mod nested_sums;
pub(crate) mod rematerialise;
pub(crate) mod strip_mine;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Pass;
use super::bulk::Lift;
use crate::choice::{Kind, choose};
use crate::ir::flatten;
use crate::ir::{Body, Elem, Graph, Node, Put, Scan, Term, Type, Var};
use crate::prim::{Binary, Cmp, IntOp, Prim, Reduce};

/// The pass.
pub(crate) const PASS: Pass = Pass {
    name: "loops",
    run: |g, roots, cx| {
        let exact = cx.exact(g, roots);
        roots.map(|all| pass(g, all, &exact))
    },
    simplified: true,
};

/// Operations on one carried value in one step that are looked at.
const MANY: usize = 64;

/// The same roots, with the rules applied to all loops: a pass of its own, after differentiation.
fn pass(g: &mut Graph, roots: &[Term], exact: &HashSet<Term>) -> Vec<Term> {
    // Sizes in types stay the terms that they are.
    let mut done: HashMap<Term, Term> = crate::analysis::sizes::fixed(g, roots).into_iter().map(|n| (n, n)).collect();
    for t in g.reachable(roots) {
        if done.contains_key(&t) {
            continue;
        }
        let loc = g.loc(t);
        let before = g.at(loc);
        let node = g.node_rc(t);
        let new = match node.map_children(|c| done[&c]) {
            Node::Scan(mut scan) => {
                scan.body.results = pass(g, &scan.body.results, exact).into();
                let (exact, wanted) = (exact_parts(g, exact, t), wanted(g, roots, t));
                bulk(g, *scan, &exact, &wanted)
            }
            Node::Proj(tuple, k) => g.proj(tuple, k as usize),
            other => g.mk(other),
        };
        g.at(before);
        done.insert(t, new);
    }
    roots.iter().map(|t| done[t]).collect()
}

/// Which parts of the loop `t` keep the order of their steps.
pub(super) fn exact_parts(g: &mut Graph, exact: &HashSet<Term>, t: Term) -> Vec<bool> {
    let Type::Tuple(parts) = g.ty(t).clone() else { return Vec::new() };
    (0..parts.len())
        .map(|k| {
            let part = g.proj(t, k);
            exact.contains(&part)
        })
        .collect()
}

/// Which parts of the loop `t` the roots read.
pub(super) fn wanted(g: &Graph, roots: &[Term], t: Term) -> Vec<bool> {
    let Type::Tuple(parts) = g.ty(t) else { return Vec::new() };
    let mut found = vec![roots.contains(&t); parts.len()];
    for u in g.reachable(roots) {
        match *g.node(u) {
            Node::Proj(tuple, k) if tuple == t => found[k as usize] = true,
            ref node => node.for_each_child(|c| {
                if c == t {
                    found.fill(true);
                }
            }),
        }
    }
    found
}

/// The loop as a tuple of its parts, by the rules.
pub(super) fn bulk(g: &mut Graph, scan: Scan, exact: &[bool], wanted: &[bool]) -> Term {
    flatten::scan(g, scan, &mut |g, scan, of| {
        // What is done in steps that did not run must not count.
        if scan.stop.is_some() {
            return g.scan(scan);
        }
        let flags = |all: &[bool]| of.iter().map(|&k| all[k]).collect::<Vec<bool>>();
        let parts = Parts::new(g, scan, flags(exact), flags(wanted));
        parts.all()
    })
}

/// What a step does to one carried value.
enum Piece {
    /// Adds a term.
    Add(Term),
    /// Adds a number, or all of an array, to a sum from 0 that keeps the order of the steps and, in them, of the elements.
    InOrder(Term),
    /// Adds or puts elements, at places that are opened.
    Scatter { put: Put, src: Term, vars: Vec<Var>, index: Vec<Term> },
    /// Takes the greater or the smaller.
    Extremum(Reduce, Term),
    /// The same, of what a step computes: its place is a decision, and only there is it computed again, for its derivative.
    Winner(Reduce, Term),
}

impl Piece {
    fn terms(&self) -> Vec<Term> {
        match self {
            Piece::Add(e) | Piece::InOrder(e) | Piece::Extremum(_, e) | Piece::Winner(_, e) => vec![*e],
            Piece::Scatter { src, index, .. } => std::iter::once(*src).chain(index.iter().copied()).collect(),
        }
    }

    fn with(&self, terms: &[Term]) -> Piece {
        match self {
            Piece::Add(_) => Piece::Add(terms[0]),
            Piece::InOrder(_) => Piece::InOrder(terms[0]),
            Piece::Winner(op, _) => Piece::Winner(*op, terms[0]),
            Piece::Extremum(op, _) => Piece::Extremum(*op, terms[0]),
            Piece::Scatter { put, vars, .. } => {
                Piece::Scatter { put: *put, src: terms[0], vars: vars.clone(), index: terms[1..].to_vec() }
            }
        }
    }
}

/// What becomes of a part.
enum Fate {
    /// It stays in the loop.
    Stays,
    /// A carried value that no step changes, or that nobody wants.
    Beginning,
    /// A row that nobody wants.
    Nothing,
    /// Rows in bulk.
    Rows(Term),
    /// The beginning and these.
    Pieces(Vec<Piece>),
    /// What the step of the greatest or smallest says, if that is better than the beginning of this carried value.
    Follows { leader: usize, op: Reduce, e: Term, payload: Term },
}

/// A loop over components at work.
struct Parts<'g> {
    g: &'g mut Graph,
    scan: Scan,
    exact: Vec<bool>,
    wanted: Vec<bool>,
    fate: Vec<Fate>,
    /// Terms of the body that become rows for what has left the loop.
    saved: Vec<Term>,
    /// Carried arrays of which a step reads what was there before the loop.
    apart: BTreeSet<usize>,
}

impl<'g> Parts<'g> {
    fn new(g: &'g mut Graph, scan: Scan, exact: Vec<bool>, wanted: Vec<bool>) -> Self {
        let fate = scan.body.results.iter().map(|_| Fate::Stays).collect();
        Parts { g, scan, exact, wanted, fate, saved: Vec::new(), apart: BTreeSet::new() }
    }

    fn carries(&self) -> usize {
        self.scan.init.len()
    }

    fn all(mut self) -> Term {
        self.fixed();
        self.unused();
        self.apart();
        self.products();
        self.decide();
        // What stayed for the sake of what has left.
        self.unused();
        self.make()
    }

    /// The carried values of the loop that is left, as the parameters that they are.
    fn carried(&self, t: Term) -> Option<usize> {
        match self.g.node(t) {
            Node::Param(k, _) if (*k as usize) < self.carries() => Some(*k as usize),
            _ => None,
        }
    }

    /// Whether a step may read something else of a carried value than what was there before the loop.
    fn changes(&self, k: usize) -> bool {
        !matches!(self.fate[k], Fate::Beginning) && !self.apart.contains(&k)
    }

    /// The carried values that a term depends on.
    fn reads(&self, roots: &[Term]) -> BTreeSet<usize> {
        self.g.reachable(roots).into_iter().filter_map(|t| self.carried(t)).collect()
    }

    /// Values that no step changes become captures.
    fn fixed(&mut self) {
        for k in 0..self.carries() {
            if self.carried(self.scan.body.results[k]) == Some(k) {
                self.fate[k] = Fate::Beginning;
            }
        }
    }

    /// Carried values and rows that nobody wants.
    fn unused(&mut self) {
        let carries = self.carries();
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut stack: Vec<Term> = self.saved.clone();
        for (k, &r) in self.scan.body.results.iter().enumerate() {
            if self.wanted[k] && matches!(self.fate[k], Fate::Stays) {
                stack.push(r);
                if k < carries {
                    needed.insert(k);
                }
            }
        }
        while !stack.is_empty() {
            let read = self.reads(&stack);
            stack.clear();
            for k in read {
                if matches!(self.fate[k], Fate::Stays) && needed.insert(k) {
                    stack.push(self.scan.body.results[k]);
                }
            }
        }
        for k in 0..self.fate.len() {
            if matches!(self.fate[k], Fate::Stays) {
                if k < carries && !needed.contains(&k) {
                    self.fate[k] = Fate::Beginning;
                } else if k >= carries && !self.wanted[k] {
                    self.fate[k] = Fate::Nothing;
                }
            }
        }
    }

    /// Which parts leave the loop.
    fn decide(&mut self) {
        for k in 0..self.carries() {
            self.followers(k);
        }
        let results = self.scan.body.results.clone();
        let mut pieces: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        for (k, &r) in results.iter().enumerate() {
            if !matches!(self.fate[k], Fate::Stays) {
                continue;
            }
            if k >= self.carries() {
                if self.leaves(&[r], None, &mut Vec::new()) && self.in_bulk(k) {
                    self.fate[k] = Fate::Rows(r);
                }
                continue;
            }
            let others = results.iter().enumerate().filter(|&(n, _)| n != k && matches!(self.fate[n], Fate::Stays));
            let others: Vec<Term> = others.map(|(_, &r)| r).collect();
            if self.reads(&others).contains(&k) {
                continue;
            }
            if let Some(found) = self.pieces(k, r) {
                pieces.insert(k, found);
            }
        }
        // First what costs nothing, then what has rows smaller than itself saved, then what needs no more than these.
        for round in 0..3 {
            for (k, all) in std::mem::take(&mut pieces) {
                let mut saved = Vec::new();
                let leaves = match round {
                    1 => self.behind(k, &all, &mut saved),
                    _ => self.all_leave(&all, |_| (round == 2).then_some(0), &mut saved) && self.in_bulk(k),
                };
                if leaves {
                    self.saved.extend(saved);
                    self.fate[k] = Fate::Pieces(all);
                } else {
                    pieces.insert(k, all);
                }
            }
        }
    }

    /// Carried values that change where a better one than the carried value k is found (`if e < best { best = e; at = i; }`), and nowhere else.
    fn followers(&mut self, k: usize) {
        let results = self.scan.body.results.clone();
        let stays = |me: &Self, j: usize| matches!(me.fate[j], Fate::Stays);
        let own = |me: &mut Self, j: usize| me.g.param(j, me.scan.body.params[j].clone());
        let Node::Cond { cond, then, other } = *self.g.node(results[k]) else { return };
        let acc = own(self, k);
        let Some(op) = self.comparison(acc, cond, then, other).filter(|_| stays(self, k)) else { return };
        let first = self.g.real_value(self.scan.init[k]).is_some_and(|x| !x.is_nan());
        if !first || self.g.rank(then) > 0 || !self.leaves(&[then], None, &mut Vec::new()) {
            return;
        }
        let mut found = Vec::new();
        for j in 0..self.carries() {
            if j == k || !stays(self, j) {
                continue;
            }
            let before = own(self, j);
            if let Node::Cond { cond: c, then: payload, other } = *self.g.node(results[j])
                && (c, other) == (cond, before)
                && self.leaves(&[payload], None, &mut Vec::new())
            {
                found.push((j, payload));
            }
        }
        // Nothing that stays may read what leaves.
        let group: Vec<usize> = found.iter().map(|f| f.0).chain([k]).collect();
        let rest: Vec<Term> =
            (0..results.len()).filter(|j| !group.contains(j) && stays(self, *j)).map(|j| results[j]).collect();
        let read = self.reads(&rest);
        if group.iter().any(|j| read.contains(j)) || found.is_empty() || !self.in_bulk(k) {
            return;
        }
        for (j, payload) in found {
            self.fate[j] = Fate::Follows { leader: k, op, e: then, payload };
        }
    }

    /// Which terms are or depend on such.
    fn with_any(&self, roots: &[Term], such: impl Fn(&Self, Term) -> bool) -> HashMap<Term, bool> {
        let mut found: HashMap<Term, bool> = HashMap::new();
        for t in self.g.reachable(roots) {
            let mut any = such(self, t);
            self.g.node(t).for_each_child(|c| any |= found[&c]);
            found.insert(t, any);
        }
        found
    }

    /// Products that are one product before the loop become rows that a step consumes.
    fn products(&mut self) {
        let stays = |k: usize| matches!(self.fate[k], Fate::Stays);
        let results = self.scan.body.results.clone();
        let roots: Vec<Term> = (0..results.len()).filter(|&k| stays(k)).map(|k| results[k]).collect();
        let first = self.carries() + self.scan.captures.len();
        let inside = self.with_any(&roots, |me, t| {
            matches!(me.g.node(t), Node::Scan(_)) || me.carried(t).is_some_and(|k| me.changes(k))
        });
        let of_step = self.with_any(&roots, |me, t| matches!(me.g.node(t), Node::Param(k, _) if *k as usize >= first));
        let mut found = Vec::new();
        let (mut seen, mut stack) = (HashSet::new(), roots);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) || !of_step[&t] {
                continue;
            }
            match self.g.node(t) {
                Node::Prim(Prim::Contract(_), args) if !inside[&t] && self.g.free(t).is_empty() => {
                    let (rank, fixed) = (self.g.rank(t), args.iter().filter(|a| !of_step[*a]));
                    let most = fixed.map(|&a| self.g.rank(a)).max().unwrap_or(0);
                    let why = || format!("({rank} axes, of what is the same in each step, of {most})");
                    let by_cost = rank > 0 && most > rank;
                    if choose(Kind::Before, (t.index(), self.scan.count.index()), by_cost, why) {
                        found.push(t);
                        continue;
                    }
                }
                // What only an arm needs is computed where the arm is taken.
                Node::Cond { cond, .. } => {
                    stack.push(*cond);
                    continue;
                }
                _ => {}
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        if found.is_empty() {
            return;
        }
        found.sort_unstable();
        let (var, args) = self.step(&[]);
        let rows = self.at_step(&found, &args);
        let mut lift = Lift::new(self.g, var, self.scan.count);
        let rows: Vec<Term> = rows.into_iter().map(|r| lift.lift(r)).collect();
        let mut params = self.scan.body.params.to_vec();
        let mut new: HashMap<Term, Term> = HashMap::new();
        for &t in &found {
            let ty = self.g.ty(t).clone();
            let row = self.g.param(params.len(), ty.clone());
            params.push(ty);
            new.insert(t, row);
        }
        let results = self.replaced(&results, new);
        self.scan.xs = self.scan.xs.iter().copied().chain(rows).collect();
        self.scan.body = Body { params: params.into(), results: results.into() };
    }

    /// The same terms of others.
    fn replaced(&mut self, terms: &[Term], mut new: HashMap<Term, Term>) -> Vec<Term> {
        for t in self.g.reachable(terms) {
            if !new.contains_key(&t) {
                let mapped = self.g.node_rc(t).map_children(|c| new[&c]);
                let made = self.g.mk(mapped);
                new.insert(t, made);
            }
        }
        terms.iter().map(|t| new[t]).collect()
    }

    /// How the carried value k becomes `next`, if that is by one rule; the pieces do not read it.
    fn pieces(&mut self, k: usize, next: Term) -> Option<Vec<Piece>> {
        let own = self.g.param(k, self.scan.body.params[k].clone());
        let zero = self.g.real_value(self.scan.init[k]).is_some_and(|x| x.to_bits() == 0);
        if self.exact[k]
            && zero
            && !self.scan.reverse
            && let Some(all) = self.nested(own, next)
        {
            return Some(vec![Piece::InOrder(all)]);
        }
        let mut found = Vec::new();
        let mut stack = vec![(next, None::<Term>)];
        // Everything on the way is one of: a choice between ways, an addition to a way, a scatter onto a way.
        while let Some((t, mask)) = stack.pop() {
            if t == own {
                continue;
            }
            if found.len() + stack.len() > MANY || !self.reads(&[t]).contains(&k) {
                return None;
            }
            let free = |me: &Self, ts: &[Term]| !me.reads(ts).contains(&k);
            match self.g.node(t).clone() {
                Node::Prim(Prim::Binary(f @ (Binary::Add | Binary::Sub)), args) => {
                    let (a, b) = (args[0], args[1]);
                    let (way, e) = if free(self, &[b]) {
                        (a, if f == Binary::Sub { self.g.neg(b) } else { b })
                    } else if f == Binary::Add && free(self, &[a]) {
                        (b, a)
                    } else {
                        return None;
                    };
                    self.summands(e, mask, &mut found);
                    stack.push((way, mask));
                }
                Node::Prim(Prim::Binary(f @ (Binary::Max | Binary::Min)), args)
                    if args[0] == own && free(self, &[args[1]]) && mask.is_none() =>
                {
                    let op = if f == Binary::Max { Reduce::Max } else { Reduce::Min };
                    found.push(Piece::Extremum(op, args[1]));
                }
                Node::Scatter { .. } => {
                    let t = crate::passes::simplify::index::update_add(self.g, t).unwrap_or(t);
                    let node = self.g.node_rc(t);
                    let (vars, index) = self.g.open_binder(&node);
                    let Node::Scatter { put, dst, src, .. } = *node else { return None };
                    if !free(self, &[src]) || !free(self, &index) {
                        return None;
                    }
                    let src = match (put, mask) {
                        (Put::Add, _) => self.masked(mask, src),
                        (Put::Set, None) => src,
                        (Put::Set, Some(mask)) => {
                            // Each place is written at most once: what is not written is the beginning's own.
                            let sizes: Box<[Term]> = self.g.shape(src)[..vars.len()].into();
                            let begin = self.beginning(k);
                            let old = self.g.gather(begin, sizes, &vars, &index);
                            self.g.cond(mask, src, old)
                        }
                    };
                    found.push(Piece::Scatter { put, src, vars, index });
                    stack.push((dst, mask));
                }
                Node::Cond { cond, then, other } => {
                    if let Some(op) = self.comparison(own, cond, then, other)
                        && mask.is_none()
                    {
                        let e = if then == own { other } else { then };
                        // Nothing is better than a NaN, which only a number that is known is not.
                        let number = self.g.real_value(self.scan.init[k]).is_some_and(|x| !x.is_nan());
                        if free(self, &[e]) && (number || self.g.rank(e) == 0) {
                            let computed = self.g.rank(e) == 0 && matches!(self.g.node(e), Node::Prim(..)) || !number;
                            found.push(if computed { Piece::Winner(op, e) } else { Piece::Extremum(op, e) });
                            continue;
                        }
                    }
                    if !free(self, &[cond]) {
                        return None;
                    }
                    for (arm, value) in [(then, true), (other, false)] {
                        let c = if value { cond } else { self.g.not(cond) };
                        let both = match mask {
                            Some(mask) => self.g.and(mask, c),
                            None => c,
                        };
                        stack.push((arm, Some(both)));
                    }
                }
                _ => return None,
            }
        }
        // One chain of additions, or one extremum, or one write.
        let adds = |p: &Piece| matches!(p, Piece::Add(_) | Piece::Scatter { put: Put::Add, .. });
        if found.iter().all(adds) && !self.exact[k] {
            return Some(found);
        }
        match &found[..] {
            // Under a condition it stays a loop, which need not run where that does not hold.
            [Piece::Add(e)]
                if self.g.rank(*e) == 0
                    && !self.scan.reverse
                    && !matches!(self.g.node(*e), Node::Cond { .. } | Node::Prim(Prim::Select, _)) =>
            {
                zero.then(|| vec![Piece::InOrder(*e)])
            }
            [Piece::Extremum(..) | Piece::Winner(..)] => Some(found),
            [Piece::Scatter { put: Put::Set, vars, index, .. }] => {
                let (vars, index) = (vars.clone(), index.clone());
                index.iter().any(|&ix| self.moves(ix, &vars)).then_some(found)
            }
            _ => None,
        }
    }

    /// A summand under a condition as pieces: of what is zero but for a few elements, under whatever conditions, only these elements, so
    /// that all steps together cost what one step costs, times their number.
    fn summands(&mut self, e: Term, mask: Option<Term>, found: &mut Vec<Piece>) {
        let mut stack = vec![(e, mask)];
        while let Some((t, mask)) = stack.pop() {
            if self.g.real_value(t).is_some_and(|x| x.to_bits() == 0) {
                continue;
            }
            let few = found.len() + stack.len() < MANY && self.has_elements(t);
            match self.g.node(t).clone() {
                Node::Prim(Prim::Binary(Binary::Add), args) if few => stack.extend([(args[1], mask), (args[0], mask)]),
                Node::Cond { cond, then, other } if few => {
                    for (arm, value) in [(other, false), (then, true)] {
                        let c = if value { cond } else { self.g.not(cond) };
                        let both = match mask {
                            Some(mask) => self.g.and(mask, c),
                            None => c,
                        };
                        stack.push((arm, Some(both)));
                    }
                }
                Node::Scatter { put: Put::Add, .. } if few => {
                    let node = self.g.node_rc(t);
                    let (vars, index) = self.g.open_binder(&node);
                    let Node::Scatter { dst, src, .. } = *node else { continue };
                    let src = self.masked(mask, src);
                    found.push(Piece::Scatter { put: Put::Add, src, vars, index });
                    stack.push((dst, mask));
                }
                _ => {
                    let e = self.masked(mask, t);
                    found.push(Piece::Add(e));
                }
            }
        }
    }

    /// Whether elements are added somewhere in a sum, a choice, or a chain of such.
    fn has_elements(&self, t: Term) -> bool {
        let (mut stack, mut seen) = (vec![t], 0);
        while let Some(t) = stack.pop() {
            seen += 1;
            match *self.g.node(t) {
                _ if seen > MANY || self.g.rank(t) == 0 => return false,
                Node::Scatter { put: Put::Add, .. } => return true,
                Node::Prim(Prim::Binary(Binary::Add), ref args) => stack.extend([args[0], args[1]]),
                Node::Cond { then, other, .. } => stack.extend([then, other]),
                _ => {}
            }
        }
        false
    }

    /// `if e > acc { e } else { acc }` and its like, where the first of equals stays.
    fn comparison(&self, own: Term, cond: Term, then: Term, other: Term) -> Option<Reduce> {
        let Node::Prim(Prim::Compare(op), args) = self.g.node(cond) else { return None };
        let greater = match op {
            Cmp::Gt => (args[0], args[1]),
            Cmp::Lt => (args[1], args[0]),
            _ => return None,
        };
        match greater {
            _ if other != own => None,
            (e, acc) if e == then && acc == own => Some(Reduce::Max),
            (acc, e) if e == then && acc == own => Some(Reduce::Min),
            _ => None,
        }
    }

    fn masked(&mut self, mask: Option<Term>, e: Term) -> Term {
        let Some(mask) = mask else { return e };
        let zero = self.g.zeros_like(e);
        self.g.cond(mask, e, zero)
    }

    /// What a carried value is before the loop, as a term in the body.
    fn beginning(&mut self, k: usize) -> Term {
        let number = self.scan.body.params.len() + k;
        self.g.param(number, self.scan.body.params[k].clone())
    }

    /// Whether an index is another one in each step, for all values of the variables: the step, or a multiple, and what is the same for all.
    fn moves(&mut self, ix: Term, vars: &[Var]) -> bool {
        let steps: Vec<Term> = self.step_params();
        let fixed = |me: &Self, t: Term| {
            let own = me.g.free(t).iter().any(|v| vars.contains(v));
            !own && me.g.reachable(&[t]).iter().all(|u| match me.g.node(*u) {
                Node::Param(p, _) => {
                    let p = *p as usize;
                    let (n, c) = (me.carries(), me.scan.captures.len());
                    (n..n + c).contains(&p) || (p < n && !me.changes(p))
                }
                _ => true,
            })
        };
        let mut t = ix;
        loop {
            if steps.contains(&t) {
                return true;
            }
            let Node::Prim(Prim::Int(op), args) = self.g.node(t).clone() else { return false };
            t = match op {
                // A sum that does not fit is no place.
                IntOp::Add if fixed(self, args[1]) => args[0],
                IntOp::Add if fixed(self, args[0]) => args[1],
                IntOp::Mul if self.g.int_value(args[1]).is_some_and(|n| n > 0) => args[0],
                // `n - 1 - i` stops at 0, where i is greater: not if the steps are at most n.
                IntOp::Sub if steps.contains(&args[1]) => {
                    let one = self.g.lit_usize(1);
                    let last = self.g.int(IntOp::Sub, self.scan.count, one);
                    return args[0] == last || args[0] == self.scan.count || self.captured(args[0]) == Some(last);
                }
                _ => return false,
            };
        }
    }

    fn captured(&self, t: Term) -> Option<Term> {
        let Node::Param(k, _) = self.g.node(t) else { return None };
        (*k as usize).checked_sub(self.carries()).and_then(|k| self.scan.captures.get(k)).copied()
    }

    /// The parameters that are the number of the step.
    fn step_params(&mut self) -> Vec<Term> {
        let first = self.carries() + self.scan.captures.len();
        let xs = self.scan.xs.clone();
        let counted = |g: &Graph, x: Term| matches!(g.node(x), Node::Prim(Prim::Iota, _));
        let counted: Vec<usize> = (0..xs.len()).filter(|&k| counted(self.g, xs[k])).collect();
        counted.into_iter().map(|k| self.g.param(first + k, Type::scalar(Elem::USIZE))).collect()
    }
}

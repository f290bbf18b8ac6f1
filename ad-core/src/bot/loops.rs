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
//! | extremum | `max(acc, e)`, `if e > acc { e } else { acc }` | `max(beginning, maximum of a build)` |
//! | writes | `acc[f] = e`, at another place in each step | one update over all steps |
//! | masks | `if c { one of these } else { acc }` | the same, of what is masked |
//!
//! `acc` is read by nothing else, and `e`, `f` and `c` depend on nothing carried. There is one exception, which is the cost rule of sums:
//! where all that e needs of carried values has *fewer axes* than e, rows of that are saved and the sum is taken after the loop. For an outer
//! product that is two vectors a step instead of a pass over a matrix, and the sum is one contraction (the weight gradient of a recurrent
//! net). A scalar in a loop that stays has nothing smaller, and stays. What is saved anyway costs nothing, so what needs no more follows.
//!
//! A sum that a decision depends on keeps its order and so its loop. Must never put a loop that is left in a step into bulk: all steps would
//! be in memory at once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Lift;
use crate::flatten;
use crate::ir::{Body, Elem, Graph, Node, Put, Scan, Term, Type, Var};
use crate::prim::{Binary, Cmp, IntOp, Prim, Reduce};

/// Operations on one carried value in one step that are looked at.
const MANY: usize = 64;

/// The same roots, with the rules applied to all loops: a pass of its own, after differentiation.
pub(crate) fn pass(g: &mut Graph, roots: &[Term], exact: &HashSet<Term>) -> Vec<Term> {
    // Sizes in types stay the terms that they are.
    let mut done: HashMap<Term, Term> = crate::simplify::sizes(g, roots).into_iter().map(|n| (n, n)).collect();
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
    /// Adds or puts elements, at places that are opened.
    Scatter { put: Put, src: Term, vars: Vec<Var>, index: Vec<Term> },
    /// Takes the greater or the smaller.
    Extremum(Reduce, Term),
}

impl Piece {
    fn terms(&self) -> Vec<Term> {
        match self {
            Piece::Add(e) | Piece::Extremum(_, e) => vec![*e],
            Piece::Scatter { src, index, .. } => std::iter::once(*src).chain(index.iter().copied()).collect(),
        }
    }

    fn with(&self, terms: &[Term]) -> Piece {
        match self {
            Piece::Add(_) => Piece::Add(terms[0]),
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
}

impl<'g> Parts<'g> {
    fn new(g: &'g mut Graph, scan: Scan, exact: Vec<bool>, wanted: Vec<bool>) -> Self {
        let fate = scan.body.results.iter().map(|_| Fate::Stays).collect();
        Parts { g, scan, exact, wanted, fate, saved: Vec::new() }
    }

    fn carries(&self) -> usize {
        self.scan.init.len()
    }

    fn all(mut self) -> Term {
        self.fixed();
        self.unused();
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
        let results = self.scan.body.results.clone();
        let mut pieces: BTreeMap<usize, Vec<Piece>> = BTreeMap::new();
        for (k, &r) in results.iter().enumerate() {
            if !matches!(self.fate[k], Fate::Stays) {
                continue;
            }
            if k >= self.carries() {
                if self.leaves(&[r], None, &mut Vec::new()) {
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
                let leaves = all.iter().all(|p| {
                    let terms = p.terms();
                    let limit = match p {
                        Piece::Add(e) if round > 0 => Some(if round == 1 { self.g.rank(*e) } else { 0 }),
                        Piece::Scatter { put: Put::Add, src, .. } if round > 0 => {
                            Some(if round == 1 { self.g.rank(*src) } else { 0 })
                        }
                        _ => None,
                    };
                    self.leaves(&terms, limit, &mut saved)
                });
                if leaves {
                    self.saved.extend(saved);
                    self.fate[k] = Fate::Pieces(all);
                } else {
                    pieces.insert(k, all);
                }
            }
        }
    }

    /// Whether terms can be computed outside: of nothing carried, or (given a number of axes) of what has fewer and is then saved.
    fn leaves(&self, roots: &[Term], limit: Option<usize>, saved: &mut Vec<Term>) -> bool {
        let mut varies: HashMap<Term, bool> = HashMap::new();
        for t in self.g.reachable(roots) {
            let mut any = self.carried(t).is_some_and(|k| !matches!(self.fate[k], Fate::Beginning));
            self.g.node(t).for_each_child(|c| any |= varies[&c]);
            varies.insert(t, any);
        }
        let mut seen = HashSet::new();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if varies[&t] {
                let Some(limit) = limit else { return false };
                if saved.contains(&t) || self.saved.contains(&t) {
                    continue;
                }
                let array = self.g.ty(t).as_array().is_some();
                if array && self.g.free(t).is_empty() && self.g.rank(t) < limit {
                    saved.push(t);
                    continue;
                }
                if self.carried(t).is_some() {
                    return false;
                }
            }
            if matches!(self.g.node(t), Node::Scan(_)) {
                return false;
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        true
    }

    /// How the carried value k becomes `next`, if that is by one rule; the pieces do not read it.
    fn pieces(&mut self, k: usize, next: Term) -> Option<Vec<Piece>> {
        let own = self.g.param(k, self.scan.body.params[k].clone());
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
                    let e = self.masked(mask, e);
                    found.push(Piece::Add(e));
                    stack.push((way, mask));
                }
                Node::Prim(Prim::Binary(f @ (Binary::Max | Binary::Min)), args)
                    if args[0] == own && free(self, &[args[1]]) && mask.is_none() =>
                {
                    let op = if f == Binary::Max { Reduce::Max } else { Reduce::Min };
                    found.push(Piece::Extremum(op, args[1]));
                }
                Node::Scatter { .. } => {
                    let t = crate::simplify::index::update_add(self.g, t).unwrap_or(t);
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
                        && self.g.real_value(self.scan.init[k]).is_some_and(|x| !x.is_nan())
                    {
                        let e = if then == own { other } else { then };
                        if free(self, &[e]) {
                            found.push(Piece::Extremum(op, e));
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
        if found.iter().all(adds) {
            return (!self.exact[k]).then_some(found);
        }
        match &found[..] {
            [Piece::Extremum(..)] => Some(found),
            [Piece::Scatter { put: Put::Set, vars, index, .. }] => {
                let (vars, index) = (vars.clone(), index.clone());
                index.iter().any(|&ix| self.moves(ix, &vars)).then_some(found)
            }
            _ => None,
        }
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
                    (n..n + c).contains(&p) || (p < n && matches!(me.fate[p], Fate::Beginning))
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

    /// The loop that is left, and all parts.
    fn make(mut self) -> Term {
        let (carries, captures) = (self.carries(), self.scan.captures.len());
        let total = self.scan.body.params.len();
        let stays = |me: &Self, k: usize| matches!(me.fate[k], Fate::Stays);
        let left: Vec<usize> = (0..self.fate.len()).filter(|&k| stays(&self, k)).collect();
        if left.len() == self.fate.len() {
            return self.g.scan(self.scan);
        }
        let kept: Vec<usize> = left.iter().copied().filter(|&k| k < carries).collect();
        let mut parts: Vec<Option<Term>> = vec![None; self.fate.len()];
        let mut rows: Vec<Term> = Vec::new();
        if !left.is_empty() || !self.saved.is_empty() {
            let mut results: Vec<Term> = left.iter().map(|&k| self.scan.body.results[k]).collect();
            results.extend(&self.saved);
            // Parameters that occur, in their order: carried, captures and what has become one, rows.
            let occurs: BTreeSet<usize> = self
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
            rows = (0..self.saved.len()).map(|n| self.g.proj(rest, left.len() + n)).collect();
        }
        let (var, args) = self.step(&rows);
        let fates = std::mem::take(&mut self.fate);
        for (k, fate) in fates.into_iter().enumerate() {
            let made = match fate {
                Fate::Stays => continue,
                Fate::Beginning => self.scan.init[k],
                Fate::Nothing => {
                    let (elem, shape) =
                        (self.g.elem(self.scan.body.results[k]), self.g.shape(self.scan.body.results[k]).to_vec());
                    let shape: Vec<Term> = std::iter::once(self.scan.count).chain(shape).collect();
                    let nothing = self.nothing(elem);
                    self.g.broadcast(nothing, &shape)
                }
                Fate::Rows(r) => {
                    let r = self.at_step(&[r], &args)[0];
                    Lift::new(self.g, var, self.scan.count).lift(r)
                }
                Fate::Pieces(pieces) => {
                    // The last of the chain was met first.
                    pieces.iter().rev().fold(self.scan.init[k], |acc, p| {
                        let p = p.with(&self.at_step(&p.terms(), &args));
                        self.over_steps(acc, &p, var)
                    })
                }
            };
            parts[k] = Some(made);
        }
        let all: Vec<Term> = parts.into_iter().flatten().collect();
        self.g.tuple(&all)
    }

    fn nothing(&mut self, elem: Elem) -> Term {
        match elem {
            Elem::Real(ty) => self.g.lit_real(ty, 0.0),
            Elem::Int(ty) => self.g.lit(crate::ir::Lit::Int(ty, 0)),
            Elem::Bool => self.g.lit_bool(false),
        }
    }

    /// A step's number, and what the parameters of the body and its saved terms are at it.
    fn step(&mut self, rows: &[Term]) -> (Var, Vec<Term>) {
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
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
        (var, args)
    }

    /// Row i of an array; of counted steps the count.
    fn row(&mut self, x: Term, i: Term) -> Term {
        match self.g.node(x).clone() {
            Node::Prim(Prim::Iota, _) => i,
            _ => self.g.index(x, &[i]),
        }
    }

    /// Terms of the body at a step, as terms outside.
    fn at_step(&mut self, terms: &[Term], args: &[Term]) -> Vec<Term> {
        let first = self.scan.body.params.len() + self.carries();
        let mut params = self.scan.body.params.to_vec();
        params.extend(self.scan.init.iter().map(|&t| self.g.ty(t).clone()).collect::<Vec<_>>());
        let mut new: HashMap<Term, Term> = HashMap::new();
        for (n, &t) in self.saved.clone().iter().enumerate() {
            let ty = self.g.ty(t).clone();
            params.push(ty.clone());
            let p = self.g.param(first + n, ty);
            new.insert(t, p);
        }
        let results: Vec<Term> = if self.saved.is_empty() {
            terms.to_vec()
        } else {
            for t in self.g.reachable(terms) {
                if !new.contains_key(&t) {
                    let mapped = self.g.node_rc(t).map_children(|c| new[&c]);
                    let made = self.g.mk(mapped);
                    new.insert(t, made);
                }
            }
            terms.iter().map(|t| new[t]).collect()
        };
        let body = Body { params: params.into(), results: results.into() };
        self.g.instantiate(&body, args)
    }

    /// What all steps together make of `acc`.
    fn over_steps(&mut self, acc: Term, p: &Piece, var: Var) -> Term {
        let count = self.scan.count;
        let mut lift = Lift::new(self.g, var, count);
        match p {
            Piece::Add(e) => {
                let all = lift.lift(*e);
                let sum = self.g.sum_axes(all, &[0]);
                if self.g.real_value(acc) == Some(0.0) { sum } else { self.g.add(acc, sum) }
            }
            Piece::Scatter { put, src, vars, index } => {
                let src = lift.lift(*src);
                let fresh = lift.g.fresh();
                let index: Vec<Term> = index.iter().map(|&ix| lift.lift_index(ix, fresh)).collect();
                let vars: Vec<Var> = std::iter::once(fresh).chain(vars.iter().copied()).collect();
                match put {
                    Put::Add => self.g.scatter(acc, src, &vars, &index),
                    Put::Set => self.g.update(acc, src, &vars, &index),
                }
            }
            Piece::Extremum(op, e) => {
                let all = lift.lift(*e);
                let rank = self.g.rank(all);
                let last: Vec<u8> = (1..rank).chain([0]).map(crate::ir::axis).collect();
                let all = self.g.transpose(all, &last);
                let best = self.g.reduce(*op, 1, all);
                let f = if *op == Reduce::Max { Binary::Max } else { Binary::Min };
                let met = self.g.binary(f, acc, best);
                // Of no step the beginning is left, were it NaN.
                let zero = self.g.lit_usize(0);
                let none = self.g.compare(Cmp::Eq, count, zero);
                self.g.cond(none, acc, met)
            }
        }
    }
}

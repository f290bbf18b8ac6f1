//! Classifies the updates of a carried value in an iteration, by the rules of `loops`. It changes
//! no term of the loop.

use super::counters::is_fixed;
use super::{Distribution, MAX_OPERATIONS};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Elem, Graph, Node, Put, Term, Type, Var};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Reduce};

/// An update of a carried value in an iteration.
pub(super) enum Update {
    /// Adds a term.
    Add(Term),
    /// Adds a scalar, or all elements of an array, to a sum that starts at 0 and keeps the order of
    /// the iterations and, in each of them, of the elements.
    InOrder(Term),
    /// Adds or puts elements. The index variables are fresh.
    Scatter { put: Put, src: Term, vars: Vec<Var>, index: Vec<Term> },
    /// Takes the maximum or minimum.
    Extremum(Reduce, Term),
    /// Takes the maximum or minimum of a computed value. The argmax is a decision; the value is
    /// recomputed there only, for its derivative.
    Winner(Reduce, Term),
}

impl Update {
    /// The rule of the table in `loops` that this is.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Update::Add(_) => "loops.sum",
            Update::InOrder(_) => "loops.sum_in_order",
            Update::Scatter { put: Put::Add, .. } => "loops.elements",
            Update::Scatter { put: Put::Set, .. } => "loops.writes",
            Update::Extremum(..) => "loops.extremum",
            Update::Winner(..) => "loops.winner",
        }
    }

    pub(super) fn terms(&self) -> Vec<Term> {
        match self {
            Update::Add(e) | Update::InOrder(e) | Update::Extremum(_, e) | Update::Winner(_, e) => vec![*e],
            Update::Scatter { src, index, .. } => std::iter::once(*src).chain(index.iter().copied()).collect(),
        }
    }

    pub(super) fn with(&self, terms: &[Term]) -> Update {
        match self {
            Update::Add(_) => Update::Add(terms[0]),
            Update::InOrder(_) => Update::InOrder(terms[0]),
            Update::Winner(op, _) => Update::Winner(*op, terms[0]),
            Update::Extremum(op, _) => Update::Extremum(*op, terms[0]),
            Update::Scatter { put, vars, .. } => {
                Update::Scatter { put: *put, src: terms[0], vars: vars.clone(), index: terms[1..].to_vec() }
            }
        }
    }
}

/// The two terms of which a sum or difference is the first plus the second, in all such ways.
fn summands_of(g: &mut Graph, t: Term) -> Vec<(Term, Term)> {
    match *g.node(t) {
        Node::Prim(Prim::Binary(Binary::Sub), ref args) => {
            let (a, b) = (args[0], args[1]);
            vec![(a, g.neg(b))]
        }
        Node::Prim(Prim::Binary(Binary::Add), ref args) => vec![(args[0], args[1]), (args[1], args[0])],
        _ => Vec::new(),
    }
}

/// If one of two arms is the other one with something added: the other arm, what is added, and
/// whether the first arm adds it.
fn added_in_an_arm(g: &mut Graph, then: Term, other: Term) -> Option<(Term, Term, bool)> {
    [(then, other, true), (other, then, false)].into_iter().find_map(|(arm, chain, value)| {
        let ways = summands_of(g, arm);
        ways.into_iter().find_map(|(a, added)| (a == chain).then_some((chain, added, value)))
    })
}

/// The states of a carried value in an iteration, from the last one back to the first. Each state
/// between the two is a conditional between chains, an addition to a chain, or a scatter into a
/// chain.
struct UpdateChain {
    /// The index of the carried value, and its first state.
    k: usize,
    own: Term,
    /// The updates so far, newest first.
    found: Vec<Update>,
    /// The states whose updates are still to be found, each with the mask under which it counts.
    stack: Vec<(Term, Option<Term>)>,
}

impl Distribution<'_> {
    /// The updates by which the carried value k becomes `next`, if one rule applies. They do not
    /// read the carried value.
    pub(super) fn updates(&mut self, k: usize, next: Term) -> Option<Vec<Update>> {
        let own = self.g.param(k, self.scan.body.params[k].clone());
        let zero = is_zero(self.g, self.scan.init[k]);
        if self.exact[k]
            && zero
            && !self.scan.reverse
            && let Some(all) = self.nested(own, next)
        {
            return Some(vec![Update::InOrder(all)]);
        }
        let mut chain = UpdateChain { k, own, found: Vec::new(), stack: vec![(next, None)] };
        while let Some((t, mask)) = chain.stack.pop() {
            if t == own {
                continue;
            }
            if chain.found.len() + chain.stack.len() > MAX_OPERATIONS || self.is_free(k, &[t]) {
                return None;
            }
            self.updates_at(&mut chain, t, mask)?;
        }
        self.fit_together(k, zero, chain.found)
    }

    /// Whether these terms do not read the carried value k.
    fn is_free(&self, k: usize, ts: &[Term]) -> bool {
        !self.reads(ts).contains(&k)
    }

    /// Adds the updates of one state of a chain, and goes on with the states before it.
    fn updates_at(&mut self, chain: &mut UpdateChain, t: Term, mask: Option<Term>) -> Option<()> {
        let k = chain.k;
        match self.g.node(t).clone() {
            Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), _) => {
                let ways = summands_of(self.g, t);
                let (before, e) = ways.into_iter().find(|&(_, e)| self.is_free(k, &[e]))?;
                self.summands(e, mask, &mut chain.found);
                chain.stack.push((before, mask));
            }
            Node::Prim(Prim::Binary(f @ (Binary::Max | Binary::Min)), args)
                if args[0] == chain.own && self.is_free(k, &[args[1]]) =>
            {
                let op = if f == Binary::Max { Reduce::Max } else { Reduce::Min };
                let e = mask.map_or(Some(args[1]), |mask| self.of_first_steps(mask, k, args[1]))?;
                chain.found.push(Update::Extremum(op, e));
            }
            Node::Scatter { .. } => {
                let t = crate::passes::simplify::update::update_add(self.g, t).unwrap_or(t);
                let node = self.g.node_rc(t);
                let (vars, index) = self.g.open_binder(&node);
                let Node::Scatter { put, dst, src, .. } = *node else { return None };
                if !self.is_free(k, &[src]) || !self.is_free(k, &index) {
                    return None;
                }
                let src = match (put, mask) {
                    (Put::Add, _) => self.masked(mask, src),
                    (Put::Set, None) => src,
                    (Put::Set, Some(mask)) => self.kept_unless(mask, k, src, (&vars, &index)),
                };
                chain.found.push(Update::Scatter { put, src, vars, index });
                chain.stack.push((dst, mask));
            }
            Node::Cond { cond, then, other } => self.updates_of_arms(chain, mask, (cond, then, other))?,
            _ => return None,
        }
        Some(())
    }

    /// [`Self::updates_at`] for a conditional: an extremum, or updates under the condition.
    fn updates_of_arms(
        &mut self,
        chain: &mut UpdateChain,
        mask: Option<Term>,
        (cond, then, other): (Term, Term, Term),
    ) -> Option<()> {
        let k = chain.k;
        if let Some(op) = self.comparison(chain.own, cond, then, other)
            && mask.is_none()
        {
            let e = if then == chain.own { other } else { then };
            // No value compares better than a NaN, so the initial value has to be a known number
            // that is not NaN.
            let number = self.g.real_value(self.scan.init[k]).is_some_and(|x| !x.is_nan());
            if self.is_free(k, &[e]) && (number || self.g.rank(e) == 0) {
                let computed = self.g.rank(e) == 0 && matches!(self.g.node(e), Node::Prim(..)) || !number;
                chain.found.push(if computed { Update::Winner(op, e) } else { Update::Extremum(op, e) });
                return Some(());
            }
        }
        if !self.is_free(k, &[cond]) {
            return None;
        }
        // What one arm adds to the other one is added under a condition. Otherwise each of several
        // conditions in a row would double the terms.
        if let Some((before, e, value)) = added_in_an_arm(self.g, then, other)
            && self.is_free(k, &[e])
        {
            let both = self.restricted(mask, cond, value);
            self.summands(e, Some(both), &mut chain.found);
            chain.stack.push((before, mask));
            return Some(());
        }
        for (arm, value) in [(then, true), (other, false)] {
            let both = self.restricted(mask, cond, value);
            chain.stack.push((arm, Some(both)));
        }
        Some(())
    }

    /// These updates of the carried value k, if they are only additions, or a single extremum, or a
    /// single write. `zero`: the value begins with zero.
    fn fit_together(&mut self, k: usize, zero: bool, found: Vec<Update>) -> Option<Vec<Update>> {
        let adds = |p: &Update| matches!(p, Update::Add(_) | Update::Scatter { put: Put::Add, .. });
        if found.iter().all(adds) && !self.exact[k] {
            return Some(found);
        }
        match &found[..] {
            // A conditional sum stays in the loop, which need not run where the condition is false.
            [Update::Add(e)]
                if self.g.rank(*e) == 0
                    && !self.scan.reverse
                    && !matches!(self.g.node(*e), Node::Cond { .. } | Node::Prim(Prim::Select, _)) =>
            {
                zero.then(|| vec![Update::InOrder(*e)])
            }
            [Update::Extremum(..) | Update::Winner(..)] => Some(found),
            [Update::Scatter { put: Put::Set, vars, index, .. }] => {
                let (vars, index) = (vars.clone(), index.clone());
                index.iter().any(|&ix| self.moves(ix, &vars)).then_some(found)
            }
            _ => None,
        }
    }

    /// Splits a summand with its mask into updates. If a summand is zero except for some elements,
    /// under any conditions, only these elements are added. So the cost of all iterations is the
    /// number of iterations times the cost of one iteration.
    pub(super) fn summands(&mut self, e: Term, mask: Option<Term>, found: &mut Vec<Update>) {
        let mut stack = vec![(e, mask)];
        while let Some((t, mask)) = stack.pop() {
            if is_zero(self.g, t) {
                continue;
            }
            let few = found.len() + stack.len() < MAX_OPERATIONS && self.has_elements(t);
            match self.g.node(t).clone() {
                Node::Prim(Prim::Binary(Binary::Add), args) if few => stack.extend([(args[1], mask), (args[0], mask)]),
                Node::Cond { cond, then, other } if few => {
                    for (arm, value) in [(other, false), (then, true)] {
                        let both = self.restricted(mask, cond, value);
                        stack.push((arm, Some(both)));
                    }
                }
                Node::Scatter { put: Put::Add, .. } if few => {
                    let node = self.g.node_rc(t);
                    let (vars, index) = self.g.open_binder(&node);
                    let Node::Scatter { dst, src, .. } = *node else { continue };
                    let src = self.masked(mask, src);
                    found.push(Update::Scatter { put: Put::Add, src, vars, index });
                    stack.push((dst, mask));
                }
                _ => {
                    let e = self.masked(mask, t);
                    found.push(Update::Add(e));
                }
            }
        }
    }

    /// Whether a sum, a conditional, or a chain of these adds single elements.
    pub(super) fn has_elements(&self, t: Term) -> bool {
        let (mut stack, mut seen) = (vec![t], 0);
        while let Some(t) = stack.pop() {
            seen += 1;
            match *self.g.node(t) {
                _ if seen > MAX_OPERATIONS || self.g.rank(t) == 0 => return false,
                Node::Scatter { put: Put::Add, .. } => return true,
                Node::Prim(Prim::Binary(Binary::Add), ref args) => stack.extend([args[0], args[1]]),
                Node::Cond { then, other, .. } => stack.extend([then, other]),
                _ => {}
            }
        }
        false
    }

    /// `if e > acc { e } else { acc }` and its variants, in which the first of equal values wins.
    pub(super) fn comparison(&self, own: Term, cond: Term, then: Term, other: Term) -> Option<Reduce> {
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

    /// The condition that holds where the mask does and `cond` has this value.
    fn restricted(&mut self, mask: Option<Term>, cond: Term, value: bool) -> Term {
        let c = if value { cond } else { self.g.not(cond) };
        match mask {
            Some(mask) => self.g.and(mask, c),
            None => c,
        }
    }

    /// What the extremum k is taken of, if only the steps before a limit take part: the others
    /// have its initial value, a number, which changes no extremum. The candidates have to be
    /// elements of an array that is in memory for all steps, such as a `Vec` with its capacity. Any
    /// others would be computed, and stored, for steps that take no part.
    fn of_first_steps(&mut self, mask: Term, k: usize, e: Term) -> Option<Term> {
        let begin = self.g.real_value(self.scan.init[k]).filter(|x| !x.is_nan())?;
        let Node::Prim(Prim::Compare(Cmp::Lt), sides) = self.g.node(mask).clone() else { return None };
        let first = self.carries() + self.scan.captures.len();
        let Node::Param(row, _) = *self.g.node(e) else { return None };
        let row = (row as usize).checked_sub(first).and_then(|row| self.scan.xs.get(row)).copied()?;
        let stored = match *self.g.node(row) {
            Node::Prim(Prim::Select, _) => true,
            Node::Proj(of, _) => matches!(self.g.node(of), Node::Scan(_)),
            _ => false,
        };
        if !stored || !is_fixed(self.g, &self.scan, sides[1]) || !self.step_params().contains(&sides[0]) {
            return None;
        }
        let begin = self.g.lit_like(e, begin);
        let masked = self.g.cond(mask, e, begin);
        self.masks.insert(masked, e);
        Some(masked)
    }

    pub(super) fn masked(&mut self, mask: Option<Term>, e: Term) -> Term {
        let Some(mask) = mask else { return e };
        let zero = self.g.zeros_like(e);
        let masked = self.g.cond(mask, e, zero);
        self.masks.insert(masked, e);
        masked
    }

    /// What is written under a condition to the carried array k at these indices. Each element is
    /// written at most once; an element that is not written keeps its initial value.
    pub(super) fn kept_unless(&mut self, mask: Term, k: usize, src: Term, (vars, index): (&[Var], &[Term])) -> Term {
        let sizes: Box<[Term]> = self.g.shape(src)[..vars.len()].into();
        let begin = self.beginning(k);
        let old = self.g.gather(begin, sizes, vars, index);
        let masked = self.g.cond(mask, src, old);
        self.masks.insert(masked, src);
        masked
    }

    /// The initial value of a carried value, as a term in the body.
    pub(super) fn beginning(&mut self, k: usize) -> Term {
        let number = self.scan.body.params.len() + k;
        self.g.param(number, self.scan.body.params[k].clone())
    }

    /// Whether an index differs between iterations for all values of the variables. It does if it
    /// is a multiple of the number of the iteration, plus a term that is the same in all
    /// iterations.
    pub(super) fn moves(&mut self, ix: Term, vars: &[Var]) -> bool {
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
                // A sum that overflows is not a valid index.
                IntOp::Add if fixed(self, args[1]) => args[0],
                IntOp::Add if fixed(self, args[0]) => args[1],
                IntOp::Mul if self.g.int_value(args[1]).is_some_and(|n| n > 0) => args[0],
                // `n - 1 - i` saturates at 0 if i is greater. That does not happen if there are at
                // most n iterations.
                IntOp::Sub if steps.contains(&args[1]) => {
                    let one = self.g.lit_usize(1);
                    let last = self.g.int(IntOp::Sub, self.scan.count, one);
                    return args[0] == last || args[0] == self.scan.count || self.captured(args[0]) == Some(last);
                }
                _ => return false,
            };
        }
    }

    pub(super) fn captured(&self, t: Term) -> Option<Term> {
        let Node::Param(k, _) = self.g.node(t) else { return None };
        (*k as usize).checked_sub(self.carries()).and_then(|k| self.scan.captures.get(k)).copied()
    }

    /// The parameters whose value is the number of the iteration.
    pub(super) fn step_params(&mut self) -> Vec<Term> {
        let first = self.carries() + self.scan.captures.len();
        let xs = self.scan.xs.clone();
        let counted = |g: &Graph, x: Term| matches!(g.node(x), Node::Prim(Prim::Iota, _));
        let counted: Vec<usize> = (0..xs.len()).filter(|&k| counted(self.g, xs[k])).collect();
        counted.into_iter().map(|k| self.g.param(first + k, Type::scalar(Elem::USIZE))).collect()
    }
}

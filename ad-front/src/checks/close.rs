//! Closes a check's condition over the enclosing loops: the result holds if the condition holds in
//! all iterations that reach the current point.
//!
//! Invariant: a closed condition never fails where the function itself does not panic.

use std::collections::HashMap;

use ad_ir::sorted::{SortedMap, SortedSet};

use super::Condition;
use crate::lower::Lower;
use crate::monotone::{self, Monotonicity};
use crate::translation::enclosing::{CheckMessage, Frame};
use ad_ir::analysis::range::{Linear, sides};
use ad_ir::ir::{Elem, Lit, Node, Term, Type, Var};
use ad_ir::prim::{Cmp, IntOp, Prim, Reduce};

/// The bounds that were found so far: upper ones (`true`) and lower ones. `None` if there is none.
type KnownBounds = HashMap<(Term, bool), Option<Term>>;

impl Lower<'_> {
    /// The condition that `ok` holds in all iterations of the enclosing loops in which the current
    /// point is reached. `None` if it depends on carried values; the recurrence then carries it as
    /// a flag. The check of a call becomes a flag too, since a separate loop would make the call
    /// once more.
    pub(super) fn close(&mut self, mut ok: Condition, said: &CheckMessage) -> Option<Term> {
        let sufficient_condition = self.sufficient_condition(&ok);
        let mut k = self.state.enclosing.depth();
        while k > 0 {
            k -= 1;
            if let Some(at_end) = self.close_at_end(&ok, k) {
                ok = at_end;
                k -= 1;
                continue;
            }
            ok = match self.state.enclosing.frames()[k] {
                Frame::Guard { cond, holds } => {
                    let (inner, sufficient, corner) = match ok {
                        Condition::Linear(l, nonempty) => {
                            let t = self.linear_term(&l, &nonempty);
                            (t, Some((l, nonempty)), Some(t))
                        }
                        Condition::Term(t, sufficient, corner) => (t, sufficient, corner),
                    };
                    let yes = self.g.lit_bool(true);
                    let (then, other) = if holds { (inner, yes) } else { (yes, inner) };
                    match self.g.bool_value(cond) {
                        Some(value) if value == holds => Condition::Term(inner, sufficient, corner),
                        Some(_) => Condition::Term(yes, None, None),
                        None => Condition::Term(self.g.cond(cond, then, other), sufficient, corner),
                    }
                }
                Frame::Loop { var, size, mark } => self.close_loop(ok, var, size, mark),
                Frame::Recurrence { var, size, mark, level } => {
                    let carried = self.state.enclosing.carried(level).to_vec();
                    let free = |me: &Self, l: &Linear, nonempty: &[Term]| {
                        !l.atoms.keys().chain(nonempty).any(|&t| me.g.depends_on(t, &carried))
                    };
                    let in_step = if let Condition::Term(_, _, corner) = ok { corner } else { None };
                    ok = match ok {
                        Condition::Linear(l, nonempty) if !free(self, &l, &nonempty) => {
                            Condition::Term(self.linear_term(&l, &nonempty), None, None)
                        }
                        Condition::Term(t, sufficient, corner) => Condition::Term(
                            t,
                            sufficient.filter(|(l, nonempty)| free(self, l, nonempty)),
                            corner.filter(|&t| !self.g.depends_on(t, &carried)),
                        ),
                        ok => ok,
                    };
                    if let Condition::Term(t, ..) = ok
                        && (said.of_call || self.g.depends_on(t, &carried))
                    {
                        // The test of the worst index comes first if it needs no loop. A loop may
                        // not end where the program does not reach it.
                        let has_loop = |c: Term| {
                            let reached = self.g.reachable(&[c]);
                            let mut loops = reached.into_iter().filter(|&t| matches!(self.g.node(t), Node::Scan(_)));
                            loops.any(|t| self.g.depends_on(t, &carried))
                        };
                        let first = |c: &Term| *c != t && self.g.bool_value(*c) != Some(false) && !has_loop(*c);
                        let t = match in_step.filter(first) {
                            Some(sufficient) => {
                                let yes = self.g.lit_bool(true);
                                self.g.cond(sufficient, yes, t)
                            }
                            None => t,
                        };
                        self.state.enclosing.add_flag(level, t, said);
                        return None;
                    }
                    self.close_loop(ok, var, size, mark)
                }
            };
        }
        Some(match ok {
            Condition::Linear(l, nonempty) => self.linear_term(&l, &nonempty),
            Condition::Term(t, ..) if self.of_sizes_only(t) => t,
            Condition::Term(t, sufficient, corner) => {
                let linear = sufficient
                    .map(|(l, nonempty)| self.linear_term(&l, &nonempty))
                    .filter(|&t| self.g.bool_value(t).is_none() && self.of_sizes_only(t));
                let corner =
                    corner.filter(|&c| c != t && monotone::may_precede_guards(&self.g, c, &self.unconditional_terms()));
                match sufficient_condition.filter(|&c| c != t).or(linear).or(corner) {
                    Some(sufficient) => {
                        let yes = self.g.lit_bool(true);
                        self.g.cond(sufficient, yes, t)
                    }
                    None => t,
                }
            }
        })
    }

    /// A condition that implies `ok` in all iterations, by the known bounds of the terms that vary.
    /// It needs no loop. It is used only if there are guards inside of a loop: without guards, a
    /// test of the worst iteration is exact.
    fn sufficient_condition(&mut self, ok: &Condition) -> Option<Term> {
        let guarded = self.state.enclosing.frames().iter().position(|f| !matches!(f, Frame::Guard { .. }))?;
        if !self.state.enclosing.frames()[guarded..].iter().any(|f| matches!(f, Frame::Guard { .. })) {
            return None;
        }
        let sufficient = match ok {
            Condition::Linear(l, _) => match self.closed_lower_bound(l) {
                Some(least) => self.linear_term(&least, &[]),
                None => {
                    let t = self.linear_term(l, &[]);
                    self.sufficient(t)?
                }
            },
            Condition::Term(t, ..) => self.sufficient(*t)?,
        };
        let known = self.unconditional_terms();
        let first =
            self.g.bool_value(sufficient) != Some(false) && monotone::may_precede_guards(&self.g, sufficient, &known);
        first.then_some(sufficient)
    }

    /// A closed lower bound of a linear form.
    fn closed_lower_bound(&mut self, l: &Linear) -> Option<Linear> {
        let g = &self.g;
        self.state.facts.at_least(g, l, &|t| g.free(t).is_empty() && !g.is_open(t))
    }

    /// A closed sufficient condition.
    fn sufficient(&mut self, t: Term) -> Option<Term> {
        let Node::Prim(prim, args) = self.g.node(t).clone() else {
            return self.g.bool_value(t).map(|_| t);
        };
        match prim {
            Prim::And | Prim::Or => {
                let (a, b) = (self.sufficient(args[0])?, self.sufficient(args[1])?);
                Some(if prim == Prim::And { self.g.and(a, b) } else { self.g.or(a, b) })
            }
            Prim::Compare(op @ (Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge))
                if matches!(self.g.elem(args[0]), Elem::Int(_)) =>
            {
                let less = matches!(op, Cmp::Lt | Cmp::Le);
                let mut known = HashMap::new();
                let a = self.closed_bound(args[0], less, &mut known)?;
                let b = self.closed_bound(args[1], !less, &mut known)?;
                Some(self.g.compare(op, a, b))
            }
            _ => None,
        }
    }

    /// A closed upper (`up`) or lower bound of an integer. All operations are monotone, saturated
    /// or not. A term with many readers is bounded once.
    fn closed_bound(&mut self, t: Term, up: bool, known: &mut KnownBounds) -> Option<Term> {
        if let Some(&bound) = known.get(&(t, up)) {
            return bound;
        }
        let bound = self.new_closed_bound(t, up, known);
        known.insert((t, up), bound);
        bound
    }

    fn new_closed_bound(&mut self, t: Term, up: bool, known: &mut KnownBounds) -> Option<Term> {
        if self.g.free(t).is_empty() && !self.g.is_open(t) {
            return Some(t);
        }
        let usize_ty = Type::scalar(Elem::USIZE);
        if *self.g.ty(t) != usize_ty {
            return None;
        }
        let l = self.state.facts.linear(&self.g, t);
        let sign = if up { -1 } else { 1 };
        let turned = l.combine(sign, &Linear::default(), 0)?;
        let parts = l.atoms.keys().all(|&t| *self.g.ty(t) == usize_ty);
        if let Some(least) = self.closed_lower_bound(&turned).filter(|_| parts)
            && let Some(bound) = least.combine(sign, &Linear::default(), 0)
            && bound.atoms.keys().all(|&t| *self.g.ty(t) == usize_ty)
        {
            let (plus, minus) = sides(&mut self.g, &bound);
            // If the sum might saturate, the difference could be too small.
            let sum = matches!(self.g.node(plus), Node::Prim(Prim::Int(_), _));
            let exact = !sum || !self.state.facts.linear(&self.g, plus).atoms.contains_key(&plus);
            return Some(if exact || !up { self.g.int(IntOp::Sub, plus, minus) } else { plus });
        }
        let Node::Prim(Prim::Int(op), args) = self.g.node(t).clone() else { return None };
        let other = match op {
            IntOp::Add | IntOp::Mul | IntOp::Min | IntOp::Max => up,
            IntOp::Sub | IntOp::Div => !up,
            _ => return None,
        };
        let (a, b) = (self.closed_bound(args[0], up, known)?, self.closed_bound(args[1], other, known)?);
        Some(self.g.int(op, a, b))
    }

    /// A condition in a loop that is guarded by a bound of the step number. If its worst step is
    /// the first or the last one, only that step is tested: neither the guard nor the loop needs a
    /// test of its own. `k` is the frame of the guard. `None` if this does not apply.
    fn close_at_end(&mut self, ok: &Condition, k: usize) -> Option<Condition> {
        let Frame::Guard { cond, holds: true } = self.state.enclosing.frames()[k] else { return None };
        let (var, size, mark, carried) = match *self.state.enclosing.frames().get(k.checked_sub(1)?)? {
            Frame::Loop { var, size, mark } => (var, size, mark, Vec::new()),
            Frame::Recurrence { var, size, mark, level } => {
                let carried = self.state.enclosing.carried(level).to_vec();
                (var, size, mark, carried)
            }
            Frame::Guard { .. } => return None,
        };
        let Node::Prim(Prim::Compare(Cmp::Lt), args) = self.g.node(cond) else { return None };
        let (number, end) = (args[0], args[1]);
        if *self.g.node(number) != Node::Var(var) || self.g.mentions(end, var) || self.g.depends_on(end, &carried) {
            return None;
        }
        // The loop may end before the number.
        let (mut end, whole) = (end, end);
        if !self.state.facts.prove_le(&self.g, end, size) {
            end = self.g.int(IntOp::Min, end, size);
        }
        let t = match ok {
            Condition::Linear(l, nonempty) => {
                if whole != end
                    && let Some((l, nonempty)) = self.worst(l, nonempty, var, whole, mark)
                    && self.state.facts.prove(&self.g, &l)
                {
                    return Some(Condition::Linear(l, nonempty));
                }
                if let Some((l, nonempty)) = self.worst(l, nonempty, var, end, mark) {
                    let outer = !l.atoms.keys().chain(&nonempty).any(|&t| self.g.depends_on(t, &carried));
                    return outer.then_some(Condition::Linear(l, nonempty));
                }
                self.linear_term(l, nonempty)
            }
            Condition::Term(t, _, corner) if *corner == Some(*t) => *t,
            Condition::Term(..) => return None,
        };
        if self.g.depends_on(t, &carried) {
            return None;
        }
        let c = self.at_worst(t, var, end)?;
        Some(Condition::Term(c, None, Some(c)))
    }

    /// The terms in sizes of enclosing loops that are evaluated unconditionally.
    fn unconditional_terms(&self) -> Vec<Term> {
        let sizes = self.state.enclosing.frames().iter().map_while(|frame| match *frame {
            Frame::Loop { size, .. } | Frame::Recurrence { size, .. } => Some(size),
            Frame::Guard { .. } => None,
        });
        self.g.reachable(&sizes.collect::<Vec<_>>())
    }

    fn close_loop(&mut self, ok: Condition, var: Var, size: Term, mark: usize) -> Condition {
        match ok {
            Condition::Linear(l, nonempty) => match self.worst(&l, &nonempty, var, size, mark) {
                Some((l, nonempty)) => Condition::Linear(l, nonempty),
                None => {
                    let t = self.linear_term(&l, &nonempty);
                    self.close_term(t, Some(t), None, var, size)
                }
            },
            Condition::Term(t, sufficient, corner) => {
                let sufficient = sufficient.and_then(|(l, nonempty)| self.worst(&l, &nonempty, var, size, mark));
                self.close_term(t, corner, sufficient, var, size)
            }
        }
    }

    /// Closes a condition over all values of a loop variable. If the worst value is known, it tests
    /// only that one.
    fn close_term(
        &mut self,
        t: Term,
        corner: Option<Term>,
        sufficient: Option<(Linear, Vec<Term>)>,
        var: Var,
        size: Term,
    ) -> Condition {
        let exact = corner == Some(t);
        match corner.and_then(|c| self.at_worst(c, var, size)) {
            Some(c) if exact => Condition::Term(c, sufficient, Some(c)),
            corner => Condition::Term(self.for_all(t, var, size), sufficient, corner),
        }
    }

    /// A condition that holds for all values of a variable below a size if and only if `c` does.
    /// `None` if the worst value is not known.
    fn at_worst(&mut self, c: Term, var: Var, size: Term) -> Option<Term> {
        let worst = match monotone::monotonicity(&self.g, c, var)? {
            Monotonicity::Constant => return Some(self.unless_empty(c, size)),
            Monotonicity::Increasing => self.g.lit_usize(0),
            Monotonicity::Decreasing => {
                let one = self.g.lit_usize(1);
                self.g.int(IntOp::Sub, size, one)
            }
        };
        let c = self.g.subst_vars(c, &[(var, worst)]);
        Some(self.unless_empty(c, size))
    }

    /// A linear condition holds for all values of a variable if it holds for the worst one.
    fn worst(
        &mut self,
        l: &Linear,
        nonempty: &[Term],
        var: Var,
        size: Term,
        mark: usize,
    ) -> Option<(Linear, Vec<Term>)> {
        let var_term = self.g.mk(Node::Var(var));
        if l.atoms.keys().any(|&t| t != var_term && self.g.mentions(t, var))
            || nonempty.iter().any(|&t| self.g.mentions(t, var))
        {
            return None;
        }
        let c = l.atoms.get(&var_term).copied().unwrap_or(0);
        let minus_var = Linear { constant: 0, atoms: SortedMap::from([(var_term, 1)]) };
        let last = self.state.facts.linear(&self.g, size).combine(1, &Linear::constant(-1), 1);
        let worst = if c < 0 { last? } else { Linear::default() };
        let rest = l.combine(1, &minus_var, -c)?.combine(1, &worst, c)?;
        let mut nonempty = nonempty.to_vec();
        if !self.known_nonempty(size, mark) {
            nonempty.push(size);
        }
        Some((rest, nonempty))
    }

    fn for_all(&mut self, t: Term, var: Var, size: Term) -> Term {
        if !self.g.mentions(t, var) {
            return self.unless_empty(t, size);
        }
        let all = self.g.build(size, var, t);
        self.g.reduce(Reduce::All, 1, all)
    }

    /// Whether a loop is known to have a step, by the facts before it. Facts inside of the loop
    /// always imply this.
    pub(crate) fn known_nonempty(&self, size: Term, mark: usize) -> bool {
        let mut outside = self.state.facts.clone();
        outside.forget(mark);
        let below = outside.linear(&self.g, size).combine(1, &Linear::constant(-1), 1);
        below.is_some_and(|l| outside.prove(&self.g, &l))
    }

    pub(super) fn unless_empty(&mut self, t: Term, size: Term) -> Term {
        let zero = self.g.lit_usize(0);
        let empty = self.g.compare(Cmp::Eq, size, zero);
        self.g.or(empty, t)
    }

    /// `l >= 0`, or one of these sizes is 0.
    fn linear_term(&mut self, l: &Linear, nonempty: &[Term]) -> Term {
        let (plus, minus) = sides(&mut self.g, l);
        let holds = self.g.compare(Cmp::Le, minus, plus);
        nonempty.iter().fold(holds, |t, &size| self.unless_empty(t, size))
    }

    /// Whether a condition can be tested on entry, before anything is computed.
    pub(super) fn of_sizes_only(&self, t: Term) -> bool {
        let (mut seen, mut stack) = (SortedSet::new(), vec![t]);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let fine = match self.g.node(t) {
                Node::Size(..) | Node::Lit(Lit::Int(..) | Lit::Bool(_)) | Node::Cond { .. } => true,
                Node::Input(_) => matches!(self.g.ty(t), Type::Array(Elem::Int(_), shape) if shape.is_empty()),
                Node::Prim(prim, _) => prim.computes_sizes(),
                _ => false,
            };
            if !fine {
                return false;
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        true
    }
}

//! A derived loop while it is made: its operands and its body. From the original loop it reads
//! residuals, or carried arrays that it changes back to their earlier states.
//!
//! This module must never compute the cotangents of a loop: `scan` does that.

use std::collections::{HashMap, HashSet};

use ad_ir::analysis::guards::Guards;
use ad_ir::analysis::once;
use ad_ir::ir::{Body, Elem, Graph, Node, Scan, Term, Type};
use ad_ir::prim::{Cmp, IntOp};

use super::delta::ScanDelta;
use super::residuals::use_residuals;
use super::saved::{Residual, ResidualReason, Undo};
use super::undo::{Undoing, in_arms, inner, resolved};

/// What a step computes if carried arrays are changed back.
struct ChangedBack {
    /// The results of the body.
    results: Vec<Term>,
    /// The indices of the residuals that they read.
    used: Vec<usize>,
    /// The arrays that are changed back, each with its value after a step.
    arrays: Vec<(RestoredArray, Term)>,
}

/// If there are more conditions than this, an array before an inner loop is computed
/// unconditionally. Otherwise, if several arms have loops, each of these loops would run in each
/// step to count its rows.
const MAX_CONDITIONS: usize = 1;

/// The index of a parameter.
fn number(g: &Graph, param: Term) -> usize {
    match g.node(param) {
        Node::Param(k, _) => *k as usize,
        _ => 0,
    }
}

/// An operand of a derived loop, and the number of the parameter for it.
struct Operand {
    number: usize,
    term: Term,
}

/// Builds a derived loop. The terms of its body are first made over the parameters of the original
/// body, which are numbered from 0, and over new parameters with the next numbers. `finish`
/// renumbers all of them in the order of the derived loop.
pub(super) struct Derived<'s> {
    s: &'s ScanDelta,
    /// The types of the parameters, by their first numbers.
    types: Vec<Type>,
    init: Vec<Operand>,
    captures: Vec<Operand>,
    xs: Vec<Operand>,
    /// The number of the first step that the original loop has not taken, as a parameter. `None` if
    /// it never stops early.
    limit: Option<Term>,
    /// The carried values after a step, in the order of `init`.
    pub(super) next: Vec<Term>,
    pub(super) rows: Vec<Term>,
}

/// An array that a derived loop carries and changes back.
struct RestoredArray {
    /// The array after the original loop. The derived loop begins with it.
    last: Term,
    /// The number of the parameter for the array.
    number: usize,
    /// The rows of overwritten elements, and the indices of their parameters.
    rows: Vec<(usize, Term)>,
}

/// A derived loop.
pub(super) struct DerivedLoop {
    term: Term,
    carries: usize,
}

impl DerivedLoop {
    /// Carried value `k` after the loop.
    pub(super) fn carried(&self, g: &mut Graph, k: usize) -> Term {
        g.proj(self.term, k)
    }

    /// The rows of all steps for row `k` of a step.
    pub(super) fn rows(&self, g: &mut Graph, k: usize) -> Term {
        g.proj(self.term, self.carries + k)
    }
}

impl<'s> Derived<'s> {
    pub(super) fn new(s: &'s ScanDelta) -> Self {
        let types = s.scan.body.params.to_vec();
        let (init, captures, xs) = (Vec::new(), Vec::new(), Vec::new());
        Derived { s, types, init, captures, xs, limit: None, next: Vec::new(), rows: Vec::new() }
    }

    /// Adds a parameter.
    fn param(&mut self, g: &mut Graph, ty: &Type) -> (usize, Term) {
        let k = self.types.len();
        self.types.push(ty.clone());
        (k, g.param(k, ty.clone()))
    }

    /// Carries a tangent or a cotangent of parameter `k` of the original body, a carried value or a
    /// capture. It begins with zeros if there is no `start`.
    pub(super) fn carry(&mut self, g: &mut Graph, k: usize, start: Option<Term>) -> Term {
        let (number, param) = self.param(g, &self.types[k].clone());
        let scan = &self.s.scan;
        let original = match k.checked_sub(scan.init.len()) {
            Some(capture) => scan.captures[capture],
            None => scan.init[k],
        };
        let term = start.unwrap_or_else(|| g.zeros_like(original));
        self.init.push(Operand { number, term });
        param
    }

    /// Captures what the original loop captures.
    pub(super) fn capture_originals(&mut self) {
        let scan = &self.s.scan;
        let numbers = scan.init.len()..;
        self.captures.extend(numbers.zip(&scan.captures).map(|(number, &term)| Operand { number, term }));
    }

    /// Captures a value of this type.
    pub(super) fn capture(&mut self, g: &mut Graph, ty: &Type, term: Term) -> Term {
        let (number, param) = self.param(g, ty);
        self.captures.push(Operand { number, term });
        param
    }

    /// Captures the limit of the steps that the original loop has taken, so that the other steps
    /// can be left out.
    pub(super) fn capture_limit(&mut self, g: &mut Graph) {
        let Some(taken) = self.s.taken else { return };
        // A loop in reverse takes the steps with the highest numbers.
        let scan = &self.s.scan;
        let limit = if scan.reverse { g.int(IntOp::Sub, scan.count, taken) } else { taken };
        self.limit = Some(self.capture(g, &Type::scalar(Elem::USIZE), limit));
    }

    /// Consumes the values that the original loop has carried, and what it consumes.
    pub(super) fn consume_originals(&mut self) {
        let s = self.s;
        let (carries, first) = (s.scan.init.len(), s.scan.init.len() + s.scan.captures.len());
        let operands = (0..carries).chain(first..).zip(s.saved.iter().chain(&s.scan.xs));
        self.xs.extend(operands.map(|(number, &term)| Operand { number, term }));
    }

    /// Consumes an array whose rows have this type.
    pub(super) fn consume(&mut self, g: &mut Graph, ty: &Type, term: Term) -> Term {
        let (number, param) = self.param(g, ty);
        self.xs.push(Operand { number, term });
        param
    }

    /// The body consumes the residuals that it reads, as rows. `undone` is given for a loop in
    /// reverse: arrays after inner loops, each with the array before the loop. The loop then also
    /// carries arrays and changes them back, if this saves memory. Returns these arrays as they are
    /// after the original loop, each with the index of the carried value.
    pub(super) fn use_residuals(&mut self, g: &mut Graph, undone: Option<&[(Term, Term)]>) -> Vec<(Term, usize)> {
        let s = self.s;
        let params = self.residual_parameters(g);
        let values = self.carried_values(g);
        let results: Vec<Term> = self.next.iter().chain(&self.rows).copied().collect();
        let mut plain = results.clone();
        let used = use_residuals(g, &mut plain, (&s.residuals, &params), (&HashMap::new(), false), &values);
        let wanted: Vec<&Undo> = match undone {
            Some(_) => s.undo.iter().filter(|u| self.worth(g, u, &plain, &used)).collect(),
            None => Vec::new(),
        };
        let mut best = ChangedBack { results: plain, used, arrays: Vec::new() };
        let mut chosen: Vec<&Undo> = Vec::new();
        for undo in wanted {
            let mut all = chosen.clone();
            all.push(undo);
            if let Some(found) = self.changed_back(g, &results, &params, (&all, undone.unwrap_or_default())) {
                best = found;
                chosen = all;
            }
        }
        self.use_changed_back(g, &params, best)
    }

    /// Parameters for the residuals of the loop.
    fn residual_parameters(&mut self, g: &mut Graph) -> Vec<Term> {
        self.s.residuals.iter().map(|k| self.param(g, &g.ty(k.term).clone()).1).collect()
    }

    /// The parameters for the carried values of the original loop.
    fn carried_values(&self, g: &mut Graph) -> Vec<Term> {
        (0..self.s.scan.init.len()).map(|k| g.param(k, self.types[k].clone())).collect()
    }

    /// Gives the loop these results. It consumes the residuals that are used, and the overwritten
    /// elements that are put back into the carried arrays. `params` are the parameters for
    /// residuals.
    fn use_changed_back(&mut self, g: &mut Graph, params: &[Term], found: ChangedBack) -> Vec<(Term, usize)> {
        let ChangedBack { mut results, used, arrays } = found;
        for k in used {
            self.xs.push(Operand { number: number(g, params[k]), term: self.s.residuals[k].row });
        }
        for (array, _) in &arrays {
            self.xs.extend(array.rows.iter().map(|&(number, term)| Operand { number, term }));
        }
        self.rows = results.split_off(self.next.len());
        self.next = results;
        let mut restored = Vec::new();
        for (array, next) in arrays {
            restored.push((array.last, self.init.len()));
            self.init.push(Operand { number: array.number, term: array.last });
            self.next.push(next);
        }
        self.remove_unread_xs(g);
        restored
    }

    /// Whether to carry an array and change it back instead of saving it. It pays if the whole
    /// array would be saved, or parts of it that have more axes than the elements that a step
    /// overwrites.
    fn worth(&self, g: &mut Graph, undo: &Undo, results: &[Term], used: &[usize]) -> bool {
        let x = g.param(undo.carry, self.types[undo.carry].clone());
        let whole = g.reachable(results).binary_search(&x).is_ok();
        let part = |k: &&Residual| matches!(k.why, ResidualReason::Part(of) if of == x);
        let parts = used.iter().map(|&k| &self.s.residuals[k]).filter(part).map(|k| g.rank(k.term)).max();
        whole && undo.rank <= g.rank(x) || parts.is_some_and(|saved| undo.rank < saved)
    }

    /// The results with these arrays carried and changed back, or `None` if that is not possible.
    /// To change an array back, a loop may need parts of it that the step has computed. Then the
    /// parts are saved.
    fn changed_back(
        &mut self,
        g: &mut Graph,
        results: &[Term],
        params: &[Term],
        all: (&[&Undo], &[(Term, Term)]),
    ) -> Option<ChangedBack> {
        let found = self.changed_back_with(g, results, params, false, all);
        found.or_else(|| self.changed_back_with(g, results, params, true, all))
    }

    /// [`Derived::changed_back`]. `parts` says whether parts of the arrays are saved.
    fn changed_back_with(
        &mut self,
        g: &mut Graph,
        results: &[Term],
        params: &[Term],
        parts: bool,
        (all, undone): (&[&Undo], &[(Term, Term)]),
    ) -> Option<ChangedBack> {
        let s = self.s;
        let mut roots = results.to_vec();
        let (mut undoing, mut states) = (Vec::new(), HashMap::new());
        for undo in all {
            let first = roots.len();
            let mut param = |g: &mut Graph, ty: &Type| self.param(g, ty).1;
            let before = |g: &mut Graph, t: Term| before_inner_loop(g, s, undone, t);
            let one = Undoing::new(g, undo, &mut param, &before, &mut roots)?;
            states.extend(one.leaves());
            undoing.push((one, first..roots.len()));
        }
        let values = self.carried_values(g);
        let used = use_residuals(g, &mut roots, (&s.residuals, params), (&states, parts), &values);
        let read: HashSet<Term> = g.reachable(&roots).into_iter().collect();
        let mut known = HashMap::new();
        for (one, terms) in &undoing {
            known.extend(one.known(g, &s.body, &roots[terms.clone()], &read)?);
        }
        roots.truncate(results.len());
        let begins: Vec<Term> = undoing.iter().map(|(one, _)| one.leaves()[&one.begin()]).collect();
        let nexts = resolved(g, &begins, &known)?;
        let made = match undoing.iter().any(|(one, _)| one.replaces()) {
            true => in_arms(g, &roots, &known)?,
            false => resolved(g, &roots, &known)?,
        };
        let arrays = undoing
            .iter()
            .zip(nexts)
            .map(|((one, _), next)| {
                let rows = one.rows().map(|(row, param)| (number(g, param), row)).collect();
                (RestoredArray { last: one.last(), number: number(g, one.carried), rows }, next)
            })
            .collect();
        Some(ChangedBack { results: made, used, arrays })
    }

    /// Whether the body reads the parameter with this number. `reach` are the terms of the body.
    fn reads(&self, g: &mut Graph, reach: &[Term], number: usize) -> bool {
        let param = g.param(number, self.types[number].clone());
        reach.binary_search(&param).is_ok()
    }

    /// Removes the rows that no result reads. So the operands of the loop are exactly those that it
    /// needs.
    fn remove_unread_xs(&mut self, g: &mut Graph) {
        let reach = self.reachable(g);
        let mut xs = std::mem::take(&mut self.xs);
        xs.retain(|x| self.reads(g, &reach, x.number));
        self.xs = xs;
    }

    /// Removes the captures that no result reads. Such a capture may be an array that can only be
    /// known after the loop has run.
    fn remove_unread_captures(&mut self, g: &mut Graph) {
        let reach = self.reachable(g);
        for at in (0..self.captures.len()).rev() {
            if !self.reads(g, &reach, self.captures[at].number) {
                self.captures.remove(at);
            }
        }
    }

    /// The terms of the body.
    fn reachable(&self, g: &Graph) -> Vec<Term> {
        g.reachable(&self.next.iter().chain(&self.rows).copied().collect::<Vec<_>>())
    }

    /// Keeps the results of a step that the original loop has taken. Any other step leaves the
    /// carried values as they are, and its rows are zeros.
    fn only_where_taken(&mut self, g: &mut Graph) {
        let Some(limit) = self.limit else { return };
        let reverse = self.s.scan.reverse;
        let (number, step) = self.param(g, &Type::scalar(Elem::USIZE));
        self.xs.push(Operand { number, term: g.iota(self.s.scan.count) });
        let before = g.compare(Cmp::Lt, step, limit);
        let if_taken = |g: &mut Graph, result: Term, other: Term| {
            let (then, other) = if reverse { (other, result) } else { (result, other) };
            g.cond(before, then, other)
        };
        for (next, carried) in self.next.iter_mut().zip(&self.init) {
            let unchanged = g.param(carried.number, self.types[carried.number].clone());
            *next = if_taken(g, *next, unchanged);
        }
        for row in &mut self.rows {
            let zeros = g.zeros_like(*row);
            *row = if_taken(g, *row, zeros);
        }
    }

    /// The loop with these operands and results. `reverse` is its direction.
    pub(super) fn finish(mut self, g: &mut Graph, reverse: bool) -> DerivedLoop {
        self.only_where_taken(g);
        self.remove_unread_captures(g);
        let body = self.body(g);
        let terms = |operands: &[Operand]| operands.iter().map(|o| o.term).collect();
        let term = g.scan(Scan {
            count: self.s.scan.count,
            reverse,
            stop: None,
            init: terms(&self.init),
            captures: terms(&self.captures),
            xs: terms(&self.xs),
            body,
        });
        DerivedLoop { term, carries: self.next.len() }
    }

    /// The body, over parameters in the order of the operands.
    fn body(&self, g: &mut Graph) -> Body {
        let operands = self.init.iter().chain(&self.captures).chain(&self.xs);
        let order: Vec<usize> = operands.map(|o| o.number).collect();
        let mut args = vec![None; self.types.len()];
        for (new, &old) in order.iter().enumerate() {
            args[old] = Some(g.param(new, self.types[old].clone()));
        }
        let args: Vec<Term> = args
            .into_iter()
            .enumerate()
            .map(|(k, arg)| match arg {
                Some(arg) => arg,
                None => g.param(k, self.types[k].clone()),
            })
            .collect();
        let params = order.iter().map(|&k| self.types[k].clone()).collect();
        let raw = Body { params, results: self.next.iter().chain(&self.rows).copied().collect() };
        let results = g.instantiate(&raw, &args).into();
        Body { params: raw.params, results }
    }
}

/// The array before an inner loop of the body, given the array `t` after it.
fn before_inner_loop(g: &mut Graph, s: &ScanDelta, undone: &[(Term, Term)], t: Term) -> Option<Term> {
    // If the derivative of an inner loop does not need the array, it does not change it back. Then
    // a separate loop does.
    let before = match undone.iter().find(|u| u.0 == t) {
        Some(u) => u.1,
        None => inner(&s.body, t).and_then(|(s, undo)| changed_back_alone(g, s, undo))?,
    };
    // It may read what the loop saves under the conditions of the inner loop.
    let under = once::<Guards>(g, &s.body.primal);
    let guard = under.get(&t).filter(|all| all.len() <= MAX_CONDITIONS).cloned().unwrap_or_default();
    Some(
        guard
            .iter()
            .fold(before, |before, &(c, value)| if value { g.cond(c, before, t) } else { g.cond(c, t, before) }),
    )
}

/// The array with which a loop begins. A loop computes it from the array that the original loop
/// leaves, and does nothing else.
fn changed_back_alone(g: &mut Graph, s: &ScanDelta, undo: &Undo) -> Option<Term> {
    let mut derived = Derived::new(s);
    derived.capture_originals();
    derived.capture_limit(g);
    derived.consume_originals();
    let params = derived.residual_parameters(g);
    let found = derived.changed_back(g, &[], &params, (&[undo], &[]))?;
    derived.use_changed_back(g, &params, found);
    let restored = derived.finish(g, !s.scan.reverse);
    Some(restored.carried(g, 0))
}

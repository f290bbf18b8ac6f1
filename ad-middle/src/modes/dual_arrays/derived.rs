//! The body of a derived loop, and the values that it reads from the original loop: residuals, or
//! carried arrays that it changes back to their earlier states.
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

/// Results of a body, the indices of the residuals that they read, and the arrays that are changed
/// back, each with its value after a step.
type ChangedBack = (Vec<Term>, Vec<usize>, Vec<(RestoredArray, Term)>);

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

/// Builds the body of a derived loop. Its terms are first made over the parameters of the original
/// body, which are numbered from 0, and over new parameters with the next numbers. `finish`
/// renumbers all of them in the order of the derived loop.
pub(super) struct Derived {
    types: Vec<Type>,
    pub(super) originals: usize,
}

/// An array that a derived loop carries and changes back.
pub(super) struct RestoredArray {
    /// The array after the original loop. The derived loop begins with it.
    pub(super) last: Term,
    /// The parameter for the array, and its number.
    pub(super) state: Term,
    pub(super) number: usize,
    /// The rows of overwritten elements, and the indices of their parameters.
    rows: Vec<(usize, Term)>,
}

impl Derived {
    pub(super) fn new(s: &Scan) -> Self {
        Derived { types: s.body.params.to_vec(), originals: s.body.params.len() }
    }

    /// Adds a parameter.
    pub(super) fn param(&mut self, g: &mut Graph, ty: &Type) -> (usize, Term) {
        let k = self.types.len();
        self.types.push(ty.clone());
        (k, g.param(k, ty.clone()))
    }

    /// The body consumes the residuals that it reads, as rows. `undone` is given for a loop in
    /// reverse: arrays after inner loops, each with the array before the loop. Returns the arrays
    /// that the loop has to carry and change back, each with its value after a step.
    pub(super) fn use_residuals(
        &mut self,
        g: &mut Graph,
        s: &ScanDelta,
        results: &mut Vec<Term>,
        (order, xs): (&mut Vec<usize>, &mut Vec<Term>),
        undone: Option<&[(Term, Term)]>,
    ) -> Vec<(RestoredArray, Term)> {
        let params = self.residual_parameters(g, s);
        let values = self.carried_values(g, s);
        let mut plain = results.clone();
        let mut used = use_residuals(g, &mut plain, (&s.residuals, &params), (&HashMap::new(), false), &values);
        let wanted: Vec<&Undo> = match undone {
            Some(_) => s.undo.iter().filter(|u| self.worth(g, s, u, &plain, &used)).collect(),
            None => Vec::new(),
        };
        let mut carried = Vec::new();
        let mut chosen: Vec<&Undo> = Vec::new();
        for undo in wanted {
            let mut all = chosen.clone();
            all.push(undo);
            if let Some(found) =
                self.changed_back(g, s, results, (&s.residuals, &params), (&all, undone.unwrap_or_default()))
            {
                (plain, used, carried) = found;
                chosen = all;
            }
        }
        *results = plain;
        self.consume(g, s, results, (&params, &used, &carried), (order, xs));
        carried
    }

    /// Parameters for the residuals of a loop.
    fn residual_parameters(&mut self, g: &mut Graph, s: &ScanDelta) -> Vec<Term> {
        s.residuals.iter().map(|k| self.param(g, &g.ty(k.term).clone()).1).collect()
    }

    /// The parameters for the carried values of a loop.
    fn carried_values(&self, g: &mut Graph, s: &ScanDelta) -> Vec<Term> {
        (0..s.scan.init.len()).map(|k| g.param(k, self.types[k].clone())).collect()
    }

    /// Consumes the residuals that are used, and the overwritten elements that are put back into
    /// the carried arrays.
    fn consume(
        &self,
        g: &mut Graph,
        s: &ScanDelta,
        results: &[Term],
        (params, used, carried): (&[Term], &[usize], &[(RestoredArray, Term)]),
        (order, xs): (&mut Vec<usize>, &mut Vec<Term>),
    ) {
        for &k in used {
            order.push(number(g, params[k]));
            xs.push(s.residuals[k].row);
        }
        for (undone, _) in carried {
            for &(number, row) in &undone.rows {
                order.push(number);
                xs.push(row);
            }
        }
        let mut read = results.to_vec();
        read.extend(carried.iter().map(|c| c.1));
        self.unread(g, &read, order, xs);
    }

    /// Whether to carry an array and change it back instead of saving it. It pays if the whole
    /// array would be saved, or parts of it that have more axes than the elements that a step
    /// overwrites.
    fn worth(&self, g: &mut Graph, s: &ScanDelta, undo: &Undo, results: &[Term], used: &[usize]) -> bool {
        let x = g.param(undo.carry, self.types[undo.carry].clone());
        let whole = g.reachable(results).binary_search(&x).is_ok();
        let part = |k: &&Residual| matches!(k.why, ResidualReason::Part(of) if of == x);
        let parts = used.iter().map(|&k| &s.residuals[k]).filter(part).map(|k| g.rank(k.term)).max();
        whole && undo.rank <= g.rank(x) || parts.is_some_and(|saved| undo.rank < saved)
    }

    /// The results with these arrays carried and changed back, or `None` if that is not possible.
    /// To change an array back, a loop may need parts of it that the step has computed. Then the
    /// parts are saved.
    fn changed_back(
        &mut self,
        g: &mut Graph,
        s: &ScanDelta,
        results: &[Term],
        residuals: (&[Residual], &[Term]),
        all: (&[&Undo], &[(Term, Term)]),
    ) -> Option<ChangedBack> {
        let found = self.changed_back_with(g, s, results, residuals, false, all);
        found.or_else(|| self.changed_back_with(g, s, results, residuals, true, all))
    }

    /// [`Derived::changed_back`]. `parts` says whether parts of the arrays are saved.
    fn changed_back_with(
        &mut self,
        g: &mut Graph,
        s: &ScanDelta,
        results: &[Term],
        residuals: (&[Residual], &[Term]),
        parts: bool,
        (all, undone): (&[&Undo], &[(Term, Term)]),
    ) -> Option<ChangedBack> {
        let mut roots = results.to_vec();
        let (mut undoing, mut states) = (Vec::new(), HashMap::new());
        for undo in all {
            let first = roots.len();
            let mut param = |g: &mut Graph, ty: &Type| self.param(g, ty).1;
            // If the derivative of an inner loop does not need the array, it does not change it
            // back. Then a separate loop does.
            let before = |g: &mut Graph, t: Term| {
                let before = match undone.iter().find(|u| u.0 == t) {
                    Some(u) => u.1,
                    None => inner(&s.body, t).and_then(|(s, undo)| changed_back_alone(g, s, undo))?,
                };
                // It may read what the loop saves under the conditions of the inner loop.
                let under = once::<Guards>(g, &s.body.primal);
                let guard = under.get(&t).filter(|all| all.len() <= MAX_CONDITIONS).cloned().unwrap_or_default();
                Some(guard.iter().fold(
                    before,
                    |before, &(c, value)| {
                        if value { g.cond(c, before, t) } else { g.cond(c, t, before) }
                    },
                ))
            };
            let one = Undoing::new(g, undo, &mut param, &before, &mut roots)?;
            states.extend(one.leaves());
            undoing.push((one, first..roots.len()));
        }
        let values = self.carried_values(g, s);
        let used = use_residuals(g, &mut roots, residuals, (&states, parts), &values);
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
        let carried = undoing
            .iter()
            .zip(nexts)
            .map(|((one, _), next)| {
                let rows = one.rows().map(|(row, param)| (number(g, param), row)).collect();
                let undone =
                    RestoredArray { last: one.last(), state: one.carried, number: number(g, one.carried), rows };
                (undone, next)
            })
            .collect();
        Some((made, used, carried))
    }

    /// Removes the rows that no result reads. So the operands of the loop are exactly those that it
    /// needs.
    fn unread(&self, g: &mut Graph, results: &[Term], order: &mut Vec<usize>, xs: &mut Vec<Term>) {
        let reach = g.reachable(results);
        let first = order.len() - xs.len();
        let read: Vec<bool> = order[first..]
            .iter()
            .map(|&k| {
                let param = g.param(k, self.types[k].clone());
                reach.binary_search(&param).is_ok()
            })
            .collect();
        let (rest, all) = (order.split_off(first), std::mem::take(xs));
        order.extend(rest.into_iter().zip(&read).filter(|r| *r.1).map(|r| r.0));
        xs.extend(all.into_iter().zip(&read).filter(|r| *r.1).map(|r| r.0));
    }

    /// Removes the captures that no result reads. Such a capture may be an array that can only be
    /// known after the loop has run. `carried` is the number of carried values.
    pub(super) fn unread_captures(
        &self,
        g: &mut Graph,
        results: &[Term],
        carried: usize,
        (order, captures): (&mut Vec<usize>, &mut Vec<Term>),
    ) {
        let reach = g.reachable(results);
        for at in (0..captures.len()).rev() {
            let k = order[carried + at];
            let param = g.param(k, self.types[k].clone());
            if reach.binary_search(&param).is_err() {
                order.remove(carried + at);
                captures.remove(at);
            }
        }
    }

    /// Captures the limit of the steps that the original loop has taken, so that the other steps
    /// can be left out. Returns the parameter for it. `None` if the loop never stops early.
    pub(super) fn limit(
        &mut self,
        g: &mut Graph,
        s: &ScanDelta,
        order: &mut Vec<usize>,
        captures: &mut Vec<Term>,
    ) -> Option<Term> {
        let taken = s.taken?;
        // A loop in reverse takes the steps with the highest numbers.
        captures.push(if s.scan.reverse { g.int(IntOp::Sub, s.scan.count, taken) } else { taken });
        let (number, param) = self.param(g, &Type::scalar(Elem::USIZE));
        order.push(number);
        Some(param)
    }

    /// Keeps the results of a step that the original loop has taken. In any other step the results
    /// are `others`, or zeros if there is none.
    pub(super) fn where_taken(
        &mut self,
        g: &mut Graph,
        s: &ScanDelta,
        limit: Option<Term>,
        (results, others): (&mut [Term], &[Option<Term>]),
        (order, xs): (&mut Vec<usize>, &mut Vec<Term>),
    ) {
        let Some(limit) = limit else { return };
        let (number, step) = self.param(g, &Type::scalar(Elem::USIZE));
        order.push(number);
        xs.push(g.iota(s.scan.count));
        let before = g.compare(Cmp::Lt, step, limit);
        for (result, other) in results.iter_mut().zip(others) {
            let other = other.unwrap_or_else(|| g.zeros_like(*result));
            let (then, other) = if s.scan.reverse { (other, *result) } else { (*result, other) };
            *result = g.cond(before, then, other);
        }
    }

    pub(super) fn finish(&self, g: &mut Graph, order: &[usize], results: &[Term]) -> Body {
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
        let raw = Body { params, results: results.into() };
        let results = g.instantiate(&raw, &args).into();
        Body { params: raw.params, results }
    }
}

/// The array with which a loop begins. A loop computes it from the array that the original loop
/// leaves, and does nothing else.
pub(super) fn changed_back_alone(g: &mut Graph, s: &ScanDelta, undo: &Undo) -> Option<Term> {
    let (carries, caught) = (s.scan.init.len(), s.scan.captures.len());
    let mut derived = Derived::new(&s.scan);
    let mut order: Vec<usize> = (carries..carries + caught).collect();
    let mut captures = s.scan.captures.to_vec();
    let limit = derived.limit(g, s, &mut order, &mut captures);
    let mut xs = s.saved.clone();
    xs.extend(&s.scan.xs);
    order.extend((0..carries).chain(carries + caught..derived.originals));
    let params = derived.residual_parameters(g, s);
    let (_, used, carried) = derived.changed_back(g, s, &[], (&s.residuals, &params), (&[undo], &[]))?;
    derived.consume(g, s, &[], (&params, &used, &carried), (&mut order, &mut xs));
    let (one, next) = carried.first()?;
    order.insert(0, one.number);
    let mut results = vec![*next];
    derived.where_taken(g, s, limit, (&mut results, &[Some(one.state)]), (&mut order, &mut xs));
    derived.unread_captures(g, &results, 1, (&mut order, &mut captures));
    let body = derived.finish(g, &order, &results);
    let new = g.scan(Scan {
        count: s.scan.count,
        reverse: !s.scan.reverse,
        stop: None,
        init: [one.last].into(),
        captures: captures.into(),
        xs: xs.into(),
        body,
    });
    Some(g.proj(new, 0))
}

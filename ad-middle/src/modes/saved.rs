//! The states that a loop saves for its derivative, so that no step is computed again (CHAD section
//! 7.6): the carried values before each step (`A_0` of UNF Fig. 16), and terms of a step that are
//! cheaper to save than to compute again. Rows that no derivative reads are dropped by a later
//! pass. This module must never change what a loop computes.

use std::collections::{HashMap, HashSet};

use ad_ir::analysis::Analyses;
use ad_ir::analysis::guards::{Guard, Guards};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::prim::Prim;

/// A term of a step that a loop saves.
#[derive(Debug)]
pub(crate) struct Saved {
    /// The term, of the primal step.
    pub(crate) term: Term,
    /// A row for each step.
    pub(crate) rows: Term,
    /// The conditions under which a row is the term. It is zero where one of them does not hold.
    under: Vec<Guard>,
}

/// What a step computes in an algorithm's form of it.
pub(crate) struct Computed {
    /// The terms of the primal program.
    pub(crate) terms: HashSet<Term>,
    /// The rows that the loops inside of the step save, if these carry numbers only.
    pub(crate) inner_rows: Vec<Term>,
}

/// The loop with saved rows, as a tuple of its own results; and the rows.
pub(crate) fn saving(g: &mut Graph, scan: &Scan, step: &Computed) -> (Term, Vec<Saved>) {
    let results = &scan.body.results;
    let carried: Vec<Term> = (0..scan.init.len()).map(|k| g.param(k, scan.body.params[k].clone())).collect();
    let mut kept: Vec<(Term, Vec<Guard>)> = carried.iter().map(|&p| (p, Vec::new())).collect();
    if !g.has_checkpoints(scan) {
        kept.extend(worth(g, step, results, &carried));
    }
    let rows = kept.iter().map(|(t, under)| only_under(g, *t, under));
    let results: Vec<Term> = results.iter().copied().chain(rows.collect::<Vec<_>>()).collect();
    let mut whole = scan.clone();
    whole.body = Body { params: scan.body.params.clone(), results: results.into() };
    let whole = g.scan(whole);
    let own = scan.body.results.len();
    let parts: Vec<Term> = (0..own).map(|k| g.proj(whole, k)).collect();
    let saved = |(k, (term, under)): (usize, (Term, Vec<Guard>))| Saved { term, rows: g.proj(whole, own + k), under };
    let saved = kept.into_iter().enumerate().map(saved).collect();
    (g.tuple(&parts), saved)
}

/// Terms of a step that are saved, each with the conditions under which the function computes it:
/// parts of carried arrays, results of expensive operations and of loops, and what loops that carry
/// numbers save.
fn worth(g: &mut Graph, step: &Computed, results: &[Term], carried: &[Term]) -> Vec<(Term, Vec<Guard>)> {
    let guards = Analyses::default().get::<Guards>(g, results);
    // A condition inside of a build does not exist outside of it.
    let outside = |g: &Graph, t: Term| {
        let mut under = guards.get(&t).cloned().unwrap_or_default();
        under.retain(|guard| g.free(guard.0).is_empty());
        under
    };
    let arrays: HashSet<Term> = carried.iter().copied().filter(|&p| g.rank(p) > 0).collect();
    // Whether a term depends on a carried array.
    let mut depends: HashMap<Term, bool> = HashMap::new();
    let mut kept = Vec::new();
    for t in g.reachable(results) {
        let mut of_array = arrays.contains(&t);
        g.node(t).for_each_child(|c| of_array |= depends.get(&c) == Some(&true));
        depends.insert(t, of_array);
        let Type::Array(..) = g.ty(t) else { continue };
        if !g.is_open(t) || !g.free(t).is_empty() || !step.terms.contains(&t) && !of_loop(g, t) {
            continue;
        }
        let worth = match g.node(t) {
            Node::Proj(..) => of_loop(g, t),
            Node::Gather { .. } | Node::Prim(Prim::Slice(_), _) => of_array,
            Node::Prim(Prim::Replicate(_), _) => false,
            Node::Prim(prim, _) => prim.is_expensive() || prim.cost().is_none() || (of_array && g.rank(t) == 0),
            _ => false,
        };
        if worth {
            kept.push((t, outside(g, t)));
        }
    }
    for &rows in step.inner_rows.iter().filter(|rows| g.is_open(**rows)) {
        let Node::Proj(of, _) = *g.node(rows) else { continue };
        kept.push((rows, outside(g, of)));
    }
    let mut seen = HashSet::new();
    kept.retain(|(t, _)| seen.insert(*t));
    kept
}

/// Whether a term is a result of a loop.
fn of_loop(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Proj(of, _) if matches!(g.node(*of), Node::Scan(_)))
}

/// A term where all these conditions hold, else zeros. The innermost condition comes first.
fn only_under(g: &mut Graph, t: Term, under: &[Guard]) -> Term {
    let zeros = g.zeros_of_any(t);
    under.iter().fold(t, |row, &(c, value)| if value { g.cond(c, row, zeros) } else { g.cond(c, zeros, row) })
}

/// The terms that these results of a derived step may read as rows. A derivative in one arm may be
/// a term that another arm computes, and whose row is zero in the former. Such a term is computed
/// again.
pub(crate) fn readable(g: &Graph, saved: &[Saved], results: &[Term]) -> Vec<(Term, Term)> {
    let guards = Analyses::default().get::<Guards>(g, results);
    let held = |saved: &&Saved| {
        let known = guards.get(&saved.term);
        known.is_some_and(|known| saved.under.iter().all(|guard| known.contains(guard)))
    };
    saved.iter().filter(held).map(|saved| (saved.term, saved.rows)).collect()
}

//! Which terms keep their bits in the lowering and after it. The analysis `decisions` knows the
//! loops of the core language. Merged loops have a second term for some of the terms, and opened
//! loops are leaves with records: this module follows the decisions through those.
//!
//! It must never leave out a term that a decision of the function depends on.

use ad_ir::sorted::SortedMap;
use std::collections::HashSet;

use super::merge_runs::MergedLoop;
use super::opened::Loops;
use ad_ir::analysis::Analyses;
use ad_ir::analysis::decisions::{Decisions, decided_by, decisions_in_loops, follow};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;

/// The exact terms of a routine whose loops are merged. `exact` are the terms that decisions of the
/// function depend on. If it is not given, the terms that decisions of these roots depend on are
/// exact.
pub(super) fn of_routine(
    g: &Graph,
    roots: &[Term],
    exact: Option<&HashSet<Term>>,
    runs: &SortedMap<Term, MergedLoop>,
    analyses: &mut Analyses,
) -> HashSet<Term> {
    let mut exact = match exact {
        Some(exact) => decisions_in_loops(g, roots, exact.iter().copied().collect()),
        None => (*analyses.get::<Decisions>(g, roots)).clone(),
    };
    for run in runs.values() {
        let decides: Vec<Term> = run.same.iter().filter(|(t, _)| exact.contains(t)).map(|(_, &same)| same).collect();
        exact.extend(decides);
    }
    exact
}

/// The terms that have to keep their bits.
pub struct Decided {
    /// The terms that decisions of the user's function depend on.
    pub exact: Vec<Term>,
    /// Terms that occur outside of loops only. If a decision depends on one of them and it is not
    /// in `exact`, the decision is a mask of the derivative.
    pub outer: HashSet<Term>,
}

/// The terms that decisions depend on, through loops. A mask of the derivative must have the same
/// value wherever it is computed, but may differ from the function in the last bits. So of its
/// operands only those that are not stored keep their bits.
pub fn of_lowered(g: &Graph, loops: &Loops, reach: &[Term], decided: Option<&Decided>) -> HashSet<Term> {
    let of = |t: &Term| decided.is_some_and(|d| d.outer.contains(t));
    let (mut firm, mut masks): (Vec<Term>, Vec<Term>) = (decided.map_or(Vec::new(), |d| d.exact.clone()), Vec::new());
    firm.extend(loops.all.iter().filter_map(|l| l.stop));
    for &t in reach {
        decided_by(g, t, if of(&t) { &mut masks } else { &mut firm });
    }
    let mut exact = HashSet::new();
    follow(g, &mut exact, firm);
    insensitive_through_loops(g, loops, &mut exact);
    while let Some(t) = masks.pop() {
        if !computed_once(g, t) && exact.insert(t) {
            g.node(t).for_each_child(|c| masks.push(c));
        }
    }
    exact
}

/// Whether all readers of the term read the same bits, however the term is computed.
fn computed_once(g: &Graph, t: Term) -> bool {
    let closed = g.free(t).is_empty();
    match g.node(t) {
        Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _) | Node::Scatter { .. } => closed,
        Node::Param(..) => true,
        _ => closed && g.rank(t) == 0,
    }
}

/// A term in a loop is exact if the result of the loop that it computes is.
fn insensitive_through_loops(g: &Graph, loops: &Loops, exact: &mut HashSet<Term>) {
    loop {
        let mut more = Vec::new();
        for l in &loops.all {
            for c in &l.carries {
                if exact.contains(&c.now) || exact.contains(&c.last) {
                    more.extend([c.init, c.next]);
                }
            }
            more.extend(l.rows.iter().filter(|r| exact.contains(&r.all)).map(|r| r.row));
        }
        more.retain(|t| !exact.contains(t));
        if more.is_empty() {
            return;
        }
        follow(g, exact, more);
    }
}

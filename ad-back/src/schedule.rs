//! From terms to an ordered list of statements: the order, the guard of each statement, and which
//! stored terms share a loop nest. It is a simple scheduler: it finds guards by condition,
//! schedules in topological order of children and guards, and groups pointwise neighbours greedily.
//! It never places a term under a guard that one of its uses lacks, and never iterates over
//! anything unordered.

mod group;
mod guards;
mod order;
mod statements;
mod summed;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use super::demand::{limited, read_under_tests};
use super::in_range::InRange;
use super::plan::Plan;
use super::split::is_stencil;
use super::store::{Class, ProgramContext, classify, is_broadcast, own_rows};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::exact::{self, Decided};
use ad_middle::passes::lowering::im2col::windows_of;
use ad_middle::passes::lowering::opened::{Loop, LoopScopes, Loops, Rows, chain_of_updates};
use group::group;
use guards::guards;
use order::{InPlace, in_place_updates, in_place_updates_of_caller, list_schedule_with};
pub(super) use statements::CheckTerms;
use statements::{Shared, statements_of};

/// Makes the plan for these results and checks. `onto`: the inputs to which the routine adds, each
/// with the result that replaces it. A carried array cannot be updated in place if a nest reads
/// elements of an earlier and of a later state. Then the plan is made again, and the elements of
/// earlier states are stored: they take less memory than a copy of the array.
pub(super) fn plan(
    g: &Graph,
    loops: &Loops,
    results: (&[Term], &[(Term, Term)]),
    checks: &[CheckTerms],
    decided: Option<&Decided>,
) -> Result<Plan, String> {
    let (first, copied) = planned(g, loops.clone(), results, checks, decided, &SortedSet::new())?;
    let early = early_reads(g, &first, &copied);
    if early.is_empty() {
        return Ok(first);
    }
    let (second, copied_then) = planned(g, loops.clone(), results, checks, decided, &early)?;
    Ok(if copied_then.len() < copied.len() { second } else { first })
}

/// The terms that read a part of a carried array, with fewer axes than the array, if a loop updates
/// the array but copies it in each iteration.
fn early_reads(g: &Graph, plan: &Plan, copied: &SortedSet<Term>) -> SortedSet<Term> {
    let mut found = SortedSet::new();
    if copied.is_empty() {
        return found;
    }
    let mut states: HashSet<Term> = copied.iter().copied().collect();
    for l in &plan.loops.all {
        for c in l.carries.iter().filter(|c| copied.contains(&c.now)) {
            states.extend(chain_of_updates(g, &plan.loops, c.now, c.next).into_iter().flatten());
        }
    }
    let all = plan.loops.reachable(g, &plan.results.iter().copied().collect::<Vec<_>>());
    for t in all {
        if let Node::Gather { src, .. } = g.node(t)
            && states.contains(&under_views(g, *src))
            && g.free(t).is_empty()
            && (1..g.rank(*src)).contains(&g.rank(t))
            && plan.class(t) == Class::View
        {
            found.insert(t);
        }
    }
    found
}

/// The array that a term shows with its axes in another order, or with other size terms.
fn under_views(g: &Graph, mut t: Term) -> Term {
    while let Node::Prim(Prim::Transpose(_) | Prim::Recast, args) = g.node(t) {
        t = args[0];
    }
    t
}

/// Makes the plan, given terms that are always stored. Also returns the carried arrays that steps
/// of a loop update, but not in place.
fn planned(
    g: &Graph,
    mut loops: Loops,
    (results, onto): (&[Term], &[(Term, Term)]),
    checks: &[CheckTerms],
    decided: Option<&Decided>,
    stored: &SortedSet<Term>,
) -> Result<(Plan, SortedSet<Term>), String> {
    let (roots, reach) = live_terms(g, &mut loops, results, checks);
    let scopes = LoopScopes::new(g, &loops, &reach);
    let exact = exact::of_lowered(g, &loops, &reach, decided);
    // Loops read their initial values, next values and rows in full.
    let mut read: Vec<Term> = results.to_vec();
    for l in &loops.all {
        read.extend(l.carries.iter().map(|c| c.next).chain(l.rows.iter().map(|r| r.row)));
        read.extend(l.carries.iter().map(|c| c.init).filter(|&t| !is_broadcast(g, t)));
    }
    let windows = windows_of(g, &reach, &[&roots[..], &read].concat(), &exact);
    let whole: Vec<Term> = read.iter().chain(stored).copied().collect();
    let around = ProgramContext { exact: &exact, windows: &windows, loops: &loops, scopes: &scopes };
    let class = classify(g, &reach, &whole, around);
    let (sets, guard) = guards(g, &reach, &roots, &loops, &scopes);
    let read_under = read_under_tests(g, &reach, (&class, &exact), (&[&roots[..], &whole].concat(), &scopes, &guard));

    let uses = uses_of(g, &loops, &reach, &roots, &read[results.len()..]);
    let known = InRange::new(g);
    let stencils = reach
        .iter()
        .copied()
        .filter(|&t| class[t] == Class::Buffer && g.free(t).is_empty() && is_stencil(g, &known, &class, t))
        .filter(|t| choose(Kind::IndexSetSplitting, (t.index(), 0), true, || "(the ends are few elements)".into()));
    let stencils = stencils.collect();
    let read_whole = loops.read_whole(g, &reach, &[&roots[..], &whole].concat());
    let own_rows = own_rows(g, &reach, &class, (&loops, &scopes));
    let mut plan = Plan {
        class,
        own_rows,
        steps: Vec::new(),
        order: Vec::new(),
        bodies: vec![Vec::new(); loops.all.len()],
        in_place: HashMap::new(),
        readers: HashMap::new(),
        tiles: Vec::new(),
        squares: SortedMap::new(),
        uses,
        exact,
        windows,
        stencils,
        results: read.into_iter().collect(),
        limited: limited(g, &reach, (&scopes, &read_under)),
        read_under,
        read_whole,
        loops,
        scopes,
    };
    let (statements, of_term) = statements_of(g, &plan, &reach, checks, (&sets, &guard))?;
    let all = Shared { g, statements: &statements, of_term: &of_term, checks, sets: &sets };
    let copied = order_statements(&all, &mut plan, onto)?;
    for list in plan.readers.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok((plan, copied))
}

/// The results, the terms that checks read, and all sizes; and the terms that these reach. Loops
/// that none of them reaches are removed.
fn live_terms(g: &Graph, loops: &mut Loops, results: &[Term], checks: &[CheckTerms]) -> (Vec<Term>, Vec<Term>) {
    let mut roots: Vec<Term> = results.to_vec();
    roots.extend(checks.iter().flat_map(|c| c.reads.iter().copied()));
    // Sizes occur in types and are not children of terms.
    let mut sizes: SortedSet<Term> = SortedSet::new();
    for t in loops.reachable(g, &roots) {
        if let Some((_, shape)) = g.ty(t).as_array() {
            sizes.extend(shape);
        }
    }
    roots.extend(&sizes);
    let mut reach = loops.reachable(g, &roots);
    loops.keep(&reach);
    // All results of a live loop have names.
    let named: Vec<Term> = loops.all.iter().flat_map(|l| l.carries.iter().map(|c| c.last)).collect();
    reach.extend(named);
    reach.sort_unstable();
    reach.dedup();
    (roots, reach)
}

/// Puts the statements of the routine and of each loop in order. Returns the carried arrays that
/// steps of a loop update, but not in place.
fn order_statements(all: &Shared<'_>, plan: &mut Plan, onto: &[(Term, Term)]) -> Result<SortedSet<Term>, String> {
    let mut copied = SortedSet::new();
    for scope in 0..=plan.bodies.len() {
        let own: Vec<usize> = (0..all.statements.len()).filter(|&s| all.statements[s].scope == scope).collect();
        let wanted = match scope {
            0 => in_place_updates_of_caller(all, &own, plan, onto),
            _ => in_place_updates(all, &own, plan, scope - 1),
        };
        let (order, chosen) = list_schedule_with(all, &own, wanted)
            .ok_or_else(|| "the conditions of the program depend on each other".to_string())?;
        if scope > 0 {
            copied.extend(updated(all.g, plan, scope - 1).filter(|now| chosen.iter().all(|c| c.now != *now)));
        }
        let in_place: Vec<(Term, Term)> = chosen.iter().flat_map(InPlace::terms).collect();
        plan.in_place.extend(in_place);
        group(all, plan, &order, scope);
    }
    Ok(copied)
}

/// The number of uses of each term. `read` has the arrays that loops read in full.
fn uses_of(g: &Graph, loops: &Loops, reach: &[Term], roots: &[Term], read: &[Term]) -> HashMap<Term, u32> {
    let mut uses: HashMap<Term, u32> = HashMap::new();
    for &t in reach {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    let beside = |l: &'_ Loop| l.rows.iter().flat_map(Rows::beside).collect::<Vec<Term>>();
    let counts = loops.all.iter().flat_map(|l| [l.count, l.steps].into_iter().chain(l.stop).chain(beside(l)));
    // `read` leaves out the initial values that a loop can make itself. Where such an array is
    // stored all the same, another reader of it needs it.
    let made = loops.all.iter().flat_map(|l| &l.carries).map(|c| c.init).filter(|&t| is_broadcast(g, t));
    for t in roots.iter().chain(read).copied().chain(counts).chain(made) {
        *uses.entry(t).or_default() += 1;
    }
    uses
}

/// The carried arrays of loop `n` in which a step changes only some elements.
fn updated(g: &Graph, plan: &Plan, n: usize) -> impl Iterator<Item = Term> {
    let arrays = plan.loops.all[n].carries.iter().filter(|c| g.rank(c.now) > 1);
    arrays.filter(|c| chain_of_updates(g, &plan.loops, c.now, c.next).is_some()).map(|c| c.now)
}

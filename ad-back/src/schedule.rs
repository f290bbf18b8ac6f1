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

use super::demand::{read_under_tests, tests_of};
use super::in_range::InRange;
use super::plan::Plan;
use super::split::is_stencil;
use super::store::{Class, ProgramContext, classify, is_broadcast, own_rows};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::exact::{self, Decided};
use ad_middle::passes::lowering::im2col::windows_of;
use ad_middle::passes::lowering::opened::{LeafRole, Loop, LoopScopes, Loops, Rows, chain_of_updates};
use group::group;
use guards::{GuardSets, guards};
use order::{InPlace, in_place_updates, in_place_updates_of_caller, list_schedule};
pub(super) use statements::CheckTerms;
use statements::{ScheduledStatement, Shared, Target, reads};

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

    let mut statements: Vec<ScheduledStatement> = Vec::new();
    let mut of_term: HashMap<Term, usize> = HashMap::new();
    let mut of_loop: Vec<Option<usize>> = vec![None; loops.all.len()];
    for &t in &reach {
        let scalar = class[t] == Class::Scalar && !matches!(g.node(t), Node::Lit(_));
        let buffer = class[t] == Class::Buffer && !matches!(g.node(t), Node::Input(_));
        if !scalar && !buffer {
            let not_stored = || windows.values().any(|w| w.not_stored(g) == Some(t));
            if matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..) | Prim::Contract(_), _)) && !not_stored()
            {
                return Err("a reduction inside an index function is not emitted yet".into());
            }
            continue;
        }
        if !g.free(t).is_empty() {
            return Err("an array that depends on a bound index is not emitted yet".into());
        }
        match loops.role(t) {
            Some((_, LeafRole::Step | LeafRole::Carry(_))) => continue,
            Some((n, _)) => {
                let at = *of_loop[n].get_or_insert_with(|| {
                    let reads = loop_reads(g, &loops, &scopes, &statements, n, &sets);
                    let scope = scopes.parent[n];
                    statements.push(ScheduledStatement { of: Target::Loop(n), reads, guard: guard[t], scope });
                    statements.len() - 1
                });
                of_term.insert(t, at);
                continue;
            }
            None => {}
        }
        of_term.insert(t, statements.len());
        // A term that only gets a name has no cost.
        let named = matches!(g.node(t), Node::Input(_) | Node::Size(..));
        let guard = if named { 0 } else { guard[t] };
        let mut read = reads(g, &class, (&windows, &exact), t);
        for test in tests_of(g, (&class, &exact), &read_under, t) {
            for (c, _) in reads(g, &class, (&windows, &exact), test) {
                read.entry(c).or_insert(false);
            }
        }
        statements.push(ScheduledStatement { of: Target::Term(t), reads: read, guard, scope: scopes.of(t) });
    }
    for (check, terms) in checks.iter().enumerate() {
        let reads = terms.reads.iter().filter(|t| !matches!(g.node(**t), Node::Lit(_))).map(|&t| (t, false)).collect();
        statements.push(ScheduledStatement { of: Target::Check(check), reads, guard: 0, scope: 0 });
    }
    let mut uses: HashMap<Term, u32> = HashMap::new();
    for &t in &reach {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    let beside = |l: &'_ Loop| l.rows.iter().flat_map(Rows::beside).collect::<Vec<Term>>();
    let counts = loops.all.iter().flat_map(|l| [l.count, l.steps].into_iter().chain(l.stop).chain(beside(l)));
    // `read` leaves out the initial values that a loop can make itself. Where such an array is
    // stored all the same, another reader of it needs it.
    let made = loops.all.iter().flat_map(|l| &l.carries).map(|c| c.init).filter(|&t| is_broadcast(g, t));
    for t in roots.iter().copied().chain(counts).chain(read[results.len()..].iter().copied()).chain(made) {
        *uses.entry(t).or_default() += 1;
    }
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
        read_under,
        read_whole,
        loops,
        scopes,
    };
    let mut copied = SortedSet::new();
    for scope in 0..=plan.bodies.len() {
        let own: Vec<usize> = (0..statements.len()).filter(|&s| statements[s].scope == scope).collect();
        let all = Shared { g, statements: &statements, of_term: &of_term, checks, sets: &sets };
        let mut chosen = match scope {
            0 => in_place_updates_of_caller(&all, &own, &plan, onto),
            _ => in_place_updates(&all, &own, &plan, scope - 1),
        };
        let ordered = |chosen: &[InPlace]| {
            let before: Vec<(usize, usize)> = chosen.iter().flat_map(|c| c.before.iter().copied()).collect();
            list_schedule(&all, &own, &before)
        };
        let mut order = ordered(&chosen);
        if order.is_none() {
            // An earlier state of some array is read after its update: the loop works on a copy of
            // that array.
            let wanted = std::mem::take(&mut chosen);
            order = ordered(&chosen);
            for one in wanted {
                chosen.push(one);
                match ordered(&chosen) {
                    Some(found) => order = Some(found),
                    None => drop(chosen.pop()),
                }
            }
        }
        let order = order.ok_or_else(|| "the conditions of the program depend on each other".to_string())?;
        if scope > 0 {
            copied.extend(updated(g, &plan, scope - 1).filter(|now| chosen.iter().all(|c| c.now != *now)));
        }
        let in_place: Vec<(Term, Term)> = chosen.iter().flat_map(InPlace::terms).collect();
        plan.in_place.extend(in_place);
        group(&all, &mut plan, &order, scope);
    }
    for list in plan.readers.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok((plan, copied))
}

/// The carried arrays of loop `n` in which a step changes only some elements.
fn updated(g: &Graph, plan: &Plan, n: usize) -> impl Iterator<Item = Term> {
    let arrays = plan.loops.all[n].carries.iter().filter(|c| g.rank(c.now) > 1);
    arrays.filter(|c| chain_of_updates(g, &plan.loops, c.now, c.next).is_some()).map(|c| c.now)
}

/// The terms that a loop reads: its initial values, and the terms outside of its body that the body
/// reads or has as conditions.
fn loop_reads(
    g: &Graph,
    loops: &Loops,
    scopes: &LoopScopes,
    statements: &[ScheduledStatement],
    n: usize,
    sets: &GuardSets,
) -> SortedMap<Term, bool> {
    let l = &loops.all[n];
    let mut found: SortedMap<Term, bool> = SortedMap::from([(l.count, false), (l.steps, false)]);
    found.extend(l.stop.map(|t| (t, false)));
    let rows = l.rows.iter().flat_map(|r| r.beside().chain([r.row]));
    let ends = l.carries.iter().flat_map(|c| [c.init, c.next]).chain(rows);
    for t in ends {
        found.insert(t, false);
        if let Some((_, shape)) = g.ty(t).as_array() {
            found.extend(shape.iter().map(|&n| (n, false)));
        }
        if is_broadcast(g, t) {
            found.insert(broadcast_of(g, t), false);
        }
    }
    for s in statements.iter().filter(|s| s.scope == n + 1) {
        found.extend(s.reads.keys().map(|&t| (t, false)));
        found.extend(sets.sets[s.guard as usize].iter().map(|c| (c.0, false)));
    }
    found.retain(|&t, _| scopes.of(t) != n + 1 && !matches!(g.node(t), Node::Lit(_)));
    found.retain(|&t, _| !matches!(g.node(t), Node::Input(_)) || g.rank(t) == 0);
    found
}

/// The scalar that all elements of `t` are equal to.
fn broadcast_of(g: &Graph, mut t: Term) -> Term {
    while let (Node::Prim(_, args), true) = (g.node(t), g.rank(t) > 0) {
        t = args[0];
    }
    t
}

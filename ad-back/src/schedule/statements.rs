//! Statements before they have an order: the terms that each one computes and reads, its guard and
//! its loop. This module does not decide the position of a statement.

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use super::super::demand::tests_of;
use super::super::plan::Plan;
use super::super::store::{Class, is_broadcast};
use super::guards::GuardSets;
use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Prim, Reduce};
use ad_ir::program::Phase;
use ad_middle::passes::lowering::im2col::ImplicitIm2col;
use ad_middle::passes::lowering::matrix::stored_operand;
use ad_middle::passes::lowering::opened::{LeafRole, LoopScope, LoopScopes, Loops};
use ad_middle::passes::lowering::strided::strided;

/// A check for the scheduler: the terms that it reads, and when it is made.
pub(crate) struct CheckTerms {
    pub(crate) reads: Vec<Term>,
    pub(crate) phase: Phase,
}

/// The terms that the statement of `t` reads, stored or scalar, and whether each is read only at
/// the loops' own indices.
pub(super) fn reads(
    g: &Graph,
    class: &TermTable<Class>,
    (windows, exact): (&SortedMap<Term, ImplicitIm2col>, &HashSet<Term>),
    t: Term,
) -> SortedMap<Term, bool> {
    let mut found: SortedMap<Term, bool> = SortedMap::new();
    let mut seen: HashSet<(Term, bool)> = HashSet::new();
    let mut stack: Vec<(Term, bool)> = Vec::new();
    let note = |found: &mut SortedMap<Term, bool>, c: Term, pointwise: bool| {
        found.entry(c).and_modify(|p| *p &= pointwise).or_insert(pointwise);
    };
    let sizes = |found: &mut SortedMap<Term, bool>, t: Term| {
        if let Some((_, shape)) = g.ty(t).as_array() {
            for &n in shape {
                found.entry(n).or_insert(false);
            }
        }
    };
    sizes(&mut found, t);
    let children = |t: Term, pointwise: bool, stack: &mut Vec<(Term, bool)>| match g.node(t) {
        Node::Prim(prim, args) => {
            let keeps = prim.is_elementwise()
                || matches!(
                    prim,
                    Prim::Recast
                        | Prim::Sum(_)
                        | Prim::Reduce(Reduce::All | Reduce::Any | Reduce::InOrder | Reduce::FromZero, _)
                );
            for (k, &c) in args.iter().enumerate() {
                let mut read = c;
                if let Some(p) = strided(g, t, exact.contains(&t)) {
                    let part = if k == 0 { p.a } else { p.b };
                    read = part.array;
                    stack.extend(part.scalars().into_iter().map(|s| (s, false)));
                    stack.extend(g.shape(c).iter().map(|&n| (n, false)));
                } else if matches!(prim, Prim::Contract(_)) {
                    let operand = stored_operand(g, c);
                    read = operand.array;
                    // A slice reads its start and its sizes.
                    if let Some((start, part)) = operand.part {
                        stack.push((start, false));
                        stack.extend(g.shape(part).iter().map(|&n| (n, false)));
                    }
                }
                stack.push((read, pointwise && keeps && (k == 0 || prim.is_elementwise())));
            }
        }
        node => node.for_each_child(|c| stack.push((c, false))),
    };
    match windows.get(&t) {
        Some(w) => stack.extend(w.reads().map(|c| (c, false))),
        None => children(t, true, &mut stack),
    }
    while let Some((c, pointwise)) = stack.pop() {
        if !seen.insert((c, pointwise)) {
            continue;
        }
        sizes(&mut found, c);
        match class[c] {
            Class::View => children(c, pointwise, &mut stack),
            Class::Scalar | Class::Buffer => note(&mut found, c, pointwise),
        }
    }
    found.retain(|c, _| match g.node(*c) {
        Node::Lit(_) => false,
        Node::Input(_) => g.rank(*c) == 0,
        _ => true,
    });
    found
}

/// The term or check that a statement computes.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Term(Term),
    Check(usize),
    Loop(usize),
}

pub(super) struct ScheduledStatement {
    pub(super) of: Target,
    pub(super) reads: SortedMap<Term, bool>,
    pub(super) guard: u32,
    pub(super) scope: LoopScope,
}

/// The data that all scopes share.
pub(super) struct Shared<'a> {
    pub(super) g: &'a Graph,
    pub(super) statements: &'a [ScheduledStatement],
    pub(super) of_term: &'a HashMap<Term, usize>,
    pub(super) checks: &'a [CheckTerms],
    pub(super) sets: &'a GuardSets,
}

/// The statements of all scopes, with the number of the statement of each term. `guard` has the
/// condition of each term, as a number in `sets`.
pub(super) fn statements_of(
    g: &Graph,
    plan: &Plan,
    reach: &[Term],
    checks: &[CheckTerms],
    (sets, guard): (&GuardSets, &TermTable<u32>),
) -> Result<(Vec<ScheduledStatement>, HashMap<Term, usize>), String> {
    let Plan { class, exact, windows, read_under, loops, scopes, .. } = plan;
    let mut statements: Vec<ScheduledStatement> = Vec::new();
    let mut of_term: HashMap<Term, usize> = HashMap::new();
    let mut of_loop: Vec<Option<usize>> = vec![None; loops.all.len()];
    for &t in reach {
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
                    let reads = loop_reads(g, loops, scopes, &statements, n, sets);
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
        let mut read = reads(g, class, (windows, exact), t);
        for test in tests_of(g, exact, read_under, t) {
            for (c, _) in reads(g, class, (windows, exact), test) {
                read.entry(c).or_insert(false);
            }
        }
        statements.push(ScheduledStatement { of: Target::Term(t), reads: read, guard, scope: scopes.of(t) });
    }
    for (check, terms) in checks.iter().enumerate() {
        let reads = terms.reads.iter().filter(|t| !matches!(g.node(**t), Node::Lit(_))).map(|&t| (t, false)).collect();
        statements.push(ScheduledStatement { of: Target::Check(check), reads, guard: 0, scope: 0 });
    }
    Ok((statements, of_term))
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

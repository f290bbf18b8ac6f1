//! Groups statements into loop nests. A statement joins a neighbour over the same domain and under
//! the same guard, greedily. A full sum also joins a sum of blocks over nearly its domain
//! (`split`). A statement joins a nest only if it reads the nest's results at the loops' own
//! indices.

use std::collections::{HashMap, HashSet};

use super::super::in_range::InRange;
use super::super::plan::{Guard, Plan, Step, Work, domain_of};
use super::super::split::is_within;
use super::super::store::{
    Class, adds_rows, alias_of, is_broadcast, is_exact_sum, is_function, padded_parts, repeats, zero_from,
};
use super::order::is_let;
use super::statements::{Shared, Target};
use super::summed::{Around, around};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Prim, Reduce};
use ad_middle::passes::lowering::opened::LoopScope;

/// The maximum number of terms of one nest. A register that is spilled costs less than an array
/// that a second nest would read, but the code of a nest grows with each term.
const MAX_TERMS: usize = 48;

/// Whether the term is computed element by element by a nest that others may join.
fn is_item(g: &Graph, class: &TermTable<Class>, exact: &HashSet<Term>, t: Term) -> bool {
    match g.node(t) {
        _ if is_exact_sum(g, exact, t) => false,
        // A sum becomes part of the nest that computes its summands.
        Node::Prim(Prim::Sum(_), args) if adds_rows(g, class, exact, t) => is_item(g, class, exact, args[0]),
        Node::Prim(
            Prim::Sum(_) | Prim::Reduce(Reduce::All | Reduce::Any | Reduce::InOrder | Reduce::FromZero, _),
            _,
        ) => true,
        _ if class[t] == Class::Buffer && repeats(g, class, t) => false,
        Node::Scatter { .. } | Node::Cond { .. } | Node::Input(_) => false,
        Node::Prim(prim, _) if prim.cost().is_none() => false,
        _ => {
            class[t] == Class::Buffer
                && !is_broadcast(g, t)
                && alias_of(g, class, t).is_none()
                && padded_parts(g, class, t).is_none()
        }
    }
}

/// Groups the statements of a scope; a nest takes in a later statement over the same domain whose
/// reads of it are pointwise.
pub(super) fn group(all: &Shared<'_>, plan: &mut Plan, order: &[usize], scope: LoopScope) {
    let Shared { g, statements, sets, .. } = *all;
    let first = plan.steps.len();
    let mut steps: Vec<Step> = Vec::new();
    let mut step_of: HashMap<Term, usize> = HashMap::new();
    let mut open: HashMap<(Vec<Term>, u32), Vec<usize>> = HashMap::new();
    let mut placed: Vec<(usize, usize)> = Vec::new();
    // Only statements outside of loops are tiled.
    let axes = if scope == 0 { around(all, order) } else { HashMap::new() };
    let mut axes_of_nests: HashMap<usize, Around> = HashMap::new();
    let mut neighbours: Vec<usize> = Vec::new();
    let prover = &InRange::new(g);
    // The conditions that hold in the whole body.
    let known: Vec<Guard> = match scope.checked_sub(1).map(|n| &plan.loops.all[n]) {
        Some(l) => {
            let last = l.carries.first().map(|c| c.last).or(l.rows.first().map(|r| r.all));
            let of = last.and_then(|t| all.of_term.get(&t)).map(|&s| statements[s].guard);
            of.map_or_else(Vec::new, |guard| sets.sets[guard as usize].clone())
        }
        None => Vec::new(),
    };
    for &s in order {
        let statement = &statements[s];
        let mut guard = sets.sets[statement.guard as usize].clone();
        guard.retain(|l| !known.contains(l));
        guard.sort_by_key(|l| (step_of.get(&l.0).copied(), *l));
        let t = match statement.of {
            Target::Term(t) => t,
            Target::Check(check) => {
                placed.push((s, steps.len()));
                steps.push(Step { guard, work: Work::Check(check) });
                continue;
            }
            Target::Loop(n) => {
                placed.push((s, steps.len()));
                let l = &plan.loops.all[n];
                step_of.extend(l.carries.iter().map(|c| (c.last, steps.len())));
                step_of.extend(l.rows.iter().map(|r| (r.all, steps.len())));
                steps.push(Step { guard, work: Work::Loop(n) });
                continue;
            }
        };
        let stencil = plan.stencils.contains(&t);
        let (window, own_row) = (plan.windows.contains_key(&t), plan.own_rows.contains_key(&t));
        let item = is_item(g, &plan.class, &plan.exact, t) && !window && !own_row;
        if !stencil && !item {
            placed.push((s, steps.len()));
            step_of.insert(t, steps.len());
            let whole = g.rank(t) > 0 || !is_let(g, t);
            steps.push(Step { guard, work: if whole { Work::Whole(t) } else { Work::Scalar(t) } });
            continue;
        }
        let domain = domain_of(g, t);
        let nests = open.entry((domain.clone(), statement.guard)).or_default().clone();
        let fits = |nest: usize| {
            let conditions = guard.iter().map(|l| (&l.0, &false));
            let mut read = statement.reads.iter().chain(conditions);
            read.all(|(r, &pointwise)| match step_of.get(r) {
                None => true,
                Some(&at) => at < nest || (at == nest && pointwise && domain_of(g, *r) == g.shape(*r)),
            })
        };
        let room = |nest: usize| matches!(&steps[nest].work, Work::Nest { items, .. } if items.len() < MAX_TERMS);
        // Sums of rows are not split.
        let full = |t: Term| g.rank(t) == 0 && g.elem(t).is_real() && matches!(g.node(t), Node::Prim(Prim::Sum(_), _));
        // A check ends a tile. So the nests over items that it reads compute nothing that a tile
        // could have.
        let only_checked = |t: Term| match g.node(t) {
            Node::Prim(Prim::Reduce(Reduce::All, _), args) => g.rank(args[0]) == 1,
            _ => false,
        };
        let checked = |nest: usize| match &steps[nest].work {
            Work::Nest { items, .. } => items.iter().any(|&u| only_checked(u)),
            _ => false,
        };
        // In a loop over rows a nest ends where all that it computes is zero or not read. So a term
        // that ends early stays apart from terms that do not, unless these are computed from it.
        let end = |t: Term| plan.read_under.get(&t).copied().or_else(|| zero_from(g, t));
        let ends_alike = |items: &[Term]| match end(t) {
            _ if scope == 0 => true,
            Some(_) => items.iter().any(|&u| end(u).is_some()),
            None => items.iter().any(|&u| end(u).is_none() || statement.reads.contains_key(&u)),
        };
        let own_axes = axes.get(&s).copied().unwrap_or_default();
        let can_share = |nest: usize| match &steps[nest].work {
            _ if axes_of_nests.get(&nest).is_some_and(|nest| nest.delays(own_axes)) => false,
            // A sum of blocks has joined it, and has widened its domain.
            Work::Nest { domain: of_nest, .. } if *of_nest != domain && !full(t) => false,
            Work::Nest { items, .. } if !ends_alike(items) => false,
            Work::Nest { .. } if scope == 0 && checked(nest) != only_checked(t) => false,
            Work::Nest { items, .. } => {
                let (split, sums) =
                    (items.iter().any(|u| plan.stencils.contains(u)), items.iter().any(|&u| rows(g, u)));
                !(split && rows(g, t) || stencil && sums)
            }
            _ => false,
        };
        let first_of = |nest: usize| match &steps[nest].work {
            Work::Nest { items, .. } => items.first().map_or(0, |t| t.index()),
            _ => 0,
        };
        let mut found = nests.iter().rev().take(4).copied().find(|&nest| room(nest) && fits(nest) && can_share(nest));
        if found.is_none() && (stencil || full(t)) {
            // A sum over nearly the domain of a sum of blocks is taken in the same nest.
            found = neighbours.iter().rev().take(4).copied().find(|&nest| match &steps[nest].work {
                Work::Nest { domain: other, items } => {
                    let joins = if stencil {
                        items.iter().all(|&u| full(u)) && is_within(prover, other, &domain)
                    } else {
                        items.iter().any(|u| plan.stencils.contains(u)) && is_within(prover, &domain, other)
                    };
                    joins && steps[nest].guard == guard && room(nest) && fits(nest)
                }
                _ => false,
            });
        }
        // In a loop rows are short. There a nest that only computes functions stays without the
        // sum: it is done in complete blocks, the last one too, and a separate sum over its results
        // costs almost nothing.
        let stays_separate = |nest: usize| match (&steps[nest].work, g.node(t)) {
            (Work::Nest { items, .. }, Node::Prim(Prim::Sum(_), args)) => {
                scope > 0 && full(t) && items.contains(&args[0]) && is_function(g, args[0])
            }
            _ => false,
        };
        let room_for = found.is_some_and(|nest| !stays_separate(nest));
        let wide = || nests.iter().rev().take(4).copied().find(|&nest| fits(nest) && can_share(nest));
        found = found.or_else(wide).filter(|&nest| {
            let why = || match (nests.contains(&nest), room_for) {
                _ if stays_separate(nest) => format!("%{} (functions in whole blocks, and a sum)", first_of(nest)),
                (_, false) => format!("%{} (which computes {MAX_TERMS} arrays and sums already)", first_of(nest)),
                (true, _) => format!("%{} (the same domain and condition)", first_of(nest)),
                (false, _) => format!("%{} (nearly the same domain)", first_of(nest)),
            };
            choose(Kind::NestFusion, (t.index(), nest), room_for, why)
        });
        match found {
            Some(nest) => {
                if let Work::Nest { items, domain: of_nest } = &mut steps[nest].work {
                    items.push(t);
                    if stencil {
                        *of_nest = domain;
                    }
                }
                placed.push((s, nest));
                step_of.insert(t, nest);
                axes_of_nests.entry(nest).and_modify(|nest| *nest = nest.and(own_axes));
            }
            None => {
                if stencil || full(t) {
                    neighbours.push(steps.len());
                }
                open.entry((domain.clone(), statement.guard)).or_default().push(steps.len());
                placed.push((s, steps.len()));
                step_of.insert(t, steps.len());
                axes_of_nests.insert(steps.len(), own_axes);
                steps.push(Step { guard, work: Work::Nest { domain, items: vec![t] } });
            }
        }
    }
    for &(s, step) in &placed {
        let conditions = steps[step].guard.iter().map(|l| l.0);
        for t in statements[s].reads.keys().copied().chain(conditions) {
            plan.readers.entry(t).or_default().push(first + step);
        }
    }
    let numbers = (first..first + steps.len()).collect();
    match scope.checked_sub(1) {
        None => plan.order = numbers,
        Some(n) => plan.bodies[n] = numbers,
    }
    plan.steps.extend(steps);
}

/// Whether the term is a sum whose result has axes.
fn rows(g: &Graph, t: Term) -> bool {
    g.rank(t) > 0 && matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..), _))
}

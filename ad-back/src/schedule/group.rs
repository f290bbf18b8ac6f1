//! Groups statements into loop nests. A statement joins a neighbour over the same domain and under
//! the same guard, greedily. A full sum also joins a sum of blocks over nearly its domain
//! (`split`). A statement joins a nest only if it reads the nest's results at the loops' own
//! indices.

use std::collections::{HashMap, HashSet};

use super::super::in_range::InRange;
use super::super::plan::{Guard, Plan, Step, Work, domain_of};
use super::super::split::is_within;
use super::super::store::{Class, adds_rows, alias_of, is_broadcast, is_exact_sum, is_function, padded_parts, repeats};
use super::order::is_let;
use super::statements::{ScheduledStatement, Shared, Target};
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
    let first = plan.steps.len();
    let known = conditions_of_body(all, plan, scope);
    let mut nests = Nests {
        all,
        plan,
        scope,
        prover: InRange::new(all.g),
        steps: Vec::new(),
        step_of: HashMap::new(),
        open: HashMap::new(),
        axes_of_nests: HashMap::new(),
        neighbours: Vec::new(),
    };
    // Only statements outside of loops are tiled.
    let axes = if scope == 0 { around(all, order) } else { HashMap::new() };
    let mut placed: Vec<(usize, usize)> = Vec::new();
    for &s in order {
        placed.push((s, nests.place(s, &known, axes.get(&s).copied().unwrap_or_default())));
    }
    let steps = nests.steps;
    for &(s, step) in &placed {
        let conditions = steps[step].guard.iter().map(|l| l.0);
        for t in all.statements[s].reads.keys().copied().chain(conditions) {
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

/// The conditions that hold in the whole body of a loop.
fn conditions_of_body(all: &Shared<'_>, plan: &Plan, scope: LoopScope) -> Vec<Guard> {
    let Some(l) = scope.checked_sub(1).map(|n| &plan.loops.all[n]) else { return Vec::new() };
    let last = l.carries.first().map(|c| c.last).or(l.rows.first().map(|r| r.all));
    let of = last.and_then(|t| all.of_term.get(&t)).map(|&s| all.statements[s].guard);
    of.map_or_else(Vec::new, |guard| all.sets.sets[guard as usize].clone())
}

/// The steps of a scope so far.
struct Nests<'a> {
    all: &'a Shared<'a>,
    plan: &'a Plan,
    scope: LoopScope,
    prover: InRange<'a>,
    steps: Vec<Step>,
    step_of: HashMap<Term, usize>,
    /// The nests of each domain and guard.
    open: HashMap<(Vec<Term>, u32), Vec<usize>>,
    axes_of_nests: HashMap<usize, Around>,
    /// The nests that a sum over nearly the same domain may join.
    neighbours: Vec<usize>,
}

/// An item, which joins a nest or begins one.
struct Candidate<'a> {
    t: Term,
    statement: &'a ScheduledStatement,
    guard: Vec<Guard>,
    domain: Vec<Term>,
    axes: Around,
}

impl Nests<'_> {
    /// Adds a statement, and returns its step.
    fn place(&mut self, s: usize, known: &[Guard], axes: Around) -> usize {
        let (g, plan, at) = (self.all.g, self.plan, self.steps.len());
        let statement = &self.all.statements[s];
        let mut guard = self.all.sets.sets[statement.guard as usize].clone();
        guard.retain(|l| !known.contains(l));
        guard.sort_by_key(|l| (self.step_of.get(&l.0).copied(), *l));
        let work = match statement.of {
            Target::Check(check) => Work::Check(check),
            Target::Loop(n) => {
                let l = &plan.loops.all[n];
                self.step_of.extend(l.carries.iter().map(|c| (c.last, at)));
                self.step_of.extend(l.rows.iter().map(|r| (r.all, at)));
                Work::Loop(n)
            }
            Target::Term(t) => {
                let alone = plan.windows.contains_key(&t) || plan.own_rows.contains_key(&t);
                if plan.stencils.contains(&t) || is_item(g, &plan.class, &plan.exact, t) && !alone {
                    return self.place_item(Candidate { t, statement, guard, domain: domain_of(g, t), axes });
                }
                self.step_of.insert(t, at);
                if g.rank(t) > 0 || !is_let(g, t) { Work::Whole(t) } else { Work::Scalar(t) }
            }
        };
        self.steps.push(Step { guard, work });
        at
    }

    /// Adds an item to a nest, or begins one.
    fn place_item(&mut self, new: Candidate<'_>) -> usize {
        let nests = self.open.entry((new.domain.clone(), new.statement.guard)).or_default().clone();
        let found = self.nest_for(&new, &nests);
        let Candidate { t, statement, guard, domain, axes } = new;
        let stencil = self.plan.stencils.contains(&t);
        let at = match found {
            Some(nest) => {
                if let Work::Nest { items, domain: of_nest } = &mut self.steps[nest].work {
                    items.push(t);
                    if stencil {
                        *of_nest = domain;
                    }
                }
                self.axes_of_nests.entry(nest).and_modify(|nest| *nest = nest.and(axes));
                nest
            }
            None => {
                let at = self.steps.len();
                if stencil || full(self.all.g, t) {
                    self.neighbours.push(at);
                }
                self.open.entry((domain.clone(), statement.guard)).or_default().push(at);
                self.axes_of_nests.insert(at, axes);
                self.steps.push(Step { guard, work: Work::Nest { domain, items: vec![t] } });
                at
            }
        };
        self.step_of.insert(t, at);
        at
    }

    /// The nest that an item joins, if there is one. `nests` have its domain and its guard.
    fn nest_for(&self, new: &Candidate<'_>, nests: &[usize]) -> Option<usize> {
        let (stencil, t) = (self.plan.stencils.contains(&new.t), new.t);
        let fits = |nest: &usize| self.fits(new, *nest) && self.can_share(new, *nest);
        let mut found = last_four(nests).find(|nest| self.has_room(*nest) && fits(nest));
        if found.is_none() && (stencil || full(self.all.g, t)) {
            // A sum over nearly the domain of a sum of blocks is taken in the same nest.
            found = last_four(&self.neighbours).find(|&nest| self.is_neighbour(new, stencil, nest));
        }
        let has_room = found.is_some_and(|nest| !self.stays_separate(t, nest));
        found.or_else(|| last_four(nests).find(fits)).filter(|&nest| {
            let why = || match (nests.contains(&nest), has_room) {
                _ if self.stays_separate(t, nest) => {
                    format!("%{} (functions in whole blocks, and a sum)", self.first_of(nest))
                }
                (_, false) => format!("%{} (which computes {MAX_TERMS} arrays and sums already)", self.first_of(nest)),
                (true, _) => format!("%{} (the same domain and condition)", self.first_of(nest)),
                (false, _) => format!("%{} (nearly the same domain)", self.first_of(nest)),
            };
            choose(Kind::NestFusion, (t.index(), nest), has_room, why)
        })
    }

    /// Whether the item reads nothing that is computed after the nest, and the nest's own results
    /// only at the loops' own indices.
    fn fits(&self, new: &Candidate<'_>, nest: usize) -> bool {
        let g = self.all.g;
        let conditions = new.guard.iter().map(|l| (&l.0, &false));
        let mut read = new.statement.reads.iter().chain(conditions);
        read.all(|(r, &pointwise)| match self.step_of.get(r) {
            None => true,
            Some(&at) => at < nest || (at == nest && pointwise && domain_of(g, *r) == g.shape(*r)),
        })
    }

    fn has_room(&self, nest: usize) -> bool {
        matches!(&self.steps[nest].work, Work::Nest { items, .. } if items.len() < MAX_TERMS)
    }

    /// Whether an item may be computed in a nest of its domain, as far as the kinds of items decide
    /// it.
    fn can_share(&self, new: &Candidate<'_>, nest: usize) -> bool {
        let (g, t, plan) = (self.all.g, new.t, self.plan);
        let Work::Nest { items, domain } = &self.steps[nest].work else { return false };
        if self.axes_of_nests.get(&nest).is_some_and(|nest| nest.delays(new.axes)) {
            return false;
        }
        // A sum of blocks has joined it, and has widened its domain.
        if *domain != new.domain && !full(g, t) {
            return false;
        }
        if !self.ends_alike(new, items) {
            return false;
        }
        if self.scope == 0 && items.iter().any(|&u| only_checked(g, u)) != only_checked(g, t) {
            return false;
        }
        let (split, sums) = (items.iter().any(|u| plan.stencils.contains(u)), items.iter().any(|&u| rows(g, u)));
        !(split && rows(g, t) || plan.stencils.contains(&t) && sums)
    }

    /// In a loop over rows a nest ends where all that it computes is zero or not read. So a term
    /// that ends early stays apart from terms that do not, unless these are computed from it.
    fn ends_alike(&self, new: &Candidate<'_>, items: &[Term]) -> bool {
        let ends = |t: Term| self.plan.limited.contains(&t);
        match ends(new.t) {
            _ if self.scope == 0 => true,
            true => items.iter().any(|&u| ends(u)),
            false => items.iter().any(|&u| !ends(u) || new.statement.reads.contains_key(&u)),
        }
    }

    /// Whether a full sum and a sum of blocks are over nearly one domain, and can share the nest.
    fn is_neighbour(&self, new: &Candidate<'_>, stencil: bool, nest: usize) -> bool {
        let Work::Nest { domain: other, items } = &self.steps[nest].work else { return false };
        let joins = if stencil {
            items.iter().all(|&u| full(self.all.g, u)) && is_within(&self.prover, other, &new.domain)
        } else {
            items.iter().any(|u| self.plan.stencils.contains(u)) && is_within(&self.prover, &new.domain, other)
        };
        joins && self.steps[nest].guard == new.guard && self.has_room(nest) && self.fits(new, nest)
    }

    /// In a loop rows are short. There a nest that only computes functions stays without the sum:
    /// it is done in complete blocks, the last one too, and a separate sum over its results costs
    /// almost nothing.
    fn stays_separate(&self, t: Term, nest: usize) -> bool {
        let g = self.all.g;
        match (&self.steps[nest].work, g.node(t)) {
            (Work::Nest { items, .. }, Node::Prim(Prim::Sum(_), args)) => {
                self.scope > 0 && full(g, t) && items.contains(&args[0]) && is_function(g, args[0])
            }
            _ => false,
        }
    }

    /// The number of the first term of a nest, for a text.
    fn first_of(&self, nest: usize) -> usize {
        match &self.steps[nest].work {
            Work::Nest { items, .. } => items.first().map_or(0, |t| t.index()),
            _ => 0,
        }
    }
}

/// The last nests of a list, the last one first.
fn last_four(nests: &[usize]) -> impl Iterator<Item = usize> + '_ {
    nests.iter().rev().take(4).copied()
}

/// Whether the term is a sum to one number. Sums of rows are not split.
fn full(g: &Graph, t: Term) -> bool {
    g.rank(t) == 0 && g.elem(t).is_real() && matches!(g.node(t), Node::Prim(Prim::Sum(_), _))
}

/// Whether only a check reads the term. A check ends a tile. So the nests over items that it reads
/// compute nothing that a tile could have.
fn only_checked(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Reduce(Reduce::All, _), args) => g.rank(args[0]) == 1,
        _ => false,
    }
}

/// Whether the term is a sum whose result has axes.
fn rows(g: &Graph, t: Term) -> bool {
    g.rank(t) > 0 && matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..), _))
}

//! Statements before they have an order: the terms that each one computes and reads, its guard and
//! its loop. This module does not decide the position of a statement.

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use super::super::store::Class;
use super::guards::GuardSets;
use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Prim, Reduce};
use ad_ir::program::Phase;
use ad_middle::passes::lowering::im2col::ImplicitIm2col;
use ad_middle::passes::lowering::matrix::stored_operand;
use ad_middle::passes::lowering::opened::LoopScope;
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
                    let behind = stored_operand(g, c);
                    read = behind.array;
                    // A slice reads its start and its sizes.
                    if let Some((start, part)) = behind.part {
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

//! Closed bounds of numbers that are computed from elements of arrays, such as the length
//! `starts[q + 1] - starts[q]` of a group. The bound is the greatest such number over all values of
//! the index `q`, which one pass over `starts` finds. It does not matter where `q` comes from: it
//! may be the index of a loop, a carried number, or an element of another array.
//!
//! This module must never return a bound that some value of the index exceeds.

use super::super::lower::Lower;
use super::bounds::Bounds;
use crate::translation::enclosing::Frame;
use ad_ir::analysis::range::Linear;
use ad_ir::ir::{Elem, Node, Term, Type, axis};
use ad_ir::prim::{IntOp, Prim, Reduce};
use ad_ir::sorted::{SortedMap, SortedSet};

/// The greatest depth of a number above the elements that it is computed from.
const DEEPEST: u32 = 16;

/// An element of a closed array at an index that varies.
struct Lookup {
    /// The elements at all values of the index: a closed array of one axis.
    all: Term,
    index: Linear,
}

/// Elements of closed arrays at one index, up to constants, for each value of the index.
pub(super) struct Lookups {
    /// The number of values of the index.
    pub(super) count: Term,
    /// For each element: a closed array with its value for each value of the index.
    elements: SortedMap<Term, Term>,
}

impl Lookups {
    /// The values of an element for each value of the index. `None` if it is no such element.
    pub(super) fn values_of(&self, element: Term) -> Option<Term> {
        self.elements.get(&element).copied()
    }
}

impl Lower<'_> {
    /// A closed upper bound of a number over all values of one index at which, up to constants,
    /// closed arrays are read. `None` if no such elements bound it.
    pub(in super::super) fn most_of_lookups(&mut self, t: Term) -> Option<Term> {
        if self.g.is_closed(t) || *self.g.ty(t) != Type::scalar(Elem::USIZE) {
            return None;
        }
        let (mut found, mut seen) = (SortedMap::new(), SortedSet::new());
        self.find_lookups(t, DEEPEST, &mut found, &mut seen);
        let base = found.values().next()?.index.clone();
        let offset = |index: &Linear| {
            let difference = index.combine(1, &base, -1)?;
            difference.atoms.is_empty().then_some(difference.constant)
        };
        let lookups: Vec<(Term, Term, i128)> =
            found.iter().filter_map(|(&t, lookup)| Some((t, lookup.all, offset(&lookup.index)?))).collect();
        let least = lookups.iter().map(|l| l.2).min()?;
        let mut slices = Vec::new();
        let mut count: Option<Term> = None;
        for (element, all, offset) in lookups {
            let first = self.g.lit_usize(usize::try_from(offset - least).ok()?);
            let values = self.g.int(IntOp::Sub, self.g.shape(all)[0], first);
            count = Some(count.map_or(values, |n| if n == values { n } else { self.g.int(IntOp::Min, n, values) }));
            slices.push((element, all, first));
        }
        let mut count = count?;
        if let Some(steps) = self.steps_that_number(&base, least) {
            count = self.g.int(IntOp::Min, count, steps);
        }
        let values = |(element, all, first)| (element, self.g.slice(all, &[first], &[1], &[count]));
        let elements = slices.into_iter().map(values).collect();
        let most = self.bound(t, true, &mut Bounds::of_lookups(Lookups { count, elements }))?;
        Some(self.g.reduce(Reduce::Max, 1, most))
    }

    /// The number of steps of the enclosing loop whose steps an index numbers, from 0.
    fn steps_that_number(&self, index: &Linear, offset: i128) -> Option<Term> {
        let [(&number, 1)] = index.atoms.iter().collect::<Vec<_>>()[..] else { return None };
        let Node::Var(number) = self.g.node(number) else { return None };
        if index.constant + offset != 0 {
            return None;
        }
        let steps = self.state.enclosing.frames().iter().find_map(|frame| match *frame {
            Frame::Loop { var, size, .. } | Frame::Recurrence { var, size, .. } if var == *number => Some(size),
            _ => None,
        })?;
        self.g.is_closed(steps).then_some(steps)
    }

    /// Adds the elements that a number is computed from. Numbers share their parts, so each one is
    /// looked at once.
    fn find_lookups(&mut self, t: Term, depth: u32, found: &mut SortedMap<Term, Lookup>, seen: &mut SortedSet<Term>) {
        if depth == 0 || self.g.is_closed(t) || !seen.insert(t) {
            return;
        }
        match self.g.node(t).clone() {
            Node::Prim(Prim::Int(_), args) => {
                args.iter().for_each(|&arg| self.find_lookups(arg, depth - 1, found, seen))
            }
            Node::Gather { .. } => {
                if let Some(lookup) = self.lookup_of(t) {
                    found.insert(t, lookup);
                }
            }
            _ => {}
        }
    }

    /// An element of a closed array, or of a part of one, such as a window, whose index varies
    /// along one axis only.
    fn lookup_of(&mut self, element: Term) -> Option<Lookup> {
        let Node::Gather { mut src, vars, mut index, .. } = self.g.node(element).clone() else { return None };
        if !vars.is_empty() {
            return None;
        }
        for _ in 0..DEEPEST {
            if self.g.is_closed(src) {
                break;
            }
            let Node::Gather { src: whole, vars, index: inner, .. } = self.g.node(src).clone() else { return None };
            let (own, rest) = index.split_at_checked(vars.len())?;
            let own: Vec<_> = vars.iter().copied().zip(own.iter().copied()).collect();
            let inner = self.g.subst_vars_all(&inner, &own);
            (src, index) = (whole, inner.into_iter().chain(rest.iter().copied()).collect());
        }
        if !self.g.is_closed(src) || index.len() != self.g.rank(src) {
            return None;
        }
        let mut varying = (0..index.len()).filter(|&k| !self.g.is_closed(index[k]));
        let at = varying.next().filter(|_| varying.next().is_none())?;
        let others = || (0..index.len()).filter(|&k| k != at);
        let order: Vec<u8> = others().chain([at]).map(axis).collect();
        let fixed: Vec<Term> = others().map(|k| index[k]).collect();
        let last = self.g.transpose(src, &order);
        let all = if fixed.is_empty() { last } else { self.g.index(last, &fixed) };
        Some(Lookup { all, index: self.state.facts.linear(&self.g, index[at]) })
    }
}

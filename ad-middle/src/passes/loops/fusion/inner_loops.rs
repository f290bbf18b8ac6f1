//! Merging of inner loops in the body of a fused loop. Two loops with one trip count are merged if
//! one of them carries all values that the other one carries, or if they have a recurrence of real
//! numbers in common: loops of checks carry different flags beside the same array. Which carried
//! values are equal is found by refinement: values with equal initial values are taken to be equal,
//! and those whose next values differ then are told apart, until nothing changes.
//!
//! This module must never merge loops that read each other, nor loops that compute nothing twice.

use super::inner_loops;
use crate::passes::Context;
use crate::passes::rewrite::Rewriter;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};

/// The results with merged inner loops; `None` if no two loops can be merged. Loops that read
/// merged loops may be merged too.
pub(super) fn merge_inner_loops(g: &mut Graph, results: &[Term], cx: &mut Context) -> Option<Vec<Term>> {
    let mut merged: Option<Vec<Term>> = None;
    loop {
        let results = merged.as_deref().unwrap_or(results);
        let Some(next) = merge_two(g, results, cx) else { return merged };
        merged = Some(next);
    }
}

/// The results with two inner loops as one.
fn merge_two(g: &mut Graph, results: &[Term], cx: &mut Context) -> Option<Vec<Term>> {
    let all: Vec<(Term, Scan)> = g
        .reachable(results)
        .into_iter()
        .filter_map(|t| if let Node::Scan(scan) = g.node(t) { Some((t, (**scan).clone())) } else { None })
        .collect();
    for (k, (b, second)) in all.iter().enumerate() {
        // A loop is newer than those that it reads.
        let read = g.reachable(&[*b]);
        for (a, first) in all[..k].iter().filter(|(a, _)| !read.contains(a)) {
            let Some((both, of_first, of_second)) = joined(g, first, second, cx) else { continue };
            let mut new = Rewriter::new(&*cx.get::<Fixed>(g, results));
            let one = g.scan(both);
            for (t, parts) in [(*a, of_first), (*b, of_second)] {
                let parts: Vec<Term> = parts.into_iter().map(|k| g.proj(one, k)).collect();
                let parts = g.tuple(&parts);
                new.set(t, parts);
            }
            return Some(new.substitute(g, results));
        }
    }
    None
}

/// A list without repeated entries, and their types.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) terms: Vec<Term>,
    pub(super) types: Vec<Type>,
}

impl Inputs {
    pub(super) fn add(&mut self, t: Term, ty: &Type) {
        if !self.terms.contains(&t) {
            self.terms.push(t);
            self.types.push(ty.clone());
        }
    }

    pub(super) fn add_all(&mut self, terms: &[Term], types: &[Type]) {
        terms.iter().zip(types).for_each(|(&t, ty)| self.add(t, ty));
    }

    /// The parameter of a term of the list, if the first one of all is number `first`.
    pub(super) fn param(&self, g: &mut Graph, t: Term, first: usize) -> Option<Term> {
        let k = self.terms.iter().position(|&u| u == t)?;
        Some(g.param(first + k, self.types[k].clone()))
    }
}

/// One loop with the results of both, and for each result of both its index in those of the one.
/// `None` if it would carry more values than one of them does, and they have no recurrence of real
/// numbers in common. Loops in its body are merged as well.
fn joined(g: &mut Graph, a: &Scan, b: &Scan, cx: &mut Context) -> Option<(Scan, Vec<usize>, Vec<usize>)> {
    if (a.count, a.reverse) != (b.count, b.reverse) || a.stop.is_some() != b.stop.is_some() {
        return None;
    }
    let (mut scan, first, second) = side_by_side(g, a, b)?;
    let merged = merge_inner_loops(g, &scan.body.results, cx);
    // Loops of which one carries nothing are merged only if they read the same, or run the same
    // loop.
    let alike = match (a.init.len(), b.init.len()) {
        (0, 0) => (&a.captures, &a.xs) == (&b.captures, &b.xs),
        (0, _) | (_, 0) => {
            let own = inner_loops(g, &a.body.results) + inner_loops(g, &b.body.results);
            merged.is_some() || inner_loops(g, &scan.body.results) < own
        }
        _ => true,
    };
    if let Some(results) = merged {
        scan.body.results = results.into();
    }
    alike.then_some((scan, first, second))
}

/// One loop with the results of both, as [`joined`].
fn side_by_side(g: &mut Graph, a: &Scan, b: &Scan) -> Option<(Scan, Vec<usize>, Vec<usize>)> {
    let (of_a, of_b) = (a.init.len(), b.init.len());
    let (mut captures, mut xs) = (Inputs::default(), Inputs::default());
    for scan in [a, b] {
        let (carries, rows) = (scan.init.len(), scan.init.len() + scan.captures.len());
        captures.add_all(&scan.captures, &scan.body.params[carries..rows]);
        xs.add_all(&scan.xs, &scan.body.params[rows..]);
    }
    let init: Vec<Term> = a.init.iter().chain(&*b.init).copied().collect();
    let types: Vec<Type> = a.body.params[..of_a].iter().chain(&b.body.params[..of_b]).cloned().collect();
    let mut class = classes(&init.iter().zip(&types).collect::<Vec<_>>());
    loop {
        let number = class.iter().max().map_or(0, |last| last + 1);
        // A refinement has at least as many classes, and shares no more.
        let shared = (0..of_a).any(|k| types[k].has_real() && class[of_a..].contains(&class[k]));
        if number > of_a.max(of_b) && !shared {
            return None;
        }
        let mut results = |scan: &Scan, first: usize| {
            let own = first..first + scan.init.len();
            let mut args: Vec<Term> = own.map(|k| g.param(class[k], types[k].clone())).collect();
            args.extend(scan.captures.iter().filter_map(|&t| captures.param(g, t, number)));
            args.extend(scan.xs.iter().filter_map(|&x| xs.param(g, x, number + captures.terms.len())));
            g.instantiate(&scan.body, &args)
        };
        let (from_a, from_b) = (results(a, 0), results(b, of_a));
        let next: Vec<Term> = from_a[..of_a].iter().chain(&from_b[..of_b]).copied().collect();
        let refined = classes(&class.iter().zip(&next).collect::<Vec<_>>());
        if refined != class {
            class = refined;
            continue;
        }
        let stop = |k: Option<usize>, first: usize| k.map(|k| class[first + k]);
        if stop(a.stop, 0) != stop(b.stop, of_a) {
            return None;
        }
        let of_class: Vec<usize> = (0..number).filter_map(|c| class.iter().position(|&k| k == c)).collect();
        let mut all: Vec<Term> = of_class.iter().map(|&k| next[k]).collect();
        let mut parts = |own: &[usize], rows: &[Term]| {
            let mut parts = own.to_vec();
            for &row in rows {
                let saved = all[number..].iter().position(|&r| r == row);
                parts.push(number + saved.unwrap_or(all.len() - number));
                all.extend(saved.is_none().then_some(row));
            }
            parts
        };
        let (first, second) = (parts(&class[..of_a], &from_a[of_a..]), parts(&class[of_a..], &from_b[of_b..]));
        let params = of_class.iter().map(|&k| types[k].clone()).chain(captures.types).chain(xs.types).collect();
        let scan = Scan {
            stop: stop(a.stop, 0),
            init: of_class.iter().map(|&k| init[k]).collect(),
            captures: captures.terms.into(),
            xs: xs.terms.into(),
            body: Body { params, results: all.into() },
            ..a.clone()
        };
        return Some((scan, first, second));
    }
}

/// For each key the number of its class, by the first occurrence of equal keys.
fn classes<K: PartialEq>(keys: &[K]) -> Vec<usize> {
    let mut first: Vec<usize> = Vec::new();
    let class = |k: usize, first: &mut Vec<usize>| match first.iter().position(|&f| keys[f] == keys[k]) {
        Some(class) => class,
        None => {
            first.push(k);
            first.len() - 1
        }
    };
    (0..keys.len()).map(|k| class(k, &mut first)).collect()
}

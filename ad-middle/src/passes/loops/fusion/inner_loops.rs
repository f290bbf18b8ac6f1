//! Merging of inner loops in the body of a fused loop. Two loops with one trip count are merged if
//! one of them carries all values that the other one carries. Which carried values are equal is
//! found by refinement: values with equal initial values are taken to be equal, and those whose
//! next values differ then are told apart, until nothing changes.
//!
//! This module must never merge loops that read each other, nor add to the values that a loop
//! carries.

use std::collections::HashSet;

use crate::passes::Context;
use crate::passes::rewrite::Rewriter;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};

/// A merged loop, and the loops that it replaces, each with the indices of its results.
struct Merged {
    scan: Scan,
    replaced: Vec<(Term, Vec<usize>)>,
}

/// The results with merged inner loops; `None` if no two loops can be merged.
pub(super) fn merge_inner_loops(g: &mut Graph, results: &[Term], cx: &mut Context) -> Option<Vec<Term>> {
    let all = independent(g, results);
    let mut merged: Vec<Merged> = Vec::new();
    for (t, scan) in all {
        let mut own: Vec<usize> = (0..scan.body.results.len()).collect();
        let found = merged.iter_mut().find_map(|with| {
            let (both, first, second) = joined(g, &with.scan, &scan)?;
            with.scan = both;
            with.replaced.iter_mut().flat_map(|(_, parts)| parts).for_each(|k| *k = first[*k]);
            own = second;
            Some(with)
        });
        match found {
            Some(with) => with.replaced.push((t, own)),
            None => merged.push(Merged { scan, replaced: vec![(t, own)] }),
        }
    }
    merged.retain(|one| one.replaced.len() > 1);
    if merged.is_empty() {
        return None;
    }
    let mut new = Rewriter::new(&*cx.get::<Fixed>(g, results));
    for Merged { scan, replaced } in merged {
        let one = g.scan(scan);
        for (t, parts) in replaced {
            let parts: Vec<Term> = parts.into_iter().map(|k| g.proj(one, k)).collect();
            let parts = g.tuple(&parts);
            new.set(t, parts);
        }
    }
    Some(new.substitute(g, results))
}

/// The inner loops that do not depend on another one.
fn independent(g: &Graph, results: &[Term]) -> Vec<(Term, Scan)> {
    let mut all: Vec<(Term, Scan)> = Vec::new();
    for t in g.reachable(results) {
        if let Node::Scan(scan) = g.node(t) {
            all.push((t, (**scan).clone()));
        }
    }
    let terms: HashSet<Term> = all.iter().map(|(t, _)| *t).collect();
    all.retain(|(_, scan)| {
        let inputs: Vec<Term> =
            scan.init.iter().chain(&*scan.captures).chain(&*scan.xs).chain([&scan.count]).copied().collect();
        !g.reachable(&inputs).iter().any(|u| terms.contains(u))
    });
    all
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
/// `None` if it would carry more values than one of them does.
fn joined(g: &mut Graph, a: &Scan, b: &Scan) -> Option<(Scan, Vec<usize>, Vec<usize>)> {
    let (of_a, of_b) = (a.init.len(), b.init.len());
    if (a.count, a.reverse) != (b.count, b.reverse) || a.stop.is_some() != b.stop.is_some() {
        return None;
    }
    // Loops that carry nothing are merged only if they read the same.
    if (of_a == 0) != (of_b == 0) || (of_a == 0 && (&a.captures, &a.xs) != (&b.captures, &b.xs)) {
        return None;
    }
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
        // A refinement has at least as many classes.
        if number > of_a.max(of_b) {
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

//! Which elements of an array in a loop's body are read. If all that reads an array reads it under
//! one test of the index (`j < limit`), the elements from the limit on need not be computed, and
//! the loop that stores the array ends there.
//!
//! This module must never leave out an element that something reads: what it does not know reads
//! the whole array.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Binary, Cmp, Prim, Unary};
use ad_ir::sorted::{SortedMap, SortedSet};
use ad_middle::passes::lowering::opened::LoopScopes;

use super::store::{Class, bounds_an_index, is_exact_sum, under_replication, zero_from, zeros_from};

/// The elements of an array that are read.
#[derive(Clone, PartialEq, Eq)]
enum Demand {
    None,
    /// Those at which these tests of the index hold; all elements if there is no test.
    Under(SortedSet<Term>),
}

impl Demand {
    fn all() -> Demand {
        Demand::Under(SortedSet::new())
    }

    fn under(test: Term) -> Demand {
        Demand::Under(SortedSet::from([test]))
    }

    /// What two readers read together.
    fn and(self, other: &Demand) -> Demand {
        match (self, other) {
            (Demand::None, d) => d.clone(),
            (d, Demand::None) => d,
            (Demand::Under(a), Demand::Under(b)) => Demand::Under(a.into_iter().filter(|t| b.contains(t)).collect()),
        }
    }

    /// What is read, where this test holds too.
    fn where_also(&self, test: Term) -> Demand {
        match self {
            Demand::None => Demand::None,
            Demand::Under(tests) => Demand::Under(tests.iter().copied().chain([test]).collect()),
        }
    }

    /// What is read of an array that is repeated along new axes: a test that is the same along
    /// these is a test of the array.
    fn of_repeated(&self, g: &Graph, axes: &[u8]) -> Demand {
        let without = |&test: &Term| match g.node(test) {
            Node::Prim(Prim::Replicate(over), of) if **over == *axes => Some(of[0]),
            _ => None,
        };
        match self {
            Demand::None => Demand::None,
            Demand::Under(tests) => Demand::Under(tests.iter().filter_map(without).collect()),
        }
    }
}

/// The test of the index outside of which the elements of an array are zero.
pub(super) fn limit_of_elements(g: &Graph, t: Term) -> Option<Term> {
    limit(g, t, MAX_DEPTH)
}

/// The greatest depth of sums and multiples of arrays with one limit.
const MAX_DEPTH: usize = 4;

fn limit(g: &Graph, t: Term, depth: usize) -> Option<Term> {
    let of = |x: Term| limit(g, x, depth.checked_sub(1)?);
    let finite = |x: Term| g.real_value(x).is_some_and(f64::is_finite);
    match g.node(t) {
        // A test that is the same along the summed axes holds for the sum as well.
        Node::Prim(Prim::Sum(axes), args) => zeros_from(g, args[0]).find_map(|test| match g.node(test) {
            Node::Prim(Prim::Replicate(over), of) if over == axes => Some(of[0]),
            _ => None,
        }),
        Node::Prim(Prim::Unary(Unary::Neg), args) => of(args[0]),
        Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), args) => {
            of(args[0]).filter(|&test| of(args[1]) == Some(test))
        }
        Node::Prim(Prim::Binary(Binary::Mul), args) if finite(args[1]) => of(args[0]),
        Node::Prim(Prim::Binary(Binary::Mul), args) if finite(args[0]) => of(args[1]),
        _ => zero_from(g, t).filter(|test| g.shape(*test) == g.shape(t)),
    }
}

/// The test of the index that a scatter of this array reads: the loop that scatters it ends at the
/// limit of its elements. If the elements themselves are a choice by the test, it is known anyway.
pub(super) fn limit_of_scattered(g: &Graph, class: Class, src: Term) -> Option<Term> {
    let known = class != Class::Buffer && matches!(g.node(src), Node::Prim(Prim::Select, _));
    if known { None } else { limit_of_elements(g, src) }
}

/// The test of the index that the nest of a full sum of a row reads: what is summed is zero from
/// the limit on. A sum in the function's order is a kernel, which reads all elements.
pub(super) fn limit_of_summed(g: &Graph, exact: &HashSet<Term>, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Sum(_), args) if g.rank(t) == 0 && g.rank(args[0]) == 1 && !is_exact_sum(g, exact, t) => {
            limit_of_elements(g, args[0])
        }
        _ => None,
    }
}

/// Whether a test of an index holds for the indices below this number.
pub(super) fn ends_at(g: &Graph, test: Term, end: Term) -> bool {
    match g.node(under_replication(g, test)) {
        Node::Prim(Prim::Compare(Cmp::Lt), sides) => g.splat(sides[1]) == end,
        _ => false,
    }
}

/// The tests of an index that the code of a term reads, in addition to what the term reads.
pub(super) fn tests_of(
    g: &Graph,
    (class, exact): (&TermTable<Class>, &HashSet<Term>),
    read_under: &SortedMap<Term, Term>,
    t: Term,
) -> impl Iterator<Item = Term> {
    let summed = limit_of_summed(g, exact, t);
    let scattered = match *g.node(t) {
        Node::Scatter { src, .. } => limit_of_scattered(g, class[src], src),
        _ => None,
    };
    read_under.get(&t).copied().into_iter().chain(scattered).chain(summed)
}

/// The stored arrays of loop bodies that are read under a test of the index only, with the test.
/// The test is known where the array is computed. `reach` is ascending, all elements of `whole` are
/// read, and `guard` are the conditions of terms, 0 if there is none.
pub(super) fn read_under_tests(
    g: &Graph,
    reach: &[Term],
    (class, exact): (&TermTable<Class>, &HashSet<Term>),
    (whole, scopes, guard): (&[Term], &LoopScopes, &TermTable<u32>),
) -> SortedMap<Term, Term> {
    let mut demands: HashMap<Term, Demand> = whole.iter().map(|&t| (t, Demand::all())).collect();
    let mut found = SortedMap::new();
    // Parents are newer than children: all readers of a term have been visited before it.
    for &t in reach.iter().rev() {
        let own = demands.remove(&t).unwrap_or(Demand::None);
        let mut read = |c: Term, demand: &Demand| {
            let before = demands.entry(c).or_insert(Demand::None);
            *before = std::mem::replace(before, Demand::None).and(demand);
        };
        match g.node(t) {
            Node::Prim(Prim::Select, args) if bounds_an_index(g, args[0]) => {
                read(args[0], &Demand::all());
                read(args[1], &own.where_also(args[0]));
                read(args[2], &own);
            }
            Node::Prim(prim, args) if prim.is_elementwise() => args.iter().for_each(|&c| read(c, &own)),
            Node::Prim(Prim::Replicate(axes), args) => {
                read(args[0], &own.of_repeated(g, axes));
                args[1..].iter().for_each(|&c| read(c, &Demand::all()));
            }
            // What a scatter writes from the limit of its source on has no effect.
            Node::Scatter { src, .. } => {
                g.node(t).for_each_child(|c| {
                    let limit = if c == *src { limit_of_elements(g, c) } else { None };
                    read(c, &limit.map_or_else(Demand::all, Demand::under));
                });
            }
            Node::Prim(Prim::Sum(_), args) => {
                read(args[0], &limit_of_summed(g, exact, t).map_or_else(Demand::all, Demand::under));
            }
            node => node.for_each_child(|c| read(c, &Demand::all())),
        }
        if class[t] != Class::Buffer || g.rank(t) == 0 || scopes.of(t) == 0 {
            continue;
        }
        let known = |&test: &Term| {
            g.shape(t) == g.shape(test)
                && scopes.contains(scopes.of(test), scopes.of(t))
                && (guard[test] == 0 || guard[test] == guard[t])
        };
        if let Demand::Under(tests) = own
            && let Some(test) = tests.into_iter().find(known)
        {
            found.insert(t, test);
        }
    }
    found
}

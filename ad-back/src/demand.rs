//! Which elements of an array in a loop's body are read. If all that reads an array reads it under
//! one test of the index (`j < limit`), the elements behind the limit need not be computed, and the
//! loop that stores the array ends there.
//!
//! This module must never leave out an element that something reads: what it does not know reads
//! the whole array.

use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::sorted::SortedMap;
use ad_middle::passes::lowering::opened::LoopScopes;

use super::store::{Class, bounds_an_index, zero_from};

/// The elements of an array that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    None,
    /// Those at which this test of the index holds.
    Under(Term),
    All,
}

impl Demand {
    fn and(self, other: Demand) -> Demand {
        match (self, other) {
            (Demand::None, d) | (d, Demand::None) => d,
            (a, b) if a == b => a,
            _ => Demand::All,
        }
    }
}

/// The test of the index outside of which the elements of an array are zero.
pub(super) fn limit_of_elements(g: &Graph, t: Term) -> Option<Term> {
    zero_from(g, t).filter(|test| g.shape(*test) == g.shape(t))
}

/// The test of the index that a scatter of this stored array reads: the loop that scatters it ends
/// at the limit of its elements.
pub(super) fn limit_of_scattered(g: &Graph, class: Class, src: Term) -> Option<Term> {
    if class == Class::Buffer { limit_of_elements(g, src) } else { None }
}

/// Whether a test of an index holds for the indices below this number.
pub(super) fn ends_at(g: &Graph, test: Term, end: Term) -> bool {
    match g.node(test) {
        Node::Prim(Prim::Compare(Cmp::Lt), sides) => g.splat(sides[1]) == end,
        _ => false,
    }
}

/// The tests of an index that the code of a term reads, in addition to what the term reads.
pub(super) fn tests_of(
    g: &Graph,
    class: &TermTable<Class>,
    read_under: &SortedMap<Term, Term>,
    t: Term,
) -> impl Iterator<Item = Term> {
    let scattered = match *g.node(t) {
        Node::Scatter { src, .. } => limit_of_scattered(g, class[src], src),
        _ => None,
    };
    read_under.get(&t).copied().into_iter().chain(scattered)
}

/// The stored arrays of loop bodies that are read under a test of the index only, with the test.
/// The test is known where the array is computed. `reach` is ascending, all elements of `whole` are
/// read, and `guard` are the conditions of terms, 0 if there is none.
pub(super) fn read_under_tests(
    g: &Graph,
    reach: &[Term],
    class: &TermTable<Class>,
    (whole, scopes, guard): (&[Term], &LoopScopes, &TermTable<u32>),
) -> SortedMap<Term, Term> {
    let mut demands = TermTable::new(Demand::None);
    whole.iter().for_each(|&t| demands[t] = Demand::All);
    let mut found = SortedMap::new();
    // Parents are newer than children: all readers of a term have been visited before it.
    for &t in reach.iter().rev() {
        let own = demands[t];
        let mut read = |c: Term, demand: Demand| demands[c] = demands[c].and(demand);
        match g.node(t) {
            Node::Prim(Prim::Select, args) if bounds_an_index(g, args[0]) => {
                read(args[0], Demand::All);
                read(args[1], Demand::Under(args[0]));
                read(args[2], own);
            }
            Node::Prim(prim, args) if prim.is_elementwise() => args.iter().for_each(|&c| read(c, own)),
            // What a scatter writes behind the limit of what it scatters has no effect.
            Node::Scatter { src, .. } => {
                g.node(t).for_each_child(|c| {
                    let limit = if c == *src { limit_of_elements(g, c) } else { None };
                    read(c, limit.map_or(Demand::All, Demand::Under));
                });
            }
            node => node.for_each_child(|c| read(c, Demand::All)),
        }
        if let Demand::Under(test) = own
            && class[t] == Class::Buffer
            && g.rank(t) > 0
            && g.shape(t) == g.shape(test)
            && scopes.of(t) > 0
            && scopes.contains(scopes.of(test), scopes.of(t))
            && (guard[test] == 0 || guard[test] == guard[t])
        {
            found.insert(t, test);
        }
    }
    found
}

//! Which elements of an array in a loop's body are read. If all that reads an array reads it under
//! tests of its indices (`j < limit`), the elements from the limits on need not be computed. The
//! loops that store the array end there.
//!
//! This module must never leave out an element that something reads: what it does not know reads
//! the whole array.

use std::collections::{HashMap, HashSet};

use ad_ir::analysis::conjunction;
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Term, TermTable, axis};
use ad_ir::prim::{Binary, Prim, Unary};
use ad_ir::sorted::{SortedMap, SortedSet};
use ad_middle::passes::lowering::opened::LoopScopes;

use super::store::{Class, adds_rows, bounds_an_index, is_exact_sum};

/// A test of some indices of an array. Two tests are equal if they are the same test of the same
/// axes, whether or not the test is repeated along the other axes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct IndexTest {
    /// The test, which is not repeated.
    pub(super) test: Term,
    /// For each axis of the test: the axis of the array.
    pub(super) axes: Box<[u8]>,
}

/// Tests, outside of each of which something holds.
type Tests = SortedSet<IndexTest>;

impl IndexTest {
    /// The same test of another array: `of` gives its axis for each axis of this one. `None` if it
    /// lacks one of them.
    fn mapped(&self, of: impl Fn(u8) -> Option<u8>) -> Option<IndexTest> {
        let axes = self.axes.iter().map(|&k| of(k)).collect::<Option<_>>()?;
        Some(IndexTest { test: self.test, axes })
    }
}

fn mapped(tests: &Tests, of: impl Fn(u8) -> Option<u8>) -> Tests {
    tests.iter().filter_map(|test| test.mapped(&of)).collect()
}

/// The axis of an array, for an axis of the array repeated along `new`.
fn before_repetition(new: &[u8], k: u8) -> Option<u8> {
    let earlier = new.iter().filter(|&&n| n < k).count();
    if new.contains(&k) { None } else { Some(k - axis(earlier)) }
}

/// The axis of an array repeated along `new`, for an axis of the array.
fn after_repetition(new: &[u8], k: u8) -> u8 {
    let mut kept = (0..=u8::MAX).filter(|n| !new.contains(n));
    kept.nth(usize::from(k)).unwrap_or(u8::MAX)
}

/// The greatest depth of arrays that share their limits.
const MAX_DEPTH: u32 = 8;

/// The tests of indices that a condition requires.
fn tests_of_condition(g: &Graph, condition: Term) -> Tests {
    let parts = conjunction::parts(g, condition).into_iter();
    parts.filter(|part| bounds_an_index(g, part.0)).map(|(test, axes)| IndexTest { test, axes }).collect()
}

/// The tests outside of each of which the elements of arrays are zero.
struct Limits<'g> {
    g: &'g Graph,
    known: HashMap<(Term, u32), Tests>,
}

impl Limits<'_> {
    fn of(&mut self, t: Term) -> Tests {
        self.within_depth(t, MAX_DEPTH)
    }

    fn within_depth(&mut self, t: Term, depth: u32) -> Tests {
        if let Some(found) = self.known.get(&(t, depth)) {
            return found.clone();
        }
        let found = match depth.checked_sub(1) {
            Some(depth) => self.compute(t, depth),
            None => Tests::new(),
        };
        self.known.insert((t, depth), found.clone());
        found
    }

    fn compute(&mut self, t: Term, depth: u32) -> Tests {
        let g = self.g;
        let finite = |x: Term| g.real_value(x).is_some_and(f64::is_finite);
        let both = |me: &mut Self, a: Term, b: Term| {
            let (a, b) = (me.within_depth(a, depth), me.within_depth(b, depth));
            a.into_iter().filter(|test| b.contains(test)).collect()
        };
        match g.node(t) {
            // A test of kept axes only holds for the sum as well.
            Node::Prim(Prim::Sum(axes), args) => {
                mapped(&self.within_depth(args[0], depth), |k| before_repetition(axes, k))
            }
            Node::Prim(Prim::Replicate(new), args) => {
                mapped(&self.within_depth(args[0], depth), |k| Some(after_repetition(new, k)))
            }
            Node::Prim(Prim::Select, args) if is_zero(g, args[2]) => {
                let mut found = self.within_depth(args[1], depth);
                found.extend(tests_of_condition(g, args[0]));
                found
            }
            Node::Prim(Prim::Select, args) => both(self, args[1], args[2]),
            Node::Prim(Prim::Unary(Unary::Neg), args) => self.within_depth(args[0], depth),
            Node::Prim(Prim::Binary(Binary::Add | Binary::Sub), args) => both(self, args[0], args[1]),
            Node::Prim(Prim::Binary(Binary::Mul), args) if finite(args[1]) => self.within_depth(args[0], depth),
            Node::Prim(Prim::Binary(Binary::Mul), args) if finite(args[0]) => self.within_depth(args[1], depth),
            // Zero times anything is zero.
            Node::Prim(Prim::Binary(Binary::MulZero), args) => self.within_depth(args[0], depth),
            _ => Tests::new(),
        }
    }
}

/// The tests outside of each of which the elements of an array are zero.
pub(super) fn limits_of_elements(g: &Graph, t: Term) -> Tests {
    Limits { g, known: HashMap::new() }.of(t)
}

/// The tests that the nest of a sum reads: what is summed is zero outside of them. A sum in the
/// function's order is a kernel, which reads all elements.
pub(super) fn limits_of_summed(g: &Graph, exact: &HashSet<Term>, t: Term) -> Tests {
    match g.node(t) {
        Node::Prim(Prim::Sum(_), args) if !is_exact_sum(g, exact, t) => limits_of_elements(g, args[0]),
        _ => Tests::new(),
    }
}

/// The tests of indices that the code of a term reads, in addition to what the term reads.
pub(super) fn tests_of(
    g: &Graph,
    exact: &HashSet<Term>,
    read_under: &SortedMap<Term, Tests>,
    t: Term,
) -> impl Iterator<Item = Term> {
    let mut tests = limits_of_summed(g, exact, t);
    if let Node::Scatter { src, .. } = *g.node(t) {
        tests.extend(limits_of_elements(g, src));
    }
    tests.extend(read_under.get(&t).into_iter().flatten().cloned());
    tests.into_iter().map(|test| test.test)
}

/// The terms in the bodies of loops whose nests may end early: those that are read under tests, and
/// those that are zero, or sum what is zero, outside of tests.
pub(super) fn limited(
    g: &Graph,
    reach: &[Term],
    (scopes, read_under): (&LoopScopes, &SortedMap<Term, Tests>),
) -> HashSet<Term> {
    let mut limits = Limits { g, known: HashMap::new() };
    let mut ends = |t: Term| {
        let of = match g.node(t) {
            Node::Prim(Prim::Sum(_), args) => args[0],
            _ => t,
        };
        read_under.contains_key(&t) || !limits.of(of).is_empty()
    };
    reach.iter().copied().filter(|&t| scopes.of(t) > 0 && ends(t)).collect()
}

/// The elements of an array that are read.
#[derive(Clone, PartialEq, Eq)]
enum Demand {
    None,
    /// Those at which these tests hold; all elements if there is no test.
    Under(Tests),
}

impl Demand {
    fn all() -> Demand {
        Demand::Under(Tests::new())
    }

    /// What two readers read together.
    fn and(self, other: &Demand) -> Demand {
        match (self, other) {
            (Demand::None, d) => d.clone(),
            (d, Demand::None) => d,
            (Demand::Under(a), Demand::Under(b)) => Demand::Under(a.into_iter().filter(|t| b.contains(t)).collect()),
        }
    }

    /// What is read, where these tests hold too.
    fn where_also(&self, more: Tests) -> Demand {
        match self {
            Demand::None => Demand::None,
            Demand::Under(tests) => Demand::Under(tests.iter().cloned().chain(more).collect()),
        }
    }

    /// What is read if only these tests limit it.
    fn under(&self, only: impl Fn(&IndexTest) -> bool) -> Demand {
        match self {
            Demand::None => Demand::None,
            Demand::Under(tests) => Demand::Under(tests.iter().filter(|test| only(test)).cloned().collect()),
        }
    }

    /// What is read of another array, with the axes mapped.
    fn mapped(&self, of: impl Fn(u8) -> Option<u8>) -> Demand {
        match self {
            Demand::None => Demand::None,
            Demand::Under(tests) => Demand::Under(mapped(tests, of)),
        }
    }
}

/// The stored arrays of loop bodies that are read under tests of the index only, with the tests.
/// The tests are known where the array is computed. `reach` is ascending, all elements of `whole`
/// are read, and `guard` are the conditions of terms, 0 if there is none.
pub(super) fn read_under_tests(
    g: &Graph,
    reach: &[Term],
    (class, exact): (&TermTable<Class>, &HashSet<Term>),
    (whole, scopes, guard): (&[Term], &LoopScopes, &TermTable<u32>),
) -> SortedMap<Term, Tests> {
    let (mut limits, everything) = (Limits { g, known: HashMap::new() }, Demand::all());
    let mut demands: HashMap<Term, Demand> = whole.iter().map(|&t| (t, Demand::all())).collect();
    let mut found = SortedMap::new();
    // Whether a test reads no array that the loop stores. Arrays that two tests read must not each
    // be computed only where the other test holds.
    let is_simple = |test: &IndexTest| {
        let stored = |&t: &Term| class[t] == Class::Buffer && g.rank(t) > 0 && scopes.of(t) > 0;
        !g.reachable(&[test.test]).iter().any(stored)
    };
    // Parents are newer than children: all readers of a term have been visited before it.
    for &t in reach.iter().rev() {
        let mut own = demands.remove(&t).unwrap_or(Demand::None);
        let stored = class[t] == Class::Buffer;
        if stored && let Demand::Under(tests) = &mut own {
            // A stored array is computed where the tests that are known here hold.
            let computed = g.rank(t) > 0 && scopes.of(t) > 0;
            tests.retain(|test| {
                let inside = scopes.contains(scopes.of(test.test), scopes.of(t));
                computed && inside && (guard[test.test] == 0 || guard[test.test] == guard[t])
            });
        }
        let mut read = |c: Term, demand: &Demand| {
            let before = demands.entry(c).or_insert(Demand::None);
            *before = std::mem::replace(before, Demand::None).and(demand);
        };
        match g.node(t) {
            Node::Prim(Prim::Select, args) => {
                let tests = tests_of_condition(g, args[0]);
                // The tests decide where loops end, so they are computed also where they do not
                // hold.
                let before = if tests.is_empty() { own.clone() } else { own.under(is_simple) };
                read(args[0], &before);
                read(args[1], &own.where_also(tests));
                read(args[2], &own);
            }
            // Zero times anything is zero.
            Node::Prim(Prim::Binary(Binary::MulZero), args) => {
                read(args[0], &own);
                read(args[1], &own.where_also(limits.of(args[0])));
            }
            Node::Prim(prim, args) if prim.is_elementwise() => args.iter().for_each(|&c| read(c, &own)),
            Node::Prim(Prim::Replicate(axes), args) => {
                read(args[0], &own.mapped(|k| before_repetition(axes, k)));
                args[1..].iter().for_each(|&c| read(c, &everything));
            }
            // What a scatter writes from the limit of its source on has no effect.
            Node::Scatter { src, .. } => {
                g.node(t).for_each_child(|c| {
                    let tests = if c == *src { limits.of(c) } else { Tests::new() };
                    read(c, &Demand::Under(tests));
                });
            }
            // The kernel that adds up rows reads all of them.
            Node::Prim(Prim::Sum(axes), args) if !is_exact_sum(g, exact, t) && !adds_rows(g, class, exact, t) => {
                let of_sum = own.mapped(|k| Some(after_repetition(axes, k)));
                read(args[0], &of_sum.where_also(limits.of(args[0])));
            }
            node => node.for_each_child(|c| read(c, &everything)),
        }
        if stored
            && let Demand::Under(tests) = own
            && !tests.is_empty()
        {
            found.insert(t, tests);
        }
    }
    found
}

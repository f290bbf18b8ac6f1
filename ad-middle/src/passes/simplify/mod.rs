//! The simplifier: named, directional rewrite rules (those of UNF Fig. 12, and rules for terms that
//! other passes create), applied bottom-up until none fires.
//!
//! Every rule keeps the type and never turns a NaN or an infinity into a number. A rule is `exact`
//! (same bits) or `loose` (sums and products reassociated). Loose rules leave the terms alone that
//! a decision of the function depends on (see the chapter on exact decisions of `docs/internals`).
//! There is no commutativity and no associativity here: a rule that matches operands in both orders
//! lists both.

mod arith;
pub(crate) mod contraction;
mod control;
mod flat;
pub(crate) mod index;
pub(crate) mod layout;
mod masked;
pub(crate) mod part;
pub(crate) mod scatter;
pub(crate) mod update;

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use crate::passes::{Pass, trace};
use ad_ir::analysis::decisions::Decisions;
use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::Build;

/// The pass.
pub const PASS: Pass = Pass {
    name: "simplify",
    rules,
    run: |g, roots, cx| {
        let exact = cx.exact(g);
        roots.map(|all| {
            let fixed = cx.get::<Fixed>(g, all);
            simplify_with(g, all, &exact, &fixed, &mut cx.fired)
        })
    },
    simplified: false,
};

/// How much a rule may change the last bits of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// The value keeps its bits.
    Exact,
    /// Sums are reassociated.
    Loose,
}

/// A rule: examines the root of a term (and below it), returns a term of the same type and meaning.
pub struct Rule {
    /// Its name, in traces and tests.
    pub name: &'static str,
    /// The equation, left to right.
    pub law: &'static str,
    /// Whether it keeps every bit.
    pub exactness: Exactness,
    /// The rewriting function.
    pub apply: fn(&mut Graph, Term) -> Option<Term>,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.law)
    }
}

/// A row of a rule table.
macro_rules! rule {
    ($name:literal, $law:literal, $exactness:ident, $apply:expr) => {
        crate::passes::simplify::Rule {
            name: $name,
            law: $law,
            exactness: crate::passes::simplify::Exactness::$exactness,
            apply: $apply,
        }
    };
}
use rule;

/// All tables, in the order in which they are tried.
#[must_use]
pub fn tables() -> [&'static [Rule]; 10] {
    [
        control::RULES,
        arith::RULES,
        masked::RULES,
        layout::RULES,
        index::RULES,
        update::RULES,
        flat::RULES,
        part::RULES,
        scatter::RULES,
        contraction::RULES,
    ]
}

fn rules() -> Vec<&'static str> {
    tables().into_iter().flatten().map(|rule| rule.name).collect()
}

/// The number of times that each rule fired.
pub type Fired = SortedMap<&'static str, usize>;

/// The simplified roots. Terms that decisions of these roots depend on keep their bits.
pub fn simplify(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let (exact, fixed) = (once::<Decisions>(g, roots), once::<Fixed>(g, roots));
    simplify_with(g, roots, &exact, &fixed, &mut Fired::new())
}

/// The simplified roots. Every term keeps its bits.
pub(crate) fn simplify_exactly(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let fixed = once::<Fixed>(g, roots);
    let done = fixed.iter().map(|&size| (size, size)).collect();
    let (exact, mut fired) = (HashSet::new(), Fired::new());
    Simplifier { g, exact: &exact, fired: &mut fired, done, all_exact: true, depth: 0 }.run(roots, true)
}

/// The simplified roots, where only exact rules may touch the terms in `exact`.
fn simplify_with(
    g: &mut Graph,
    roots: &[Term],
    exact: &HashSet<Term>,
    fixed: &HashSet<Term>,
    fired: &mut Fired,
) -> Vec<Term> {
    // Sizes that occur in types are not rewritten: otherwise two terms of one type would get
    // different types.
    let done = fixed.iter().map(|&size| (size, size)).collect();
    let mut s = Simplifier { g, exact, fired, done, all_exact: false, depth: 0 };
    s.run(roots, false)
}

struct Simplifier<'a> {
    g: &'a mut Graph,
    exact: &'a HashSet<Term>,
    fired: &'a mut Fired,
    done: HashMap<Term, Term>,
    /// Whether every term keeps its bits: those that a rule makes of an exact term.
    all_exact: bool,
    depth: usize,
}

/// A longer sequence of rewrites is a cycle.
const MAX_REWRITES: usize = 400;

impl Memoised for Simplifier<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        let rebuilt = self.rebuild(t, &node);
        let exact = self.all_exact || self.exact.contains(&t);
        let new = self.rewrite_root(rebuilt, exact);
        debug_assert_eq!(self.g.ty(t), self.g.ty(new), "simplification keeps types");
        // The result is in normal form.
        self.done.insert(new, new);
        new
    }
}

impl OnDemand for Simplifier<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        self.g.node(t).for_each_child(|c| {
            if !self.done.contains_key(&c) {
                needs.push(c);
            }
        });
        None
    }
}

impl Simplifier<'_> {
    /// Only the children of a term that a rule has just created are a run inside of a run: a few
    /// nodes over simplified terms.
    fn run(&mut self, roots: &[Term], exact: bool) -> Vec<Term> {
        let around = std::mem::replace(&mut self.all_exact, exact);
        on_demand(self, roots.iter().copied());
        self.all_exact = around;
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// The same node over simplified children, through the folding builders.
    fn rebuild(&mut self, t: Term, node: &Node) -> Term {
        let done = &self.done;
        let g = &mut *self.g;
        match node {
            Node::Proj(tuple, k) => g.proj(done[tuple], *k as usize),
            Node::Cond { cond, then, other } => g.cond(done[cond], done[then], done[other]),
            Node::Scan(scan) => {
                let results = scan.body.results.to_vec();
                let mut scan = match node.map_children(|c| done[&c]) {
                    Node::Scan(scan) => scan,
                    _ => return t,
                };
                scan.body.results = self.run(&results, self.all_exact).into();
                self.g.mk(Node::Scan(scan))
            }
            Node::Prim(prim, args) => {
                let args: Vec<Term> = args.iter().map(|t| done[t]).collect();
                g.make(prim, &args)
            }
            _ => {
                let mapped = node.map_children(|c| done[&c]);
                g.mk(mapped)
            }
        }
    }

    /// Applies rules at the root until none fires. The children are in normal form.
    fn rewrite_root(&mut self, mut t: Term, exact: bool) -> Term {
        let mut left = MAX_REWRITES;
        'again: loop {
            if let Some(&done) = self.done.get(&t) {
                return done;
            }
            for table in tables() {
                for rule in table {
                    if exact && rule.exactness == Exactness::Loose {
                        continue;
                    }
                    let Some(new) = (rule.apply)(self.g, t) else { continue };
                    debug_assert_eq!(self.g.ty(t), self.g.ty(new), "{} keeps types", rule.name);
                    *self.fired.entry(rule.name).or_default() += 1;
                    trace::fired(rule.name, t, &[new]);
                    left -= 1;
                    assert!(left > 0 && self.depth < MAX_REWRITES, "the rule {} does not terminate", rule.name);
                    if new == t {
                        continue;
                    }
                    // The new term may be reducible below its root.
                    self.depth += 1;
                    let mut children = Vec::new();
                    self.g.node(new).for_each_child(|c| {
                        if !self.done.contains_key(&c) {
                            children.push(c);
                        }
                    });
                    self.run(&children, exact);
                    let node = self.g.node_rc(new);
                    let complete = {
                        let mut complete = true;
                        node.for_each_child(|c| complete &= self.done.contains_key(&c));
                        complete
                    };
                    self.depth -= 1;
                    t = if complete { self.rebuild(new, &node) } else { new };
                    continue 'again;
                }
            }
            return t;
        }
    }
}

//! The simplifier: named, directional laws (UNF Fig. 12 and what the pipeline makes), applied from the leaves up until none fires.
//!
//! Every rule keeps the type and never turns a NaN or an infinity into a number. A rule is `exact` (same bits) or `loose`
//! (sums and products reassociated); loose rules leave alone what a decision of the function depends on (contract: decisions are f's own).
//! There is no commutativity and no associativity here: a rule that needs both orders says both.

mod arith;
pub mod associate;
mod contraction;
mod control;
pub mod hoist;
pub(crate) mod index;
mod layout;
pub mod pairs;
pub(crate) mod part;
pub mod push;
mod rebuild;
pub mod share;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ir::{Graph, Node, Term, Type};
use crate::prim::{Prim, Reduce, Unary};

/// How much a rule may change the last bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// The same bits.
    Exact,
    /// Sums are reassociated.
    Loose,
}

/// A law: looks at the root of a term (and below it), returns a term of the same type and meaning.
pub struct Rule {
    /// Its name, in traces and tests.
    pub name: &'static str,
    /// The algebra, left to right.
    pub law: &'static str,
    /// Whether it keeps every bit.
    pub exactness: Exactness,
    /// The rewriting.
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
        crate::simplify::Rule {
            name: $name,
            law: $law,
            exactness: crate::simplify::Exactness::$exactness,
            apply: $apply,
        }
    };
}
use rule;

/// All tables, in the order in which they are tried.
#[must_use]
pub fn tables() -> [&'static [Rule]; 6] {
    [control::RULES, arith::RULES, layout::RULES, index::RULES, part::RULES, contraction::RULES]
}

/// How often each rule fired, and the terms that it fired on, for tests and `AD_DUMP`.
pub type Trace = BTreeMap<&'static str, usize>;

/// The simplified roots. What decisions of these roots depend on keeps its bits.
pub fn simplify(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let exact = decisions(g, roots);
    simplify_with(g, roots, &exact, &mut Trace::new())
}

/// The simplified roots, where only exact rules may touch the terms in `exact`.
pub fn simplify_with(g: &mut Graph, roots: &[Term], exact: &HashSet<Term>, trace: &mut Trace) -> Vec<Term> {
    // A size that is part of a type stays the term that it is: with another, terms of one type would be of two.
    let done = fixed(g, roots).into_iter().map(|size| (size, size)).collect();
    let mut s = Simplifier { g, exact, trace, done, depth: 0 };
    s.run(roots, false)
}

/// The sizes in the types of what roots consist of.
pub(crate) fn sizes(g: &Graph, roots: &[Term]) -> HashSet<Term> {
    let mut sizes = HashSet::new();
    let mut bodies: Vec<Vec<Term>> = vec![roots.to_vec()];
    while let Some(roots) = bodies.pop() {
        for t in g.reachable(&roots) {
            sizes_of(g.ty(t), &mut sizes);
            if let Node::Scan(scan) = g.node(t) {
                bodies.push(scan.body.results.to_vec());
            }
        }
    }
    sizes
}

/// What a pass leaves as it is: sizes, and loops that sizes are parts of, so that whatever else is read of such a loop is not a second one.
pub(crate) fn fixed(g: &Graph, roots: &[Term]) -> HashSet<Term> {
    let mut all = sizes(g, roots);
    let loops: Vec<Term> =
        all.iter().filter_map(|&n| if let Node::Proj(t, _) = *g.node(n) { Some(t) } else { None }).collect();
    all.extend(loops);
    all
}

fn sizes_of(ty: &Type, sizes: &mut HashSet<Term>) {
    match ty {
        Type::Array(_, shape) => sizes.extend(shape.iter().copied()),
        Type::Tuple(parts) => parts.iter().for_each(|ty| sizes_of(ty, sizes)),
    }
}

/// Everything that a branch, an index, a comparison, an extremum's place, a cast to integers or a rounding depends on.
/// It is followed through loops: from a result to what each step makes it of, and from a parameter of a body to what it stands for.
#[must_use]
pub fn decisions(g: &Graph, roots: &[Term]) -> HashSet<Term> {
    decisions_and(g, roots, Vec::new())
}

/// The same, and all that these terms are computed of.
pub(crate) fn decisions_and(g: &Graph, roots: &[Term], stack: Vec<Term>) -> HashSet<Term> {
    collect(g, roots, stack, true)
}

/// Of the decisions in bodies of loops alone, and all that these terms are computed of.
pub(crate) fn decisions_in_loops(g: &Graph, roots: &[Term], stack: Vec<Term>) -> HashSet<Term> {
    collect(g, roots, stack, false)
}

/// What a term decides by, if it is no loop.
pub(crate) fn decided_by(g: &Graph, t: Term, stack: &mut Vec<Term>) {
    match g.node(t) {
        Node::Cond { cond, .. } => stack.push(*cond),
        // What a function decides by is not known before it is inlined.
        Node::Call(_, args) => stack.extend(args.iter().copied()),
        Node::Gather { index, .. } | Node::Scatter { index, .. } => stack.extend(index.iter().copied()),
        Node::Prim(prim, args) => match prim {
            Prim::Compare(_) if is_firm(g, args) => {}
            Prim::Compare(_) | Prim::Order => stack.extend(args.iter().copied()),
            Prim::Select => stack.push(args[0]),
            Prim::Reduce(Reduce::ArgMax | Reduce::ArgMin | Reduce::All | Reduce::Any, _) => stack.push(args[0]),
            Prim::Cast(to) if !to.is_real() && g.elem(args[0]).is_real() => stack.push(args[0]),
            Prim::Unary(Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc | Unary::Signum) => {
                stack.push(args[0]);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Whether a comparison does not depend on last bits: it asks whether a maximum is infinite, as `softmax` and `logsumexp` do.
fn is_firm(g: &Graph, args: &[Term]) -> bool {
    let mut t = args[0];
    if !g.real_value(g.splat(args[1])).is_some_and(f64::is_infinite) {
        return false;
    }
    while let Node::Prim(Prim::StopGradient | Prim::Recast | Prim::Reshape, args) = g.node(t) {
        t = args[0];
    }
    matches!(g.node(t), Node::Prim(Prim::Reduce(Reduce::Max, _), _))
}

fn collect(g: &Graph, roots: &[Term], mut stack: Vec<Term>, outer: bool) -> HashSet<Term> {
    let mut exact = HashSet::new();
    let mut bodies: Vec<(Vec<Term>, bool)> = vec![(roots.to_vec(), outer)];
    // Of each loop, the parameters of its body that occur in it: each stands for one term before the loop and, if it is carried, for a result.
    let mut params: Vec<(Term, Vec<Term>)> = Vec::new();
    let mut met = HashSet::new();
    while let Some((roots, counts)) = bodies.pop() {
        for t in g.reachable(&roots) {
            match g.node(t) {
                Node::Scan(scan) if met.insert(t) => {
                    bodies.push((scan.body.results.to_vec(), true));
                    stack.push(scan.count);
                    if let Some(k) = scan.stop {
                        stack.extend([scan.init[k], scan.body.results[k]]);
                    }
                    let outer: Vec<Term> = scan.init.iter().chain(&scan.captures).chain(&scan.xs).copied().collect();
                    for p in g.reachable(&scan.body.results) {
                        let Node::Param(k, _) = g.node(p) else { continue };
                        let k = *k as usize;
                        let mut behind: Vec<Term> = outer.get(k).copied().into_iter().collect();
                        behind.extend(scan.body.results.get(k).filter(|_| k < scan.init.len()));
                        params.push((p, behind));
                    }
                }
                _ if counts => decided_by(g, t, &mut stack),
                _ => {}
            }
        }
    }
    loop {
        follow(g, &mut exact, stack);
        stack = Vec::new();
        for (p, behind) in &params {
            if exact.contains(p) {
                stack.extend(behind.iter().filter(|t| !exact.contains(t)));
            }
        }
        if stack.is_empty() {
            return exact;
        }
    }
}

/// Adds these terms and all that they are computed of.
pub(crate) fn follow(g: &Graph, exact: &mut HashSet<Term>, mut stack: Vec<Term>) {
    while let Some(t) = stack.pop() {
        if !exact.insert(t) {
            continue;
        }
        match g.node(t) {
            Node::Proj(tuple, k) => match g.node(*tuple) {
                // One result of a loop says nothing of the others.
                Node::Scan(scan) => {
                    let k = *k as usize;
                    stack.extend(scan.body.results.get(k));
                    stack.extend(scan.init.get(k));
                    stack.push(scan.count);
                }
                _ => stack.push(*tuple),
            },
            Node::Prim(Prim::Compare(_), args) if is_firm(g, args) => {}
            // Computed in the function's own way.
            Node::Prim(Prim::Own, args) => stack.push(args[1]),
            Node::Scan(scan) => {
                stack.extend(&scan.body.results);
                g.node(t).for_each_child(|c| stack.push(c));
            }
            node => node.for_each_child(|c| stack.push(c)),
        }
    }
}

struct Simplifier<'a> {
    g: &'a mut Graph,
    exact: &'a HashSet<Term>,
    trace: &'a mut Trace,
    done: HashMap<Term, Term>,
    depth: usize,
}

/// A chain of rules longer than this is a cycle.
const FUEL: usize = 400;

impl Simplifier<'_> {
    /// A worklist over the terms; recursion only into what a rule has just made, which is a few nodes over finished terms.
    fn run(&mut self, roots: &[Term], exact: bool) -> Vec<Term> {
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if self.done.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            if !children_done {
                stack.push((t, true));
                node.for_each_child(|c| {
                    if !self.done.contains_key(&c) {
                        stack.push((c, false));
                    }
                });
                continue;
            }
            let loc = self.g.loc(t);
            let before = self.g.at(loc);
            let rebuilt = self.rebuild(t, &node);
            let exact = exact || self.exact.contains(&t);
            let new = self.settle(rebuilt, exact);
            debug_assert_eq!(self.g.ty(t), self.g.ty(new), "simplification keeps types");
            self.g.at(before);
            self.done.insert(t, new);
            self.done.insert(new, new);
        }
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// The same form over simplified children, through the folding builders.
    fn rebuild(&mut self, t: Term, node: &Node) -> Term {
        let done = &self.done;
        let g = &mut *self.g;
        let of = |t: &Term| done[t];
        match node {
            Node::Proj(tuple, k) => g.proj(done[tuple], *k as usize),
            Node::Cond { cond, then, other } => g.cond(done[cond], done[then], done[other]),
            Node::Scan(scan) => {
                let results = scan.body.results.to_vec();
                let mut scan = match node.map_children(|c| done[&c]) {
                    Node::Scan(scan) => scan,
                    _ => return t,
                };
                scan.body.results = self.run(&results, false).into();
                self.g.mk(Node::Scan(scan))
            }
            Node::Prim(prim, args) => {
                let args: Vec<Term> = args.iter().map(of).collect();
                match prim {
                    Prim::Select => g.select(args[0], args[1], args[2]),
                    Prim::Not => g.not(args[0]),
                    Prim::And => g.and(args[0], args[1]),
                    Prim::Or => g.or(args[0], args[1]),
                    Prim::Compare(op) => g.compare(*op, args[0], args[1]),
                    Prim::Int(op) => g.int(*op, args[0], args[1]),
                    Prim::Cast(to) => g.cast(*to, args[0]),
                    Prim::Transpose(perm) => g.transpose(args[0], perm),
                    Prim::Reshape => g.reshape(args[0], &args[1..]),
                    Prim::Recast => g.recast(args[0], &args[1..]),
                    Prim::Slice(steps) => g.slice(args[0], &args[1..=steps.len()], steps, &args[1 + steps.len()..]),
                    Prim::Pad(steps) => g.pad(args[0], &args[1..=steps.len()], steps, &args[1 + steps.len()..]),
                    Prim::Own => g.own(args[0], args[1]),
                    _ => g.prim(prim.clone(), &args),
                }
            }
            _ => {
                let mapped = node.map_children(|c| done[&c]);
                g.mk(mapped)
            }
        }
    }

    /// Applies rules at the root until none fires. The children are finished.
    fn settle(&mut self, mut t: Term, exact: bool) -> Term {
        let mut fuel = FUEL;
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
                    *self.trace.entry(rule.name).or_default() += 1;
                    fuel -= 1;
                    assert!(fuel > 0 && self.depth < FUEL, "the rule {} does not terminate", rule.name);
                    if new == t {
                        continue;
                    }
                    // What the rule made may be reducible below its root.
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

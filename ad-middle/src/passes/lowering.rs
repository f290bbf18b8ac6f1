//! Lowering, the last rewriting before emission: tuples are taken apart, loops are opened, runs of
//! loops are merged, and contractions that no kernel computes become sums of products, so that they
//! fuse like any other sum.
//!
//! Its traversal does not only rewrite terms to terms, so it does not use the rewriting driver: it
//! also writes records of loops ([`opened::Loop`]), and it ends at the first term that cannot be
//! emitted. In debug builds, the validator checks each term that a rule makes.
//!
//! It must never change the bits of a value on which a decision depends (contractions are
//! reassociated in any case), never copy an operand, and never know how code is written.

mod contraction;
pub mod exact;
mod exclusive;
mod extents;
pub mod im2col;
mod in_place;
pub mod matrix;
mod merge_runs;
pub(crate) mod one_call;
mod open_loop;
pub mod opened;
mod ragged;
pub mod strided;
mod tables;
mod text;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use self::contraction::{contraction, windows};
use self::merge_runs::{MergedLoop, runs};
use self::open_loop::{GrowingResults, LoopSource};
use self::opened::Loops;
use self::ragged::{Inherited, Ragged};
use self::tables::{sums_rows, with_tables};
use crate::passes::trace;
use ad_ir::analysis::Analyses;
use ad_ir::ir::{Elem, Graph, Node, Put, Scan, Term, Type, axis, valid};
use ad_ir::prim::{Cmp, Prim, Reduce};

/// The names of the rules, which `AD_TRACE` writes.
#[must_use]
pub fn rules() -> Vec<&'static str> {
    vec![
        "lowering.merge_runs",
        "lowering.open_loop",
        "lowering.in_place",
        "lowering.exclusive",
        "lowering.ragged",
        "lowering.added_in_arm",
        "lowering.sum_of_choice",
        "lowering.known_condition",
        "lowering.condition",
        "lowering.components",
        "lowering.part",
        "lowering.unsigned",
        "lowering.no_axes",
        "lowering.relaxed",
        "lowering.empty",
        "lowering.no_index",
        "lowering.sum_of_products",
        "lowering.index_table",
        "lowering.extents",
    ]
}

/// The result: the roots in the form that the emitter accepts.
pub struct LoweredGraph {
    /// Maps every reachable term outside of loops to its lowered form.
    pub new: HashMap<Term, Term>,
    /// The loops, opened: their bodies are terms among the others.
    pub loops: Loops,
    /// Lowered terms that occur outside of loop bodies only.
    pub outer: HashSet<Term>,
}

/// The result of `lower`, and the names of the rules that fired, each once. For tests.
///
/// # Errors
/// As `lower`.
pub fn lower_alone(g: &mut Graph, roots: &[Term]) -> Result<(LoweredGraph, SortedSet<&'static str>), String> {
    let (lowered, fired) = trace::fired_in(|| lower(g, roots, None));
    Ok((lowered?, fired))
}

/// Lowers the roots, or returns a text that names a term that cannot be emitted. `exact` are the
/// terms that decisions of the function depend on. If it is not given, the terms that decisions of
/// these roots depend on are exact.
pub(crate) fn lower(g: &mut Graph, roots: &[Term], exact: Option<&HashSet<Term>>) -> Result<LoweredGraph, String> {
    let replaced = one_call::replaced(g, roots);
    if replaced.is_empty() {
        return lower_plainly(g, roots, exact);
    }
    let new: Vec<Term> = roots.iter().map(|t| replaced[t]).collect();
    let exact = exact.map(|exact| exact.iter().map(|t| replaced.get(t).copied().unwrap_or(*t)).collect());
    let mut lowered = lower_plainly(g, &new, exact.as_ref())?;
    for (t, new) in replaced {
        if let Some(&made) = lowered.new.get(&new) {
            lowered.new.insert(t, made);
        }
    }
    Ok(lowered)
}

/// As [`lower`], for a routine that makes each call once.
fn lower_plainly(g: &mut Graph, roots: &[Term], exact: Option<&HashSet<Term>>) -> Result<LoweredGraph, String> {
    let mut analyses = Analyses::default();
    let runs = runs(g, roots, &mut analyses);
    let exact = exact::of_routine(g, roots, exact, &runs, &mut analyses);
    let stepwise = read_stepwise(g, roots);
    let mut lower = Lowering {
        g,
        exact,
        analyses,
        runs,
        inner_rows: HashMap::new(),
        marks: HashMap::new(),
        ragged: HashMap::new(),
        stepwise,
        outside: HashMap::new(),
        loops: Loops::default(),
        depth: 0,
        carried: Vec::new(),
        inner: HashSet::new(),
        validator: valid::Lowered::default(),
    };
    let mut inside = HashMap::new();
    lower.all(roots, &mut inside, &[])?;
    let Lowering { outside: new, loops, inner, .. } = lower;
    let outer = new.values().copied().filter(|t| !inner.contains(t)).collect();
    Ok(LoweredGraph { new, loops, outer })
}

/// The results of loops that are read as rows of other loops only, in the program and in bodies.
fn read_stepwise(g: &Graph, roots: &[Term]) -> HashSet<(Term, usize)> {
    let (mut rows, mut others, mut seen) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut part = |t: Term, whole: bool| {
        if let Node::Proj(of, k) = *g.node(t) {
            if whole { &mut others } else { &mut rows }.insert((of, k as usize));
        }
    };
    let mut bodies = vec![roots];
    while let Some(results) = bodies.pop() {
        results.iter().for_each(|&t| part(t, true));
        for t in g.reachable(results) {
            match g.node(t) {
                Node::Scan(s) => {
                    s.xs.iter().for_each(|&x| part(x, false));
                    s.init.iter().chain(&s.captures).chain([&s.count]).for_each(|&x| part(x, true));
                    if seen.insert(t) {
                        bodies.push(&s.body.results);
                    }
                }
                node => node.for_each_child(|c| part(c, true)),
            }
        }
    }
    rows.retain(|row| !others.contains(row));
    rows
}

/// `sum(cond(c, a, b)) = cond(c, sum a, sum b)`: neither array has to be stored, and each branch
/// computes its sum directly.
fn sum_of_choice(g: &mut Graph, node: &Node) -> Option<Term> {
    let Node::Prim(Prim::Sum(axes), args) = node else { return None };
    let Node::Cond { cond, then, other } = *g.node(args[0]) else { return None };
    let [then, other] = [then, other].map(|arm| g.sum_axes(arm, axes));
    Some(g.cond(cond, then, other))
}

struct Lowering<'g> {
    g: &'g mut Graph,
    exact: HashSet<Term>,
    analyses: Analyses,
    /// Merged loops: see `merge_runs`.
    runs: SortedMap<Term, MergedLoop>,
    /// Additional rows that inner loops save.
    inner_rows: HashMap<Term, Vec<Term>>,
    /// The marks of the loops in the body that is being lowered.
    marks: HashMap<Term, Inherited>,
    /// Lowered arrays that are ragged rows.
    ragged: HashMap<Term, Ragged>,
    /// Rows of loops, by the number of the result, that only loops read, step by step.
    stepwise: HashSet<(Term, usize)>,
    /// Terms that mention no parameter of a body.
    outside: HashMap<Term, Term>,
    loops: Loops,
    depth: usize,
    /// The carried values of the enclosing loops.
    carried: Vec<Term>,
    /// Terms created in loop bodies.
    inner: HashSet<Term>,
    /// Checks each new term in debug builds.
    validator: valid::Lowered,
}

impl Lowering<'_> {
    /// Lowers every term that `roots` reach; `env` are the arguments of their body. Recursion is
    /// over nested loops only.
    fn all(&mut self, roots: &[Term], inside: &mut HashMap<Term, Term>, env: &[Term]) -> Result<(), String> {
        for t in self.g.reachable(roots) {
            if self.outside.contains_key(&t) || inside.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            let place = self.g.loc(t);
            let before = self.g.at(place);
            if matches!(*node, Node::Scan(_))
                && let Some(made) = self.one_run(t)?
            {
                self.g.at(before);
                self.fired("lowering.merge_runs", t, &[made]);
                self.outside.insert(t, made);
                continue;
            }
            let mapped = {
                let new = |c: Term| inside.get(&c).or_else(|| self.outside.get(&c)).copied().unwrap_or(c);
                node.map_children(new)
            };
            let made = match &*node {
                Node::Param(k, _) => env.get(*k as usize).copied().ok_or("a parameter outside of a loop's body")?,
                _ => {
                    let (rule, made) = self.one(t, mapped)?;
                    if let Some(rule) = rule {
                        self.fired(rule, t, &[made]);
                    }
                    made
                }
            };
            self.g.at(before);
            if self.depth > 0 {
                self.inner.insert(made);
            }
            if self.g.is_open(t) {
                inside.insert(t, made);
            } else {
                self.outside.insert(t, made);
            }
        }
        Ok(())
    }

    /// Logs a rewrite, and validates its result in debug builds.
    fn fired(&mut self, rule: &'static str, before: Term, after: &[Term]) {
        trace::fired(rule, before, after);
        if cfg!(debug_assertions)
            && let Err(errors) = self.validator.check(self.g, after)
        {
            panic!("after {rule}: {errors:?}");
        }
    }

    /// Lowers one term, over lowered children. Returns the rule that has rewritten it, if one has.
    fn one(&mut self, t: Term, mapped: Node) -> Result<(Option<&'static str>, Term), String> {
        if let Node::Scan(scan) = mapped {
            return Ok((Some("lowering.open_loop"), self.one_loop(t, *scan)?));
        }
        let exact = self.exact.contains(&t);
        let g = &mut *self.g;
        if self.depth > 0
            && !exact
            && let Some(made) = in_place::added_in_arm(g, &mapped)
        {
            return Ok((Some("lowering.added_in_arm"), made));
        }
        if let Some(sum) = sum_of_choice(g, &mapped).filter(|_| !exact) {
            return Ok((Some("lowering.sum_of_choice"), sum));
        }
        let (rule, made) = match &mapped {
            Node::Build { .. } => return Err("a build has reached the emitter".into()),
            Node::Cond { cond, then, other } if g.bool_value(*cond).is_some() => {
                ("lowering.known_condition", if g.bool_value(*cond) == Some(true) { *then } else { *other })
            }
            Node::Cond { cond, then, other } if both_known(g, *then, *other) => {
                ("lowering.condition", if g.bool_value(*then) == Some(true) { *cond } else { g.not(*cond) })
            }
            Node::Cond { cond, then, other } if matches!(g.ty(t), Type::Tuple(_)) => {
                ("lowering.components", by_component(g, *cond, *then, *other))
            }
            Node::Proj(tuple, k) => ("lowering.part", g.proj(*tuple, *k as usize)),
            Node::Prim(Prim::Compare(op), args)
                if unsigned(g, args[0])
                    && let Some(value) = unsigned_comparison(*op, g.int_value(args[0]), g.int_value(args[1])) =>
            {
                ("lowering.unsigned", g.lit_bool(value))
            }
            // A reduction over no axes is its operand.
            Node::Prim(Prim::Reduce(op, 0), args) if !matches!(op, Reduce::ArgMax | Reduce::ArgMin) => {
                ("lowering.no_axes", args[0])
            }
            Node::Prim(Prim::Sum(axes), args) if axes.is_empty() => ("lowering.no_axes", args[0]),
            Node::Prim(Prim::RelaxedExact, args) => ("lowering.relaxed", args[usize::from(exact)]),
            // A scatter of or into an empty array changes nothing.
            Node::Scatter { dst, src, .. } if is_empty(g, *src) || is_empty(g, *dst) => ("lowering.empty", *dst),
            Node::Prim(Prim::Pad(_), args) if is_empty(g, args[0]) && g.ty(t).is_real() => {
                ("lowering.empty", g.lit_like(t, 0.0))
            }
            // Without an index all rows are added, which is a sum.
            Node::Scatter { put: Put::Set, src, index, .. } if index.is_empty() => ("lowering.no_index", *src),
            Node::Scatter { put: Put::Add, dst, src, vars, index } if index.is_empty() => {
                let axes: Vec<u8> = (0..vars.len()).map(axis).collect();
                let rows = g.sum_axes(*src, &axes);
                ("lowering.no_index", g.add(*dst, rows))
            }
            Node::Prim(Prim::Contract(spec), args) => {
                if !exact && windows(g, &mapped) {
                    return Ok((None, g.mk(mapped)));
                }
                let made = contraction(g, t, spec, args[0], args[1], exact);
                let kept = matches!(g.node(made), Node::Prim(Prim::Contract(_), _));
                return Ok(((!kept).then_some("lowering.sum_of_products"), made));
            }
            Node::Prim(Prim::Select, _) | Node::Scatter { put: Put::Set, .. } => {
                match extents::ended(g, (t, exact), &mapped) {
                    Some(made) => ("lowering.extents", made),
                    None => return Ok((None, g.mk(mapped))),
                }
            }
            Node::Scatter { put: Put::Add, src, .. } if sums_rows(g, *src) => match with_tables(g, t, &mapped) {
                Some(made) => ("lowering.index_table", made),
                None => return Ok((None, g.mk(mapped))),
            },
            _ => return Ok((None, g.mk(mapped))),
        };
        Ok(((*g.node(made) != mapped).then_some(rule), made))
    }

    /// Opens a loop that has not been merged with another one. It may be an inner loop of a merged
    /// loop, which saves additional rows.
    fn one_loop(&mut self, t: Term, mut scan: Scan) -> Result<Term, String> {
        let inherited = self.marks.get(&t).cloned();
        let inherited = inherited.as_ref();
        let Some(rows) = self.inner_rows.get(&t) else {
            return self.open_loop(LoopSource { scan, of: Some(t), growing: None, inner: &[], inherited });
        };
        let growing = GrowingResults { first: scan.body.results.len(), counter: None };
        scan.body.results = scan.body.results.iter().chain(rows).copied().collect();
        self.open_loop(LoopSource { scan, of: None, growing: Some(growing), inner: &[], inherited: None })
    }

    /// The type with lowered sizes: a size may be the result of a loop.
    fn lowered(&self, ty: &Type) -> Type {
        ty.map_sizes(&mut |n| self.outside.get(&n).copied().unwrap_or(n))
    }

    /// A merged loop. For a loop that was merged into another loop, projections of the latter.
    fn one_run(&mut self, t: Term) -> Result<Option<Term>, String> {
        if let Some(run) = self.runs.get(&t) {
            let (scan, counter, inner) = (run.scan.clone(), run.counter, run.inner.clone());
            self.inner_rows.extend(inner.iter().map(|i| (i.of, i.rows.clone())));
            let Node::Scan(old) = &*self.g.node_rc(t) else { return Ok(None) };
            let args: Vec<Term> = scan.captures.iter().chain(&scan.xs).copied().collect();
            self.all(&args, &mut HashMap::new(), &[])?;
            let outside = &self.outside;
            let Node::Scan(mapped) = Node::Scan(scan.into()).map_children(|c| outside[&c]) else { return Ok(None) };
            let first = old.body.results.len();
            let growing = counter.map(|k| GrowingResults { first, counter: Some(k) });
            let source = LoopSource { scan: *mapped, of: None, growing, inner: &inner, inherited: None };
            return self.open_loop(source).map(Some);
        }
        let Some((first, parts)) =
            self.runs.iter().find(|(_, run)| run.other == t).map(|(&s, run)| (s, run.parts.clone()))
        else {
            return Ok(None);
        };
        self.all(&[first], &mut HashMap::new(), &[])?;
        let made = self.outside[&first];
        let Node::Scan(other) = &*self.g.node_rc(t) else { return Ok(None) };
        // The other results are dead.
        let all: Vec<Term> =
            (0..other.body.results.len()).map(|k| self.g.proj(made, parts.get(&k).copied().unwrap_or(0))).collect();
        Ok(Some(self.g.tuple(&all)))
    }
}

/// Row `step` of an array. A replicated array is not read: its row is the replicated value.
fn row(g: &mut Graph, x: Term, step: Term) -> Term {
    match g.node(x).clone() {
        Node::Prim(Prim::Iota, _) => step,
        Node::Prim(Prim::Replicate(axes), args) if axes.contains(&0) => {
            let rest: Vec<(u8, Term)> =
                axes.iter().copied().zip(args[1..].iter().copied()).filter(|a| a.0 > 0).collect();
            let (axes, sizes): (Vec<u8>, Vec<Term>) = rest.into_iter().map(|(a, n)| (a - 1, n)).unzip();
            g.replicate_axes(args[0], &axes, &sizes)
        }
        _ => g.index(x, &[step]),
    }
}

/// Whether the branches are the literals true and false, so that the conditional equals its
/// condition or its negation.
fn both_known(g: &Graph, then: Term, other: Term) -> bool {
    let known = |t: Term| g.ty(t).as_array().filter(|ty| ty.1.is_empty()).and_then(|_| g.bool_value(t));
    matches!((known(then), known(other)), (Some(a), Some(b)) if a != b)
}

/// A conditional of tuples as a tuple of conditionals. The recursion is as deep as the type.
fn by_component(g: &mut Graph, cond: Term, then: Term, other: Term) -> Term {
    let Type::Tuple(parts) = g.ty(then).clone() else { return g.cond(cond, then, other) };
    let parts: Vec<Term> = (0..parts.len())
        .map(|k| {
            let (a, b) = (g.proj(then, k), g.proj(other, k));
            by_component(g, cond, a, b)
        })
        .collect();
    g.tuple(&parts)
}

/// Whether an array is known to have no elements.
fn is_empty(g: &Graph, t: Term) -> bool {
    g.shape(t).iter().any(|&n| g.int_value(n) == Some(0))
}

/// Whether it is a scalar of an unsigned type.
fn unsigned(g: &Graph, t: Term) -> bool {
    matches!(g.ty(t), Type::Array(Elem::Int(ty), shape) if shape.is_empty() && ty.range().0 == 0)
}

/// The value of a comparison of unsigned values, if both are literals, or one is the literal 0 and
/// decides the comparison.
pub fn unsigned_comparison(op: Cmp, a: Option<i128>, b: Option<i128>) -> Option<bool> {
    match (op, a, b) {
        (Cmp::Lt, _, Some(0)) | (Cmp::Gt, Some(0), _) => Some(false),
        (Cmp::Ge, _, Some(0)) | (Cmp::Le, Some(0), _) => Some(true),
        (op, Some(a), Some(b)) => Some(op.holds(a, b)),
        _ => None,
    }
}

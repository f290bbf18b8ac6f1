//! The bulk-operation transform (BOT section 5): eliminates every `build1` in favour of whole-array
//! operations. docs/internals/src/bulk-operations.md explains it.
//!
//! It departs from the paper in two ways. An index is not pushed into the indexed expression (Fig.
//! 10), since that takes exponential time on a hash-consed graph; the pass `push` moves indices
//! afterwards, by use counts. A read out of range has an unspecified value, not 0, and no mask is
//! added: the program has a separate `Check` for it.
//!
//! The pass must never make a term whose size depends on an index, and must never recognise a whole
//! function.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::lift::{Lift, limit_of_steps};
use super::loops;
use super::loops::origins::Enclosing;
use super::{Context, Pass, trace, unroll};
use ad_ir::analysis::decisions::{Decisions, decisions_and};
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::rewrite::{Needs, OnDemand, Rewrite, on_demand};
use ad_ir::ir::{Graph, Node, OpenLoop, Scan, Term, Type, Var};
use ad_ir::prim::Prim;

/// The pass.
pub const PASS: Pass =
    Pass { name: "bulk", rules, run: |g, roots, cx| roots.map(|all| transform(g, all, cx)), simplified: false };

/// The rules: a build in bulk, or as a loop; a conditional with its arms over the indices that take
/// them; an index function whose arrays are tabulated; a sum whose order no decision reads; a loop
/// that runs from its end; a loop or a build over a list of literals.
fn rules() -> Vec<&'static str> {
    vec!["bulk.build", "bulk.loop", "bulk.index_set", "bulk.index", "bulk.relaxed", "bulk.from_the_end", "bulk.table"]
}

/// Tabulates a scalar: the array of its values for all values of its free variables, which range
/// below the given sizes.
pub(crate) fn table(g: &mut Graph, vars: &[(Var, Term)], t: Term) -> Term {
    vars.iter().rev().fold(t, |t, &(var, size)| Lift::new(g, var, size).lift(t))
}

/// The roots without builds, closed bodies included. The result satisfies `valid::normal_form`.
pub fn transform(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = (*cx.get::<Decisions>(g, roots)).clone();
    let mut sizes: Vec<Term> = cx.get::<Sizes>(g, roots).iter().copied().collect();
    sizes.sort_unstable();
    let mut bot = BuildElimination { g, exact, done: Rewritten::default(), roots: [].into(), around: Vec::new() };
    // Sizes are rewritten in the order of creation, since a loop over arrays of an older size may
    // compute a size. A size that is already in normal form is kept, because types contain it.
    for size in sizes {
        let in_normal_form = ad_ir::ir::valid::normal_form(bot.g, &[size]).is_ok();
        let new = if in_normal_form { size } else { bot.eliminate_all(&[size])[0] };
        bot.done.sizes.insert(size, new);
    }
    bot.eliminate_all(roots)
}

/// `build1 size (\\var -> t)` for each of these build-free terms: arrays with a new first axis for
/// the variable.
pub fn batch(g: &mut Graph, var: Var, size: Term, terms: &[Term]) -> Vec<Term> {
    let mut lift = Lift::items_last(g, var, size);
    terms.iter().map(|&t| lift.lift(t)).collect()
}

/// Whether a loop that depends on the variable stops early, or a loop in its body does, or whether
/// an element of an array limits its steps. Then the build becomes a loop over its index: as one
/// loop over batched values, the inner loop would run as many steps for all indices as for the
/// slowest one. A limit in proportion to the index, as in `0..i`, at most doubles the steps.
fn steps_differ(g: &mut Graph, body: Term, var: Var) -> bool {
    let within = g.reachable(&[body]).into_iter().filter(|&t| g.mentions(t, var));
    let loops: Vec<Scan> =
        within.filter_map(|t| if let Node::Scan(scan) = g.node(t) { Some((**scan).clone()) } else { None }).collect();
    loops.iter().any(|scan| scan.stop.is_some() || has_stop(g, &scan.body.results) || ends_at_an_element(g, scan, var))
}

/// Whether elements that the variable chooses limit the steps of a loop.
fn ends_at_an_element(g: &mut Graph, scan: &Scan, var: Var) -> bool {
    let Some(limit) = limit_of_steps(g, scan) else { return false };
    let chosen = |t: &Term| matches!(g.node(*t), Node::Gather { .. } | Node::Scan(_)) && g.mentions(*t, var);
    g.reachable(&[limit]).iter().any(chosen)
}

/// Whether a loop among these terms stops early. Recursion is over nested loops.
fn has_stop(g: &Graph, roots: &[Term]) -> bool {
    let stops = |t: &Term| matches!(g.node(*t), Node::Scan(s) if s.stop.is_some() || has_stop(g, &s.body.results));
    g.reachable(roots).iter().any(stops)
}

/// `build1 size (\\var -> body)` as a loop whose steps make a row each.
pub(crate) fn loop_of(g: &mut Graph, var: Var, size: Term, body: Term) -> Term {
    let parts = match g.ty(body) {
        Type::Tuple(parts) => Some(parts.len()),
        Type::Array(..) => None,
    };
    let results = match parts {
        Some(parts) => (0..parts).map(|k| g.proj(body, k)).collect(),
        None => vec![body],
    };
    let (init, carried) = (Vec::new(), Vec::new());
    let rows = g.close_loop(&OpenLoop { count: size, reverse: false, stop: None, step: var, init, carried, results });
    match parts {
        Some(_) => rows,
        None => g.proj(rows, 0),
    }
}

/// The terms in a body that decisions in it depend on; all terms, if a decision reads the results.
fn exact_in(g: &Graph, results: &[Term], decides: bool) -> Rc<HashSet<Term>> {
    let all = if decides { results.to_vec() } else { Vec::new() };
    Rc::new(decisions_and(g, results, all))
}

struct BuildElimination<'g> {
    g: &'g mut Graph,
    /// Terms that decisions depend on. Their sums keep the order of the function.
    exact: HashSet<Term>,
    done: Rewritten,
    /// The roots of the innermost scope.
    roots: Rc<[Term]>,
    /// The loops around, the outermost first.
    around: Vec<Enclosing>,
}

/// Rewritten terms, one map for each scope. A lookup also searches the enclosing scopes, up to the
/// innermost closed body.
#[derive(Default)]
struct Rewritten {
    /// The rewritten sizes; new types contain these.
    sizes: HashMap<Term, Term>,
    scopes: Vec<HashMap<Term, Term>>,
    /// The scope of the innermost closed body.
    base: usize,
}

impl Rewritten {
    fn get(&self, t: Term) -> Option<Term> {
        let here = self.scopes[self.base..].iter().rev().chain([&self.sizes]);
        here.filter_map(|scope| scope.get(&t)).copied().next()
    }

    /// The replacement of a child. Children are rewritten before their parents.
    fn of(&self, t: Term) -> Term {
        self.get(t).unwrap_or(t)
    }

    fn set(&mut self, t: Term, new: Term) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(t, new);
        }
    }
}

impl BuildElimination<'_> {
    /// The type with rewritten sizes.
    fn resized(&self, ty: &Type) -> Type {
        ty.map_sizes(&mut |n| self.done.sizes.get(&n).copied().unwrap_or(n))
    }

    /// The body of a function or a loop.
    fn eliminate_body(&mut self, roots: &[Term]) -> Vec<Term> {
        let around = std::mem::replace(&mut self.done.base, self.done.scopes.len());
        let results = self.eliminate_all(roots);
        self.done.base = around;
        results
    }

    /// Pushes the maximal subterms of a binder's body that do not mention the variables of the
    /// binders in it. They are rewritten here, once. Otherwise each further build of a chain would
    /// double the work.
    fn push_invariant_subterms(&self, body: Term, needs: &mut Needs<'_, Term>) {
        let (mut seen, mut inside) = (HashSet::from([body]), vec![body]);
        while let Some(t) = inside.pop() {
            if self.g.free(t).iter().all(|v| v.is_fresh()) {
                needs.push(t);
                continue;
            }
            self.g.node(t).for_each_child(|c| {
                if seen.insert(c) {
                    inside.push(c);
                }
            });
        }
    }

    /// Rewrites the terms and all they reach, in a new scope.
    fn eliminate_all(&mut self, roots: &[Term]) -> Vec<Term> {
        self.done.scopes.push(HashMap::new());
        let around = std::mem::replace(&mut self.roots, roots.into());
        on_demand(self, roots.iter().copied());
        self.roots = around;
        let results = roots.iter().map(|&t| self.done.of(t)).collect();
        self.done.scopes.pop();
        results
    }
}

impl Rewrite for BuildElimination<'_> {
    type Key = Term;
    type New = Term;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn is_done(&mut self, t: &Term) -> bool {
        self.done.get(*t).is_some()
    }

    fn keep(&mut self, t: Term, new: Term) {
        self.done.set(t, new);
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        // A loop is rewritten by the rules of `loops`, which log it themselves.
        let mut rule = None;
        let new = match &*node {
            Node::Build { size, .. } => {
                let size = self.done.of(*size);
                let (vars, scoped) = self.g.open_binder(&node);
                self.opened(&scoped, self.exact.contains(&t));
                if let Some(elements) = loops::unrolled::elements_over_table(self.g, size, (vars[0], scoped[0])) {
                    let new = self.eliminate_all(&[elements])[0];
                    trace::fired("bulk.table", t, &[new]);
                    return new;
                }
                let body = self.eliminate_all(&scoped)[0];
                let decides = self.exact.contains(&t);
                let exact = |g: &Graph| exact_in(g, &[body], decides);
                let body = unroll::in_build(self.g, vars[0], body, Some(&exact));
                if steps_differ(self.g, body, vars[0]) {
                    rule = Some("bulk.loop");
                    loop_of(self.g, vars[0], size, body)
                } else {
                    rule = Some("bulk.build");
                    Lift::new(self.g, vars[0], size).lift(body)
                }
            }
            Node::Gather { .. } | Node::Scatter { .. } => {
                let (mut vars, scoped) = self.g.open_binder(&node);
                self.opened(&scoped, true);
                let mut index = self.eliminate_all(&scoped);
                let sizes = match &*node {
                    Node::Gather { sizes, .. } => sizes.iter().map(|&n| self.done.of(n)).collect::<Vec<_>>(),
                    Node::Scatter { src, .. } => self.g.shape(self.done.of(*src))[..vars.len()].to_vec(),
                    _ => Vec::new(),
                };
                // An index function may only read and do scalar arithmetic. Its other subterms
                // are tabulated beforehand.
                for (var, &size) in vars.iter_mut().zip(&sizes) {
                    let fresh = self.g.fresh();
                    let mut lift = Lift::new(self.g, *var, size);
                    index = index.iter().map(|&ix| lift.lift_index(ix, fresh)).collect();
                    *var = fresh;
                }
                let done = &self.done;
                let new = self.g.rebuild_binder(&node, |&c| done.of(c), &vars, &index);
                rule = (*self.g.node(new) != node.map_children(|c| done.of(c))).then_some("bulk.index");
                new
            }
            Node::Scan(scan) if let Some(steps) = loops::unrolled::over_table(self.g, scan) => {
                rule = Some("bulk.table");
                let results = self.eliminate_all(&steps);
                self.g.tuple(&results)
            }
            Node::Scan(_) => {
                let Node::Scan(mut scan) = node.map_children(|c| self.done.of(c)) else { return t };
                self.around.push(Enclosing::new(&scan));
                let results = self.eliminate_body(&scan.body.results);
                self.around.pop();
                scan.body.results = results.into();
                scan.body.params = scan.body.params.iter().map(|ty| self.resized(ty)).collect();
                let wanted = loops::wanted(self.g, &self.roots, t);
                let exact = loops::exact_parts(self.g, &self.exact, t);
                let decides = exact.contains(&true);
                let in_body = |g: &Graph| exact_in(g, &scan.body.results, decides);
                scan.body.results = unroll::in_loop(self.g, &scan, Some(&in_body)).into();
                let turned = match self.around.last() {
                    Some(around) if !decides => {
                        loops::from_the_end::distributed(self.g, &scan, around.carries(), &wanted)
                    }
                    _ => None,
                };
                match turned {
                    Some(made) => {
                        rule = Some("bulk.from_the_end");
                        made
                    }
                    None => loops::bulk(self.g, *scan, &exact, &wanted, &self.around),
                }
            }
            Node::Proj(tuple, k) => self.g.proj(self.done.of(*tuple), *k as usize),
            // The rules below look at the relaxed value, whose order of operations is free.
            Node::Prim(Prim::RelaxedExact, args) if !self.exact.contains(&t) => {
                rule = Some("bulk.relaxed");
                self.done.of(args[0])
            }
            Node::Param(k, ty) if !self.done.sizes.is_empty() => {
                let ty = self.resized(ty);
                self.g.param(*k as usize, ty)
            }
            _ => {
                let mapped = node.map_children(|c| self.done.of(c));
                self.g.mk(mapped)
            }
        };
        debug_assert_eq!(self.resized(self.g.ty(t)), *self.g.ty(new), "the transform keeps types");
        if let Some(rule) = rule {
            trace::fired(rule, t, &[new]);
        }
        new
    }
}

impl OnDemand for BuildElimination<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        self.g.node_rc(t).for_each_scoped_child(|c, inside| {
            if inside {
                self.push_invariant_subterms(c, needs);
            } else {
                needs.push(c);
            }
        });
        None
    }
}

impl BuildElimination<'_> {
    /// Opening a binder makes new terms. This function marks those of them as exact that a decision
    /// depends on.
    fn opened(&mut self, scoped: &[Term], decides: bool) {
        let all = if decides { scoped.to_vec() } else { Vec::new() };
        self.exact.extend(decisions_and(self.g, scoped, all));
    }
}

//! Rematerialisation of rows that a loop saves and that only sums over their elements read. A
//! second loop recomputes the rows, one in each iteration, and takes the sums, so that no row is
//! stored. This occurs in sums over items of a derivative, if the saved rows do not depend on
//! active inputs (the powers of a polynomial): the derivative's loop then carries nothing
//! backwards, and runs forwards like the first one.
//!
//! This pass must never recompute rows that are not cheap, nor terms that a decision depends on.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use super::exact_parts;
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::trace;
use crate::passes::{Context, Pass};
use ad_ir::analysis::Reachable;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Readers;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type, axis};
use ad_ir::prim::Prim;

/// The maximum number of operations per element of a row: saving and reading it costs as much.
const MAX_OPERATIONS: usize = 8;

/// The pass.
///
/// ```text
/// rows = for j in 0..m { save p; p = p * t }   sums = sum[1] (w * rows)
///     becomes
/// sums = for j in 0..m { save sum(w * p); p = p * t }
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "rematerialise",
    rules: || vec!["rematerialise"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// The roots with these sums taken in loops that recompute the rows.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let mut roots = roots.to_vec();
    while let Some(candidate) = Rematerialised::find(g, &roots, cx) {
        let mut new = Rewriter::new(&*cx.get::<Fixed>(g, &roots));
        let loc = g.loc(candidate.sums[0].t);
        let before = g.at(loc);
        for (t, sum) in candidate.made(g) {
            trace::fired("rematerialise", t, &[sum]);
            new.set(t, sum);
        }
        g.at(before);
        roots = new.substitute(g, &roots);
    }
    Rewriter::new(&*cx.get::<Fixed>(g, &roots)).run(g, &roots, |g, t, done| {
        let Node::Scan(mut scan) = with_rewritten_children(g, t, done) else { return None };
        scan.body.results = pass(g, &scan.body.results, cx).into();
        Some(g.scan(*scan))
    })
}

/// A sum over the elements of rows.
struct Sum {
    t: Term,
    /// The summed term, and the elementwise terms of its shape that it is computed from, itself
    /// included.
    of: Term,
    terms: SortedSet<Term>,
}

/// A loop whose rows only such sums read.
struct Rematerialised {
    scan: Scan,
    loop_: Term,
    sums: Vec<Sum>,
    /// The carried values that the rows depend on.
    carries: SortedSet<usize>,
}

/// For a sum over rows of one loop: the sum and the loop.
fn sum_over_rows(g: &Graph, t: Term) -> Option<(Sum, Term)> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t) else { return None };
    let of = args[0];
    if **axes != [1] || g.rank(of) != 2 || !g.free(t).is_empty() || g.int_value(g.shape(of)[1]).is_some() {
        return None;
    }
    // Descend to the terms that are not elementwise operations.
    let (mut terms, mut loops, mut stack) = (SortedSet::new(), SortedSet::new(), vec![of]);
    while let Some(u) = stack.pop() {
        if !terms.insert(u) {
            continue;
        }
        match g.node(u) {
            Node::Prim(prim, args) if by_element(g, prim, args, of) => stack.extend(args.iter()),
            Node::Proj(tuple, _) if saved(g, u, *tuple).is_some() => drop(loops.insert(*tuple)),
            _ => {}
        }
    }
    let mut loops = loops.into_iter();
    let loop_ = loops.next()?;
    let Node::Scan(scan) = g.node(loop_) else { return None };
    let flat = !scan.body.params.iter().any(|ty| matches!(ty, Type::Tuple(_)));
    let good = loops.next().is_none() && scan.stop.is_none() && flat && scan.count == g.shape(of)[0];
    good.then_some((Sum { t, of, terms }, loop_))
}

fn by_element(g: &Graph, prim: &Prim, args: &[Term], of: Term) -> bool {
    prim.is_elementwise() && args.iter().all(|&a| g.shape(a) == g.shape(of))
}

/// The index of the rows, if the term is a projection of the loop to saved rows.
fn saved(g: &Graph, t: Term, loop_: Term) -> Option<usize> {
    match (g.node(t), g.node(loop_)) {
        (Node::Proj(tuple, k), Node::Scan(scan)) if *tuple == loop_ && *k as usize >= scan.init.len() => {
            Some(*k as usize)
        }
        _ => None,
    }
}

impl Rematerialised {
    /// The first loop for which it pays.
    fn find(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Option<Rematerialised> {
        let (exact, all) = (cx.exact(g), cx.get::<Reachable>(g, roots));
        let mut found: Vec<(Term, Vec<Sum>)> = Vec::new();
        for &t in all.iter().filter(|t| !exact.contains(t)) {
            let Some((sum, loop_)) = sum_over_rows(g, t) else { continue };
            match found.iter_mut().find(|f| f.0 == loop_) {
                Some((_, sums)) => sums.push(sum),
                None => found.push((loop_, vec![sum])),
            }
        }
        if found.is_empty() {
            return None;
        }
        let readers = cx.get::<Readers>(g, roots);
        let fixed = cx.get::<Fixed>(g, roots);
        for (loop_, sums) in found {
            let Node::Scan(scan) = g.node(loop_) else { continue };
            let scan = (**scan).clone();
            if fixed.contains(&loop_) || exact_parts(g, &exact, loop_).contains(&true) {
                continue;
            }
            let mut candidate = Rematerialised { scan, loop_, sums, carries: SortedSet::new() };
            if candidate.alone(g, &readers, roots) && candidate.is_cheap(g) {
                return Some(candidate);
            }
        }
        None
    }

    /// Whether no other term reads the rows, so that they need not be saved any more, and no sum
    /// depends on another sum.
    fn alone(&self, g: &Graph, readers: &HashMap<Term, Vec<Term>>, roots: &[Term]) -> bool {
        let own = |t: &Term| self.sums.iter().any(|s| s.t == *t || s.terms.contains(t));
        let mut depend: SortedSet<Term> = SortedSet::new();
        for s in &self.sums {
            for &t in &s.terms {
                let by_rows = match g.node(t) {
                    Node::Prim(prim, args) if by_element(g, prim, args, s.of) => {
                        args.iter().any(|a| depend.contains(a))
                    }
                    _ => saved(g, t, self.loop_).is_some(),
                };
                if by_rows {
                    depend.insert(t);
                }
            }
        }
        let inputs: Vec<Term> = self.sums.iter().map(|s| s.of).collect();
        let below = g.reachable(&inputs);
        depend.iter().all(|t| !roots.contains(t) && readers.get(t).is_none_or(|all| all.iter().all(own)))
            && !self.sums.iter().any(|s| below.binary_search(&s.t).is_ok())
    }

    /// Whether the rows are cheap to recompute, by the operations per element of all terms that
    /// they depend on.
    fn is_cheap(&mut self, g: &Graph) -> bool {
        let carries = self.scan.init.len();
        let mut needed: Vec<Term> = Vec::new();
        for t in self.sums.iter().flat_map(|s| &s.terms) {
            needed.extend(saved(g, *t, self.loop_).map(|k| self.scan.body.results[k]));
        }
        let mut all;
        loop {
            all = g.reachable(&needed);
            let before = self.carries.len();
            for &t in &all {
                if let Node::Param(k, _) = g.node(t)
                    && (*k as usize) < carries
                    && self.carries.insert(*k as usize)
                {
                    needed.push(self.scan.body.results[*k as usize]);
                }
            }
            if self.carries.len() == before {
                break;
            }
        }
        let mut cost = 0;
        for t in all {
            cost += match g.node(t) {
                Node::Param(..) | Node::Lit(_) | Node::Input(_) | Node::Size(..) => 0,
                Node::Prim(Prim::Replicate(_), _) => 0,
                Node::Prim(prim, _) if prim.is_expensive() => return false,
                Node::Prim(prim @ (Prim::Unary(_) | Prim::Binary(_)), _)
                    if prim.cost() > Some(ad_ir::prim::scalar::CHEAP) =>
                {
                    prim.cost().map_or(0, |cost| cost as usize)
                }
                // A term without axes costs little per row.
                Node::Prim(prim, _) if prim.is_elementwise() => usize::from(g.rank(t) > 0),
                _ => return false,
            };
        }
        let why = || format!("({cost} operations per element, at most {MAX_OPERATIONS})");
        choose(Kind::Rematerialisation, (self.loop_.index(), 0), cost <= MAX_OPERATIONS, why)
    }

    /// Builds the loop that takes the sums.
    fn made(&self, g: &mut Graph) -> Vec<(Term, Term)> {
        let old = &self.scan;
        let new = self.operands(g);
        let args = self.arguments(g, &new);
        let old_results = g.instantiate(&old.body, &args);
        let rows = self.summed_rows(g, &new, &old_results);
        let mut results: Vec<Term> = new.carried.iter().map(|&k| old_results[k]).collect();
        for s in &self.sums {
            let sum = g.sum_axes(rows.done()[&s.of], &[axis(0)]);
            results.push(sum);
        }
        let first = new.carried.len();
        let scan = g.scan(Scan {
            count: old.count,
            reverse: old.reverse,
            stop: None,
            init: new.carried.iter().map(|&k| old.init[k]).collect(),
            captures: old.captures.iter().chain(&new.same).copied().collect(),
            xs: old.xs.iter().chain(&new.rows).copied().collect(),
            body: Body { params: new.params.into(), results: results.into() },
        });
        self.sums.iter().enumerate().map(|(k, s)| (s.t, g.proj(scan, first + k))).collect()
    }

    /// The operands of the new loop.
    fn operands(&self, g: &Graph) -> NewOperands {
        let old = &self.scan;
        let (mut same, mut rows): (SortedSet<Term>, SortedSet<Term>) = (SortedSet::new(), SortedSet::new());
        for s in &self.sums {
            for &t in &s.terms {
                match (g.node(t), leading(g, t)) {
                    (Node::Prim(prim, args), _) if by_element(g, prim, args, s.of) => {}
                    _ if saved(g, t, self.loop_).is_some() => {}
                    (Node::Prim(_, args), Some(true)) => drop(same.insert(args[0])),
                    (Node::Prim(_, args), Some(false)) => drop(rows.insert(args[0])),
                    _ => drop(rows.insert(t)),
                }
            }
        }
        let same: Vec<Term> = same.into_iter().filter(|&t| !matches!(g.node(t), Node::Lit(_))).collect();
        let rows: Vec<Term> = rows.into_iter().collect();
        let carried: Vec<usize> = self.carries.iter().copied().collect();
        let mut params: Vec<Type> = carried.iter().map(|&k| old.body.params[k].clone()).collect();
        params.extend(old.captures.iter().map(|&t| g.ty(t).clone()));
        let first_same = params.len();
        params.extend(same.iter().map(|&t| g.ty(t).clone()));
        params.extend_from_slice(&old.body.params[old.init.len() + old.captures.len()..]);
        let first_row = params.len();
        for &t in &rows {
            let Some((elem, shape)) = g.ty(t).as_array() else { continue };
            params.push(Type::Array(elem, shape[1..].into()));
        }
        NewOperands { carried, same, rows, params, first_same, first_row }
    }

    /// The arguments of the body of the original loop.
    fn arguments(&self, g: &mut Graph, new: &NewOperands) -> Vec<Term> {
        let old = &self.scan;
        let mut args = Vec::new();
        for k in 0..old.init.len() {
            // A carried value that no row depends on is not read.
            args.push(match new.carried.iter().position(|&c| c == k) {
                Some(k) => new.param(g, k),
                None => g.param(new.params.len() + k, old.body.params[k].clone()),
            });
        }
        let captures = new.carried.len()..new.first_same;
        let xs = new.first_row - old.xs.len()..new.first_row;
        args.extend(captures.chain(xs).map(|k| new.param(g, k)).collect::<Vec<Term>>());
        args
    }

    /// The rows of the terms that the sums read, given the results of the original body.
    fn summed_rows(&self, g: &mut Graph, new: &NewOperands, old_results: &[Term]) -> Rewriter {
        let mut made = Rewriter::default();
        for s in &self.sums {
            for &t in &s.terms {
                made.step(g, t, |g, t, made| {
                    let node = g.node_rc(t);
                    Some(match (&*node, leading(g, t)) {
                        (Node::Prim(prim, args), _) if by_element(g, prim, args, s.of) => {
                            let args: Vec<Term> = args.iter().map(|a| made[a]).collect();
                            g.prim(prim.clone(), &args)
                        }
                        _ if let Some(k) = saved(g, t, self.loop_) => old_results[k],
                        (Node::Prim(Prim::Replicate(axes), args), Some(leads)) => {
                            let row = if leads { new.same(g, args[0]) } else { new.row(g, args[0]) };
                            let inner: Vec<u8> = axes.iter().filter(|&&a| a > 0).map(|a| a - 1).collect();
                            let sizes = if leads { &args[2..] } else { &args[1..] };
                            g.replicate_axes(row.unwrap_or(args[0]), &inner, sizes)
                        }
                        _ => new.row(g, t).unwrap_or(t),
                    })
                });
            }
        }
        made
    }
}

/// The operands of the loop that takes the sums. Its parameters are the remaining carried values,
/// the captures, `same`, the rows of the original loop, and `rows`.
struct NewOperands {
    /// The carried values that remain.
    carried: Vec<usize>,
    /// Terms outside of the loop that the sums read: loop-invariant ones, and ones that are read
    /// row by row.
    same: Vec<Term>,
    rows: Vec<Term>,
    params: Vec<Type>,
    /// The numbers of the first parameters for `same` and `rows`.
    first_same: usize,
    first_row: usize,
}

impl NewOperands {
    fn param(&self, g: &mut Graph, k: usize) -> Term {
        g.param(k, self.params[k].clone())
    }

    /// The parameter for a loop-invariant term.
    fn same(&self, g: &mut Graph, t: Term) -> Option<Term> {
        let k = self.same.binary_search(&t).ok()?;
        Some(self.param(g, self.first_same + k))
    }

    /// The parameter for a row of a term.
    fn row(&self, g: &mut Graph, t: Term) -> Option<Term> {
        let k = self.rows.binary_search(&t).ok()?;
        Some(self.param(g, self.first_row + k))
    }
}

/// For a replication: whether it is the same in each row.
fn leading(g: &Graph, t: Term) -> Option<bool> {
    match g.node(t) {
        Node::Prim(Prim::Replicate(axes), _) => Some(axes.contains(&0)),
        _ => None,
    }
}

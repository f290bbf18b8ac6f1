//! Replaces small arrays of literal size by scalars: a vector in space, a quaternion, a rotation
//! matrix. Operations on their elements become straight-line code, which the simplifier can rewrite
//! and rustc keeps in registers. An array is stacked from its elements where a term that is not
//! small reads it, and at the boundary of the function. [`LIMIT`] and [`PRODUCTS`] bound the number
//! of terms that replace one term, so code grows only linearly with the program. The bodies of
//! loops and builds have rules of their own (`items`).
//!
//! The pass must never change the order of a sum that a decision depends on, and never read an
//! element of a large array more often than before.

mod items;
mod positions;
mod reductions;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub(crate) use self::items::{Exact, in_build, in_loop, in_steps};
pub(crate) use self::positions::unravel;
use self::positions::{product, ravel, strided};

use crate::passes::{Context, Pass, simplify, trace};
use ad_ir::analysis::Reachable;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::rewrite::{Rewrite, by_age};
use ad_ir::ir::{Contraction, Graph, IntTy, Lit, Node, Put, Term, Type};
use ad_ir::prim::{Cmp, Prim, Reduce};

/// The maximum number of elements of an array that is replaced by scalars: a 4 x 4 matrix.
pub const LIMIT: usize = 16;
/// The maximum number of products of a contraction that is replaced by scalars: of two 4 x 4
/// matrices.
pub const PRODUCTS: usize = 64;
/// From this number of elements on, ndarray does not sum from left to right, so a sum whose order
/// matters is not unrolled in that order.
const MIN_REORDERED: usize = 8;
/// The number of accumulators in the DSL's own sums.
const LANES: usize = 16;

/// The pass.
pub const PASS: Pass =
    Pass { name: "unroll", rules, run: |g, roots, cx| roots.map(|all| unroll(g, all, cx)), simplified: true };

/// The rows of [`Unroll::rule`].
fn rules() -> Vec<&'static str> {
    vec![
        "unroll.input",
        "unroll.cond",
        "unroll.gather",
        "unroll.scatter",
        "unroll.elementwise",
        "unroll.iota",
        "unroll.reshape",
        "unroll.slice",
        "unroll.pad",
        "unroll.stack",
        "unroll.sum",
        "unroll.reduce",
        "unroll.contract",
        "unroll.scalars",
        "unroll.selects",
    ]
}

/// The roots with small arrays replaced by scalars. Exact sums keep their order.
pub fn unroll(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let (exact, sizes, reach) = (cx.exact(g), cx.get::<Fixed>(g, roots), cx.get::<Reachable>(g, roots));
    let mut u = Unroll::new(g, Subject::Program { exact, sizes: &sizes });
    by_age(&mut u, reach.iter().copied());
    roots.iter().map(|&t| u.whole(t)).collect()
}

type Elements = Rc<[Term]>;

/// The terms that are rewritten.
enum Subject<'a> {
    /// All terms of a program.
    Program {
        exact: Rc<HashSet<Term>>,
        /// Sizes that occur in types; they are not rewritten.
        sizes: &'a HashSet<Term>,
    },
    /// The body of a loop or a build.
    Body(items::Body),
}

struct Unroll<'a> {
    g: &'a mut Graph,
    subject: Subject<'a>,
    /// The elements of old terms, row-major.
    parts: HashMap<Term, Elements>,
    /// Maps old terms to new ones.
    whole: HashMap<Term, Term>,
}

/// The result of unrolling a term: its elements, or one term.
enum New {
    Parts(Elements),
    Whole(Term),
}

impl Rewrite for Unroll<'_> {
    type Key = Term;
    type New = New;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn is_done(&mut self, _: &Term) -> bool {
        // Each reachable term is visited once.
        false
    }

    fn keep(&mut self, t: Term, new: New) {
        match new {
            New::Whole(whole) => {
                self.whole.insert(t, whole);
            }
            New::Parts(parts) => {
                if self.g.rank(t) == 0 {
                    self.whole.insert(t, parts[0]);
                }
                self.parts.insert(t, parts);
            }
        }
    }

    fn made(&mut self, &t: &Term) -> New {
        if matches!(self.subject, Subject::Program { sizes, .. } if sizes.contains(&t)) {
            return New::Whole(t);
        }
        let node = self.g.node_rc(t);
        if self.applies(t)
            && let Some(shape) = self.small_sizes(t)
            && let Some((rule, parts)) = self.rule(t, &node, &shape)
        {
            debug_assert_eq!(parts.len(), shape.iter().product::<usize>(), "{node:?}");
            debug_assert!(parts.iter().all(|&p| *self.g.ty(p) == Type::scalar(self.g.elem(t))), "{node:?}");
            if parts != [t] {
                trace::fired(rule, t, &parts);
            }
            return New::Parts(parts.into());
        }
        let mut new = self.over_wholes(&node);
        if let Node::Scan(scan) = &mut new {
            let exact = self.exact().cloned();
            let exact = exact.as_ref().map(|exact| |_: &Graph| Rc::clone(exact));
            let exact: Exact<'_> = exact.as_ref().map(|f| f as _);
            scan.body.results = in_loop(self.g, scan, exact).into();
        }
        New::Whole(self.g.mk(new))
    }
}

/// The sizes of a small array (or scalar).
pub(crate) fn small_sizes(g: &Graph, t: Term) -> Option<Vec<usize>> {
    sizes_below(g, t, LIMIT)
}

/// The sizes of an array (or scalar) of at most `limit` elements, if they are literals.
fn sizes_below(g: &Graph, t: Term, limit: usize) -> Option<Vec<usize>> {
    let (_, shape) = g.ty(t).as_array()?;
    let sizes: Option<Vec<usize>> = shape.iter().map(|&n| usize::try_from(g.int_value(n)?).ok()).collect();
    sizes.filter(|sizes| (1..=limit).contains(&product(sizes)))
}

impl<'a> Unroll<'a> {
    fn new(g: &'a mut Graph, subject: Subject<'a>) -> Self {
        Unroll { g, subject, parts: HashMap::new(), whole: HashMap::new() }
    }

    /// Whether a term of the subject is replaced by its elements, if it is small.
    fn applies(&self, t: Term) -> bool {
        match &self.subject {
            Subject::Program { .. } => self.g.is_closed(t),
            Subject::Body(body) => body.replaced.contains(&t),
        }
    }

    /// The sizes of an array that is small enough to be replaced, or of a scalar.
    fn small_sizes(&self, t: Term) -> Option<Vec<usize>> {
        match &self.subject {
            Subject::Body(body) if body.is_large(self.g, t) => sizes_below(self.g, t, PRODUCTS),
            _ => small_sizes(self.g, t),
        }
    }

    /// The exact terms; `None`: all.
    fn exact(&self) -> Option<&Rc<HashSet<Term>>> {
        match &self.subject {
            Subject::Program { exact, .. } => Some(exact),
            Subject::Body(body) => body.exact.as_ref(),
        }
    }

    /// Whether the sum keeps the order of the function.
    fn is_exact(&self, t: Term) -> bool {
        self.exact().is_none_or(|exact| exact.contains(&t))
    }

    /// The rewritten term as one array.
    fn whole(&mut self, t: Term) -> Term {
        if let Some(&whole) = self.whole.get(&t) {
            return whole;
        }
        let Some(parts) = self.parts.get(&t).cloned() else { return t };
        let shape = self.g.shape(t).to_vec();
        let whole = if parts.len() > LIMIT {
            // The operation again is less work than so many scalars.
            let node = self.g.node_rc(t);
            let again = self.over_wholes(&node);
            self.g.mk(again)
        } else if parts.iter().all(|&p| p == parts[0]) {
            self.g.broadcast(parts[0], &shape)
        } else if let Some(of) = self.all_of(&parts, t) {
            of
        } else {
            let row = self.g.stack(&parts);
            self.g.reshape(row, &shape)
        };
        self.whole.insert(t, whole);
        whole
    }

    /// A node with its rewritten children, each as one array.
    fn over_wholes(&mut self, node: &Node) -> Node {
        node.for_each_child(|c| {
            self.whole(c);
        });
        node.map_children(|c| self.whole.get(&c).copied().unwrap_or(c))
    }

    /// The array whose elements these are, all of them in order, if there is one.
    fn all_of(&self, parts: &[Term], like: Term) -> Option<Term> {
        let mut of = None;
        let sizes = self.small_sizes(like)?;
        for (k, &p) in parts.iter().enumerate() {
            let Node::Gather { src, vars, index, .. } = self.g.node(p) else { return None };
            let at: Option<Vec<usize>> = index.iter().map(|&i| usize::try_from(self.g.int_value(i)?).ok()).collect();
            if !vars.is_empty() || at? != unravel(k, &sizes) || of.is_some_and(|of| of != *src) {
                return None;
            }
            of = Some(*src);
        }
        of.filter(|&of| self.g.ty(of) == self.g.ty(like))
    }

    /// The elements of a small array.
    fn elements(&mut self, t: Term) -> Option<Elements> {
        if let Some(parts) = self.parts.get(&t) {
            return Some(Rc::clone(parts));
        }
        let sizes = self.small_sizes(t)?;
        let whole = self.whole(t);
        let parts: Elements = (0..product(&sizes)).map(|k| self.read(whole, &unravel(k, &sizes))).collect();
        self.parts.insert(t, Rc::clone(&parts));
        Some(parts)
    }

    fn read(&mut self, whole: Term, ix: &[usize]) -> Term {
        let index: Vec<Term> = ix.iter().map(|&i| self.g.lit_usize(i)).collect();
        self.g.index(whole, &index)
    }

    fn literal(&self, t: Term) -> Option<usize> {
        usize::try_from(self.g.int_value(t)?).ok()
    }

    fn literals(&self, ts: &[Term]) -> Option<Vec<usize>> {
        ts.iter().map(|&t| self.literal(t)).collect()
    }

    /// The elements of a term, with one row for each form, and the name of the row. `None` if the
    /// term stays an array.
    fn rule(&mut self, t: Term, node: &Node, shape: &[usize]) -> Option<(&'static str, Vec<Term>)> {
        let count = product(shape);
        Some(match node {
            Node::Input(_) => {
                self.whole.insert(t, t);
                ("unroll.input", (0..count).map(|k| self.read(t, &unravel(k, shape))).collect())
            }
            Node::Cond { cond, then, other } if !shape.is_empty() => {
                let cond = self.whole(*cond);
                let (then, other) = (self.elements(*then)?, self.elements(*other)?);
                ("unroll.cond", (0..count).map(|k| self.g.cond(cond, then[k], other[k])).collect())
            }
            Node::Gather { src, vars, .. } => ("unroll.gather", self.gather(node, *src, vars.len(), shape)?),
            Node::Scatter { put, dst, src, vars, .. } => {
                ("unroll.scatter", self.scatter(t, node, *put, [*dst, *src], vars.len(), shape)?)
            }
            Node::Prim(prim, args) => self.prim(t, prim, args, shape)?,
            _ => return None,
        })
    }

    fn prim(&mut self, t: Term, prim: &Prim, args: &[Term], shape: &[usize]) -> Option<(&'static str, Vec<Term>)> {
        let count = product(shape);
        if prim.is_elementwise() {
            if shape.is_empty() {
                return None;
            }
            let args: Option<Vec<Elements>> = args.iter().map(|&c| self.elements(c)).collect();
            let args = args?;
            let each = (0..count).map(|k| self.scalar(prim, &args.iter().map(|a| a[k]).collect::<Vec<_>>()));
            return Some(("unroll.elementwise", each.collect()));
        }
        // All other rules below read the first argument.
        let from = self.small_sizes(*args.first()?);
        let all = (0..count).map(|k| unravel(k, shape));
        Some(match prim {
            Prim::Iota => ("unroll.iota", (0..count).map(|k| self.g.lit_usize(k)).collect()),
            // The number of elements differs only if a check fails.
            Prim::Reshape | Prim::Recast => {
                ("unroll.reshape", Some(self.elements(args[0])?.to_vec()).filter(|x| x.len() == count)?)
            }
            Prim::Slice(steps) => {
                let (x, from) = (self.elements(args[0])?, from?);
                let starts = self.literals(&args[1..=steps.len()])?;
                let elem = self.g.elem(t);
                let each = all.map(|ix| match strided(&starts, steps, &ix, &from) {
                    Some(at) => x[ravel(&at, &from)],
                    None => self.g.zero(elem),
                });
                ("unroll.slice", each.collect())
            }
            Prim::Pad(steps) => {
                let (x, from) = (self.elements(args[0])?, from?);
                let starts = self.literals(&args[1..=steps.len()])?;
                let zero = self.g.zero(self.g.elem(t));
                let mut out = vec![zero; count];
                for (k, &element) in x.iter().enumerate() {
                    if let Some(at) = strided(&starts, steps, &unravel(k, &from), shape) {
                        out[ravel(&at, shape)] = element;
                    }
                }
                ("unroll.pad", out)
            }
            Prim::Stack => {
                let rows: Option<Vec<Elements>> = args.iter().map(|&c| self.elements(c)).collect();
                ("unroll.stack", rows?.iter().flat_map(|row| row.iter().copied()).collect())
            }
            Prim::Sum(axes) => {
                let (x, from) = (self.elements(args[0])?, from?);
                let summed = axes.iter().map(|&a| from[usize::from(a)]).product::<usize>();
                if !self.g.elem(t).is_real() || (self.is_exact(t) && summed >= MIN_REORDERED) {
                    return None;
                }
                let mut out: Vec<Option<Term>> = vec![None; count];
                for (k, &element) in x.iter().enumerate() {
                    let ix = unravel(k, &from);
                    let kept = (0..ix.len()).filter(|&k| !axes.iter().any(|&a| usize::from(a) == k)).map(|k| ix[k]);
                    let at = ravel(&kept.collect::<Vec<_>>(), shape);
                    out[at] = Some(out[at].map_or(element, |sum| self.g.add(sum, element)));
                }
                ("unroll.sum", out.into_iter().collect::<Option<_>>()?)
            }
            Prim::Reduce(op, rank) => {
                let (x, from) = (self.elements(args[0])?, from?);
                let group = product(&from[from.len() - usize::from(*rank)..]);
                // The bits of `Squares` depend on the processor (it may have fused multiply-adds).
                // `Distances`, and reductions of a dynamic number of elements, are loops of their
                // own.
                if args.len() > 1 || *op == Reduce::Distances || (*op == Reduce::Squares && group >= LANES) {
                    return None;
                }
                ("unroll.reduce", x.chunks(group).map(|group| self.reduce(*op, group)).collect())
            }
            Prim::Contract(spec) => ("unroll.contract", self.contract(t, spec, args, shape)?),
            _ => {
                let (x, from) = (self.elements(args[0])?, from?);
                let g = &mut *self.g;
                if let Some(parts) = prim.structural(|s| s.scalars(g, &x, shape)).flatten() {
                    return Some(("unroll.scalars", parts));
                }
                let axes = prim.structural(|s| s.selects(shape.len())).flatten()?;
                let read = |ix: Vec<usize>| axes.iter().map(|&a| ix[a]).collect::<Vec<usize>>();
                ("unroll.selects", all.map(|ix| x[ravel(&read(ix), &from)]).collect())
            }
        })
    }

    /// An elementwise operation on scalars. Operations that are easy to fold are folded.
    fn scalar(&mut self, prim: &Prim, args: &[Term]) -> Term {
        let g = &mut *self.g;
        match prim {
            Prim::Select => g.select(args[0], args[1], args[2]),
            Prim::Not => g.not(args[0]),
            Prim::And => g.and(args[0], args[1]),
            Prim::Or => g.or(args[0], args[1]),
            Prim::Compare(op) => g.compare(*op, args[0], args[1]),
            Prim::Int(op) => g.int(*op, args[0], args[1]),
            Prim::Cast(to) => g.cast(*to, args[0]),
            _ => g.prim(prim.clone(), args),
        }
    }

    fn contract(&mut self, t: Term, spec: &Contraction, args: &[Term], shape: &[usize]) -> Option<Vec<Term>> {
        let (sa, sb) = (self.small_sizes(args[0])?, self.small_sizes(args[1])?);
        let mut sizes: HashMap<u8, usize> = HashMap::new();
        sizes.extend(spec.a.iter().copied().zip(sa.iter().copied()));
        sizes.extend(spec.b.iter().copied().zip(sb.iter().copied()));
        let mut summed: Vec<u8> = spec.a.iter().copied().filter(|l| !spec.out.contains(l)).collect();
        summed.extend(spec.b.iter().copied().filter(|l| !spec.out.contains(l) && !spec.a.contains(l)));
        let inner: Vec<usize> = summed.iter().map(|l| sizes[l]).collect();
        let terms = product(&inner);
        if product(shape) * terms > PRODUCTS || terms == 0 || (self.is_exact(t) && terms >= MIN_REORDERED) {
            return None;
        }
        let (a, b) = (self.elements(args[0])?, self.elements(args[1])?);
        let mut out = Vec::new();
        for k in 0..product(shape) {
            let mut at: HashMap<u8, usize> = spec.out.iter().copied().zip(unravel(k, shape)).collect();
            let mut sum: Option<Term> = None;
            for s in 0..terms {
                at.extend(summed.iter().copied().zip(unravel(s, &inner)));
                let place =
                    |labels: &[u8], sizes: &[usize]| ravel(&labels.iter().map(|l| at[l]).collect::<Vec<_>>(), sizes);
                let (x, y) = (a[place(&spec.a, &sa)], b[place(&spec.b, &sb)]);
                let term = self.g.product(x, y, spec.absorbs);
                sum = Some(sum.map_or(term, |sum| self.g.add(sum, term)));
            }
            out.push(sum?);
        }
        Some(out)
    }

    /// The index function of a gather or scatter at these values of its variables.
    fn indices(&mut self, node: &Node, sizes: &[usize]) -> Vec<Vec<Term>> {
        // The index is inside the scope; its closed subterms have been rewritten already.
        let mut scoped = Vec::new();
        node.for_each_scoped_child(|c, inside| {
            if inside {
                scoped.push(c);
            }
        });
        let new: HashMap<Term, Term> = scoped.iter().map(|&c| (c, self.whole(c))).collect();
        let mapped = match node {
            Node::Gather { src, sizes, vars, index } => Node::Gather {
                src: *src,
                sizes: sizes.clone(),
                vars: vars.clone(),
                index: index.iter().map(|i| new[i]).collect(),
            },
            Node::Scatter { put, dst, src, vars, index } => Node::Scatter {
                put: *put,
                dst: *dst,
                src: *src,
                vars: vars.clone(),
                index: index.iter().map(|i| new[i]).collect(),
            },
            other => other.clone(),
        };
        let (vars, index) = self.g.open_binder(&mapped);
        (0..product(sizes))
            .map(|k| {
                let values: Vec<_> =
                    vars.iter().copied().zip(unravel(k, sizes)).map(|(v, i)| (v, self.g.lit_usize(i))).collect();
                let at = self.g.subst_vars_all(&index, &values);
                simplify::simplify(self.g, &at)
            })
            .collect()
    }

    fn gather(&mut self, node: &Node, src: Term, vars: usize, shape: &[usize]) -> Option<Vec<Term>> {
        let from = self.small_sizes(src)?;
        let x = self.elements(src)?;
        let elem = self.g.elem(src);
        let (outer, rest) = shape.split_at(vars);
        let indices = self.indices(node, outer);
        let mut out = Vec::new();
        for index in indices {
            let fixed = self.literals(&index);
            for r in 0..product(rest) {
                let trailing = unravel(r, rest);
                out.push(match &fixed {
                    Some(fixed) => {
                        let at: Vec<usize> = fixed.iter().copied().chain(trailing).collect();
                        let inside = at.iter().zip(&from).all(|(i, n)| i < n);
                        if inside { x[ravel(&at, &from)] } else { self.g.zero(elem) }
                    }
                    None => {
                        let whole = self.whole(src);
                        let mut at = index.clone();
                        at.extend(trailing.iter().map(|&i| self.g.lit_usize(i)));
                        self.g.index(whole, &at)
                    }
                });
            }
        }
        Some(out)
    }

    fn scatter(
        &mut self,
        t: Term,
        node: &Node,
        put: Put,
        [dst, src]: [Term; 2],
        vars: usize,
        shape: &[usize],
    ) -> Option<Vec<Term>> {
        let from = self.small_sizes(src)?;
        let (outer, rest) = from.split_at(vars);
        let indices = self.indices(node, outer);
        let axes = shape.len() - rest.len();
        let computed = indices.iter().filter(|ix| self.literals(ix).is_none()).count();
        if computed * product(shape) > PRODUCTS {
            return None;
        }
        let exact = self.is_exact(t);
        let mut out = self.elements(dst)?.to_vec();
        let x = self.elements(src)?;
        for (k, index) in indices.iter().enumerate() {
            let fixed = self.literals(index);
            for target in 0..product(&shape[..axes]) {
                let at = unravel(target, &shape[..axes]);
                let here = match &fixed {
                    Some(fixed) if *fixed == at => None,
                    Some(_) => continue,
                    None => {
                        let mut here = self.g.lit_bool(true);
                        for (&i, &n) in index.iter().zip(&at) {
                            let n = self.g.lit(Lit::Int(IntTy::Usize, i128::try_from(n).unwrap_or(0)));
                            let same = self.g.compare(Cmp::Eq, i, n);
                            here = self.g.and(here, same);
                        }
                        Some(here)
                    }
                };
                for r in 0..product(rest) {
                    let mut added = x[k * product(rest) + r];
                    let slot = &mut out[target * product(rest) + r];
                    if put == Put::Set {
                        *slot = here.map_or(added, |here| self.g.select(here, added, *slot));
                        continue;
                    }
                    if let Some(here) = here {
                        let zero = self.g.lit_like(added, 0.0);
                        added = self.g.select(here, added, zero);
                    }
                    let empty = !exact && is_zero_of_either_sign(self.g, *slot);
                    *slot = if empty { added } else { self.g.add(*slot, added) };
                }
            }
        }
        Some(out)
    }
}

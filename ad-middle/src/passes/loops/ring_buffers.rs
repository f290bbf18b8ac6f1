//! Ring buffers. A loop may carry an array that its steps rotate: a window that moves (`remove(0)`
//! and `push`), a queue, `rotate_left`. Each step would copy it, in the derivative too. This pass
//! leaves the elements where they are, and the loop carries an offset with the array: element `i`
//! of the rotated array is element `offset + i`, cyclically, of the array in memory. A rotation
//! adds to the offset, and writes and reads use the shifted index. A slice whose first elements
//! each step drops is treated likewise.
//!
//! This pass must never change the elements of an array. A write that is out of range is dropped,
//! and its shifted index must stay out of range.

mod operands;

use std::collections::{HashMap, HashSet};

use self::operands::{CAPTURED, CARRIED, CONSUMED, NewOperands};
use crate::passes::rewrite::{Rewriter, with_rewritten_children};
use crate::passes::unroll::LIMIT;
use crate::passes::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::rewrite::{Memoised, by_age};
use ad_ir::ir::{Graph, IntTy, Lit, Node, Put, Scan, Term, Type, Var};
use ad_ir::prim::{Cmp, IntOp, Prim};

/// The pass.
///
/// ```text
/// scan (v) (\c -> update (rotate c by 1) x [n - 1])
///     becomes
/// scan (v, 0) (\c o -> update c x [wrap (o + 1 + n - 1)], wrap (o + 1))
/// ```
///
/// ```text
/// scan (v) (\c -> slice [1..1 + n] c)
///     becomes
/// scan (0) (\o -> o + 1), with v as a capture
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "ring_buffers",
    rules: || vec!["ring_buffers"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// The maximum number of states of an array in one step that are examined.
const MAX_STATES: usize = 256;

/// The roots with ring buffers in all loops.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let fixed = cx.get::<Fixed>(g, roots);
    let mut made: HashMap<Term, Option<Vec<Term>>> = HashMap::new();
    Rewriter::new(&*fixed).run(g, roots, |g, t, done| match with_rewritten_children(g, t, done) {
        Node::Scan(mut scan) => {
            if let Some(parts) = parts(g, &scan, cx) {
                return Some(g.tuple(&parts));
            }
            scan.body.results = pass(g, &scan.body.results, cx).into();
            Some(g.scan(*scan))
        }
        // A loop that a size needs stays for that size. Its other results come from a new loop.
        Node::Proj(scan, k) if fixed.contains(&scan) => {
            let Node::Scan(of) = g.node(scan).clone() else { return None };
            let parts = made.entry(scan).or_insert_with(|| parts(g, &of, cx));
            parts.as_ref().map(|parts| parts[k as usize])
        }
        _ => None,
    })
}

/// The results of a loop with its ring buffers, if it has any.
fn parts(g: &mut Graph, scan: &Scan, cx: &mut Context) -> Option<Vec<Term>> {
    let rotated: Vec<Option<Movement>> =
        (0..scan.init.len()).map(|k| rotates(g, scan, k).filter(|&turn| turn != Movement::Stays)).collect();
    if rotated.iter().all(Option::is_none) {
        return None;
    }
    let terms = |all: &[Term]| all.iter().map(|&t| TermOrRing::Term(t)).collect::<Vec<_>>();
    let args = [terms(&scan.init), terms(&scan.captures), terms(&scan.xs)];
    let parts = Rings::default().of_loop(g, scan, &args, &rotated, cx);
    Some(parts.into_iter().map(|part| part.term(g)).collect())
}

/// How the steps of a loop move the elements of a carried array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Movement {
    /// Each element stays at its index.
    Stays,
    /// They move to the front, as in a slice whose first elements each step drops
    /// (`split_first`), and do not change otherwise. No element comes back at the other end, so
    /// the elements after the end of the slice are unspecified.
    Shifts,
    /// They move to the front, and the first ones to the end. A step may write elements.
    Rotates,
}

/// How a step moves the elements of the carried array k of a loop. A step may also write elements,
/// and replace the array under a condition. `None` if a step changes it in another way, or if it is
/// small or not an array.
fn rotates(g: &Graph, scan: &Scan, k: usize) -> Option<Movement> {
    let Type::Array(_, shape) = &scan.body.params[k] else { return None };
    let small = |n: i128| usize::try_from(n).is_ok_and(|n| n <= LIMIT);
    if shape.is_empty() || g.int_value(shape[0]).is_some_and(small) {
        return None;
    }
    let (mut own, mut written, mut found) = (false, false, Movement::Stays);
    let (mut stack, mut seen) = (vec![(scan.body.results[k], false)], HashSet::new());
    while let Some((t, chosen)) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return None;
        }
        match *g.node(t) {
            Node::Param(n, _) if n as usize == k => own = true,
            Node::Scatter { dst, .. } => {
                written = true;
                stack.push((dst, chosen));
            }
            Node::Cond { then, other, .. } => stack.extend([(then, true), (other, true)]),
            Node::Gather { .. } if rotation(g, t).is_some() => {
                found = Movement::Rotates;
                stack.extend(rotation(g, t).map(|(src, _)| (src, chosen)));
            }
            Node::Prim(Prim::Slice(_), _) | Node::Gather { .. } if shift(g, t).is_some() => {
                found = found.max(Movement::Shifts);
                stack.extend(shift(g, t).map(|(src, _)| (src, chosen)));
            }
            Node::Proj(inner, j) => match g.node(inner) {
                Node::Scan(inner) if (j as usize) < inner.init.len() => {
                    let inside = rotates(g, inner, j as usize)?;
                    // An array that an inner loop does not move may be written there.
                    written |= inside == Movement::Stays;
                    found = found.max(inside);
                    stack.push((inner.init[j as usize], chosen));
                }
                _ if chosen => written = true,
                _ => return None,
            },
            // The other array may be a ring buffer.
            _ if chosen => written = true,
            _ => return None,
        }
    }
    own.then_some(if written && found == Movement::Shifts { Movement::Rotates } else { found })
}

/// If the term is an array without its first rows, in the memory of the whole array: that array,
/// and the number of those rows.
fn shift(g: &Graph, t: Term) -> Option<(Term, Term)> {
    let (src, by) = match g.node(t) {
        Node::Prim(Prim::Slice(steps), args) => {
            let (by, others) = args[1..=steps.len()].split_first()?;
            let whole = steps.iter().all(|&s| s == 1) && others.iter().all(|&s| g.int_value(s) == Some(0));
            whole.then_some((args[0], *by))?
        }
        Node::Gather { src, vars, index, .. } => {
            let ([var], [index]) = (&**vars, &**index) else { return None };
            (*src, moved_by(g, *var, *index)?)
        }
        _ => return None,
    };
    (g.shape(t) == g.shape(src)).then_some((src, by))
}

/// The number that is added to a variable.
fn moved_by(g: &Graph, var: Var, index: Term) -> Option<Term> {
    let Node::Prim(Prim::Int(IntOp::Add), sum) = g.node(index) else { return None };
    let is_var = |t: Term| matches!(g.node(t), Node::Var(v) if *v == var);
    let by = match (is_var(sum[0]), is_var(sum[1])) {
        (true, false) => sum[1],
        (false, true) => sum[0],
        _ => return None,
    };
    g.free(by).is_empty().then_some(by)
}

/// If the term is an array rotated to the left along its first axis: that array, and the number of
/// rows that it is rotated by.
fn rotation(g: &Graph, t: Term) -> Option<(Term, Term)> {
    let Node::Gather { src, vars, index, .. } = g.node(t) else { return None };
    let ([var], [index]) = (&**vars, &**index) else { return None };
    let n = *g.shape(t).first()?;
    if g.shape(t) != g.shape(*src) {
        return None;
    }
    let Node::Prim(Prim::Select, args) = g.node(*index) else { return None };
    let (over, back, at) = (args[0], args[1], args[2]);
    let is =
        |t: Term, prim: &Prim, of: [Term; 2]| matches!(g.node(t), Node::Prim(p, args) if p == prim && **args == of);
    let by = moved_by(g, *var, at)?;
    let wraps = is(over, &Prim::Compare(Cmp::Le), [n, at]) && is(back, &Prim::Int(IntOp::Sub), [at, n]);
    wraps.then_some((*src, by))
}

/// A rotated or shifted array: its element `i` is element `offset + i` of `array`.
#[derive(Clone, Copy)]
struct Ring {
    array: Term,
    offset: Term,
    /// Whether elements after the end are the first ones. Otherwise they are unspecified.
    wraps: bool,
}

/// The rewritten form of a term.
#[derive(Clone, Copy)]
enum TermOrRing {
    Term(Term),
    Ring(Ring),
}

impl TermOrRing {
    /// The array as a ring buffer. An array that is not a ring buffer gets the offset 0.
    fn ring(self, g: &mut Graph) -> Ring {
        match self {
            TermOrRing::Ring(ring) => ring,
            TermOrRing::Term(array) => Ring { array, offset: g.lit_usize(0), wraps: false },
        }
    }

    /// The array as one term.
    fn term(self, g: &mut Graph) -> Term {
        let ring = match self {
            TermOrRing::Term(t) => return t,
            TermOrRing::Ring(ring) if g.int_value(ring.offset) == Some(0) => return ring.array,
            TermOrRing::Ring(ring) => ring,
        };
        let n = g.shape(ring.array)[0];
        let var = g.fresh();
        let i = g.mk(Node::Var(var));
        let at = ring.at(g, i);
        g.gather(ring.array, [n].into(), &[var], &[at])
    }
}

impl Ring {
    /// The index of the element `i` in `array`.
    fn at(self, g: &mut Graph, i: Term) -> Term {
        if g.int_value(self.offset) == Some(0) {
            return i;
        }
        let at = g.int(IntOp::Add, self.offset, i);
        if !self.wraps {
            return at;
        }
        let n = g.shape(self.array)[0];
        let (over, back) = (g.compare(Cmp::Le, n, at), g.int(IntOp::Sub, at, n));
        g.select(over, back, at)
    }

    /// The index in the ring for a write at index `i`. An index that is out of range stays out of
    /// range.
    fn written_at(self, g: &mut Graph, i: Term) -> Term {
        let n = g.shape(self.array)[0];
        let (inside, at) = (g.compare(Cmp::Lt, i, n), self.at(g, i));
        if g.bool_value(inside) == Some(true) { at } else { g.select(inside, at, n) }
    }
}

/// The terms of a body over its new parameters.
#[derive(Default)]
struct Rings {
    /// The rewritten forms of terms.
    forms: HashMap<Term, TermOrRing>,
    /// The rewritten results of loops.
    parts: HashMap<Term, Vec<TermOrRing>>,
    /// Whether a term depends on a ring buffer.
    touched: HashMap<Term, bool>,
}

/// The rewriting of terms of one body.
struct InBody<'a> {
    rings: &'a mut Rings,
    g: &'a mut Graph,
    cx: &'a mut Context,
}

impl Memoised for InBody<'_> {
    type Key = Term;
    type New = TermOrRing;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, TermOrRing>) {
        (self.g, &mut self.rings.forms)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> TermOrRing {
        if self.rings.touched[&t] { self.rings.one(self.g, t, self.cx) } else { TermOrRing::Term(t) }
    }
}

impl Rings {
    /// The results of a loop over these arguments. The carried values that `rotated` marks become
    /// ring buffers or shifted arrays.
    fn of_loop(
        &mut self,
        g: &mut Graph,
        scan: &Scan,
        operands: &[Vec<TermOrRing>; 3],
        rotated: &[Option<Movement>],
        cx: &mut Context,
    ) -> Vec<TermOrRing> {
        let carries = scan.init.len();
        let (new, args) = self.new_operands(g, scan, operands, rotated);
        let old = g.instantiate(&scan.body, &args);
        self.all(g, &old, cx);
        let (mut results, mut ends, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (k, t) in old.iter().enumerate() {
            let form = self.forms[t];
            if rotated.get(k).copied().flatten().is_some() {
                let ring = form.ring(g);
                results.push(ring.array);
                ends.push(ring.offset);
            } else if k < carries {
                results.push(form.term(g));
            } else {
                rows.push(form.term(g));
            }
        }
        let offsets = ends.len();
        results.extend(ends.into_iter().chain(rows));
        let made = new.close(g, scan, &results, cx);
        let mut offset = carries;
        (0..old.len())
            .map(|k| {
                if k >= carries {
                    return TermOrRing::Term(g.proj(made, k + offsets));
                }
                let array = g.proj(made, k);
                let Some(turn) = rotated[k] else { return TermOrRing::Term(array) };
                offset += 1;
                TermOrRing::Ring(Ring { array, offset: g.proj(made, offset - 1), wraps: turn != Movement::Shifts })
            })
            .collect()
    }

    /// The operands of a loop that carries these ring buffers or shifted arrays, and the arguments
    /// of the original body.
    fn new_operands(
        &mut self,
        g: &mut Graph,
        scan: &Scan,
        [init, captures, xs]: &[Vec<TermOrRing>; 3],
        rotated: &[Option<Movement>],
    ) -> (NewOperands, Vec<Term>) {
        let (mut new, mut args) = (NewOperands::default(), Vec::new());
        for (k, ty) in scan.body.params.iter().enumerate() {
            let (kind, is) = match (k.checked_sub(init.len()), k.checked_sub(init.len() + captures.len())) {
                (None, _) => (CARRIED, init[k]),
                (Some(k), None) => (CAPTURED, captures[k]),
                (_, Some(k)) => (CONSUMED, xs[k]),
            };
            let ring = match (kind, is) {
                (CARRIED, is) => rotated[k].map(|turn| Ring { wraps: turn != Movement::Shifts, ..is.ring(g) }),
                (_, TermOrRing::Ring(ring)) => Some(ring),
                _ => None,
            };
            let Some(ring) = ring else {
                let t = is.term(g);
                args.push(new.params[kind].param(g, t, ty.clone()));
                continue;
            };
            if kind == CONSUMED {
                args.push(new.row(g, scan, ring));
                continue;
            }
            let ring = new.ring(g, kind, ring);
            self.forms.insert(ring.array, TermOrRing::Ring(ring));
            self.touched.insert(ring.array, true);
            args.push(ring.array);
        }
        (new, args)
    }

    /// Rewrites all terms that the roots reach. Terms under a binder are rewritten when the binder
    /// is opened.
    fn all(&mut self, g: &mut Graph, roots: &[Term], cx: &mut Context) {
        let mut terms = g.reachable(roots);
        for &t in &terms {
            if !self.touched.contains_key(&t) {
                let mut touched = false;
                g.node(t).for_each_child(|c| touched |= self.touched[&c]);
                self.touched.insert(t, touched);
            }
        }
        terms.retain(|&t| g.free(t).iter().all(|v| v.is_fresh()));
        by_age(&mut InBody { rings: self, g, cx }, terms);
    }

    fn term(&self, g: &mut Graph, t: Term) -> Term {
        self.forms[&t].term(g)
    }

    /// Rewrites a term that depends on a ring buffer. Its children are rewritten already.
    fn one(&mut self, g: &mut Graph, t: Term, cx: &mut Context) -> TermOrRing {
        let node = g.node_rc(t);
        if let Some((src, by)) = shift(g, t)
            && let TermOrRing::Ring(ring) = self.forms[&src]
        {
            let by = self.term(g, by);
            return TermOrRing::Ring(Ring { offset: ring.at(g, by), ..ring });
        }
        match &*node {
            Node::Prim(Prim::Slice(steps), args)
                if let (TermOrRing::Ring(ring), true) =
                    (self.forms[&args[0]], steps.first().is_some_and(|&s| s > 0)) =>
            {
                let all: Vec<Term> = args[1..].iter().map(|&t| self.term(g, t)).collect();
                TermOrRing::Term(slice_of_ring(g, ring, steps, &all))
            }
            Node::Gather { src, sizes, .. } => {
                if let (Some((src, by)), TermOrRing::Ring(ring @ Ring { wraps: true, .. })) =
                    (rotation(g, t), self.forms[src])
                {
                    debug_assert!(matches!(self.forms[&src], TermOrRing::Ring(_)), "it is the array that is read");
                    let by = self.term(g, by);
                    let offset = ring.at(g, by);
                    return TermOrRing::Ring(Ring { offset, ..ring });
                }
                let (vars, mut index) = self.opened(g, &node, cx);
                let src = match self.forms[src] {
                    TermOrRing::Ring(ring) => {
                        index[0] = ring.at(g, index[0]);
                        ring.array
                    }
                    TermOrRing::Term(src) => src,
                };
                TermOrRing::Term(g.gather(src, sizes.clone(), &vars, &index))
            }
            Node::Scatter { put, dst, src, .. } => {
                let (vars, mut index) = self.opened(g, &node, cx);
                let src = self.term(g, *src);
                let write = |g: &mut Graph, dst: Term, index: &[Term]| match put {
                    Put::Add => g.scatter(dst, src, &vars, index),
                    Put::Set => g.update(dst, src, &vars, index),
                };
                match self.forms[dst] {
                    TermOrRing::Ring(ring @ Ring { wraps: true, .. }) if !index.is_empty() => {
                        index[0] = ring.written_at(g, index[0]);
                        TermOrRing::Ring(Ring { array: write(g, ring.array, &index), ..ring })
                    }
                    is => {
                        let dst = is.term(g);
                        TermOrRing::Term(write(g, dst, &index))
                    }
                }
            }
            Node::Cond { cond, then, other } => {
                let (cond, arms) = (self.term(g, *cond), [self.forms[then], self.forms[other]]);
                if let [TermOrRing::Term(then), TermOrRing::Term(other)] = arms {
                    return TermOrRing::Term(g.cond(cond, then, other));
                }
                let [a, b] = arms.map(|arm| arm.ring(g));
                let (array, offset) = (g.cond(cond, a.array, b.array), g.cond(cond, a.offset, b.offset));
                TermOrRing::Ring(Ring { array, offset, wraps: a.wraps || b.wraps })
            }
            Node::Scan(scan) => match self.inner_loop(g, scan, cx) {
                Some(parts) => {
                    let terms: Vec<Term> = parts.iter().map(|part| part.term(g)).collect();
                    self.parts.insert(t, parts);
                    TermOrRing::Term(g.tuple(&terms))
                }
                None => self.mapped(g, &node),
            },
            Node::Proj(tuple, k) => match self.parts.get(tuple) {
                Some(parts) => parts[*k as usize],
                None => {
                    let tuple = self.term(g, *tuple);
                    TermOrRing::Term(g.proj(tuple, *k as usize))
                }
            },
            Node::Build { .. } => {
                let (vars, scoped) = self.opened(g, &node, cx);
                let mut outer: HashMap<Term, Term> = HashMap::new();
                node.for_each_scoped_child(|c, inside| {
                    if !inside {
                        outer.insert(c, self.term(g, c));
                    }
                });
                TermOrRing::Term(g.rebuild_binder(&node, |c| outer[c], &vars, &scoped))
            }
            node => self.mapped(g, node),
        }
    }

    /// The results of a loop in the body, or `None` if no ring buffer reaches it.
    fn inner_loop(&mut self, g: &mut Graph, scan: &Scan, cx: &mut Context) -> Option<Vec<TermOrRing>> {
        let of = |all: &[Term]| all.iter().map(|t| self.forms[t]).collect::<Vec<_>>();
        let args = [of(&scan.init), of(&scan.captures), of(&scan.xs)];
        let ring = |form: &TermOrRing| matches!(form, TermOrRing::Ring(_));
        // An array that stays where it is may be written there, so it is one that wraps.
        let kept = |(k, is): (usize, &TermOrRing)| {
            let own = rotates(g, scan, k).filter(|&turn| turn != Movement::Stays || ring(is))?;
            let shifts = own == Movement::Shifts && !matches!(is, TermOrRing::Ring(Ring { wraps: true, .. }));
            Some(if shifts { Movement::Shifts } else { Movement::Rotates })
        };
        let rotated: Vec<Option<Movement>> = args[0].iter().enumerate().map(kept).collect();
        args.iter().flatten().any(ring).then(|| self.of_loop(g, scan, &args, &rotated, cx))
    }

    /// The same form over its rewritten children. It has no binder.
    fn mapped(&self, g: &mut Graph, node: &Node) -> TermOrRing {
        let node = node.map_children(|c| self.forms[&c].term(g));
        TermOrRing::Term(g.mk(node))
    }

    /// Opens a binder. Returns its variables and the rewritten terms under it.
    fn opened(&mut self, g: &mut Graph, node: &Node, cx: &mut Context) -> (Vec<Var>, Vec<Term>) {
        let (vars, scoped) = g.open_binder(node);
        self.all(g, &scoped, cx);
        let scoped = scoped.into_iter().map(|t| self.term(g, t)).collect();
        (vars, scoped)
    }
}

/// A part of an array in a ring buffer. Only the part is read, and not the whole array in its
/// order. `ends` are the starts and then the lengths along all axes.
fn slice_of_ring(g: &mut Graph, ring: Ring, steps: &[i64], ends: &[Term]) -> Term {
    let (starts, lens) = ends.split_at(steps.len());
    let var = g.fresh();
    let (i, step) = (g.mk(Node::Var(var)), g.lit(Lit::Int(IntTy::Usize, i128::from(steps[0]))));
    let along = g.int(IntOp::Mul, step, i);
    let from = g.int(IntOp::Add, starts[0], along);
    let at = ring.at(g, from);
    let rows = g.gather(ring.array, [lens[0]].into(), &[var], &[at]);
    let (mut starts, mut steps) = (starts.to_vec(), steps.to_vec());
    (starts[0], steps[0]) = (g.lit_usize(0), 1);
    g.slice(rows, &starts, &steps, lens)
}

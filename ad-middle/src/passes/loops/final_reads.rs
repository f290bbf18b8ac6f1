//! Reads of the final array. A loop saves rows for its derivative, and some are elements of an
//! array that the loop carries. If no later write of the loop changes these elements, the array
//! still has them after the loop. They are read there, and the rows are not saved. The proof opens
//! the loops: along some axis, the index of the read has to differ from the index of each write in
//! the rest of the step and in the steps after it, for every loop around the read. The pass pays if
//! the rows have more axes than the array.
//!
//! The pass must never read the array without that proof, and never drop a condition under which
//! the row was saved.

use super::consumed::{RowRead, replaced};
use crate::passes::rewrite::Rewriter;
use crate::passes::trace;
use crate::passes::{Context, Pass};
use ad_ir::analysis::guards::{Guard, decided, else_blank};
use ad_ir::analysis::range::{Checked, Facts, Linear, positions_differ};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Scan, Term, Var};
use ad_ir::prim::{Cmp, Prim};

/// The pass.
///
/// ```text
/// a, rows = for k { for i { for j { save a[k, j]; a[i, j] -= f * a[k, j] } } }   (i > k)
/// for k { for i { for j { .. rows[k, i, j] .. } } }
///     becomes
/// a = for k { for i { for j { a[i, j] -= f * a[k, j] } } }
/// for k { for i { for j { .. a[k, j] .. } } }
/// ```
pub(crate) const PASS: Pass = Pass {
    name: "final_reads",
    rules: || vec!["final_reads"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// The maximum number of loops around a read.
const MAX_LOOPS: usize = 6;
/// The maximum number of states of an array in a step.
const MAX_STATES: usize = 64;
/// The maximum number of writes that are compared with a read.
const MAX_WRITES: usize = 64;
/// The maximum nesting of conditions.
const MAX_NESTING: usize = 4;

/// The roots, in which such rows are read from the array.
fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let mut roots = roots.to_vec();
    let candidates = candidates(g, &roots);
    if candidates.is_empty() {
        return roots;
    }
    let conditions = cx.check_conditions();
    let facts = (*cx.get::<Checked>(g, &conditions)).clone();
    for (of, k) in candidates {
        let rows = g.proj(of, k);
        let Some(read) = (Nest { facts: facts.clone(), levels: Vec::new() }).read(g, of, k) else { continue };
        let (axes, own) = (g.rank(rows), g.rank(read.src));
        let why = || format!("(rows of {axes} axes, an array of {own})");
        let mut new = Rewriter::new(&*cx.get::<Fixed>(g, &roots));
        if choose(Kind::FinalRead, (of.index(), k), axes > own, why)
            && let Some(all) = replaced(g, &mut new, &roots, rows, &read)
        {
            trace::fired("final_reads", rows, &[read.src]);
            roots = all;
        }
    }
    roots
}

/// Outermost loops, each with the index of a result. The result consists of rows that another loop
/// consumes, and has more axes than an array that the loop carries.
fn candidates(g: &mut Graph, roots: &[Term]) -> Vec<(Term, usize)> {
    let all = g.reachable(roots);
    let mut consumed: Vec<Term> = Vec::new();
    for &t in &all {
        if let Node::Scan(scan) = g.node(t) {
            consumed.extend(scan.xs.iter());
        }
    }
    consumed.sort_unstable();
    consumed.dedup();
    let mut found = Vec::new();
    for t in consumed {
        let Node::Proj(of, k) = *g.node(t) else { continue };
        let Node::Scan(scan) = g.node(of) else { continue };
        let carried = scan.body.params[..scan.init.len()].iter().filter_map(|ty| ty.as_array());
        let arrays = carried.map(|(_, shape)| shape.len()).filter(|&rank| rank > 0).min();
        let rows = k as usize >= scan.init.len() && scan.stop.is_none();
        let larger = rows && arrays.is_some_and(|least| least < g.rank(t)) && g.ty(t).is_real();
        if larger && is_element(g, scan, k as usize, MAX_LOOPS) {
            found.push((of, k as usize));
        }
    }
    found
}

/// Whether row k of the loop is an element of an array that may be carried. An inner loop may save
/// it, up to this depth. This looks at closed bodies, so that a loop is opened only for such a row.
fn is_element(g: &Graph, scan: &Scan, k: usize, depth: usize) -> bool {
    let Some((_, t)) = else_blank(g, scan.body.results[k]) else { return false };
    match g.node(t) {
        Node::Gather { src, .. } => is_state(g, *src, depth < MAX_LOOPS, scan.init.len()),
        Node::Proj(inner, part) => match g.node(*inner) {
            Node::Scan(inner) if depth > 1 && *part as usize >= inner.init.len() => {
                is_element(g, inner, *part as usize, depth - 1)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a term of a closed body is a state of an array that the loop carries. In an inner loop
/// every parameter counts, since a loop around it may carry the array.
fn is_state(g: &Graph, mut t: Term, inner: bool, carries: usize) -> bool {
    for _ in 0..MAX_STATES {
        t = match g.node(t) {
            Node::Param(k, _) => return inner || (*k as usize) < carries,
            Node::Scatter { dst, .. } => *dst,
            Node::Cond { then, .. } => *then,
            Node::Proj(of, k) => match begins_with(g, *of, *k as usize) {
                Some(begin) => begin,
                None => return false,
            },
            _ => return false,
        };
    }
    true
}

/// A loop with an opened body. The step number is a variable, and the carried values are
/// placeholders.
struct Level {
    of: Term,
    scan: Scan,
    step: Var,
    carried: Vec<Term>,
    results: Vec<Term>,
}

impl Level {
    fn open(g: &mut Graph, of: Term) -> Option<Level> {
        let Node::Scan(scan) = g.node(of) else { return None };
        let scan = (**scan).clone();
        if scan.stop.is_some() {
            return None;
        }
        let step = g.fresh();
        let i = g.mk(Node::Var(step));
        let carried: Vec<Term> = (0..scan.init.len()).map(|k| g.placeholder(scan.body.params[k].clone())).collect();
        let mut args = carried.clone();
        args.extend(&scan.captures);
        for &x in &scan.xs {
            let row = if matches!(g.node(x), Node::Prim(Prim::Iota, _)) { i } else { g.index(x, &[i]) };
            args.push(row);
        }
        let results = g.instantiate(&scan.body, &args);
        Some(Level { of, scan, step, carried, results })
    }

    fn step(&self, g: &mut Graph) -> Term {
        g.mk(Node::Var(self.step))
    }
}

/// A write of one or more elements, and the conditions that hold there.
struct Write {
    index: Vec<Term>,
    known: Vec<Guard>,
}

/// The loops around a read, the outermost first, and the facts that hold at the read.
struct Nest {
    facts: Facts,
    levels: Vec<Level>,
}

impl Nest {
    /// Row k of the loop as a read of an array after the loop, if it can be read there.
    fn read(mut self, g: &mut Graph, of: Term, k: usize) -> Option<RowRead> {
        let (mut ranges, mut guards): (Vec<Guard>, Vec<Guard>) = (Vec::new(), Vec::new());
        let (mut of, mut k) = (of, k);
        let (src, own, sizes, index) = loop {
            let level = Level::open(g, of)?;
            let (row, i) = (level.results[k], level.step(g));
            ranges.push((g.compare(Cmp::Lt, i, level.scan.count), true));
            self.levels.push(level);
            let (under, t) = else_blank(g, row)?;
            guards.extend(under);
            let node = g.node_rc(t);
            match &*node {
                Node::Gather { src, sizes, .. } => {
                    let (vars, index) = g.open_binder(&node);
                    break (*src, vars, sizes.to_vec(), index);
                }
                &Node::Proj(inner, part) if self.levels.len() < MAX_LOOPS => {
                    let Node::Scan(scan) = g.node(inner) else { return None };
                    (of, k) = (inner, part as usize);
                    if k < scan.init.len() {
                        return None;
                    }
                }
                _ => return None,
            }
        };
        for (&v, &n) in own.iter().zip(&sizes) {
            let v = g.mk(Node::Var(v));
            ranges.push((g.compare(Cmp::Lt, v, n), true));
        }
        // The loops that read the array do not know the carried values of a step.
        if index.iter().chain(guards.iter().map(|c| &c.0)).any(|&t| g.is_open(t)) {
            return None;
        }
        ranges.iter().chain(&guards).for_each(|&(c, value)| self.facts.assume(g, c, value));
        let src = self.is_kept(g, src, &index, &guards)?;
        let vars = self.levels.iter().map(|l| l.step).chain(own).collect();
        let sizes = self.levels.iter().map(|l| l.scan.count).chain(sizes).collect();
        Some(RowRead { src, vars, sizes, index, guards })
    }

    /// The array after all loops, if it still has the element of the state `src` at this index.
    fn is_kept(&mut self, g: &mut Graph, src: Term, index: &[Term], known: &[Guard]) -> Option<Term> {
        let mut state = src;
        let (mut level, mut carry) = self.carried_array(g, state)?;
        loop {
            let (own, next) = (self.levels[level].carried[carry], self.levels[level].results[carry]);
            // Writes later in this step.
            let mut all = Vec::new();
            if writes(g, next, (state, own), known, &mut all)? {
                writes(g, state, (own, own), &[], &mut all)?;
            }
            // Writes in the steps after it.
            let later = Level::open(g, self.levels[level].of)?;
            let (now, then) = (self.levels[level].step(g), later.step(g));
            let order = if later.scan.reverse { [then, now] } else { [now, then] };
            let after = [g.compare(Cmp::Lt, order[0], order[1]), g.compare(Cmp::Lt, then, later.scan.count)];
            let first = all.len();
            writes(g, later.results[carry], (later.carried[carry], later.carried[carry]), &[], &mut all)?;
            all[first..].iter_mut().for_each(|w| w.known.extend(after.map(|c| (c, true))));
            if !all.iter().all(|w| self.indices_differ(g, index, w)) {
                return None;
            }
            state = g.proj(self.levels[level].of, carry);
            let Some(around) = level.checked_sub(1) else { return Some(state) };
            (level, carry) = self.carried_array(g, state).filter(|begin| begin.0 == around)?;
        }
    }

    /// The carried array whose state this is: the index of the loop, and of the array in it.
    fn carried_array(&self, g: &Graph, state: Term) -> Option<(usize, usize)> {
        let (mut found, mut stack, mut seen) = (None, vec![state], Vec::new());
        while let Some(t) = stack.pop() {
            if seen.contains(&t) {
                continue;
            }
            if seen.len() > MAX_STATES {
                return None;
            }
            seen.push(t);
            match *g.node(t) {
                Node::Param(..) => {
                    let of = |l: &Level| l.carried.iter().position(|&c| c == t);
                    let at = self.levels.iter().enumerate().find_map(|(n, l)| of(l).map(|k| (n, k)))?;
                    if found.replace(at).is_some_and(|before| before != at) {
                        return None;
                    }
                }
                Node::Scatter { dst, .. } => stack.push(dst),
                Node::Cond { then, other, .. } => stack.extend([then, other]),
                Node::Proj(of, k) => stack.push(begins_with(g, of, k as usize)?),
                _ => return None,
            }
        }
        found
    }

    /// Whether an index of the read differs from that of the write.
    fn indices_differ(&mut self, g: &mut Graph, index: &[Term], write: &Write) -> bool {
        let mark = self.facts.mark();
        write.known.iter().for_each(|&(c, value)| self.facts.assume(g, c, value));
        let mut below = |a: Term, b: Term| {
            let (a, b) = (self.facts.linear(g, a), self.facts.linear(g, b));
            let goal = b.combine(1, &a, -1).and_then(|l| l.combine(1, &Linear::constant(1), -1));
            goal.is_some_and(|goal| self.facts.prove(g, &goal))
        };
        let mut differ = index.iter().zip(&write.index).any(|(&a, &b)| below(a, b) || below(b, a));
        if let (false, &[a], &[b]) = (differ, index, &write.index[..]) {
            differ = positions_differ(&mut self.facts, g, (a, b), &write.known);
        }
        self.facts.forget(mark);
        differ
    }
}

/// The initial value of result k of a loop, if the loop carries it.
fn begins_with(g: &Graph, of: Term, k: usize) -> Option<Term> {
    match g.node(of) {
        Node::Scan(scan) => scan.init.get(k).copied(),
        _ => None,
    }
}

/// Adds the writes on the chains of updates from the state `from` to the state `last`, where
/// `known` holds. Returns whether a chain of updates leads to `last` from `own`, the state at the
/// start of the step, and not through `from`.
fn writes(g: &mut Graph, last: Term, (from, own): (Term, Term), known: &[Guard], all: &mut Vec<Write>) -> Option<bool> {
    let mut around = false;
    let mut stack: Vec<(Term, Term, Vec<Guard>)> = vec![(last, own, Vec::new())];
    let mut steps = 0;
    while let Some((t, own, path)) = stack.pop() {
        steps += 1;
        if steps > MAX_STATES || all.len() > MAX_WRITES {
            return None;
        }
        if t == from {
            continue;
        }
        if t == own {
            around = true;
            continue;
        }
        let node = g.node_rc(t);
        match &*node {
            Node::Scatter { dst, src, .. } => {
                let (vars, index) = g.open_binder(&node);
                let mut known = path.clone();
                for (v, n) in vars.into_iter().zip(g.shape(*src).to_vec()) {
                    let v = g.mk(Node::Var(v));
                    known.push((g.compare(Cmp::Lt, v, n), true));
                }
                all.push(Write { index, known });
                stack.push((*dst, own, path));
            }
            &Node::Cond { cond, then, other } => {
                let decided = decided(g, cond, known, MAX_NESTING);
                for (arm, value) in [(then, true), (other, false)] {
                    if decided.is_none_or(|d| d == value) {
                        let mut path = path.clone();
                        path.push((cond, value));
                        stack.push((arm, own, path));
                    }
                }
            }
            &Node::Proj(of, k) => {
                let (begin, level) = (begins_with(g, of, k as usize)?, Level::open(g, of)?);
                let (i, inside) = (level.step(g), level.carried[k as usize]);
                let first = all.len();
                writes(g, level.results[k as usize], (inside, inside), &[], all)?;
                let step = g.compare(Cmp::Lt, i, level.scan.count);
                all[first..].iter_mut().for_each(|w| w.known.extend(path.iter().copied().chain([(step, true)])));
                stack.push((begin, own, path));
            }
            _ => return None,
        }
    }
    Some(around)
}

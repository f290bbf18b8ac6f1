//! Finds which columns of a Jacobian may differ from zero in each row: for each element of the
//! result, ranges of elements of the parameter, as terms over the index of the row. An index is
//! pushed from the result towards the parameter, as in `passes::element`, and is a column when it
//! reaches the parameter. Under a sum over a variable, a column that only grows or only shrinks
//! with the variable becomes a range. A term under a condition has no columns where the condition
//! is false, unless the condition depends on the parameter's elements. Where nothing is known, a
//! row has all columns.
//!
//! This module must never leave out a column whose derivative may differ from zero.

mod solve;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::modes::unit_vectors::batched;
use crate::passes::element::ElementAt;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Scan, Term, Type, Var};
use ad_ir::prim::structural::ElementRead;
use ad_ir::prim::{Cmp, IntOp, Prim};
use solve::{Case, Slope, slope, solved};

/// The maximum number of terms into which an index is pushed.
const MAX_READS: usize = 4096;

/// A row with more ranges has all columns.
const MAX_RANGES: usize = 24;

/// The maximum number of elements of a sum that has a range for each element.
const MAX_SUMMANDS: i128 = 16;

/// Columns from `first` to before `end`, where the condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ColumnRange {
    first: Term,
    end: Term,
    under: Option<Term>,
}

type Ranges = Rc<[ColumnRange]>;

/// For each range the arrays of its first columns and of its ends, over the rows. A range is empty
/// if its end is not greater than its first column. `input` and `result` have one axis.
pub fn ranges(g: &mut Graph, input: Term, result: Term) -> Vec<[Term; 2]> {
    let row = g.fresh();
    let at = g.mk(Node::Var(row));
    let root = (result, vec![at]);
    let all = g.shape(input)[0];
    let mut reached = Reached::default();
    reached.extend(g, &[result], &[input]);
    let mut reads =
        PatternReads { g, input, all, reached, carried: HashMap::new(), done: HashMap::new(), steps: HashMap::new() };
    on_demand(&mut reads, [root.clone()]);
    let found = Rc::clone(&reads.done[&root]);
    let none = g.lit_usize(0);
    let ends = |g: &mut Graph, r: &ColumnRange| {
        let end = r.under.map_or(r.end, |under| g.cond(under, r.end, none));
        batched(g, &[row], result, &[r.first, end])
    };
    let mut arrays: Vec<[Term; 2]> = Vec::new();
    for range in found.iter() {
        let ends = ends(g, range);
        arrays.push([ends[0], ends[1]]);
    }
    if arrays.is_empty() {
        let nothing = ColumnRange { first: none, end: none, under: None };
        let ends = ends(g, &nothing);
        arrays.push([ends[0], ends[1]]);
    }
    arrays
}

/// Columns that follow each other, under the same condition, as one range.
fn joined(g: &mut Graph, ranges: Vec<ColumnRange>) -> Vec<ColumnRange> {
    let one = g.lit_usize(1);
    // The end of a longer range may be before its first column, and such a range is empty.
    let (mut single, others): (Vec<ColumnRange>, Vec<ColumnRange>) =
        ranges.into_iter().partition(|r| g.int(IntOp::Add, r.first, one) == r.end);
    let mut k = 0;
    while k < single.len() {
        let own = single[k];
        match single.iter().position(|next| next.first == own.end && next.under == own.under) {
            Some(next) => {
                single[k].end = single[next].end;
                single.remove(next);
                k -= usize::from(next < k);
            }
            None => k += 1,
        }
    }
    single.extend(others);
    single
}

/// The terms that depend on the parameter: those with a derivative, and all.
#[derive(Default)]
struct Reached {
    derived: HashSet<Term>,
    any: HashSet<Term>,
    met: HashSet<Term>,
}

impl Reached {
    /// Examines all terms that the roots depend on. Readers of `given` count as dependent on the
    /// parameter.
    fn extend(&mut self, g: &Graph, roots: &[Term], given: &[Term]) {
        for &t in given {
            self.met.insert(t);
            self.any.insert(t);
            if has_derivative(g, t) {
                self.derived.insert(t);
            }
        }
        let mut all = g.reachable(roots);
        // Children are older than parents.
        all.sort_unstable();
        for t in all.into_iter().filter(|&t| self.met.insert(t)).collect::<Vec<_>>() {
            let (mut derived, mut any) = (false, false);
            g.node(t).for_each_child(|c| {
                derived |= self.derived.contains(&c);
                any |= self.any.contains(&c);
            });
            if derived && has_derivative(g, t) {
                self.derived.insert(t);
            }
            if any {
                self.any.insert(t);
            }
        }
    }
}

fn has_derivative(g: &Graph, t: Term) -> bool {
    !matches!(g.node(t), Node::Prim(Prim::StopGradient, _)) && g.ty(t).as_array().is_none_or(|(elem, _)| elem.is_real())
}

struct PatternReads<'g> {
    g: &'g mut Graph,
    input: Term,
    /// The number of columns.
    all: Term,
    reached: Reached,
    /// For each parameter of an opened loop that stands for a carried value: the index at which the
    /// loop's result is read, if known.
    carried: HashMap<Term, Option<Vec<Term>>>,
    done: HashMap<ElementAt, Ranges>,
    /// The steps of reads that wait for the reads of their operands.
    steps: HashMap<ElementAt, Vec<ReadPart>>,
}

/// A read on which an element depends.
#[derive(Clone)]
struct ReadPart {
    read: ElementAt,
    under: Option<Term>,
    /// The variables in the index, and the number of values of each.
    over: Vec<(Var, Term)>,
}

impl ReadPart {
    fn of(term: Term, at: Vec<Term>) -> Self {
        ReadPart { read: (term, at), under: None, over: Vec::new() }
    }

    /// An element that a primitive with these arguments reads.
    fn of_read(g: &Graph, args: &[Term], read: ElementRead) -> Option<Self> {
        let bound = |(var, count): (Term, Term)| match *g.node(var) {
            Node::Var(var) => Some((var, count)),
            _ => None,
        };
        let over = read.over.into_iter().map(bound).collect::<Option<_>>()?;
        Some(ReadPart { read: (args[read.arg], read.at), under: read.under, over })
    }
}

impl Memoised for PatternReads<'_> {
    type Key = ElementAt;
    type New = Ranges;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<ElementAt, Ranges>) {
        (self.g, &mut self.done)
    }

    fn made(&mut self, read: &ElementAt) -> Ranges {
        let parts = self.steps.remove(read).unwrap_or_default();
        let mut found: Vec<ColumnRange> = Vec::new();
        for part in parts {
            let mut ranges = self.done[&part.read].to_vec();
            if let Some(under) = part.under {
                for range in &mut ranges {
                    range.under = Some(range.under.map_or(under, |also| self.g.and(under, also)));
                }
            }
            for &(var, count) in &part.over {
                ranges = ranges.into_iter().flat_map(|r| self.over(r, var, count)).collect();
            }
            for range in ranges {
                if !found.contains(&range) {
                    found.push(range);
                }
            }
        }
        if found.len() > MAX_RANGES {
            found = joined(self.g, found);
        }
        if found.len() > MAX_RANGES { self.whole() } else { found.into() }
    }
}

impl OnDemand for PatternReads<'_> {
    fn enter(&mut self, read: &ElementAt, needs: &mut Needs<'_, ElementAt>) -> Option<Ranges> {
        let (t, at) = read;
        if *t == self.input && self.known(at[0]).is_none() {
            return Some(self.whole());
        }
        if *t == self.input {
            let one = self.g.lit_usize(1);
            let end = self.g.int(IntOp::Add, at[0], one);
            return Some([ColumnRange { first: at[0], end, under: None }].into());
        }
        debug_assert!(self.reached.met.contains(t));
        if let Some(own) = self.carried.get(t) {
            // An element that the loop does not write keeps its value from before the loop.
            let kept = own.as_ref() == Some(at) || !self.reached.derived.contains(t);
            return Some(if kept { [].into() } else { self.whole() });
        }
        if !self.reached.derived.contains(t) {
            return Some([].into());
        }
        if self.done.len() + self.steps.len() > MAX_READS {
            return Some(self.whole());
        }
        let Some(mut parts) = self.parts(*t, at) else { return Some(self.whole()) };
        for part in &mut parts {
            part.under = part.under.and_then(|under| self.known(under));
            if part.over.iter().any(|&(_, count)| self.known(count).is_none()) {
                return Some(self.whole());
            }
        }
        needs.extend(parts.iter().map(|part| part.read.clone()));
        self.steps.insert(read.clone(), parts);
        None
    }
}

impl PatternReads<'_> {
    /// All columns.
    fn whole(&mut self) -> Ranges {
        let first = self.g.lit_usize(0);
        [ColumnRange { first, end: self.all, under: None }].into()
    }

    /// The condition or the index, unless it depends on an element of the parameter: the pattern of
    /// a Jacobian must not depend on the point.
    fn known(&self, t: Term) -> Option<Term> {
        let decided = self.g.reachable(&[t]).iter().any(|t| self.reached.any.contains(t));
        (!decided).then_some(t)
    }

    /// The reads on which an element depends. `None` if these are not known.
    fn parts(&mut self, t: Term, at: &[Term]) -> Option<Vec<ReadPart>> {
        let node = self.g.node_rc(t);
        match &*node {
            Node::Prim(prim, args) => self.of_prim(t, prim, args, at),
            Node::Cond { cond, then, other } => Some(self.arms(*cond, [*then, *other], at)),
            Node::Gather { src, vars, index, .. } => {
                let (own, rest) = at.split_at(vars.len());
                let values: Vec<(Var, Term)> = vars.iter().copied().zip(own.iter().copied()).collect();
                let mut inner = self.g.subst_vars_all(index, &values);
                inner.extend(rest);
                Some(vec![ReadPart::of(*src, inner)])
            }
            Node::Scatter { dst, src, vars, index, .. } => {
                let mut parts = vec![ReadPart::of(*dst, at.to_vec())];
                parts.extend(self.scattered(*src, vars, index, at));
                Some(parts)
            }
            Node::Proj(tuple, k) => match self.g.node_rc(*tuple).as_ref() {
                Node::Scan(scan) => self.of_loop(scan, *k as usize, at),
                _ => None,
            },
            _ => None,
        }
    }

    /// The reads of an element of a loop's result: the element of the initial value, and the
    /// elements that each step writes at this index. If a step reads other elements of carried
    /// arrays, the parts are not known.
    fn of_loop(&mut self, scan: &Scan, k: usize, at: &[Term]) -> Option<Vec<ReadPart>> {
        let g = &mut *self.g;
        self.reached.extend(g, &[scan.count], &[]);
        let row = k >= scan.init.len();
        let var = g.fresh();
        let step = if row { at[0] } else { g.mk(Node::Var(var)) };
        let at = if row { &at[1..] } else { at };
        let types: Vec<Type> = scan.init.iter().map(|&t| g.ty(t).clone()).collect();
        let carried: Vec<Term> = types.into_iter().map(|ty| g.placeholder(ty)).collect();
        let row_of = |&xs: &Term| match g.node(xs) {
            Node::Prim(Prim::Iota, _) => step,
            _ => g.index(xs, &[step]),
        };
        let rows: Vec<Term> = scan.xs.iter().map(row_of).collect();
        let arguments: Vec<Term> = carried.iter().chain(&scan.captures).chain(&rows).copied().collect();
        let results = g.instantiate(&scan.body, &arguments);
        self.reached.extend(g, &results, &carried);
        for (j, &t) in carried.iter().enumerate() {
            self.carried.insert(t, (j == k).then(|| at.to_vec()));
        }
        let over = if row { Vec::new() } else { vec![(var, scan.count)] };
        let mut parts = vec![ReadPart { over, ..ReadPart::of(results[k], at.to_vec()) }];
        if !row {
            parts.push(ReadPart::of(scan.init[k], at.to_vec()));
        }
        Some(parts)
    }

    fn arms(&mut self, condition: Term, [then, other]: [Term; 2], at: &[Term]) -> Vec<ReadPart> {
        let otherwise = self.g.not(condition);
        let arm = |term, under| ReadPart { under: Some(under), ..ReadPart::of(term, at.to_vec()) };
        vec![arm(then, condition), arm(other, otherwise)]
    }

    fn of_prim(&mut self, t: Term, prim: &Prim, args: &[Term], at: &[Term]) -> Option<Vec<ReadPart>> {
        let g = &mut *self.g;
        Some(match prim {
            Prim::Select => {
                let mask = if at.is_empty() { args[0] } else { g.index(args[0], at) };
                self.arms(mask, [args[1], args[2]], at)
            }
            Prim::RelaxedExact => vec![ReadPart::of(args[0], at.to_vec())],
            prim if prim.is_elementwise() => args.iter().map(|&arg| ReadPart::of(arg, at.to_vec())).collect(),
            _ => {
                let shape = g.shape(t).to_vec();
                let reads = prim.structural(|prim| prim.reads(g, args, &shape, at))??;
                reads.into_iter().map(|read| ReadPart::of_read(g, args, read)).collect::<Option<_>>()?
            }
        })
    }

    /// The element that a scatter puts at an index. A variable follows from the index if that can
    /// be solved for it. Otherwise it has all its values.
    fn scattered(&mut self, src: Term, vars: &[Var], index: &[Term], at: &[Term]) -> Vec<ReadPart> {
        let g = &mut *self.g;
        let (own, rest) = at.split_at(index.len());
        let sizes = g.shape(src)[..vars.len()].to_vec();
        // Fresh variables, since those of the scatter are bound in it.
        let fresh: Vec<Var> = vars.iter().map(|_| g.fresh()).collect();
        let renamed: Vec<(Var, Term)> =
            vars.iter().zip(&fresh).map(|(&var, &new)| (var, g.mk(Node::Var(new)))).collect();
        let index = g.subst_vars_all(index, &renamed);
        let mut cases = vec![Case { open: fresh.into_iter().zip(sizes).collect(), index, ..Case::default() }];
        let mut parts = Vec::new();
        while let Some(mut case) = cases.pop() {
            if case.solve(g, own) {
                cases.push(case);
            } else if let Some(split) = case.split(g) {
                cases.extend(split);
            } else {
                let mut there = g.lit_bool(true);
                for &condition in &case.conditions {
                    there = g.and(there, condition);
                }
                for (&index, &at) in case.index.iter().zip(own) {
                    if index != at && case.open.iter().all(|o| !g.mentions(index, o.0)) {
                        let same = g.compare(Cmp::Eq, index, at);
                        there = g.and(there, same);
                    }
                }
                let inner = renamed.iter().map(|&(_, var)| g.subst_vars(var, &case.values));
                let inner = inner.collect::<Vec<_>>().into_iter().chain(rest.iter().copied()).collect();
                let under = (g.bool_value(there) != Some(true)).then_some(there);
                parts.push(ReadPart { read: (src, inner), under, over: case.open });
            }
        }
        parts
    }

    /// Ranges that cover `range` for all values of `var` below `count`.
    fn over(&mut self, range: ColumnRange, var: Var, count: Term) -> Vec<ColumnRange> {
        let g = &mut *self.g;
        let mentions = |t: Term| g.mentions(t, var);
        if !mentions(range.first) && !mentions(range.end) && !range.under.is_some_and(mentions) {
            return vec![range];
        }
        if let Some(solved) = solved(g, range, var, count) {
            return vec![solved];
        }
        let mentions = |t: Term| g.mentions(t, var);
        let under = range.under.filter(|&under| !mentions(under));
        let last = {
            let one = g.lit_usize(1);
            g.int(IntOp::Sub, count, one)
        };
        let (none, slopes) = (g.lit_usize(0), [slope(g, range.first, var), slope(g, range.end, var)]);
        let grows = slopes.iter().all(|s| s.is_some_and(Slope::grows));
        let shrinks = slopes.iter().all(|s| s.is_some_and(Slope::shrinks));
        let dense = slopes == [Some(Slope::Same); 2] || slopes == [Some(Slope::One); 2];
        if !dense && let Some(count) = g.int_value(count).filter(|n| *n <= MAX_SUMMANDS) {
            let each = (0..usize::try_from(count).unwrap_or(0)).map(|k| {
                let value = [(var, g.lit_usize(k))];
                ColumnRange {
                    first: g.subst_vars(range.first, &value),
                    end: g.subst_vars(range.end, &value),
                    under: range.under.map(|under| g.subst_vars(under, &value)),
                }
            });
            return each.collect();
        }
        let (low, high) = if grows { (none, last) } else { (last, none) };
        if !grows && !shrinks {
            let all = self.whole();
            return all.iter().map(|all| ColumnRange { under, ..*all }).collect();
        }
        let first = g.subst_vars(range.first, &[(var, low)]);
        let end = g.subst_vars(range.end, &[(var, high)]);
        vec![ColumnRange { first, end, under }]
    }
}

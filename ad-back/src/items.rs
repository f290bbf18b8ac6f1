//! The items of a nest: the values that it stores or accumulates, over a graph of scalar
//! operations. This module does not decide which terms a nest computes.

use super::demand::{IndexTest, limits_of_elements, limits_of_summed};
use super::kernel::{Id, Kernel, Op};
use super::plan::{Plan, domain_of};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Elem, Graph, Lit, Node, Put, RealTy, Term};
use ad_ir::prim::{Cmp, Prim, Reduce};
use ad_ir::sorted::SortedSet;

/// The element type whose sums need more precision than it has.
pub(super) const SINGLE_PRECISION: Elem = Elem::Real(RealTy::F32);

/// How the values of an item are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fold {
    Sum,
    /// A sum that starts at -0, or at 0, and adds one element after the other.
    InOrder,
    All,
    Any,
}

/// The use of a value at each index of a nest.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Stores the value; `None` if only other items use it. Nothing reads the element where one of
    /// the conditions `read_under` is false.
    Store { out: Option<Term>, value: Id, read_under: Box<[Id]> },
    /// Accumulates the value over the marked loops. With `added` it is added to an existing value,
    /// which is at the index given by the other loops, or at the index `at` of `out` (a value out
    /// of range is dropped).
    /// Nothing reads a sum where one of the conditions `read_under` is false.
    Fold {
        out: Term,
        fold: Fold,
        reduced: Vec<bool>,
        value: Id,
        added: bool,
        at: Option<Vec<Id>>,
        read_under: Box<[Id]>,
    },
    /// Adds (or puts) the value at an index of `out`, an array of these sizes; a value out of range
    /// is dropped.
    Scatter { out: Term, put: Put, ix: Vec<Id>, sizes: Vec<Term>, value: Id },
    /// Adds (or puts) the value at a shifted index of `out`. The whole block is in range, except
    /// for the rows that are `tested`. If the block is added to zeros of new memory, the value is
    /// written there.
    Block { out: Term, put: Put, ix: Vec<Id>, value: Id, tested: bool, onto_zeros: bool },
}

/// The terms of a nest whose elements it has computed at its own indices.
pub(super) fn members(g: &Graph, terms: &[Term]) -> Vec<Term> {
    let stored = |t: Term| domain_of(g, t) == g.shape(t);
    terms.iter().copied().filter(|&t| stored(t) && !is_fold(g, t)).collect()
}

fn is_fold(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..), _))
}

/// The items of the nest of this statement, and the terms that it writes or returns. The domain
/// comes with the index of each of its axes (`identity`). In the items, loops are numbered like the
/// axes of the domain.
pub(super) fn items(
    g: &Graph,
    plan: &Plan,
    kernel: &mut Kernel<'_>,
    (domain, identity): (&[Term], &[Id]),
    terms: &[Term],
    step: usize,
) -> Result<(Vec<Item>, Vec<Term>), String> {
    let (mut items, mut outs) = (Vec::new(), Vec::new());
    for &t in terms {
        match g.node(t) {
            Node::Prim(Prim::Sum(axes), args) => {
                let is_reduced = |k: usize| axes.iter().any(|&a| usize::from(a) == k);
                let reduced: Vec<bool> = (0..domain.len()).map(is_reduced).collect();
                let kept = identity.iter().zip(&reduced).filter(|(_, reduced)| !**reduced);
                let kept: Vec<Id> = kept.map(|(&ix, _)| ix).collect();
                let value = kernel.element(args[0], identity, &[])?;
                let read_under = conditions(kernel, plan.read_under.get(&t), &kept)?;
                let limits = conditions(kernel, Some(&limits_of_summed(g, &plan.exact, t)), identity)?;
                let mut value = under_conditions(kernel, read_under.iter().chain(&limits), value);
                // The sum is over nearly the whole domain.
                for (k, (&n, &size)) in domain_of(g, t).iter().zip(domain).enumerate() {
                    if n != size {
                        let n = kernel.element(n, &[], &[])?;
                        let inside = kernel.op(Op::Prim(Prim::Compare(Cmp::Lt), [identity[k], n].into()));
                        let zero = kernel.zero(value);
                        value = kernel.choose(inside, value, zero);
                    }
                }
                items.push(Item::Fold { out: t, fold: Fold::Sum, reduced, value, added: false, at: None, read_under });
                outs.push(t);
            }
            Node::Prim(Prim::Reduce(op, rank), args) => {
                let kept = domain.len() - usize::from(*rank);
                let reduced = (0..domain.len()).map(|k| k >= kept).collect();
                let value = kernel.element(args[0], identity, &[])?;
                let fold = match op {
                    Reduce::All => Fold::All,
                    Reduce::InOrder | Reduce::FromZero => Fold::InOrder,
                    _ => Fold::Any,
                };
                items.push(Item::Fold {
                    out: t,
                    fold,
                    reduced,
                    value,
                    added: false,
                    at: None,
                    read_under: Box::new([]),
                });
                outs.push(t);
            }
            _ => {
                let value = kernel.definition(t, identity)?;
                let read_under = conditions(kernel, plan.read_under.get(&t), identity)?;
                let value = under_conditions(kernel, &read_under, value);
                let elsewhere = plan.readers.get(&t).is_some_and(|r| r.iter().any(|&s| s != step));
                let kept = elsewhere || plan.results.contains(&t);
                items.push(Item::Store { out: kept.then_some(t), value, read_under });
                if kept {
                    outs.push(t);
                }
            }
        }
    }
    Ok((items, outs))
}

/// The conditions that tests of an array are at this index.
fn conditions(
    kernel: &mut Kernel<'_>,
    tests: Option<&SortedSet<IndexTest>>,
    index: &[Id],
) -> Result<Box<[Id]>, String> {
    let mut found = Vec::new();
    for test in tests.into_iter().flatten() {
        let index: Vec<Id> = test.axes.iter().map(|&k| index[usize::from(k)]).collect();
        found.push(kernel.element(test.test, &index, &[])?);
    }
    Ok(found.into())
}

/// A value where conditions hold, and zero elsewhere: nothing reads it there, or it is zero there.
/// The condition that the fewest loops decide is tested first, so these loops may end where it does
/// not hold.
fn under_conditions<'c>(kernel: &mut Kernel<'_>, conditions: impl IntoIterator<Item = &'c Id>, value: Id) -> Id {
    let mut all: SortedSet<Id> = conditions.into_iter().copied().collect();
    if all.is_empty() {
        return value;
    }
    let (mut value, zero) = (value, kernel.zero(value));
    while let Op::If(condition, then, other) = kernel.node(value).op
        && other == zero
    {
        all.insert(condition);
        value = then;
    }
    let mut all: Vec<Id> = all.into_iter().collect();
    all.sort_by_key(|&c| std::cmp::Reverse(kernel.node(c).level));
    all.into_iter().fold(value, |value, c| kernel.choose(c, value, zero))
}

/// The item of the nest of a scatter, over the elements of the scattered array. The result has the
/// memory of `out`.
pub(super) fn scatter_item(g: &Graph, kernel: &mut Kernel<'_>, (t, out): (Term, Term)) -> Result<Item, String> {
    let Node::Scatter { put, src, vars, index, .. } = g.node(t) else { return Err("no scatter".into()) };
    let identity = kernel.identity().to_vec();
    let bound: Vec<_> = vars.iter().copied().zip(identity.iter().copied()).collect();
    let mut ix: Vec<Id> = index.iter().map(|&i| kernel.element(i, &[], &bound)).collect::<Result<_, _>>()?;
    ix.extend(&identity[vars.len()..]);
    let value = kernel.element(*src, &identity, &[])?;
    let limits = limits_of_elements(g, *src);
    let limits = conditions(kernel, Some(&limits), &identity)?;
    let value = under_conditions(kernel, &limits, value);
    Ok(Item::Scatter { out, put: *put, ix, sizes: g.shape(out).to_vec(), value })
}

/// The condition under which the innermost loop has an effect. It must not depend on the innermost
/// index, and no item may add anything where it is false. The items become those of the case in
/// which it holds.
pub(super) fn masked(g: &Graph, kernel: &Kernel<'_>, items: &mut [Item]) -> Option<Id> {
    let mut mask = None;
    for item in items.iter() {
        let (out, value, read_under) = match item {
            // A value that only the nest itself reads has no effect of its own.
            Item::Store { out: None, .. } => continue,
            Item::Store { out: Some(out), value, read_under } => (out, value, Some(read_under)),
            Item::Fold { out, fold: Fold::Sum, value, .. }
            | Item::Scatter { out, put: Put::Add, value, .. }
            | Item::Block { out, put: Put::Add, value, .. } => (out, value, None),
            _ => return None,
        };
        let Op::If(c, _, zero) = kernel.node(*value).op else { return None };
        let adds_nothing = matches!(kernel.node(zero).op, Op::Lit(Lit::Real(_, bits)) if f64::from_bits(bits) == 0.0);
        let nothing = read_under.map_or(adds_nothing, |conditions| conditions.contains(&c));
        let outer = (1..kernel.loops.len()).contains(&usize::from(kernel.node(c).level));
        if !nothing || !outer || g.rank(*out) == 0 || mask.is_some_and(|m| m != c) {
            return None;
        }
        mask = Some(c);
    }
    let about = items.iter().find_map(|i| match i {
        Item::Fold { out, .. } | Item::Scatter { out, .. } | Item::Block { out, .. } => Some(out.index()),
        _ => None,
    })?;
    let under = || "to nothing where a condition on the outer indices is false".into();
    if mask.is_none() || !choose(Kind::LoopBounds, (about, 1), true, under) {
        return None;
    }
    for item in items {
        let (Item::Fold { value, .. }
        | Item::Scatter { value, .. }
        | Item::Block { value, .. }
        | Item::Store { value, .. }) = item;
        // A condition may stand there twice: of what is summed, and of what is read.
        while let Op::If(c, a, _) = kernel.node(*value).op
            && Some(c) == mask
        {
            *value = a;
        }
    }
    mask
}

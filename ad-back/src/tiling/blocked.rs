//! Nests in the form that they have in a block of items: which loops they have, in which order, and
//! which rows of items they read. `None` is for a nest that reads the number of items or the index
//! of one where the block has no term for them (`square`), or a row of another item in any other
//! way than from a whole array. This module must never decide whether tiling pays.

use ad_ir::sorted::SortedMap;
use std::collections::HashMap;

use super::super::items::{Fold, Item, items, members, scatter_item};
use super::super::kernel::{Id, Kernel, Op, operands};
use super::super::plan::{ItemAxis, Plan};
use super::super::split::prefix;
use super::layout::{arrange, leads};
use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::prim::IntOp;

/// A nest over items with its loops in the order that a block has: items last.
pub(in super::super) struct Blocked<'a> {
    pub(in super::super) kernel: Kernel<'a>,
    pub(in super::super) items: Vec<Item>,
    pub(in super::super) outs: Vec<Term>,
    pub(in super::super) reads: Reads,
}

/// The arrays that a nest of a block reads.
#[derive(Clone, Default)]
pub(in super::super) struct Reads {
    /// Arrays from outside whose leading rows the items read; they may have more rows.
    pub(in super::super) leading: Vec<Term>,
    /// Arrays whose items are not their first axis: only a block has them.
    pub(super) inner: Vec<Term>,
    /// Arrays of which the items read their own rows.
    pub(in super::super) rows: Vec<Term>,
    /// Arrays with the number of items as a size that are read whole, for each item.
    pub(in super::super) whole: Vec<Term>,
    /// Of the arrays that are both, the rows of a block's items: the term that stands for them, and
    /// the array.
    pub(in super::super) parts: Vec<(Term, Term)>,
}

/// The nest of a scatter in a block.
pub(in super::super) struct ScatteredItems<'a> {
    pub(in super::super) kernel: Kernel<'a>,
    pub(in super::super) items: Vec<Item>,
    /// As in [`Reads`].
    pub(in super::super) leading: Vec<Term>,
}

/// A nest in the form that it has in a block; `None` if it cannot be tiled.
pub(in super::super) fn blocked<'a>(
    g: &'a Graph,
    plan: &'a Plan,
    hints: &'a HashMap<Term, String>,
    (n, to): (Term, ItemAxis),
    (domain, terms): (&[Term], &[Term]),
    (step, fused_scatters): (usize, &SortedMap<Term, Term>),
) -> Option<Blocked<'a>> {
    let square = plan.squares.contains_key(&n);
    let axis = plan.axis_of_items(domain, n)?;
    let first = to == ItemAxis::First;
    if (first && (axis > 0 || square)) || terms.iter().any(|t| plan.stencils.contains(t)) {
        return None;
    }
    let mut loops = domain.to_vec();
    arrange(to, &mut loops, axis);
    let mut kernel = Kernel::new(g, plan, hints, loops, members(g, terms));
    let natural = kernel.identity().to_vec();
    // The loop of each axis of the domain.
    let mut axes: Vec<usize> = (0..natural.len()).collect();
    arrange(to, &mut axes, axis);
    let mut identity = natural.clone();
    axes.iter().zip(&natural).for_each(|(&axis, &own)| identity[axis] = own);
    let item = identity[axis];
    let number = number_of_item(&mut kernel, plan, n, item);
    kernel.set_identity(identity.clone());
    let (mut items, mut outs) = items(g, plan, &mut kernel, (domain, &identity), terms, step).ok()?;
    kernel.set_identity(natural.clone());
    for i in &mut items {
        match i {
            Item::Store { out, value, read_under } => {
                *read_under = Box::new([]);
                if out.is_some_and(|t| plan.axis_of_items(g.shape(t), n) != Some(axis)) {
                    return None;
                }
                *value = numbered(*value, item, number)?;
            }
            Item::Fold { out, fold, reduced, value, added, at, read_under } => {
                *read_under = Box::new([]);
                if let Some(&scatter) = fused_scatters.get(out) {
                    if square {
                        return None;
                    }
                    let only_items = reduced.iter().enumerate().all(|(k, r)| *r == (k == axis));
                    *at = Some(scatter_index(g, &mut kernel, scatter, &natural).filter(|_| only_items)?);
                    outs.iter_mut().filter(|t| *t == out).for_each(|t| *t = scatter);
                    *out = scatter;
                }
                let over_items = reduced[axis];
                *value = numbered(*value, item, number)?;
                if over_items && (*fold != Fold::Sum || !g.elem(*out).is_real()) {
                    return None;
                }
                *added = over_items;
                arrange(to, reduced, axis);
            }
            Item::Scatter { .. } | Item::Block { .. } => return None,
        }
    }
    kernel.loops[axes.iter().position(|&a| a == axis)?] = plan.items_of_block(n);
    let reads = read_in_block(g, plan, &mut kernel, (n, to), (item, number))?;
    // In rows that end early, a block would have to begin with zeros.
    if first && (!reads.inner.is_empty() || prefix(&kernel, &items, true).is_some()) {
        return None;
    }
    Some(Blocked { kernel, items, outs, reads })
}

/// An update of one array over items by another: to some elements of each item's row, values of the
/// same item are added. `None` if the nest of the scatter cannot be done block by block.
pub(in super::super) fn updated<'a>(
    g: &'a Graph,
    plan: &'a Plan,
    hints: &'a HashMap<Term, String>,
    n: Term,
    t: Term,
) -> Option<Blocked<'a>> {
    let Node::Scatter { put: Put::Add, dst, src, vars, index } = g.node(t) else { return None };
    let leads = |t: Term| plan.axis_of_items(g.shape(t), n) == Some(0);
    let own_row = matches!(g.node(*index.first()?), Node::Var(v) if Some(v) == vars.first());
    if !own_row || !leads(*dst) || !leads(*src) {
        return None;
    }
    let to = ItemAxis::Last;
    let mut loops = g.shape(*src).to_vec();
    arrange(to, &mut loops, 0);
    let mut kernel = Kernel::new(g, plan, hints, loops, []);
    let natural = kernel.identity().to_vec();
    let mut identity = natural.clone();
    identity.rotate_right(1);
    let item = identity[0];
    let number = number_of_item(&mut kernel, plan, n, item);
    kernel.set_identity(identity);
    let mut made = scatter_item(g, &mut kernel, (t, t)).ok()?;
    kernel.set_identity(natural);
    let Item::Scatter { ix, sizes, value, .. } = &mut made else { return None };
    for id in ix[1..].iter_mut().chain([value]) {
        *id = numbered(*id, item, number)?;
    }
    sizes[0] = plan.items_of_block(n);
    arrange(to, ix, 0);
    arrange(to, sizes, 0);
    *kernel.loops.last_mut()? = plan.items_of_block(n);
    let reads = read_in_block(g, plan, &mut kernel, (n, to), (item, number))?;
    Some(Blocked { kernel, items: vec![made], outs: vec![t], reads })
}

/// The number of the item among all items, where the item is a number. Only a block of its own
/// terms knows its first item.
fn number_of_item(kernel: &mut Kernel<'_>, plan: &Plan, n: Term, item: Id) -> Option<Id> {
    let square = plan.squares.get(&n)?;
    let first = kernel.op(Op::Scalar(square.first));
    Some(kernel.arith(IntOp::Add, first, item))
}

/// Gives the loads of a kernel the form that they have in a block. `None` if the kernel reads the
/// rows of other items of an array that a block does not have as a whole.
fn read_in_block(
    g: &Graph,
    plan: &Plan,
    kernel: &mut Kernel<'_>,
    (n, to): (Term, ItemAxis),
    (item, number): (Id, Option<Id>),
) -> Option<Reads> {
    let square = plan.squares.get(&n);
    let (mut reads, mut rows) = (Reads::default(), Vec::new());
    for k in 0..kernel.nodes.len() {
        if number == u32::try_from(k).ok() {
            continue;
        }
        match &mut kernel.nodes[k].op {
            Op::Scalar(t) if *t == n && square.is_none() => return None,
            Op::Load { buf, sizes, ix } => {
                let shape = g.shape(*buf);
                let of_items = plan.axis_of_items(shape, n);
                let own = |&at: &usize| of_items == Some(at) || (at == 0 && !shape.contains(&n));
                let at = ix.iter().position(|i| *i == item).filter(own).filter(|_| **sizes == *shape);
                for (axis, id) in ix.iter_mut().enumerate() {
                    if Some(axis) != at {
                        *id = numbered(*id, item, number)?;
                    }
                }
                if let Some(at) = at {
                    if shape[at] != n {
                        reads.leading.push(*buf);
                    }
                    sizes[at] = plan.items_of_block(n);
                    rows.push((*buf, k));
                    if at > 0 {
                        reads.inner.push(*buf);
                    }
                    arrange(to, sizes, at);
                    arrange(to, ix, at);
                } else if sizes.contains(&n) || shape.contains(&n) {
                    square?;
                    reads.whole.push(*buf);
                }
            }
            Op::Prim(_, args) => {
                for id in args {
                    *id = numbered(*id, item, number)?;
                }
            }
            Op::If(c, a, b) => {
                for id in [c, a, b] {
                    *id = numbered(*id, item, number)?;
                }
            }
            Op::Scalar(_) | Op::Lit(_) | Op::Var(_) => {}
        }
    }
    for (array, node) in &mut rows {
        if reads.whole.contains(array)
            && let Op::Load { buf, .. } = &mut kernel.nodes[*node].op
        {
            let part = *square?.rows.get(array)?;
            if !reads.parts.contains(&(part, *array)) {
                reads.parts.push((part, *array));
            }
            (*buf, *array) = (part, part);
        }
    }
    reads.rows = rows.into_iter().map(|(array, _)| array).collect();
    Some(reads)
}

/// A value, or if it is the index of the item: its number among all items, if that is known.
fn numbered(value: Id, item: Id, number: Option<Id>) -> Option<Id> {
    if value == item { number } else { Some(value) }
}

/// The nest of scatters of the values of items; `None` if it cannot be done block by block. Its
/// loop over items is the outer one, as without tiling, and it reads rows of items from outside in
/// place.
pub(in super::super) fn scattered<'a>(
    g: &'a Graph,
    plan: &'a Plan,
    hints: &'a HashMap<Term, String>,
    n: Term,
    all: &[Term],
) -> Option<ScatteredItems<'a>> {
    let &out = all.last()?;
    let Node::Scatter { put: Put::Add, src, vars, .. } = g.node(out) else { return None };
    if !leads(g, *src, n) || vars.is_empty() || g.shape(out).contains(&n) {
        return None;
    }
    let mut kernel = Kernel::new(g, plan, hints, g.shape(*src).to_vec(), []);
    let item = *kernel.identity().first()?;
    let mut items = Vec::new();
    for &t in all {
        let made = scatter_item(g, &mut kernel, (t, out)).ok()?;
        match &made {
            Item::Scatter { ix, value, .. } if *value != item && !ix.contains(&item) => items.push(made),
            _ => return None,
        }
    }
    let mut leading = Vec::new();
    let mut fit = |op: &Op| match op {
        Op::Scalar(t) => *t != n,
        Op::Load { buf, sizes, ix } if ix.first() == Some(&item) && **sizes == *g.shape(*buf) => {
            let over = leads(g, *buf, n);
            if !over && !leading.contains(buf) {
                leading.push(*buf);
            }
            !ix[1..].contains(&item) && (over || !sizes.contains(&n))
        }
        Op::Load { buf, sizes, ix } => !ix.contains(&item) && !sizes.contains(&n) && !g.shape(*buf).contains(&n),
        op => !operands(op).contains(&item),
    };
    let fits = kernel.nodes.iter().all(|node| fit(&node.op));
    fits.then_some(ScatteredItems { kernel, items, leading })
}

/// The index at which a scatter puts an element, given the loops over the scattered array.
fn scatter_index(g: &Graph, kernel: &mut Kernel<'_>, scatter: Term, loops: &[Id]) -> Option<Vec<Id>> {
    let Node::Scatter { src, vars, index, .. } = g.node(scatter) else { return None };
    let own = &loops[..g.rank(*src)];
    let bound: Vec<_> = vars.iter().copied().zip(own.iter().copied()).collect();
    let mut at: Vec<Id> = index.iter().map(|&i| kernel.element(i, &[], &bound)).collect::<Result<_, _>>().ok()?;
    at.extend(&own[vars.len()..]);
    Some(at)
}

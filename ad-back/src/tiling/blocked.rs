//! Nests in the form that they have in a block of items: which loops they have, in which order, and
//! which rows of items they read. `None` is for a nest that reads another item's row, the number of
//! items, or the index of one. This module must never decide whether tiling pays.

use ad_ir::sorted::SortedMap;
use std::collections::HashMap;

use super::super::items::{Fold, Item, items, members, scatter_item};
use super::super::kernel::{Id, Kernel, Op, operands};
use super::super::plan::{ItemAxis, Plan};
use super::super::split::prefix;
use super::layout::{arrange, axis_of, is_over, leads};
use ad_ir::ir::{Graph, Node, Put, Term};

/// A nest over items with its loops in the order that a block has: items last.
pub(in super::super) struct Blocked<'a> {
    pub(in super::super) kernel: Kernel<'a>,
    pub(in super::super) items: Vec<Item>,
    pub(in super::super) outs: Vec<Term>,
    /// Arrays from outside whose leading rows the items read; they may have more rows.
    pub(in super::super) leading: Vec<Term>,
    /// Arrays whose items are not their first axis: only a block has them.
    pub(super) inner: Vec<Term>,
}

/// The nest of a scatter in a block.
pub(in super::super) struct ScatteredItems<'a> {
    pub(in super::super) kernel: Kernel<'a>,
    pub(in super::super) items: Vec<Item>,
    /// As in [`Blocked`].
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
    let axis = axis_of(domain, n)?;
    let first = to == ItemAxis::First;
    if (first && axis > 0) || terms.iter().any(|t| plan.stencils.contains(t)) {
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
    kernel.set_identity(identity.clone());
    let (mut items, mut outs) = items(g, plan, &mut kernel, (domain, &identity), terms, step).ok()?;
    kernel.set_identity(natural.clone());
    for i in &mut items {
        match i {
            Item::Store { out, value } => {
                if *value == item || out.is_some_and(|t| !is_over(g, t, n)) {
                    return None;
                }
            }
            Item::Fold { out, fold, reduced, value, added, at } => {
                if let Some(&scatter) = fused_scatters.get(out) {
                    let only_items = reduced.iter().enumerate().all(|(k, r)| *r == (k == axis));
                    *at = Some(scatter_index(g, &mut kernel, scatter, &natural).filter(|_| only_items)?);
                    outs.iter_mut().filter(|t| *t == out).for_each(|t| *t = scatter);
                    *out = scatter;
                }
                let over_items = reduced[axis];
                if *value == item || (over_items && (*fold != Fold::Sum || !g.elem(*out).is_real())) {
                    return None;
                }
                *added = over_items;
                arrange(to, reduced, axis);
            }
            Item::Scatter { .. } | Item::Block { .. } => return None,
        }
    }
    let (mut leading, mut inner) = (Vec::new(), Vec::new());
    for k in 0..kernel.nodes.len() {
        let read = operands(&kernel.nodes[k].op);
        match &mut kernel.nodes[k].op {
            Op::Scalar(t) if *t == n => return None,
            Op::Load { buf, sizes, ix } => {
                let shape = g.shape(*buf);
                let at = ix.iter().position(|i| *i == item).filter(|&at| !ix[at + 1..].contains(&item));
                let own = |&at: &usize| axis_of(shape, n) == Some(at) || (at == 0 && !shape.contains(&n));
                if let Some(at) = at.filter(own).filter(|_| **sizes == *shape) {
                    if shape[at] != n {
                        leading.push(*buf);
                        sizes[at] = n;
                    }
                    if at > 0 {
                        inner.push(*buf);
                    }
                    arrange(to, sizes, at);
                    arrange(to, ix, at);
                } else if read.contains(&item) || sizes.contains(&n) || g.shape(*buf).contains(&n) {
                    return None;
                }
            }
            _ if read.contains(&item) => return None,
            _ => {}
        }
    }
    // In rows that end early, a block would have to begin with zeros.
    if first && (!inner.is_empty() || prefix(&kernel, &items, true).is_some()) {
        return None;
    }
    Some(Blocked { kernel, items, outs, leading, inner })
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

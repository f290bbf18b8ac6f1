//! Arrays in a loop or recurrence whose memory order changes. The loop carries the index of the
//! current order. The possible orders are found over several runs of the front end, as the types of
//! literals are (`carry`). An array that may not be contiguous has an unknown memory order.
//!
//! Invariant: an array whose order does not change carries nothing.

use std::ops::Range;
use std::rc::Rc;

use crate::lower::Lower;
use crate::translation::inference::{InferenceKey, Inferred};
use crate::value::Lowered;
use ad_ir::diag::Poison;
use ad_ir::ir::Term;
use ad_ir::memory_order::{AxisOrder, HasLayouts, MemoryOrder};

/// A carried array whose memory order changes.
#[derive(Clone)]
pub(crate) struct Ordered {
    /// The index of the array in the carried values.
    array: usize,
    /// The index of its order number in the carried values.
    number: usize,
    /// The memory orders that the numbers encode. If there are none, the memory order is unknown.
    orders: Rc<[AxisOrder]>,
}

/// The key of the memory order of a carried leaf.
fn key_of(key: &InferenceKey, name: &str, leaf: usize) -> InferenceKey {
    key.for_variable(&format!("%{name}.{leaf}"))
}

impl Lower<'_> {
    /// Carries an order number for each leaf whose order changes, as an earlier run has found.
    pub(crate) fn carry_orders(
        &mut self,
        (key, name): (&InferenceKey, &str),
        init: &mut Vec<Term>,
        leaves: Range<usize>,
    ) -> Lowered<Rc<[Ordered]>> {
        let mut all = Vec::new();
        for (leaf, array) in leaves.enumerate() {
            let key = key_of(key, name, leaf);
            let Some(Inferred::Orders(orders)) = self.inference.known(&key).cloned() else { continue };
            let number = init.len();
            if !orders.is_empty() {
                let first = self.order_number(init[array], &orders, &key)?;
                init.push(first);
            }
            all.push(Ordered { array, number, orders });
        }
        Ok(all.into())
    }

    /// Notes the carried orders as the orders of the placeholders. Called at the start of a step
    /// and after the loop.
    pub(crate) fn in_carried_orders(&mut self, carried: &[Ordered], now: &[Term]) {
        for c in carried {
            let array = now[c.array];
            let order = match c.orders.is_empty() {
                true => MemoryOrder::unknown(),
                false => self.layouts().numbered(array, now[c.number], &c.orders),
            };
            self.layouts().note(array, order);
        }
    }

    /// Called at the end of a step, with its next leaves. Carries their orders on, or records that
    /// they change.
    pub(crate) fn carry_orders_on(
        &mut self,
        (key, name): (&InferenceKey, &str),
        carried: &[Ordered],
        (now, first): (&[Term], usize),
        next: &mut Vec<Term>,
        leaves: Range<usize>,
    ) -> Lowered<()> {
        for (leaf, k) in leaves.enumerate() {
            let key = key_of(key, name, leaf);
            if let Some(c) = carried.iter().find(|c| c.array == first + leaf) {
                if !c.orders.is_empty() {
                    let number = self.order_number(next[k], &c.orders, &key)?;
                    next.push(number);
                }
            } else if self.layouts().may_differ(now[first + leaf], next[k]) {
                let orders = [now[first + leaf], next[k]].map(|t| self.layouts().axis_orders(t));
                self.found_orders(&key, orders);
                return Err(Poison);
            }
        }
        Ok(())
    }

    /// Marks the elements of a carried `Vec` as being of unknown memory order, if an earlier run
    /// has found that the loop pushes elements that are not row-major.
    pub(crate) fn in_carried_items(&mut self, (key, name): (&InferenceKey, &str), all: &[Term]) {
        for (leaf, &t) in all.iter().enumerate() {
            if self.inference.is_known(&key_of(key, name, leaf)) {
                self.layouts().note(t, MemoryOrder::unknown());
            }
        }
    }

    /// Detects, at the end of a step, that elements are pushed that are not row-major.
    pub(crate) fn carry_items_on(
        &mut self,
        (key, name): (&InferenceKey, &str),
        now: &[Term],
        next: &[Term],
    ) -> Lowered<()> {
        for (leaf, (&before, &t)) in now.iter().zip(next).enumerate() {
            if self.layouts().is_unknown(t) && !self.layouts().is_unknown(before) {
                self.found_orders(&key_of(key, name, leaf), [None]);
                return Err(Poison);
            }
        }
        Ok(())
    }

    /// The number of an array's memory order. An order that is not in the list is recorded for the
    /// next run.
    fn order_number(&mut self, t: Term, orders: &[AxisOrder], key: &InferenceKey) -> Lowered<Term> {
        let mut number = self.g.lit_usize(0);
        let own = self.layouts().axis_orders(t);
        if own.iter().flatten().any(|(_, order)| !orders.contains(order)) || own.is_none() {
            self.found_orders(key, [own]);
            return Err(Poison);
        }
        for (c, order) in own.into_iter().flatten().rev() {
            let k = orders.iter().position(|o| *o == order).unwrap_or_default();
            let this = self.g.lit_usize(k);
            number = self.layouts().choice(c, this, number);
        }
        Ok(number)
    }

    /// Records memory orders for the next run.
    fn found_orders<const N: usize>(&mut self, key: &InferenceKey, new: [Option<Vec<(Term, AxisOrder)>>; N]) {
        let mut orders = match self.inference.newest(key) {
            Some(Inferred::Orders(orders)) if orders.is_empty() => return,
            Some(Inferred::Orders(orders)) => orders.to_vec(),
            _ => Vec::new(),
        };
        for own in new {
            let Some(own) = own else {
                orders.clear();
                break;
            };
            for (_, order) in own {
                if !orders.contains(&order) {
                    orders.push(order);
                }
            }
        }
        self.inference.extend(key, Inferred::Orders(orders.into()));
    }
}

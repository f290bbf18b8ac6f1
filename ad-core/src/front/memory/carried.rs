//! Arrays that a loop or a recurrence replaces by some of another memory order: which order it is is carried beside them, as a number.
//! The orders are found pass by pass, as the types of literals are (`carry`). What may not be contiguous has an unknown memory order.
//! Must never carry anything of an array that stays as it is.

use std::ops::Range;
use std::rc::Rc;

use crate::diag::Poison;
use crate::front::carry::{Chosen, Key};
use crate::front::lower::Lower;
use crate::front::value::Lowered;
use crate::ir::Term;
use crate::memory_order::{AxisOrder, HasLayouts, MemoryOrder};

/// A carried array whose order changes.
#[derive(Clone)]
pub(in crate::front) struct Ordered {
    /// Where the array is among what is carried.
    array: usize,
    /// Where the number of its order is.
    number: usize,
    /// What the numbers stand for; without any, the memory order is unknown.
    orders: Rc<[AxisOrder]>,
}

/// The key of the order of a leaf of what is carried under a name.
fn key_of(key: &Key, name: &str, leaf: usize) -> Key {
    key.of(&format!("%{name}.{leaf}"))
}

impl Lower<'_> {
    /// Carries the orders of those of these leaves of which an earlier pass has found that they change.
    pub(in crate::front) fn carry_orders(
        &mut self,
        (key, name): (&Key, &str),
        init: &mut Vec<Term>,
        leaves: Range<usize>,
    ) -> Lowered<Rc<[Ordered]>> {
        let mut all = Vec::new();
        for (leaf, array) in leaves.enumerate() {
            let key = key_of(key, name, leaf);
            let Some(Chosen::Orders(orders)) = self.chosen.get(&key).cloned() else { continue };
            let number = init.len();
            if !orders.is_empty() {
                let first = self.order_number(init[array], &orders, &key)?;
                init.push(first);
            }
            all.push(Ordered { array, number, orders });
        }
        Ok(all.into())
    }

    /// At the beginning of a step, and behind the loop.
    pub(in crate::front) fn in_carried_orders(&mut self, carried: &[Ordered], now: &[Term]) {
        for c in carried {
            let array = now[c.array];
            let order = match c.orders.is_empty() {
                true => MemoryOrder::unknown(),
                false => self.layouts().numbered(array, now[c.number], &c.orders),
            };
            self.layouts().note(array, order);
        }
    }

    /// At the end of a step, of which `next` are the leaves: their orders are carried on, or found to change.
    pub(in crate::front) fn carry_orders_on(
        &mut self,
        (key, name): (&Key, &str),
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

    /// The arrays of the elements of a `Vec` that a loop carries: of unknown memory order, where an earlier pass has found that it pushes some that
    /// are not row-major.
    pub(in crate::front) fn in_carried_items(&mut self, (key, name): (&Key, &str), all: &[Term]) {
        for (leaf, &t) in all.iter().enumerate() {
            if self.chosen.contains_key(&key_of(key, name, leaf)) {
                self.layouts().note(t, MemoryOrder::unknown());
            }
        }
    }

    /// Finds that, at the end of a step.
    pub(in crate::front) fn carry_items_on(
        &mut self,
        (key, name): (&Key, &str),
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

    /// The number of the order that an array has. One that is not known yet is noted for the next pass.
    fn order_number(&mut self, t: Term, orders: &[AxisOrder], key: &Key) -> Lowered<Term> {
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

    /// Orders for the next pass.
    fn found_orders<const N: usize>(&mut self, key: &Key, new: [Option<Vec<(Term, AxisOrder)>>; N]) {
        let mut orders = match self.decided.get(key).or_else(|| self.chosen.get(key)) {
            Some(Chosen::Orders(orders)) if orders.is_empty() => return,
            Some(Chosen::Orders(orders)) => orders.to_vec(),
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
        self.decided.insert(key.clone(), Chosen::Orders(orders.into()));
    }
}

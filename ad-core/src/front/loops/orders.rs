//! Arrays that a loop replaces by some that lie in memory in another order: whether they do so by columns is carried beside them.
//! Must never carry anything of an array that stays as it is.

use super::super::carry::{Form, Key, Leaves};
use super::super::lower::Lower;
use super::Carried;
use crate::diag::Poison;
use crate::front::value::Lowered;
use crate::ir::Term;

impl Lower<'_> {
    fn order_of(key: &Key, name: &str) -> Key {
        key.of(&format!("%{name}"))
    }

    /// Where the order of an array is carried, if an earlier pass has found that it changes.
    pub(super) fn carry_order(&mut self, key: &Key, name: &str, init: &mut Leaves, first: usize) -> Option<usize> {
        if !self.chosen.contains_key(&Self::order_of(key, name)) {
            return None;
        }
        let columns = self.lies_by_columns(init.terms[first])?;
        init.terms.push(columns);
        init.keys.push(None);
        Some(init.terms.len() - 1)
    }

    /// At the beginning of a step, and behind the loop.
    pub(super) fn in_order_carried(&mut self, c: &Carried, now: &[Term]) {
        if let Some(k) = c.order {
            self.lies_by(now[c.first], now[k]);
        }
    }

    /// At the end of a step: the order is carried on, or found to change.
    pub(super) fn carry_order_on(&mut self, key: &Key, c: &Carried, now: &[Term], next: &mut Vec<Term>) -> Lowered<()> {
        let (Form::Leaf { .. }, Some(&array)) = (&c.form, next.last()) else { return Ok(()) };
        match c.order {
            Some(_) => {
                let columns = self.lies_by_columns(array);
                next.push(columns.unwrap_or_else(|| self.g.lit_bool(false)));
            }
            None => {
                let both = self.lie_otherwise(now[c.first], array)
                    && self.lies_by_columns(now[c.first]).is_some()
                    && self.lies_by_columns(array).is_some();
                if both && self.changes_order(&Self::order_of(key, &c.name)) {
                    return Err(Poison);
                }
            }
        }
        Ok(())
    }
}

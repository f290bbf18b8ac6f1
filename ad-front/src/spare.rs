//! Spare arrays. A step of a loop may make a `Vec` whose length a carried value decides. This `Vec`
//! is written into an array that the loop carries for it, and from there into the variable that it
//! is assigned to. Both loops visit existing elements only, so the cost of a step is proportional
//! to their number, forwards and backwards, and not to the capacity.
//!
//! Invariant: a step reads only elements of a spare array that it has written itself. So the
//! elements that an earlier step has left in it do not matter.

use std::rc::Rc;

use super::carry::CarriedForm;
use super::checks::{Recurrence, Stepped};
use super::growth::Growth;
use super::lower::Lower;
use super::stack::GrowableVec;
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::cells::{Cell, CellValue};
use crate::translation::enclosing::{ExtraCarry, Frame};
use ad_ir::catalogue::reached;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

impl<'a> Lower<'a> {
    /// The index of the frame of the only enclosing loop, if a carried value of that loop decides
    /// this length, and there are only conditions between the loop and this point.
    fn deciding_loop(&self, len: Term) -> Option<usize> {
        let carried = self.state.enclosing.carried_by_only_recurrence()?;
        let mut loops =
            self.state.enclosing.frames().iter().enumerate().filter(|(_, f)| !matches!(f, Frame::Guard { .. }));
        let (Some((at, Frame::Recurrence { .. })), None) = (loops.next(), loops.next()) else { return None };
        self.g.depends_on(len, carried).then_some(at)
    }

    /// The items of an iterator in a spare array, if a carried value decides how many there are.
    pub(super) fn in_spare_array(
        &mut self,
        seq: &Seq<'a>,
        elem: Elem,
        range: SrcRange,
    ) -> Lowered<Option<GrowableVec<'a>>> {
        let (Some(len), [capacity]) = (seq.len, &*seq.dims) else { return Ok(None) };
        let Some(at) = self.deciding_loop(len) else { return Ok(None) };
        let zero = self.g.zero(elem);
        let init = self.g.broadcast(zero, &[*capacity]);
        let carried = self.g.placeholder(self.g.ty(init).clone());
        let all = self.over_elements(len, *capacity, vec![carried], |me, i| {
            let item = (seq.item)(me, &[i])?;
            Ok(vec![me.term_as(&item, Want::Elem(elem), range)?])
        })?;
        let all = all[0];
        self.layouts().note_like(all, init);
        let next = match self.negated_path(at + 1) {
            Some(not) => self.g.cond(not, carried, all),
            None => all,
        };
        self.state.enclosing.add_spare(ExtraCarry { init, carried, next }, all);
        let more = self.no_growth();
        let form = CarriedForm::Leaf { levels: 0 };
        Ok(Some(GrowableVec { all: vec![all], form, ..GrowableVec::without_arrays(len, more) }))
    }

    /// Writes a row of these arrays for each index below the length, and returns the arrays.
    fn over_elements(
        &mut self,
        len: Term,
        capacity: Term,
        onto: Vec<Term>,
        rows: impl FnOnce(&mut Self, Term) -> Lowered<Vec<Term>>,
    ) -> Lowered<Vec<Term>> {
        let (zero, one, written) = (self.g.lit_usize(0), self.g.lit_usize(1), onto.len());
        let mut init = onto;
        init.push(self.g.compare(Cmp::Eq, len, zero));
        // The index is a carried value. If it were the iteration number, the loop would consume the
        // array, whose cotangent has the length of the capacity.
        init.push(zero);
        let stop = Some(written);
        let (mut all, _) =
            self.recur_steps(Recurrence { size: capacity, reverse: false, stop, init }, |me, _, now| {
                let i = now[written + 1];
                // The index is below the length, since the loop would have stopped otherwise.
                let there = me.g.compare(Cmp::Lt, i, len);
                me.state.facts.assume(&me.g, there, true);
                let rows = me.under(now[written], false, |me| rows(me, i))?;
                let mut next: Vec<Term> =
                    now.iter().zip(rows).map(|(&now, row)| me.g.update(now, row, &[], &[i])).collect();
                let count = me.g.int(IntOp::Add, i, one);
                next.extend([me.g.compare(Cmp::Le, len, count), count]);
                Ok(Stepped { next, ..Stepped::default() })
            })?;
        all.truncate(written);
        Ok(all)
    }

    /// A `Vec` that replaces one that a loop carries. If it is in a spare array, it is copied into
    /// the arrays of the carried `Vec`, since the next step overwrites the spare array.
    pub(super) fn written_into(&mut self, cell: Cell, value: Value<'a>) -> Lowered<Value<'a>> {
        let Value::GrowableVec(new) = &value else { return Ok(value) };
        let Some(CellValue::Value(Value::GrowableVec(old))) = self.state.cells.held(cell) else { return Ok(value) };
        let (new, old) = (Rc::clone(new), Rc::clone(old));
        let same_layout = new.all.len() == old.all.len()
            && new
                .all
                .iter()
                .zip(&old.all)
                .all(|(&a, &b)| self.g.elem(a) == self.g.elem(b) && self.g.shape(a)[1..] == self.g.shape(b)[1..]);
        let carried = old.slot.is_some() && old.window.is_none() && new.slot.is_none() && new.window.is_none();
        let spare =
            self.deciding_loop(new.len).is_some() && new.all.first().is_some_and(|&t| self.state.enclosing.is_spare(t));
        if !same_layout || !carried || !spare {
            return Ok(value);
        }
        let (capacity, own) = (self.capacity(&old), self.capacity(&new));
        let more = self.replacing_growth(own, capacity);
        if old.limited {
            self.require_le(new.len, capacity, reached::PAST_CAPACITY);
        }
        let from = new.all.clone();
        let all = self.over_elements(new.len, own, old.all.clone(), |me, i| {
            Ok(from.iter().map(|&t| me.g.index(t, &[i])).collect())
        })?;
        for (&new, &old) in all.iter().zip(&old.all) {
            self.layouts().note_like(new, old);
        }
        Ok(Value::GrowableVec(GrowableVec { all, len: new.len, more, ..(*old).clone() }.into()))
    }

    /// The growth of a `Vec` that is replaced by one of another capacity.
    pub(super) fn replacing_growth(&mut self, own: Term, capacity: Term) -> Growth {
        let none = self.no_growth();
        match self.relative_growth(own, capacity) {
            Some((most, instead)) => Growth { bound: Some(most), exact: false, replaced_by: instead, ..none },
            None => Growth { bound: None, exact: false, ..none },
        }
    }
}

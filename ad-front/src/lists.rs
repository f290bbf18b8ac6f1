//! Lists of products: a structure of arrays. A list of structs, tuples, enums or `Option`s is one
//! array for each leaf of an element, with one more leading axis. So reading a field of an element
//! is a gather of one array.
//!
//! Such a list is a `GrowableVec` whose length is closed, or one whose length changes (`stack`).
//! Invariant: all arrays of a list have the same first axis.

use std::rc::Rc;

use syn::ExprRepeat;

use super::carry::{CarriedForm, CarriedName, Leaves};
use super::lower::Lower;
use super::place::Projection;
use super::slice::Cut;
use super::stack::GrowableVec;
use super::value::{EnumValue, Lowered, Range, Seq, Value, Want};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

impl GrowableVec<'_> {
    /// The array that a path from an element leads to, with its levels, and the part of the
    /// element's array. So a part of a field is written without its other parts. `None` for another
    /// path, and for a `Vec` of which only some elements are known.
    pub(super) fn part_at<'s>(&self, path: &'s [Projection]) -> Option<((usize, u8), &'s [Cut])> {
        let (last, fields) = path.split_last()?;
        let Projection::Part(cuts) = last else { return None };
        let (mut form, mut first) = (&self.form, 0);
        for step in fields {
            let (Projection::Field(k), CarriedForm::Tuple(parts) | CarriedForm::Struct(_, parts)) = (step, form) else {
                return None;
            };
            first += parts.get(..*k)?.iter().map(CarriedForm::leaves).sum::<usize>();
            form = parts.get(*k)?;
        }
        let CarriedForm::Leaf { levels } = form else { return None };
        self.window.is_none().then_some(((first, *levels), &**cuts))
    }
}

impl<'a> Lower<'a> {
    /// Whether a list of products has a length that is known where the function is called.
    pub(super) fn is_fixed(&self, stack: &GrowableVec<'a>) -> bool {
        stack.slot.is_none()
            && stack.window.is_none()
            && stack.as_single_array().is_none()
            && !stack.all.is_empty()
            && self.g.is_closed(stack.len)
    }

    /// This list in arrays of its length.
    pub(super) fn without_padding(&mut self, stack: &GrowableVec<'a>) -> GrowableVec<'a> {
        let (len, zero) = (stack.len, self.g.lit_usize(0));
        let part = |t: &Term| {
            let mut sizes = self.g.shape(*t).to_vec();
            if sizes[0] == len {
                return *t;
            }
            sizes[0] = len;
            let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
            self.g.slice(*t, &starts, &steps, &sizes)
        };
        let all = stack.all.iter().map(part).collect();
        GrowableVec { all, open: None, limited: false, ..stack.clone() }
    }

    /// A list of elements of this form. The arrays have the leaves of all elements.
    pub(super) fn list_of(&mut self, form: CarriedForm<'a>, all: Vec<Term>, len: Term) -> Value<'a> {
        let more = self.no_growth();
        Value::GrowableVec(Rc::new(GrowableVec { all, form, ..GrowableVec::without_arrays(len, more) }))
    }

    /// The first elements of a list, the part in the middle, and the last elements; and the
    /// condition that the list has that many elements. With `rest` it may have more.
    pub(super) fn elements_apart(
        &mut self,
        list: &GrowableVec<'a>,
        [before, after]: [usize; 2],
        rest: Option<usize>,
        range: SrcRange,
    ) -> Lowered<(Vec<Value<'a>>, Term)> {
        let least = self.g.lit_usize(before + after);
        let fits = self.g.compare(if rest.is_some() { Cmp::Ge } else { Cmp::Eq }, list.len, least);
        let parts = self.under(fits, true, |me| {
            let mut parts = Vec::new();
            for k in 0..before {
                let k = me.g.lit_usize(k);
                parts.push(me.vec_element(list, k)?);
            }
            if rest.is_some() {
                let (from, after) = (me.g.lit_usize(before), me.g.lit_usize(after));
                let to = me.g.int(IntOp::Sub, list.len, after);
                let [start, end] = [from, to].map(|t| Some(Value::Term(t)));
                parts.push(me.part_of_vec(list, &Range { start, end, inclusive: false, key: None }, range)?);
            }
            for k in (0..after).rev() {
                let back = me.g.lit_usize(k + 1);
                let at = me.g.int(IntOp::Sub, list.len, back);
                parts.push(me.vec_element(list, at)?);
            }
            Ok(parts)
        })?;
        Ok((parts, fits))
    }

    /// The literals in one column of a list have the type of the other elements. If another type
    /// was assumed, the next run has this one.
    pub(super) fn type_literals_of_column(&mut self, rows: &[Leaves], k: usize) -> Lowered<()> {
        let column = || rows.iter().filter_map(|row| Some((*row.terms.get(k)?, row.keys.get(k)?)));
        let Some((typed, _)) = column().find(|(_, key)| key.is_none()) else { return Ok(()) };
        let elem = self.g.elem(typed);
        let mut news = false;
        for (t, key) in column() {
            let Some(key) = key.as_ref().filter(|_| self.g.elem(t) != elem) else { continue };
            let same_kind = self.g.elem(t).is_real() == elem.is_real();
            news |= same_kind && self.inference.note(key, Inferred::Elem(elem));
        }
        if news { Err(Poison) } else { Ok(()) }
    }

    /// Flattens the next value of a carried list. Its length does not change.
    pub(super) fn rows_like(
        &mut self,
        value: &Value<'a>,
        first: &GrowableVec<'a>,
        current: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<()> {
        let now: Vec<Term> = current.by_ref().take(first.all.len()).copied().collect();
        let key = InferenceKey::at_address(self.state.source.address(), "rows");
        let next = match value {
            Value::GrowableVec(stack) if self.is_fixed(stack) => self.without_padding(stack),
            value => match self.stack(value, first.len, &key, range)? {
                Some(stack) => stack,
                None => return Err(self.changed_rows(value, who, range)),
            },
        };
        if next.all.len() != now.len() || !self.g.is_closed(next.len) {
            return Err(self.changed_rows(value, who, range));
        }
        for (&now, t) in now.iter().zip(next.all) {
            if self.g.elem(t) != self.g.elem(now) || self.g.rank(t) != self.g.rank(now) {
                if self.inference.retype(&self.g, now, self.g.elem(t))
                    || self.inference.retype(&self.g, t, self.g.elem(now))
                {
                    return Err(Poison);
                }
                return Err(self.changed_rows(value, who, range));
            }
            out.push(self.with_shape_of(now, t, (who, range))?);
        }
        Ok(())
    }

    fn changed_rows(&mut self, value: &Value<'a>, who: CarriedName, range: SrcRange) -> Poison {
        let found = self.describe(value);
        self.error(range, who.type_change("a list", &found))
    }

    /// The value with its array literals as arrays, so that the elements of a list can be read at
    /// any index.
    pub(super) fn packed(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let mut all = |parts: &[Value<'a>]| parts.iter().map(|p| self.packed(p, range)).collect::<Lowered<Rc<[_]>>>();
        Ok(match value {
            Value::Tuple(parts) | Value::Struct(_, parts) => value.with_parts(all(parts)?),
            Value::Enum(sum) => {
                let payloads = sum.payloads.iter().map(|fields| fields.as_ref().map(|fields| all(fields)).transpose());
                Value::Enum(Rc::new(EnumValue { payloads: payloads.collect::<Lowered<_>>()?, ..(**sum).clone() }))
            }
            Value::Option(inner, exists) => Value::Option(self.packed(inner, range)?.into(), *exists),
            Value::List(parts) if !parts.is_empty() && !value.is_selected_from() => {
                let (t, levels) = (self.term(value, range)?, value.levels());
                Value::nested(&self.g, t, levels)
            }
            value => value.clone(),
        })
    }

    /// `[x; n]` and `vec![x; n]` of a product.
    pub(super) fn repeated_product(
        &mut self,
        r: &'a ExprRepeat,
        value: &Value<'a>,
        len: Term,
    ) -> Lowered<Option<Value<'a>>> {
        let mut leaves = Leaves::default();
        let mut key = InferenceKey::new(r, "");
        let range = SrcRange::of(&r.expr);
        let value = self.packed(value, range)?;
        let Some(form) = self.flatten(&value, &mut key, &mut leaves, range)? else { return Ok(None) };
        let mut all = Vec::new();
        for (t, key) in leaves.terms.into_iter().zip(leaves.keys) {
            let repeated = self.g.replicate(len, t);
            self.layouts().note_rows(repeated, &[t]);
            self.inference.set_literals(repeated, key.as_slice());
            all.push(repeated);
        }
        Ok(Some(self.list_of(form, all, len)))
    }

    /// Collects the items of an iterator over one loop, all of which exist, into a `Vec`.
    pub(super) fn listed_items(&mut self, seq: &Seq<'a>, range: SrcRange, want: Want) -> Lowered<Value<'a>> {
        self.ends(seq, range)?;
        let key = InferenceKey::at_address(self.state.source.address(), "collected");
        let mut found = None;
        let (vars, made) = self.in_loops(&seq.dims, &mut |me, ix| {
            let value = (seq.item)(me, ix)?;
            if !value.is_several() {
                found = Some(value.levels());
                let t = me.term_as(&value, want, range)?;
                return Ok((None, Leaves { terms: vec![t], keys: vec![None] }));
            }
            let mut leaves = Leaves::default();
            let value = me.packed(&value, range)?;
            match me.flatten(&value, &mut key.clone(), &mut leaves, range)? {
                Some(form) => Ok((Some(form), leaves)),
                None => Err(me.not_several(&value, range)),
            }
        });
        let (form, leaves) = made?;
        let mut all = Vec::new();
        for (t, key) in leaves.terms.into_iter().zip(leaves.keys) {
            let whole =
                seq.dims.iter().zip(&vars).rev().fold(t, |body, (&size, &var)| self.make_build(size, var, body));
            self.layouts().note_rows(whole, &[t]);
            self.inference.set_literals(whole, key.as_slice());
            all.push(whole);
        }
        match (form, &all[..]) {
            (None, &[t]) => Ok(Value::nested(&self.g, t, found.unwrap_or(0).saturating_add(1))),
            (Some(form), _) => {
                let len = seq.dims.first().copied().ok_or(Poison)?;
                Ok(self.list_of(form, all, len))
            }
            _ => Err(Poison),
        }
    }

    /// The error for a value that no array can hold.
    fn not_several(&mut self, value: &Value<'a>, range: SrcRange) -> Poison {
        let found = self.describe(value);
        self.error(range, ad_ir::catalogue::not_an_array(&found, false))
    }
}

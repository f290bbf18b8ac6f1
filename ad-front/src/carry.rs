//! Converts the value of a loop-carried variable to terms and back, and infers the types of carried
//! literals.
//!
//! The type of `let mut n = 0;` comes from its uses, and some of them may follow the loop. The same
//! holds for the items of `0..9`. The first run of the front end assumes the default type of the
//! literal. If a use needs another type, the function is lowered again with that type
//! (`translation::inference`).
//!
//! Invariant: a carried value has the same type and shape in every step.

use std::rc::Rc;

pub(super) use super::carried_types::CarriedName;
use super::definitions::Definition;
use super::lower::Lower;
use super::nodes::{NodeValue, TableTerms};
use super::open::DynamicPart;
use super::ragged::RaggedList;
use super::stack::GrowableVec;
use super::value::{EnumValue, Lowered, Seq, Value, Want};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Term};

/// The structure of a carried value.
#[derive(Clone)]
pub(super) enum CarriedForm<'a> {
    /// One term. `levels` as in [`Value::levels`].
    Leaf {
        levels: u8,
    },
    Unit,
    Tuple(Vec<CarriedForm<'a>>),
    Struct(&'a Definition, Vec<CarriedForm<'a>>),
    List(Vec<CarriedForm<'a>>),
    /// An enum: a tag, and the fields of each variant that the value can be.
    Enum(&'a Definition, Vec<Option<Vec<CarriedForm<'a>>>>),
    /// A list of products of a fixed length: one array for each leaf of an element. The arrays here
    /// belong to the first value.
    Rows(Rc<GrowableVec<'a>>),
    /// A row of these tables: a value of a type that contains itself.
    Node(&'a Definition, Rc<TableTerms<'a>>),
    /// The same, with the columns of the tables among the leaves: a parameter.
    Tables(Rc<NodeValue<'a>>),
    /// An `Option`: the payload and a flag whether it is `Some`.
    Option(Box<CarriedForm<'a>>),
    /// In the form of an element of a list: an array of a list of arrays of several shapes. The
    /// leaf is its number.
    Ragged(Rc<RaggedList>),
    /// An array with dynamic lengths that are the same in all steps.
    DynamicPart(Rc<[Option<Term>]>),
    /// An array whose shape changes. The sizes along these axes follow the array.
    Resized(Rc<[bool]>),
    /// A `None` whose payload type is not known yet.
    None(InferenceKey),
    /// The position of an iterator.
    Cursor(Seq<'a>),
}

/// The terms of a flattened value, and the literals that determine their types.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaves {
    pub terms: Vec<Term>,
    pub keys: Vec<Option<InferenceKey>>,
}

impl<'a> Lower<'a> {
    /// Flattens a value to its leaves. Returns `None` if a loop cannot carry this kind of value.
    pub(super) fn flatten(
        &mut self,
        value: &Value<'a>,
        key: &mut InferenceKey,
        out: &mut Leaves,
        range: SrcRange,
    ) -> Lowered<Option<CarriedForm<'a>>> {
        Ok(Some(match value {
            Value::Term(t) | Value::Nested(t, _) => {
                out.terms.push(*t);
                out.keys.push(self.inference.first_literal(*t));
                CarriedForm::Leaf { levels: value.levels() }
            }
            Value::DynamicPart(open) => {
                out.terms.push(open.all);
                out.keys.push(self.inference.first_literal(open.all));
                CarriedForm::DynamicPart(Rc::clone(&open.lens))
            }
            Value::Number(n) => {
                key.next_leaf();
                let elem = match self.inference.known(key) {
                    Some(Inferred::Elem(elem)) => Want::Elem(*elem),
                    _ if n.outer().is_some() => Want::Any,
                    _ if n.is_float() => Want::Elem(self.input.default_real()),
                    _ => Want::Elem(Elem::Int(IntTy::I32)),
                };
                let t = self.term_as(value, elem, range)?;
                out.terms.push(t);
                out.keys.push(Some(key.clone()));
                CarriedForm::Leaf { levels: 0 }
            }
            Value::Filled(_, sizes) => {
                key.next_leaf();
                let elem = match self.inference.known(key) {
                    Some(Inferred::Elem(elem)) => *elem,
                    _ => Elem::Int(IntTy::I32),
                };
                let levels = ad_ir::ir::axis(sizes.len() - 1);
                out.terms.push(self.term_as(value, Want::Elem(elem), range)?);
                out.keys.push(Some(key.clone()));
                CarriedForm::Leaf { levels }
            }
            Value::Matrix(_) => {
                let t = self.term(value, range)?;
                out.terms.push(t);
                out.keys.push(None);
                CarriedForm::Leaf { levels: 0 }
            }
            Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts) => {
                let Some(forms) = self.flatten_all(parts, key, out, range)? else { return Ok(None) };
                match value {
                    Value::Struct(of, _) => CarriedForm::Struct(of, forms),
                    Value::List(_) => CarriedForm::List(forms),
                    _ => CarriedForm::Tuple(forms),
                }
            }
            Value::Enum(sum) => {
                out.terms.push(sum.tag);
                out.keys.push(None);
                let mut variants = Vec::new();
                for (k, payload) in sum.payloads.iter().enumerate() {
                    // The loop may make another variant.
                    let payload = payload.clone().or_else(|| self.zero_payload(sum.of, k));
                    let Some(payload) = payload else {
                        variants.push(None);
                        continue;
                    };
                    let Some(forms) = self.flatten_all(&payload, key, out, range)? else { return Ok(None) };
                    variants.push(Some(forms));
                }
                CarriedForm::Enum(sum.of, variants)
            }
            Value::GrowableVec(stack) if self.is_fixed(stack) => {
                let stack = self.without_padding(stack);
                for &t in &stack.all {
                    out.terms.push(t);
                    out.keys.push(self.inference.first_literal(t));
                }
                CarriedForm::Rows(Rc::new(stack))
            }
            Value::Option(inner, exists) => {
                let Some(form) = self.flatten(inner, key, out, range)? else { return Ok(None) };
                out.terms.push(*exists);
                out.keys.push(None);
                CarriedForm::Option(Box::new(form))
            }
            Value::None => {
                key.next_leaf();
                let key = &key.in_calls(self.state.nesting.calls());
                match self.inference.known(key).cloned() {
                    Some(Inferred::Type(kind)) => {
                        let form = self.dummy(&kind, out);
                        out.terms.push(self.g.lit_bool(false));
                        out.keys.push(None);
                        CarriedForm::Option(Box::new(form))
                    }
                    _ => CarriedForm::None(key.clone()),
                }
            }
            Value::Node(node) => {
                out.terms.push(node.at);
                out.keys.push(None);
                CarriedForm::Node(node.of, Rc::clone(&node.tables))
            }
            Value::Unit => CarriedForm::Unit,
            Value::Seq(_) | Value::Cursor(_) => {
                let Some(cursor) = self.cursor(value, range)? else { return Ok(None) };
                out.terms.push(cursor.at);
                out.keys.push(None);
                CarriedForm::Cursor(cursor.seq.clone())
            }
            _ => return Ok(None),
        }))
    }

    fn flatten_all(
        &mut self,
        parts: &[Value<'a>],
        key: &mut InferenceKey,
        out: &mut Leaves,
        range: SrcRange,
    ) -> Lowered<Option<Vec<CarriedForm<'a>>>> {
        let mut forms = Vec::new();
        for part in parts {
            let Some(form) = self.flatten(part, key, out, range)? else { return Ok(None) };
            forms.push(form);
        }
        Ok(Some(forms))
    }

    /// Rebuilds a value from its form and leaves.
    pub(super) fn unflatten(form: &CarriedForm<'a>, leaves: &mut std::slice::Iter<'_, Term>) -> Lowered<Value<'a>> {
        let parts = |forms: &[CarriedForm<'a>], leaves: &mut std::slice::Iter<'_, Term>| -> Lowered<Rc<[Value<'a>]>> {
            forms.iter().map(|p| Self::unflatten(p, leaves)).collect()
        };
        Ok(match form {
            CarriedForm::Leaf { levels } => {
                let t = *leaves.next().ok_or(Poison)?;
                if *levels > 0 { Value::Nested(t, *levels) } else { Value::Term(t) }
            }
            CarriedForm::DynamicPart(lens) => {
                Value::DynamicPart(Rc::new(DynamicPart { all: *leaves.next().ok_or(Poison)?, lens: Rc::clone(lens) }))
            }
            CarriedForm::Resized(axes) => {
                let all = *leaves.next().ok_or(Poison)?;
                let lens = axes.iter().map(|&changes| if changes { leaves.next().copied() } else { None }).collect();
                Value::DynamicPart(Rc::new(DynamicPart { all, lens }))
            }
            CarriedForm::Unit => Value::Unit,
            CarriedForm::Tuple(forms) => Value::Tuple(parts(forms, leaves)?),
            CarriedForm::Struct(of, forms) => Value::Struct(of, parts(forms, leaves)?),
            CarriedForm::List(forms) => Value::List(parts(forms, leaves)?),
            CarriedForm::Enum(of, variants) => {
                let tag = *leaves.next().ok_or(Poison)?;
                let payloads = variants.iter().map(|v| v.as_ref().map(|forms| parts(forms, leaves)).transpose());
                Value::Enum(Rc::new(EnumValue { of, tag, payloads: payloads.collect::<Lowered<_>>()? }))
            }
            CarriedForm::Rows(first) => {
                let all = leaves.by_ref().take(first.all.len()).copied().collect();
                Value::GrowableVec(Rc::new(GrowableVec { all, ..(**first).clone() }))
            }
            CarriedForm::Node(of, tables) => {
                let at = *leaves.next().ok_or(Poison)?;
                Value::Node(Rc::new(NodeValue { of, tables: Rc::clone(tables), at }))
            }
            // Such an array is read by `element_from`.
            CarriedForm::Ragged(_) => return Err(Poison),
            CarriedForm::Tables(node) => {
                leaves.by_ref().take(node.leaves().count()).for_each(drop);
                Value::Node(Rc::clone(node))
            }
            CarriedForm::Option(form) => {
                let value = Self::unflatten(form, leaves)?;
                Value::Option(value.into(), *leaves.next().ok_or(Poison)?)
            }
            CarriedForm::None(_) => Value::None,
            CarriedForm::Cursor(seq) => {
                let at = *leaves.next().ok_or(Poison)?;
                Value::Cursor(Rc::new(super::value::Cursor { seq: seq.clone(), at }))
            }
        })
    }

    /// Flattens the next value of a carried variable. Each leaf gets the type and shape of the
    /// corresponding leaf in `current`, the current value.
    pub(super) fn flatten_like(
        &mut self,
        value: &Value<'a>,
        form: &CarriedForm<'a>,
        current: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<()> {
        match (form, value) {
            (_, Value::Never) => {
                for _ in 0..form.leaves() {
                    out.push(*current.next().ok_or(Poison)?);
                }
                Ok(())
            }
            (CarriedForm::Resized(axes), _) => self.next_resized(value, axes, current, out, (who, range)),
            (CarriedForm::Unit, Value::Unit) | (CarriedForm::None(_), Value::None) => Ok(()),
            (CarriedForm::Tuple(forms), Value::Tuple(parts)) | (CarriedForm::List(forms), Value::List(parts)) => {
                self.parts_like(parts, forms, current, out, (who, range))
            }
            (CarriedForm::Struct(of, forms), Value::Struct(other, parts)) if std::ptr::eq(*of, *other) => {
                self.parts_like(parts, forms, current, out, (who, range))
            }
            (CarriedForm::Enum(of, variants), Value::Enum(sum)) if std::ptr::eq(*of, sum.of) => {
                self.enum_like(value, sum, variants, current, out, (who, range))
            }
            (CarriedForm::Rows(first), Value::GrowableVec(_) | Value::List(_)) => {
                self.rows_like(value, &Rc::clone(first), current, out, (who, range))
            }
            (CarriedForm::List(forms), Value::GrowableVec(stack)) if self.is_fixed(stack) => {
                let parts = self.fixed_parts(stack, forms.len(), (who, range))?;
                self.parts_like(&parts, forms, current, out, (who, range))
            }
            (CarriedForm::List(forms), Value::Term(t) | Value::Nested(t, _)) if self.g.rank(*t) > 0 => {
                let parts = self.rows_as_parts(*t, value.levels(), forms.len(), (who, range))?;
                self.parts_like(&parts, forms, current, out, (who, range))
            }
            (CarriedForm::Node(of, tables), Value::Node(node))
                if node.is_like(&NodeValue { of, tables: Rc::clone(tables), at: node.at }) =>
            {
                current.next().ok_or(Poison)?;
                out.push(node.at);
                Ok(())
            }
            (CarriedForm::Option(form), Value::Option(inner, exists)) => {
                self.flatten_like(inner, form, current, out, (who, range))?;
                current.next().ok_or(Poison)?;
                out.push(*exists);
                Ok(())
            }
            (CarriedForm::Cursor(seq), Value::Cursor(cursor)) if Rc::ptr_eq(&seq.item, &cursor.seq.item) => {
                current.next().ok_or(Poison)?;
                out.push(cursor.at);
                Ok(())
            }
            (CarriedForm::Option(form), Value::None) => {
                self.flatten_like(&Value::Never, form, current, out, (who, range))?;
                current.next().ok_or(Poison)?;
                out.push(self.g.lit_bool(false));
                Ok(())
            }
            (CarriedForm::None(key), Value::Option(inner, _)) => match self.kind(inner) {
                Some(kind) if self.inference.note(key, Inferred::Type(kind.clone())) => Err(Poison),
                _ => {
                    let found = self.describe(inner);
                    Err(self.error(range, who.type_change("`None`", &found)))
                }
            },
            (
                CarriedForm::Leaf { .. },
                Value::Term(_)
                | Value::Nested(..)
                | Value::Number(_)
                | Value::List(_)
                | Value::Matrix(_)
                | Value::Filled(..),
            ) => {
                let current = *current.next().ok_or(Poison)?;
                out.push(self.leaf_like(value, current, (who, range))?);
                Ok(())
            }
            (CarriedForm::DynamicPart(lens), Value::DynamicPart(_) | Value::Term(_) | Value::Matrix(_)) => {
                let current = DynamicPart { all: *current.next().ok_or(Poison)?, lens: Rc::clone(lens) };
                out.push(self.dynamic_part_like(value, &current, (who, range))?);
                Ok(())
            }
            (_, other) => {
                let found = self.describe(other);
                let was = match form {
                    CarriedForm::Struct(..) => "a struct",
                    CarriedForm::Tuple(_) | CarriedForm::List(_) => "a tuple or an array literal",
                    _ => "another value",
                };
                Err(self.error(range, who.type_change(was, &found)))
            }
        }
    }

    /// [`Lower::flatten_like`] for several parts.
    fn parts_like(
        &mut self,
        parts: &[Value<'a>],
        forms: &[CarriedForm<'a>],
        current: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<()> {
        if parts.len() != forms.len() {
            return Err(self.error(range, who.count_change(forms.len(), Some(parts.len()))));
        }
        parts.iter().zip(forms).try_for_each(|(p, f)| self.flatten_like(p, f, current, out, (who, range)))
    }

    /// [`Lower::flatten_like`] for a value of an enum: its tag, and the fields of all variants.
    fn enum_like(
        &mut self,
        value: &Value<'a>,
        sum: &EnumValue<'a>,
        variants: &[Option<Vec<CarriedForm<'a>>>],
        current: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<()> {
        current.next().ok_or(Poison)?;
        out.push(sum.tag);
        for (forms, payload) in variants.iter().zip(sum.payloads.iter()) {
            match (forms, payload) {
                (Some(forms), Some(parts)) => self.parts_like(parts, forms, current, out, (who, range))?,
                (Some(forms), None) => {
                    forms.iter().try_for_each(|f| self.flatten_like(&Value::Never, f, current, out, (who, range)))?
                }
                (None, None) => {}
                (None, Some(_)) => {
                    let found = self.describe(value);
                    return Err(self.error(range, catalogue::carried_kind(&found)));
                }
            }
        }
        Ok(())
    }

    /// The elements of a `Vec` of a fixed length, which has to be this one.
    fn fixed_parts(
        &mut self,
        stack: &GrowableVec<'a>,
        count: usize,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<Vec<Value<'a>>> {
        let n = self.g.int_value(stack.len).and_then(|n| usize::try_from(n).ok());
        if n != Some(count) {
            return Err(self.error(range, who.count_change(count, n)));
        }
        let mut parts = Vec::new();
        for k in 0..count {
            let k = self.g.lit_usize(k);
            parts.push(self.vec_element(stack, k)?);
        }
        Ok(parts)
    }

    /// The rows of an array, which has to have as many.
    fn rows_as_parts(
        &mut self,
        t: Term,
        levels: u8,
        count: usize,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<Vec<Value<'a>>> {
        let n = self.g.int_value(self.g.shape(t)[0]).and_then(|n| usize::try_from(n).ok());
        if n != Some(count) {
            return Err(self.error(range, who.count_change(count, n)));
        }
        Ok((0..count)
            .map(|k| {
                let k = self.g.lit_usize(k);
                let part = self.g.index(t, &[k]);
                Value::nested_element(&self.g, part, levels)
            })
            .collect())
    }

    /// A value as a number or an array with the type and shape of `current`.
    fn leaf_like(&mut self, value: &Value<'a>, current: Term, (who, range): (CarriedName, SrcRange)) -> Lowered<Term> {
        let t = self.term_as(value, Want::Elem(self.g.elem(current)), range)?;
        if self.g.elem(t) != self.g.elem(current) || self.g.rank(t) != self.g.rank(current) {
            if self.inference.retype(&self.g, current, self.g.elem(t)) {
                return Err(Poison);
            }
            let (was, is) = (self.describe(&Value::Term(current)), self.describe(&Value::Term(t)));
            return Err(self.error(range, who.type_change(&was, &is)));
        }
        self.with_shape_of(current, t, (who, range))
    }

    /// A value as a part of dynamic size with the type and sizes of `current`.
    fn dynamic_part_like(
        &mut self,
        value: &Value<'a>,
        current: &DynamicPart,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<Term> {
        let new = self.value_as_part(value, Want::Elem(self.g.elem(current.all)), range)?;
        if self.g.elem(new.all) != self.g.elem(current.all) || self.g.rank(new.all) != self.g.rank(current.all) {
            let (was, is) = (self.describe(&Value::Term(current.all)), self.describe(&Value::Term(new.all)));
            return Err(self.error(range, who.type_change(&was, &is)));
        }
        let (before, after) = (current.sizes(&self.g), new.sizes(&self.g));
        let same = before.iter().zip(&after).all(|(&n, &m)| {
            n == m || self.state.facts.prove_le(&self.g, n, m) && self.state.facts.prove_le(&self.g, m, n)
        });
        if let (CarriedName::Variable(name), false) = (who, same) {
            return Err(self.error(range, catalogue::carried_shape(name)));
        }
        self.with_sizes_of(&new, current, &who.descriptions(), range)
    }

    /// Gives `t` the shape of `current`. Sizes that may be equal are checked at run time. For a
    /// variable, sizes that differ are an error.
    pub(super) fn with_shape_of(
        &mut self,
        current: Term,
        t: Term,
        (who, range): (CarriedName, SrcRange),
    ) -> Lowered<Term> {
        let (a, b) = (self.g.shape(current).to_vec(), self.g.shape(t).to_vec());
        let empty = |me: &Self, n: Term| me.g.int_value(n) == Some(0);
        for (&a, &b) in a.iter().zip(&b) {
            // An array that is empty at first is assumed to grow.
            let one_is_empty = empty(self, a) != empty(self, b);
            let may = a == b
                || (self.state.facts.prove_le(&self.g, a, b) && self.state.facts.prove_le(&self.g, b, a))
                || (!one_is_empty
                    && self.may_be_required(a, b)
                    && (self.g.int_value(a).is_none() || self.g.int_value(b).is_none()));
            if let (false, CarriedName::Variable(name)) = (may, who) {
                return Err(self.error(range, catalogue::carried_shape(name)));
            }
        }
        self.same_shape(current, t, who.descriptions(), range)
    }
}

//! Compound assignments: `a += b` and the others.
//!
//! Invariant: the place keeps its shape; only the right operand is broadcast.

use std::rc::Rc;

use syn::{BinOp, ExprBinary};

use super::Place;
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::value::{Lowered, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::{SrcRange, text_of};
use ad_ir::ir::Put;

impl<'a> Lower<'a> {
    /// Lowers `a += b` and the other compound assignments.
    pub(crate) fn compound(&mut self, b: &'a ExprBinary) -> Lowered<Value<'a>> {
        let range = SrcRange::of(b);
        // The right operand is evaluated first, as Rust does for primitive types.
        let right = self.expr(&b.right);
        let place = self.place(&b.left)?;
        let right = right?;
        let old = self.read_place(&place)?;
        let ranges = [place.range, SrcRange::of(&b.right)];
        let op = without_assignment(&b.op);
        if let Some(made) = self.own_assignment(&op, &place, (&old, &right), range).filter(|_| old.is_defined()) {
            return made;
        }
        let texts = [place.text.clone(), text_of(&b.right, 30)];
        if let (Value::DynamicPart(part), BinOp::AddAssign(_) | BinOp::SubAssign(_)) = (&old, &b.op)
            && self.g.elem(part.all).is_real()
            && !place.steps.is_empty()
        {
            let part = Rc::clone(part);
            return self.accumulated_part(
                &place,
                &part,
                (&right, matches!(b.op, BinOp::SubAssign(_))),
                &texts,
                ranges[1],
            );
        }
        let operands = (old.clone(), right, [false, true]);
        let new = self.operation(&op, operands, ranges, range, (texts.clone(), true))?;
        if let (Value::Term(a), Value::Term(b)) = (&old, &new)
            && self.g.shape(*a) != self.g.shape(*b)
        {
            return Err(self.error(range, catalogue::compound_shape(&place.text)));
        }
        if let Value::DynamicPart(part) = &old {
            let part = Rc::clone(part);
            let new = self.value_as_part(&new, Want::Any, range)?;
            let new = self.broadcast_part(&part, &new, &texts, range)?;
            self.write_place(&place, Value::DynamicPart(new.into()))?;
            return Ok(Value::Unit);
        }
        self.write_over(&place, &old, new)?;
        Ok(Value::Unit)
    }

    /// Adds to or subtracts from a part with dynamic length, without reading it.
    fn accumulated_part(
        &mut self,
        place: &Place,
        part: &DynamicPart,
        (value, less): (&Value<'a>, bool),
        texts: &[String; 2],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let x = self.value_as_part(value, Want::Elem(self.g.elem(part.all)), range)?;
        if self.g.elem(x.all) != self.g.elem(part.all) {
            let (a, b) = (self.describe(&Value::Term(part.all)), self.describe(&Value::Term(x.all)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        self.may_write(place.cell, place.range)?;
        let x = self.broadcast_part(part, &x, texts, range)?;
        let all = if less { self.g.neg(x.all) } else { x.all };
        self.put_in(place, Value::DynamicPart(DynamicPart { all, ..x }.into()), Put::Add)?;
        Ok(Value::Unit)
    }

    /// Broadcasts a number or an array to the shape of a part, which does not change.
    pub(crate) fn broadcast_part(
        &mut self,
        part: &DynamicPart,
        x: &DynamicPart,
        texts: &[String; 2],
        range: SrcRange,
    ) -> Lowered<DynamicPart> {
        let pair = self.dynamic_pair(part, x, texts, range)?;
        let (rank, own) = (self.g.rank(part.all), part.sizes(&self.g));
        let one = |me: &Self, k: usize| me.g.int_value(own[k]) == Some(1);
        let (before, after) = (self.g.shape(part.all).to_vec(), self.g.shape(pair.b).to_vec());
        if after.len() != rank || (0..rank).any(|k| one(self, k) && after[k] != before[k]) {
            return Err(self.error(range, catalogue::compound_shape(&texts[0])));
        }
        Ok(DynamicPart { all: pair.b, lens: pair.lens.into() })
    }
}

/// Whether an operator assigns.
pub(crate) fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// The operator without its `=`.
fn without_assignment(op: &BinOp) -> BinOp {
    match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        other => *other,
    }
}

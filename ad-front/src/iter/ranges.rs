//! Ranges of integers as iterators. The integer type of a range of literals (`0..9`) comes from the
//! uses of its items, and these may follow anywhere. The first run of the front end assumes `i32`.
//! If an item is used with another type, the function is lowered again with that type (`carry`,
//! `Inference::retype`).
//!
//! Invariant: an item has the type that rustc gives it. Otherwise overflows would be reported
//! wrongly or missed.

use std::rc::Rc;

use super::super::lower::Lower;
use super::super::value::{Lowered, Number, Range, Seq, Value};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Lit, Term};
use ad_ir::prim::{Cmp, IntOp};

impl<'a> Lower<'a> {
    /// The integers of a range.
    pub(super) fn range_seq(&mut self, r: &Rc<Range<'a>>, range: SrcRange) -> Lowered<Seq<'a>> {
        let Some(start) = &r.start else { return Err(self.error(range, catalogue::open_range())) };
        let (ty, keys) = self.range_type(r, range)?;
        match &r.end {
            Some(end) => self.bounded(start, end, (r.inclusive, ty, keys), range),
            None => self.endless(start, (ty, keys), range),
        }
    }

    /// The type of a range's items, and the literals that determine it.
    fn range_type(&mut self, r: &Range<'a>, range: SrcRange) -> Lowered<(IntTy, Vec<InferenceKey>)> {
        let ends = [r.start.as_ref(), r.end.as_ref()].into_iter().flatten();
        let typed: Vec<(Option<Term>, Elem)> = ends
            .filter_map(|end| {
                let term = if let Value::Term(t) = end { Some(*t) } else { None };
                self.elem_of(end).map(|elem| (term, elem))
            })
            .collect();
        if let &[(a, x), (b, y)] = &typed[..]
            && (a.is_some_and(|a| self.inference.retype(&self.g, a, y))
                || b.is_some_and(|b| self.inference.retype(&self.g, b, x)))
        {
            return Err(Poison);
        }
        match typed.first() {
            Some((_, Elem::Int(ty))) => {
                let keys =
                    typed.iter().filter_map(|(t, _)| *t).flat_map(|t| self.inference.literals_of(&self.g, t)).collect();
                Ok((*ty, keys))
            }
            Some(_) => Err(self.error(range, catalogue::expected(wanted::RANGE_OF_INTEGERS, wanted::ANOTHER_RANGE))),
            None => match r.key.as_ref().and_then(|key| self.inference.known(key)) {
                Some(Inferred::Elem(Elem::Int(ty))) => Ok((*ty, Vec::new())),
                _ => Ok((default_type(r), r.key.iter().cloned().collect())),
            },
        }
    }

    fn bounded(
        &mut self,
        start: &Value<'a>,
        end: &Value<'a>,
        (inclusive, ty, keys): (bool, IntTy, Vec<InferenceKey>),
        range: SrcRange,
    ) -> Lowered<Seq<'a>> {
        let (start, end) = (self.integer(start, ty, range), self.integer(end, ty, range));
        let (start, end) = (start?, end?);
        // An empty range has length 0. The saturating difference of unsigned numbers is 0 then as
        // well.
        let lower = if ty.range().0 < 0 { self.g.int(IntOp::Min, start, end) } else { start };
        let mut count = self.g.int(IntOp::Sub, end, lower);
        if inclusive {
            // The number of items may be one more than the largest number of the type.
            let wide = if ty.range().1 < IntTy::Usize.range().1 { IntTy::Usize } else { ty };
            count = self.g.cast(Elem::Int(wide), count);
            let one = self.g.lit(Lit::Int(wide, 1));
            let more = self.g.int(IntOp::Add, count, one);
            count = if self.state.facts.prove_le(&self.g, start, end) {
                more
            } else {
                let (empty, zero) = (self.g.compare(Cmp::Gt, start, end), self.g.lit(Lit::Int(wide, 0)));
                self.g.select(empty, zero, more)
            };
        }
        let len = self.g.cast(Elem::USIZE, count);
        let (size, len) = match self.closed(len) {
            Some(len) => (len, None),
            None => match self.most(count) {
                Some(most) => (self.g.cast(Elem::USIZE, most), Some(len)),
                // Only a consumer that is a loop can handle a dynamic length.
                None => (self.g.lit_usize(usize::MAX), Some(len)),
            },
        };
        let mut seq = Seq::new([size], move |me: &mut Lower<'a>, ix: &[Term]| {
            let i = me.g.cast(Elem::Int(ty), ix.first().copied().ok_or(Poison)?);
            let item = me.g.int(IntOp::Add, start, i);
            me.inference.set_literals(item, &keys);
            Ok(Value::Term(item))
        });
        seq.len = len;
        Ok(seq)
    }

    /// `a..` has the largest possible length. It ends only by other means.
    fn endless(
        &mut self,
        start: &Value<'a>,
        (ty, keys): (IntTy, Vec<InferenceKey>),
        range: SrcRange,
    ) -> Lowered<Seq<'a>> {
        let start = self.integer(start, ty, range)?;
        let most = self.g.lit_usize(usize::MAX);
        Ok(Seq::new([most], move |me: &mut Lower<'a>, ix: &[Term]| {
            let i = me.g.cast(Elem::Int(ty), ix.first().copied().ok_or(Poison)?);
            let item = me.int_checked(IntOp::Add, start, i);
            me.inference.set_literals(item, &keys);
            Ok(Value::Term(item))
        }))
    }
}

/// The default type of a range of literals: `i32`, or a larger type if the numbers do not fit.
/// (rustc then refuses the literals, unless another type is known.) A constant outside of the
/// function has a type that only rustc knows; as an end of a range it is taken for a size.
fn default_type(r: &Range) -> IntTy {
    let ends = || {
        [&r.start, &r.end]
            .into_iter()
            .flatten()
            .filter_map(|end| if let Value::Number(n) = end { Some(&**n) } else { None })
    };
    let within = |ty: IntTy| {
        let (low, high) = ty.range();
        ends().all(|n| !matches!(n, Number::Int(i) if !(low..=high).contains(i)))
    };
    let outside = ends().any(|n| n.outer().is_some());
    [IntTy::I32, IntTy::I64].into_iter().find(|&ty| !outside && within(ty)).unwrap_or(IntTy::Usize)
}

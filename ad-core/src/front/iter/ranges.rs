//! Ranges of integers as iterators. One of literals (`0..9`) has the integer type that its items' uses ask for, which may stand anywhere
//! behind it: it is taken to be `i32` until an item meets another type, and the function is lowered once more with that
//! (`carry`, `soften`).
//!
//! An item must never have another type than rustc gives it: an overflow would be seen where there is none, or the other way round.

use std::rc::Rc;

use super::super::carry::{Chosen, Key};
use super::super::lower::Lower;
use super::super::value::{Lowered, Number, Range, Seq, Value};
use crate::catalogue::{self, wanted};
use crate::diag::{Poison, SrcRange};
use crate::ir::{Elem, IntTy, Lit, Term};
use crate::prim::{Cmp, IntOp};

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

    /// The type of a range's items, and the literals that it is open with.
    fn range_type(&mut self, r: &Range<'a>, range: SrcRange) -> Lowered<(IntTy, Vec<Key>)> {
        let ends = [r.start.as_ref(), r.end.as_ref()].into_iter().flatten();
        let typed: Vec<(Option<Term>, Elem)> = ends
            .filter_map(|end| {
                let term = if let Value::Term(t) = end { Some(*t) } else { None };
                self.elem_of(end).map(|elem| (term, elem))
            })
            .collect();
        if let &[(a, x), (b, y)] = &typed[..]
            && (a.is_some_and(|a| self.soften(a, y)) || b.is_some_and(|b| self.soften(b, x)))
        {
            return Err(Poison);
        }
        match typed.first() {
            Some((_, Elem::Int(ty))) => {
                let keys = typed.iter().filter_map(|(t, _)| *t).flat_map(|t| self.open_in(t)).collect();
                Ok((*ty, keys))
            }
            Some(_) => Err(self.error(range, catalogue::expected(wanted::RANGE_OF_INTEGERS, wanted::ANOTHER_RANGE))),
            None => match r.key.as_ref().and_then(|key| self.chosen.get(key)) {
                Some(Chosen::Elem(Elem::Int(ty))) => Ok((*ty, Vec::new())),
                _ => Ok((default_type(r), r.key.iter().cloned().collect())),
            },
        }
    }

    fn bounded(
        &mut self,
        start: &Value<'a>,
        end: &Value<'a>,
        (inclusive, ty, keys): (bool, IntTy, Vec<Key>),
        range: SrcRange,
    ) -> Lowered<Seq<'a>> {
        let (start, end) = (self.integer(start, ty, range), self.integer(end, ty, range));
        let (start, end) = (start?, end?);
        // An empty range has length 0, and so has the saturating difference of unsigned numbers.
        let lower = if ty.range().0 < 0 { self.g.int(IntOp::Min, start, end) } else { start };
        let mut count = self.g.int(IntOp::Sub, end, lower);
        if inclusive {
            // There may be one more than the type has numbers for.
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
                // Only a loop knows what to do with it.
                None => (self.g.lit_usize(usize::MAX), Some(len)),
            },
        };
        let mut seq = Seq::new([size], move |me: &mut Lower<'a>, ix: &[Term]| {
            let i = me.g.cast(Elem::Int(ty), ix.first().copied().ok_or(Poison)?);
            let item = me.g.int(IntOp::Add, start, i);
            me.softened(item, &keys);
            Ok(Value::Term(item))
        });
        seq.len = len;
        Ok(seq)
    }

    /// `a..`: as long as nothing ends it, of the largest length that there is.
    fn endless(&mut self, start: &Value<'a>, (ty, keys): (IntTy, Vec<Key>), range: SrcRange) -> Lowered<Seq<'a>> {
        let start = self.integer(start, ty, range)?;
        let most = self.g.lit_usize(usize::MAX);
        Ok(Seq::new([most], move |me: &mut Lower<'a>, ix: &[Term]| {
            let i = me.g.cast(Elem::Int(ty), ix.first().copied().ok_or(Poison)?);
            let item = me.int_checked(IntOp::Add, start, i);
            me.softened(item, &keys);
            Ok(Value::Term(item))
        }))
    }
}

/// Rust's default type of integer literals, or one that has room for them: rustc refuses them where nothing says another type.
/// A constant outside of the function has a type that only rustc knows; one that things are counted to is a size.
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

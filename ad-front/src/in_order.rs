//! Sums, products, tests and searches of items as recurrences, one item after another. Products are
//! always such recurrences. The others are, if an enclosing loop decides the number of items, since
//! an array of them would have room for the longest.
//!
//! Invariant: an item after the one that decides a test is not evaluated.

use std::rc::Rc;

use crate::arith::Arith;
use crate::lower::Lower;
use crate::recur::RowCollection;
use crate::value::{Lowered, Seq, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Term, Type};

/// The numbers of the items of an iterator.
fn numbers_of<'a>(seq: &Seq<'a>) -> Seq<'a> {
    let number = |_: &mut Lower<'a>, ix: &[Term]| Ok(Value::Term(ix.first().copied().ok_or(Poison)?));
    Seq { item: Rc::new(number), ..seq.clone() }
}

impl<'a> Lower<'a> {
    /// Whether all items pass a test, or any item. A step tests an item if no step before it has
    /// decided.
    pub(super) fn decided_in_order(&mut self, seq: &Seq<'a>, all: bool, range: SrcRange) -> Lowered<Value<'a>> {
        let (init, test) = (Value::Term(self.g.lit_bool(all)), Rc::clone(&seq.item));
        let numbers = numbers_of(seq);
        let (last, _) =
            self.recurrence(&init, &numbers, (false, RowCollection::None), range, &|me, so_far, number| {
                let (so_far, number) = (me.boolean(&so_far, range)?, me.term(&number, range)?);
                me.shortcut(so_far, all, |me| test(me, &[number]), range)
            })?;
        Ok(last)
    }

    /// The number of the first item that passes a test, and whether there is one. `tests` has the
    /// test of each item. A step tests an item if none before it has passed.
    pub(super) fn first_in_order(&mut self, tests: &Seq<'a>, range: SrcRange) -> Lowered<(Term, Term)> {
        let init = Value::Tuple([self.g.lit_usize(0), self.g.lit_bool(false)].map(Value::Term).into());
        let (numbers, test) = (numbers_of(tests), Rc::clone(&tests.item));
        let (last, _) =
            self.recurrence(&init, &numbers, (false, RowCollection::None), range, &|me, so_far, number| {
                let ((at, found), number) = (me.place_and_flag(&so_far, range)?, me.term(&number, range)?);
                let passed = me.shortcut(found, false, |me| test(me, &[number]), range)?;
                let at = me.g.cond(found, at, number);
                Ok(Value::Tuple([Value::Term(at), passed].into()))
            })?;
        self.place_and_flag(&last, range)
    }

    fn place_and_flag(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<(Term, Term)> {
        let Value::Tuple(parts) = value else { return Err(Poison) };
        let [at, flag] = &parts[..] else { return Err(Poison) };
        Ok((self.term(at, range)?, self.boolean(flag, range)?))
    }

    /// The sum of all items, from the first to the last.
    pub(super) fn sum_in_order(&mut self, seq: &Seq<'a>, elem: Option<Elem>, range: SrcRange) -> Lowered<Value<'a>> {
        // Rust begins with -0.0.
        let zero = match elem.or_else(|| self.item_elem(seq)) {
            Some(Elem::Real(ty)) => Value::Term(self.g.lit_real(ty, -0.0)),
            Some(Elem::Int(ty)) => Value::Term(self.g.lit(Lit::Int(ty, 0))),
            Some(Elem::Bool) => return Err(self.error(range, catalogue::expected(wanted::NUMBERS, wanted::BOOL))),
            None => Value::Number(crate::value::Number::Int(0).into()),
        };
        self.accumulated(zero, seq, Arith::Add, range)
    }

    /// The product of all items, from the first to the last.
    pub(super) fn product_of_items(
        &mut self,
        seq: &Seq<'a>,
        elem: Option<Elem>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let one = match elem.or_else(|| self.item_elem(seq)) {
            Some(Elem::Real(ty)) => Value::Term(self.g.lit_real(ty, 1.0)),
            Some(Elem::Int(ty)) => Value::Term(self.g.lit(Lit::Int(ty, 1))),
            Some(Elem::Bool) => return Err(self.error(range, catalogue::expected(wanted::NUMBERS, wanted::BOOL))),
            None => Value::Number(crate::value::Number::Int(1).into()),
        };
        self.accumulated(one, seq, Arith::Mul, range)
    }

    /// The type of the items, if they are numbers.
    fn item_elem(&mut self, seq: &Seq<'a>) -> Option<Elem> {
        let index: Vec<Term> = seq.dims.iter().map(|_| self.g.placeholder(Type::scalar(Elem::USIZE))).collect();
        let item = self.trial(|me| (seq.item)(me, &index)).ok()?;
        self.elem_of(&item)
    }

    /// The sum or product of a number and all items, from the first to the last.
    fn accumulated(&mut self, init: Value<'a>, seq: &Seq<'a>, op: Arith, range: SrcRange) -> Lowered<Value<'a>> {
        let (last, _) = self.recurrence(&init, seq, (false, RowCollection::None), range, &|me, acc, item| {
            let words = || {
                let whole = if op == Arith::Mul { "the product" } else { "the sum" };
                [whole.to_string(), "an item".to_string()]
            };
            let (a, b) = me.unify_literals(&acc, &item, [range, range])?;
            if me.g.rank(b) > 0 {
                return Err(me.error(range, catalogue::sum_of_arrays()));
            }
            Ok(Value::Term(me.arith(op, a, b, words(), range)?))
        })?;
        Ok(last)
    }
}

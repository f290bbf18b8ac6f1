//! Sums and products over parts of arrays whose length a loop decides: `x.slice(s![..i]).sum()`, `l.slice(s![i, ..j]).dot(..)`.
//! They are sums over all that may be there, with nothing added for what is not.
//!
//! The function's own order is part of it, where a decision reads the sum: ndarray adds eight lanes of what is next to each other in memory,
//! and the rest one by one (`numeric_util::unrolled_fold`), and everything one by one where it is not.

use std::rc::Rc;

use crate::catalogue;
use crate::diag::SrcRange;
use crate::front::lower::Lower;
use crate::front::stack::Stack;
use crate::front::table::Call;
use crate::front::value::{Lowered, Value};
use crate::ir::{Elem, Node, Term};
use crate::prim::{Cmp, IntOp, Reduce};

/// How many lanes ndarray adds at once.
const LANES: usize = 8;

/// A part of which nobody knows the length.
pub(super) fn open<'a>(me: &Lower<'a>, value: &Value<'a>) -> Option<Rc<Stack<'a>>> {
    match value {
        Value::Stack(stack) if !me.is_closed(stack.len) => Some(Rc::clone(stack)),
        _ => None,
    }
}

/// The elements, if they are numbers.
fn numbers<'a>(me: &mut Lower<'a>, stack: &Stack<'a>, range: SrcRange) -> Lowered<Term> {
    match stack.plain() {
        Some((all, _)) if me.g.rank(all) == 1 => Ok(all),
        _ => Err(me.error(range, catalogue::changing_length())),
    }
}

/// Whether the elements of a part are next to each other.
fn is_slice(me: &mut Lower, t: Term) -> Term {
    match me.view(t) {
        Some(view) => me.lanes_are_slices(&view, 0),
        None => me.g.lit_bool(true),
    }
}

impl<'a> Lower<'a> {
    /// The sum of the first `len` of these numbers; `near`: whether they are next to each other in memory.
    fn sum_of_first(&mut self, t: Term, len: Term, near: Term) -> Term {
        let room = self.g.shape(t)[0];
        let zero = super::super::iter::consume::zero(self, self.g.elem(t));
        let first = |me: &mut Self, none: Term| {
            let var = me.g.fresh();
            let i = me.g.mk(Node::Var(var));
            let there = me.g.compare(Cmp::Lt, i, len);
            let x = me.g.index(t, &[i]);
            let x = me.g.cond(there, x, none);
            me.g.build(room, var, x)
        };
        let items = first(self, zero);
        let free = self.g.sum_all(items);
        let Elem::Real(ty) = self.g.elem(t) else { return free };
        // Adding this changes nothing, not even a sign.
        let nothing = self.g.lit_real(ty, -0.0);
        let items = first(self, nothing);
        let slow = self.g.reduce(Reduce::InOrder, 1, items);
        let slow = self.g.add(zero, slow);
        let fast = self.in_lanes(t, len, nothing);
        let own = match self.g.bool_value(near) {
            Some(true) => fast,
            Some(false) => slow,
            None => self.g.cond(near, fast, slow),
        };
        self.g.own(free, own)
    }

    /// The sum in eight lanes, and then the rest.
    fn in_lanes(&mut self, t: Term, len: Term, nothing: Term) -> Term {
        let (room, lanes) = (self.g.shape(t)[0], self.g.lit_usize(LANES));
        let zero = super::super::iter::consume::zero(self, self.g.elem(t));
        let (most, rounds) = (self.g.int(IntOp::Div, room, lanes), self.g.int(IntOp::Div, len, lanes));
        let mut parts = Vec::new();
        for lane in 0..LANES {
            let lane = self.g.lit_usize(lane);
            let var = self.g.fresh();
            let i = self.g.mk(Node::Var(var));
            let there = self.g.compare(Cmp::Lt, i, rounds);
            let at = self.g.int(IntOp::Mul, i, lanes);
            let at = self.g.int(IntOp::Add, at, lane);
            let x = self.g.index(t, &[at]);
            let x = self.g.cond(there, x, nothing);
            let all = self.g.build(most, var, x);
            let sum = self.g.reduce(Reduce::InOrder, 1, all);
            parts.push(self.g.add(zero, sum));
        }
        let mut sum = zero;
        for lane in 0..LANES / 2 {
            let pair = self.g.add(parts[lane], parts[lane + LANES / 2]);
            sum = self.g.add(sum, pair);
        }
        let done = self.g.int(IntOp::Mul, rounds, lanes);
        for k in 0..LANES - 1 {
            let k = self.g.lit_usize(k);
            let at = self.g.int(IntOp::Add, done, k);
            let there = self.g.compare(Cmp::Lt, at, len);
            let x = self.g.index(t, &[at]);
            let x = self.g.cond(there, x, nothing);
            sum = self.g.add(sum, x);
        }
        sum
    }
}

/// `x.slice(s![..i]).sum()`.
pub(super) fn sum<'a>(me: &mut Lower<'a>, stack: &Stack<'a>, range: SrcRange) -> Lowered<Term> {
    let t = numbers(me, stack, range)?;
    let near = is_slice(me, t);
    Ok(me.sum_of_first(t, stack.len, near))
}

/// `x.slice(s![..i]).mean()`.
pub(super) fn mean<'a>(me: &mut Lower<'a>, stack: &Stack<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    let sum = sum(me, stack, range)?;
    let sum = me.real_term(&Value::Term(sum), range)?;
    let (count, zero) = (me.g.cast(me.g.elem(sum), stack.len), me.g.lit_usize(0));
    let there = me.g.compare(Cmp::Gt, stack.len, zero);
    // Only where there is one: the sum of nothing has a derivative.
    let one = me.g.lit_like(sum, 1.0);
    let count = me.g.select(there, count, one);
    Ok(Value::Maybe(Value::Term(me.g.div(sum, count)).into(), there))
}

/// `x.slice(s![..i]).dot(&y.slice(s![..i]))`: of two parts, or of a part and a vector of that length.
pub(super) fn dot<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Option<Value<'a>>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    if open(me, a).is_none() && open(me, b).is_none() {
        return Ok(None);
    }
    let mut part = |value: &Value<'a>, range: SrcRange| -> Lowered<(Term, Term)> {
        match open(me, value) {
            Some(stack) => Ok((numbers(me, &stack, range)?, stack.len)),
            None => {
                let t = me.array(value, range)?;
                Ok((t, me.g.shape(t)[0]))
            }
        }
    };
    let ((a, n), (b, m)) = (part(a, ra)?, part(b, rb)?);
    let (ea, eb) = (me.g.elem(a), me.g.elem(b));
    if ea != eb || !ea.is_real() || me.g.rank(a) != 1 || me.g.rank(b) != 1 {
        let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
        return Err(me.error(call.range, catalogue::dot(&a, &b)));
    }
    if n != m {
        let same = me.g.compare(Cmp::Eq, n, m);
        me.require(None, same, crate::catalogue::reached::PRODUCT_OF_LENGTHS);
    }
    let near = (is_slice(me, a), is_slice(me, b));
    let near = me.g.and(near.0, near.1);
    let (x, y) = (me.g.shape(a)[0], me.g.shape(b)[0]);
    let room = if x == y { x } else { me.g.int(IntOp::Min, x, y) };
    let var = me.g.fresh();
    let i = me.g.mk(Node::Var(var));
    let (x, y) = (me.g.index(a, &[i]), me.g.index(b, &[i]));
    let product = me.g.mul(x, y);
    let products = me.g.build(room, var, product);
    Ok(Some(Value::Term(me.sum_of_first(products, n, near))))
}

//! Iterators: functions from index to item, consumed by reductions. Lazy as Rust's: an item is lowered where it is consumed,
//! under the conditions that hold there.

use std::rc::Rc;

use super::functions::{all_axes, sum_over};
use super::lower::Lower;
use super::table::{Call, Entry, On, row};
use super::value::{Lowered, Seq, Value, Want};
use crate::catalogue;
use crate::diag::{Poison, SrcRange};
use crate::ir::{Elem, IntTy, Term};
use crate::prim::{Cmp, IntOp, Reduce};

/// Methods that make, change and consume iterators.
pub(super) const TABLE: &[Entry] = &[
    row("iter", On::Array, (0, 0), iter, "the elements in row-major order"),
    row("into_iter", On::Array, (0, 0), iter, "the elements in row-major order"),
    row("iter", On::Iter, (0, 0), itself, "the iterator"),
    row("into_iter", On::Iter, (0, 0), itself, "the iterator"),
    row("copied", On::Iter, (0, 0), itself, "the same items"),
    row("cloned", On::Iter, (0, 0), itself, "the same items"),
    row("map", On::Iter, (1, 1), map, "f of each item"),
    row("zip", On::Iter, (1, 1), zip, "pairs, as many as the shorter one has"),
    row("enumerate", On::Iter, (0, 0), enumerate, "pairs of index and item"),
    row("rev", On::Iter, (0, 0), rev, "the items from the last to the first"),
    row("skip", On::Iter, (1, 1), skip, "without the first n items"),
    row("take", On::Iter, (1, 1), take, "the first n items"),
    row("sum", On::Iter, (0, 0), sum, "sum of the items: `.sum::<f64>()`"),
    row("count", On::Iter, (0, 0), count, "number of items"),
    row("len", On::Iter, (0, 0), count, "number of items"),
    row("all", On::Iter, (1, 1), all, "whether f holds for all items"),
    row("any", On::Iter, (1, 1), any, "whether f holds for an item"),
    row("collect", On::Iter, (0, 0), collect, "the items as an array"),
];

impl<'a> Lower<'a> {
    /// A value as an iterator.
    pub(super) fn seq(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Seq<'a>> {
        match value {
            Value::Seq(seq) => Ok(seq.clone()),
            Value::Range(r) => {
                let (Some(start), Some(end)) = (&r.start, &r.end) else {
                    return Err(self.error(range, catalogue::open_range()));
                };
                self.range_seq(&start.clone(), &end.clone(), r.inclusive, range)
            }
            Value::List(_) | Value::Nested(_) => {
                let x = self.array(value, range)?;
                let dims: Rc<[Term]> = self.g.shape(x)[..1].into();
                let item = move |me: &mut Lower<'a>, ix: &[Term]| {
                    let row = me.g.index(x, ix);
                    Ok(me.rows(row, true))
                };
                Ok(Seq { dims, item: Rc::new(item) })
            }
            _ => {
                let x = self.array(value, range)?;
                let dims: Rc<[Term]> = self.g.shape(x).into();
                Ok(Seq { dims, item: Rc::new(move |me, ix| Ok(Value::Term(me.g.index(x, ix)))) })
            }
        }
    }

    fn range_seq(&mut self, start: &Value<'a>, end: &Value<'a>, inclusive: bool, range: SrcRange) -> Lowered<Seq<'a>> {
        let elem = self.elem_of(start).or(self.elem_of(end));
        let ty = match elem {
            Some(Elem::Int(ty)) => ty,
            None => IntTy::Usize,
            Some(_) => return Err(self.error(range, catalogue::expected("a range of integers", "another range"))),
        };
        let (start, end) = (self.integer(start, ty, range), self.integer(end, ty, range));
        let (start, end) = (start?, end?);
        let one = self.g.lit(crate::ir::Lit::Int(ty, 1));
        // An empty range has length 0, and so has the saturating difference of unsigned numbers.
        let lower = if ty.range().0 < 0 { self.g.int(IntOp::Min, start, end) } else { start };
        let mut len = self.g.int(IntOp::Sub, end, lower);
        if inclusive {
            let empty = self.g.compare(Cmp::Gt, start, end);
            let more = self.g.int(IntOp::Add, len, one);
            let zero = self.g.lit(crate::ir::Lit::Int(ty, 0));
            len = self.g.select(empty, zero, more);
        }
        let len = self.g.cast(Elem::USIZE, len);
        let len = self.closed_len(len, range)?;
        Ok(Seq {
            dims: [len].into(),
            item: Rc::new(move |me, ix| {
                let i = me.g.cast(Elem::Int(ty), ix.first().copied().ok_or(Poison)?);
                Ok(Value::Term(me.g.int(IntOp::Add, start, i)))
            }),
        })
    }

    /// A length has to be the same in every step of the loops around it.
    pub(super) fn closed_len(&mut self, len: Term, range: SrcRange) -> Lowered<Term> {
        if self.is_closed(len) {
            return Ok(len);
        }
        // `i..i + 3`: the difference may be closed although the ends are not.
        let l = self.facts.linear(&self.g, len);
        if l.atoms.keys().all(|&t| self.is_closed(t)) {
            return Ok(crate::ir::range::to_term(&mut self.g, &l));
        }
        Err(self.error(range, catalogue::size_depends_on_index()))
    }

    /// An iterator with one index.
    fn flat(&mut self, seq: Seq<'a>, range: SrcRange) -> Lowered<Seq<'a>> {
        if seq.dims.len() == 1 {
            return Ok(seq);
        }
        let t = self.collected(&seq, range, Want::Any)?;
        let one = self.g.lit_usize(1);
        let len = seq.dims.iter().fold(one, |n, &size| self.g.int(IntOp::Mul, n, size));
        let t = self.g.reshape(t, &[len]);
        Ok(Seq { dims: [len].into(), item: Rc::new(move |me, ix| Ok(Value::Term(me.g.index(t, ix)))) })
    }

    /// All items as an array.
    fn collected(&mut self, seq: &Seq<'a>, range: SrcRange, want: Want) -> Lowered<Term> {
        let item = Rc::clone(&seq.item);
        self.build_all(&seq.dims, range, &mut |me, ix| {
            let value = item(me, ix)?;
            let t = me.term_as(&value, want, range)?;
            Ok(Value::Term(t))
        })
    }
}

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

fn iter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Seq(me.seq(x, range)?))
}

fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let seq = me.seq(x, rx)?;
    let (f, item) = (f.clone(), seq.item);
    Ok(Value::Seq(Seq {
        dims: seq.dims,
        item: Rc::new(move |me, ix| {
            let value = item(me, ix)?;
            me.apply(&f, &[value], rf)
        }),
    }))
}

fn zip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.seq(a, ra), me.seq(b, rb));
    let (mut a, mut b) = (a?, b?);
    if a.dims != b.dims {
        (a, b) = (me.flat(a, ra)?, me.flat(b, rb)?);
    }
    let dims = match (&*a.dims, &*b.dims) {
        (&[n], &[m]) if n != m => [me.g.int(IntOp::Min, n, m)].into(),
        _ => Rc::clone(&a.dims),
    };
    Ok(Value::Seq(Seq {
        dims,
        item: Rc::new(move |me, ix| {
            let (x, y) = ((a.item)(me, ix)?, (b.item)(me, ix)?);
            Ok(Value::Tuple([x, y].into()))
        }),
    }))
}

fn enumerate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let seq = me.flat(seq, range)?;
    Ok(Value::Seq(Seq {
        dims: seq.dims,
        item: Rc::new(move |me, ix| {
            let i = ix.first().copied().ok_or(Poison)?;
            Ok(Value::Tuple([Value::Term(i), (seq.item)(me, ix)?].into()))
        }),
    }))
}

/// The same items in another order or fewer: `place` says which.
fn moved<'a>(seq: Seq<'a>, len: Term, place: impl Fn(&mut Lower<'a>, Term) -> Term + 'a) -> Value<'a> {
    Value::Seq(Seq {
        dims: [len].into(),
        item: Rc::new(move |me, ix| {
            let k = place(me, ix.first().copied().ok_or(Poison)?);
            (seq.item)(me, &[k])
        }),
    })
}

fn one_dim<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Seq<'a>, Term)> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let seq = me.flat(seq, range)?;
    let len = seq.dims.first().copied().ok_or(Poison)?;
    Ok((seq, len))
}

fn rev<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = one_dim(me, call)?;
    Ok(moved(seq, len, move |me, i| {
        let one = me.g.lit_usize(1);
        let last = me.g.int(IntOp::Sub, len, one);
        me.g.int(IntOp::Sub, last, i)
    }))
}

fn skip<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = one_dim(me, call)?;
    let (n, range) = call.arg(1)?;
    let n = me.size(n, range)?;
    let rest = me.g.int(IntOp::Sub, len, n);
    Ok(moved(seq, rest, move |me, i| me.g.int(IntOp::Add, i, n)))
}

fn take<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (seq, len) = one_dim(me, call)?;
    let (n, range) = call.arg(1)?;
    let n = me.size(n, range)?;
    let least = if n == len { n } else { me.g.int(IntOp::Min, len, n) };
    Ok(moved(seq, least, |_, i| i))
}

/// The type that `::<..>` names.
fn named_elem<'a>(me: &Lower<'a>, call: &Call<'a, '_>) -> Option<Elem> {
    call.generics.and_then(|ty| super::types::elem_of(ty, me.sig.real_param.as_ref()))
}

fn sum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let want = named_elem(me, call).map_or(Want::Any, Want::Elem);
    let t = me.collected(&seq, range, want)?;
    if me.g.rank(t) != seq.dims.len() {
        return Err(me.error(range, catalogue::sum_of_arrays()));
    }
    let axes = all_axes(me, t);
    Ok(Value::Term(sum_over(me, t, &axes, range)?))
}

fn count<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let one = me.g.lit_usize(1);
    Ok(Value::Term(seq.dims.iter().fold(one, |n, &size| me.g.int(IntOp::Mul, n, size))))
}

fn decided<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: Reduce) -> Lowered<Value<'a>> {
    let Value::Seq(seq) = map(me, call)? else { return Err(Poison) };
    let (_, range) = call.arg(1)?;
    // Rust stops at the item that decides. What would go wrong behind it must not be reported, and is not looked for: such a
    // closure is refused.
    let before = me.checks.len();
    let t = me.collected(&seq, range, Want::Elem(Elem::Bool))?;
    if me.g.elem(t) != Elem::Bool || me.g.rank(t) != seq.dims.len() {
        let found = me.describe(&Value::Term(t));
        return Err(me.error(range, catalogue::expected("`bool`", &found)));
    }
    if me.checks.len() > before {
        return Err(me.error(range, catalogue::later("a test that may panic in `all` or `any`")));
    }
    let rank = me.g.rank(t);
    Ok(Value::Term(me.g.reduce(op, rank, t)))
}

fn all<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    decided(me, call, Reduce::All)
}

fn any<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    decided(me, call, Reduce::Any)
}

pub(super) fn collect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let seq = me.seq(x, range)?;
    let seq = me.flat(seq, range)?;
    Ok(Value::Term(me.collected(&seq, range, Want::Any)?))
}

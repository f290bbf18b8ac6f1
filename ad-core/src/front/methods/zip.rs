//! `Zip::from(&a).and(&b).map_collect(f)`: several arrays of one shape, element by element.

use std::rc::Rc;

use super::construct::position;
use super::elementwise::each;
use crate::catalogue;
use crate::diag::SrcRange;
use crate::front::arith::axis_words;
use crate::front::lower::Lower;
use crate::front::table::{Call, Entry, On, row};
use crate::front::value::{Lowered, Seq, Value, Want};
use crate::ir::{Elem, Term};

/// `Zip` and its methods; the DSL's `map2`.
pub(in crate::front) const TABLE: &[Entry] = &[
    row("Zip::from", On::Nd, (1, 1), from, "arrays of one shape, element by element"),
    row("Zip::indexed", On::Nd, (1, 1), indexed, "the same with the index as the first argument"),
    row("and", On::Zip, (1, 1), and, "one more array of the same shape"),
    row("and_broadcast", On::Zip, (1, 1), and_broadcast, "one more array, broadcast to the shape"),
    row("map_collect", On::Zip, (1, 1), map_collect, "the array of all f(a, b, ..)"),
    row("size", On::Zip, (0, 0), size, "number of elements"),
    row("map2", On::Dsl, (3, 3), map2, "f of each pair of elements"),
];

/// Arrays (or other producers of items) of one shape.
pub(in crate::front) struct Zip<'a> {
    parts: Vec<Seq<'a>>,
    /// Those that are arrays, as they are in memory.
    arrays: Vec<Term>,
    dims: Rc<[Term]>,
    /// How many of each axis are there, where loops around decide.
    lens: Rc<[Option<Term>]>,
    /// What literals among the results are taken for.
    elem: Option<Elem>,
    indexed: bool,
    /// The first in words.
    text: String,
}

fn start<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, indexed: bool) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let text = call.text(0).to_string();
    if let Some(part) = me.open_part(x) {
        let (seq, elem) = (me.open_seq(&part), Some(me.g.elem(part.all)));
        let (dims, lens) = (Rc::clone(&seq.dims), part.lens);
        return Ok(Value::Zip(Rc::new(Zip { parts: vec![seq], arrays: Vec::new(), dims, lens, elem, indexed, text })));
    }
    let (seq, array) = producer(me, x, range)?;
    let (dims, elem) = (Rc::clone(&seq.dims), array.map(|t| me.g.elem(t)));
    let lens = vec![None; dims.len()].into();
    let arrays = array.into_iter().collect();
    Ok(Value::Zip(Rc::new(Zip { parts: vec![seq], arrays, dims, lens, elem, indexed, text })))
}

/// An array as its elements, or an iterator as its items.
fn producer<'a>(me: &mut Lower<'a>, x: &Value<'a>, range: SrcRange) -> Lowered<(Seq<'a>, Option<Term>)> {
    if let Value::Seq(seq) = x {
        return Ok((seq.clone(), None));
    }
    let t = me.of_any_rank(x, range)?;
    Ok((me.seq_of(t), Some(t)))
}

fn from<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    start(me, call, false)
}

fn indexed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    start(me, call, true)
}

fn zip<'c, 'a>(me: &mut Lower<'a>, call: &'c Call<'a, '_>) -> Lowered<&'c Zip<'a>> {
    match call.arg(0)? {
        (Value::Zip(zip), _) => Ok(zip),
        (other, range) => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::expected("`Zip::from(..)`", &found)))
        }
    }
}

impl<'a> Zip<'a> {
    fn with(&self, seq: Seq<'a>, array: Option<Term>) -> Value<'a> {
        let (mut parts, mut arrays) = (self.parts.clone(), self.arrays.clone());
        parts.push(seq);
        arrays.extend(array);
        let (dims, lens, text) = (Rc::clone(&self.dims), Rc::clone(&self.lens), self.text.clone());
        Value::Zip(Rc::new(Zip { parts, arrays, dims, lens, elem: self.elem, indexed: self.indexed, text }))
    }

    /// How many elements there are along each axis.
    fn sizes(&self) -> Vec<Term> {
        self.dims.iter().zip(&*self.lens).map(|(&n, len)| len.unwrap_or(n)).collect()
    }
}

fn and<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (x, range) = call.arg(1)?;
    if me.open_part(x).is_some() || zip.lens.iter().any(Option::is_some) {
        let part = me.as_open(x, Want::Any, range)?;
        let (own, sizes) = (me.sizes_there(&part), zip.sizes());
        if own.len() != sizes.len() {
            return Err(me.error(range, catalogue::ranks_differ(sizes.len(), own.len())));
        }
        for (k, (&a, &b)) in sizes.iter().zip(&own).enumerate() {
            let words = [axis_words(&zip.text, k, sizes.len()), axis_words(call.text(1), k, sizes.len())];
            me.equate(a, b, words, range)?;
        }
        let seq = me.open_seq(&part);
        return Ok(zip.with(seq, None));
    }
    let (mut seq, array) = producer(me, x, range)?;
    let (own, dims) = (seq.dims.to_vec(), Rc::clone(&zip.dims));
    if own.len() != dims.len() {
        return Err(me.error(range, catalogue::ranks_differ(dims.len(), own.len())));
    }
    for (k, (&a, &b)) in dims.iter().zip(&own).enumerate() {
        let words = [axis_words(&zip.text, k, dims.len()), axis_words(call.text(1), k, dims.len())];
        me.equate(a, b, words, range)?;
    }
    let array = array.map(|t| me.g.recast(t, &dims));
    if let Some(t) = array {
        seq = me.seq_of(t);
    }
    Ok(zip.with(seq, array))
}

fn and_broadcast<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (x, range) = call.arg(1)?;
    let array = me.of_any_rank(x, range)?;
    let t = me.broadcast_to(array, &zip.dims, [zip.text.clone(), call.text(1).to_string()], range)?;
    let seq = me.seq_of(t);
    Ok(zip.with(seq, Some(array)))
}

fn map_collect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (f, range) = call.arg(1)?;
    let want = zip.elem.map_or(Want::Any, Want::Elem);
    if zip.lens.iter().any(Option::is_some) {
        return me.open_each(&zip.dims, &zip.lens, (range, want), &mut |me, ix| {
            let mut args = Vec::new();
            if zip.indexed {
                args.push(position(ix));
            }
            for part in &zip.parts {
                args.push((part.item)(me, ix)?);
            }
            me.apply(f, &args, range)
        });
    }
    me.collected_by_zip(&zip.arrays, &zip.dims, |me, sizes, reversed| {
        each(me, sizes, (range, want), &mut |me, ix| {
            let mut ix = ix.to_vec();
            if reversed {
                ix.reverse();
            }
            let mut args = Vec::new();
            if zip.indexed {
                args.push(position(&ix));
            }
            for part in &zip.parts {
                args.push((part.item)(me, &ix)?);
            }
            me.apply(f, &args, range)
        })
    })
}

fn size<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = zip(me, call)?.sizes();
    Ok(Value::Term(me.product_of(&sizes)))
}

fn map2<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb), (f, rf)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let (a, b) = (me.array(a, ra), me.array(b, rb));
    let (a, b) = (a?, b?);
    if me.g.elem(a) != me.g.elem(b) || !me.g.elem(a).is_real() {
        let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
        return Err(me.error(call.range, catalogue::types_differ(&a, &b)));
    }
    let words = [call.text(0).to_string(), call.text(1).to_string()];
    let b = me.same_shape(a, b, words, rb)?;
    let (sizes, want) = (me.g.shape(a).to_vec(), Want::Elem(me.g.elem(a)));
    each(me, &sizes, (rf, want), &mut |me, ix| {
        let pair = [a, b].map(|x| Value::Term(me.g.index(x, ix)));
        me.apply(f, &pair, rf)
    })
}

impl<'a> Lower<'a> {
    /// `t` in a shape as ndarray's `broadcast` has it: the trailing axes fit, or have size 1 (known as such).
    pub(in crate::front) fn broadcast_to(
        &mut self,
        t: Term,
        shape: &[Term],
        words: [String; 2],
        range: SrcRange,
    ) -> Lowered<Term> {
        let own = self.g.shape(t).to_vec();
        let Some(lead) = shape.len().checked_sub(own.len()) else {
            return Err(self.error(range, catalogue::ranks_differ(shape.len(), own.len())));
        };
        let mut renamed = own.clone();
        for (k, &n) in own.iter().enumerate() {
            if self.g.int_value(n) == Some(1) {
                continue;
            }
            let to = shape[lead + k];
            let words = [axis_words(&words[0], lead + k, shape.len()), axis_words(&words[1], k, own.len())];
            self.equate(to, n, words, range)?;
            renamed[k] = to;
        }
        let t = self.g.recast(t, &renamed);
        Ok(self.stretch(t, shape))
    }

    /// An array or a scalar (an array of rank 0 is one here).
    pub(in crate::front) fn of_any_rank(&mut self, x: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        match x {
            Value::Term(t) | Value::Nested(t) => Ok(*t),
            Value::List(_) | Value::Matrix(_) | Value::Filled(..) | Value::Open(_) => self.array(x, range),
            // Nothing says what it is.
            Value::Number(n) if n.outer().is_some() => self.array(x, range),
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected("an array", &found)))
            }
        }
    }

    /// The product of sizes of an array that exists: it does not overflow.
    pub(in crate::front) fn product_of(&mut self, sizes: &[Term]) -> Term {
        let one = self.g.lit_usize(1);
        sizes.iter().fold(one, |n, &size| self.g.int(crate::prim::IntOp::Mul, n, size))
    }
}

//! `Zip::from(&a).and(&b).map_collect(f)`: iterates over several arrays of one shape elementwise.
//! An array by `&mut` gives place expressions, which `for_each` changes as a `for` does.

use std::rc::Rc;

use super::construct::position;
use super::elementwise::each;
use super::parts;
use crate::arith::{Arith, axis_words};
use crate::changes::changed_part;
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::refs::results;
use crate::table::{self, Call, Mark, On, OnDynamicParts, Row, row};
use crate::value::{Lowered, Seq, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, Term};
use ad_ir::memory_order::{HasLayouts, ResultOrder};

/// `Zip` and its methods, and `map2` of the DSL.
pub(crate) const TABLE: &[Row] = &[
    row("Zip::from", On::Nd, (1, 1), from, "arrays of one shape, element by element").order(ResultOrder::NoArray),
    row("Zip::indexed", On::Nd, (1, 1), indexed, "the same with the index as the first argument")
        .order(ResultOrder::NoArray),
    row("and", On::Zip, (1, 1), and, "one more array of the same shape").order(ResultOrder::NoArray),
    row("and_broadcast", On::Zip, (1, 1), and_broadcast, "one more array, broadcast to the shape")
        .order(ResultOrder::NoArray),
    row("map_collect", On::Zip, (1, 1), map_collect, "the array of all f(a, b, ..)").order(ResultOrder::Zip),
    row("map_assign_into", On::Zip, (2, 2), map_assign_into, "f(a, b, ..) for each element of another array")
        .order(ResultOrder::NoArray),
    row(
        "for_each",
        On::Zip,
        (1, 1),
        of_closure,
        "`for` over all elements: `Zip::from(&mut a).and(&b).for_each(|a, &b| *a += b)`",
    )
    .order(ResultOrder::NoArray)
    .marks(&[Mark::Loop]),
    row(
        "zip_mut_with",
        On::Place,
        (2, 2),
        of_closure,
        "`for` over the elements of both: `a.zip_mut_with(&b, |a, &b| *a += b)`",
    )
    .marks(&[Mark::Loop]),
    row("map_inplace", On::Place, (1, 1), of_closure, "`for` over the elements: `a.map_inplace(|v| *v *= 2.0)`")
        .marks(&[Mark::Loop]),
    row("scaled_add", On::Place, (2, 2), scaled_add, "adds a number times another array").marks(&[Mark::Adds]),
    row("size", On::Zip, (0, 0), size, "number of elements").order(ResultOrder::NoArray),
    row("map2", On::Dsl, (3, 3), map2, "f of each pair of elements")
        .called("x_, x_, |a_: f64, _: f64| a_")
        .gives(results::mapped_pairs)
        .parts(OnDynamicParts::OfTwo(parts::map2)),
];

/// Arrays (or other producers of items) of one shape.
pub(crate) struct Zip<'a> {
    parts: Vec<Seq<'a>>,
    /// The arrays among the producers, for their memory orders.
    arrays: Vec<DynamicPart>,
    dims: Rc<[Term]>,
    /// The dynamic length of each axis.
    lens: Rc<[Option<Term>]>,
    /// The type of literals in the results.
    elem: Option<Elem>,
    indexed: bool,
    /// The description of the first producer.
    text: String,
}

fn start<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, indexed: bool) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let text = call.text(0).to_string();
    if let Some(part) = me.as_dynamic_part(x) {
        let (seq, elem) = (me.dynamic_seq(&part), Some(me.g.elem(part.all)));
        let (dims, lens) = (Rc::clone(&seq.dims), Rc::clone(&part.lens));
        return Ok(Value::Zip(Rc::new(Zip { parts: vec![seq], arrays: vec![part], dims, lens, elem, indexed, text })));
    }
    let (seq, array) = producer(me, x, range)?;
    let (dims, elem) = (Rc::clone(&seq.dims), array.map(|t| me.g.elem(t)));
    let lens = vec![None; dims.len()].into();
    let arrays = array.map(|t| me.fully_valid(t)).into_iter().collect();
    Ok(Value::Zip(Rc::new(Zip { parts: vec![seq], arrays, dims, lens, elem, indexed, text })))
}

/// The items of a producer: the elements of an array, place expressions for `&mut`, or the items of
/// an iterator.
fn producer<'a>(me: &mut Lower<'a>, x: &Value<'a>, range: SrcRange) -> Lowered<(Seq<'a>, Option<Term>)> {
    if let Value::Place(place) = x {
        let seq = me.seq_of_place(place)?;
        if !seq.whole() {
            return Err(me.error(range, catalogue::changing_length()));
        }
        let value = me.read_place(place)?;
        let array = matches!(value, Value::Term(_)).then(|| me.array(&value, range)).transpose()?;
        return Ok((seq, array));
    }
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
            Err(me.error(range, catalogue::expected(wanted::ZIP, &found)))
        }
    }
}

impl<'a> Zip<'a> {
    /// The number of parameters of a closure that gets its items.
    pub(crate) fn arity(&self) -> usize {
        self.parts.len() + usize::from(self.indexed)
    }

    /// Reports an error if the memory order of one of the arrays is unknown, since then the order
    /// of iteration is unknown, too.
    pub(crate) fn somewhere(&self, me: &mut Lower<'a>, range: SrcRange) -> Lowered<()> {
        if self.dims.len() > 1 && self.arrays.iter().any(|x| me.layouts().is_unknown(x.all)) {
            return Err(me.error(range, catalogue::folded_in_unknown_order()));
        }
        Ok(())
    }

    /// The arguments of a closure at an index.
    fn arguments(&self, me: &mut Lower<'a>, ix: &[Term]) -> Lowered<Vec<Value<'a>>> {
        let index = self.indexed.then(|| Ok(position(ix)));
        index.into_iter().chain(self.parts.iter().map(|part| (part.item)(me, ix))).collect()
    }

    /// The arguments of closures as tuples, in ndarray's order of iteration: by rows or by columns,
    /// which may depend on sizes.
    pub(crate) fn in_order(self: &Rc<Self>, me: &mut Lower<'a>) -> Seq<'a> {
        let open = self.lens.iter().any(Option::is_some);
        let columns = me.layouts().zip_of_parts_prefers_columns(&self.arrays, &self.sizes());
        let pick = move |me: &mut Lower<'a>, all: &[Term]| -> Vec<Term> {
            let one = |(&back, &forth): (&Term, &Term)| match me.g.bool_value(columns) {
                Some(columns) => [forth, back][usize::from(columns)],
                None => me.g.select(columns, back, forth),
            };
            all.iter().rev().zip(all).map(one).collect()
        };
        let (zip, sizes, lens) = (Rc::clone(self), pick(me, &self.dims), pick(me, &self.sizes()));
        let mut seq = Seq::new(sizes, move |me: &mut Lower<'a>, ix: &[Term]| {
            let ix = pick(me, ix);
            Ok(Value::Tuple(zip.arguments(me, &ix)?.into()))
        });
        if open {
            seq.lens = lens.into_iter().map(Some).collect();
        }
        seq
    }

    fn with(&self, seq: Seq<'a>, array: Option<DynamicPart>) -> Value<'a> {
        let (mut parts, mut arrays) = (self.parts.clone(), self.arrays.clone());
        parts.push(seq);
        arrays.extend(array);
        let (dims, lens, text) = (Rc::clone(&self.dims), Rc::clone(&self.lens), self.text.clone());
        Value::Zip(Rc::new(Zip { parts, arrays, dims, lens, elem: self.elem, indexed: self.indexed, text }))
    }

    /// The number of elements along each axis.
    fn sizes(&self) -> Vec<Term> {
        self.dims.iter().zip(&*self.lens).map(|(&n, len)| len.unwrap_or(n)).collect()
    }
}

fn and<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (x, range) = call.arg(1)?;
    if me.as_dynamic_part(x).is_some() || zip.lens.iter().any(Option::is_some) {
        let part = me.value_as_part(x, Want::Any, range)?;
        let (own, sizes) = (part.sizes(&me.g), zip.sizes());
        if own.len() != sizes.len() {
            return Err(me.error(range, catalogue::ranks_differ(sizes.len(), own.len())));
        }
        for (k, (&a, &b)) in sizes.iter().zip(&own).enumerate() {
            let words = [axis_words(&zip.text, k, sizes.len()), axis_words(call.text(1), k, sizes.len())];
            me.equate(a, b, words, range)?;
        }
        let seq = me.dynamic_seq(&part);
        return Ok(zip.with(seq, Some(part)));
    }
    let (seq, array) = zipped(me, zip, x, [zip.text.clone(), call.text(1).to_string()], range)?;
    let array = array.map(|t| me.fully_valid(t));
    Ok(zip.with(seq, array))
}

/// Adds a producer of the same shape.
fn zipped<'a>(
    me: &mut Lower<'a>,
    zip: &Zip<'a>,
    x: &Value<'a>,
    texts: [String; 2],
    range: SrcRange,
) -> Lowered<(Seq<'a>, Option<Term>)> {
    let (mut seq, array) = producer(me, x, range)?;
    let (own, dims) = (seq.dims.to_vec(), Rc::clone(&zip.dims));
    if own.len() != dims.len() {
        return Err(me.error(range, catalogue::ranks_differ(dims.len(), own.len())));
    }
    for (k, (&a, &b)) in dims.iter().zip(&own).enumerate() {
        let words = [axis_words(&texts[0], k, dims.len()), axis_words(&texts[1], k, dims.len())];
        me.equate(a, b, words, range)?;
    }
    let array = array.map(|t| me.g.recast(t, &dims));
    if let (Some(t), false) = (array, matches!(x, Value::Place(_))) {
        seq = me.seq_of(t);
    }
    Ok((seq, array))
}

fn and_broadcast<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (x, range) = call.arg(1)?;
    let array = me.of_any_rank(x, range)?;
    let t = me.broadcast_to(array, &zip.dims, [zip.text.clone(), call.text(1).to_string()], range)?;
    let (seq, array) = (me.seq_of(t), me.fully_valid(array));
    Ok(zip.with(seq, Some(array)))
}

fn map_collect<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    collected(me, zip, call.arg(1)?)
}

fn collected<'a>(me: &mut Lower<'a>, zip: &Zip<'a>, (f, range): (&Value<'a>, SrcRange)) -> Lowered<Value<'a>> {
    let want = zip.elem.map_or(Want::Any, Want::Elem);
    if zip.lens.iter().any(Option::is_some) {
        let made = me.map_dynamic(&zip.dims, &zip.lens, (range, want), &mut |me, ix| {
            let args = zip.arguments(me, ix)?;
            me.apply(f, &args, range)
        })?;
        return me.zipped_part(made, &zip.arrays, range);
    }
    let arrays: Vec<Term> = zip.arrays.iter().map(|x| x.all).collect();
    me.collected_by_zip(&arrays, &zip.dims, |me, sizes, reversed| {
        each(me, sizes, (range, want), &mut |me, ix| {
            let mut ix = ix.to_vec();
            if reversed {
                ix.reverse();
            }
            let args = zip.arguments(me, &ix)?;
            me.apply(f, &args, range)
        })
    })
}

/// The arguments of a `Zip`'s closure at an index.
pub(crate) fn zip_item<'a>(me: &mut Lower<'a>, items: &Seq<'a>, ix: &[Term]) -> Lowered<Vec<Value<'a>>> {
    match (items.item)(me, ix)? {
        Value::Tuple(parts) => Ok(parts.to_vec()),
        other => Ok(vec![other]),
    }
}

fn map_assign_into<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zip = zip(me, call)?;
    let (into, range) = call.arg(1)?;
    let Value::Place(place) = into else {
        return Err(me.error(range, catalogue::mutable_reference_expected(&me.describe(into))));
    };
    zipped(me, zip, into, [zip.text.clone(), call.text(1).to_string()], range)?;
    let made = collected(me, zip, call.arg(2)?)?;
    let old = me.read_place(place)?;
    let old = me.array(&old, range)?;
    let made = me.term_as(&made, Want::Elem(me.g.elem(old)), range)?;
    let shape = me.g.shape(old).to_vec();
    let made = me.g.recast(made, &shape);
    me.write_place(place, Value::Term(made))?;
    Ok(Value::Unit)
}

/// Refuses a function that is not a closure expression, since it might change anything. A closure
/// expression is lowered as a loop (`Lower::each_loop`).
fn of_closure<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let range = call.ranges.last().copied().unwrap_or(call.range);
    Err(me.error(range, catalogue::closure_in_its_place(call.name())))
}

/// `y += alpha * x`. Each product is rounded, as in ndarray.
fn scaled_add<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((alpha, ra), (x, rx)) = (call.arg(1)?, call.arg(2)?);
    let (place, part) = changed_part(me, call)?;
    if me.as_dynamic_part(x).is_some() || part.lens.iter().any(Option::is_some) {
        let want = Want::Elem(me.g.elem(part.all));
        let (alpha, x) = (me.value_as_part(alpha, want, ra)?, me.value_as_part(x, want, rx)?);
        if !me.g.elem(part.all).is_real() || me.g.elem(alpha.all) != me.g.elem(part.all) || !alpha.lens.is_empty() {
            let [a, b] = [part.all, alpha.all].map(|t| me.describe(&Value::Term(t)));
            return Err(me.error(call.range, catalogue::types_differ(&a, &b)));
        }
        let words = [call.text(0).to_string(), call.text(2).to_string()];
        let x = me.broadcast_part(&part, &x, &words, rx)?;
        let scaled = me.dynamic_arith(Arith::Mul, [&alpha, &x], [false, true], (&words, call.range))?;
        let scaled = me.value_as_part(&scaled, want, rx)?;
        let sum = me.dynamic_arith(Arith::Add, [&part, &scaled], [false, true], (&words, call.range))?;
        me.write_over(&place, &Value::Term(part.all), sum)?;
        return Ok(Value::Unit);
    }
    let (place, t) = crate::changes::changed(me, call)?;
    let want = Want::Elem(me.g.elem(t));
    let (alpha, x) = (me.term_as(alpha, want, ra)?, me.term_as(x, want, rx)?);
    if !me.g.elem(t).is_real()
        || me.g.elem(alpha) != me.g.elem(t)
        || me.g.elem(x) != me.g.elem(t)
        || me.g.rank(alpha) > 0
    {
        let [a, b] = [t, if me.g.elem(x) == me.g.elem(t) { alpha } else { x }].map(|t| me.describe(&Value::Term(t)));
        return Err(me.error(call.range, catalogue::types_differ(&a, &b)));
    }
    let shape = me.g.shape(t).to_vec();
    let x = me.broadcast_to(x, &shape, [call.text(0).to_string(), call.text(2).to_string()], rx)?;
    let alpha = me.g.broadcast(alpha, &shape);
    let scaled = me.g.mul(alpha, x);
    let sum = me.g.add(t, scaled);
    me.write_place(&place, Value::Term(sum))?;
    Ok(Value::Unit)
}

impl<'a> Lower<'a> {
    /// The items of a method that changes its receiver through a closure: `a.map_inplace(f)`,
    /// `a.zip_mut_with(&b, f)`.
    pub(crate) fn changed_items(&mut self, m: &'a syn::ExprMethodCall) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&m.receiver);
        let place = Value::Place(Rc::new(self.place(&m.receiver)?));
        if let Some(row) = table::find(On::Place, &m.method.to_string()) {
            self.assume_method(m, row, &place);
        }
        let (seq, array) = producer(self, &place, range)?;
        let text = ad_ir::diag::text_of(&m.receiver, 30);
        let (dims, lens) = (Rc::clone(&seq.dims), vec![None; seq.dims.len()].into());
        let arrays = array.map(|t| self.fully_valid(t)).into_iter().collect();
        let zip = Zip { parts: vec![seq], arrays, dims, lens, elem: None, indexed: false, text };
        let Some(other) = m.args.first().filter(|_| m.args.len() == 2) else { return Ok(Value::Zip(Rc::new(zip))) };
        let (other, range) = (self.expr(other)?, SrcRange::of(other));
        let other = self.of_any_rank(&other, range)?;
        let words = [zip.text.clone(), ad_ir::diag::text_of(&m.args[0], 30)];
        let t = self.broadcast_to(other, &zip.dims, words, range)?;
        let (seq, other) = (self.seq_of(t), self.fully_valid(other));
        Ok(zip.with(seq, Some(other)))
    }
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
    /// Broadcasts `t` as ndarray's `broadcast` does: the trailing axes are equal, or have a size
    /// that is known to be 1.
    pub(crate) fn broadcast_to(
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

    /// An array or a scalar. An array of rank 0 is a scalar here.
    pub(crate) fn of_any_rank(&mut self, x: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        match x {
            Value::Term(t) | Value::Nested(t, _) => Ok(*t),
            Value::List(_) | Value::Matrix(_) | Value::Filled(..) | Value::DynamicPart(_) => self.array(x, range),
            // The type of the constant is not known.
            Value::Number(n) if n.outer().is_some() => self.array(x, range),
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(wanted::ARRAY, &found)))
            }
        }
    }

    /// The product of sizes of an existing array. It does not overflow.
    pub(crate) fn product_of(&mut self, sizes: &[Term]) -> Term {
        let one = self.g.lit_usize(1);
        sizes.iter().fold(one, |n, &size| self.g.int(ad_ir::prim::IntOp::Mul, n, size))
    }
}

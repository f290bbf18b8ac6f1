//! Methods and functions of parts with dynamic length (`front::open`): `x.slice(s![..i]).sum()`,
//! `a.slice(s![k.., k..]).dot(&v)`. Each operates on the array of the capacity, with a padding that
//! does not change the result: a sum is over zeros there.
//!
//! If a decision reads a sum along one axis, the sum also has ndarray's own order. ndarray adds
//! contiguous elements in eight lanes and the rest one by one (`numeric_util::unrolled_fold`), and
//! other elements one by one.
//!
//! Invariant: the padding does not reach a value or a derivative.

use std::rc::Rc;

use crate::arith::axis_words;
use crate::functions::{all_axes, sum_over};
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::slice::{Cut, SliceAxis};
use crate::table::{Call, Neutral};
use crate::value::{Lowered, Range, Seq, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Contraction, Elem, Lit, Node, Term, axis};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp, Reduce};

/// A `maximum` or `minimum`: the padding is NaN for reals and the end of the type's range for
/// integers.
fn extremum<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>, largest: bool) -> Lowered<Value<'a>> {
    let elem = me.g.elem(x.all);
    if elem == Elem::Bool {
        return me.call_whole(call);
    }
    let zero = me.g.lit_usize(0);
    for n in x.sizes(&me.g) {
        me.require_lt(zero, n, &format!("{} of an empty array", call.name()));
    }
    // This element is never selected.
    let fill = match elem {
        Elem::Real(ty) => me.g.lit_real(ty, f64::NAN),
        Elem::Int(ty) => {
            let (low, high) = ty.range();
            me.g.lit(Lit::Int(ty, if largest { low } else { high }))
        }
        Elem::Bool => return Err(Poison),
    };
    let t = me.padded_with(x, fill);
    me.unchecked(|me| me.call(&call.of(Value::Term(t))))
}

/// `maximum(&part)`, `argmax(&part)`.
pub(crate) fn largest<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, x, call, true)
}

/// `minimum(&part)`, `argmin(&part)`.
pub(crate) fn smallest<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, x, call, false)
}

/// `softmax(&part)`. The padding is minus infinity.
pub(crate) fn softmax<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let elem = me.g.elem(x.all);
    let Some(nothing) = Neutral::MinusInfinity.term(me, elem) else { return me.call_whole(call) };
    let t = me.padded_with(x, nothing);
    Ok(match me.with_valid_lengths(x, |me| me.call(&call.of(Value::Term(t))))? {
        Value::Term(t) => me.new_part(t, &x.lens),
        value => value,
    })
}

/// `sum_outer(&part)`.
pub(crate) fn sum_outer<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let t = me.with_zeros(x);
    let made = me.with_valid_lengths(x, |me| me.call(&call.of(Value::Term(t))))?;
    let Value::Term(t) = made else { return Err(Poison) };
    Ok(me.new_part(t, &x.lens[1..]))
}

/// `part.t()`.
pub(crate) fn transposed<'a>(me: &mut Lower<'a>, x: &DynamicPart, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let perm: Vec<u8> = all_axes(me, x.all).into_iter().rev().collect();
    let t = me.g.transpose(x.all, &perm);
    let lens: Vec<Option<Term>> = x.lens.iter().rev().copied().collect();
    Ok(me.dynamic_part(t, &lens))
}

/// `part.insert_axis(Axis(k))`.
pub(crate) fn insert_axis<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let k = super::sizes::axis_at(me, call, 1, x.lens.len() + 1)?;
    let one = me.g.lit_usize(1);
    let t = me.g.replicate_axes(x.all, &[axis(k)], &[one]);
    let mut lens = x.lens.to_vec();
    lens.insert(k, None);
    Ok(me.dynamic_part(t, &lens))
}

/// `part.outer_iter()`.
pub(crate) fn outer_iter<'a>(me: &mut Lower<'a>, x: &DynamicPart, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    items(me, x, 0, 1)
}

/// `part.axis_iter(Axis(k))`.
pub(crate) fn axis_iter<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let axis = super::sizes::axis_arg(me, call, x.all)?;
    items(me, x, axis, 1)
}

/// `part.rows()`.
pub(crate) fn rows<'a>(me: &mut Lower<'a>, x: &DynamicPart, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    items(me, x, 0, x.lens.len().saturating_sub(1))
}

/// `part.columns()`.
pub(crate) fn columns<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    if x.lens.len() == 2 { items(me, x, 1, 1) } else { me.call_whole(call) }
}

/// `part.indexed_iter()`.
pub(crate) fn indexed_iter<'a>(me: &mut Lower<'a>, x: &DynamicPart, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let seq = me.dynamic_seq(x);
    let item = Rc::clone(&seq.item);
    let item = move |me: &mut Lower<'a>, ix: &[Term]| {
        let element = item(me, ix)?;
        Ok(Value::Tuple([super::construct::position(ix), element].into()))
    };
    Ok(Value::Seq(Seq { item: Rc::new(item), ..seq }))
}

/// `part.fold(init, f)`: over the elements in the order of ndarray.
pub(crate) fn fold<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let met = me.layouts().folded_part(x);
    let items = Value::Seq(me.dynamic_seq(&met));
    crate::recur::fold_items(me, &call.of(items))
}

/// `Array1::from(part)`.
pub(crate) fn from_vector<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    match call.arg(0)? {
        (Value::DynamicPart(_), _) => me.call_whole(call),
        _ => Ok(Value::DynamicPart(Rc::new(x.clone()))),
    }
}

/// `part.sum_axis(Axis(k))`.
pub(crate) fn sum_axis<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let k = super::sizes::axis_arg(me, call, x.all)?;
    sum_along(me, x, k, call.arg(0)?.1)
}

fn sum_along<'a>(me: &mut Lower<'a>, x: &DynamicPart, k: usize, range: SrcRange) -> Lowered<Value<'a>> {
    let t = me.with_zeros(x);
    let relaxed = sum_over(me, t, &[axis(k)], range)?;
    Ok(me.exact_sum_axis_of_part(relaxed, x, k))
}

/// `part.mapv(f)`.
pub(crate) fn map<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (f, rf) = call.arg(1)?;
    if let (Value::Function(row, _), true) = (f, me.g.elem(x.all).is_real())
        && let Some(op) = row.unary()
    {
        let t = me.g.unary(op, x.all);
        return Ok(me.part_like(t, x));
    }
    let (capacities, want) = (me.g.shape(x.all).to_vec(), Want::Elem(me.g.elem(x.all)));
    let made = me.map_dynamic(&capacities, &x.lens, (rf, want), &mut |me, ix| {
        let element = me.g.index(x.all, ix);
        me.apply(f, &[Value::Term(element)], rf)
    })?;
    let made = me.value_as_part(&made, Want::Any, rf)?;
    Ok(me.part_like(made.all, &DynamicPart { all: x.all, lens: made.lens }))
}

/// `map2(&a, &b, f)`.
pub(crate) fn map2<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb), (f, rf)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let (a, b) = (me.value_as_part(a, Want::Any, ra)?, me.value_as_part(b, Want::Any, rb)?);
    if me.g.ty(a.all).as_array().map(|t| (t.0, t.1.len())) != me.g.ty(b.all).as_array().map(|t| (t.0, t.1.len())) {
        let (a, b) = (me.describe(&Value::Term(a.all)), me.describe(&Value::Term(b.all)));
        return Err(me.error(call.range, catalogue::types_differ(&a, &b)));
    }
    let words = [call.text(0).to_string(), call.text(1).to_string()];
    let pair = me.dynamic_pair(&a, &b, &words, rb)?;
    let (capacities, want) = (me.g.shape(pair.a).to_vec(), Want::Elem(me.g.elem(pair.a)));
    me.map_dynamic(&capacities, &pair.lens, (rf, want), &mut |me, ix| {
        let both = [pair.a, pair.b].map(|x| Value::Term(me.g.index(x, ix)));
        me.apply(f, &both, rf)
    })
}

fn matrix(me: &mut Lower<'_>, x: &DynamicPart, call: &Call<'_, '_>) -> Lowered<()> {
    match x.lens.len() {
        2 => Ok(()),
        rank => Err(me.error(call.range, catalogue::rows_of_no_matrix(call.name(), rank))),
    }
}

/// `part.row(i)`.
pub(crate) fn row<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    matrix(me, x, call)?;
    at_axis(me, x, call, 0, 1)
}

/// `part.column(j)`.
pub(crate) fn column<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    matrix(me, x, call)?;
    at_axis(me, x, call, 1, 1)
}

/// `part.index_axis(Axis(k), i)`.
pub(crate) fn index_axis<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let axis = super::sizes::axis_arg(me, call, x.all)?;
    at_axis(me, x, call, axis, 2)
}

/// The part at an index of an axis. Argument number `index` is the index.
fn at_axis<'a>(
    me: &mut Lower<'a>,
    x: &DynamicPart,
    call: &Call<'a, '_>,
    axis: usize,
    index: usize,
) -> Lowered<Value<'a>> {
    let rank = x.lens.len();
    let (i, ri) = call.arg(index)?;
    let i = me.usize(i, ri)?;
    let (sizes, capacities) = (x.sizes(&me.g), me.g.shape(x.all).to_vec());
    me.require_index(i, sizes[axis], axis_words(call.text(0), axis, rank));
    let mut cuts = me.whole(&sizes, &capacities);
    cuts[axis] = Cut::index(i);
    Ok(me.slice_value(x.all, &cuts))
}

/// The parts at each index of some axes.
fn items<'a>(me: &mut Lower<'a>, x: &DynamicPart, first: usize, axes: usize) -> Lowered<Value<'a>> {
    let rank = x.lens.len();
    let order: Vec<usize> =
        (first..first + axes).chain((0..rank).filter(|k| !(first..first + axes).contains(k))).collect();
    let perm: Vec<u8> = order.iter().map(|&k| axis(k)).collect();
    let all = me.g.transpose(x.all, &perm);
    let lens: Vec<Option<Term>> = order.iter().map(|&k| x.lens[k]).collect();
    let rest: Rc<[Option<Term>]> = lens[axes..].into();
    let mut seq = Seq::new(&me.g.shape(all)[..axes], move |me: &mut Lower<'a>, ix: &[Term]| {
        let part = me.g.index(all, ix);
        Ok(me.dynamic_part(part, &rest))
    });
    me.filter_valid(&mut seq, &lens);
    Ok(Value::Seq(seq))
}

impl<'a> Lower<'a> {
    /// The sum of the first `len` of these numbers, which are products of the arrays `of`. `near`
    /// says whether they are contiguous.
    fn sum_of_first(&mut self, t: Term, len: Term, (near, of): (Term, [Term; 2])) -> Term {
        let capacity = self.g.shape(t)[0];
        let zero = self.g.zero(self.g.elem(t));
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let exists = self.g.compare(Cmp::Lt, i, len);
        let x = self.g.index(t, &[i]);
        let x = self.g.cond(exists, x, zero);
        let items = self.g.build(capacity, var, x);
        let relaxed = self.g.sum_all(items);
        match self.exact_of_first(t, len, near) {
            Some(exact) => {
                let exact = self.layouts().of_known(exact, of);
                self.g.relaxed_exact(relaxed, exact)
            }
            None => relaxed,
        }
    }

    /// The sum of the first `len` of these numbers in ndarray's order, if they are real.
    fn exact_of_first(&mut self, t: Term, len: Term, near: Term) -> Option<Term> {
        let Elem::Real(ty) = self.g.elem(t) else { return None };
        let zero = self.g.lit_real(ty, 0.0);
        // This is the neutral element of a sum, which keeps the sign of -0.
        let nothing = self.g.lit_real(ty, -0.0);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let exists = self.g.compare(Cmp::Lt, i, len);
        let x = self.g.index(t, &[i]);
        let x = self.g.cond(exists, x, nothing);
        let items = self.g.build(self.g.shape(t)[0], var, x);
        let slow = self.g.reduce(Reduce::InOrder, 1, items);
        let slow = self.g.add(zero, slow);
        let fast = self.g.reduce_first(Reduce::Unrolled, t, len);
        Some(match self.g.bool_value(near) {
            Some(true) => fast,
            Some(false) => slow,
            None => self.g.cond(near, fast, slow),
        })
    }

    /// The products of the rows of a matrix (or the columns of its transpose) with a vector, in
    /// ndarray's order. Each is a product of two vectors with `len` valid elements.
    fn exact_rows(&mut self, (matrix, inner): (Term, usize), vector: Term, len: Term) -> Lowered<Option<Term>> {
        let (near, also) = (self.layouts().lanes_are_slices(matrix, inner), self.layouts().vector_is_slice(vector));
        let near = self.g.and(near, also);
        let (rows, capacity) = (self.g.shape(matrix)[1 - inner], self.g.shape(vector)[0]);
        let (row, var) = (self.g.fresh(), self.g.fresh());
        let (r, i) = (self.g.mk(Node::Var(row)), self.g.mk(Node::Var(var)));
        let at = if inner == 1 { [r, i] } else { [i, r] };
        let (x, y) = (self.g.index(matrix, &at), self.g.index(vector, &[i]));
        let product = self.g.mul(x, y);
        let products = self.g.build(capacity, var, product);
        let own = self.exact_of_first(products, len, near);
        let own = own.map(|own| self.g.build(rows, row, own));
        Ok(own.map(|own| self.layouts().of_known(own, [matrix, vector])))
    }
}

/// `x.slice(s![..i]).sum()`.
pub(crate) fn sum<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(sum_of_all(me, x, call.arg(0)?.1)?))
}

fn sum_of_all<'a>(me: &mut Lower<'a>, x: &DynamicPart, range: SrcRange) -> Lowered<Term> {
    let (t, axes) = (me.with_zeros(x), all_axes(me, x.all));
    let relaxed = sum_over(me, t, &axes, range)?;
    Ok(me.layouts().sum_of_part(relaxed, x))
}

/// `x.slice(s![..i]).mean()`.
pub(crate) fn mean<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, range) = call.arg(0)?;
    let sum = sum_of_all(me, x, range)?;
    let sum = me.real_term(&Value::Term(sum), range)?;
    let sizes = x.sizes(&me.g);
    let (n, zero) = (me.product_of(&sizes), me.g.lit_usize(0));
    let (count, exists) = (me.g.cast(me.g.elem(sum), n), me.g.compare(Cmp::Gt, n, zero));
    // The division is used only if there is an element, since the sum of none has a derivative.
    let one = me.g.lit_like(sum, 1.0);
    let count = me.g.select(exists, count, one);
    Ok(Value::Option(Value::Term(me.g.div(sum, count)).into(), exists))
}

/// `part.mean_axis(Axis(k))`.
pub(crate) fn mean_axis<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (k, (_, range)) = (super::sizes::axis_arg(me, call, x.all)?, call.arg(0)?);
    let real = me.real_term(&Value::Term(x.all), range)?;
    let summed = sum_along(me, &DynamicPart { all: real, lens: Rc::clone(&x.lens) }, k, range)?;
    let DynamicPart { all: sum, lens } = me.value_as_part(&summed, Want::Any, range)?;
    let t = sum;
    let (n, zero) = (x.sizes(&me.g)[k], me.g.lit_usize(0));
    let (elem, exists) = (me.g.elem(t), me.g.compare(Cmp::Gt, n, zero));
    let (count, one) = (me.g.cast(elem, n), super::construct::constant(me, elem, 1));
    let count = me.g.select(exists, count, one);
    let shape = me.g.shape(sum).to_vec();
    let count = me.g.broadcast(count, &shape);
    let mean = me.g.div(sum, count);
    let mean = me.part_like(mean, &DynamicPart { all: sum, lens });
    Ok(Value::Option(mean.into(), exists))
}

/// `part.var(ddof)`.
pub(crate) fn var<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::Term(variance(me, x, call)?))
}

/// `part.std(ddof)`.
pub(crate) fn std<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let variance = variance(me, x, call)?;
    Ok(Value::Term(super::reduce::root(me, variance)))
}

/// The variance from the distances to the mean. They are zero in the padding.
fn variance<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Term> {
    let ((_, range), (ddof, rd)) = (call.arg(0)?, call.arg(1)?);
    let t = me.real_term(&Value::Term(x.all), range)?;
    let (elem, shape) = (me.g.elem(t), me.g.shape(t).to_vec());
    let ddof = me.term_as(ddof, Want::Elem(elem), rd)?;
    if me.g.elem(ddof) != elem || me.g.rank(ddof) > 0 {
        let found = me.describe(&Value::Term(ddof));
        return Err(me.error(rd, catalogue::expected("a real number", &found)));
    }
    let sizes = x.sizes(&me.g);
    let n = me.product_of(&sizes);
    let count = me.g.cast(elem, n);
    let zero = me.g.lit_like(ddof, 0.0);
    // The condition of ndarray is negated, so that a NaN passes.
    let (below, above) = (me.g.compare(Cmp::Lt, ddof, zero), me.g.compare(Cmp::Gt, ddof, count));
    let outside = me.g.or(below, above);
    let ok = me.g.not(outside);
    me.require(None, ok, "`ddof` is negative, or greater than the number of elements");
    let sum = sum_of_all(me, x, range)?;
    let mean = me.g.div(sum, count);
    let means = me.g.broadcast(mean, &shape);
    let distance = me.g.sub(t, means);
    let square = me.g.mul(distance, distance);
    let squares = me.with_zeros(&DynamicPart { all: square, lens: Rc::clone(&x.lens) });
    let (total, freedom) = (me.g.sum_all(squares), me.g.sub(count, ddof));
    let met = me.layouts().folded_part(&DynamicPart { all: t, lens: Rc::clone(&x.lens) });
    let exact = me.layouts().reduce_part(Reduce::Distances, 1, &met);
    let total = me.g.relaxed_exact(total, exact);
    Ok(me.g.div(total, freedom))
}

/// `part.diag()`. Its length is the minimum of the sizes.
pub(crate) fn diag<'a>(me: &mut Lower<'a>, x: &DynamicPart, _: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let least = |me: &mut Lower<'a>, sizes: &[Term]| {
        let first = sizes.first().copied().unwrap_or_else(|| me.g.lit_usize(1));
        sizes.iter().fold(first, |least, &n| if n == least { n } else { me.g.int(IntOp::Min, least, n) })
    };
    let (capacities, sizes) = (me.g.shape(x.all).to_vec(), x.sizes(&me.g));
    let (capacity, len) = (least(me, &capacities), least(me, &sizes));
    let var = me.g.fresh();
    let i = me.g.mk(Node::Var(var));
    let all = me.g.gather(x.all, [capacity].into(), &[var], &vec![i; capacities.len()]);
    Ok(me.dynamic_part(all, &[Some(len)]))
}

/// `part.split_at(Axis(k), i)`.
pub(crate) fn split_at<'a>(me: &mut Lower<'a>, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (axis, (at, ra)) = match call.args.len() {
        3 => (super::sizes::axis_arg(me, call, x.all)?, call.arg(2)?),
        _ => (0, call.arg(1)?),
    };
    let at = me.usize(at, ra)?;
    let mut part = |start: Option<Term>, end: Option<Term>| {
        let range = |start: Option<Term>, end: Option<Term>| {
            let (start, end) = (start.map(Value::Term), end.map(Value::Term));
            SliceAxis::Range(Rc::new(Range { start, end, inclusive: false, key: None }), None)
        };
        let mut axes: Vec<SliceAxis> = (0..axis).map(|_| range(None, None)).collect();
        axes.push(range(start, end));
        me.part_of(x, &axes, call.range)
    };
    let (before, after) = (part(None, Some(at))?, part(Some(at), None)?);
    Ok(Value::Tuple([before, after].into()))
}

/// Products of vectors and matrices, at least one of which has a dynamic length.
pub(crate) fn dot<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.value_as_part(a, Want::Any, ra)?, me.value_as_part(b, Want::Any, rb)?);
    let (ea, eb) = (me.g.elem(a.all), me.g.elem(b.all));
    let (na, nb) = (a.lens.len(), b.lens.len());
    if ea != eb || !ea.is_real() || !(1..=2).contains(&na) || !(1..=2).contains(&nb) {
        let (a, b) = (me.describe(&Value::Term(a.all)), me.describe(&Value::Term(b.all)));
        return Err(me.error(call.range, catalogue::dot(&a, &b)));
    }
    let (sa, sb) = (a.sizes(&me.g), b.sizes(&me.g));
    let (n, m) = (sa[na - 1], sb[0]);
    if n != m {
        let same = me.g.compare(Cmp::Eq, n, m);
        me.require(None, same, ad_ir::catalogue::reached::PRODUCT_OF_LENGTHS);
    }
    if let (1, 1) = (na, nb) {
        let near = (me.layouts().vector_is_slice(a.all), me.layouts().vector_is_slice(b.all));
        let near = me.g.and(near.0, near.1);
        let (x, y) = (me.g.shape(a.all)[0], me.g.shape(b.all)[0]);
        let capacity = if x == y { x } else { me.g.int(IntOp::Min, x, y) };
        let var = me.g.fresh();
        let i = me.g.mk(Node::Var(var));
        let (x, y) = (me.g.index(a.all, &[i]), me.g.index(b.all, &[i]));
        let product = me.g.mul(x, y);
        let products = me.g.build(capacity, var, product);
        return Ok(Value::Term(me.sum_of_first(products, n, (near, [a.all, b.all]))));
    }
    // The padding of both operands is zero, since zero times an unspecified number need not be
    // zero.
    let (mut capacities, mut lens) =
        ((me.g.shape(a.all).to_vec(), me.g.shape(b.all).to_vec()), (a.lens.to_vec(), b.lens.to_vec()));
    let (ka, kb) = (capacities.0[na - 1], capacities.1[0]);
    let (capacity, len) = match (lens.0[na - 1], lens.1[0]) {
        (None, _) => (ka, None),
        (_, None) => (kb, None),
        (len, _) if ka == kb => (ka, len),
        (len, _) => (me.g.int(IntOp::Min, ka, kb), len),
    };
    (capacities.0[na - 1], capacities.1[0], lens.0[na - 1], lens.1[0]) = (capacity, capacity, len, len);
    let x = DynamicPart { all: me.resized_to(a.all, &capacities.0), lens: lens.0.clone().into() };
    let y = DynamicPart { all: me.resized_to(b.all, &capacities.1), lens: lens.1.clone().into() };
    let exact = match (na, nb) {
        (2, 1) => me.exact_rows((x.all, 1), y.all, n)?,
        (1, 2) => me.exact_rows((y.all, 0), x.all, n)?,
        _ => None,
    };
    let (x, y) = match na + nb {
        3 => (me.with_zeros_in_rows(&x), me.with_zeros_in_rows(&y)),
        _ => (me.with_zeros(&x), me.with_zeros(&y)),
    };
    let labels: (&[u8], &[u8], &[u8]) = match (na, nb) {
        (2, 1) => (&[0, 1], &[1], &[0]),
        (1, 2) => (&[0], &[0, 1], &[1]),
        _ => (&[0, 1], &[1, 2], &[0, 2]),
    };
    let spec = Contraction::new(labels.0, labels.1, labels.2);
    let mut t = me.g.contract(x, y, spec);
    if let Some(exact) = exact.filter(|&exact| me.g.ty(exact) == me.g.ty(t)) {
        t = me.g.relaxed_exact(t, exact);
    }
    let left: Vec<Option<Term>> = lens.0[..na - 1].iter().chain(&lens.1[1..]).copied().collect();
    Ok(me.part_of_product(t, &left, [&a, &b]))
}

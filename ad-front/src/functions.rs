//! The functions of the DSL in core terms. `ad::prelude` defines their meaning.

use std::rc::Rc;

use super::arith::Selection;
use super::checkpoint::{checkpoint, with_terms};
use super::lower::Lower;
use super::methods::parts;
use super::open::DynamicPart;
use super::refs::results;
use super::table::{Call, Neutral, On, OnDynamicParts, Row, row};
use super::value::{Lowered, Seq, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, RealTy, Term};
use ad_ir::memory_order::{HasLayouts, ResultOrder};
use ad_ir::prim::{Binary, Cmp, Prim, Reduce, Unary};
use ad_ir::program::{AssumedFunction, Home};

/// Functions that build arrays from functions of the index.
pub(super) const BUILDING: &[Row] = &[
    row("build1", On::Dsl, (2, 2), build1, "element i is f(i), a scalar or an array")
        .called("0, |_| 0.0_f64")
        .gives(results::built),
    row("build", On::Dsl, (2, 2), build, "element [i, j, ..] is f([i, j, ..])")
        .called("[0], |_: [usize; 1]| 0.0_f64")
        .gives(results::built_by_indices),
    row("gather", On::Dsl, (3, 3), gather, "element ix is x[f(ix)]")
        .called("[0], x_, |i_: [usize; 1]| i_")
        .gives(results::built_by_indices),
    row("scatter", On::Dsl, (3, 3), scatter, "zeros, to which x[ix] is added at f(ix)")
        .called("[0], x_, |i_: [usize; 1]| i_")
        .gives(results::built_by_indices),
    row("iota", On::Dsl, (1, 1), iota, "0, 1, .., n - 1").called("0").gives(results::array),
    row("replicate", On::Dsl, (2, 2), replicate, "n times the same, along a new first axis")
        .called("0, 0.0_f64")
        .gives(results::array),
    row("one_hot", On::Dsl, (2, 2), one_hot, "zeros with a one at i")
        .called_as(AssumedFunction {
            home: Home::Prelude,
            arguments: "0, 0",
            result: Some("$crate::ndarray::Array1<f64>"),
        })
        .gives(results::array),
];

/// Reductions. Real numbers are reduced in the order of `ad_runtime::dsl`.
pub(super) const REDUCING: &[Row] = &[
    row("sum", On::Dsl, (1, 1), sum_in_lanes, "sum of all elements")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::Reduction(Neutral::Zero)),
    row("sum_outer", On::Dsl, (1, 1), sum_outer, "sum over the first axis")
        .called("x_")
        .gives(results::array)
        .parts(OnDynamicParts::By(parts::sum_outer)),
    row("maximum", On::Dsl, (1, 1), maximum, "largest element")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::largest)),
    row("minimum", On::Dsl, (1, 1), minimum, "smallest element")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::smallest)),
    row("norm", On::Dsl, (1, 1), norm, "square root of the sum of squares")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::Reduction(Neutral::Zero)),
    row("softmax", On::Dsl, (1, 1), softmax, "exponentials by their sum, along the last axis")
        .called("x_")
        .gives(results::array)
        .parts(OnDynamicParts::By(parts::softmax)),
    // The padding follows the valid elements, and none of them reads it.
    row("cumsum", On::Dsl, (1, 1), cumsum, "sums of the elements so far, along the last axis")
        .called("x_")
        .gives(results::array)
        .parts(OnDynamicParts::Elementwise),
    row("argmax", On::Dsl, (1, 1), argmax, "index of the first largest element")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::largest)),
    row("argmin", On::Dsl, (1, 1), argmin, "index of the first smallest element")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::By(parts::smallest)),
    row("logsumexp", On::Dsl, (1, 1), logsumexp, "logarithm of the sum of exponentials")
        .called("x_")
        .gives(results::number)
        .parts(OnDynamicParts::Reduction(Neutral::MinusInfinity)),
];

/// Functions that select one of two values.
pub(super) const CHOOSING: &[Row] = &[
    row("select", On::Dsl, (3, 3), select, "a where c, else b: both are computed")
        .order(ResultOrder::Given)
        .called("true, 0.0_f64, 0.0_f64"),
    row("stop_gradient", On::Dsl, (1, 1), stop_gradient, "the same value, as a constant: no derivative goes there")
        .order(ResultOrder::Given)
        .called("0.0_f64"),
    row("checkpoint", On::Dsl, (1, 1), checkpoint, "the value of a closure, computed again in a derivative")
        .order(ResultOrder::Given)
        .called("|| 0.0_f64"),
];

/// Functions that hold a value.
pub(super) const HOLDING: &[Row] =
    &[row("Box::new", On::Std, (1, 1), boxed, "the value itself, in a `Box`").order(ResultOrder::Given)];

/// A box has the representation of its content.
fn boxed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (value, _) = call.arg(0)?;
    match value {
        Value::Place(place) => me.read_place(place),
        value => Ok(value.clone()),
    }
}

impl<'a> Lower<'a> {
    /// A closed bound of the number of elements of a `build1`, if enclosing loops decide it.
    fn capacity_of_build(&mut self, count: Term, (f, rf): (&Value<'a>, SrcRange), range: SrcRange) -> Lowered<Term> {
        if let Some(most) = self.most(count) {
            return Ok(most);
        }
        let (endless, f) = (self.g.lit_usize(usize::MAX), f.clone());
        let mut elements = Seq::new([endless], move |me: &mut Lower<'a>, ix: &[Term]| {
            me.apply(&f, &[Value::Term(ix.first().copied().ok_or(Poison)?)], rf)
        });
        elements.len = Some(count);
        self.bound_items(&mut elements, range);
        if self.ends_by_test(&elements) {
            return Err(self.error(range, catalogue::array_size_depends_on_index()));
        }
        elements.dims.first().copied().ok_or(Poison)
    }
}

fn build1<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((n, rn), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let count = me.usize(n, rn)?;
    if me.closed(count).is_none() {
        let (capacity, len) = (me.capacity_of_build(count, (f, rf), rn)?, count);
        let t = me.build_with(capacity, rf, |me, i| {
            let exists = me.g.compare(Cmp::Lt, i, len);
            let t = me.under(exists, true, |me| {
                let value = me.apply(f, &[Value::Term(i)], rf)?;
                me.term(&value, rf)
            })?;
            let (shape, zero) = (me.g.shape(t).to_vec(), me.g.zero(me.g.elem(t)));
            let zeros = me.g.broadcast(zero, &shape);
            let made = me.g.cond(exists, t, zeros);
            me.inference.inherit_literals(&me.g, made, t);
            Ok(Value::Term(made))
        })?;
        let more = me.g.rank(t) - 1;
        let lens: Vec<Option<Term>> = std::iter::once(Some(len)).chain(std::iter::repeat_n(None, more)).collect();
        return Ok(me.new_part(t, &lens));
    }
    let n = me.size(n, rn)?;
    let t = me.build_with(n, rf, |me, i| match me.apply(f, &[Value::Term(i)], rf)? {
        Value::DynamicPart(_) => Err(me.error(rf, catalogue::size_depends_on_index())),
        element => Ok(element),
    })?;
    Ok(Value::Term(t))
}

fn index_list<'a>(ix: &[Term]) -> Value<'a> {
    Value::List(ix.iter().map(|&i| Value::Term(i)).collect())
}

fn build<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((shape, rs), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let (sizes, lens) = me.dynamic_size_list(shape, rs)?;
    if lens.iter().any(Option::is_some) {
        return me.map_dynamic(&sizes, &lens, (rf, Want::Any), &mut |me, ix| me.apply(f, &[index_list(ix)], rf));
    }
    let t = me.build_all(&sizes, rf, &mut |me, ix| {
        let value = me.apply(f, &[index_list(ix)], rf)?;
        let t = me.term(&value, rf)?;
        if me.g.rank(t) > 0 {
            return Err(me.error(rf, catalogue::build_of_arrays()));
        }
        Ok(Value::Term(t))
    })?;
    Ok(Value::Term(t))
}

/// The indices that a closure returns, each checked against its axis, and the variables of the
/// enclosing builds.
fn mapped_index<'a>(
    me: &mut Lower<'a>,
    sizes: &[Term],
    into: &[Term],
    (f, range, text): (&Value<'a>, SrcRange, &str),
) -> Lowered<(Vec<ad_ir::ir::Var>, Vec<Term>)> {
    let (vars, index) = me.in_loops(sizes, &mut |me, ix| {
        let value = me.apply(f, &[index_list(ix)], range)?;
        let parts: Vec<Value> = match &value {
            Value::List(parts) => parts.to_vec(),
            other => vec![other.clone()],
        };
        if parts.len() != into.len() {
            return Err(me.error(range, catalogue::index_rank(parts.len(), into.len())));
        }
        let mut index = Vec::new();
        for (part, &size) in parts.iter().zip(into) {
            let i = me.usize(part, range)?;
            me.require_index(i, size, super::arith::axis_words(text, index.len(), into.len()));
            index.push(i);
        }
        Ok(index)
    });
    Ok((vars, index?))
}

fn gather<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((shape, rs), (x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let (sizes, x) = (me.sizes(shape, rs), me.array(x, rx));
    let (sizes, x) = (sizes?, x?);
    let into = me.g.shape(x).to_vec();
    let (vars, index) = mapped_index(me, &sizes, &into, (f, rf, call.text(1)))?;
    let t = me.g.gather(x, sizes.into(), &vars, &index);
    Ok(Value::Term(t))
}

fn scatter<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((shape, rs), (x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let (sizes, x) = (me.sizes(shape, rs), me.array(x, rx));
    let (sizes, x) = (sizes?, x?);
    if !me.g.elem(x).is_real() {
        let found = me.describe(&Value::Term(x));
        return Err(me.error(rx, catalogue::expected(wanted::REALS, &found)));
    }
    let from = me.g.shape(x).to_vec();
    let (vars, index) = mapped_index(me, &from, &sizes, (f, rf, "the result"))?;
    let elem = me.g.elem(x);
    let zeros = me.g.lit_shaped(elem, &sizes, 0.0);
    Ok(Value::Term(me.g.scatter(zeros, x, &vars, &index)))
}

fn iota<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(0)?;
    let n = me.size(n, range)?;
    Ok(Value::Term(me.g.iota(n)))
}

fn replicate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((n, rn), (x, rx)) = (call.arg(0)?, call.arg(1)?);
    let (n, x) = (me.size(n, rn), me.term(x, rx));
    let (n, x) = (n?, x?);
    Ok(Value::Term(me.g.replicate(n, x)))
}

fn one_hot<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((n, rn), (i, ri)) = (call.arg(0)?, call.arg(1)?);
    let (n, i) = (me.size(n, rn), me.usize(i, ri));
    let (n, i) = (n?, i?);
    me.require_index(i, n, "length of the result of `one_hot`".to_string());
    let ty = match call.generics.and_then(|ty| me.number_type_of(ty)) {
        Some(Elem::Real(ty)) => ty,
        _ => match me.input.default_real() {
            Elem::Real(ty) => ty,
            _ => RealTy::F64,
        },
    };
    let (zero, one) = (me.g.lit_real(ty, 0.0), me.g.lit_real(ty, 1.0));
    let t = me.build_with(n, call.range, |me, k| {
        let here = me.g.compare(Cmp::Eq, k, i);
        Ok(Value::Term(me.g.select(here, one, zero)))
    })?;
    Ok(Value::Term(t))
}

/// The sum over axes of a real or integer array.
pub(super) fn sum_over(me: &mut Lower, x: Term, axes: &[u8], range: SrcRange) -> Lowered<Term> {
    match me.g.elem(x) {
        Elem::Bool => {
            let found = me.describe(&Value::Term(x));
            Err(me.error(range, catalogue::expected(wanted::NUMBERS, &found)))
        }
        Elem::Real(_) => Ok(me.g.sum_axes(x, axes)),
        Elem::Int(ty) => {
            let sum = me.g.sum_axes(x, axes);
            // The same sum in doubles shows whether the exact sum stays in range, except very close
            // to the limits of 64-bit types.
            let reals = me.g.cast(Elem::F64, x);
            let reals = me.g.sum_axes(reals, axes);
            let shape = me.g.shape(reals).to_vec();
            #[allow(clippy::cast_precision_loss, reason = "see above")]
            let (low, high) = (ty.range().0 as f64, ty.range().1 as f64);
            let (low, high) = (me.g.lit_shaped(Elem::F64, &shape, low), me.g.lit_shaped(Elem::F64, &shape, high));
            let (above, below) = (me.g.compare(Cmp::Ge, reals, low), me.g.compare(Cmp::Le, reals, high));
            let ok = me.g.and(above, below);
            let ok = me.g.reduce(Reduce::All, shape.len(), ok);
            me.require(None, ok, ad_ir::catalogue::reached::SUM_OVERFLOWS);
            Ok(sum)
        }
    }
}

/// Pairs a relaxed reduction over the last `rank` axes with the exact one in the function's own
/// order.
pub(super) fn with_exact(me: &mut Lower, relaxed: Term, op: Reduce, rank: usize, x: Term) -> Term {
    if rank == 0 || !me.g.elem(x).is_real() {
        return relaxed;
    }
    let lens = me.state.enclosing.valid_lengths().cloned().filter(|lens| lens.len() == me.g.rank(x));
    let exact = match lens {
        Some(lens) => me.layouts().reduce_part(op, rank, &DynamicPart { all: x, lens }),
        None => me.g.reduce(op, rank, x),
    };
    me.g.relaxed_exact(relaxed, exact)
}

/// All axes of an array.
pub(super) fn all_axes(me: &Lower, x: Term) -> Vec<u8> {
    (0..me.g.rank(x)).map(|k| u8::try_from(k).unwrap_or(u8::MAX)).collect()
}

fn sum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let axes = all_axes(me, x);
    Ok(Value::Term(sum_over(me, x, &axes, range)?))
}

/// The sum in ndarray's order.
pub(super) fn sum_of_array<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(relaxed) = sum(me, call)? else { return Err(ad_ir::diag::Poison) };
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    Ok(Value::Term(me.summed(call, relaxed, x, None)))
}

fn sum_in_lanes<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(relaxed) = sum(me, call)? else { return Err(ad_ir::diag::Poison) };
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let rank = me.g.rank(x);
    Ok(Value::Term(with_exact(me, relaxed, Reduce::Lanes, rank, x)))
}

fn sum_outer<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let relaxed = sum_over(me, x, &[0], range)?;
    let rank = me.g.rank(x);
    if rank == 1 || !me.g.elem(x).is_real() {
        return Ok(Value::Term(with_exact(me, relaxed, Reduce::Lanes, 1, x)));
    }
    let lanes = super::methods::layout::move_axis(me, x, 0, rank - 1);
    let width = me.g.shape(x)[1..].to_vec();
    let (width, one) = (me.product_of(&width), me.g.lit_usize(1));
    let single = me.g.compare(Cmp::Eq, width, one);
    let [row, rows] = [Reduce::Lanes, Reduce::Fours].map(|op| match me.state.enclosing.valid_lengths().cloned() {
        Some(mut lens) => {
            Rc::make_mut(&mut lens).rotate_left(1);
            me.layouts().reduce_part(op, 1, &DynamicPart { all: lanes, lens })
        }
        None => me.g.reduce(op, 1, lanes),
    });
    let exact = match me.g.bool_value(single) {
        Some(c) => [rows, row][usize::from(c)],
        None => me.g.cond(single, row, rows),
    };
    Ok(Value::Term(me.g.relaxed_exact(relaxed, exact)))
}

/// Requires that every axis has an element.
pub(super) fn require_elements(me: &mut Lower, x: Term, message: &str) {
    let zero = me.g.lit_usize(0);
    for n in me.g.shape(x).to_vec() {
        me.require_lt(zero, n, message);
    }
}

fn extremum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, op: Reduce) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    if me.g.elem(x) == Elem::Bool || (matches!(op, Reduce::ArgMax | Reduce::ArgMin) && me.g.rank(x) != 1) {
        let found = me.describe(&Value::Term(x));
        return Err(me.error(range, catalogue::expected(wanted::NUMBERS_OR_VECTOR, &found)));
    }
    require_elements(me, x, &format!("{} of an empty array", call.name()));
    let rank = me.g.rank(x);
    Ok(Value::Term(me.g.reduce(op, rank, x)))
}

fn maximum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, call, Reduce::Max)
}

fn minimum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, call, Reduce::Min)
}

fn argmax<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, call, Reduce::ArgMax)
}

fn argmin<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    extremum(me, call, Reduce::ArgMin)
}

/// The values are shifted by their maximum, if that is finite. The shift cancels, so it has no
/// derivative. If all values are minus infinity (or there are none), the result is minus infinity
/// with derivative 0. If one is infinity, the result is infinity; if one is NaN, the result is NaN.
fn logsumexp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let Elem::Real(ty) = me.g.elem(x) else { return Err(ad_ir::diag::Poison) };
    let (rank, shape) = (me.g.rank(x), me.g.shape(x).to_vec());
    let g = &mut me.g;
    let (zero, one, minus) = (g.lit_real(ty, 0.0), g.lit_real(ty, 1.0), g.lit_real(ty, f64::NEG_INFINITY));
    let largest = g.reduce(Reduce::Max, rank, x);
    let largest = g.prim(Prim::StopGradient, &[largest]);
    let finite = is_finite(g, ty, largest);
    let shift = g.select(finite, largest, zero);
    let shifts = g.broadcast(shift, &shape);
    let shifted = g.sub(x, shifts);
    let exps = g.unary(Unary::Exp, shifted);
    let total = g.sum_all(exps);
    let total = with_exact(me, total, Reduce::Lanes, rank, exps);
    let g = &mut me.g;
    // The sum is 0 exactly there.
    let none = g.compare(Cmp::Eq, largest, minus);
    let safe = g.select(none, one, total);
    let ln = g.unary(Unary::Ln, safe);
    let value = g.add(shift, ln);
    Ok(Value::Term(g.select(none, minus, value)))
}

/// The square root of the sum of squares, with derivative 0 at 0.
fn norm<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let squares = me.g.mul(x, x);
    let sum = me.g.sum_all(squares);
    let rank = me.g.rank(x);
    let sum = with_exact(me, sum, Reduce::Squares, rank, x);
    Ok(Value::Term(super::methods::reduce::root(me, sum)))
}

/// The values are shifted by the maximum of each row. The shift cancels, so it has no derivative. A
/// row of minus infinities is not shifted. Its sum of exponentials is 0 and is replaced by 1, so
/// its results are zeros.
fn softmax<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let shape = me.g.shape(x).to_vec();
    let last = ad_ir::ir::axis(shape.len() - 1);
    let g = &mut me.g;
    let largest = g.reduce(Reduce::Max, 1, x);
    let largest = g.prim(Prim::StopGradient, &[largest]);
    let (zero, one, minus) =
        (g.lit_like(largest, 0.0), g.lit_like(largest, 1.0), g.lit_like(largest, f64::NEG_INFINITY));
    let none = g.compare(Cmp::Eq, largest, minus);
    let shift = g.select(none, zero, largest);
    let size = shape[usize::from(last)];
    let shift = g.replicate_axes(shift, &[last], &[size]);
    let shifted = g.sub(x, shift);
    let exps = g.unary(Unary::Exp, shifted);
    let total = g.sum_axes(exps, &[last]);
    let total = with_exact(me, total, Reduce::Lanes, 1, exps);
    let g = &mut me.g;
    // The sum is 0 exactly there.
    let safe = g.select(none, one, total);
    let safe = g.replicate_axes(safe, &[last], &[size]);
    Ok(Value::Term(g.div(exps, safe)))
}

fn cumsum<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let x = me.real_term(&Value::Term(x), range)?;
    let t = me.g.prim(Prim::CumSum(false), &[x]);
    Ok(Value::Term(t))
}

/// Whether a real scalar is finite.
pub(super) fn is_finite(g: &mut ad_ir::ir::Graph, ty: RealTy, x: Term) -> Term {
    let (plus, minus) = (g.lit_real(ty, f64::INFINITY), g.lit_real(ty, f64::NEG_INFINITY));
    let (below, above) = (g.compare(Cmp::Lt, x, plus), g.compare(Cmp::Gt, x, minus));
    g.and(below, above)
}

fn select<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((c, rc), (a, _), (b, _)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let cond = me.boolean(c, rc)?;
    me.join(Selection { cond, strict: true }, a, b, call.range)
}

fn stop_gradient<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    stopped(me, x, range)
}

/// Removes the derivative of all reals in a value.
fn stopped<'a>(me: &mut Lower<'a>, x: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
    with_terms(me, x, range, &mut |me, t| stopped_term(me, t))
}

pub(super) fn stopped_term(me: &mut Lower, t: Term) -> Term {
    if !me.g.elem(t).is_real() {
        return t;
    }
    let constant = me.g.prim(Prim::StopGradient, &[t]);
    me.layouts().note_like(constant, t);
    constant
}

/// The arguments of functions such as `mul_add`, in one real type.
pub(super) fn reals<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Vec<Term>> {
    reals_of(me, call, None)
}

/// Like [`reals`], with a type for the case that all arguments are literals.
pub(super) fn reals_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, named: Option<Elem>) -> Lowered<Vec<Term>> {
    let elem = call.args.iter().find_map(|v| me.elem_of(v)).or(named).unwrap_or_else(|| me.input.default_real());
    let mut terms = Vec::new();
    for (value, &range) in call.args.iter().zip(&call.ranges) {
        let t = me.term_as(value, super::value::Want::Elem(elem), range)?;
        if me.g.elem(t) != elem || !elem.is_real() || me.g.rank(t) > 0 {
            let found = me.describe(&Value::Term(t));
            let wanted = super::lower::elem_name(elem, me.input.sig().real_param.as_ref());
            return Err(me.error(range, catalogue::expected_type(&wanted, &found)));
        }
        terms.push(t);
    }
    Ok(terms)
}

/// Two integer scalars of one type.
pub(super) fn ints<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Vec<Term>)> {
    let elem = call.args.iter().find_map(|v| me.elem_of(v)).unwrap_or(Elem::Int(IntTy::I32));
    let other = call.args.iter().find_map(|v| me.elem_of(v).filter(|e| *e != elem));
    if let (Some(other), Some(Value::Term(first))) = (other, call.args.first())
        && me.inference.retype(&me.g, *first, other)
    {
        return Err(ad_ir::diag::Poison);
    }
    let Elem::Int(ty) = elem else {
        return Err(me.error(call.range, catalogue::expected(wanted::INTEGERS, wanted::ANOTHER_TYPE)));
    };
    let pairs: Vec<(&Value, SrcRange)> = call.args.iter().zip(call.ranges.iter().copied()).collect();
    let terms = pairs.into_iter().map(|(v, range)| me.integer(v, ty, range)).collect::<Lowered<Vec<Term>>>()?;
    Ok((ty, terms))
}

/// `x.log(base)`.
pub(super) fn log<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, base] = args[..] else { return Err(ad_ir::diag::Poison) };
    let (x, base) = (me.g.unary(Unary::Ln, x), me.g.unary(Unary::Ln, base));
    Ok(Value::Term(me.g.binary(Binary::Div, x, base)))
}

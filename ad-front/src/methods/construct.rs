//! Associated functions of array types that create arrays.

use super::parts;
use crate::functions;
use crate::lower::Lower;
use crate::refs::results;
use crate::table::{Call, Mark, On, OnDynamicParts, OnType, Row, row};
use crate::value::{Lowered, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Node, Term};
use ad_ir::prim::{Cmp, IntOp};

use super::layout::{first_reshaped, reshaped};

/// Functions of array types, by path.
pub(crate) const TABLE: &[Row] = &[
    row("zeros", On::Assoc, (1, 1), zeros, "zeros of a shape").gives(results::array),
    row("default", On::Assoc, (1, 1), zeros, "zeros of a shape"),
    row("ones", On::Assoc, (1, 1), ones, "ones of a shape").gives(results::array),
    row("eye", On::Assoc, (1, 1), eye, "the unit matrix").gives(results::array),
    row("from_elem", On::Assoc, (2, 2), from_elem, "one value in a shape"),
    row("from_shape_fn", On::Assoc, (2, 2), from_shape_fn, "element ix is f(ix)").gives(results::built_of_numbers),
    row("from_shape_simple_fn", On::Assoc, (2, 2), from_shape_simple_fn, "every element is f()"),
    row("from_shape_vec", On::Assoc, (2, 2), from_shape_vec, "the elements of a vector in a shape, a `Result`"),
    row("from_shape", On::Assoc, (2, 2), from_shape, "a view of the first elements of a slice in a shape, a `Result`"),
    row("from_diag", On::Assoc, (1, 1), from_diag, "a matrix with this diagonal"),
    row("from_diag_elem", On::Assoc, (2, 2), from_diag_elem, "a matrix with one value on its diagonal"),
    row("linspace", On::Assoc, (3, 3), linspace, "n numbers from a to b, evenly spaced").gives(results::array),
    row("range", On::Assoc, (3, 3), range, "numbers from a up to b, by a step"),
    row("logspace", On::Assoc, (4, 4), logspace, "powers of a base with evenly spaced exponents"),
    row("from_vec", On::Assoc, (1, 1), from_vec, "the elements of a vector")
        .parts(OnDynamicParts::By(parts::from_vector)),
    row("from", On::Assoc, (1, 1), from_vec, "conversion between numbers, or the elements of a vector")
        .on_type(OnType::Conversion)
        .parts(OnDynamicParts::By(parts::from_vector))
        .marks(&[Mark::OfQueues]),
    row("zero", On::Assoc, (0, 0), unit, "0 of the type parameter: `T::zero()`").on_type(OnType::Constant(0.0)),
    row("one", On::Assoc, (0, 0), unit, "1 of the type parameter: `T::one()`").on_type(OnType::Constant(1.0)),
    row("lit", On::Assoc, (1, 1), from_vec, "a constant of the type parameter: `T::lit(0.5)`").on_type(OnType::Literal),
];

/// The element type that the path names: `Array1::<f32>::zeros`.
fn named<'a>(me: &Lower<'a>, call: &Call<'a, '_>) -> Option<Elem> {
    call.generics.and_then(|ty| me.number_type_of(ty))
}

/// An argument that is an element. A literal gets the named type.
fn element<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, k: usize) -> Lowered<Term> {
    let (x, range) = call.arg(k)?;
    let want = named(me, call).map_or(Want::Any, Want::Elem);
    let t = me.term_as(x, want, range)?;
    if me.g.rank(t) > 0 {
        let found = me.describe(&Value::Term(t));
        return Err(me.error(range, catalogue::expected(wanted::SCALAR, &found)));
    }
    Ok(t)
}

/// The shape argument of a constructor. If the type states the rank, the shape has to have that
/// rank.
fn shape_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Vec<Term>> {
    let (shape, range) = call.arg(0)?;
    let sizes = me.sizes(shape, range)?;
    match call.rank {
        Some(rank) if usize::from(rank) != sizes.len() => {
            Err(me.error(range, catalogue::constructor_shape(call.name(), usize::from(rank), sizes.len())))
        }
        _ => Ok(sizes),
    }
}

/// A shape argument of possibly dynamic sizes: capacities and lengths.
fn dynamic_shape_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Vec<Term>, Vec<Option<Term>>)> {
    let (shape, range) = call.arg(0)?;
    let (capacities, lens) = me.dynamic_size_list(shape, range)?;
    match call.rank {
        Some(rank) if usize::from(rank) != capacities.len() => {
            Err(me.error(range, catalogue::constructor_shape(call.name(), usize::from(rank), capacities.len())))
        }
        _ => Ok((capacities, lens)),
    }
}

/// The number 0 or 1 of a type.
#[allow(clippy::cast_precision_loss, reason = "0 or 1")]
pub(crate) fn constant(me: &mut Lower, elem: Elem, x: i128) -> Term {
    match elem {
        Elem::Real(ty) => me.real(ty, x as f64),
        Elem::Int(ty) => me.g.lit(Lit::Int(ty, x)),
        Elem::Bool => me.g.lit_bool(x != 0),
    }
}

fn filled<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: i128) -> Lowered<Value<'a>> {
    let (capacities, lens) = dynamic_shape_arg(me, call)?;
    let elem = named(me, call).unwrap_or_else(|| me.input.default_real());
    let t = constant(me, elem, x);
    let t = me.g.broadcast(t, &capacities);
    Ok(me.new_part(t, &lens))
}

fn zeros<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    filled(me, call, 0)
}

fn ones<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    filled(me, call, 1)
}

/// A square matrix with one value on the diagonal, and zeros elsewhere.
fn diagonal<'a>(me: &mut Lower<'a>, n: Term, x: Term, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let zero = constant(me, me.g.elem(x), 0);
    let t = me.build_all(&[n, n], call.range, &mut |me, ix| {
        let on = me.g.compare(Cmp::Eq, ix[0], ix[1]);
        Ok(Value::Term(me.g.select(on, x, zero)))
    })?;
    Ok(Value::Term(t))
}

fn eye<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(0)?;
    let (capacities, lens) = me.dynamic_size_list(n, range)?;
    let (&[capacity], &[len]) = (&capacities[..], &lens[..]) else {
        let found = me.describe(n);
        return Err(me.error(range, catalogue::expected("a size", &found)));
    };
    let elem = named(me, call).unwrap_or_else(|| me.input.default_real());
    let one = constant(me, elem, 1);
    let t = diagonal(me, capacity, one, call)?;
    let t = me.term(&t, range)?;
    Ok(me.new_part(t, &[len, len]))
}

fn from_diag_elem<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(0)?;
    let n = me.size(n, range)?;
    let x = element(me, call, 1)?;
    diagonal(me, n, x, call)
}

fn from_diag<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (d, range) = call.arg(0)?;
    let d = me.array(d, range)?;
    let (elem, shape) = (me.g.elem(d), me.g.shape(d).to_vec());
    let &[n] = &shape[..] else {
        return Err(me.error(range, catalogue::ranks_differ(1, shape.len())));
    };
    if elem.is_real() {
        let zeros = me.g.lit_shaped(elem, &[n, n], 0.0);
        let var = me.g.fresh();
        let i = me.g.mk(Node::Var(var));
        return Ok(Value::Term(me.g.scatter(zeros, d, &[var], &[i, i])));
    }
    let zero = constant(me, elem, 0);
    let t = me.build_all(&[n, n], range, &mut |me, ix| {
        let on = me.g.compare(Cmp::Eq, ix[0], ix[1]);
        let x = me.g.index(d, &ix[..1]);
        Ok(Value::Term(me.g.select(on, x, zero)))
    })?;
    Ok(Value::Term(t))
}

/// A constructor of a number type. The code that reads types handles it, so it is unknown here.
fn unit<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Err(me.error(call.range, catalogue::unknown_function(call.name(), None, None)))
}

fn from_elem<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (capacities, lens) = dynamic_shape_arg(me, call)?;
    let t = element(me, call, 1)?;
    let t = me.g.broadcast(t, &capacities);
    Ok(me.new_part(t, &lens))
}

/// An array of the scalars that a closure returns.
fn from_scalars<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    args: fn(&[Term]) -> Vec<Value<'a>>,
) -> Lowered<Value<'a>> {
    let (sizes, lens) = dynamic_shape_arg(me, call)?;
    let want = named(me, call).map_or(Want::Any, Want::Elem);
    let (f, range) = call.arg(1)?;
    if lens.iter().any(Option::is_some) {
        return me.map_dynamic(&sizes, &lens, (range, want), &mut |me, ix| me.apply(f, &args(ix), range));
    }
    let t = me.build_all(&sizes, range, &mut |me, ix| {
        let value = me.apply(f, &args(ix), range)?;
        let t = me.term_as(&value, want, range)?;
        if me.g.rank(t) > 0 {
            return Err(me.error(range, catalogue::map_to_arrays()));
        }
        Ok(Value::Term(t))
    })?;
    Ok(Value::Term(t))
}

fn from_shape_fn<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    from_scalars(me, call, |ix| vec![position(ix)])
}

/// An index as ndarray passes it to closures: a number for rank 1, and a tuple otherwise.
pub(crate) fn position<'a>(ix: &[Term]) -> Value<'a> {
    match ix {
        [i] => Value::Term(*i),
        [] => Value::Unit,
        _ => Value::Tuple(ix.iter().map(|&i| Value::Term(i)).collect()),
    }
}

fn from_shape_simple_fn<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    from_scalars(me, call, |_| Vec::new())
}

fn from_vec<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let want = named(me, call).map_or(Want::Any, Want::Elem);
    let t = me.term_as(x, want, range)?;
    let x = me.array(&Value::Term(t), range)?;
    Ok(Value::Term(x))
}

fn from_shape_vec<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (sizes, x, range) = elements_in_shape(me, call)?;
    reshaped(me, x, &sizes, range)
}

/// ndarray's views may leave out the last elements of a slice.
fn from_shape<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (sizes, x, range) = elements_in_shape(me, call)?;
    first_reshaped(me, x, &sizes, range)
}

/// The shape, and the array that has the elements.
fn elements_in_shape<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Vec<Term>, Term, SrcRange)> {
    let sizes = shape_arg(me, call)?;
    let (x, range) = call.arg(1)?;
    let want = named(me, call).map_or(Want::Any, Want::Elem);
    let t = me.term_as(x, want, range)?;
    Ok((sizes, me.array(&Value::Term(t), range)?, range))
}

/// `start + step * i` with the step that ndarray uses, which is 0 for a single number.
fn evenly<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    first: usize,
    each: impl Fn(&mut Lower<'a>, Term) -> Term,
) -> Lowered<Value<'a>> {
    let (n, range) = call.arg(first + 2)?;
    let n = me.size(n, range)?;
    let ends = Call {
        args: call.args[first..first + 2].to_vec(),
        ranges: call.ranges[first..first + 2].to_vec(),
        texts: Vec::new(),
        ..*call
    };
    let ends = functions::reals_of(me, &ends, named(me, call))?;
    let [a, b] = ends[..] else { return Err(ad_ir::diag::Poison) };
    let elem = me.g.elem(a);
    let one = me.g.lit_usize(1);
    let less = me.g.int(IntOp::Sub, n, one);
    // A single number has no step, so the result of the division by 0 is not read.
    let intervals = me.g.int(IntOp::Max, less, one);
    let intervals = me.g.cast(elem, intervals);
    let distance = me.g.sub(b, a);
    let step = me.g.div(distance, intervals);
    let t = me.build_with(n, call.range, |me, i| {
        let i = me.g.cast(elem, i);
        let offset = me.g.mul(step, i);
        let x = me.g.add(a, offset);
        Ok(Value::Term(each(me, x)))
    })?;
    Ok(Value::Term(t))
}

fn linspace<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    evenly(me, call, 0, |_, x| x)
}

/// The number of elements is that of ndarray. It is a decision.
fn range<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    use ad_ir::prim::Unary;
    let args = functions::reals_of(me, call, named(me, call))?;
    let [a, b, step] = args[..] else { return Err(Poison) };
    let distance = me.g.sub(b, a);
    let steps = me.g.div(distance, step);
    let steps = me.g.unary(Unary::Ceil, steps);
    let least = me.g.lit_like(steps, -1.0);
    let forwards = me.g.compare(Cmp::Gt, steps, least);
    me.require(None, forwards, ad_ir::catalogue::reached::RANGE_BACKWARDS);
    let n = me.g.cast(Elem::USIZE, steps);
    let n = me.size(&Value::Term(n), call.range)?;
    let elem = me.g.elem(a);
    let t = me.build_with(n, call.range, |me, i| {
        let i = me.g.cast(elem, i);
        let offset = me.g.mul(step, i);
        Ok(Value::Term(me.g.add(a, offset)))
    })?;
    Ok(Value::Term(t))
}

fn logspace<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    use ad_ir::prim::{Binary, Unary};
    let (base, range) = call.arg(0)?;
    let elem = me.elem_of(base).or(named(me, call)).unwrap_or_else(|| me.input.default_real());
    let base = me.term_as(base, Want::Elem(elem), range)?;
    let base = me.real_term(&Value::Term(base), range)?;
    let (sign, size) = (me.g.unary(Unary::Signum, base), me.g.unary(Unary::Abs, base));
    evenly(me, call, 1, move |me, x| {
        let power = me.g.binary(Binary::Pow, size, x);
        me.g.mul(sign, power)
    })
}

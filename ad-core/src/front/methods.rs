//! Methods of scalars and arrays, and associated functions of array types.

use super::functions::{self, all_axes, ints, is_finite, reals, sum_over};
use super::lower::Lower;
use super::table::{Call, Entry, On, row};
use super::value::{Lowered, Value, Want};
use crate::catalogue;
use crate::diag::{Poison, SrcRange};
use crate::ir::{Contraction, Elem, IntTy, Lit, Term};
use crate::prim::{Cmp, IntOp, Prim, Unary};

/// Methods of scalars beside those of the scalar tables.
pub(super) const SCALAR: &[Entry] = &[
    row("powi", On::Real, (1, 1), powi, "integer power"),
    row("log", On::Real, (1, 1), functions::log, "logarithm to a base"),
    row("mul_add", On::Real, (2, 2), mul_add, "x * a + b"),
    row("clamp", On::Real, (2, 2), clamp, "into a range"),
    row("sin_cos", On::Real, (0, 0), sin_cos, "both"),
    row("is_nan", On::Real, (0, 0), is_nan, "boolean"),
    row("is_finite", On::Real, (0, 0), finite, "boolean"),
    row("is_infinite", On::Real, (0, 0), infinite, "boolean"),
    row("max", On::Int, (1, 1), int_max, "the larger"),
    row("min", On::Int, (1, 1), int_min, "the smaller"),
    row("clamp", On::Int, (2, 2), int_clamp, "into a range"),
    row("abs", On::Int, (0, 0), int_abs, "absolute value"),
    row("rem_euclid", On::Int, (1, 1), rem_euclid, "the remainder that is not negative"),
    row("abs_diff", On::Int, (1, 1), abs_diff, "distance of unsigned integers"),
    row("saturating_sub", On::Int, (1, 1), saturating_sub, "0 where the difference is negative (unsigned)"),
];

/// Methods of arrays beside the elementwise ones of the scalar tables.
pub(super) const ARRAY: &[Entry] = &[
    row("powi", On::Array, (1, 1), powi, "integer power, elementwise"),
    row("mapv", On::Array, (1, 1), map, "f of each element"),
    row("map", On::Array, (1, 1), map, "f of each element"),
    row("mapv_into", On::Array, (1, 1), map, "f of each element"),
    row("sum", On::Array, (0, 0), functions::sum, "sum of all elements"),
    row("mean", On::Array, (0, 0), mean, "mean of all elements, an `Option`"),
    row("sum_axis", On::Array, (1, 1), sum_axis, "sum over one axis"),
    row("mean_axis", On::Array, (1, 1), mean_axis, "mean over one axis, an `Option`"),
    row("dot", On::Array, (1, 1), dot, "product of vectors and matrices"),
    row("t", On::Array, (0, 0), transposed, "axes in reverse order"),
    row("len", On::Array, (0, 0), len, "number of elements"),
    row("is_empty", On::Array, (0, 0), is_empty, "whether there is no element"),
    row("nrows", On::Array, (0, 0), nrows, "rows of a matrix"),
    row("ncols", On::Array, (0, 0), ncols, "columns of a matrix"),
    row("dim", On::Array, (0, 0), dim, "sizes as a tuple"),
    row("raw_dim", On::Array, (0, 0), shape, "sizes"),
    row("shape", On::Array, (0, 0), shape, "sizes: `x.shape()[k]`"),
    row("ndim", On::Array, (0, 0), ndim, "rank"),
    row("len_of", On::Array, (1, 1), len_of, "size of an axis"),
];

/// Methods of every value: copies and views are the value itself; and those of `Option`.
pub(super) const ANY: &[Entry] = &[
    row("clone", On::Any, (0, 0), itself, "the value"),
    row("to_owned", On::Any, (0, 0), itself, "the value"),
    row("into_owned", On::Any, (0, 0), itself, "the value"),
    row("to_vec", On::Any, (0, 0), itself, "the value"),
    row("view", On::Any, (0, 0), itself, "the value"),
    row("as_slice", On::Any, (0, 0), some, "the elements, an `Option`"),
    row("into", On::Any, (0, 0), itself, "the value, where that is a view or an array"),
    row("borrow", On::Any, (0, 0), itself, "the value"),
    row("as_ref", On::Any, (0, 0), itself, "the value"),
    row("unwrap", On::Option, (0, 0), unwrap, "the value of an `Option`"),
    row("expect", On::Option, (1, 1), unwrap, "the value of an `Option`"),
];

/// Functions of array types, by path.
pub(super) const ASSOC: &[Entry] = &[
    row("zeros", On::Assoc, (1, 1), zeros, "zeros of a shape"),
    row("ones", On::Assoc, (1, 1), ones, "ones of a shape"),
    row("from_elem", On::Assoc, (2, 2), from_elem, "one value in a shape"),
    row("from_shape_fn", On::Assoc, (2, 2), from_shape_fn, "element ix is f(ix)"),
    row("from_vec", On::Assoc, (1, 1), from_vec, "the elements of a vector"),
    row("from", On::Assoc, (1, 1), from_vec, "conversion between numbers, or the elements of a vector"),
    row("lit", On::Assoc, (1, 1), from_vec, "a constant of the type parameter: `T::lit(0.5)`"),
];

fn itself<'a>(_: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(call.arg(0)?.0.clone())
}

fn some<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let there = me.g.lit_bool(true);
    Ok(Value::Maybe(call.arg(0)?.0.clone().into(), there))
}

fn unwrap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    match call.arg(0)? {
        (Value::Maybe(value, there), _) => {
            me.require(None, *there, "unwrap of `None`: the array is empty");
            Ok((**value).clone())
        }
        (other, range) => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::expected("an `Option`", &found)))
        }
    }
}

fn powi<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (n, rn)) = (call.arg(0)?, call.arg(1)?);
    let (x, n) = (me.real_term(x, rx), me.integer(n, IntTy::I32, rn));
    let (x, n) = (x?, n?);
    let shape = me.g.shape(x).to_vec();
    let n = me.g.broadcast(n, &shape);
    Ok(Value::Term(me.g.prim(Prim::PowI, &[x, n])))
}

fn mul_add<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, a, b] = args[..] else { return Err(Poison) };
    let product = me.g.mul(x, a);
    Ok(Value::Term(me.g.add(product, b)))
}

fn clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x, low, high] = args[..] else { return Err(Poison) };
    let ordered = me.g.compare(Cmp::Le, low, high);
    if !matches!((me.g.real_value(low), me.g.real_value(high)), (Some(low), Some(high)) if low <= high) {
        me.require(None, ordered, "clamp: the lower bound is above the upper one");
    }
    // Comparisons that are false for NaN, so that NaN stays; at a bound the value is x itself, with derivative 1.
    let (below, above) = (me.g.compare(Cmp::Lt, x, low), me.g.compare(Cmp::Gt, x, high));
    let upper = me.g.select(above, high, x);
    Ok(Value::Term(me.g.select(below, low, upper)))
}

fn sin_cos<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x] = args[..] else { return Err(Poison) };
    let (sin, cos) = (me.g.unary(Unary::Sin, x), me.g.unary(Unary::Cos, x));
    Ok(Value::Tuple([Value::Term(sin), Value::Term(cos)].into()))
}

fn is_nan<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let [x] = args[..] else { return Err(Poison) };
    Ok(Value::Term(me.g.compare(Cmp::Ne, x, x)))
}

fn finite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let (&[x], Some(Elem::Real(ty))) = (&args[..], args.first().map(|&t| me.g.elem(t))) else { return Err(Poison) };
    Ok(Value::Term(is_finite(&mut me.g, ty, x)))
}

fn infinite<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let args = reals(me, call)?;
    let (&[x], Some(Elem::Real(ty))) = (&args[..], args.first().map(|&t| me.g.elem(t))) else { return Err(Poison) };
    let size = me.g.unary(Unary::Abs, x);
    let infinity = me.g.lit_real(ty, f64::INFINITY);
    Ok(Value::Term(me.g.compare(Cmp::Eq, size, infinity)))
}

fn int_pair<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(IntTy, Term, Term)> {
    let (ty, terms) = ints(me, call)?;
    match terms[..] {
        [a, b] => Ok((ty, a, b)),
        _ => Err(Poison),
    }
}

fn int_max<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = int_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Max, a, b)))
}

fn int_min<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, a, b) = int_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Min, a, b)))
}

fn int_clamp<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, terms) = ints(me, call)?;
    let [x, low, high] = terms[..] else { return Err(Poison) };
    me.require_le(low, high, "clamp: the lower bound is above the upper one");
    let x = me.g.int(IntOp::Max, x, low);
    Ok(Value::Term(me.g.int(IntOp::Min, x, high)))
}

fn int_abs<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (_, terms) = ints(me, call)?;
    let [x] = terms[..] else { return Err(Poison) };
    let minus = me.negate(x, call.range)?;
    Ok(Value::Term(me.g.int(IntOp::Max, x, minus)))
}

fn rem_euclid<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, a, b) = int_pair(me, call)?;
    let rem = me.int_checked(IntOp::Rem, a, b);
    if ty.range().0 == 0 {
        return Ok(Value::Term(rem));
    }
    let zero = me.g.lit(Lit::Int(ty, 0));
    let (plus, minus) = (me.g.int(IntOp::Add, rem, b), me.g.int(IntOp::Sub, rem, b));
    let positive = me.g.compare(Cmp::Gt, b, zero);
    let shifted = me.g.select(positive, plus, minus);
    let negative = me.g.compare(Cmp::Lt, rem, zero);
    Ok(Value::Term(me.g.select(negative, shifted, rem)))
}

fn unsigned_pair<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Term, Term)> {
    let (ty, a, b) = int_pair(me, call)?;
    if ty.range().0 < 0 {
        return Err(me.error(call.range, catalogue::later(&format!("`{}` of signed integers", call.name))));
    }
    Ok((a, b))
}

fn saturating_sub<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = unsigned_pair(me, call)?;
    Ok(Value::Term(me.g.int(IntOp::Sub, a, b)))
}

fn abs_diff<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = unsigned_pair(me, call)?;
    // One of the two differences is 0.
    let (up, down) = (me.g.int(IntOp::Sub, a, b), me.g.int(IntOp::Sub, b, a));
    Ok(Value::Term(me.g.int(IntOp::Max, up, down)))
}

/// Elementwise: a function of the table at once, a closure by a loop over the index, which the bulk-operation transform takes away.
fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    let x = me.array(x, rx)?;
    if let Value::Function(Entry { how: super::table::How::Unary(op), .. }) = f {
        let x = me.real_term(&Value::Term(x), rx)?;
        return Ok(Value::Term(me.g.unary(*op, x)));
    }
    let sizes = me.g.shape(x).to_vec();
    let t = me.build_all(&sizes, rf, &mut |me, ix| {
        let element = me.g.index(x, ix);
        let value = me.apply(f, &[Value::Term(element)], rf)?;
        let want = Want::Elem(me.g.elem(x));
        let t = match &value {
            // `|_| 0.0` has the type of what it is put among.
            Value::Number(n) if n.is_float() && me.g.elem(x).is_real() => me.term_as(&value, want, rf)?,
            _ => me.term(&value, rf)?,
        };
        if me.g.rank(t) > 0 {
            return Err(me.error(rf, catalogue::map_to_arrays()));
        }
        Ok(Value::Term(t))
    })?;
    Ok(Value::Term(t))
}

/// The mean over axes and whether there is one; the count as ndarray takes it.
fn mean_over<'a>(me: &mut Lower<'a>, x: Term, axes: &[u8], range: SrcRange) -> Lowered<Value<'a>> {
    let x = me.real_term(&Value::Term(x), range)?;
    let elem = me.g.elem(x);
    let shape = me.g.shape(x).to_vec();
    let mut count = me.g.lit_usize(1);
    for &k in axes {
        count = me.g.int(IntOp::Mul, count, shape[usize::from(k)]);
    }
    let sum = me.g.sum_axes(x, axes);
    let divisor = me.g.cast(elem, count);
    let shape = me.g.shape(sum).to_vec();
    let divisor = me.g.broadcast(divisor, &shape);
    let zero = me.g.lit_usize(0);
    let there = me.g.compare(Cmp::Gt, count, zero);
    Ok(Value::Maybe(Value::Term(me.g.div(sum, divisor)).into(), there))
}

fn mean<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axes = all_axes(me, x);
    mean_over(me, x, &axes, range)
}

/// The axis argument, in range.
pub(super) fn axis_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: Term) -> Lowered<usize> {
    match call.arg(1)? {
        (&Value::Axis(k), _) if k < me.g.rank(x) => Ok(k),
        (&Value::Axis(k), range) => Err(me.error(range, catalogue::axis_out_of_range(k, me.g.rank(x)))),
        (_, range) => Err(me.error(range, catalogue::axis())),
    }
}

fn sum_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    let axis = u8::try_from(axis).unwrap_or(u8::MAX);
    Ok(Value::Term(sum_over(me, x, &[axis], range)?))
}

fn mean_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    let axis = u8::try_from(axis).unwrap_or(u8::MAX);
    mean_over(me, x, &[axis], range)
}

fn dot<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.array(a, ra), me.array(b, rb));
    let (a, b) = (a?, b?);
    let (ea, eb) = (me.g.elem(a), me.g.elem(b));
    if ea != eb || !ea.is_real() {
        let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
        return Err(me.error(call.range, catalogue::dot(&a, &b)));
    }
    let (sa, sb) = (me.g.shape(a).to_vec(), me.g.shape(b).to_vec());
    let labels: (&[u8], &[u8], &[u8]) = match (sa.len(), sb.len()) {
        (1, 1) => (&[0], &[0], &[]),
        (2, 1) => (&[0, 1], &[1], &[0]),
        (1, 2) => (&[0], &[0, 1], &[1]),
        (2, 2) => (&[0, 1], &[1, 2], &[0, 2]),
        _ => {
            let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
            return Err(me.error(call.range, catalogue::dot(&a, &b)));
        }
    };
    let inner = sa.len() - 1;
    let words =
        [super::arith::axis_words(call.text(0), inner, sa.len()), super::arith::axis_words(call.text(1), 0, sb.len())];
    me.equate(sa[inner], sb[0], words, call.range)?;
    let mut renamed = sb;
    renamed[0] = sa[inner];
    let b = me.g.recast(b, &renamed);
    let spec = Contraction { a: labels.0.into(), b: labels.1.into(), out: labels.2.into() };
    Ok(Value::Term(me.g.contract(a, b, spec)))
}

fn transposed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let perm: Vec<u8> = all_axes(me, x).into_iter().rev().collect();
    Ok(Value::Term(me.g.transpose(x, &perm)))
}

fn sizes_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Vec<Term>> {
    match call.arg(0)? {
        // An array literal is an array of that many elements.
        (Value::List(parts), _) if !parts.iter().any(|p| matches!(p, Value::List(_))) => {
            Ok(vec![me.g.lit_usize(parts.len())])
        }
        (x, range) => {
            let x = me.array(x, range)?;
            Ok(me.g.shape(x).to_vec())
        }
    }
}

fn len<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = sizes_of(me, call)?;
    let one = me.g.lit_usize(1);
    // The number of elements of an array that exists does not overflow.
    Ok(Value::Term(sizes.into_iter().fold(one, |n, size| me.g.int(IntOp::Mul, n, size))))
}

fn is_empty<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let Value::Term(n) = len(me, call)? else { return Err(Poison) };
    let zero = me.g.lit_usize(0);
    Ok(Value::Term(me.g.compare(Cmp::Eq, n, zero)))
}

fn size_at<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, axis: usize) -> Lowered<Value<'a>> {
    let sizes = sizes_of(me, call)?;
    if sizes.len() != 2 {
        return Err(me.error(call.range, catalogue::rows_of_no_matrix(call.name, sizes.len())));
    }
    Ok(Value::Term(sizes[axis]))
}

fn nrows<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    size_at(me, call, 0)
}

fn ncols<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    size_at(me, call, 1)
}

fn dim<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = sizes_of(me, call)?;
    Ok(match sizes[..] {
        [n] => Value::Term(n),
        _ => Value::Tuple(sizes.into_iter().map(Value::Term).collect()),
    })
}

fn shape<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    Ok(Value::List(sizes_of(me, call)?.into_iter().map(Value::Term).collect()))
}

fn ndim<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let rank = sizes_of(me, call)?.len();
    Ok(Value::Term(me.g.lit_usize(rank)))
}

fn len_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    Ok(Value::Term(me.g.shape(x)[axis]))
}

/// The shape argument of a constructor; where the type says the rank, it has to be that one.
fn shape_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Vec<Term>> {
    let (shape, range) = call.arg(0)?;
    let sizes = me.sizes(shape, range)?;
    match call.rank {
        Some(rank) if usize::from(rank) != sizes.len() => {
            Err(me.error(range, catalogue::ranks_differ(usize::from(rank), sizes.len())))
        }
        _ => Ok(sizes),
    }
}

fn filled<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: i128) -> Lowered<Value<'a>> {
    let sizes = shape_arg(me, call)?;
    let elem = call.generics.and_then(|ty| super::types::elem_of(ty, me.sig.real_param.as_ref()));
    let t = match elem.unwrap_or_else(|| me.default_real()) {
        #[allow(clippy::cast_precision_loss, reason = "0 or 1")]
        Elem::Real(ty) => me.real(ty, x as f64),
        Elem::Int(ty) => me.g.lit(Lit::Int(ty, x)),
        Elem::Bool => me.g.lit_bool(x != 0),
    };
    Ok(Value::Term(me.g.broadcast(t, &sizes)))
}

fn zeros<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    filled(me, call, 0)
}

fn ones<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    filled(me, call, 1)
}

fn from_elem<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = shape_arg(me, call)?;
    let (x, range) = call.arg(1)?;
    let t = me.term(x, range)?;
    if me.g.rank(t) > 0 {
        let found = me.describe(&Value::Term(t));
        return Err(me.error(range, catalogue::expected("a scalar", &found)));
    }
    Ok(Value::Term(me.g.broadcast(t, &sizes)))
}

fn from_shape_fn<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = shape_arg(me, call)?;
    let (f, range) = call.arg(1)?;
    let t = me.build_all(&sizes, range, &mut |me, ix| {
        let index = match ix {
            [i] => Value::Term(*i),
            _ => Value::Tuple(ix.iter().map(|&i| Value::Term(i)).collect()),
        };
        me.apply(f, &[index], range)
    })?;
    Ok(Value::Term(t))
}

fn from_vec<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    Ok(Value::Term(x))
}

//! Methods that rearrange axes and elements. ndarray refuses some of them because of a memory
//! layout; these are lowered. The module `front::memory` handles the order of summation.

use super::construct::constant;
use super::elementwise::each;
use super::parts;
use super::sizes::{axis_arg, axis_at};
use crate::functions::all_axes;
use crate::lower::Lower;
use crate::refs::results;
use crate::slice::{SliceAxis, front_axis};
use crate::table::{Call, On, OnDynamicParts, Row, row};
use crate::translation::enclosing::Frame;
use crate::value::{Lowered, Range, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, IntTy, Node, Term, axis};
use ad_ir::memory_order::{HasLayouts, ResultOrder};
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Methods that move axes and elements.
pub(crate) const TABLE: &[Row] = &[
    row("t", On::Array, (0, 0), transposed, "axes in reverse order")
        .order(ResultOrder::View)
        .gives(results::view)
        .parts(OnDynamicParts::By(parts::transposed)),
    row("reversed_axes", On::Array, (0, 0), transposed, "axes in reverse order")
        .order(ResultOrder::View)
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::transposed)),
    row("permuted_axes", On::Array, (1, 1), permuted_axes, "axes in the order given")
        .order(ResultOrder::View)
        .takes(Takes::Value),
    row("insert_axis", On::Array, (1, 1), insert_axis, "a new axis of size 1")
        .order(ResultOrder::InsertedAxis)
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::insert_axis)),
    row("remove_axis", On::Array, (1, 1), remove_axis, "the part at index 0 of an axis")
        .order(ResultOrder::View)
        .takes(Takes::Value),
    row("into_shape_with_order", On::Array, (1, 1), reshape, "the elements in another shape, a `Result`")
        .order(ResultOrder::Reshaped)
        .takes(Takes::Value),
    row("into_shape_clone", On::Array, (1, 1), reshape, "the elements in another shape, a `Result`")
        .order(ResultOrder::Reshaped)
        .takes(Takes::Value),
    row("into_shape", On::Array, (1, 1), reshape, "the elements in another shape, a `Result`")
        .order(ResultOrder::Reshaped)
        .takes(Takes::Value),
    row("to_shape", On::Array, (1, 1), reshape, "the elements in another shape, a `Result`")
        .order(ResultOrder::Reshaped),
    row("into_dimensionality", On::Array, (0, 0), same_rank, "the array, a `Result`")
        .order(ResultOrder::View)
        .takes(Takes::Value),
    row("flatten", On::Array, (0, 0), flatten, "the elements in row-major order").order(ResultOrder::Reshaped),
    row("into_flat", On::Array, (0, 0), flatten, "the elements in row-major order")
        .order(ResultOrder::Reshaped)
        .takes(Takes::Value),
    row("into_raw_vec_and_offset", On::Array, (0, 0), raw_vec, "the elements, and an offset")
        .order(ResultOrder::NoArray)
        .takes(Takes::Value),
    row("into_scalar", On::Array, (0, 0), into_scalar, "the element of an array of rank 0")
        .order(ResultOrder::NoArray)
        .takes(Takes::Value),
    row("as_standard_layout", On::Array, (0, 0), in_standard_layout, "the array").order(ResultOrder::Standard),
    row("reborrow", On::Array, (0, 0), itself, "the array").order(ResultOrder::View).takes(Takes::Value),
    row("broadcast", On::Array, (1, 1), broadcast, "repeated to a shape, an `Option`").order(ResultOrder::Broadcast),
    row("diag", On::Array, (0, 0), diag, "the diagonal")
        .order(ResultOrder::View)
        .gives(results::view)
        .parts(OnDynamicParts::By(parts::diag)),
    row("into_diag", On::Array, (0, 0), diag, "the diagonal")
        .order(ResultOrder::View)
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::diag)),
    row("triu", On::Array, (1, 1), triu, "zeros below a diagonal")
        .order(ResultOrder::Triangle)
        .gives(results::array_of_array),
    row("tril", On::Array, (1, 1), tril, "zeros above a diagonal")
        .order(ResultOrder::Triangle)
        .gives(results::array_of_array),
    row("diff", On::Array, (2, 2), diff, "differences of neighbours along an axis, n times")
        .order(ResultOrder::Given)
        .gives(results::array_of_array),
];

fn itself<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Term(me.of_any_rank(x, range)?))
}

fn in_standard_layout<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Term(me.of_any_rank(x, range)?))
}

fn transposed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let perm: Vec<u8> = all_axes(me, x).into_iter().rev().collect();
    Ok(Value::Term(me.g.transpose(x, &perm)))
}

/// Moves axis `from` to position `to`. The others keep their order.
pub(crate) fn move_axis(me: &mut Lower, x: Term, from: usize, to: usize) -> Term {
    let mut perm: Vec<u8> = all_axes(me, x).into_iter().filter(|&a| usize::from(a) != from).collect();
    perm.insert(to.min(perm.len()), axis(from));
    me.g.transpose(x, &perm)
}

fn permuted_axes<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (order, ro)) = (call.arg(0)?, call.arg(1)?);
    let x = me.array(x, rx)?;
    let rank = me.g.rank(x);
    let parts: Vec<Value> = match order {
        Value::List(parts) | Value::Tuple(parts) => parts.to_vec(),
        one => vec![one.clone()],
    };
    let mut perm = Vec::new();
    for part in &parts {
        let t = me.usize(part, ro)?;
        let Some(k) = me.g.int_value(t).and_then(|k| u8::try_from(k).ok()) else {
            return Err(me.error(ro, catalogue::axis()));
        };
        perm.push(k);
    }
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if sorted != all_axes(me, x) {
        let wanted = format!("each of the {rank} axes once, counted from 0");
        return Err(me.error(ro, catalogue::expected(&wanted, &format!("{perm:?}"))));
    }
    Ok(Value::Term(me.g.transpose(x, &perm)))
}

fn insert_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let rank = me.g.rank(x);
    let k = axis_at(me, call, 1, rank + 1)?;
    let one = me.g.lit_usize(1);
    Ok(Value::Term(me.g.replicate_axes(x, &[axis(k)], &[one])))
}

fn remove_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let k = axis_arg(me, call, x)?;
    let (zero, size, rank) = (me.g.lit_usize(0), me.g.shape(x)[k], me.g.rank(x));
    me.require_index(zero, size, crate::arith::axis_words(call.text(0), k, rank));
    let first = front_axis(me, x, k);
    Ok(Value::Term(me.g.index(first, &[zero])))
}

/// A condition: two sizes are equal. It is a literal if that is known.
fn equal(me: &mut Lower, a: Term, b: Term) -> Term {
    if a == b || (me.state.facts.prove_le(&me.g, a, b) && me.state.facts.prove_le(&me.g, b, a)) {
        return me.g.lit_bool(true);
    }
    me.g.compare(Cmp::Eq, a, b)
}

/// A value that exists if the sizes fit. In a loop it is computed only if they fit, since the loop
/// may have no steps.
fn fitting<'a>(me: &mut Lower<'a>, t: Term, exists: Term) -> Value<'a> {
    let in_loop = me.state.enclosing.frames().iter().any(|f| matches!(f, Frame::Loop { .. }));
    let t = if in_loop && me.g.bool_value(exists) != Some(true) {
        let shape = me.g.shape(t).to_vec();
        let zero = constant(me, me.g.elem(t), 0);
        let zeros = me.g.broadcast(zero, &shape);
        me.g.cond(exists, t, zeros)
    } else {
        t
    };
    Value::Option(Value::Term(t).into(), exists)
}

/// The elements in another shape. The value exists if the number of elements is the same.
pub(crate) fn reshaped<'a>(me: &mut Lower<'a>, x: Term, sizes: &[Term], range: SrcRange) -> Lowered<Value<'a>> {
    let own = me.g.shape(x).to_vec();
    let (have, want) = (me.product_of(&own), me.product_of(sizes));
    if let (Some(a), Some(b)) = (me.g.int_value(have), me.g.int_value(want))
        && a != b
    {
        let words = ["elements of the array".to_string(), "elements of the new shape".to_string()];
        return Err(me.error(range, catalogue::sizes_never_equal(&words, a, b)));
    }
    let exists = equal(me, have, want);
    let t = me.g.reshape(x, sizes);
    Ok(fitting(me, t, exists))
}

/// The first elements of a vector in a shape. The value exists if there are enough.
pub(crate) fn first_reshaped<'a>(me: &mut Lower<'a>, x: Term, sizes: &[Term], range: SrcRange) -> Lowered<Value<'a>> {
    let &[have] = me.g.shape(x) else { return reshaped(me, x, sizes, range) };
    let want = me.product_of(sizes);
    let fits = me.state.facts.prove_le(&me.g, want, have);
    let too_few = matches!((me.g.int_value(have), me.g.int_value(want)), (Some(a), Some(b)) if a < b);
    if too_few || have == want {
        return reshaped(me, x, sizes, range);
    }
    let count = if fits { want } else { me.g.int(IntOp::Min, want, have) };
    let zero = me.g.lit_usize(0);
    let first = me.g.slice(x, &[zero], &[1], &[count]);
    let exists = if fits { me.g.lit_bool(true) } else { me.g.compare(Cmp::Le, want, have) };
    let t = me.g.reshape(first, sizes);
    Ok(fitting(me, t, exists))
}

fn reshape<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (shape, rs)) = (call.arg(0)?, call.arg(1)?);
    let x = me.of_any_rank(x, rx)?;
    let sizes = me.sizes(shape, rs)?;
    reshaped(me, x, &sizes, rs)
}

fn same_rank<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let rank = me.g.rank(x);
    let named = match call.generics {
        Some(syn::Type::Path(p)) => {
            p.path.segments.last().and_then(|s| s.ident.to_string().strip_prefix("Ix")?.parse().ok())
        }
        _ => None,
    };
    match named {
        Some(n) if n == rank => {
            let exists = me.g.lit_bool(true);
            Ok(Value::Option(Value::Term(x).into(), exists))
        }
        Some(n) => Err(me.error(call.range, catalogue::ranks_differ(rank, n))),
        None => Err(me.error(call.range, catalogue::expected(wanted::RANK, wanted::NONE))),
    }
}

fn flat(me: &mut Lower, x: Term) -> Term {
    let shape = me.g.shape(x).to_vec();
    let n = me.product_of(&shape);
    me.g.reshape(x, &[n])
}

fn flatten<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    Ok(Value::Term(flat(me, x)))
}

fn raw_vec<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    let (x, zero, exists) = (flat(me, x), me.g.lit_usize(0), me.g.lit_bool(true));
    Ok(Value::Tuple([Value::Term(x), Value::Option(Value::Term(zero).into(), exists)].into()))
}

fn into_scalar<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.of_any_rank(x, range)?;
    match me.g.rank(x) {
        0 => Ok(Value::Term(x)),
        rank => Err(me.error(call.range, catalogue::ranks_differ(0, rank))),
    }
}

fn broadcast<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (shape, rs)) = (call.arg(0)?, call.arg(1)?);
    let x = me.of_any_rank(x, rx)?;
    let (sizes, own) = (me.sizes(shape, rs)?, me.g.shape(x).to_vec());
    let Some(lead) = sizes.len().checked_sub(own.len()) else {
        return Err(me.error(rs, catalogue::ranks_differ(own.len(), sizes.len())));
    };
    let mut exists = me.g.lit_bool(true);
    let mut renamed = own.clone();
    for (k, &n) in own.iter().enumerate().filter(|(_, n)| me.g.int_value(**n) != Some(1)).collect::<Vec<_>>() {
        let same = equal(me, n, sizes[lead + k]);
        exists = me.g.and(exists, same);
        renamed[k] = sizes[lead + k];
    }
    let x = me.g.recast(x, &renamed);
    let t = me.stretch(x, &sizes);
    Ok(fitting(me, t, exists))
}

/// The minimum of the sizes of an array.
pub(crate) fn shortest(me: &mut Lower, shape: &[Term]) -> Term {
    shape[1..].iter().fold(shape[0], |n, &m| if n == m { n } else { me.g.int(IntOp::Min, n, m) })
}

fn diag<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let shape = me.g.shape(x).to_vec();
    let n = shortest(me, &shape);
    let var = me.g.fresh();
    let i = me.g.mk(Node::Var(var));
    Ok(Value::Term(me.g.gather(x, [n].into(), &[var], &vec![i; shape.len()])))
}

/// Zeros on one side of the diagonal `k` above the main one, over the last two axes.
fn triangle<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, upper: bool) -> Lowered<Value<'a>> {
    let ((x, rx), (k, rk)) = (call.arg(0)?, call.arg(1)?);
    let x = me.array(x, rx)?;
    let k = me.integer(k, IntTy::Isize, rk)?;
    let shape = me.g.shape(x).to_vec();
    let rank = shape.len();
    if rank < 2 {
        return Ok(Value::Term(x));
    }
    let (elem, isize) = (me.g.elem(x), Elem::Int(IntTy::Isize));
    let zero = constant(me, elem, 0);
    each(me, &shape, (call.range, Want::Elem(elem)), &mut |me, ix| {
        let (row, column) = (me.g.cast(isize, ix[rank - 2]), me.g.cast(isize, ix[rank - 1]));
        // The sum saturates. A diagonal that far away is outside of the array in any case.
        let first = me.g.int(IntOp::Add, row, k);
        let keep = me.g.compare(if upper { Cmp::Ge } else { Cmp::Le }, column, first);
        let element = me.g.index(x, ix);
        Ok(Value::Term(me.g.select(keep, element, zero)))
    })
}

fn triu<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    triangle(me, call, true)
}

fn tril<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    triangle(me, call, false)
}

/// A range of one axis. The other axes are whole.
pub(crate) fn along<'a>(axis: usize, start: Option<Value<'a>>, end: Option<Value<'a>>) -> Vec<SliceAxis<'a>> {
    let mut axes: Vec<SliceAxis> = (0..axis)
        .map(|_| SliceAxis::Range(Range { start: None, end: None, inclusive: false, key: None }.into(), None))
        .collect();
    axes.push(SliceAxis::Range(Range { start, end, inclusive: false, key: None }.into(), None));
    axes
}

fn diff<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (n, rn)) = (call.arg(0)?, call.arg(1)?);
    let first = me.array(x, rx)?;
    let mut x = first;
    let k = axis_at(me, call, 2, me.g.rank(x))?;
    let times = me.usize(n, rn)?;
    let Some(times) = me.g.int_value(times).filter(|n| (0..=16).contains(n)) else {
        return Err(me.error(rn, catalogue::expected(wanted::LITERAL_TIMES, wanted::ANOTHER_NUMBER)));
    };
    for _ in 0..times {
        let one = me.g.lit_usize(1);
        let size = me.g.shape(x)[k];
        me.require_lt(one, size, ad_ir::catalogue::reached::DIFF);
        let last = me.g.int(IntOp::Sub, size, one);
        let head = me.slice(x, &along(k, None, Some(Value::Term(last))), rx)?;
        let tail = me.slice(x, &along(k, Some(Value::Term(one)), None), rx)?;
        let words = [call.text(0).to_string(), call.text(0).to_string()];
        x = me.arith(crate::arith::Arith::Sub, tail, head, words, call.range)?;
    }
    let mut layouts = me.layouts();
    Ok(Value::Term(match times {
        0 => layouts.copied(x),
        1 => layouts.new_array(x),
        // ndarray writes the result over a part of a copy of the array, or over a part of the
        // previous difference.
        _ if layouts.g.rank(x) > 1 || layouts.not_standard(first).is_some() => layouts.with_unknown_order(x),
        _ => x,
    }))
}

//! Methods of arrays that return sizes.

use crate::lower::Lower;
use crate::refs::results;
use crate::table::{Call, Mark, On, Row, row};
use crate::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Term};
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::Takes;

/// Methods that return sizes.
pub(crate) const TABLE: &[Row] = &[
    row("len", On::Array, (0, 0), len, "number of elements")
        .order(ResultOrder::NoArray)
        .of_layout()
        .of_vectors_too()
        .takes(Takes::Reference)
        .gives(results::number)
        .marks(&[Mark::OfConstants, Mark::Total]),
    row("is_empty", On::Array, (0, 0), is_empty, "whether there is no element")
        .order(ResultOrder::NoArray)
        .of_layout()
        .of_vectors_too()
        .takes(Takes::Reference)
        .gives(results::number),
    row("is_square", On::Array, (0, 0), is_square, "whether a matrix has as many rows as columns")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference)
        .gives(results::number),
    row("nrows", On::Array, (0, 0), nrows, "rows of a matrix")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference)
        .gives(results::number)
        .marks(&[Mark::Total]),
    row("ncols", On::Array, (0, 0), ncols, "columns of a matrix")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference)
        .gives(results::number)
        .marks(&[Mark::Total]),
    row("dim", On::Array, (0, 0), dim, "sizes as a tuple")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference),
    row("raw_dim", On::Array, (0, 0), shape, "sizes").order(ResultOrder::NoArray).of_layout().takes(Takes::Reference),
    row("shape", On::Array, (0, 0), shape, "sizes: `x.shape()[k]`")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference),
    row("ndim", On::Array, (0, 0), ndim, "rank")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference)
        .gives(results::number),
    row("len_of", On::Array, (1, 1), len_of, "size of an axis")
        .order(ResultOrder::NoArray)
        .of_layout()
        .takes(Takes::Reference)
        .gives(results::number),
];

/// The axis argument. Its range is checked.
pub(crate) fn axis_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: Term) -> Lowered<usize> {
    axis_at(me, call, 1, me.g.rank(x))
}

/// An argument that is one of `rank` axes.
pub(crate) fn axis_at<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, arg: usize, rank: usize) -> Lowered<usize> {
    match call.arg(arg)? {
        (&Value::Axis(k), _) if k < rank => Ok(k),
        (&Value::Axis(k), range) => Err(me.error(range, catalogue::axis_out_of_range(k, rank))),
        (_, range) => Err(me.error(range, catalogue::axis())),
    }
}

fn sizes_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Vec<Term>> {
    match call.arg(0)? {
        // The length of an array literal is its number of elements. The length of an array of
        // arrays is its number of rows.
        (Value::List(parts), _) => Ok(vec![me.g.lit_usize(parts.len())]),
        (Value::GrowableVec(stack), _) => Ok(vec![stack.len]),
        (Value::DynamicPart(open), _) => Ok(open.sizes(&me.g)),
        (Value::Filled(_, sizes), _) => Ok(sizes[..1].to_vec()),
        // Only rustc knows the number of its elements.
        (Value::Number(n), _) if let Some((path, before)) = n.of_array() => {
            let len = crate::shapes::length_of_constant(path, before.len());
            Ok(vec![me.constant(&len, Elem::USIZE)])
        }
        (&Value::Nested(t, _), _) => Ok(me.g.shape(t)[..1].to_vec()),
        (x, range) => {
            let x = me.of_any_rank(x, range)?;
            Ok(me.g.shape(x).to_vec())
        }
    }
}

fn len<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = sizes_of(me, call)?;
    let one = me.g.lit_usize(1);
    // The number of elements of an existing array does not overflow.
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
        return Err(me.error(call.range, catalogue::rows_of_no_matrix(call.name(), sizes.len())));
    }
    Ok(Value::Term(sizes[axis]))
}

fn nrows<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    size_at(me, call, 0)
}

fn ncols<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    size_at(me, call, 1)
}

fn is_square<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (Value::Term(n), Value::Term(m)) = (nrows(me, call)?, ncols(me, call)?) else { return Err(Poison) };
    Ok(Value::Term(me.g.compare(Cmp::Eq, n, m)))
}

fn dim<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let sizes = sizes_of(me, call)?;
    Ok(match sizes[..] {
        [n] => Value::Term(n),
        [] => Value::Unit,
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
    let sizes = match x {
        Value::DynamicPart(open) => open.sizes(&me.g),
        x => {
            let x = me.array(x, range)?;
            me.g.shape(x).to_vec()
        }
    };
    let axis = axis_at(me, call, 1, sizes.len())?;
    Ok(Value::Term(sizes[axis]))
}

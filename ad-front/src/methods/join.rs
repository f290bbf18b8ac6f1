//! `stack`, `concatenate` and other free functions of ndarray.

use super::layout::move_axis;
use crate::arith::axis_words;
use crate::lower::Lower;
use crate::table::{Call, On, Row, row};
use crate::value::{Lowered, Value};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Contraction, Elem, Node, Term, Var};
use ad_ir::memory_order::ResultOrder;
use ad_ir::prim::{Cmp, IntOp};
use ad_ir::program::{AssumedFunction, Home};

/// Free functions of ndarray.
pub(crate) const TABLE: &[Row] = &[
    row("stack", On::Nd, (2, 2), stack, "arrays of one shape along a new axis, a `Result`")
        .order(ResultOrder::Joined)
        .called("$crate::ndarray::Axis(0), &[x_.view()]"),
    CONCATENATE,
    row("arr0", On::Nd, (1, 1), arr0, "an array of rank 0").order(ResultOrder::Standard).called("0.0_f64"),
    row("aview0", On::Nd, (1, 1), arr0, "an array of rank 0").order(ResultOrder::Standard).called("&0.0_f64"),
    row("arr1", On::Nd, (1, 1), arr, "an array of these elements").order(ResultOrder::Standard).called("&[0.0_f64]"),
    row("arr2", On::Nd, (1, 1), arr, "an array of these rows").order(ResultOrder::Standard).called("&[[0.0_f64]]"),
    row("arr3", On::Nd, (1, 1), arr, "an array of these matrices")
        .order(ResultOrder::Standard)
        .called("&[[[0.0_f64]]]"),
    row("aview1", On::Nd, (1, 1), arr, "an array of these elements").order(ResultOrder::Standard).called("&[0.0_f64]"),
    row("aview2", On::Nd, (1, 1), arr, "an array of these rows").order(ResultOrder::Standard).called("&[[0.0_f64]]"),
    row("kron", On::Nd, (2, 2), kron, "Kronecker product of two matrices").order(ResultOrder::Standard).called_as(
        AssumedFunction {
            home: Home::NdarrayLinalg,
            arguments: "&$crate::ndarray::Array2::<f64>::zeros((0, 0)), &$crate::ndarray::Array2::<f64>::zeros((0, 0))",
            result: None,
        },
    ),
];

/// The row of `concatenate`, which loops over growing vectors use as well.
pub(crate) const CONCATENATE: Row =
    row("concatenate", On::Nd, (2, 2), concatenate, "arrays one behind the other along an axis, a `Result`")
        .order(ResultOrder::Joined)
        .called("$crate::ndarray::Axis(0), &[x_.view()]");

fn arr0<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Term(me.term(x, range)?))
}

fn arr<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    Ok(Value::Term(me.array(x, range)?))
}

/// The arrays that `stack` and `concatenate` join.
enum Joined {
    Listed(Vec<Term>),
    /// The elements of a `Vec`, which are the rows of an array.
    Rows(Term),
}

/// The axis and the arrays of `stack` and `concatenate`.
fn parts<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(usize, Joined, SrcRange)> {
    let ((axis, ra), (list, rl)) = (call.arg(0)?, call.arg(1)?);
    let Value::Axis(axis) = *axis else {
        return Err(me.error(ra, catalogue::axis()));
    };
    if let Value::Nested(all, 1) = *list {
        return Ok((axis, Joined::Rows(all), rl));
    }
    let Value::List(list) = list else {
        let found = me.describe(list);
        return Err(me.error(rl, catalogue::expected(wanted::LIST_OF_ARRAYS, &found)));
    };
    if list.is_empty() {
        return Err(me.error(rl, catalogue::expected(wanted::SOME_ARRAY, wanted::NONE)));
    }
    let terms = list.iter().map(|x| me.of_any_rank(x, rl)).collect::<Lowered<Vec<Term>>>()?;
    Ok((axis, Joined::Listed(terms), rl))
}

/// The arrays of a `Vec` with the joined axis first. It is an error if the `Vec` is empty.
fn rows<'a>(me: &mut Lower<'a>, all: Term, along: usize) -> (Term, Term) {
    let (zero, n) = (me.g.lit_usize(0), me.g.shape(all)[0]);
    let exists = me.g.compare(Cmp::Lt, zero, n);
    (move_axis(me, all, 0, along), exists)
}

/// A `Result` that is always `Ok`, since its possible errors are checks.
fn fine<'a>(me: &mut Lower<'a>, t: Term) -> Value<'a> {
    let exists = me.g.lit_bool(true);
    Value::Option(Value::Term(t).into(), exists)
}

fn stack<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (axis, parts, range) = parts(me, call)?;
    let rank = match &parts {
        Joined::Listed(terms) => terms.first().map_or(0, |&t| me.g.rank(t)),
        Joined::Rows(all) => me.g.rank(*all) - 1,
    };
    if axis > rank {
        return Err(me.error(call.range, catalogue::axis_out_of_range(axis, rank + 1)));
    }
    let terms = match parts {
        Joined::Listed(terms) => terms,
        Joined::Rows(all) => {
            let (t, exists) = rows(me, all, axis);
            return Ok(Value::Option(Value::Term(t).into(), exists));
        }
    };
    let same = me.same_shapes(&terms, range)?;
    let t = me.g.stack(&same);
    let t = move_axis(me, t, 0, axis);
    Ok(fine(me, t))
}

fn concatenate<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (along, parts, range) = parts(me, call)?;
    let terms = match parts {
        Joined::Listed(terms) => terms,
        Joined::Rows(all) => return in_rows(me, all, along, call.range),
    };
    let Some(&first) = terms.first() else { return Err(ad_ir::diag::Poison) };
    let (elem, shape) = (me.g.elem(first), me.g.shape(first).to_vec());
    let rank = shape.len();
    if along >= rank {
        return Err(me.error(call.range, catalogue::axis_out_of_range(along, rank)));
    }
    let mut total = me.g.lit_usize(0);
    let mut placed = Vec::new();
    for &t in &terms {
        let own = me.g.shape(t).to_vec();
        if me.g.elem(t) != elem {
            let (a, b) = (me.describe(&Value::Term(first)), me.describe(&Value::Term(t)));
            return Err(me.error(range, catalogue::types_differ(&a, &b)));
        }
        if own.len() != rank {
            return Err(me.error(range, catalogue::ranks_differ(rank, own.len())));
        }
        let mut renamed = shape.clone();
        renamed[along] = own[along];
        for k in (0..rank).filter(|&k| k != along) {
            let words = ["the first array", "another array"].map(|text| axis_words(text, k, rank));
            me.equate(shape[k], own[k], words, range)?;
        }
        placed.push((me.g.recast(t, &renamed), total));
        total = me.g.int(IntOp::Add, total, own[along]);
    }
    // The sum of the parts, each padded with zeros. The emitter writes it block by block, and the
    // derivative of a part is a slice.
    let mut sizes = shape;
    sizes[along] = total;
    let steps = vec![1; rank];
    let exact = written(me, &placed, along, &sizes);
    let mut joined: Option<Term> = None;
    for (t, start) in placed {
        let mut starts = vec![me.g.lit_usize(0); rank];
        starts[along] = start;
        let block = me.g.pad(t, &starts, &steps, &sizes);
        joined = Some(match joined {
            None => block,
            Some(before) => match elem {
                Elem::Real(_) => me.g.add(before, block),
                Elem::Int(_) => me.g.int(IntOp::Add, before, block),
                Elem::Bool => me.g.or(before, block),
            },
        });
    }
    let t = joined.ok_or(ad_ir::diag::Poison)?;
    let t = exact.map_or(t, |exact| me.g.relaxed_exact(t, exact));
    Ok(fine(me, t))
}

/// The arrays of a `Vec`, one after another.
fn in_rows<'a>(me: &mut Lower<'a>, all: Term, along: usize, range: SrcRange) -> Lowered<Value<'a>> {
    let rank = me.g.rank(all) - 1;
    if along >= rank {
        return Err(me.error(range, catalogue::axis_out_of_range(along, rank)));
    }
    let (t, exists) = rows(me, all, along);
    let mut sizes = me.g.shape(t).to_vec();
    let n = sizes.remove(along);
    sizes[along] = me.g.int(IntOp::Mul, n, sizes[along]);
    let t = me.g.reshape(t, &sizes);
    Ok(Value::Option(Value::Term(t).into(), exists))
}

/// Joins real arrays, each at its start along an axis, without a change of bits. (A sum of padded
/// parts would turn -0 into 0.)
pub(crate) fn written(me: &mut Lower, parts: &[(Term, Term)], along: usize, sizes: &[Term]) -> Option<Term> {
    let elem = parts.first().map(|p| me.g.elem(p.0)).filter(|e| e.is_real())?;
    let mut all = me.g.lit_shaped(elem, sizes, 0.0);
    for &(part, start) in parts {
        let vars: Vec<Var> = (0..=along).map(|_| me.g.fresh()).collect();
        let mut index: Vec<Term> = vars.iter().map(|&v| me.g.mk(Node::Var(v))).collect();
        index[along] = me.g.int(IntOp::Add, start, index[along]);
        all = me.g.update(all, part, &vars, &index);
    }
    Some(all)
}

fn kron<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
    let (a, b) = (me.array(a, ra), me.array(b, rb));
    let (a, b) = (a?, b?);
    let (sa, sb) = (me.g.shape(a).to_vec(), me.g.shape(b).to_vec());
    let (&[n, m], &[k, l], true) = (&sa[..], &sb[..], me.g.elem(a) == me.g.elem(b) && me.g.elem(a).is_real()) else {
        let (a, b) = (me.describe(&Value::Term(a)), me.describe(&Value::Term(b)));
        return Err(me.error(call.range, catalogue::expected(wanted::MATRICES, &format!("{a} and {b}"))));
    };
    // ndarray cuts the result into parts of the size of the second matrix.
    let zero = me.g.lit_usize(0);
    [k, l].into_iter().for_each(|size| me.require_lt(zero, size, catalogue::reached::NO_ELEMENTS));
    let spec = Contraction::new([0, 1], [2, 3], [0, 2, 1, 3]);
    let t = me.g.contract(a, b, spec);
    let sizes = [me.g.int(IntOp::Mul, n, k), me.g.int(IntOp::Mul, m, l)];
    Ok(Value::Term(me.g.reshape(t, &sizes)))
}

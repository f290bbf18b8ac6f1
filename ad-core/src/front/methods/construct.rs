//! Arrays from nothing: associated functions of array types.

use crate::catalogue;
use crate::front::lower::Lower;
use crate::front::table::{Call, Entry, On, row};
use crate::front::value::{Lowered, Value};
use crate::ir::{Elem, Lit, Term};

/// Functions of array types, by path.
pub(in crate::front) const TABLE: &[Entry] = &[
    row("zeros", On::Assoc, (1, 1), zeros, "zeros of a shape"),
    row("ones", On::Assoc, (1, 1), ones, "ones of a shape"),
    row("from_elem", On::Assoc, (2, 2), from_elem, "one value in a shape"),
    row("from_shape_fn", On::Assoc, (2, 2), from_shape_fn, "element ix is f(ix)"),
    row("from_vec", On::Assoc, (1, 1), from_vec, "the elements of a vector"),
    row("from", On::Assoc, (1, 1), from_vec, "conversion between numbers, or the elements of a vector"),
    row("lit", On::Assoc, (1, 1), from_vec, "a constant of the type parameter: `T::lit(0.5)`"),
];

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
    let elem = call.generics.and_then(|ty| crate::front::types::elem_of(ty, me.sig.real_param.as_ref()));
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

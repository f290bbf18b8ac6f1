//! Elementwise methods of arrays that are no row of the scalar tables.

use super::powi;
use crate::catalogue;
use crate::front::lower::Lower;
use crate::front::table::{Call, Entry, How, On, row};
use crate::front::value::{Lowered, Value, Want};

/// Elementwise methods.
pub(in crate::front) const TABLE: &[Entry] = &[
    row("powi", On::Array, (1, 1), powi, "integer power, elementwise"),
    row("mapv", On::Array, (1, 1), map, "f of each element"),
    row("map", On::Array, (1, 1), map, "f of each element"),
    row("mapv_into", On::Array, (1, 1), map, "f of each element"),
];

/// Elementwise: a function of the table at once, a closure by a loop over the index, which the bulk-operation transform takes away.
fn map<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (f, rf)) = (call.arg(0)?, call.arg(1)?);
    if let Value::List(parts) = x {
        let parts: Lowered<Vec<Value>> = parts.iter().map(|p| me.apply(f, std::slice::from_ref(p), rf)).collect();
        return Ok(Value::List(parts?.into()));
    }
    if let &Value::Nested(t) = x {
        let n = me.g.shape(t)[0];
        let mapped = me.build_with(n, rf, |me, i| {
            let row = me.g.index(t, &[i]);
            let row = me.rows(row, true);
            me.apply(f, &[row], rf)
        })?;
        return Ok(me.rows(mapped, true));
    }
    let x = me.array(x, rx)?;
    if let Value::Function(Entry { how: How::Unary(op), .. }) = f {
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

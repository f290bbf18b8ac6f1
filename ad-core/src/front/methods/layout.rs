//! The same elements in another arrangement.

use crate::front::functions::all_axes;
use crate::front::lower::Lower;
use crate::front::table::{Call, Entry, On, row};
use crate::front::value::{Lowered, Value};

/// Methods that move axes and elements.
pub(in crate::front) const TABLE: &[Entry] = &[row("t", On::Array, (0, 0), transposed, "axes in reverse order")];

fn transposed<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let perm: Vec<u8> = all_axes(me, x).into_iter().rev().collect();
    Ok(Value::Term(me.g.transpose(x, &perm)))
}

//! Integers as strings of bits: counts of bits, and rotations. All of them are computed in `u64`,
//! which has room for every type, so a count needs no primitive of its own.
//!
//! Invariant: bits above the width of the type never count.

use super::functions::ints;
use super::lower::Lower;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, reached, wanted};
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, IntTy, Lit, Term};
use ad_ir::prim::{Cmp, IntOp};

/// Methods of integers that read or move their bits.
pub(super) const TABLE: &[Row] = &[
    row("count_ones", On::Int, (0, 0), |me, call| counted(me, call, false, ones), "the number of ones"),
    row("count_zeros", On::Int, (0, 0), |me, call| counted(me, call, true, ones), "the number of zeros"),
    row(
        "leading_zeros",
        On::Int,
        (0, 0),
        |me, call| counted(me, call, false, leading),
        "the zeros before the first one",
    ),
    row("leading_ones", On::Int, (0, 0), |me, call| counted(me, call, true, leading), "the ones before the first zero"),
    row(
        "trailing_zeros",
        On::Int,
        (0, 0),
        |me, call| counted(me, call, false, trailing),
        "the zeros after the last one",
    ),
    row("trailing_ones", On::Int, (0, 0), |me, call| counted(me, call, true, trailing), "the ones after the last zero"),
    row("rotate_left", On::Int, (1, 1), |me, call| rotated(me, call, true), "the bits, the first n behind the others"),
    row("rotate_right", On::Int, (1, 1), |me, call| rotated(me, call, false), "the bits, the last n before the others"),
    row("next_power_of_two", On::Int, (0, 0), next_power_of_two, "the least power of two not below it (unsigned)"),
];

const WIDE: IntTy = IntTy::U64;

fn number(me: &mut Lower, n: u64) -> Term {
    me.g.lit(Lit::Int(WIDE, n.into()))
}

/// The bits of an integer in the wide type. Those above its width are zeros.
fn wide(me: &mut Lower, x: Term, ty: IntTy) -> Term {
    let x = me.g.cast(Elem::Int(WIDE), x);
    if ty.bits() == WIDE.bits() {
        return x;
    }
    let all = number(me, (1 << ty.bits()) - 1);
    me.g.int(IntOp::BitAnd, x, all)
}

/// The number of ones: sums in pairs of bits, then in fours, and so on.
fn ones(me: &mut Lower, x: Term, _: IntTy) -> Term {
    const SUMS: [(u64, u64); 6] = [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (8, 0x00ff_00ff_00ff_00ff),
        (16, 0x0000_ffff_0000_ffff),
        (32, 0x0000_0000_ffff_ffff),
    ];
    SUMS.into_iter().fold(x, |x, (width, mask)| {
        let (width, mask) = (number(me, width), number(me, mask));
        let other = me.g.int(IntOp::Shr, x, width);
        let (x, other) = (me.g.int(IntOp::BitAnd, x, mask), me.g.int(IntOp::BitAnd, other, mask));
        me.g.int(IntOp::Add, x, other)
    })
}

/// The integer with all bits set from the first one on.
fn filled(me: &mut Lower, x: Term) -> Term {
    [1, 2, 4, 8, 16, 32].into_iter().fold(x, |x, by| {
        let by = number(me, by);
        let moved = me.g.int(IntOp::Shr, x, by);
        me.g.int(IntOp::BitOr, x, moved)
    })
}

/// The number of zeros before the first one. All bits from the first one on are set, and the number
/// of these is subtracted from the width.
fn leading(me: &mut Lower, x: Term, ty: IntTy) -> Term {
    let set = filled(me, x);
    let (ones, all) = (ones(me, set, ty), number(me, ty.bits().into()));
    me.g.int(IntOp::Sub, all, ones)
}

/// The number of zeros after the last one. In `x - 1` exactly these zeros of `x` are ones.
fn trailing(me: &mut Lower, x: Term, ty: IntTy) -> Term {
    let (zero, one, all) = (number(me, 0), number(me, 1), number(me, ty.bits().into()));
    let less = me.g.int(IntOp::Sub, x, one);
    let rest = me.complement(x, WIDE);
    let below = me.g.int(IntOp::BitAnd, less, rest);
    let (none, ones) = (me.g.compare(Cmp::Eq, x, zero), ones(me, below, ty));
    me.g.select(none, all, ones)
}

/// The number of bits that a `usize` needs: 0 for 0.
pub(super) fn width(me: &mut Lower, n: Term) -> Term {
    let x = wide(me, n, IntTy::Usize);
    let zeros = leading(me, x, IntTy::Usize);
    let all = number(me, IntTy::Usize.bits().into());
    let width = me.g.int(IntOp::Sub, all, zeros);
    me.g.cast(Elem::USIZE, width)
}

/// A count of the bits of an integer, or of those of its complement.
fn counted<'a>(
    me: &mut Lower<'a>,
    call: &Call<'a, '_>,
    inverted: bool,
    count: fn(&mut Lower, Term, IntTy) -> Term,
) -> Lowered<Value<'a>> {
    let (ty, terms) = ints(me, call)?;
    let &[x] = &terms[..] else { return Err(Poison) };
    let x = if inverted { me.complement(x, ty) } else { x };
    let x = wide(me, x, ty);
    let n = count(me, x, ty);
    Ok(Value::Term(me.g.cast(Elem::Int(IntTy::U32), n)))
}

/// The least power of two that is not less. In its predecessor all bits after the first one are
/// set.
fn next_power_of_two<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (ty, terms) = ints(me, call)?;
    let &[x] = &terms[..] else { return Err(Poison) };
    if ty.range().0 < 0 {
        return Err(me.error(call.range, catalogue::expected(wanted::UNSIGNED_INTEGER, &format!("`{}`", ty.name()))));
    }
    let (one, largest) = (number(me, 1), number(me, 1 << (ty.bits() - 1)));
    let x = wide(me, x, ty);
    let fits = me.g.compare(Cmp::Le, x, largest);
    me.require(None, fits, reached::POWER_OVERFLOWS);
    let less = me.g.int(IntOp::Sub, x, one);
    let set = filled(me, less);
    let power = me.g.int(IntOp::Add, set, one);
    Ok(Value::Term(me.g.cast(Elem::Int(ty), power)))
}

fn rotated<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, left: bool) -> Lowered<Value<'a>> {
    let ((x, rx), (n, rn)) = (call.arg(0)?, call.arg(1)?);
    let Some(Elem::Int(ty)) = me.elem_of(x).or(Some(Elem::Int(IntTy::I32))) else { return Err(Poison) };
    let (x, n) = (me.integer(x, ty, rx)?, me.integer(n, IntTy::U32, rn)?);
    let (x, n) = (wide(me, x, ty), me.g.cast(Elem::Int(WIDE), n));
    let (all, last, one) = (number(me, ty.bits().into()), number(me, (ty.bits() - 1).into()), number(me, 1));
    let n = me.g.int(IntOp::Rem, n, all);
    let rest = me.g.int(IntOp::Sub, last, n);
    // The other bits are moved in two shifts. In a rotation by 0 they move by the whole width, and
    // one shift by the whole width would have no effect.
    let (ahead, back) = if left { (IntOp::Shl, IntOp::Shr) } else { (IntOp::Shr, IntOp::Shl) };
    let (first, other) = (me.g.int(ahead, x, n), me.g.int(back, x, one));
    let other = me.g.int(back, other, rest);
    let both = me.g.int(IntOp::BitOr, first, other);
    let both = wide(me, both, ty);
    Ok(Value::Term(me.g.cast(Elem::Int(ty), both)))
}

//! What can be assigned: a variable, or a part of one. A place is a lens, a path from a cell inwards; reading goes down the path, and
//! writing makes the whole anew with the part replaced. Nothing is changed in place here: that is the emitter's, where it can.

use syn::{BinOp, Expr, ExprBinary};

use super::lower::Lower;
use super::refuse;
use super::state::Cell;
use super::table::{Call, Entry, On, row};
use super::value::{Lowered, Value};
use crate::catalogue;
use crate::diag::{Poison, SrcRange, text_of};

/// Functions that change what they are given.
pub(super) const TABLE: &[Entry] = &[
    row("swap", On::Mem, (2, 2), swap, "exchanges two variables or parts: `std::mem::swap(&mut a, &mut b)`"),
    row("replace", On::Mem, (2, 2), replace, "assigns, and returns what was there before"),
];

/// A variable, and the way inwards.
#[derive(Clone)]
pub(super) struct Place {
    cell: Cell,
    steps: Vec<Step>,
    /// As the user wrote it.
    text: String,
    range: SrcRange,
}

/// One step inwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// A part of a tuple, or an element of an array literal at a constant index.
    Field(usize),
}

impl<'a> Lower<'a> {
    /// An expression as something that can be assigned.
    pub(super) fn place(&mut self, e: &'a Expr) -> Lowered<Place> {
        let range = SrcRange::of(e);
        let text = text_of(e, 40);
        match e {
            Expr::Paren(p) => self.place(&p.expr),
            Expr::Group(g) => self.place(&g.expr),
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => self.place(&u.expr),
            Expr::Reference(r) if r.mutability.is_some() => self.place(&r.expr),
            Expr::Path(p) if p.path.get_ident().is_some() => {
                let name = p.path.get_ident().map_or_else(String::new, ToString::to_string);
                match self.scope.get(&name) {
                    Some(Ok(Value::Cell(cell))) => {
                        let cell = *cell;
                        Ok(Place { cell, steps: Vec::new(), text, range })
                    }
                    Some(Ok(Value::Place(place))) => Ok(Place { text, range, ..(**place).clone() }),
                    Some(Err(Poison)) => Err(Poison),
                    Some(Ok(_)) => {
                        let param = self.sig.params.iter().any(|p| p.name == name);
                        Err(self.error(
                            range,
                            if param {
                                catalogue::assignment_to_parameter(&name)
                            } else {
                                catalogue::assignment_to_fixed(&name)
                            },
                        ))
                    }
                    None => Err(self.unknown(&p.path, range)),
                }
            }
            Expr::Field(f) => {
                let base = self.place(&f.base)?;
                let syn::Member::Unnamed(k) = &f.member else {
                    return Err(self.error(range, catalogue::field(&text_of(&f.member, 40))));
                };
                let steps = base.steps.iter().copied().chain([Step::Field(k.index as usize)]).collect();
                Ok(Place { steps, text, range, ..base })
            }
            Expr::Index(_) => Err(refuse::expression(self, e)),
            other => Err(refuse::expression(self, other)),
        }
    }

    /// What a place holds.
    pub(super) fn read_place(&mut self, place: &Place) -> Lowered<Value<'a>> {
        let mut value = self.read(place.cell, place.range)?;
        for step in &place.steps {
            value = self.inner(&value, *step, place)?;
        }
        Ok(value)
    }

    fn inner(&mut self, value: &Value<'a>, step: Step, place: &Place) -> Lowered<Value<'a>> {
        let Step::Field(k) = step;
        match value {
            Value::Tuple(parts) | Value::List(parts) if k < parts.len() => Ok(parts[k].clone()),
            Value::Never => Ok(Value::Never),
            _ => Err(self.error(place.range, catalogue::field(&k.to_string()))),
        }
    }

    /// Makes a place hold another value.
    pub(super) fn write_place(&mut self, place: &Place, value: Value<'a>) -> Lowered<()> {
        if place.steps.is_empty() {
            let value = self.typed_as_before(place.cell, value, place.range)?;
            return self.write(place.cell, value, place.range);
        }
        let old = self.read(place.cell, place.range)?;
        let new = self.replaced(&old, &place.steps, value, place)?;
        self.write(place.cell, new, place.range)
    }

    /// A literal that is assigned has the type of what was there before.
    fn typed_as_before(&mut self, cell: Cell, value: Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let elem = match (&value, self.store.held(cell)) {
            (Value::Number(_), Some(super::state::Held::Value(old))) => self.elem_of(old),
            (Value::Number(_), _) => match self.store.declared(cell) {
                Some(ty) => return self.ascribe(value, ty, range),
                None => None,
            },
            _ => None,
        };
        match elem {
            Some(elem) => Ok(Value::Term(self.term_as(&value, super::value::Want::Elem(elem), range)?)),
            None => Ok(value),
        }
    }

    /// `old` with the part at the end of the steps replaced.
    fn replaced(&mut self, old: &Value<'a>, steps: &[Step], new: Value<'a>, place: &Place) -> Lowered<Value<'a>> {
        let Some((&step, rest)) = steps.split_first() else { return Ok(new) };
        let part = self.inner(old, step, place)?;
        let part = self.replaced(&part, rest, new, place)?;
        let Step::Field(k) = step;
        let with = |parts: &[Value<'a>]| {
            parts.iter().enumerate().map(|(i, p)| if i == k { part.clone() } else { p.clone() }).collect()
        };
        match old {
            Value::Tuple(parts) => Ok(Value::Tuple(with(parts))),
            Value::List(parts) => Ok(Value::List(with(parts))),
            _ => Ok(Value::Never),
        }
    }

    /// `a = b`, with patterns on the left.
    pub(super) fn assign_expr(&mut self, a: &'a syn::ExprAssign) -> Lowered<Value<'a>> {
        let value = self.expr(&a.right);
        let result = self.assign(&a.left, value.clone().ok());
        value?;
        result.map(|()| Value::Unit)
    }

    /// Assigns to an expression; without a value only the errors on the left are found.
    fn assign(&mut self, left: &'a Expr, value: Option<Value<'a>>) -> Lowered<()> {
        let elems = match left {
            Expr::Infer(_) => return Ok(()),
            Expr::Tuple(t) => &t.elems,
            Expr::Array(a) => &a.elems,
            Expr::Paren(p) => return self.assign(&p.expr, value),
            _ => {
                let place = self.place(left)?;
                return match value {
                    Some(value) => self.write_place(&place, value),
                    None => Ok(()),
                };
            }
        };
        let range = SrcRange::of(left);
        let values = match value {
            None => vec![None; elems.len()],
            Some(value) => {
                let parts = self.parts(&value, elems.len(), range)?;
                parts.into_iter().map(Some).collect()
            }
        };
        let mut result = Ok(());
        for (e, value) in elems.iter().zip(values) {
            if self.assign(e, value).is_err() {
                result = Err(Poison);
            }
        }
        result
    }

    /// A value as so many parts.
    fn parts(&mut self, value: &Value<'a>, n: usize, range: SrcRange) -> Lowered<Vec<Value<'a>>> {
        match value {
            Value::Tuple(vs) | Value::List(vs) if vs.len() == n => Ok(vs.to_vec()),
            Value::Never => Ok(vec![Value::Never; n]),
            Value::Term(t) if self.g.rank(*t) > 0 => {
                let t = *t;
                (0..n)
                    .map(|k| {
                        let k = self.g.lit_usize(k);
                        Ok(Value::Term(self.g.index(t, &[k])))
                    })
                    .collect()
            }
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(&format!("{n} parts"), &found)))
            }
        }
    }

    /// `a += b` and its like.
    pub(super) fn compound(&mut self, b: &'a ExprBinary) -> Lowered<Value<'a>> {
        let range = SrcRange::of(b);
        // The right side first, as for numbers in Rust.
        let right = self.expr(&b.right);
        let place = self.place(&b.left)?;
        let right = right?;
        let old = self.read_place(&place)?;
        let ranges = [place.range, SrcRange::of(&b.right)];
        let op = plain(&b.op);
        let texts = [place.text.clone(), text_of(&b.right, 30)];
        let new = self.operation(&op, old.clone(), right, ranges, range, texts)?;
        if let (Value::Term(a), Value::Term(b)) = (&old, &new)
            && self.g.shape(*a) != self.g.shape(*b)
        {
            return Err(self.error(range, catalogue::compound_shape(&place.text)));
        }
        self.write_place(&place, new)?;
        Ok(Value::Unit)
    }
}

fn place_arg<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, k: usize) -> Lowered<Place> {
    let (value, range) = call.arg(k)?;
    match value {
        Value::Place(place) => Ok((**place).clone()),
        other => {
            let found = me.describe(other);
            Err(me.error(range, catalogue::expected("a mutable reference: `&mut x`", &found)))
        }
    }
}

fn swap<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, b) = (place_arg(me, call, 0)?, place_arg(me, call, 1)?);
    let (x, y) = (me.read_place(&a)?, me.read_place(&b)?);
    me.write_place(&a, y)?;
    me.write_place(&b, x)?;
    Ok(Value::Unit)
}

fn replace<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let new = call.arg(1)?.0.clone();
    let old = me.read_place(&place)?;
    me.write_place(&place, new)?;
    Ok(old)
}

/// Whether an operator assigns.
pub(super) fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// The operator without its `=`.
fn plain(op: &BinOp) -> BinOp {
    match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        other => *other,
    }
}

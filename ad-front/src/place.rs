//! Place expressions: a variable, or a part of one. A place is a cell and a path of projections.
//! Reading follows the path. Writing creates a new value with the part replaced; the emitter turns
//! this into an in-place update if possible.

pub(super) mod compound;

use std::rc::Rc;

use syn::Expr;

use super::lower::Lower;
use super::open::DynamicPart;
use super::refuse;
use super::slice::{Cut, SliceAxis, dynamic_lens};
use super::stack::GrowableVec;
use super::value::{Lowered, Value, Want};
use crate::translation::cells::Cell;
use ad_ir::catalogue;
use ad_ir::catalogue::refused::{self, Construct};
use ad_ir::diag::{Poison, SrcRange, text_of};
use ad_ir::ir::{Node, Put, Term, Var};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::Cmp;

/// A variable and a path of projections.
#[derive(Clone)]
pub(super) struct Place {
    pub cell: Cell,
    steps: Vec<Projection>,
    /// The source text.
    pub text: String,
    pub range: SrcRange,
}

/// A projection of a place expression.
#[derive(Clone)]
pub(super) enum Projection {
    /// A component of a tuple, a field of a struct, or an element of an array literal at a constant
    /// index.
    Field(usize),
    /// A field of a variant of an enum. `Some` is variant 1 of an `Option`.
    Payload(usize, usize),
    /// A part of an array: an index or a range for each axis. Only a diagonal may follow it.
    Part(Rc<[Cut]>),
    /// A part of the diagonal of an array, which is the elements with the same index along all
    /// axes. It is the last projection.
    Diagonal(Cut),
    /// An element of a growable `Vec`.
    Element(Term),
}

impl Place {
    /// A whole variable.
    pub(super) fn variable(cell: Cell, text: &str, range: SrcRange) -> Place {
        Place { cell, steps: Vec::new(), text: text.to_string(), range }
    }

    /// Whether the place is a whole variable.
    pub(super) fn is_variable(&self) -> bool {
        self.steps.is_empty()
    }

    /// An element of a growable `Vec`, or of an array literal of tuples. The index has been
    /// checked.
    pub(super) fn element_at(mut self, index: Term) -> Place {
        self.steps.push(Projection::Element(index));
        self
    }

    /// Whether the place is a part of an array. In Rust this is a view.
    pub(super) fn is_part(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Projection::Part(_) | Projection::Diagonal(_)))
    }

    /// A field of a variant. The code is reached only where the value is that variant.
    pub(super) fn payload(mut self, variant: usize, k: usize) -> Place {
        self.steps.push(Projection::Payload(variant, k));
        self
    }

    /// A component of a tuple or an element of an array literal.
    pub(super) fn field(mut self, k: usize) -> Place {
        self.steps.push(Projection::Field(k));
        self
    }
}

/// Whether an expression is a place expression, and not a temporary value.
pub(super) fn is_place_expression(e: &Expr) -> bool {
    match e {
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Paren(e) => is_place_expression(&e.expr),
        Expr::Group(e) => is_place_expression(&e.expr),
        Expr::Unary(e) => is_place_expression(&e.expr),
        Expr::Reference(e) => is_place_expression(&e.expr),
        _ => false,
    }
}

impl<'a> Lower<'a> {
    /// Lowers a place expression.
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
                match self.state.names.get(&name) {
                    Some(Ok(Value::Cell(cell))) => {
                        let cell = *cell;
                        Ok(Place { cell, steps: Vec::new(), text, range })
                    }
                    Some(Ok(Value::Place(place))) => Ok(Place { text, range, ..(**place).clone() }),
                    Some(Err(Poison)) => Err(Poison),
                    Some(Ok(_)) => {
                        let param = self.input.sig().declared.iter().any(|p| p.declared.name == name);
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
                let k = match &f.member {
                    syn::Member::Unnamed(k) => k.index as usize,
                    syn::Member::Named(name) => match self.read_place(&base).and_then(|value| self.opened(&value))? {
                        Value::Struct(of, _) => self.field_of(of, name, range)?,
                        // The place is never reached.
                        Value::Never => 0,
                        _ => return Err(self.error(range, catalogue::field(&name.to_string()))),
                    },
                };
                Ok(Place { text, range, ..base.field(k) })
            }
            Expr::Index(x) => {
                let base = self.place(&x.expr)?;
                let index = self.expr(&x.index)?;
                if let Some(place) = self.own_index_mut(&base, &index, range) {
                    return Ok(Place { text, range, ..place? });
                }
                let place = self.element(base, &index, SrcRange::of(&x.index), &text_of(&x.expr, 30))?;
                Ok(Place { text, range, ..place })
            }
            Expr::MethodCall(m) => match self.expr(e)? {
                Value::Place(place) => Ok((*place).clone()),
                _ => Err(self.error(range, refused::mutation(&m.method.to_string()))),
            },
            // In `y(i) = x` the user means an index.
            Expr::Call(_) => match self.expr(e) {
                Ok(_) => Err(refuse::expression(self, e)),
                Err(said) => Err(said),
            },
            other => Err(refuse::expression(self, other)),
        }
    }

    /// The value of a place.
    pub(super) fn read_place(&mut self, place: &Place) -> Lowered<Value<'a>> {
        let mut value = self.read(place.cell, place.range)?;
        for step in &place.steps {
            value = self.inner(&value, step, place)?;
        }
        Ok(value)
    }

    fn inner(&mut self, value: &Value<'a>, step: &Projection, place: &Place) -> Lowered<Value<'a>> {
        if let (Projection::Field(_) | Projection::Payload(..), Value::Node(_)) = (step, value) {
            let opened = self.opened(value)?;
            return self.inner(&opened, step, place);
        }
        match (step, value) {
            (Projection::Field(k), Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts))
                if *k < parts.len() =>
            {
                Ok(parts[*k].clone())
            }
            (_, Value::Never | Value::None) => Ok(Value::Never),
            (Projection::Payload(1, 0), Value::Option(content, _)) => Ok((**content).clone()),
            (Projection::Payload(variant, k), Value::Enum(sum)) => {
                let fields = sum.payloads.get(*variant).and_then(Option::as_ref);
                Ok(fields.and_then(|fields| fields.get(*k)).map_or(Value::Never, Clone::clone))
            }
            (Projection::Payload(..), _) => Err(Poison),
            (Projection::Field(k), _) => Err(self.error(place.range, catalogue::field(&k.to_string()))),
            (Projection::Element(at), Value::GrowableVec(stack)) => self.vec_element(&Rc::clone(stack), *at),
            (Projection::Element(at), Value::List(parts)) => self.one_of(&Rc::clone(parts), *at, place.range),
            (Projection::Element(_), _) => Err(Poison),
            (Projection::Diagonal(cut), _) => {
                let x = self.array(value, place.range)?;
                let (sizes, var, index) = self.diagonal_index(x, cut);
                let var = var.map_or_else(Vec::new, |var| vec![var]);
                Ok(Value::Term(self.g.gather(x, sizes.into(), &var, &index)))
            }
            (Projection::Part(cuts), _) => {
                let levels = value.levels();
                let gone = cuts.iter().take(levels.into()).filter(|cut| cut.len.is_none()).count();
                let levels = levels.saturating_sub(ad_ir::ir::axis(gone));
                let x = self.value_as_part(value, Want::Any, place.range)?;
                let part = self.slice_value(x.all, cuts);
                self.part_of_rows(part, levels)
            }
        }
    }

    /// The place of `place[index]`.
    pub(super) fn element(&mut self, place: Place, index: &Value<'a>, range: SrcRange, text: &str) -> Lowered<Place> {
        let value = self.read_place(&place)?;
        if let Value::Never = value {
            // The place is never reached.
            return Ok(place);
        }
        if let (Value::List(parts), Value::Number(_) | Value::Term(_)) = (&value, index) {
            let k = self.usize(index, range)?;
            if let Some(n) = self.g.int_value(k) {
                return match usize::try_from(n) {
                    Ok(k) if k < parts.len() => Ok(place.field(k)),
                    _ => Err(self.error(range, catalogue::index_never_in_range(n, parts.len()))),
                };
            }
        }
        let rows = self.is_rows(&place, &value);
        let len = match &value {
            Value::GrowableVec(stack) if !rows => Some(stack.len),
            Value::List(parts) if value.is_selected_from() => Some(self.g.lit_usize(parts.len())),
            _ => None,
        };
        if let (Some(len), Value::Number(_) | Value::Term(_)) = (len, index) {
            let at = self.usize(index, range)?;
            self.require_index(at, len, super::arith::axis_words(text, 0, 1));
            let mut place = place;
            place.steps.push(Projection::Element(at));
            return Ok(place);
        }
        let nested = rows || value.levels() > 0;
        let x = self.value_as_part(&value, Want::Any, place.range)?;
        let (shape, capacities) = (x.sizes(&self.g), self.g.shape(x.all).to_vec());
        if let Value::Range(r) = index {
            let cuts = self.cuts((&shape, &capacities), &[SliceAxis::Range(Rc::clone(r), None)], range)?;
            return Ok(self.sliced_place(place, &cuts));
        }
        let parts: Vec<Value> = match index {
            Value::List(parts) | Value::Tuple(parts) => parts.to_vec(),
            Value::Unit => Vec::new(),
            one => vec![one.clone()],
        };
        if parts.len() != shape.len() && !(nested && parts.len() == 1) {
            return Err(self.error(range, catalogue::index_rank(parts.len(), shape.len())));
        }
        let indices = parts.iter().map(|p| self.usize(p, range)).collect::<Lowered<Vec<Term>>>()?;
        self.require_in(&shape, &indices, text);
        let mut cuts: Vec<Cut> = indices.iter().map(|&start| Cut::index(start)).collect();
        cuts.extend(self.whole(&shape[indices.len()..], &capacities[indices.len()..]));
        Ok(self.sliced_place(place, &cuts))
    }

    /// Whether a place is a part with a dynamic number of rows of an array of arrays. An element of
    /// it is then a part of that array.
    pub(super) fn is_rows(&self, place: &Place, value: &Value<'a>) -> bool {
        matches!(value, Value::GrowableVec(_)) && matches!(place.steps.last(), Some(Projection::Part(_)))
    }

    /// The diagonal of an array place, with `n` elements.
    pub(super) fn diagonal_of(&mut self, mut place: Place, n: Term) -> Place {
        let zero = self.g.lit_usize(0);
        place.steps.push(Projection::Diagonal(Cut::range(zero, 1, n)));
        place
    }

    /// For a part of a diagonal: its sizes, its index variable if it has one, and the indices of
    /// its elements in the array.
    fn diagonal_index(&mut self, x: Term, cut: &Cut) -> (Vec<Term>, Option<Var>, Vec<Term>) {
        let rank = self.g.rank(x);
        let Some(n) = cut.len else { return (Vec::new(), None, vec![cut.start; rank]) };
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let at = self.place_in_axis(cut, i);
        (vec![n], Some(var), vec![at; rank])
    }

    /// A part of an array place.
    pub(super) fn sliced_place(&mut self, mut place: Place, cuts: &[Cut]) -> Place {
        if let (Some(Projection::Diagonal(outer)), [inner]) = (place.steps.last().cloned(), cuts) {
            let start = self.place_in_axis(&outer, inner.start);
            let step = outer.step.saturating_mul(inner.step);
            place.steps.pop();
            place.steps.push(Projection::Diagonal(Cut {
                start,
                step,
                reaches_end: outer.reaches_end && inner.reaches_end,
                ..*inner
            }));
            return place;
        }
        let Some(Projection::Part(before)) = place.steps.last().cloned() else {
            place.steps.push(Projection::Part(cuts.into()));
            return place;
        };
        let mut cuts = cuts.iter();
        let mut both = Vec::new();
        for outer in before.iter() {
            let inner = if outer.len.is_some() { cuts.next() } else { None };
            let Some(inner) = inner else {
                both.push(*outer);
                continue;
            };
            let start = self.place_in_axis(outer, inner.start);
            let step = outer.step.saturating_mul(inner.step);
            both.push(Cut { start, step, reaches_end: outer.reaches_end && inner.reaches_end, ..*inner });
        }
        place.steps.pop();
        place.steps.push(Projection::Part(both.into()));
        place
    }

    /// Assigns a value to a place.
    pub(super) fn write_place(&mut self, place: &Place, value: Value<'a>) -> Lowered<()> {
        if let Value::Place(_) = value {
            return Err(self.error(place.range, refused::construct(Construct::MutRef)));
        }
        self.may_write(place.cell, place.range)?;
        if place.steps.is_empty() {
            let value = self.typed_as_before(place.cell, value, place.range)?;
            let value = self.written_into(place.cell, value)?;
            return self.write(place.cell, value, place.range);
        }
        self.put_in(place, value, Put::Set)
    }

    /// Replaces or accumulates into a part of a variable.
    fn put_in(&mut self, place: &Place, value: Value<'a>, put: Put) -> Lowered<()> {
        let old = self.read(place.cell, place.range)?;
        let new = self.replaced(&old, &place.steps, (value, put), place)?;
        self.write(place.cell, new, place.range)
    }

    /// Assigns to a place. The elements of an array are written over the old ones, in its memory.
    pub(super) fn write_over(&mut self, place: &Place, old: &Value<'a>, new: Value<'a>) -> Lowered<()> {
        let new = match (old, new) {
            (Value::Term(old), Value::Term(new)) if place.steps.is_empty() => {
                Value::Term(self.layouts().written_over(*old, new))
            }
            (_, new) => new,
        };
        self.write_place(place, new)
    }

    /// Gives an assigned literal the type of the old value.
    fn typed_as_before(&mut self, cell: Cell, value: Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let elem = match (&value, self.state.cells.held(cell)) {
            (Value::Number(_), Some(crate::translation::cells::CellValue::Value(old))) => self.elem_of(old),
            (Value::Number(_), _) => match self.state.cells.declared(cell) {
                Some(ty) => return self.ascribe(value, ty, range),
                None => None,
            },
            _ => None,
        };
        match elem {
            Some(elem) => Ok(Value::Term(self.term_as(&value, Want::Elem(elem), range)?)),
            None => Ok(value),
        }
    }

    /// A copy of `old` in which the part at the end of the path is replaced.
    fn replaced(
        &mut self,
        old: &Value<'a>,
        steps: &[Projection],
        (new, put): (Value<'a>, Put),
        place: &Place,
    ) -> Lowered<Value<'a>> {
        let Some((step, rest)) = steps.split_first() else { return Ok(new) };
        let k = match step {
            Projection::Field(k) => *k,
            Projection::Payload(variant, k) => {
                let part = self.inner(old, step, place)?;
                let part = self.replaced(&part, rest, (new, put), place)?;
                return Ok(old.with_payload(*variant, *k, part));
            }
            Projection::Part(cuts) if rest.is_empty() => return self.with_part(old, cuts, (&new, put), place),
            Projection::Part(cuts) => {
                let part = self.inner(old, step, place)?;
                let part = self.replaced(&part, rest, (new, put), place)?;
                return self.with_part(old, cuts, (&part, Put::Set), place);
            }
            Projection::Diagonal(cut) => return self.with_diagonal(old, cut, &new, place),
            Projection::Element(at) => {
                if let Value::GrowableVec(stack) = old
                    && let Some((leaf, cuts)) = stack.part_at(rest)
                {
                    let (stack, (all, levels)) = (Rc::clone(stack), leaf);
                    let cuts: Vec<Cut> = std::iter::once(Cut::index(*at)).chain(cuts.iter().copied()).collect();
                    let array = Value::nested(&self.g, stack.all[all], levels.saturating_add(1));
                    let new = self.with_part(&array, &cuts, (&new, put), place)?;
                    let new = self.term(&new, place.range)?;
                    let mut arrays = stack.all.clone();
                    arrays[all] = new;
                    return Ok(Value::GrowableVec(Rc::new(GrowableVec { all: arrays, ..(*stack).clone() })));
                }
                let part = self.inner(old, step, place)?;
                let part = self.replaced(&part, rest, (new, put), place)?;
                if let Value::List(parts) = old {
                    let mut all = Vec::new();
                    for (k, old) in parts.iter().enumerate() {
                        let k = self.g.lit_usize(k);
                        let cond = self.g.compare(ad_ir::prim::Cmp::Eq, *at, k);
                        let how = super::arith::Selection { cond, strict: false };
                        all.push(self.join(how, &part, old, place.range)?);
                    }
                    return Ok(Value::List(all.into()));
                }
                let Value::GrowableVec(stack) = old else { return Ok(Value::Never) };
                return self.set_element(&Rc::clone(stack), *at, &part, place.range);
            }
        };
        let part = self.inner(old, step, place)?;
        let part = self.replaced(&part, rest, (new, put), place)?;
        let with = |parts: &[Value<'a>]| {
            parts.iter().enumerate().map(|(i, p)| if i == k { part.clone() } else { p.clone() }).collect()
        };
        match old {
            Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts) => Ok(old.with_parts(with(parts))),
            _ => Ok(Value::Never),
        }
    }

    /// A copy of an array in which a part is replaced or accumulated into.
    fn with_part(
        &mut self,
        old: &Value<'a>,
        cuts: &[Cut],
        (new, put): (&Value<'a>, Put),
        place: &Place,
    ) -> Lowered<Value<'a>> {
        if let Value::Never = old {
            return Ok(Value::Never);
        }
        let levels = old.levels();
        let want = self.elem_of(old).or(self.elem_of(new)).map_or(Want::Any, Want::Elem);
        let x = self.value_as_part(old, want, place.range)?;
        let t = x.all;
        let new = self.value_as_part(new, Want::Elem(self.g.elem(t)), place.range)?;
        let part = DynamicPart { all: self.slice_term(t, cuts), lens: dynamic_lens(cuts).into() };
        if self.g.elem(part.all) != self.g.elem(new.all) {
            if self.inference.retype(&self.g, t, self.g.elem(new.all)) {
                return Err(Poison);
            }
            let (a, b) = (self.describe(&Value::Term(part.all)), self.describe(&Value::Term(new.all)));
            return Err(self.error(place.range, catalogue::types_differ(&a, &b)));
        }
        let words = [place.text.clone(), "the new value".into()];
        if self.g.rank(part.all) != self.g.rank(new.all) {
            self.same_shape(part.all, new.all, words, place.range)?;
            return Err(Poison);
        }
        let all = self.with_sizes_of(&new, &part, &words, place.range)?;
        // The padding is zero, so it has no effect, and neither have its cotangents.
        let new = self.with_zeros(&DynamicPart { all, lens: Rc::clone(&part.lens) });
        // Whole trailing axes are written as rows.
        let zero = self.g.lit_usize(0);
        let shape = self.g.shape(t).to_vec();
        let whole = |(cut, &size): (&Cut, &Term)| {
            cut.start == zero && cut.step == 1 && cut.len == Some(size) && cut.capacity.is_none()
        };
        let rows = cuts.iter().zip(&shape).rev().take_while(|&axis| whole(axis)).count();
        let mut vars = Vec::new();
        let mut index = Vec::new();
        for cut in &cuts[..cuts.len() - rows] {
            if cut.len.is_none() {
                index.push(cut.start);
                continue;
            }
            let var = self.g.fresh();
            vars.push(var);
            let i = self.g.mk(Node::Var(var));
            let at = self.place_in_axis(cut, i);
            // An index in the padding is moved out of range, so that it is not written.
            index.push(match cut.dynamic_len() {
                Some(len) if !cut.reaches_end => {
                    let (exists, out_of_range) = (self.g.compare(Cmp::Lt, i, len), self.g.lit_usize(usize::MAX));
                    self.g.cond(exists, at, out_of_range)
                }
                _ => at,
            });
        }
        let all = match put {
            Put::Set => self.g.update(t, new, &vars, &index),
            Put::Add => self.g.scatter(t, new, &vars, &index),
        };
        self.layouts().note_like(all, t);
        Ok(match old {
            Value::DynamicPart(open) => Value::DynamicPart(Rc::new(DynamicPart { all, lens: Rc::clone(&open.lens) })),
            _ => Value::nested(&self.g, all, levels),
        })
    }

    /// A copy of an array in which a part of the diagonal is replaced.
    fn with_diagonal(&mut self, old: &Value<'a>, cut: &Cut, new: &Value<'a>, place: &Place) -> Lowered<Value<'a>> {
        if let Value::Never = old {
            return Ok(Value::Never);
        }
        let x = self.array(old, place.range)?;
        let (sizes, var, index) = self.diagonal_index(x, cut);
        let new = self.term_as(new, Want::Elem(self.g.elem(x)), place.range)?;
        if self.g.elem(new) != self.g.elem(x) {
            let (a, b) = (self.describe(&Value::Term(x)), self.describe(&Value::Term(new)));
            return Err(self.error(place.range, catalogue::types_differ(&a, &b)));
        }
        let words = [place.text.clone(), "the new value".into()];
        if self.g.rank(new) != sizes.len() {
            return Err(self.error(place.range, catalogue::ranks_differ(sizes.len(), self.g.rank(new))));
        }
        for (axis, &n) in sizes.iter().enumerate() {
            self.equate(n, self.g.shape(new)[axis], words.clone(), place.range)?;
        }
        let new = self.g.recast(new, &sizes);
        let var = var.map_or_else(Vec::new, |var| vec![var]);
        let all = self.g.update(x, new, &var, &index);
        self.layouts().note_like(all, x);
        Ok(Value::Term(all))
    }

    /// Lowers `a = b`, with patterns on the left.
    pub(super) fn assign_expr(&mut self, a: &'a syn::ExprAssign) -> Lowered<Value<'a>> {
        let value = self.expr(&a.right);
        let result = self.assign(&a.left, value.clone().ok());
        value?;
        result.map(|()| Value::Unit)
    }

    /// Assigns to an expression. Without a value only the errors on the left are reported.
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

    /// Splits a value into `n` components.
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
                Err(self.error(range, catalogue::expected_parts("a tuple or an array", n, &found)))
            }
        }
    }
}

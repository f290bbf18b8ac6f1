//! Converts values to terms: with a requested type, with the type of another operand, or with their
//! own type. Literals have no type before.
//!
//! Invariant: a literal gets the type that rustc gives it.

use std::collections::HashMap;
use std::rc::Rc;

use super::lower::{Lower, elem_name};
use super::value::{Lowered, Number, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, IntTy, Lit, Node, RealTy, Term, Type};
use ad_ir::memory_order::HasLayouts;

impl<'a> Lower<'a> {
    /// The element type of a value, if it is known.
    pub(super) fn elem_of(&self, value: &Value<'a>) -> Option<Elem> {
        match value {
            Value::Term(t) | Value::Nested(t, _) => Some(self.g.elem(*t)),
            Value::List(parts) | Value::Matrix(parts) => match self.growable.annotated_element(parts) {
                Some((elem, _)) => Some(elem),
                None => parts.iter().find_map(|p| self.elem_of(p)),
            },
            Value::GrowableVec(stack) => stack.as_single_array().map(|(all, _)| self.g.elem(all)),
            Value::DynamicPart(open) => Some(self.g.elem(open.all)),
            _ => None,
        }
    }

    /// Converts a value to one term. Literals get the wanted type. A value with another type keeps
    /// it.
    pub(super) fn term_as(&mut self, value: &Value<'a>, want: Want, range: SrcRange) -> Lowered<Term> {
        match value {
            Value::Term(t) | Value::Nested(t, _) => match want {
                Want::Elem(elem) if self.g.elem(*t) != elem && self.inference.retype(&self.g, *t, elem) => Err(Poison),
                _ => Ok(*t),
            },
            Value::Number(n) => {
                if let (Some(path), Want::Any, false) = (n.outer(), want, n.is_float()) {
                    let text = path.to_string().replace(' ', "");
                    return Err(self.error(range, catalogue::unseen_constant(&text, n.array_if_known())));
                }
                let elem = match want {
                    Want::Elem(elem) => elem,
                    Want::Any if n.is_float() => self.input.default_real(),
                    Want::Any => Elem::Int(IntTy::I32),
                };
                self.number(n, elem, range)
            }
            Value::List(parts) | Value::Matrix(parts) => {
                if parts.is_empty() {
                    return Ok(self.no_elements(parts, want));
                }
                let want = self.growable.annotated_element(parts).map_or(want, |(elem, _)| Want::Elem(elem));
                self.retype_literals(parts, want)?;
                let (want, key) = match (parts.iter().find_map(|p| self.elem_of(p)), want) {
                    (Some(elem), _) => (Want::Elem(elem), None),
                    (None, Want::Any) => self.inference.literal_type(value),
                    (None, want) => (want, None),
                };
                let terms = parts.iter().map(|p| self.term_as(p, want, range)).collect::<Lowered<Vec<Term>>>()?;
                let same = self.same_shapes(&terms, range)?;
                let all = self.g.stack(&same);
                self.layouts().note_rows(all, &same);
                self.inference.set_literals(all, key.as_slice());
                Ok(all)
            }
            Value::Filled(n, sizes) => {
                let sizes = Rc::clone(sizes);
                let (want, key) = if want == Want::Any { self.inference.literal_type(value) } else { (want, None) };
                let n = self.term_as(&Value::Number(Rc::clone(n)), want, range)?;
                let all = self.g.broadcast(n, &sizes);
                self.inference.set_literals(all, key.as_slice());
                Ok(all)
            }
            Value::GrowableVec(stack) if stack.as_single_array().is_some() => {
                let value = self.vec_into_array(&Rc::clone(stack), range)?;
                self.term_as(&value, want, range)
            }
            // A part with closed lengths has become a term already.
            Value::DynamicPart(_) => Err(self.error(range, catalogue::changing_length())),
            Value::Place(place) => {
                let value = self.read_place(place)?;
                self.term_as(&value, want, range)
            }
            // This point is unreachable, so any value is correct.
            Value::Never => {
                let elem = match want {
                    Want::Elem(elem) => elem,
                    Want::Any => self.input.default_real(),
                };
                Ok(self.g.zero(elem))
            }
            Value::Range(_)
            | Value::Seq(_)
            | Value::Cursor(_)
            | Value::Tuple(_)
            | Value::Struct(..)
            | Value::Enum(_)
            | Value::Node(_)
            | Value::Closure(_)
            | Value::Chosen(_)
            | Value::FromFn(_)
            | Value::Function(..)
            | Value::Option(..)
            | Value::None
            | Value::Ordering(_)
            | Value::Axis(_)
            | Value::Zip(_)
            | Value::Cell(_)
            | Value::GrowableVec(_)
            | Value::Unit => {
                let found = self.describe(value);
                Err(self.error(range, catalogue::not_an_array(&found, matches!(value, Value::Option(..)))))
            }
        }
    }

    /// Gives items that are literals, such as those of `0..3`, the wanted type.
    pub(super) fn retype_literals(&mut self, parts: &[Value<'a>], want: Want) -> Lowered<()> {
        let Want::Elem(elem) = want else { return Ok(()) };
        for part in parts {
            if let Value::Term(t) = part
                && self.g.elem(*t) != elem
                && self.inference.retype(&self.g, *t, elem)
            {
                return Err(Poison);
            }
        }
        Ok(())
    }

    /// An empty array. Its element type comes from its annotation, or else is the wanted one. If
    /// neither exists, the type does not matter, since nothing is computed with the array.
    fn no_elements(&mut self, list: &Rc<[Value<'a>]>, want: Want) -> Term {
        let said = self.growable.annotated_element(list);
        let (elem, rank) = match (said, want) {
            (Some(said), _) => said,
            (None, Want::Elem(elem)) => (elem, 1),
            (None, Want::Any) => (self.input.default_real(), 1),
        };
        let zero = self.g.zero(elem);
        let none = self.g.lit_usize(0);
        self.g.broadcast(zero, &vec![none; rank])
    }

    /// Gives all terms the shape of the first.
    pub(super) fn same_shapes(&mut self, terms: &[Term], range: SrcRange) -> Lowered<Vec<Term>> {
        let Some(&first) = terms.first() else { return Ok(Vec::new()) };
        let mut same = vec![first];
        for &t in &terms[1..] {
            let words = ["the first element".to_string(), "another element".to_string()];
            if self.g.elem(t) != self.g.elem(first) {
                if self.inference.retype(&self.g, t, self.g.elem(first))
                    || self.inference.retype(&self.g, first, self.g.elem(t))
                {
                    return Err(Poison);
                }
                let (a, b) = (self.describe(&Value::Term(first)), self.describe(&Value::Term(t)));
                return Err(self.error(range, catalogue::types_differ(&a, &b)));
            }
            let t = self.same_shape(first, t, words, range)?;
            same.push(t);
        }
        Ok(same)
    }

    /// Converts a literal to a type.
    pub(super) fn number(&mut self, n: &Number, elem: Elem, range: SrcRange) -> Lowered<Term> {
        self.part_of_number(n, elem, range, &mut HashMap::new())
    }

    /// Shared subexpressions are computed once.
    fn part_of_number(
        &mut self,
        n: &Number,
        elem: Elem,
        range: SrcRange,
        done: &mut HashMap<*const Number, Term>,
    ) -> Lowered<Term> {
        let part = std::ptr::from_ref(n);
        if let Some(&t) = done.get(&part) {
            return Ok(t);
        }
        let mut of = |this: &mut Self, n: &Number| this.part_of_number(n, elem, range, done);
        let t = match (n, elem) {
            (Number::Neg(a), _) => match (&**a, elem) {
                (Number::Int(i), Elem::Int(_)) => self.number(&Number::Int(-i), elem, range),
                (Number::Float(x), _) => self.number(&Number::Float(-x), elem, range),
                _ => {
                    let a = of(self, a)?;
                    self.negate(a, range)
                }
            },
            (Number::Arith(op, a, b), _) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                self.arith(*op, a, b, ["the left side".into(), "the right side".into()], range)
            }
            (Number::Choice(how, a, b), _) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                Ok(self.choose(*how, a, b))
            }
            (Number::Of(parts, at), _) => {
                let parts = parts.iter().map(|p| of(self, p)).collect::<Lowered<Vec<Term>>>()?;
                let all = self.g.stack(&parts);
                Ok(self.g.index(all, &[*at]))
            }
            (Number::Outer(path), _) => Ok(self.constant(path, elem)),
            (Number::At(path, indices), _) => Ok(self.element_of_constant(path, indices, elem)),
            (Number::Std(path, x), Elem::Real(ty)) => {
                self.assume_const(path, ty, *x);
                Ok(self.real(ty, *x))
            }
            (Number::Bits(op, a, b), Elem::Int(_)) => {
                let (a, b) = (of(self, a)?, of(self, b)?);
                Ok(self.g.int(*op, a, b))
            }
            (Number::Shift(op, a, by), Elem::Int(_)) => {
                let a = of(self, a)?;
                self.shift(*op, a, *by, Default::default(), range)
            }
            (Number::Not(a), Elem::Int(ty)) => {
                let a = of(self, a)?;
                Ok(self.complement(a, ty))
            }
            (Number::Int(i), Elem::Int(ty)) => {
                let (low, high) = ty.range();
                if (low..=high).contains(i) {
                    Ok(self.g.lit(Lit::Int(ty, *i)))
                } else {
                    Err(self.error(range, catalogue::literal_out_of_range(*i, ty.name())))
                }
            }
            (Number::Float(x), Elem::Real(ty)) => Ok(self.real(ty, *x)),
            _ => {
                let found = if n.is_float() { "a real literal" } else { "an integer literal" };
                let wanted = elem_name(elem, self.input.sig().real_param.as_ref());
                let literal = match n {
                    Number::Int(i) => Some(*i),
                    _ => None,
                };
                Err(self.error(range, catalogue::literal_type(found, &wanted, literal)))
            }
        }?;
        done.insert(part, t);
        Ok(t)
    }

    /// A real constant, rounded as rustc rounds it.
    pub(super) fn real(&mut self, ty: RealTy, x: f64) -> Term {
        #[allow(clippy::cast_possible_truncation, reason = "the rounding of the literal's own type")]
        let x = if ty == RealTy::F32 { f64::from(x as f32) } else { x };
        self.g.lit_real(ty, x)
    }

    /// An integer scalar.
    pub(super) fn integer(&mut self, value: &Value<'a>, ty: IntTy, range: SrcRange) -> Lowered<Term> {
        let t = self.term_as(value, Want::Elem(Elem::Int(ty)), range)?;
        if *self.g.ty(t) == Type::scalar(Elem::Int(ty)) {
            return Ok(t);
        }
        let found = self.describe(&Value::Term(t));
        let scalar = self.g.rank(t) == 0 && matches!(self.g.elem(t), Elem::Int(_));
        let wanted = format!("`{}`", ty.name());
        let message =
            if scalar { catalogue::integers_differ(ty.name(), &found) } else { catalogue::expected(&wanted, &found) };
        Err(self.error(range, message))
    }

    /// A `usize` scalar, for an index.
    pub(super) fn usize(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        self.integer(value, IntTy::Usize, range)
    }

    /// A closed `usize` scalar, for a size.
    pub(super) fn size(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        let t = self.usize(value, range)?;
        if self.g.is_closed(t) {
            return Ok(t);
        }
        Err(self.error(range, catalogue::array_size_depends_on_index()))
    }

    /// A list of sizes: `[n, m]`, `(n, m)` or one size.
    pub(super) fn sizes(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Vec<Term>> {
        match value {
            Value::List(parts) | Value::Tuple(parts) => parts.iter().map(|p| self.size(p, range)).collect(),
            Value::Unit => Ok(Vec::new()),
            one => Ok(vec![self.size(one, range)?]),
        }
    }

    /// A boolean scalar.
    pub(super) fn boolean(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        if let Value::Term(t) = value
            && *self.g.ty(*t) == Type::scalar(Elem::Bool)
        {
            return Ok(*t);
        }
        if let Value::Never | Value::Place(_) = value {
            let t = self.term_as(value, Want::Elem(Elem::Bool), range)?;
            return self.boolean(&Value::Term(t), range);
        }
        let found = self.describe(value);
        Err(self.error(range, catalogue::condition(&found)))
    }

    /// A real array or scalar.
    pub(super) fn real_term(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        let default = self.input.default_real();
        let t = self.term_as(value, Want::Elem(default), range)?;
        if self.g.elem(t).is_real() {
            return Ok(t);
        }
        let found = self.describe(&Value::Term(t));
        Err(self.error(range, catalogue::expected(wanted::REALS, &found)))
    }

    /// An array or scalar of any type.
    pub(super) fn term(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        self.term_as(value, Want::Any, range)
    }

    /// An array of rank one or more.
    pub(super) fn array(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        let t = self.term(value, range)?;
        if self.g.rank(t) > 0 {
            return Ok(t);
        }
        let found = self.describe(value);
        Err(self.error(range, catalogue::array_expected(&found)))
    }

    // The following methods make literals of a given type.

    /// Gives the literals in a value this element type.
    pub(super) fn typed(&mut self, value: Value<'a>, elem: Elem, range: SrcRange) -> Lowered<Value<'a>> {
        let mut all = |parts: &[Value<'a>]| -> Lowered<Rc<[Value<'a>]>> {
            parts.iter().map(|p| self.typed(p.clone(), elem, range)).collect()
        };
        match &value {
            // An empty list keeps its identity, since its capacity is found by it.
            Value::List(parts) if parts.is_empty() => Ok(value),
            Value::List(parts) => Ok(Value::List(all(parts)?)),
            Value::Matrix(parts) => Ok(Value::Matrix(all(parts)?)),
            // An example is `let x: Array1<f32> = Array1::zeros(n);`.
            &Value::Term(t) => Ok(Value::Term(self.filled_as(t, elem))),
            Value::Number(_) => Ok(Value::Term(self.term_as(&value, Want::Elem(elem), range)?)),
            Value::Filled(..) => {
                let t = self.term_as(&value, Want::Elem(elem), range)?;
                Ok(Value::nested(&self.g, t, u8::MAX))
            }
            _ => Ok(value),
        }
    }

    /// An array of one constant, with elements of this type.
    fn filled_as(&mut self, t: Term, to: Elem) -> Term {
        let constant = match self.g.node(self.g.splat(t)) {
            Node::Lit(lit) => lit.as_real(),
            _ => None,
        };
        let Some(x) = constant else { return t };
        if self.g.rank(t) == 0 || self.g.elem(t) == to {
            return t;
        }
        let shape = self.g.shape(t).to_vec();
        let x = match to {
            Elem::Real(ty) => self.real(ty, x),
            // Only zeros and ones have no type yet.
            Elem::Int(_) | Elem::Bool if x == 0.0 || x == 1.0 => {
                super::methods::construct::constant(self, to, i128::from(x == 1.0))
            }
            _ => return t,
        };
        self.g.broadcast(x, &shape)
    }

    /// Converts two operands to terms. A literal gets the type of the other operand.
    pub(super) fn unify_literals(
        &mut self,
        a: &Value<'a>,
        b: &Value<'a>,
        ranges: [SrcRange; 2],
    ) -> Lowered<(Term, Term)> {
        if let (Value::Term(x), Some(elem)) = (a, self.elem_of(b))
            && self.g.elem(*x) != elem
            && self.inference.retype(&self.g, *x, elem)
        {
            return Err(Poison);
        }
        let want = match (self.elem_of(a), self.elem_of(b)) {
            (Some(elem), _) | (None, Some(elem)) => Want::Elem(elem),
            (None, None) => {
                let float = [a, b].iter().any(|v| matches!(v, Value::Number(n) if n.is_float()));
                if float { Want::Elem(self.input.default_real()) } else { Want::Any }
            }
        };
        let a = self.term_as(a, want, ranges[0]);
        let b = self.term_as(b, want, ranges[1]);
        Ok((a?, b?))
    }
}

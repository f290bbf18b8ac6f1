//! Operators: arithmetic with ndarray's broadcasting, comparisons, logic, casts.

use syn::BinOp;

use super::lower::{Lower, elem_name};
use super::value::{EnumValue, Lowered, Number, Value, Want};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, IntTy, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Reduce};

/// An arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// How one of two values is selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Selection {
    /// A boolean scalar.
    pub cond: Term,
    /// Whether both values are computed (`select`), or only one (`if`).
    pub strict: bool,
}

impl Arith {
    fn real(self) -> Binary {
        match self {
            Arith::Add => Binary::Add,
            Arith::Sub => Binary::Sub,
            Arith::Mul => Binary::Mul,
            Arith::Div => Binary::Div,
            Arith::Rem => Binary::Rem,
        }
    }

    fn int(self) -> IntOp {
        match self {
            Arith::Add => IntOp::Add,
            Arith::Sub => IntOp::Sub,
            Arith::Mul => IntOp::Mul,
            Arith::Div => IntOp::Div,
            Arith::Rem => IntOp::Rem,
        }
    }
}

impl<'a> Lower<'a> {
    /// `a op b` for an arithmetic operator.
    pub(super) fn arith(&mut self, op: Arith, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<Term> {
        let (ea, eb) = (self.g.elem(a), self.g.elem(b));
        if ea != eb || ea == Elem::Bool {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        let (a, b) = self.broadcast_both(a, b, words, range)?;
        Ok(match ea {
            Elem::Real(_) => self.g.binary(op.real(), a, b),
            _ => self.int_checked(op.int(), a, b),
        })
    }

    /// Broadcasts two arrays to their common shape. The lower rank is repeated along new leading
    /// axes, and an axis that is statically of size 1 is repeated along the other. All other sizes
    /// have to be equal.
    pub(super) fn broadcast_both(
        &mut self,
        a: Term,
        b: Term,
        words: [String; 2],
        range: SrcRange,
    ) -> Lowered<(Term, Term)> {
        let (sa, sb) = (self.g.shape(a).to_vec(), self.g.shape(b).to_vec());
        if sa == sb {
            return Ok((a, b));
        }
        let rank = sa.len().max(sb.len());
        let mut shape = Vec::with_capacity(rank);
        // Sizes of `b` that are equal to those of `a`, but are other terms.
        let mut renamed = sb.clone();
        for axis in 0..rank {
            let (ka, kb) = ((axis + sa.len()).checked_sub(rank), (axis + sb.len()).checked_sub(rank));
            let size = match (ka, kb) {
                (Some(ka), Some(kb)) => {
                    let (na, nb) = (sa[ka], sb[kb]);
                    if na == nb || self.g.int_value(nb) == Some(1) {
                        na
                    } else if self.g.int_value(na) == Some(1) {
                        nb
                    } else {
                        let axis_words = [axis_words(&words[0], ka, sa.len()), axis_words(&words[1], kb, sb.len())];
                        self.equate(na, nb, axis_words, range)?;
                        renamed[kb] = na;
                        na
                    }
                }
                (Some(ka), None) => sa[ka],
                (None, Some(kb)) => sb[kb],
                (None, None) => continue,
            };
            shape.push(size);
        }
        let b = self.g.recast(b, &renamed);
        Ok((self.stretch(a, &shape), self.stretch(b, &shape)))
    }

    /// Repeats `t` to a shape that broadcasting allows.
    pub(super) fn stretch(&mut self, t: Term, shape: &[Term]) -> Term {
        let own = self.g.shape(t).to_vec();
        if own == shape {
            return t;
        }
        let lead = shape.len() - own.len();
        let axes: Vec<usize> = (0..shape.len()).filter(|&k| k < lead || own[k - lead] != shape[k]).collect();
        // Axes of size 1 are dropped and added again with the new size.
        let kept: Vec<Term> =
            own.iter().enumerate().filter(|(k, _)| !axes.contains(&(k + lead))).map(|(_, &n)| n).collect();
        let t = self.g.reshape(t, &kept);
        let sizes: Vec<Term> = axes.iter().map(|&k| shape[k]).collect();
        let axes: Vec<u8> = axes.iter().map(|&k| u8::try_from(k).unwrap_or(u8::MAX)).collect();
        self.g.replicate_axes(t, &axes, &sizes)
    }

    /// Gives `b` exactly the shape of `a`. Both have the same rank.
    pub(super) fn same_shape(&mut self, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<Term> {
        let (sa, sb) = (self.g.shape(a).to_vec(), self.g.shape(b).to_vec());
        if sa.len() != sb.len() {
            let [a, b] = [a, b].map(|t| self.describe(&Value::Term(t)));
            return Err(self.error(range, catalogue::shapes_of_two(&words, [&a, &b])));
        }
        for (k, (&na, &nb)) in sa.iter().zip(&sb).enumerate() {
            let words = [axis_words(&words[0], k, sa.len()), axis_words(&words[1], k, sa.len())];
            self.equate(na, nb, words, range)?;
        }
        Ok(self.g.recast(b, &sa))
    }

    /// A comparison of scalars.
    pub(super) fn comparison(&mut self, op: Cmp, a: Term, b: Term, range: SrcRange) -> Lowered<Term> {
        if self.g.rank(a) > 0 || self.g.rank(b) > 0 {
            return Err(self.error(range, catalogue::comparison_of_arrays()));
        }
        if self.g.elem(a) != self.g.elem(b) {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        Ok(self.g.compare(op, a, b))
    }

    /// `-x`.
    pub(super) fn negate(&mut self, x: Term, range: SrcRange) -> Lowered<Term> {
        match self.g.elem(x) {
            Elem::Real(_) => Ok(self.g.neg(x)),
            Elem::Int(ty) if ty.range().0 < 0 => {
                let result = self.g.prim(Prim::IntNeg, &[x]);
                let least = self.g.lit(ad_ir::ir::Lit::Int(ty, ty.range().0));
                let shape = self.g.shape(x).to_vec();
                let least = self.g.broadcast(least, &shape);
                let ok = self.g.compare(Cmp::Ne, x, least);
                let ok = self.g.reduce(Reduce::All, shape.len(), ok);
                if shape.is_empty() {
                    let l = self.state.facts.linear(&self.g, x);
                    if self.state.facts.within(&self.g, &l, (ty.range().0 + 1, ty.range().1)) {
                        return Ok(result);
                    }
                }
                self.require(None, ok, ad_ir::catalogue::reached::NEGATION_OVERFLOWS);
                Ok(result)
            }
            elem => {
                let found = elem_name(elem, self.input.sig().real_param.as_ref());
                Err(self.error(range, catalogue::expected(wanted::SIGNED, &format!("`{found}`"))))
            }
        }
    }

    /// `x as to`.
    pub(super) fn cast(&mut self, value: &Value<'a>, to: Elem, range: SrcRange) -> Lowered<Value<'a>> {
        if let Value::Number(n) = value
            && let Number::Outer(path) = &**n
        {
            // Only rustc knows the type of the constant that is cast.
            let ty = super::types::elem_tokens(to, self.input.sig().real_param.as_ref());
            // A constant of another place is given with the type that is asked for.
            let path = if self.is_elsewhere() { quote::quote!(#path) } else { quote::quote!(#path as #ty) };
            return Ok(Value::Term(self.constant(&path, to)));
        }
        if let Value::Number(n) = value {
            // In `2 as f64` or `1.5 as usize` the literal first has its default type, `i32` or
            // `f64`.
            let from = match (n.is_float(), to) {
                (false, Elem::Int(ty)) => Elem::Int(ty),
                (false, _) => Elem::Int(IntTy::I32),
                (true, Elem::Real(ty)) => Elem::Real(ty),
                (true, _) => Elem::F64,
            };
            let t = self.number(n, from, range)?;
            return Ok(Value::Term(self.g.cast(to, t)));
        }
        if let Value::Enum(sum) = value {
            return self.discriminant(&std::rc::Rc::clone(sum), to, range);
        }
        let t = self.term(value, range)?;
        if self.g.rank(t) > 0 || to == Elem::Bool || (self.g.elem(t) == Elem::Bool && to.is_real()) {
            let found = self.describe(value);
            let to = elem_name(to, self.input.sig().real_param.as_ref());
            return Err(self.error(range, catalogue::cast(&found, &to)));
        }
        Ok(Value::Term(self.g.cast(to, t)))
    }

    /// `a & b`, `a | b`, `a ^ b` of booleans and of integers.
    pub(super) fn bits(&mut self, op: &BinOp, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<Term> {
        let (ea, eb) = (self.g.elem(a), self.g.elem(b));
        if ea != eb || ea.is_real() {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::expected(wanted::INTEGERS_OR_BOOLS, &format!("{a} and {b}"))));
        }
        let (a, b) = self.broadcast_both(a, b, words, range)?;
        Ok(match (op, ea) {
            (BinOp::BitAnd(_), Elem::Bool) => self.g.and(a, b),
            (BinOp::BitOr(_), Elem::Bool) => self.g.or(a, b),
            (_, Elem::Bool) => self.g.compare(Cmp::Ne, a, b),
            (BinOp::BitAnd(_), _) => self.g.int(IntOp::BitAnd, a, b),
            (BinOp::BitOr(_), _) => self.g.int(IntOp::BitOr, a, b),
            _ => self.g.int(IntOp::BitXor, a, b),
        })
    }

    /// Selects one of two values by a condition: the branches of a conditional, or the arguments of
    /// a select.
    pub(super) fn join(&mut self, how: Selection, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let parts = |me: &mut Self, xs: &[Value<'a>], ys: &[Value<'a>]| -> Lowered<std::rc::Rc<[Value<'a>]>> {
            xs.iter().zip(ys).map(|(x, y)| me.join(how, x, y, range)).collect()
        };
        match (a, b) {
            // A value that is never reached has any type.
            (Value::Never, other) | (other, Value::Never) => Ok(other.clone()),
            (Value::Unit, Value::Unit) => Ok(Value::Unit),
            (Value::Place(x), Value::Place(y)) if std::rc::Rc::ptr_eq(x, y) => Ok(a.clone()),
            (Value::Place(_), _) | (_, Value::Place(_)) => Err(self.error(range, catalogue::chosen_reference())),
            (
                Value::Tuple(xs) | Value::Struct(_, xs) | Value::List(xs),
                Value::Tuple(ys) | Value::Struct(_, ys) | Value::List(ys),
            ) if a.is_like(b) => Ok(a.with_parts(parts(self, xs, ys)?)),
            (Value::Enum(x), Value::Enum(y)) if std::ptr::eq(x.of, y.of) => {
                let tag = self.choose(how, x.tag, y.tag);
                let mut payloads = Vec::new();
                for pair in x.payloads.iter().zip(y.payloads.iter()) {
                    payloads.push(match pair {
                        (Some(xs), Some(ys)) => Some(parts(self, xs, ys)?),
                        (one, other) => one.clone().or_else(|| other.clone()),
                    });
                }
                Ok(Value::Enum(std::rc::Rc::new(EnumValue { of: x.of, tag, payloads: payloads.into() })))
            }
            (Value::Ordering(x), Value::Ordering(y)) => Ok(Value::Ordering(self.chosen_order(how, x, y))),
            (Value::Node(x), Value::Node(y)) if x.is_like(y) => Ok(x.at(self.choose(how, x.at, y.at))),
            (Value::DynamicPart(_), Value::DynamicPart(_) | Value::Term(_) | Value::Matrix(_))
            | (Value::Term(_) | Value::Matrix(_), Value::DynamicPart(_)) => {
                let (x, y) = (self.value_as_part(a, Want::Any, range)?, self.value_as_part(b, Want::Any, range)?);
                self.dynamic_choice(how.cond, &x, &y, range)
            }
            (Value::DynamicPart(x), Value::GrowableVec(_) | Value::List(_)) if self.g.rank(x.all) == 1 => {
                let a = self.as_vec(a.clone());
                self.join(how, &a, b, range)
            }
            (Value::GrowableVec(_) | Value::List(_), Value::DynamicPart(y)) if self.g.rank(y.all) == 1 => {
                let b = self.as_vec(b.clone());
                self.join(how, a, &b, range)
            }
            (Value::GrowableVec(x), Value::GrowableVec(y)) if x.all.len() == y.all.len() => {
                let y = self.elements_like(x, (**y).clone(), range)?;
                Ok(self.join_growable(how.cond, x, &y))
            }
            (Value::GrowableVec(_), Value::List(_) | Value::Term(_) | Value::Nested(..))
            | (Value::List(_) | Value::Term(_) | Value::Nested(..), Value::GrowableVec(_))
            | (Value::List(_), Value::List(_))
                if !how.strict && self.lengths_differ(a, b) =>
            {
                match self.join_lists(how.cond, [a, b], range)? {
                    Some(joined) => Ok(joined),
                    None => {
                        let (a, b) = (self.describe(a), self.describe(b));
                        Err(self.error(range, catalogue::types_differ(&a, &b)))
                    }
                }
            }
            (Value::Cursor(_) | Value::Seq(_), Value::Cursor(_) | Value::Seq(_)) => {
                match (self.cursor(a, range)?, self.cursor(b, range)?) {
                    (Some(x), Some(y)) if std::rc::Rc::ptr_eq(&x.seq.item, &y.seq.item) => {
                        let at = self.choose(how, x.at, y.at);
                        Ok(Value::Cursor(super::value::Cursor { seq: x.seq.clone(), at }.into()))
                    }
                    _ => Err(self.error(range, catalogue::types_differ("an iterator", "another iterator"))),
                }
            }
            (Value::None, Value::None) => Ok(Value::None),
            (Value::Option(x, exists), Value::None) => {
                let none = self.g.lit_bool(false);
                Ok(Value::Option(x.clone(), self.choose(how, *exists, none)))
            }
            (Value::None, Value::Option(y, exists)) => {
                let none = self.g.lit_bool(false);
                Ok(Value::Option(y.clone(), self.choose(how, none, *exists)))
            }
            (Value::Option(x, cx), Value::Option(y, cy)) => {
                let value = self.join(how, x, y, range)?;
                Ok(Value::Option(value.into(), self.choose(how, *cx, *cy)))
            }
            (Value::Number(x), Value::Number(y)) if x.is_float() == y.is_float() => {
                Ok(Value::Number(Number::Choice(how, x.clone(), y.clone()).into()))
            }
            _ if a.is_function() && crate::variables::same(a, b) => Ok(a.clone()),
            _ if let Some(function) = super::called::chosen(how.cond, a, b) => Ok(function),
            _ => self.join_arrays(how, a, b, range),
        }
    }

    /// Selects one of two scalars or arrays.
    fn join_arrays(&mut self, how: Selection, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let [requested, other] = [a, b].map(|v| self.growable.requested_capacity(v));
        let joined = self.joined_arrays(how, a, b, range)?;
        self.growable.keep_capacity(&joined, requested.filter(|_| requested == other));
        Ok(joined)
    }

    fn joined_arrays(&mut self, how: Selection, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let levels = a.levels().max(b.levels());
        let (a, b) = (&self.none_of(a, b), &self.none_of(b, a));
        let (a, b) = self.unify_literals(a, b, [range, range])?;
        if self.g.elem(a) != self.g.elem(b) {
            let (a, b) = (self.describe(&Value::Term(a)), self.describe(&Value::Term(b)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        if let Some((a, b)) = self.of_chosen_sizes(how, a, b) {
            let t = self.choose(how, a, b);
            return Ok(Value::nested(&self.g, t, levels));
        }
        if !how.strict && self.g.rank(a) > 0 && self.g.rank(a) == self.g.rank(b) {
            let (na, nb) = (self.g.shape(a)[0], self.g.shape(b)[0]);
            if na != nb && (self.never_equal(na, nb) || self.one_is_smaller(na, nb)) {
                return self.join_lengths(how.cond, [a, b], levels, range);
            }
        }
        let b = self.same_shape(a, b, ["the first arm".into(), "the other arm".into()], range)?;
        let t = self.choose(how, a, b);
        Ok(Value::nested(&self.g, t, levels))
    }

    /// Branches of different sizes: the size is selected by the same condition, if the condition is
    /// known before anything is computed.
    fn of_chosen_sizes(&mut self, how: Selection, a: Term, b: Term) -> Option<(Term, Term)> {
        let (sa, sb) = (self.g.shape(a).to_vec(), self.g.shape(b).to_vec());
        if how.strict || sa == sb || sa.len() != sb.len() || !self.g.is_closed(how.cond) {
            return None;
        }
        let mut shape = Vec::new();
        let mut chosen = false;
        for (&na, &nb) in sa.iter().zip(&sb) {
            let same =
                na == nb || (self.state.facts.prove_le(&self.g, na, nb) && self.state.facts.prove_le(&self.g, nb, na));
            chosen |= !same;
            shape.push(if same { na } else { self.g.cond(how.cond, na, nb) });
        }
        chosen.then(|| (self.g.recast(a, &shape), self.g.recast(b, &shape)))
    }

    /// An empty list that is joined with an array is an array with zero rows of the same shape.
    fn none_of(&mut self, value: &Value<'a>, other: &Value<'a>) -> Value<'a> {
        match (value, other) {
            (Value::List(parts), Value::Term(t) | Value::Nested(t, _)) if parts.is_empty() && self.g.rank(*t) > 0 => {
                let mut shape = self.g.shape(*t).to_vec();
                shape[0] = self.g.lit_usize(0);
                let zero = self.g.zero(self.g.elem(*t));
                Value::Term(self.g.broadcast(zero, &shape))
            }
            _ => value.clone(),
        }
    }

    /// Selects one of two terms of the same type.
    pub(super) fn choose(&mut self, how: Selection, a: Term, b: Term) -> Term {
        if how.strict {
            let shape = self.g.shape(a).to_vec();
            let mask = self.g.broadcast(how.cond, &shape);
            self.g.select(mask, a, b)
        } else {
            let chosen = self.g.cond(how.cond, a, b);
            self.layouts().chosen(chosen, how.cond, [a, b])
        }
    }
}

/// The description of an axis of an expression: "`text` has … rows".
pub(super) fn axis_words(text: &str, axis: usize, rank: usize) -> String {
    let text = text.trim_start_matches('&');
    // These texts are descriptions and not source text.
    let words = ["the first ", "the other ", "the result", "another "].iter().any(|start| text.starts_with(start));
    let of = if words { text.to_string() } else { format!("`{text}`") };
    match (rank, axis) {
        (1, _) => format!("length of {of}"),
        (2, 0) => format!("rows of {of}"),
        (2, _) => format!("columns of {of}"),
        _ => format!("axis {axis} of {of}"),
    }
}

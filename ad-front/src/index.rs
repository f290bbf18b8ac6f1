//! Reads of elements: `x[i]`, `x[[i, j]]`, `&x[a..b]`, with a check for each index.

use std::rc::Rc;

use syn::ExprIndex;

use super::arith::axis_words;
use super::lower::Lower;
use super::value::{Lowered, Number, Range, Value};
use ad_ir::catalogue;
use ad_ir::diag::{SrcRange, text_of};
use ad_ir::ir::{Elem, IntTy, Term};

impl<'a> Lower<'a> {
    /// Whether an expression is an ndarray parameter, which cannot be indexed by ranges.
    fn is_ndarray_parameter(&self, e: &syn::Expr) -> bool {
        let syn::Expr::Path(p) = e else { return false };
        let Some(name) = p.path.get_ident().map(ToString::to_string) else { return false };
        let array = |p: &super::sig::SigParam| p.name == name && p.leaf.container == ad_ir::program::Container::NdArray;
        matches!(self.state.names.get(&name), Some(Ok(Value::Term(t))) if matches!(self.g.node(*t), ad_ir::ir::Node::Input(_)))
            && self.input.sig().params.iter().any(array)
    }

    /// `base[index]`.
    pub(super) fn index_expr(&mut self, x: &'a ExprIndex) -> Lowered<Value<'a>> {
        if let syn::Expr::Path(p) = &*x.expr
            && let Some(name) = p.path.get_ident().map(ToString::to_string)
            && super::macros::is_indexed(&name)
            && self.state.names.get(&name).is_none()
        {
            let inside = text_of(&x.index, 40);
            return Err(self.error(SrcRange::of(x), catalogue::macro_without_mark(&name, &inside)));
        }
        let (base, index) = (self.expr(&x.expr), self.expr(&x.index));
        let (base, index) = (base?, index?);
        if let Value::Never = base {
            return Ok(Value::Never);
        }
        let (rb, ri) = (SrcRange::of(&x.expr), SrcRange::of(&x.index));
        if let Some(element) = self.own_index(&base, &index, SrcRange::of(x)) {
            return element;
        }
        if let Value::Number(n) = &base
            && let Value::Number(_) | Value::Term(_) = &index
            && let Some((path, before)) = n.of_array()
        {
            // Only rustc knows the type of this array. Its element is a constant that takes the
            // type of the other operand.
            let size = self.constant(&super::shapes::length_of_constant(path, before.len()), Elem::USIZE);
            let i = self.index_in(x, &index, ri)?;
            self.require_index(i, size, axis_words(&text_of(&x.expr, 30), 0, 1));
            let indices = before.iter().copied().chain([i]).collect();
            return Ok(Value::Number(Number::At(Rc::clone(path), indices).into()));
        }
        if let Value::Range(r) = &index {
            return self.part_in_range(x, &base, r);
        }
        if let (Value::List(parts), Value::Number(_) | Value::Term(_)) = (&base, &index) {
            let k = self.index_in(x, &index, ri)?;
            if let Some(k) = self.g.int_value(k) {
                let part = usize::try_from(k).ok().and_then(|k| parts.get(k));
                return match part {
                    Some(part) => Ok(part.clone()),
                    None => Err(self.error(ri, catalogue::index_never_in_range(k, parts.len()))),
                };
            }
        }
        if let Value::List(parts) = &base
            && (base.is_selected_from() || base.has_untyped_integers())
            && let Value::Number(_) | Value::Term(_) = &index
        {
            let (i, n) = (self.usize(&index, ri)?, self.g.lit_usize(parts.len()));
            self.require_index(i, n, axis_words(&text_of(&x.expr, 30), 0, 1));
            return self.one_of(&std::rc::Rc::clone(parts), i, ri);
        }
        if let Value::Filled(n, sizes) = &base
            && let Value::Number(_) | Value::Term(_) = &index
        {
            let (i, size, rest) = (self.index_in(x, &index, ri)?, sizes[0], &sizes[1..]);
            self.require_index(i, size, axis_words(&text_of(&x.expr, 30), 0, 1));
            let n = Rc::clone(n);
            return Ok(if rest.is_empty() { Value::Number(n) } else { Value::Filled(n, rest.into()) });
        }
        if let Value::GrowableVec(stack) = &base {
            let (stack, i) = (std::rc::Rc::clone(stack), self.usize(&index, ri)?);
            self.require_index(i, stack.len, axis_words(&text_of(&x.expr, 30), 0, 1));
            return self.vec_element(&stack, i);
        }
        if let Value::DynamicPart(part) = &base {
            let part = Rc::clone(part);
            let sizes = part.sizes(&self.g);
            let indices = self.indices_in(x, &index, sizes.len(), ri)?;
            self.require_in(&sizes, &indices, &text_of(&x.expr, 30));
            return Ok(Value::Term(self.element_of(part.all, &indices)));
        }
        let levels = base.levels();
        let array = self.term(&base, rb)?;
        if levels > 0
            && let Value::Number(_) | Value::Term(_) = &index
        {
            let i = self.index_in(x, &index, ri)?;
            self.require_indices(array, &[i], &text_of(&x.expr, 30));
            let row = self.element_of(array, &[i]);
            return Ok(Value::nested_element(&self.g, row, levels));
        }
        let indices = self.indices_in(x, &index, self.g.rank(array), ri)?;
        self.require_indices(array, &indices, &text_of(&x.expr, 30));
        Ok(Value::Term(self.element_of(array, &indices)))
    }

    /// `base[a..b]`.
    fn part_in_range(&mut self, x: &'a ExprIndex, base: &Value<'a>, r: &Rc<Range<'a>>) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&x.index);
        let levels = base.levels();
        if let Value::GrowableVec(stack) = base {
            return self.part_of_vec(&Rc::clone(stack), r, range);
        }
        if self.is_ndarray_parameter(&x.expr) {
            return Err(self.error(range, catalogue::sliced_by_index()));
        }
        let array = self.array(base, SrcRange::of(&x.expr))?;
        if let Some(part) = self.dynamic_slice((array, levels), r, range)? {
            return Ok(part);
        }
        let part = self.slice(array, &[super::slice::SliceAxis::Range(r.clone(), None)], range)?;
        Ok(Value::nested(&self.g, part, levels))
    }

    /// The indices, one for each axis.
    fn indices_in(&mut self, x: &ExprIndex, index: &Value<'a>, rank: usize, range: SrcRange) -> Lowered<Vec<Term>> {
        let parts: Vec<Value> = match index {
            Value::List(parts) | Value::Tuple(parts) => parts.to_vec(),
            Value::Unit => Vec::new(),
            // An array of a static size, one of whose elements belongs to each axis.
            &Value::Term(t) if self.static_length(t) == Some(rank) => {
                let at: Vec<Term> = (0..rank).map(|k| self.g.lit_usize(k)).collect();
                at.into_iter().map(|k| Value::Term(self.g.index(t, &[k]))).collect()
            }
            one => vec![one.clone()],
        };
        if parts.len() != rank {
            return Err(self.error(range, catalogue::index_rank(parts.len(), rank)));
        }
        parts.iter().map(|p| self.index_in(x, p, range)).collect()
    }

    /// The number of elements, if it is a literal, of an array of one axis.
    fn static_length(&self, array: Term) -> Option<usize> {
        let &[len] = self.g.shape(array) else { return None };
        self.g.int_value(len).and_then(|len| usize::try_from(len).ok())
    }

    /// `array[indices]`. If the type of the array comes from literals, that of the element comes
    /// from the same literals.
    fn element_of(&mut self, array: Term, indices: &[Term]) -> Term {
        let element = self.g.index(array, indices);
        self.inference.inherit_literals(&self.g, element, array);
        element
    }

    /// One index of `x`. It has special errors for the indices of other languages.
    fn index_in(&mut self, x: &ExprIndex, index: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        match index {
            Value::Number(n) => {
                if let Number::Neg(n) = &**n
                    && let Number::Int(n) = **n
                    && n > 0
                {
                    return Err(self.error(range, catalogue::negative_index(n, &text_of(&x.expr, 30))));
                }
            }
            &Value::Term(t) if self.g.rank(t) == 0 && matches!(self.g.elem(t), Elem::Int(ty) if ty != IntTy::Usize) => {
                // A literal may have been given a type too early.
                if !self.inference.retype(&self.g, t, Elem::USIZE) {
                    let (found, text) = (self.describe(index), text_of(&x.index, 30));
                    return Err(self.error(range, catalogue::index_type(&found, &text)));
                }
                return Err(ad_ir::diag::Poison);
            }
            _ => {}
        }
        self.usize(index, range)
    }

    /// Requires that each index is below the size of its axis.
    pub(super) fn require_indices(&mut self, array: Term, indices: &[Term], text: &str) {
        let shape = self.g.shape(array).to_vec();
        self.require_in(&shape, indices, text);
    }

    /// Requires that each index is below the given size of its axis.
    pub(super) fn require_in(&mut self, sizes: &[Term], indices: &[Term], text: &str) {
        for (k, (&i, &n)) in indices.iter().zip(sizes).enumerate() {
            self.require_index(i, n, axis_words(text, k, sizes.len()));
        }
    }
}

//! Type annotations: `let x: T`, `|x: T|`, `-> T`. They determine the type of literals. A value of
//! another kind is an error. An annotation with an unknown type (an alias, a name of the user's)
//! has no effect.

use proc_macro2::TokenStream;
use syn::{GenericArgument, PathArguments, Type};

use super::lower::{Lower, elem_name};
use super::types::{Len, boxed};
use super::value::{Lowered, Number, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, Poison, SrcRange};
use ad_ir::ir::{Elem, Term};
use ad_ir::program::Container;
use ad_ir::program::KnownType;

impl<'a> Lower<'a> {
    /// Gives a value the type of its annotation.
    pub(super) fn ascribe(&mut self, value: Value<'a>, ty: &Type, range: SrcRange) -> Lowered<Value<'a>> {
        if let Value::Number(n) = &value
            && let Number::Outer(path) = &**n
            && let Some(array) = self.outer_array(path, ty)
        {
            return Ok(array);
        }
        match ty {
            Type::Paren(p) => return self.ascribe(value, &p.elem, range),
            Type::Group(p) => return self.ascribe(value, &p.elem, range),
            Type::Reference(r) => return self.ascribe(value, &r.elem, range),
            Type::Path(_) if let Some(inner) = boxed(ty) => return self.ascribe(value, inner, range),
            Type::Tuple(types) => {
                return match value {
                    Value::Tuple(parts) if parts.len() == types.elems.len() => {
                        let parts: Lowered<Vec<Value>> =
                            parts.iter().zip(&types.elems).map(|(v, ty)| self.ascribe(v.clone(), ty, range)).collect();
                        Ok(Value::Tuple(parts?.into()))
                    }
                    other => Ok(other),
                };
            }
            _ => {}
        }
        let value = match self.ascribe_product(value.clone(), ty, range)? {
            Some(value) => return Ok(value),
            None => value,
        };
        // The sizes in the type, if it is a type that a parameter can have.
        let generics = self.generics();
        let value = match super::types::leaf(ty, &generics, &mut Diags::new()) {
            Ok(leaf) => {
                let lens: Vec<Term> = leaf.lens.iter().map(|n| self.stated_size(n)).collect();
                let value = self.with_sizes(value, &lens, range)?;
                self.typed(value, leaf.elem, range)?
            }
            Err(_) => value,
        };
        let Some((elem, rank)) = self.annotated(ty) else { return Ok(value) };
        let found = match &value {
            Value::Number(_) if rank == 0 => return Ok(Value::Term(self.term_as(&value, Want::Elem(elem), range)?)),
            Value::List(parts) if parts.is_empty() && rank > 0 => {
                self.growable.annotate_element(parts, elem, rank);
                return Ok(value);
            }
            Value::List(_) | Value::Matrix(_) | Value::Filled(..) | Value::GrowableVec(_) | Value::DynamicPart(_)
                if rank > 0 =>
            {
                return Ok(value);
            }
            Value::Term(t) | Value::Nested(t, _) => (self.g.elem(*t), self.g.rank(*t), value.clone()),
            Value::Tuple(_) | Value::Seq(_) | Value::Range(_) | Value::Option(..) | Value::Number(_) => {
                let found = self.describe(&value);
                let wanted = self.words(elem, rank);
                return Err(self.error(range, catalogue::expected(&wanted, &found)));
            }
            _ => return Ok(value),
        };
        if found.1 == rank
            && let Value::Term(t) | Value::Nested(t, _) = &found.2
            && self.inference.retype(&self.g, *t, elem)
        {
            return Err(Poison);
        }
        if (found.0, found.1) == (elem, rank) {
            return Ok(found.2);
        }
        if let Some(empty) = self.without_elements(&found.2, elem).filter(|_| found.1 == rank) {
            return Ok(empty);
        }
        let (found, wanted) = (self.describe(&found.2), self.words(elem, rank));
        Err(self.error(range, catalogue::declared(&wanted, &found)))
    }

    /// An array that has no elements, such as that of `vec![Vec::new(); n]`, with another type of
    /// elements. `None` if it may have elements.
    fn without_elements(&mut self, array: &Value<'a>, elem: Elem) -> Option<Value<'a>> {
        let (Value::Term(t) | Value::Nested(t, _)) = *array else { return None };
        let shape = self.g.shape(t).to_vec();
        shape.iter().any(|&n| self.g.int_value(n) == Some(0)).then_some(())?;
        let zero = self.g.zero(elem);
        let none = self.g.broadcast(zero, &shape);
        Some(Value::nested(&self.g, none, array.levels()))
    }

    /// A constant outside of the function that is annotated as an array: `let w: [f64; 3] = W;`,
    /// `let w: &[f64] = &W;`.
    fn outer_array(&mut self, path: &TokenStream, ty: &Type) -> Option<Value<'a>> {
        let leaf = super::types::leaf(ty, &self.generics(), &mut Diags::new()).ok()?;
        let at_its_place = |len: &Len| match len {
            Len::Named(path) => Len::Named(self.at_its_place(path)),
            len => len.clone(),
        };
        let leaf_lens: Vec<Len> = leaf.lens.iter().map(at_its_place).collect();
        let lens: Vec<Len> = match leaf.container {
            Container::Static => leaf_lens,
            Container::Slice => {
                let length = Len::Named(super::shapes::length_of_constant(path, 0));
                std::iter::once(length).chain(leaf_lens).collect()
            }
            _ => return None,
        };
        let array = self.constant_array(path, leaf.elem, &lens);
        Some(Value::nested(&self.g, array, u8::MAX))
    }

    fn words(&self, elem: Elem, rank: usize) -> String {
        let elem = elem_name(elem, self.input.sig().real_param.as_ref());
        if rank == 0 { format!("`{elem}`") } else { format!("an array of rank {rank} of `{elem}`") }
    }

    /// The element type and rank of an annotation.
    pub(super) fn annotated(&self, ty: &Type) -> Option<(Elem, usize)> {
        let deeper = |inner: &Type| self.annotated(inner).map(|(elem, rank)| (elem, rank + 1));
        match ty {
            Type::Paren(p) => self.annotated(&p.elem),
            Type::Group(p) => self.annotated(&p.elem),
            Type::Reference(r) => self.annotated(&r.elem),
            Type::Slice(s) => deeper(&s.elem),
            Type::Array(a) => deeper(&a.elem),
            Type::Path(_) if let Some(inner) = boxed(ty) => self.annotated(inner),
            Type::Path(p) => {
                if p.path.segments.len() == 1
                    && let Some(elem) = self.number_type_of(ty)
                {
                    return Some((elem, 0));
                }
                let last = p.path.segments.last()?;
                let name = last.ident.to_string();
                if let (Some(KnownType::Array(_)), Some((elem, rank))) =
                    (KnownType::named(&name), super::types::dimensioned(&last.arguments))
                {
                    return Some((self.annotated(elem)?.0, usize::from(rank)));
                }
                let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
                let inner = args.args.iter().find_map(|arg| match arg {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })?;
                match KnownType::named(&name) {
                    Some(KnownType::Ranked(_, rank)) => Some((self.annotated(inner)?.0, usize::from(rank))),
                    Some(KnownType::Vec | KnownType::VecDeque) => deeper(inner),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

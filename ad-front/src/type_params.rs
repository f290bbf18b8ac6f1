//! What the type parameters of a function that is called mean: `T` in `fn scaled<T: Real>(x: T)`.
//!
//! A call lowers the body again, so a parameter means the type that it has in this call. It is
//! bound beside the variables, under a name that no variable can have, and a closure in the body
//! keeps it with them.
//!
//! This module must never give a value another type.

use syn::{GenericArgument, GenericParam, Generics, Ident, PathArguments, Type};

use super::lower::Lower;
use super::types;
use super::value::{Closure, Lowered, Scope, Value};
use ad_ir::ir::{Elem, Lit, RealTy};

/// A type parameter of a function in a block or of a definition.
#[derive(Clone)]
pub(super) struct TypeParam {
    name: Ident,
    /// Whether it is bounded by `Real`.
    real: bool,
}

/// The type parameters of a function.
pub(super) fn of(generics: &Generics) -> Vec<TypeParam> {
    let of_type = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(t) => Some(TypeParam { name: t.ident.clone(), real: super::sig::is_real(generics, t) }),
        _ => None,
    });
    of_type.collect()
}

fn key(name: &str) -> String {
    format!(" type {name}")
}

impl<'a> Lower<'a> {
    /// The number type of this name. The flag says whether the name is that of a type parameter.
    pub(super) fn number_type(&self, name: &str) -> Option<(Elem, bool)> {
        if let Some(Ok(Value::Term(t))) = self.state.names.get(&key(name)) {
            return Some((self.g.elem(*t), true));
        }
        let elem = types::elem_named(name, self.real_param())?;
        Some((elem, elem == Elem::Real(RealTy::Param)))
    }

    /// The number type that a type is, or refers to.
    pub(super) fn number_type_of(&self, ty: &Type) -> Option<Elem> {
        match ty {
            Type::Path(p) => Some(self.number_type(&p.path.segments.last()?.ident.to_string())?.0),
            Type::Paren(p) => self.number_type_of(&p.elem),
            Type::Group(g) => self.number_type_of(&g.elem),
            Type::Reference(r) => self.number_type_of(&r.elem),
            _ => None,
        }
    }

    /// Binds the type parameters of a function with these arguments.
    pub(super) fn infer_type_params(&mut self, closure: &Closure<'a>, args: &[Value<'a>]) -> Lowered<()> {
        for param in closure.types.iter() {
            let name = param.name.to_string();
            let mut found = Vec::new();
            for ((_, ty), arg) in closure.params.iter().zip(args) {
                if let Some(ty) = ty {
                    self.types_in(ty, (&name, param.real), arg, &mut found)?;
                }
            }
            let elem = match found.first() {
                Some(&first) if found.iter().all(|&e| e == first) => first,
                // A literal has no type of its own.
                None if param.real => self.input.default_real(),
                _ => continue,
            };
            let of_type = match elem {
                Elem::Real(ty) => self.g.lit_real(ty, 0.0),
                Elem::Int(ty) => self.g.lit(Lit::Int(ty, 0)),
                Elem::Bool => self.g.lit_bool(false),
            };
            self.state.names.bind(key(&name), Some(Value::Term(of_type)));
        }
        Ok(())
    }

    /// Binds the type parameters of a function in a scope as they are bound now.
    pub(super) fn bind_types(&self, closure: &Closure<'a>, scope: &mut Scope<'a>) {
        for param in closure.types.iter() {
            let key = key(&param.name.to_string());
            if let Some(Ok(of_type)) = self.state.names.get(&key) {
                scope.bind(key, Some(of_type.clone()));
            }
        }
    }

    /// Adds the number types that a name has in the type of a value. A parameter without the bound
    /// `Real` may also mean an array or a struct, so only a number tells its type.
    fn types_in(
        &mut self,
        ty: &Type,
        (name, real): (&str, bool),
        value: &Value<'a>,
        found: &mut Vec<Elem>,
    ) -> Lowered<()> {
        match ty {
            Type::Reference(r) => self.types_in(&r.elem, (name, real), value, found),
            Type::Paren(p) => self.types_in(&p.elem, (name, real), value, found),
            Type::Group(g) => self.types_in(&g.elem, (name, real), value, found),
            Type::Slice(s) => self.types_in(&s.elem, (name, real), value, found),
            Type::Array(a) => self.types_in(&a.elem, (name, real), value, found),
            Type::Tuple(t) => {
                let Value::Tuple(parts) = self.referent(value)? else { return Ok(()) };
                t.elems.iter().zip(parts.iter()).try_for_each(|(ty, part)| self.types_in(ty, (name, real), part, found))
            }
            Type::Path(p) if p.path.is_ident(name) => {
                let value = self.referent(value)?;
                let number = match &value {
                    Value::Term(t) => self.g.rank(*t) == 0,
                    value => matches!(value, Value::Number(_)),
                };
                if real || number {
                    found.extend(self.elem_of(&value));
                }
                Ok(())
            }
            Type::Path(p) => {
                let value = self.referent(value)?;
                if let Value::Struct(of, parts) = &value {
                    for param in of.parameters_given_as(p, name) {
                        for (field, part) in of.variants[0].fields.iter().zip(parts.iter()) {
                            self.types_in(&field.ty, (&param, real), part, found)?;
                        }
                    }
                    return Ok(());
                }
                let Some(last) = p.path.segments.last() else { return Ok(()) };
                let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Ok(()) };
                arguments.args.iter().try_for_each(|argument| match argument {
                    GenericArgument::Type(ty) => self.types_in(ty, (name, real), &value, found),
                    _ => Ok(()),
                })
            }
            _ => Ok(()),
        }
    }
}

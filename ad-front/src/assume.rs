//! Assumptions about name resolution. The front end resolves names syntactically; rustc knows their
//! real meaning. So each name is recorded here, and the generated code asserts it
//! (`ad-back/src/proof.rs`). A name with another meaning is a compile error, never a wrong gradient.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ExprMethodCall, Path, PathArguments};

use super::lower::Lower;
use super::table::{On, Proof, Row};
use super::value::Value;
use ad_ir::diag::MARK;
use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::{Assumed, AssumedConst, Called, Home};

/// Functions without a table row. Their arguments are read in a special way.
pub(super) const AXIS: Called = Called { home: Home::Ndarray, arguments: "0", result: None };
pub(super) const SOME: Called = Called { home: Home::Option, arguments: "0.0_f64", result: None };
pub(super) const FROM_FN: Called = Called { home: Home::StaticArray, arguments: "|_| 0_u8", result: Some("[u8; 1]") };

/// A path without generic arguments.
pub(super) fn plain(path: &Path) -> TokenStream {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|s| s.arguments = PathArguments::None);
    path.to_token_stream()
}

impl<'a> Lower<'a> {
    /// Records that a path is assumed to be this function. Without a function, the path is assumed
    /// to be a type or value of that name.
    pub(super) fn assume_path(&mut self, path: &Path, called: Option<Called>) {
        // A path that `macros` has generated needs no assertion.
        if path.segments.first().is_some_and(|s| s.ident == MARK) {
            return;
        }
        if let Some(name) = path.segments.last().map(|s| s.ident.clone()) {
            self.assume(Assumed::Path { path: plain(path), name, called });
        }
    }

    /// Records the path that a function is looked up in: all but the last segment.
    pub(super) fn assume_owner(&mut self, path: &Path) {
        let mut owner = path.clone();
        let _ = owner.segments.pop();
        // The path must not end in `::`.
        let _ = owner.segments.pop_punct();
        self.assume_path(&owner, None);
    }

    /// Records a path such as `f64::exp`.
    pub(super) fn assume_number(&mut self, path: &Path, elem: Elem, name: &Ident) {
        self.assume(Assumed::OfNumber { path: plain(path), elem, name: name.clone() });
    }

    /// Records a method call.
    pub(super) fn assume_method(&mut self, call: &ExprMethodCall, row: &Row, receiver: &Value<'a>) {
        let (name, known) = (&call.method, self.receivers.get(call));
        let of_std = |me: &mut Self, types: &[TokenStream], by_reference: bool| {
            for ty in types {
                me.assume(Assumed::OfStd { name: name.clone(), ty: ty.clone(), by_reference });
            }
        };
        let (found, with_axes) = match row.proof {
            Proof::Nothing | Proof::Call(_) => return,
            Proof::OfStd { by_reference } if row.on == On::Option => {
                let elem = match receiver {
                    Value::Option(inner, _) => self.elem_of(inner),
                    _ => None,
                };
                let elem = super::types::elem_tokens(elem.unwrap_or(Elem::F64), None);
                let types = [quote!(::core::option::Option<#elem>), quote!(::core::option::Option<&#elem>)];
                return of_std(self, &types, by_reference);
            }
            Proof::OfStd { by_reference } => return of_std(self, &[quote!(::core::cmp::Ordering)], by_reference),
            // Another trait's method by value or by reference comes before the type's own method,
            // which takes `&mut self`.
            Proof::OfPeekable => {
                let items = quote!(::core::iter::Peekable<::core::slice::Iter<'_, f64>>);
                return of_std(self, &[items.clone(), quote!(&#items)], true);
            }
            Proof::Method { found, with_axes } => (found, with_axes),
        };
        let place;
        let receiver = match receiver {
            Value::Place(p) => match self.read_place(p) {
                Ok(value) => {
                    place = value;
                    &place
                }
                Err(_) => return,
            },
            other => other,
        };
        let rank = match receiver {
            Value::Term(t) | Value::Nested(t, _) => self.g.rank(*t),
            Value::DynamicPart(open) => self.g.rank(open.all),
            Value::List(_) | Value::GrowableVec(_) => 1,
            Value::Matrix(_) => 2,
            _ => 0,
        };
        let Some(elem) = self.elem_of(receiver) else { return };
        let taken = match row.on {
            // An array of rank 0 is represented like a number, and a trait of the user's may give
            // numbers such methods.
            On::Array | On::Any => rank > 0 || !with_axes,
            On::Place => rank > 0,
            _ => rank == 0,
        };
        if taken {
            let sizes = match receiver {
                Value::Term(t) | Value::Nested(t, _) => self.g.shape(*t).to_vec(),
                _ => Vec::new(),
            };
            let sizes: Option<Vec<usize>> = sizes.iter().map(|&n| usize::try_from(self.g.int_value(n)?).ok()).collect();
            self.assume(Assumed::Method {
                name: name.clone(),
                found,
                elem,
                rank,
                array: matches!(row.on, On::Array | On::Place | On::Any),
                sizes: sizes.unwrap_or_default(),
                receiver: known,
            });
        }
    }

    /// Records a constant of a number type.
    pub(super) fn assume_const(&mut self, path: &TokenStream, ty: RealTy, value: f64) {
        let known = self.state.consts.iter().any(|c| c.path.to_string() == path.to_string() && c.ty == ty);
        // A constant of a type parameter comes from a trait. NaNs may differ in their bits.
        if ty != RealTy::Param && !value.is_nan() && !known {
            self.state.consts.push(AssumedConst { path: path.clone(), ty, value });
        }
    }

    fn assume(&mut self, new: Assumed) {
        if !self.state.assumed.iter().any(|old| old.same(&new)) {
            self.state.assumed.push(new);
        }
    }
}

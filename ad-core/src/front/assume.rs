//! What names are taken for. The front end goes by names; only rustc knows what they resolve to, so the code that is written proves
//! it (`emit/proof.rs`). A name that is noted here and turns out to be another one is a compile error, never a wrong gradient.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ExprMethodCall, Path, PathArguments};

use super::lower::Lower;
use super::table::On;
use super::value::Value;
use crate::diag::MARK;
use crate::ir::{Elem, RealTy};
use crate::program::{Assumed, AssumedConst};

/// Methods of traits of std: another trait's of the same name is ambiguous in the function itself.
const OF_TRAITS: &[&str] = &["clone", "into", "borrow", "as_ref", "into_iter", "cmp", "partial_cmp", "extend", "next"];
/// Methods of `Ord`, which integers have with all references to them.
const OF_ORD: &[&str] = &["max", "min", "clamp"];

/// A path without generic arguments.
pub(super) fn plain(path: &Path) -> TokenStream {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|s| s.arguments = PathArguments::None);
    path.to_token_stream()
}

impl<'a> Lower<'a> {
    /// Notes a function that is taken for one of the table, or a type (all of a path but the function).
    pub(super) fn assume_path(&mut self, path: &Path, name: &Ident) {
        // What `macros` has written itself.
        if path.segments.first().is_none_or(|s| s.ident != MARK) {
            self.assume(Assumed::Path { path: plain(path), name: name.clone() });
        }
    }

    /// The path that a function is looked up in: all but the last segment.
    pub(super) fn assume_owner(&mut self, path: &Path) {
        let mut owner = path.clone();
        let _ = owner.segments.pop();
        // No `::` at the end.
        let _ = owner.segments.pop_punct();
        if let Some(name) = owner.segments.last().map(|s| s.ident.clone()) {
            self.assume_path(&owner, &name);
        }
    }

    /// Notes `f64::exp`.
    pub(super) fn assume_number(&mut self, path: &Path, elem: Elem, name: &Ident) {
        self.assume(Assumed::OfNumber { path: plain(path), elem, name: name.clone() });
    }

    /// Notes a method. Of those of iterators and options every other one is ambiguous or comes later anyway.
    pub(super) fn assume_method(&mut self, call: &ExprMethodCall, on: On, receiver: &Value<'a>) {
        let (name, known) = (&call.method, self.receivers.get(call));
        let text = name.to_string();
        if let On::Option | On::Ordering = on {
            let elem = match receiver {
                Value::Maybe(inner, _) => self.elem_of(inner),
                _ => None,
            };
            let elem = super::types::elem_tokens(elem.unwrap_or(Elem::F64), None);
            let types = match on {
                On::Option => {
                    vec![quote!(::core::option::Option<#elem>), quote!(::core::option::Option<&#elem>)]
                }
                _ => vec![quote!(::core::cmp::Ordering)],
            };
            types.into_iter().for_each(|ty| self.assume(Assumed::OfStd { name: name.clone(), ty }));
            return;
        }
        if let (On::Place, "peek") = (on, &*text) {
            // By value and by reference, another trait's comes before the type's own, which takes `&mut self`.
            let items = quote!(::core::iter::Peekable<::core::slice::Iter<'_, f64>>);
            for ty in [quote!(#items), quote!(&#items)] {
                self.assume(Assumed::OfStd { name: name.clone(), ty });
            }
            return;
        }
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
            Value::Open(open) => self.g.rank(open.all),
            Value::List(_) | Value::Stack(_) => 1,
            Value::Matrix(_) => 2,
            _ => 0,
        };
        let Some(elem) = self.elem_of(receiver) else { return };
        let taken = match on {
            // One of rank 0 is not told from a number, which may have such methods of a trait of the user's.
            On::Array => true,
            On::Place => rank > 0,
            On::Any => matches!(&*text, "view" | "to_vec" | "as_slice") || rank > 0 && text == "to_owned",
            On::Real => rank == 0,
            On::Int => rank == 0 && !OF_ORD.contains(&&*text),
            _ => false,
        };
        if taken && !OF_TRAITS.contains(&&*text) {
            let sizes = match receiver {
                Value::Term(t) | Value::Nested(t, _) => self.g.shape(*t).to_vec(),
                _ => Vec::new(),
            };
            let sizes: Option<Vec<usize>> = sizes.iter().map(|&n| usize::try_from(self.g.int_value(n)?).ok()).collect();
            self.assume(Assumed::Method {
                name: name.clone(),
                elem,
                rank,
                array: matches!(on, On::Array | On::Place | On::Any),
                sizes: sizes.unwrap_or_default(),
                receiver: known,
            });
        }
    }

    /// Notes a constant of a type of numbers.
    pub(super) fn assume_const(&mut self, path: &TokenStream, ty: RealTy, value: f64) {
        let known = self.consts.iter().any(|c| c.path.to_string() == path.to_string() && c.ty == ty);
        // Of a type parameter the constant is a trait's; and not every NaN has the same bits.
        if ty != RealTy::Param && !value.is_nan() && !known {
            self.consts.push(AssumedConst { path: path.clone(), ty, value });
        }
    }

    fn assume(&mut self, new: Assumed) {
        if !self.assumed.iter().any(|old| old.same(&new)) {
            self.assumed.push(new);
        }
    }
}

//! Assumptions about name resolution. The front end resolves names syntactically; rustc knows their
//! real meaning. So each name is recorded here, and the generated code asserts it
//! (`ad-back/src/proof.rs`). A name with another meaning is a compile error, and never a wrong
//! gradient.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ExprMethodCall, Path, PathArguments};

use super::definitions::Definition;
use super::lower::Lower;
use super::table::{On, Proof, Row};
use super::value::Value;
use ad_ir::diag::MARK;
use ad_ir::ir::{Elem, RealTy};
use ad_ir::program::KnownType;
use ad_ir::program::{Assumed, AssumedFunction, Home};

/// A function without a table row. Its arguments are read in a special way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    /// `ndarray::Axis`.
    Axis,
    /// `Option::Some`.
    Some,
    /// `std::array::from_fn`.
    FromFn,
}

/// A special function: its name, the segment before the name if the path has to have it, and its
/// proof.
const SPECIAL: [(Special, &str, Option<&str>, AssumedFunction); 3] = [
    (Special::Axis, "Axis", None, AssumedFunction { home: Home::Ndarray, arguments: "0", result: None }),
    (Special::Some, "Some", None, AssumedFunction { home: Home::Option, arguments: "0.0_f64", result: None }),
    (
        Special::FromFn,
        "from_fn",
        Some("array"),
        AssumedFunction { home: Home::StaticArray, arguments: "|_| 0_u8", result: Some("[u8; 1]") },
    ),
];

impl Special {
    /// The special function that a path is assumed to be, with its proof.
    pub(super) fn of(path: &Path) -> Option<(Special, AssumedFunction)> {
        let mut segments = path.segments.iter().rev();
        let (last, before) = (segments.next()?, segments.next());
        let is = |of: Option<&str>| of.is_none_or(|of| before.is_some_and(|s| s.ident == of));
        let found = SPECIAL.iter().find(|(_, name, of, _)| last.ident == name && is(*of));
        found.map(|&(special, _, _, called)| (special, called))
    }

    /// Whether a path is assumed to be this function.
    pub(super) fn is(self, path: &Path) -> bool {
        Special::of(path).is_some_and(|(special, _)| special == self)
    }
}

/// A path without generic arguments.
pub(super) fn plain(path: &Path) -> TokenStream {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|s| s.arguments = PathArguments::None);
    path.to_token_stream()
}

/// Whether `macros` has generated a path, which then needs no assertion.
fn generated(path: &Path) -> bool {
    path.segments.first().is_some_and(|s| s.ident == MARK)
}

impl<'a> Lower<'a> {
    /// Records that a path is assumed to be this function.
    pub(super) fn assume_function(&mut self, path: &Path, called: AssumedFunction) {
        if let Some(name) = path.segments.last().map(|s| s.ident.clone()).filter(|_| !generated(path)) {
            self.assume(Assumed::Function { path: plain(path), name, called });
        }
    }

    /// If a path is a variant of std's `Result`, records this assumption.
    pub(super) fn assume_variant(&mut self, of: &Definition, path: &Path) {
        if of.of_std {
            let fine = path.segments.last().is_some_and(|s| s.ident == "Ok");
            let result = Some(if fine { "::core::result::Result<f64, ()>" } else { "::core::result::Result<(), f64>" });
            self.assume_function(path, AssumedFunction { home: Home::Result, arguments: "0.0_f64", result });
        }
    }

    /// Records the type that a function is looked up in: all but the last segment of the path.
    pub(super) fn assume_owner(&mut self, path: &Path, ty: KnownType) {
        if generated(path) {
            return;
        }
        let mut owner = path.clone();
        let _ = owner.segments.pop();
        // The path must not end in `::`.
        let _ = owner.segments.pop_punct();
        self.assume(Assumed::Type { path: plain(&owner), ty });
    }

    /// Records that a path is assumed to be `Option::None`.
    pub(super) fn assume_none(&mut self, path: &Path) {
        if !generated(path) {
            self.assume(Assumed::NoneValue { path: plain(path) });
        }
    }

    /// Records a path such as `f64::exp`.
    pub(super) fn assume_number(&mut self, path: &Path, elem: Elem, name: &Ident, conversion: bool) {
        self.assume(Assumed::OfNumber { path: plain(path), elem, name: name.clone(), conversion });
    }

    /// Records a method call.
    pub(super) fn assume_method(&mut self, call: &ExprMethodCall, row: &Row, receiver: &Value<'a>) {
        let (name, known) = (&call.method, self.input.receivers().get(call));
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
            Proof::OfStd { by_reference } if row.on == On::Result => {
                return of_std(self, &[quote!(::core::result::Result<f64, ()>)], by_reference);
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
        // A constant of a type parameter comes from a trait. NaNs may differ in their bits.
        if ty != RealTy::Param && !value.is_nan() && !self.is_elsewhere() {
            self.state.assumptions.assume_const(path, ty, value);
        }
    }

    fn assume(&mut self, new: Assumed) {
        if !self.is_elsewhere() {
            self.state.assumptions.assume(new);
        }
    }
}

//! Patterns of structs and enums, and the payloads of enums and `Option`s.
//!
//! Invariant: a payload is read only where the value is its variant.

use std::rc::Rc;

use syn::{ExprTry, Pat};

use super::lower::Lower;
use super::pattern::{PatternSplit, is_rest};
use super::value::{EnumValue, Lowered, Value};
use ad_ir::catalogue::refused::Construct;
use ad_ir::catalogue::{self, refused, wanted};
use ad_ir::diag::{SrcRange, text_of};
use ad_ir::ir::{Elem, IntTy, Lit};
use ad_ir::prim::Cmp;

/// The value of an integer literal with its sign.
fn integer(e: &syn::Expr) -> Option<i128> {
    match e {
        syn::Expr::Lit(l) => match &l.lit {
            syn::Lit::Int(n) => n.base10_parse().ok(),
            _ => None,
        },
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => integer(&u.expr).map(|n| -n),
        _ => None,
    }
}

impl<'a> Value<'a> {
    /// The same enum or `Option` with another field of a variant.
    pub(super) fn with_payload(&self, variant: usize, k: usize, field: Value<'a>) -> Value<'a> {
        match self {
            Value::Option(_, exists) => Value::Option(field.into(), *exists),
            Value::Enum(sum) => {
                let mut payloads = sum.payloads.to_vec();
                if let Some(Some(fields)) = payloads.get_mut(variant) {
                    let mut new = fields.to_vec();
                    new[k] = field;
                    *fields = new.into();
                }
                Value::Enum(Rc::new(EnumValue { payloads: payloads.into(), ..(**sum).clone() }))
            }
            _ => Value::Never,
        }
    }
}

impl<'a> Lower<'a> {
    /// The value that a mutable reference refers to, or the value itself if it is not a reference.
    pub(super) fn referent(&mut self, value: &Value<'a>) -> Lowered<Value<'a>> {
        match value {
            Value::Place(place) => self.read_place(&Rc::clone(place)),
            value => Ok(value.clone()),
        }
    }

    /// A field of a variant of a value. A field of a place expression is a place expression.
    pub(super) fn payload_of(
        &mut self,
        value: &Value<'a>,
        (variant, k): (usize, usize),
        field: &Value<'a>,
    ) -> Value<'a> {
        match (value, field) {
            // A field that is a reference itself stays one.
            (Value::Place(place), field) if !matches!(field, Value::Place(_)) => {
                Value::Place(Rc::new((**place).clone().payload(variant, k)))
            }
            (_, field) => field.clone(),
        }
    }

    /// Lowers `value?`: a return from the function, unless the value is `Some` or `Ok`.
    pub(super) fn try_expr(&mut self, t: &'a ExprTry) -> Lowered<Value<'a>> {
        let range = SrcRange::of(t);
        let value = self.expr(&t.expr)?;
        // The differentiated function itself may return numbers.
        let Some(k) = self.state.jumps.function_around().filter(|&k| k > 0 || self.input.sig().fallible.is_some())
        else {
            return Err(self.error(range, refused::construct(Construct::Try)));
        };
        match &value {
            Value::Never => Ok(Value::Never),
            Value::None => self.exit(k, Value::None, range),
            Value::Option(content, exists) => {
                let content = (**content).clone();
                self.branch(*exists, |_| Ok(content), |me| me.exit(k, Value::None, range), range)
            }
            Value::Enum(sum) if sum.of.of_std => {
                let zero = self.g.lit_usize(0);
                let fine = self.g.compare(Cmp::Eq, sum.tag, zero);
                let content = |variant: usize| {
                    let fields = sum.payloads.get(variant).and_then(Option::as_ref);
                    fields.and_then(|fields| fields.first()).map_or(Value::Never, Clone::clone)
                };
                let (content, failure, of) = (content(0), content(1), sum.of);
                let failed = |me: &mut Self| {
                    let failure = me.constructed(of, 1, vec![failure]);
                    me.exit(k, failure, range)
                };
                self.branch(fine, |_| Ok(content), failed, range)
            }
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(wanted::OPTION, &found)))
            }
        }
    }

    /// The index of the variant of an enum without fields, in an integer type: `shape as usize`.
    pub(super) fn discriminant(&mut self, sum: &EnumValue<'a>, to: Elem, range: SrcRange) -> Lowered<Value<'a>> {
        let mut next = 0;
        let mut numbers = Vec::new();
        for variant in &sum.of.variants {
            if let Some(given) = &variant.discriminant {
                let Some(n) = integer(given) else {
                    return Err(self.error(range, catalogue::cast("an enum", "an integer")));
                };
                next = n;
            }
            numbers.push(self.g.lit(Lit::Int(IntTy::Isize, next)));
            next += 1;
        }
        let all = self.g.stack(&numbers);
        let number = self.g.index(all, &[sum.tag]);
        self.cast(&Value::Term(number), to, range)
    }

    /// Splits the pattern of a struct or variant into the patterns of its fields.
    pub(super) fn split_fields(
        &mut self,
        pat: &'a Pat,
        value: Option<&Value<'a>>,
        range: SrcRange,
    ) -> Lowered<PatternSplit<'a>> {
        let path = match pat {
            Pat::Struct(p) => &p.path,
            Pat::TupleStruct(p) => &p.path,
            Pat::Path(p) => &p.path,
            _ => return Err(self.error(range, refused::pattern(&text_of(pat, 40)))),
        };
        let Some((of, variant)) = self.input.definitions().constructor(path) else {
            super::pattern::poison(self, pat);
            return Err(self.error(range, refused::pattern(&text_of(pat, 40))));
        };
        self.assume_variant(of, path);
        let count = of.variants[variant].fields.len();
        let fields: Vec<(usize, &'a Pat)> = match pat {
            Pat::Struct(p) => {
                let mut fields = Vec::new();
                for field in &p.fields {
                    let name = super::products::member(&field.member);
                    match of.variants[variant].field(&name) {
                        Some(k) => fields.push((k, &*field.pat)),
                        None => {
                            super::pattern::poison(self, pat);
                            let at = SrcRange::of(&field.member);
                            return Err(self.error(at, catalogue::no_such_field(&name, &of.name.to_string())));
                        }
                    }
                }
                fields
            }
            Pat::TupleStruct(p) => {
                let rest = p.elems.iter().position(is_rest);
                let more = count.checked_sub(p.elems.len() - usize::from(rest.is_some()));
                let Some(more) = more.filter(|&more| more == 0 || rest.is_some()) else {
                    super::pattern::poison(self, pat);
                    return Err(self.error(range, catalogue::missing_field(&of.name.to_string())));
                };
                let numbered = p.elems.iter().enumerate().filter(|(k, _)| Some(*k) != rest);
                let after_rest = |k: usize| rest.is_some_and(|rest| k > rest);
                numbered.map(|(k, pat)| (if after_rest(k) { k + more - 1 } else { k }, pat)).collect()
            }
            _ => Vec::new(),
        };
        let yes = self.g.lit_bool(true);
        let Some(value) = value else {
            return Ok(PatternSplit { parts: fields.into_iter().map(|(_, p)| (p, None)).collect(), fits: yes });
        };
        let held = self.referent(value)?;
        let held = self.opened(&held)?;
        let (own, fits) = match &held {
            Value::Never => (None, yes),
            Value::Struct(own, parts) if std::ptr::eq(*own, of) => (Some(Rc::clone(parts)), yes),
            Value::Enum(sum) if std::ptr::eq(sum.of, of) => {
                let number = self.g.lit_usize(variant);
                let payload = sum.payloads.get(variant).cloned().flatten();
                let fits = match payload {
                    Some(_) => self.g.compare(Cmp::Eq, sum.tag, number),
                    None => self.g.lit_bool(false),
                };
                (payload, fits)
            }
            other => {
                super::pattern::poison(self, pat);
                let found = self.describe(other);
                let wanted = format!("a value of `{}`", of.name);
                return Err(self.error(range, catalogue::expected(&wanted, &found)));
            }
        };
        let parts = fields.into_iter().map(|(k, pat)| {
            let part = match (&own, value) {
                (None, _) => Value::Never,
                (Some(_), Value::Place(place)) if !of.is_enum => Value::Place(Rc::new((**place).clone().field(k))),
                (Some(own), value) => self.payload_of(value, (variant, k), &own[k]),
            };
            (pat, Some(part))
        });
        Ok(PatternSplit { parts: parts.collect(), fits })
    }
}

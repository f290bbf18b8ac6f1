//! The type of a carried value as a later run of the front end can read it: a run has its own
//! terms, so the sizes are formulas of the arguments.
//!
//! Invariant: a dummy value is never read.

use super::carry::{CarriedForm, Leaves};
use super::lower::Lower;
use super::value::{EnumValue, Value};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::catalogue;
use ad_ir::diag::Message;
use ad_ir::ir::{Elem, IntTy, Lit, Node, Term};
use ad_ir::prim::Prim;

/// The maximum depth of the formula of a size.
const DEEPEST_SIZE: u32 = 8;

/// The type of a payload or of an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CarriedType {
    Scalar(Elem),
    /// An array of these sizes, and its levels.
    Array(Elem, Vec<CarriedSize>, u8),
    Tuple(Vec<CarriedType>),
    /// A struct, by its name.
    Struct(String, Vec<CarriedType>),
    /// An enum, by its name.
    Enum(String, Vec<Option<Vec<CarriedType>>>),
    Option(Box<CarriedType>),
}

/// A size as a formula of the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CarriedSize {
    Literal(Lit),
    /// An argument that is a number.
    Argument(u32),
    /// The size of an axis of an argument.
    Axis(u32, u8),
    Operation(Prim, Vec<CarriedSize>),
}

impl CarriedSize {
    fn number(n: usize) -> Option<Self> {
        Some(CarriedSize::Literal(Lit::Int(IntTy::Usize, i128::try_from(n).ok()?)))
    }
}

impl CarriedType {
    /// Whether a size in it is not a literal.
    pub(super) fn has_formulas(&self) -> bool {
        match self {
            CarriedType::Scalar(_) => false,
            CarriedType::Array(_, sizes, _) => sizes.iter().any(|size| !matches!(size, CarriedSize::Literal(_))),
            CarriedType::Tuple(parts) | CarriedType::Struct(_, parts) => parts.iter().any(CarriedType::has_formulas),
            CarriedType::Enum(_, variants) => variants.iter().flatten().flatten().any(CarriedType::has_formulas),
            CarriedType::Option(inner) => inner.has_formulas(),
        }
    }
}

/// The subject of a message about a carried value.
#[derive(Clone, Copy, Debug)]
pub(super) enum CarriedName<'n> {
    /// A variable.
    Variable(&'n str),
    /// The accumulator of a closure.
    Accumulator,
    /// An element of a `Vec`.
    Element,
}

impl CarriedName<'_> {
    /// The error for a change of the type.
    pub(super) fn type_change(self, was: &str, is: &str) -> Message {
        match self {
            CarriedName::Variable(name) => catalogue::carried_changes(name, was, is),
            CarriedName::Accumulator => catalogue::accumulator_changes(was, is),
            CarriedName::Element => catalogue::types_differ(was, is),
        }
    }

    /// The error for another number of components.
    pub(super) fn count_change(self, was: usize, is: Option<usize>) -> Message {
        match self {
            CarriedName::Variable(name) => catalogue::carried_shape(name),
            CarriedName::Accumulator | CarriedName::Element => {
                let is = is.map_or_else(|| "an array of unknown size".to_string(), |is| format!("{is} parts"));
                self.type_change(&format!("{was} parts"), &is)
            }
        }
    }

    /// Names for the value itself and for its value after a step.
    pub(super) fn descriptions(self) -> [String; 2] {
        match self {
            CarriedName::Variable(name) => [name.to_string(), format!("what `{name}` becomes in the loop")],
            CarriedName::Accumulator => ["the accumulator".to_string(), "what the closure makes of it".to_string()],
            CarriedName::Element => ["an element".to_string(), "another element".to_string()],
        }
    }
}

impl<'a> Lower<'a> {
    /// Dummy values of a type, for the payload of a `None`. They are never read.
    pub(super) fn dummy(&mut self, kind: &CarriedType, out: &mut Leaves) -> CarriedForm<'a> {
        let leaf = |out: &mut Leaves, t| {
            out.terms.push(t);
            out.keys.push(None);
        };
        match kind {
            CarriedType::Scalar(elem) => {
                leaf(out, self.g.zero(*elem));
                CarriedForm::Leaf { levels: 0 }
            }
            CarriedType::Array(elem, sizes, levels) => {
                let zero = self.g.zero(*elem);
                let sizes: Vec<_> = sizes.iter().map(|size| self.size_of_formula(size)).collect();
                leaf(out, self.g.broadcast(zero, &sizes));
                CarriedForm::Leaf { levels: *levels }
            }
            CarriedType::Tuple(parts) => CarriedForm::Tuple(parts.iter().map(|p| self.dummy(p, out)).collect()),
            CarriedType::Struct(name, parts) => {
                let parts = parts.iter().map(|p| self.dummy(p, out)).collect();
                match self.input.definitions().ty(name) {
                    Some(of) => CarriedForm::Struct(of, parts),
                    None => CarriedForm::Tuple(parts),
                }
            }
            CarriedType::Enum(name, variants) => {
                leaf(out, self.g.lit_usize(0));
                let mut forms = Vec::new();
                for variant in variants {
                    forms.push(variant.as_ref().map(|fields| fields.iter().map(|f| self.dummy(f, out)).collect()));
                }
                match self.input.definitions().ty(name) {
                    Some(of) => CarriedForm::Enum(of, forms),
                    None => CarriedForm::Unit,
                }
            }
            CarriedType::Option(inner) => {
                let form = self.dummy(inner, out);
                leaf(out, self.g.lit_bool(false));
                CarriedForm::Option(form.into())
            }
        }
    }

    /// The form of the elements of an empty `Vec`, with dummy values. The elements are reals until
    /// another type is inferred.
    pub(super) fn dummy_element(&mut self, key: &InferenceKey, out: &mut Leaves) -> CarriedForm<'a> {
        let kind = match self.inference.known(key) {
            Some(Inferred::Type(kind)) => kind.clone(),
            _ => CarriedType::Scalar(self.input.default_real()),
        };
        self.dummy(&kind, out)
    }

    /// The formula of a size. `None` if it depends on anything but the arguments.
    fn formula_of_size(&self, size: Term, depth: u32) -> Option<CarriedSize> {
        let depth = depth.checked_sub(1)?;
        if self.g.rank(size) > 0 {
            return None;
        }
        Some(match self.g.node(size) {
            Node::Lit(lit) => CarriedSize::Literal(*lit),
            Node::Input(k) => CarriedSize::Argument(*k),
            Node::Size(k, axis) => CarriedSize::Axis(*k, *axis),
            Node::Prim(prim, args) => {
                let args = args.iter().map(|&arg| self.formula_of_size(arg, depth)).collect::<Option<_>>()?;
                CarriedSize::Operation(prim.clone(), args)
            }
            _ => return None,
        })
    }

    fn size_of_formula(&mut self, size: &CarriedSize) -> Term {
        match size {
            CarriedSize::Literal(lit) => self.g.mk(Node::Lit(*lit)),
            CarriedSize::Argument(k) => self.g.mk(Node::Input(*k)),
            CarriedSize::Axis(k, axis) => self.g.mk(Node::Size(*k, *axis)),
            CarriedSize::Operation(prim, args) => {
                let args = args.iter().map(|arg| self.size_of_formula(arg)).collect();
                self.g.mk(Node::Prim(prim.clone(), args))
            }
        }
    }

    /// The type of a value. `None` if another run could not make a value of it.
    pub(super) fn kind(&mut self, value: &Value<'a>) -> Option<CarriedType> {
        let all = |me: &mut Self, parts: &[Value<'a>]| parts.iter().map(|p| me.kind(p)).collect::<Option<Vec<_>>>();
        match value {
            Value::Tuple(parts) => Some(CarriedType::Tuple(all(self, parts)?)),
            Value::Struct(of, parts) => Some(CarriedType::Struct(of.name.to_string(), all(self, parts)?)),
            Value::Enum(sum) => {
                let EnumValue { of, payloads, .. } = &**sum;
                let mut variants = Vec::new();
                for (k, payload) in payloads.iter().enumerate() {
                    let payload = payload.clone().or_else(|| self.zero_payload(of, k));
                    variants.push(match payload {
                        Some(fields) => Some(fields.iter().map(|f| self.kind(f)).collect::<Option<Vec<_>>>()?),
                        None => None,
                    });
                }
                Some(CarriedType::Enum(of.name.to_string(), variants))
            }
            Value::Option(inner, _) => Some(CarriedType::Option(self.kind(inner)?.into())),
            Value::Term(t) if self.g.rank(*t) == 0 => Some(CarriedType::Scalar(self.g.elem(*t))),
            Value::Number(n) if n.outer().is_none() => {
                Some(CarriedType::Scalar(if n.is_float() { self.input.default_real() } else { Elem::Int(IntTy::I32) }))
            }
            Value::List(parts) => {
                let kinds = all(self, parts)?;
                let first = kinds.first().filter(|first| kinds.iter().all(|k| k == *first))?;
                match first {
                    CarriedType::Scalar(elem) => {
                        Some(CarriedType::Array(*elem, vec![CarriedSize::number(parts.len())?], 0))
                    }
                    CarriedType::Array(elem, sizes, levels) => {
                        let sizes =
                            std::iter::once(CarriedSize::number(parts.len())?).chain(sizes.iter().cloned()).collect();
                        Some(CarriedType::Array(*elem, sizes, levels.saturating_add(1)))
                    }
                    _ => None,
                }
            }
            Value::Term(t) | Value::Nested(t, _) => {
                let sizes: Option<Vec<_>> =
                    self.g.shape(*t).iter().map(|&n| self.formula_of_size(n, DEEPEST_SIZE)).collect();
                Some(CarriedType::Array(self.g.elem(*t), sizes?, value.levels()))
            }
            _ => None,
        }
    }
}

impl CarriedForm<'_> {
    /// The number of leaf terms.
    pub(super) fn leaves(&self) -> usize {
        match self {
            CarriedForm::Leaf { .. }
            | CarriedForm::DynamicPart(_)
            | CarriedForm::Ragged(_)
            | CarriedForm::Cursor(_)
            | CarriedForm::Node(..) => 1,
            CarriedForm::Tables(node) => node.leaves().count(),
            CarriedForm::Unit | CarriedForm::None(_) => 0,
            CarriedForm::Tuple(parts) | CarriedForm::Struct(_, parts) | CarriedForm::List(parts) => {
                parts.iter().map(CarriedForm::leaves).sum()
            }
            CarriedForm::Enum(_, variants) => {
                1 + variants.iter().flatten().flatten().map(CarriedForm::leaves).sum::<usize>()
            }
            CarriedForm::Rows(first) => first.all.len(),
            CarriedForm::Resized(axes) => 1 + axes.iter().filter(|changes| **changes).count(),
            CarriedForm::Option(form) => form.leaves() + 1,
        }
    }
}

//! Structs as values: literals, fields, default values, and values from the leaves of a type.
//!
//! A struct is a tuple with a definition, so it is merged, carried and written to as a tuple is.
//! Invariant: the fields of a value are in the order of the definition.

use std::rc::Rc;

use syn::{Expr, ExprStruct, Member};

use super::carry::CarriedForm;
use super::definitions::Definition;
use super::definitions::tree::{TypeTree, arguments};
use super::lower::Lower;
use super::types::Leaf;
use super::value::{EnumValue, Lowered, Value};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Poison, SrcRange, text_of};
use ad_ir::ir::Term;

impl<'a> Lower<'a> {
    /// Lowers `Point { x, y: 1.0, ..base }`.
    pub(super) fn struct_expr(&mut self, e: &'a ExprStruct) -> Lowered<Value<'a>> {
        let range = SrcRange::of(e);
        let Some((of, variant)) = self.input.definitions().constructor(&e.path) else {
            // The values are part of the refused construct, so they give no errors of their own.
            return Err(self.error(range, refused::construct(refused::Construct::Struct)));
        };
        let fields = &of.variants[variant].fields;
        let mut values: Vec<Option<Value>> = vec![None; fields.len()];
        let mut result = Ok(());
        for given in &e.fields {
            let (value, at) = (self.moved(&given.expr), SrcRange::of(&given.member));
            let name = member(&given.member);
            let Some(k) = of.variants[variant].field(&name) else {
                result = Err(self.error(at, catalogue::no_such_field(&name, &of.name.to_string())));
                continue;
            };
            match value.and_then(|v| self.as_field(of, (variant, k), v, SrcRange::of(&given.expr))) {
                Ok(value) => values[k] = Some(value),
                Err(Poison) => result = Err(Poison),
            }
        }
        result?;
        if let Some(rest) = &e.rest {
            let base = match is_default(rest) {
                true => self.default_of(of, range)?,
                false => self.expr(rest)?,
            };
            let Value::Struct(_, own) = &base else { return Ok(Value::Never) };
            for (value, own) in values.iter_mut().zip(own.iter()) {
                value.get_or_insert_with(|| own.clone());
            }
        }
        match values.into_iter().collect::<Option<Vec<Value>>>() {
            Some(values) => Ok(self.constructed(of, variant, values)),
            None => Err(self.error(range, catalogue::missing_field(&of.name.to_string()))),
        }
    }

    /// Gives the value of a field the type that the definition says.
    pub(super) fn as_field(
        &mut self,
        of: &'a Definition,
        (variant, k): (usize, usize),
        value: Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let ty = &of.variants[variant].fields[k].ty;
        // The parameters of a generic type are known from its fields only.
        if of.mentions_parameter(ty) { Ok(value) } else { self.ascribe(value, ty, range) }
    }

    /// A value of a struct, or of a variant of an enum.
    pub(super) fn constructed(&mut self, of: &'a Definition, variant: usize, values: Vec<Value<'a>>) -> Value<'a> {
        if !of.is_enum {
            return Value::Struct(of, values.into());
        }
        let mut payloads: Vec<Option<Rc<[Value]>>> = vec![None; of.variants.len()];
        payloads[variant] = Some(values.into());
        let tag = self.g.lit_usize(variant);
        Value::Enum(Rc::new(EnumValue { of, tag, payloads: payloads.into() }))
    }

    /// The path of a struct or variant as a value: `Shape::Empty`. `None` if it is another path.
    pub(super) fn unit_of(&mut self, path: &syn::Path) -> Option<Value<'a>> {
        let (of, variant) = self.input.definitions().constructor(path)?;
        of.variants[variant].fields.is_empty().then(|| self.constructed(of, variant, Vec::new()))
    }

    /// The call of a constructor: `Point(x, y)`, `Shape::Circle(r)`. `None` if it is another
    /// function.
    pub(super) fn construct(&mut self, c: &'a syn::ExprCall) -> Option<Lowered<Value<'a>>> {
        let Expr::Path(p) = &*c.func else { return None };
        let (of, variant) = self.input.definitions().constructor(&p.path)?;
        let fields = &of.variants[variant].fields;
        self.assume_variant(of, &p.path);
        let values = match (of.of_std && variant == 1, c.args.first()) {
            // An error has no value here, unless it is made of numbers.
            (true, Some(error)) if self.is_opaque_error(error) => Ok(vec![Value::Unit]),
            _ => self.all(&c.args),
        };
        let made = values.and_then(|values| {
            if values.len() != fields.len() {
                return Err(self.error(SrcRange::of(c), catalogue::missing_field(&of.name.to_string())));
            }
            let ranges = c.args.iter().map(SrcRange::of);
            let values: Lowered<Vec<Value>> = values
                .into_iter()
                .zip(ranges)
                .enumerate()
                .map(|(k, (v, range))| self.as_field(of, (variant, k), v, range))
                .collect();
            Ok(self.constructed(of, variant, values?))
        });
        Some(made)
    }

    /// Whether an expression is an error that has no value: it is not made of numbers.
    pub(super) fn is_opaque_error(&mut self, error: &'a Expr) -> bool {
        is_text(error) || self.trial(|me| me.expr(error)).is_err()
    }

    /// The index of a field.
    pub(super) fn field_of(&mut self, of: &Definition, name: &proc_macro2::Ident, range: SrcRange) -> Lowered<usize> {
        match of.field(&name.to_string()) {
            Some(k) => Ok(k),
            None => Err(self.error(range, catalogue::no_such_field(&name.to_string(), &of.name.to_string()))),
        }
    }

    /// The field of a value, if it is a tuple or struct.
    pub(super) fn field_value(&mut self, value: &Value<'a>, f: &syn::ExprField) -> Option<Lowered<Value<'a>>> {
        if let Value::Node(_) = value {
            let opened = self.opened(value);
            return opened.map_or_else(|poison| Some(Err(poison)), |value| self.field_value(&value, f));
        }
        match (value, &f.member) {
            (Value::Tuple(parts), Member::Unnamed(k)) => parts.get(k.index as usize).cloned().map(Ok),
            (Value::Struct(of, parts), field) => {
                let name = member(field);
                Some(match of.field(&name) {
                    Some(k) if matches!(parts[k], Value::Unit) && of.variants[0].fields[k].constant => {
                        let (range, of) = (SrcRange::of(f), of.name.to_string());
                        Err(self.error(range, catalogue::copied_field(&name, &of)))
                    }
                    Some(k) => Ok(parts[k].clone()),
                    None => Err(self.error(SrcRange::of(f), catalogue::no_such_field(&name, &of.name.to_string()))),
                })
            }
            _ => None,
        }
    }

    /// The value of `Default::default()` of a struct or enum.
    pub(super) fn default_of(&mut self, of: &'a Definition, range: SrcRange) -> Lowered<Value<'a>> {
        let name = of.name.to_string();
        if let Some(f) = self.associated(&name, "default") {
            return self.apply_function(&f, &[], range);
        }
        let zero = match of.default {
            Some(variant) => self.default_fields(of, variant).map(|values| self.constructed(of, variant, values)),
            None => None,
        };
        match zero {
            Some(value) => Ok(value),
            None => Err(self.error(range, refused::construct(refused::Construct::DefaultOfOther))),
        }
    }

    fn default_fields(&mut self, of: &'a Definition, variant: usize) -> Option<Vec<Value<'a>>> {
        let fields = 0..of.variants[variant].fields.len();
        fields
            .map(|k| {
                let ty = &of.variants[variant].fields[k].ty;
                let tree = self.input.definitions().tree(ty, &self.generics())?;
                self.zero_of(&tree, true)
            })
            .collect()
    }

    /// Zeros in place of the fields of a variant that a value does not have yet. Nothing reads
    /// them. `None` if their types are not known.
    pub(super) fn zero_payload(&mut self, of: &'a Definition, variant: usize) -> Option<Rc<[Value<'a>]>> {
        let fields = &of.variants[variant].fields;
        let all: Option<Vec<Value>> = fields
            .iter()
            .map(|field| {
                let tree = self.input.definitions().tree(&field.ty, &self.generics())?;
                if of.mentions_parameter(&field.ty) { None } else { self.zero_of(&tree, false) }
            })
            .collect();
        Some(all?.into())
    }

    /// The value of a type whose numbers are all zero. With `default` it is the value of `Default`,
    /// so a `Vec` may be empty. `None` if the type has no such value, or if sizes are not known.
    pub(super) fn zero_of(&mut self, tree: &TypeTree<'a>, default: bool) -> Option<Value<'a>> {
        let mut all =
            |trees: &[TypeTree<'a>]| trees.iter().map(|t| self.zero_of(t, default)).collect::<Option<Vec<_>>>();
        Some(match tree {
            TypeTree::Leaf(leaf) => return self.zero_leaf(leaf, default),
            TypeTree::Tuple(parts) if parts.is_empty() => Value::Unit,
            TypeTree::Tuple(parts) => Value::Tuple(all(parts)?.into()),
            TypeTree::Struct(of, parts) => Value::Struct(of, all(parts)?.into()),
            TypeTree::Enum(of, _) if default => {
                let variant = of.default?;
                let fields = self.default_fields(of, variant)?;
                self.constructed(of, variant, fields)
            }
            TypeTree::Enum(of, variants) => {
                let payloads = variants.iter().map(|fields| Some(Some(all(fields)?.into()))).collect::<Option<_>>()?;
                let tag = self.g.lit_usize(0);
                Value::Enum(Rc::new(EnumValue { of, tag, payloads }))
            }
            TypeTree::Option(_) if default => Value::None,
            TypeTree::Option(inner) => {
                let none = self.g.lit_bool(false);
                Value::Option(self.zero_of(inner, default)?.into(), none)
            }
            TypeTree::List(None, _) if default => Value::List(Rc::new([])),
            TypeTree::List(..) | TypeTree::Node(..) => return None,
        })
    }

    fn zero_leaf(&mut self, leaf: &Leaf, default: bool) -> Option<Value<'a>> {
        let zero = self.g.zero(leaf.elem);
        if leaf.rank == 0 {
            return Some(Value::Term(zero));
        }
        if usize::from(leaf.rank) == leaf.lens.len() {
            let sizes: Vec<Term> = leaf.lens.iter().map(|n| self.stated_size(n)).collect();
            let t = self.g.broadcast(zero, &sizes);
            return Some(Value::nested(&self.g, t, u8::MAX));
        }
        let vec = leaf.passing.owner == ad_ir::program::Owner::Vector && leaf.lens.is_empty();
        (default && vec).then(|| Value::List(Rc::new([])))
    }

    /// A parameter that is a product, from the values of its leaves.
    pub(super) fn parameter_of(&mut self, ty: &proc_macro2::TokenStream, leaves: &[Value<'a>]) -> Option<Value<'a>> {
        let ty = syn::parse2(ty.clone()).ok()?;
        let tree = self.input.definitions().tree(&ty, &self.input.sig().generics())?;
        let terms = leaves.iter().filter_map(|leaf| match leaf {
            Value::Term(t) | Value::Nested(t, _) => Some(*t),
            _ => None,
        });
        let terms: Vec<Term> = terms.collect();
        self.value_of(&tree, &mut terms.iter()).ok()
    }

    /// The value of a type from the terms of its leaves, in their order.
    pub(super) fn value_of(
        &mut self,
        tree: &TypeTree<'a>,
        leaves: &mut std::slice::Iter<'_, Term>,
    ) -> Lowered<Value<'a>> {
        let form = self.form_of(tree, &mut leaves.clone(), 0)?;
        if !self.graph_inputs.has_ragged_lists() {
            return Self::unflatten(&form, leaves);
        }
        // An array of several shapes is represented by its number.
        let number = |me: &mut Self, t: Term| match me.graph_inputs.ragged_list(t).cloned() {
            Some(list) => me.numbers_of_arrays(&list),
            None => t,
        };
        let leaves: Vec<Term> = leaves.map(|&t| number(self, t)).collect();
        Self::unflatten(&form, &mut leaves.iter())
    }

    /// The form of a value inside of this many lists. Each list adds a leading axis to the leaves.
    fn form_of(
        &mut self,
        tree: &TypeTree<'a>,
        leaves: &mut std::slice::Iter<'_, Term>,
        lists: usize,
    ) -> Lowered<CarriedForm<'a>> {
        let ragged = leaves.clone().next().and_then(|&t| self.graph_inputs.ragged_list(t)).cloned();
        let mut all = |me: &mut Self, trees: &[TypeTree<'a>]| {
            trees.iter().map(|t| me.form_of(t, leaves, lists)).collect::<Lowered<Vec<_>>>()
        };
        Ok(match tree {
            TypeTree::Leaf(_) | TypeTree::List(..) if lists > 0 && ragged.is_some() => {
                leaves.next().ok_or(Poison)?;
                CarriedForm::Ragged(ragged.ok_or(Poison)?)
            }
            TypeTree::Leaf(leaf) => {
                leaves.next().ok_or(Poison)?;
                let levels = if leaf.lens.is_empty() { 0 } else { leaf.rank.saturating_sub(1) };
                CarriedForm::Leaf { levels }
            }
            TypeTree::Node(of, given) => CarriedForm::Tables(self.node_of(of, given, leaves)?.into()),
            TypeTree::Tuple(parts) if parts.is_empty() => CarriedForm::Unit,
            TypeTree::Tuple(parts) => CarriedForm::Tuple(all(self, parts)?),
            TypeTree::Struct(of, parts) => CarriedForm::Struct(of, all(self, parts)?),
            TypeTree::Enum(of, variants) => {
                leaves.next().ok_or(Poison)?;
                let forms = variants
                    .iter()
                    .map(|fields| fields.iter().map(|f| self.form_of(f, leaves, lists)).collect::<Lowered<Vec<_>>>());
                CarriedForm::Enum(of, forms.map(|fields| fields.map(Some)).collect::<Lowered<_>>()?)
            }
            TypeTree::Option(inner) => {
                let inner = self.form_of(inner, leaves, lists)?;
                leaves.next().ok_or(Poison)?;
                CarriedForm::Option(inner.into())
            }
            TypeTree::List(_, element) => {
                let first = leaves.clone().next().copied().ok_or(Poison)?;
                let len = match ragged {
                    Some(list) => list.len(&self.g),
                    None => self.g.shape(first).get(lists).copied().ok_or(Poison)?,
                };
                let form = self.form_of(element, leaves, lists + 1)?;
                // A list of numbers or of arrays is one array, whose rows are its elements.
                if let CarriedForm::Leaf { levels } = form {
                    return Ok(CarriedForm::Leaf { levels: levels + 1 });
                }
                let count = form.leaves();
                let Value::GrowableVec(list) = self.list_of(form, vec![first; count], len) else { return Err(Poison) };
                CarriedForm::Rows(list)
            }
        })
    }

    /// Gives a struct, an enum or a list of products the types of an annotation.
    pub(super) fn ascribe_product(
        &mut self,
        value: Value<'a>,
        ty: &syn::Type,
        range: SrcRange,
    ) -> Lowered<Option<Value<'a>>> {
        if let syn::Type::Path(p) = ty
            && let Some(last) = p.path.segments.last()
            && let Some(of) = self.input.definitions().ty(&last.ident.to_string())
        {
            let given = arguments(&last.arguments);
            let mut field = |variant: usize, k: usize, value: &Value<'a>| {
                let ty = of.field_type(variant, k, &given).filter(|ty| !of.mentions_parameter(ty));
                ty.map_or_else(|| Ok(value.clone()), |ty| self.ascribe(value.clone(), &ty, range))
            };
            return Ok(Some(match &value {
                Value::Struct(own, parts) if std::ptr::eq(*own, of) => {
                    let parts = parts.iter().enumerate().map(|(k, v)| field(0, k, v));
                    value.with_parts(parts.collect::<Lowered<_>>()?)
                }
                Value::Enum(sum) if std::ptr::eq(sum.of, of) => {
                    let payload = |(v, fields): (usize, &Option<Rc<[Value<'a>]>>)| {
                        let fields = fields.as_ref()?;
                        Some(fields.iter().enumerate().map(|(k, f)| field(v, k, f)).collect::<Lowered<Rc<[Value]>>>())
                    };
                    let mut payload = payload;
                    let payloads = sum.payloads.iter().enumerate().map(|p| payload(p).transpose());
                    Value::Enum(Rc::new(EnumValue { payloads: payloads.collect::<Lowered<_>>()?, ..(**sum).clone() }))
                }
                _ => value,
            }));
        }
        let Some((_, element)) = super::types::list(ty) else { return Ok(None) };
        // A loop may read an element before a step pushes one, so its sizes must be known.
        if let Value::List(parts) = &value
            && parts.is_empty()
            && let Some(TypeTree::Leaf(leaf)) = self.input.definitions().tree(element, &self.generics())
            && leaf.rank > 0
            && usize::from(leaf.rank) == leaf.lens.len()
        {
            self.growable.annotate_type(parts, TypeTree::List(None, TypeTree::Leaf(leaf).into()));
            return Ok(None);
        }
        let Some(tree @ TypeTree::List(..)) = self.input.definitions().tree(ty, &self.generics()) else {
            return Ok(None);
        };
        Ok(Some(match &value {
            Value::List(parts) if parts.is_empty() => {
                self.growable.annotate_type(parts, tree);
                value
            }
            Value::List(parts) => {
                let parts = parts.iter().map(|p| self.ascribe(p.clone(), element, range));
                Value::List(parts.collect::<Lowered<_>>()?)
            }
            Value::GrowableVec(stack) => {
                let TypeTree::List(_, element) = &tree else { return Ok(None) };
                let mut elems = Vec::new();
                element.elems(&mut elems);
                for (&t, elem) in stack.all.iter().zip(elems) {
                    if self.g.elem(t) != elem && self.inference.retype(&self.g, t, elem) {
                        return Err(Poison);
                    }
                }
                value
            }
            _ => return Ok(None),
        }))
    }
}

/// Whether an expression is a text: `"too far"`, `"too far".to_string()`, `format!(..)`.
fn is_text(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => matches!(l.lit, syn::Lit::Str(_)),
        Expr::MethodCall(m) => m.args.is_empty() && is_text(&m.receiver),
        Expr::Call(c) => matches!(c.args.first(), Some(first) if c.args.len() == 1 && is_text(first)),
        Expr::Macro(m) => m.mac.path.is_ident("format"),
        Expr::Paren(p) => is_text(&p.expr),
        _ => false,
    }
}

/// The name of a field, written as in definitions.
pub(super) fn member(field: &Member) -> String {
    match field {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(k) => k.index.to_string(),
    }
}

/// Whether an expression is `Default::default()`, whose type follows from the context.
pub(super) fn is_default(e: &Expr) -> bool {
    matches!(e, Expr::Call(c) if c.args.is_empty() && text_of(&c.func, 40).replace(' ', "").ends_with("Default::default"))
}

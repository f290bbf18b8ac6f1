//! The functions and constants of `impl` blocks. `Self` is replaced by the type, and a function
//! that an `impl` takes from its trait is a function of the `impl`.
//!
//! This module must never decide which `impl` a call means: that depends on values.

use crate::walk::{Change, Changing};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Expr, FnArg, GenericArgument, GenericParam, Generics, ImplItem, ItemImpl, ItemTrait, Pat, PatIdent,
    PatType, Path, PathArguments, ReceiverKind, ReturnType, Signature, Stmt, TraitItem, Type, UnOp, WhereClause,
    WherePredicate,
};

/// An `impl` block.
pub(crate) struct Impl {
    pub self_ty: Type,
    /// The name of the trait, and its first type argument.
    pub of_trait: Option<(String, Option<Type>)>,
    pub functions: Vec<AssociatedFunction>,
    pub constants: Vec<(Ident, Type, Expr)>,
    /// The definition from outside that the block is.
    pub definition: Option<usize>,
}

/// How a method takes its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SelfParam {
    /// `self`, `mut self`, `&self`.
    Read,
    /// `&mut self`.
    Mutable,
}

/// An associated function or method.
pub(crate) struct AssociatedFunction {
    pub name: Ident,
    pub receiver: Option<SelfParam>,
    /// The receiver is the first parameter.
    pub params: Vec<(Pat, Option<Type>)>,
    pub output: Option<Type>,
    pub body: Block,
    /// The const parameters of the function and of its `impl`.
    pub sizes: Vec<Ident>,
    /// The signature as that of a function outside of the block: with the generic parameters of
    /// both, and with the receiver as a parameter.
    pub sig: Signature,
    /// The definition from outside that contains it.
    pub definition: Option<usize>,
}

impl Impl {
    pub(super) fn of(item: &ItemImpl, traits: &[&ItemTrait], definition: Option<usize>) -> Impl {
        let mut item = item.clone();
        let self_ty = (*item.self_ty).clone();
        item.items.iter_mut().for_each(|i| Changing(&mut SelfType(&self_ty)).visit_impl_item_mut(i));
        let of_trait = item.trait_.as_ref().and_then(|(path, _)| {
            let last = path.segments.last()?;
            let argument = match &last.arguments {
                PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                    GenericArgument::Type(ty) => Some(ty.clone()),
                    _ => None,
                }),
                _ => None,
            };
            let mut argument = argument;
            if let Some(ty) = &mut argument {
                Changing(&mut SelfType(&self_ty)).visit_type_mut(ty);
            }
            Some((last.ident.to_string(), argument))
        });
        let (mut functions, mut constants) = (Vec::new(), Vec::new());
        for inner in item.items {
            match inner {
                ImplItem::Fn(f) => functions.extend(function(&f.sig, &f.block, &self_ty, &item.generics)),
                ImplItem::Const(c) => constants.push((c.ident, c.ty, c.expr)),
                _ => {}
            }
        }
        let defaults = of_trait.as_ref().and_then(|(name, _)| traits.iter().find(|t| t.ident == name));
        for inner in defaults.map(|t| &*t.items).unwrap_or_default() {
            let mut inner = inner.clone();
            Changing(&mut SelfType(&self_ty)).visit_trait_item_mut(&mut inner);
            match inner {
                TraitItem::Fn(f) if functions.iter().all(|own: &AssociatedFunction| own.name != f.sig.ident) => {
                    functions.extend(f.default.and_then(|body| function(&f.sig, &body, &self_ty, &item.generics)));
                }
                TraitItem::Const(c) if constants.iter().all(|(own, ..)| *own != c.ident) => {
                    constants.extend(c.default.map(|(_, value)| (c.ident, c.ty, value)));
                }
                _ => {}
            }
        }
        for f in &mut functions {
            f.definition = definition;
        }
        Impl { self_ty, of_trait, functions, constants, definition }
    }

    /// Whether `self_ty`, or the trait's type argument, is a reference.
    pub(super) fn is_of_references(&self) -> bool {
        let argument = self.of_trait.as_ref().and_then(|(_, argument)| argument.as_ref());
        [Some(&self.self_ty), argument].into_iter().flatten().any(|ty| matches!(ty, Type::Reference(_)))
    }

    /// Whether `other` implements the same trait for the same types, if references are ignored.
    pub(super) fn is_for_types_of(&self, other: &Impl) -> bool {
        let types = |i: &Impl| {
            let (name, argument) = i.of_trait.as_ref()?;
            let argument = argument.as_ref().unwrap_or(&i.self_ty);
            Some((name.clone(), referent(&i.self_ty), referent(argument)))
        };
        types(self).is_some_and(|own| types(other) == Some(own))
    }

    /// The name of a function whose body differs from that in `other`. A function that only calls
    /// the one for values (`*self + *other`) counts as the same.
    pub(super) fn differing(&self, other: &Impl) -> Option<String> {
        let same = |f: &AssociatedFunction, g: &AssociatedFunction| f.is_as(g) || f.is_operator() || g.is_operator();
        let differs = |f: &&AssociatedFunction| {
            let name = f.name.to_string();
            other.function(&name).is_some_and(|g| !same(f, g))
        };
        self.functions.iter().find(differs).map(|f| f.name.to_string())
    }

    /// An associated function.
    pub(crate) fn function(&self, name: &str) -> Option<&AssociatedFunction> {
        self.functions.iter().find(|f| f.name == name)
    }
}

impl AssociatedFunction {
    /// The names of the parameters.
    fn names(&self) -> Vec<String> {
        self.params.iter().map(|(pat, _)| pat.to_token_stream().to_string()).collect()
    }

    /// The body without references, dereferences and clones.
    fn of_values(&self) -> Block {
        let mut body = self.body.clone();
        Changing(&mut OfValues).visit_block_mut(&mut body);
        body
    }

    /// Whether two functions have the same text.
    fn is_as(&self, other: &AssociatedFunction) -> bool {
        self.names() == other.names()
            && self.of_values().to_token_stream().to_string() == other.of_values().to_token_stream().to_string()
    }

    /// Whether the body only applies the operator that the function implements to its parameters.
    fn is_operator(&self) -> bool {
        let [Stmt::Expr(body, None)] = &*self.of_values().stmts else { return false };
        let (of, operands): (&str, Vec<&Expr>) = match body {
            Expr::Binary(b) => (trait_of(&b.op, false).map_or("", |t| t.1), vec![&b.left, &b.right]),
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => ("neg", vec![&u.expr]),
            _ => return false,
        };
        self.name == of && operands.iter().map(|e| e.to_token_stream().to_string()).eq(self.names())
    }
}

/// The trait and method of an operator, or with `assigned` of `+=` and the like.
pub(crate) fn trait_of(op: &BinOp, assigned: bool) -> Option<(&'static str, &'static str)> {
    let (by_value, by_place) = match op {
        BinOp::Add(_) => (("Add", "add"), ("AddAssign", "add_assign")),
        BinOp::Sub(_) => (("Sub", "sub"), ("SubAssign", "sub_assign")),
        BinOp::Mul(_) => (("Mul", "mul"), ("MulAssign", "mul_assign")),
        BinOp::Div(_) => (("Div", "div"), ("DivAssign", "div_assign")),
        BinOp::Rem(_) => (("Rem", "rem"), ("RemAssign", "rem_assign")),
        BinOp::BitAnd(_) => (("BitAnd", "bitand"), ("BitAndAssign", "bitand_assign")),
        BinOp::BitOr(_) => (("BitOr", "bitor"), ("BitOrAssign", "bitor_assign")),
        BinOp::BitXor(_) => (("BitXor", "bitxor"), ("BitXorAssign", "bitxor_assign")),
        _ => return None,
    };
    Some(if assigned { by_place } else { by_value })
}

/// Replaces `&x`, `*x`, `(x)` and `x.clone()` by `x`.
struct OfValues;

impl Change for OfValues {
    fn expr(&mut self, e: &mut Expr) -> bool {
        visit_mut::visit_expr_mut(&mut Changing(self), e);
        let inner = match e {
            Expr::Reference(r) => &r.expr,
            Expr::Paren(p) => &p.expr,
            Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => &u.expr,
            Expr::MethodCall(m) if m.method == "clone" && m.args.is_empty() => &m.receiver,
            _ => return false,
        };
        *e = (**inner).clone();
        false
    }
}

/// A type without the references around it.
fn referent(ty: &Type) -> String {
    match ty {
        Type::Reference(r) => referent(&r.elem),
        Type::Paren(p) => referent(&p.elem),
        Type::Group(g) => referent(&g.elem),
        _ => ty.to_token_stream().to_string(),
    }
}

/// The const parameters.
fn consts(generics: &Generics) -> impl Iterator<Item = &Ident> {
    generics.params.iter().filter_map(|param| match param {
        GenericParam::Const(c) => Some(&c.ident),
        _ => None,
    })
}

/// The function for the table of definitions. `None` if bodies cannot call it.
fn function(sig: &Signature, body: &Block, self_ty: &Type, outer: &Generics) -> Option<AssociatedFunction> {
    let mut receiver = None;
    let mut params = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Typed(p) => params.push(((*p.pat).clone(), Some((*p.ty).clone()))),
            FnArg::Receiver(r) => {
                receiver = Some(match &r.kind {
                    ReceiverKind::Value => SelfParam::Read,
                    ReceiverKind::Reference(_, _, Some(_)) => SelfParam::Mutable,
                    ReceiverKind::Reference(..) => SelfParam::Read,
                    _ => return None,
                });
                let by_value = matches!(r.kind, ReceiverKind::Value);
                let pat = PatIdent {
                    attrs: Vec::new(),
                    by_ref: None,
                    mutability: r.mutability.filter(|_| by_value),
                    ident: Ident::new("self", r.self_token.span),
                    subpat: None,
                };
                params.push((Pat::Ident(pat), Some(self_ty.clone())));
            }
        }
    }
    let output = match &sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    let sizes = consts(outer).chain(consts(&sig.generics)).cloned().collect();
    let typed = params.iter().filter_map(|(pat, ty)| {
        let (colon_token, ty) = (syn::Token![:](Span::call_site()), Box::new(ty.clone()?));
        Some(FnArg::Typed(PatType { attrs: Vec::new(), pat: Box::new(pat.clone()), colon_token, ty }))
    });
    let outside = Signature { inputs: typed.collect(), generics: both(outer, &sig.generics), ..sig.clone() };
    Some(AssociatedFunction {
        name: sig.ident.clone(),
        receiver,
        params,
        output,
        body: body.clone(),
        sizes,
        sig: outside,
        definition: None,
    })
}

/// The generic parameters of a block and of one of its functions. Lifetimes come first.
pub(crate) fn both(outer: &Generics, own: &Generics) -> Generics {
    let of = |lifetimes: bool| {
        let all = outer.params.iter().chain(&own.params);
        all.filter(move |p| matches!(p, GenericParam::Lifetime(_)) == lifetimes)
    };
    let params: Punctuated<GenericParam, syn::Token![,]> = of(true).chain(of(false)).cloned().collect();
    let bracketed = !params.is_empty();
    let predicates = [outer, own].into_iter().filter_map(|g| g.where_clause.as_ref()).flat_map(|w| &w.predicates);
    let predicates: Punctuated<WherePredicate, syn::Token![,]> = predicates.cloned().collect();
    let where_token = <syn::Token![where]>::default();
    Generics {
        lt_token: bracketed.then(Default::default),
        params,
        gt_token: bracketed.then(Default::default),
        where_clause: (!predicates.is_empty()).then_some(WhereClause { where_token, predicates }),
    }
}

/// Replaces `Self` by a type. In an expression or a pattern it is replaced by the type's name.
pub(crate) struct SelfType<'t>(pub(crate) &'t Type);

impl SelfType<'_> {
    /// The name of the type.
    fn name(&self) -> Option<Ident> {
        let mut ty = self.0;
        loop {
            ty = match ty {
                Type::Paren(p) => &p.elem,
                Type::Group(g) => &g.elem,
                Type::Reference(r) => &r.elem,
                Type::Path(p) => return p.path.segments.last().map(|s| s.ident.clone()),
                _ => return None,
            };
        }
    }
}

impl Change for SelfType<'_> {
    fn ty(&mut self, ty: &mut Type) -> bool {
        if let Type::Path(p) = ty
            && p.qself.is_none()
            && p.path.is_ident("Self")
        {
            *ty = self.0.clone();
            return false;
        }
        true
    }

    fn path(&mut self, path: &mut Path) -> bool {
        if let Some(first) = path.segments.first_mut()
            && first.ident == "Self"
            && let Some(name) = self.name()
        {
            let span: Span = first.ident.span();
            first.ident = Ident::new(&name.to_string(), span);
        }
        true
    }

    // Another `impl` inside of a function has its own `Self`.
    fn item_impl(&mut self, _: &mut ItemImpl) -> bool {
        false
    }
    fn item_trait(&mut self, _: &mut ItemTrait) -> bool {
        false
    }
}

//! Rust's types as the front end reads them: by their last path segment. Every other type is
//! refused by name.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, GenericArgument, Lit, PathArguments, Stmt, Type};

use super::value::Lowered;
use ad_ir::catalogue;
use ad_ir::catalogue::refused::{self, TypeForm};
use ad_ir::diag::{Diags, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, IntTy, RealTy};
use ad_ir::program::KnownType;
use ad_ir::program::{Container, ListType, Owner, Passing, Role};

/// The largest supported rank.
pub(super) const MAX_RANK: u8 = 6;

/// The type of a parameter or result: one array or scalar.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub container: Container,
    pub elem: Elem,
    pub rank: u8,
    /// Whether it can be returned.
    pub owned: bool,
    pub passing: Passing,
    /// The sizes of an array of static size, outermost first. For a slice of such arrays
    /// (`&[[f64; 2]]`) they are the sizes of an element. The list is empty for other types.
    pub lens: Vec<Len>,
    /// The role of the leaf.
    pub role: Role,
}

impl Leaf {
    /// Whether derivatives are taken with respect to it.
    pub(super) fn is_active(&self) -> bool {
        self.elem.is_real() && self.role == Role::Data
    }

    /// Whether it is a `Vec` of numbers. In a list it is a row of a matrix.
    pub(super) fn is_rows(&self) -> bool {
        self.container == Container::Slice && self.rank == 1 && self.owned
    }

    /// The array of the elements of a list. `None` if the element borrows, or has no rank.
    pub(super) fn listed(self, list: &ListType) -> Option<Leaf> {
        let rank = self.rank + 1;
        if !self.owned || rank > MAX_RANK {
            return None;
        }
        let vector = Passing::value(Owner::Vector);
        Some(match (self.container, list) {
            (Container::Scalar | Container::Static, ListType::Vector) => {
                Leaf { container: Container::Slice, rank, passing: vector, ..self }
            }
            (Container::Scalar | Container::Static, ListType::Static(len)) => {
                let lens = std::iter::once(Len::read(len.clone())).chain(self.lens).collect();
                Leaf { container: Container::Static, rank, passing: Passing::value(Owner::Static), lens, ..self }
            }
            (Container::NdArray, ListType::Vector) if self.rank > 0 => {
                Leaf { rank, passing: Passing::value(Owner::Array), ..self }
            }
            (Container::Slice, ListType::Vector) if self.is_rows() => {
                Leaf { container: Container::NdArray, rank, passing: Passing::value(Owner::Array), ..self }
            }
            _ => return None,
        })
    }

    /// The size of an axis, if the type has it.
    pub(super) fn static_size(&self, axis: u8) -> Option<&Len> {
        let dynamic = u8::from(self.container == Container::Slice);
        self.lens.get(usize::from(axis.checked_sub(dynamic)?))
    }
}

/// A size in a type.
#[derive(Clone, Debug)]
pub(super) enum Len {
    /// A literal, or arithmetic on literals.
    Number(usize),
    /// Any other expression: a const parameter, the path of a constant, or arithmetic on these.
    /// Only rustc knows its value.
    Named(TokenStream),
}

impl Len {
    /// Parses the tokens of [`Len::tokens`].
    pub(super) fn read(tokens: TokenStream) -> Self {
        syn::parse2::<Expr>(tokens.clone()).map_or(Len::Named(tokens), |e| len(&e))
    }

    /// The size as in the type.
    pub(super) fn tokens(&self) -> TokenStream {
        match self {
            Len::Number(n) => {
                let n = proc_macro2::Literal::usize_unsuffixed(*n);
                quote!(#n)
            }
            Len::Named(tokens) => tokens.clone(),
        }
    }
}

/// The generic parameters that types may name.
#[derive(Clone, Debug, Default)]
pub(super) struct Generics {
    /// The type parameter with `T: Real`.
    pub real: Option<Ident>,
    /// Other type parameters. They are errors already, and count as reals so that their uses cause
    /// no further errors.
    pub further: Vec<Ident>,
    /// Const parameters of type `usize`.
    pub consts: Vec<Ident>,
}

impl Generics {
    fn elem(&self, ty: &Type) -> Option<Elem> {
        let further = || match ty {
            Type::Path(p) => self.further.iter().any(|t| p.path.is_ident(t)),
            _ => false,
        };
        elem_of(ty, self.real.as_ref()).or_else(|| further().then_some(Elem::Real(RealTy::Param)))
    }

    /// Whether one of these arguments is a type parameter that is an error already.
    fn refused(&self, arguments: &PathArguments) -> bool {
        let PathArguments::AngleBracketed(arguments) = arguments else { return false };
        arguments.args.iter().any(|argument| match argument {
            GenericArgument::Type(Type::Path(p)) => self.further.iter().any(|t| p.path.is_ident(t)),
            _ => false,
        })
    }
}

/// The names of number types, for suggestions.
pub(super) const NUMBERS: &[&str] = &["f64", "f32", "usize", "isize", "i32", "i64", "u32", "u64", "u8"];

/// The element type of a name.
pub(super) fn elem_named(name: &str, real_param: Option<&Ident>) -> Option<Elem> {
    Some(match name {
        "f64" => Elem::F64,
        "f32" => Elem::Real(RealTy::F32),
        "usize" => Elem::USIZE,
        "isize" => Elem::Int(IntTy::Isize),
        "i32" => Elem::Int(IntTy::I32),
        "i64" => Elem::Int(IntTy::I64),
        "u32" => Elem::Int(IntTy::U32),
        "u64" => Elem::Int(IntTy::U64),
        "u8" => Elem::Int(IntTy::U8),
        "bool" => Elem::Bool,
        _ if real_param.is_some_and(|t| t == name) => Elem::Real(RealTy::Param),
        _ => return None,
    })
}

/// The element type of a type, if it is a scalar.
pub(super) fn elem_of(ty: &Type, real_param: Option<&Ident>) -> Option<Elem> {
    match ty {
        Type::Path(p) => elem_named(&p.path.segments.last()?.ident.to_string(), real_param),
        Type::Paren(p) => elem_of(&p.elem, real_param),
        Type::Group(p) => elem_of(&p.elem, real_param),
        Type::Reference(r) => elem_of(&r.elem, real_param),
        _ => None,
    }
}

/// The type in a `Box`. A box has the representation of its content.
pub(super) fn boxed(ty: &Type) -> Option<&Type> {
    let Type::Path(p) = ty else { return None };
    let last =
        p.path.segments.last().filter(|last| KnownType::named(&last.ident.to_string()) == Some(KnownType::Box))?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    args.args.iter().find_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether a type is an array of ndarray's or a `Vec`: it owns its elements, and its type does not
/// state its sizes.
pub(super) fn is_array(ty: &Type) -> bool {
    let ty = ungrouped(ty);
    let Type::Path(p) = &ty else { return false };
    let last = p.path.segments.last().filter(|_| p.qself.is_none());
    let known = last.and_then(|last| KnownType::named(&last.ident.to_string()));
    matches!(known, Some(KnownType::Ranked(Owner::Array, _) | KnownType::Array(Owner::Array) | KnownType::Vec))
}

/// Whether a reference has the lifetime `'static`.
fn is_static(reference: &syn::TypeReference) -> bool {
    reference.lifetime.as_ref().is_some_and(|l| l.ident == "static")
}

/// Parses the type of a parameter or of a result.
pub(super) fn leaf(ty: &Type, generics: &Generics, diags: &mut Diags) -> Lowered<Leaf> {
    match ty {
        Type::Paren(p) => leaf(&p.elem, generics, diags),
        Type::Group(p) => leaf(&p.elem, generics, diags),
        Type::Reference(r) => {
            if r.mutability.is_some() {
                return Err(diags.push(SrcRange::of(ty), catalogue::mutable_reference()));
            }
            if let Type::Slice(s) = &*r.elem {
                let passing = Passing { is_static: is_static(r), ..Passing::reference(Owner::Slice) };
                return Ok(Leaf { owned: false, passing, ..sequence_of(&s.elem, generics, diags)? });
            }
            let inner = leaf(&r.elem, generics, diags)?;
            let passing = Passing {
                references: inner.passing.references + 1,
                is_static: inner.passing.is_static || is_static(r),
                ..inner.passing
            };
            let container = match inner.container {
                Container::Scalar => Container::ScalarRef,
                other => other,
            };
            Ok(Leaf { container, owned: false, passing, ..inner })
        }
        Type::Array(a) => {
            let inner = leaf(&a.elem, generics, diags)?;
            if !matches!(inner.container, Container::Scalar | Container::Static) || !inner.owned {
                return Err(diags.push(SrcRange::of(ty), refused::kind_of_type(form(ty), &text_of(ty, 40))));
            }
            if inner.rank >= MAX_RANK {
                return Err(diags.push(SrcRange::of(ty), catalogue::rank_too_high(&text_of(ty, 40), MAX_RANK)));
            }
            let lens = std::iter::once(len(&a.len)).chain(inner.lens).collect();
            let passing = Passing::value(Owner::Static);
            Ok(Leaf { container: Container::Static, rank: inner.rank + 1, passing, lens, ..inner })
        }
        Type::Path(p) if p.qself.is_none() => path(ty, p, generics, diags),
        _ => Err(diags.push(SrcRange::of(ty), refused::kind_of_type(form(ty), &text_of(ty, 40)))),
    }
}

/// The type without invisible groups, which `macro_rules!` puts around its fragments.
pub(super) fn ungrouped(ty: &Type) -> Type {
    match ty {
        Type::Group(p) => ungrouped(&p.elem),
        Type::Reference(r) => Type::Reference(syn::TypeReference { elem: ungrouped(&r.elem).into(), ..r.clone() }),
        _ => ty.clone(),
    }
}

/// Turns a refused type into one that rustc accepts, if it is not: `Array1` without elements, or a
/// slice by value. Returns whether the type was changed.
pub(super) fn mend(ty: &mut Type) -> bool {
    match ty {
        Type::Paren(p) => mend(&mut p.elem),
        Type::Group(p) => mend(&mut p.elem),
        Type::Slice(_) => {
            *ty = syn::parse_quote!(&'static #ty);
            true
        }
        Type::Reference(r) => !matches!(&*r.elem, Type::Slice(_)) && mend(&mut r.elem),
        Type::Path(p) => {
            let Some(last) = p.path.segments.last_mut() else { return false };
            let name = last.ident.to_string();
            let bare = matches!(last.arguments, PathArguments::None);
            let array = bare && matches!(KnownType::named(&name), Some(KnownType::Vec | KnownType::Ranked(..)));
            if array {
                last.arguments = PathArguments::AngleBracketed(syn::parse_quote!(<f64>));
            }
            array
        }
        _ => false,
    }
}

/// The size in `[F; size]`. Arithmetic on literals is evaluated, so that equal shapes are known to
/// be equal.
pub(super) fn len(e: &Expr) -> Len {
    fn number(e: &Expr) -> Option<usize> {
        match e {
            Expr::Lit(l) => match &l.lit {
                Lit::Int(n) if matches!(n.suffix(), "" | "usize") => n.base10_parse().ok(),
                _ => None,
            },
            Expr::Paren(p) => number(&p.expr),
            Expr::Group(p) => number(&p.expr),
            Expr::Block(b) if b.attrs.is_empty() && b.label.is_none() => match &*b.block.stmts {
                [Stmt::Expr(e, None)] => number(e),
                _ => None,
            },
            Expr::Binary(b) => {
                let (x, y) = (number(&b.left)?, number(&b.right)?);
                match b.op {
                    BinOp::Add(_) => x.checked_add(y),
                    BinOp::Sub(_) => x.checked_sub(y),
                    BinOp::Mul(_) => x.checked_mul(y),
                    BinOp::Div(_) => x.checked_div(y),
                    _ => None,
                }
            }
            _ => None,
        }
    }
    fn bare(e: &Expr) -> &Expr {
        match e {
            Expr::Paren(p) => bare(&p.expr),
            Expr::Group(p) => bare(&p.expr),
            Expr::Block(b) if b.attrs.is_empty() && b.label.is_none() => match &*b.block.stmts {
                [Stmt::Expr(e, None)] => bare(e),
                _ => e,
            },
            _ => e,
        }
    }
    number(e).map_or_else(|| Len::Named(bare(e).to_token_stream()), Len::Number)
}

fn path(ty: &Type, p: &syn::TypePath, generics: &Generics, diags: &mut Diags) -> Lowered<Leaf> {
    let Some(last) = p.path.segments.last() else {
        return Err(diags.push(SrcRange::of(ty), catalogue::unknown_type("", None)));
    };
    let name = last.ident.to_string();
    let is_static = match &last.arguments {
        PathArguments::AngleBracketed(args) => {
            args.args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(l) if l.ident == "static"))
        }
        _ => false,
    };
    let leaf = |container, elem, rank, owner: Owner| {
        let owned = !matches!(owner, Owner::View | Owner::Shared);
        let passing = Passing { is_static, ..Passing::value(owner) };
        Ok(Leaf { container, elem, rank, owned, passing, lens: Vec::new(), role: Role::Data })
    };
    if let Some(elem) = generics.elem(ty) {
        return leaf(Container::Scalar, elem, 0, Owner::Any);
    }
    match KnownType::named(&name) {
        Some(KnownType::Ranked(_, rank)) if rank > MAX_RANK => {
            return Err(diags.push(SrcRange::of(ty), catalogue::rank_too_high(&name, MAX_RANK)));
        }
        Some(KnownType::Ranked(owner, rank)) => {
            let elem = element(argument(ty, &last.arguments, diags)?, generics, diags)?;
            return leaf(Container::NdArray, elem, rank, owner);
        }
        Some(KnownType::Array(owner)) => {
            if let Some((elem, rank)) = dimensioned(&last.arguments) {
                return leaf(Container::NdArray, element(elem, generics, diags)?, rank, owner);
            }
        }
        Some(KnownType::Vec) => {
            let of = sequence_of(argument(ty, &last.arguments, diags)?, generics, diags)?;
            return Ok(Leaf { passing: Passing { is_static, ..Passing::value(Owner::Vector) }, ..of });
        }
        _ => {}
    }
    if generics.refused(&last.arguments) {
        return Err(Poison);
    }
    let message = refused::named_type(&name).unwrap_or_else(|| {
        let ranked: Vec<String> = KnownType::ranked_names().collect();
        let known = NUMBERS.iter().copied().chain(["bool", "Vec"]).chain(ranked.iter().map(String::as_str));
        catalogue::unknown_type(&name, ad_ir::diag::suggest(&name, known))
    });
    Err(diags.push(SrcRange::of(ty), message))
}

/// The element type and the rank of `Array<f64, Ix2>`.
pub(super) fn dimensioned(arguments: &PathArguments) -> Option<(&Type, u8)> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let (elem, Type::Path(dimension), None) = (types.next()?, types.next()?, types.next()) else { return None };
    let name = dimension.path.segments.last()?.ident.to_string();
    let rank = name.strip_prefix("Ix")?.parse().ok().filter(|rank| *rank <= MAX_RANK)?;
    Some((elem, rank))
}

/// A sequence of these elements: numbers, or arrays of static size.
fn sequence_of(of: &Type, generics: &Generics, diags: &mut Diags) -> Lowered<Leaf> {
    let passing = Passing::value(Owner::Vector);
    if let Type::Array(_) = ungrouped(of) {
        let inner = leaf(of, generics, diags)?;
        if inner.rank >= MAX_RANK {
            return Err(diags.push(SrcRange::of(of), catalogue::rank_too_high(&text_of(of, 40), MAX_RANK)));
        }
        return Ok(Leaf { container: Container::Slice, rank: inner.rank + 1, passing, ..inner });
    }
    let elem = element(of, generics, diags)?;
    Ok(Leaf { container: Container::Slice, elem, rank: 1, owned: true, passing, lens: Vec::new(), role: Role::Data })
}

/// The type in angle brackets.
fn argument<'t>(ty: &Type, args: &'t PathArguments, diags: &mut Diags) -> Lowered<&'t Type> {
    if let PathArguments::AngleBracketed(args) = args {
        let types: Vec<&Type> = args
            .args
            .iter()
            .filter_map(|arg| match arg {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
            .collect();
        if let [only] = types[..] {
            return Ok(only);
        }
    }
    Err(diags.push(SrcRange::of(ty), catalogue::element_type_missing(&text_of(ty, 40))))
}

fn element(ty: &Type, generics: &Generics, diags: &mut Diags) -> Lowered<Elem> {
    match (ty, generics.elem(ty)) {
        (Type::Path(_), Some(elem)) => Ok(elem),
        _ => {
            let text = text_of(ty, 40);
            let message = match ungrouped(ty) {
                Type::Tuple(_) => refused::kind_of_type(TypeForm::Tuple, &text),
                _ if sequence(ty) => catalogue::nested_sequences(&text),
                _ => catalogue::element_type(&text),
            };
            Err(diags.push(SrcRange::of(ty), message))
        }
    }
}

/// Whether a type is `Vec<F>`, `[F]` or a reference to one.
fn sequence(ty: &Type) -> bool {
    match ty {
        Type::Reference(r) => sequence(&r.elem),
        Type::Slice(_) => true,
        Type::Path(p) => {
            let last = p.path.segments.last();
            last.is_some_and(|s| KnownType::named(&s.ident.to_string()) == Some(KnownType::Vec))
        }
        _ => false,
    }
}

/// An element type in Rust.
pub(super) fn elem_tokens(elem: Elem, real_param: Option<&Ident>) -> TokenStream {
    match elem {
        Elem::Real(RealTy::F32) => quote!(f32),
        Elem::Real(RealTy::F64) => quote!(f64),
        Elem::Real(RealTy::Param) => real_param.map_or_else(|| quote!(f64), |t| quote!(#t)),
        Elem::Int(ty) => {
            let name = Ident::new(ty.name(), proc_macro2::Span::call_site());
            quote!(#name)
        }
        Elem::Bool => quote!(bool),
    }
}

/// `[[elem; N]; M]` for the sizes M, N.
pub(super) fn static_tokens(elem: TokenStream, lens: &[Len]) -> TokenStream {
    lens.iter().rev().fold(elem, |inner, len| {
        let len = len.tokens();
        quote!([#inner; #len])
    })
}

/// A view of an array of a value's elements, of this rank.
pub(super) fn view_tokens(leaf: &Leaf, rank: u8, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let (elem, view) = (elem_tokens(leaf.elem, real_param), quote::format_ident!("ArrayView{rank}"));
    quote!(#krate::ndarray::#view<'_, #elem>)
}

/// The owned type of a gradient or a result.
pub(super) fn owned_tokens(leaf: &Leaf, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let elem = elem_tokens(leaf.elem, real_param);
    match leaf.container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let name = quote::format_ident!("Array{}", leaf.rank);
            quote!(#krate::ndarray::#name<#elem>)
        }
        Container::Slice => {
            let elem = static_tokens(elem, &leaf.lens);
            quote!(#krate::runtime::alloc::vec::Vec<#elem>)
        }
        Container::Static => static_tokens(elem, &leaf.lens),
    }
}

/// The type of the destination of a gradient.
pub(super) fn destination_tokens(leaf: &Leaf, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    if leaf.container == Container::Slice {
        let elem = static_tokens(elem_tokens(leaf.elem, real_param), &leaf.lens);
        return quote!(&mut [#elem]);
    }
    let owned = owned_tokens(leaf, real_param, krate);
    quote!(&mut #owned)
}

/// The type of a tangent or cotangent, and how it is passed.
pub(super) fn passed_tokens(leaf: &Leaf, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let elem = elem_tokens(leaf.elem, real_param);
    match leaf.container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let name = quote::format_ident!("ArrayRef{}", leaf.rank);
            quote!(&#krate::ndarray::#name<#elem>)
        }
        Container::Slice => {
            let elem = static_tokens(elem, &leaf.lens);
            quote!(&[#elem])
        }
        Container::Static => static_tokens(elem, &leaf.lens),
    }
}

/// The form of a type that is not a path.
fn form(ty: &Type) -> TypeForm {
    match ty {
        Type::Array(_) => TypeForm::Array,
        Type::Tuple(_) => TypeForm::Tuple,
        Type::ImplTrait(_) | Type::TraitObject(_) => TypeForm::Impl,
        Type::Slice(_) => TypeForm::Slice,
        Type::FnPtr(_) => TypeForm::Function,
        _ => TypeForm::Other,
    }
}

/// The length of a list, if its type states it, and the type of an element: `[T; N]`, `Vec<T>`,
/// `&[T]`.
pub(super) fn list(ty: &Type) -> Option<(Option<Len>, &Type)> {
    match ty {
        Type::Paren(p) => list(&p.elem),
        Type::Group(g) => list(&g.elem),
        Type::Reference(r) => list(&r.elem),
        Type::Slice(s) => Some((None, &s.elem)),
        Type::Array(a) => Some((Some(len(&a.len)), &a.elem)),
        Type::Path(p) => {
            let last = p.path.segments.last()?;
            let vec = matches!(KnownType::named(&last.ident.to_string()), Some(KnownType::Vec | KnownType::VecDeque));
            let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
            let elem = args.args.iter().find_map(|a| match a {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })?;
            vec.then_some((None, elem))
        }
        _ => None,
    }
}

//! Rust's types as the contract reads them: by their last path segment. Everything that is not accepted is refused by name.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{GenericArgument, PathArguments, Type};

use super::value::Lowered;
use crate::catalogue;
use crate::diag::{Diags, SrcRange, text_of};
use crate::ir::{Elem, IntTy, RealTy};
use crate::program::Container;

/// The largest rank accepted today.
pub(super) const MAX_RANK: u8 = 3;

/// A parameter or result that is one array or scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub container: Container,
    pub elem: Elem,
    pub rank: u8,
    /// Whether it can be returned.
    pub owned: bool,
}

/// Names of types, for suggestions.
const KNOWN: &[&str] = &[
    "f64",
    "f32",
    "usize",
    "isize",
    "i32",
    "i64",
    "u32",
    "u64",
    "u8",
    "bool",
    "Vec",
    "Array0",
    "Array1",
    "Array2",
    "Array3",
    "ArrayView0",
    "ArrayView1",
    "ArrayView2",
    "ArrayView3",
    "ArrayRef0",
    "ArrayRef1",
    "ArrayRef2",
    "ArrayRef3",
];

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

/// The element type that a type is, if it is one.
pub(super) fn elem_of(ty: &Type, real_param: Option<&Ident>) -> Option<Elem> {
    match ty {
        Type::Path(p) => elem_named(&p.path.segments.last()?.ident.to_string(), real_param),
        Type::Paren(p) => elem_of(&p.elem, real_param),
        Type::Group(p) => elem_of(&p.elem, real_param),
        Type::Reference(r) => elem_of(&r.elem, real_param),
        _ => None,
    }
}

/// `Array2` and the like: its rank, and whether it owns.
pub(super) fn ndarray_rank(name: &str) -> Option<(u8, bool)> {
    let (prefix, rank) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let rank = rank.parse().ok().filter(|&r: &u8| r <= 6)?;
    match prefix {
        "Array" => Some((rank, true)),
        "ArrayView" | "ArrayRef" => Some((rank, false)),
        _ => None,
    }
}

/// Reads the type of a parameter or of a result.
pub(super) fn leaf(ty: &Type, real_param: Option<&Ident>, diags: &mut Diags) -> Lowered<Leaf> {
    match ty {
        Type::Paren(p) => leaf(&p.elem, real_param, diags),
        Type::Group(p) => leaf(&p.elem, real_param, diags),
        Type::Reference(r) => {
            if r.mutability.is_some() {
                return Err(diags.push(SrcRange::of(ty), catalogue::mutable_reference()));
            }
            if let Type::Slice(s) = &*r.elem {
                let elem = element(&s.elem, real_param, diags)?;
                return Ok(Leaf { container: Container::Slice, elem, rank: 1, owned: false });
            }
            let inner = leaf(&r.elem, real_param, diags)?;
            let container = match inner.container {
                Container::Scalar => Container::ScalarRef,
                other => other,
            };
            Ok(Leaf { container, owned: false, ..inner })
        }
        Type::Path(p) if p.qself.is_none() => path(ty, p, real_param, diags),
        _ => Err(diags.push(SrcRange::of(ty), catalogue::refused::kind_of_type(ty, &text_of(ty, 40)))),
    }
}

fn path(ty: &Type, p: &syn::TypePath, real_param: Option<&Ident>, diags: &mut Diags) -> Lowered<Leaf> {
    let Some(last) = p.path.segments.last() else {
        return Err(diags.push(SrcRange::of(ty), catalogue::unknown_type("", None)));
    };
    let name = last.ident.to_string();
    if let Some(elem) = elem_named(&name, real_param) {
        return Ok(Leaf { container: Container::Scalar, elem, rank: 0, owned: true });
    }
    if let Some((rank, owned)) = ndarray_rank(&name) {
        if rank > MAX_RANK {
            return Err(diags.push(SrcRange::of(ty), catalogue::rank_too_high(&name, MAX_RANK)));
        }
        let elem = argument(ty, &last.arguments, real_param, diags)?;
        return Ok(Leaf { container: Container::NdArray, elem, rank, owned });
    }
    if name == "Vec" {
        let elem = argument(ty, &last.arguments, real_param, diags)?;
        return Ok(Leaf { container: Container::Slice, elem, rank: 1, owned: true });
    }
    let message = catalogue::refused::named_type(&name)
        .unwrap_or_else(|| catalogue::unknown_type(&name, crate::diag::suggest(&name, KNOWN.iter().copied())));
    Err(diags.push(SrcRange::of(ty), message))
}

/// The element type in the angle brackets.
fn argument(ty: &Type, args: &PathArguments, real_param: Option<&Ident>, diags: &mut Diags) -> Lowered<Elem> {
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
            return element(only, real_param, diags);
        }
    }
    Err(diags.push(SrcRange::of(ty), catalogue::element_type_missing(&text_of(ty, 40))))
}

fn element(ty: &Type, real_param: Option<&Ident>, diags: &mut Diags) -> Lowered<Elem> {
    match ty {
        Type::Path(_) if elem_of(ty, real_param).is_some() => elem_of(ty, real_param).ok_or(crate::diag::Poison),
        _ => Err(diags.push(SrcRange::of(ty), catalogue::element_type(&text_of(ty, 40)))),
    }
}

/// An element type as Rust writes it.
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

/// The type of a gradient or a result: owned.
pub(super) fn owned_tokens(leaf: Leaf, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let elem = elem_tokens(leaf.elem, real_param);
    match leaf.container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let name = quote::format_ident!("Array{}", leaf.rank);
            quote!(#krate::ndarray::#name<#elem>)
        }
        Container::Slice => quote!(::std::vec::Vec<#elem>),
    }
}

/// The type of a tangent or cotangent: passed as the contract has it.
pub(super) fn passed_tokens(leaf: Leaf, real_param: Option<&Ident>, krate: &TokenStream) -> TokenStream {
    let elem = elem_tokens(leaf.elem, real_param);
    match leaf.container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let name = quote::format_ident!("ArrayRef{}", leaf.rank);
            quote!(&#krate::ndarray::#name<#elem>)
        }
        Container::Slice => quote!(&[#elem]),
    }
}

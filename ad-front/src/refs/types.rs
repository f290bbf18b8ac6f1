//! Rust's types, as far as method look-up depends on them: references, and the container of the
//! elements.

use syn::Type;

use crate::types::NUMBERS;
use ad_ir::program::KnownType;
use ad_ir::program::Owner;

/// A Rust type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ty {
    /// A number, or an array of numbers in a container, by value.
    Plain(Owner),
    Ref(Box<Ty>),
    Tuple(Vec<Ty>),
    /// An iterator.
    Iter(Box<Ty>),
    /// The result of `rows()` and similar methods, which `into_iter` turns into an iterator.
    Lanes,
    Option(Box<Ty>),
    /// A closure with its result type.
    Fn(Box<Ty>),
    Unknown,
}

pub(super) const NUMBER: Ty = Ty::Plain(Owner::Any);
pub(super) const ARRAY: Ty = Ty::Plain(Owner::Array);
pub(super) const VIEW: Ty = Ty::Plain(Owner::View);

impl Ty {
    pub(super) fn to(self) -> Ty {
        Ty::Ref(self.into())
    }

    /// The referent, and the number of references to it.
    pub(super) fn stripped(&self) -> (u8, &Ty) {
        let (mut at, mut refs) = (self, 0_u8);
        while let Ty::Ref(inner) = at {
            (at, refs) = (&**inner, refs.saturating_add(1));
        }
        (refs, at)
    }

    /// The type without one reference: the result of `clone` on a reference, and of `copied` on an
    /// iterator's items.
    pub(super) fn copied(&self) -> Ty {
        match self {
            Ty::Ref(inner) => (**inner).clone(),
            _ => Ty::Unknown,
        }
    }

    /// The type of the items, if the value is used as an iterator.
    pub(super) fn items(&self) -> Ty {
        let (refs, inner) = self.stripped();
        match (refs, inner) {
            (0, Ty::Iter(item)) => (**item).clone(),
            (0, Ty::Plain(Owner::Array | Owner::Vector | Owner::Static)) => NUMBER,
            (_, Ty::Lanes) => VIEW,
            (0, Ty::Plain(Owner::View)) | (1, Ty::Plain(_)) => NUMBER.to(),
            _ => Ty::Unknown,
        }
    }
}

/// The type of an annotation.
pub(super) fn written(ty: &Type) -> Ty {
    match ty {
        Type::Paren(p) => written(&p.elem),
        Type::Group(g) => written(&g.elem),
        Type::Reference(r) if r.mutability.is_none() => match written(&r.elem) {
            Ty::Unknown => Ty::Unknown,
            inner => inner.to(),
        },
        Type::Tuple(t) => Ty::Tuple(t.elems.iter().map(written).collect()),
        // An array of arrays has no rule, since its items are arrays.
        Type::Array(a) if written(&a.elem) == NUMBER => Ty::Plain(Owner::Static),
        Type::Slice(s) if written(&s.elem) == NUMBER => Ty::Plain(Owner::Slice),
        Type::Path(p) => {
            let Some(last) = p.path.segments.last() else { return Ty::Unknown };
            let name = last.ident.to_string();
            let plain = || {
                let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return false };
                args.args.iter().any(|a| matches!(a, syn::GenericArgument::Type(t) if written(t) == NUMBER))
            };
            if name == "bool" || NUMBERS.contains(&&*name) {
                return NUMBER;
            }
            match KnownType::named(&name).filter(|_| plain()) {
                Some(KnownType::Vec) => Ty::Plain(Owner::Vector),
                Some(KnownType::Ranked(Owner::View, _)) => VIEW,
                Some(KnownType::Ranked(owner, _)) => Ty::Plain(owner),
                Some(KnownType::Array(Owner::Array)) => ARRAY,
                _ => Ty::Unknown,
            }
        }
        _ => Ty::Unknown,
    }
}

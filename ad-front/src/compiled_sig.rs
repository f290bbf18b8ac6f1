//! The signature of a function that is compiled on its own. Its sizes are parameters, and the
//! numbers and arrays that all of its calls pass on may be one array (`recursion::packed`). The
//! signature of a function with a rule of its own is read here too, as it is written.
//!
//! This module must never read the body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{ItemFn, ReturnType};

use super::boundary;
use super::definitions::Definitions;
use super::sig::{Parameters, Sig, SigDeclared, SigParam, generics, params, qualifiers, turbofish};
use super::types::Leaf;
use super::value::Lowered;
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange, text_of};
use ad_ir::ir::Elem;
use ad_ir::mode::{Mode, Saving};
use ad_ir::program::{Declared, ListType, ParamTree, Role};

/// Parses the signature of a function that is compiled on its own. It need not have real parameters
/// or results.
pub(super) fn of_function(
    item: &ItemFn,
    types: &Definitions,
    (mode, krate): (Mode, &TokenStream),
    pack: &[usize],
    diags: &mut Diags,
) -> Lowered<Sig> {
    read(item, types, (mode, krate), Some(pack), diags)
}

/// Parses the signature of a function with a rule of its own, whose body is not read.
pub(super) fn of_rule(
    item: &ItemFn,
    types: &Definitions,
    (mode, krate): (Mode, &TokenStream),
    diags: &mut Diags,
) -> Lowered<Sig> {
    read(item, types, (mode, krate), None, diags)
}

/// `pack`: the parts of the one array. `None` if the sizes are not parameters.
fn read(
    item: &ItemFn,
    types: &Definitions,
    (mode, krate): (Mode, &TokenStream),
    pack: Option<&[usize]>,
    diags: &mut Diags,
) -> Lowered<Sig> {
    let qualifiers = qualifiers(item, diags);
    let (parameters, generics_read) = generics(item, diags);
    let params = params(item, (&parameters, types), diags);
    qualifiers?;
    generics_read?;
    let (declared, params) = params?;
    let AllParameters { declared, params, sizes, packed } = match pack {
        Some(pack) => with_sizes((declared, params), pack),
        None => AllParameters { declared, params, sizes: Vec::new(), packed: Vec::new() },
    };
    let ReturnType::Type(_, ty) = &item.sig.output else {
        return Err(diags.push(SrcRange::of(&item.sig.ident), catalogue::no_result(&item.sig.ident.to_string())));
    };
    let found = boundary::tree(ty, (&parameters, types), diags)?;
    if !found.is_owned() {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_not_owned(&text_of(ty, 40))));
    }
    if types.has_one_that_contains_itself(ty) {
        return Err(diags.push(SrcRange::of(ty), catalogue::result_contains_itself(&text_of(ty, 40))));
    }
    let generics = &item.sig.generics;
    let real = |k: &usize| params[*k].leaf.elem.is_real();
    Ok(Sig {
        name: item.sig.ident.clone(),
        stem: item.sig.ident.clone(),
        vis: TokenStream::new(),
        cfgs: TokenStream::new(),
        generics: generics.to_token_stream(),
        where_clause: generics.where_clause.to_token_stream(),
        turbofish: turbofish(generics),
        within: None,
        wrt: (0..declared.len()).collect(),
        active: (0..params.len()).filter(real).collect(),
        declared,
        params,
        sizes,
        packed,
        result: found.tree(),
        aux: false,
        fallible: None,
        result_ty: ty.to_token_stream(),
        real_param: parameters.real,
        const_params: parameters.consts,
        examples: Vec::new(),
        several_shapes: false,
        workspace: false,
        mode,
        saving: Saving::default(),
        derivatives: Vec::new(),
        krate: krate.clone(),
    })
}

/// The parameters of a function that is compiled on its own.
struct AllParameters {
    declared: Vec<SigDeclared>,
    params: Vec<SigParam>,
    sizes: Vec<(usize, u8)>,
    packed: Vec<(usize, Leaf)>,
}

/// Puts the array of all parts and the sizes of arrays before the parameters. An array of several
/// axes is passed as a slice of its elements, which does not say its sizes. `pack`: the parts.
fn with_sizes((declared, mut params): Parameters, pack: &[usize]) -> AllParameters {
    let axes = |(k, p): (usize, &SigParam)| {
        let (leaf, part) = (p.leaf.clone(), pack.contains(&k));
        let passed = leaf.rank > 1 || part;
        let unknown = (0..leaf.rank).filter(move |&axis| passed && leaf.static_size(axis).is_none());
        unknown.map(move |axis| (k, axis)).collect::<Vec<_>>()
    };
    let of: Vec<(usize, u8)> = params.iter().enumerate().flat_map(axes).collect();
    let first = of.len() + usize::from(!pack.is_empty());
    // No variable of the body has such a label.
    let mut before: Vec<(String, String, Leaf, TokenStream)> = Vec::new();
    if let Some(&one) = pack.first() {
        let leaf = boundary::number(params[one].leaf.elem, Role::Data).listed(&ListType::Vector);
        before.extend(leaf.map(|leaf| ("parts_".to_string(), " parts".to_string(), leaf, TokenStream::new())));
    }
    let usize_type = Ident::new("usize", Span::call_site()).into_token_stream();
    for (k, (array, axis)) in of.iter().enumerate() {
        let label = format!(" size {axis} of {}", params[*array].label);
        before.push((format!("size{k}_"), label, boundary::number(Elem::USIZE, Role::Data), usize_type.clone()));
    }
    let (mut all_declared, mut all) = (Vec::new(), Vec::new());
    for (k, (name, label, leaf, ty)) in before.into_iter().enumerate() {
        let (name, parts) = (Ident::new(&name, Span::call_site()), ParamTree::Leaf(k));
        let declared = Declared { name: name.clone(), label: label.clone(), ty, parts };
        all_declared.push(SigDeclared { declared, mutable: false, pattern: false });
        all.push(SigParam { name, label, leaf, example: None });
    }
    let mut packed = Vec::new();
    for &k in pack {
        let leaf = std::mem::replace(&mut params[k].leaf, boundary::number(Elem::USIZE, Role::Data));
        packed.push((k + first, leaf));
    }
    all_declared.extend(declared.into_iter().map(|mut one| {
        one.declared.parts = one.declared.parts.moved(first, 0);
        one
    }));
    all.extend(params);
    let sizes = of.into_iter().map(|(k, axis)| (k + first, axis)).collect();
    AllParameters { declared: all_declared, params: all, sizes, packed }
}

//! The function's signature: parameters, result, active parameters and requested derivatives. This
//! module does not read the body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::WherePredicate;
use syn::{FnArg, GenericParam, ItemFn, Pat, Safety, Type, TypeParamBound};

use super::attr::Attr;
use super::boundary::{self, TypeTree};
use super::definitions::Definitions;
use super::examples;
use super::result::{FunctionResult, always_has_a_result, result};
use super::types::{self, Generics, Leaf, MAX_RANK};
use super::value::Lowered;
use ad_ir::catalogue;
use ad_ir::descriptor::{self, Descriptor, Structure};
use ad_ir::diag::{Diags, Poison, SrcRange, suggest, text_of};
use ad_ir::ir::Elem;
use ad_ir::mode::{Mode, Saving};
use ad_ir::program::{Container, Declared, DefinedType, Fallible, FallibleKind, ParamTree, Tree, Within};
use ad_ir::rust_types::fallible_type;

/// A valid signature.
#[derive(Clone)]
pub(super) struct Sig {
    pub name: Ident,
    /// The beginning of the names of the derivatives.
    pub stem: Ident,
    pub vis: TokenStream,
    pub cfgs: TokenStream,
    pub generics: TokenStream,
    pub where_clause: TokenStream,
    /// `::<T, N>`: the generic arguments with which one derivative calls another.
    pub turbofish: TokenStream,
    /// The `impl` block that contains the function.
    pub within: Option<Within>,
    /// The parameters as declared.
    pub declared: Vec<SigDeclared>,
    /// The numbers and arrays of the declared parameters.
    pub params: Vec<SigParam>,
    pub result: Tree<Leaf>,
    /// Whether the result is a pair whose first part alone is differentiated.
    pub aux: bool,
    /// The type that the result is in, if it may be absent.
    pub fallible: Option<Fallible>,
    pub result_ty: TokenStream,
    /// The type parameter with `T: Real`.
    pub real_param: Option<Ident>,
    /// Const parameters of type `usize`.
    pub const_params: Vec<Ident>,
    /// For a function that is compiled on its own: the axes whose sizes are its first parameters,
    /// each as a number or array and an axis of it.
    pub sizes: Vec<(usize, u8)>,
    /// For such a function: the numbers and arrays that are parts of one array, with their types.
    /// Their parameters say where the parts begin. The array is the first parameter.
    pub packed: Vec<(usize, Leaf)>,
    /// The indices of the active parameters in `declared`, ascending.
    pub wrt: Vec<usize>,
    /// The indices of their real parts in `params`, ascending.
    pub active: Vec<usize>,
    /// The indices of the parameters of an example in `params`, ascending.
    pub examples: Vec<usize>,
    /// Whether the arrays of a list may have several shapes.
    pub several_shapes: bool,
    /// Whether the memory of a derivative is a parameter.
    pub workspace: bool,
    /// The algorithm of differentiation.
    pub mode: Mode,
    /// The values that derivatives of loops save.
    pub saving: Saving,
    /// The requested derivatives.
    pub derivatives: Vec<&'static Descriptor>,
    /// The path of the crate `ad`.
    pub krate: TokenStream,
}

/// A parameter as the user wrote it.
#[derive(Clone)]
pub(super) struct SigDeclared {
    pub declared: Declared,
    /// Whether it is a variable of the body: `mut x: f64`.
    pub mutable: bool,
    /// Whether a pattern other than a name declares it.
    pub pattern: bool,
}

/// A number or array among the parameters: a declared parameter, or a part of one.
#[derive(Clone)]
pub(super) struct SigParam {
    /// Its name in generated code.
    pub name: Ident,
    /// Its name in messages.
    pub label: String,
    pub leaf: Leaf,
    /// For an array of examples: the type of one example. In the body the parameter's name means
    /// one example.
    pub example: Option<Leaf>,
}

/// Parses the signature. All its errors are reported.
pub(super) fn parse(item: &ItemFn, attr: &Attr, types: &Definitions, diags: &mut Diags) -> Lowered<Sig> {
    let qualifiers = qualifiers(item, diags);
    let (parameters, generics_read) = generics(item, diags);
    let params = params(item, (&parameters, types), diags);
    let result = result(item, (&parameters, types), attr, diags);
    qualifiers?;
    generics_read?;
    let ((declared, params), FunctionResult { tree: result, aux, fallible, ty: result_ty }) = (params?, result?);
    // For the error of a `Result` the derivative calls the function.
    let calls_itself = fallible.as_ref().is_some_and(|f| f.kind == FallibleKind::Result);
    if let Some(p) = declared.iter().find(|p| calls_itself && p.declared.name == item.sig.ident) {
        let name = SrcRange::of(&p.declared.name);
        diags.push(name, catalogue::hidden_by_a_parameter(&p.declared.label));
    }
    let wrt = wrt(item, &declared, &params, attr, diags);
    let real = |&k: &usize| params[k].leaf.is_active();
    let active: Vec<usize> = wrt.iter().flat_map(|&k| declared[k].leaves()).filter(real).collect();
    let examples = examples::named(&declared, &params, &active, attr, diags);
    let differentiated = differentiated(&result, aux);
    let scalar = is_one_number(differentiated);
    let (parts, leaves): (Vec<_>, Vec<_>) =
        (wrt.iter().map(|&k| &declared[k]).collect(), active.iter().map(|&k| &params[k]).collect());
    let named = attr.derivatives.iter();
    let result_type = fallible.as_ref().map(|f| fallible_type(f, &result_ty));
    let named = named.filter(|(d, at)| {
        always_has_a_result(d, *at, result_type.as_ref(), diags)
            && fits(d, *at, differentiated, (&parts, &leaves), diags)
            && has_blocks(d, *at, (&parts, types), diags)
    });
    let named = named.map(|d| d.0);
    let mut derivatives: Vec<&'static Descriptor> = named.collect();
    if attr.derivatives.is_empty() {
        derivatives.extend(descriptor::by_default(scalar));
    }
    // The order in the attribute does not matter.
    derivatives.sort_by_key(|d| descriptor::DERIVATIVES.iter().position(|other| other == d));
    let cfgs = item.attrs.iter().filter(|a| a.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect();
    let generics = &item.sig.generics;
    Ok(Sig {
        name: item.sig.ident.clone(),
        stem: attr.stem(&item.sig.ident),
        vis: item.vis.to_token_stream(),
        cfgs,
        // `Generics` prints its parameters with bounds, and no where clause.
        generics: generics.to_token_stream(),
        where_clause: generics.where_clause.to_token_stream(),
        turbofish: turbofish(generics),
        within: None,
        declared,
        params,
        sizes: Vec::new(),
        packed: Vec::new(),
        result,
        aux,
        fallible,
        result_ty,
        real_param: parameters.real,
        const_params: parameters.consts,
        wrt,
        active,
        examples,
        derivatives,
        several_shapes: false,
        workspace: attr.workspace.is_some(),
        mode: attr.mode,
        saving: attr.saving,
        krate: attr.krate.clone(),
    })
}

/// The part of a result that is differentiated.
fn differentiated(result: &Tree<Leaf>, aux: bool) -> &Tree<Leaf> {
    match result {
        Tree::Tuple(parts) if aux => parts.first().unwrap_or(result),
        whole => whole,
    }
}

/// Whether a result is one number.
pub(super) fn is_one_number(result: &Tree<Leaf>) -> bool {
    matches!(result, Tree::Leaf(leaf) if leaf.container == Container::Scalar)
}

/// Whether a function with this result and these active parameters has a derivative. If not, the
/// reason is reported.
fn fits(
    derivative: &Descriptor,
    at: SrcRange,
    result: &Tree<Leaf>,
    (wrt, active): (&[&SigDeclared], &[&SigParam]),
    diags: &mut Diags,
) -> bool {
    let before = diags.list().len();
    let (option, requires) = (derivative.option, &derivative.requires);
    let opaque = |p: &&&SigDeclared| matches!(&p.declared.parts, ParamTree::Defined { of, .. } if of.is_opaque);
    if let Some(p) = wrt.iter().find(opaque).filter(|_| derivative.returns == Structure::Closure) {
        let ty = p.declared.ty.to_string().replace(' ', "");
        diags.push(at, catalogue::closure_of_copied_fields(option, &p.declared.label, &ty));
    } else if let Some(instead) = requires.one_number.filter(|_| !is_one_number(result)) {
        let array = matches!(result, Tree::Leaf(_));
        diags.push(at, catalogue::derivative_of_an_array(option, array, instead));
    } else if let Some(instead) = requires.one_active.filter(|_| wrt.len() > 1) {
        let names: Vec<String> = wrt.iter().map(|p| format!("`{}`", p.declared.label)).collect();
        diags.push(at, catalogue::derivative_of_several(option, &names, &wrt[0].declared.label, instead));
    } else if let Some(instead) = requires.vectors {
        let of_result = match result {
            Tree::Leaf(leaf) => Some(leaf),
            Tree::Tuple(_) | Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) => None,
        };
        let vector = |leaf: &Leaf| {
            let array = matches!(leaf.container, Container::NdArray | Container::Slice);
            array && leaf.rank == 1 && of_result.is_some_and(|result| result.elem == leaf.elem)
        };
        let mut parameters = active.iter().map(|p| (format!("`{}`", p.label), &p.leaf));
        let what = match of_result.filter(|leaf| vector(leaf)) {
            None => Some("the result".to_string()),
            Some(_) => parameters.find(|(_, leaf)| !vector(leaf)).map(|p| p.0),
        };
        if let Some(what) = what {
            diags.push(at, catalogue::derivative_of_no_vector(option, &what, instead));
        } else if active.len() != 1 || !wrt.iter().all(|p| matches!(p.declared.parts, ParamTree::Leaf(_))) {
            let what = wrt.iter().map(|p| format!("`{}`", p.declared.label)).collect::<Vec<_>>().join(", ");
            diags.push(at, catalogue::derivative_of_no_vector(option, &what, instead));
        }
    } else if let Some(instead) = requires.few_indices {
        let second = derivative.returns == Structure::Hessian;
        let rows: Vec<u8> = match second {
            true => active.iter().map(|p| p.leaf.rank).collect(),
            false => result.leaves().into_iter().filter(|leaf| leaf.elem.is_real()).map(|leaf| leaf.rank).collect(),
        };
        let most = rows.into_iter().max().unwrap_or(0);
        for p in active {
            let first = if wrt.len() == 1 && active.len() == 1 && second { p.leaf.rank } else { most };
            if first + p.leaf.rank > MAX_RANK {
                diags.push(at, catalogue::derivative_of_high_rank(option, &p.label, [first, p.leaf.rank], instead));
            }
        }
    }
    diags.list().len() == before
}

/// Whether the blocks of a Jacobian have types. A value that may contain others of its type has as
/// many numbers as its argument, so they have none. Then the reason is reported.
fn has_blocks(
    derivative: &Descriptor,
    at: SrcRange,
    (wrt, types): (&[&SigDeclared], &Definitions),
    diags: &mut Diags,
) -> bool {
    let contains_itself = |p: &&&SigDeclared| {
        let ty = syn::parse2(p.declared.ty.clone());
        ty.is_ok_and(|ty| types.has_one_that_contains_itself(&ty))
    };
    let blocks = matches!(derivative.returns, Structure::Jacobian | Structure::Sparse | Structure::Hessian);
    match wrt.iter().find(contains_itself).filter(|_| blocks) {
        Some(p) => {
            diags.push(at, catalogue::blocks_of_a_value_in_itself(derivative.option, &p.declared.label));
            false
        }
        None => true,
    }
}

/// Type and const parameters. Lifetimes are inferred.
pub(super) fn turbofish(generics: &syn::Generics) -> TokenStream {
    let names = generics.params.iter().filter_map(|p| match p {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(t) => Some(&t.ident),
        GenericParam::Const(c) => Some(&c.ident),
    });
    let names: Vec<&Ident> = names.collect();
    if names.is_empty() { TokenStream::new() } else { quote!(::<#(#names),*>) }
}

pub(super) fn qualifiers(item: &ItemFn, diags: &mut Diags) -> Lowered<()> {
    let sig = &item.sig;
    let mut found = Ok(());
    let mut refuse = |range: SrcRange, what: &str| {
        found = Err(diags.push(range, catalogue::refused::function(what)));
    };
    if let Some(token) = &sig.asyncness {
        refuse(SrcRange::of(token), "async");
    }
    if let Some(token) = &sig.constness {
        refuse(SrcRange::of(token), "const");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        refuse(SrcRange::of(token), "unsafe");
    }
    if let Some(abi) = &sig.abi {
        refuse(SrcRange::of(abi), "extern");
    }
    if let Some(dots) = &sig.variadic {
        refuse(SrcRange::of(dots), "variadic");
    }
    found
}

/// Whether a type parameter has the bound `Real`, after its name or in the where clause.
#[must_use]
pub fn is_real(generics: &syn::Generics, param: &syn::TypeParam) -> bool {
    let real = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Real"),
        _ => false,
    };
    let mut predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
    let in_where = |p: &WherePredicate| match p {
        WherePredicate::Type(p) => {
            param.ident == p.bounded_ty.to_token_stream().to_string() && p.bounds.iter().any(real)
        }
        _ => false,
    };
    param.bounds.iter().any(real) || predicates.any(in_where)
}

/// Parses lifetimes, one type parameter with the bound `Real`, and const parameters of type
/// `usize`. A type parameter without the bound is an error. It then counts as one with the bound,
/// so that its uses cause no further errors.
pub(super) fn generics(item: &ItemFn, diags: &mut Diags) -> (Generics, Lowered<()>) {
    let mut found = Generics::default();
    let mut result = Ok(());
    let bounds = |bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>| -> Vec<String> {
        let names = bounds.iter().filter_map(|b| match b {
            TypeParamBound::Trait(t) => t.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        });
        names.collect()
    };
    for param in &item.sig.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(t) => {
                let name = t.ident.to_string();
                if !is_real(&item.sig.generics, t) {
                    result =
                        Err(diags
                            .push(SrcRange::of(t), catalogue::type_parameter_without_real(&name, &bounds(&t.bounds))));
                    found.further.push(t.ident.clone());
                } else if found.real.is_some() {
                    result = Err(diags.push(SrcRange::of(t), catalogue::second_type_parameter(&name)));
                    found.further.push(t.ident.clone());
                } else {
                    found.real = Some(t.ident.clone());
                }
            }
            GenericParam::Const(c) => {
                if !matches!(&c.ty, Type::Path(p) if p.path.is_ident("usize")) {
                    result = Err(diags.push(SrcRange::of(c), catalogue::const_parameter(&c.ident.to_string())));
                }
                found.consts.push(c.ident.clone());
            }
        }
    }
    (found, result)
}

/// The parameters as declared, and their numbers and arrays.
pub(super) type Parameters = (Vec<SigDeclared>, Vec<SigParam>);

pub(super) fn params(item: &ItemFn, names: (&Generics, &Definitions), diags: &mut Diags) -> Lowered<Parameters> {
    let mut read = Vec::new();
    let mut result = Ok(());
    for (k, arg) in item.sig.inputs.iter().enumerate() {
        let typed = match arg {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                result = Err(diags.push(SrcRange::of(receiver), catalogue::method()));
                continue;
            }
        };
        if param_name(&typed.pat, k).is_none() && !is_pattern(&typed.pat) {
            let text = text_of(&typed.pat, 40);
            result = Err(diags.push(SrcRange::of(&typed.pat), catalogue::parameter_pattern(&text)));
            continue;
        }
        match boundary::tree(&typed.ty, names, diags) {
            Ok(ty) => read.push((typed, k, ty)),
            Err(Poison) => result = Err(Poison),
        }
    }
    result?;
    let names: Vec<Option<(Ident, bool)>> = read.iter().map(|(typed, k, _)| param_name(&typed.pat, *k)).collect();
    let mut taken: Vec<String> = names.iter().flatten().map(|(name, _)| name.to_string()).collect();
    let (mut declared, mut params) = (Vec::new(), Vec::new());
    for ((typed, k, ty), name) in read.into_iter().zip(names) {
        let pattern = name.is_none();
        // Only a method may have a parameter with the name `self`, so it gets another one.
        let of_receiver = |(name, mutable): (Ident, bool)| match name == "self" {
            true => (fresh("self", &mut taken), mutable),
            false => (name, mutable),
        };
        let label = name.as_ref().map_or_else(|| text_of(&typed.pat, 40), |(name, _)| name.to_string());
        let name = name.map(of_receiver);
        let (name, mutable) = name.unwrap_or_else(|| (fresh(&format!("argument{k}"), &mut taken), false));
        let parts = parts(&ty, (&name, &label), &mut taken, &mut params);
        let ty = types::ungrouped(&typed.ty).to_token_stream();
        declared.push(SigDeclared { declared: Declared { name, label, ty, parts }, mutable, pattern });
    }
    Ok((declared, params))
}

/// Adds the leaves of a parameter.
fn parts(
    ty: &TypeTree,
    (name, label): (&Ident, &str),
    taken: &mut Vec<String>,
    params: &mut Vec<SigParam>,
) -> ParamTree {
    match ty {
        TypeTree::Leaf(leaf) => {
            params.push(SigParam { name: name.clone(), label: label.to_string(), leaf: leaf.clone(), example: None });
            ParamTree::Leaf(params.len() - 1)
        }
        TypeTree::Tuple { references, is_static, parts: inner } => {
            let part = |(k, ty): (usize, &TypeTree)| {
                let own = fresh(&format!("{}_{k}", stem(name)), taken);
                parts(ty, (&own, &format!("{label}.{k}")), taken, params)
            };
            let parts = inner.iter().enumerate().map(part).collect();
            ParamTree::Tuple { references: *references, is_static: *is_static, parts }
        }
        TypeTree::List { passing, of, element } => {
            // The parameter's name stays that of the list, of which generated code makes an array
            // of arrays.
            let own = match **element {
                TypeTree::Leaf(_) | TypeTree::List { .. } => fresh(&stem(name), taken),
                _ => name.clone(),
            };
            let element = parts(element, (&own, label), taken, params).into();
            ParamTree::List { passing: *passing, of: of.clone(), element }
        }
        TypeTree::Defined { references, is_static, of, fields, inner } => {
            let from = params.len();
            let inner = parts(inner, (name, label), taken, params).into();
            for (param, field) in params[from..].iter_mut().zip(fields) {
                param.label = if field.is_empty() { label.to_string() } else { format!("{label}.{field}") };
            }
            // A value with copied fields is a parameter of its own.
            let of = DefinedType { like: of.is_opaque.then(|| name.to_token_stream()), ..of.clone() };
            ParamTree::Defined { references: *references, is_static: *is_static, of, inner }
        }
    }
}

/// The beginning of the names of a parameter's parts.
fn stem(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").trim_end_matches('_').to_string()
}

/// A name for a local of generated code. It ends in `_`, since no constant has such a name.
fn fresh(stem: &str, taken: &mut Vec<String>) -> Ident {
    let mut name = format!("{stem}_");
    while taken.contains(&name) {
        name.push('_');
    }
    taken.push(name.clone());
    Ident::new(&name, Span::call_site())
}

/// The name of a parameter, and whether it is `mut`.
pub(super) fn param_name(pat: &Pat, k: usize) -> Option<(Ident, bool)> {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some((p.ident.clone(), p.mutability.is_some())),
        Pat::Reference(p) => param_name(&p.pat, k),
        Pat::Paren(p) => param_name(&p.pat, k),
        Pat::Wild(_) => Some((Ident::new(&format!("unused{k}"), Span::call_site()), false)),
        _ => None,
    }
}

/// Whether a pattern takes a parameter apart.
fn is_pattern(pat: &Pat) -> bool {
    match pat {
        Pat::Reference(p) => is_pattern(&p.pat),
        Pat::Paren(p) => is_pattern(&p.pat),
        Pat::Tuple(_) | Pat::Slice(_) => true,
        _ => false,
    }
}

/// The active parameters. Errors in `wrt` are reported. The stand-ins are then for the valid
/// parameters in `wrt`, or for all parameters if there are none.
fn wrt(item: &ItemFn, declared: &[SigDeclared], params: &[SigParam], attr: &Attr, diags: &mut Diags) -> Vec<usize> {
    let real = |k: usize| declared[k].leaves().iter().any(|&leaf| params[leaf].leaf.is_active());
    let all: Vec<usize> = (0..declared.len()).filter(|&k| real(k)).collect();
    if all.is_empty() {
        diags.push(SrcRange::of(&item.sig.ident), catalogue::nothing_active(&item.sig.ident.to_string()));
    }
    let Some(names) = &attr.wrt else { return all };
    let mut active = Vec::new();
    for name in names {
        let range = SrcRange::of(name);
        let text = name.to_string();
        match declared.iter().position(|p| p.declared.label == text) {
            None => {
                let all: Vec<String> = declared.iter().map(|p| p.declared.label.clone()).collect();
                let near = suggest(&text, all.iter().map(String::as_str));
                diags.push(range, catalogue::wrt_unknown(&text, near, &all));
            }
            Some(k) if !real(k) => {
                diags.push(range, catalogue::wrt_discrete(&text, &text_of(&declared[k].declared.ty, 40)));
            }
            Some(k) if active.contains(&k) => {
                diags.push(range, catalogue::wrt_twice(&text));
            }
            Some(k) => active.push(k),
        }
    }
    active.sort_unstable();
    if active.is_empty() { all } else { active }
}

impl SigDeclared {
    /// The indices of its leaves in the list of numbers and arrays.
    pub(super) fn leaves(&self) -> Vec<usize> {
        self.declared.parts.tree().leaves().into_iter().copied().collect()
    }
}

impl Sig {
    /// The generic parameters that types in the body may name.
    pub(super) fn generics(&self) -> Generics {
        Generics { real: self.real_param.clone(), further: Vec::new(), consts: self.const_params.clone() }
    }

    /// Whether this leaf is a parameter that the body may assign to.
    pub(super) fn is_mutable(&self, leaf: usize) -> bool {
        self.declared.iter().any(|p| p.mutable && p.declared.parts == ParamTree::Leaf(leaf))
    }

    /// The structure of a declared parameter, with the types of its leaves.
    pub(super) fn tree(&self, declared: usize) -> Tree<Leaf> {
        let packed = |k: usize| self.packed.iter().find(|(part, _)| *part == k).map(|(_, leaf)| leaf);
        let leaf = |k: usize| packed(k).unwrap_or(&self.params[k].leaf).clone();
        self.declared[declared].declared.parts.tree().map(&mut |&k| leaf(k))
    }

    /// The number of parameters before those of the signature.
    pub(super) fn before(&self) -> usize {
        self.sizes.len() + usize::from(!self.packed.is_empty())
    }

    /// The part of the result that is differentiated.
    pub(super) fn differentiated(&self) -> &Tree<Leaf> {
        differentiated(&self.result, self.aux)
    }

    /// The element type of the result's literals, if its real parts have one.
    pub(super) fn result_elem(&self) -> Option<Elem> {
        match &self.result {
            Tree::Leaf(leaf) => Some(leaf.elem),
            Tree::Tuple(_) | Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) => None,
        }
    }
}

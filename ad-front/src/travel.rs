//! Definitions from outside of the annotated function, for its calls of marked functions.
//!
//! The names of a definition are resolved at its own place, and never at the place where it is
//! called. A constant at its place is read through a hidden implementation next to the definition.
//! Assumptions about names are proved at the place of the definition too, so a caller does not
//! record them.
//!
//! This module must never look up a name of a definition in the scope of a caller.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, FnArg, GenericParam, Generics as Declared, Item, ItemFn, Path, PathArguments};
use syn::{ParenthesizedGenericArguments, ReturnType, Type};

use super::distinct;
use super::lower::Lower;
use super::opaque;
use super::panic_messages::is_pure;
use super::types::Generics;
use super::value::{Lowered, Number, Value};
use crate::value::Scope;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};

/// A number that is different for each definition of a program.
pub type DefId = u128;

/// A definition.
#[derive(Clone)]
pub struct Marked {
    /// Its number.
    pub id: DefId,
    /// The item.
    pub item: Item,
    /// The definitions of the names in it: each path as it is written, without generic arguments,
    /// and the number of its definition.
    pub names: Vec<(String, DefId)>,
    /// Whether it has an error, which has been reported at its place.
    pub broken: bool,
    /// Whether every use of its name means this definition. This holds inside of a marked module.
    pub certain: bool,
    /// The path of its crate, valid in any crate.
    pub home: TokenStream,
}

/// The definitions that an expansion has.
#[derive(Clone, Default)]
pub struct OuterDefinitions {
    /// All definitions that are needed, each once.
    pub list: Vec<Marked>,
    /// The definitions of the names in the annotated function.
    pub names: Vec<(String, DefId)>,
    /// Names of the annotated function whose definitions have not been asked for yet. A use of such
    /// a name has no value and reports no error.
    pub open: Vec<String>,
    /// The definition whose place the expansion has, if it is next to one.
    pub here: Option<DefId>,
    /// Functions and constants of types that have been asked for, by the number of the type.
    pub asked: Vec<(String, DefId)>,
    /// Functions and constants of types that are called and whose definitions are missing.
    pub wanted: Wanted,
}

/// A list of functions and constants of types. Lowering writes it, and nothing but the expansion
/// reads it: a missing definition gives neither a value nor an error.
#[derive(Clone, Default)]
pub struct Wanted(Rc<RefCell<Vec<Member>>>);

/// A function or a constant of a type.
#[derive(Clone)]
pub struct Member {
    /// The number of the type's definition.
    pub of: DefId,
    /// Its name.
    pub name: Ident,
}

impl Wanted {
    /// Adds a function or constant, if it is new.
    fn add(&self, of: DefId, name: &Ident) {
        let mut all = self.0.borrow_mut();
        if !all.iter().any(|m| m.of == of && m.name == *name) {
            all.push(Member { of, name: name.clone() });
        }
    }

    /// Takes the whole list, and leaves it empty.
    #[must_use]
    pub fn take(&self) -> Vec<Member> {
        self.0.take()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

impl OuterDefinitions {
    /// Writes the number of a definition where another number stands for it.
    pub fn found(&mut self, stand_in: DefId, id: DefId) {
        let all = self.list.iter_mut().map(|d| &mut d.names).chain([&mut self.names]);
        for (_, of) in all.flatten().filter(|(_, of)| *of == stand_in) {
            *of = id;
        }
    }

    /// The definitions with their macros written out. Errors in a definition's macros are found
    /// when it is lowered.
    pub(super) fn prepared(&self) -> Self {
        let mut prepared = self.clone();
        let own = |item: &&Item| matches!(item, Item::Struct(_) | Item::Enum(_));
        let mut taken = distinct::names(self.list.iter().map(|d| &d.item).filter(own));
        for definition in &mut prepared.list {
            let mut rewrite = |body: &mut syn::Block| {
                super::macros::rewrite(body, &mut ad_ir::diag::Diags::new());
                distinct::types(body, &mut taken);
                super::items::replace(body);
            };
            match &mut definition.item {
                Item::Fn(f) => rewrite(&mut f.block),
                Item::Impl(block) => {
                    for item in &mut block.items {
                        if let syn::ImplItem::Fn(f) = item {
                            rewrite(&mut f.block);
                        }
                    }
                }
                _ => {}
            }
        }
        prepared
    }

    /// The names of all types that the definitions have.
    pub(super) fn names_of_types(&self) -> ad_ir::sorted::SortedSet<String> {
        distinct::names(self.list.iter().map(|d| &d.item))
    }

    /// All items. A function may have types in its body.
    pub(super) fn items(&self) -> Vec<Item> {
        self.list.iter().map(|d| d.item.clone()).collect()
    }

    /// Conditions which say that the names of a function refer to the functions of their
    /// definitions. A macro and a function of one name may come from two places: a function hides
    /// one that is imported with `*`, and a macro of that name stays.
    pub fn conditions<'s>(&'s self, krate: &'s TokenStream) -> impl Iterator<Item = (&'s str, TokenStream)> {
        self.names.iter().filter_map(move |(name, id)| {
            let Item::Fn(f) = &self.list.iter().find(|d| d.id == *id && !d.certain)?.item else { return None };
            let path = syn::parse_str::<Path>(name).ok()?.into_token_stream();
            let value = value(f, &path, krate)?;
            let id = Literal::u128_unsuffixed(*id);
            let of = quote!(<#krate::runtime::At<#id> as #krate::runtime::Function<_>>);
            Some((&**name, quote!(#of::is(&#value))))
        })
    }

    /// These conditions as statements of a derivative.
    pub(super) fn identities(&self, function: &Ident, krate: &TokenStream) -> TokenStream {
        let stated = self.conditions(krate).map(|(name, condition)| {
            let message = catalogue::reached::hidden_function(&function.to_string(), name);
            quote!(::core::assert!(#condition, #message);)
        });
        stated.collect()
    }

    /// Whether all needed definitions are known and without errors. If not, the error is reported
    /// at the definition.
    pub(super) fn are_complete(&self) -> bool {
        self.open.is_empty() && self.wanted.is_empty() && self.list.iter().all(|d| !d.broken)
    }

    /// The definition to which a path refers, in a definition or in the annotated function.
    pub(super) fn find(&self, at: Option<usize>, path: &str) -> Option<usize> {
        let names = match at {
            Some(k) => &self.list.get(k)?.names,
            None => &self.names,
        };
        let (_, id) = names.iter().find(|(name, _)| name == path)?;
        self.list.iter().position(|d| d.id == *id)
    }

    /// The number of the definition of a type, by the type's own name.
    fn id_of_type(&self, name: &Ident) -> Option<DefId> {
        let is_it = |d: &&Marked| match &d.item {
            Item::Struct(s) => s.ident == *name,
            Item::Enum(e) => e.ident == *name,
            _ => false,
        };
        self.list.iter().find(is_it).map(|d| d.id)
    }

    /// The definition that is being lowered, if its place is not that of the expansion.
    fn elsewhere(&self, at: Option<usize>) -> Option<&Marked> {
        self.list.get(at?).filter(|d| Some(d.id) != self.here)
    }
}

/// A marked function, by a path to it, as a value of one type. `None` if it has parameters of other
/// kinds than a definition may have.
#[must_use]
pub fn value(f: &ItemFn, path: &TokenStream, krate: &TokenStream) -> Option<TokenStream> {
    if super::inner_derivatives::takes_examples(f) {
        return None;
    }
    let generics = &f.sig.generics;
    let mut given = Vec::new();
    for param in &generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(t) if super::sig::is_real(generics, t) => given.push(quote!(f64)),
            GenericParam::Type(t) => {
                given.push(pointer_of(opaque::named(&t.ident, generics)?, generics));
            }
            // A parameter of any other kind is an error of the function.
            GenericParam::Const(c) if c.ty.to_token_stream().to_string() == "usize" => given.push(quote!(0)),
            GenericParam::Const(_) => return None,
        }
    }
    let path = if given.is_empty() { path.clone() } else { quote!(#path::<#(#given),*>) };
    let mut said = false;
    let mut types = Vec::new();
    for input in &f.sig.inputs {
        let FnArg::Typed(typed) = input else { return None };
        let opaque = typed.ty.to_token_stream().into_iter().any(|t| matches!(&t, TokenTree::Ident(i) if i == "impl"));
        types.push(if opaque { pointer(&typed.ty, generics)? } else { quote!(_) });
        said |= opaque;
    }
    Some(if said { quote!(#krate::runtime::of_types::<(#(#types,)*), _>(#path)) } else { path })
}

/// The type of pointers to functions that a parameter can have.
fn pointer(ty: &Type, generics: &Declared) -> Option<TokenStream> {
    if let Type::Reference(r) = ty {
        let (mutability, inner) = (&r.mutability, pointer(&r.elem, generics)?);
        return Some(quote!(&'static #mutability #inner));
    }
    Some(pointer_of(opaque::function(ty, generics)?, generics))
}

fn pointer_of(given: &ParenthesizedGenericArguments, generics: &Declared) -> TokenStream {
    let inputs = given.inputs.iter().map(|ty| at_one_type(ty.to_token_stream(), generics));
    let output = match &given.output {
        ReturnType::Default => quote!(),
        ReturnType::Type(_, ty) => {
            let ty = at_one_type(ty.to_token_stream(), generics);
            quote!(-> #ty)
        }
    };
    quote!(fn(#(#inputs),*) #output)
}

/// A type with the generic arguments of [`value`].
fn at_one_type(tokens: TokenStream, generics: &Declared) -> TokenStream {
    let turned = tokens.into_iter().map(|t| match t {
        TokenTree::Ident(name) => {
            let param = generics.params.iter().find_map(|p| match p {
                GenericParam::Type(t) if t.ident == name => Some(quote!(f64)),
                GenericParam::Const(c) if c.ident == name => Some(quote!(0)),
                _ => None,
            });
            param.unwrap_or_else(|| quote!(#name))
        }
        TokenTree::Group(group) => {
            let inner = at_one_type(group.stream(), generics);
            let mut turned = Group::new(group.delimiter(), inner);
            turned.set_span(group.span());
            quote!(#turned)
        }
        other => quote!(#other),
    });
    turned.collect()
}

/// A path as definitions have it: without generic arguments and spaces.
#[must_use]
pub fn written(path: &Path) -> String {
    let mut path = path.clone();
    path.segments.iter_mut().for_each(|s| s.arguments = PathArguments::None);
    quote!(#path).to_string().replace(' ', "")
}

/// Whether an attribute is one of the marks, by the last name of its path.
pub(super) fn is_mark(attr: &syn::Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|s| s.ident == name)
}

/// Whether a path leads to a type, by the look of its name.
pub(super) fn is_of_type(path: &str) -> bool {
    path.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// The constant that the path in a [`Constant`](ad_ir::program::Constant) refers to.
#[must_use]
pub fn named(path: &TokenStream) -> TokenStream {
    match syn::parse2(path.clone()) {
        Ok(syn::Expr::Cast(cast)) => {
            let inner = cast.expr;
            quote!(#inner)
        }
        _ => path.clone(),
    }
}

/// Whether the value of a constant can be written where the constant is read.
fn is_plain(value: &Expr) -> bool {
    match value {
        Expr::Reference(e) => is_plain(&e.expr),
        Expr::Repeat(e) => is_plain(&e.expr) && is_plain(&e.len),
        Expr::Array(e) => e.elems.iter().all(is_plain),
        Expr::Tuple(e) => e.elems.iter().all(is_plain),
        value => is_pure(value),
    }
}

/// The index of a constant at a definition's place.
#[must_use]
pub fn constant_id(definition: DefId, path: &TokenStream) -> DefId {
    let path = path.to_string().replace(' ', "");
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (definition, &path, salt).hash(&mut hasher);
        DefId::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl<'a> Lower<'a> {
    /// The marked function that a path refers to.
    pub(super) fn defined(&mut self, path: &str) -> Option<Lowered<Value<'a>>> {
        if self.state.names.definition().is_none() && self.input.outside().open.iter().any(|name| name == path) {
            return Some(Err(Poison));
        }
        let outside = self.input.outside();
        let k = outside.find(self.state.names.definition(), path)?;
        let definition = outside.list.get(k)?;
        if definition.broken {
            return Some(Err(Poison));
        }
        let Item::Fn(f) = &definition.item else { return None };
        let items = self.state.names.hide_items();
        let function = self.at_definition(Some(k), |me| me.nested_function(f));
        self.state.names.show_items(items);
        Some(function)
    }

    /// The value of a constant outside of the function.
    pub(super) fn outer_constant(&mut self, path: &Path) -> Lowered<Value<'a>> {
        if let Some(value) = self.constant_of_module(path) {
            return value;
        }
        let path = self.at_its_place(&path.to_token_stream());
        Ok(Value::Number(Number::Outer(path.into()).into()))
    }

    /// The value of a constant that is declared in the marked module. `None` for an array that
    /// keeps its name, as it does at the place of the annotated function.
    pub(super) fn constant_of_module(&mut self, path: &Path) -> Option<Lowered<Value<'a>>> {
        let outside = self.input.outside();
        let k = outside.find(self.state.names.definition(), &written(path))?;
        let Item::Const(constant) = &outside.list.get(k)?.item else { return None };
        if !self.is_elsewhere() || !is_plain(&constant.expr) {
            let (elem, 0) = self.annotated(&constant.ty)? else { return None };
            let path = self.at_its_place(&path.to_token_stream());
            return Some(Ok(Value::Term(self.constant(&path, elem))));
        }
        let around = self.at_items_of(Some(k));
        let outer = self.state.names.enter_body(Scope::default(), Scope::default(), Some(k));
        let range = SrcRange::of(&constant.expr);
        // A constant that names itself is an error of rustc.
        let made = self.one_level_deeper(
            || range,
            |me| {
                let made = me.expr(&constant.expr)?;
                me.ascribe(made, &constant.ty, range)
            },
        );
        self.state.names.leave(outer);
        self.state.items.leave(around);
        Some(made)
    }

    /// Asks for a function or a constant of a user-defined type outside. Returns whether it does:
    /// then the function or constant has no value, and there is no error.
    pub(super) fn want(&mut self, of_type: &Ident, member: &Ident) -> bool {
        let outside = self.input.outside();
        let Some(of) = outside.id_of_type(of_type) else { return false };
        // All functions of a type of the marked module are known.
        if outside.list.iter().any(|d| d.id == of && d.certain) {
            return false;
        }
        let name = member.to_string();
        let new = !outside.asked.iter().any(|(asked, id)| *id == of && *asked == name);
        if new {
            outside.wanted.add(of, member);
        }
        new
    }

    /// Runs `f` at the place of a definition, or of the annotated function.
    pub(super) fn at_definition<R>(&mut self, at: Option<usize>, f: impl FnOnce(&mut Self) -> R) -> R {
        let around = self.at_items_of(at);
        let outer = self.state.names.enter_definition(at);
        let result = f(self);
        self.state.names.leave_definition(outer);
        self.state.items.leave(around);
        result
    }

    /// The type parameter for real numbers at the place of the code that is being lowered.
    pub(super) fn real_param(&self) -> Option<&'a proc_macro2::Ident> {
        self.input.sig().real_param.as_ref().filter(|_| !self.is_elsewhere())
    }

    /// The generic parameters that types may name at the place of the code that is being lowered.
    pub(super) fn generics(&self) -> Generics {
        if self.is_elsewhere() { Generics::default() } else { self.input.sig().generics() }
    }

    /// The constant that a path refers to at the place of the code that is being lowered.
    pub(super) fn at_its_place(&self, path: &TokenStream) -> TokenStream {
        let Some(definition) = self.input.outside().elsewhere(self.state.names.definition()) else {
            return path.clone();
        };
        let krate = &self.input.sig().krate;
        let id = Literal::u128_unsuffixed(constant_id(definition.id, path));
        quote!(<#krate::runtime::At<#id> as #krate::runtime::Constant<_, _>>::VALUE)
    }

    /// Whether the code that is being lowered comes from another place than the expansion. Its
    /// names are proved there.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.input.outside().elsewhere(self.state.names.definition()).is_some()
    }

    /// Whether a path begins with a type parameter of the function that is being lowered.
    pub(super) fn is_of_type_parameter(&self, path: &Path) -> bool {
        let at = self.state.names.definition().and_then(|k| self.input.outside().list.get(k));
        let (Some(Item::Fn(f)), Some(first)) = (at.map(|d| &d.item), path.segments.first()) else { return false };
        path.segments.len() > 1 && f.sig.generics.type_params().any(|p| p.ident == first.ident)
    }

    /// Whether a name is the function whose definition is being lowered.
    pub(super) fn is_itself(&self, name: &str) -> bool {
        let at = self.state.names.definition().and_then(|k| self.input.outside().list.get(k));
        at.is_some_and(|d| matches!(&d.item, Item::Fn(f) if f.sig.ident == name))
    }

    /// Counts a call, and refuses the function if there are too many.
    pub(super) fn count_call(&mut self, range: SrcRange) -> Lowered<()> {
        /// Each call is lowered again, so a chain of functions that call the next one twice would
        /// take exponential time.
        const MOST: usize = 4_000;
        if self.functions.counted() > MOST {
            return Err(self.error(range, catalogue::too_many_calls(MOST)));
        }
        Ok(())
    }
}

//! Finds the names whose definitions a function needs: names in the position of a function or of a
//! type that are neither the function's own nor known here.
//!
//! This module must never ask for a name that a variable or an item of the body may have.

use ad_ir::sorted::SortedSet;

use proc_macro2::{Ident, TokenStream};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, Item, ItemFn, Path, Type};

use super::assume::Special;
use super::blocks::Method;
use super::table::{self, On};
use super::travel::written;
use super::{consts, inner_derivatives, items, macros, panics, types};
use crate::walk::{Part, Walk};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Diags, MARK, suggest};
use ad_ir::program::{FallibleKind, KnownType};

/// The paths whose definitions a function needs, each once and without generic arguments.
#[must_use]
pub fn requests(item: &TokenStream) -> Vec<Path> {
    let Ok(function) = syn::parse2::<ItemFn>(item.clone()) else { return Vec::new() };
    of_function(function)
}

/// The paths whose definitions a function of an `impl` block needs.
#[must_use]
pub fn requests_of_method(method: &Method) -> Vec<Path> {
    requests_of_method_in_module(method).0
}

/// Like [`requests_of_item`], for a function of an `impl` block.
pub(super) fn requests_of_method_in_module(method: &Method) -> (Vec<Path>, Vec<Path>) {
    let mut function = method.item.clone();
    // A bare name in a method never refers to the method.
    function.sig.ident = Ident::new(MARK, function.sig.ident.span());
    requests_of_item(&function)
}

/// The functions that a function of a marked module names: those whose definitions it needs, and
/// bare names that are known here. A function of the module with such a name hides the known one.
pub(super) fn requests_of_item(function: &ItemFn) -> (Vec<Path>, Vec<Path>) {
    let found = names_in(function.clone());
    (found.paths, found.known)
}

fn of_function(function: ItemFn) -> Vec<Path> {
    names_in(function).paths
}

fn names_in(mut function: ItemFn) -> Requests {
    macros::rewrite(&mut function.block, &mut Diags::new());
    items::replace(&mut function.block);
    let mut own = SortedSet::from([function.sig.ident.to_string()]);
    // The derivatives of the function itself have no definition yet.
    own.extend(inner_derivatives::names(&function.sig.ident));
    Walk(&mut |part| declared(&part, &mut own)).visit_item_fn(&function);
    let mut requests = Requests { own, ..Requests::default() };
    requests.visit_item_fn(&function);
    requests
}

/// The paths of the types that a definition of a type names.
#[must_use]
pub fn requests_of_type(item: &Item) -> Vec<Path> {
    let (name, generics, fields): (_, _, Vec<&syn::Field>) = match item {
        Item::Struct(s) => (&s.ident, &s.generics, s.fields.iter().collect()),
        Item::Enum(e) => (&e.ident, &e.generics, e.variants.iter().flat_map(|v| &v.fields).collect()),
        _ => return Vec::new(),
    };
    let mut own = SortedSet::from([name.to_string()]);
    Walk(&mut |part| declared(&part, &mut own)).visit_generics(generics);
    let mut requests = Requests { own, ..Requests::default() };
    let named = fields.into_iter().filter(|f| !f.attrs.iter().any(|a| a.path().is_ident("constant")));
    named.for_each(|f| requests.visit_type(&f.ty));
    requests.paths
}

/// Adds the items and generic parameters that a part declares to a set.
fn declared(part: &Part<'_>, own: &mut SortedSet<String>) {
    let name = match part {
        Part::ItemFn(f) => Some(&f.sig.ident),
        Part::Item(Item::Struct(s)) => Some(&s.ident),
        Part::Item(Item::Enum(e)) => Some(&e.ident),
        Part::Item(Item::Type(t)) => Some(&t.ident),
        Part::Item(Item::Trait(t)) => Some(&t.ident),
        Part::GenericParam(syn::GenericParam::Type(t)) => Some(&t.ident),
        Part::GenericParam(syn::GenericParam::Const(c)) => Some(&c.ident),
        _ => None,
    };
    own.extend(name.map(ToString::to_string));
}

#[derive(Default)]
struct Requests {
    own: SortedSet<String>,
    /// The variables in scope. A variable of a condition counts until the end of its block.
    variables: Vec<String>,
    paths: Vec<Path>,
    /// Bare names in the position of a function that are known here.
    known: Vec<Path>,
    /// Whether errors of the enclosing function have no value.
    opaque_errors: bool,
}

impl Requests {
    fn ask(&mut self, path: &Path) {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|s| s.arguments = syn::PathArguments::None);
        if !self.paths.iter().any(|other| written(other) == written(&path)) {
            self.paths.push(path);
        }
    }

    /// Whether a variable or an item of the function has the name here.
    fn is_own(&self, name: &str) -> bool {
        self.own.contains(name) || self.variables.iter().any(|v| v == name)
    }

    /// Visits a scope: its variables end with it.
    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = self.variables.len();
        visit(self);
        self.variables.truncate(outer);
    }

    /// The types that a signature names.
    fn signature(&mut self, sig: &syn::Signature) {
        for input in &sig.inputs {
            if let syn::FnArg::Typed(p) = input {
                self.visit_type(&p.ty);
            }
        }
        if let syn::ReturnType::Type(_, ty) = &sig.output {
            match super::result::fallible(ty) {
                // The type of an error needs no definition.
                Some((_, present)) if is_opaque_error(ty) => self.visit_type(present),
                _ => self.visit_type(ty),
            }
        }
    }

    /// Asks for a type, unless it is understood without a definition.
    fn ask_for_type(&mut self, path: &Path) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let first = path.segments[0].ident.to_string();
        let named = name.starts_with(char::is_uppercase) && first != MARK && first != "Self";
        let own = path.segments.len() == 1 && self.is_own(&name);
        // A name that another library has too counts as the user's own only if it is the whole
        // path.
        let here = path.segments.len() == 1 || matches!(&*first, "crate" | "self" | "super");
        let plain = here && last.arguments.is_none() && catalogue::is_type_elsewhere(&name);
        let elsewhere = refused::named_type(&name).is_some() && !plain;
        let of_std = table::is_known_crate(&first);
        if named && !own && !elsewhere && !of_std && !is_known_type(&name) {
            self.ask(path);
        }
    }

    /// Asks for the type of a path of one of its items: `Shape` of `Shape::Circle`. The path of a
    /// struct is its own type.
    fn ask_for_owner(&mut self, path: &Path, of_struct: bool) {
        let mut of_type = path.clone();
        let is_type = |s: &syn::PathSegment| s.ident.to_string().starts_with(char::is_uppercase);
        let owner = path.segments.iter().rev().nth(1).is_some_and(is_type);
        if owner {
            of_type.segments.pop();
            // Collecting drops the separator at the end.
            of_type.segments = of_type.segments.into_iter().collect();
        } else if !of_struct {
            return;
        }
        self.ask_for_type(&of_type);
    }

    /// Asks for the function of a path, if it may be a marked one. `arguments` is their number in a
    /// call.
    fn ask_for_function(&mut self, path: &Path, arguments: Option<usize>) {
        if self.may_be_marked(path, arguments) {
            self.ask(path);
        } else {
            self.note_known(path);
        }
    }

    fn note_known(&mut self, path: &Path) {
        let new = |name: &Ident| !self.is_own(&name.to_string()) && !self.known.iter().any(|k| k.is_ident(name));
        if path.get_ident().is_some_and(new) {
            self.known.push(path.clone());
        }
    }

    /// Whether a path in the position of a function may be a marked function.
    fn may_be_marked(&self, path: &Path, arguments: Option<usize>) -> bool {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let Some((last, before)) = names.split_last() else { return false };
        if names[0] == MARK || names[0] == "Self" || !last.starts_with(|c: char| c.is_lowercase() || c == '_') {
            return false;
        }
        // The path leads to a function of a type, and not of a module.
        let of_type = before.last().is_some_and(|owner| {
            owner.starts_with(char::is_uppercase)
                || types::elem_named(owner, None).is_some()
                || KnownType::named(owner).is_some()
        });
        if of_type || panics::named(path).is_some() || Special::of(path).is_some() {
            return false;
        }
        match before.last().map(String::as_str) {
            None => !self.is_own(last) && (!known(last) || is_of_prelude_with_others(last, arguments)),
            // `array` is a module of std, and the other modules are of paths that are understood.
            Some(owner) if table::module(owner).is_some() || matches!(owner, "std" | "core" | "array") => false,
            Some(_) => {
                let understood = table::is_known_crate(&names[0]);
                let translated = before.len() == 1 && catalogue::is_name_elsewhere(&names[0]);
                !understood && !translated
            }
        }
    }
}

/// Whether the errors of a function have no value: their type is not made of numbers.
fn has_opaque_errors(sig: &syn::Signature) -> bool {
    matches!(&sig.output, syn::ReturnType::Type(_, ty) if is_opaque_error(ty))
}

/// Whether a type is a `Result` whose error is not made of numbers.
fn is_opaque_error(ty: &syn::Type) -> bool {
    fn numbers(ty: &syn::Type) -> bool {
        match ty {
            syn::Type::Tuple(t) => t.elems.iter().all(numbers),
            syn::Type::Array(a) => numbers(&a.elem),
            syn::Type::Paren(p) => numbers(&p.elem),
            syn::Type::Path(p) => p.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                name == "bool" || types::NUMBERS.contains(&&*name)
            }),
            _ => false,
        }
    }
    let Some((fallible, _)) = super::result::fallible(ty) else { return false };
    let error = fallible.further.into_iter().next().unwrap_or_default();
    fallible.kind == FallibleKind::Result && !syn::parse2(error).is_ok_and(|error| numbers(&error))
}

/// Whether the front end understands a type of this name without a definition, or explains it in an
/// error.
fn is_known_type(name: &str) -> bool {
    // Names of ndarray and std that are not types of values in a body.
    let beside =
        ["Option", "Some", "None", "Result", "Ok", "Err", "Ordering", "Axis", "Default", "PhantomData", "Uplo"];
    let dimension = name.strip_prefix("Ix").is_some_and(|rank| rank == "Dyn" || rank.parse::<u8>().is_ok());
    let mut known = types::NUMBERS.iter().copied().chain(["bool"]);
    dimension
        || beside.contains(&name)
        || refused::is_value_of_std(name)
        || KnownType::named(name).is_some()
        || known.any(|n| n == name)
        || suggest(name, KnownType::ranked_names().collect::<Vec<_>>().iter().map(String::as_str)).is_some()
}

/// Whether the front end understands a bare name in the position of a function, or explains it in
/// an error.
fn known(name: &str) -> bool {
    let understood = table::find(On::Dsl, name).or_else(|| table::find(On::Nd, name)).is_some();
    understood
        || refused::is_macro(name)
        || table::find(On::Real, name).is_some()
        || catalogue::is_function_elsewhere(name)
        || refused::later(name, false).is_some()
}

/// Whether a name is that of a function of the prelude that does not take this number of arguments.
/// Then rustc accepts the call only if the name is that of another function.
fn is_of_prelude_with_others(name: &str, arguments: Option<usize>) -> bool {
    let row = table::find(On::Dsl, name);
    row.zip(arguments).is_some_and(|(row, n)| !(row.args.0..=row.args.1).contains(&n))
}

impl<'ast> Visit<'ast> for Requests {
    fn visit_expr_call(&mut self, c: &'ast ExprCall) {
        if self.opaque_errors && matches!(&*c.func, Expr::Path(p) if p.path.is_ident("Err")) {
            return;
        }
        if let Expr::Path(p) = &*c.func
            && p.qself.is_none()
        {
            if !is_common_call(c) {
                self.ask_for_function(&p.path, Some(c.args.len()));
            } else {
                self.note_known(&p.path);
            }
            let last = p.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
            // This is the constructor of a struct or of a variant.
            if last.starts_with(char::is_uppercase) {
                self.ask_for_owner(&p.path, true);
            }
        }
        let takes_a_function = match &*c.func {
            Expr::Path(p) => p.path.segments.last().is_some_and(|s| {
                let name = s.ident.to_string();
                table::find(On::Dsl, &name).or_else(|| table::find(On::Std, &name)).is_some()
            }),
            _ => false,
        };
        let takes_it_first = match &*c.func {
            Expr::Path(p) => {
                p.path.segments.last().is_some_and(|s| table::find(On::Common, &s.ident.to_string()).is_some())
            }
            _ => false,
        };
        if takes_it_first && c.args.len() > 1 {
            c.args.first().into_iter().for_each(|e| self.function_as_argument(e));
        }
        if takes_a_function && c.args.len() > 1 {
            c.args.last().into_iter().for_each(|e| self.function_as_argument(e));
        }
        visit::visit_expr_call(self, c);
    }

    fn visit_expr_method_call(&mut self, m: &'ast ExprMethodCall) {
        let name = m.method.to_string();
        if self.opaque_errors && table::makes_an_error(&name) {
            return self.visit_expr(&m.receiver);
        }
        let of_numbers = table::find(On::Real, &name).is_some() || table::find(On::Int, &name).is_some();
        if !of_numbers {
            m.args.last().into_iter().for_each(|e| self.function_as_argument(e));
        }
        visit::visit_expr_method_call(self, m);
    }

    fn visit_item_fn(&mut self, f: &'ast ItemFn) {
        self.scope(|me| {
            let outer = std::mem::replace(&mut me.opaque_errors, has_opaque_errors(&f.sig));
            me.signature(&f.sig);
            for input in &f.sig.inputs {
                if let syn::FnArg::Typed(p) = input {
                    me.visit_pat(&p.pat);
                }
            }
            me.visit_block(&f.block);
            me.opaque_errors = outer;
        });
    }

    fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
        self.variables.push(p.ident.to_string());
        visit::visit_pat_ident(self, p);
    }

    fn visit_block(&mut self, b: &'ast syn::Block) {
        self.scope(|me| visit::visit_block(me, b));
    }

    fn visit_arm(&mut self, a: &'ast syn::Arm) {
        self.scope(|me| visit::visit_arm(me, a));
    }

    fn visit_expr_closure(&mut self, c: &'ast syn::ExprClosure) {
        self.scope(|me| visit::visit_expr_closure(me, c));
    }

    fn visit_expr_for_loop(&mut self, l: &'ast syn::ExprForLoop) {
        self.scope(|me| {
            me.visit_expr(&l.expr);
            me.visit_pat(&l.pat);
            me.visit_block(&l.body);
        });
    }

    /// The variable is not in scope in its own initial value: `let loss = loss(&model);`.
    fn visit_local(&mut self, l: &'ast syn::Local) {
        if let Some(init) = &l.init {
            self.visit_expr(&init.expr);
            init.diverge.iter().for_each(|(_, e)| self.visit_expr(e));
        }
        self.visit_pat(&l.pat);
    }

    fn visit_expr_let(&mut self, e: &'ast syn::ExprLet) {
        self.visit_expr(&e.expr);
        self.visit_pat(&e.pat);
    }

    fn visit_expr_struct(&mut self, e: &'ast syn::ExprStruct) {
        self.ask_for_owner(&e.path, true);
        visit::visit_expr_struct(self, e);
    }

    /// The path may be a variant without fields.
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        let last = e.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        // An associated constant has no lower case letter.
        if e.qself.is_none() && last.starts_with(char::is_uppercase) && last.contains(char::is_lowercase) {
            self.ask_for_owner(&e.path, false);
        }
    }

    fn visit_pat_struct(&mut self, p: &'ast syn::PatStruct) {
        self.ask_for_owner(&p.path, true);
        visit::visit_pat_struct(self, p);
    }

    fn visit_pat_tuple_struct(&mut self, p: &'ast syn::PatTupleStruct) {
        self.ask_for_owner(&p.path, true);
        visit::visit_pat_tuple_struct(self, p);
    }

    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Path(p) if p.qself.is_none() => {
                self.ask_for_type(&p.path);
                // The dimension of an array is not one of the types that have a definition.
                let of = p.path.segments.last().and_then(|s| KnownType::named(&s.ident.to_string()));
                if !matches!(of, Some(KnownType::Array(_) | KnownType::Ranked(..))) {
                    visit::visit_type_path(self, p);
                }
            }
            Type::Reference(_) | Type::Slice(_) | Type::Array(_) | Type::Tuple(_) | Type::Paren(_) | Type::Group(_) => {
                visit::visit_type(self, ty);
            }
            _ => {}
        }
    }
}

/// Whether a call by a bare name has as many arguments as `ad`'s function of this common name. A
/// call with another number is of the user's own function.
fn is_common_call(c: &syn::ExprCall) -> bool {
    let Expr::Path(p) = &*c.func else { return false };
    let row = p.path.get_ident().and_then(|name| table::find(On::Common, &name.to_string()));
    row.is_some_and(|row| (row.args.0..=row.args.1).contains(&c.args.len()))
}

impl Requests {
    /// A function may be an argument: `xs.mapv(square)`. A name that is nearly one of the
    /// function's own names is taken for a misspelt variable.
    fn function_as_argument(&mut self, e: &Expr) {
        let Expr::Path(p) = e else { return };
        let name = written(&p.path);
        let a_number = types::elem_named(&name, None).is_some() || consts::assumed(&p.path).is_some();
        if p.qself.is_none()
            && !a_number
            && suggest(&name, self.own.iter().chain(&self.variables).map(String::as_str)).is_none()
        {
            self.ask_for_function(&p.path, None);
        }
    }
}

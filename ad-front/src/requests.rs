//! The names of a function whose definitions it needs: those in the position of a function that
//! are neither its own nor known here.
//!
//! This module must never ask for a name that a variable or an item of the body may have.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, ItemFn, Path};

use super::assume::Special;
use super::table::{self, On};
use super::travel::written;
use super::{consts, items, macros, panics, types};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Diags, MARK, suggest};
use ad_ir::program::KnownType;

/// The paths whose definitions a function needs, each once and without generic arguments.
#[must_use]
pub fn requests(item: &TokenStream) -> Vec<Path> {
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) else { return Vec::new() };
    macros::rewrite(&mut function.block, &mut Diags::new());
    items::replace(&mut function.block);
    let mut own = Own(BTreeSet::from([function.sig.ident.to_string()]));
    own.visit_item_fn(&function);
    let mut requests = Requests { own: own.0, paths: Vec::new() };
    requests.visit_block(&function.block);
    requests.paths
}

/// The names that a function declares.
struct Own(BTreeSet<String>);

impl Visit<'_> for Own {
    fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
        self.0.insert(p.ident.to_string());
        visit::visit_pat_ident(self, p);
    }

    fn visit_item_fn(&mut self, f: &ItemFn) {
        self.0.insert(f.sig.ident.to_string());
        visit::visit_item_fn(self, f);
    }
}

struct Requests {
    own: BTreeSet<String>,
    paths: Vec<Path>,
}

impl Requests {
    fn ask(&mut self, path: &Path) {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|s| s.arguments = syn::PathArguments::None);
        if !self.paths.iter().any(|other| written(other) == written(&path)) {
            self.paths.push(path);
        }
    }

    /// Whether a path in the position of a function may be a marked function.
    fn may_be_marked(&self, path: &Path) -> bool {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let Some((last, before)) = names.split_last() else { return false };
        if names[0] == MARK || names[0] == "Self" || !last.starts_with(|c: char| c.is_lowercase() || c == '_') {
            return false;
        }
        // A function of a type, and not of a module.
        let of_type = before.last().is_some_and(|owner| {
            owner.starts_with(char::is_uppercase)
                || types::elem_named(owner, None).is_some()
                || KnownType::named(owner).is_some()
        });
        if of_type || panics::named(path).is_some() || Special::of(path).is_some() {
            return false;
        }
        match before.last().map(String::as_str) {
            None => !self.own.contains(last) && !known(last),
            // The modules of a path that is known here.
            Some("ad" | "prelude" | "dsl" | "ndarray" | "linalg" | "iter" | "mem" | "std" | "core" | "array") => false,
            Some(_) => {
                let understood = matches!(&*names[0], "std" | "core" | "alloc" | "ndarray" | "ad");
                let translated = before.len() == 1 && catalogue::is_name_elsewhere(&names[0]);
                !understood && !translated
            }
        }
    }
}

/// Whether a bare name in the position of a function is one that is understood, or one whose
/// meaning is said by an error here.
fn known(name: &str) -> bool {
    let understood = table::find(On::Dsl, name).or_else(|| table::find(On::Nd, name)).is_some();
    understood
        || refused::is_macro(name)
        || table::find(On::Real, name).is_some()
        || catalogue::is_function_elsewhere(name)
        || refused::later(name, false).is_some()
}

impl<'ast> Visit<'ast> for Requests {
    fn visit_expr_call(&mut self, c: &'ast ExprCall) {
        if let Expr::Path(p) = &*c.func
            && p.qself.is_none()
            && self.may_be_marked(&p.path)
        {
            self.ask(&p.path);
        }
        let takes_a_function = match &*c.func {
            Expr::Path(p) => p.path.segments.last().is_some_and(|s| {
                let name = s.ident.to_string();
                table::find(On::Dsl, &name).or_else(|| table::find(On::Std, &name)).is_some()
            }),
            _ => false,
        };
        if takes_a_function && c.args.len() > 1 {
            c.args.last().into_iter().for_each(|e| self.function_as_argument(e));
        }
        visit::visit_expr_call(self, c);
    }

    fn visit_expr_method_call(&mut self, m: &'ast ExprMethodCall) {
        let name = m.method.to_string();
        let of_numbers = table::find(On::Real, &name).is_some() || table::find(On::Int, &name).is_some();
        if !of_numbers {
            m.args.last().into_iter().for_each(|e| self.function_as_argument(e));
        }
        visit::visit_expr_method_call(self, m);
    }

    /// A function in a body has names of its own.
    fn visit_item_fn(&mut self, f: &'ast ItemFn) {
        visit::visit_block(self, &f.block);
    }
}

impl Requests {
    /// A function that is an argument: `xs.mapv(square)`. A name that is nearly one of the
    /// function's own is that of a variable.
    fn function_as_argument(&mut self, e: &Expr) {
        let Expr::Path(p) = e else { return };
        let name = written(&p.path);
        let a_number = types::elem_named(&name, None).is_some() || consts::assumed(&p.path).is_some();
        if p.qself.is_none()
            && !a_number
            && suggest(&name, self.own.iter().map(String::as_str)).is_none()
            && self.may_be_marked(&p.path)
        {
            self.ask(&p.path);
        }
    }
}

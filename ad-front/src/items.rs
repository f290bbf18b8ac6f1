//! Items of a body that only introduce names: `use`, and `type` without parameters. Each name is
//! replaced by its meaning before anything is typed or lowered. So the proof of the assumption
//! about an imported name uses the imported path, and can be outside of the function.
//!
//! This module must never replace a name that a variable may have: a path of one segment is not
//! replaced if the function binds its name anywhere.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprPath, Item, Pat, Path, PathArguments, PathSegment, Stmt, Type, UseTree};

use crate::walk::{Change, Changing, Part, Walk};

/// Replaces the names, and removes the items. Returns the imported paths.
pub(super) fn replace(block: &mut Block) -> Vec<TokenStream> {
    let (mut bound, mut enums, mut own) = (SortedSet::new(), Enums::default(), SortedSet::new());
    let mut walk = |part: Part<'_>| match part {
        // A name in upper case is a constant by convention.
        Part::PatIdent(p) if !super::pattern::is_constant(&p.ident.to_string()) => {
            bound.insert(p.ident.to_string());
        }
        Part::Item(Item::Enum(e)) => {
            own.insert(e.ident.to_string());
            enums.insert(e.ident.to_string(), e.variants.iter().map(|v| v.ident.clone()).collect());
        }
        Part::Item(Item::Struct(s)) => {
            own.insert(s.ident.to_string());
        }
        _ => {}
    };
    Walk(&mut walk).visit_block(block);
    let mut names = Names { blocks: Vec::new(), bound, inside: Vec::new(), imports: Vec::new(), enums, own };
    Changing(&mut names).visit_block_mut(block);
    names.imports
}

/// The meaning of a name.
enum Meaning {
    Path(Path),
    Type(Box<Type>),
}

struct Names {
    /// The names of each enclosing block.
    blocks: Vec<HashMap<String, Meaning>>,
    /// The names that patterns bind anywhere in the function.
    bound: SortedSet<String>,
    /// The names that are being replaced. A name inside of its own replacement is not replaced
    /// again.
    inside: Vec<String>,
    imports: Vec<TokenStream>,
    enums: Enums,
    /// The names of all types of the function.
    own: SortedSet<String>,
}

/// The names that a `use` imports, each with its path. `None` if it has a `*`.
fn imported(tree: &UseTree, path: &mut Path, names: &mut Vec<(Ident, Path)>) -> Option<()> {
    let with = |path: &Path, name: &Ident| {
        let mut path = path.clone();
        if name != "self" || path.segments.is_empty() {
            path.segments.push(PathSegment { ident: name.clone(), arguments: PathArguments::None });
        }
        path
    };
    match tree {
        UseTree::Path(p) => {
            let mut path = with(path, &p.ident);
            imported(&p.tree, &mut path, names)
        }
        UseTree::Name(n) => {
            let path = with(path, &n.ident);
            let name = path.segments.last()?.ident.clone();
            names.push((name, path));
            Some(())
        }
        UseTree::Rename(r) => {
            names.push((r.rename.clone(), with(path, &r.ident)));
            Some(())
        }
        UseTree::Group(g) => g.items.iter().try_for_each(|tree| imported(tree, path, names)),
        UseTree::Glob(_) => None,
    }
}

/// The enums of a function, each with its variants.
type Enums = SortedMap<String, Vec<Ident>>;

/// The variants of an enum of the function whose names a `use` with `*` imports.
fn variants(tree: &UseTree, enums: &Enums) -> Option<Vec<(Ident, Path)>> {
    let UseTree::Path(p) = tree else { return None };
    let variants = enums.get(&p.ident.to_string()).filter(|_| matches!(*p.tree, UseTree::Glob(_)))?;
    let path = |variant: &Ident| {
        let mut path = Path::from(p.ident.clone());
        path.segments.push(variant.clone().into());
        path
    };
    Some(variants.iter().map(|variant| (variant.clone(), path(variant))).collect())
}

/// The names of an item that is replaced. `None` for another item.
fn names_of(item: &Item, enums: &Enums) -> Option<Vec<(Ident, Meaning)>> {
    match item {
        Item::Use(u) => {
            let mut path = Path { leading_colon: u.leading_colon, segments: Default::default() };
            let mut names = Vec::new();
            match variants(&u.tree, enums) {
                Some(variants) => names = variants,
                None => imported(&u.tree, &mut path, &mut names)?,
            }
            Some(names.into_iter().map(|(name, path)| (name, Meaning::Path(path))).collect())
        }
        Item::Type(t) if t.generics.params.is_empty() => Some(vec![(t.ident.clone(), Meaning::Type(t.ty.clone()))]),
        _ => None,
    }
}

/// The path with the location of the name that it replaces.
fn located(mut path: Path, span: Span) -> Path {
    path.segments.iter_mut().for_each(|s| s.ident.set_span(span));
    path
}

/// Whether a name is the name of a number type.
fn is_number(name: &Ident) -> bool {
    super::types::elem_named(&name.to_string(), None).is_some()
}

impl Names {
    fn meaning(&self, name: &Ident) -> Option<&Meaning> {
        let name = name.to_string();
        let open = !self.inside.contains(&name);
        self.blocks.iter().rev().find_map(|block| block.get(&name)).filter(|_| open)
    }

    /// The path with its first segment replaced by the path that this name means.
    fn written_out(&self, path: &Path) -> Option<Path> {
        let first = path.segments.first().filter(|_| path.leading_colon.is_none())?;
        let mut whole = match self.meaning(&first.ident)? {
            // `use std::f64;` imports a module. The type of this name has functions of its own.
            Meaning::Path(_) if is_number(&first.ident) && path.segments.len() < 3 => return None,
            Meaning::Path(whole) => whole.clone(),
            Meaning::Type(ty) => match &**ty {
                Type::Path(p) if p.qself.is_none() => p.path.clone(),
                _ => return None,
            },
        };
        whole = located(whole, first.ident.span());
        let last = whole.segments.last_mut()?;
        if !matches!(first.arguments, PathArguments::None) {
            last.arguments = first.arguments.clone();
        }
        whole.segments.extend(path.segments.iter().skip(1).cloned());
        Some(whole)
    }

    /// Visits the replacement of a name.
    fn within(&mut self, name: &Ident, f: impl FnOnce(&mut Self)) {
        self.inside.push(name.to_string());
        f(self);
        self.inside.pop();
    }

    /// Whether a path may be a variable.
    fn is_variable(&self, path: &Path) -> bool {
        path.get_ident().is_some_and(|name| self.bound.contains(&name.to_string()))
    }
}

impl Change for Names {
    fn block(&mut self, block: &mut Block) -> bool {
        let mut names = HashMap::new();
        for stmt in std::mem::take(&mut block.stmts) {
            let found = if let Stmt::Item(item) = &stmt { names_of(item, &self.enums) } else { None };
            let Some(found) = found else {
                block.stmts.push(stmt);
                continue;
            };
            for (name, meaning) in found {
                // A type that the function defines is not in scope at the place of the proofs.
                if let Meaning::Path(path) = &meaning
                    && !path.segments.first().is_some_and(|s| self.own.contains(&s.ident.to_string()))
                {
                    self.imports.push(path.to_token_stream());
                }
                names.insert(name.to_string(), meaning);
            }
        }
        self.blocks.push(names);
        visit_mut::visit_block_mut(&mut Changing(self), block);
        self.blocks.pop();
        false
    }

    fn expr(&mut self, e: &mut Expr) -> bool {
        if let Expr::Path(ExprPath { qself: None, path, .. }) = e
            && self.is_variable(path)
        {
            return false;
        }
        visit_mut::visit_expr_mut(&mut Changing(self), e);
        // The path of a type in an expression has `::` before its arguments.
        if let Expr::Path(p) = e {
            for segment in &mut p.path.segments {
                if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    arguments.colon2_token.get_or_insert_default();
                }
            }
        }
        false
    }

    fn ty(&mut self, ty: &mut Type) -> bool {
        if let Type::Path(p) = ty
            && p.qself.is_none()
            && let Some(name) = p.path.get_ident().cloned()
            && let Some(Meaning::Type(of)) = self.meaning(&name)
        {
            ty.clone_from(of);
            self.within(&name, |me| Changing(me).visit_type_mut(ty));
            return false;
        }
        true
    }

    fn path(&mut self, path: &mut Path) -> bool {
        if let (Some(whole), Some(first)) = (self.written_out(path), path.segments.first()) {
            let name = first.ident.clone();
            *path = whole;
            self.within(&name, |me| Changing(me).visit_path_mut(path));
            return false;
        }
        true
    }

    fn pat(&mut self, pat: &mut Pat) -> bool {
        if let Pat::Ident(p) = pat
            && p.by_ref.is_none()
            && p.subpat.is_none()
            && !self.bound.contains(&p.ident.to_string())
            && let Some(Meaning::Path(path)) = self.meaning(&p.ident)
        {
            let path = located(path.clone(), p.ident.span());
            *pat = Pat::Path(ExprPath { attrs: Vec::new(), qself: None, path });
            return false;
        }
        true
    }
}

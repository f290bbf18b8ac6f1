//! Distinct names for the types of a function: of two types of one name in different blocks, the
//! later one gets another name. The table of definitions does not know the scopes of blocks.
//!
//! This module must never rename a variable. The names are never written into generated code, which
//! does not name types of a body.

use ad_ir::sorted::{SortedMap, SortedSet};

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Fields, Item, ItemUse, Pat, Path, Stmt, UseTree};

use crate::walk::{Change, Changing, Part, Walk};

/// Renames the types of a body whose names are taken, by an earlier block or from outside. Adds the
/// names of its types to those that are taken.
pub(super) fn types(body: &mut Block, taken: &mut SortedSet<String>) {
    Changing(&mut Distinct { taken, blocks: Vec::new() }).visit_block_mut(body);
}

/// The names of all types that items define, those in the bodies of functions too.
pub(super) fn names<'i>(items: impl Iterator<Item = &'i Item>) -> SortedSet<String> {
    let mut names = SortedSet::new();
    let mut walk = |part: Part<'_>| {
        if let Part::Item(item) = part {
            names.extend(defined(item).map(|(name, _)| name.to_string()));
        }
    };
    items.for_each(|item| Walk(&mut walk).visit_item(item));
    names
}

/// The name of a type, and whether its name is a constructor as well: that of a tuple struct or of
/// a struct without fields.
fn defined(item: &Item) -> Option<(&Ident, bool)> {
    match item {
        Item::Struct(s) => Some((&s.ident, !matches!(s.fields, Fields::Named(_)))),
        Item::Enum(e) => Some((&e.ident, false)),
        _ => None,
    }
}

struct Distinct<'t> {
    taken: &'t mut SortedSet<String>,
    /// The new names of the types of each enclosing block, and whether they are constructors.
    blocks: Vec<SortedMap<String, (Ident, bool)>>,
}

impl Distinct<'_> {
    fn new_name(&mut self, name: &Ident) -> Option<Ident> {
        if self.taken.insert(name.to_string()) {
            return None;
        }
        let other = (2..).map(|k| format!("{name}_{k}")).find(|other| !self.taken.contains(other))?;
        self.taken.insert(other.clone());
        Some(Ident::new(&other, name.span()))
    }

    /// The new name of a type, as a constructor if that is asked for.
    fn renamed(&self, name: &Ident, constructor: bool) -> Option<Ident> {
        let (new, constructs) = self.blocks.iter().rev().find_map(|block| block.get(&name.to_string()))?;
        (*constructs || !constructor).then(|| Ident::new(&new.to_string(), name.span()))
    }

    fn rename(&self, path: &mut Path, constructor: bool) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first_mut()
            && let Some(new) = self.renamed(&first.ident, constructor)
        {
            first.ident = new;
        }
    }
}

impl Change for Distinct<'_> {
    fn block(&mut self, block: &mut Block) -> bool {
        let mut names = SortedMap::new();
        for stmt in &mut block.stmts {
            let Stmt::Item(item) = stmt else { continue };
            let Some((name, constructs)) = defined(item) else { continue };
            let old = name.clone();
            let Some(new) = self.new_name(&old) else { continue };
            match item {
                Item::Struct(s) => s.ident = new.clone(),
                Item::Enum(e) => e.ident = new.clone(),
                _ => {}
            }
            names.insert(old.to_string(), (new, constructs));
        }
        self.blocks.push(names);
        visit_mut::visit_block_mut(&mut Changing(self), block);
        self.blocks.pop();
        false
    }

    fn expr(&mut self, e: &mut Expr) -> bool {
        match e {
            // A single name is a variable, unless the type has a constructor.
            Expr::Path(p) if p.qself.is_none() && p.path.segments.len() == 1 => self.rename(&mut p.path, true),
            _ => visit_mut::visit_expr_mut(&mut Changing(self), e),
        }
        false
    }

    fn pat(&mut self, pat: &mut Pat) -> bool {
        match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                if let Some(new) = self.renamed(&p.ident, true) {
                    p.ident = new;
                }
            }
            _ => visit_mut::visit_pat_mut(&mut Changing(self), pat),
        }
        false
    }

    fn path(&mut self, path: &mut Path) -> bool {
        self.rename(path, false);
        true
    }

    fn item_use(&mut self, item: &mut ItemUse) -> bool {
        let first = match &mut item.tree {
            UseTree::Path(p) => &mut p.ident,
            UseTree::Rename(r) => &mut r.ident,
            _ => return false,
        };
        if let Some(new) = self.renamed(first, false) {
            *first = new;
        }
        false
    }
}

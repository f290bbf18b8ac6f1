//! Walks over all parts of a piece of Rust's syntax: for questions about it that need no scopes
//! (which names it binds, which functions it calls), and for changes of it.
//!
//! `syn` has a function for each kind of syntax, and all of them are compiled again for each type
//! that implements its `Visit` or `VisitMut`. They were an eighth of the machine code of the front
//! end. So questions are closures and changes are objects, which two walks call that are compiled
//! once. An implementation of `Visit` is only for questions that need scopes.
//!
//! This module must never decide what a part means.

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, ExprCall, ExprMethodCall, ExprPath, GenericParam, Item, ItemFn, ItemImpl, ItemTrait,
    ItemUse, Lifetime, Macro, Pat, PatIdent, Path, PathSegment, Stmt, Type, TypePath,
};

/// A part of a piece of syntax, of the kinds that are asked for somewhere.
pub(crate) enum Part<'ast> {
    Expr(&'ast Expr),
    ExprCall(&'ast ExprCall),
    ExprMethodCall(&'ast ExprMethodCall),
    ExprPath(&'ast ExprPath),
    GenericParam(&'ast GenericParam),
    Item(&'ast Item),
    Lifetime(&'ast Lifetime),
    ItemFn(&'ast ItemFn),
    Macro(&'ast Macro),
    PatIdent(&'ast PatIdent),
    Path(&'ast Path),
    PathSegment(&'ast PathSegment),
    Type(&'ast Type),
    TypePath(&'ast TypePath),
}

/// Calls a closure with each part of what is visited, the outer ones first.
pub(crate) struct Walk<'f, 'ast>(pub(crate) &'f mut dyn FnMut(Part<'ast>));

/// The methods of `Visit` for the kinds of [`Part`].
macro_rules! parts {
    ($($visit:ident $kind:ident)*) => {
        impl<'ast> Visit<'ast> for Walk<'_, 'ast> {
            $(fn $visit(&mut self, part: &'ast $kind) {
                self.0(Part::$kind(part));
                visit::$visit(self, part);
            })*
        }
    };
}

parts! {
    visit_expr Expr
    visit_expr_call ExprCall
    visit_expr_method_call ExprMethodCall
    visit_expr_path ExprPath
    visit_generic_param GenericParam
    visit_item Item
    visit_item_fn ItemFn
    visit_lifetime Lifetime
    visit_macro Macro
    visit_pat_ident PatIdent
    visit_path Path
    visit_path_segment PathSegment
    visit_type Type
    visit_type_path TypePath
}

/// A change of parts of a piece of syntax. Each method returns whether the parts of its argument
/// are visited next.
pub(crate) trait Change {
    fn attribute(&mut self, _: &mut Attribute) -> bool {
        true
    }
    fn block(&mut self, _: &mut Block) -> bool {
        true
    }
    fn expr(&mut self, _: &mut Expr) -> bool {
        true
    }
    fn expr_path(&mut self, _: &mut ExprPath) -> bool {
        true
    }
    fn item_impl(&mut self, _: &mut ItemImpl) -> bool {
        true
    }
    fn item_trait(&mut self, _: &mut ItemTrait) -> bool {
        true
    }
    fn item_use(&mut self, _: &mut ItemUse) -> bool {
        true
    }
    fn pat(&mut self, _: &mut Pat) -> bool {
        true
    }
    fn path(&mut self, _: &mut Path) -> bool {
        true
    }
    fn stmt(&mut self, _: &mut Stmt) -> bool {
        true
    }
    fn ty(&mut self, _: &mut Type) -> bool {
        true
    }
}

/// Applies a change to each part of what is visited, to the outer ones first.
pub(crate) struct Changing<'c>(pub(crate) &'c mut dyn Change);

/// The methods of `VisitMut` for the methods of [`Change`].
macro_rules! changes {
    ($($visit:ident $change:ident $kind:ident)*) => {
        impl VisitMut for Changing<'_> {
            $(fn $visit(&mut self, part: &mut $kind) {
                if self.0.$change(part) {
                    visit_mut::$visit(self, part);
                }
            })*
        }
    };
}

changes! {
    visit_attribute_mut attribute Attribute
    visit_block_mut block Block
    visit_expr_mut expr Expr
    visit_expr_path_mut expr_path ExprPath
    visit_item_impl_mut item_impl ItemImpl
    visit_item_trait_mut item_trait ItemTrait
    visit_item_use_mut item_use ItemUse
    visit_pat_mut pat Pat
    visit_path_mut path Path
    visit_stmt_mut stmt Stmt
    visit_type_mut ty Type
}

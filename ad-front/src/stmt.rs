//! Blocks and statements.

use ad_ir::sorted::SortedSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, Item, Pat, StaticMutability, Stmt, Type};

use super::definitions::{is_definition, types_of};
use super::lower::Lower;
use super::refuse;
use super::value::{Lowered, Value};
use crate::translation::cells::CellValue;
use ad_ir::catalogue::refused::{self, InnerItem};
use ad_ir::diag::{Poison, SrcRange, text_of};

impl<'a> Lower<'a> {
    /// Lowers a block. Every statement is lowered, so that every error is reported.
    pub(super) fn block(&mut self, block: &'a Block) -> Lowered<Value<'a>> {
        let (outer, cells) = (self.state.names.clone(), self.state.cells.len());
        let mut result = Ok(Value::Unit);
        // Items are known in the whole block.
        let around = self.enter_items(block);
        let mut poisoned = self.items(block).is_err();
        for stmt in &block.stmts {
            result = match stmt {
                Stmt::Local(local) => {
                    poisoned |= self.local(local).is_err();
                    Ok(Value::Unit)
                }
                Stmt::Expr(e, semi) => {
                    let value = if semi.is_some() { self.expr(e) } else { self.moved(e) };
                    poisoned |= value.is_err();
                    if semi.is_some() { value.map(|_| Value::Unit) } else { value }
                }
                Stmt::Item(item) if matches!(item, Item::Fn(_)) || is_definition(item) || constant(item).is_some() => {
                    Ok(Value::Unit)
                }
                Stmt::Item(item) => {
                    poisoned = true;
                    let kind = match item {
                        Item::Static(_) => InnerItem::Static,
                        Item::Use(_) => InnerItem::Glob,
                        _ => InnerItem::Other,
                    };
                    Err(self.error(SrcRange::of(item), refused::inner_item(kind)))
                }
                Stmt::Macro(m) => {
                    poisoned = true;
                    Err(self.error(SrcRange::of(&m.mac), refuse::macro_call(&m.mac)))
                }
            };
        }
        self.state.names.leave(outer);
        self.state.items.leave(around);
        self.state.cells.truncate(cells);
        match result {
            _ if poisoned => Err(Poison),
            // A block whose end is not reached has any type.
            Ok(_) if !self.state.jumps.reachable() => Ok(Value::Never),
            result => result,
        }
    }

    /// Binds the constants and functions of a block. They do not see the enclosing variables.
    fn items(&mut self, block: &'a Block) -> Lowered<()> {
        let mut result = Ok(());
        let mut items = in_order(block);
        // A function that may call itself does not need the other items to be bound first.
        items
            .sort_by_key(|item| !matches!(item, Item::Fn(f) if self.state.items.is_compiled(&f.sig.ident.to_string())));
        // A constant may be a value of a type of the block.
        types_of(block).for_each(|ty| self.mark_items(&ty.to_string()));
        for item in &items {
            let Some((name, ty, expr)) = constant(item) else { continue };
            let inside = self.state.names.enter_item();
            let value = self.expr(expr).and_then(|v| self.ascribe(v, ty, SrcRange::of(expr)));
            self.state.names.back_to(inside);
            if value.is_err() {
                result = Err(Poison);
            }
            self.state.names.bind_item(name.to_string(), value.ok());
        }
        let inner = items.iter().filter_map(|item| match item {
            Item::Fn(f) => Some(f.sig.ident.to_string()),
            _ => None,
        });
        self.state.items.note_nested(inner);
        for item in items {
            // A refused item has been reported. A use of its name is not a second error.
            named_by(item).into_iter().for_each(|name| self.state.names.bind_item(name, None));
            let Item::Fn(f) = item else { continue };
            let function = self.nested_function(f);
            if function.is_err() {
                result = Err(Poison);
            }
            self.state.names.bind_item(f.sig.ident.to_string(), function.ok());
        }
        types_of(block).for_each(|ty| self.mark_items(&ty.to_string()));
        result
    }

    fn local(&mut self, local: &'a syn::Local) -> Lowered<()> {
        let value = match &local.init {
            None => return self.declare_later(&local.pat, None),
            Some(init) => match &init.diverge {
                Some((_, other)) => return self.let_else(local, &init.expr, other),
                None => match self.typed_constant(&local.pat, &init.expr)? {
                    Some(constant) => Ok(constant),
                    None if super::products::is_default(&init.expr) => self.default_of_type(&local.pat, &init.expr),
                    None => self.moved(&init.expr),
                },
            },
        };
        let bound = self.bind(&local.pat, value.as_ref().ok().cloned());
        value?;
        bound
    }
}

impl<'a> Lower<'a> {
    /// Lowers `let x: T = Default::default();` of a type of the table. Other types are left to the
    /// ordinary path.
    fn default_of_type(&mut self, pat: &'a Pat, value: &'a Expr) -> Lowered<Value<'a>> {
        let ty = if let Pat::Type(typed) = pat { Some(&*typed.ty) } else { None };
        let name = ty.and_then(super::associated::name_of);
        match name.and_then(|name| self.input.definitions().ty(&name)) {
            Some(of) => self.default_of(of, SrcRange::of(value)),
            None => self.moved(value),
        }
    }

    /// Lowers `let value: f64 = g;` with an unknown name. It is a constant outside of the function,
    /// which may be in lower case if a number type is given. A name that looks misspelt is an
    /// error.
    fn typed_constant(&mut self, pat: &'a Pat, value: &'a syn::Expr) -> Lowered<Option<Value<'a>>> {
        let (Pat::Type(typed), syn::Expr::Path(p)) = (pat, value) else { return Ok(None) };
        let numbers = self.annotated(&typed.ty).is_some();
        let name = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
        let small = name.starts_with(|c: char| c.is_lowercase());
        let bare = p.path.get_ident().is_some();
        if !numbers || !small || p.qself.is_some() || bare && self.state.names.get(&name).is_some() {
            return Ok(None);
        }
        let known = self.resolve(&p.path)?.is_some() || super::types::elem_named(&name, None).is_some();
        if known || bare && self.near_name(&name).is_some() {
            return Ok(None);
        }
        let path = self.at_its_place(&p.path.to_token_stream());
        Ok(Some(Value::Number(super::value::Number::Outer(path.into()).into())))
    }
}

/// The name, type and value of a constant, or of a static that does not change.
fn constant(item: &Item) -> Option<(&Ident, &Type, &Expr)> {
    match item {
        Item::Const(c) => Some((&c.ident, &c.ty, &c.expr)),
        Item::Static(s) if matches!(s.mutability, StaticMutability::None) => Some((&s.ident, &s.ty, &s.expr)),
        _ => None,
    }
}

/// The items of a block, each after those that it uses. Recursive items come last.
fn in_order(block: &Block) -> Vec<&Item> {
    fn mentions(tokens: TokenStream, names: &mut SortedSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(g) => mentions(g.stream(), names),
                TokenTree::Ident(i) => {
                    names.insert(i.to_string());
                }
                _ => {}
            }
        }
    }
    let items: Vec<&Item> =
        block.stmts.iter().filter_map(|s| if let Stmt::Item(item) = s { Some(item) } else { None }).collect();
    if items.len() < 2 {
        return items;
    }
    let mut waiting: Vec<(&Item, Option<String>, SortedSet<String>)> = Vec::new();
    for item in items {
        let name = match item {
            Item::Fn(f) => Some(f.sig.ident.to_string()),
            item => constant(item).map(|(name, ..)| name.to_string()),
        };
        let mut names = SortedSet::new();
        if name.is_some() {
            mentions(item.to_token_stream(), &mut names);
        }
        name.iter().for_each(|name| {
            names.remove(name);
        });
        waiting.push((item, name, names));
    }
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let open: SortedSet<String> = waiting.iter().filter_map(|(_, name, _)| name.clone()).collect();
        let ready = waiting.iter().position(|(_, _, names)| names.is_disjoint(&open)).unwrap_or(0);
        ordered.push(waiting.remove(ready).0);
    }
    ordered
}

/// The name of a value that a refused item brings into scope.
fn named_by(item: &Item) -> Option<String> {
    match item {
        Item::Static(i) if constant(item).is_none() => Some(i.ident.to_string()),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    /// Lowers `let PAT = value else { .. };`. The `else` block does not complete.
    fn let_else(&mut self, local: &'a syn::Local, value: &'a syn::Expr, other: &'a syn::Expr) -> Lowered<()> {
        let range = SrcRange::of(&local.pat);
        let fits = self.moved(value).and_then(|value| Ok((self.fits(&local.pat, &value)?, value)));
        let (fits, value) = match fits {
            Ok(found) => found,
            Err(Poison) => {
                // The block is lowered for its errors.
                let _ = self.expr(other);
                super::pattern::poison(self, &local.pat);
                return Err(Poison);
            }
        };
        let left = self.branch(fits, |_| Ok(Value::Unit), |me| me.expr(other), range);
        let bound = self.bind(&local.pat, Some(value));
        left?;
        bound
    }

    /// Lowers `let x;`, which is assigned on each path to a use.
    fn declare_later(&mut self, pat: &'a Pat, ty: Option<&'a syn::Type>) -> Lowered<()> {
        match pat {
            Pat::Wild(_) => Ok(()),
            Pat::Paren(p) => self.declare_later(&p.pat, ty),
            Pat::Type(p) => self.declare_later(&p.pat, Some(&p.ty)),
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                self.bind_cell(p.ident.to_string(), CellValue::Unset, p.mutability.is_some());
                self.state.cells.declare(ty);
                Ok(())
            }
            Pat::Tuple(p) => p.elems.iter().try_for_each(|p| self.declare_later(p, None)),
            other => {
                super::pattern::poison(self, other);
                Err(self.error(SrcRange::of(other), refused::pattern(&text_of(other, 40))))
            }
        }
    }
}

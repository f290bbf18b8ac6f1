//! `#[differentiate] mod`: an expansion sees all items of the module.
//!
//! Each marked function, each type and each function of a block is an expansion of its own, which
//! begins with the definitions in the module that it needs. It asks only for definitions outside of
//! the module. An unmarked function that others need is lowered at its own place too, to collect
//! the assumptions about its names.
//!
//! This module must never decide what a name means: `ad_front::Module` does that.

use ad_ir::sorted::SortedSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Fields, Item, ItemFn, ItemImpl, ItemMod, Path, Token};

use super::{Chain, Request, Subject, blocks, number};
use crate::derive;
use crate::expansion::{Expansion, Written};
use ad_front::{self as front, DefId, ItemNeeds, Module, OuterDefinitions};
use ad_ir::diag::Diags;

/// The item as a module whose items are in this file. `None` for any other item.
pub(super) fn module(item: &TokenStream) -> Option<ItemMod> {
    let named = |t| matches!(&t, proc_macro2::TokenTree::Ident(i) if i == "mod");
    let module: ItemMod = item.clone().into_iter().any(named).then(|| syn::parse2(item.clone()).ok())??;
    module.content.is_some().then_some(module)
}

/// The expansion of `#[differentiate(attr)] mod`.
pub(super) fn differentiate(attr: &TokenStream, mut module: ItemMod, place: &str) -> Expansion {
    let mut diags = Diags::new();
    front::options_of_block(attr.clone(), &mut diags);
    let Some((_, items)) = &module.content else { return Expansion::default() };
    let of = |path: &[String], item: &TokenStream| number(&format!("{place} {}", path.join("::")), item);
    let found = Module::read(items, &of);
    let (needed, members, written) = (SortedSet::new(), SortedSet::new(), Vec::new());
    let mut writer = Writer { attr, number: &of, module: &found, needed, members, written };
    let content = module.content.take();
    let inside = content.map(|(_, items)| writer.scope(items, &[])).unwrap_or_default();
    let inside = writer.with_helpers(inside, &[]);
    let (mut errors, mut internal) = (diags.list().to_vec(), false);
    for written in &writer.written {
        errors.extend(written.errors.iter().cloned());
        internal |= written.internal;
    }
    let ItemMod { attrs, vis, ident, .. } = &module;
    let inner = attrs.iter().filter(|a| matches!(a.style, syn::AttrStyle::Inner(_)));
    let outer = attrs.iter().filter(|a| matches!(a.style, syn::AttrStyle::Outer));
    let messages = diags.into_tokens();
    Expansion { tokens: quote!(#(#outer)* #vis mod #ident { #(#inner)* #inside } #messages), errors, internal }
}

/// Writes a module and those in it, with the items beside their functions and types.
struct Writer<'m> {
    attr: &'m TokenStream,
    number: &'m dyn Fn(&[String], &TokenStream) -> DefId,
    module: &'m Module,
    /// The functions without a mark that others need.
    needed: SortedSet<DefId>,
    /// The functions and constants of types that have a macro, by the type's path and their names.
    members: SortedSet<(String, String)>,
    written: Vec<Written>,
}

/// An item of a module, with the items that are written beside it. Functions without a mark are
/// expanded last.
enum Piece {
    Tokens(TokenStream),
    Helper(Box<ItemFn>, DefId, Vec<String>),
    Module(ItemMod, Vec<Piece>),
}

impl Writer<'_> {
    fn scope(&mut self, items: Vec<Item>, path: &[String]) -> Vec<Piece> {
        let mut marks = Vec::new();
        let mut pieces: Vec<Piece> = items.into_iter().map(|item| self.item(item, path, &mut marks)).collect();
        // The module no longer has the mark, so its import has to be used in another way.
        let marks: Vec<Path> = marks;
        if !marks.is_empty() {
            pieces.push(Piece::Tokens(quote! {
                const _: () = {
                    #(
                        #[allow(unused_imports, reason = "the mark of an item of the module")]
                        use #marks as _;
                    )*
                };
            }));
        }
        pieces
    }

    fn item(&mut self, item: Item, path: &[String], marks: &mut Vec<Path>) -> Piece {
        let id = (self.number)(path, &item.to_token_stream());
        let seen = self.module.item(id).cloned();
        let tokens = match (item, seen) {
            (Item::Fn(f), Some(Item::Fn(seen))) => return self.function(f, seen, (id, path), marks),
            (Item::Impl(block), Some(_)) => self.block(&block, (id, path), marks),
            (item @ (Item::Struct(_) | Item::Enum(_)), Some(seen)) => self.ty(item, seen, (id, path), marks),
            (Item::Mod(mut inner), _) => {
                let Some((brace, items)) = inner.content.take() else { return Piece::Tokens(quote!(#inner)) };
                let path: Vec<String> = path.iter().cloned().chain([inner.ident.to_string()]).collect();
                let pieces = self.scope(items, &path);
                inner.content = Some((brace, Vec::new()));
                return Piece::Module(inner, pieces);
            }
            (item, _) => item.into_token_stream(),
        };
        Piece::Tokens(tokens)
    }

    fn function(
        &mut self,
        mut f: ItemFn,
        mut seen: ItemFn,
        (id, path): (DefId, &[String]),
        marks: &mut Vec<Path>,
    ) -> Piece {
        if let Some(rules) = front::Rules::of(&f.attrs) {
            return self.ruled(f, &seen, &rules, (id, path), marks);
        }
        let Some((kind, attr)) = marked(&f.attrs) else { return Piece::Helper(Box::new(f), id, path.to_vec()) };
        take_marks(&mut f.attrs, marks);
        take_marks(&mut seen.attrs, &mut Vec::new());
        let attr = self.options(&attr);
        let chain = self.chain(kind, id, attr, &Item::Fn(seen), path);
        let written = self.next(chain);
        Piece::Tokens(quote! {
            #[allow(dead_code, reason = "a function may be used through its derivatives only")]
            #f
            #written
        })
    }

    /// A function whose body is not read.
    fn ruled(
        &mut self,
        mut f: ItemFn,
        seen: &ItemFn,
        rules: &front::Rules,
        (id, path): (DefId, &[String]),
        marks: &mut Vec<Path>,
    ) -> Piece {
        let mut diags = Diags::new();
        front::check_marks(&f, &mut diags);
        let errors = diags.list().to_vec();
        let mut tokens = diags.into_tokens();
        if errors.is_empty() {
            let item = Item::Fn(front::without_its_body(seen, rules));
            let chain = self.chain(Subject::Ruled, id, self.attr.clone(), &item, path);
            tokens.extend(self.next(chain));
        }
        self.written.push(Written { errors, ..Written::default() });
        f.attrs.retain(|attr| {
            let is_rule = front::is_rule(attr);
            if is_rule {
                add(marks, attr.path());
            }
            !is_rule
        });
        Piece::Tokens(quote! {
            #[allow(dead_code, reason = "a function may be used through its derivatives only")]
            #f
            #tokens
        })
    }

    /// The options of a mark, with those of the module.
    fn options(&self, own: &TokenStream) -> TokenStream {
        let attr = self.attr;
        match (own.is_empty(), attr.is_empty()) {
            (_, true) => own.clone(),
            (true, false) => attr.clone(),
            (false, false) => quote!(#own, #attr),
        }
    }

    fn chain(&mut self, kind: Subject, id: DefId, attr: TokenStream, item: &Item, path: &[String]) -> Chain {
        let ItemNeeds { outside, open } = self.module.needs(path, item);
        self.need(&outside);
        let open = open.into_iter().map(Request::Path).collect();
        Chain { kind, id, attr, item: item.to_token_stream(), open, outside, defined: false }
    }

    /// Records the functions that an expansion needs.
    fn need(&mut self, outside: &OuterDefinitions) {
        self.needed.extend(outside.list.iter().filter(|d| matches!(d.item, Item::Fn(_))).map(|d| d.id));
    }

    fn next(&mut self, chain: Chain) -> TokenStream {
        let mut written = chain.next();
        let tokens = std::mem::take(&mut written.tokens);
        self.written.push(written);
        tokens
    }

    fn ty(
        &mut self,
        mut item: Item,
        mut seen: Item,
        (id, path): (DefId, &[String]),
        marks: &mut Vec<Path>,
    ) -> TokenStream {
        let derived = without_derive(&mut item, marks);
        let own = without_derive(&mut seen, &mut Vec::new());
        let mut tokens = TokenStream::new();
        if derived && own {
            let (written, errors) = derive::implementation_for(&self.module.item(id).into_token_stream());
            tokens.extend(written);
            self.written.push(Written { errors, ..Written::default() });
        }
        // Marks of fields belong to the definition.
        let whole = self.module.item(id).cloned().unwrap_or(seen);
        let chain = self.chain(Subject::Type, id, self.attr.clone(), &whole, path);
        let definition = self.next(chain);
        quote!(#item #tokens #definition)
    }

    fn block(&mut self, block: &ItemImpl, (id, path): (DefId, &[String]), marks: &mut Vec<Path>) -> TokenStream {
        let plain = front::without_marks(block);
        let mut diags = Diags::new();
        front::refuse_rules(block, &mut diags);
        if !diags.is_empty() {
            self.written.push(Written { errors: diags.list().to_vec(), ..Written::default() });
            let errors = diags.into_tokens();
            return quote!(#plain #errors);
        }
        for item in &block.items {
            if let syn::ImplItem::Fn(f) = item {
                take_marks(&mut f.attrs.clone(), marks);
            }
        }
        let mut tokens = quote! {
            #[allow(dead_code, reason = "a function may be used through its derivatives only")]
            #plain
        };
        let module = self.module;
        if front::type_of_block(block).is_none_or(|of| !module.declares(path, &of)) {
            return tokens;
        }
        for (id, part) in module.parts(id) {
            let method = front::methods(part).pop();
            let read = method.as_ref().is_none_or(blocks::is_read);
            let of_type = Item::Impl(ItemImpl { items: Vec::new(), ..part.clone() });
            let needs = if read { module.needs(path, &Item::Impl(part.clone())) } else { module.needs(path, &of_type) };
            let ItemNeeds { outside, open } = needs;
            self.need(&outside);
            let open = open.into_iter().map(Request::Path).collect();
            let mut chain = blocks::chain_of(self.attr, part, id, open, outside);
            // Two traits may have a function of one name. Outside of the module the first one is
            // known.
            chain.defined = !blocks::member_of(part).is_none_or(|member| self.members.insert(member));
            tokens.extend(self.next(chain));
        }
        tokens
    }

    /// The tokens of a module, with the items beside unmarked functions that others need.
    fn with_helpers(&mut self, pieces: Vec<Piece>, path: &[String]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for piece in pieces {
            match piece {
                Piece::Tokens(written) => tokens.extend(written),
                Piece::Module(module, pieces) => {
                    let path: Vec<String> = path.iter().cloned().chain([module.ident.to_string()]).collect();
                    let inside = self.with_helpers(pieces, &path);
                    let ItemMod { attrs, vis, ident, .. } = &module;
                    tokens.extend(quote!(#(#attrs)* #vis mod #ident { #inside }));
                }
                Piece::Helper(f, id, path) => {
                    tokens.extend(f.into_token_stream());
                    if self.needed.contains(&id)
                        && let Some(Item::Fn(seen)) = self.module.item(id)
                    {
                        let seen = Item::Fn(self.module.instance(&path, seen));
                        let chain = self.chain(Subject::Helper, id, self.attr.clone(), &seen, &path);
                        tokens.extend(self.next(chain));
                    }
                }
            }
        }
        tokens
    }
}

/// The mark of a function, and its options.
fn marked(attrs: &[Attribute]) -> Option<(Subject, TokenStream)> {
    let kinds = [Subject::Differentiate, Subject::Differentiable];
    attrs.iter().find_map(|a| {
        let last = a.path().segments.last()?;
        let kind = kinds.into_iter().find(|kind| last.ident == kind.name())?;
        Some((kind, front::options_of(a)))
    })
}

/// Takes the marks of a function away, and adds their paths.
fn take_marks(attrs: &mut Vec<Attribute>, marks: &mut Vec<Path>) {
    attrs.retain(|a| {
        let is_mark = marked(std::slice::from_ref(a)).is_some();
        if is_mark {
            add(marks, a.path());
        }
        !is_mark
    });
}

fn add(marks: &mut Vec<Path>, path: &Path) {
    if !marks.iter().any(|other| front::written(other) == front::written(path)) {
        marks.push(path.clone());
    }
}

/// Takes `#[derive(Differentiable)]` and the marks of fields away. Returns whether there was a
/// derive.
fn without_derive(item: &mut Item, marks: &mut Vec<Path>) -> bool {
    let plain = |fields: &mut Fields| {
        for field in fields {
            field.attrs.retain(|a| !a.path().is_ident("constant"));
        }
    };
    let attrs = match item {
        Item::Struct(s) => {
            plain(&mut s.fields);
            &mut s.attrs
        }
        Item::Enum(e) => {
            e.variants.iter_mut().for_each(|v| plain(&mut v.fields));
            &mut e.attrs
        }
        _ => return false,
    };
    let mut found = false;
    for attr in attrs.iter_mut().filter(|a| a.path().is_ident("derive")) {
        let Ok(all) = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) else { continue };
        let (own, others): (Vec<Path>, Vec<Path>) =
            all.into_iter().partition(|p| p.segments.last().is_some_and(|s| s.ident == "Differentiable"));
        if !own.is_empty() {
            found = true;
            own.iter().for_each(|path| add(marks, path));
            *attr = syn::parse_quote!(#[derive(#(#others),*)]);
        }
    }
    found
}

//! A marked module: its items, the meaning of names in it, and which items a function of it needs.
//!
//! Names are resolved as in Rust: an item sees the items of its own module, and the imports of the
//! module. A name that is not found here belongs to an item outside. Only needed items are read, so
//! the others may have any form.
//!
//! This module must never read what an item computes.

mod instance;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr, ImplItem, ImplItemFn, Item, ItemImpl, Path, TraitItem, Type, UseTree, Visibility};

use super::blocks::{methods, parts, type_of_block};
use super::consts::is_upper_case;
use super::definitions::trait_of;
use super::inner_derivatives::{is_derivative, possible_items};
use super::requests::{requests_of_item, requests_of_method_in_module, requests_of_type};
use super::travel::{DefId, Marked, OuterDefinitions, is_mark, written};
use crate::walk::{Change, Changing, Part, Walk};

/// The items of a module and of the modules in it.
#[derive(Default)]
pub struct Module {
    scopes: Vec<Scope>,
    entries: Vec<Entry>,
}

/// A module: its imports, and its aliases of types.
#[derive(Default)]
struct Scope {
    path: Vec<String>,
    uses: Vec<(String, Vec<String>)>,
    globs: Vec<Vec<String>>,
    aliases: Vec<(String, Type)>,
}

/// An item that functions may need.
struct Entry {
    id: DefId,
    scope: usize,
    item: Item,
    /// For one function or constant of an `impl` block: the index of the block.
    of_block: Option<DefId>,
}

/// The needs of an item: definitions, and the paths of those outside of the module.
#[derive(Clone, Default)]
pub struct ItemNeeds {
    /// The definitions in the module, and the meaning of names. A name of an item outside has a
    /// number that stands for its path.
    pub outside: OuterDefinitions,
    /// The paths of items outside of the module, as the module of the item writes them.
    pub open: Vec<Path>,
}

/// The names in an item: paths, and functions of types.
#[derive(Default)]
struct Named {
    paths: Vec<Path>,
    /// Names that mean something else if the module has no item of this name: paths that look like
    /// those of constants, and functions that the attribute knows.
    perhaps: Vec<Path>,
    members: SortedSet<String>,
}

/// The number that stands for a definition outside until it is known.
#[must_use]
pub fn stand_in_for(path: &Path) -> DefId {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        ("a path", written(path), salt).hash(&mut hasher);
        DefId::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl Module {
    /// Reads the items of a module and of those in it. `number` gives each its number.
    pub fn read(items: &[Item], number: &dyn Fn(&[String], &TokenStream) -> DefId) -> Module {
        let mut module = Module::default();
        module.scope(items, Vec::new(), number);
        for k in 0..module.entries.len() {
            let mut item = module.entries[k].item.clone();
            Changing(&mut Aliases(&module.scopes[module.entries[k].scope].aliases, 0)).visit_item_mut(&mut item);
            module.entries[k].item = item;
        }
        for k in 0..module.entries.len() {
            let Entry { id, scope, item: Item::Impl(block), .. } = &module.entries[k] else { continue };
            let (id, scope, path) = (*id, *scope, module.scopes[*scope].path.clone());
            let mut whole = block.clone();
            // The functions that a block takes from its trait are its own.
            whole.items.extend(module.defaults(scope, block));
            for part in parts(&whole) {
                let number = number(&path, &part.to_token_stream());
                module.entries.push(Entry { id: number, scope, item: Item::Impl(part), of_block: Some(id) });
            }
        }
        module
    }

    fn scope(&mut self, items: &[Item], path: Vec<String>, number: &dyn Fn(&[String], &TokenStream) -> DefId) {
        let scope = self.scopes.len();
        self.scopes.push(Scope { path: path.clone(), ..Scope::default() });
        for item in items {
            match item {
                Item::Fn(_) | Item::Struct(_) | Item::Enum(_) | Item::Impl(_) | Item::Trait(_) | Item::Const(_) => {
                    let id = number(&path, &item.to_token_stream());
                    self.entries.push(Entry { id, scope, item: item.clone(), of_block: None });
                    self.derivatives_of(item, scope, &path, number);
                }
                Item::Type(t) if t.generics.params.is_empty() => {
                    self.scopes[scope].aliases.push((t.ident.to_string(), (*t.ty).clone()));
                }
                Item::Use(u) => {
                    let (mut uses, mut globs) = (Vec::new(), Vec::new());
                    imports(&u.tree, &mut Vec::new(), &mut uses, &mut globs);
                    self.scopes[scope].uses.append(&mut uses);
                    self.scopes[scope].globs.append(&mut globs);
                }
                Item::Mod(m) => {
                    if let Some((_, inner)) = &m.content {
                        let path = path.iter().cloned().chain([m.ident.to_string()]).collect();
                        self.scope(inner, path, number);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the derivatives of a function, if it has any.
    fn derivatives_of(
        &mut self,
        item: &Item,
        scope: usize,
        path: &[String],
        number: &dyn Fn(&[String], &TokenStream) -> DefId,
    ) {
        let Item::Fn(f) = item else { return };
        for mark in f.attrs.iter().filter(|a| is_mark(a, "differentiate")) {
            let attr = match &mark.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            for derivative in possible_items(&attr, f) {
                let id = number(path, &derivative.to_token_stream());
                self.entries.push(Entry { id, scope, item: Item::Fn(derivative), of_block: None });
            }
        }
    }

    /// An item with the aliases of its module written out.
    #[must_use]
    pub fn item(&self, id: DefId) -> Option<&Item> {
        self.entries.iter().find(|e| e.id == id).map(|e| &e.item)
    }

    /// The definitions that an item in the module at this path needs.
    #[must_use]
    pub fn needs(&self, path: &[String], item: &Item) -> ItemNeeds {
        let Some(scope) = self.scopes.iter().position(|s| s.path == path) else { return ItemNeeds::default() };
        let mut search =
            Search { module: self, at: scope, found: SortedMap::new(), members: SortedSet::new(), open: Vec::new() };
        let named = match item {
            Item::Impl(block) => of_block(block),
            item => of_item(item),
        };
        let names = search.add(scope, &named);
        search.blocks();
        let list = search.found.iter().map(|(&k, names)| {
            let Entry { id, item, .. } = &self.entries[k];
            let names = names.clone();
            Marked {
                id: *id,
                item: without_marks(item),
                names,
                broken: false,
                certain: true,
                home: proc_macro2::Ident::new("crate", Span::call_site()).into_token_stream(),
            }
        });
        ItemNeeds {
            outside: OuterDefinitions { list: list.collect(), names, ..OuterDefinitions::default() },
            open: search.open,
        }
    }

    /// The functions and constants of a block, each alone, and their numbers.
    pub fn parts(&self, block: DefId) -> impl Iterator<Item = (DefId, &ItemImpl)> {
        let of = move |e: &&Entry| e.of_block == Some(block);
        self.entries
            .iter()
            .filter(of)
            .filter_map(|e| if let Item::Impl(part) = &e.item { Some((e.id, part)) } else { None })
    }

    /// The default functions of the trait of a block that the block does not have.
    fn defaults(&self, scope: usize, block: &ItemImpl) -> Vec<ImplItem> {
        let of = || {
            let PathTarget::Here(k) = self.find(scope, &block.trait_.as_ref()?.0) else { return None };
            match &self.entries[k].item {
                Item::Trait(t) => Some(&t.items),
                _ => None,
            }
        };
        let has = |name: &syn::Ident| block.items.iter().any(|i| member(i).is_some_and(|own| own == name));
        let default = |item: &TraitItem| match item {
            TraitItem::Fn(f) if !has(&f.sig.ident) => {
                let block = f.default.clone()?;
                let (attrs, vis, modifiers) = (Vec::new(), Visibility::Inherited, f.modifiers.clone());
                Some(ImplItem::Fn(ImplItemFn { attrs, vis, modifiers, sig: f.sig.clone(), block }))
            }
            _ => None,
        };
        of().into_iter().flatten().filter_map(default).collect()
    }

    /// Whether the path `of` leads to an item of the module at `path`.
    #[must_use]
    pub fn declares(&self, path: &[String], of: &Path) -> bool {
        let scope = self.scopes.iter().position(|s| s.path == path);
        scope.is_some_and(|scope| matches!(self.find(scope, of), PathTarget::Here(_)))
    }

    /// The target of a path in a module.
    fn find(&self, scope: usize, path: &Path) -> PathTarget {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if path.leading_colon.is_some() {
            return PathTarget::There(path.clone());
        }
        self.find_names(scope, &names, 0).unwrap_or_else(|| PathTarget::There(path.clone()))
    }

    fn find_names(&self, scope: usize, names: &[String], depth: usize) -> Option<PathTarget> {
        /// The maximum number of imports of imports that are followed, since imports may form a
        /// circle.
        const DEPTH: usize = 16;
        if depth > DEPTH {
            return None;
        }
        let (first, rest) = names.split_first()?;
        let here = &self.scopes[scope];
        match &**first {
            "self" => return self.find_names(scope, rest, depth + 1),
            "super" => {
                let Some((_, outer)) = here.path.split_last() else { return Some(above(rest)) };
                let outer = self.scopes.iter().position(|s| s.path == outer)?;
                return self.find_names(outer, rest, depth + 1);
            }
            "crate" => return Some(PathTarget::There(path_of(names)?)),
            _ => {}
        }
        if rest.is_empty() {
            let own = |e: &Entry| e.scope == scope && name(&e.item).is_some_and(|own| own == first);
            if let Some(k) = self.entries.iter().position(own) {
                return Some(PathTarget::Here(k));
            }
        } else if let Some(inner) = self.scopes.iter().position(|s| s.path.split_last() == Some((first, &here.path))) {
            return self.find_names(inner, rest, depth + 1);
        }
        if let Some((_, path)) = here.uses.iter().find(|(alias, _)| alias == first) {
            let all: Vec<String> = path.iter().chain(rest).cloned().collect();
            let itself = all == names;
            return (!itself)
                .then(|| self.find_names(scope, &all, depth + 1))
                .flatten()
                .or_else(|| path_of(&all).map(PathTarget::There));
        }
        here.globs.iter().find_map(|glob| {
            let all: Vec<String> = glob.iter().chain(names).cloned().collect();
            let place = self.find_names(scope, &all, depth + 1)?;
            matches!(place, PathTarget::Here(_)).then_some(place)
        })
    }
}

/// Where a path leads.
enum PathTarget {
    /// It leads to an item of the module.
    Here(usize),
    /// It leads out of the marked module: the number of `super`s, after the names that follow them.
    Above(Vec<String>, usize),
    /// It leads to an item outside that has this path anywhere in the program, or at the place of
    /// the module.
    There(Path),
}

/// The target of names that are looked up in the module around the marked one. They may begin with
/// further `super`s.
fn above(names: &[String]) -> PathTarget {
    let more = names.iter().take_while(|n| *n == "super").count();
    PathTarget::Above(names[more..].to_vec(), more + 1)
}

fn path_of(names: &[String]) -> Option<Path> {
    syn::parse_str(&names.join("::")).ok()
}

/// The search for all definitions that an item needs.
struct Search<'m> {
    module: &'m Module,
    /// The module of the item.
    at: usize,
    /// The entries that are needed, and the meaning of their names.
    found: SortedMap<usize, Vec<(String, DefId)>>,
    /// The names of functions and constants of types that are used.
    members: SortedSet<String>,
    open: Vec<Path>,
}

impl Search<'_> {
    /// Adds the definitions of the names that an item of a module has, and returns the meaning of
    /// the names.
    fn add(&mut self, scope: usize, named: &Named) -> Vec<(String, DefId)> {
        self.members.extend(named.members.iter().cloned());
        let mut names = Vec::new();
        for path in &named.paths {
            let id = match self.module.find(scope, path) {
                PathTarget::Here(k) => {
                    self.enter(k);
                    self.module.entries[k].id
                }
                PathTarget::Above(rest, supers) => {
                    let supers = supers + self.module.scopes[self.at].path.len();
                    let all: Vec<String> = std::iter::repeat_n("super".to_string(), supers).chain(rest).collect();
                    match path_of(&all) {
                        Some(path) => self.ask(path),
                        None => continue,
                    }
                }
                PathTarget::There(path) => self.ask(path),
            };
            names.push((written(path), id));
        }
        for path in &named.perhaps {
            let PathTarget::Here(k) = self.module.find(scope, path) else { continue };
            if matches!(self.module.entries[k].item, Item::Const(_) | Item::Fn(_)) {
                self.enter(k);
                names.push((written(path), self.module.entries[k].id));
            }
        }
        names
    }

    fn ask(&mut self, path: Path) -> DefId {
        let id = stand_in_for(&path);
        if !self.open.iter().any(|other| written(other) == written(&path)) {
            self.open.push(path);
        }
        id
    }

    /// Adds the entry of a name.
    fn enter(&mut self, k: usize) {
        if self.found.contains_key(&k) {
            return;
        }
        self.found.insert(k, Vec::new());
        let Entry { scope, item, .. } = &self.module.entries[k];
        let names = self.add(*scope, &of_item(item));
        self.found.insert(k, names);
    }

    /// Adds the functions of types that are used, until nothing is new.
    fn blocks(&mut self) {
        let mut seen = usize::MAX;
        while seen != self.members.len() + self.found.len() {
            seen = self.members.len() + self.found.len();
            for k in 0..self.module.entries.len() {
                let Entry { scope, item: Item::Impl(part), of_block: Some(_), .. } = &self.module.entries[k] else {
                    continue;
                };
                let used = part.items.iter().filter_map(member).any(|n| self.members.contains(&n.to_string()));
                if used && !self.found.contains_key(&k) && self.is_of_found(*scope, part) {
                    self.found.insert(k, Vec::new());
                    let names = self.add(*scope, &of_block(part));
                    self.found.insert(k, names);
                }
            }
        }
    }

    /// Whether a block is for a type that is needed, or for one outside of the module.
    fn is_of_found(&self, scope: usize, block: &ItemImpl) -> bool {
        let Some(path) = type_of_block(block) else { return true };
        match self.module.find(scope, &path) {
            PathTarget::Here(k) => self.found.contains_key(&k),
            _ => true,
        }
    }
}

/// The names in an item. The functions of types are added when they are used.
fn of_item(item: &Item) -> Named {
    match item {
        Item::Fn(f) => {
            let mut used = SortedSet::new();
            Walk(&mut |part| members(&part, &mut used)).visit_item_fn(f);
            let (paths, known) = requests_of_item(f);
            let perhaps = constants(f.to_token_stream()).into_iter().chain(known).collect();
            Named { paths, perhaps, members: used }
        }
        Item::Struct(_) | Item::Enum(_) => Named { paths: requests_of_type(item), ..Named::default() },
        Item::Const(c) => Named { perhaps: constants(c.expr.to_token_stream()), ..Named::default() },
        _ => Named::default(),
    }
}

/// The names in the functions of a block.
fn of_block(block: &ItemImpl) -> Named {
    let mut used = SortedSet::new();
    Walk(&mut |part| members(&part, &mut used)).visit_item_impl(block);
    let perhaps = constants(block.to_token_stream());
    // A block may be for a type of numbers: `impl Mul<Vector> for f64`.
    let of = type_of_block(block).filter(|path| !path.get_ident().is_some_and(super::blocks::is_number));
    let mut named = Named { paths: of.into_iter().collect(), perhaps, members: used };
    for method in methods(block) {
        let (paths, known) = requests_of_method_in_module(&method);
        named.perhaps.extend(known);
        for path in paths {
            if !named.paths.iter().any(|other| written(other) == written(&path)) {
                named.paths.push(path);
            }
        }
    }
    named
}

/// The paths in some tokens that look like those of constants, in macros too.
fn constants(tokens: TokenStream) -> Vec<Path> {
    fn add(tokens: TokenStream, all: &mut SortedSet<String>) {
        let (mut path, mut joined) = (String::new(), false);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    path = if joined { format!("{path}::{name}") } else { name.to_string() };
                    joined = false;
                    if is_upper_case(&name.to_string()) {
                        all.insert(path.clone());
                    }
                }
                TokenTree::Punct(p) if p.as_char() == ':' => joined = !path.is_empty(),
                TokenTree::Group(g) => {
                    add(g.stream(), all);
                    (path, joined) = (String::new(), false);
                }
                _ => (path, joined) = (String::new(), false),
            }
        }
    }
    let mut all = SortedSet::new();
    add(tokens, &mut all);
    all.iter().filter_map(|path| syn::parse_str(path).ok()).collect()
}

/// The name of a function or constant of a block.
fn member(item: &ImplItem) -> Option<&syn::Ident> {
    match item {
        ImplItem::Fn(f) => Some(&f.sig.ident),
        ImplItem::Const(c) => Some(&c.ident),
        _ => None,
    }
}

fn name(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Fn(f) => Some(&f.sig.ident),
        Item::Struct(s) => Some(&s.ident),
        Item::Enum(e) => Some(&e.ident),
        Item::Trait(t) => Some(&t.ident),
        Item::Const(c) => Some(&c.ident),
        _ => None,
    }
}

/// An item without the marks of functions. No definition has them.
fn without_marks(item: &Item) -> Item {
    match item {
        Item::Impl(block) => Item::Impl(super::blocks::without_marks(block)),
        Item::Fn(f) => {
            // The mark of a derivative is its definition.
            let attrs = f.attrs.iter().filter(|a| is_derivative(a)).cloned().collect();
            let plain = syn::ItemFn { attrs, ..f.clone() };
            // The marks of a function whose body is not read belong to its definition.
            let rules = super::rules::Rules::of(&f.attrs);
            Item::Fn(rules.map_or_else(|| plain.clone(), |rules| super::rules::without_its_body(&plain, &rules)))
        }
        item => item.clone(),
    }
}

/// Adds the names of functions and constants of types that a part uses to a set.
fn members(part: &Part<'_>, names: &mut SortedSet<String>) {
    fn idents(tokens: TokenStream, all: &mut SortedSet<String>) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(g) => idents(g.stream(), all),
                proc_macro2::TokenTree::Ident(i) => {
                    all.insert(i.to_string());
                }
                _ => {}
            }
        }
    }
    match part {
        Part::ExprMethodCall(m) => names.extend([m.method.to_string()]),
        Part::ExprPath(p) if p.qself.is_some() || p.path.segments.len() > 1 => {
            names.extend(p.path.segments.last().map(|s| s.ident.to_string()));
        }
        Part::Expr(Expr::Binary(b)) => {
            let of = |assigned| trait_of(&b.op, assigned).map(|(_, name)| name.to_string());
            names.extend([of(false), of(true)].into_iter().flatten());
            names.extend(["eq".to_string(), "partial_cmp".to_string()]);
        }
        Part::Expr(Expr::Unary(_)) => names.extend(["neg".to_string(), "not".to_string()]),
        Part::Expr(Expr::Index(_)) => names.extend(["index".to_string(), "index_mut".to_string()]),
        // The arguments of macros are read too, as far as they are names.
        Part::Macro(mac) => idents(mac.tokens.clone(), names),
        _ => {}
    }
}

/// The names that a `use` imports, and the paths of imports with `*`.
fn imports(
    tree: &UseTree,
    before: &mut Vec<String>,
    uses: &mut Vec<(String, Vec<String>)>,
    globs: &mut Vec<Vec<String>>,
) {
    match tree {
        UseTree::Path(p) => {
            before.push(p.ident.to_string());
            imports(&p.tree, before, uses, globs);
            before.pop();
        }
        UseTree::Name(n) if n.ident == "self" => {
            uses.extend(before.last().map(|last| (last.clone(), before.clone())));
        }
        UseTree::Name(n) => {
            let name = n.ident.to_string();
            uses.push((name.clone(), before.iter().cloned().chain([name]).collect()));
        }
        UseTree::Rename(r) => {
            let path = before.iter().cloned().chain([r.ident.to_string()]).collect();
            uses.push((r.rename.to_string(), path));
        }
        UseTree::Glob(_) => globs.push(before.clone()),
        UseTree::Group(g) => {
            for tree in &g.items {
                imports(tree, before, uses, globs);
            }
        }
    }
}

/// Writes types out that have an alias.
struct Aliases<'s>(&'s [(String, Type)], u32);

impl Change for Aliases<'_> {
    fn ty(&mut self, ty: &mut Type) -> bool {
        /// The maximum number of aliases of aliases that are followed. rustc reports an alias of
        /// itself.
        const DEPTH: u32 = 16;
        if let Type::Path(p) = ty
            && p.qself.is_none()
            && let Some(name) = p.path.get_ident()
            && let Some((_, of)) = self.0.iter().find(|(alias, _)| name == alias)
            && self.1 < DEPTH
        {
            *ty = of.clone();
            self.1 += 1;
            Changing(self).visit_type_mut(ty);
            self.1 -= 1;
            return false;
        }
        true
    }
}

//! The public API of `ad`: its names and signatures are those of `api.txt`. It is read from the
//! sources, so no other toolchain is needed.
//!
//! A change that is meant is written to the file by `UPDATE_EXPECT=1 cargo test -p ad-tests --test
//! api`, and gets a line in CHANGELOG.md. Items that are hidden from the documentation are not
//! part of the API. Of what a macro writes, its name, its rules and its calls are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, TraitItem, UseTree, Visibility};

/// The items of a crate, by module.
struct Crate {
    modules: BTreeMap<Vec<String>, Vec<Item>>,
}

impl Crate {
    fn read(root: &Path) -> Crate {
        let mut found = Crate { modules: BTreeMap::new() };
        found.file(&root.join("src/lib.rs"), &root.join("src"), Vec::new());
        found
    }

    fn file(&mut self, file: &Path, inner: &Path, module: Vec<String>) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.items(parsed.items, inner, module);
    }

    fn items(&mut self, items: Vec<Item>, folder: &Path, module: Vec<String>) {
        for item in &items {
            let Item::Mod(inner) = item else { continue };
            if inner.attrs.iter().any(|a| a.path().is_ident("cfg") && text(a).contains("test")) {
                continue;
            }
            let name = inner.ident.to_string();
            let (folder, module) = (folder.join(&name), [module.clone(), vec![name]].concat());
            match &inner.content {
                Some((_, items)) => self.items(items.clone(), &folder, module),
                None => {
                    let files = [folder.with_extension("rs"), folder.join("mod.rs")];
                    let file: &PathBuf = files.iter().find(|f| f.exists()).expect("the file of a module");
                    self.file(file, &folder, module);
                }
            }
        }
        self.modules.insert(module, items);
    }

    fn all(&self) -> impl Iterator<Item = &Item> {
        self.modules.values().flatten()
    }
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

fn hidden(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|a| a.path().is_ident("doc") && text(a).contains("hidden"))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The written item, on one line.
fn written(mut item: Item) -> String {
    match &mut item {
        Item::Fn(f) => {
            f.attrs.clear();
            f.block.stmts.clear();
        }
        Item::Struct(s) => {
            s.attrs.clear();
            if let syn::Fields::Named(fields) = &mut s.fields {
                let public = fields.named.iter().filter(|f| is_public(&f.vis) && !hidden(&f.attrs)).cloned();
                fields.named = public.map(|f| syn::Field { attrs: Vec::new(), ..f }).collect();
            }
        }
        Item::Enum(e) => {
            e.attrs.clear();
            e.variants.iter_mut().for_each(|v| v.attrs.clear());
        }
        Item::Trait(t) => {
            t.attrs.clear();
            t.items.retain(|item| match item {
                TraitItem::Fn(f) => !hidden(&f.attrs),
                TraitItem::Const(c) => !hidden(&c.attrs),
                TraitItem::Type(t) => !hidden(&t.attrs),
                _ => true,
            });
            for item in &mut t.items {
                match item {
                    TraitItem::Fn(f) => {
                        f.attrs.clear();
                        if f.default.take().is_some() {
                            f.semi_token = Some(<syn::Token![;]>::default());
                        }
                    }
                    TraitItem::Const(c) => c.attrs.clear(),
                    TraitItem::Type(t) => t.attrs.clear(),
                    _ => {}
                }
            }
        }
        Item::Type(t) => t.attrs.clear(),
        Item::Const(c) => c.attrs.clear(),
        _ => {}
    }
    let file: syn::File = syn::parse2(item.to_token_stream()).expect("an item");
    let pretty = prettyplease::unparse(&file);
    let line = pretty.split_whitespace().collect::<Vec<_>>().join(" ");
    line.strip_suffix(" {}").map_or_else(|| line.clone(), str::to_string)
}

/// The tokens without what is only documentation.
fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if let TokenTree::Group(group) = token {
            let of_docs = group.stream().into_iter().next().is_some_and(|t| t.to_string() == "doc");
            if of_docs && kept.last().is_some_and(|t| t.to_string() == "#") {
                kept.pop();
            } else {
                kept.push(Group::new(group.delimiter(), without_docs(group.stream())).into());
            }
        } else {
            kept.push(token);
        }
    }
    kept.into_iter().collect()
}

/// The lines of the snapshot: a path, and what is there.
#[derive(Default)]
struct Api {
    lines: BTreeSet<String>,
}

impl Api {
    fn line(&mut self, path: &str, what: &str) {
        self.lines.insert(format!("{path}: {what}"));
    }

    /// What a module makes public under this path.
    fn module(&mut self, of: &Crate, module: &[String], path: &str) {
        let items = of.modules.get(module).unwrap_or_else(|| panic!("no module {module:?}"));
        for item in items {
            match item {
                Item::Use(u) if is_public(&u.vis) && !hidden(&u.attrs) => self.used(of, module, &u.tree, path),
                Item::Macro(call) if call.ident.is_none() => {
                    self.line(path, &text(&call.mac));
                    // The rules of the macro, and of macros that it is told to call.
                    let named = text(&call.mac);
                    for item in of.all() {
                        if let Item::Macro(rules) = item
                            && let Some(name) = &rules.ident
                            && named.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| *name == word)
                        {
                            self.line(path, &format!("macro {name}: {}", without_docs(rules.mac.tokens.clone())));
                        }
                    }
                }
                item => {
                    if let Some(name) = name_of(item) {
                        self.item(of, module, item, &format!("{path}::{name}"));
                    }
                }
            }
        }
    }

    /// A public item under this path. A module with all that it makes public.
    fn item(&mut self, of: &Crate, module: &[String], item: &Item, path: &str) {
        let Some((attrs, visibility)) = parts(item) else { return };
        if hidden(attrs) || !is_public(visibility) {
            return;
        }
        if let Item::Mod(m) = item {
            self.line(path, "pub mod");
            return self.module(of, &[module, &[m.ident.to_string()]].concat(), path);
        }
        self.line(path, &written(item.clone()));
        let Some(name) = name_of(item) else { return };
        if !matches!(item, Item::Struct(_) | Item::Enum(_)) {
            return;
        }
        for derived in attrs.iter().filter(|a| a.path().is_ident("derive")) {
            self.line(path, &text(&derived.meta));
        }
        for item in of.all() {
            let Item::Impl(block) = item else { continue };
            let syn::Type::Path(own) = &*block.self_ty else { continue };
            if own.path.segments.last().is_none_or(|s| s.ident != name) || hidden(&block.attrs) {
                continue;
            }
            if let Some((made, _)) = &block.trait_ {
                let (generics, condition) = (&block.generics, &block.generics.where_clause);
                let line = format!("impl{} {} {}", text(generics), text(made), text(condition));
                self.line(path, line.trim());
                continue;
            }
            for inner in &block.items {
                match inner {
                    ImplItem::Fn(f) if is_public(&f.vis) && !hidden(&f.attrs) => {
                        let (vis, sig) = (&f.vis, &f.sig);
                        let alone: Item = syn::parse_quote!(#vis #sig {});
                        let line = format!("impl{} {}", text(&block.generics), written(alone));
                        self.line(&format!("{path}::{}", f.sig.ident), &line);
                    }
                    ImplItem::Const(c) if is_public(&c.vis) && !hidden(&c.attrs) => {
                        self.line(&format!("{path}::{}", c.ident), &text(&c.ty));
                    }
                    _ => {}
                }
            }
        }
    }

    /// What a `pub use` of a module makes public.
    fn used(&mut self, of: &Crate, module: &[String], tree: &UseTree, path: &str) {
        for (segments, name) in leaves(tree, Vec::new()) {
            let (mut from, mut segments) = match segments.first().map(String::as_str) {
                Some("crate") => (Vec::new(), segments[1..].to_vec()),
                _ => (module.to_vec(), segments),
            };
            while let Some(first) = segments.first() {
                match first.as_str() {
                    "self" => {}
                    "super" => {
                        from.pop();
                    }
                    _ => break,
                }
                segments.remove(0);
            }
            let whole = [from.clone(), segments.clone()].concat();
            if name == "*" {
                if of.modules.contains_key(&whole) {
                    self.module(of, &whole, path);
                } else {
                    // Another crate, or the variants of an enum.
                    self.line(path, &format!("pub use {}::*", segments.join("::")));
                }
                continue;
            }
            let (last, inside) = whole.split_last().expect("a path has a name");
            if of.modules.contains_key(inside) {
                self.named(of, inside, last, &format!("{path}::{name}"));
            } else {
                self.line(&format!("{path}::{name}"), &format!("pub use {}", segments.join("::")));
            }
        }
    }

    /// The items of this name in a module, wherever they are defined.
    fn named(&mut self, of: &Crate, module: &[String], name: &str, path: &str) {
        let mut found = false;
        for item in &of.modules[module] {
            if name_of(item).is_some_and(|own| own == name) {
                found = true;
                self.item(of, module, item, path);
            } else if let Item::Use(u) = item {
                let here = path.strip_suffix(name).and_then(|p| p.strip_suffix("::"));
                for (segments, own) in leaves(&u.tree, Vec::new()) {
                    if own == name && !hidden(&u.attrs) {
                        found = true;
                        let tree: UseTree = syn::parse_str(&segments.join("::")).expect("a path");
                        self.used(of, module, &tree, here.unwrap_or(path));
                    }
                }
            }
        }
        assert!(found, "`{path}` is not found in {module:?}");
    }
}

/// The paths of a `use`, each with the name that it gets.
fn leaves(tree: &UseTree, mut before: Vec<String>) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(p) => {
            before.push(p.ident.to_string());
            leaves(&p.tree, before)
        }
        UseTree::Group(g) => g.items.iter().flat_map(|tree| leaves(tree, before.clone())).collect(),
        UseTree::Name(n) => {
            before.push(n.ident.to_string());
            vec![(before, n.ident.to_string())]
        }
        UseTree::Rename(r) => {
            before.push(r.ident.to_string());
            vec![(before, r.rename.to_string())]
        }
        UseTree::Glob(_) => vec![(before, "*".into())],
    }
}

fn parts(item: &Item) -> Option<(&[Attribute], &Visibility)> {
    Some(match item {
        Item::Fn(x) => (&x.attrs, &x.vis),
        Item::Struct(x) => (&x.attrs, &x.vis),
        Item::Enum(x) => (&x.attrs, &x.vis),
        Item::Trait(x) => (&x.attrs, &x.vis),
        Item::Type(x) => (&x.attrs, &x.vis),
        Item::Const(x) => (&x.attrs, &x.vis),
        Item::Mod(x) => (&x.attrs, &x.vis),
        _ => return None,
    })
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Fn(x) => x.sig.ident.to_string(),
        Item::Struct(x) => x.ident.to_string(),
        Item::Enum(x) => x.ident.to_string(),
        Item::Trait(x) => x.ident.to_string(),
        Item::Type(x) => x.ident.to_string(),
        Item::Const(x) => x.ident.to_string(),
        Item::Mod(x) => x.ident.to_string(),
        _ => return None,
    })
}

/// The lines of the API that `ad` has now.
fn api() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (facade, runtime) = (Crate::read(&root), Crate::read(&root.join("ad-runtime")));
    let mut api = Api::default();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("the manifest");
    let (_, features) = manifest.split_once("\n[features]\n").expect("the features");
    for line in features.lines().take_while(|line| !line.starts_with('[')) {
        if let Some((name, needs)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            api.line("feature", &format!("{name} = {needs}"));
        }
    }
    for (module, items) in &facade.modules {
        let path = [vec!["ad".to_string()], module.clone()].concat().join("::");
        for item in items {
            match item {
                Item::Use(u) if is_public(&u.vis) && !hidden(&u.attrs) => {
                    for (segments, name) in leaves(&u.tree, Vec::new()) {
                        let at = if name == "*" { path.clone() } else { format!("{path}::{name}") };
                        let inner = &segments[1..];
                        match segments[0].as_str() {
                            "ad_runtime" if name == "*" => api.module(&runtime, inner, &at),
                            "ad_runtime" => {
                                let (last, inside) = inner.split_last().expect("a name");
                                api.named(&runtime, inside, last, &at);
                            }
                            _ => api.line(&at, &format!("pub use {}", segments.join("::"))),
                        }
                    }
                }
                Item::Macro(rules) if !hidden(&rules.attrs) && rules.ident.is_some() => {
                    api.line(&path, &text(&rules.mac.tokens));
                }
                Item::Mod(m) if is_public(&m.vis) => api.line(&format!("{path}::{}", m.ident), "pub mod"),
                _ => {}
            }
        }
    }
    let macros = syn::parse_file(&std::fs::read_to_string(root.join("ad-macro/src/lib.rs")).expect("the macros"));
    for item in macros.expect("the macros are Rust").items {
        let Item::Fn(f) = item else { continue };
        if let Some(kind) = f.attrs.iter().find(|a| text(a).contains("proc_macro")).filter(|_| !hidden(&f.attrs)) {
            api.line(&format!("ad_macro::{}", f.sig.ident), &text(kind));
        }
    }
    api.lines
}

#[test]
fn the_public_api_is_that_of_the_snapshot() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api.txt");
    let now = api();
    for known in [
        "ad::prelude::build1: pub fn build1",
        "ad::linalg::solve: pub fn solve",
        "ad::Csr::to_dense: impl",
        "ad::prelude: macro functions",
    ] {
        assert!(now.iter().any(|line| line.starts_with(known)), "{known}");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text: String = now.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, text).expect("the snapshot is written");
        return;
    }
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let stored: BTreeSet<String> = text.lines().map(str::to_string).collect();
    let list = |title: &str, lines: Vec<&String>| match lines.is_empty() {
        true => String::new(),
        false => format!("\n{title}:\n{}", lines.iter().map(|line| format!("    {line}\n")).collect::<String>()),
    };
    let gone = list("removed, or changed from (users' programs may not compile)", stored.difference(&now).collect());
    let new = list("added, or changed to", now.difference(&stored).collect());
    assert!(
        gone.is_empty() && new.is_empty(),
        "the public API differs from ad-tests/tests/api.txt{gone}{new}\nIf this is meant: UPDATE_EXPECT=1 cargo test \
         -p ad-tests --test api, and a line in CHANGELOG.md"
    );
}

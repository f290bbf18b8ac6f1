//! Reads a file as the macro would see it, and lets the compiler write its pages. An index links
//! them. This crate must never compile anything in another way than the macro does.

#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Item, LitStr, Meta};

/// What was written for a file.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// The pages, and the index as the last one. Empty if the file has no annotated function that
    /// could be compiled.
    pub pages: Vec<PathBuf>,
    /// The errors of functions, each with its file and line. There is no page of such a function.
    pub errors: Vec<String>,
}

/// Writes a page for each annotated function of a file into a folder, and an index of the pages.
///
/// # Errors
/// A text that says what to do: the file cannot be read or parsed, it has no annotated function,
/// or the folder cannot be written.
pub fn explain(file: &Path, folder: &Path) -> Result<Explained, String> {
    let items = read(file)?;
    let marked = any_mark(&items);
    if !marked {
        return Err(format!("{}: no function has #[differentiate]; name a file that has one", file.display()));
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    ad_core::set_pages(Some(folder));
    let (mut errors, mut pages) = (Vec::new(), Vec::new());
    for (attr, item) in annotated(items) {
        let name = item.clone().into_iter().skip_while(|t| t.to_string() != "fn").nth(1);
        let expansion = ad_core::travel::differentiate(attr, item, &file.display().to_string());
        errors.extend(expansion.errors.iter().map(|error| {
            let place = ad_core::positions::position(error.range)
                .map_or_else(|| file.display().to_string(), |at| format!("{}:{}", at.file, at.start.0));
            format!("{place}: {}", error.text())
        }));
        let written = ad_core::set_pages(Some(folder));
        if written.is_empty() && expansion.errors.is_empty() {
            let name = name.map_or_else(|| "a function".to_string(), |name| format!("`{name}`"));
            errors.push(format!(
                "{}: {name} has no page: it needs a definition of another file, or its mode does not read its body; \
                 `AD_EXPLAIN=folder cargo build` finds all definitions",
                file.display()
            ));
        }
        pages.extend(written);
    }
    ad_core::set_pages(None);
    pages.sort();
    pages.dedup();
    if !pages.is_empty() {
        let index = folder.join("index.html");
        std::fs::write(&index, index_of(file, &pages)).map_err(|e| format!("{}: {e}", index.display()))?;
        pages.push(index);
    }
    Ok(Explained { pages, errors })
}

fn index_of(file: &Path, pages: &[PathBuf]) -> String {
    let mut links = String::new();
    for page in pages {
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(links, "<li><a href=\"{name}.html\">{name}</a></li>");
    }
    include_str!("index.html").replace("<!--file-->", &file.display().to_string()).replace("<!--pages-->", &links)
}

/// An attribute's options and its item: each annotated function by itself, or the whole file as one
/// marked module if its functions need definitions of the file.
fn annotated(items: Vec<Item>) -> Vec<(TokenStream, TokenStream)> {
    if items.iter().any(needs_module) {
        return vec![(TokenStream::new(), quote!(mod file { #(#items)* }))];
    }
    let one = |item| {
        let Item::Fn(mut f) = item else { return None };
        let at = f.attrs.iter().position(is_differentiate)?;
        let attr = match f.attrs.remove(at).meta {
            Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        Some((attr, f.to_token_stream()))
    };
    items.into_iter().filter_map(one).collect()
}

/// The items of a file, with those of the files that are modules of it.
fn read(path: &Path) -> Result<Vec<Item>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let unparsed = |line: usize, e: &dyn std::fmt::Display| format!("{}:{line}: {e}", path.display());
    let tokens: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| unparsed(e.span().start().line, &e))?;
    ad_core::positions::name_file(&tokens, &path.display().to_string());
    let file: syn::File = syn::parse2(tokens).map_err(|e| unparsed(e.span().start().line, &e))?;
    let mut items = file.items;
    for item in &mut items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && let Some(inner) = file_of(path, module)
        {
            module.content = Some((syn::token::Brace::default(), read(&inner)?));
            module.semi = None;
        }
    }
    Ok(items)
}

/// The file of a module, if there is one.
fn file_of(path: &Path, module: &syn::ItemMod) -> Option<PathBuf> {
    let named = module.attrs.iter().find_map(|a| match &a.meta {
        Meta::NameValue(path) if path.path.is_ident("path") => syn::parse2::<LitStr>(path.value.to_token_stream()).ok(),
        _ => None,
    });
    if let Some(named) = named {
        return Some(path.with_file_name(named.value())).filter(|file| file.exists());
    }
    // The modules of `lib.rs`, `main.rs` and `mod.rs` are beside them; those of another file are in
    // a folder of its name.
    let root = path.file_stem().is_some_and(|stem| stem == "lib" || stem == "main" || stem == "mod");
    let folders = [path.with_file_name(""), path.with_extension("")];
    let folders = if root { &folders[..1] } else { &folders[..] };
    let name = &module.ident;
    let files = folders.iter().flat_map(|f| [f.join(format!("{name}.rs")), f.join(name.to_string()).join("mod.rs")]);
    files.into_iter().find(|file| file.exists())
}

fn is_differentiate(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "differentiate")
}

fn any_mark(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Fn(f) => f.attrs.iter().any(is_differentiate),
        Item::Impl(i) => i.attrs.iter().any(is_differentiate),
        Item::Mod(m) => {
            m.attrs.iter().any(is_differentiate) || m.content.as_ref().is_some_and(|(_, items)| any_mark(items))
        }
        _ => false,
    })
}

/// Whether the functions of a file use definitions of the file: marked items other than functions
/// with the attribute, or modules.
fn needs_module(item: &Item) -> bool {
    let has = |attrs: &[Attribute], name: &str| attrs.iter().any(|a| a.to_token_stream().to_string().contains(name));
    match item {
        Item::Fn(f) => has(&f.attrs, "differentiable") || has(&f.attrs, "custom_") || has(&f.attrs, "constant"),
        Item::Struct(s) => has(&s.attrs, "Differentiable"),
        Item::Enum(e) => has(&e.attrs, "Differentiable"),
        Item::Impl(i) => has(&i.attrs, "differentiate"),
        Item::Mod(m) => has(&m.attrs, "differentiate") || m.content.as_ref().is_some_and(|(_, items)| any_mark(items)),
        _ => false,
    }
}

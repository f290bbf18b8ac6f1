//! Source files as the macro sees them: each annotated function by itself, or the whole file as one
//! marked module if its functions need definitions of the file.

use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Item, LitStr, Meta};

/// An attribute and its item.
pub struct Annotated {
    attr: TokenStream,
    pub item: TokenStream,
}

impl Annotated {
    pub fn new(attr: TokenStream, item: TokenStream) -> Self {
        Annotated { attr, item }
    }

    /// The expansion of the attribute. A function does not get the definitions that it needs.
    pub fn expanded(&self) -> TokenStream {
        let (attr, item) = (self.attr.clone(), self.item.clone());
        match syn::parse2(item.clone()) {
            Ok(Item::Mod(_)) => ad_core::travel::differentiate(attr, item, "file").tokens,
            _ => ad_core::expand(attr, item),
        }
    }
}

/// The annotated functions of a file, or only those of a name.
pub fn annotated(path: &Path, only: Option<&str>) -> Vec<Annotated> {
    let items = read(path);
    if items.iter().any(|i| needs_module(i) || is_marked(i)) {
        return vec![Annotated::new(TokenStream::new(), quote!(mod file { #(#items)* }))];
    }
    let one = |item| {
        let Item::Fn(mut f) = item else { return None };
        if only.is_some_and(|name| f.sig.ident != name) {
            return None;
        }
        let at = f.attrs.iter().position(|a| a.path().is_ident("differentiate"))?;
        let attr = match f.attrs.remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        Some(Annotated::new(attr, f.to_token_stream()))
    };
    items.into_iter().filter_map(one).collect()
}

/// The items of a file, with those of the files that are modules of it.
fn read(path: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let mut items = syn::parse_file(&text).expect("the file parses").items;
    for item in &mut items {
        if let Item::Mod(module) = item
            && module.content.is_none()
        {
            let inner = file_of(path, module);
            module.content = Some((syn::token::Brace::default(), read(&inner)));
            module.semi = None;
        }
    }
    items
}

/// The file of a module, which an attribute may name.
fn file_of(path: &Path, module: &syn::ItemMod) -> PathBuf {
    let named = module.attrs.iter().find_map(|a| match &a.meta {
        Meta::NameValue(path) if path.path.is_ident("path") => syn::parse2::<LitStr>(path.value.to_token_stream()).ok(),
        _ => None,
    });
    let name = &module.ident;
    let places = [format!("{name}.rs"), format!("{name}/mod.rs")].map(|place| path.with_file_name(place));
    let [file, folder] = places;
    match named {
        Some(named) => path.with_file_name(named.value()),
        None if file.exists() => file,
        None => folder,
    }
}

/// Whether the functions of the file use definitions, or a marked item is not a function of the
/// file itself.
fn needs_module(item: &Item) -> bool {
    let named = |attrs: &[Attribute], name: &str| attrs.iter().any(|a| a.to_token_stream().to_string().contains(name));
    match item {
        Item::Fn(f) => named(&f.attrs, "differentiable"),
        Item::Struct(s) => named(&s.attrs, "Differentiable"),
        Item::Enum(e) => named(&e.attrs, "Differentiable"),
        Item::Impl(i) => named(&i.attrs, "differentiate"),
        Item::Mod(m) => {
            named(&m.attrs, "differentiate")
                || m.content.as_ref().is_some_and(|(_, items)| items.iter().any(|i| needs_module(i) || is_marked(i)))
        }
        _ => false,
    }
}

/// Whether an item is an annotated function.
fn is_marked(item: &Item) -> bool {
    matches!(item, Item::Fn(f) if f.attrs.iter().any(|a| a.path().is_ident("differentiate")))
}

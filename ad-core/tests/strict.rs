//! "Generated code compiles, without a warning, in a crate that says
//! `#![forbid(unsafe_code)] #![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]`, of
//! edition 2021 or 2024": the generated code for the programs of the snapshots, of the cases and of
//! the tests of expressions, types, arrays, statements and derivatives is compiled in one crate, as
//! text. So no lint is lenient because a macro has written the code. The functions themselves are
//! exempt from lints.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::visit::{self, Visit};

/// The annotated functions of a file, and the items that they use.
#[derive(Default)]
struct Found {
    functions: Vec<(TokenStream, syn::ItemFn)>,
    seen: Vec<syn::Item>,
}

impl Found {
    fn add(&mut self, attr: TokenStream, mut f: syn::ItemFn) {
        f.attrs.retain(|a| a.path().is_ident("cfg"));
        f.vis = syn::parse_quote!(pub);
        self.functions.push((attr, f));
    }
}

/// A constant, or a module of constants.
fn constant(item: &syn::Item) -> bool {
    match item {
        syn::Item::Const(_) | syn::Item::Static(_) => !item.to_token_stream().to_string().contains("include_str"),
        syn::Item::Mod(m) => m.content.as_ref().is_some_and(|(_, items)| items.iter().all(constant)),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_file(&mut self, file: &'ast syn::File) {
        for item in &file.items {
            match item {
                syn::Item::Use(u) if u.to_token_stream().to_string().contains("std ::") => self.seen.push(item.clone()),
                item if constant(item) => self.seen.push(item.clone()),
                _ => {}
            }
        }
        visit::visit_file(self, file);
    }

    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        if let Some(attr) = f.attrs.iter().find(|a| a.path().is_ident("differentiate")) {
            let attr = match &attr.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            self.add(attr, f.clone());
        }
        visit::visit_item_fn(self, f);
    }

    /// `check(quote!(options), quote! { fn .. }, ..)` of the snapshots, and the tables of
    /// expressions: `name parameter { body }`.
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        if m.path.is_ident("quote")
            && let Ok(f) = syn::parse2::<syn::ItemFn>(m.tokens.clone())
        {
            self.add(TokenStream::new(), f);
        }
        if m.path.is_ident("slices") {
            let tokens: Vec<TokenTree> = m.tokens.clone().into_iter().collect();
            for row in tokens.chunks_exact(3) {
                let (name, x, body) = (&row[0], &row[1], &row[2]);
                self.add(quote!(), syn::parse_quote! { fn #name(#x: &[f64]) -> f64 #body });
                self.add(quote!(), syn::parse_quote! { fn #name(given: &ArrayRef1<f64>) -> f64 { let elements = given.to_vec(); let #x = &elements[..]; #body } });
            }
        }
    }
}

/// The generated code for a function. No lint is tested on the function itself.
fn written(attr: &TokenStream, f: &syn::ItemFn, watched: bool) -> Option<TokenStream> {
    let options = if attr.is_empty() { quote!(crate = "crate::ad") } else { quote!(#attr, crate = "crate::ad") };
    let expansion = match watched {
        true => ad_core::expand_watched(options, f.to_token_stream(), None),
        false => ad_core::expansion(options, f.to_token_stream()),
    };
    if !expansion.errors.is_empty() {
        return None;
    }
    let mut file: syn::File = syn::parse2(expansion.tokens).expect("it parses");
    for item in &mut file.items {
        if let syn::Item::Fn(own) = item
            && own.sig.ident == f.sig.ident
        {
            own.attrs = vec![
                syn::parse_quote!(#[doc = "The function."]),
                syn::parse_quote!(#[allow(warnings, clippy::all, clippy::pedantic)]),
            ];
        }
    }
    Some(file.into_token_stream())
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn sources(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| workspace().join(name).with_extension("rs")).collect()
}

#[test]
fn written_code_passes_the_strictest_lints() {
    let mut files = sources(&[
        "ad-core/tests/snapshots",
        "tests/expressions",
        "tests/types",
        "tests/arrays",
        "tests/statements",
        "tests/derivatives",
        "tests/static_arrays",
    ]);
    let cases = std::fs::read_dir(workspace().join("tests/cases")).expect("the cases");
    files.extend(cases.map(|entry| entry.expect("an entry").path()));
    files.sort();
    let count = passes("strict", &files, false);
    assert!(count > 200, "only {count} functions");
}

/// The code for `AD_DEBUG_NAN`. `AD_DEBUG_NAN=1` makes the other test compile all of it.
#[test]
fn watched_code_passes_the_strictest_lints() {
    let files = sources(&["ad-core/tests/snapshots", "tests/derivatives", "tests/static_arrays"]);
    let count = passes("strict-watched", &files, true);
    assert!(count > 40, "only {count} functions");
}

/// Compiles the generated code for the functions of these files, and returns their number.
fn passes(name: &str, files: &[PathBuf], watched: bool) -> usize {
    let mut text = String::from(
        // Some of the functions call ndarray's own `s!`, which is not compatible with `forbid`.
        "//! What the attribute writes.\n#![deny(unsafe_code)]\n#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]\n\
         #[doc(hidden)]\npub mod ad {\n    pub use ad_runtime as runtime;\n    pub use ad_runtime::dsl;\n    pub use ndarray;\n\
         #[doc(hidden)]\n pub mod prelude {\n    pub use ad_runtime::dsl::*;\n    pub use ad_runtime::{Differentiable, Real};\n    pub use ndarray::*;\n    }\n}\n",
    );
    let (mut count, mut left) = (0, Vec::new());
    for (k, path) in files.iter().enumerate() {
        let file = syn::parse_file(&std::fs::read_to_string(path).expect("a source")).expect("it parses");
        let mut found = Found::default();
        found.visit_file(&file);
        let (module, seen) = (format_ident!("file_{k}"), &found.seen);
        let mut functions = TokenStream::new();
        for (n, (attr, f)) in found.functions.iter().enumerate() {
            let Some(tokens) = written(attr, f, watched) else {
                left.push(format!("{}: {}", path.display(), f.sig.ident));
                continue;
            };
            let module = format_ident!("function_{n}");
            functions.extend(quote! {
                #[doc(hidden)]
                pub mod #module {
                    #[allow(unused_imports, clippy::wildcard_imports)]
                    use super::*;
                    #tokens
                }
            });
            count += 1;
        }
        let file = quote! {
            #[doc(hidden)]
            pub mod #module {
                #[allow(unused_imports)]
                use crate::ad;
                #[allow(unused_imports, clippy::wildcard_imports)]
                use crate::ad::prelude::*;
                #(#[allow(warnings, clippy::all, clippy::pedantic)] #seen)*
                #functions
            }
        };
        let file: syn::File = syn::parse2(file).expect("it parses");
        text.push_str(&prettyplease::unparse(&file));
    }
    println!("{count} functions; not written: {left:?}");
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ad-runtime");
    let put = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
            std::fs::write(&path, text).expect("the file can be written");
        }
    };
    let mut manifest = String::from("[workspace]\nresolver = \"2\"\nmembers = [\"of-2021\", \"of-2024\"]\n");
    for edition in ["2021", "2024"] {
        let package = format!(
            "[package]\nname = \"{name}-{edition}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n[lib]\npath = \"../written.rs\"\n\
             [dependencies]\nad-runtime = {{ path = {runtime:?} }}\nndarray = \"0.17\"\n"
        );
        put(root.join(format!("of-{edition}/Cargo.toml")), &package);
    }
    writeln!(manifest, "[profile.dev]\ndebug = 0").expect("a string grows");
    put(root.join("Cargo.toml"), &manifest);
    put(root.join("written.rs"), &text);
    let lock = root.join("Cargo.lock");
    let _ = std::fs::copy(workspace().join("Cargo.lock"), &lock);
    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--workspace", "--keep-going"])
        .current_dir(&root)
        .env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit-target"))
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    count
}

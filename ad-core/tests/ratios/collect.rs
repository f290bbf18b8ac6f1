//! The programs of the other tests with loops: annotated functions and the functions of `agrees!`.
//! Work of a function that the counters do not see makes the function look cheaper than it is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::Visit;

/// A program, with its arguments for a size.
pub(crate) struct Collected {
    /// Arguments that the list has for this program.
    pub(crate) name: String,
    pub(crate) place: String,
    pub(crate) item: TokenStream,
    /// Arguments chosen by the types of the parameters, over `sizes`.
    pub(crate) arguments: Vec<TokenStream>,
    /// The axes of all arguments. A whole number has one, whose length is the number.
    pub(crate) axes: usize,
}

/// All programs, in the order of their files.
pub(crate) fn all() -> Vec<Collected> {
    let core = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["../tests", "../ad-tests/tests", "tests", "../gradbench/src/programs"].map(|part| core.join(part)) {
        rust_files(&folder, &mut files);
    }
    let mut found: Vec<Collected> = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let Ok(file) = syn::parse_file(&text) else { continue };
        let of_core = path.strip_prefix(&core).ok().filter(|p| !p.starts_with(".."));
        let place = of_core.map_or_else(
            || format!("tests/{}", path.file_name().unwrap_or_default().display()),
            |p| p.display().to_string(),
        );
        let mut programs = Programs { found: Vec::new() };
        programs.visit_file(&file);
        for f in programs.found {
            let name = format!("{}_{}", f.sig.ident, found.len());
            found.extend(collected(f, name, &place));
        }
    }
    found
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder can be read").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        // Skips refused programs, generated code, and programs that are counted anyway.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["ui", "snapshots", "ratios", "fixtures"].contains(&&*name) {
            rust_files(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// Functions with the attribute, and those in `agrees!`.
struct Programs {
    found: Vec<syn::ItemFn>,
}

impl Visit<'_> for Programs {
    fn visit_item_fn(&mut self, f: &syn::ItemFn) {
        let options = |a: &syn::Attribute| match &a.meta {
            syn::Meta::Path(_) => true,
            syn::Meta::List(l) => !l.tokens.to_string().contains("mode"),
            syn::Meta::NameValue(_) => false,
        };
        if f.attrs.iter().any(|a| a.path().is_ident("differentiate") && options(a)) {
            self.found.push(f.clone());
        }
        syn::visit::visit_item_fn(self, f);
    }

    fn visit_macro(&mut self, m: &syn::Macro) {
        if m.path.is_ident("agrees") {
            self.found.extend(of_agrees(m.tokens.clone()));
        }
    }
}

/// `fn f(x: slice, n: int) { .. } [..]`.
fn of_agrees(tokens: TokenStream) -> Option<syn::ItemFn> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let groups: Vec<&proc_macro2::Group> = tokens
        .iter()
        .filter_map(|t| match t {
            TokenTree::Group(g) => Some(g),
            _ => None,
        })
        .collect();
    let (Some(TokenTree::Ident(name)), [params, body, ..]) = (tokens.get(1), &*groups) else { return None };
    if params.delimiter() != Delimiter::Parenthesis || body.delimiter() != Delimiter::Brace {
        return None;
    }
    let params = params.stream().into_iter().map(|t| match &t {
        TokenTree::Ident(i) if *i == "slice" => quote!(&[f64]),
        TokenTree::Ident(i) if *i == "real" => quote!(f64),
        TokenTree::Ident(i) if *i == "int" => quote!(usize),
        _ => t.to_token_stream(),
    });
    syn::parse2(quote!(fn #name(#(#params)*) -> f64 #body)).ok()
}

/// The program, if it has a loop and there are arguments for its parameters.
fn collected(f: syn::ItemFn, name: String, place: &str) -> Option<Collected> {
    let mut has = Has { loops: false, constants: false, operators: false, uncounted: false };
    has.visit_block(&f.block);
    let real = matches!(&f.sig.output, syn::ReturnType::Type(_, ty) if ty.to_token_stream().to_string() == "f64");
    if !has.loops || has.constants || has.operators || has.uncounted || !real || !f.sig.generics.params.is_empty() {
        return None;
    }
    let mut axes = 0;
    let arguments = f.sig.inputs.iter().enumerate().map(|(k, p)| match p {
        syn::FnArg::Typed(p) => argument(&p.ty.to_token_stream().to_string().replace(' ', ""), k, &mut axes),
        syn::FnArg::Receiver(_) => None,
    });
    let arguments = arguments.collect::<Option<Vec<_>>>()?;
    let ident = Ident::new(&name, Span::call_site());
    let (inputs, output, block) = (&f.sig.inputs, &f.sig.output, &f.block);
    let item = quote!(pub fn #ident(#inputs) #output #block);
    Some(Collected { name, place: place.to_string(), item, arguments, axes })
}

/// The argument for a parameter of this type, whose axes are those from `axes` on.
fn argument(ty: &str, k: usize, axes: &mut usize) -> Option<TokenStream> {
    let plain = ty.trim_start_matches('&').replace("'_,", "");
    let name = plain.split_once('<').map_or(&*plain, |(name, _)| name);
    let real = plain.ends_with("<f64>");
    let view = name.starts_with("ArrayView");
    let by_reference = ty.starts_with('&').then(|| quote!(&));
    let rank = match (&*plain, name) {
        ("f64", _) => return Some(quote!(#by_reference sizes.number(#k))),
        ("bool", _) => {
            *axes += 1;
            let at = *axes - 1;
            return Some(quote!((sizes.whole(#at) % 2 == 1)));
        }
        ("usize", _) => {
            *axes += 1;
            let at = *axes - 1;
            return Some(quote!(#by_reference sizes.whole(#at)));
        }
        ("[f64]" | "[usize]" | "Vec<f64>" | "Vec<usize>", _) => {
            let at = *axes;
            *axes += 1;
            let elements = if plain.contains("f64") { quote!(numbers) } else { quote!(wholes) };
            return Some(quote!(#by_reference sizes.#elements(#k, #at)));
        }
        ("[Vec<f64>]" | "[Vec<usize>]" | "Vec<Vec<f64>>" | "Vec<Vec<usize>>", _) => {
            let at = *axes;
            *axes += 1;
            let elements = if plain.contains("f64") { quote!(rows) } else { quote!(rows_of_wholes) };
            return Some(quote!(#by_reference sizes.#elements(#k, #at)));
        }
        (_, name) if real && name.starts_with("Array") => name.chars().last()?.to_digit(10)? as usize,
        _ => return None,
    };
    let at: Vec<usize> = (*axes..*axes + rank).collect();
    *axes += rank;
    let array = quote!(sizes.array(#k, [#(#at),*]));
    Some(if view { quote!(#array.view()) } else { quote!(#by_reference #array) })
}

/// The functions of `ad::linalg` and `ad::fft`, and those that sort or solve equations.
static UNCOUNTED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let all = ad_oracle::documents::names().into_iter();
    let uncounted = |on| matches!(on, "`ad::linalg`" | "`ad::fft`" | "function of a common name");
    all.filter(|row| uncounted(row.on)).map(|row| row.name).collect()
});

/// Whether there is a loop, a constant of the file, and an operator of a type of the program's own
/// or a generic type, which the counter does not know.
struct Has {
    loops: bool,
    constants: bool,
    operators: bool,
    /// Calls of functions whose operations are not counted.
    uncounted: bool,
}

impl Visit<'_> for Has {
    fn visit_expr(&mut self, e: &syn::Expr) {
        self.loops |= matches!(e, syn::Expr::ForLoop(_) | syn::Expr::While(_) | syn::Expr::Loop(_));
        syn::visit::visit_expr(self, e);
    }

    fn visit_item_impl(&mut self, i: &syn::ItemImpl) {
        self.operators |= i.trait_.is_some() || !i.generics.params.is_empty();
        syn::visit::visit_item_impl(self, i);
    }

    fn visit_expr_path(&mut self, e: &syn::ExprPath) {
        let name = e.path.get_ident().map(ToString::to_string).unwrap_or_default();
        self.constants |= name.len() > 1 && !name.contains(|c: char| c.is_lowercase());
        self.uncounted |= UNCOUNTED.contains(&*name);
        self.uncounted |= e.path.segments.iter().any(|part| part.ident == "linalg" || part.ident == "fft");
        syn::visit::visit_expr_path(self, e);
    }
}

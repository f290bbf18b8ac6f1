//! Counters in a program's text. A block counts its own work, once each time it is entered:
//! arithmetic (of numbers and of indices), calls and comparisons, elements read or written. An
//! operation on a slice (a copy, a fill, a new array) counts the elements of the slice; a swap
//! reads two elements and writes two.

use std::path::PathBuf;
use std::process::Command;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

/// The other modules of the counted crate: the counters, and the measurement of a program.
const PARTS: [(&str, &str); 4] = [
    ("arguments", include_str!("counting/arguments.rs")),
    ("counters", include_str!("counting/counters.rs")),
    ("arrays", include_str!("counting/arrays.rs")),
    ("kernels", include_str!("counting/kernels.rs")),
];
/// The beginning of the counted crate. Kernels are only those that are counted.
pub(crate) const PRELUDE: &str = "#![allow(warnings, overflowing_literals)]
pub mod arguments;
mod arrays;
mod counters;
pub mod kernels;
pub use counters::*;
pub mod ad {
    pub use ndarray;
    pub mod runtime {
        pub use ad_runtime::*;
        pub use crate::{dispatched, dispatched_by_rows};
        pub use crate::kernels as kernel;
    }
}
// One machine is enough to count, and takes half of the time to compile.
#[macro_export]
macro_rules! dispatched {
    ($a:lifetime, $($f:ident)?; $inner:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty) => {
        $inner::<$crate::ad::runtime::kernel::Fused $(, $f)?>($($arg),*)
    };
}
#[macro_export]
macro_rules! dispatched_by_rows {
    ($a:lifetime, $($f:ident)?; [$($size:ident),*]; $inner:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty) => {
        $inner::<$crate::ad::runtime::kernel::Fused $(, $f)?, 0>($($arg),*)
    };
}
";

/// A function and its value and gradient.
pub(crate) const GRADIENT: &[&str] = &["", "_value_and_grad"];

/// The functions in a module of their own, with their counters; those of these suffixes are public.
pub(crate) fn instrumented(tokens: TokenStream, name: &str, suffixes: &[&str]) -> String {
    let mut file = without_the_rest(tokens, name, suffixes);
    super::numbers::counted(&mut file);
    let body = block(quote!(#file), None);
    let module = format_ident!("of_{name}");
    let functions = suffixes.iter().map(|suffix| format_ident!("{name}{suffix}"));
    let all = quote! {
        mod #module {
            use crate::ad::{self, runtime::{Real, dsl::*}};
            use crate::arrays::*;
            use ndarray::*;
            use std::collections::VecDeque;
            #body
        }
        pub use #module::{#(#functions),*};
    };
    match syn::parse2::<syn::File>(all.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(e) => panic!("{name}: {e}\n{all}"),
    }
}

/// A proof by compilation never runs, and mentions methods that the counters replace. Derivatives
/// that are not requested are not compiled either, since there are many random programs.
fn without_the_rest(tokens: TokenStream, name: &str, suffixes: &[&str]) -> syn::File {
    let mut file: syn::File = syn::parse2(tokens).expect("the macro writes items");
    let check = format!("__{name}_marked_differentiate");
    let grad = (!suffixes.contains(&"_grad")).then(|| format!("{name}_grad"));
    file.items.retain(|item| match item {
        syn::Item::Const(c) => c.ident != "_",
        syn::Item::Fn(f) => f.sig.ident != check && grad.as_ref().is_none_or(|grad| f.sig.ident != grad),
        _ => true,
    });
    file
}

/// The same tokens with counters in the blocks among them; in this one too, if it is a block:
/// `before` is the work that is done each time before it is entered.
fn block(tokens: TokenStream, before: Option<u64>) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut n = before.unwrap_or(0);
    let inner = walk(&tokens, &mut n, true);
    if before.is_some() && n > 0 {
        let n = proc_macro2::Literal::u64_unsuffixed(n);
        quote!(crate::tick(#n); #inner)
    } else {
        inner
    }
}

/// Methods that `counting/arrays.rs` counts.
const METHODS: [&str; 25] = [
    "clone",
    "collect",
    "dot",
    "fill",
    "fold",
    "insert",
    "mapv",
    "mean",
    "mean_axis",
    "partial_cmp",
    "product",
    "remove",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "std",
    "std_axis",
    "sum",
    "sum_axis",
    "to_owned",
    "to_vec",
    "total_cmp",
    "var",
    "var_axis",
];

fn ident(t: Option<&TokenTree>) -> String {
    match t {
        Some(TokenTree::Ident(i)) => i.to_string(),
        _ => String::new(),
    }
}

fn punct(t: Option<&TokenTree>) -> char {
    match t {
        Some(TokenTree::Punct(p)) => p.as_char(),
        _ => ' ',
    }
}

/// Whether it holds the arms of a `match`.
fn has_arms(g: &proc_macro2::Group) -> bool {
    let tokens: Vec<TokenTree> = g.stream().into_iter().collect();
    tokens.windows(2).any(|w| punct(w.first()) == '=' && punct(w.last()) == '>')
}

/// Whether it holds the fields of a struct: a name and one colon.
fn has_fields(g: &proc_macro2::Group) -> bool {
    let start: Vec<TokenTree> = g.stream().into_iter().take(3).collect();
    !ident(start.first()).is_empty() && punct(start.get(1)) == ':' && punct(start.get(2)) != ':'
}

/// Whether these tokens end with the name of a type, and not of the type that a function returns.
/// So a struct literal or an `impl` follows.
fn of_type(tokens: &[TokenTree]) -> bool {
    let name = ident(tokens.last());
    let follows_impl = ident(tokens.len().checked_sub(2).map(|k| &tokens[k])) == "impl";
    let arrow =
        tokens.len() > 2 && tokens[tokens.len() - 3..tokens.len() - 1].iter().map(|t| punct(Some(t))).eq(['-', '>']);
    follows_impl || name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase) && !arrow
}

/// The work to go to the next step: an addition and a comparison.
const STEP: u64 = 2;

/// The number of elements that a step of a loop over this reads: none for a range.
fn elements(over: &[TokenTree]) -> u64 {
    let over: Vec<&TokenTree> =
        over.iter().take_while(|t| !matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)).collect();
    let range =
        |tokens: &[TokenTree]| tokens.windows(2).any(|w| punct(Some(&w[0])) == '.' && punct(Some(&w[1])) == '.');
    let flat: Vec<TokenTree> = over.iter().map(|t| (*t).clone()).collect();
    let inner =
        over.iter().any(|t| matches!(t, TokenTree::Group(g) if range(&g.stream().into_iter().collect::<Vec<_>>())));
    let zipped = over.iter().filter(|t| matches!(t, TokenTree::Ident(i) if i == "zip")).count() as u64;
    u64::from(!range(&flat) && !inner) + zipped
}

/// Adds the work of these tokens to `n`.
fn walk(tokens: &[TokenTree], n: &mut u64, counts: bool) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    // The work that had been counted where a `while` begins: its condition is evaluated in each
    // step, and once more.
    let mut condition: Option<u64> = None;
    // The cost of a step without inner blocks.
    let mut items: u64 = 0;
    for (k, t) in tokens.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| &tokens[k]);
        let more = match t {
            TokenTree::Group(g) => {
                let (open, span) = (g.delimiter(), g.span());
                let made = match open {
                    Delimiter::Brace
                        if !matches!(ident(before).as_str(), "use" | "match")
                            && !has_arms(g)
                            && !has_fields(g)
                            && !of_type(&tokens[..k]) =>
                    {
                        let each = condition.take().map_or(0, |before| *n - before);
                        block(g.stream(), Some(each + std::mem::take(&mut items)))
                    }
                    Delimiter::Bracket
                        if punct(before) == '!' && ident(k.checked_sub(2).map(|k| &tokens[k])) == "vec" =>
                    {
                        // `vec![x; n]`, with or without a path.
                        let parts: Vec<TokenTree> = g.stream().into_iter().collect();
                        if let Some(at) = parts.iter().position(|t| punct(Some(t)) == ';') {
                            out.truncate(out.len() - 2);
                            let path = ["std", "ad", "runtime", "alloc"];
                            let of_path = |t: &TokenTree| punct(Some(t)) == ':' || path.contains(&&*ident(Some(t)));
                            while out.last().is_some_and(of_path) {
                                out.pop();
                            }
                            let x: TokenStream = parts[..at].iter().cloned().collect();
                            let len: TokenStream = parts[at + 1..].iter().cloned().collect();
                            let x = walk(&x.into_iter().collect::<Vec<_>>(), n, counts);
                            out.extend(quote!(crate::vector(#x, #len)));
                            continue;
                        }
                        g.stream()
                    }
                    Delimiter::Bracket if punct(before) != '#' => {
                        let index =
                            counts && (!ident(before).is_empty() || matches!(before, Some(TokenTree::Group(_))));
                        // The position of an element of a matrix costs a product and a sum.
                        let axes = match &*g.stream().into_iter().collect::<Vec<_>>() {
                            [TokenTree::Group(ix)] if ix.delimiter() == Delimiter::Bracket => {
                                ix.stream().into_iter().filter(|t| punct(Some(t)) == ',').count() as u64
                            }
                            _ => 0,
                        };
                        *n += u64::from(index) * (1 + 2 * axes);
                        walk(&g.stream().into_iter().collect::<Vec<_>>(), n, counts)
                    }
                    Delimiter::Bracket => g.stream(),
                    _ => {
                        let copies = matches!(&*ident(before), "copy_from_slice" | "extend_from_slice");
                        let inner = walk(&g.stream().into_iter().collect::<Vec<_>>(), n, counts);
                        if copies { quote!(crate::over(#inner)) } else { inner }
                    }
                };
                let mut group = Group::new(open, made);
                group.set_span(span);
                TokenTree::Group(group)
            }
            TokenTree::Ident(i) => {
                let name = i.to_string();
                if name == "while" {
                    condition = Some(*n);
                }
                if name == "in" {
                    items = STEP + elements(&tokens[k + 1..]);
                }
                // This is not the end of a range: `0..std::cmp::min(a, b)`.
                let method = punct(before) == '.' && punct(k.checked_sub(2).map(|k| &tokens[k])) != '.';
                let counted = method && METHODS.contains(&name.as_str());
                let called =
                    matches!(tokens.get(k + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                const FREE: [&str; 12] = [
                    "len",
                    "iter",
                    "rev",
                    "take",
                    "skip",
                    "zip",
                    "min",
                    "max",
                    "shape",
                    "chain",
                    "copied",
                    "unwrap_or",
                ];
                *n += u64::from(counts && method && called && !FREE.contains(&name.as_str()));
                *n += 2 * u64::from(counts && name == "mul_add");
                *n += u64::from(counts && matches!(&*name, "mul_zero" | "quotient"));
                *n += 3 * u64::from(counts && method && name == "swap");
                if counted { format_ident!("counted_{name}").into() } else { t.clone() }
            }
            TokenTree::Punct(p) => {
                let next = punct(tokens.get(k + 1));
                let operand = matches!(before, Some(TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Group(_)));
                let arrow = matches!((p.as_char(), next), ('-', '>'));
                let whole = p.spacing() == Spacing::Alone || next == '=' || matches!(next, '-' | '&' | '*' | '!');
                *n += u64::from(counts && operand && !arrow && whole && "+-*/".contains(p.as_char()));
                let generic = punct(before) == ':'
                    || matches!(before, Some(TokenTree::Ident(i)) if i.to_string().starts_with(char::is_uppercase));
                let compares = match p.as_char() {
                    '<' | '>' => !generic,
                    '=' | '!' => next == '=',
                    _ => false,
                };
                *n += u64::from(counts && operand && compares);
                t.clone()
            }
            TokenTree::Literal(_) => t.clone(),
        };
        out.push(more);
    }
    // Paths of the crate.
    let mut all: Vec<TokenTree> = Vec::new();
    for (k, t) in out.iter().enumerate() {
        if ident(Some(t)) == "ad"
            && k >= 2
            && punct(Some(&out[k - 1])) == ':'
            && (k < 3 || ident(Some(&out[k - 3])) != "crate")
        {
            let colons: Vec<TokenTree> = all.split_off(all.len() - 2);
            all.push(Ident::new("crate", Span::call_site()).into());
            all.extend(colons);
        }
        all.push(t.clone());
    }
    all.into_iter().collect()
}

/// A separate crate, next to those of the emitter's tests.
pub(crate) fn write(name: &str, lib: &str, main: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emit-{name}"));
    std::fs::create_dir_all(root.join("src")).expect("the folder can be made");
    let runtime = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ad-runtime");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nad-runtime = {{ path = {runtime:?} }}\nndarray = \"0.17\"\nnum-traits = \"0.2\"\n\
         [profile.dev]\nopt-level = 0\ndebug = false\nincremental = false\n"
    );
    let mut files = vec![("Cargo.toml".to_string(), &*manifest), ("src/main.rs".to_string(), main)];
    files.push(("src/lib.rs".to_string(), lib));
    files.extend(PARTS.iter().map(|&(name, text)| (format!("src/{name}.rs"), text)));
    for (path, text) in files {
        if std::fs::read_to_string(root.join(&path)).ok().as_deref() != Some(text) {
            std::fs::write(root.join(path), text).expect("the file can be written");
        }
    }
    root
}

#[allow(dead_code, reason = "the tool over random programs goes on where a program does not compile")]
/// The output of the program. Cargo locks the folder `target`, so a test that takes hours has its
/// own folder.
pub(crate) fn run(root: &PathBuf, target: &str) -> String {
    ran(root, target).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The output of the program, or its errors.
pub(crate) fn ran(root: &PathBuf, target: &str) -> Result<String, String> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(target);
    let out = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    if out.status.success() { Ok(text.into_owned()) } else { Err(format!("{text}\n{errors}")) }
}

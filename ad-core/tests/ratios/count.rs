//! Counters in a program's text. A block counts what it does itself, once each time it is entered: arithmetic (of numbers and of indices), calls and
//! comparisons, elements read or written. What goes over a slice (copies, fills, new arrays) counts its elements; a swap is two that are read and two that are written.

use std::path::PathBuf;
use std::process::Command;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

/// What the counters are, and how a program is measured.
pub(crate) const PRELUDE: &str = r#"
#![allow(warnings)]
pub mod ad { pub use ad_runtime as runtime; pub use ndarray; }
use std::cell::Cell;
thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
    static MADE: Cell<u64> = const { Cell::new(0) };
    static NUMBERS: Cell<u64> = const { Cell::new(0) };
}
fn real<T>() -> bool { matches!(std::any::type_name::<T>(), "f64" | "&f64") }
fn more(n: u64) { NUMBERS.with(|c| c.set(c.get() + n)); }
/// An operation on numbers, if it is one.
pub fn number<T>(x: T) -> T { if real::<T>() { more(1); } x }
/// A function of numbers in lanes, which the other counters do not see.
pub fn lanes<T>(x: T) -> T { let n = (size_of::<T>() / 8) as u64; tick(n); more(n); x }
/// The lanes of a sum are added: as many numbers for three elements as for a thousand, so that this is work, and no operation on numbers of the program.
pub fn joined<T>(n: u64, x: T) -> T { tick(n); x }
pub fn summed<T>(x: &[T]) -> &[T] { tick(x.len() as u64); if real::<T>() { more(x.len() as u64); } x }
pub fn tick(n: u64) { DONE.with(|d| { d.set(d.get() + n); assert!(d.get() < LONGEST, "too long"); }); }
/// What takes longer is not run to its end: it may have none for these numbers.
const LONGEST: u64 = 100_000_000;
pub fn over<T>(x: &[T]) -> &[T] { tick(x.len() as u64); x }
pub fn vector<T: Clone>(x: T, n: usize) -> Vec<T> { tick(n as u64); MADE.with(|m| m.set(m.get() + n as u64)); vec![x; n] }
pub trait Counted { type E; type Out; fn filled(&mut self, x: Self::E); fn copied_out(&self) -> Self::Out; }
fn made(n: usize) { tick(n as u64); MADE.with(|m| m.set(m.get() + n as u64)); }
impl<T: Clone> Counted for [T] {
    type E = T;
    type Out = Vec<T>;
    fn filled(&mut self, x: T) { tick(self.len() as u64); self.fill(x) }
    fn copied_out(&self) -> Vec<T> { made(self.len()); self.to_vec() }
}
impl<T: Clone, D: ndarray::Dimension> Counted for ndarray::Array<T, D> {
    type E = T;
    type Out = Self;
    fn filled(&mut self, x: T) { tick(self.len() as u64); self.fill(x) }
    fn copied_out(&self) -> Self { made(self.len()); self.clone() }
}
pub fn measure(name: &str, n: usize, f: fn(&[f64]) -> f64, g: fn(&[f64]) -> (f64, Vec<f64>)) {
    let x: Vec<f64> = (0..n).map(|k| 0.6 + 0.3 * (k as f64 * 1.7).sin()).collect();
    let taken = || (DONE.with(|d| d.take()), MADE.with(|m| m.take()), NUMBERS.with(|m| m.take()));
    taken();
    let value = f(&x);
    let function = taken();
    let (same, gradient) = g(&x);
    let derivative = taken();
    assert!((value - same).abs() <= 1e-9 * value.abs().max(1.0), "{name}: {same} is not {value}");
    for k in [0, n / 2, n - 1] {
        let at = |h: f64| { let mut x = x.clone(); x[k] += h; f(&x) };
        let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!((slope - gradient[k]).abs() <= 1e-4 * slope.abs().max(1.0), "{name} at {k} of {n}: {} is not {slope}", gradient[k]);
    }
    println!("{name} {n} {} {} {} {} {}", function.0, derivative.0, derivative.1, function.2, derivative.2);
}
pub fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| 0.6 + 0.3 * ((k * (seed + 1)) as f64 * 1.7 + seed as f64).sin()).collect()
}
pub fn matrix(n: usize, seed: usize) -> ndarray::Array2<f64> {
    let side = (n as f64).sqrt() as usize;
    ndarray::Array2::from_shape_vec((side, side), numbers(side * side, seed)).unwrap()
}
/// Counts at growing sizes, as long as that is quick; where the function panics, so must the gradient.
pub fn growing(name: &str, f: fn(usize) -> f64, g: fn(usize) -> f64) {
    for n in [10, 30, 100, 300, 1000] {
        let taken = || (DONE.with(|d| d.take()), MADE.with(|m| m.take()), NUMBERS.with(|m| m.take()));
        taken();
        let value = std::panic::catch_unwind(|| f(n));
        let function = taken();
        if function.0 > 4_000_000 { return; }
        let same = std::panic::catch_unwind(|| g(n));
        let derivative = taken();
        match (value, same) {
            (Ok(value), Ok(same)) => {
                let agree = (value - same).abs() <= 1e-9 * value.abs().max(1.0) || value.to_bits() == same.to_bits() || (value.is_nan() && same.is_nan());
                assert!(agree, "{name} at {n}: {same} is not {value}");
                println!("{name} {n} {} {} {} {} {}", function.0, derivative.0, derivative.1, function.2, derivative.2);
            }
            (Err(_), Err(_)) => {}
            (value, same) => panic!("{name} at {n}: {value:?} and {same:?}"),
        }
    }
}
"#;

/// The functions in a module of their own, with their counters.
pub(crate) fn instrumented(tokens: TokenStream, name: &str) -> String {
    let mut file = without_proofs(tokens);
    super::numbers::counted(&mut file);
    let body = block(quote!(#file), None);
    let (module, f, g) = (format_ident!("of_{name}"), format_ident!("{name}"), format_ident!("{name}_value_and_grad"));
    let all = quote!(mod #module { use crate::Counted as _; use ndarray::*; #body } pub use #module::{#f, #g};);
    match syn::parse2::<syn::File>(all.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(e) => panic!("{name}: {e}\n{all}"),
    }
}

/// What is proved by compiling never runs, and is of methods that the counters take the place of.
fn without_proofs(tokens: TokenStream) -> syn::File {
    let mut file: syn::File = syn::parse2(tokens).expect("the macro writes items");
    file.items.retain(|item| !matches!(item, syn::Item::Const(c) if c.ident == "_"));
    file
}

/// The same tokens with counters in the blocks among them; in this one too, unless it is none: `before` is what is done each time before it is entered.
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

/// To go to the next step: an addition and a comparison.
const STEP: u64 = 2;

/// How many elements a step of a loop over this takes: none of a range.
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

/// `n` counts what these tokens do.
fn walk(tokens: &[TokenTree], n: &mut u64, counts: bool) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    // What had been counted where a `while` begins: its condition is asked in each step, and once more.
    let mut condition: Option<u64> = None;
    // What a step costs by itself.
    let mut items: u64 = 0;
    for (k, t) in tokens.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| &tokens[k]);
        let more = match t {
            TokenTree::Group(g) => {
                let (open, span) = (g.delimiter(), g.span());
                let made = match open {
                    Delimiter::Brace if !matches!(ident(before).as_str(), "use" | "match") && !has_arms(g) => {
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
                            while matches!(out.last(), Some(t) if punct(Some(t)) == ':' || ident(Some(t)) == "std") {
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
                        // Where an element of a matrix is costs a product and a sum.
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
                let method = punct(before) == '.';
                let new = match name.as_str() {
                    "fill" if method => "filled",
                    "to_vec" | "to_owned" if method => "copied_out",
                    "clone" if method => "copied_out",
                    _ => &name,
                };
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
                if new == name { t.clone() } else { Ident::new(new, Span::call_site()).into() }
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

/// A crate of its own, beside those of the emitter's tests.
pub(crate) fn write(name: &str, lib: &str, main: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("emit-{name}"));
    std::fs::create_dir_all(root.join("src")).expect("the folder can be made");
    let runtime = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ad-runtime");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [dependencies]\nad-runtime = {{ path = {runtime:?} }}\nndarray = \"0.17\"\n[profile.dev]\nopt-level = 0\n"
    );
    for (path, text) in [("Cargo.toml", &*manifest), ("src/lib.rs", lib), ("src/main.rs", main)] {
        if std::fs::read_to_string(root.join(path)).ok().as_deref() != Some(text) {
            std::fs::write(root.join(path), text).expect("the file can be written");
        }
    }
    root
}

/// What it prints.
pub(crate) fn run(root: &PathBuf) -> String {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit-target");
    let out = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{text}\n{errors}");
    text.into_owned()
}

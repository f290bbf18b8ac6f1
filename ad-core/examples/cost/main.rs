//! The cost of the macro at compile time: the time of the expansion and the length of its output,
//! for the repository's examples and for a function of 200 array statements.
//!
//! ```text
//! cargo run -p ad-core --example cost [-- builds [examples]]
//! ```
//!
//! With `builds` the statements are compiled as well, in debug and in release, beside programs
//! without the attribute and without arrays, with `examples` some of the repository's examples too.
//! Times are processor times if the system reports them (without the work of other programs on the
//! machine). `AD_DOCS=1` writes the tables into `docs/performance.md`.

#[path = "../../tests/common/arrays.rs"]
mod arrays;
mod builds;
#[path = "../../../benches/measure/docs.rs"]
mod docs;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// The number of expansions, of which the shortest time counts.
const REPEATS: usize = 5;

/// The cost of the expansion of some functions.
#[derive(Clone, Copy, Default)]
struct Cost {
    functions: usize,
    milliseconds: f64,
    /// The number of tokens of the functions, and of the generated items.
    given: usize,
    tokens: usize,
    lines: usize,
    bytes: usize,
    /// The number of loop nests, and of those that are compiled for two machines.
    nests: usize,
    dispatched: usize,
}

impl Cost {
    fn of(attr: &TokenStream, function: &TokenStream) -> Cost {
        let mut milliseconds = f64::INFINITY;
        let mut emitted = TokenStream::new();
        for _ in 0..REPEATS {
            let (attr, function) = (attr.clone(), function.clone());
            let start = Instant::now();
            emitted = ad_core::expand(attr, function);
            milliseconds = milliseconds.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let file = syn::parse2(emitted.clone()).expect("the expansion parses");
        let text = prettyplease::unparse(&file);
        assert!(!text.contains("compile_error!"), "refused:\n{text}");
        Cost {
            functions: 1,
            milliseconds,
            given: count(function.clone()),
            tokens: count(emitted),
            lines: text.lines().count(),
            bytes: text.len(),
            nests: text.matches("    fn ").count() - text.matches("    fn loops").count(),
            dispatched: text.matches("dispatched!").count(),
        }
    }

    fn plus(self, other: Cost) -> Cost {
        Cost {
            functions: self.functions + other.functions,
            milliseconds: self.milliseconds + other.milliseconds,
            given: self.given + other.given,
            tokens: self.tokens + other.tokens,
            lines: self.lines + other.lines,
            bytes: self.bytes + other.bytes,
            nests: self.nests + other.nests,
            dispatched: self.dispatched + other.dispatched,
        }
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {:.1} ms | {} | {} | {} | {:.1} kB | {} | {} |\n",
            self.functions,
            self.milliseconds,
            self.given,
            self.tokens,
            self.lines,
            self.bytes as f64 / 1e3,
            self.nests,
            self.dispatched
        )
    }
}

/// The number of tokens, with those in groups.
fn count(tokens: TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 2 + count(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(of).sum()
}

/// The annotated functions of a file.
fn of_file(path: &Path) -> Cost {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let file = syn::parse_file(&text).expect("the file parses");
    file.items.into_iter().fold(Cost::default(), |cost, item| {
        let syn::Item::Fn(mut f) = item else { return cost };
        let Some(at) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { return cost };
        let attr = match f.attrs.remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        cost.plus(Cost::of(&attr, &f.to_token_stream()))
    })
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf();
    let mut text = format!("On {}.\n\n", docs::machine());
    text += "| | functions | expansion | tokens given | tokens written | lines | bytes | nests | of two machines |\n";
    text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for name in ["tour", "digits", "rnn", "fit_ode", "hmc", "optimise", "bundle"] {
        let folder = root.join("examples").join(name);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("the example").map(|e| e.expect("a file").path()).collect();
        files.sort();
        let cost = files.iter().fold(Cost::default(), |cost, file| cost.plus(of_file(file)));
        text += &cost.row(&format!("`{name}`"));
    }
    for n in [25, 50, 100, 200] {
        let cost = Cost::of(&TokenStream::new(), &arrays::statements(n));
        text += &cost.row(&format!("{n} array statements"));
    }
    if std::env::args().any(|a| a == "builds") {
        let _ = writeln!(text, "\n{}", builds::table(&root));
    }
    println!("{text}");
    docs::write("expansion", &text);
}

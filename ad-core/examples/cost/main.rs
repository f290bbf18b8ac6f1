//! The cost of the macro at compile time: the time of the expansion and the length of its output,
//! for the repository's examples and for a function of 200 array statements.
//!
//! ```text
//! cargo run -p ad-core --example cost [-- builds [examples]]
//! ```
//!
//! With `builds` the statements are compiled as well, in debug and in release, next to programs
//! without the attribute and without arrays, with `examples` some of the repository's examples too.
//! Times are processor times if the system reports them (without the work of other programs on the
//! machine). `AD_DOCS=1` writes the tables into `docs/performance.md`.

#[path = "../../tests/common/arrays.rs"]
mod arrays;
mod builds;
#[path = "../../../benches/measure/docs.rs"]
mod docs;
#[path = "../../tests/common/files.rs"]
mod files;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use files::Annotated;
use proc_macro2::{TokenStream, TokenTree};

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
    fn of(annotated: &Annotated) -> Cost {
        let mut milliseconds = f64::INFINITY;
        let mut emitted = TokenStream::new();
        for _ in 0..REPEATS {
            let start = Instant::now();
            emitted = annotated.expanded();
            milliseconds = milliseconds.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let text = |tokens| prettyplease::unparse(&syn::parse2(tokens).expect("the expansion parses"));
        let (given, written) = (text(annotated.item.clone()), text(emitted.clone()));
        assert!(!written.contains("compile_error!"), "refused:\n{written}");
        let new = |word: &str| written.matches(word).count() - given.matches(word).count();
        Cost {
            functions: given.matches("#[differentiate").count().max(1),
            milliseconds,
            given: count(annotated.item.clone()),
            tokens: count(emitted),
            lines: written.lines().count(),
            bytes: written.len(),
            nests: new("    fn ") - new("    fn loops"),
            dispatched: new("dispatched!"),
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

/// The annotated functions of an example. Modules are read with the file that declares them.
fn of_example(folder: &Path) -> Cost {
    let all = files::annotated(&folder.join("main.rs"), None);
    all.iter().fold(Cost::default(), |cost, one| cost.plus(Cost::of(one)))
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_path_buf();
    let mut text = format!("On {}.\n\n", docs::machine());
    text += "| | functions | expansion | tokens given | tokens written | lines | bytes | nests | of two machines |\n";
    text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for name in ["tour", "digits", "rnn", "fit_ode", "hmc", "optimise", "bundle"] {
        let folder = root.join("examples").join(name);
        text += &of_example(&folder).row(&format!("`{name}`"));
    }
    for n in [25, 50, 100, 200] {
        let cost = Cost::of(&Annotated::new(TokenStream::new(), arrays::statements(n)));
        text += &cost.row(&format!("{n} array statements"));
    }
    if std::env::args().any(|a| a == "builds") {
        let _ = writeln!(text, "\n{}", builds::table(&root));
    }
    println!("{text}");
    docs::write("expansion", &text);
}

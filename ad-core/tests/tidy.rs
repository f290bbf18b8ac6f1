//! The structure that ARCHITECTURE.md promises, tested on the sources: modules depend downwards
//! only, folders have no cycles, each crate depends only on the permitted crates, only one module
//! reads `syn`, and files have a limited length.
//!
//! Each list of exceptions may only become shorter: an exception that is no longer needed fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The crates of the compiler, each with its module in [`LAYERS`] unless it has several of them.
const COMPILER: &[(&str, Option<&str>)] =
    &[("ad-ir", None), ("ad-front", Some("front")), ("ad-middle", None), ("ad-back", Some("emit")), ("ad-core", None)];

/// The modules of the compiler. Each may use the earlier ones only.
const LAYERS: &[&str] = &[
    "sorted",
    "stage",
    "diag",
    "positions",
    "catalogue",
    "choice",
    "term",
    "prim",
    "ir",
    "analysis",
    "memory_order",
    "passes",
    "mode",
    "program",
    "rust_types",
    "descriptor",
    "front",
    "modes",
    "derivative",
    "pipeline",
    "calls",
    "emit",
    "derive",
    "dual_numbers",
    "explain",
    "expansion",
    "travel",
    "check_grad",
    "lib",
];

/// Uses of a higher module: the file (or folder) that has the use, and the module.
const UPWARDS: &[(&str, &str)] = &[];

/// Sibling folders that use each other.
const CYCLES: &[(&str, &str)] = &[];

/// The modules that may read Rust's syntax.
const READERS: &[&str] = &["front", "check_grad", "derive", "dual_numbers", "travel"];

/// Other files that read it.
const OTHER_READERS: &[&str] = &["ad-ir/src/diag.rs", "ad-back/src/proof.rs"];

/// The modules that may generate Rust.
const WRITERS: &[&str] = &["emit", "rust_types", "check_grad", "derive", "dual_numbers", "expansion", "travel"];

/// Other files that generate it.
const OTHER_WRITERS: &[&str] = &[
    "ad-front/src/arith.rs",
    "ad-front/src/assume.rs",
    "ad-front/src/attr.rs",
    "ad-front/src/dual_numbers.rs",
    "ad-front/src/lib.rs",
    "ad-front/src/macros.rs",
    "ad-front/src/probe.rs",
    "ad-front/src/shapes.rs",
    "ad-front/src/sig.rs",
    "ad-front/src/stand_in.rs",
    "ad-front/src/travel.rs",
    "ad-front/src/types.rs",
];

/// The crates on which each crate may depend, except for its tests.
const CRATES: &[(&str, &[&str])] = &[
    (".", &["ad-macro", "ad-runtime", "ndarray"]),
    ("ad-macro", &["ad-core"]),
    ("ad-core", &["ad-back", "ad-front", "ad-ir", "ad-middle", "proc-macro2", "quote", "syn"]),
    ("ad-back", &["ad-ir", "ad-middle", "proc-macro2", "quote", "syn"]),
    ("ad-middle", &["ad-ir", "proc-macro2", "quote"]),
    ("ad-front", &["ad-ir", "proc-macro2", "quote", "syn"]),
    ("ad-ir", &["proc-macro2", "quote", "syn"]),
    // ndarray depends on num-traits, and its `NdFloat` has a bound of it.
    ("ad-runtime", &["approx", "nalgebra", "ndarray", "num-traits", "rayon", "rustfft", "simba"]),
    ("ad-oracle", &["ad-core"]),
];

/// The maximum number of lines of a file.
const LONGEST: usize = 600;

/// Folders of handwritten sources.
const FOLDERS: &[&str] = &[
    "ad-back",
    "ad-bench",
    "ad-core",
    "ad-examples",
    "ad-explain",
    "ad-front",
    "ad-ir",
    "ad-macro",
    "ad-middle",
    "ad-oracle",
    "ad-runtime",
    "ad-tests",
    "ad-ui",
    "benches",
    "examples",
    "gradbench",
    "src",
    "tests",
];

/// The compiler writes the files in these folders.
const WRITTEN: &[&str] = &["ad-core/tests/snapshots"];

/// Longer files, with the maximum number of lines of each, and the reason.
const LONG: &[(&str, usize, &str)] = &[
    ("ad-core/tests/emit/corpus.rs", 869, "the examples of one list"),
    ("ad-core/tests/front/open.rs", 782, "cases of one subject"),
    ("ad-core/tests/rules.rs", 750, "the examples of one list"),
    ("ad-core/tests/table.rs", 698, "one table and its test"),
    ("tests/derivatives.rs", 650, "cases of one subject"),
    ("tests/loops.rs", 619, "cases of one subject"),
];

/// Asserts that the findings are the exceptions. The sentences explain how to mend a failure.
fn compare<T: Ord>(found: &BTreeMap<T, String>, excepted: impl IntoIterator<Item = T>, stale: impl Fn(&T) -> String) {
    let excepted: BTreeSet<T> = excepted.into_iter().collect();
    let new = found.iter().filter(|(key, _)| !excepted.contains(key)).map(|(_, say)| say.clone());
    let gone = excepted.iter().filter(|key| !found.contains_key(key)).map(stale);
    let all: Vec<String> = new.chain(gone).collect();
    assert!(all.is_empty(), "\n{}\n", all.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files of a folder, with their paths from the root of the repository and their text.
fn sources(folder: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for path in entries.map(|e| e.expect("a file").path()) {
            if path.is_dir() && !path.ends_with("target") {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let name = path.strip_prefix(root).expect("under the root").to_str().expect("a name of letters");
                found.push((name.to_string(), text));
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    walk(&root.join(folder), &root, &mut found);
    found.sort();
    assert!(!found.is_empty(), "{folder} has no sources: take it out of this test");
    found
}

/// A module: its file and path, its crate's root, the paths that its code (not unit tests) names.
struct Module {
    file: String,
    path: Vec<String>,
    root: Vec<String>,
    uses: BTreeSet<Vec<String>>,
    reads: bool,
    writes: bool,
}

impl Module {
    /// The top-level module that contains it.
    fn layer(&self) -> &str {
        self.path.first().map_or("lib", String::as_str)
    }
}

fn modules() -> Vec<Module> {
    let module = |folder: &str, (file, text): (String, String), root: &[String]| {
        let inner = file.strip_prefix(folder).and_then(|f| f.strip_suffix(".rs")).expect("a source");
        let mut path: Vec<String> = inner.trim_start_matches('/').split('/').map(str::to_string).collect();
        if path.last().is_some_and(|last| last == "mod" || last == "lib") {
            path.pop();
        }
        path.splice(..0, root.iter().cloned());
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
        let (root, uses) = (root.to_vec(), BTreeSet::new());
        let mut module = Module { file, root, uses, reads: false, writes: false, path: Vec::new() };
        module.read(&tokens.into_iter().collect::<Vec<_>>(), &path);
        module.path = path;
        module
    };
    let all = COMPILER.iter().flat_map(|(name, _)| {
        let (folder, root) = (format!("{name}/src"), root_of(name).unwrap_or_default());
        sources(&folder).into_iter().map(move |source| module(&folder, source, &root))
    });
    all.collect()
}

/// The path of the root of a crate of the compiler.
fn root_of(name: &str) -> Option<Vec<String>> {
    let (_, module) = COMPILER.iter().find(|(known, _)| *known == name.replace('_', "-"))?;
    Some(module.iter().map(ToString::to_string).collect())
}

/// Whether there is a `::` at a position.
fn colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |t: Option<&TokenTree>| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    colon(tokens.get(at)) && colon(tokens.get(at + 1))
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(i)) => Some(i.to_string()),
        _ => None,
    }
}

impl Module {
    /// Collects the paths that tokens of the module `here` mention.
    fn read(&mut self, tokens: &[TokenTree], here: &[String]) {
        let mut k = 0;
        while k < tokens.len() {
            let word = ident(tokens.get(k)).unwrap_or_default();
            let punct = |at: usize, c| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
            match &*word {
                "mod" if matches!(tokens.get(k + 2), Some(TokenTree::Group(_))) => {
                    let Some(TokenTree::Group(body)) = tokens.get(k + 2) else { unreachable!("it was one") };
                    let name = ident(tokens.get(k + 1)).expect("the name of a module");
                    // A `#[cfg(test)] mod tests` is skipped.
                    if name != "tests" {
                        let inner: Vec<String> = here.iter().cloned().chain([name]).collect();
                        self.read(&body.stream().into_iter().collect::<Vec<_>>(), &inner);
                    }
                    k += 3;
                    continue;
                }
                "crate" | "super" | "self" if colons(tokens, k + 1) => {
                    k = self.path(tokens, k, Vec::new(), here);
                    continue;
                }
                name if colons(tokens, k + 1) && root_of(name).is_some() => {
                    k = self.path(tokens, k, Vec::new(), here);
                    continue;
                }
                "syn" => self.reads |= colons(tokens, k + 1),
                "quote" | "quote_spanned" => self.writes |= punct(k + 1, '!'),
                _ => {}
            }
            if let TokenTree::Group(inside) = &tokens[k] {
                self.read(&inside.stream().into_iter().collect::<Vec<_>>(), here);
            }
            k += 1;
        }
    }

    /// Collects the path at `k`, or all paths of a tree of them, after a prefix. Returns the end
    /// position.
    fn path(&mut self, tokens: &[TokenTree], mut k: usize, mut prefix: Vec<String>, here: &[String]) -> usize {
        let mut first = true;
        loop {
            match tokens.get(k) {
                Some(TokenTree::Ident(i)) => match (&*i.to_string(), first) {
                    ("crate", true) => prefix = self.root.clone(),
                    (name, true) if prefix.is_empty() && root_of(name).is_some() => {
                        prefix = root_of(name).unwrap_or_default();
                    }
                    ("self", true) if prefix.is_empty() => prefix = here.to_vec(),
                    ("super", true) if prefix.is_empty() => prefix = here[..here.len() - 1].to_vec(),
                    ("super", _) => drop(prefix.pop()),
                    ("self", _) => {}
                    (name, _) => prefix.push(name.to_string()),
                },
                Some(TokenTree::Group(tree)) if tree.delimiter() == Delimiter::Brace => {
                    let inside: Vec<TokenTree> = tree.stream().into_iter().collect();
                    for one in inside.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
                        if !one.is_empty() {
                            // After a prefix, `self` is the prefix.
                            self.path(one, 0, prefix.clone(), &[]);
                        }
                    }
                    return k + 1;
                }
                _ => break,
            }
            (k, first) = (k + 1, false);
            if !colons(tokens, k) {
                break;
            }
            k += 2;
        }
        self.uses.insert(prefix);
        k
    }
}

fn layer(name: &str) -> usize {
    let at = LAYERS.iter().position(|layer| *layer == name);
    at.unwrap_or_else(|| panic!("LAYERS of this test has no layer for `{name}`"))
}

#[test]
fn modules_depend_downwards() {
    let modules = modules();
    let there: BTreeSet<&str> = modules.iter().map(Module::layer).collect();
    let mut found = BTreeMap::new();
    for module in &modules {
        let own = layer(module.layer());
        for path in &module.uses {
            // A path that is not a module is an item of the crate's root.
            let other = path.first().map(String::as_str).filter(|name| there.contains(name)).unwrap_or("lib");
            if layer(other) > own {
                let say = format!(
                    "{} uses `{other}`, which is above `{}`: move the items that it needs down, or have its caller pass them",
                    module.file,
                    module.layer()
                );
                found.insert((module.file.as_str(), other), say);
            }
        }
    }
    for name in LAYERS {
        assert!(there.contains(name), "there is no module `{name}`: take it out of LAYERS");
    }
    compare(&found, UPWARDS.iter().copied(), |(file, other)| {
        format!("{file} no longer uses `{other}`: take it out of UPWARDS")
    });
}

#[test]
fn sibling_folders_have_no_cycles() {
    let modules = modules();
    // A folder has the path of its module, if that module has submodules in separate files.
    let folders: BTreeSet<&[String]> =
        modules.iter().filter(|m| m.path.len() > 1).map(|m| &m.path[..m.path.len() - 1]).collect();
    let mut uses: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for module in &modules {
        for path in &module.uses {
            let common = module.path.iter().zip(path).take_while(|(a, b)| a == b).count();
            let [from, to] = [&module.path, path].map(|p| p.get(..=common));
            // Each of the two has a folder in the lowest folder that contains both.
            if let (Some(from), Some(to)) = (from, to)
                && folders.contains(from)
                && folders.contains(to)
            {
                uses.entry(from.to_vec()).or_default().insert(to.to_vec());
            }
        }
    }
    let reached = |from: &Vec<String>| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
        while let Some(next) = todo.pop() {
            for to in uses.get(next).into_iter().flatten() {
                if seen.insert(to) {
                    todo.push(to);
                }
            }
        }
        seen
    };
    let mut found = BTreeMap::new();
    for (from, tos) in &uses {
        for to in tos.iter().filter(|to| from < *to || !uses.get(*to).is_some_and(|back| back.contains(from))) {
            if reached(to).contains(from) {
                let [from, to] = [from, to].map(|p| p.join("/"));
                let say = format!("{from} and {to} need each other: move what both use below both");
                found.insert((from, to), say);
            }
        }
    }
    compare(&found, CYCLES.iter().map(|(a, b)| (a.to_string(), b.to_string())), |(from, to)| {
        format!("{from} and {to} are no longer a cycle: take them out of CYCLES")
    });
}

#[test]
fn algorithms_of_differentiation_are_named_in_one_place() {
    let modules = modules();
    // An algorithm is a folder of `modes`.
    let inner = modules.iter().filter(|m| m.layer() == "modes" && m.path.len() > 2);
    let algorithms: BTreeSet<&str> = inner.map(|m| &*m.path[1]).collect();
    assert!(!algorithms.is_empty(), "no folder of `modes` is an algorithm");
    for module in modules.iter().filter(|m| m.file != "ad-middle/src/modes/mod.rs") {
        for path in module.uses.iter().filter(|path| path.first().is_some_and(|first| first == "modes")) {
            let named = path.get(1).filter(|name| algorithms.contains(&***name));
            let own = module.path.get(1).filter(|_| module.layer() == "modes");
            assert!(
                named.is_none() || named == own,
                "{} uses `{}`: ask the mode that the program stores",
                module.file,
                path.join("::")
            );
        }
    }
}

#[test]
fn one_module_reads_syntax_and_one_writes_rust() {
    let modules = modules();
    let other = |does: fn(&Module) -> bool, may: &[&str], say: &str| {
        let others = modules.iter().filter(|m| does(m) && !may.contains(&m.layer()));
        others.map(|m| (m.file.clone(), format!("{} {say}", m.file))).collect::<BTreeMap<_, _>>()
    };
    let reads = other(|m| m.reads, READERS, "reads `syn`: have the front end read it and pass what it found");
    compare(&reads, OTHER_READERS.iter().map(|f| f.to_string()), |file| {
        format!("{file} no longer reads `syn`: take it out of OTHER_READERS")
    });
    let writes = other(|m| m.writes, WRITERS, "writes tokens: have it say what it wants, and the emitter write it");
    compare(&writes, OTHER_WRITERS.iter().map(|f| f.to_string()), |file| {
        format!("{file} no longer writes tokens: take it out of OTHER_WRITERS")
    });
}

#[test]
fn crates_depend_on_what_they_may() {
    for (name, may) in CRATES {
        let file = root().join(name).join("Cargo.toml");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let section = text.split("\n[dependencies]\n").nth(1).unwrap_or_else(|| panic!("{name} has no dependencies"));
        let section = section.split("\n[").next().unwrap_or_default();
        let lines = section.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let found: BTreeSet<&str> = lines.filter_map(|line| line.split(['.', ' ', '=']).next()).collect();
        let may: BTreeSet<&str> = may.iter().copied().collect();
        assert_eq!(found, may, "dependencies of {name}: if the change is meant, say so in CRATES of this test");
    }
}

#[test]
fn files_have_at_most_600_lines() {
    let mut long = BTreeMap::new();
    for folder in FOLDERS {
        for (file, text) in sources(folder) {
            let lines = text.lines().count();
            if lines > LONGEST && !WRITTEN.iter().any(|written| file.starts_with(written)) {
                long.insert(file, lines);
            }
        }
    }
    for (file, most, why) in LONG {
        let lines = long.get(*file).copied().unwrap_or_default();
        assert!(lines > LONGEST, "{file} has at most {LONGEST} lines: take it out of LONG");
        assert!(
            lines <= *most,
            "{file} has {lines} lines, and {most} at most ({why}): divide it by what its parts are for"
        );
    }
    let found = long.into_iter().map(|(file, lines)| {
        let say = format!("{file} has {lines} lines, and {LONGEST} are the most: divide it by what its parts are for");
        (file, say)
    });
    compare(&found.collect(), LONG.iter().map(|(file, ..)| file.to_string()), |file| file.clone());
}

/// The fields of a struct: whether each is public, and its type.
fn fields(text: &str, name: &str) -> Option<Vec<(bool, String)>> {
    let before = format!("struct {name}");
    let mut starts = text.match_indices(&before).map(|(at, found)| at + found.len());
    let start = starts.find(|&at| text[at..].starts_with([' ', '<']))?;
    let line = &text[text[..start].rfind('\n').map_or(0, |at| at + 1)..];
    let indent = line.len() - line.trim_start().len();
    let body = text[start..].split(&format!("\n{}}}", " ".repeat(indent))).next()?;
    let field = |line: &str| {
        let (name, ty) = line.trim().strip_suffix(',')?.split_once(": ")?;
        (!name.starts_with('/')).then(|| (name.starts_with("pub"), ty.to_string()))
    };
    Some(body.lines().filter_map(field).collect())
}

/// Only its own module changes a part of the front end's state of translation.
#[test]
fn parts_of_the_translation_have_private_fields() {
    let all: Vec<(String, String)> = ["ad-front/src", "ad-ir/src"].into_iter().flat_map(sources).collect();
    let of = |name: &str| {
        let found = all.iter().find_map(|(file, text)| Some((file, fields(text, name).filter(|f| !f.is_empty())?)));
        found.unwrap_or_else(|| panic!("there is no struct `{name}` with fields"))
    };
    let (lower, state) = (of("Lower").1, of("State").1);
    assert!(lower.len() <= 10, "`Lower` has {} parts, and 10 are the most: join parts of one job", lower.len());
    let parts = lower.iter().chain(&state).map(|(_, ty)| ty.split('<').next().unwrap_or(ty));
    for part in parts.map(|ty| ty.rsplit("::").next().unwrap_or(ty)).filter(|part| *part != "State") {
        let (file, own) = of(part);
        let private = own.iter().all(|(public, _)| !public);
        assert!(private, "{file}: `{part}` has a public field, so any module may break its invariants");
    }
}

/// Columns of a line of a comment.
const WIDEST: usize = 100;

/// Tables cannot be wrapped, nor can the code in documentation. Lines of these folders are expected
/// in messages of rustc.
#[test]
fn comments_are_wrapped() {
    let apart = WRITTEN.iter().chain(&["tests/ui", "tests/fixtures"]);
    let mut wide = Vec::new();
    for (file, text) in FOLDERS.iter().flat_map(|folder| sources(folder)) {
        if apart.clone().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let mut code = false;
        for (k, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let words = comment.trim_start_matches(['/', '!']).trim_start();
            code = comment.starts_with("//") && (code != words.starts_with("```"));
            if comment.starts_with("//") && !code && !words.starts_with('|') && line.chars().count() > WIDEST {
                wide.push(format!("{file}:{}", k + 1));
            }
        }
    }
    assert!(wide.is_empty(), "comments wider than {WIDEST} columns:\n{}", wide.join("\n"));
}

/// Names of documents that a reader of this repository does not have.
const NOT_HERE: &[&str] =
    &["prototype.md", "speed.md", "design.md", "(design", "the issue on", "contract's", "public contract"];

/// Files of users and of ndarray (the last one) that comments name.
const OF_OTHERS: &[&str] = &["Cargo.toml", "file.rs", "src/lib.rs", "src/main.rs", "tri.rs"];

#[test]
fn comments_cite_what_is_in_the_repository() {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for path in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()) {
            if !path.is_dir() {
                found.push(path.display().to_string());
            } else if !path.ends_with("target") && !path.ends_with(".git") {
                walk(&path, found);
            }
        }
    }
    let mut files = Vec::new();
    walk(&root(), &mut files);
    let is_here = |name: &str| OF_OTHERS.contains(&name) || files.iter().any(|f| f.ends_with(&format!("/{name}")));
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        for (file, text) in sources(folder) {
            let comments = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//"));
            for (k, line) in comments {
                let names = line.split(|c: char| !(c.is_alphanumeric() || "/._-".contains(c)));
                let names = names.map(|name| name.trim_matches('.')).filter(|name| {
                    let end = Path::new(name).extension();
                    end.is_some_and(|end| ["md", "rs", "toml"].iter().any(|known| end == *known))
                });
                wrong.extend(names.filter(|name| !is_here(name)).map(|name| format!("{file}:{}: {name}", k + 1)));
                let private = NOT_HERE.iter().filter(|text| line.contains(**text));
                wrong.extend(private.map(|text| format!("{file}:{}: {text}", k + 1)));
            }
        }
    }
    assert!(wrong.is_empty(), "comments name what no reader can open:\n{}", wrong.join("\n"));
}

/// The front end and the runtime do not depend on each other, so both have these coefficients.
#[test]
fn duplicated_coefficients_are_equal() {
    let of = |file: &str| {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        let (_, from) = text.split_once("const PADE").unwrap_or_else(|| panic!("{file} has no PADE"));
        from.split_once("];").expect("the end of the list").0.to_string()
    };
    let front = of("ad-front/src/linalg.rs");
    assert!(front.lines().count() > 13, "{front}");
    assert_eq!(front, of("ad-runtime/src/linalg/functions.rs"));
}

/// Generic collections are compiled again for each type that uses them, which makes a user's build
/// longer. So the compiler has its own (`ad-ir/src/sorted.rs`, `ad-front/src/walk.rs`). The listed
/// files need those of std or `syn`.
const COSTLY: &[(&str, &[&str])] = &[
    ("BTreeMap", &[]),
    ("BTreeSet", &["ad-back/src/schedule/order.rs"]),
    ("impl Visit<", &["ad-back/src/proof.rs"]),
    ("> Visit<", &["ad-front/src/loop_effects.rs", "ad-front/src/requests.rs", "ad-front/src/walk.rs"]),
    ("VisitMut for", &["ad-front/src/walk.rs"]),
];

#[test]
fn collections_compiled_for_each_use_are_avoided() {
    let folders = ["ad-ir/src", "ad-front/src", "ad-middle/src", "ad-back/src", "ad-core/src"];
    let files: Vec<_> = folders.iter().flat_map(|folder| sources(folder)).collect();
    let code = |text: &str| {
        let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
        before_tests.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let mut wrong = Vec::new();
    for (name, text) in &files {
        let text = code(text);
        for (what, allowed) in COSTLY {
            if text.contains(what) && !allowed.contains(&&**name) {
                wrong.push(format!("{name} has `{what}`"));
            }
        }
    }
    assert!(files.len() > 200 && wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

//! The pages: what they say is true of the source and of the code, they need nothing from outside,
//! and the tool writes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use ad_explain::explain;
use proc_macro2::{TokenStream, TokenTree};
use serde_json::Value;

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ad-explain-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn file(&self, text: &str) -> PathBuf {
        let file = self.0.join("model.rs");
        std::fs::write(&file, text).expect("a file");
        file
    }

    /// The pages of a file with this text, each with its data.
    fn pages(&self, text: &str) -> Vec<(String, Value)> {
        let file = self.file(text);
        let explained = explain(&file, &self.0.join("pages")).expect("pages");
        assert!(explained.errors.is_empty(), "{:?}", explained.errors);
        let own = |page: &&PathBuf| !page.ends_with("index.html");
        explained.pages.iter().filter(own).map(|page| read(page)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A page and its data.
fn read(page: &Path) -> (String, Value) {
    let html = std::fs::read_to_string(page).expect("a page");
    let (_, rest) = html.split_once("id=\"data\">").expect("the data");
    let (json, _) = rest.split_once("</script>").expect("the end of the data");
    let data = serde_json::from_str(json).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    (html, data)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a small number")
}

/// Functions with what pages differ in: builds, loops, branches, helper functions, several
/// derivatives, letters of more than one byte.
const MODEL: &str = r#"
use ad::prelude::*;

/// Has a build, and one expression twice.
#[differentiate(grad, hvp)]
pub fn springs(x: &Array1<f64>, stiffness: f64) -> f64 {
    // A comment stays where it is.
    let stretch = build1(x.len() - 1, |i| (x[i + 1] - x[i]).cosh());
    stiffness * stretch.sum() + (x[0] * 2.0).sin() * (x[0] * 2.0)
}

#[differentiate]
fn rollout(x: f64, steps: usize) -> f64 {
    let mut größe = x;
    for _ in 0..steps {
        größe = if größe > 1.0 { größe.sin() } else { größe * größe + 0.1 };
    }
    größe
}

#[differentiate(pullback)]
fn layers(w: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    w.dot(x).mapv(f64::tanh)
}
"#;

#[test]
fn each_function_has_a_page_whose_parts_refer_to_each_other() {
    let folder = Folder::new("parts");
    let pages = folder.pages(MODEL);
    let names: BTreeSet<&str> = pages.iter().map(|(_, data)| text(&data["name"])).collect();
    assert_eq!(names, BTreeSet::from(["layers", "rollout", "springs"]));
    for (_, data) in &pages {
        let places = list(&data["places"]).len();
        let mut with_places = 0;
        for stage in list(&data["stages"]) {
            let letters = text(&stage["text"]).encode_utf16().count();
            let mut marked = Vec::new();
            for mark in list(&stage["marks"]) {
                let (from, to) = (number(&mark[0]), number(&mark[1]));
                assert!(from < to && to <= letters, "{}: {mark}", stage["name"]);
                // Marks are nested.
                marked.retain(|&end| end > from);
                assert!(marked.last().is_none_or(|&end| to <= end), "{}: {mark}", stage["name"]);
                marked.push(to);
                assert!(list(&mark[3]).iter().all(|p| number(p) < places), "{mark}");
                with_places += usize::from(!list(&mark[3]).is_empty());
            }
        }
        assert!(with_places > 10, "few terms of {} have a place", data["name"]);
        for routine in list(&data["routines"]) {
            let numbers: BTreeSet<usize> = list(&routine["statements"]).iter().map(|s| number(&s["number"])).collect();
            assert!(!numbers.is_empty(), "{routine}");
            for statement in list(&routine["statements"]) {
                assert!(list(&statement["places"]).iter().all(|p| number(p) < places), "{statement}");
                assert!(statement["inside"].is_null() || numbers.contains(&number(&statement["inside"])));
                let read = |read: &Value| read["statement"].is_null() || numbers.contains(&number(&read["statement"]));
                assert!(list(&statement["reads"]).iter().all(read), "{statement}");
            }
        }
        for rewrite in list(&data["rewrites"]) {
            assert!(list(&rewrite["places"]).iter().all(|p| number(p) < places), "{rewrite}");
            assert!(number(&rewrite["times"]) > 0);
        }
        let names: BTreeSet<&str> = list(&data["stages"]).iter().map(|stage| text(&stage["name"])).collect();
        for name in ["source", "differentiation", "result", "lowering", "schedule", "Rust"] {
            assert!(names.contains(name), "{} has no stage {name}", data["name"]);
        }
    }
}

/// The text of the source is the user's, and each place in it is that of its expression.
#[test]
fn places_are_those_of_their_expressions() {
    let folder = Folder::new("places");
    let mut inside = 0;
    for (_, data) in folder.pages(MODEL) {
        let source = text(&data["source"]["text"]);
        assert!(MODEL.contains(source.trim_start()), "{source}");
        let lines: Vec<&str> = source.lines().collect();
        let first = number(&data["source"]["line"]);
        assert_eq!(MODEL.lines().nth(first - 1), lines.first().copied());
        for place in list(&data["places"]) {
            assert_eq!(place["inside"], true, "{place}");
            let ([line, from], [end, to]) =
                [&place["from"], &place["to"]].map(|p| [number(&p[0]), number(&p[1])]).into();
            let mut whole: String = lines[line - first..=end - first].join("\n");
            let after = lines[end - first].chars().count() - to;
            whole = whole.chars().skip(from).collect();
            whole = whole.chars().take(whole.chars().count() - after).collect();
            let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let expected = text(&place["text"]).trim_end_matches("...");
            assert!(plain(&whole).starts_with(&plain(expected)), "{place}: {whole}");
            inside += 1;
        }
    }
    assert!(inside > 20, "{inside} places");
}

/// What a mark names came of the expression at its place.
#[test]
fn terms_have_the_places_of_their_expressions() {
    let folder = Folder::new("terms");
    let pages = folder.pages(MODEL);
    let (_, springs) = pages.iter().find(|(_, data)| data["name"] == "springs").expect("a page");
    let texts_at = |stage: &str, part: &str| -> BTreeSet<String> {
        let stages = list(&springs["stages"]);
        let stage = stages.iter().find(|s| s["name"] == stage).expect("a stage");
        let letters: Vec<u16> = text(&stage["text"]).encode_utf16().collect();
        let is_part =
            |mark: &&Value| String::from_utf16_lossy(&letters[number(&mark[0])..number(&mark[1])]).starts_with(part);
        let mark = list(&stage["marks"]).iter().find(is_part).unwrap_or_else(|| panic!("no {part} in {stage}"));
        list(&mark[3]).iter().map(|p| text(&springs["places"][number(p)]["text"]).to_string()).collect()
    };
    // Inside of a build, in the function and in the derivative.
    let cosh = BTreeSet::from(["(x[i + 1] - x[i]).cosh()".to_string()]);
    assert_eq!(texts_at("source", "cosh ("), cosh);
    assert_eq!(texts_at("differentiation", "sinh "), cosh);
    // Two expressions are one term, which has both places; `x[0] * 2.0` has one text twice.
    let (mut of_both, stages) = (0, list(&springs["stages"]));
    for mark in stages.iter().flat_map(|stage| list(&stage["marks"])) {
        let at: Vec<&str> = list(&mark[3]).iter().map(|p| text(&springs["places"][number(p)]["text"])).collect();
        of_both += usize::from(at.iter().filter(|text| **text == "x[0] * 2.0").count() == 2);
    }
    assert!(of_both > 0, "a term of two expressions has one place");
}

#[test]
fn a_page_needs_nothing_from_outside_and_is_the_same_each_time() {
    let (one, two) = (Folder::new("first"), Folder::new("second"));
    let pages = one.pages(MODEL);
    let page = |html: &str, folder: &Folder| html.replace(folder.0.to_str().expect("a name of letters"), "");
    for ((first, _), (second, _)) in pages.iter().zip(&two.pages(MODEL)) {
        assert!(page(first, &one) == page(second, &two), "two pages of one function differ");
        for fetch in ["http:", "https:", "src=", "@import", "url(", "fetch(", "<link rel=\"stylesheet"] {
            // A drawing may name a part of itself.
            assert!(!first.replace("url(#", "").contains(fetch), "the page has {fetch}");
        }
    }
}

/// The value of a formula if each size is this number.
fn evaluated(formula: &Value, size: usize) -> usize {
    if let Some(n) = formula.as_u64() {
        return usize::try_from(n).expect("a small number");
    }
    if formula["size"].is_string() {
        return size;
    }
    let args: Vec<usize> = list(&formula["args"]).iter().map(|f| evaluated(f, size)).collect();
    match text(&formula["op"]) {
        "+" => args.iter().sum(),
        "*" => args.iter().product(),
        "-" => args[0].saturating_sub(args[1]),
        op => panic!("{op} in a formula"),
    }
}

/// The operations of a kind, and the bytes, of the only routine of a page.
fn costs(data: &Value, kind: &str, size: usize) -> (usize, usize) {
    let routine = &data["routines"][0];
    let product = |all: &Value| list(all).iter().map(|f| evaluated(f, size)).product::<usize>();
    let (mut operations, mut bytes) = (0, 0);
    for statement in list(&routine["statements"]) {
        assert!(!statement["counts"].is_null(), "{statement}");
        for count in list(&statement["counts"]) {
            operations += number(&count[kind]) * product(&count["times"]) * product(&statement["runs"]);
        }
        bytes += list(&statement["memory"]).iter().map(|m| evaluated(&m["bytes"], size)).sum::<usize>();
    }
    (operations, bytes)
}

/// Operations and memory of functions for which one can count them by hand.
#[test]
fn costs_are_those_that_one_counts_by_hand() {
    let folder = Folder::new("costs");
    let page = |body: &str| {
        let pages = folder.pages(&format!("#[differentiate]\nfn f{body}\n"));
        pages.into_iter().next().expect("a page").1
    };
    // One exponential for each element, which is its derivative too; one addition each. The
    // gradient is the only array.
    let exp = page("(x: &Array1<f64>) -> f64 { x.mapv(f64::exp).sum() }");
    assert_eq!(costs(&exp, "functions", 10), (10, 80));
    assert_eq!(costs(&exp, "arithmetic", 10).0, 10);
    // The rows are added up first, and their sum is multiplied by the vector.
    let product = page("(a: &Array2<f64>, x: &Array1<f64>) -> f64 { a.dot(x).sum() }");
    let (arithmetic, bytes) = costs(&product, "arithmetic", 10);
    assert_eq!(arithmetic, 10 * 10 + 2 * 10);
    assert!(bytes >= 8 * (100 + 10), "{bytes}");
    assert_eq!(costs(&product, "divisions", 10).0, 0);
    // A loop runs each operation once in each step: a sine forwards, and a cosine backwards. Its
    // state is saved before each step.
    let steps = page("(x: f64, n: usize) -> f64 { let mut y = x; for _ in 0..n { y = y.sin(); } y }");
    assert_eq!(costs(&steps, "functions", 10).0, 20);
    assert!(costs(&steps, "functions", 10).1 >= 80);
    // Statements of the function are told apart from those of the derivative. The first loop is of
    // both: it saves rows for the derivative.
    let parts: BTreeSet<&str> =
        list(&steps["routines"][0]["statements"]).iter().filter_map(|statement| statement["part"].as_str()).collect();
    assert_eq!(parts, BTreeSet::from(["both", "derivative", "function"]));
}

/// The Rust of a page is what is compiled, token by token.
#[test]
fn the_code_of_a_page_is_the_generated_code() {
    let folder = Folder::new("code");
    let mut compared = 0;
    for (_, data) in folder.pages(MODEL) {
        let name = text(&data["name"]);
        let function = syn::parse_file(MODEL).expect("a file").items.into_iter().find_map(|item| match item {
            syn::Item::Fn(f) if f.sig.ident == name => Some(f),
            _ => None,
        });
        let mut function = function.expect("the function");
        let attribute = function.attrs.pop().expect("the attribute");
        let attr = attribute.meta.require_list().map_or_else(|_| TokenStream::new(), |list| list.tokens.clone());
        let expansion = ad_core::expand(attr, quote::quote!(#function));
        let all = flat(without_docs(expansion));
        for stage in list(&data["stages"]).iter().filter(|stage| stage["name"] == "Rust") {
            let code: TokenStream = text(&stage["text"]).parse().expect("tokens");
            let Some(TokenTree::Group(body)) = without_docs(code).into_iter().last() else { panic!("no body") };
            // The generated names of a split routine are the same, so its halves are found too.
            assert!(all.contains(&flat(body.stream())), "{name}: {}", text(&stage["text"]));
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared} routines");
}

/// The tokens with a space between each two.
fn flat(tokens: TokenStream) -> String {
    let one = |token| match token {
        TokenTree::Group(g) => format!("{:?} {} end ", g.delimiter(), flat(g.stream())),
        other => format!("{other} "),
    };
    tokens.into_iter().map(one).collect()
}

/// The tokens without documentation, which has no other spaces in the text of a page.
fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut all: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(g) => {
                let doc = g.stream().into_iter().next().is_some_and(|t| t.to_string() == "doc");
                if doc && all.last().is_some_and(|last| last.to_string() == "#") {
                    all.pop();
                    continue;
                }
                let inner = without_docs(g.stream());
                all.push(TokenTree::Group(proc_macro2::Group::new(g.delimiter(), inner)));
            }
            other => all.push(other),
        }
    }
    all.into_iter().collect()
}

#[test]
fn every_mode_that_reads_the_body_has_pages() {
    for mode in ["dual_arrays", "chad", "unf"] {
        let folder = Folder::new(mode);
        let text_of = format!(
            "#[differentiate(mode = \"{mode}\")]\nfn f(x: &Array1<f64>) -> f64 {{\n    x.mapv(f64::sin).sum()\n}}\n"
        );
        let pages = folder.pages(&text_of);
        assert_eq!(pages.len(), 1, "{mode}");
        assert_eq!(pages[0].1["mode"], mode);
        let placed = |stage: &Value| list(&stage["marks"]).iter().any(|mark| !list(&mark[3]).is_empty());
        assert!(list(&pages[0].1["stages"]).iter().any(placed), "{mode}");
    }
}

#[test]
fn functions_of_one_name_have_two_pages_and_definitions_of_the_file_are_found() {
    let folder = Folder::new("modules");
    let pages = folder.pages(
        "use ad::prelude::*;
        #[differentiable]
        fn square(x: f64) -> f64 { x * x }
        mod a { use super::*; #[differentiate] pub fn f(x: f64) -> f64 { square(x) + 1.0 } }
        mod b { use super::*; #[differentiate] pub fn f(x: f64) -> f64 { square(x).sin() } }
        ",
    );
    assert_eq!(pages.len(), 2);
    let sources: BTreeSet<&str> = pages.iter().map(|(_, data)| text(&data["source"]["text"]).trim()).collect();
    assert_eq!(sources.len(), 2);
    // An expression of another function is shown, but not as one of this function.
    let outside = |data: &Value| list(&data["places"]).iter().any(|p| p["inside"] == false && p["text"] == "x * x");
    assert!(pages.iter().all(|(_, data)| outside(data)));
}

#[test]
fn a_function_with_an_error_has_no_page() {
    let folder = Folder::new("errors");
    let file = folder.file(
        "#[differentiate]\nfn right(x: f64) -> f64 {\n    x\n}\n\n#[differentiate]\nfn wrong(x: f64) -> f64 {\n    println!(\"{x}\");\n    x\n}\n",
    );
    let explained = explain(&file, &folder.0.join("pages")).expect("a file that parses");
    assert_eq!(explained.errors.len(), 1, "{:?}", explained.errors);
    assert!(explained.errors[0].contains("model.rs:8: "), "{:?}", explained.errors);
    let pages: BTreeSet<&str> = explained.pages.iter().filter_map(|page| page.file_name()?.to_str()).collect();
    assert_eq!(pages, BTreeSet::from(["index.html", "model.right.html"]));
}

/// A function of another file: the tool cannot know it, and says so.
#[test]
fn a_function_that_needs_another_file_is_named() {
    let folder = Folder::new("elsewhere");
    let file = folder.file("#[differentiate]\nfn f(x: f64) -> f64 {\n    elsewhere(x)\n}\n");
    let explained = explain(&file, &folder.0.join("pages")).expect("a file that parses");
    assert_eq!((explained.errors.len(), explained.pages.len()), (1, 0), "{explained:?}");
    assert!(explained.errors[0].contains("`f` has no page"), "{:?}", explained.errors);
}

#[test]
fn the_tool_says_what_it_wrote_and_what_is_wrong() {
    let folder = Folder::new("tool");
    let file = folder.file(MODEL);
    let run = |args: &[&Path]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ad-explain")).args(args).output().expect("the tool runs");
        let all = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("a text"));
        (output.status.code(), all)
    };
    let pages = folder.0.join("out");
    let (code, [out, err]) = run(&[&file, &pages]);
    assert_eq!((code, &*err), (Some(0), ""));
    let mut written: Vec<&Path> = out.lines().map(Path::new).collect();
    assert_eq!(written.pop(), Some(&*pages.join("index.html")));
    assert_eq!(written.len(), 3);
    assert!(written.iter().all(|page| page.exists()));
    let index = std::fs::read_to_string(pages.join("index.html")).expect("the index");
    assert!(index.contains("<a href=\"model.springs.html\">"), "{index}");

    let (code, [_, err]) = run(&[]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with("Usage: "), "{err}");
    let (code, [_, err]) = run(&[Path::new("no/such/file.rs"), &pages]);
    assert_eq!(code, Some(1));
    assert!(err.starts_with("no/such/file.rs: "), "{err}");
    std::fs::write(&file, "fn f() {}").expect("a file");
    let (code, [_, err]) = run(&[&file, &pages]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no function has #[differentiate]"), "{err}");
    std::fs::write(&file, "fn f( {\n").expect("a file");
    let (code, [_, err]) = run(&[&file, &pages]);
    assert_eq!(code, Some(1));
    assert!(err.contains("model.rs:1: "), "{err}");
}

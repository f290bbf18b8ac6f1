//! Every message of the catalogue is produced by a case in `tests/ui`, and the expectations of the
//! cases are the compiler's current messages. This test runs in process, so it is quick. `cargo
//! test -p ad-ui` runs rustc, and so also tests the underlined code and rustc's own errors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ad_core::diag::Diagnostic;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

/// Entries that no source text produces, each with the reason.
const WITHOUT_A_CASE: &[(&str, &str)] = &[
    ("internal", "a failure of our own: no program is known that has one"),
    ("constant_in_a_result", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("copied_field", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("copied_inside", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("copied_in_a_result", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("closure_of_copied_fields", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("field_of_type", "it needs the definitions, which only rustc gives: tests/ui/signature/fields"),
    ("inner_derivative_of_a_fallible", "as above: tests/ui/inner/calls"),
    ("inner_derivative_of_calls", "as above: tests/ui/inner/calls"),
    ("inner_derivative_of_sizes", "as above: tests/ui/inner/calls"),
    ("inner_derivative_of_this_kind", "as above: tests/ui/inner/calls"),
    ("inner_derivative_without_a_bound", "as above: tests/ui/inner/calls"),
    ("rule_differentiated", "as above: tests/ui/rules/calls"),
    ("rule_in_a_sparse_jacobian", "as above: tests/ui/rules/calls"),
    ("rule_in_recursion", "as above: tests/ui/rules/calls"),
    ("rule_size_in_a_loop", "as above: tests/ui/rules/calls"),
    ("rule_without_jvp", "as above: tests/ui/rules/calls"),
    ("rule_without_vjp", "as above: tests/ui/rules/calls"),
    ("not_free", "as above: tests/ui/attribute/dual_numbers_method"),
    ("solver_of_calls", "as above: tests/ui/inner/solvers"),
    ("associated_function", "it needs the file, which only rustc names: tests/ui/place/associated_function"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn cases() -> Vec<PathBuf> {
    let mut cases = Vec::new();
    for kind in std::fs::read_dir(root().join("tests/ui")).expect("the cases").flatten() {
        for case in std::fs::read_dir(kind.path()).into_iter().flatten().flatten() {
            if case.path().extension().is_some_and(|e| e == "rs") {
                cases.push(case.path());
            }
        }
    }
    cases.sort();
    cases
}

/// Collects the attribute's arguments and the item after it, for every occurrence of the attribute.
fn annotated(name: &str, tokens: TokenStream, out: &mut Vec<(TokenStream, TokenStream)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    // The items in a marked block or module belong to it.
    let mut whole = 0;
    for (k, token) in tokens.iter().enumerate() {
        let TokenTree::Group(g) = token else { continue };
        if k < whole {
            continue;
        }
        let mut inner = g.stream().into_iter();
        let after_hash = k > 0 && matches!(&tokens[k - 1], TokenTree::Punct(p) if p.as_char() == '#');
        if after_hash && matches!(inner.next(), Some(TokenTree::Ident(i)) if i == name) {
            let attr = match inner.next() {
                Some(TokenTree::Group(args)) => args.stream(),
                _ => TokenStream::new(),
            };
            let end = tokens[k + 1..].iter().position(|t| match t {
                TokenTree::Group(g) => g.delimiter() == Delimiter::Brace,
                TokenTree::Punct(p) => p.as_char() == ';',
                _ => false,
            });
            let item: Vec<TokenTree> =
                tokens[k + 1..].iter().take(end.map_or(usize::MAX, |n| n + 1)).cloned().collect();
            if item.iter().any(|t| matches!(t, TokenTree::Ident(i) if i == "mod" || i == "impl")) {
                whole = k + 1 + item.len();
            }
            out.push((attr, item.into_iter().collect()));
        }
        annotated(name, g.stream(), out);
    }
}

/// The number of functions in a case that name a function or type without a definition, which rustc
/// reports: it finds no macro of that name.
fn without_definition(case: &Path) -> usize {
    let text = std::fs::read_to_string(case).expect("a case");
    let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", case.display()));
    let (mut found, mut marked) = (Vec::new(), Vec::new());
    annotated("differentiate", tokens.clone(), &mut found);
    annotated("differentiable", tokens, &mut marked);
    let name = |item: &TokenStream| syn::parse2::<syn::ItemFn>(item.clone()).map(|f| f.sig.ident.to_string());
    let functions = found.iter().chain(&marked).filter_map(|(_, item)| name(item).ok());
    let mut types = Vec::new();
    derived(&text, &mut types);
    let types = types.into_iter().filter_map(|item| match syn::parse2(item) {
        Ok(syn::Item::Struct(s)) => Some(s.ident.to_string()),
        Ok(syn::Item::Enum(e)) => Some(e.ident.to_string()),
        _ => None,
    });
    let defined: BTreeSet<String> = functions.chain(types).collect();
    let waits = |(attr, item): &(TokenStream, TokenStream)| {
        let mut asked = ad_core::front::requests(item).into_iter().map(|path| ad_core::front::written(&path));
        let right = ad_core::travel::differentiate(attr.clone(), item.clone(), "").errors.is_empty();
        right && asked.any(|name| !defined.contains(&name))
    };
    found.iter().filter(|f| waits(f)).count()
}

/// The errors of a case.
fn errors(case: &Path) -> Vec<Diagnostic> {
    let text = std::fs::read_to_string(case).expect("a case");
    let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", case.display()));
    let mut found = Vec::new();
    annotated("differentiate", tokens.clone(), &mut found);
    let mut marked = Vec::new();
    annotated("differentiable", tokens.clone(), &mut marked);
    let found = found.into_iter().map(|(attr, item)| ad_core::travel::differentiate(attr, item, ""));
    let marked = marked.into_iter().map(|(attr, item)| ad_core::travel::differentiable(attr, item, ""));
    let mut errors: Vec<Diagnostic> = found.chain(marked).flat_map(|expansion| expansion.errors).collect();
    for mark in ["custom_vjp", "custom_jvp", "constant"] {
        let mut ruled = Vec::new();
        annotated(mark, tokens.clone(), &mut ruled);
        // A field may have the attribute `constant`, too.
        ruled.retain(|(_, item)| syn::parse2::<syn::Item>(item.clone()).is_ok());
        let ruled = ruled.into_iter().map(|(attr, item)| ad_core::travel::ruled(mark, &attr, item, ""));
        errors.extend(ruled.flat_map(|expansion| expansion.errors));
    }
    let mut calls = Vec::new();
    checked(tokens, &mut calls);
    errors.extend(calls.into_iter().flat_map(|call| ad_core::check_grad::expand(call).1));
    let mut items = Vec::new();
    derived(&text, &mut items);
    errors.extend(items.into_iter().flat_map(|item| ad_core::travel::derive(&item, "").1));
    errors
}

/// The items with `#[derive(Differentiable)]`.
fn derived(text: &str, out: &mut Vec<TokenStream>) {
    let derives = |item: &syn::Item| {
        let attrs = match item {
            syn::Item::Struct(s) => &s.attrs,
            syn::Item::Enum(e) => &e.attrs,
            syn::Item::Union(u) => &u.attrs,
            _ => return false,
        };
        attrs.iter().any(|a| a.path().is_ident("derive") && a.to_token_stream().to_string().contains("Differentiable"))
    };
    let items = syn::parse_file(text).map_or_else(|_| Vec::new(), |file| file.items);
    out.extend(items.iter().filter(|i| derives(i)).map(ToTokens::to_token_stream));
}

/// The arguments of `check_grad!`.
fn checked(tokens: TokenStream, out: &mut Vec<TokenStream>) {
    let mut name = false;
    for token in tokens {
        match token {
            TokenTree::Ident(i) => name = i == "check_grad",
            TokenTree::Group(g) if name => out.push(g.stream()),
            TokenTree::Group(g) => checked(g.stream(), out),
            _ => {}
        }
    }
}

/// A translation is only for names that are unknown here. The methods of other libraries that are
/// functions here are translated to them.
#[test]
fn idioms_of_other_libraries_are_unknown_here() {
    use ad_core::catalogue::foreign::{Usage, knows, translate};
    let rows = ad_oracle::documents::names();
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row.on == "function") {
        if knows(Usage::Function, row.name) {
            wrong.push(format!("the function `{}` is a row of the table", row.name));
        }
        let untranslated = ad_core::catalogue::check_grad_of_no_call();
        let translated = translate(Usage::Method, row.name, untranslated.clone());
        let help = if translated == untranslated { String::new() } else { translated.help.unwrap_or_default() };
        if !help.is_empty() && !help.contains(&format!("write `{}(", row.name)) {
            wrong.push(format!("the method `{}`: {help}", row.name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let methods: BTreeSet<&str> = rows.iter().filter(|row| row.on == "array").map(|row| row.name).collect();
    let known: Vec<&&str> = methods.iter().filter(|name| knows(Usage::Method, name)).collect();
    assert_eq!(known, Vec::<&&str>::new(), "methods of arrays that are translated");
}

#[test]
fn every_entry_has_a_case() {
    let mut seen: BTreeMap<String, PathBuf> = BTreeMap::new();
    for case in cases() {
        for error in errors(&case) {
            assert!(!error.message.entry.is_empty(), "{}: {}", case.display(), error.text());
            seen.entry(error.message.entry).or_insert_with(|| case.clone());
        }
    }
    let all = ad_core::catalogue::all();
    let known: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(known.len(), all.len(), "two entries of one name");
    let unknown: Vec<&String> = seen.keys().filter(|e| !known.contains(&***e)).collect();
    assert!(unknown.is_empty(), "messages that the catalogue does not list: {unknown:?}");
    let exempt = |entry: &str| WITHOUT_A_CASE.iter().any(|(e, _)| *e == entry);
    let missing: Vec<&String> = all.iter().filter(|e| !seen.contains_key(*e) && !exempt(e)).collect();
    assert!(missing.is_empty(), "add a case to tests/ui for each of these entries:\n{missing:#?}");
    let wrong: Vec<_> = WITHOUT_A_CASE.iter().filter(|(e, _)| seen.contains_key(*e) || !known.contains(e)).collect();
    assert!(wrong.is_empty(), "these have a case, or are gone: {wrong:?}");
}

#[test]
fn every_case_says_what_it_expects() {
    let mut outdated = Vec::new();
    for case in cases() {
        let Ok(expected) = std::fs::read_to_string(case.with_extension("stderr")) else { continue };
        // rustc indents the lines after the first.
        let lines: BTreeSet<&str> = expected.lines().map(|l| l.trim().trim_start_matches("error: ")).collect();
        for error in errors(&case).into_iter().filter(|e| !e.message.report_left_to_rustc) {
            let text = error.text();
            if let Some(line) = text.lines().find(|l| !lines.contains(l.trim())) {
                outdated.push(format!("{}: {line}", case.display()));
            }
        }
    }
    assert!(outdated.is_empty(), "run `TRYBUILD=overwrite cargo test -p ad-ui`:\n{}", outdated.join("\n"));
}

#[test]
fn every_case_has_an_error() {
    // If the macro reports no error, rustc reports one.
    let of_rustc =
        |case: &Path| std::fs::read_to_string(case.with_extension("stderr")).is_ok_and(|t| t.contains("error[E"));
    let later = |case: &Path| RUSTC_SAYS_MORE.iter().any(|(name, ..)| case.with_extension("").ends_with(name));
    let without: Vec<PathBuf> = cases()
        .into_iter()
        .filter(|case| errors(case).is_empty() && without_definition(case) == 0 && !of_rustc(case) && !later(case))
        .collect();
    assert!(without.is_empty(), "these cases say nothing: {without:?}");
    assert!(cases().len() >= 70, "only {} cases", cases().len());
}

/// Cases in which rustc reports more errors than those that are left to it, with the number and the
/// reason.
const RUSTC_SAYS_MORE: &[(&str, usize, &str)] = &[
    ("index/of_other_languages", 1, "`x[0, 1]` does not parse, and rustc's message does not help"),
    ("place/syntax", 1, "`array[1.0, 2.0]` does not parse, and rustc's message does not help"),
    ("place/file_module", 1, "rustc refuses the item before the macro is called"),
    ("place/names_that_exist", 1, "a macro sees no neighbours: rustc's alone"),
    ("signature/fields", 7, "the macro's own, of types whose definitions only rustc gives"),
    ("calls/recursive_types", 1, "the macro's own, of a type whose definition only rustc gives"),
    ("attribute/dual_numbers_method", 1, "the macro's own, of a type whose definition only rustc gives"),
    ("check_grad/dual_numbers", 1, "the runtime's own, of a function whose body is not read"),
    ("inner/solvers", 1, "the macro's own, of a function whose definition only rustc gives"),
    ("place/associated_function", 5, "the macro's own, of a place in a file that only rustc names"),
    ("attribute/not_named", 5, "a name that does not exist: rustc's alone"),
    ("check_grad/plain", 4, "a name that does not exist: rustc's alone"),
    ("check_grad/arguments", 7, "the types of arguments: rustc's alone"),
    ("place/visibility", 3, "who may call the derivatives: rustc's alone"),
    ("rules/signature", 2, "the type of a rule: rustc's alone"),
];

/// One mistake gives one error: a case shows the macro's errors, and those errors of rustc that are
/// left to it.
#[test]
fn one_mistake_is_one_error() {
    let mut wrong = Vec::new();
    for case in cases() {
        let name = case.with_extension("");
        let name = name.components().rev().take(2).map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>();
        let name = format!("{}/{}", name[1], name[0]);
        let Ok(expected) = std::fs::read_to_string(case.with_extension("stderr")) else {
            wrong.push(format!("{name}: run `TRYBUILD=overwrite cargo test -p ad-ui`"));
            continue;
        };
        let shown = expected.lines().filter(|l| l.starts_with("error"));
        let (mut ours, mut theirs) = (Vec::new(), 0);
        for line in shown {
            match line.strip_prefix("error: ") {
                Some(text) => ours.push(text.to_string()),
                None => theirs += 1,
            }
        }
        let (mut left, mut missing) = (without_definition(&case), Vec::new());
        for error in errors(&case) {
            let text = error.message.text.lines().next().unwrap_or_default().to_string();
            let found = ours.iter().position(|o| *o == text);
            match found {
                _ if error.message.report_left_to_rustc => left += 1,
                Some(found) => drop(ours.swap_remove(found)),
                None => missing.push(text),
            }
        }
        // An `error: ` that is not the macro's is rustc's.
        theirs += ours.len();
        let more = RUSTC_SAYS_MORE.iter().find(|(n, ..)| *n == name).map_or(0, |(_, more, _)| *more);
        if theirs != left + more || !missing.is_empty() {
            wrong.push(format!("{name}: rustc says {theirs}, of which {left} are left to it; missing {missing:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

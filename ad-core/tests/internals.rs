//! The worked blocks of `docs/internals` are equal to the compiler's present output, and the paths
//! that the documents name exist.
//!
//! A block whose fence says `worked: <section>` contains that section of the record (`AD_DUMP`) of
//! the last Rust function above it; `worked: code of <function>` contains the generated code of
//! that function. `UPDATE_EXPECT=1 cargo test -p ad-core --test internals` rewrites the blocks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

/// The chapters, in the order of their names.
fn chapters() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repository().join("docs/internals/src")).expect("the folder of the chapters");
    let mut found: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The compiler's output for one function.
struct Record {
    /// The sections of the record, by their headings.
    sections: BTreeMap<String, String>,
    /// The generated functions, without attributes, by name.
    written: BTreeMap<String, String>,
}

fn record(source: &str, turn: usize) -> Record {
    let mut item: syn::ItemFn = syn::parse_str(source).unwrap_or_else(|e| panic!("{e} in\n{source}"));
    let attribute = item.attrs.pop().and_then(|a| a.meta.require_list().map(|list| list.tokens.clone()).ok());
    let name = item.sig.ident.to_string();
    let folder = std::env::temp_dir().join(format!("ad-internals-{}-{turn}", std::process::id()));
    let expansion = ad_core::expand_and_dump(attribute.unwrap_or_default(), item.to_token_stream(), Some(&folder));
    assert!(expansion.errors.is_empty(), "{source}\n{:?}", expansion.errors);
    let text = read(&folder.join(format!("{name}.txt")));
    let _ = std::fs::remove_dir_all(&folder);
    Record { sections: sections(&text), written: written(expansion.tokens) }
}

fn sections(text: &str) -> BTreeMap<String, String> {
    let parts = text.split("==== ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(heading, body)| (heading.to_string(), body.trim().to_string())).collect()
}

fn written(tokens: TokenStream) -> BTreeMap<String, String> {
    let file: syn::File = syn::parse2(tokens).expect("the expansion parses");
    let functions = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Fn(function) => Some(function),
        _ => None,
    });
    let plain = functions.map(|mut function| {
        function.attrs.clear();
        let name = function.sig.ident.to_string();
        let file = syn::parse2(function.to_token_stream()).expect("a function is a file");
        (name, prettyplease::unparse(&file).trim().to_string())
    });
    plain.collect()
}

/// A chapter with up-to-date worked blocks, and the number of blocks.
fn worked(text: &str, turn: &mut usize) -> (String, usize) {
    let mut lines = text.lines();
    let (mut out, mut count) = (Vec::new(), 0);
    let mut source: Option<Record> = None;
    while let Some(line) = lines.next() {
        out.push(line.to_string());
        let Some(fence) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(section) = fence.split_once("worked: ").map(|(_, section)| section) {
            count += 1;
            let record = source.as_ref().unwrap_or_else(|| panic!("`{section}` comes before any function"));
            let found = match section.strip_prefix("code of ") {
                Some(name) => record.written.get(name),
                None => record.sections.get(section),
            };
            let found = found.unwrap_or_else(|| {
                panic!("no `{section}` among {:?} and {:?}", record.sections.keys(), record.written.keys())
            });
            out.push(found.clone());
        } else {
            if fence == "rust" {
                *turn += 1;
                source = Some(record(&block.join("\n"), *turn));
            }
            out.extend(block.into_iter().map(String::from));
        }
        out.push("```".into());
    }
    out.push(String::new());
    (out.join("\n"), count)
}

/// Chapters without a worked block, since they are not about terms.
const WITHOUT: &[&str] = &["SUMMARY.md", "introduction.md", "glossary.md", "dual-numbers.md"];

#[test]
fn worked_blocks_are_what_the_compiler_prints() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut turn = 0;
    for chapter in chapters() {
        let text = read(&chapter);
        let (expected, count) = worked(&text, &mut turn);
        let without = WITHOUT.iter().any(|name| chapter.ends_with(name));
        assert!(without || count > 0, "{} has no worked block", chapter.display());
        if update && text != expected {
            std::fs::write(&chapter, &expected).expect("the chapter is written");
        } else {
            assert!(
                text == expected,
                "{}: UPDATE_EXPECT=1 cargo test -p ad-core --test internals writes\n{expected}",
                chapter.display()
            );
        }
    }
    assert!(turn > 0, "there are functions");
}

/// A code span that is a path of the repository, with or without the name of an item after it.
fn path_in(span: &str) -> Option<&str> {
    const FOLDERS: &[&str] = &["tests/", "benches/", "docs/", "examples/"];
    let plain = span.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    let of_crate = span.starts_with("ad-") && span.contains('/');
    (plain && (of_crate || FOLDERS.iter().any(|root| span.starts_with(root)))).then_some(span)
}

/// The number of source files of the crates with this name.
fn files_of_name(folder: &Path, name: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.expect("an entry").path()).filter(|path| !path.ends_with("target"));
    let count = |path: PathBuf| {
        if path.is_dir() {
            files_of_name(&path, name)
        } else {
            usize::from(path.file_name().is_some_and(|n| n == name))
        }
    };
    paths.map(count).sum()
}

#[test]
fn paths_that_the_documents_name_exist() {
    let mut documents = chapters();
    documents.extend(["README.md", "ARCHITECTURE.md", "docs/performance.md"].map(|name| repository().join(name)));
    let mut missing = Vec::new();
    for document in documents {
        let text = read(&document);
        let spans =
            text.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2));
        let lost = spans.filter_map(path_in).filter(|path| !repository().join(path).exists());
        missing.extend(lost.map(|path| format!("{}: {path}", document.display())));
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn names_of_files_without_a_folder_are_those_of_one_file() {
    let mut wrong = Vec::new();
    for document in chapters() {
        let text = read(&document);
        let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        for name in spans.filter(|span| span.ends_with(".rs") && !span.contains(['/', ' '])) {
            let count = files_of_name(&repository(), name);
            if count != 1 {
                wrong.push(format!("{}: {count} files have the name {name}", document.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_architecture_has_the_lists_of_passes() {
    let text = read(&repository().join("ARCHITECTURE.md"));
    let diagram = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the diagram");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in diagram.lines() {
        let names = match line.split_once('▶') {
            Some((arrow, rest)) => {
                current = arrow.split('─').nth(1).unwrap_or_default().trim().to_string();
                rest.trim().split_once("  ").map_or("", |(_, names)| names)
            }
            None => line,
        };
        let names = names.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
        found.entry(current.clone()).or_default().extend(names);
    }
    for (list, passes) in ad_core::pipeline::LISTS {
        let expected: Vec<String> = passes.iter().map(|pass| pass.name.to_string()).collect();
        assert_eq!(found.get(*list), Some(&expected), "the passes of {list} in ARCHITECTURE.md");
    }
}

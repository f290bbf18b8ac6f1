//! The guide names everything that a function may say, every row of its table of forms has a line
//! in the tour, and the targets of links in the documents exist. Its Rust blocks run as tests of
//! the documentation (`src/lib.rs`).
//!
//! `UPDATE_EXPECT=1 cargo test -p ad-tests --test guide` rewrites the list of names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ad_oracle::documents::names as described;

const TABLES: &str = "docs/guide/src/tables.md";
const START: &str = "<!-- names: written by ad-tests/tests/guide.rs -->\n";
const END: &str = "<!-- end of names -->";

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Every function and method of the front end's tables, by the type of its receiver, in the order
/// of the tables.
fn names() -> String {
    let mut kinds: Vec<&str> = Vec::new();
    let mut by_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in described() {
        let names = by_kind.entry(row.on).or_default();
        if !kinds.contains(&row.on) {
            kinds.push(row.on);
        }
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    kinds.iter().fold(String::from("| on | names |\n| --- | --- |\n"), |mut text, kind| {
        let on = kind.strip_prefix('`').and_then(|k| k.strip_suffix('`')).unwrap_or(kind);
        let _ = writeln!(text, "| {on} | `{}` |", by_kind[kind].join(" "));
        text
    })
}

#[test]
fn every_name_is_in_the_guide() {
    let guide = read(&path(TABLES));
    let (before, rest) = guide.split_once(START).expect("where the names start");
    let (found, after) = rest.split_once(END).expect("where the names end");
    let names = names();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path(TABLES), format!("{before}{START}{names}{END}{after}")).expect("the guide is written");
        return;
    }
    assert_eq!(found, names, "UPDATE_EXPECT=1 cargo test -p ad-tests --test guide");
}

/// Words in the table of forms that are not code.
const NO_CODE: &[&str] = &["F", "N", "A", "d", "k"];

#[test]
fn every_row_of_the_language_has_a_line_in_the_tour() {
    let guide = read(&path(TABLES));
    let tour = read(&path("examples/tour/main.rs")) + &read(&path("examples/tour/rows.rs"));
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|w| w.chars().any(char::is_alphabetic)).map(String::from).collect()
    };
    let said = words(&tour);
    let table = guide.split("\n\n").find(|part| part.starts_with("| group")).expect("the table");
    let mut missing = Vec::new();
    for row in table.lines().skip(2) {
        let group = row.split('|').nth(1).unwrap_or_default().trim();
        for code in row.replace("\\|", "|").split('`').skip(1).step_by(2) {
            let unsaid = words(code).into_iter().filter(|w| !NO_CODE.contains(&w.as_str()) && !said.contains(w));
            missing.extend(unsaid.map(|word| format!("`{word}` of {group}")));
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "no line of the tour says this");
}

/// Every document of the repository.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![path("README.md"), path("ARCHITECTURE.md")];
    let mut folders = vec![path("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            match entry.extension() {
                _ if entry.is_dir() => folders.push(entry),
                Some(end) if end == "md" => found.push(entry),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The lines of a document outside of its blocks of code, numbered from one.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(k, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((k + 1, line))
    })
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = read(&document);
        let folder = document.parent().expect("a folder");
        for (k, line) in prose(&text) {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                    broken.push(format!("{}:{k}: {target}", document.display()));
                }
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_chapter_is_in_its_summary() {
    for book in ["docs/guide/src", "docs/internals/src"] {
        let folder = path(book);
        let summary = read(&folder.join("SUMMARY.md"));
        let chapters = documents().into_iter().filter(|d| d.parent() == Some(&folder) && !d.ends_with("SUMMARY.md"));
        for chapter in chapters {
            let name = chapter.file_name().and_then(|n| n.to_str()).expect("a name");
            assert!(summary.contains(&format!("]({name})")), "{book}/{name}");
        }
    }
}

#[test]
fn every_chapter_of_the_guide_is_run() {
    let facade = read(&path("src/lib.rs"));
    for chapter in
        documents().into_iter().filter(|d| d.starts_with(path("docs/guide/src")) && !d.ends_with("SUMMARY.md"))
    {
        let name = chapter.file_name().and_then(|n| n.to_str()).expect("a name");
        assert!(facade.contains(&format!("\"{name}\"")), "{name}");
    }
}

/// Tables cannot be wrapped, and the figures of a bench are as it writes them.
#[test]
fn prose_is_wrapped_at_100_columns() {
    let mut long = Vec::new();
    for document in documents() {
        let text = read(&document);
        let mut figures = false;
        for (k, line) in prose(&text) {
            if line.starts_with("<!--") {
                figures = !line.contains("end of");
            }
            if !figures && !line.starts_with('|') && line.chars().count() > 100 {
                long.push(format!("{}:{k}", document.display()));
            }
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn the_architecture_fits_in_250_lines() {
    assert!(read(&path("ARCHITECTURE.md")).lines().count() <= 250);
}

/// Documents that a reader of this repository does not have.
const NOT_HERE: &[&str] = &["prototype.md", "speed.md", "shared/"];

#[test]
fn sources_that_are_cited_can_be_read() {
    for document in documents() {
        let text = read(&document);
        let cited = NOT_HERE.iter().filter(|note| text.contains(**note));
        assert_eq!(cited.collect::<Vec<_>>(), Vec::<&&str>::new(), "{}", document.display());
    }
}

/// The chapter on errors quotes messages, between two backquotes on each side. Each is a part of
/// one that a case of the tests of messages shows.
#[test]
fn messages_in_the_guide_are_those_of_the_compiler() {
    let mut shown = String::new();
    let mut folders = vec![path("tests/ui")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            match entry.extension() {
                _ if entry.is_dir() => folders.push(entry),
                Some(end) if end == "stderr" => shown += &read(&entry),
                _ => {}
            }
        }
    }
    let chapter = read(&path("docs/guide/src/errors.md"));
    let quoted: Vec<&str> =
        chapter.lines().filter_map(|line| line.strip_prefix("| ``")?.split_once("``")).map(|(said, _)| said).collect();
    assert!(quoted.len() > 10, "{quoted:?}");
    let unknown: Vec<&str> = quoted.into_iter().filter(|said| !shown.contains(said.trim())).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "no case in tests/ui has these messages");
}

//! README names everything that a function may say, and every row of its table of the language has a line in the tour.
//!
//! `AD_README=1 cargo test --test readme` writes the list of names anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ad_core::front::described;

const START: &str = "<!-- names: written by tests/readme.rs -->\n";
const END: &str = "<!-- end of names -->";

fn path(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(path(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Every function and method of the front end's table, by what it is called on, in the order of the table.
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
        let _ = writeln!(text, "| {} | `{}` |", kind.trim_matches('`'), by_kind[kind].join(" "));
        text
    })
}

#[test]
fn every_name_is_in_the_readme() {
    let readme = read("README.md");
    let (before, rest) = readme.split_once(START).expect("where the names start");
    let (found, after) = rest.split_once(END).expect("where the names end");
    let names = names();
    if std::env::var_os("AD_README").is_some() {
        std::fs::write(path("README.md"), format!("{before}{START}{names}{END}{after}"))
            .expect("the README is written");
        return;
    }
    assert_eq!(found, names, "AD_README=1 cargo test --test readme");
}

/// Words of the table of the language that are no code.
const NO_CODE: &[&str] = &["F", "N", "A", "d", "k"];

#[test]
fn every_row_of_the_language_has_a_line_in_the_tour() {
    let readme = read("README.md");
    let tour = read("examples/tour/main.rs") + &read("examples/tour/rows.rs");
    let table = readme.split("## What a function may say").nth(1).expect("the section");
    let table = table.split("\n\n").find(|part| part.starts_with("| group")).expect("the table");
    let mut missing = Vec::new();
    for row in table.lines().skip(2) {
        let code = row.replace("\\|", "|");
        for piece in code.split('`').skip(1).step_by(2) {
            let mut words =
                piece.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| w.chars().any(char::is_alphabetic));
            words.by_ref().filter(|w| !NO_CODE.contains(w)).for_each(|word| {
                let there = tour.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word);
                if !there {
                    missing.push(format!("`{word}` of {}", row.split('|').nth(1).unwrap_or_default().trim()));
                }
            });
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "no line of the tour says this");
}

/// Whoever tries what README says runs what CI runs.
#[test]
fn the_commands_are_those_of_ci() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    let block = readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the commands");
    let steps: Vec<&str> = ci.lines().filter_map(|line| line.strip_prefix("step ")).collect();
    let missing: Vec<&str> = block.lines().filter(|line| !steps.contains(line)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "not in .ci/run");
    let examples = |list: &[&str]| list.iter().filter(|line| line.contains("--example")).count();
    assert_eq!(
        examples(&block.lines().collect::<Vec<_>>()),
        examples(&steps),
        "an example that CI runs is not in README"
    );
}

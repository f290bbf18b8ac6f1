//! Names that the attribute assumes to be the DSL's, ndarray's or std's are proved to be: a user's
//! own `relu`, `sum` or `Array1` is an error or has its meaning in Rust, and never leads to a wrong
//! gradient. Each file of `fixtures/names` is a separate program: those of `refused` do not
//! compile, those of `accepted` compile and assert their gradients.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

#[test]
fn names_with_another_meaning_are_refused() {
    let root = crate_of("refused");
    let output = cargo(&root, &["check", "--offline", "--bins", "--keep-going", "--message-format=json"]);
    let mut failed = BTreeSet::new();
    let mut other = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).expect("cargo writes JSON");
        if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            let target = message["target"]["name"].as_str().unwrap_or_default().to_string();
            if !programs("refused").contains(&target) {
                other.push(message["message"]["rendered"].to_string());
            }
            failed.insert(target);
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    assert_eq!(
        failed,
        programs("refused"),
        "only the first fail to compile\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn names_of_users_beside_the_assumed_ones_are_accepted() {
    let root = crate_of("accepted");
    for program in programs("accepted") {
        let output = cargo(&root, &["run", "--offline", "--quiet", "--bin", &program]);
        assert!(output.status.success(), "{program}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A supported method that no trait of `assumed` has would break every function that calls it. A
/// method that is not supported need not be there.
#[test]
fn the_traits_have_the_names_of_the_table() {
    use ad::runtime::assumed::methods::{
        ARRAYS, INTEGERS, OPTIONS, ORDERINGS, PEEKABLES, QUEUES, RANK_ZERO, REALS, RESULTS, VECTORS,
    };
    let traits = [
        ("arrays", ARRAYS),
        ("vectors", VECTORS),
        ("reals", REALS),
        ("integers", INTEGERS),
        ("rank zero", RANK_ZERO),
        ("options", OPTIONS),
        ("results", RESULTS),
        ("orderings", ORDERINGS),
        ("peekables", PEEKABLES),
        ("queues", QUEUES),
    ];
    let rows = ad_oracle::documents::names();
    for (kind, names) in traits {
        let wanted: BTreeSet<&str> = rows.iter().filter(|row| row.traits.contains(&kind)).map(|row| row.name).collect();
        assert_eq!(names.iter().copied().collect::<BTreeSet<&str>>(), wanted, "{kind}");
    }
}

/// A macro that is understood and that `assumed` lacks would be taken for ndarray's or std's
/// without a proof.
#[test]
fn every_macro_that_is_understood_is_proved() {
    let wanted: BTreeSet<&str> = ad_core::front::macros_understood().into_iter().collect();
    assert_eq!(ad::runtime::assumed::macros::MACROS.iter().copied().collect::<BTreeSet<&str>>(), wanted);
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn folder(kind: &str) -> PathBuf {
    workspace().join("tests/fixtures/names").join(kind)
}

/// The names of the programs of a kind.
fn programs(kind: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder(kind)).expect("the folder of programs");
    let name = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    entries.filter_map(|entry| name(entry.expect("an entry").path())).collect()
}

/// A crate with the programs of a kind as its binaries.
fn crate_of(kind: &str) -> PathBuf {
    let workspace = workspace();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names").join(kind);
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("src/bin")).expect("a directory");
    for program in programs(kind) {
        let file = format!("{program}.rs");
        std::fs::copy(folder(kind).join(&file), root.join("src/bin").join(&file)).expect("a copy");
    }
    let path = workspace.display().to_string().replace('\\', "/");
    let manifest = format!(
        "[package]\nname = \"names\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nad = {{ path = \"{path}\" }}\n\n\
         [profile.dev.build-override]\nopt-level = 1\n"
    );
    std::fs::write(root.join("Cargo.toml"), manifest).expect("the manifest is written");
    std::fs::copy(workspace.join("Cargo.lock"), root.join("Cargo.lock")).expect("the lock file is copied");
    root
}

fn cargo(root: &Path, arguments: &[&str]) -> Output {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        // The compiled crates of this workspace are shared with the other fixtures.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target"))
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("cargo runs")
}

//! Users' crates, outside of the workspace: the generated code compiles without a warning under the
//! strictest lints, in both editions and without std, and works.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn edition_2021() {
    passes(&copy("edition-2021"));
}

#[test]
fn edition_2024_under_another_name() {
    passes(&copy("edition-2024"));
}

#[test]
fn without_std() {
    let fixture = copy("no-std");
    passes(&fixture);
    // The same crate in a build in which another crate turns on the feature `std`.
    cargo(&fixture, &["clippy", "--offline", "--all-targets", "--features", "std"]);

    // A program without std in it at all. Only a target whose panics abort can have one.
    let target = "wasm32-unknown-unknown";
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let libraries = libraries.expect("rustc runs").stdout;
    if Path::new(String::from_utf8_lossy(&libraries).trim()).exists() {
        cargo(&fixture, &["build", "--offline", "--features", "bare", "--example", "bare", "--target", target]);
    } else {
        println!("skipped: the target {target} is not installed");
    }
}

/// Runs clippy and the tests of a fixture.
fn passes(fixture: &Path) {
    cargo(fixture, &["clippy", "--offline", "--all-targets"]);
    cargo(fixture, &["test", "--offline"]);
}

/// A copy of a fixture, since cargo writes a lock file next to the manifest.
fn copy(fixture: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("tests/fixtures/outside").join(fixture);
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside").join(fixture);
    for part in ["src", "tests", "examples"] {
        let Ok(files) = std::fs::read_dir(source.join(part)) else { continue };
        std::fs::create_dir_all(copy.join(part)).expect("a directory for the copy");
        for file in files {
            let file = file.expect("a file").file_name();
            std::fs::copy(source.join(part).join(&file), copy.join(part).join(&file)).expect("the file is copied");
        }
    }
    let manifest = std::fs::read_to_string(source.join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("../../../.."), "the path to this crate");
    let manifest = manifest.replace("../../../..", &root.display().to_string().replace('\\', "/"));
    std::fs::write(copy.join("Cargo.toml"), manifest).expect("the manifest is written");
    // With the workspace's lock file, cargo needs no network.
    std::fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).expect("the lock file is copied");
    copy
}

fn cargo(directory: &Path, arguments: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(directory)
        // The fixtures share the compiled crates of this workspace.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target"))
        // The flags of the build that runs this test are not used for the user's crate.
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTDOCFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo {} in {}:\n{}{}",
        arguments.join(" "),
        directory.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

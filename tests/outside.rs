//! Users' crates, outside of the workspace: the generated code compiles without a warning under the
//! strictest lints, in both editions, and works.

use std::path::Path;
use std::process::Command;

#[test]
fn edition_2021() {
    passes("edition-2021");
}

#[test]
fn edition_2024_under_another_name() {
    passes("edition-2024");
}

/// Runs clippy and the tests of a fixture.
fn passes(fixture: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("tests/fixtures/outside").join(fixture);
    // The fixture is copied, since cargo writes a lock file next to the manifest. With the
    // workspace's lock file, it needs no network.
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside").join(fixture);
    std::fs::create_dir_all(copy.join("src")).expect("a directory for the copy");
    let manifest = std::fs::read_to_string(source.join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("../../../.."), "the path to this crate");
    let manifest = manifest.replace("../../../..", &root.display().to_string().replace('\\', "/"));
    std::fs::write(copy.join("Cargo.toml"), manifest).expect("the manifest is written");
    std::fs::copy(source.join("src/lib.rs"), copy.join("src/lib.rs")).expect("the source is copied");
    std::fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).expect("the lock file is copied");

    cargo(&copy, &["clippy", "--offline", "--all-targets"]);
    cargo(&copy, &["test", "--offline"]);
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

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

    // A library with a panic handler of its own, so std must not be in it. A profile with this flag
    // would build the compiler again.
    cargo(&fixture, &["rustc", "--offline", "--features", "bare", "--example", "bare", "--", "-Cpanic=abort"]);
}

/// The crate that people copy.
#[test]
fn starter() {
    let copy = copy_of("examples/starter", "../..");
    passes(&copy);
    let printed = cargo(&copy, &["run", "--offline", "--quiet"]);
    assert!(printed.contains("rate: 1.300"), "{printed}");
}

/// Runs clippy and the tests of a fixture.
fn passes(fixture: &Path) {
    cargo(fixture, &["clippy", "--offline", "--all-targets"]);
    cargo(fixture, &["test", "--offline"]);
}

fn copy(fixture: &str) -> PathBuf {
    copy_of(&format!("tests/fixtures/outside/{fixture}"), "../../../..")
}

/// A copy of a crate, since cargo writes a lock file next to the manifest. `to_root` is its path to
/// this crate.
fn copy_of(folder: &str, to_root: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join(folder);
    let name = source.file_name().expect("the name of the crate");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside").join(name);
    for part in ["src", "tests", "examples"] {
        let Ok(files) = std::fs::read_dir(source.join(part)) else { continue };
        std::fs::create_dir_all(copy.join(part)).expect("a directory for the copy");
        for file in files {
            let file = file.expect("a file").file_name();
            std::fs::copy(source.join(part).join(&file), copy.join(part).join(&file)).expect("the file is copied");
        }
    }
    let manifest = std::fs::read_to_string(source.join("Cargo.toml")).expect("the manifest");
    let to_root = format!("\"{to_root}\"");
    assert!(manifest.contains(&to_root), "the path to this crate");
    let manifest = manifest.replace(&to_root, &format!("{:?}", root.display().to_string().replace('\\', "/")));
    std::fs::write(copy.join("Cargo.toml"), manifest).expect("the manifest is written");
    // With the workspace's lock file, cargo needs no network.
    std::fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).expect("the lock file is copied");
    copy
}

/// Runs cargo, and returns what it prints.
fn cargo(directory: &Path, arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(directory)
        // The fixtures share the compiled crates of this workspace.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target"))
        // The compiler is built once for all fixtures, whatever their profiles say of it.
        .env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL", "1")
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
    String::from_utf8_lossy(&output.stdout).into_owned()
}

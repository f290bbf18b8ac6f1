//! The crates that are published can be: what the registry shows of them is complete, and cargo
//! makes a package of each.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The crates that users' builds need, and no others.
const PUBLISHED: [&str; 8] = ["ad", "ad-back", "ad-core", "ad-front", "ad-ir", "ad-macro", "ad-middle", "ad-runtime"];

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        // Packages are not written among the files of the build that runs this test.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages"))
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}:\n{errors}", arguments.join(" "));
    assert!(!errors.contains("warning: manifest has no"), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_published_crates_say_what_they_are() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"])).expect("JSON");
    let all = metadata["packages"].as_array().expect("packages");
    let mut published: Vec<&str> = Vec::new();
    for package in all.iter().filter(|p| p["publish"].is_null()) {
        let name = package["name"].as_str().expect("a name");
        published.push(name);
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let many = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=most).contains(&many), "{name} has {many} {key}");
        }
        // The registry has no paths, so a dependency of a published crate needs a version.
        for needed in package["dependencies"].as_array().expect("dependencies") {
            let bare = needed["req"] == "*" && needed["kind"] != "dev";
            assert!(!bare, "{name} needs {} of no version", needed["name"]);
        }
    }
    published.sort_unstable();
    assert_eq!(published, PUBLISHED);
    // The features of these two are documented.
    for package in all.iter().filter(|p| p["name"] == "ad" || p["name"] == "ad-runtime") {
        assert_eq!(package["metadata"]["docs"]["rs"]["all-features"], true, "{}", package["name"]);
    }
}

#[test]
fn cargo_makes_a_package_of_each() {
    let mut arguments = vec!["package", "--no-verify", "--allow-dirty", "--quiet"];
    arguments.extend(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    cargo(&arguments);
    let files = cargo(&["package", "--list", "--allow-dirty", "--offline", "--package", "ad"]);
    for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs", "docs/guide/src/limits.md"] {
        assert!(files.lines().any(|line| line == file), "the package of `ad` has no {file}");
    }
}

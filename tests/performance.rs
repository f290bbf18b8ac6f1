//! `docs/performance.md`: its commands are commands of this repository, and the benches write its
//! tables. Times are not tested.

use std::path::Path;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn commands_exist() {
    let text = read("docs/performance.md");
    let (manifest, benches) = (
        ["ad-bench/Cargo.toml", "ad-core/Cargo.toml"].map(read).concat(),
        ["benches/measure/mod.rs", "benches/measure/table.rs", "benches/measure/docs.rs"].map(read).concat(),
    );
    let commands = text.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the commands");
    assert!(commands.lines().count() > 3, "{commands}");
    for line in commands.lines() {
        let words: Vec<&str> = line.split(" #").next().unwrap_or_default().split_whitespace().collect();
        let variable = words.first().and_then(|w| w.split_once('='));
        if let Some((name, _)) = variable {
            assert!(benches.contains(&format!("\"{name}\"")), "{name} is read by no bench");
        }
        let after = |option: &str| words.iter().position(|w| *w == option).and_then(|k| words.get(k + 1)).copied();
        let exists = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists();
        match (after("--bench"), after("--example")) {
            (None, None) if after("--manifest-path").is_some_and(exists) => {}
            (Some(bench), None) => assert!(manifest.contains(&format!("[[bench]]\nname = \"{bench}\"")), "{line}"),
            (None, Some(example)) => {
                let path = format!("{}/examples/{example}/main.rs", after("-p").unwrap_or("."));
                assert!(exists(&path), "{path}");
            }
            _ => panic!("{line}: no command that is known here"),
        }
    }
}

#[test]
fn tables_are_in_their_sections() {
    let text = read("docs/performance.md");
    for (section, by) in [("workloads", "benches/measure/table.rs"), ("expansion", "ad-core/examples/cost/main.rs")] {
        assert_eq!(text.matches(&format!("<!-- {section} -->\n")).count(), 1, "{section}");
        assert_eq!(text.matches(&format!("<!-- end of {section} -->")).count(), 1, "{section}");
        assert!(read(by).contains(&format!("docs::write(\"{section}\"")), "{by} writes {section}");
        // The document names the machine of the figures.
        let part = text.split(&format!("<!-- {section} -->\n")).nth(1).unwrap_or_default();
        let part = part.split("<!-- end of").next().unwrap_or_default();
        assert!(part.starts_with("On ") && part.contains("rustc"), "{section} has no figures: AD_DOCS=1");
    }
}

/// Code with instructions beyond those of the build is entered at one place, after a test of the
/// processor (`ad-runtime/tests/plain.rs` runs without it). Without std, a fused multiply-add of
/// the build has only a name that is `unsafe`. Two functions of a trait of nalgebra are declared
/// unsafe, and their bodies are safe. Nothing else is, so no index can be wrong without a panic.
/// Every other crate forbids `unsafe`.
#[test]
fn unsafe_code_enters_instructions_only() {
    let mut places = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = ["runtime", "core", "ir", "front", "middle", "back", "macro"].map(|name| format!("ad-{name}/src"));
    let mut folders: Vec<_> = crates.iter().map(|folder| root.join(folder)).chain([root.join("src")]).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for line in text.lines().filter(|line| line.contains("allow(unsafe_code")) {
                places.push(format!("{}: {}", path.strip_prefix(root).unwrap_or(&path).display(), line.trim()));
            }
        }
    }
    places.sort();
    let of_trait = "ad-runtime/src/dual_numbers/nalgebra.rs";
    let files = [of_trait, of_trait, "ad-runtime/src/float.rs", "ad-runtime/src/kernel/isa.rs"];
    assert_eq!(places.len(), files.len(), "{places:?}");
    for (place, file) in places.iter().zip(files) {
        assert!(place.starts_with(file), "{places:?}");
    }
    // A function that is declared unsafe has no unsafe block.
    assert!(!read(of_trait).contains("unsafe {"), "{of_trait}");
    for file in ["ad-core/src/lib.rs", "ad-macro/src/lib.rs", "src/lib.rs"] {
        assert!(read(file).contains("#![forbid(unsafe_code)]"), "{file}");
    }
    assert!(read("ad-runtime/src/lib.rs").contains("#![deny(unsafe_code)]"));
}

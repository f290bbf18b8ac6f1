//! Drives the page in headless Chromium, on a machine that has it, Node.js, and what `npm install`
//! writes in `test`. Elsewhere the test says what is missing, and passes.

use std::path::Path;
use std::process::Command;

#[test]
fn the_page_in_chromium() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test");
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_string());
    let missing = [
        ("the target wasm32-unknown-unknown", !has_target()),
        ("Node.js", Command::new("node").arg("--version").output().is_err()),
        ("a Chromium (`CHROMIUM` names another one)", !Path::new(&chromium).exists()),
        ("`npm install` in examples/browser/test", !folder.join("node_modules").exists()),
    ];
    let missing: Vec<&str> = missing.iter().filter(|(_, missing)| *missing).map(|(what, _)| *what).collect();
    if !missing.is_empty() {
        println!("skipped: the page is not tested in a browser without {}", missing.join(", "));
        return;
    }
    let said = Command::new("node").arg("test.mjs").current_dir(&folder).output().expect("Node.js runs");
    let text = [said.stdout, said.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(said.status.success(), "{text}");
}

/// Whether rustup has the target. Without rustup nobody knows, and the build tells.
fn has_target() -> bool {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    installed.map_or(true, |list| String::from_utf8_lossy(&list.stdout).contains("wasm32-unknown-unknown"))
}

//! Drives the pages in headless Chromium, on a machine that has it, Node.js, and what `npm install`
//! writes in `browser`. Elsewhere the test says what is missing, and passes.

use std::path::Path;
use std::process::Command;

#[test]
fn pages_in_chromium() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_string());
    let missing = [
        ("Node.js", Command::new("node").arg("--version").output().is_err()),
        ("a Chromium (`CHROMIUM` names another one)", !Path::new(&chromium).exists()),
        ("`npm install` in ad-explain/browser", !folder.join("node_modules").exists()),
    ];
    let missing: Vec<&str> = missing.iter().filter(|(_, missing)| *missing).map(|(what, _)| *what).collect();
    if !missing.is_empty() {
        println!("skipped: pages are not tested in a browser without {}", missing.join(", "));
        return;
    }
    let said = Command::new("node").arg("test.mjs").current_dir(&folder).output().expect("Node.js runs");
    let text = [said.stdout, said.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(said.status.success(), "{text}");
}

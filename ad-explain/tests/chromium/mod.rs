//! Runs a test in headless Chromium, on a machine that has it, Node.js, and what `npm install`
//! writes. Elsewhere the test says what is missing, and passes.

use std::path::Path;
use std::process::Command;

/// Runs `test.mjs` of this folder of the repository. `also`: what else the test needs, and whether
/// it is missing.
pub fn drive(root: &Path, folder: &str, also: &[(&str, bool)]) {
    let path = root.join(folder);
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_string());
    let install = format!("`npm install` in {folder}");
    let needed = [
        ("Node.js", Command::new("node").arg("--version").output().is_err()),
        ("a Chromium (`CHROMIUM` names another one)", !Path::new(&chromium).exists()),
        (&install, !path.join("node_modules").exists()),
    ];
    let missing: Vec<&str> =
        also.iter().chain(&needed).filter(|(_, missing)| *missing).map(|(what, _)| *what).collect();
    if !missing.is_empty() {
        println!("skipped: nothing is tested in a browser without {}", missing.join(", "));
        return;
    }
    let said = Command::new("node").arg("test.mjs").current_dir(&path).output().expect("Node.js runs");
    let text = [said.stdout, said.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(said.status.success(), "{text}");
}

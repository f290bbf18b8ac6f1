//! The page in a browser.

use std::path::Path;
use std::process::Command;

#[path = "../../../ad-explain/tests/chromium/mod.rs"]
mod chromium;

#[test]
fn the_page_in_chromium() {
    let also = [("the target wasm32-unknown-unknown", !has_target())];
    chromium::drive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "examples/browser/test", &also);
}

/// Whether rustup has the target. Without rustup nobody knows, and the build tells.
fn has_target() -> bool {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    installed.map_or(true, |list| String::from_utf8_lossy(&list.stdout).contains("wasm32-unknown-unknown"))
}

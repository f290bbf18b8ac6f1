//! The pages in a browser.

use std::path::Path;

mod chromium;

#[test]
fn pages_in_chromium() {
    chromium::drive(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), "ad-explain/browser", &[]);
}

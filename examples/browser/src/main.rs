//! Writes the page: one file that needs no network and no server.
//!
//! `cargo run --release -p ad-browser` builds the library for WebAssembly, and puts it into
//! `page.html`. The target must be installed: `rustup target add wasm32-unknown-unknown`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> ExitCode {
    match write() {
        Ok(page) => {
            println!("{}", page.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<PathBuf, String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--lib", "--package", "ad-browser", "--target", TARGET, "--target-dir"])
        .arg(&target)
        .current_dir(&root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err(format!("the library does not build; is its target there? `rustup target add {TARGET}`"));
    }
    let library = target.join(TARGET).join("release/ad_browser.wasm");
    let library = std::fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    let page = page(include_str!("page.html"), include_str!("fit.rs"), &library);
    let file = target.join("fit-in-the-browser.html");
    std::fs::write(&file, page).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(file)
}

/// The page with the library, and the part of the source that it shows, in it.
fn page(template: &str, source: &str, library: &[u8]) -> String {
    let model = source.split("// page: ").nth(1).and_then(|part| part.split_once('\n')).map_or("", |(_, rest)| rest);
    let escaped = model.trim().replace('&', "&amp;").replace('<', "&lt;");
    template.replace("{{model}}", &escaped).replace("{{library}}", &base64(library))
}

/// Bytes as letters (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let all = three.iter().fold(0_u32, |all, &b| all << 8 | u32::from(b)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= three.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{base64, page};

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        let written = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(written, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn the_page_shows_the_model_and_refers_to_nothing_outside() {
        let page = page(include_str!("page.html"), include_str!("fit.rs"), b"library");
        assert!(page.contains("fn curve(net: &amp;Network") && !page.contains("{{") && !page.contains("page: end"));
        assert!(page.contains(&base64(b"library")));
        for outside in ["http:", "https:", "src=", "href="] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

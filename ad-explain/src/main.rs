//! The tool: a page for each annotated function of a file, without a build. The pages are those of
//! `AD_EXPLAIN=folder cargo build`.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: ad-explain FILE.rs [FOLDER]

Writes a page for each function with #[differentiate] in the file, and in the files of its modules,
to the folder (by default target/explain). Open FOLDER/index.html in a browser.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (file, folder) = match &args[..] {
        [help] if help == "--help" || help == "-h" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [file] if !file.starts_with('-') => (Path::new(file), PathBuf::from("target/explain")),
        [file, folder] if !file.starts_with('-') => (Path::new(file), PathBuf::from(folder)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match ad_explain::explain(file, &folder) {
        Ok(explained) => {
            for error in &explained.errors {
                eprintln!("{error}");
            }
            for page in &explained.pages {
                println!("{}", page.display());
            }
            if explained.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

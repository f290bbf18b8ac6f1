//! Draws `docs/speed.svg` from the tables of `docs/performance.md`:
//! `cargo run -p ad-bench --bin speed`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let drawn = std::fs::read_to_string(ad_bench::speed::TABLES)
        .map_err(|e| e.to_string())
        .and_then(|tables| ad_bench::speed::picture(&tables))
        .and_then(|picture| std::fs::write(ad_bench::speed::PICTURE, picture).map_err(|e| e.to_string()));
    match drawn {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("no picture: {reason}");
            ExitCode::FAILURE
        }
    }
}

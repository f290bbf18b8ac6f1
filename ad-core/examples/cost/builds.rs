//! How long rustc takes, macro included, in debug and in release.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::arrays;

/// What is compiled: a name, the folder of its package, and arguments that select it.
struct Subject {
    name: String,
    folder: PathBuf,
    arguments: Vec<String>,
}

/// A table of processor seconds, and of the size of what comes out.
pub fn table(root: &Path) -> String {
    let own = root.join("target/cost");
    let mut subjects = Vec::new();
    let statements = arrays::statements(200).to_string();
    let main = |attribute: &str| {
        format!(
            "use ad::prelude::*;\n{attribute}{statements}\nfn main() {{\n    let x = Array1::<f64>::zeros(3);\n    println!(\"{{}}\", f(&x, &x));\n}}\n"
        )
    };
    let empty = "fn main() {\n    println!(\"{}\", ad::prelude::iota(3));\n}\n".to_string();
    let used = main("#[differentiate]\n")
        .replace("println!(\"{}\", f(&x, &x))", "println!(\"{:?}\", f_value_and_grad(&x, &x))");
    for (name, text) in [("empty", empty), ("plain", main("")), ("differentiated", used)] {
        let folder = own.join(name);
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        let manifest = format!(
            "[package]\nname = \"cost-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nad = {{ path = {root:?} }}\n\n\
             [profile.dev.package.ad-core]\nopt-level = 1\n"
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest is written");
        std::fs::write(folder.join("src/main.rs"), text).expect("the program is written");
        std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file is copied");
        let shown = match name {
            "empty" => "a program without arrays",
            "plain" => "200 array statements, without the attribute",
            _ => "200 array statements, value and gradient",
        };
        subjects.push(Subject { name: shown.into(), folder, arguments: Vec::new() });
    }
    for name in ["tour", "digits", "rnn", "fit_ode"] {
        let arguments = ["--example", name].map(String::from).to_vec();
        subjects.push(Subject { name: format!("`{name}`"), folder: root.to_path_buf(), arguments });
    }
    let mut text = String::from("| | debug build | release build |\n| --- | --- | --- |\n");
    for subject in &subjects {
        let [debug, release] = [false, true].map(|release| seconds(subject, &root.join("target"), release));
        let _ = writeln!(text, "| {} | {debug:.1} s | {release:.1} s |", subject.name);
    }
    text
}

/// Of a build of the subject alone: all that it needs is built before.
fn seconds(subject: &Subject, target: &Path, release: bool) -> f64 {
    let build = |again: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--offline", "--quiet"]).args(&subject.arguments).current_dir(&subject.folder);
        cargo.env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS");
        if release {
            cargo.arg("--release");
        }
        // What is the last crate's alone makes it new, and nothing else; what is kept of its last build goes as well.
        cargo.args(["--", "--cfg", &format!("build_{again}"), "-A", "unexpected_cfgs"]);
        assert!(cargo.status().expect("cargo runs").success(), "{}", subject.name);
    };
    build("before");
    let (spent, start) = (children(), Instant::now());
    build(&format!("at_{}", std::process::id()));
    match (spent, children()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    }
}

/// Seconds that processors have spent on the programs that this one has started and waited for (Linux; in hundredths, as it nearly always is).
fn children() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |k: usize| fields.get(k)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

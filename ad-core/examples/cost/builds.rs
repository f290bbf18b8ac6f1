//! The time that rustc takes, with the macro, in debug and in release.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::arrays;

/// A program to compile.
struct Subject {
    name: String,
    how: How,
}

enum How {
    /// A program of one file, compiled by rustc with the `ad` of this workspace.
    File(PathBuf),
    /// An example of this repository, by cargo.
    Example(&'static str),
}

/// A table of processor seconds. Shared dependencies are built first, which takes minutes in an
/// empty target folder; each subject is announced on the standard error.
pub fn table(root: &Path) -> String {
    let own = root.join("target/cost");
    std::fs::create_dir_all(&own).expect("a folder");
    let statements = arrays::statements(200).to_string();
    let main = |attribute: &str| {
        format!(
            "use ad::prelude::*;\n{attribute}{statements}\nfn main() {{\n    let x = Array1::<f64>::zeros(3);\n    println!(\"{{}}\", f(&x, &x));\n}}\n"
        )
    };
    let empty = "fn main() {\n    println!(\"{}\", ad::prelude::iota(3));\n}\n".to_string();
    let used = main("#[allow(unused_variables)]\n#[differentiate]\n")
        .replace("println!(\"{}\", f(&x, &x))", "println!(\"{:?}\", f_value_and_grad(&x, &x))");
    let programs = [
        ("empty", "a program without arrays", empty),
        ("plain", "200 array statements, without the attribute", main("#[allow(unused_variables)]\n")),
        ("differentiated", "200 array statements, value and gradient", used),
    ];
    let mut subjects = Vec::new();
    for (file, name, text) in programs {
        let path = own.join(file).with_extension("rs");
        std::fs::write(&path, text).expect("the program is written");
        subjects.push(Subject { name: name.into(), how: How::File(path) });
    }
    // The further dependencies of examples take long to build.
    let examples: &[&str] =
        if std::env::args().any(|a| a == "examples") { &["tour", "digits", "rnn", "fit_ode"] } else { &[] };
    for &name in examples {
        subjects.push(Subject { name: format!("`{name}`"), how: How::Example(name) });
    }
    let target = root.join("target");
    for release in [false, true] {
        eprintln!("building what they need, {}", profile(release));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--offline", "--quiet", "-p", "ad"]).current_dir(root).env("CARGO_TARGET_DIR", &target);
        if release {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo runs").success(), "ad");
    }
    let mut text = String::from("| | debug build | release build |\n| --- | --- | --- |\n");
    for subject in &subjects {
        let [debug, release] = [false, true].map(|release| {
            eprintln!("{}, {}", subject.name, profile(release));
            match &subject.how {
                How::File(path) => of_file(path, &target, release),
                How::Example(name) => of_example(name, root, release),
            }
        });
        let row = format!("| {} | {debug:.1} s | {release:.1} s |", subject.name);
        eprintln!("{row}");
        let _ = writeln!(text, "{row}");
    }
    text
}

fn profile(release: bool) -> &'static str {
    if release { "release" } else { "debug" }
}

/// The seconds for a program of one file, with the settings of cargo's profile.
fn of_file(path: &Path, target: &Path, release: bool) -> f64 {
    let built = target.join(profile(release));
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-C", "embed-bitcode=no"]).arg(path).current_dir(target);
    rustc.arg("--extern").arg(format!("ad={}", built.join("libad.rlib").display()));
    rustc.arg("-L").arg(format!("dependency={}", built.join("deps").display()));
    rustc.arg("--out-dir").arg(target.join("cost"));
    rustc.args(if release { &["-C", "opt-level=3"] } else { &["-C", "debuginfo=2"] });
    timed(&mut rustc, &path.display().to_string())
}

/// The seconds for an example alone: its dependencies are built before.
fn of_example(name: &str, root: &Path, release: bool) -> f64 {
    let build = |again: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--offline", "--quiet", "--example", name]).current_dir(root);
        cargo.env("CARGO_TARGET_DIR", root.join("target")).env_remove("RUSTFLAGS");
        if release {
            cargo.arg("--release");
        }
        // A flag of the last crate alone forces cargo to rebuild this crate and no other one.
        // Incremental results of its last build are removed as well.
        cargo.args(["--", "--cfg", &format!("build_{again}"), "-A", "unexpected_cfgs"]);
        // The environment may have another setting for the dependencies.
        if !release {
            cargo.args(["-C", "debuginfo=2"]);
        }
        timed(&mut cargo, name)
    };
    build("before");
    build(&format!("at_{}", std::process::id()))
}

/// The processor time of a command in seconds, or the elapsed time if the system does not report
/// processor times.
fn timed(command: &mut Command, name: &str) -> f64 {
    let (spent, start) = (children(), Instant::now());
    assert!(command.status().expect("the compiler runs").success(), "{name}");
    match (spent, children()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    }
}

/// Seconds that processors have spent on the programs that this one has started and waited for
/// (Linux; in hundredths, as it nearly always is).
fn children() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |k: usize| fields.get(k)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

//! Random source programs, compiled through the macro and run: the results of the annotated
//! function, of the functions that the macro writes, and of the reference interpreter agree. They
//! agree in debug and in release; on every memory layout of the arguments, with the same bits; and
//! on empty arrays, where either all panic or none does. The programs run once more with code in
//! which every choice by cost is random: which arrays are stored, which loops are fused, which
//! arrays are overwritten.
//!
//! The programs are written to a separate crate, several in each module. `AD_CASES` and `AD_SEED`
//! choose others, `AD_CHANCE` other choices.

#[path = "../../ad-core/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::source::forms::forms;
use common::source::oracle::{self, Expected, Outcome};
use common::source::{Arg, Kind, Owned, Source, Stands, program};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Choices that this number of programs may lack: `ad-core/tests/emit.rs` has programs for them.
const RARE: [&str; 15] = [
    "FMA port balancing",
    "contractions in loops",
    "extrema of blocked sums",
    "indices of scatters",
    "loop fusion",
    "outer-loop vectorisation",
    "products in tiles",
    "reads of final arrays",
    "reassociated contractions",
    "register blocking",
    "rematerialisation",
    "rows under a condition",
    "scatter-accumulate fusion",
    "scatters in tiles",
    "windows of arrays",
];

#[test]
fn in_debug() {
    run(Profile::Debug, None);
}

#[test]
fn in_release() {
    run(Profile::Release, None);
}

#[test]
fn in_debug_with_random_choices() {
    run(Profile::Debug, Some(number("AD_CHANCE", 0)));
}

/// How the arguments are passed.
const MODES: [(&str, Values); 6] = [
    ("as they are", Values::Given),
    ("axes reversed in memory", Values::Given),
    ("transposed in memory", Values::Given),
    ("strided", Values::Given),
    ("rows repeated", Values::Repeated),
    ("rows broadcast", Values::Repeated),
];
const EMPTY: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    Given,
    Repeated,
}

/// How the programs are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    Debug,
    /// With optimisation and without assertions.
    Release,
}

fn run(profile: Profile, chance: Option<u64>) {
    let forms = forms();
    let (cases, mut seed) = (number("AD_CASES", 75) as usize, number("AD_SEED", 0));
    let mut programs = Vec::new();
    while programs.len() < cases {
        let source = program(&forms, seed);
        seed += 1;
        match oracle::outcome(&source, &source.args) {
            Ok(Some(Outcome::Gives(_))) => programs.push(source),
            Ok(_) => {}
            Err(e) => panic!("seed {}: {e}\n{}", source.seed, source.text),
        }
    }
    let _ = ad_oracle::chance::tally();
    let root = write_crate(profile, &programs, chance);
    let met = ad_oracle::chance::tally();
    if chance.is_some() {
        println!("{met:?}");
    }
    let missing: Vec<_> = met.iter().filter(|(kind, n)| n.contains(&0) && !RARE.contains(kind)).collect();
    assert!(chance.is_none() || cases < 200 || missing.is_empty(), "answers that chance has not given: {missing:?}");
    let numbers = numbers(&root);
    let mut failures = Vec::new();
    for (k, source) in programs.iter().enumerate() {
        if let Err(e) = compare(source, |mode| numbers.get(&(k, mode))) {
            let Source { seed, options, text, args, .. } = source;
            failures.push(format!("seed {seed}: {e}\n#[differentiate({options})]\n{text}{args:?}\n"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {cases} programs, {profile:?}:\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n")
    );
}

/// The results of a call, part by part (`f`, the value again, gradients, ...); `None` if it
/// panicked.
type Parts = Option<Vec<Vec<f64>>>;

fn compare<'a>(source: &Source, numbers: impl Fn(usize) -> Option<&'a [Parts; 3]>) -> Result<(), String> {
    let given = outcome(source, &source.args)?;
    let repeated: Vec<Arg> = source.args.iter().map(Arg::repeated).collect();
    let repeated = outcome(source, &repeated)?;
    let mut bits: BTreeMap<u8, &[Parts; 3]> = BTreeMap::new();
    for (mode, (name, values)) in MODES.iter().enumerate() {
        let found = numbers(mode).ok_or(format!("no numbers, {name}"))?;
        let expected = if *values == Values::Given { &given } else { &repeated };
        if let Some(expected) = expected {
            check(source, expected, found).map_err(|e| format!("{name}: {e}"))?;
        }
        // The function itself is computed by ndarray, which may add in another order. The generated
        // code may not.
        let first = bits.entry(*values as u8).or_insert(found);
        if !same_bits(&first[1], &found[1]) || !same_bits(&first[2], &found[2]) {
            return Err(format!("other bits, {name}: {:?}\n  and {:?}", &first[1..], &found[1..]));
        }
    }
    let empty: Vec<Arg> = source.args.iter().map(Arg::emptied).collect();
    let mut found = numbers(EMPTY).ok_or("no numbers for empty arrays")?.clone();
    if let Some(expected) = outcome(source, &empty)? {
        // Only the macro knows the size of the elements of an empty array of arrays: `build1(0, |i|
        // a)` has shape (0, 0) when it runs, whatever the shape of `a` is. That may be the wrong
        // shape.
        let arrays = source.builds_arrays;
        // The macro accepts a condition only if its arms have equal sizes.
        let sizes = matches!(&expected, Outcome::Panics(message) if message.contains("shapes differ"));
        if arrays || sizes {
            found[0] = match &expected {
                Outcome::Panics(_) => None,
                Outcome::Gives(expected) => Some(vec![expected.value.clone()]),
            };
        }
        // The cotangent has the shape of the function's result, which differs from that of the
        // derivative's.
        if let (true, None, Outcome::Gives(expected)) = (arrays && source.has("vjp"), &found[1], &expected)
            && expected.value.is_empty()
        {
            found[1] = Some(std::iter::once(&expected.value).chain(&expected.gradients).cloned().collect());
        }
        check(source, &expected, &found).map_err(|e| format!("empty arrays: {e}"))?;
    }
    Ok(())
}

fn outcome(source: &Source, args: &[Arg]) -> Result<Option<Outcome>, String> {
    oracle::outcome(source, args)
}

fn same_bits(a: &Parts, b: &Parts) -> bool {
    let bits = |parts: &Parts| {
        parts
            .as_ref()
            .map(|parts| parts.iter().map(|p| p.iter().map(|x| x.to_bits()).collect()).collect::<Vec<Vec<u64>>>())
    };
    bits(a) == bits(b)
}

/// The function, the gradient and the tangent as they should be.
fn check(source: &Source, expected: &Outcome, found: &[Parts; 3]) -> Result<(), String> {
    let tolerance = if source.single() { 1e-3 } else { 1e-9 };
    let Outcome::Gives(Expected { value, gradients, tangent }) = expected else {
        let Outcome::Panics(message) = expected else { unreachable!() };
        let calls = ["the function", "the gradient", "the tangent"];
        let wrong: Vec<&str> = calls.iter().zip(found).filter(|(_, f)| f.is_some()).map(|(name, _)| *name).collect();
        // A tangent that was not requested is not in the output either.
        return if wrong.is_empty() { Ok(()) } else { Err(format!("{message}: no panic of {}", wrong.join(", "))) };
    };
    let with_gradients: Vec<&Vec<f64>> = std::iter::once(value).chain(gradients).collect();
    let mut wanted = vec![("the function", vec![value]), ("value and gradients", with_gradients)];
    if source.has("jvp") {
        wanted.push(("value and tangent", vec![value, tangent]));
    }
    for ((name, wanted), found) in wanted.into_iter().zip(found) {
        let Some(found) = found else { return Err(format!("{name}: a panic instead of {wanted:?}")) };
        if found.len() != wanted.len() {
            return Err(format!("{name}: {} parts, not {}", found.len(), wanted.len()));
        }
        for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            common::compare::close_all(found, wanted, tolerance)
                .map_err(|e| format!("{name}, part {k}: {e} (the second as it should be)"))?;
        }
    }
    Ok(())
}

/// Programs in a module.
const MODULE: usize = 25;

fn write_crate(profile: Profile, programs: &[Source], chance: Option<u64>) -> PathBuf {
    let folder = match (profile, chance) {
        (_, Some(_)) => "chosen",
        (Profile::Debug, None) => "debug",
        (Profile::Release, None) => "release",
    };
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random").join(folder);
    std::fs::create_dir_all(root.join("src")).expect("a directory");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let path = workspace.display().to_string().replace('\\', "/");
    // What follows says nothing of the compiler, so that it is built once for all of these crates.
    let mut manifest = format!(
        "[package]\nname = \"random-{folder}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nad = {{ path = \"{path}\" }}\n\n\
         [profile.dev.build-override]\nopt-level = 1\n\n[profile.dev.package.random-{folder}]\ndebug = false\n"
    );
    if profile == Profile::Release {
        let release = "opt-level = 1\ndebug-assertions = false\noverflow-checks = true\n";
        let runtime = "[profile.dev.package.ad-runtime]\ndebug = false\n";
        manifest.extend([release, runtime, release]);
    }
    let mut main = String::from(MAIN);
    for first in (0..programs.len()).step_by(MODULE) {
        let mut text = String::from("use crate::*;\n\n");
        for (k, source) in programs.iter().enumerate().skip(first).take(MODULE) {
            text.push_str(&module(k, source, chance));
            writeln!(main, "    show({k}, m{first}::p{k}::run);").expect("a string grows");
        }
        write(&root.join(format!("src/m{first}.rs")), &text);
    }
    main.push_str("}\n");
    let modules: String = (0..programs.len()).step_by(MODULE).map(|first| format!("mod m{first};\n")).collect();
    write(&root.join("src/main.rs"), &format!("{HEAD}mod layouts;\n{modules}{main}"));
    write(&root.join("src/layouts.rs"), include_str!("../../tests/layouts/mod.rs"));
    write(&root.join("Cargo.toml"), &manifest);
    std::fs::copy(workspace.join("Cargo.lock"), root.join("Cargo.lock")).expect("the lock file is copied");
    root
}

/// Writes a file only if its content has changed, since cargo compares the times of files.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::write(path, text).expect("the file is written");
    }
}

/// Code that the programs' modules share: arguments in every layout, and results as lists of
/// numbers.
const HEAD: &str = r#"#![allow(unused, clippy::all, reason = "the programs say things that nobody writes")]
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use ad::ndarray::{self, Array, ArrayView, Dimension};
pub use ad::prelude::*;

pub type Run = fn(usize, usize) -> Vec<Vec<f64>>;

use layouts::{Layout, LAYOUTS};

/// An owned array with these elements: in a layout, empty, or with repeated rows.
pub fn array<A: Clone, D: Dimension>(shape: D, data: &[A], mode: usize) -> Array<A, D> {
    let mut shape = shape;
    if mode == 6 {
        shape.slice_mut().fill(0);
        return Array::from_shape_vec(shape, Vec::new()).unwrap();
    }
    let x = Array::from_shape_vec(shape, data.to_vec()).unwrap();
    if mode < 4 { layouts::stored(&x, LAYOUTS[mode]) } else { layouts::repeated(&x) }
}

/// A view of it. If the array is to be broadcast, the first row is repeated in place of all rows.
pub fn view<A: Clone, D: Dimension>(x: &Array<A, D>, mode: usize) -> ArrayView<'_, A, D> {
    if mode == 5 { layouts::broadcast(x) } else { x.view() }
}

/// The cotangent of a result of n numbers.
pub fn weights<F: Real>(n: usize) -> Vec<F> {
    (0..n).map(|i| F::lit(((29 + i * 17) % 23) as f64 / 16.0 - 0.625)).collect()
}

pub trait Numbers { fn numbers(&self) -> Vec<f64>; }
impl Numbers for f64 { fn numbers(&self) -> Vec<f64> { vec![*self] } }
impl Numbers for f32 { fn numbers(&self) -> Vec<f64> { vec![f64::from(*self)] } }
impl<F: Numbers, const N: usize> Numbers for [F; N] { fn numbers(&self) -> Vec<f64> { self.iter().flat_map(F::numbers).collect() } }
impl<F: Copy + Into<f64>> Numbers for Vec<F> { fn numbers(&self) -> Vec<f64> { self.iter().map(|&x| x.into()).collect() } }
impl<F: Copy + Into<f64>, D: Dimension> Numbers for Array<F, D> {
    fn numbers(&self) -> Vec<f64> { self.iter().map(|&x| x.into()).collect() }
}

fn show(program: usize, run: Run) {
    for mode in 0..7 {
        for call in 0..3 {
            match catch_unwind(AssertUnwindSafe(|| run(mode, call))) {
                Ok(parts) => {
                    let part = |p: &Vec<f64>| p.iter().map(|x| format!("{:x}", x.to_bits())).collect::<Vec<_>>().join(",");
                    println!("{program} {mode} {call} {}", parts.iter().map(part).collect::<Vec<_>>().join(";"));
                }
                Err(_) => println!("{program} {mode} {call} panics"),
            }
        }
    }
}

"#;

const MAIN: &str = "\nfn main() {\n    std::panic::set_hook(Box::new(|_| {}));\n";

/// An array of static size with the elements of one of ndarray.
fn fixed(arg: &Arg, x: &str) -> String {
    match arg.shape().len() {
        1 => format!("std::array::from_fn(|i| {x}[i])"),
        _ => format!("std::array::from_fn(|i| std::array::from_fn(|j| {x}[[i, j]]))"),
    }
}

/// The function under its attribute, or the generated code with random choices.
fn annotated(source: &Source, chance: Option<u64>) -> String {
    let Source { seed, options, text, .. } = source;
    let Some(chance) = chance else { return format!("#[differentiate({options})]\n{text}") };
    let tokens = |text: &str| text.parse().expect("a program is tokens");
    let written =
        ad_oracle::chance::by_chance(seed + chance, || ad_core::expand(tokens(options), tokens(text))).to_string();
    // Each item gets a paragraph, so that the file can be read.
    written.replace("# [doc", "\n# [doc")
}

/// A program and how it is called: call 0 is the function itself, 1 the gradient (or `vjp`), 2 the
/// tangent.
fn module(k: usize, source: &Source, chance: Option<u64>) -> String {
    let f = source.real.concrete();
    let mut set_up = String::new();
    let mut args = Vec::new();
    let mut tangents = Vec::new();
    let mut directions = oracle::directions(&source.args).into_iter();
    for arg in &source.args {
        let x = &arg.name;
        let literals: Vec<String> = arg.reals.iter().map(|x| format!("{x:?}_{f}")).collect();
        let data = format!(
            "[{}]",
            if arg.active() {
                literals.join(", ")
            } else {
                format!("{:?}", arg.ints).trim_matches(['[', ']']).to_string()
            }
        );
        let shape: Vec<String> = arg.shape().iter().map(ToString::to_string).collect();
        let dim = format!("ndarray::Dim([{}])", shape.join(", "));
        match arg.kind {
            Kind::Real => args.push(if arg.stands == Stands::Ref {
                format!("&({})", literals[0])
            } else {
                format!("({})", literals[0])
            }),
            Kind::Bool => args.push((arg.ints[0] == 1).to_string()),
            Kind::Int => args.push(arg.ints[0].to_string()),
            _ => {
                writeln!(
                    set_up,
                    "        let {x} = array({dim}, &{data}, {});",
                    match arg.active() {
                        _ if arg.stands.fixed() => "if mode == 6 { 0 } else { mode }",
                        true => "mode",
                        false => "if mode == 6 { 6 } else { 0 }",
                    }
                )
                .expect("a string grows");
                args.push(match arg.stands {
                    Stands::Value => format!("{x}.clone()"),
                    Stands::Ref => format!("&{x}"),
                    Stands::View => format!("view(&{x}, mode)"),
                    Stands::ArrayRef => format!("&view(&{x}, mode)"),
                    Stands::Slice | Stands::RefVec => format!("&{x}.iter().copied().collect::<Vec<_>>()"),
                    Stands::Vec => format!("{x}.iter().copied().collect::<Vec<_>>()"),
                    Stands::Static => fixed(arg, x),
                    Stands::RefStatic => format!("&{}", fixed(arg, x)),
                });
            }
        }
        if arg.active() {
            let direction = directions.next().unwrap_or_default();
            let literals: Vec<String> = direction.iter().map(|x| format!("{x:?}_{f}")).collect();
            tangents.push(match (&arg.kind, arg.stands) {
                (Kind::Real, _) => format!("({})", literals[0]),
                (_, Stands::Slice | Stands::Vec | Stands::RefVec) => {
                    format!("&array({dim}, &[{}], if mode == 6 {{ 6 }} else {{ 0 }}).to_vec()", literals.join(", "))
                }
                (_, Stands::Static | Stands::RefStatic) => {
                    format!("{{ let d = array({dim}, &[{}], 0); {} }}", literals.join(", "), fixed(arg, "d"))
                }
                _ => format!(
                    "&array({dim}, &[{}], if mode > 3 && mode < 6 {{ 0 }} else {{ mode }})",
                    literals.join(", ")
                ),
            });
        }
    }
    let args = args.join(", ");
    let active: Vec<String> = source.args.iter().filter(|a| a.active()).map(|a| a.name.clone()).collect();
    let parts = |prefix: &str| -> String {
        match active.len() {
            1 => format!("{prefix}.numbers()"),
            n => (0..n).map(|k| format!("{prefix}.{k}.numbers()")).collect::<Vec<_>>().join(", "),
        }
    };
    let gradient = if source.has("grad") {
        format!("let r = f_value_and_grad({args});\n                vec![r.0.numbers(), {}]", parts("r.1"))
    } else {
        // The weight of an element does not depend on the shape, so that a result of another size
        // has one.
        let cotangent = match source.owned {
            Owned::Vec => format!("&weights::<{f}>(value.len())"),
            Owned::Static => format!("weights::<{f}>(value.len()).try_into().unwrap()"),
            Owned::Any => {
                format!("&ndarray::Array::from_shape_vec(value.raw_dim(), weights::<{f}>(value.len())).unwrap()")
            }
        };
        format!(
            "let value = f({args});\n                let r = f_vjp({args}, {cotangent});\n                vec![r.0.numbers(), {}]",
            parts("r.1")
        )
    };
    let tangent = if source.has("jvp") {
        format!("let r = f_jvp({args}, {});\n                vec![r.0.numbers(), r.1.numbers()]", tangents.join(", "))
    } else {
        "panic!(\"not asked for\")".into()
    };
    format!(
        "pub mod p{k} {{\n    use crate::*;\n\n    // seed {}\n    {}\n\
         \x20   pub fn run(mode: usize, call: usize) -> Vec<Vec<f64>> {{\n{set_up}\
         \x20       match call {{\n            0 => vec![f({args}).numbers()],\n            1 => {{\n                {gradient}\n            }}\n            _ => {{\n                {tangent}\n            }}\n        }}\n    }}\n}}\n\n",
        source.seed,
        annotated(source, chance).replace('\n', "\n    ").trim_end(),
    )
}

/// Builds and runs the crate, and returns its output.
fn numbers(root: &Path) -> BTreeMap<(usize, usize), [Parts; 3]> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--offline", "--quiet"])
        .current_dir(root)
        // Another run has other programs.
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside/target"))
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "in {}:\n{}", root.display(), String::from_utf8_lossy(&output.stderr));
    let mut all: BTreeMap<(usize, usize), [Parts; 3]> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let (program, mode, call): (usize, usize, usize) =
            (next().parse().unwrap(), next().parse().unwrap(), next().parse().unwrap());
        let parts = next();
        let list = |part: &str| -> Vec<f64> {
            let bits = part.split(',').filter(|x| !x.is_empty());
            bits.map(|x| f64::from_bits(u64::from_str_radix(x, 16).unwrap())).collect()
        };
        let parts = (parts != "panics").then(|| parts.split(';').map(list).collect());
        all.entry((program, mode)).or_default()[call] = parts;
    }
    all
}

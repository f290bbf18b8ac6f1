//! Each pass separately, term in and term out. The files in `passes/` contain programs
//! (`common/terms.rs` describes the syntax) and the output of the pass that the file's name states.
//! `UPDATE_EXPECT=1` rewrites the outputs.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ad_core::ir::{Graph, Term, Type, print, valid};
use ad_core::passes::{Context, Pass, Roots};
use ad_core::pipeline;
use ad_oracle::interp::{Interp, Value};
use common::terms;

/// A part of a file: a description, the program, the result.
struct Case {
    name: String,
    input: String,
    expected: String,
}

const CASE: &str = "== ";
const RESULT: &str = "-- result";

fn cases(text: &str) -> Vec<Case> {
    let part = |part: &str| {
        let (name, rest) = part.split_once('\n').expect("a name and a program");
        let (input, expected) = rest.split_once(RESULT).unwrap_or((rest, ""));
        Case { name: name.into(), input: input.trim().into(), expected: expected.trim().into() }
    };
    format!("\n{text}").split(&format!("\n{CASE}")).skip(1).map(part).collect()
}

fn file(pass: &Pass) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes").join(format!("{}.txt", pass.name))
}

/// The roots after a pass. Their types do not change.
fn after(pass: &Pass, program: &mut terms::Program, name: &str) -> Roots {
    let mut cx = Context::of(program.roots.clone());
    cx.active.clone_from(&program.active);
    let old = program.roots.all();
    let new = (pass.run)(&mut program.g, &program.roots, &mut cx);
    let g = &program.g;
    assert_eq!(valid::validate(g, &new.all()), Ok(()), "{}: {name}", pass.name);
    let types = |roots: &[Term]| -> Vec<Type> { roots.iter().map(|&t| g.ty(t).clone()).collect() };
    assert_eq!(types(&new.all()[..old.len()]), types(&old), "{}: {name}", pass.name);
    new
}

/// The groups of roots, each as a separate program.
fn shown(g: &Graph, roots: &Roots, hints: &BTreeMap<Term, String>) -> String {
    let checks: Vec<Term> = roots.checks.iter().map(|c| c.ok).collect();
    let groups = [
        ("values", &roots.values),
        ("derivatives", &roots.derivatives),
        ("checks", &checks),
        ("counting runs", &roots.counting_runs),
    ];
    let groups = groups.into_iter().filter(|(_, terms)| !terms.is_empty());
    groups.map(|(name, terms)| format!("{name}:\n{}", print::print(g, terms, hints))).collect()
}

#[test]
fn passes_make_what_their_files_say() {
    let mut wrong = Vec::new();
    for pass in pipeline::passes() {
        let path = file(&pass);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let found = cases(&text);
        assert!(found.len() >= 2, "{}: at least two programs, one of which may be left alone", path.display());
        let mut new = String::new();
        for case in found {
            let mut program = terms::parse(&case.input);
            let roots = after(&pass, &mut program, &case.name);
            let made = shown(&program.g, &roots, &program.hints);
            let made = if roots == program.roots { "(unchanged)" } else { made.trim() };
            if made != case.expected {
                wrong.push(format!("{}: {}\nexpected:\n{}\nmade:\n{made}", pass.name, case.name, case.expected));
            }
            new.push_str(&format!("{CASE}{}\n{}\n{RESULT}\n{made}\n\n", case.name, case.input));
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, format!("{}\n", new.trim_end())).expect("the file");
        }
    }
    let refreshed = std::env::var_os("UPDATE_EXPECT").is_some();
    assert!(refreshed || wrong.is_empty(), "{} differ:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The result of a pass has the same values, at one point of small sizes.
#[test]
fn passes_keep_values() {
    for pass in pipeline::passes() {
        for case in cases(&std::fs::read_to_string(file(&pass)).unwrap_or_default()) {
            let mut program = terms::parse(&case.input);
            let old = program.roots.all();
            let new = after(&pass, &mut program, &case.name).all();
            let inputs = inputs(&program.g);
            let both: Vec<Term> = old.iter().chain(&new[..old.len()]).copied().collect();
            let values = Interp::new(&program.g, &inputs).eval_all(&both).expect("values");
            for (a, b) in values.iter().zip(&values[old.len()..]) {
                for (x, y) in a.values().iter().zip(b.values()) {
                    let close = (x - y).abs() <= 1e-12 * x.abs().max(1.0);
                    assert!(close, "{}: {}: {x} is now {y}", pass.name, case.name);
                }
            }
        }
    }
}

/// Reals, small integers and booleans. Each size that is not a literal is 3.
fn inputs(g: &Graph) -> Vec<Value> {
    use ad_core::ir::{Elem, IntTy};
    let input = |(k, ty): (usize, &Type)| {
        let (elem, shape) = ty.as_array().expect("inputs are arrays");
        let size = |&n: &Term| g.int_value(n).map_or(3, |n| usize::try_from(n).unwrap_or(3));
        let shape: Vec<usize> = shape.iter().map(size).collect();
        let len: usize = shape.iter().product();
        let at = |i: usize| ((i as f64 + 1.0) * 0.7 + k as f64).sin() + 0.2;
        match elem {
            Elem::Bool => Value::bools(&shape, &(0..len).map(|i| i % 2 == 0).collect::<Vec<_>>()),
            Elem::Int(_) => Value::ints(IntTy::Usize, &shape, &(0..len).map(|i| (i % 3) as i128).collect::<Vec<_>>()),
            Elem::Real(_) => Value::reals(&shape, &(0..len).map(at).collect::<Vec<_>>()),
        }
    };
    g.inputs().iter().enumerate().map(input).collect()
}

//! The front end: the meaning of functions (by the reference interpreter), their checks, and the
//! messages for errors.

#[path = "front/arrays.rs"]
mod arrays;
#[path = "front/borrowed.rs"]
mod borrowed;
#[path = "front/data.rs"]
mod data;
#[path = "front/decisions.rs"]
mod decisions;
#[path = "front/errors.rs"]
mod errors;
#[path = "front/flow.rs"]
mod flow;
#[path = "front/fuzz.rs"]
mod fuzz;
#[path = "front/integers.rs"]
mod integers;
#[path = "front/iteration_private.rs"]
mod iteration_private;
#[path = "front/iters.rs"]
mod iters;
#[path = "front/kinds.rs"]
mod kinds;
#[path = "front/lengths.rs"]
mod lengths;
#[path = "front/literals.rs"]
mod literals;
#[path = "front/loops.rs"]
mod loops;
#[path = "front/meaning.rs"]
mod meaning;
#[path = "front/native.rs"]
mod native;
#[path = "front/open.rs"]
mod open;
#[path = "front/patterns.rs"]
mod patterns;
#[path = "front/places.rs"]
mod places;
#[path = "front/recur.rs"]
mod recur;
#[path = "common/recur.rs"]
mod recurrences;
#[path = "front/shapes.rs"]
mod shapes;
#[path = "front/statics.rs"]
mod statics;
#[path = "front/unf.rs"]
mod unf;
#[path = "front/written.rs"]
mod written;

use ad_core::front;
use ad_core::ir::{Elem, IntTy, valid};
use ad_core::program::{Phase, Program};
use ad_oracle::interp::{Array, Data, Dual, Interp, Value};
use proc_macro2::TokenStream;

/// A function that has no errors.
#[track_caller]
fn program(attr: TokenStream, item: TokenStream) -> Program {
    match front::parse(attr, item) {
        Ok(program) => {
            let mut roots = program.result.terms();
            roots.extend(program.checks.iter().map(|c| c.ok));
            assert_eq!(valid::validate(&program.graph, &roots), Ok(()));
            program
        }
        Err(failure) => {
            let texts: Vec<String> = failure.diags.list().iter().map(ad_core::diag::Diagnostic::text).collect();
            panic!("{}", texts.join("\n"))
        }
    }
}

/// The errors of a function, one paragraph each.
#[track_caller]
fn errors(attr: TokenStream, item: TokenStream) -> String {
    match front::parse(attr, item) {
        Ok(_) => panic!("there is no error"),
        Err(failure) => {
            let text = |d: &ad_core::diag::Diagnostic| {
                let by = if d.message.report_left_to_rustc { "(left to rustc) " } else { "" };
                format!("{by}{}", d.text())
            };
            failure.diags.list().iter().map(text).collect::<Vec<String>>().join("\n\n")
        }
    }
}

/// A scalar.
fn scalar(x: f64) -> Value {
    array(&[], &[x])
}

/// A real array.
fn array(shape: &[usize], data: &[f64]) -> Value {
    let data = Data::Real(data.iter().map(|&x| Dual::constant(x)).collect());
    Value::Array(Array { elem: Elem::F64, shape: shape.to_vec(), data })
}

/// A vector.
fn vector(data: &[f64]) -> Value {
    array(&[data.len()], data)
}

/// A `usize` array or scalar.
fn sizes(shape: &[usize], data: &[usize]) -> Value {
    let data = Data::Int(data.iter().map(|&x| x as i128).collect());
    Value::Array(Array { elem: Elem::Int(IntTy::Usize), shape: shape.to_vec(), data })
}

/// The result's elements; fails if a check does not hold.
#[track_caller]
fn run(program: &Program, inputs: &[Value]) -> Vec<f64> {
    assert_eq!(failed(program, inputs), Vec::<String>::new());
    let result = program.result.terms()[0];
    match Interp::new(&program.graph, inputs).eval(result) {
        Ok(Value::Array(Array { data: Data::Real(xs), .. })) => xs.iter().map(|x| x.v).collect(),
        other => panic!("{other:?}"),
    }
}

/// The messages of the checks that do not hold.
#[track_caller]
fn failed(program: &Program, inputs: &[Value]) -> Vec<String> {
    let mut interp = Interp::new(&program.graph, inputs);
    let mut messages = Vec::new();
    for check in &program.checks {
        match interp.eval(check.ok) {
            Ok(Value::Array(Array { data: Data::Bool(ok), .. })) if ok == [true] => {}
            Ok(Value::Array(Array { data: Data::Bool(ok), .. })) if ok == [false] => {
                messages.push(check.message.clone())
            }
            other => panic!("{other:?}"),
        }
    }
    messages
}

/// The checks as lines.
fn checks(program: &Program) -> String {
    let line = |c: &ad_core::program::Check| {
        let phase = match c.phase {
            Phase::Entry => "entry",
            Phase::Reached => "reached",
            Phase::Absent => "absent",
        };
        let place = program.places.get(c.loc).map_or("", |p| &*p.text);
        let shown: Vec<&str> = c.shown.iter().map(|s| &*s.0).collect();
        match &c.format {
            Some(format) => format!("{phase}: {format}"),
            None => format!("{phase}: {} in `{place}` ({})", c.message, shown.join(", ")),
        }
    };
    program.checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

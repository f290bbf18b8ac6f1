//! The pattern of a sparse Jacobian has every element that may differ from zero: on random programs
//! and on hand-written loops, compared with the tangents of the reference interpreter.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed.

mod common;

use ad_core::descriptor::SPARSE;
use ad_core::ir::{IntTy, Node, Term};
use ad_core::program::{Container, Output, OutputTree, Program, Role};
use ad_core::{front, pipeline};
use ad_oracle::interp::{Data, Interp, Value};
use common::source::forms::forms;
use common::source::{Source, oracle, program_of_doubles};
use proc_macro2::TokenStream;
use quote::quote;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The number of Jacobians, and the number of those that have zeros.
#[derive(Default)]
struct Found {
    jacobians: usize,
    thin: usize,
}

#[test]
fn no_element_is_left_out() {
    let forms = forms();
    let first = number("AD_SEED", 0);
    let mut found = Found::default();
    for seed in first..first + number("AD_CASES", 40) {
        let source = program_of_doubles(&forms, seed);
        // A program that is refused has no Jacobian.
        let Ok(program) = oracle::parse(&source) else { continue };
        for (k, arg) in source.args.iter().enumerate() {
            if !arg.active() || arg.shape().len() != 1 {
                continue;
            }
            for t in vectors(&program) {
                let part = part_of(&source, k, t);
                let part = part.unwrap_or_else(|e| panic!("seed {seed}, argument {k}: {e}\n{}", source.text));
                found.jacobians += 1;
                found.thin += usize::from(part > 0.0 && part < 1.0);
            }
        }
    }
    println!("{} Jacobians, {} of them with zeros", found.jacobians, found.thin);
    assert!(found.jacobians > 200 && found.thin > 30, "{} Jacobians, {} with zeros", found.jacobians, found.thin);
}

/// The vectors of numbers that a program makes. Its result reads all of its parameters, but these
/// vectors read only some.
fn vectors(program: &Program) -> Vec<Term> {
    let g = &program.graph;
    let vector = |t: &Term| {
        let real = g.ty(*t).as_array().is_some_and(|(elem, shape)| elem.is_real() && shape.len() == 1);
        real && g.free(*t).is_empty() && !g.is_open(*t) && !matches!(g.node(*t), Node::Input(_))
    };
    g.reachable(&program.result.terms()).into_iter().filter(vector).collect()
}

/// The part of a Jacobian of a vector of a random program.
fn part_of(source: &Source, of: usize, t: Term) -> Result<f64, String> {
    let parse = || {
        let program = oracle::parse(source)?;
        let result =
            OutputTree::Leaf(Output { term: t, container: Container::NdArray, lens: Vec::new(), role: Role::Data });
        Ok(Program { result, ..program })
    };
    let program = parse()?;
    let mut inputs: Vec<Option<Value>> = vec![None; program.graph.inputs().len()];
    for (arg, param) in source.args.iter().zip(&program.params) {
        inputs[param.input.ok_or("an input")? as usize] = Some(oracle::value(arg, source.real));
    }
    let inputs = inputs.into_iter().collect::<Option<Vec<Value>>>().ok_or("an input is not a parameter")?;
    part(&parse, &inputs, of)
}

/// The part of the Jacobian that the pattern has; an error if there is an element outside.
fn part(parse: &dyn Fn() -> Result<Program, String>, inputs: &[Value], of: usize) -> Result<f64, String> {
    let program = parse()?;
    let input = program.params[of].input.ok_or("an input")? as usize;
    let columns = inputs[input].values().len();
    // Where the function itself fails there is no Jacobian.
    let mut own = Interp::new(&program.graph, inputs);
    for check in &program.checks {
        let ok = own.eval(check.ok)?;
        if !matches!(ok.as_array().map(|a| &a.data), Some(Data::Bool(ok)) if ok == &[true]) {
            return Ok(1.0);
        }
    }
    let root = program.result.terms()[0];
    let mut prepared = pipeline::prepare(Program { active: vec![of], ..parse()? }, None);
    let routine = pipeline::derive(&mut prepared, &SPARSE, None);
    let OutputTree::Tuple(parts) = &routine.result else { return Err("no pattern".into()) };
    let mut pattern = Interp::new(&prepared.program.graph, inputs);
    let mut ranges: Vec<Vec<i128>> = Vec::new();
    for t in parts[1].terms() {
        let Some(Data::Int(all)) = pattern.eval(t)?.as_array().map(|a| a.data.clone()) else {
            return Err("a range is of integers".into());
        };
        ranges.push(all);
    }
    let inside = |row: usize, column: usize| {
        let column = i128::try_from(column).unwrap_or(i128::MAX);
        ranges.chunks_exact(2).any(|r| r[0][row] <= column && column < r[1][row])
    };
    let (mut elements, mut all) = (0_u32, 0_u32);
    for column in 0..columns {
        let unit: Vec<f64> = (0..columns).map(|j| f64::from(u8::from(j == column))).collect();
        let mut moved = inputs.to_vec();
        moved[input] = moved[input].clone().with_tangent(&unit);
        let tangent = Interp::new(&program.graph, &moved).eval(root)?.tangents();
        for (row, x) in tangent.iter().enumerate() {
            all += 1;
            elements += u32::from(inside(row, column));
            if *x != 0.0 && !inside(row, column) {
                return Err(format!("row {row}, column {column} is {x}, and left out: {ranges:?}"));
            }
        }
    }
    Ok(if all == 0 { 1.0 } else { f64::from(elements) / f64::from(all) })
}

/// Loops that write one element twice, or none, or at an index that saturates at zero, each with
/// the maximum fraction of the Jacobian that the pattern may have.
fn loops() -> Vec<(TokenStream, f64)> {
    vec![
        (
            quote!(for i in 0..n {
                y[i.saturating_sub(1)] += x[i];
            }),
            1.0,
        ),
        (
            quote!(for i in 0..n {
                y[i / 2] += x[i];
            }),
            1.0,
        ),
        (
            quote!(for i in 0..n {
                y[i % 3] += x[i] * x[0];
            }),
            1.0,
        ),
        (
            quote!(for i in 0..n {
                y[i * (n - 5)] += x[i];
                if i > 0 {
                    break;
                }
            }),
            1.0,
        ),
        (
            quote!(for i in 0..n {
                y[i] += x[i];
                y[n - 1 - i] += x[i] * x[i];
            }),
            1.0,
        ),
        (
            quote!(for i in 0..n / 2 {
                y[2 * i] = x[i];
                y[2 * i + 1] = x[n - 1 - i];
            }),
            0.7,
        ),
        (
            quote!(for i in 0..n / 3 {
                for j in 0..3 {
                    y[3 * i + j] = x[3 * i] * x[i];
                }
            }),
            0.7,
        ),
        (
            quote!(for i in 0..2 {
                for j in 0..n / 2 {
                    y[i * (n / 2) + j] = x[j] * x[i * (n / 2)];
                }
            }),
            0.7,
        ),
        (
            quote!(for i in 0..2 {
                for j in 0..n / 2 + 1 {
                    y[i * (n / 2) + j.min(n / 2 - 1)] += x[j];
                }
            }),
            1.0,
        ),
        (
            quote!(for i in 0..2 {
                for j in 0..n / 2 + 1 {
                    if i + j < 5 {
                        y[i * (n / 2) + j] += x[j];
                    }
                }
            }),
            1.0,
        ),
        (quote!(for i in 1..n { y[i] = x[i] - x[i - 1]; } y[0] = y[2];), 0.5),
        (
            quote!(for i in 0..n {
                for k in i..n {
                    y[i] += x[k];
                }
            }),
            0.8,
        ),
        (
            quote!(for i in 0..n {
                for k in 0..i {
                    y[i] += x[k] * x[i];
                }
            }),
            1.0,
        ),
        (quote!(let mut s = 0.0; for i in 0..n { s += x[i]; y[i] = s; }), 1.0),
        (quote!(let mut last = x[0]; for i in 0..n { y[i] = x[i] - last; last = x[i]; }), 1.0),
        (
            quote!(for i in 0..n - 1 {
                y[i] = x[i];
                y[i + 1] = y[i] * x[i];
            }),
            1.0,
        ),
        (quote!(let mut k = 0; for i in 0..n { if x[i] > 0.0 { y[k] = x[i]; k += 1; } }), 1.0),
        (
            quote!(for i in 0..n {
                if x[i] > 0.0 {
                    y[i] = x[i];
                }
            }),
            0.3,
        ),
        (
            quote!(for i in 0..n {
                let j = if i < 2 { i + 1 } else { i };
                y[j] += x[i];
            }),
            1.0,
        ),
        (quote!(let mut i = 0; while i < n { y[i] = x[i] * x[0]; i += 2; }), 1.0),
        (
            quote!(for i in 0..n {
                let k = (i as i64 - 2).max(0) as usize;
                y[i] = x[k];
            }),
            1.0,
        ),
        (
            quote!(for (v, w) in y.iter_mut().zip(x) {
                *v = w.sin();
            }),
            0.3,
        ),
        (
            quote!(for (k, w) in x.chunks(2).enumerate() {
                y[2 * k] = w[0];
                y[2 * k + w.len() - 1] += w[0];
            }),
            1.0,
        ),
    ]
}

#[test]
fn loops_leave_nothing_out() {
    let mut wrong = Vec::new();
    for (body, most) in loops() {
        let item = quote!(fn f(x: &[f64], n: usize) -> Vec<f64> { let mut y = vec![0.0; n]; #body y });
        let parse = || {
            let failed = |e: front::Failure| format!("{:?}", e.diags.list());
            front::parse(quote!(jacobian(sparse), wrt(x)), item.clone()).map_err(failed)
        };
        for n in [6_u8, 8, 9] {
            let x = (0..n).map(|k| f64::from(k) * 0.7 - 1.3).collect::<Vec<f64>>();
            let inputs = [Value::reals(&[x.len()], &x), Value::ints(IntTy::Usize, &[], &[i128::from(n)])];
            match part(&parse, &inputs, 0) {
                Err(e) => wrong.push(format!("{n}: {e}: {body}")),
                Ok(part) if part > most => wrong.push(format!("{n}: a part of {part:.2}: {body}")),
                Ok(part) => println!("{part:.2} of {n} x {n}: {body}"),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

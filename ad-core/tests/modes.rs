//! The algorithms of differentiation, compared with each other: each of them differentiates the
//! annotated functions of the other tests, and the results agree. A mode refuses a construct that
//! it does not support by name, and the table [`TAKEN`] has the number of functions that it
//! supports. These numbers may not fall.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ad_core::descriptor::{GRAD, JVP, VJP};
use ad_core::front::{self, OuterDefinitions};
use ad_core::ir::{Elem, Graph, Node, RealTy, Term, Type};
use ad_core::mode::{Mode, Refusal};
use ad_core::pipeline::{self, Log};
use ad_core::program::{Check, Program};
use ad_oracle::interp::{Data, Interp, Value};
use common::modes::program;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Item;

/// The number of functions of the tests that each mode supports, of those that the default mode
/// supports. If a mode supports more, its number has to be raised.
const TAKEN: &[(&str, usize)] = &[("dual_arrays", 561), ("unf", 550), ("chad", 561)];

/// The annotated functions of a file, each with the attribute's arguments.
fn annotated(path: &Path, all: &mut Vec<(String, TokenStream, TokenStream)>) {
    let Ok(file) = syn::parse_file(&std::fs::read_to_string(path).expect("a file")) else { return };
    for item in file.items {
        let Item::Fn(mut f) = item else { continue };
        let Some(at) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
        let attr = match f.attrs.remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        all.push((format!("{}: {}", path.display(), f.sig.ident), attr, f.to_token_stream()));
    }
}

fn programs() -> Vec<(String, TokenStream, TokenStream)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut files: Vec<PathBuf> = ["", "cases"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    files.iter().for_each(|path| annotated(path, &mut all));
    all
}

/// Reals, small integers and booleans. Each size that is not a literal is 3.
fn inputs(g: &Graph) -> Option<Vec<Value>> {
    let input = |(k, ty): (usize, &Type)| {
        let (elem, shape) = ty.as_array()?;
        let size = |&n: &Term| g.int_value(n).map_or(3, |n| usize::try_from(n).unwrap_or(3));
        let shape: Vec<usize> = shape.iter().map(size).collect();
        let len: usize = shape.iter().product();
        let at = |i: usize| ((i as f64 + 1.0) * 0.7 + k as f64).sin() + 0.2;
        Some(match elem {
            Elem::Bool => Value::bools(&shape, &(0..len).map(|i| i % 2 == 0).collect::<Vec<_>>()),
            Elem::Int(ty) => Value::ints(ty, &shape, &(0..len).map(|i| (i % 3) as i128).collect::<Vec<_>>()),
            Elem::Real(ty) => {
                let xs = (0..len).map(|i| ad_oracle::interp::Dual::constant(at(i))).collect();
                Value::of(ty, &shape, xs)
            }
        })
    };
    g.inputs().iter().enumerate().map(input).collect()
}

fn holds(g: &Graph, inputs: &[Value], checks: &[Check]) -> Option<bool> {
    let mut interp = Interp::new(g, inputs);
    for check in checks {
        match interp.eval(check.ok).ok()? {
            Value::Array(array) => {
                let Data::Bool(ok) = &array.data else { return None };
                if ok != &[true] {
                    return Some(false);
                }
            }
            _ => return None,
        }
    }
    Some(true)
}

/// The derivatives that a mode makes of a function.
enum Made {
    /// It is refused by name.
    Refused,
    /// The function panics for these arguments, or has no real result.
    Nothing,
    /// The numbers of the value and of its derivatives.
    Numbers(Vec<Vec<f64>>),
}

fn made(attr: &TokenStream, item: &TokenStream, mode: Mode) -> Option<Made> {
    let program = program(attr, item, mode)?;
    let mut prepared = pipeline::prepare(program, None);
    if prepared.refused.is_some() {
        return Some(Made::Refused);
    }
    let roots = prepared.program.differentiated().terms();
    let g = &prepared.program.graph;
    let scalar = roots.len() == 1 && g.elem(roots[0]).is_real() && g.rank(roots[0]) == 0;
    let mut all = Vec::new();
    for which in if scalar { vec![&GRAD, &VJP, &JVP] } else { vec![&VJP, &JVP] } {
        let routine = pipeline::derive(&mut prepared, which, None);
        let g = &prepared.program.graph;
        let inputs = inputs(g)?;
        if holds(g, &inputs, &routine.checks) != Some(true) {
            return Some(Made::Nothing);
        }
        let values = Interp::new(g, &inputs).eval_all(&routine.result.terms());
        all.extend(values.ok()?.iter().map(|v| match v {
            Value::Array(array) if matches!(array.data, Data::Real(..)) => v.values(),
            _ => Vec::new(),
        }));
    }
    Some(Made::Numbers(all))
}

fn agree(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let close = |(x, y): (&f64, &f64)| {
        (x.is_nan() && y.is_nan()) || x == y || (x - y).abs() <= 1e-8 * x.abs().max(y.abs()).max(1.0)
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(close))
}

#[test]
fn the_modes_agree_on_the_functions_of_the_tests() {
    let programs = programs();
    let mut taken = vec![0; TAKEN.len()];
    let mut wrong = Vec::new();
    for (name, attr, item) in &programs {
        let one = |mode| catch_unwind(AssertUnwindSafe(|| made(attr, item, mode)));
        let Ok(Some(Made::Numbers(expected))) = one(Mode::default()) else { continue };
        taken[0] += 1;
        for (k, mode) in Mode::ALL.iter().copied().enumerate().skip(1) {
            match one(mode) {
                Ok(Some(Made::Numbers(found))) => {
                    taken[k] += 1;
                    if !agree(&expected, &found) {
                        wrong.push(format!("{}: {name}: {found:?} instead of {expected:?}", mode.name()));
                    }
                }
                Ok(Some(Made::Refused)) => println!("{} refuses {name}", mode.name()),
                Ok(_) => wrong.push(format!("{}: {name}: nothing to compare", mode.name())),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    wrong.push(format!("{}: {name}: panics: {text}", mode.name()));
                }
            }
        }
    }
    let counts: Vec<(&str, usize)> = Mode::ALL.iter().zip(&taken).map(|(mode, &n)| (mode.name(), n)).collect();
    println!("{counts:?} of {} functions", programs.len());
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    for (&(name, found), &(_, before)) in counts.iter().zip(TAKEN) {
        assert!(found >= before, "{name} takes {found} functions, and has taken {before}");
    }
}

/// The modes are not aliases: their derivatives differ before simplification, or the modes bring
/// the function into different forms.
#[test]
fn the_derivations_differ() {
    let item = quote! {
        fn f(x: &Array1<f64>, w: f64) -> f64 { build1(x.len(), |i| (x[i] * w).sin()).sum() }
    };
    let stages = |mode| {
        let mut log = Log::default();
        let program = program(&quote!(grad), &item, mode).expect("a program");
        let mut prepared = pipeline::prepare(program, Some(&mut log));
        let routine = pipeline::derive(&mut prepared, &GRAD, Some(&mut log));
        let builds = |t: &Term| matches!(prepared.program.graph.node(*t), Node::Build { .. });
        let left = prepared.program.graph.reachable(&routine.result.terms()).iter().any(builds);
        assert!(!left, "no build is left");
        let own = ["unary normal form", "pairs of values and linear functions"];
        let of = |(name, _): &&(String, String)| {
            name.contains("differentiation") || own.iter().any(|own| name.contains(own))
        };
        log.stages.iter().filter(of).map(|s| s.1.clone()).collect::<String>()
    };
    let all: Vec<String> = Mode::ALL.iter().copied().map(stages).collect();
    for (k, one) in all.iter().enumerate() {
        assert!(all[..k].iter().all(|other| one != other), "two derivations are equal:\n{one}");
    }
    let unf = Mode::ALL.iter().position(|&mode| mode == Mode::Unf).expect("the mode");
    assert!(all[unf].contains("build1"), "this mode differentiates builds:\n{}", all[unf]);
}

/// A chain of `n` lets, each of which reads a variable of the context and the let before it.
fn chain(n: usize) -> TokenStream {
    let names: Vec<syn::Ident> = (0..=n).map(|k| quote::format_ident!("y{k}")).collect();
    let lets = names.windows(2).enumerate().map(|(k, pair)| {
        let (before, after) = (&pair[0], &pair[1]);
        let input = quote::format_ident!("x{k}");
        quote!(let #after = (#before * #input).sin();)
    });
    let inputs = (0..n).map(|k| quote::format_ident!("x{k}"));
    let (first, last) = (&names[0], &names[n]);
    quote!(fn f(#(#inputs: f64),*) -> f64 { let #first = 1.5; #(#lets)* #last })
}

/// A variable must not cost the size of its context: the terms of a gradient grow as those of the
/// function do, although the context grows too.
#[test]
fn a_variable_does_not_cost_its_context() {
    for &mode in Mode::ALL {
        let terms = |n: usize| {
            let program = program(&quote!(grad), &chain(n), mode).expect("a program");
            let (mut g, roots) = (program.graph.clone(), program.result.terms());
            let wrt: Vec<u32> = (0..u32::try_from(n).expect("few inputs")).collect();
            let one = g.lit_real(RealTy::F64, 1.0);
            let (_, gradients) = ad_core::modes::reverse(mode, &mut g, &roots, &[one], &wrt);
            assert_eq!(gradients.len(), n);
            g.reachable(&gradients).len()
        };
        let (few, many) = (terms(20), terms(80));
        assert!(many <= 4 * few + 8, "{}: {few} terms for 20 lets, and {many} for 80", mode.name());
    }
}

/// Small programs for mistakes that random programs (`source`) have shown.
#[test]
fn the_modes_agree_on_programs_that_one_of_them_had_wrong() {
    let found = [
        // A loop whose step has nested builds, over an array that is made by a build: when the
        // array replaced a parameter, a bound variable was captured.
        quote! {
            fn f(x: &Array1<f64>, ids: &[usize]) -> f64 {
                let mut s = 0.3;
                for k in 0..ids.len() {
                    let points = Array1::linspace(x.fold(-1.9, |a, &b| a + b), 1.5, 3);
                    let Some(&p) = points.get(k + 1) else { continue };
                    s = (s + Array2::from_diag_elem(x.len(), p).mean().expect("not empty")).sin();
                }
                s
            }
        },
        // A loop with a derivative has counted the number of steps. The loop was replaced only in
        // the sizes of some terms.
        quote! {
            fn f(x: &Array1<f64>, n: usize) -> f64 {
                let mut queue = std::collections::VecDeque::new();
                for v in x.iter() {
                    queue.push_back(v.tanh());
                    if n > 1 {
                        queue.push_front(*v);
                    }
                }
                let mut s = x[0];
                while let Some(v) = queue.pop_front() {
                    s = s.tanh();
                    if let Some(w) = queue.pop_back() {
                        s += v * w;
                    }
                }
                s
            }
        },
        // A size that is computed with a build: this size is part of the type of the cotangent.
        quote! {
            fn f(x: &Array1<f64>, w: &Array1<f64>) -> Array1<f64> {
                let some = if w.is_nan().iter().any(|&b| b) { Array1::from_elem(2, x[0]) } else { x.clone() };
                some.mapv(|e| e * e * w[1])
            }
        },
    ];
    for item in found {
        let all: Vec<Vec<Vec<f64>>> = Mode::ALL
            .iter()
            .copied()
            .map(|mode| match made(&quote!(vjp, jvp), &item, mode) {
                Some(Made::Numbers(numbers)) => numbers,
                _ => panic!("{} makes no numbers of {item}", mode.name()),
            })
            .collect();
        assert!(all.iter().all(|numbers| agree(&all[0], numbers)), "{all:?} of {item}");
    }
}

/// The record of a call is not an array of numbers. A gradient that took it for a constant was
/// zero.
#[test]
fn calls_that_return_arrays_are_refused_by_name() {
    let item = quote! {
        fn f(x: &[f64]) -> f64 {
            fn sums(x: &[f64]) -> Vec<f64> {
                let n = x.len();
                if n < 2 {
                    return x.to_vec();
                }
                let (a, b) = (sums(&x[..n / 2]), sums(&x[n / 2..]));
                let last = a[a.len() - 1];
                (0..n).map(|k| if k < n / 2 { a[k] } else { last + b[k - n / 2] * 0.5 }).collect()
            }
            sums(x).iter().map(|s| s * s).sum()
        }
    };
    let annotated = |mode| {
        let Ok(read) = front::read(quote!(grad), item.clone(), &OuterDefinitions::default()) else {
            panic!("a program")
        };
        Program { mode, ..read.program }
    };
    for mode in Mode::ALL.iter().copied().filter(|&mode| mode != Mode::default()) {
        let prepared = pipeline::prepare(annotated(mode), None);
        assert!(matches!(prepared.refused, Some((_, Refusal::Call))), "{}: {:?}", mode.name(), prepared.refused);
    }
}

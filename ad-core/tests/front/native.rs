//! Each function is written once and evaluated twice: by Rust, and by the reference interpreter
//! after the front end, the transform and the differentiation. The values agree, the gradient
//! agrees with central differences of the Rust function, and a check fails exactly where Rust
//! panics.

use super::*;
use ad_core::descriptor::GRAD;
use ad_core::pipeline::{derive, prepare};
use proc_macro2::{Ident, Span};
use quote::quote;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An argument.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    /// `real`
    R(f64),
    /// `slice`
    V(Vec<f64>),
    /// `int`
    N(usize),
}

impl Arg {
    pub(super) fn real(&self) -> f64 {
        match self {
            Arg::R(x) => *x,
            _ => panic!("a real number"),
        }
    }

    pub(super) fn slice(&self) -> &[f64] {
        match self {
            Arg::V(x) => x,
            _ => panic!("a slice"),
        }
    }

    pub(super) fn int(&self) -> usize {
        match self {
            Arg::N(n) => *n,
            _ => panic!("an integer"),
        }
    }

    fn value(&self) -> Value {
        match self {
            Arg::R(x) => scalar(*x),
            Arg::V(x) => vector(x),
            Arg::N(n) => sizes(&[], &[*n]),
        }
    }
}

/// The type of a parameter.
macro_rules! ty {
    (real) => {
        f64
    };
    (slice) => {
        &[f64]
    };
    (int) => {
        usize
    };
}

/// A function and lists of arguments to run it on.
macro_rules! agrees {
    (fn $f:ident($($p:ident: $k:ident),*) { $($body:tt)* } $([$($arg:expr),* $(,)?])*) => {{
        #[allow(unused, clippy::all, reason = "the function is what a test says")]
        fn $f($($p: ty!($k)),*) -> f64 { $($body)* }
        #[allow(unused_mut, unused_variables, reason = "a function without arguments")]
        let native = |args: &[native::Arg]| { let mut args = args.iter(); $f($(args.next().unwrap().$k()),*) };
        let params = [$((stringify!($p), stringify!($k))),*];
        native::check(&params, &quote!($($body)*), &native, &[$(vec![$($arg),*]),*]);
    }};
}
pub(super) use {agrees, ty};

fn quietly(f: &dyn Fn(&[Arg]) -> f64, args: &[Arg]) -> Option<f64> {
    catch_unwind(AssertUnwindSafe(|| f(args))).ok()
}

#[track_caller]
pub(super) fn check(params: &[(&str, &str)], body: &TokenStream, f: &dyn Fn(&[Arg]) -> f64, runs: &[Vec<Arg>]) {
    let params = params.iter().map(|(name, kind)| {
        let name = Ident::new(name, Span::call_site());
        match *kind {
            "real" => quote!(#name: f64),
            "slice" => quote!(#name: &[f64]),
            _ => quote!(#name: usize),
        }
    });
    let item = quote!(fn f(#(#params),*) -> f64 { #body });
    let source = program(quote!(), item.clone());
    let mut bulk = prepare(program(quote!(), item.clone()), None);
    let routine = derive(&mut bulk, &GRAD, None);
    let graph = &bulk.program.graph;
    for args in runs {
        let inputs: Vec<Value> = args.iter().map(Arg::value).collect();
        let what = format!("{item}\non {args:?}");
        let Some(expected) = quietly(f, args) else {
            assert!(!failed(&source, &inputs).is_empty(), "Rust panics, and no check fails: {what}");
            continue;
        };
        assert_eq!(failed(&source, &inputs), Vec::<String>::new(), "{what}");
        let near = |a: f64, b: f64, tolerance: f64| {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs().max(1.0)
        };
        let found = run(&source, &inputs)[0];
        assert!(near(found, expected, 1e-12), "{found} is not {expected}: {what}");
        let roots = routine.result.terms();
        let mut interp = Interp::new(graph, &inputs);
        let values: Vec<Vec<f64>> = roots.iter().map(|&t| interp.eval(t).map(|v| v.values()).unwrap()).collect();
        assert!(
            near(values[0][0], expected, 1e-12),
            "the derivative's value {} is not {expected}: {what}",
            values[0][0]
        );
        for check in &routine.checks {
            let ok = interp.eval(check.ok).unwrap();
            let ok = matches!(ok, Value::Array(Array { data: Data::Bool(b), .. }) if b == [true]);
            assert!(ok, "{}: {what}", check.message);
        }
        let mut gradients = values[1..].iter();
        for (k, arg) in args.iter().enumerate() {
            let moved = |i: usize, h: f64| {
                let mut args = args.clone();
                match &mut args[k] {
                    Arg::R(x) => *x += h,
                    Arg::V(x) => x[i] += h,
                    Arg::N(_) => {}
                }
                quietly(f, &args).unwrap()
            };
            let n = match arg {
                Arg::R(_) => 1,
                Arg::V(x) => x.len(),
                Arg::N(_) => continue,
            };
            let gradient = gradients.next().unwrap();
            assert_eq!(gradient.len(), n, "{what}");
            for (i, &g) in gradient.iter().enumerate() {
                let h = 1e-5;
                let slope = (moved(i, h) - moved(i, -h)) / (2.0 * h);
                assert!(near(g, slope, 1e-6), "by argument {k}[{i}]: {g} is not {slope}: {what}");
            }
        }
    }
}

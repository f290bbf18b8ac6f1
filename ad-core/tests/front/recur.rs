//! Recurrences: values against loops in Rust, gradients against differences and closed forms, checks inside of steps.

use ad_core::pipeline::{self, Derivative};

use super::*;
use crate::recurrences::programs;
use quote::quote;

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(Array { data: Data::Real(xs), .. }) => xs.iter().map(|x| x.v).collect(),
        other => panic!("{other:?}"),
    }
}

/// Value and gradients by the pipeline's terms, gradients behind each other.
#[track_caller]
fn value_and_grad(item: TokenStream, inputs: &[Value]) -> (Vec<f64>, Vec<f64>) {
    let mut prepared = pipeline::prepare(program(quote!(grad), item), None);
    let routine = pipeline::derive(&mut prepared, Derivative::ValueAndGrad, None);
    let g = &prepared.program.graph;
    let found = Interp::new(g, inputs).eval_all(&routine.result.terms()).expect("values");
    (numbers(&found[0]), found[1..].iter().flat_map(numbers).collect())
}

/// Central differences of the function's own value.
fn differences(item: TokenStream, inputs: &[Value]) -> Vec<f64> {
    let program = program(quote!(grad), item);
    let mut all = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        let Value::Array(Array { data: Data::Real(xs), .. }) = input else { continue };
        for k in 0..xs.len() {
            let at = |h: f64| {
                let mut inputs = inputs.to_vec();
                if let Value::Array(Array { data: Data::Real(xs), .. }) = &mut inputs[n] {
                    xs[k].v += h;
                }
                run(&program, &inputs)[0]
            };
            let h = 1e-5;
            all.push((at(h) - at(-h)) / (2.0 * h));
        }
    }
    all
}

#[track_caller]
fn near(name: &str, a: &[f64], b: &[f64], tol: f64) {
    let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let ok = a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tol * scale);
    assert!(ok, "{name}: {a:?} is not {b:?}");
}

#[test]
fn gradients_are_those_of_differences() {
    for p in programs() {
        println!("{}", p.name);
        let (value, gradient) = value_and_grad(p.item.clone(), &p.inputs);
        near(p.name, &value, &run(&program(quote!(grad), p.item.clone()), &p.inputs), 1e-12);
        // At the masked capture differences would leave the arm.
        if p.name != "masked_capture" {
            near(p.name, &gradient, &differences(p.item, &p.inputs), 1e-6);
        }
        assert!(gradient.iter().all(|x| x.is_finite()), "{}: {gradient:?}", p.name);
    }
}

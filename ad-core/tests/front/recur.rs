//! Recurrences: values are compared with loops in Rust, gradients with differences and closed
//! forms; and checks inside of steps.

use ad_core::descriptor::GRAD;
use ad_core::ir::Term;
use ad_core::pipeline;
use ad_core::prim::{Prim, Reduce};

use super::*;
use crate::recurrences::programs;
use quote::quote;

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(Array { data: Data::Real(xs), .. }) => xs.iter().map(|x| x.v).collect(),
        other => panic!("{other:?}"),
    }
}

/// The value and the gradients of the pipeline's terms, one gradient after another.
#[track_caller]
pub(crate) fn value_and_grad(item: TokenStream, inputs: &[Value]) -> (Vec<f64>, Vec<f64>) {
    let mut prepared = pipeline::prepare(program(quote!(grad), item), None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let g = &prepared.program.graph;
    let found = Interp::new(g, inputs).eval_all(&routine.result.terms()).expect("values");
    (numbers(&found[0]), found[1..].iter().flat_map(numbers).collect())
}

/// Central differences of the function's own value.
pub(crate) fn differences(item: TokenStream, inputs: &[Value]) -> Vec<f64> {
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
pub(crate) fn near(name: &str, a: &[f64], b: &[f64], tol: f64) {
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
        if p.name == "masked_capture" {
            // Differences would change the branch. In this branch the value is the product, and `d`
            // does not occur.
            let x = p.inputs[0].values();
            let others = |k: usize| x.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, v)| v).product();
            let expected: Vec<f64> = (0..x.len()).map(others).chain([0.0]).collect();
            near(p.name, &gradient, &expected, 1e-15);
        } else {
            near(p.name, &gradient, &differences(p.item, &p.inputs), 1e-6);
        }
        assert!(gradient.iter().all(|x| x.is_finite()), "{}: {gradient:?}", p.name);
    }
}

/// Whether the function's value contains a loop with carried state.
fn loops(item: TokenStream) -> bool {
    let prepared = pipeline::prepare(program(quote!(grad), item), None);
    let g = &prepared.program.graph;
    g.reachable(&prepared.program.result.terms()).iter().any(|&t| matches!(g.node(t), ad_core::ir::Node::Scan(_)))
}

/// Whether no loop remains, except for a sum that preserves the order of its steps.
fn in_order(item: TokenStream) -> bool {
    let prepared = pipeline::prepare(program(quote!(grad), item.clone()), None);
    let g = &prepared.program.graph;
    let ordered = |t: Term| matches!(g.node(t), ad_core::ir::Node::Prim(Prim::Reduce(Reduce::FromZero, _), _));
    !loops(item) && g.reachable(&prepared.program.result.terms()).into_iter().any(ordered)
}

#[test]
fn an_accumulator_that_is_only_added_to_is_a_sum() {
    assert!(!loops(quote! { fn f(x: &Array1<f64>) -> f64 { fold(0.0, x, |a, e| a + e * e) } }));
    assert!(!loops(
        quote! { fn f(x: &Array2<f64>) -> f64 { fold(x.row(0).to_owned(), x, |a, r| a + &r * 2.0).sum() } }
    ));
    assert!(loops(quote! { fn f(x: &Array1<f64>) -> f64 { fold(0.0, x, |a, e| a + e * a) } }));
    // A check depends on the product.
    assert!(loops(quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { fold(0, 0..n, |a, i| a + i) as f64 * x.sum() } }));
    // A decision depends on the sum, so it is a sum in the order of the steps.
    assert!(in_order(
        quote! { fn f(x: &Array1<f64>) -> f64 { build1(x.len(), |i| { let s = fold(0.0, x, |a, e| a + e * x[i]); if s > 1.0 { 1.0 } else { s } }).sum() } }
    ));
    assert!(in_order(
        quote! { fn f(x: &Array1<f64>) -> f64 { let all = build1(x.len(), |i| fold(0.0, x, |a, e| a + e * x[i])); if all.sum() > 1.0 { 1.0 } else { x[0] } } }
    ));
    assert!(in_order(
        quote! { fn f(x: &Array1<f64>, y: f64) -> f64 { let s = fold(0.0, x, |a, e| a + e * e); if s > 1.0 { y } else { s } } }
    ));
}

#[test]
fn derivatives_of_reduce() {
    // The derivative of a product is the products from the left and from the right; that of a sum
    // is ones; that of a dot product is the other vector.
    let x = [2.0, -1.5, 3.0, 0.5, 0.0];
    let (_, gradient) =
        value_and_grad(quote! { fn f(x: &Array1<f64>) -> f64 { reduce(1.0, x, |a, b| a * b) } }, &[vector(&x)]);
    let left = |k: usize| x[..k].iter().product::<f64>();
    let right = |k: usize| x[k + 1..].iter().product::<f64>();
    near("product", &gradient, &(0..x.len()).map(|k| left(k) * right(k)).collect::<Vec<_>>(), 1e-15);
    let (_, gradient) =
        value_and_grad(quote! { fn f(x: &Array1<f64>) -> f64 { reduce(0.0, x, |a, b| a + b) } }, &[vector(&x)]);
    near("sum", &gradient, &[1.0; 5], 0.0);
    let dot =
        quote! { fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 { x.iter().zip(y).fold(0.0, |s, (a, b)| s + a * b) } };
    let (_, gradient) = value_and_grad(dot, &[vector(&x), vector(&[1.0, 2.0, 3.0, 4.0, 5.0])]);
    near("dot", &gradient, &[&[1.0, 2.0, 3.0, 4.0, 5.0][..], &x].concat(), 0.0);
}

#[test]
fn checks_of_steps() {
    let at = |n: usize| [vector(&[1.0, 2.0, 3.0]), sizes(&[], &[n])];
    let walk = program(
        quote!(grad),
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { fold((0.0, 0_usize), 0..n, |(s, k), _| (s + x[k], k * 2 + 1)).0 } },
    );
    assert_eq!(failed(&walk, &at(2)), Vec::<String>::new());
    assert_eq!(failed(&walk, &at(3)), ["index out of range"].map(String::from));
    // The step is not reached.
    assert_eq!(failed(&walk, &at(0)), Vec::<String>::new());
    let guarded = program(
        quote!(grad),
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { fold((0.0, 0_usize), 0..n, |(s, k), _| (if k < 3 { s + x[k] } else { s }, k + 2)).0 } },
    );
    assert_eq!(failed(&guarded, &at(9)), Vec::<String>::new());
    let factorial = program(
        quote!(grad),
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { x.sum() * (1..n + 1).product::<usize>() as f64 } },
    );
    assert_eq!(failed(&factorial, &at(20)), Vec::<String>::new());
    assert_eq!(failed(&factorial, &at(21)), ["integer overflow in a multiplication"].map(String::from));
    // A condition that all steps share is checked on entry.
    let range =
        program(quote!(grad), quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { fold(1.0, 0..n, |s, i| s * x[i]) } });
    assert!(checks(&range).starts_with("entry: index out of range"), "{}", checks(&range));
    assert_eq!(range.checks.len(), 1);
}

/// The numbers of operations of the function and of its gradient (with the value), counted by the
/// oracle.
fn work(item: TokenStream, inputs: &[Value]) -> (u64, u64) {
    let mut prepared = pipeline::prepare(program(quote!(grad), item), None);
    let count = |g: &ad_core::ir::Graph, roots: &[ad_core::ir::Term]| {
        let mut interp = Interp::new(g, inputs);
        interp.eval_all(roots).expect("values");
        interp.work().total()
    };
    let function = count(&prepared.program.graph, &prepared.program.result.terms());
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    (function, count(&prepared.program.graph, &routine.result.terms()))
}

#[test]
fn a_gradient_is_a_few_times_the_function() {
    let items = [
        quote! { fn horner(x: &Array1<f64>) -> f64 { fold(0.0, x, |acc, a| acc * 0.5 + a) } },
        quote! { fn sines(x: &Array1<f64>) -> f64 { fold(0.1, x, |acc, a| (acc * a).sin()) } },
        quote! { fn product(x: &Array1<f64>) -> f64 { reduce(1.0, x, |a, b| a * b) } },
        quote! { fn added(x: &Array1<f64>) -> f64 { fold(1.0, x, |a, e| a + e * e) } },
        quote! { fn scanned(x: &Array1<f64>) -> f64 { let s = scan(0.5, x, |a, e| a * e + 1.0); (&s * &s).sum() } },
        quote! { fn behind(x: &Array1<f64>) -> f64 { scanr(0.5, x, |a, e| (a + e).tanh()).sum() } },
        quote! { fn pair(x: &Array1<f64>) -> f64 { let (m, s) = fold((0.0, 1.0), x, |(m, s), e| (m + e * s, s * 0.9 + m.sin())); m * s } },
        quote! { fn neighbours(x: &Array1<f64>) -> f64 { fold(1.0, 0..x.len() - 1, |a, i| a * x[i] + x[i + 1] * x[i + 1]) } },
        quote! { fn carried(x: &Array1<f64>) -> f64 { fold(x.clone(), 0..5, |y, _| y.mapv(f64::sin) + &y * x).sum() } },
    ];
    for n in [10, 100, 1000] {
        let x: Vec<f64> = (0..n).map(|k| 0.9 + 0.2 * (f64::from(k) * 0.7).sin()).collect();
        for item in &items {
            let (function, gradient) = work(item.clone(), &[vector(&x)]);
            println!("{n}: {gradient} of {function}");
            assert!(gradient <= 5 * function, "{n}: {gradient} is more than five times {function}: {item}");
        }
    }
}

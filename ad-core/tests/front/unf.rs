//! Figs. 5, 13 and 16 of UNF (the list of sources is in `docs/internals/src/introduction.md`) state
//! the derivatives of `reduce`, the scans and `foldl` one by one. Here the general mechanism gives
//! the same derivatives.

use ad_core::descriptor::GRAD;
use ad_core::ir::{Graph, Node, Term};
use ad_core::pipeline;
use ad_core::prim::{Binary, Prim, Unary};
use ad_oracle::plan::plan_of;

use super::*;
use crate::recur::{differences, near, value_and_grad};
use quote::quote;

/// The terms of a gradient, without those of the value.
fn gradient(item: TokenStream) -> (Graph, Vec<Term>) {
    let mut prepared = pipeline::prepare(program(quote!(grad), item), None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let terms = routine.result.terms()[1..].to_vec();
    (prepared.program.graph, terms)
}

/// The numbers of forward loops, backward loops and divisions, also inside of steps.
fn loops(g: &Graph, roots: &[Term]) -> (usize, usize, usize) {
    let (mut forwards, mut back, mut divisions) = (0, 0, 0);
    for t in g.reachable(roots) {
        match g.node(t) {
            Node::Scan(scan) => {
                *(if scan.reverse { &mut back } else { &mut forwards }) += 1;
                let (f, b, d) = loops(g, &scan.body.results);
                (forwards, back, divisions) = (forwards + f, back + b, divisions + d);
            }
            Node::Prim(Prim::Binary(Binary::Div) | Prim::Unary(Unary::Recip), _) => divisions += 1,
            _ => {}
        }
    }
    (forwards, back, divisions)
}

fn count(g: &Graph, roots: &[Term], inputs: &[Value]) -> u64 {
    let mut interp = Interp::new(g, inputs);
    interp.eval_all(roots).expect("values");
    interp.work().total()
}

/// The gradient of a product is the products from the left times those from the right. There is no
/// division, so it is correct if elements are zero.
#[test]
fn the_gradient_of_a_product_is_two_scans() {
    for item in [
        quote! { fn f(x: &Array1<f64>) -> f64 { reduce(1.0, x, |a, b| a * b) } },
        quote! { fn f(x: &Array1<f64>) -> f64 { fold(1.0, x, |a, b| a * b) } },
        quote! { fn f(x: &Array1<f64>) -> f64 { x.product() } },
        quote! { fn f(x: &Array1<f64>) -> f64 { let mut p = 1.0; for v in x { p *= v; } p } },
    ] {
        let (g, terms) = gradient(item.clone());
        assert_eq!(loops(&g, &terms), (1, 1, 0), "{item}");
        let work = |n: usize| {
            let x: Vec<f64> = (0..n).map(|k| 0.9 + 0.2 * (k as f64 * 0.7).sin()).collect();
            count(&g, &terms, &[vector(&x)]) as f64
        };
        // The number of operations for one more element is the same at every size.
        let (ten, hundred, thousand) = (work(10), work(100), work(1000));
        let (first, second) = ((hundred - ten) / 90.0, (thousand - hundred) / 900.0);
        assert!((first - second).abs() < 1e-9 && second <= 12.0, "{ten}, {hundred}, {thousand}: {item}");
        for x in [&[2.0, -1.5, 3.0, 0.5][..], &[2.0, 0.0, 3.0], &[0.0, 2.0, 0.0], &[0.0; 4], &[5.0], &[]] {
            let others = |k: usize| x[..k].iter().product::<f64>() * x[k + 1..].iter().product::<f64>();
            let expected: Vec<f64> = (0..x.len()).map(others).collect();
            near("product", &value_and_grad(item.clone(), &[vector(x)]).1, &expected, 1e-15);
        }
    }
}

/// The gradient of a sum is ones, and nothing is computed.
#[test]
fn the_gradient_of_a_sum_is_ones() {
    for item in [
        quote! { fn f(x: &Array1<f64>) -> f64 { x.sum() } },
        quote! { fn f(x: &Array1<f64>) -> f64 { reduce(0.0, x, |a, b| a + b) } },
        quote! { fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for v in x { s += v; } s } },
        quote! { fn f(x: &Array1<f64>) -> f64 { let mut s = 0.0; for i in 0..x.len() { s += x[i]; } s } },
    ] {
        let (g, terms) = gradient(item.clone());
        let Node::Prim(Prim::Replicate(_), args) = g.node(terms[0]) else { panic!("{item}: {:?}", g.node(terms[0])) };
        assert_eq!(g.real_value(args[0]), Some(1.0), "{item}");
        // The generated code visits the elements once, for the value.
        let mut prepared = pipeline::prepare(program(quote!(grad), item.clone()), None);
        let routine = pipeline::derive(&mut prepared, &GRAD, None);
        let mut g = std::mem::take(&mut prepared.program.graph);
        let plan = plan_of(&mut g, &prepared.program, &routine).expect("it can be planned");
        assert_eq!((plan.made, plan.copied, plan.nests.len()), (1, 0, 1), "{item}: {plan:#?}");
    }
}

/// The gradient of a dot product is the other vector: the input itself. If lengths may differ, it
/// is the part that the shorter one reaches.
#[test]
fn the_gradient_of_a_dot_product_is_the_other_operand() {
    for item in [
        quote! { fn f(a: &Array1<f64>, b: &Array1<f64>) -> f64 { a.dot(b) } },
        quote! { fn f(a: &Array1<f64>, b: &Array1<f64>) -> f64 { (a * b).sum() } },
    ] {
        let (g, terms) = gradient(item.clone());
        let input = |t: Term| if let Node::Input(k) = g.node(t) { Some(*k) } else { None };
        assert_eq!((input(terms[0]), input(terms[1])), (Some(1), Some(0)), "{item}");
    }
    for item in [
        quote! { fn f(a: &Array1<f64>, b: &Array1<f64>) -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() } },
        quote! { fn f(a: &Array1<f64>, b: &Array1<f64>) -> f64 { let mut s = 0.0; for (x, y) in a.iter().zip(b) { s += x * y; } s } },
    ] {
        let (g, terms) = gradient(item.clone());
        // Parts of the inputs, without a product or a sum.
        let moves = |&t: &Term| {
            g.ty(t).as_array().is_none_or(|(_, shape)| shape.is_empty())
                || matches!(g.node(t), Node::Input(_) | Node::Prim(Prim::Slice(_) | Prim::Pad(_), _))
        };
        assert!(g.reachable(&terms).iter().all(moves), "{item}");
        let found = value_and_grad(item, &[vector(&[2.0, 3.0, 5.0]), vector(&[7.0, 11.0])]);
        assert_eq!(found, (vec![47.0], vec![7.0, 11.0, 0.0, 2.0, 3.0]));
    }
}

/// Scans and folds with any step: each loop has one backward loop, with a few operations for each
/// operation of the loop.
#[test]
fn gradients_of_scans_are_loops_in_the_other_direction() {
    for (item, back) in [
        (
            quote! { fn f(x: &Array1<f64>) -> f64 { let s = scanl(0.5, x, |a, e| (a * e).sin()); (&s * &s).sum() } },
            true,
        ),
        (quote! { fn f(x: &Array1<f64>) -> f64 { let s = scan(0.5, x, |a, e| (a * e).sin()); (&s * &s).sum() } }, true),
        (
            quote! { fn f(x: &Array1<f64>) -> f64 { let s = scanr(0.5, x, |a, e| (a * e).sin()); (&s * &s).sum() } },
            false,
        ),
        (quote! { fn f(x: &Array1<f64>) -> f64 { fold(0.5, x, |a, e| (a * e).sin() + e) } }, true),
    ] {
        let (g, terms) = gradient(item.clone());
        assert_eq!(loops(&g, &terms), (1, 1, 0), "{item}");
        let last = terms.iter().flat_map(|&t| g.reachable(&[t])).filter_map(|t| match g.node(t) {
            Node::Scan(scan) => Some((t, scan.reverse)),
            _ => None,
        });
        // Operands are older than the terms that use them, so the loop of the cotangents is the
        // youngest.
        assert_eq!(last.max_by_key(|&(t, _)| t).map(|(_, reverse)| reverse), Some(back), "{item}");
        let x = [vector(&[0.5, -1.5, 2.0, 0.75])];
        near("scan", &value_and_grad(item.clone(), &x).1, &differences(item, &x), 1e-6);
    }
}

//! The residuals of derivatives, and when they allocate memory, by the plan. The workloads' bench
//! measures the amount at run time.

use ad_core::descriptor::{Descriptor, GRAD, INTO, VJP};
use ad_core::pipeline;
use ad_oracle::plan::{PlanSummary, plan_of};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The plan of this derivative of a function.
fn plan(which: &Descriptor, attr: TokenStream, item: TokenStream) -> PlanSummary {
    let Ok(program) = ad_core::front::parse(attr, item) else { panic!("the function has errors") };
    let mut prepared = pipeline::prepare(program, None);
    let routine = pipeline::derive(&mut prepared, which, None);
    let mut g = std::mem::take(&mut prepared.program.graph);
    plan_of(&mut g, &prepared.program, &routine).expect("it can be planned")
}

/// The plan of the value and gradient of a function.
fn gradient(attr: TokenStream, item: TokenStream) -> PlanSummary {
    plan(&GRAD, attr, item)
}

/// Loop programs, with `while` and nested loops: the buffers of loops are allocated once.
#[test]
fn no_step_allocates() {
    let mut count = 0;
    let suite = ["gmm", "kmeans", "llsq", "lse", "lstm", "ode"].map(|name| format!("gradbench/src/programs/{name}.rs"));
    for path in suite.into_iter().chain(["tests/programs/loops.rs".to_string()]) {
        let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        let file = syn::parse_file(&std::fs::read_to_string(path).expect("the programs")).expect("it parses");
        for item in file.items {
            let syn::Item::Fn(mut f) = item else { continue };
            let Some(at) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
            let attr = match f.attrs.remove(at).meta {
                syn::Meta::List(list) => list.tokens,
                _ => TokenStream::new(),
            };
            let vector =
                attr.to_string().contains("vjp") || f.sig.output.to_token_stream().to_string().contains("Array");
            let plan = plan(if vector { &VJP } else { &GRAD }, attr, f.to_token_stream());
            assert!(plan.made > 0 && plan.made_in_steps == 0, "{}: {plan:#?}", f.sig.ident);
            count += 1;
        }
    }
    assert!(count >= 9, "{count} programs");
}

/// The products of a chain use the same memory alternately, however long the chain is.
#[test]
fn kernels_write_into_dead_arrays() {
    let made = |products: usize| {
        let times = vec![quote!(.dot(b)); products];
        let item = quote! {
            fn f(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
                let x = a #(#times)*;
                (&x * &x).sum()
            }
        };
        gradient(quote!(wrt(a)), item).made
    };
    assert_eq!(made(4), made(7));
}

/// A value that depends on no active argument is recomputed where it is read. Only active values
/// are saved for the backward pass.
#[test]
fn inactive_values_are_not_saved() {
    let item = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            let mut h = 1.0;
            for i in 0..x.len() {
                h = h * y[i] * y[i] + x[i];
            }
            h
        }
    };
    // The gradient is the only array: the backward pass needs `y` only.
    let x = gradient(quote!(wrt(x)), item.clone());
    assert_eq!((x.made, x.copied), (1, 0), "{x:#?}");
    // The derivative with respect to `y` needs each `h` as well.
    let y = gradient(quote!(wrt(y)), item);
    assert!(y.made > x.made && y.copied == 0, "{y:#?}");
}

/// An expensive branch is computed only where it is taken, in the derivative as well.
#[test]
fn expensive_arms_are_lazy() {
    let plan = gradient(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len(), |i| if x[i] > 0.5 { x[i].sin() } else { x[i] * 2.0 }).sum()
            }
        },
    );
    for function in ["sin", "cos"] {
        let lazy: usize = plan.nests.iter().map(|n| n.lazy_functions.get(function).copied().unwrap_or_default()).sum();
        assert!(lazy > 0 && lazy == plan.function(function), "{function} outside of its arm: {plan:#?}");
    }
    assert!(plan.nests.iter().all(|n| n.by_the_vector.is_empty() && n.plain_functions.is_empty()), "{plan:#?}");
}

/// The derivative uses the values of `exp`, `tanh` and `sqrt` that the function has computed.
#[test]
fn transcendental_results_are_kept() {
    let step = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            let mut h = 0.5;
            for i in 0..x.len() {
                h = (h + x[i]).tanh();
            }
            h
        }
    };
    let plan = gradient(quote!(), step);
    assert_eq!((plan.scalar("tanh"), plan.function("tanh")), (1, 0), "{plan:#?}");
    let roots = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            x.mapv(|v| (v * v + 1.0).sqrt()).sum()
        }
    };
    let plan = gradient(quote!(), roots);
    let plain: usize = plan.nests.iter().map(|n| n.plain_functions.get("sqrt").copied().unwrap_or_default()).sum();
    // Sixteen items at a time, and the remainder.
    assert_eq!(plan.function("sqrt") + plain, 2, "{plan:#?}");
    let weighted = quote! {
        fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                let e = x[i].exp();
                s += w[i] * e / (1.0 + e);
            }
            s
        }
    };
    let plan = gradient(quote!(), weighted);
    assert_eq!((plan.function("exp"), plan.scalar("exp")), (2, 0), "{plan:#?}");
}

/// The cotangent of an array of which an extremum or an element is read is zero elsewhere, and
/// remains so in the backward pass: there is no loop over the other elements.
#[test]
fn one_hot_cotangents_keep_their_form() {
    let largest = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            maximum(&x.mapv(|v| v.sin() * 2.0))
        }
    };
    let plan = gradient(quote!(), largest);
    // One pass over the elements finds the largest; one number is differentiated.
    let loops = plan.nests.iter().filter(|n| n.loops > 0).count();
    assert_eq!((loops, plan.scalar("cos"), plan.function("cos")), (1, 1, 0), "{plan:#?}");
    // A row of the matrix for `a`, and a row of it for `x`.
    let product = quote! {
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
            minimum(&a.dot(x))
        }
    };
    let plan = gradient(quote!(), product);
    assert_eq!(plan.calls("ger") + plan.calls("gemm"), 0, "{plan:#?}");
}

/// A gradient that is a copy of an argument is computed while the product reads that argument, and
/// not in a separate pass. A destination that one kernel computes is not filled before.
#[test]
fn destinations_are_written_once() {
    let item = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            x.dot(y)
        }
    };
    let both = plan(&INTO, quote!(into), item);
    assert_eq!((both.calls("dot_with_copies"), both.calls("copied"), both.calls("overwrite")), (1, 2, 0), "{both:#?}");
    let item = quote! {
        fn f(x: &Array1<f64>, y: &[f64]) -> f64 {
            x.mapv(f64::sin).sum() + y[1] * y[2]
        }
    };
    let parts = plan(&INTO, quote!(into), item);
    // One kernel replaces `x`. Two elements of `y` are written after it is filled.
    assert_eq!((parts.calls("replaced"), parts.calls("replaced_slice")), (1, 0), "{parts:#?}");
}

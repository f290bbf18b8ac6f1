//! The output of `cargo expand` for six functions. It is reviewed, and refreshed with
//! `UPDATE_EXPECT=1`. The output parses, and is deterministic. The proofs of assumed names, which
//! follow the routines, have a separate snapshot.

use expect_test::{ExpectFile, expect_file};
use proc_macro2::TokenStream;
use quote::quote;

/// The generated code for a function: its derivatives, followed by the proofs of the assumed names.
struct Written {
    routines: String,
    proofs: String,
}

fn expansion(attr: TokenStream, item: TokenStream) -> Written {
    let tokens = ad_core::expand(attr, item);
    let mut file: syn::File = syn::parse2(tokens).expect("the expansion parses");
    let is_proof = |item: &syn::Item| matches!(item, syn::Item::Const(c) if c.ident == "_");
    let (proofs, routines) = std::mem::take(&mut file.items).into_iter().partition(is_proof);
    let text = |items| prettyplease::unparse(&syn::File { items, ..file.clone() });
    Written { routines: text(routines), proofs: text(proofs) }
}

#[allow(clippy::needless_pass_by_value, reason = "reads well at the call")]
fn check(attr: TokenStream, item: TokenStream, expected: ExpectFile) {
    let text = expansion(attr.clone(), item.clone()).routines;
    assert_eq!(text, expansion(attr, item).routines, "the same input gives the same output");
    expected.assert_eq(&text);
}

#[test]
fn scalar() {
    check(
        quote!(),
        quote! {
            fn wave(x: f64, y: f64) -> f64 {
                let r = (x * x + y * y).sqrt();
                if r > 1.0 { r.sin() / r } else { 1.0 - r * r / 6.0 }
            }
        },
        expect_file!["snapshots/scalar.rs"],
    );
}

#[test]
fn rosenbrock() {
    check(
        quote!(),
        quote! {
            fn rosenbrock(x: &Array1<f64>) -> f64 {
                let terms = build1(x.len() - 1, |i| {
                    let d = x[i + 1] - x[i] * x[i];
                    let e = 1.0 - x[i];
                    100.0 * d * d + e * e
                });
                terms.sum()
            }
        },
        expect_file!["snapshots/rosenbrock.rs"],
    );
}

#[test]
fn logistic() {
    check(
        quote!(wrt(w)),
        quote! {
            pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
                let z = x.dot(w);
                let losses = build1(z.len(), |i| softplus(-y[i] * z[i]));
                losses.sum()
            }
        },
        expect_file!["snapshots/logistic.rs"],
    );
}

#[test]
fn perceptron() {
    check(
        quote!(wrt(w1, b1, w2, b2)),
        quote! {
            fn loss(
                w1: &Array2<f64>, b1: &Array1<f64>, w2: &Array2<f64>, b2: &Array1<f64>,
                images: &Array2<f64>, labels: &Array1<usize>,
            ) -> f64 {
                let hidden = (images.dot(w1) + b1).mapv(f64::tanh);
                let scores = hidden.dot(w2) + b2;
                let losses = build1(labels.len(), |i| {
                    let row = scores.row(i);
                    logsumexp(&row) - row[labels[i]]
                });
                losses.mean().unwrap()
            }
        },
        expect_file!["snapshots/perceptron.rs"],
    );
}

#[test]
fn vjp_of_an_array() {
    check(
        quote!(vjp, jvp),
        quote! {
            fn smooth(x: &Array1<f64>, idx: &Array1<usize>) -> Array1<f64> {
                build1(idx.len(), |i| if i > 0 { 0.5 * (x[idx[i]] + x[idx[i - 1]]) } else { x[idx[i]] })
            }
        },
        expect_file!["snapshots/smooth.rs"],
    );
}

/// A function that calls a function of the DSL and a method. Both are proved to be those that the
/// macro assumes.
fn histogram_energy() -> TokenStream {
    quote! {
        fn histogram_energy(weights: &[f32], bins: &[usize], n: usize) -> f32 {
            let w = build1(weights.len(), |i| weights[i] * weights[i]);
            let h = scatter([n], &w, |[i]| [bins[i]]);
            h.mapv(|v| v * v).sum()
        }
    }
}

#[test]
fn scatter_in_single_precision() {
    check(quote!(), histogram_energy(), expect_file!["snapshots/histogram.rs"]);
}

#[test]
fn proofs_of_assumed_names() {
    expect_file!["snapshots/proofs.rs"].assert_eq(&expansion(quote!(), histogram_energy()).proofs);
}

//! Functions that are compiled on their own: the generated code for them, and its length.

use ad_core::front;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// The number of tokens.
fn tokens(stream: TokenStream) -> usize {
    let count = |token| if let TokenTree::Group(group) = token { 1 + tokens(group.stream()) } else { 1 };
    stream.into_iter().map(count).sum()
}

/// A function that calls a chain of helpers, each of which calls the next one twice.
fn chain(length: usize) -> TokenStream {
    let helpers = (0..length).map(|k| {
        let next = k + 1;
        format!("fn h{k}(x: f64) -> f64 {{ if x > 5.0 {{ h{next}(x - 1.0) }} else {{ h{next}(x * 0.5).sin() }} }}")
    });
    let helpers: String = helpers.collect();
    let text = format!("fn f(x: f64) -> f64 {{ {helpers} fn h{length}(x: f64) -> f64 {{ x * x }} h0(x) }}");
    text.parse().expect("the text parses")
}

fn written(length: usize) -> usize {
    let expansion = ad_core::expansion(quote!(grad, jvp), chain(length));
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    tokens(expansion.tokens)
}

#[test]
fn a_chain_of_helpers_costs_as_many_bodies() {
    let program = front::parse(quote!(), chain(30)).expect("it is right");
    let functions = program.functions.len();
    assert!((20..=30).contains(&functions), "{functions} functions are compiled on their own");
    let largest = program.functions.iter().map(|f| f.graph.len()).max().unwrap_or(0);
    assert!(largest < 2000, "a function of {largest} terms");
    let [short, middle, long] = [20, 30, 40].map(written);
    assert!(long - middle <= (middle - short) * 11 / 10, "{short}, {middle} and {long} tokens");
}

#[test]
fn a_short_chain_is_expanded() {
    let program = front::parse(quote!(), chain(4)).expect("it is right");
    assert!(program.functions.is_empty(), "small helpers are lowered where they are called");
}

#[test]
fn a_function_that_calls_itself_is_lowered_once() {
    let source = quote! {
        fn f(x: f64, n: usize) -> f64 {
            fn power(x: f64, n: usize) -> f64 {
                if n == 0 { 1.0 } else { x * power(x, n - 1) }
            }
            power(x, n) + power(x * 2.0, n + 1) * power(1.0, 3)
        }
    };
    let program = front::parse(quote!(), source).expect("it is right");
    assert_eq!(program.functions.len(), 1);
}

#[test]
fn functions_that_call_each_other_are_each_lowered_once() {
    let source = quote! {
        fn f(x: f64, n: u32) -> f64 {
            fn even(x: f64, n: u32) -> f64 {
                if n == 0 { x } else { odd(x, n - 1).sin() }
            }
            fn odd(x: f64, n: u32) -> f64 {
                if n == 0 { -x } else { even(x * x, n - 1) }
            }
            even(x, n) * odd(x, n)
        }
    };
    let program = front::parse(quote!(), source).expect("it is right");
    assert_eq!(program.functions.len(), 2);
}

/// The numbers that are sorted by merging.
fn sorted_by_merging() -> TokenStream {
    quote! {
        fn f(x: &[f64]) -> f64 {
            fn sort(x: &[f64]) -> Vec<f64> {
                if x.len() <= 1 {
                    return x.to_vec();
                }
                let (a, b) = (sort(&x[..x.len() / 2]), sort(&x[x.len() / 2..]));
                let mut out = Vec::new();
                let (mut i, mut j) = (0, 0);
                while i < a.len() && j < b.len() {
                    if a[i] <= b[j] {
                        out.push(a[i]);
                        i += 1;
                    } else {
                        out.push(b[j] * 0.5);
                        j += 1;
                    }
                }
                out.extend_from_slice(&a[i..]);
                out.extend_from_slice(&b[j..]);
                out
            }
            sort(x).iter().enumerate().map(|(k, v)| v * v * k as f64).sum()
        }
    }
}

/// The loop of `sort` is run to count its steps. That run reads the results of the forward halves:
/// if it called the function itself, there would be a routine for its value.
#[test]
fn a_counting_run_makes_no_calls_of_its_own() {
    let expansion = ad_core::expansion(quote!(grad), sorted_by_merging());
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    let text = expansion.tokens.to_string();
    assert!(text.contains("called_0_forward") && !text.contains("called_0_value"), "a call of the function itself");
}

/// Functions that only move and add numbers, by name.
fn moving(source: TokenStream) -> Vec<String> {
    let program = front::parse(quote!(), source).expect("it is right");
    let functions: Vec<_> = program.functions.iter().map(|f| (&f.graph, f.result.terms())).collect();
    let found = ad_core::analysis::moving::moving(&functions);
    found.into_iter().map(|k| program.functions[k as usize].name.to_string()).collect()
}

#[test]
fn functions_that_only_move_and_add_numbers() {
    assert_eq!(moving(sorted_by_merging()), ["sort"]);
    // Each calls the next one. Only the last two multiply by nothing that may be infinite.
    let names = moving(quote! {
        fn f(x: &[f64], n: usize) -> f64 {
            fn product(x: &[f64], n: usize) -> f64 {
                if n == 0 { sums(x, 3)[0] } else { x[n] * product(x, n - 1) }
            }
            fn around(x: &[f64], n: usize) -> f64 {
                if n == 0 { product(x, 2) } else { around(x, n - 1) + x[n] }
            }
            fn sums(x: &[f64], n: usize) -> Vec<f64> {
                if n == 0 { return x.to_vec(); }
                let y = sums(x, n - 1);
                (0..y.len()).map(|k| if y[k] * y[k] > 1.0 { 2.0 * y[k] - x[k] } else { x[k] + alternating(y[k], n) }).collect()
            }
            fn alternating(v: f64, n: usize) -> f64 {
                if n == 0 { v } else { -alternating(v, n - 1) }
            }
            around(x, n)
        }
    });
    assert_eq!(names, ["sums", "alternating"]);
}

/// The signature is read again for each call, and its errors are shown once.
#[test]
fn a_rule_with_a_wrong_signature_is_one_error() {
    let module = quote! {
        mod inside {
            #[custom_vjp(half_back)]
            fn half(x: [[[f64]]]) -> f64 { 1.0 }
            #[differentiate]
            fn through(x: f64) -> f64 { half(x) }
            #[differentiate]
            fn twice(x: f64) -> f64 { half(x) + half(x) }
        }
    };
    let expansion = ad_core::travel::differentiate(quote!(), module, "a place");
    assert!(!expansion.internal, "{:?}", expansion.errors);
    let shown = expansion.tokens.to_string().matches("compile_error").count();
    assert_eq!(shown, 1, "{}", expansion.tokens);
}

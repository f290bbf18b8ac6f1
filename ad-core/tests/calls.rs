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

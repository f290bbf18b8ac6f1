//! The cost of the macro at compile time, for a straight-line function with more and more
//! statements.
//!
//! ```text
//! cargo bench -p ad-core --bench expansion
//! ```
//!
//! This bench does not use criterion: one expansion of the longest function takes as long as
//! thousands of calls of a kernel, and the question is whether the columns per statement stay
//! constant. The macro is run as a build runs it, unoptimised but for `ad-core` (`profile.dev` in
//! Cargo.toml), by `cargo test -p ad-core --bench expansion`; `cargo bench` optimises all of it.

use std::time::{Duration, Instant};

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

const LENGTHS: [usize; 4] = [250, 500, 1000, 2000];
const REPEATS: usize = 5;
/// The longest function, unoptimised.
const LIMIT: Duration = Duration::from_secs(2);
/// A function that is eight times as long may cost this many times more than eight times as much.
/// Noise, caches and the depth of B-trees are in the time; these do not affect the size.
const TIME_SLACK: f64 = 2.0;
const SIZE_SLACK: f64 = 1.1;

fn main() {
    println!(
        "{:>10} {:>12} {:>16} {:>12} {:>18}",
        "statements", "time", "us a statement", "tokens", "tokens a statement"
    );
    let costs = LENGTHS.map(|length| {
        let (time, tokens) = cost(length);
        println!(
            "{length:>10} {:>9.1} ms {:>16.2} {tokens:>12} {:>18.1}",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() * 1e6 / length as f64,
            tokens as f64 / length as f64
        );
        (time, tokens)
    });

    let [(short_time, short_tokens), .., (long_time, long_tokens)] = costs;
    let lengths = (LENGTHS[LENGTHS.len() - 1] / LENGTHS[0]) as f64;
    let time = long_time.as_secs_f64() / short_time.as_secs_f64() / lengths;
    let size = long_tokens as f64 / short_tokens as f64 / lengths;
    println!(
        "a statement of the longest function costs {time:.2} times the time of one of the shortest, {size:.2} times the code"
    );
    assert!(time <= TIME_SLACK, "the time of expansion is not linear");
    assert!(size <= SIZE_SLACK, "the emitted code is not linear");
    assert!(long_time <= LIMIT, "expansion takes {long_time:?}");
}

/// The shortest of some expansions, and how many tokens it emits.
fn cost(length: usize) -> (Duration, usize) {
    let function = straight_line(length);
    let mut shortest = Duration::MAX;
    let mut tokens = 0;
    for _ in 0..REPEATS {
        let item = function.clone();
        let start = Instant::now();
        let emitted = ad_core::expand(TokenStream::new(), item);
        shortest = shortest.min(start.elapsed());
        assert!(!emitted.to_string().contains("compile_error"), "refused: {emitted}");
        tokens = count(emitted);
    }
    (shortest, tokens)
}

/// Tokens, those in groups included. Not bytes: names grow with their numbers.
fn count(tokens: TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 2 + count(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(of).sum()
}

/// `length` statements, each using earlier ones: sums, products, a sine, now and then a
/// conditional.
fn straight_line(length: usize) -> TokenStream {
    let mut names = vec![format_ident!("x"), format_ident!("y")];
    let mut statements = Vec::new();
    for k in 0..length {
        let name = format_ident!("t{k}");
        let near = &names[names.len() - 1];
        // an old value as well, so that the number of live values grows with the function
        let far = &names[names.len() / 2];
        let value = match k % 4 {
            0 => quote!(#near * 0.5 + #far),
            1 => quote!((#near - #far) * 0.25),
            2 => quote!((#near * #far).sin()),
            _ => quote!(if #near > #far { #near } else { #far * 0.5 }),
        };
        statements.push(quote!(let #name = #value;));
        names.push(name);
    }
    let last = &names[names.len() - 1];
    quote! {
        fn straight_line(x: f64, y: f64) -> f64 {
            #(#statements)*
            #last
        }
    }
}

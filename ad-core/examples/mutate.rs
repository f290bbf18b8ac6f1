//! Mutates this repository's annotated functions and feeds them to the compiler.
//!
//! `cargo run -p ad-core --example mutate -- --count 1000000 --seed 7` runs many, and prints each
//! failure, reduced; `--only 4711` shows one input and its outcome; `--from 4000` starts there.

#[path = "../tests/common/mutate.rs"]
mod mutate;
#[path = "../tests/common/torture.rs"]
mod torture;

use std::time::Instant;

use mutate::Annotated;
use proc_macro2::{Group, TokenStream, TokenTree};

#[global_allocator]
static MEMORY: torture::Counting = torture::Counting;

fn main() {
    let (mut seed, mut count, mut from, mut only) = (1, 100_000, 0, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().and_then(|v| v.parse::<u64>().ok());
        match (&*arg, value) {
            ("--seed", Some(v)) => seed = v,
            ("--count", Some(v)) => count = v,
            ("--from", Some(v)) => from = v,
            ("--only", Some(v)) => only = Some(v),
            _ => {
                eprintln!("options: --seed S, --count N, --from K, --only K");
                std::process::exit(2);
            }
        }
    }
    let corpus = mutate::Corpus::collect(&torture::root());
    if let Some(number) = only {
        let input = corpus.input(seed, number);
        println!("#[differentiate({})]\n{}\n", input.attr, input.item);
        show(&input);
        if let Err(what) = torture::judge(&input.attr, &input.item) {
            println!("FAILED: {what}\n");
            let small = reduce(input, &what);
            println!("reduced:\n#[differentiate({})]\n{}", small.attr, small.item);
        }
        return;
    }
    let start = Instant::now();
    let (tally, failures) = torture::run(seed, from..from + count);
    for (number, what) in &failures {
        let small = reduce(corpus.input(seed, *number), what);
        println!("--seed {seed} --only {number}: {what}\n#[differentiate({})]\n{}\n", small.attr, small.item);
    }
    println!("{tally:?}, {} failures, {:.1} s", failures.len(), start.elapsed().as_secs_f64());
    std::process::exit(i32::from(!failures.is_empty()));
}

fn show(input: &Annotated) {
    let expansion = ad_core::expansion(input.attr.clone(), input.item.clone());
    for error in &expansion.errors {
        println!("{}\n", error.text());
    }
    if expansion.errors.is_empty() {
        println!("accepted\n");
    }
}

/// The first line of an error: the rest names parts of the input.
fn first(what: &str) -> &str {
    what.lines().next().unwrap_or("")
}

/// Reduces the input as long as it fails in the same way.
fn reduce(mut input: Annotated, what: &str) -> Annotated {
    let fails = |f: &Annotated| torture::judge(&f.attr, &f.item).is_err_and(|now| first(&now) == first(what));
    std::panic::set_hook(Box::new(|_| {}));
    let bare = Annotated { attr: TokenStream::new(), item: input.item.clone() };
    if fails(&bare) {
        input = bare;
    }
    for _ in 0..20 {
        let mut smaller = None;
        for item in without_a_part(&input.item) {
            let candidate = Annotated { attr: input.attr.clone(), item };
            if fails(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(smaller) => input = smaller,
            None => break,
        }
    }
    let _ = std::panic::take_hook();
    input
}

/// The stream without a run of tokens, at every place and depth; longer runs first.
fn without_a_part(stream: &TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    let mut all = Vec::new();
    for run in [64, 16, 8, 4, 3, 2, 1] {
        for k in 0..tokens.len().saturating_sub(run - 1) {
            all.push(tokens[..k].iter().chain(&tokens[k + run..]).cloned().collect());
        }
    }
    for (k, token) in tokens.iter().enumerate() {
        let TokenTree::Group(g) = token else { continue };
        for inner in without_a_part(&g.stream()) {
            let mut tokens = tokens.clone();
            tokens[k] = Group::new(g.delimiter(), inner).into();
            all.push(tokens.into_iter().collect());
        }
    }
    all
}

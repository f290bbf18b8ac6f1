//! What the gradients of random programs cost beside the functions, counted as in `ratios.rs`: the
//! worst ten are printed with their seeds and sources.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed: `AD_CASES=10000 cargo test
//! -p ad-core --test worst -- --nocapture`.

mod common;
#[path = "ratios/count.rs"]
mod count;
#[path = "ratios/law.rs"]
#[allow(dead_code, reason = "the other test asks for more")]
mod law;
#[path = "ratios/numbers.rs"]
mod numbers;

use std::fmt::Write as _;

use common::source::forms::{Form, forms};
use common::source::{Arg, Kind, Source, Stands, program_of_doubles};
use law::{Measured, breach, measured, shown};

/// How many times as large as they are generated the arrays are.
const SCALES: [usize; 3] = [4, 8, 16];
/// Programs in a crate.
const TOGETHER: usize = 400;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// A program that has been counted.
struct Counted {
    source: Source,
    all: Vec<Measured>,
}

#[test]
fn random_gradients_cost_a_fixed_number_of_times_the_function() {
    let forms = forms();
    let (cases, mut seed) = (number("AD_CASES", 40) as usize, number("AD_SEED", 0));
    let mut found: Vec<Counted> = Vec::new();
    let mut wrong = Vec::new();
    let mut tried = 0;
    while found.len() < cases {
        let (sources, next) = sources(&forms, seed, TOGETHER.min(2 * (cases - found.len())));
        seed = next;
        tried += sources.len();
        found.extend(counted(sources, &mut wrong));
        println!("{} of {tried} programs", found.len());
    }
    found.sort_by(|a, b| cost(&b.all).total_cmp(&cost(&a.all)));
    for c in found.iter().take(10) {
        println!("seed {}: {:.2} of what it may: {}\n{}", c.source.seed, cost(&c.all), shown(&c.all), c.source.text);
    }
    // What grows from almost nothing is no miss: arrays of several ranks grow at different rates.
    let miss = |c: &Counted| {
        let breach = breach(&c.all, 1.0).filter(|_| cost(&c.all) > 0.5)?;
        Some(format!("seed {}: {breach}\n{}", c.source.seed, c.source.text))
    };
    let misses: Vec<String> = found.iter().filter_map(miss).collect();
    println!("{} of {} programs miss the law", misses.len(), found.len());
    wrong.extend(misses);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the gradient costs at the largest size, in parts of what it may.
fn cost(all: &[Measured]) -> f64 {
    all.last().map_or(0.0, Measured::part)
}

/// So many programs whose result is a number, and the seed after them.
fn sources(forms: &[Form], mut seed: u64, count: usize) -> (Vec<Source>, u64) {
    let mut sources = Vec::new();
    while sources.len() < count {
        let source = program_of_doubles(forms, seed);
        seed += 1;
        // Their sizes do not change.
        if source.result.is_empty() && !source.args.iter().any(|a| a.stands.fixed()) {
            sources.push(source);
        }
    }
    (sources, seed)
}

/// The programs that run at more than one size, with what they cost.
fn counted(sources: Vec<Source>, wrong: &mut Vec<String>) -> Vec<Counted> {
    let folder = format!("worst_{}", number("AD_SEED", 0));
    let (mut lib, mut main) = (String::from(count::PRELUDE), format!("#![allow(warnings)]\nuse {folder}::*;\n"));
    main.push_str("fn main() {\nstd::panic::set_hook(Box::new(|_| {}));\n");
    let tokens = |text: &str| text.parse::<proc_macro2::TokenStream>().expect("a program is tokens");
    for source in &sources {
        let name = format!("p{}", source.seed);
        let text = source.text.replacen("fn f(", &format!("pub fn {name}("), 1);
        let expansion = ad_core::expansion(tokens(&source.options), tokens(&text));
        assert!(expansion.errors.is_empty(), "{}: {:?}", source.seed, expansion.errors);
        lib.push_str(&count::instrumented(expansion.tokens, &name, count::GRADIENT));
        let args: Vec<String> = source.args.iter().map(argument).collect();
        let args = args.join(", ");
        writeln!(main, "growing(\"{name}\", &{SCALES:?}, |n| {name}({args}), |n| {name}_value_and_grad({args}).0);")
            .expect("a string grows");
    }
    main.push_str("}\n");
    let out = count::run(&count::write(&folder, &lib, &main), "worst-target");
    // Arms that are both computed have one shape in what the macro accepts; sizes that the text has
    // do not grow with the others.
    let accepted = |line: &&str| !line.contains("shapes differ");
    for line in out.lines().filter_map(|l| l.strip_prefix("wrong: ")).filter(accepted) {
        let source = sources.iter().find(|s| line.starts_with(&format!("p{} ", s.seed)));
        wrong.push(format!("{line}: {}", source.map_or("", |s| &s.text)));
    }
    let of = |source: Source| {
        let mut all = measured(&out, &format!("p{}", source.seed));
        for m in &mut all {
            let scale = m.size as usize;
            let elements = |a: &Arg| a.shape().iter().map(|n| n * scale).product::<usize>();
            m.size = source.args.iter().filter(|a| a.active()).map(elements).sum::<usize>() as f64;
        }
        Counted { source, all }
    };
    sources.into_iter().map(of).filter(|c| c.all.len() > 1).collect()
}

/// What is given for a parameter at the scale `n`.
fn argument(arg: &Arg) -> String {
    let by = if matches!(arg.kind, Kind::Array(_)) { " * n" } else { "" };
    let shape: Vec<String> = arg.shape().iter().map(|size| format!("{size}{by}")).collect();
    let shape = shape.join(", ");
    let data = match arg.kind {
        Kind::Real => return format!("{}{:?}", if arg.stands == Stands::Ref { "&" } else { "" }, arg.reals[0]),
        Kind::Int => return arg.ints[0].to_string(),
        Kind::Bool => return (arg.ints[0] == 1).to_string(),
        Kind::Array(_) => format!("numbers([{shape}].iter().product(), {})", arg.reals.len()),
        _ => format!("vec!{:?}", arg.ints),
    };
    let array = format!("ndarray::Array::from_shape_vec(ndarray::Dim([{shape}]), {data}).unwrap()");
    match arg.stands {
        Stands::Slice | Stands::RefVec => format!("&{data}"),
        Stands::Vec => data,
        Stands::View => format!("{array}.view()"),
        Stands::Ref | Stands::ArrayRef => format!("&{array}"),
        _ => array,
    }
}

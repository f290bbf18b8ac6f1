//! The cost of gradients of random programs relative to the functions, counted as in `ratios.rs`:
//! the worst ten are printed with their seeds and sources.
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

use std::collections::BTreeSet;
use std::fmt::Write as _;

use common::source::forms::{Form, forms};
use common::source::{Arg, Kind, Source, Stands, program_of_doubles};
use law::{Measured, breach, measured, shown};

/// The factors by which the generated arrays are enlarged.
const SCALES: [usize; 3] = [4, 8, 16];
/// The number of programs in a crate.
const PROGRAMS_PER_CRATE: usize = 200;

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
        let (sources, next) = sources(&forms, seed, PROGRAMS_PER_CRATE.min(2 * (cases - found.len())));
        seed = next;
        tried += sources.len();
        found.extend(counted(sources, &mut wrong));
        println!("{} of {tried} programs", found.len());
    }
    found.sort_by(|a, b| cost(&b.all).total_cmp(&cost(&a.all)));
    for c in found.iter().take(10) {
        println!("seed {}: {:.2} of what it may: {}\n{}", c.source.seed, cost(&c.all), shown(&c.all), c.source.text);
    }
    // A ratio that grows from almost nothing is not a miss: arrays of several ranks grow at
    // different rates.
    let miss = |c: &Counted| {
        let breach = breach(&c.all, 1.0).filter(|_| cost(&c.all) > 0.5)?;
        Some(format!("seed {}: {breach}\n{}", c.source.seed, c.source.text))
    };
    let misses: Vec<String> = found.iter().filter_map(miss).collect();
    println!("{} of {} programs miss the law", misses.len(), found.len());
    wrong.extend(misses);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The cost of the gradient at the largest size, as a fraction of the bound.
fn cost(all: &[Measured]) -> f64 {
    all.last().map_or(0.0, Measured::part)
}

/// This many programs whose result is a number, and the seed after them.
fn sources(forms: &[Form], mut seed: u64, count: usize) -> (Vec<Source>, u64) {
    let mut sources = Vec::new();
    while sources.len() < count {
        let source = program_of_doubles(forms, seed);
        seed += 1;
        // The sizes of these programs do not change.
        if source.result.is_empty() && !source.args.iter().any(|a| a.stands.fixed()) {
            sources.push(source);
        }
    }
    (sources, seed)
}

/// The programs that run at more than one size, with their costs. One that is refused or does not
/// compile is wrong, and the others are counted all the same.
fn counted(mut sources: Vec<Source>, wrong: &mut Vec<String>) -> Vec<Counted> {
    let mut texts = Vec::new();
    sources.retain(|source| {
        let name = format!("p{}", source.seed);
        let text = source.text.replacen("fn f(", &format!("pub fn {name}("), 1);
        let item = text.parse::<proc_macro2::TokenStream>().expect("a program is tokens");
        let expansion = ad_core::expansion(quote::quote!(grad), item);
        if !expansion.errors.is_empty() {
            wrong.push(format!("seed {}: {:?}\n{text}", source.seed, expansion.errors));
            return false;
        }
        texts.push(count::instrumented(expansion.tokens, &name, count::GRADIENT));
        true
    });
    let out = loop {
        match run(&sources, &texts) {
            Ok(out) => break out,
            Err(errors) => {
                let refused = refused(&texts, &errors);
                assert!(!refused.is_empty(), "{errors}");
                for k in refused.into_iter().rev() {
                    texts.remove(k);
                    let source = sources.remove(k);
                    wrong.push(format!("seed {} does not compile:\n{}\n{errors}", source.seed, source.text));
                }
            }
        }
    };
    // The macro accepts arms that are both computed only if they have one shape. Sizes that are
    // literals in the text do not grow with the others.
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

/// The output of a crate of these programs.
fn run(sources: &[Source], texts: &[String]) -> Result<String, String> {
    let folder = format!("worst_{}", number("AD_SEED", 0));
    let mut main = format!("#![allow(warnings)]\nuse {folder}::*;\nfn main() {{\n");
    main.push_str("quiet();\n");
    for source in sources {
        let name = format!("p{}", source.seed);
        let args: Vec<String> = source.args.iter().map(argument).collect();
        let args = args.join(", ");
        writeln!(main, "growing(\"{name}\", &{SCALES:?}, |n| {name}({args}), |n| {name}_value_and_grad({args}).0);")
            .expect("a string grows");
    }
    main.push_str("}\n");
    let lib = format!("{}{}", count::PRELUDE, texts.concat());
    count::ran(&count::write(&folder, &lib, &main), "worst-target")
}

/// The numbers of the texts that have lines with errors.
fn refused(texts: &[String], errors: &str) -> BTreeSet<usize> {
    let places = errors.split("error").skip(1).filter_map(|e| e.split("src/lib.rs:").nth(1));
    let lines = places.filter_map(|place| place.split(':').next()?.parse::<usize>().ok());
    let lines: Vec<usize> = lines.collect();
    let mut first = count::PRELUDE.lines().count();
    let mut found = BTreeSet::new();
    for (k, text) in texts.iter().enumerate() {
        let behind = first + text.lines().count();
        if lines.iter().any(|line| (first + 1..=behind).contains(line)) {
            found.insert(k);
        }
        first = behind;
    }
    found
}

/// The argument for a parameter at the scale `n`.
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

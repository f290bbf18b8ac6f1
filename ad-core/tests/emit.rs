//! The emitter: its code parses, is deterministic, passes the lints of a strict crate, and computes
//! the same values as the interpreter.
//!
//! No value is tested against another run of generated code.

mod common;
#[path = "emit/corpus.rs"]
mod corpus;
#[path = "emit/extrema.rs"]
mod extrema;
#[path = "common/recur.rs"]
mod recurrences;
#[path = "emit/stopping.rs"]
mod stopping;
#[path = "emit/support.rs"]
mod support;

use support::{cargo, pretty, write_crate};

#[test]
fn the_corpus_runs_and_passes_the_lints() {
    let mut cases = corpus::all();
    cases.extend(stopping::all());
    cases.extend(extrema::all());
    let root = write_crate("emit-corpus", &mut cases);
    if let Err(e) = cargo(&root, &["run", "--offline", "--quiet"]) {
        panic!("{e}");
    }
    if let Err(e) = cargo(&root, &["clippy", "--offline", "--quiet", "--lib"]) {
        panic!("{e}");
    }
}

#[test]
fn output_is_the_same_each_time() {
    for (mut a, mut b) in corpus::all().into_iter().zip(corpus::all()) {
        assert_eq!(pretty(&a.emit()), pretty(&b.emit()), "{}", a.name);
    }
}

/// The emitter recurses over nested scopes and not over terms: it can emit programs of any length
/// on the stack of a test, 2 MiB. `cargo bench -p ad-core --bench expansion` measures the time.
#[test]
fn long_programs_are_written_on_a_small_stack() {
    let length = |steps: usize| pretty(&corpus::straight_line(steps).emit()).lines().count();
    let (short, long) = (length(500), length(2000));
    assert!((3 * short..5 * short).contains(&long), "{short} and {long} lines");
}

#[test]
fn the_plan_can_be_read() {
    let mut case = corpus::logistic();
    let (program, routine) = case.routine();
    let text = ad_oracle::plan::plan_of(&mut case.g, &program, &routine).expect("it can be planned").steps;
    let lines: Vec<&str> = text.lines().collect();
    let loops = lines.iter().filter(|l| l.contains(": loop over [")).count();
    // The loss and the cotangent of the scores are one loop between two matrix products.
    assert_eq!(loops, 1, "{text}");
    assert_eq!(lines.iter().filter(|l| l.contains(": store ")).count(), 2, "{text}");
}

/// A function and its gradient, by the whole pipeline.
fn derived(p: &recurrences::Program) -> support::Case {
    use ad_core::descriptor::GRAD;
    use ad_core::pipeline;
    let program = match ad_core::front::parse(quote::quote!(grad), p.item.clone()) {
        Ok(program) => program,
        Err(_) => panic!("{} has errors", p.name),
    };
    let mut prepared = pipeline::prepare(program, None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let mut case = support::Case::of(p.name, prepared.program.graph, &routine.result.terms(), p.inputs.clone());
    for check in &routine.checks {
        case.check(check.ok, &check.message, &[]);
    }
    case
}

/// A case that is created, and later emitted, with random choices. Its results are those of the
/// same case without them.
fn by_chance(seed: u64, make: impl Fn() -> support::Case) -> support::Case {
    let expected = make().values();
    let mut case = ad_oracle::chance::by_chance(seed, make);
    case.chance = Some(seed);
    case.expected = Some(expected);
    case
}

/// Functions with recurrences and their gradients.
fn with_recurrences() -> Vec<support::Case> {
    recurrences::programs().iter().map(derived).collect()
}

#[test]
fn recurrences_run_and_pass_the_lints() {
    let root = write_crate("emit-recurrences", &mut with_recurrences());
    if let Err(e) = cargo(&root, &["run", "--offline", "--quiet"]) {
        panic!("{e}");
    }
    if let Err(e) = cargo(&root, &["clippy", "--offline", "--quiet", "--lib"]) {
        panic!("{e}");
    }
}

/// A number from an environment variable.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// Programs in which some choices arise only after others, with the numbers of answers.
const SEVERAL: [&str; 6] =
    ["powers_5", "powers_in_two_sums", "packed_19", "recurrent_net", "sum_of_product", "nearest_moved"];
const OFTEN: u64 = 36;
/// The only program with some choice.
const ALONE: &str = "three_deep";
const A_FEW_TIMES: u64 = 6;

/// The choices by cost (which arrays are stored, which statements share a loop, which arrays are
/// overwritten, which kernel computes, which parts of a loop are omitted) do not change the
/// results, and each answer to each question occurs. `EMIT_CHANCE` sets the seed.
#[test]
fn programs_run_with_random_choices() {
    let _ = ad_oracle::chance::tally();
    let mut cases = Vec::new();
    let first = number("EMIT_CHANCE").unwrap_or(0);
    for more in 0..OFTEN {
        let loops = recurrences::programs();
        let wanted = |name| more < 2 || SEVERAL.contains(&name) || name == ALONE && more < A_FEW_TIMES;
        let all = corpus::all().into_iter().chain(stopping::all()).chain(extrema::all()).filter(|c| wanted(c.name));
        let loops = loops.iter().filter(|p| wanted(p.name));
        for (k, mut case) in all.chain(loops.map(|p| by_chance(first + more, || derived(p)))).enumerate() {
            case.name = format!("{}_{k}_{more}", case.name).leak();
            case.chance = Some(first + more);
            cases.push(case);
        }
    }
    let root = write_crate("emit-chosen", &mut cases);
    let met = ad_oracle::chance::tally();
    println!("{met:?}");
    let missing: Vec<_> = met.iter().filter(|(_, n)| n.contains(&0)).collect();
    // With other seeds, some choice may have had one answer only.
    assert!(first > 0 || missing.is_empty(), "answers that chance has not given, no and yes: {missing:?}");
    if let Err(e) = cargo(&root, &["run", "--offline", "--quiet"]) {
        panic!("{e}");
    }
}

/// With threads, all programs and gradients of recurrences run and pass the lints, and so do
/// programs of the generator. All work is divided, down to single items.
#[test]
fn programs_run_on_threads() {
    let before = ad_core::choice::set_threads(true);
    let mut cases: Vec<_> = corpus::all().into_iter().chain(stopping::all()).chain(extrema::all()).collect();
    cases.extend(recurrences::programs().iter().map(derived));
    for (k, case) in cases.iter_mut().enumerate() {
        case.name = format!("{}_{k}", case.name).leak();
    }
    let root = write_crate("emit-threads", &mut cases);
    ad_core::choice::set_threads(before);
    let code = std::fs::read_to_string(root.join("src/lib.rs")).expect("the crate has been written");
    let shared = code.matches("in_chunks(").count();
    assert!(shared >= 20, "{shared} calls");
    for task in [&["run", "--offline", "--quiet"][..], &["clippy", "--offline", "--quiet", "--lib"]] {
        if let Err(e) = cargo(&root, task) {
            panic!("{e}");
        }
    }
}

/// Two seeds give different code, and one seed gives the same code. Without a seed there are no
/// random choices.
#[test]
fn random_choices_are_reproducible() {
    let text = |chance| {
        let mut case = corpus::logistic();
        case.chance = chance;
        pretty(&case.emit())
    };
    let plain = text(None);
    let made: std::collections::BTreeSet<String> = (0..20).map(|seed| text(Some(seed))).collect();
    assert!(made.len() > 10, "{} of 20", made.len());
    assert_eq!(text(Some(3)), text(Some(3)));
    assert_eq!(text(None), plain);
}

/// Seeds whose code did not compile: a reduction over no axes together with its reader (214), a
/// choice under its own condition (391).
const ONCE_WRONG: [u64; 2] = [214, 391];

/// Programs of the generator and their gradients, compiled and compared with the interpreter.
/// `EMIT_RANDOM` is their number, and `EMIT_SEED` the first seed.
#[test]
fn random_programs_run() {
    random_programs("emit-random", |_| None);
}

/// Like the test above, with every choice by cost at random. `EMIT_CHANCE` sets the seed.
#[test]
fn random_programs_run_with_random_choices() {
    random_programs("emit-random-chosen", |seed| Some(seed + number("EMIT_CHANCE").unwrap_or(0)));
}

fn random_programs(root: &str, chance: impl Fn(u64) -> Option<u64>) {
    let (mut cases, mut refused) = (Vec::new(), std::collections::BTreeMap::<String, usize>::new());
    let wanted = number("EMIT_RANDOM").unwrap_or(42) as usize;
    let first = number("EMIT_SEED").unwrap_or(0);
    for seed in ONCE_WRONG.into_iter().chain((first..).filter(|seed| !ONCE_WRONG.contains(seed))) {
        if cases.len() == wanted {
            break;
        }
        let make = || {
            let common::r#gen::Case { mut g, roots, inputs, active } =
                common::r#gen::case(seed, 12 + (seed % 20) as usize);
            let roots = ad_core::passes::bulk::transform(&mut g, &roots, &mut Default::default());
            let roots = ad_core::passes::simplify::simplify(&mut g, &roots);
            let seeds: Vec<_> = roots.iter().map(|&t| g.lit_like(t, 1.0)).collect();
            let (mut all, gradient) = common::modes::reverse(&mut g, &roots, &seeds, &active);
            all.extend(gradient);
            let all = ad_core::passes::simplify::simplify(&mut g, &all);
            support::Case::of(format!("random_{seed}").leak(), g, &all, inputs)
        };
        let mut case = match chance(seed) {
            Some(chance) => by_chance(chance, make),
            None => make(),
        };
        match case.try_emit() {
            Ok(_) => cases.push(case),
            Err(e) => *refused.entry(e).or_default() += 1,
        }
    }
    println!("refused: {refused:?}");
    let root = write_crate(root, &mut cases);
    if let Err(e) = cargo(&root, &["run", "--offline", "--quiet"]) {
        panic!("{e}");
    }
}

//! The emitter: what it writes parses, is the same each time, passes the lints of a strict crate, and computes what the
//! interpreter computes. Must never test a value against another run of the emitter's own code.

#[path = "emit/corpus.rs"]
mod corpus;
#[path = "emit/support.rs"]
mod support;

use support::{cargo, pretty, write_crate};

#[test]
fn the_corpus_runs_and_passes_the_lints() {
    let mut cases = corpus::all();
    let root = write_crate(&mut cases);
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

#[test]
fn time_is_linear_in_the_program() {
    // The default stack of a test is 2 MiB; the compiler's is not larger by much, and programs may be.
    let time = |steps: usize| {
        let mut case = corpus::straight_line(steps);
        let start = std::time::Instant::now();
        let tokens = case.emit();
        let time = start.elapsed();
        assert!(!tokens.is_empty());
        time
    };
    time(100);
    let (short, long) = (time(500), time(2000));
    println!("500 statements {short:?}, 2000 statements {long:?}");
    assert!(long < 10 * short.max(std::time::Duration::from_millis(20)), "{short:?}, {long:?}");
}

#[test]
fn the_plan_can_be_read() {
    let mut case = corpus::logistic();
    let (program, routine) = case.routine();
    let text = ad_core::emit::describe(&mut case.g, &program, &routine).expect("it can be planned");
    let lines: Vec<&str> = text.lines().collect();
    let loops = lines.iter().filter(|l| l.contains(": loop over [")).count();
    // Loss and cotangent of the scores are one loop between two matrix products.
    assert_eq!(loops, 1, "{text}");
    assert_eq!(lines.iter().filter(|l| l.contains(": store ")).count(), 2, "{text}");
}

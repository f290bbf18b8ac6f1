//! 100 000 mutated functions from fixed seeds: the compiler neither panics nor hangs nor uses too
//! much memory, whatever the tokens are.

#[path = "common/mutate.rs"]
mod mutate;
#[path = "common/torture.rs"]
mod torture;

#[global_allocator]
static MEMORY: torture::Counting = torture::Counting;

#[test]
fn mutated_functions() {
    let functions = mutate::Corpus::collect(&torture::root()).functions.len();
    assert!(functions > 150, "only {functions} functions were found");
    let mut failures = Vec::new();
    let mut tally = torture::Tally::default();
    for seed in 1..=4 {
        let (part, bad) = torture::run(seed, 0..25_000);
        failures.extend(bad.into_iter().map(|(number, what)| format!("--seed {seed} --only {number}: {what}")));
        tally.accepted += part.accepted;
        tally.refused += part.refused;
    }
    assert!(
        failures.is_empty(),
        "{} of 100000 failed; see them with `cargo run -p ad-core --example mutate -- ..`\n{}",
        failures.len(),
        failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(tally.accepted > 3_000, "hardly anything is accepted: {tally:?}");
    assert!(tally.refused > 30_000, "hardly anything is refused: {tally:?}");
}

//! A user who runs the commands of the documents runs the commands of CI.

use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The commands of the first block of a document.
fn commands(text: &str) -> Vec<&str> {
    let block = text.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("the commands").lines().collect()
}

#[test]
fn the_commands_are_those_of_ci() {
    let (readme, guide, ci) = (read("README.md"), read("docs/guide/src/getting-started.md"), read(".ci/run"));
    let steps: Vec<&str> = ci.lines().filter_map(|line| line.strip_prefix("step ")).collect();
    let (readme, guide) = (commands(&readme), commands(&guide));
    let missing: Vec<&str> = readme.iter().chain(&guide).filter(|line| !steps.contains(line)).copied().collect();
    assert_eq!(missing, Vec::<&str>::new(), "not in .ci/run");
    let unsaid: Vec<&str> =
        steps.into_iter().filter(|step| step.contains("--example") && !guide.contains(step)).collect();
    assert_eq!(unsaid, Vec::<&str>::new(), "an example that CI runs is not in the guide");
}

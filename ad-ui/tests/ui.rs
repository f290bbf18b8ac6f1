//! What the compiler shows for mistakes: one folder a kind. `TRYBUILD=overwrite` writes the expected output; then read the diff.
//! What rustc says changes from version to version, so messages of its own are kept out of the cases where that can be.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("../tests/ui/*/*.rs");
}

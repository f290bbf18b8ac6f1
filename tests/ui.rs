//! What the compiler shows for mistakes: one folder a kind. `TRYBUILD=overwrite` writes the expected output; then read the diff.
//! Only cases whose messages are all ours: what rustc says changes from version to version.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}

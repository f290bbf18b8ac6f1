//! The errors that a user sees, with one folder for each kind. `TRYBUILD=overwrite` writes the
//! expected output; then read the diff. The text of rustc's own errors changes from version to
//! version, so the cases avoid them where possible.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("../tests/ui/*/*.rs");
}

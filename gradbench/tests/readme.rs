//! The lines of user code that README tells are those of the files.

/// Lines that are neither empty nor comments.
fn lines(file: &str) -> usize {
    let path = format!("{}/src/programs/{file}.rs", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file");
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn the_table_has_the_lines_of_each_eval() {
    let readme = include_str!("../README.md");
    for eval in ad_gradbench::EVALS {
        let start = format!("| {} | {} |", eval.name, lines(eval.name));
        assert!(readme.contains(&format!("\n{start}")), "README has no line that starts with `{start}`");
    }
    let search = format!("{} lines", lines("descent"));
    assert!(readme.contains(&search), "README does not say `{search}`");
}

//! Gradients with known answers, end to end. Each case of `data/gradients.json` is an annotated
//! function that uses the construct of its tag. It is called through the generated code, and
//! compared with the value and the derivative of the file.

mod cases;
mod layouts;

use ad::differentiate;

/// The cases that are not supported, and the missing parts of the language.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("custom derivatives", &["horde-custom-dual-identity"]),
    ("reads out of range that give 0, which Rust has not", &["horde-concatBuild9-oob0", "horde-concatBuild14-oob0"]),
];

/// The cases that tests/second.rs has, too: there the second derivatives are those of an option.
const SECOND: [&str; 5] =
    ["horde-sin-second", "horde-sin-third", "horde-grad-composed", "horde-fold8-second", "ksc-derivative-selection"];

#[test]
fn every_case_is_here_or_left_out() {
    for id in cases::ids() {
        let quoted = format!("\"{id}\"");
        let here = cases::SOURCES.iter().any(|source| source.contains(&quoted));
        let left_out = LEFT_OUT.iter().any(|(_, ids)| ids.contains(&id.as_str()));
        assert!(here != left_out, "{id}: here {here}, left out {left_out}");
        let second = SECOND.contains(&id.as_str());
        assert_eq!(second, include_str!("second.rs").contains(&quoted), "{id} in tests/second.rs");
    }
    assert_eq!(cases::taken().iter().sum::<usize>(), 116, "the numbers in the tests of other modes change too");
}

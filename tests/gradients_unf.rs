//! The cases of `gradients.rs` in the mode `unf`: each is compared with the value and the
//! derivative of the file, in every memory layout. A function that the mode does not take names
//! the attribute `ad::differentiate` itself, and is in the list here.

mod cases;
mod layouts;

use ad_test_modes::unf as differentiate;

/// How many annotated functions of the cases run in this mode, and how many in the default mode.
const TAKEN: (usize, usize) = (0, 0);

#[test]
fn the_mode_takes_as_many_functions_as_before() {
    let count = |text: &str| cases::SOURCES.iter().map(|source| source.matches(text).count()).sum::<usize>();
    assert_eq!((count("\n#[differentiate"), count("\n#[ad::differentiate")), TAKEN);
    assert_eq!(cases::ids().count(), 116);
}

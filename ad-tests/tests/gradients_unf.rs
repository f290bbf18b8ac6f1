//! The cases of `gradients.rs` in the mode `unf`: each is compared with the value and the
//! derivative of the file, in every memory layout.

#[allow(dead_code, reason = "only `gradients.rs` compares the names of all cases")]
#[path = "../../tests/cases/mod.rs"]
mod cases;
#[path = "../../tests/layouts/mod.rs"]
mod layouts;

use ad_test_modes::unf as differentiate;

/// The first number may not fall.
#[test]
fn the_mode_takes_as_many_functions_as_before() {
    assert_eq!(cases::taken(), [114, 2]);
}

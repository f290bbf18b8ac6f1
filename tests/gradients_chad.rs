//! The cases of `gradients.rs` in the mode `chad`: each is compared with the value and the
//! derivative of the file, in every memory layout.

#[allow(dead_code, reason = "only `gradients.rs` compares the names of all cases")]
mod cases;
mod layouts;

use ad_test_modes::chad as differentiate;

/// How many annotated functions of the cases run in this mode, and how many in the default mode,
/// since this mode does not take them. The former may not fall.
const TAKEN: [(&str, usize); 2] = [("chad", 114), ("dual_arrays", 2)];

#[test]
fn the_mode_takes_as_many_functions_as_before() {
    let mut found = TAKEN.map(|(mode, _)| (mode, 0));
    for source in cases::SOURCES {
        let own = source.contains("use super::{Case, differentiate};");
        found[usize::from(!own)].1 += source.matches("\n#[differentiate").count();
    }
    assert_eq!(found, TAKEN);
}

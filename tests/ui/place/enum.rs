//! On an enum.

use ad::prelude::*;

#[differentiate]
enum Kind {
    A,
}

fn main() {}
